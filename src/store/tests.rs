//! Stories of one sequence, from the tools down to SQLite.

use serde_json::{Map, Value, json};

use crate::clock::Timestamp;
use crate::database::sqlite::Sqlite;
use crate::fresh::Fresh;
use crate::settings::Settings;
use crate::store::{Error, Store};
use crate::tools::{self, Call, Rendered};

/// A store with a clock that moves a second with each call.
pub(crate) struct Bench {
    pub store: Store<Sqlite>,
    pub settings: Settings,
    pub seconds: u64,
    pub sequence_id: Option<String>,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self {
            store: Store::open(Sqlite::open_in_memory().unwrap()).unwrap(),
            settings: Settings::default(),
            seconds: 1_796_046_300,
            sequence_id: None,
        }
    }

    pub(crate) fn fresh(&mut self) -> Fresh {
        self.seconds += 1;
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&self.seconds.to_be_bytes());
        Fresh::new(Timestamp::from_milliseconds(self.seconds * 1000), seed)
    }

    pub(crate) fn parse(&mut self, tool: &str, arguments: &Value) -> Result<Call, String> {
        let mut map: Map<String, Value> = arguments.as_object().cloned().unwrap();
        if let Some(id) = &self.sequence_id {
            map.entry("sequenceId").or_insert_with(|| json!(id));
        }
        let fresh = self.fresh();
        tools::parse(tools::find(tool).unwrap(), &map, &self.settings, &fresh)
            .map_err(|refusal| refusal.to_string())
    }

    pub(crate) fn run(&mut self, call: &Call) -> Result<Rendered, String> {
        let fresh = self.fresh();
        match tools::run(call, &self.store, &self.settings, &fresh) {
            Ok(outcome) => Ok(tools::render(call, &outcome).unwrap()),
            Err(Error::Refused(refusal)) => Err(refusal.to_string()),
            Err(Error::Fault(fault)) => panic!("fault: {fault}"),
        }
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Result<Rendered, String> {
        let call = self.parse(tool, arguments)?;
        let rendered = self.run(&call)?;
        if self.sequence_id.is_none() {
            self.sequence_id = rendered.structured.to_value()["sequenceId"]
                .as_str()
                .map(str::to_owned);
        }
        Ok(rendered)
    }

    /// Appends thought `number` with what `more` adds.
    pub(crate) fn think(&mut self, number: u32, more: &Value) -> Result<Rendered, String> {
        let mut arguments = json!({
            "thought": format!("Thought {number} at {}", self.seconds),
            "thoughtNumber": number,
            "totalThoughts": 9,
            "nextThoughtNeeded": true,
        });
        let members = arguments.as_object_mut().unwrap();
        members.extend(more.as_object().cloned().unwrap());
        self.call("sequentialthinking", &arguments)
    }

    pub(crate) fn history(&mut self, more: &Value) -> Value {
        self.call("get_thought_history", more)
            .unwrap()
            .structured
            .to_value()
    }

    #[track_caller]
    pub(crate) fn refused(&mut self, number: u32, more: &Value, parts: &[&str]) {
        let text = self
            .think(number, more)
            .expect_err("the call was not refused");
        for part in parts {
            assert!(text.contains(part), "{part:?} is not in {text:?}");
        }
    }
}

fn codes(rendered: &Rendered) -> Vec<String> {
    let structured = rendered.structured.to_value();
    let warnings = structured["warnings"].as_array().into_iter().flatten();
    warnings
        .filter_map(|warning| warning["code"].as_str())
        .map(str::to_owned)
        .collect()
}

fn ordinals(history: &Value) -> Vec<u64> {
    history["thoughts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|thought| thought["ordinal"].as_u64().unwrap())
        .collect()
}

#[test]
fn a_chain_is_stored_and_read_back() {
    let mut bench = Bench::new();
    let first = bench
        .think(1, &json!({"thought": "First: 思考 🙂\r\n\u{0}\u{200b}end"}))
        .unwrap();
    assert!(
        first.text.starts_with("Thought 1/9\n\nFirst: 思考"),
        "{}",
        first.text
    );
    assert!(
        first.text.ends_with(" · 1 thought stored"),
        "{}",
        first.text
    );
    bench.think(2, &json!({})).unwrap();
    let last = bench
        .think(3, &json!({"nextThoughtNeeded": false, "totalThoughts": 3}))
        .unwrap();
    assert_eq!(last.structured.to_value()["completed"], true);
    assert_eq!(last.structured.to_value()["progress"], 1.0);
    assert_eq!(codes(&last), ["early_finish"]);
    let history = bench.history(&json!({}));
    assert_eq!(
        history["thoughts"][0]["thought"],
        "First: 思考 🙂\r\n\u{0}\u{200b}end"
    );
    assert_eq!(ordinals(&history), [1, 2, 3]);
    assert_eq!(history["sequence"]["completed"], true);
    assert!(history.get("nextCursor").is_none());
    assert_eq!(
        ordinals(&bench.history(&json!({"order": "desc"}))),
        [3, 2, 1]
    );
}

#[test]
fn pages_follow_one_another_without_gaps_while_others_append() {
    let mut bench = Bench::new();
    for number in 1..=45 {
        bench.think(number, &json!({})).unwrap();
    }
    for order in ["asc", "desc"] {
        let (mut seen, mut cursor) = (Vec::new(), Value::Null);
        loop {
            let page = bench.history(&json!({"limit": 20, "order": order, "cursor": cursor}));
            seen.extend(ordinals(&page));
            assert_eq!(page["sequence"].get("branches").is_some(), cursor.is_null());
            cursor = page["nextCursor"].clone();
            if cursor.is_null() {
                break;
            }
            if order == "desc" {
                bench.think(99, &json!({})).unwrap();
            }
        }
        let mut expected: Vec<u64> = (1..=45).collect();
        if order == "desc" {
            expected.reverse();
        }
        assert_eq!(seen, expected);
    }
    let cursor = bench.history(&json!({"limit": 2}))["nextCursor"].clone();
    let refused = bench
        .call(
            "get_thought_history",
            &json!({"limit": 2, "order": "desc", "cursor": cursor}),
        )
        .unwrap_err();
    assert!(refused.starts_with("cursor_invalid"), "{refused}");
}

#[test]
fn a_repeat_is_answered_as_the_first_time() {
    let mut bench = Bench::new();
    bench.think(1, &json!({})).unwrap();
    let call = json!({"thought": "same", "thoughtNumber": 2, "totalThoughts": 9, "nextThoughtNeeded": true});
    let once = bench.parse("sequentialthinking", &call).unwrap();
    let first = bench.run(&once).unwrap();
    // The Worker retries the object: the same call, whatever came between.
    bench.think(3, &json!({})).unwrap();
    let Call::Append(draft) = &once else {
        panic!("no append")
    };
    bench.store.expect_repeat(draft.call_id);
    // The second time it is the first try that comes late.
    for _ in 0..2 {
        let again = bench.run(&once).unwrap();
        assert_eq!(again.structured.to_value()["thoughtHistoryLength"], 3);
        assert!(codes(&again).is_empty());
    }
    // The client repeats its newest step.
    let third = json!({"thought": "third"});
    bench.think(4, &third).unwrap();
    let repeated = bench.think(4, &third).unwrap();
    assert_eq!(codes(&repeated), ["deduplicated"]);
    assert_eq!(
        bench.history(&json!({}))["sequence"]["thoughtHistoryLength"],
        4
    );
    assert_eq!(first.structured.to_value()["thoughtNumber"], 2);
}

#[test]
fn branches_see_what_lies_before_their_fork() {
    let mut bench = Bench::new();
    for number in 1..=4 {
        bench.think(number, &json!({})).unwrap();
    }
    let forked = bench
        .think(4, &json!({"branchFromThought": 3, "branchId": "b"}))
        .unwrap();
    assert!(
        forked.text.starts_with("Branch b from thought 3 · 4/9\n"),
        "{}",
        forked.text
    );
    bench.think(5, &json!({"branchId": "b"})).unwrap();
    bench.refused(
        6,
        &json!({"branchId": "b", "isRevision": true, "revisesThought": 9}),
        &["revision_target_not_found", "1, 2, 3, 4, 5"],
    );
    let revision = bench
        .think(
            6,
            &json!({"branchId": "b", "isRevision": true, "revisesThought": 4}),
        )
        .unwrap();
    assert_eq!(
        revision.structured.to_value()["revised"],
        json!({"branchId": "b", "ordinal": 5})
    );
    let inherited = bench
        .think(
            7,
            &json!({"branchId": "b", "isRevision": true, "revisesThought": 2}),
        )
        .unwrap();
    assert_eq!(
        inherited.structured.to_value()["revised"],
        json!({"branchId": "main", "ordinal": 2})
    );
    bench.refused(
        5,
        &json!({"isRevision": true, "revisesThought": 7}),
        &[
            "revision_target_not_found",
            "main sees no such thought",
            "1, 2, 3, 4",
        ],
    );
    bench.refused(
        5,
        &json!({"branchId": "c"}),
        &["branch_not_found", "main, b", "branchFromThought"],
    );
    bench.refused(
        5,
        &json!({"branchId": "c", "branchFromThought": 6}),
        &["branch_point_not_found"],
    );
    bench.refused(
        5,
        &json!({"branchId": "b", "branchFromThought": 2}),
        &["branch_conflict", "thought 3 of main"],
    );
}

#[test]
fn a_branch_path_is_read_in_both_directions() {
    let mut bench = Bench::new();
    for number in 1..=4 {
        bench.think(number, &json!({})).unwrap();
    }
    bench
        .think(4, &json!({"branchFromThought": 3, "branchId": "b"}))
        .unwrap();
    for number in 5..=7 {
        bench.think(number, &json!({"branchId": "b"})).unwrap();
    }
    let path = bench.history(&json!({"view": "branch_path", "branchId": "b"}));
    assert_eq!(ordinals(&path), [1, 2, 3, 5, 6, 7, 8]);
    let path = bench
        .history(&json!({"view": "branch_path", "branchId": "b", "order": "desc", "limit": 5}));
    assert_eq!(ordinals(&path), [8, 7, 6, 5, 3]);
    let rest = bench.history(&json!({"view": "branch_path", "branchId": "b", "order": "desc", "limit": 5, "cursor": path["nextCursor"]}));
    assert_eq!(ordinals(&rest), [2, 1]);
    assert_eq!(
        ordinals(&bench.history(&json!({"branchId": "b"}))),
        [5, 6, 7, 8]
    );
}

#[test]
fn a_rewind_sets_the_tail_aside_and_keeps_it() {
    let mut bench = Bench::new();
    for number in 1..=5 {
        bench.think(number, &json!({})).unwrap();
    }
    bench
        .think(6, &json!({"branchFromThought": 5, "branchId": "b"}))
        .unwrap();
    let rewind = bench
        .think(
            3,
            &json!({"isRevision": true, "revisesThought": 3, "rewind": true}),
        )
        .unwrap();
    assert_eq!(rewind.structured.to_value()["superseded"], 3);
    bench.refused(
        4,
        &json!({"isRevision": true, "revisesThought": 4}),
        &["revision_target_superseded"],
    );
    let fourth = bench.think(4, &json!({})).unwrap();
    assert!(codes(&fourth).is_empty(), "the superseded 4 is not reused");
    let all = bench.history(&json!({}));
    let superseded: Vec<u64> = all["thoughts"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|thought| thought["superseded"] == true)
        .map(|thought| thought["ordinal"].as_u64().unwrap())
        .collect();
    assert_eq!(superseded, [3, 4, 5]);
    assert_eq!(all["sequence"]["branches"][0]["hanging"], true);
    assert_eq!(
        ordinals(&bench.history(&json!({"view": "active"}))),
        [1, 2, 6, 7, 8]
    );
    assert_eq!(
        ordinals(&bench.history(&json!({"view": "branch_path"}))),
        [1, 2, 7, 8]
    );
    assert_eq!(
        ordinals(&bench.history(&json!({"view": "branch_path", "branchId": "b"}))),
        [1, 2, 3, 4, 5, 6]
    );
    bench.refused(
        7,
        &json!({"branchId": "b", "isRevision": true, "revisesThought": 2, "rewind": true}),
        &["invalid_input", "belongs to main"],
    );
}

#[test]
fn deleting_leaves_nothing() {
    let mut bench = Bench::new();
    bench.think(1, &json!({})).unwrap();
    bench
        .think(2, &json!({"branchFromThought": 1, "branchId": "b"}))
        .unwrap();
    let deleted = bench
        .call("delete_thought_sequence", &json!({"confirm": "true"}))
        .unwrap();
    assert_eq!(deleted.structured.to_value()["deletedThoughts"], 2);
    let again = bench
        .call("delete_thought_sequence", &json!({"confirm": true}))
        .unwrap();
    assert_eq!(again.structured.to_value()["deleted"], false);
    bench.refused(3, &json!({}), &["sequence_not_found"]);
    let tables = crate::database::Database::query(
        bench.store.database(),
        "select name from sqlite_master where type = 'table'",
        &[],
    )
    .unwrap();
    for mut table in tables {
        let name = table
            .text(crate::database::Column("sqlite_master", "name"))
            .unwrap();
        let rows = crate::database::Database::query(
            bench.store.database(),
            &format!("select 1 from {name}"),
            &[],
        )
        .unwrap();
        assert_eq!(rows.len(), usize::from(name == "schema_version"), "{name}");
    }
}

#[test]
fn expired_is_gone_at_once_and_deleted_by_the_sweep() {
    let mut bench = Bench::new();
    bench.settings.retention_days = 2;
    bench.think(1, &json!({})).unwrap();
    let begun = bench.seconds;
    let day = 86_400;
    // A write slides the expiry; a read does not.
    bench.seconds += day;
    bench.think(2, &json!({})).unwrap();
    let written = bench.seconds;
    let at = |seconds: u64| Timestamp::from_milliseconds(seconds * 1000);
    let due = bench.store.next_expiry(&bench.settings).unwrap();
    assert_eq!(due, Some(at(begun + 2 * day)));
    // The alarm comes, finds it written since, and moves on without deleting.
    let swept = bench
        .store
        .sweep(&bench.settings, at(begun + 2 * day))
        .unwrap();
    assert_eq!(swept.sequences, 0);
    assert_eq!(
        bench.store.next_expiry(&bench.settings).unwrap(),
        Some(at(written + 2 * day))
    );
    bench.seconds = written + 2 * day - 3;
    assert_eq!(ordinals(&bench.history(&json!({}))), [1, 2]);
    bench.seconds = written + 2 * day - 1;
    bench.refused(3, &json!({}), &["sequence_not_found"]);
    // A longer setting reads it again until the sweep has come.
    bench.settings.retention_days = 3;
    assert_eq!(ordinals(&bench.history(&json!({}))), [1, 2]);
    bench.settings.retention_days = 2;
    let swept = bench
        .store
        .sweep(&bench.settings, at(bench.seconds))
        .unwrap();
    assert_eq!((swept.sequences, swept.thoughts, swept.more), (1, 2, false));
    assert_eq!(bench.store.next_expiry(&bench.settings).unwrap(), None);
    bench.settings.retention_days = 0;
    assert_eq!(bench.store.next_expiry(&bench.settings).unwrap(), None);
}

#[test]
fn a_brief_fits_any_room_and_always_says_the_same() {
    let mut bench = Bench::new();
    for number in 1..=30 {
        bench.think(number, &json!({"totalThoughts": 40})).unwrap();
    }
    bench
        .think(31, &json!({"isRevision": true, "revisesThought": 29}))
        .unwrap();
    bench.think(20, &json!({"isRevision": true, "revisesThought": 20, "rewind": true, "thought": "Back to 20: the premise was wrong"})).unwrap();
    bench
        .think(21, &json!({"branchId": "b", "branchFromThought": 20}))
        .unwrap();
    let brief = bench.history(&json!({"view": "brief"}));
    let text = brief["brief"].as_str().unwrap();
    for part in [
        "Goal\nThought 1",
        "20 and 11 later",
        "the premise was wrong",
        "To go on\nthoughtNumber 22",
        "branchId b",
    ] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    assert_eq!(bench.history(&json!({"view": "brief"})), brief);
    for max in [1, 10, 150, 400, 900, 3_000] {
        let brief = bench.history(&json!({"view": "brief", "maxCharacters": max}));
        let text = brief["brief"].as_str().unwrap();
        assert!(crate::page::weight(text) <= max, "{max}: {text}");
    }
}

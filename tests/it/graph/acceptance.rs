//! The acceptance list at the end of `reference.md`, as far as the store goes. Numbers are those of the list; 6 and 7 are in
//! `budget`, 15 in `depth`, the rest of 22 in `schema`, `isolation` and the tests against workerd.

use durable_thinking::clock::Timestamp;
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::graph::dump::statements;

#[test]
fn acceptance_05_an_identical_repeat_is_stored_once() {
    let mut bench = Bench::new();
    bench.think(1, &json!({})).unwrap();
    let calls = [
        (2, json!({"thought": "plain"})),
        (
            3,
            json!({"thought": "forks", "branchId": "b", "branchFromThought": 2}),
        ),
        (
            2,
            json!({"thought": "revises", "isRevision": true, "revisesThought": 1}),
        ),
        (
            1,
            json!({"thought": "rewinds", "isRevision": true, "revisesThought": 1, "rewind": true}),
        ),
        (2, json!({"thought": "sums up", "summarizesThrough": 1})),
        (3, json!({"thought": "ends", "nextThoughtNeeded": false})),
    ];
    for (number, more) in calls {
        let first = bench.think(number, &more).unwrap();
        let stored = statements(bench.store.database());
        let mut again = bench.think(number, &more).unwrap();
        assert_eq!(statements(bench.store.database()), stored, "{more}");
        let last = again.warnings.pop().unwrap();
        assert_eq!(last.code.name(), "deduplicated");
        assert_eq!(again, first, "{more}");
        // Said otherwise in any one way, it is another thought.
        let other = bench.draft(number, &more).map(|mut call| {
            let durable_thinking::tools::Call::Append(draft) = &mut call else {
                panic!()
            };
            draft.text.push('.');
            call
        });
        bench.run(&other.unwrap()).unwrap();
        assert_ne!(statements(bench.store.database()), stored);
    }
}

/// The owner's purge counts and tells nothing else.
#[test]
fn acceptance_05_the_owner_can_purge_what_nobody_reaches() {
    let mut bench = Bench::new();
    bench.think(1, &json!({})).unwrap();
    bench.think(2, &json!({})).unwrap();
    let written = 1_796_046_300_000 + bench.calls * 1000;
    bench.sequence_id = None;
    bench.calls += 1_000;
    bench.think(1, &json!({"thought": "young"})).unwrap();
    let purged = bench
        .store
        .purge(Timestamp::from_milliseconds(written))
        .unwrap();
    assert_eq!(
        (purged.sequences, purged.thoughts, purged.more),
        (1, 2, false)
    );
    assert_eq!(bench.ordinals(&json!({})), [1]);
}

#[test]
fn acceptance_12_absent_is_absent_and_a_number_is_a_number() {
    for none in [json!(null), json!(""), json!("null"), json!(" ")] {
        let more = json!({
            "branchId": none, "branchFromThought": none, "branchFromBranchId": none, "isRevision": none,
            "revisesThought": none, "needsMoreThoughts": none, "rewind": none, "summarizesThrough": none,
        });
        let stored = Bench::new().think(1, &more).unwrap();
        assert!(stored.branch.name.is_main() && stored.revised.is_none());
    }
    for wrong in [
        json!(true),
        json!([3]),
        json!({}),
        json!("1e2"),
        json!(1.5),
        json!(-1),
        json!("three"),
    ] {
        for name in [
            "thoughtNumber",
            "totalThoughts",
            "revisesThought",
            "branchFromThought",
            "summarizesThrough",
        ] {
            let text = Bench::new().refused(1, &json!({name: wrong}), "invalid_input");
            assert!(text.contains(name), "{text}");
        }
    }
}

#[test]
fn acceptance_13_completion_is_of_a_branch() {
    let mut bench = Bench::new();
    bench.think(1, &json!({})).unwrap();
    let side = json!({"branchId": "b", "branchFromThought": 1, "nextThoughtNeeded": false});
    let ended = bench.think(2, &side).unwrap();
    assert!(!ended.completed && !ended.next_thought_needed);
    let page = bench.page(&json!({})).unwrap();
    assert!(!page.sequence.completed && page.sequence.branches.unwrap()[0].completed);
    // Going on with `main` reopens nothing, and its numbers are its own.
    let next = bench.think(2, &json!({"totalThoughts": 5})).unwrap();
    assert!(next.warnings.is_empty());
    let page = bench.page(&json!({})).unwrap().sequence;
    assert_eq!((page.last_number, page.total), (2, 5));
    let end = bench
        .think(3, &json!({"totalThoughts": 3, "nextThoughtNeeded": false}))
        .unwrap();
    assert!(end.completed);
    let reopened = bench.think(3, &json!({"branchId": "b"})).unwrap();
    assert!(reopened.completed && reopened.warnings[0].code.name() == "reopened");
    assert!(bench.page(&json!({})).unwrap().sequence.completed);
}

#[test]
fn acceptance_14_the_resolved_target_is_told_and_kept() {
    let mut bench = Bench::new();
    for number in [1, 2, 2] {
        bench.think(number, &json!({})).unwrap();
    }
    let more = json!({
        "thought": "again", "thoughtNumber": 3, "totalThoughts": 3, "nextThoughtNeeded": true,
        "isRevision": true, "revisesThought": 2, "branchId": "b", "branchFromThought": 2,
    });
    let stored = bench.call("sequentialthinking", &more).unwrap();
    assert_eq!(
        stored.structured.to_value()["revised"],
        json!({"branchId": "main", "ordinal": 3})
    );
    let card = &stored.meta.to_value()["io.github.durable-thinking/card"];
    assert_eq!(
        card["branch"]["fork"],
        json!({"branchId": "main", "ordinal": 3, "thoughtNumber": 2})
    );
    let history = bench
        .call("get_thought_history", &json!({}))
        .unwrap()
        .structured
        .to_value();
    assert_eq!(
        history["thoughts"][3]["revised"],
        json!({"branchId": "main", "ordinal": 3})
    );
    let branch = &history["sequence"]["branches"][0];
    assert_eq!(
        (&branch["forkOrdinal"], &branch["parentBranchId"]),
        (&json!(3), &json!("main"))
    );
}

#[test]
fn acceptance_18_ordinals_begin_at_one_and_cursors_are_bound() {
    let mut bench = Bench::new();
    let mut ids = Vec::new();
    for _ in 0..3 {
        for number in 1..=4 {
            bench.think(number, &json!({})).unwrap();
        }
        assert_eq!(bench.ordinals(&json!({})), [1, 2, 3, 4]);
        ids.extend(bench.sequence_id.take());
    }
    let own = json!({"sequenceId": ids[0], "limit": 2, "branchId": "main", "view": "active"});
    let cursor = bench.page(&own).unwrap().next_cursor.unwrap();
    assert!(!cursor.contains("seq_") && cursor.parse::<u64>().is_err());
    let with = |name: &str, value: Value| {
        let mut query = own.clone();
        query["cursor"] = json!(cursor);
        query[name] = value;
        query
    };
    // The size of a page may change on the way.
    assert_eq!(
        bench.page(&with("limit", json!(1))).unwrap().thoughts[0].ordinal,
        3
    );
    for (name, value) in [
        ("sequenceId", json!(ids[1])),
        ("order", json!("desc")),
        ("view", json!("all")),
        ("view", json!("branch_path")),
        ("branchId", json!(null)),
        ("cursor", json!(format!("{cursor}A"))),
        ("cursor", json!(cursor.to_lowercase())),
    ] {
        let refusal = bench.page(&with(name, value.clone())).unwrap_err();
        assert_eq!(refusal.code.name(), "cursor_invalid", "{name} {value}");
    }
}

#[test]
fn acceptance_19_settings_that_cannot_be_understood_are_reported() {
    use durable_thinking::settings::Settings;
    for value in ["abc", "-3", "7days", "1.5", "0x10", "99999999999"] {
        let lookup = |name: &str| (name == "THOUGHT_RETENTION_DAYS").then(|| value.to_owned());
        let (_, problems) = Settings::parse(lookup);
        assert_eq!(problems.len(), 1, "{value}");
        assert_eq!(problems[0].name, "THOUGHT_RETENTION_DAYS");
    }
}

#[test]
fn acceptance_23_progress_targets_and_titles_are_fit_for_use() {
    let mut bench = Bench::new();
    let first = "\u{1f642}".repeat(79) + "e\u{301}!";
    bench
        .think(1, &json!({"thought": first, "totalThoughts": 4}))
        .unwrap();
    let title = bench.page(&json!({})).unwrap().sequence.title;
    assert_eq!(title.chars().count(), 80);
    assert!(first.starts_with(&title));
    let half = bench.think(2, &json!({"totalThoughts": 4})).unwrap();
    assert_eq!(half.progress_permille, 500);
    // A correction is no step forward, and a rewind is one back.
    let revised = bench
        .think(
            3,
            &json!({"totalThoughts": 4, "isRevision": true, "revisesThought": 2}),
        )
        .unwrap();
    assert_eq!(revised.progress_permille, 500);
    let rewound = bench
        .think(
            1,
            &json!({"totalThoughts": 4, "isRevision": true, "revisesThought": 1, "rewind": true}),
        )
        .unwrap();
    assert_eq!(
        (rewound.progress_permille, rewound.superseded),
        (250, Some(3))
    );
    let text = bench.refused(
        2,
        &json!({"isRevision": true, "revisesThought": 9}),
        "revision_target_not_found",
    );
    assert!(text.contains("It sees: 1"), "{text}");
}

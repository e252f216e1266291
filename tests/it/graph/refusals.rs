//! Every code that a call can be refused with, and which of two comes first.

use durable_thinking::refusal::Code;
use durable_thinking::sequence_id::SequenceId;
use serde_json::{Value, json};

use crate::graph::bench::Bench;

/// `main` 1 to 5 with 4 and 5 set aside by a second 4, a branch `b` from 3 with thoughts 4 and 5, a branch `c` of `b` from 4.
fn bench() -> Bench {
    let mut bench = Bench::new();
    for number in 1..=5 {
        bench.think(number, &json!({})).unwrap();
    }
    let calls = [
        (4, json!({"branchId": "b", "branchFromThought": 3})),
        (5, json!({"branchId": "b"})),
        (
            5,
            json!({"branchId": "c", "branchFromThought": 4, "branchFromBranchId": "b"}),
        ),
        (
            4,
            json!({"isRevision": true, "revisesThought": 4, "rewind": true}),
        ),
    ];
    for (number, more) in calls {
        bench.think(number, &more).unwrap();
    }
    bench
}

fn join(parts: &[&Value]) -> Value {
    let mut all = json!({});
    for part in parts {
        all.as_object_mut()
            .unwrap()
            .extend(part.as_object().cloned().unwrap());
    }
    all
}

/// Faults of one call in the order in which they are reported. Of two faults in one call, the upper one is told.
fn faults() -> Vec<(&'static str, Value, &'static [&'static str])> {
    vec![
        (
            "invalid_input",
            json!({"sequenceId": "seq_0"}),
            &["sequenceId", "damaged"],
        ),
        (
            "invalid_input",
            json!({"thought": " "}),
            &["thought", "blank"],
        ),
        (
            "thought_too_long",
            json!({"thought": "x".repeat(20_001)}),
            &["20001", "20000"],
        ),
        (
            "invalid_input",
            json!({"nextThoughtNeeded": "perhaps"}),
            &["nextThoughtNeeded", "\"perhaps\" came", "true or false"],
        ),
        (
            "invalid_input",
            json!({"thoughtNumber": 0}),
            &["thoughtNumber", "from 1 to 1000000", "0 came"],
        ),
        (
            "invalid_input",
            json!({"totalThoughts": 1_000_001}),
            &["totalThoughts", "1000001 came"],
        ),
        (
            "invalid_input",
            json!({"branchId": "a\u{7}"}),
            &["branchId", "control character"],
        ),
        (
            "invalid_input",
            json!({"branchFromBranchId": "x".repeat(129)}),
            &["branchFromBranchId", "129", "128"],
        ),
        (
            "revision_target_required",
            json!({"isRevision": true}),
            &["revisesThought"],
        ),
        (
            "invalid_input",
            json!({"isRevision": false, "revisesThought": 2}),
            &["revisesThought is 2", "isRevision"],
        ),
        (
            "invalid_input",
            json!({"rewind": true}),
            &["rewind", "isRevision"],
        ),
        (
            "branch_id_required",
            json!({"branchFromThought": 2}),
            &["branchFromThought", "branchId"],
        ),
    ]
}

#[test]
fn faults_of_arguments_are_told_in_their_order() {
    let faults = faults();
    for (code, more, parts) in &faults {
        let text = bench().refused(9, more, code);
        for part in *parts {
            assert!(text.contains(part), "{part:?} is not in {text:?}");
        }
    }
    for (upper, first) in faults.iter().enumerate() {
        for second in &faults[upper + 1..] {
            // Where both speak of one argument, there is no second fault.
            let keys = |value: &Value| {
                value
                    .as_object()
                    .unwrap()
                    .keys()
                    .cloned()
                    .collect::<Vec<_>>()
            };
            if keys(&first.1)
                .iter()
                .any(|key| keys(&second.1).contains(key))
            {
                continue;
            }
            let both = join(&[&first.1, &second.1]);
            let text = bench().refused(9, &both, first.0);
            assert!(text.contains(first.2[0]), "{both}: {text}");
        }
    }
}

#[track_caller]
fn check(code: &str, more: &[Value], parts: &[&str]) {
    let mut bench = bench();
    let text = bench.refused(9, &join(&more.iter().collect::<Vec<_>>()), code);
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in {text:?}");
    }
    let stored = bench.page(&json!({})).unwrap().sequence.thoughts;
    assert_eq!(stored, 9, "a refused call wrote");
}

fn on(branch: &str) -> Value {
    json!({"branchId": branch})
}

fn from(number: u32) -> Value {
    json!({"branchFromThought": number})
}

fn of(branch: &str) -> Value {
    json!({"branchFromBranchId": branch})
}

fn revises(number: u32) -> Value {
    json!({"isRevision": true, "revisesThought": number})
}

fn rewinds(number: u32) -> Value {
    json!({"isRevision": true, "revisesThought": number, "rewind": true})
}

fn sums(number: u32) -> Value {
    json!({"summarizesThrough": number})
}

/// Each call has one more fault, further down, than the one it is refused for.
#[test]
#[rustfmt::skip]
fn faults_of_a_new_branch_are_told_in_their_order() {
    check("branch_not_found", &[on("n"), revises(99), sums(99)], &["branchId is n", "main, b, c", "branchFromThought"]);
    check("branch_not_found", &[on("n"), of("nowhere")], &["branchId is n"]);
    check("invalid_input", &[on("n"), from(99), of("n")], &["branchFromBranchId is n"]);
    check("branch_not_found", &[on("n"), from(99), of("nowhere")], &["branchFromBranchId is nowhere", "main, b, c"]);
    check("branch_point_not_found", &[on("n"), from(99), revises(99)], &["branchFromThought is 99", "main sees", "1, 2, 3, 4, 5"]);
    check("branch_point_not_found", &[on("n"), from(9), of("b")], &["b sees", "1, 2, 3, 4, 5"]);
    check("revision_target_not_found", &[on("n"), from(2), revises(3), sums(99)], &["revisesThought is 3", "1, 2"]);
    check("revision_target_superseded", &[on("n"), from(5), revises(5)], &["thought 5 of main", "set aside"]);
    check("invalid_input", &[on("n"), from(2), rewinds(2)], &["rewind", "main"]);
    check("summary_target_not_found", &[on("n"), from(2), revises(2), sums(2)], &["summarizesThrough is 2"]);
}

#[test]
#[rustfmt::skip]
fn faults_on_a_branch_that_exists_are_told_in_their_order() {
    check("branch_conflict", &[on("b"), from(2), revises(99)], &["branch b exists", "thought 3 of main"]);
    check("branch_conflict", &[on("b"), of("c"), from(4)], &["thought 3 of main"]);
    check("branch_conflict", &[on("b"), of("nowhere"), sums(99)], &["thought 3 of main"]);
    check("revision_target_not_found", &[on("b"), revises(99), sums(99)], &["b sees", "1, 2, 3, 4, 5"]);
    check("invalid_input", &[on("b"), rewinds(2), sums(99)], &["thought 2 belongs to main"]);
    check("summary_target_not_found", &[on("b"), sums(3)], &["summarizesThrough is 3", "4, 5"]);
    check("summary_target_not_found", &[on("b"), rewinds(4), sums(4)], &["summarizesThrough is 4"]);
    check("invalid_input", &[of("b"), revises(99)], &["branchFromBranchId", "main"]);
    check("revision_target_not_found", &[revises(99)], &["main sees", "1, 2, 3, 4"]);
    check("revision_target_superseded", &[revises(5), sums(99)], &["thought 5 of main", "newest thought of main is 4"]);
    check("summary_target_not_found", &[sums(5)], &["summarizesThrough is 5"]);
}

#[test]
fn a_first_thought_has_nothing_to_refer_to() {
    let table = [
        ("branch_point_not_found", json!({"branchId": "b"})),
        (
            "branch_point_not_found",
            json!({"branchFromBranchId": "main", "isRevision": true, "revisesThought": 1}),
        ),
        (
            "revision_target_not_found",
            json!({"isRevision": true, "revisesThought": 1, "summarizesThrough": 1}),
        ),
        ("summary_target_not_found", json!({"summarizesThrough": 1})),
    ];
    for (code, more) in table {
        let text = Bench::new().refused(1, &more, code);
        assert!(text.contains("begins a new sequence"), "{text}");
    }
    let unknown = json!({"sequenceId": SequenceId::new([0; 16])});
    Bench::new().refused(1, &unknown, "sequence_not_found");
}

#[test]
fn the_limit_of_revisions_comes_before_what_follows_it() {
    let mut bench = bench();
    bench.settings.max_revisions = 2;
    let revise = |more: Value| join(&[&json!({"isRevision": true, "revisesThought": 2}), &more]);
    bench.think(6, &revise(json!({}))).unwrap();
    bench.think(7, &revise(json!({}))).unwrap();
    let text = bench.refused(
        8,
        &revise(json!({"summarizesThrough": 99})),
        "revision_limit",
    );
    assert!(text.contains("revised 2 times"), "{text}");
    bench.refused(
        8,
        &revise(json!({"branchId": "b", "rewind": true})),
        "revision_limit",
    );
    // A revision of a revision counts for the thought that both correct.
    let last = json!({"isRevision": true, "revisesThought": 7});
    bench.refused(8, &last, "revision_limit");
}

#[test]
fn reading_and_deleting_refuse_by_name() {
    let mut bench = bench();
    let table = [
        ("invalid_input", json!({"limit": 0}), "limit"),
        ("invalid_input", json!({"limit": 101}), "101"),
        (
            "invalid_input",
            json!({"maxCharacters": 250_001}),
            "maxCharacters",
        ),
        ("invalid_input", json!({"order": "up"}), "asc or desc"),
        ("invalid_input", json!({"view": "tree"}), "branch_path"),
        ("invalid_input", json!({"branchId": "a\nb"}), "branchId"),
        (
            "branch_not_found",
            json!({"branchId": "nowhere"}),
            "nowhere",
        ),
        (
            "branch_not_found",
            json!({"branchId": "nowhere", "view": "branch_path"}),
            "nowhere",
        ),
        (
            "branch_not_found",
            json!({"branchId": "nowhere", "view": "brief"}),
            "nowhere",
        ),
        ("cursor_invalid", json!({"cursor": "AAAA"}), "cursor"),
        (
            "cursor_invalid",
            json!({"cursor": "AAAA", "branchId": "nowhere"}),
            "cursor",
        ),
    ];
    for (code, query, part) in table {
        let refusal = bench.page(&query).expect_err(&query.to_string());
        assert_eq!(refusal.code.name(), code, "{query}");
        assert!(refusal.to_string().contains(part), "{refusal}");
    }
    let unsure = bench.call("delete_thought_sequence", &json!({"confirm": "no"}));
    assert_eq!(unsure.unwrap_err().code.name(), "invalid_input");
    let gone = json!({"sequenceId": SequenceId::new([0; 16])});
    assert_eq!(
        bench.page(&gone).unwrap_err().code.name(),
        "sequence_not_found"
    );
}

#[test]
fn every_refusal_says_its_class_and_what_to_do() {
    for code in Code::ALL {
        let text = durable_thinking::refusal::Refusal::new(code, "m").to_string();
        assert!(
            text.starts_with(&format!(
                "{}: m\nclass: {}",
                code.name(),
                code.class().name()
            )),
            "{text}"
        );
        assert!(
            text.ends_with(&format!("retry: {}", code.retry().name())),
            "{text}"
        );
    }
}

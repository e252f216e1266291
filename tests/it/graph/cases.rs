//! Programs that the store once answered wrongly, and what random programs seldom reach.

use durable_thinking::settings::LoopGuard;
use serde_json::{Value, json};

use crate::graph::bench::Bench;

fn revises(number: u32) -> Value {
    json!({"isRevision": true, "revisesThought": number})
}

fn rewinds(number: u32) -> Value {
    json!({"isRevision": true, "revisesThought": number, "rewind": true})
}

#[test]
fn an_active_thought_is_found_behind_any_number_of_superseded_ones() {
    let mut bench = Bench::new();
    for number in 1..=6 {
        bench.think(number, &json!({})).unwrap();
    }
    for _ in 0..40 {
        bench.think(5, &json!({})).unwrap();
    }
    bench.think(6, &rewinds(6)).unwrap();
    // Forty younger thoughts are called 5, all set aside.
    let revised = bench.think(7, &revises(5)).unwrap().revised.unwrap();
    assert_eq!(revised.ordinal, 5);
    // Many rewinds, each in front of the one before.
    for round in 0..30 {
        bench.think(8 + round, &rewinds(7 + round)).unwrap();
        bench.think(5, &json!({})).unwrap();
        bench.think(8 + round, &rewinds(5)).unwrap();
    }
    let revised = bench.think(9, &revises(5)).unwrap().revised.unwrap();
    assert_eq!(revised.ordinal, 5);
}

#[test]
fn the_claim_that_began_a_branch_stays_good() {
    let mut bench = Bench::new();
    for number in 1..=3 {
        bench.think(number, &json!({})).unwrap();
    }
    bench
        .think(4, &json!({"branchId": "b", "branchFromThought": 3}))
        .unwrap();
    // Seen from b, thought 2 is one of main, so c begins on main.
    let claim = json!({"branchId": "c", "branchFromThought": 2, "branchFromBranchId": "b"});
    let fork = bench.think(3, &claim).unwrap().branch.fork.unwrap();
    assert_eq!((fork.branch.as_str(), fork.ordinal), ("main", 2));
    // Now b has a thought 2 of its own. The client still says what it said.
    bench.think(2, &json!({"branchId": "b"})).unwrap();
    bench.think(4, &claim).unwrap();
    let other = json!({"branchId": "c", "branchFromThought": 2, "branchFromBranchId": "d"});
    bench.refused(5, &other, "branch_conflict");
    // b sees main up to 3 only, so it cannot have been what a branch from 4 began at.
    bench.think(4, &json!({})).unwrap();
    bench
        .think(5, &json!({"branchId": "e", "branchFromThought": 4}))
        .unwrap();
    let unseen = json!({"branchId": "e", "branchFromThought": 4, "branchFromBranchId": "c"});
    bench.refused(6, &unseen, "branch_conflict");
}

#[test]
fn what_the_loop_guard_ended_is_complete_until_the_next_call() {
    let mut bench = Bench::new();
    bench.settings.loop_guard = LoopGuard::Enforce;
    bench.settings.loop_guard_at = 3;
    bench.think(1, &json!({})).unwrap();
    bench
        .think(2, &json!({"branchId": "b", "branchFromThought": 1}))
        .unwrap();
    let ended = bench.think(3, &json!({"branchId": "b"})).unwrap();
    assert!(ended.ended_by_guard && ended.completed);
    assert!(bench.page(&json!({})).unwrap().sequence.completed);
    let next = bench.think(4, &json!({"branchId": "b"})).unwrap();
    assert!(!next.completed && !next.ended_by_guard);
    assert!(!bench.page(&json!({})).unwrap().sequence.completed);
}

#[test]
fn the_loop_guard_is_silent_once_main_is_complete() {
    let mut bench = Bench::new();
    bench.settings.loop_guard_at = 3;
    bench.think(1, &json!({})).unwrap();
    bench
        .think(2, &json!({"nextThoughtNeeded": false}))
        .unwrap();
    let more = bench
        .think(2, &json!({"branchId": "b", "branchFromThought": 1}))
        .unwrap();
    assert_eq!(more.warnings, []);
}

#[test]
fn a_summary_with_a_rewind_sums_up_what_is_left() {
    let mut bench = Bench::new();
    for number in [1, 2, 3, 2, 4] {
        bench.think(number, &json!({})).unwrap();
    }
    // The younger thought 2 goes with the rewind; the older one stays and is meant.
    let mut both = rewinds(3);
    both["summarizesThrough"] = json!(2);
    assert_eq!(bench.think(3, &both).unwrap().superseded, Some(3));
    let mut gone = rewinds(3);
    gone["summarizesThrough"] = json!(3);
    bench.refused(3, &gone, "summary_target_not_found");
}

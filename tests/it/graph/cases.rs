//! Programs that the store once answered wrongly, and what random programs seldom reach.

use durable_thinking::database::Database;
use durable_thinking::settings::LoopGuard;
use durable_thinking::thought::THOUGHTS_MAX;
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

#[test]
fn a_full_sequence_is_refused_and_its_neighbour_is_not() {
    let mut bench = Bench::new();
    bench.think(1, &json!({})).unwrap();
    // Only the newest row is moved far away; nothing reads what would lie between.
    let sql = "update thought set place = place + ?, number = number + ?, position = position + ?";
    let far = THOUGHTS_MAX - 2;
    let params = [far.into(), far.into(), far.into()];
    bench.store.database().query(sql, &params).unwrap();
    let last = bench.think(1_000, &json!({})).unwrap();
    assert_eq!(last.ordinal, THOUGHTS_MAX);
    bench.refused(1_001, &json!({}), "sequence_full");
    let full = bench.sequence_id.take();
    let first = bench
        .think(1, &json!({"thought": "the neighbour"}))
        .unwrap();
    assert_eq!((first.ordinal, first.thoughts), (1, 1));
    assert_eq!(bench.ordinals(&json!({})), [1]);
    bench.sequence_id = full;
    assert_eq!(
        bench
            .page(&json!({"order": "desc", "limit": 1}))
            .unwrap()
            .thoughts[0]
            .ordinal,
        THOUGHTS_MAX
    );
    bench
        .call("delete_thought_sequence", &json!({"confirm": true}))
        .unwrap();
    bench.sequence_id = Some(first.sequence_id.to_string());
    assert_eq!(bench.ordinals(&json!({})), [1]);
}

#[test]
fn a_branch_of_a_hanging_branch_hangs_in_the_brief_as_in_the_list() {
    let mut bench = Bench::new();
    for number in 1..=3 {
        bench.think(number, &json!({})).unwrap();
    }
    bench
        .think(4, &json!({"branchId": "b", "branchFromThought": 3}))
        .unwrap();
    bench
        .think(
            5,
            &json!({"branchId": "c", "branchFromThought": 4, "branchFromBranchId": "b"}),
        )
        .unwrap();
    bench.think(3, &rewinds(3)).unwrap();
    let listed = bench.page(&json!({})).unwrap().sequence.branches.unwrap();
    let told = bench
        .page(&json!({"view": "brief"}))
        .unwrap()
        .brief
        .unwrap()
        .branches;
    assert!(listed.iter().all(|branch| branch.hanging));
    assert!(told.iter().all(|lane| lane.branch.hanging) && told.len() == 2);
}

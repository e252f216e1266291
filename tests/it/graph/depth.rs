//! Branches of branches, and as many of them as a sequence may have.

use durable_thinking::database::Database;
use serde_json::{Value, json};

use crate::graph::bench::Bench;

const LEVELS: u32 = 500;

/// Thought 1 on `main`, then a branch from each branch's only thought: thought n+1 lies on branch n.
fn nested(levels: u32) -> Bench {
    let mut bench = Bench::new();
    bench.think(1, &json!({})).unwrap();
    for level in 1..=levels {
        let parent = parent(level);
        let fork = json!({"branchId": level.to_string(), "branchFromThought": level, "branchFromBranchId": parent});
        bench.think(level + 1, &fork).unwrap();
    }
    bench
}

fn parent(level: u32) -> String {
    match level {
        1 => "main".to_owned(),
        _ => (level - 1).to_string(),
    }
}

fn revise(level: u32, number: u32) -> Value {
    json!({"branchId": level.to_string(), "isRevision": true, "revisesThought": number, "thought": "again"})
}

/// Acceptance 15 (C8): the reference stops after 64 levels.
#[test]
fn acceptance_15_five_hundred_levels_resolve() {
    let mut bench = nested(LEVELS);
    for number in [1, 2, 64, 65, 300, LEVELS, LEVELS + 1] {
        let revised = bench.think(LEVELS + 2, &revise(LEVELS, number)).unwrap();
        let target = revised.revised.unwrap();
        let owner = if number == 1 {
            "main".to_owned()
        } else {
            (number - 1).to_string()
        };
        assert_eq!(
            (target.branch.as_str(), target.ordinal),
            (owner.as_str(), number)
        );
    }
    // Siblings, and branches below, are out of sight however deep.
    bench.refused(LEVELS + 2, &revise(7, 9), "revision_target_not_found");
    let path = json!({"view": "branch_path", "branchId": LEVELS.to_string(), "limit": 100});
    let expected: Vec<u32> = (1..=LEVELS + 8).collect();
    assert_eq!(bench.ordinals(&path), expected);
    let mut backwards = path.clone();
    backwards["order"] = json!("desc");
    let mut reversed = bench.ordinals(&backwards);
    reversed.reverse();
    assert_eq!(reversed, expected);
}

#[test]
fn each_level_costs_the_same() {
    let mut bench = nested(400);
    // The first revision of a thought has no older one to count from.
    bench.think(3, &revise(1, 1)).unwrap();
    let mut reads = |level: u32| {
        let call = bench.draft(level + 2, &revise(level, 1)).unwrap();
        let before = bench.store.database().cost().rows_read;
        bench.run(&call).unwrap();
        bench.store.database().cost().rows_read - before
    };
    let costs = [100, 200, 300, 400].map(&mut reads);
    let steps: Vec<u64> = costs.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(steps, vec![steps[0]; 3], "{costs:?}");
    // One row of the table of branches a level.
    assert_eq!(steps[0], 100, "{costs:?}");
}

#[test]
fn a_sequence_has_five_hundred_branches_and_no_more() {
    let mut bench = nested(LEVELS);
    let fork = json!({"branchId": "one more", "branchFromThought": 1});
    let text = bench.refused(2, &fork, "branch_limit");
    assert!(text.contains("500"), "{text}");
    // Nothing was written, and what exists goes on.
    assert_eq!(
        bench.page(&json!({})).unwrap().sequence.thoughts,
        LEVELS + 1
    );
    bench.think(3, &json!({"branchId": "250"})).unwrap();
    let branches = bench
        .page(&json!({"limit": 1}))
        .unwrap()
        .sequence
        .branches
        .unwrap();
    assert_eq!(branches.len(), LEVELS as usize);
}

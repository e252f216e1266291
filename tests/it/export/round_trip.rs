//! What is written out and read in again is the same process.

use durable_thinking::view::export::Format;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::export::bench::{Bench, story};

/// The document without what an import changes: the note of its origin, and the check over it.
pub fn comparable(document: &str) -> Value {
    let mut document: Value = serde_json::from_str(document).unwrap();
    let header = document["sequence"].as_object_mut().unwrap();
    header.remove("origin");
    header.remove("check");
    document
}

#[track_caller]
fn check(bench: &mut Bench) {
    let first = bench.export(Format::Json);
    let original = bench.id;
    let imported = bench
        .import(&first)
        .unwrap_or_else(|refusal| panic!("{refusal}\n{first}"));
    assert_ne!(Some(imported.sequence_id), original);
    bench.id = Some(imported.sequence_id);
    let second = bench.export(Format::Json);
    assert_eq!(comparable(&second), comparable(&first));
    let streamed = bench.import_streaming(&second).unwrap();
    bench.id = Some(streamed.sequence_id);
    assert_eq!(comparable(&bench.export(Format::Json)), comparable(&first));
}

#[test]
fn a_process_with_everything_in_it_comes_back() {
    let mut bench = story();
    check(&mut bench);
    let document: Value = serde_json::from_str(&bench.export(Format::Json)).unwrap();
    assert_eq!(
        document["sequence"]["origin"],
        "Imported 2026-11-30T13:45:15.000Z from an exported document of 11 thoughts, the first of 2026-11-30T13:45:01.000Z. Before that: Imported 2026-11-30T13:45:13.000Z from an exported document of 11 thoughts, the first of 2026-11-30T13:45:01.000Z"
    );
}

#[test]
fn an_imported_sequence_goes_on_like_any_other() {
    let mut bench = story();
    let document = bench.export(Format::Json);
    bench.id = Some(bench.import(&document).unwrap().sequence_id);
    bench.think(8, "One more.", &json!({})).unwrap();
    let refused = bench
        .think(9, "x", &json!({"isRevision": true, "revisesThought": 66}))
        .unwrap_err();
    assert!(refused.contains("1, 2, 3, 4, 5, 6, 7, 8"), "{refused}");
}

/// One step of a random program; what makes no sense is refused by the store and left out.
fn step() -> impl Strategy<Value = (u32, String, Value)> {
    let names = ["main", "a", "b", "方案", "__proto__"];
    let text = prop_oneof![
        4 => "[a-z]{1,12}",
        1 => "\\PC{1,40}",
        1 => Just("\u{0}\r\n\u{200b}\u{202e}\"\\</script>".to_owned()),
    ];
    (
        1..8_u32,
        text,
        0..names.len(),
        0..10_u32,
        1..8_u32,
        0..names.len(),
        any::<bool>(),
    )
        .prop_map(move |(number, text, branch, kind, target, from, flag)| {
            let branch = names[branch];
            let mut more = match kind {
                0 | 1 => json!({"isRevision": true, "revisesThought": target}),
                2 => json!({"isRevision": true, "revisesThought": target, "rewind": true}),
                3 => json!({"summarizesThrough": target}),
                4 => json!({"nextThoughtNeeded": false, "needsMoreThoughts": flag}),
                5 | 6 => json!({"branchFromThought": target, "branchFromBranchId": names[from]}),
                _ => json!({}),
            };
            more["branchId"] = json!(branch);
            if kind > 6 && flag && branch != "main" {
                more["branchFromThought"] = json!(target);
            }
            (number, text, more)
        })
}

proptest! {
    #![proptest_config(crate::seeded::config(24))]

    #[test]
    fn any_process_comes_back(program in prop::collection::vec(step(), 1..40)) {
        let mut bench = Bench::new();
        bench.think(1, "begin", &json!({})).unwrap();
        for (number, text, more) in program {
            let _ = bench.think(number, &text, &more);
        }
        check(&mut bench);
    }
}

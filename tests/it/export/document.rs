//! The JSON document is a format that people keep: its bytes are pinned.

use durable_thinking::view::export::Format;
use expect_test::expect_file;
use serde_json::json;

use crate::export::bench::{Bench, story};

#[test]
fn the_document_is_pinned() {
    let document = story().export(Format::Json);
    assert!(
        !document.contains("seq_"),
        "a document holds no sequence id"
    );
    expect_file!["../../fixtures/document_v1.json"].assert_eq(&document);
}

/// A document that an older version wrote must be read for ever, so this file is never written again once released.
#[test]
fn the_pinned_document_is_read() {
    let mut bench = Bench::new();
    let imported = bench
        .import(include_str!("../../fixtures/document_v1.json"))
        .unwrap();
    assert_eq!((imported.thoughts, imported.branches), (11, 1));
}

/// Text that would break out of a heading, a list, a table, a fence, a label or an element.
const HOSTILE: [&str; 8] = [
    "</details></del><script>alert(1)</script><!-- @all #1",
    "```\n```\n```mermaid\nnever closed",
    "# Heading\r\r## Another\n\n---\n===\n1. one\n- two\n> three\n    four\n| a | b |\n|---|---|",
    "\u{202e}desrever\u{0} [x](javascript:alert(1)) ![y](https://evil.example/z.png) $x$ ~~a~~ https://a.example/b_c_d.",
    "\"]; end; click n1 href \"javascript:alert(1)\" %%{init: {\"theme\":\"dark\"}}%% #quot; style x:#fff;",
    "`code <b>` and ``two ` ticks`` and `open",
    "~~~rust\nfn main() { /* </details> ``` */ }\n~~~\nafter",
    "---\nconfig:\n  theme: dark\n---\nsubgraph x\n",
];

fn hostile() -> Bench {
    let mut bench = Bench::new();
    for (text, number) in HOSTILE.into_iter().zip(1..) {
        bench.think(number, text, &json!({})).unwrap();
    }
    let name = "</b>](x) `\"]:::end ~~ @all";
    bench
        .think(9, "x", &json!({"branchFromThought": 2, "branchId": name}))
        .unwrap();
    bench
}

#[test]
fn the_views_are_pinned() {
    expect_file!["../../fixtures/story.md"].assert_eq(&story().export(Format::Markdown));
    expect_file!["../../fixtures/story.mmd"].assert_eq(&story().export(Format::Mermaid));
    expect_file!["../../fixtures/hostile.md"].assert_eq(&hostile().export(Format::Markdown));
    expect_file!["../../fixtures/hostile.mmd"].assert_eq(&hostile().export(Format::Mermaid));
}

/// Renderers refuse more than 500 edges or 50,000 characters.
#[test]
fn a_graph_of_any_size_can_be_drawn() {
    let mut wide = Bench::new();
    wide.think(1, "begin", &json!({})).unwrap();
    for number in 0..300 {
        let text = format!("{number} {}", "\"#<>&;:%`{}[]".repeat(20));
        let name = format!("{number} {}", "#".repeat(100));
        let fork = json!({"branchFromThought": 1, "branchId": name});
        wide.think(2, &text, &fork).unwrap();
        let revision = json!({"branchId": name, "isRevision": true, "revisesThought": 2});
        wide.think(3, &text, &revision).unwrap();
        wide.think(4, &text, &json!({"branchId": name})).unwrap();
    }
    let mut long = Bench::new();
    for number in 1..=1000 {
        long.think(number, &format!("Step {number}"), &json!({}))
            .unwrap();
    }
    long.think(
        500,
        "again",
        &json!({"isRevision": true, "revisesThought": 400, "rewind": true}),
    )
    .unwrap();
    for (mut bench, name) in [(wide, "wide"), (long, "long")] {
        let graph = bench.export(Format::Mermaid);
        let edges = graph.lines().filter(|line| line.contains("->")).count();
        assert!(edges < 500, "{name}: {edges} edges");
        assert!(graph.len() < 50_000, "{name}: {} bytes", graph.len());
        expect_file![format!("../../fixtures/{name}.mmd")].assert_eq(&graph);
    }
}

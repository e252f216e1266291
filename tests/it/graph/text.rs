//! Text comes back as it went in, to the byte.

use serde_json::json;

use crate::bench::Bench;
use crate::support::Router;
use crate::wire::{Http, Request};

#[track_caller]
fn check(text: &str) {
    let mut bench = Bench::new();
    let stored = bench
        .call("sequentialthinking", &json!({"thought": text, "thoughtNumber": 1, "totalThoughts": 1, "nextThoughtNeeded": false}))
        .unwrap();
    assert!(stored.text.contains(text), "the answer does not hold it");
    let read = bench
        .call("get_thought_history", &json!({"maxCharacters": 250_000}))
        .unwrap();
    assert_eq!(read.structured.to_value()["thoughts"][0]["thought"], text);
    assert!(read.text.contains(text), "the history does not hold it");
    // Through JSON once more, as a client reads it.
    let wire = durable_thinking::json::bytes(&read.structured);
    let back: serde_json::Value = serde_json::from_slice(&wire).unwrap();
    assert_eq!(back["thoughts"][0]["thought"], text);
}

#[test]
fn text_is_stored_to_the_byte() {
    check("\u{0}");
    check("a\u{0}b\u{0}");
    check("one\r\ntwo\rthree\n\n  four  \n");
    check(" \t leading and trailing \u{a0}");
    check("zero\u{200b}width\u{200d}\u{feff}\u{2060}");
    check("\u{202e}right to left\u{202c} שלום العربية");
    check("e\u{301} and \u{e9} are not made one");
    check("\u{fffd}\u{ffff}\u{10ffff}\u{e000}");
    check("\u{1b}[31m, \u{7f}, \u{85}, \u{2028}");
    check("\"quotes\" \\ </script> {\"json\": [null]} 'sql'; drop table thought; --");
    check("null");
    check(&"\u{1f642}".repeat(20_000));
    check(&"思".repeat(20_000));
    check(&"\u{0}".repeat(20_000));
}

#[test]
fn one_character_too_many_is_refused_whatever_its_size() {
    for character in ["x", "é", "思", "\u{1f642}", "\u{0}"] {
        let text = character.repeat(20_001);
        Bench::new().refused(1, &json!({"thought": text}), "thought_too_long");
    }
}

#[test]
fn branch_names_are_names_and_nothing_else() {
    let mut bench = Bench::new();
    bench.think(1, &json!({})).unwrap();
    let names = [
        "__proto__",
        "constructor",
        "toString",
        "Main",
        "0",
        "方案 B",
        "a/b?c#d",
        "'; --",
        "שלום",
        "e\u{301}",
        "\u{e9}",
    ];
    for name in names {
        let stored = bench
            .think(2, &json!({"branchId": name, "branchFromThought": 1}))
            .unwrap();
        assert_eq!(stored.branch.name.as_str(), name);
    }
    let branches = bench
        .page(&json!({"limit": 1}))
        .unwrap()
        .sequence
        .branches
        .unwrap();
    let listed: Vec<_> = branches.iter().map(|branch| branch.name.as_str()).collect();
    assert_eq!(listed, names);
    for name in names {
        assert_eq!(
            bench.ordinals(&json!({"branchId": name})).len(),
            1,
            "{name}"
        );
    }
    // Blanks around a name are not part of it.
    let main = bench.think(2, &json!({"branchId": "main "})).unwrap();
    assert!(main.branch.name.is_main());
    let own = bench
        .think(3, &json!({"branchId": " \t__proto__\u{3000}"}))
        .unwrap();
    assert_eq!(own.branch.name.as_str(), "__proto__");
    for name in [
        "a\u{0}b",
        "a\nb",
        "a\r",
        "\u{7f}x",
        "a\u{85}b",
        "a\u{2028}b",
        &"x".repeat(129),
    ] {
        let fork = json!({"branchId": format!(".{name}."), "branchFromThought": 1});
        bench.refused(2, &fork, "invalid_input");
    }
}

/// No result is larger than this, whatever it holds: some clients refuse a larger one.
const RESULT_BYTES_MAX: usize = 900_000;

#[track_caller]
fn check_size(bench: &mut Bench, query: &serde_json::Value) {
    let rendered = bench.call("get_thought_history", query).unwrap();
    let structured = rendered.structured.to_value();
    let result = json!({"content": [{"type": "text", "text": rendered.text}], "structuredContent": structured});
    let bytes = result.to_string().len();
    assert!(bytes <= RESULT_BYTES_MAX, "{bytes} bytes");
    assert!(!structured["thoughts"].as_array().unwrap().is_empty());
}

#[test]
fn no_result_is_larger_than_clients_take() {
    let mut bench = Bench::new();
    bench
        .think(1, &json!({"thought": "\u{0}".repeat(20_000)}))
        .unwrap();
    for number in 2..=12 {
        bench
            .think(number, &json!({"thought": "\u{1f642}".repeat(20_000)}))
            .unwrap();
    }
    let most = json!({"limit": 100, "maxCharacters": 250_000});
    check_size(&mut bench, &most);
    // The longest names there are, and as many as there may be, with thoughts that name three of them each.
    let name = |at: u32| format!("{at:03}{}", "\u{1f642}".repeat(125));
    for at in 1..=500 {
        let mut fork = json!({"branchId": name(at), "branchFromThought": 1});
        if at > 1 {
            fork["branchFromBranchId"] = json!(name(at - 1));
            fork["branchFromThought"] = json!(1);
        }
        if at > 400 {
            fork["isRevision"] = json!(true);
            fork["revisesThought"] = json!(1);
            fork["thought"] = json!("x".repeat(2_400));
        }
        bench.think(1, &fork).unwrap();
    }
    check_size(&mut bench, &most);
    check_size(
        &mut bench,
        &json!({"limit": 100, "maxCharacters": 250_000, "order": "desc"}),
    );
    let page = bench.page(&json!({"limit": 1, "order": "desc"})).unwrap();
    let next = json!({"limit": 100, "maxCharacters": 250_000, "order": "desc", "cursor": page.next_cursor});
    check_size(&mut bench, &next);
}

/// JSON can write half a character; no text can hold one.
#[test]
fn lone_surrogates_are_refused_with_a_clear_error() {
    for escape in [r"\ud800", r"\udfff", r"\ud83d x", r"\ude42\ud83d"] {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"sequentialthinking","arguments":{{"thought":"half {escape}","thoughtNumber":1,"totalThoughts":1,"nextThoughtNeeded":true}}}}}}"#
        );
        let request =
            Request::post("/mcp-compat", body).header("MCP-Protocol-Version", "2025-11-25");
        let reply = Router::new().send(&request);
        let text = String::from_utf8(reply.body.clone()).unwrap();
        assert_eq!(reply.status, 400, "{text}");
        let answer: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(answer["error"]["code"], -32700, "{text}");
        assert!(text.contains("surrogate"), "{text}");
    }
}

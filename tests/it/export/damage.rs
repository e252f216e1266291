//! A damaged document is refused whole, with the place of the fault, and every table stays as it was.

use durable_thinking::view::export::Format;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::export::bench::{Bench, story};
use crate::export::round_trip::comparable;

#[track_caller]
fn refused(bench: &mut Bench, document: &str) -> String {
    let before = bench.rows();
    let message = bench.import(document).expect_err("the document was taken");
    assert_eq!(
        bench.import_streaming(document).expect_err("streamed"),
        message
    );
    assert_eq!(bench.rows(), before);
    assert!(message.starts_with("import_invalid: "), "{message}");
    message
}

/// Puts `value` at `pointer` of the story's document, or takes out what is there when it is null, and looks at the refusal.
/// The document has no checks, so that what they would cover is judged by what it says.
#[track_caller]
fn check(pointer: &str, value: Value, expected: &str) {
    let mut bench = story();
    let mut document: Value = serde_json::from_str(&bench.export(Format::Json)).unwrap();
    let header = document["sequence"].as_object_mut().unwrap();
    header.remove("check");
    for thought in document["thoughts"].as_array_mut().unwrap() {
        thought.as_object_mut().unwrap().remove("check");
    }
    let (parent, member) = pointer.rsplit_once('/').unwrap();
    match document.pointer_mut(parent).unwrap() {
        Value::Array(items) if value.is_null() => drop(items.remove(member.parse().unwrap())),
        Value::Object(members) if value.is_null() => drop(members.remove(member)),
        Value::Array(items) => items[member.parse::<usize>().unwrap()] = value,
        Value::Object(members) => drop(members.insert(member.to_owned(), value)),
        other => panic!("{other}"),
    }
    let message = refused(&mut bench, &in_order(&document));
    assert!(
        message.starts_with(&format!("import_invalid: {expected}")),
        "{message}"
    );
}

/// The members of a document in the order that its reader needs.
fn in_order(document: &Value) -> String {
    let members = ["format", "version", "sequence", "thoughts"]
        .into_iter()
        .filter_map(|name| Some(format!("\"{name}\": {}", document.get(name)?)));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

#[test]
fn what_is_missing_or_out_of_order_is_told() {
    for (pointer, value, expected) in [
        (
            "/version",
            json!(2),
            "/version: 2 came; this program reads 1",
        ),
        (
            "/version",
            json!(null),
            "/version: format and version go together",
        ),
        ("/format", json!("x"), "/format: must be"),
        ("/thoughts", json!(null), "/thoughts: is missing"),
        (
            "/thoughts",
            json!([]),
            "/sequence/thoughtHistoryLength: says 11, but there are 0",
        ),
        (
            "/thoughts/10",
            json!(7),
            "/thoughts/10: invalid type: integer",
        ),
        (
            "/thoughts/10",
            json!(null),
            "/sequence/thoughtHistoryLength: says 11, but there are 10",
        ),
        (
            "/thoughts/4",
            json!(null),
            "/thoughts/4/ordinal: 6 came after 4",
        ),
        (
            "/thoughts/4/ordinal",
            json!(4),
            "/thoughts/4/ordinal: 4 came after 4",
        ),
        (
            "/thoughts/9/check",
            json!("00000000"),
            "/thoughts/9/check: either",
        ),
    ] {
        check(pointer, value, expected);
    }
}

#[test]
fn a_value_that_cannot_be_is_told() {
    for (member, value, expected) in [
        (
            "thoughtNumber",
            json!("1"),
            "a text came; it must be a whole number",
        ),
        ("thoughtNumber", json!(0), "0 came; it is a whole number"),
        (
            "totalThoughts",
            json!(-1),
            "-1 came; it must be a whole number",
        ),
        ("totalThoughts", json!(4_294_967_296_u64), "4294967296 came"),
        (
            "revised",
            json!("main"),
            "a text came; it must be an object",
        ),
        ("isRevision", json!(1), "1 came; it must be true or false"),
        ("totalThoughts", json!(2), "is below thoughtNumber"),
        ("thought", json!(" \n"), "is blank"),
        ("thought", json!("x".repeat(20_001)), "has 20001 characters"),
        ("createdAt", json!("yesterday"), "a time looks like"),
        ("createdAt", json!(null), "is missing"),
        ("colour", json!("red"), "unknown field"),
        ("branchId", json!("a\nb"), "holds a control character"),
        ("rewind", json!(true), "needs revisesThought"),
        (
            "isRevision",
            json!(true),
            "isRevision and revisesThought go together",
        ),
    ] {
        check(
            &format!("/thoughts/6/{member}"),
            value,
            &format!("/thoughts/6/{member}: {expected}"),
        );
    }
}

#[test]
fn a_reference_that_leads_elsewhere_is_told() {
    for (pointer, value, expected) in [
        (
            "3/forked/ordinal",
            json!(1),
            "3/forked: says ordinal 1, but thought 2 is the one with ordinal 2",
        ),
        (
            "3/branchFromThought",
            json!(9),
            "3/branchFromThought: branchFromThought is 9, and main sees no such thought",
        ),
        (
            "3/branchFromThought",
            json!(null),
            "3/forked: needs branchFromThought",
        ),
        (
            "4/branchId",
            json!("elsewhere"),
            "4/branchId: branchId is elsewhere, and there is no such branch",
        ),
        (
            "5/revised/branchId",
            json!("cache"),
            "5/revised: says branch cache, but thought 3 belongs to main",
        ),
        (
            "5/revisesThought",
            json!(77),
            "5/revisesThought: revisesThought is 77",
        ),
        (
            "9/summarizesThrough",
            json!(50),
            "9/summarizesThrough: summarizesThrough is 50",
        ),
    ] {
        check(
            &format!("/thoughts/{pointer}"),
            value,
            &format!("/thoughts/{expected}"),
        );
    }
}

#[test]
fn damage_that_reads_well_is_told_by_the_check() {
    let mut bench = story();
    let document = bench.export(Format::Json);
    let changed = document.replace("takes 4 s", "takes 9 s");
    let message = refused(&mut bench, &changed);
    assert!(
        message.starts_with("import_invalid: /sequence/check: does not fit"),
        "{message}"
    );
    let changed = document.replace("Or cache the page", "Or catch the page");
    let message = refused(&mut bench, &changed);
    assert!(
        message.starts_with("import_invalid: /thoughts/3/check: does not fit"),
        "{message}"
    );
}

#[test]
fn what_is_no_document_is_told_where_it_breaks() {
    let mut bench = story();
    let document = bench.export(Format::Json);
    for (text, expected) in [
        ("", "/: EOF while parsing"),
        ("nonsense", "/: expected ident"),
        ("[]", "/thoughts: there is no thought"),
        (
            "7",
            "/: invalid type: integer `7`, expected an exported document",
        ),
        ("{}", "/sequence: is missing"),
        (
            &document[..document.len() / 2],
            "/thoughts/4: EOF while parsing an object at line 10",
        ),
        (
            &format!("{document}{{}}"),
            "/: something follows the document",
        ),
        (
            &document.replacen("\"completed\"", "\"title\": \"x\", \"completed\"", 1),
            "/sequence: title stands here twice",
        ),
        (
            &document.replacen("\"version\"", "\"format\": 1, \"version\"", 1),
            "/format: this member stands here twice",
        ),
        (
            &document.replacen("\"format\"", "\"Format\"", 1),
            "/Format: unknown field",
        ),
    ] {
        let message = refused(&mut bench, text);
        assert!(
            message.starts_with(&format!("import_invalid: {expected}")),
            "{text:.20}: {message}"
        );
    }
    let endless = format!(
        "{{\"sequence\":{{\"thoughtHistoryLength\":1}},\"thoughts\":[{{\"thought\":\"{}",
        "x".repeat(2_000_000)
    );
    assert!(refused(&mut bench, &endless).contains("more than 1048576 bytes"));
}

proptest! {
    #![proptest_config(crate::seeded::config(64))]

    /// A document with one byte changed, left out or put in is refused, or it makes the very same process.
    #[test]
    fn any_damage_is_noticed(at: prop::sample::Index, byte in 0x20..0x7f_u8, kind in 0..3_u8) {
        let document = include_str!("../../fixtures/document_v1.json");
        let mut bench = Bench::new();
        let mut bytes = document.as_bytes().to_vec();
        let at = at.index(bytes.len());
        match kind {
            0 => bytes[at] = byte,
            1 => drop(bytes.remove(at)),
            _ => bytes.insert(at, byte),
        }
        let Ok(damaged) = String::from_utf8(bytes) else { return Ok(()) };
        let original = comparable(document);
        match bench.import(&damaged) {
            Ok(imported) => {
                bench.id = Some(imported.sequence_id);
                prop_assert_eq!(comparable(&bench.export(Format::Json)), original);
            }
            Err(_) => drop(refused(&mut bench, &damaged)),
        }
    }
}

//! The tool list as clients and model providers take it: what they accept of a schema, how long a text may be, and that the
//! schemas say what the parser does.
//!
//! What each accepts, and where that is written down:
//! * Gemini, `FunctionDeclaration.parameters`: a subset of OpenAPI 3.0 (ai.google.dev/api/caching, *Schema*): no unions, no
//!   `$…`, no `additionalProperties`, no exclusive bounds, one type as a string, `enum` of strings; names of at most 64
//!   characters. Reports: google-gemini/gemini-cli#23382, modelcontextprotocol/servers#1624.
//! * OpenAI, functions that are not strict: an object at the root with `properties` (platform.openai.com/docs/guides/function-calling).
//! * OpenAI, strict (platform.openai.com/docs/guides/structured-outputs, *Supported schemas*): the client adds
//!   `additionalProperties: false`, requires every property and lets optional ones be null; bounds of numbers are allowed, and
//!   lengths in practice (pydantic/pydantic-ai#7400). So null has to be good for every optional argument.
//! * Bedrock, `toolSpec.inputSchema.json`: an object at the root (kirodotdev/Kiro#11027), integers within 32 bits
//!   (tailcallhq/forgecode#3307).
//! * Claude: an object at the root without `anyOf`, `oneOf`, `allOf` there (docs.anthropic.com, *Define tools*); Claude Code cuts
//!   descriptions at 2,048 (anthropics/claude-code#41593).
//! * VS Code: `properties` and `required` present, an array has `items` (microsoft/vscode#243602, code.visualstudio.com/api,
//!   *Language Model Tools*).
//!
//! All of them meet in one flat subset, and that is what is checked. The schemas are generated from types in `generate`.

mod arguments;
mod generate;
mod results;

use durable_thinking::clock::Timestamp;
use durable_thinking::fresh::Fresh;
use durable_thinking::settings::Settings;
use durable_thinking::tools::{TOOLS, Tool, find, parse};
use serde_json::{Map, Value, json};

use crate::support::Router;
use crate::vectors::modern;
use crate::wire::{Http, MODERN, Request};

const KEYWORDS: [&str; 10] = [
    "type",
    "properties",
    "required",
    "description",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "enum",
    "items",
];
const TYPES: [&str; 6] = ["object", "array", "string", "integer", "number", "boolean"];
const TOOLS_BYTES_MAX: usize = 7_000;
const DESCRIPTION_BYTES_MAX: usize = 2_047;

fn schemas() -> Vec<(String, Value)> {
    TOOLS
        .iter()
        .flat_map(|tool| {
            [("input", tool.input_schema), ("output", tool.output_schema)].map(|(kind, text)| {
                (
                    format!("{} {kind}", tool.name),
                    serde_json::from_str(text).unwrap(),
                )
            })
        })
        .collect()
}

fn input(tool: &Tool) -> Value {
    serde_json::from_str(tool.input_schema).unwrap()
}

/// Checks one schema, and every one inside it.
fn check(schema: &Value, place: &str) {
    let members = schema.as_object().unwrap();
    for keyword in members.keys() {
        assert!(KEYWORDS.contains(&keyword.as_str()), "{place}: {keyword}");
    }
    let kind = schema["type"]
        .as_str()
        .unwrap_or_else(|| panic!("{place}: one type"));
    assert!(TYPES.contains(&kind), "{place}: {kind}");
    for bound in ["minimum", "maximum", "minLength", "maxLength"] {
        if let Some(value) = schema.get(bound) {
            assert!(
                i32::try_from(value.as_i64().unwrap()).is_ok(),
                "{place}: {bound}"
            );
        }
    }
    if let Some(values) = schema.get("enum") {
        assert!(
            kind == "string" && values.as_array().unwrap().iter().all(Value::is_string),
            "{place}: enum"
        );
    }
    assert_eq!(
        schema.get("items").is_some(),
        kind == "array",
        "{place}: items"
    );
    if let Some(items) = schema.get("items") {
        check(items, &format!("{place}[]"));
    }
    assert_eq!(
        schema.get("properties").is_some(),
        kind == "object",
        "{place}: properties"
    );
    let Some(properties) = schema.get("properties") else {
        return;
    };
    let properties = properties.as_object().unwrap();
    for name in schema["required"].as_array().unwrap() {
        assert!(
            properties.contains_key(name.as_str().unwrap()),
            "{place}: required {name}"
        );
    }
    for (name, property) in properties {
        let is_name = name.len() <= 64
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        assert!(is_name, "{place}: {name}");
        check(property, &format!("{place}.{name}"));
    }
}

#[test]
fn every_schema_lies_in_what_all_clients_accept() {
    for (name, schema) in schemas() {
        assert_eq!(schema["type"], "object", "{name}");
        check(&schema, &name);
    }
    for tool in &TOOLS {
        // With the prefix that clients add, a name stays below the 64 characters that models allow.
        let is_short = tool.name.len() <= 40
            && tool
                .name
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        assert!(is_short, "{}", tool.name);
        for (property, schema) in input(tool)["properties"].as_object().unwrap() {
            assert!(
                schema["description"].is_string(),
                "{}.{property}",
                tool.name
            );
        }
    }
}

#[test]
fn the_list_stays_small() {
    let reply = Router::new().send(&Request::message(
        MODERN,
        &modern(1, "tools/list", json!({})),
    ));
    let tools = reply.json()["result"]["tools"].clone();
    let bytes = tools.to_string().len();
    assert!(bytes <= TOOLS_BYTES_MAX, "{bytes} bytes");
    for tool in tools.as_array().unwrap() {
        let bytes = tool["description"].as_str().unwrap().len();
        assert!(
            bytes <= DESCRIPTION_BYTES_MAX,
            "{}: {bytes} bytes",
            tool["name"]
        );
        assert_eq!(tool["annotations"].as_object().unwrap().len(), 4);
    }
}

/// What is accepted of `tool` when one argument is replaced.
fn accepts(tool: &Tool, name: &str, value: &Value) -> bool {
    let mut arguments = least(tool);
    arguments.insert(name.to_owned(), value.clone());
    // What an argument needs beside it.
    for (with, other, good) in [
        ("revisesThought", "isRevision", json!(true)),
        ("isRevision", "revisesThought", json!(1)),
        ("branchFromThought", "branchId", json!("b")),
        ("branchFromBranchId", "branchId", json!("b")),
    ] {
        if with == name {
            arguments.insert(other.to_owned(), good);
        }
    }
    if name == "rewind" {
        arguments.extend([
            ("isRevision".to_owned(), json!(true)),
            ("revisesThought".to_owned(), json!(1)),
        ]);
    }
    let fresh = Fresh::new(Timestamp::from_milliseconds(0), [0; 32]);
    parse(tool, &arguments, &Settings::default(), &fresh).is_ok()
}

/// The required arguments only.
fn least(tool: &Tool) -> Map<String, Value> {
    const ID: &str = "seq_00000000000000000000000000";
    let id = (0..1024)
        .map(|check| format!("{ID}{}", base32(check)))
        .find(|id| {
            let arguments = json!({ "sequenceId": id }).as_object().cloned().unwrap();
            let fresh = Fresh::new(Timestamp::from_milliseconds(0), [0; 32]);
            parse(
                find("get_thought_history").unwrap(),
                &arguments,
                &Settings::default(),
                &fresh,
            )
            .is_ok()
        });
    let good = json!({
        "thought": "a", "nextThoughtNeeded": true, "thoughtNumber": 2, "totalThoughts": 2,
        "sequenceId": id.unwrap(), "confirm": true,
    });
    let required = input(tool)["required"].clone();
    let names = required
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap());
    names
        .map(|name| (name.to_owned(), good[name].clone()))
        .collect()
}

fn base32(number: u32) -> String {
    let digit = |index: u32| char::from(b"0123456789abcdefghjkmnpqrstvwxyz"[(index % 32) as usize]);
    [digit(number / 32), digit(number)].into_iter().collect()
}

#[test]
fn the_schemas_say_what_the_parser_does() {
    for tool in &TOOLS {
        let schema = input(tool);
        for (name, property) in schema["properties"].as_object().unwrap() {
            let is = |value: &Value| accepts(tool, name, value);
            let place = format!("{}.{name}", tool.name);
            for (bound, step) in [("minimum", -1), ("maximum", 1)] {
                let Some(limit) = property[bound].as_i64() else {
                    continue;
                };
                assert!(is(&json!(limit)), "{place}: {limit}");
                // Zero means absent where nothing is numbered zero.
                if limit + step != 0
                    || schema["required"]
                        .as_array()
                        .unwrap()
                        .contains(&json!(name))
                {
                    assert!(!is(&json!(limit + step)), "{place}: {}", limit + step);
                }
            }
            if let Some(limit) = property["maxLength"].as_u64() {
                let text = |length: u64| json!("é".repeat(usize::try_from(length).unwrap()));
                assert!(
                    is(&text(limit)) && !is(&text(limit + 1)),
                    "{place}: {limit}"
                );
            }
            for value in property["enum"].as_array().into_iter().flatten() {
                assert!(is(value), "{place}: {value}");
                assert!(
                    !is(&json!(format!("{}x", value.as_str().unwrap()))),
                    "{place}"
                );
            }
            let wrong = match property["type"].as_str().unwrap() {
                "string" => json!(true),
                "integer" => json!("many"),
                _ => json!("maybe"),
            };
            assert!(!is(&wrong), "{place}: {wrong}");
        }
    }
}

/// A strict client sends every property, null where there is nothing to say.
#[test]
fn what_a_strict_client_sends_is_accepted() {
    for tool in &TOOLS {
        let mut arguments = least(tool);
        for name in input(tool)["properties"].as_object().unwrap().keys() {
            arguments.entry(name.clone()).or_insert(Value::Null);
        }
        let fresh = Fresh::new(Timestamp::from_milliseconds(0), [0; 32]);
        let parsed = parse(tool, &arguments, &Settings::default(), &fresh);
        assert!(parsed.is_ok(), "{}: {parsed:?}", tool.name);
    }
}

/// The examples in the descriptions are calls that work.
#[test]
fn what_the_descriptions_show_is_accepted() {
    let id = least(find("get_thought_history").unwrap())["sequenceId"]
        .as_str()
        .unwrap()
        .to_owned();
    let mut examples = 0;
    for tool in &TOOLS {
        for line in tool
            .description
            .lines()
            .filter(|line| line.starts_with('{'))
        {
            let arguments: Map<_, _> = serde_json::from_str(&line.replace("seq_…", &id)).unwrap();
            let known = input(tool);
            assert!(
                arguments
                    .keys()
                    .all(|name| known["properties"].get(name).is_some()),
                "{line}"
            );
            let fresh = Fresh::new(Timestamp::from_milliseconds(0), [0; 32]);
            let parsed = parse(tool, &arguments, &Settings::default(), &fresh);
            assert!(parsed.is_ok(), "{line}: {parsed:?}");
            examples += 1;
        }
    }
    assert_eq!(examples, 2);
}

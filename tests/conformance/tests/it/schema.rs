//! Every answer of every transcript against the JSON schema of its protocol version, as the specification publishes it, and
//! every structured result against the schema of its tool.

use std::collections::HashMap;

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::runner::{Restart, Transcript};
use crate::support::Router;
use crate::wire::{Http, MODERN, Request};

impl Restart for Router {}

/// The validators of one version, by the name of a definition.
struct Version {
    schema: Value,
    built: HashMap<&'static str, Validator>,
}

impl Version {
    fn read(name: &str) -> Self {
        let path = e2e::root().join(format!("tests/schema/mcp-{name}.json"));
        let text = std::fs::read_to_string(path).unwrap();
        Self {
            schema: serde_json::from_str(&text).unwrap(),
            built: HashMap::new(),
        }
    }

    fn check(&mut self, definition: &'static str, value: &Value) {
        let schema = &self.schema;
        let validator = self.built.entry(definition).or_insert_with(|| {
            let place = if schema.get("$defs").is_some() { "$defs" } else { "definitions" };
            assert!(schema[place].get(definition).is_some(), "{definition}");
            let root = json!({
                "$schema": schema["$schema"], "$ref": format!("#/{place}/{definition}"), place: schema[place],
            });
            jsonschema::validator_for(&root).unwrap()
        });
        let errors: Vec<_> = validator
            .iter_errors(value)
            .map(|error| format!("{} at {}", error, error.instance_path()))
            .collect();
        assert!(
            errors.is_empty(),
            "{definition}: {}\n{value:#}",
            errors.join("\n")
        );
    }
}

fn definition(method: &str) -> &'static str {
    match method {
        "initialize" => "InitializeResult",
        "server/discover" => "DiscoverResult",
        "tools/list" => "ListToolsResult",
        "tools/call" => "CallToolResult",
        "resources/list" => "ListResourcesResult",
        "resources/templates/list" => "ListResourceTemplatesResult",
        "resources/read" => "ReadResourceResult",
        "prompts/list" => "ListPromptsResult",
        "prompts/get" => "GetPromptResult",
        "ping" => "EmptyResult",
        other => panic!("no definition for {other}"),
    }
}

/// The tools' own schemas, in the order of the list.
fn output_schemas() -> [Validator; 3] {
    let message = crate::vectors::modern(1, "tools/list", json!({}));
    let tools = Router::new()
        .send(&Request::message(MODERN, &message))
        .json()["result"]["tools"]
        .clone();
    [0, 1, 2].map(|index| {
        jsonschema::meta::validate(&tools[index]["inputSchema"]).unwrap();
        jsonschema::validator_for(&tools[index]["outputSchema"]).unwrap()
    })
}

#[test]
fn every_answer_is_what_the_specification_says() {
    let outputs = output_schemas();
    let mut versions: HashMap<String, Version> = HashMap::new();
    let (mut answers, mut structured, mut errors) = (0, 0, 0);
    let folder = e2e::root().join("tests/transcripts");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_none_or(|extension| extension != "jsonl")
        {
            continue;
        }
        let transcript = Transcript::parse(&std::fs::read_to_string(path).unwrap());
        for name in &transcript.versions {
            // The oldest version is served as its successor is.
            let published = if name == "2024-11-05" {
                "2025-03-26"
            } else {
                name.as_str()
            };
            let version = versions
                .entry(published.to_owned())
                .or_insert_with(|| Version::read(published));
            transcript.play(name, &mut Router::new(), &mut |_, method, answer| {
                answers += 1;
                version.check("JSONRPCMessage", answer);
                let Some(result) = answer.get("result") else {
                    errors += 1;
                    return;
                };
                version.check(definition(method), result);
                let Some(value) = result.get("structuredContent") else {
                    return;
                };
                structured += 1;
                let index = if value.get("deleted").is_some() {
                    2
                } else {
                    usize::from(value.get("sequence").is_some())
                };
                let error = outputs[index]
                    .validate(value)
                    .err()
                    .map(|error| error.to_string());
                assert_eq!(error, None, "{value:#}");
            });
        }
    }
    assert!(
        answers > 300 && structured > 100 && errors > 10,
        "{answers}, {structured}, {errors}"
    );
}

#[test]
fn what_is_not_in_a_transcript_is_valid_too() {
    let mut version = Version::read(MODERN);
    let mut router = Router::new();
    let mut send = |message: &Value| router.send(&Request::message(MODERN, message));
    let discovered = send(&crate::vectors::modern(1, "server/discover", json!({}))).json();
    version.check("DiscoverResult", &discovered["result"]);
    let listen = crate::vectors::modern(1, "subscriptions/listen", json!({ "notifications": {} }));
    let messages = send(&listen).messages();
    version.check("SubscriptionsAcknowledgedNotification", &messages[0]);
    version.check("SubscriptionsListenResult", &messages[1]["result"]);
}

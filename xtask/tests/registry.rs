//! Whether `server.json` is what the MCP Registry takes: by the registry's own schema, and by what this project says of itself.

// Tests may fail at once.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::indexing_slicing)]

use std::fs;
use std::path::Path;

use jsonschema::Validator;
use serde_json::{Value, json};
use xtask::identity;

fn read(path: &str) -> Value {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let text = fs::read_to_string(root.join(path)).expect(path);
    serde_json::from_str(&text).expect(path)
}

fn schema() -> Validator {
    let schema = read("tests/schema/mcp-registry-2025-12-11.json");
    let options = jsonschema::options().should_validate_formats(true);
    options.build(&schema).unwrap()
}

/// What the schema finds wrong.
fn faults(schema: &Validator, server: &Value) -> Vec<String> {
    schema
        .iter_errors(server)
        .map(|error| format!("{} at {}", error, error.instance_path()))
        .collect()
}

#[test]
fn the_manifest_is_what_the_registry_takes() {
    let server = read("server.json");
    assert_eq!(faults(&schema(), &server), [""; 0]);
    let id = &read("tests/schema/mcp-registry-2025-12-11.json")["$id"];
    assert_eq!(&server["$schema"], id);
}

#[test]
fn the_schema_sees_what_is_wrong() {
    let (schema, good) = (schema(), read("server.json"));
    let long = "x".repeat(101);
    for (pointer, value) in [
        ("/name", json!("no-namespace")),
        ("/name", json!("a/b/c")),
        ("/title", json!(long)),
        ("/description", json!(long)),
        ("/description", json!("")),
        ("/version", json!(1)),
        ("/websiteUrl", json!("not an address")),
        ("/remotes/0/type", json!("socket")),
        ("/remotes/0/url", json!("worker_host")),
        ("/remotes/0/variables/worker_host/format", json!("host")),
    ] {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).unwrap() = value;
        assert_ne!(faults(&schema, &bad), [""; 0], "{pointer}");
    }
}

/// What the schema leaves open and this project does not.
#[test]
fn the_manifest_offers_one_remote_and_no_package() {
    let server = read("server.json");
    let names = |value: &Value| {
        value
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    let mut members = names(&server);
    members.sort();
    assert_eq!(
        members,
        [
            "$schema",
            "description",
            "name",
            "remotes",
            "repository",
            "title",
            "version",
            "websiteUrl"
        ]
    );
    let version = server["version"].as_str().unwrap();
    assert!(
        version.split('.').all(|part| part.parse::<u32>().is_ok()),
        "{version}"
    );
    assert_eq!(server["repository"]["source"], "github");
    let remotes = server["remotes"].as_array().unwrap();
    assert_eq!(remotes.len(), 1);
    assert_eq!(names(&remotes[0]), ["type", "url", "variables"]);
    assert_eq!(remotes[0]["type"], "streamable-http");
    assert_eq!(remotes[0]["url"], "https://{worker_host}/mcp-compat");
    assert_eq!(names(&remotes[0]["variables"]), ["worker_host"]);
    let host = &remotes[0]["variables"]["worker_host"];
    assert_eq!(host["isRequired"], true);
    assert!(
        host["description"]
            .as_str()
            .is_some_and(|text| !text.is_empty())
    );
}

#[test]
fn versions_and_addresses_are_the_same_everywhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    assert_eq!(identity::disagreements(root).unwrap(), [""; 0]);
}

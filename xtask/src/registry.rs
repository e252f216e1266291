//! Whether `server.json` is what the MCP Registry takes: its schema of 2025-12-11, and what this project says of itself.

use std::path::Path;

use anyhow::Result;
use serde_json::Value;

use crate::identity::{self, at};

const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";
const MEMBERS: [&str; 8] = [
    "$schema",
    "name",
    "title",
    "description",
    "version",
    "repository",
    "websiteUrl",
    "remotes",
];
const INPUT_MEMBERS: [&str; 7] = [
    "description",
    "isRequired",
    "format",
    "isSecret",
    "default",
    "placeholder",
    "choices",
];

/// Every fault of the manifest, in words.
pub fn faults(root: &Path) -> Result<Vec<String>> {
    Ok(faults_of(&identity::json(root, "server.json")?))
}

fn faults_of(server: &Value) -> Vec<String> {
    let mut rules = head(server);
    let remotes = at(server, "/remotes").as_array();
    let remotes = remotes.map_or(&[][..], Vec::as_slice);
    rules.push((remotes.len() == 1, "there is not one remote"));
    rules.extend(remotes.iter().flat_map(remote));
    let broken = rules.into_iter().filter(|(holds, _)| !holds);
    broken
        .map(|(_, what)| format!("server.json: {what}"))
        .collect()
}

/// What must hold, and what to say when it does not.
type Rule = (bool, &'static str);

fn head(server: &Value) -> Vec<Rule> {
    let length = |member: &str| length(at(server, member));
    let url = |pointer: &str| at(server, pointer).as_str().is_some_and(is_https);
    let is_name = at(server, "/name").as_str().is_some_and(is_name);
    let version = at(server, "/version").as_str().unwrap_or_default();
    vec![
        (
            at(server, "/$schema") == SCHEMA,
            "$schema is not that of 2025-12-11",
        ),
        (
            only(server, &MEMBERS),
            "a member is unknown, or left out on purpose as `packages` is",
        ),
        (
            is_name && length("/name") <= 200,
            "name is not namespace/name",
        ),
        (
            (1..=100).contains(&length("/title")),
            "title has not 1 to 100 characters",
        ),
        (
            (1..=100).contains(&length("/description")),
            "description has not 1 to 100 characters",
        ),
        (
            (1..=255).contains(&length("/version")),
            "version has not 1 to 255 characters",
        ),
        (
            !version.contains(['^', '~', '*', '<', '>', 'x']),
            "version is a range",
        ),
        (
            at(server, "/repository/source") == "github",
            "repository.source is not github",
        ),
        (url("/repository/url"), "repository.url is not https"),
        (url("/websiteUrl"), "websiteUrl is not https"),
    ]
}

fn remote(remote: &Value) -> Vec<Rule> {
    let variables = at(remote, "/variables");
    let host = at(variables, "/worker_host");
    let format = at(host, "/format").as_str().unwrap_or("string");
    vec![
        (
            only(remote, &["type", "url", "variables"]),
            "a member of the remote is unknown",
        ),
        (
            at(remote, "/type") == "streamable-http",
            "the remote is not streamable-http",
        ),
        (
            at(remote, "/url") == "https://{worker_host}/mcp-compat",
            "the remote has another address",
        ),
        (
            only(variables, &["worker_host"]),
            "a variable is not in the address",
        ),
        (
            only(host, &INPUT_MEMBERS),
            "a member of the variable is unknown",
        ),
        (
            at(host, "/isRequired") == true,
            "the variable is not required",
        ),
        (
            length(at(host, "/description")) > 0,
            "the variable is not described",
        ),
        (
            ["string", "number", "boolean", "filepath"].contains(&format),
            "the variable's format is unknown",
        ),
    ]
}

fn length(value: &Value) -> usize {
    value.as_str().map_or(0, |text| text.chars().count())
}

fn only(value: &Value, members: &[&str]) -> bool {
    value
        .as_object()
        .is_some_and(|object| object.keys().all(|key| members.contains(&key.as_str())))
}

fn is_name(text: &str) -> bool {
    let all = |part: &str, more: &str| {
        let is_letter = |letter: char| letter.is_ascii_alphanumeric() || more.contains(letter);
        !part.is_empty() && part.chars().all(is_letter)
    };
    text.split_once('/')
        .is_some_and(|(namespace, name)| all(namespace, ".-") && all(name, "._-"))
}

fn is_https(text: &str) -> bool {
    text.strip_prefix("https://")
        .is_some_and(|rest| !rest.is_empty() && !rest.contains(char::is_whitespace))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::{Value, json};

    use super::{faults, faults_of};
    use crate::identity;

    #[test]
    fn the_manifest_is_what_the_registry_takes() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        assert_eq!(faults(root).unwrap(), [""; 0]);
    }

    #[test]
    fn every_fault_is_seen() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let good = identity::json(root, "server.json").unwrap();
        let long = "x".repeat(101);
        for (pointer, value) in [
            ("/$schema", json!("https://example.com")),
            ("/name", json!("no-namespace")),
            ("/name", json!("a/b/c")),
            ("/title", json!(long)),
            ("/description", json!(long)),
            ("/description", json!("")),
            ("/version", json!("^1.0.0")),
            ("/repository/source", json!("elsewhere")),
            ("/websiteUrl", json!("http://example.com")),
            ("/remotes", json!([])),
            ("/remotes/0/type", json!("sse")),
            ("/remotes/0/url", json!("https://{worker_host}/mcp")),
            ("/remotes/0/variables", json!({})),
            ("/remotes/0/variables/worker_host/isRequired", json!(false)),
            ("/remotes/0/variables/worker_host/description", json!("")),
            ("/remotes/0/variables/worker_host/format", json!("host")),
        ] {
            let mut bad = good.clone();
            *bad.pointer_mut(pointer).unwrap() = value;
            assert_ne!(faults_of(&bad), [""; 0], "{pointer}");
        }
        for pointer in [
            "",
            "/remotes/0",
            "/remotes/0/variables",
            "/remotes/0/variables/worker_host",
        ] {
            let mut bad = good.clone();
            let object = bad.pointer_mut(pointer).unwrap().as_object_mut().unwrap();
            object.insert("packages".to_owned(), Value::Array(Vec::new()));
            assert_ne!(faults_of(&bad), [""; 0], "{pointer}");
        }
    }
}

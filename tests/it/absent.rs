//! What this product leaves out on purpose, as the README says: each absence is tried for.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::Router;
use crate::vectors::legacy;
use crate::wire::{Http, Request, TOKEN};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn ask(router: &mut Router, method: &str, params: Value) -> Value {
    let request = Request::message("2025-11-25", &legacy(1, method, params));
    router.send(&request).json()
}

fn tool(router: &mut Router, name: &str, arguments: &Value) -> Value {
    let answer = ask(
        router,
        "tools/call",
        json!({ "name": name, "arguments": arguments }),
    );
    answer["result"].clone()
}

fn thought(text: &str, number: u32, id: Option<&str>) -> Value {
    let mut arguments = json!({
        "thought": text, "thoughtNumber": number, "totalThoughts": 9, "nextThoughtNeeded": true,
    });
    if let Some(id) = id {
        arguments["sequenceId"] = id.into();
    }
    arguments
}

#[test]
fn no_public_mode() {
    for name in [
        "PUBLIC",
        "PUBLIC_MODE",
        "ALLOW_ANONYMOUS",
        "DISABLE_AUTH",
        "AUTH",
        "NO_AUTH",
    ] {
        for value in ["1", "true", "on", "none", "public"] {
            for token in [None, Some(("MCP_API_TOKEN", TOKEN))] {
                let environment: Vec<_> = [(name, value)].into_iter().chain(token).collect();
                let mut router = Router::with(&environment, "https://mine.workers.dev");
                for path in ["/mcp", "/mcp-compat", "/"] {
                    let ping = legacy(1, "ping", json!({})).to_string();
                    let request = Request::post(path, ping).without("Authorization");
                    let status = router.send(&request).status;
                    assert!(
                        [401, 503].contains(&status),
                        "{name}={value} {path}: {status}"
                    );
                }
            }
        }
    }
}

#[test]
fn no_tenant_to_choose() {
    let mut router = Router::new();
    let written = tool(
        &mut router,
        "sequentialthinking",
        &thought("shared", 1, None),
    );
    let id = written["structuredContent"]["sequenceId"].as_str().unwrap();
    let arguments =
        json!({ "sequenceId": id, "tenant": "b", "user": "b", "namespace": "b", "storeId": "b" });
    let params = json!({ "name": "get_thought_history", "arguments": arguments });
    let mut request = Request::message("2025-11-25", &legacy(1, "tools/call", params));
    request.path = "/mcp-compat?tenant=b&user=b&store=b".to_owned();
    for name in [
        "X-Tenant",
        "X-Tenant-Id",
        "X-User",
        "X-Store-Id",
        "Mcp-Session-Id",
    ] {
        request = request.header(name, "b");
    }
    let read = router.send(&request).json();
    let text = &read["result"]["structuredContent"]["thoughts"][0]["thought"];
    assert_eq!(text, "shared", "{read}");
}

/// There is one store, and its name stands in the source: it is the second word of every question to an object.
#[test]
fn no_store_to_choose() {
    let mut names = Vec::new();
    for entry in fs::read_dir(Path::new(ROOT).join("src/worker")).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        for (at, found) in text.match_indices("stub::ask(") {
            let name = text[at + found.len()..].split(',').nth(1).unwrap();
            names.push(name.trim().to_owned());
        }
        for way in ["idFromName", "idFromString", "newUniqueId", "get_by_name"] {
            assert!(!text.contains(way), "{}: {way}", path.display());
        }
        let by_name = text.matches("getByName(").count();
        let is_the_seam = path.ends_with("platform.mjs");
        assert_eq!(by_name, usize::from(is_the_seam), "{}", path.display());
    }
    assert_eq!(names.len(), 2, "{names:?}");
    for name in names {
        let is_fixed = name.chars().all(|c| c.is_ascii_uppercase() || c == '_');
        assert!(is_fixed, "{name}");
    }
}

/// Every setting is in both READMEs, and none is there that is not read: so none switches a promise off unseen.
#[test]
fn no_setting_that_is_not_documented() {
    let mut read = BTreeSet::new();
    for path in [
        "src/config.rs",
        "src/settings.rs",
        "src/oauth/settings.rs",
        "src/log.rs",
    ] {
        let text = fs::read_to_string(Path::new(ROOT).join(path)).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        let words = code.split('"').skip(1).step_by(2);
        let is_name = |word: &&str| {
            word.len() > 5
                && word.contains('_')
                && word.chars().all(|c| c.is_ascii_uppercase() || c == '_')
        };
        read.extend(words.filter(is_name).map(str::to_owned));
    }
    assert!(
        ["MCP_API_TOKEN", "LOG_LEVEL", "TOKEN_EPOCH"]
            .iter()
            .all(|name| read.contains(*name)),
        "{read:?}"
    );
    for path in ["README.md", "README.zh-CN.md"] {
        let text = fs::read_to_string(Path::new(ROOT).join(path)).unwrap();
        for name in &read {
            assert!(
                text.contains(&format!("`{name}`")),
                "{path} does not name {name}"
            );
        }
    }
    for name in [
        "RECORD",
        "STORE_ID",
        "TENANT",
        "PUBLIC_MODE",
        "ANONYMOUS",
        "DISABLE",
        "NAMESPACE",
    ] {
        assert!(read.iter().all(|it| !it.contains(name)), "{name}: {read:?}");
    }
}

#[test]
fn no_switch_for_recording() {
    let mut router = Router::new();
    for name in [
        "record",
        "store",
        "persist",
        "save",
        "dryRun",
        "ephemeral",
        "disableRecording",
    ] {
        for value in [json!(true), json!(false)] {
            let mut arguments = thought("kept", 1, None);
            arguments[name] = value.clone();
            let written = tool(&mut router, "sequentialthinking", &arguments);
            let id = &written["structuredContent"]["sequenceId"];
            let read = tool(
                &mut router,
                "get_thought_history",
                &json!({ "sequenceId": id }),
            );
            assert_eq!(
                read["structuredContent"]["thoughts"][0]["thought"], "kept",
                "{name}={value}"
            );
        }
    }
}

#[test]
fn no_history_that_nobody_asked_for() {
    let mut router = Router::new();
    let first = tool(
        &mut router,
        "sequentialthinking",
        &thought("an early word", 1, None),
    );
    let id = first["structuredContent"]["sequenceId"]
        .as_str()
        .unwrap()
        .to_owned();
    for number in 2..=5 {
        let text = format!("step {number}");
        let answer = tool(
            &mut router,
            "sequentialthinking",
            &thought(&text, number, Some(&id)),
        );
        let shown = answer.to_string();
        assert!(!shown.contains("an early word"), "{shown}");
        assert_eq!(shown.matches("step ").count(), 1, "{shown}");
    }
}

#[test]
fn no_listing_and_no_search() {
    let mut router = Router::new();
    let first = tool(
        &mut router,
        "sequentialthinking",
        &thought("findable", 1, None),
    );
    let id = first["structuredContent"]["sequenceId"]
        .as_str()
        .unwrap()
        .to_owned();
    let tools = ask(&mut router, "tools/list", json!({}));
    let names: Vec<_> = tools["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["name"])
        .collect();
    assert_eq!(
        names,
        [
            "sequentialthinking",
            "get_thought_history",
            "delete_thought_sequence"
        ]
    );
    let resources = ask(&mut router, "resources/list", json!({}));
    assert_eq!(
        resources["result"]["resources"].as_array().unwrap().len(),
        1
    );
    let templates = ask(&mut router, "resources/templates/list", json!({}));
    assert_eq!(
        templates["result"]["resourceTemplates"]
            .as_array()
            .map_or(0, Vec::len),
        0
    );

    for arguments in [
        json!({}),
        json!({ "query": "findable" }),
        json!({ "sequenceId": "*" }),
        json!({ "sequenceId": "" }),
        json!({ "sequenceId": "latest" }),
        json!({ "sequenceId": id.get(..8) }),
    ] {
        let answer = tool(&mut router, "get_thought_history", &arguments);
        assert_eq!(answer["isError"], true, "{arguments}");
        let shown = answer.to_string();
        assert!(
            !shown.contains("findable") && !shown.contains(&id),
            "{shown}"
        );
    }
    for path in [
        "/sequences",
        "/thoughts",
        "/list",
        "/search?q=findable",
        "/history",
        "/admin",
        "/metrics",
    ] {
        let request = Request::new("GET", path).header("Authorization", &format!("Bearer {TOKEN}"));
        assert_eq!(router.send(&request).status, 404, "{path}");
    }
}

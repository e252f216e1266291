//! Faults on the way from the Worker to its objects: an object that is reset by a deploy, moved, overloaded, slow or gone,
//! and a vault and a cache that cannot be reached.

use std::io::Write;

use e2e::client::connect;
use e2e::mcp::Tools;
use e2e::{TOKEN, Worker};
use serde_json::{Value, json};

use super::{KEPT, Scene, TEXT, UNAVAILABLE, error};

/// One failure is mended by the Worker itself, with a stub of its own for each try, and the thought is stored once:
/// whether it was lost on the way there or on the way back, and also when the object itself met its end.
#[test]
fn what_passes_is_tried_again_and_stored_once() {
    for fault in [
        "store-stub lost-before",
        "store-stub lost-after",
        "store-stub lost-before 3",
        "store-stub lost-after 3",
        "store-stub other-version",
        "store-stub other-version 3",
        "object superseded",
        "object superseded 3",
        "object abort",
        "object abort-after",
    ] {
        let mut scene = Scene::set();
        let reply = scene.append_during(fault);
        let answer = reply.json();
        let stored = &answer["result"]["structuredContent"];
        assert_eq!(stored["thoughtHistoryLength"], 2, "{fault}: {answer}");
        assert_eq!(stored["warnings"], Value::Null, "{fault}: {answer}");
        assert_eq!(scene.worker.probe()["left"], 0, "{fault}");
        assert_eq!(scene.errors(), [] as [Value; 0], "{fault}");
        assert_eq!(scene.tools.read_texts(&scene.sequence, 50), [KEPT, TEXT]);
        scene.repeat(true);
    }
}

/// The id of a first thought is minted by the Worker, so the tries of one call make one sequence.
#[test]
fn a_first_thought_whose_answer_was_lost_begins_one_sequence() {
    let worker = Worker::start_breakable(&[("LOG_LEVEL", "debug")]);
    let mut tools = Tools::new(&worker);
    let params = json!({ "name": "sequentialthinking", "arguments": {
        "thought": TEXT, "thoughtNumber": 1, "totalThoughts": 9, "nextThoughtNeeded": true,
    } });
    let fault = [("x-fault", "store-stub lost-after 2")];
    let reply = tools.post("tools/call", &params, &fault).json();
    let stored = &reply["result"]["structuredContent"];
    assert_eq!(stored["thoughtHistoryLength"], 1, "{reply}");
    let id = stored["sequenceId"].as_str().unwrap();
    assert_eq!(tools.read_texts(id, 50), [TEXT]);
    let log = worker.whole_log();
    let entries = log
        .iter()
        .filter_map(|line| serde_json::from_str(line).ok());
    let appends = entries.filter(|entry: &Value| entry["call"] == "append");
    let written: Vec<_> = appends
        .map(|entry| entry["rowsWritten"].as_u64() > Some(0))
        .collect();
    assert_eq!(written, [true, false, false]);
}

#[test]
fn what_does_not_pass_is_told_and_nothing_is_lost() {
    for (fault, reason, is_stored) in [
        ("store-stub lost-before 4", "unreachable", false),
        ("store-stub lost-after 4", "unreachable", true),
        ("object superseded 4", "unreachable", false),
        ("store-stub other-version 4", "other_version", false),
        ("store-stub down", "failed", false),
    ] {
        let mut scene = Scene::set();
        let reply = scene.append_during(fault);
        scene.is_refused(&reply, UNAVAILABLE, ["object", reason]);
        assert_eq!(scene.worker.probe()["left"], 0, "{fault}");
        scene.repeat(is_stored);
    }
}

/// Another try would make it worse.
#[test]
fn an_overloaded_object_is_asked_once() {
    let mut scene = Scene::set();
    let reply = scene.append_during("store-stub overloaded 2");
    scene.is_refused(&reply, UNAVAILABLE, ["object", "overloaded"]);
    assert_eq!(scene.worker.probe()["left"], 1);
    scene.repeat(false);
}

#[test]
fn a_slow_object_is_waited_for_and_a_client_that_does_not_wait_may_say_it_again() {
    let mut scene = Scene::set();
    let reply = scene.append_during("store-stub slow");
    let answer = reply.json();
    assert_eq!(
        answer["result"]["structuredContent"]["thoughtHistoryLength"], 2,
        "{answer}"
    );
    // A client that leaves before the answer: what it wrote is stored whole or not at all.
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "sequentialthinking", "arguments": {
            "thought": "said twice", "thoughtNumber": 3, "totalThoughts": 9, "nextThoughtNeeded": true,
            "sequenceId": scene.sequence,
        },
    } });
    let address = ([127, 0, 0, 1], scene.worker.port()).into();
    let mut connection = connect(address).unwrap();
    let text = body.to_string();
    write!(
        connection.get_mut(),
        "POST /mcp-compat HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {TOKEN}\r\n\
         content-type: application/json\r\nx-fault: store-stub slow\r\ncontent-length: {}\r\n\r\n{text}",
        text.len()
    )
    .unwrap();
    drop(connection);
    let again = scene
        .tools
        .succeed("sequentialthinking", &body["params"]["arguments"]);
    assert_eq!(again["thoughtHistoryLength"], 3, "{again}");
    assert_eq!(
        scene.tools.read_texts(&scene.sequence, 50),
        [KEPT, TEXT, "said twice"]
    );
    assert_eq!(scene.errors(), [] as [Value; 0]);
}

/// Without the vault nobody signs in and no token can be judged, but a client is never told that it did wrong; the static
/// token needs neither vault nor cache.
#[test]
fn a_vault_or_a_cache_that_is_down_is_nobodys_fault_and_in_nobodys_way() {
    let worker = Worker::start_breakable(&[
        ("GITHUB_CLIENT_ID", "Iv1.loopback"),
        ("GITHUB_CLIENT_SECRET", "loopback-secret"),
        ("ALLOWED_GITHUB_LOGIN", "octocat"),
    ]);
    let register = |fault: &str| {
        let headers = [("content-type", "application/json"), ("x-fault", fault)];
        let body = br#"{"redirect_uris":["https://claude.ai/api/mcp/auth_callback"]}"#;
        worker.client().send("POST", "/register", &headers, body)
    };
    let reply = register("vault-stub down 2");
    assert_eq!(reply.status, 503, "{}", reply.text());
    let told = reply.json();
    let advice = ["error", "class", "retry"].map(|member| told[member].clone());
    assert_eq!(advice, ["temporarily_unavailable", "unavailable", "later"]);
    assert_eq!(reply.header("retry-after").as_deref(), Some("2"));
    let request_id = reply.header("x-request-id").unwrap();
    let errors = || -> Vec<Value> {
        let log = worker.whole_log();
        let entries = log
            .iter()
            .filter_map(|line| serde_json::from_str(line).ok());
        entries
            .filter(|entry: &Value| entry["kind"] == "error")
            .collect()
    };
    let expected = [error(&request_id, ["vault.error", "unreachable"])];
    assert_eq!(errors(), expected);
    // Once is mended by asking again.
    assert_eq!(register("vault-stub down").status, 201);
    for fault in ["vault-stub down 9", "cache down 9"] {
        let ping = Tools::new(&worker).post("ping", &json!({}), &[("x-fault", fault)]);
        assert_eq!(ping.status, 200, "{fault}");
        assert_eq!(worker.probe()["left"], 9, "{fault}");
    }
    assert_eq!(register("none none 0").status, 201);
    assert_eq!(errors(), expected);
}

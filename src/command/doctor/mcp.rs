//! The protocol in both eras, and a sequence that is written, read and deleted again.

use serde_json::{Value, json};

use crate::command::doctor::patient::{Answer, Patient, require, wrong};
use crate::command::doctor::{Finding, Verdict};
use crate::mcp::meta::{CLIENT_CAPABILITIES, PROTOCOL_VERSION};
use crate::mcp::version::{MODERN, Version};
use crate::tools::TOOLS;

const NO_TOKEN: Finding =
    Finding::LeftOut("the token was not given: set MCP_API_TOKEN in the environment");
const UPDATE: &str = "deploy the newest release; if that does not help, report it as a fault";
const THOUGHT: &str = "The doctor writes this, reads it and deletes it.";

fn bearer(patient: &Patient<'_>) -> Result<String, Finding> {
    let token = patient.token.ok_or(NO_TOKEN)?;
    Ok(format!("Bearer {token}"))
}

pub(super) fn token(patient: &Patient<'_>) -> Verdict {
    let bearer = bearer(patient)?;
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let strange = patient.post(
        "/mcp-compat",
        &[(
            "authorization",
            "Bearer doctor-00000000000000000000000000000000",
        )],
        &ping,
    )?;
    require(
        strange.status == 401 && strange.header("www-authenticate").contains("invalid_token"),
        || {
            format!(
                "a wrong token is answered with {}, not with 401 invalid_token",
                strange.status
            )
        },
        UPDATE,
    )?;
    let own = patient.post("/mcp-compat", &[("authorization", &bearer)], &ping)?;
    require(
        own.status == 200,
        || format!("the token is answered with {}", own.status),
        "give the value of MCP_API_TOKEN that is set at the Worker, without quotes or spaces; if it is lost, set a new one",
    )?;
    Ok("yours is accepted, a wrong one is not".to_owned())
}

pub(super) fn compat(patient: &Patient<'_>) -> Verdict {
    let version = Version::negotiate("").name();
    let client = json!({ "name": "durable-thinking doctor", "version": env!("CARGO_PKG_VERSION") });
    let hello = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client });
    let result = call(patient, "initialize", &hello)?;
    let spoken = result.get("protocolVersion").and_then(Value::as_str);
    require(
        spoken == Some(version),
        || format!("initialize answers with the version {spoken:?}"),
        UPDATE,
    )?;
    let result = call(patient, "tools/list", &json!({}))?;
    has_tools(&result)?;
    Ok(format!("speaks {version}, lists the tools"))
}

pub(super) fn modern(patient: &Patient<'_>) -> Verdict {
    let bearer = bearer(patient)?;
    let [version] = MODERN;
    let ask = |method: &str| -> Result<Value, Finding> {
        let meta = json!({ PROTOCOL_VERSION: version, CLIENT_CAPABILITIES: {} });
        let message =
            json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": { "_meta": meta } });
        let headers = [
            ("authorization", bearer.as_str()),
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", version),
            ("mcp-method", method),
        ];
        result_of(&patient.post("/mcp", &headers, &message)?, method)
    };
    let discovered = ask("server/discover")?;
    require(
        discovered.get("supportedVersions") == Some(&json!(MODERN)),
        || "server/discover names other versions".to_owned(),
        UPDATE,
    )?;
    has_tools(&ask("tools/list")?)?;
    Ok(format!("speaks {version}, lists the tools"))
}

pub(super) fn store(patient: &Patient<'_>) -> Verdict {
    let bearer = bearer(patient)?;
    let answer = patient.get("/healthz?deep=1", &[("authorization", &bearer)])?;
    let state = answer
        .json()
        .get("store")
        .and_then(Value::as_str)
        .map(str::to_owned);
    require(
        state.as_deref() == Some("ok"),
        || {
            format!(
                "/healthz?deep=1 answers {}: the store is {state:?}",
                answer.status
            )
        },
        "try again in a minute; then look at the Worker's log and at Cloudflare's status page",
    )?;
    Ok("answers".to_owned())
}

/// Writes a thought, reads it back, deletes it, and finds it gone.
pub(super) fn round(patient: &Patient<'_>) -> Verdict {
    let thought = json!({ "thought": THOUGHT, "thoughtNumber": 1, "totalThoughts": 1, "nextThoughtNeeded": false });
    let written = tool(patient, "sequentialthinking", &thought)?;
    let id = written
        .pointer("/structuredContent/sequenceId")
        .and_then(Value::as_str)
        .ok_or_else(|| wrong("a thought was not stored", UPDATE))?;
    let read = tool(patient, "get_thought_history", &json!({ "sequenceId": id }));
    // Whatever came back: nothing of this examination stays.
    let deleted = tool(
        patient,
        "delete_thought_sequence",
        &json!({ "sequenceId": id, "confirm": true }),
    )?;
    let text = read?
        .pointer("/structuredContent/thoughts/0/thought")
        .cloned();
    require(
        text == Some(THOUGHT.into()),
        || "the thought did not come back as it was".to_owned(),
        UPDATE,
    )?;
    require(
        deleted.pointer("/structuredContent/deleted") == Some(&Value::Bool(true)),
        || "the sequence could not be deleted".to_owned(),
        UPDATE,
    )?;
    let gone = tool(patient, "get_thought_history", &json!({ "sequenceId": id }))?;
    require(
        gone.get("isError") == Some(&Value::Bool(true)),
        || "the sequence can still be read after it was deleted".to_owned(),
        UPDATE,
    )?;
    Ok("a sequence was stored, came back, and is gone".to_owned())
}

fn tool(patient: &Patient<'_>, name: &str, arguments: &Value) -> Result<Value, Finding> {
    call(
        patient,
        "tools/call",
        &json!({ "name": name, "arguments": arguments }),
    )
}

/// Calls a method of the older protocols.
fn call(patient: &Patient<'_>, method: &str, params: &Value) -> Result<Value, Finding> {
    let bearer = bearer(patient)?;
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let mut headers = vec![
        ("authorization", bearer.as_str()),
        ("accept", "application/json, text/event-stream"),
    ];
    if method != "initialize" {
        headers.push(("mcp-protocol-version", Version::negotiate("").name()));
    }
    result_of(&patient.post("/mcp-compat", &headers, &message)?, method)
}

fn result_of(answer: &Answer, method: &str) -> Result<Value, Finding> {
    let message = answer.json();
    if let Some(result) = message.get("result") {
        return Ok(result.clone());
    }
    let said = message.pointer("/error/message").or(message.get("message"));
    let said = said.and_then(Value::as_str).unwrap_or("no result");
    Err(wrong(
        format!("{method} answers {}: {said}", answer.status),
        "with 401 give the right token; with 503 look at /healthz; otherwise deploy the newest release",
    ))
}

fn has_tools(result: &Value) -> Result<(), Finding> {
    let listed: Vec<_> = result
        .get("tools")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|tool| tool.get("name")?.as_str())
        .collect();
    require(
        listed == TOOLS.each_ref().map(|tool| tool.name),
        || format!("the tools are {listed:?}"),
        "the deployment is of another version than this program: update both",
    )
}

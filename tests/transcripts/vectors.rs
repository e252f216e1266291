//! The golden vectors of the protocol: single requests and what must come back, for every host.

#![allow(dead_code, reason = "each crate of tests uses its part")]
#![allow(
    clippy::needless_pass_by_value,
    clippy::assigning_clones,
    reason = "the vectors read best with values in place"
)]

use serde_json::{Value, json};

use super::wire::{Http, MODERN, Reply, Request, TOKEN};

pub type Check = fn(&mut dyn Http);

/// Every vector that is spoken over HTTP, by its number. 41 is stdio's, in `lines`.
pub const VECTORS: [(u8, Check); 40] = [
    (1, v01),
    (2, v02),
    (3, v03),
    (4, v04),
    (5, v05),
    (6, v06),
    (7, v07),
    (8, v08),
    (9, v09),
    (10, v10),
    (11, v11),
    (12, v12),
    (13, v13),
    (14, v14),
    (15, v15),
    (16, v16),
    (17, v17),
    (18, v18),
    (19, v19),
    (20, v20),
    (21, v21),
    (22, v22),
    (23, v23),
    (24, v24),
    (25, v25),
    (26, v26),
    (27, v27),
    (28, v28),
    (29, v29),
    (30, v30),
    (31, v31),
    (32, v32),
    (33, v33),
    (34, v34),
    (35, v35),
    (36, v36),
    (37, v37),
    (38, v38),
    (39, v39),
    (40, v40),
];

pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// A request of 2026-07-28 that describes itself.
pub fn modern(id: impl Into<Value>, method: &str, params: Value) -> Value {
    let mut params = params;
    params["_meta"] = json!({ PROTOCOL_VERSION: MODERN, CAPABILITIES: {} });
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

pub fn legacy(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

fn strict(message: &Value) -> Request {
    Request::message(MODERN, message)
}

fn compat(message: &Value) -> Request {
    Request::message("2025-11-25", message)
}

#[track_caller]
fn fails(reply: &Reply, status: u16, code: i64, id: &Value) -> Value {
    assert_eq!(reply.status, status, "{}", reply.text());
    let message = reply.json();
    assert_eq!(message["jsonrpc"], "2.0");
    assert_eq!(message["error"]["code"], code, "{message}");
    assert!(message["error"]["message"].is_string());
    match id {
        // Absent, not null: the schemas know no null id.
        Value::Null => assert_eq!(message.get("id"), None, "{message}"),
        id => assert_eq!(&message["id"], id),
    }
    // Every error says whose it is and whether to try again; what else the data holds is the vector's to check.
    let mut data = message["error"]["data"].clone();
    let members = data.as_object_mut().unwrap();
    for member in ["class", "retry"] {
        assert!(members.remove(member).unwrap().is_string(), "{message}");
    }
    if members.is_empty() {
        Value::Null
    } else {
        data
    }
}

#[track_caller]
fn succeeds(reply: &Reply, id: &Value) -> Value {
    assert_eq!(reply.status, 200, "{}", reply.text());
    let message = reply.json();
    assert_eq!(&message["id"], id, "{message}");
    assert!(message["result"].is_object(), "{message}");
    message["result"].clone()
}

#[track_caller]
fn is_empty(reply: &Reply, status: u16) {
    assert_eq!((reply.status, reply.text().as_str()), (status, ""));
}

fn v01(http: &mut dyn Http) {
    fails(
        &http.send(&Request::post("/mcp", "{bad")),
        400,
        -32700,
        &Value::Null,
    );
}

fn v02(http: &mut dyn Http) {
    let one = modern(1, "server/discover", json!({}));
    for body in ["[]".to_owned(), json!([one]).to_string()] {
        fails(
            &http.send(&Request::post("/mcp", body)),
            400,
            -32600,
            &Value::Null,
        );
    }
}

fn v03(http: &mut dyn Http) {
    for id in [json!(null), json!(1.5), json!(true), json!({})] {
        let mut message = modern(1, "server/discover", json!({}));
        message["id"] = id;
        fails(&http.send(&strict(&message)), 400, -32600, &Value::Null);
    }
}

fn v04(http: &mut dyn Http) {
    let answer = json!({ "jsonrpc": "2.0", "id": 1, "result": {} });
    fails(
        &http.send(&Request::post("/mcp", answer.to_string())),
        400,
        -32600,
        &json!(1),
    );
}

fn v05(http: &mut dyn Http) {
    for method in [
        "notifications/initialized",
        "notifications/cancelled",
        "odd",
    ] {
        let message = json!({ "jsonrpc": "2.0", "method": method });
        is_empty(&http.send(&Request::post("/mcp", message.to_string())), 202);
    }
}

fn v06(http: &mut dyn Http) {
    let result = succeeds(
        &http.send(&strict(&modern("d", "server/discover", json!({})))),
        &json!("d"),
    );
    assert_eq!(result["supportedVersions"], json!([MODERN]));
    assert_eq!(result["resultType"], "complete");
    assert!(result["ttlMs"].is_u64() && result["cacheScope"] == "public");
    let capabilities = &result["capabilities"];
    assert_eq!(capabilities["tools"], json!({}));
    assert_eq!(
        capabilities["extensions"]["io.modelcontextprotocol/ui"],
        json!({})
    );
    assert_eq!(result["_meta"][SERVER_INFO]["name"], "durable-thinking");
    assert!(result["instructions"].is_string());
}

fn v07(http: &mut dyn Http) {
    for message in [
        legacy(7, "server/discover", json!({})),
        json!({ "jsonrpc": "2.0", "id": 7, "method": "server/discover" }),
    ] {
        fails(&http.send(&strict(&message)), 400, -32602, &json!(7));
    }
}

fn v08(http: &mut dyn Http) {
    let params = json!({ "_meta": { CAPABILITIES: {} } });
    fails(
        &http.send(&strict(&legacy(8, "server/discover", params))),
        400,
        -32602,
        &json!(8),
    );
}

fn v09(http: &mut dyn Http) {
    let params = json!({ "_meta": { PROTOCOL_VERSION: MODERN } });
    fails(
        &http.send(&strict(&legacy(9, "server/discover", params))),
        400,
        -32602,
        &json!(9),
    );
}

fn v10(http: &mut dyn Http) {
    succeeds(
        &http.send(&strict(&modern(10, "tools/list", json!({})))),
        &json!(10),
    );
}

fn v11(http: &mut dyn Http) {
    let params = json!({ "_meta": { PROTOCOL_VERSION: "v999.0.0", CAPABILITIES: {} } });
    let request =
        strict(&legacy(11, "server/discover", params)).with("MCP-Protocol-Version", "v999.0.0");
    let data = fails(&http.send(&request), 400, -32022, &json!(11));
    assert_eq!(
        data,
        json!({ "supported": [MODERN], "requested": "v999.0.0" })
    );
}

fn v12(http: &mut dyn Http) {
    let params = json!({ "_meta": { PROTOCOL_VERSION: "v999.0.0", CAPABILITIES: {} } });
    fails(
        &http.send(&strict(&legacy(12, "server/discover", params))),
        400,
        -32020,
        &json!(12),
    );
}

fn v13(http: &mut dyn Http) {
    let request =
        strict(&legacy(13, "tools/list", json!({}))).with("MCP-Protocol-Version", "2025-11-25");
    let data = fails(&http.send(&request), 400, -32022, &json!(13));
    assert_eq!(data["requested"], "2025-11-25");
}

fn v14(http: &mut dyn Http) {
    let request = strict(&modern(14, "server/discover", json!({}))).without("MCP-Protocol-Version");
    let reply = http.send(&request);
    let data = fails(&reply, 400, -32020, &json!(14));
    assert_eq!(data["supported"], json!([MODERN]));
    assert!(reply.text().contains("/mcp-compat"));
}

fn v15(http: &mut dyn Http) {
    let request = strict(&modern(15, "tools/list", json!({})));
    for wrong in [
        request.clone().without("Mcp-Method"),
        request.clone().with("Mcp-Method", "TOOLS/LIST"),
        request.clone().with("Mcp-Method", "tools/call"),
        request.header("Mcp-Method", "tools/list"),
    ] {
        fails(&http.send(&wrong), 400, -32020, &json!(15));
    }
}

fn v16(http: &mut dyn Http) {
    let request = strict(&modern(16, "tools/list", json!({}))).without("Mcp-Method");
    for name in ["mcp-method", "MCP-METHOD"] {
        succeeds(
            &http.send(&request.clone().header(name, "tools/list")),
            &json!(16),
        );
    }
}

fn v17(http: &mut dyn Http) {
    let params = json!({ "name": "sequentialthinking", "arguments": {} });
    let request = strict(&modern(17, "tools/call", params));
    for wrong in [
        request.clone().without("Mcp-Name"),
        request.clone().with("Mcp-Name", "get_thought_history"),
        request.clone().with("Mcp-Name", "=?base64?SGVsbG8?="),
    ] {
        fails(&http.send(&wrong), 400, -32020, &json!(17));
    }
}

fn v18(http: &mut dyn Http) {
    let params = json!({ "name": "sequentialthinking", "arguments": {} });
    let request = strict(&modern(18, "tools/call", params));
    for name in [
        "  sequentialthinking  ",
        "=?base64?c2VxdWVudGlhbHRoaW5raW5n?=",
    ] {
        succeeds(
            &http.send(&request.clone().with("Mcp-Name", name)),
            &json!(18),
        );
    }
}

fn v19(http: &mut dyn Http) {
    for method in [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "tasks/get",
        "nope/x",
        "completion/complete",
    ] {
        let message = modern("n-19", method, json!({ "protocolVersion": "2025-11-25" }));
        fails(&http.send(&strict(&message)), 404, -32601, &json!("n-19"));
    }
}

fn v20(http: &mut dyn Http) {
    let message = modern(
        20,
        "tools/call",
        json!({ "name": "delete_everything", "arguments": {} }),
    );
    fails(&http.send(&strict(&message)), 200, -32602, &json!(20));
    for params in [
        json!({ "name": 5 }),
        json!({}),
        json!({ "name": "sequentialthinking", "arguments": [] }),
    ] {
        fails(
            &http.send(&strict(&modern(20, "tools/call", params))),
            200,
            -32602,
            &json!(20),
        );
    }
}

fn v21(http: &mut dyn Http) {
    for arguments in [json!({}), json!(null)] {
        let params = json!({ "name": "sequentialthinking", "arguments": arguments });
        let result = succeeds(
            &http.send(&strict(&modern(21, "tools/call", params))),
            &json!(21),
        );
        assert_eq!(result["isError"], true);
        assert_eq!(result.get("structuredContent"), None);
        assert!(
            result["content"][0]["text"]
                .as_str()
                .unwrap()
                .contains("thought")
        );
    }
}

fn v22(http: &mut dyn Http) {
    for method in [
        "tools/list",
        "resources/list",
        "prompts/list",
        "resources/templates/list",
    ] {
        for cursor in ["x", ""] {
            let message = modern(22, method, json!({ "cursor": cursor }));
            fails(&http.send(&strict(&message)), 200, -32602, &json!(22));
        }
        let result = succeeds(
            &http.send(&strict(&modern(22, method, json!({})))),
            &json!(22),
        );
        assert_eq!(result.get("nextCursor"), None);
    }
}

fn v23(http: &mut dyn Http) {
    let message = modern(23, "resources/read", json!({ "uri": "ui://nope" }));
    let data = fails(&http.send(&strict(&message)), 200, -32602, &json!(23));
    assert_eq!(data, json!({ "uri": "ui://nope" }));
}

fn v24(http: &mut dyn Http) {
    let asked = json!({ "notifications": { "toolsListChanged": true, "resourceSubscriptions": ["ui://x"] } });
    for id in [json!(24), json!("24")] {
        let reply = http.send(&strict(&modern(
            id.clone(),
            "subscriptions/listen",
            asked.clone(),
        )));
        assert_eq!(reply.status, 200);
        assert_eq!(reply.header("content-type"), Some("text/event-stream"));
        assert_eq!(reply.header("x-accel-buffering"), Some("no"));
        assert!(reply.text().starts_with("event: message\ndata: "));
        let messages = reply.messages();
        assert_eq!(messages.len(), 2);
        assert_eq!(
            messages[0]["method"],
            "notifications/subscriptions/acknowledged"
        );
        assert_eq!(messages[0]["params"]["notifications"], json!({}));
        assert_eq!(messages[0]["params"]["_meta"][SUBSCRIPTION_ID], id);
        assert_eq!(messages[1]["id"], id);
        assert_eq!(messages[1]["result"]["resultType"], "complete");
        assert_eq!(messages[1]["result"]["_meta"][SUBSCRIPTION_ID], id);
    }
    let message = modern(24, "subscriptions/listen", json!({}));
    fails(&http.send(&strict(&message)), 200, -32602, &json!(24));
}

fn v25(http: &mut dyn Http) {
    for path in ["/mcp", "/mcp-compat"] {
        for method in ["GET", "DELETE", "PUT", "PATCH"] {
            let mut request = Request::post(path, "");
            request.method = method.to_owned();
            let reply = http.send(&request);
            assert_eq!(reply.status, 405, "{method} {path}");
            assert_eq!(reply.header("allow"), Some("POST"));
        }
    }
}

fn v26(http: &mut dyn Http) {
    let own = http.origin();
    for message in [
        strict(&modern(26, "tools/list", json!({}))),
        compat(&legacy(26, "tools/list", json!({}))),
    ] {
        for method in ["POST", "GET", "OPTIONS"] {
            let mut evil = message.clone().header("Origin", "http://evil.example.com");
            evil.method = method.to_owned();
            let reply = http.send(&evil);
            assert_eq!(reply.status, 403, "{method}");
            assert_eq!(reply.header("access-control-allow-origin"), None);
        }
        let reply = http.send(&message.clone().header("Origin", &own));
        assert_eq!(reply.status, 200);
        assert_eq!(
            reply.header("access-control-allow-origin"),
            Some(own.as_str())
        );
        assert_eq!(
            http.send(&message.clone().header("Origin", "null")).status,
            403
        );
        assert_eq!(http.send(&message).status, 200);
    }
}

fn v27(http: &mut dyn Http) {
    for request in [
        strict(&modern(27, "tools/list", json!({}))),
        compat(&legacy(27, "tools/list", json!({}))),
    ] {
        let text = request.clone().with("Content-Type", "text/plain");
        assert_eq!(http.send(&text).status, 415);
        assert_eq!(
            http.send(&request.clone().without("Content-Type")).status,
            415
        );
        let parameters = request.with("Content-Type", "Application/JSON; charset=utf-8");
        assert_eq!(http.send(&parameters).status, 200);
    }
}

fn v28(http: &mut dyn Http) {
    for path in ["/mcp", "/mcp-compat", "/"] {
        for method in ["POST", "DELETE"] {
            let mut request = Request::post(path, "{}").without("Authorization");
            request.method = method.to_owned();
            let reply = http.send(&request);
            assert_eq!(reply.status, 401, "{method} {path}");
            let challenge = reply.header("www-authenticate").unwrap();
            assert!(challenge.starts_with("Bearer "), "{challenge}");
            assert!(
                challenge.contains("scope=\"mcp\"") && !challenge.contains("error="),
                "{challenge}"
            );
            for token in ["wrong", &TOKEN[1..], ""] {
                let reply = http.send(
                    &request
                        .clone()
                        .header("Authorization", &format!("Bearer {token}")),
                );
                assert_eq!(reply.status, 401, "{method} {path} {token}");
                let challenge = reply.header("www-authenticate").unwrap();
                assert!(challenge.contains("error=\"invalid_token\""), "{challenge}");
            }
        }
    }
}

fn v29(http: &mut dyn Http) {
    let request = strict(&modern(29, "tools/list", json!({})))
        .header("Mcp-Session-Id", "x")
        .header("Last-Event-ID", "1");
    let reply = http.send(&request);
    succeeds(&reply, &json!(29));
    assert_eq!(reply.header("mcp-session-id"), None);
}

fn v30(http: &mut dyn Http) {
    let lists = ["tools/list", "prompts/list"].map(|method| {
        succeeds(
            &http.send(&strict(&modern(30, method, json!({})))),
            &json!(30),
        )
    });
    assert!(lists[0]["tools"].is_array() && lists[1]["prompts"].is_array());
}

fn v31(http: &mut dyn Http) {
    for (asked, agreed) in [
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2025-03-26", "2025-03-26"),
        ("2024-11-05", "2024-11-05"),
        ("1999-01-01", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
    ] {
        let info = json!({ "name": "test", "version": "1" });
        let params = json!({ "protocolVersion": asked, "capabilities": {}, "clientInfo": info });
        let result = succeeds(
            &http.send(&compat(&legacy(0, "initialize", params))),
            &json!(0),
        );
        assert_eq!(result["protocolVersion"], agreed, "{asked}");
        assert!(result["capabilities"]["tools"].is_object() && result["instructions"].is_string());
        assert_eq!(result["serverInfo"]["name"], "durable-thinking");
        assert_eq!(
            result["serverInfo"].get("title").is_some(),
            agreed >= "2025-06-18"
        );
        assert_eq!(
            result["serverInfo"].get("icons").is_some(),
            agreed >= "2025-11-25"
        );
    }
    fails(
        &http.send(&compat(&legacy(0, "initialize", json!({})))),
        200,
        -32602,
        &json!(0),
    );
}

fn v32(http: &mut dyn Http) {
    let message = modern("server-discover-probe-1", "server/discover", json!({}));
    let mut request = strict(&message);
    request.path = "/mcp-compat".to_owned();
    fails(
        &http.send(&request),
        400,
        -32600,
        &json!("server-discover-probe-1"),
    );
    // One exception: old clients still send the oldest version over HTTP.
    let oldest =
        compat(&legacy(32, "tools/list", json!({}))).with("MCP-Protocol-Version", "2024-11-05");
    succeeds(&http.send(&oldest), &json!(32));
}

fn v33(http: &mut dyn Http) {
    let batch = json!([
        { "jsonrpc": "2.0", "id": 1, "method": "ping" },
        { "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 9 } },
        { "jsonrpc": "2.0", "id": 1, "method": "nope" },
    ]);
    let reply = http.send(&Request::post("/mcp-compat", batch.to_string()));
    assert_eq!(reply.status, 200);
    let answers = reply.json();
    assert_eq!(answers.as_array().unwrap().len(), 2);
    assert_eq!(
        answers[0],
        json!({ "jsonrpc": "2.0", "id": 1, "result": {} })
    );
    assert_eq!(answers[1]["error"]["code"], -32601);
}

fn v34(http: &mut dyn Http) {
    let one = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    is_empty(
        &http.send(&Request::post("/mcp-compat", json!([one, one]).to_string())),
        202,
    );
}

fn v35(http: &mut dyn Http) {
    let batch = json!([{ "jsonrpc": "2.0", "id": 1, "method": "ping" }]).to_string();
    for version in ["2025-06-18", "2025-11-25"] {
        let request =
            Request::post("/mcp-compat", batch.clone()).header("MCP-Protocol-Version", version);
        fails(&http.send(&request), 400, -32600, &Value::Null);
    }
    let request = Request::post("/mcp-compat", batch).header("MCP-Protocol-Version", "2025-03-26");
    assert_eq!(http.send(&request).status, 200);
}

fn v36(http: &mut dyn Http) {
    let initialize = legacy(5, "initialize", json!({ "protocolVersion": "2025-03-26" }));
    let batch = json!([{ "jsonrpc": "2.0", "id": 1, "method": "ping" }, initialize]).to_string();
    fails(
        &http.send(&Request::post("/mcp-compat", batch)),
        400,
        -32600,
        &json!(5),
    );
    fails(
        &http.send(&Request::post("/mcp-compat", "[]")),
        400,
        -32600,
        &Value::Null,
    );
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let many = |count| Value::from(vec![ping.clone(); count]).to_string();
    fails(
        &http.send(&Request::post("/mcp-compat", many(51))),
        400,
        -32600,
        &Value::Null,
    );
    let answers = http.send(&Request::post("/mcp-compat", many(50))).json();
    assert_eq!(answers.as_array().unwrap().len(), 50);
}

fn v37(http: &mut dyn Http) {
    let answer = json!({ "jsonrpc": "2.0", "id": 1, "result": {} });
    is_empty(
        &http.send(&Request::post("/mcp-compat", answer.to_string())),
        202,
    );
}

fn v38(http: &mut dyn Http) {
    for (method, params, code) in [
        ("nope", json!({}), -32601),
        ("logging/setLevel", json!({ "level": "info" }), -32601),
        ("resources/subscribe", json!({ "uri": "ui://x" }), -32601),
        ("server/discover", json!({}), -32601),
        ("tools/call", json!({ "name": "nope" }), -32602),
        ("prompts/get", json!({ "name": "nope" }), -32602),
        ("tools/list", json!({ "cursor": "x" }), -32602),
        ("resources/read", json!({ "uri": "ui://nope" }), -32002),
    ] {
        fails(
            &http.send(&compat(&legacy(38, method, params))),
            200,
            code,
            &json!(38),
        );
    }
}

fn v39(http: &mut dyn Http) {
    assert_eq!(
        succeeds(
            &http.send(&compat(&legacy(39, "ping", json!({})))),
            &json!(39)
        ),
        json!({})
    );
}

fn v40(http: &mut dyn Http) {
    for (method, params) in [
        ("initialize", json!({ "protocolVersion": "2025-11-25" })),
        ("tools/list", json!({})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        (
            "resources/read",
            json!({ "uri": "ui://sequential-thinking/process.html" }),
        ),
        ("prompts/list", json!({})),
        (
            "tools/call",
            json!({ "name": "sequentialthinking", "arguments": {} }),
        ),
    ] {
        let reply = http.send(&compat(&legacy(40, method, params)));
        assert_eq!(reply.header("mcp-session-id"), None);
        let result = succeeds(&reply, &json!(40));
        for member in ["resultType", "ttlMs", "cacheScope"] {
            assert_eq!(result.get(member), None, "{method}");
        }
    }
}

//! What the log says, by `docs/logs.md`: each line, each member, each word.

use std::collections::BTreeSet;
use std::fs;
use std::time::Instant;

use e2e::client::TIMEOUT;
use e2e::mcp::Tools;
use e2e::{TOKEN, Worker, root};
use serde_json::{Value, json};

/// The members of each kind of line.
const KINDS: [(&str, &[&str]); 4] = [
    (
        "access",
        &[
            "route",
            "status",
            "milliseconds",
            "credential",
            "method",
            "tool",
            "outcome",
        ],
    ),
    (
        "audit",
        &[
            "event",
            "reason",
            "host",
            "githubId",
            "agent",
            "sequences",
            "thoughts",
        ],
    ),
    ("error", &["stage", "reason"]),
    ("cost", &["call", "rowsRead", "rowsWritten"]),
];

/// Every word that the documentation has between backticks.
fn words() -> BTreeSet<String> {
    let texts = ["docs/logs.md", "docs/errors.md"]
        .map(|path| fs::read_to_string(root().join(path)).unwrap());
    let parts = texts
        .iter()
        .flat_map(|text| text.split('`').skip(1).step_by(2));
    parts.map(str::to_owned).collect()
}

/// That every line of ours is one that the documentation tells of, and none holds anything else.
#[track_caller]
pub(crate) fn check(lines: &[String]) -> BTreeSet<String> {
    let words = words();
    let mut kinds = BTreeSet::new();
    for line in lines.iter().filter(|line| line.starts_with('{')) {
        let entry: Value = serde_json::from_str(line).unwrap();
        let mut members = entry.as_object().unwrap().clone();
        let kind = members.remove("kind").unwrap();
        let (kind, known) = KINDS.iter().find(|(name, _)| kind == *name).expect(line);
        kinds.insert((*kind).to_owned());
        let id = members.remove("requestId").unwrap();
        let is_id = |id: &str| id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        // What is done after an answer belongs to no request.
        assert!(
            id.as_str().is_some_and(|id| is_id(id) || id.is_empty()),
            "{line}"
        );
        for (name, value) in members {
            assert!(
                known.contains(&name.as_str()) && words.contains(&name),
                "{name} in {line}"
            );
            match value {
                Value::Number(_) => {}
                Value::String(host) if name == "host" => {
                    let is_host =
                        |byte: u8| byte.is_ascii_alphanumeric() || b".:-[]".contains(&byte);
                    assert!(host.len() < 256 && host.bytes().all(is_host), "{line}");
                }
                Value::String(word) if name == "agent" || kind == &"audit" && name == "reason" => {
                    let is_word = |byte: u8| byte.is_ascii_lowercase() || b"_-".contains(&byte);
                    assert!(word.len() < 40 && word.bytes().all(is_word), "{line}");
                }
                Value::String(word) if name == "method" => {
                    assert!(
                        word.bytes()
                            .all(|byte| byte.is_ascii_lowercase() || b"/".contains(&byte)),
                        "{line}"
                    );
                }
                Value::String(word) => assert!(words.contains(&word), "{word} in {line}"),
                other => panic!("{other} in {line}"),
            }
        }
    }
    kinds
}

#[test]
fn every_level_says_its_own_and_all_above_it() {
    for (level, expected) in [
        ("off", &[][..]),
        ("error", &["error"]),
        ("info", &["access", "audit", "error"]),
        ("", &["access", "audit", "error"]),
        ("nonsense", &["access", "audit", "error"]),
        ("debug", &["access", "audit", "cost", "error"]),
    ] {
        let worker = Worker::start_breakable(&[("LOG_LEVEL", level)]);
        let mut tools = Tools::new(&worker);
        let sequence = tools.think_all(&["one"]);
        let arguments = json!({ "sequenceId": sequence, "confirm": true });
        let call = json!({ "name": "delete_thought_sequence", "arguments": arguments });
        for fault in ["store-stub down", "worker panic", "none none 0"] {
            tools.post("tools/call", &call, &[("x-fault", fault)]);
        }
        let log = worker.whole_log();
        let kinds: Vec<_> = check(&log).into_iter().collect();
        assert_eq!(kinds, expected, "{level}: {log:?}");
        let errors = log
            .iter()
            .filter(|line| line.contains(r#""kind":"error""#))
            .count();
        assert_eq!(
            errors,
            if expected.contains(&"error") { 2 } else { 0 },
            "{level}: {log:?}"
        );
        let health = worker.get("/healthz").json();
        assert_eq!(health["ok"] == true, level != "nonsense", "{health}");
    }
}

/// The line of a call that is answered while it runs has its outcome, so it is written when the stream has ended.
#[test]
fn a_streamed_call_has_its_line_when_it_has_ended() {
    let worker = Worker::start_breakable(&[]);
    let mut tools = Tools::new(&worker);
    let sequence = tools.think_all(&(1..=60).map(|n| format!("{n}")).collect::<Vec<_>>());
    let ask = |sequence: &str| {
        json!({ "_meta": { "progressToken": 1 }, "name": "get_thought_history", "arguments": {
            "sequenceId": sequence, "limit": 60, "maxCharacters": 250_000,
        } })
    };
    let unknown = Tools::new(&worker).think_all(&["gone"]);
    tools.succeed(
        "delete_thought_sequence",
        &json!({ "sequenceId": unknown, "confirm": true }),
    );
    for (id, fault, outcome) in [
        (&sequence, "none none 0", "ok"),
        (&unknown, "none none 0", "sequence_not_found"),
        (&sequence, "store-stub down", "unavailable"),
    ] {
        let reply = tools.post("tools/call", &ask(id), &[("x-fault", fault)]);
        assert_eq!(
            reply.header("content-type").as_deref(),
            Some("text/event-stream")
        );
        let request_id = reply.header("x-request-id").unwrap();
        let lines: Vec<Value> = worker
            .whole_log()
            .iter()
            .filter(|line| line.contains(&request_id))
            .map(|line| serde_json::from_str(line).unwrap())
            .filter(|entry: &Value| entry["kind"] == "access")
            .collect();
        let [line] = lines.as_slice() else {
            panic!("{lines:?}");
        };
        assert_eq!(
            (&line["outcome"], &line["tool"]),
            (&json!(outcome), &json!("get_thought_history"))
        );
    }
    // One that hangs up while the object is at work.
    let message =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": ask(&sequence) });
    let bearer = format!("Bearer {TOKEN}");
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
        ("accept", "text/event-stream"),
        ("x-fault", "store-stub slow 9"),
    ];
    let stream = worker.client().open(
        "POST",
        "/mcp-compat",
        &headers,
        message.to_string().as_bytes(),
    );
    let request_id = stream.head.header("x-request-id").unwrap();
    drop(stream);
    let start = Instant::now();
    let line = loop {
        let log = worker.log();
        let found = log
            .iter()
            .find(|line| line.contains(&request_id) && line.contains("access"));
        if let Some(line) = found {
            break line.clone();
        }
        assert!(start.elapsed() < TIMEOUT, "{log:?}");
        std::thread::yield_now();
    };
    assert!(line.contains(r#""outcome":"client_left""#), "{line}");
    check(&worker.whole_log());
}

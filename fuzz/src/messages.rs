//! Lines of JSON-RPC, and the arguments of tools.

use durable_thinking::clock::Timestamp;
use durable_thinking::fresh::Fresh;
use durable_thinking::local::ready;
use durable_thinking::mcp::ToolHost;
use durable_thinking::mcp::thinking::Thinking;
use durable_thinking::refusal::{Class, Refusal};
use durable_thinking::settings::Settings;
use durable_thinking::tools::{Call, Outcome, TOOLS, parse};
use durable_thinking::transport::stdio::{LINE_BYTES_MAX, Line, Session, read_line};
use durable_thinking::wire;
use serde_json::{Map, Value};

const REFUSAL_CHARACTERS_MAX: usize = 1_000;

fn fresh() -> Fresh {
    Fresh::new(Timestamp::from_milliseconds(1_796_046_300_000), [1; 32])
}

/// No store: what is looked at is how messages are read and answered.
struct Nowhere;

impl ToolHost for Nowhere {
    async fn call(&self, _: &Call, fresh: &Fresh) -> Result<Outcome, Refusal> {
        Err(Refusal::unavailable(&fresh.request_id()))
    }

    async fn check(&self, _: &Fresh) -> Result<(), Refusal> {
        Ok(())
    }
}

/// Lines of one client on one pipe. Whatever comes, every answer is one line with one message or a batch of them, and none is
/// a fault of ours.
pub fn envelope(data: &[u8]) {
    let mut session = Session::new(Thinking {
        settings: Settings::default(),
        host: Nowhere,
    });
    let mut input = data;
    while let Some(line) = read_line(&mut input).expect("memory can be read") {
        assert!(!matches!(&line, Line::Whole(bytes) if bytes.len() > LINE_BYTES_MAX));
        session.take(&line);
        while !session.is_idle() {
            for answer in ready(session.answer(&fresh())).expect("nothing waits") {
                assert!(!answer.contains('\n'));
                check(&serde_json::from_str(&answer).expect("an answer is JSON"));
            }
        }
    }
}

fn check(answer: &Value) {
    if let Some(batch) = answer.as_array() {
        assert!(!batch.is_empty());
        return batch.iter().for_each(check);
    }
    assert_eq!(answer["jsonrpc"], "2.0");
    let is_notification = answer["method"].is_string();
    let kinds = ["result", "error"].map(|kind| answer.get(kind).is_some());
    assert!(is_notification != (kinds[0] != kinds[1]), "{answer}");
    assert_ne!(answer["error"]["code"], -32603, "{answer}");
    let id = answer.get("id");
    assert!(
        id.is_none_or(|id| id.is_string() || id.is_number()),
        "{answer}"
    );
    assert!(id.is_some() || kinds[1] || is_notification, "{answer}");
}

/// Arguments of the tool that the first byte chooses. A call that is understood crosses to the object unchanged; a refusal is
/// the caller's to mend and short, however long the argument.
pub fn arguments(data: &[u8]) {
    let Some((tool, text)) = data.split_first() else {
        return;
    };
    let Ok(arguments) = serde_json::from_slice::<Map<String, Value>>(text) else {
        return;
    };
    let tool = &TOOLS[usize::from(*tool) % TOOLS.len()];
    match parse(tool, &arguments, &Settings::default(), &fresh()) {
        Ok(call) => {
            let sent = wire::write(&call).expect("a call can be sent");
            let came: Call = wire::read(&sent).expect("the object reads it");
            assert_eq!(came, call);
        }
        Err(refusal) => {
            assert_eq!(refusal.code.class(), Class::Input);
            let characters = refusal.to_string().chars().count();
            assert!(characters < REFUSAL_CHARACTERS_MAX, "{refusal}");
        }
    }
}

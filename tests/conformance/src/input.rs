//! Requests that need the client's input: the answer is a list of questions, and the client asks again with the answers.
//!
//! Between two rounds the server keeps nothing; what it must not lose goes along as a state that it signs.

use std::sync::OnceLock;

use durable_thinking::jsonrpc::Params;
use durable_thinking::mcp::Context;
use durable_thinking::mcp::error::Error;
use durable_thinking::mcp::result::Body;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::fixture::{body, text};

pub(crate) const PROMPT: &str = "test_input_required_result_prompt";
pub(crate) const TOOLS: [&str; 8] = [
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
];

/// Answers a request that asks back; `None` for every other name.
pub(crate) fn call(
    name: &str,
    params: &Params,
    context: &Context<'_>,
) -> Option<Result<Body, Error>> {
    let answers = params.get("inputResponses");
    let answer = |key: &str| answers.and_then(|all| all.get(key));
    let form = |key: &str, field: &str| {
        let content = answer(key)
            .filter(|answer| answer["action"] == "accept")
            .map(|answer| &answer["content"]);
        content.and_then(|content| content.get(field)).cloned()
    };
    let state = match params
        .get("requestState")
        .map(|state| open(state.as_str().unwrap_or_default()))
    {
        None => None,
        Some(Some(state)) => Some(state),
        Some(None) => {
            return Some(Err(Error::InvalidParams(
                "requestState was changed on its way".to_owned(),
            )));
        }
    };
    Some(Ok(match name {
        "test_input_required_result_elicitation" | "test_streaming_elicitation" => {
            match form("user_name", "name") {
                Some(Value::String(name)) => done(&format!("Hello, {name}!")),
                _ => ask(
                    json!({ "user_name": elicit("What is your name?", "name", "string") }),
                    None,
                ),
            }
        }
        "test_input_required_result_sampling" => {
            match answer("capital_question").map(|it| &it["content"]["text"]) {
                Some(Value::String(said)) => done(said),
                _ => ask(
                    json!({ "capital_question": sample("What is the capital of France?", 100) }),
                    None,
                ),
            }
        }
        "test_input_required_result_list_roots" => {
            match answer("client_roots").and_then(|it| it["roots"].as_array()) {
                Some(roots) => done(&format!("Roots: {}", Value::from(roots.clone()))),
                None => ask(
                    json!({ "client_roots": { "method": "roots/list", "params": {} } }),
                    None,
                ),
            }
        }
        "test_input_required_result_request_state"
        | "test_input_required_result_tampered_state" => match (form("confirm", "ok"), state) {
            (Some(_), Some(_)) => done("state-ok"),
            _ => ask(
                json!({ "confirm": elicit("Please confirm", "ok", "boolean") }),
                Some("confirm"),
            ),
        },
        "test_input_required_result_multiple_inputs" => {
            let all = ["user_name", "greeting", "client_roots"];
            if state.is_some() && all.iter().all(|key| answer(key).is_some()) {
                done("All inputs came.")
            } else {
                let questions = json!({
                    "user_name": elicit("What is your name?", "name", "string"),
                    "greeting": sample("Generate a greeting", 50),
                    "client_roots": { "method": "roots/list", "params": {} },
                });
                ask(questions, Some("multiple"))
            }
        }
        "test_input_required_result_multi_round" => match (
            state.as_deref(),
            form("step1", "name"),
            form("step2", "color"),
        ) {
            (Some("one"), Some(_), _) => {
                let question = elicit("Step 2: What is your favorite color?", "color", "string");
                ask(json!({ "step2": question }), Some("two"))
            }
            (Some("two"), _, Some(color)) => done(&format!("Color: {color}")),
            _ => ask(
                json!({ "step1": elicit("Step 1: What is your name?", "name", "string") }),
                Some("one"),
            ),
        },
        "test_input_required_result_capabilities" => {
            let mut questions = json!({});
            let declared = &context.meta.capabilities;
            if declared.contains_key("sampling") {
                questions["capital_question"] = sample("What is the capital of France?", 100);
            }
            if declared.contains_key("elicitation") {
                questions["user_name"] = elicit("What is your name?", "name", "string");
            }
            ask(questions, None)
        }
        PROMPT => match form("user_context", "context") {
            Some(context) => {
                let message =
                    json!({ "role": "user", "content": text(&format!("Context: {context}")) });
                body(json!({ "messages": [message] }))
            }
            None => {
                let question = elicit("What context should the prompt use?", "context", "string");
                ask(json!({ "user_context": question }), None)
            }
        },
        _ => return None,
    }))
}

fn done(said: &str) -> Body {
    body(json!({ "content": [text(said)] }))
}

fn ask(questions: Value, state: Option<&str>) -> Body {
    let mut result = json!({ "inputRequests": questions });
    if let Some(state) = state {
        result["requestState"] = seal(state).into();
    }
    Body {
        result_type: "input_required",
        ..body(result)
    }
}

fn elicit(message: &str, field: &str, kind: &str) -> Value {
    let schema =
        json!({ "type": "object", "properties": { field: { "type": kind } }, "required": [field] });
    json!({ "method": "elicitation/create", "params": { "message": message, "requestedSchema": schema } })
}

fn sample(question: &str, tokens: u32) -> Value {
    let message = json!({ "role": "user", "content": text(question) });
    json!({ "method": "sampling/createMessage", "params": { "messages": [message], "maxTokens": tokens } })
}

fn seal(state: &str) -> String {
    format!("{state}.{}", tag(state))
}

fn open(sealed: &str) -> Option<String> {
    let (state, given) = sealed.split_once('.')?;
    (given == tag(state)).then(|| state.to_owned())
}

fn tag(state: &str) -> String {
    static KEY: OnceLock<[u8; 8]> = OnceLock::new();
    let key = KEY.get_or_init(|| durable_thinking::local::fresh().unwrap().draw());
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(state.as_bytes());
    mac.finalize()
        .into_bytes()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

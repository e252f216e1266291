//! What the suite looks for, name by name. The texts are those that its scenarios describe.

use std::sync::OnceLock;

use durable_thinking::fresh::Fresh;
use durable_thinking::json::{Json, Object};
use durable_thinking::jsonrpc::{Params, Request};
use durable_thinking::mcp::error::Error;
use durable_thinking::mcp::result::{About, Body};
use durable_thinking::mcp::version::Version;
use durable_thinking::mcp::{Context, List, Server};
use durable_thinking::refusal::Refusal;
use durable_thinking::tools::{Call, Outcome};
use serde_json::{Value, json};

use crate::input;

/// A red pixel, and a moment of silence.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==";

static ABOUT: About = About {
    name: "conformance-fixture",
    version: "1.0.0",
    title: Some("Conformance fixture"),
    description: None,
    website_url: None,
    icons: None,
};

#[derive(Debug)]
pub struct Fixture;

impl Server for Fixture {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn capabilities(&self, version: Version) -> Object {
        let mut all = json!({ "tools": {}, "resources": {}, "prompts": {}, "completions": {} });
        if !version.is_modern() {
            all["logging"] = json!({});
            all["resources"] = json!({ "subscribe": true });
        }
        object(&all)
    }

    fn instructions(&self) -> Option<&str> {
        None
    }

    fn list(&self, list: List) -> Option<&Json> {
        static TEXTS: OnceLock<[Json; 4]> = OnceLock::new();
        let texts = TEXTS.get_or_init(|| {
            [tools(), resources(), templates(), prompts()]
                .map(|list| Json::array(list.as_array().unwrap()))
        });
        let index = match list {
            List::Tools => 0,
            List::Resources => 1,
            List::ResourceTemplates => 2,
            List::Prompts => 3,
        };
        Some(&texts[index])
    }

    fn is_long(&self, params: &Params, context: &Context<'_>) -> bool {
        match params.get("name").and_then(Value::as_str) {
            Some("test_tool_with_progress") => context.meta.progress_token.is_some(),
            Some("test_tool_with_logging") => true,
            _ => false,
        }
    }

    async fn call_tool(&self, params: &Params, context: &Context<'_>) -> Result<Body, Error> {
        let name = params
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if let Some(result) = input::call(name, params, context) {
            return result;
        }
        let content = match name {
            "test_simple_text" => json!([text("This is a simple text response for testing.")]),
            "test_image_content" => json!([image()]),
            "test_audio_content" => {
                json!([{ "type": "audio", "data": WAV, "mimeType": "audio/wav" }])
            }
            "test_embedded_resource" => json!([embedded(
                "test://embedded-resource",
                "text/plain",
                "This is an embedded resource content."
            )]),
            "test_multiple_content_types" => json!([
                text("Multiple content types test:"),
                image(),
                embedded(
                    "test://mixed-content-resource",
                    "application/json",
                    "{\"test\":\"data\",\"value\":123}"
                ),
            ]),
            "test_tool_with_progress" => {
                for (progress, said) in [(0, "begun"), (50, "half"), (100, "done")] {
                    context.progress(progress, Some(100), said).await;
                }
                json!([text("Progress was reported.")])
            }
            "test_tool_with_logging" => {
                for said in [
                    "Tool execution started",
                    "Tool processing data",
                    "Tool execution completed",
                ] {
                    let message = json!({ "level": "info", "data": said });
                    context.notify("notifications/message", &message).await;
                }
                json!([text("Messages were logged.")])
            }
            "test_error_handling" => {
                let text = text("This tool intentionally returns an error for testing");
                return Ok(body(json!({ "content": [text], "isError": true })));
            }
            "test_missing_capability" if !context.meta.capabilities.contains_key("sampling") => {
                return Err(Error::MissingClientCapability(object(
                    &json!({ "sampling": {} }),
                )));
            }
            "test_missing_capability" | "test_logging_tool" | "json_schema_2020_12_tool" => {
                json!([text("done")])
            }
            _ => return Err(Error::InvalidParams(format!("unknown tool {name}"))),
        };
        Ok(body(json!({ "content": content })))
    }

    async fn read_resource(&self, params: &Params, _: &Context<'_>) -> Result<Body, Error> {
        let uri = params
            .get("uri")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let id = uri
            .strip_prefix("test://template/")
            .and_then(|rest| rest.strip_suffix("/data"));
        let mut item = match (uri, id) {
            ("test://static-text", _) => {
                json!({ "mimeType": "text/plain", "text": "This is the content of the static text resource." })
            }
            ("test://static-binary", _) => json!({ "mimeType": "image/png", "blob": PNG }),
            ("test://watched-resource", _) => {
                json!({ "mimeType": "text/plain", "text": "Watched." })
            }
            (_, Some(id)) => {
                let data =
                    json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
                json!({ "mimeType": "application/json", "text": data.to_string() })
            }
            _ => return Err(Error::ResourceNotFound(uri.to_owned())),
        };
        item["uri"] = uri.into();
        Ok(body(json!({ "contents": [item] })))
    }

    async fn get_prompt(&self, params: &Params, context: &Context<'_>) -> Result<Body, Error> {
        let name = params
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if let Some(result) = input::call(name, params, context) {
            return result;
        }
        let argument = |name: &str| {
            let value = params.get("arguments").and_then(|all| all.get(name));
            let missing = || Error::InvalidParams(format!("arguments.{name} is required"));
            value.and_then(Value::as_str).ok_or_else(missing)
        };
        let contents = match name {
            "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
            "test_prompt_with_arguments" => {
                let (one, two) = (argument("arg1")?, argument("arg2")?);
                vec![text(&format!(
                    "Prompt with arguments: arg1='{one}', arg2='{two}'"
                ))]
            }
            "test_prompt_with_embedded_resource" => vec![
                embedded(
                    argument("resourceUri")?,
                    "text/plain",
                    "Embedded resource content for testing.",
                ),
                text("Please process the embedded resource above."),
            ],
            "test_prompt_with_image" => vec![image(), text("Please analyze the image above.")],
            _ => return Err(Error::InvalidParams(format!("unknown prompt {name}"))),
        };
        let messages: Vec<_> = contents
            .into_iter()
            .map(|content| json!({ "role": "user", "content": content }))
            .collect();
        Ok(body(json!({ "messages": messages })))
    }

    async fn other(&self, request: &Request, context: &Context<'_>) -> Option<Result<Body, Error>> {
        let is_modern = context.version.is_modern();
        match request.method.as_str() {
            "completion/complete" => {
                let values = ["paris", "park", "party"];
                Some(Ok(body(
                    json!({ "completion": { "values": values, "total": 3, "hasMore": false } }),
                )))
            }
            "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe" if !is_modern => {
                Some(Ok(body(json!({}))))
            }
            _ => None,
        }
    }

    async fn is_healthy(&self, _: &Fresh) -> bool {
        true
    }

    async fn run(&self, _: &Call, fresh: &Fresh) -> Result<Outcome, Refusal> {
        Err(Refusal::unavailable(&fresh.request_id()))
    }
}

pub(crate) fn body(value: Value) -> Body {
    Body::new(object(&value))
}

fn object(value: &Value) -> Object {
    let mut object = Object::default();
    for (name, value) in value.as_object().expect("an object") {
        object.put(name, value);
    }
    object
}

pub(crate) fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn image() -> Value {
    json!({ "type": "image", "data": PNG, "mimeType": "image/png" })
}

fn embedded(uri: &str, mime_type: &str, text: &str) -> Value {
    json!({ "type": "resource", "resource": { "uri": uri, "mimeType": mime_type, "text": text } })
}

fn tools() -> Value {
    const NAMES: [&str; 11] = [
        "test_simple_text",
        "test_image_content",
        "test_audio_content",
        "test_embedded_resource",
        "test_multiple_content_types",
        "test_tool_with_progress",
        "test_tool_with_logging",
        "test_error_handling",
        "test_missing_capability",
        "test_logging_tool",
        "test_streaming_elicitation",
    ];
    let plain = NAMES.into_iter().chain(input::TOOLS).map(|name| {
        json!({ "name": name, "description": name, "inputSchema": { "type": "object", "properties": {} } })
    });
    plain.chain([dialect_tool()]).collect()
}

/// A schema with what newer dialects have, to show that nothing of it is lost.
fn dialect_tool() -> Value {
    json!({
        "name": "json_schema_2020_12_tool",
        "description": "Tool with JSON Schema 2020-12 features",
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {
                "address": {
                    "$anchor": "addressDef",
                    "type": "object",
                    "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
                },
            },
            "properties": {
                "name": { "type": "string" },
                "address": { "$ref": "#/$defs/address" },
                "contactMethod": { "type": "string", "enum": ["phone", "email"] },
                "phone": { "type": "string" },
                "email": { "type": "string" },
            },
            "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
            "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
            "then": { "required": ["phone"] },
            "else": { "required": ["email"] },
            "additionalProperties": false,
        },
    })
}

fn resources() -> Value {
    ["static-text", "static-binary", "watched-resource"]
        .into_iter()
        .map(|name| json!({ "uri": format!("test://{name}"), "name": name, "description": name }))
        .collect()
}

fn templates() -> Value {
    json!([{
        "uriTemplate": "test://template/{id}/data",
        "name": "template",
        "description": "Data by id",
        "mimeType": "application/json",
    }])
}

fn prompts() -> Value {
    let argument = |name: &str| json!({ "name": name, "description": name, "required": true });
    json!([
        { "name": "test_simple_prompt", "description": "Without arguments" },
        {
            "name": "test_prompt_with_arguments",
            "description": "With two arguments",
            "arguments": [argument("arg1"), argument("arg2")],
        },
        {
            "name": "test_prompt_with_embedded_resource",
            "description": "With a resource",
            "arguments": [argument("resourceUri")],
        },
        { "name": "test_prompt_with_image", "description": "With an image" },
        { "name": input::PROMPT, "description": "Asks for input first" },
    ])
}

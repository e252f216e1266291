//! What this product offers over MCP: three tools, the card, and two prompts.
//!
//! How a call is parsed, run and worded is left to `tools`; where it runs to the [`ToolHost`].

use std::sync::{LazyLock, OnceLock};

use serde_json::Value;

use crate::card;
use crate::fresh::Fresh;
use crate::json::{Json, Object, json};
use crate::jsonrpc::{Params, Request};
use crate::mcp::error::{Error, echo};
use crate::mcp::result::{About, Body, Icon};
use crate::mcp::version::Version;
use crate::mcp::{Context, List, Server, ToolHost, pieces, prompt};
use crate::refusal::Refusal;
use crate::settings::Settings;
use crate::tools::{self, Call, Outcome, TOOLS, Tool};

/// The extension of MCP Apps: hosts that know it draw each thought as a card.
const UI_EXTENSION: &str = "io.modelcontextprotocol/ui";

const INSTRUCTIONS: &str = "Use `sequentialthinking` for problems that need several steps, above all when a step may turn out wrong or when there are ways to compare. \
Leave `sequenceId` out of the first call only; take the id from the result and pass it with every later call. \
Keep that id in the conversation: it is the only key to what was thought, and it works again in a later session or from another client. \
Write each thought as the conclusions of that step. Load the history only when earlier steps have left the context; `view: \"brief\"` is the short form.";

static ABOUT: About = About {
    name: "durable-thinking",
    version: env!("CARGO_PKG_VERSION"),
    title: Some("Durable Thinking"),
    description: Some(
        "Sequential thinking that survives the process: every step is stored and can be read again with its sequence's id.",
    ),
    website_url: Some(env!("CARGO_PKG_REPOSITORY")),
    icons: Some([Icon {
        src: "data:image/svg+xml,%3Csvg%20xmlns='http://www.w3.org/2000/svg'%20viewBox='0%200%2024%2024'%20fill='none'%20stroke='%236d5bd0'%20stroke-width='2'%20stroke-linecap='round'%3E%3Cpath%20d='M7%205v14M7%209c0%204%2010%202%2010%207'/%3E%3Ccircle%20cx='7'%20cy='4'%20r='2'/%3E%3Ccircle%20cx='7'%20cy='20'%20r='2'/%3E%3Ccircle%20cx='17'%20cy='18'%20r='2'/%3E%3C/svg%3E",
        mime_type: "image/svg+xml",
        sizes: ["any"],
    }]),
};

/// The product, in front of one store.
#[derive(Debug)]
pub struct Thinking<T> {
    pub settings: Settings,
    pub host: T,
}

impl<T: ToolHost> Server for Thinking<T> {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn capabilities(&self, _: Version) -> Object {
        json!({ "tools": {}, "resources": {}, "prompts": {}, "extensions": { UI_EXTENSION: {} } })
    }

    fn instructions(&self) -> Option<&str> {
        Some(INSTRUCTIONS)
    }

    fn list(&self, list: List) -> Option<&Json> {
        static TOOLS_TEXT: OnceLock<Json> = OnceLock::new();
        static RESOURCES: OnceLock<Json> = OnceLock::new();
        static TEMPLATES: OnceLock<Json> = OnceLock::new();
        static PROMPTS: OnceLock<Json> = OnceLock::new();
        let (text, make): (_, fn() -> Json) = match list {
            List::Tools => (&TOOLS_TEXT, tools_json),
            List::Resources => (&RESOURCES, resources_json),
            List::ResourceTemplates => (&TEMPLATES, || json!([])),
            List::Prompts => (&PROMPTS, prompt::list),
        };
        Some(text.get_or_init(make))
    }

    fn is_long(&self, params: &Params, context: &Context<'_>) -> bool {
        let Ok((tool, arguments)) = called(params) else {
            return false;
        };
        // Parsing an append draws from `fresh`, and no append is long.
        tool.annotations.read_only_hint
            && context.meta.progress_token.is_some()
            && tools::parse(tool, arguments, &self.settings, context.fresh)
                .is_ok_and(|call| matches!(call, Call::History(query) if pieces::is_long(&query)))
    }

    async fn call_tool(&self, params: &Params, context: &Context<'_>) -> Result<Body, Error> {
        let (tool, arguments) = called(params)?;
        let rendered = match tools::parse(tool, arguments, &self.settings, context.fresh) {
            Err(error) => Err(error),
            Ok(call) => match self.run(&call, context).await {
                Err(error) => Err(error),
                Ok(outcome) => tools::render(&call, &outcome),
            },
        };
        Ok(match rendered {
            Ok(rendered) => Body {
                meta: rendered.meta,
                ..Body::new(json!({
                    "content": [{ "type": "text", "text": rendered.text }],
                    "structuredContent": rendered.structured,
                }))
            },
            Err(error) => {
                context.refused.set(Some(error.code.name()));
                Body::new(json!({
                    "content": [{ "type": "text", "text": error.to_string() }],
                    "isError": true,
                }))
            }
        })
    }

    async fn read_resource(&self, params: &Params, _: &Context<'_>) -> Result<Body, Error> {
        let Some(Value::String(uri)) = params.get("uri") else {
            return Err(Error::InvalidParams("uri must be a string".to_owned()));
        };
        if uri != card::URI {
            return Err(Error::ResourceNotFound(uri.clone()));
        }
        Ok(Body::new(json!({
            "contents": [{
                "uri": card::URI,
                "mimeType": card::MIME_TYPE,
                "text": card::HTML,
                "_meta": card::resource_meta(),
            }],
        })))
    }

    async fn get_prompt(&self, params: &Params, context: &Context<'_>) -> Result<Body, Error> {
        prompt::get(params, &self.settings, &self.host, context).await
    }

    async fn other(&self, _: &Request, _: &Context<'_>) -> Option<Result<Body, Error>> {
        None
    }

    async fn run(&self, call: &Call, fresh: &Fresh) -> Result<Outcome, Refusal> {
        self.host.call(call, fresh).await
    }

    async fn is_healthy(&self, fresh: &Fresh) -> bool {
        self.host.check(fresh).await.is_ok()
    }
}

impl<T: ToolHost> Thinking<T> {
    async fn run(&self, call: &Call, context: &Context<'_>) -> Result<Outcome, Refusal> {
        match call {
            Call::History(query) if context.is_heard() && pieces::is_long(query) => {
                let page = pieces::read(&self.host, query, context).await?;
                Ok(Outcome::History(Box::new(page)))
            }
            call => self.host.call(call, context.fresh).await,
        }
    }
}

/// The tool and the arguments of a `tools/call`. What is wrong with single arguments is the tool's to say.
fn called(params: &Params) -> Result<(&'static Tool, &Params), Error> {
    static NONE: LazyLock<Params> = LazyLock::new(Params::new);
    let Some(Value::String(name)) = params.get("name") else {
        return Err(Error::InvalidParams("name must be a string".to_owned()));
    };
    let Some(tool) = tools::find(name) else {
        let names: Vec<_> = TOOLS.iter().map(|tool| tool.name).collect();
        return Err(Error::InvalidParams(format!(
            "unknown tool {}. The tools are {}",
            echo(name),
            names.join(", ")
        )));
    };
    match params.get("arguments") {
        None | Some(Value::Null) => Ok((tool, &NONE)),
        Some(Value::Object(arguments)) => Ok((tool, arguments)),
        Some(_) => Err(Error::InvalidParams(
            "arguments must be an object".to_owned(),
        )),
    }
}

/// A tool for the log, as a fixed word.
pub fn tool_word(params: Option<&Params>) -> Option<&'static str> {
    let name = params?.get("name")?.as_str()?;
    tools::find(name).map(|tool| tool.name)
}

fn tools_json() -> Json {
    Json::array(TOOLS.iter().map(|tool| {
        json!({
            "name": tool.name,
            "title": tool.title,
            "description": tool.description.trim_end(),
            "inputSchema": embedded(tool.input_schema),
            "outputSchema": embedded(tool.output_schema),
            "annotations": tool.annotations,
            "_meta": embedded(tool.meta),
        })
    }))
}

/// JSON text of this program's own; a test reads every one of them.
fn embedded(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_default()
}

fn resources_json() -> Json {
    json!([{
        "uri": card::URI,
        "name": card::NAME,
        "title": card::TITLE,
        "description": card::DESCRIPTION,
        "mimeType": card::MIME_TYPE,
        "_meta": card::resource_meta(),
    }])
}

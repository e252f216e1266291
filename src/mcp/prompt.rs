//! The prompts: starting a chain of thoughts, and going on with a stored one.

use serde_json::{Map, Value};

use crate::json::{Json, json};
use crate::jsonrpc::Params;
use crate::mcp::error::{Error, echo};
use crate::mcp::result::Body;
use crate::mcp::{Context, ToolHost};
use crate::refusal::Refusal;
use crate::settings::Settings;
use crate::tools;

const THINK: &str = "think_step_by_step";
const RESUME: &str = "resume_thinking";
/// A prompt's argument is as long as a thought at most.
const ARGUMENT_CHARACTERS_MAX: usize = 20_000;

pub fn list() -> Json {
    json!([
        {
            "name": THINK,
            "title": "Think step by step",
            "description": "Works through a problem in stored steps that can be revised, branched and read again later.",
            "arguments": [
                { "name": "problem", "title": "Problem", "description": "What to think about", "required": true },
            ],
        },
        {
            "name": RESUME,
            "title": "Resume thinking",
            "description": "Loads the brief of a stored sequence and goes on where it stopped.",
            "arguments": [
                { "name": "sequenceId", "title": "Sequence id", "description": "The id that the first step returned, seq_…", "required": true },
            ],
        },
    ])
}

/// Answers `prompts/get`.
pub async fn get<T: ToolHost>(
    params: &Params,
    settings: &Settings,
    host: &T,
    context: &Context<'_>,
) -> Result<Body, Error> {
    let Some(Value::String(name)) = params.get("name") else {
        return Err(Error::InvalidParams("name must be a string".to_owned()));
    };
    let none = Map::new();
    let arguments = match params.get("arguments") {
        None | Some(Value::Null) => &none,
        Some(Value::Object(arguments)) => arguments,
        Some(_) => {
            return Err(Error::InvalidParams(
                "arguments must be an object".to_owned(),
            ));
        }
    };
    match name.as_str() {
        THINK => {
            let problem = argument(arguments, "problem")?;
            Ok(prompt(
                "Think about a problem in stored steps",
                &format!(
                    "Think this through with the tool `sequentialthinking`, one call for each step. Begin with thought 1 and your best estimate of how many steps it takes; \
change the estimate when it proves wrong. Revise a step that turns out mistaken and branch where two ways are worth comparing, instead of starting over. \
Pass the returned sequenceId with every later call, set nextThoughtNeeded to false with the step that holds the conclusion, and then answer.\n\nThe problem:\n{problem}"
                ),
            ))
        }
        RESUME => resume(argument(arguments, "sequenceId")?, settings, host, context).await,
        other => Err(Error::InvalidParams(format!(
            "unknown prompt {}. The prompts are {THINK}, {RESUME}",
            echo(other)
        ))),
    }
}

/// Reads the brief through the same call that a model would make.
async fn resume<T: ToolHost>(
    sequence_id: &str,
    settings: &Settings,
    host: &T,
    context: &Context<'_>,
) -> Result<Body, Error> {
    let refused = |error: Refusal| Error::InvalidParams(error.to_string());
    let tool = tools::find("get_thought_history").ok_or_else(|| Error::Fault {
        request_id: context.fresh.request_id(),
    })?;
    let mut arguments = Params::new();
    for (name, value) in [("sequenceId", sequence_id), ("view", "brief")] {
        arguments.insert(name.to_owned(), value.into());
    }
    let call = tools::parse(tool, &arguments, settings, context.fresh).map_err(refused)?;
    let outcome = host.call(&call, context.fresh).await.map_err(refused)?;
    let brief = tools::render(&call, &outcome).map_err(refused)?.text;
    Ok(prompt(
        "Go on with a stored sequence",
        &format!(
            "This is what you thought so far. Go on from there with the tool `sequentialthinking` and the same sequenceId, {sequence_id}; do not try again what was ruled out.\n\n{brief}"
        ),
    ))
}

fn argument<'a>(arguments: &'a Map<String, Value>, name: &str) -> Result<&'a str, Error> {
    let text = match arguments.get(name) {
        Some(Value::String(text)) => text.trim(),
        Some(_) => {
            return Err(Error::InvalidParams(format!(
                "arguments.{name} must be a string"
            )));
        }
        None => "",
    };
    if text.is_empty() {
        return Err(Error::InvalidParams(format!(
            "arguments.{name} is required"
        )));
    }
    let characters = text.chars().count();
    if characters > ARGUMENT_CHARACTERS_MAX {
        return Err(Error::InvalidParams(format!(
            "arguments.{name} has {characters} characters; at most {ARGUMENT_CHARACTERS_MAX} are taken"
        )));
    }
    Ok(text)
}

fn prompt(description: &str, text: &str) -> Body {
    Body::new(json!({
        "description": description,
        "messages": [{ "role": "user", "content": { "type": "text", "text": text } }],
    }))
}

//! The tools: what is listed, how a call is parsed, run and rendered.
//!
//! One file holds each tool whole. Parsing and rendering run in the Worker, running in the object, so [`Call`] and
//! [`Outcome`] are the wire format between them. JSON-RPC is left to `mcp`, rows to `store`.

pub mod arguments;
pub mod delete_thought_sequence;
pub mod get_thought_history;
pub mod sequentialthinking;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::clock::Timestamp;
use crate::database::Database;
use crate::fresh::Fresh;
use crate::json::Object;
use crate::page::{Page, Query};
use crate::refusal::{Code, Refusal};
use crate::sequence_id::SequenceId;
use crate::settings::Settings;
use crate::store::import::{Import, Imported};
use crate::store::retention::Swept;
use crate::store::{self, Store};
use crate::thought::{Appended, Draft};

/// A tool as `tools/list` shows it. Schemas and `_meta` are JSON texts.
#[derive(Debug)]
pub struct Tool {
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    pub input_schema: &'static str,
    pub output_schema: &'static str,
    pub annotations: Annotations,
    pub meta: &'static str,
}

/// All four hints, each true to fact (MCP, `ToolAnnotations`).
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Annotations {
    pub read_only_hint: bool,
    pub destructive_hint: bool,
    pub idempotent_hint: bool,
    pub open_world_hint: bool,
}

pub static TOOLS: [Tool; 3] = [
    sequentialthinking::TOOL,
    get_thought_history::TOOL,
    delete_thought_sequence::TOOL,
];

/// A call with valid arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Call {
    Append(Box<Draft>),
    History(Box<Query>),
    Delete(Delete),
    /// No tool: a document that becomes a new sequence.
    Import(Box<Import>),
    /// No tool: the owner deletes what was not written since.
    Purge(Timestamp),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Delete {
    pub sequence_id: SequenceId,
}

/// What a call came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Outcome {
    Appended(Box<Appended>),
    History(Box<Page>),
    Deleted(Deleted),
    Imported(Imported),
    Purged(Swept),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deleted {
    /// Thoughts that are gone; none when the id was unknown.
    pub thoughts: Option<u32>,
}

/// An outcome as a client sees it. Text and structure are each complete alone.
#[derive(Debug)]
pub struct Rendered {
    pub text: String,
    pub structured: Object,
    pub meta: Object,
}

/// The tool that a client means: by its name, or by the spelling with an underscore that older documentation uses.
pub fn find(name: &str) -> Option<&'static Tool> {
    let name = if name == "sequential_thinking" {
        sequentialthinking::TOOL.name
    } else {
        name
    };
    TOOLS.iter().find(|tool| tool.name == name)
}

/// Reads the arguments of a call to `tool`, and mints what the call needs. A bad argument never wakes the object.
pub fn parse(
    tool: &Tool,
    arguments: &Map<String, Value>,
    settings: &Settings,
    fresh: &Fresh,
) -> Result<Call, Refusal> {
    let arguments = arguments::Arguments::new(arguments);
    if tool.name == sequentialthinking::TOOL.name {
        sequentialthinking::parse(&arguments, settings, fresh)
            .map(|draft| Call::Append(Box::new(draft)))
    } else if tool.name == get_thought_history::TOOL.name {
        get_thought_history::parse(&arguments).map(|query| Call::History(Box::new(query)))
    } else {
        delete_thought_sequence::parse(&arguments).map(Call::Delete)
    }
}

pub fn run<D: Database>(
    call: &Call,
    store: &Store<D>,
    settings: &Settings,
    fresh: &Fresh,
) -> Result<Outcome, store::Error> {
    Ok(match call {
        Call::Append(draft) => Outcome::Appended(Box::new(store.append(draft, settings, fresh)?)),
        Call::History(query) => {
            Outcome::History(Box::new(store.history(query, settings, fresh.now)?))
        }
        Call::Delete(delete) => Outcome::Deleted(Deleted {
            thoughts: store.delete(&delete.sequence_id, settings, fresh.now)?,
        }),
        Call::Import(import) => Outcome::Imported(store.import(import, settings, fresh)?),
        Call::Purge(cutoff) => Outcome::Purged(store.purge(*cutoff)?),
    })
}

/// Shows `outcome` for `call`. An outcome of another kind than the call cannot happen in one program; between a new Worker
/// and an old object it is our fault, told as such.
pub fn render(call: &Call, outcome: &Outcome) -> Result<Rendered, Refusal> {
    match (call, outcome) {
        (Call::Append(draft), Outcome::Appended(appended)) => {
            Ok(sequentialthinking::render(draft, appended))
        }
        (Call::History(query), Outcome::History(page)) => {
            Ok(get_thought_history::render(query, page))
        }
        (Call::Delete(delete), Outcome::Deleted(deleted)) => {
            Ok(delete_thought_sequence::render(delete, deleted))
        }
        _ => Err(Refusal::new(
            Code::Unavailable,
            "the store answered another question than the one asked. Repeat the call in a moment",
        )),
    }
}

fn parse_sequence_id(text: &str) -> Result<SequenceId, Refusal> {
    SequenceId::parse(text).map_err(|damaged| Refusal::invalid(format!("sequenceId: {damaged}")))
}

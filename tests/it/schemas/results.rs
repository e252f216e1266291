//! The structured results of the tools as types. The output schemas are generated from these, and every result that the
//! stories below bring about is read into its type and told again: a member that is missing here, or that no result ever has,
//! fails.
//!
//! What is marked `skip` is told to clients but left out of the list of tools, where every byte is paid for in every
//! conversation: the schemas name what a model needs to go on.

#![allow(clippy::struct_field_names, reason = "the names are the contract's")]

use std::collections::BTreeSet;

use durable_thinking::clock::Timestamp;
use durable_thinking::sequence_id::SequenceId;
use durable_thinking::settings::LoopGuard;
use durable_thinking::store::import::{Entry, Import};
use durable_thinking::thought::BranchName;
use durable_thinking::tools::Call;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::bench::Bench;

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Appended {
    sequence_id: String,
    thought_number: u32,
    total_thoughts: u32,
    thought_history_length: u32,
    branch_id: Option<String>,
    completed: Option<bool>,
    progress: Option<f64>,
    revised: Option<Place>,
    superseded: Option<u32>,
    warnings: Option<Vec<Warning>>,
    next_thought_needed: Option<bool>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Place {
    branch_id: String,
    ordinal: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Warning {
    code: String,
    message: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct History {
    sequence: Sequence,
    thoughts: Option<Vec<Thought>>,
    brief: Option<String>,
    next_cursor: Option<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Sequence {
    sequence_id: String,
    title: String,
    completed: bool,
    thought_history_length: u32,
    #[schemars(skip)]
    last_thought_number: u32,
    #[schemars(skip)]
    total_thoughts: u32,
    #[schemars(skip)]
    created_at: String,
    #[schemars(skip)]
    updated_at: String,
    #[schemars(skip)]
    branches: Option<Vec<Branch>>,
    #[schemars(skip)]
    origin: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Branch {
    branch_id: String,
    parent_branch_id: String,
    branch_from_thought: u32,
    fork_ordinal: u32,
    last_thought_number: u32,
    completed: Option<bool>,
    hanging: Option<bool>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Thought {
    ordinal: u32,
    thought_number: u32,
    thought: String,
    #[schemars(skip)]
    total_thoughts: u32,
    #[schemars(skip)]
    created_at: String,
    #[schemars(skip)]
    branch_id: Option<String>,
    #[schemars(skip)]
    next_thought_needed: Option<bool>,
    #[schemars(skip)]
    needs_more_thoughts: Option<bool>,
    #[schemars(skip)]
    is_revision: Option<bool>,
    #[schemars(skip)]
    revises_thought: Option<u32>,
    #[schemars(skip)]
    revised: Option<Place>,
    #[schemars(skip)]
    rewind: Option<bool>,
    #[schemars(skip)]
    superseded: Option<bool>,
    #[schemars(skip)]
    branch_from_thought: Option<u32>,
    #[schemars(skip)]
    summarizes_through: Option<u32>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Deleted {
    sequence_id: String,
    deleted: bool,
    deleted_thoughts: u32,
}

/// A sequence with a note of where it came from.
fn import(bench: &mut Bench) -> String {
    let sequence_id = SequenceId::new([6; 16]);
    let entry = Entry {
        place: "/thoughts/0".to_owned(),
        written_at: Timestamp::from_milliseconds(1),
        text: "a".to_owned(),
        number: 1,
        total: 1,
        next_thought_needed: true,
        needs_more_thoughts: false,
        branch: BranchName::main(),
        fork: None,
        revises: None,
        rewind: false,
        summarizes_through: None,
    };
    let import = Import {
        sequence_id,
        origin: "another server".to_owned(),
        entries: vec![entry],
        first: 1,
        more: false,
    };
    bench.run(&Call::Import(Box::new(import))).unwrap();
    sequence_id.to_string()
}

/// Every result that some stories bring about, with the tool that it came from.
fn results() -> Vec<(&'static str, Value)> {
    let mut told = Vec::new();
    let mut bench = Bench::new();
    let mut ids = Vec::new();
    for (number, more) in [
        (1, json!({"thought": "x".repeat(2_001)})),
        (2, json!({"needsMoreThoughts": true})),
        (3, json!({"branchId": "b", "branchFromThought": 2})),
        (4, json!({"branchId": "b", "nextThoughtNeeded": false})),
        (
            4,
            json!({"branchId": "c", "branchFromThought": 3, "branchFromBranchId": "b"}),
        ),
        (3, json!({"summarizesThrough": 2})),
        (3, json!({"isRevision": true, "revisesThought": 2})),
        (
            2,
            json!({"isRevision": true, "revisesThought": 2, "rewind": true}),
        ),
        (3, json!({"nextThoughtNeeded": false, "totalThoughts": 3})),
    ] {
        let mut arguments = json!({
            "thought": format!("Step {number}"), "thoughtNumber": number, "totalThoughts": 9, "nextThoughtNeeded": true,
        });
        let members = arguments.as_object_mut().unwrap();
        members.extend(more.as_object().cloned().unwrap());
        let rendered = bench.call("sequentialthinking", &arguments).unwrap();
        told.push(("sequentialthinking", rendered.structured.to_value()));
    }
    ids.extend(bench.sequence_id.take());
    bench.settings.loop_guard = LoopGuard::Enforce;
    bench.settings.loop_guard_at = 1;
    let only =
        json!({"thought": "a", "thoughtNumber": 1, "totalThoughts": 9, "nextThoughtNeeded": true});
    let rendered = bench.call("sequentialthinking", &only).unwrap();
    told.push(("sequentialthinking", rendered.structured.to_value()));
    ids.extend(bench.sequence_id.take());
    ids.push(import(&mut bench));
    for id in &ids {
        for (view, limit) in [("all", 3), ("all", 100), ("active", 100), ("brief", 100)] {
            let query = json!({"sequenceId": id, "view": view, "limit": limit});
            let rendered = bench.call("get_thought_history", &query).unwrap();
            told.push(("get_thought_history", rendered.structured.to_value()));
        }
    }
    for id in ids.iter().chain(&ids[..1]) {
        let delete = json!({"sequenceId": id, "confirm": true});
        let rendered = bench.call("delete_thought_sequence", &delete).unwrap();
        told.push(("delete_thought_sequence", rendered.structured.to_value()));
    }
    told
}

/// Reads a result as `T` and tells it again, without what was not there.
fn again<T: Serialize + DeserializeOwned>(result: &Value) -> Value {
    let read: T = serde_json::from_value(result.clone())
        .unwrap_or_else(|error| panic!("{error}: {result:#}"));
    let mut told = serde_json::to_value(read).unwrap();
    drop_nulls(&mut told);
    told
}

fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, member| !member.is_null());
            members.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

/// The members that a result has, at any depth, as paths.
fn paths(value: &Value, place: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let path = format!("{place}.{name}");
                paths(member, &path, found);
                found.insert(path);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| paths(item, place, found)),
        _ => {}
    }
}

#[test]
fn every_result_has_the_shape_that_its_schema_is_made_of() {
    let mut met = BTreeSet::new();
    for (tool, result) in results() {
        let told = match tool {
            "sequentialthinking" => again::<Appended>(&result),
            "get_thought_history" => again::<History>(&result),
            _ => again::<Deleted>(&result),
        };
        assert_eq!(told, result, "{tool}");
        paths(&result, tool, &mut met);
    }
    let mut declared = BTreeSet::new();
    for (tool, names) in [
        ("sequentialthinking", fields::<Appended>()),
        ("sequentialthinking.revised", fields::<Place>()),
        ("sequentialthinking.warnings", fields::<Warning>()),
        ("get_thought_history", fields::<History>()),
        ("get_thought_history.sequence", fields::<Sequence>()),
        ("get_thought_history.sequence.branches", fields::<Branch>()),
        ("get_thought_history.thoughts", fields::<Thought>()),
        ("get_thought_history.thoughts.revised", fields::<Place>()),
        ("delete_thought_sequence", fields::<Deleted>()),
    ] {
        declared.extend(names.iter().map(|name| format!("{tool}.{name}")));
    }
    assert_eq!(met, declared);
}

/// The names of a type's members, which serde hands to whoever reads one.
fn fields<T: DeserializeOwned>() -> &'static [&'static str] {
    struct Names<'a>(&'a mut &'static [&'static str]);

    impl<'de> serde::Deserializer<'de> for Names<'_> {
        type Error = serde::de::value::Error;

        fn deserialize_any<V>(self, _: V) -> Result<V::Value, Self::Error>
        where
            V: serde::de::Visitor<'de>,
        {
            Err(serde::de::Error::custom("not a structure"))
        }

        fn deserialize_struct<V>(
            self,
            _: &'static str,
            fields: &'static [&'static str],
            _: V,
        ) -> Result<V::Value, Self::Error>
        where
            V: serde::de::Visitor<'de>,
        {
            *self.0 = fields;
            Err(serde::de::Error::custom("the names are all that is wanted"))
        }

        serde::forward_to_deserialize_any! {
            bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit
            unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
        }
    }

    let mut names: &'static [&'static str] = &[];
    assert!(T::deserialize(Names(&mut names)).is_err());
    names
}

//! A corpus of tool calls as clients and models really send them, bad ones mostly. Each row names the report that it comes
//! from, and what must be read or what must be refused and said.

use durable_thinking::clock::Timestamp;
use durable_thinking::fresh::Fresh;
use durable_thinking::sequence_id::SequenceId;
use durable_thinking::settings::Settings;
use durable_thinking::tools::{Call, find, parse};
use serde_json::{Map, Value, json};

fn rows() -> Vec<Value> {
    let text = include_str!("../fixtures/calls.jsonl");
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Puts the real id and the long texts in place.
fn expand(value: &Value, id: &str) -> Value {
    match value {
        Value::String(text) => text.replace("<id>", id).into(),
        Value::Array(items) => items.iter().map(|item| expand(item, id)).collect(),
        Value::Object(members) => match (members.get("repeat"), members.get("times")) {
            (Some(part), Some(times)) => part
                .as_str()
                .unwrap()
                .repeat(usize::try_from(times.as_u64().unwrap()).unwrap())
                .into(),
            _ => members
                .iter()
                .map(|(name, item)| (name.clone(), expand(item, id)))
                .collect::<Map<_, _>>()
                .into(),
        },
        other => other.clone(),
    }
}

fn arguments(row: &Value, id: &str) -> Map<String, Value> {
    let least = match row["tool"].as_str().unwrap() {
        "sequentialthinking" => {
            json!({ "thought": "a", "thoughtNumber": 1, "totalThoughts": 3, "nextThoughtNeeded": true })
        }
        "get_thought_history" => json!({ "sequenceId": id }),
        _ => json!({ "sequenceId": id, "confirm": true }),
    };
    let mut arguments = least.as_object().cloned().unwrap();
    for name in row["without"].as_array().into_iter().flatten() {
        arguments.remove(name.as_str().unwrap());
    }
    if let Value::Object(more) = expand(&row["with"], id) {
        arguments.extend(more);
    }
    arguments
}

/// What was read, as the object gets it.
fn read(call: &Call) -> Value {
    match call {
        Call::Append(draft) => json!(draft),
        Call::History(query) => json!(query),
        Call::Delete(delete) => json!(delete),
        Call::Import(_) | Call::Purge(_) => unreachable!("no tool does that"),
    }
}

#[test]
fn every_call_is_read_or_refused_as_it_should_be() {
    let fresh = Fresh::new(Timestamp::from_milliseconds(0), [3; 32]);
    let id = SequenceId::new(fresh.draw()).to_string();
    let rows = rows();
    let (mut wrong, mut refused) = (Vec::new(), 0);
    for row in &rows {
        let tool = find(row["tool"].as_str().unwrap()).unwrap();
        let result = parse(tool, &arguments(row, &id), &Settings::default(), &fresh);
        let shown = row.to_string();
        match (result, &row["refused"]) {
            (Ok(call), Value::Null) => {
                let found = read(&call);
                for (name, expected) in expand(&row["reads"], &id).as_object().unwrap() {
                    let value = found.get(name).cloned().unwrap_or_default();
                    // A flag that is left out reads as false.
                    let is_absent = expected.is_null() && value == json!(false);
                    if value != *expected && !is_absent {
                        wrong.push(format!("{name} is {value}: {shown}"));
                    }
                }
            }
            (Err(refusal), Value::Array(parts)) => {
                refused += 1;
                let text = refusal.to_string();
                for part in parts.iter().map(|part| part.as_str().unwrap()) {
                    if !text.contains(part) {
                        wrong.push(format!("{part:?} is not said in {text:?}: {shown}"));
                    }
                }
                let is_complete =
                    text.contains("class: input") && text.contains("retry: fix_input");
                if !is_complete || text.len() > 600 {
                    wrong.push(format!("{text:?}: {shown}"));
                }
            }
            (Ok(_), _) => wrong.push(format!("not refused: {shown}")),
            (Err(refusal), _) => wrong.push(format!("{refusal}: {shown}")),
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        rows.len(),
        wrong.join("\n")
    );
    assert!(
        rows.len() >= 200 && refused >= 150,
        "{} rows, {refused} refused",
        rows.len()
    );
}

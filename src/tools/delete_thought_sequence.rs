//! The tool `delete_thought_sequence`: every row of one sequence gone, on an explicit word.

use crate::json::{Object, json};
use crate::refusal::Refusal;
use crate::tools::arguments::Arguments;
use crate::tools::{Annotations, Delete, Deleted, Rendered, Tool, parse_sequence_id};

pub(super) const TOOL: Tool = Tool {
    name: "delete_thought_sequence",
    title: "Delete Thought Sequence",
    description: include_str!("delete_thought_sequence.md"),
    input_schema: include_str!("delete_thought_sequence.input.json"),
    output_schema: include_str!("delete_thought_sequence.output.json"),
    annotations: Annotations {
        read_only_hint: false,
        destructive_hint: true,
        idempotent_hint: true,
        open_world_hint: false,
    },
    meta: r#"{"ui":{"visibility":["model"]}}"#,
};

pub(super) fn parse(arguments: &Arguments<'_>) -> Result<Delete, Refusal> {
    let sequence_id = parse_sequence_id(arguments.required_text("sequenceId")?)?;
    if arguments.boolean("confirm")? != Some(true) {
        return Err(Refusal::invalid(
            "confirm must be true: deleting a sequence cannot be undone. Nothing was deleted",
        ));
    }
    Ok(Delete { sequence_id })
}

pub(super) fn render(delete: &Delete, deleted: &Deleted) -> Rendered {
    let id = delete.sequence_id;
    let text = match deleted.thoughts {
        None => format!("Nothing to delete: no sequence {id} exists."),
        Some(1) => format!("Deleted sequence {id} with its 1 thought."),
        Some(count) => format!("Deleted sequence {id} with its {count} thoughts."),
    };
    Rendered {
        text,
        structured: json!({
            "sequenceId": id,
            "deleted": deleted.thoughts.is_some(),
            "deletedThoughts": deleted.thoughts.unwrap_or_default(),
        }),
        meta: Object::default(),
    }
}

//! The tool `sequentialthinking`: one thought appended.

use crate::fresh::Fresh;
use crate::json::{Object, json};
use crate::refusal::{Code, Refusal};
use crate::sequence_id::SequenceId;
use crate::settings::Settings;
use crate::thought::{Appended, BranchName, Draft, NUMBER_MAX, Place};
use crate::tools::arguments::{Arguments, shown};
use crate::tools::{Annotations, Rendered, Tool, parse_sequence_id};

/// Our key in a result's `_meta`: what only the card needs, where it costs the model nothing.
pub const CARD_META_KEY: &str = "io.github.durable-thinking/card";

pub(super) const TOOL: Tool = Tool {
    name: "sequentialthinking",
    title: "Sequential Thinking",
    description: include_str!("sequentialthinking.md"),
    input_schema: include_str!("sequentialthinking.input.json"),
    output_schema: include_str!("sequentialthinking.output.json"),
    annotations: Annotations {
        read_only_hint: false,
        destructive_hint: false,
        idempotent_hint: false,
        open_world_hint: false,
    },
    meta: r#"{"ui":{"resourceUri":"ui://sequential-thinking/process.html","visibility":["model","app"]},"ui/resourceUri":"ui://sequential-thinking/process.html","openai/outputTemplate":"ui://sequential-thinking/process.html","openai/toolInvocation/invoking":"Thinking","openai/toolInvocation/invoked":"Thought"}"#,
};

/// Reads the arguments in the order in which their faults are reported.
pub(super) fn parse(
    arguments: &Arguments<'_>,
    settings: &Settings,
    fresh: &Fresh,
) -> Result<Draft, Refusal> {
    let given = arguments
        .text("sequenceId")?
        .map(parse_sequence_id)
        .transpose()?;
    let text = parse_text(arguments, settings)?;
    let next_thought_needed = arguments.required_boolean("nextThoughtNeeded")?;
    let number = arguments.required_integer("thoughtNumber", 1, NUMBER_MAX)?;
    let total = arguments
        .required_integer("totalThoughts", 1, NUMBER_MAX)?
        .max(number);
    let branch = parse_branch(arguments, "branchId")?.unwrap_or_else(BranchName::main);
    let branch_from_branch = parse_branch(arguments, "branchFromBranchId")?;
    let branch_from_thought = arguments.reference("branchFromThought", NUMBER_MAX)?;
    let revises_thought = parse_revision(arguments, number)?;
    let rewind = arguments.boolean("rewind")?.unwrap_or_default();
    if rewind && revises_thought.is_none() {
        return Err(Refusal::invalid(
            "rewind needs a revision: give isRevision: true and revisesThought, the first step that was wrong",
        ));
    }
    if branch_from_thought.is_some() && branch.is_main() {
        return Err(Refusal::new(
            Code::BranchIdRequired,
            "branchFromThought begins a branch, so it needs a branchId other than main: a short name for the new branch",
        ));
    }
    Ok(Draft {
        sequence_id: given.unwrap_or_else(|| SequenceId::new(fresh.draw())),
        is_first: given.is_none(),
        call_id: fresh.draw(),
        text: text.to_owned(),
        number,
        total,
        next_thought_needed,
        needs_more_thoughts: arguments.boolean("needsMoreThoughts")?.unwrap_or_default(),
        branch,
        branch_from_thought,
        branch_from_branch,
        revises_thought,
        rewind,
        summarizes_through: arguments.reference("summarizesThrough", NUMBER_MAX)?,
    })
}

fn parse_text<'a>(arguments: &Arguments<'a>, settings: &Settings) -> Result<&'a str, Refusal> {
    let text = arguments.verbatim("thought")?;
    if text.trim().is_empty() {
        return Err(Refusal::invalid(
            "thought is blank; it must say something: one key conclusion with its reason",
        ));
    }
    let characters = text.chars().count();
    let max = settings.max_thought_characters;
    if u32::try_from(characters).is_ok_and(|characters| characters <= max) {
        return Ok(text);
    }
    Err(Refusal::new(
        Code::ThoughtTooLong,
        format!(
            "thought has {characters} characters; at most {max} are stored in one. Keep the conclusion, or split it into several thoughts"
        ),
    ))
}

fn parse_branch(arguments: &Arguments<'_>, name: &str) -> Result<Option<BranchName>, Refusal> {
    let Some(text) = arguments.text(name)? else {
        return Ok(None);
    };
    BranchName::parse(text)
        .map(Some)
        .map_err(|bad| Refusal::invalid(format!("{name} {bad}; {:?} came", shown(text))))
}

/// The number that this thought revises. A positive `revisionNumber` alone, which older prompts teach, means a revision of
/// the thought's own number.
fn parse_revision(arguments: &Arguments<'_>, number: u32) -> Result<Option<u32>, Refusal> {
    let is_revision = arguments.boolean("isRevision")?;
    let revises = arguments.reference("revisesThought", NUMBER_MAX)?;
    let revision_number = arguments.reference("revisionNumber", NUMBER_MAX)?;
    match (is_revision, revises, revision_number) {
        (Some(true), Some(target), _) => Ok(Some(target)),
        (Some(true) | None, None, Some(_)) => Ok(Some(number)),
        (Some(true), None, None) => Err(Refusal::new(
            Code::RevisionTargetRequired,
            "isRevision is true, so revisesThought is needed: the number of the thought that this one corrects",
        )),
        (_, Some(target), _) => Err(Refusal::invalid(format!(
            "revisesThought is {target}, but isRevision is not true. Give isRevision: true for a revision, or leave revisesThought out"
        ))),
        (_, None, _) => Ok(None),
    }
}

pub(super) fn render(draft: &Draft, appended: &Appended) -> Rendered {
    let id = appended.sequence_id.to_string();
    Rendered {
        text: render_text(draft, appended, &id),
        structured: render_structured(appended, &id),
        meta: json!({ CARD_META_KEY: render_card(draft, appended) }),
    }
}

fn render_text(draft: &Draft, appended: &Appended, id: &str) -> String {
    // Without `format!` where most calls pass: it takes longer than the rest of this.
    let mut position = appended.number.to_string();
    position.push('/');
    position.push_str(&appended.total.to_string());
    let branch = &appended.branch;
    let mut text = match (&appended.revised, branch.name.is_main()) {
        (Some(target), true) => format!("Revision of thought {} · {position}", target.number),
        (Some(target), false) => format!(
            "Revision of thought {} · branch {} · {position}",
            target.number, branch.name
        ),
        (None, true) => ["Thought ", &position].concat(),
        (None, false) => match branch.fork.as_ref().filter(|_| appended.forks) {
            Some(fork) => format!(
                "Branch {} from thought {} · {position}",
                branch.name, fork.number
            ),
            None => format!("Branch {} · {position}", branch.name),
        },
    };
    if !appended.warnings.is_empty() {
        text.push('\n');
    }
    for warning in &appended.warnings {
        text.push_str("\nNote: ");
        text.push_str(&warning.message);
    }
    text.push_str("\n\n");
    text.push_str(&draft.text);
    text.push_str("\n\nSequence: ");
    text.push_str(id);
    text.push_str(" · ");
    text.push_str(&appended.thoughts.to_string());
    text.push_str(match appended.thoughts {
        1 => " thought stored",
        _ => " thoughts stored",
    });
    text
}

/// What always stands in a result, and then only what says something: a model pays for every member.
fn render_structured(appended: &Appended, id: &str) -> Object {
    let mut members = Object::default();
    members.put("sequenceId", id);
    members.put("thoughtNumber", &appended.number);
    members.put("totalThoughts", &appended.total);
    members.put("thoughtHistoryLength", &appended.thoughts);
    if !appended.branch.name.is_main() {
        members.put("branchId", &appended.branch.name);
    }
    if appended.completed {
        members.put("completed", &true);
    }
    members.put(
        "progress",
        &(f64::from(appended.progress_permille) / 1000.0),
    );
    if let Some(target) = &appended.revised {
        members.put(
            "revised",
            &json!({"branchId": target.branch, "ordinal": target.ordinal}),
        );
    }
    if let Some(count) = appended.superseded {
        members.put("superseded", &count);
    }
    if !appended.warnings.is_empty() {
        members.put("warnings", &appended.warnings);
    }
    if appended.ended_by_guard {
        members.put("nextThoughtNeeded", &false);
    }
    members
}

fn render_card(draft: &Draft, appended: &Appended) -> Object {
    let branch = &appended.branch;
    let mut own = Object::default();
    own.put("id", &branch.name);
    own.put("index", &branch.index);
    if let Some(fork) = &branch.fork {
        own.put("parent", &fork.branch);
        own.put("fork", &render_place(fork));
    }
    let mut members = Object::default();
    members.put("ordinal", &appended.ordinal);
    members.put("branch", &own);
    members.put("branches", &appended.branches);
    members.put("nextThoughtNeeded", &appended.next_thought_needed);
    if let Some(target) = &appended.revised {
        members.put("isRevision", &true);
        members.put("revises", &render_place(target));
    }
    if draft.rewind {
        members.put("rewind", &true);
    }
    if appended.forks {
        members.put("forks", &true);
    }
    if let Some(number) = appended.summarizes_through {
        members.put("summarizesThrough", &number);
    }
    members
}

fn render_place(place: &Place) -> Object {
    json!({"branchId": place.branch, "ordinal": place.ordinal, "thoughtNumber": place.number})
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::clock::Timestamp;
    use crate::fresh::Fresh;
    use crate::refusal::Refusal;
    use crate::settings::Settings;
    use crate::thought::Draft;
    use crate::tools::arguments::Arguments;

    fn parse(more: &Value) -> Result<Draft, Refusal> {
        let mut map = json!({"thought": "a", "nextThoughtNeeded": true, "thoughtNumber": 3, "totalThoughts": 2})
            .as_object()
            .cloned()
            .unwrap();
        map.extend(more.as_object().cloned().unwrap());
        let settings = Settings {
            max_thought_characters: 100,
            ..Settings::default()
        };
        super::parse(
            &Arguments::new(&map),
            &settings,
            &Fresh::new(Timestamp::from_milliseconds(0), [0; 32]),
        )
    }

    #[track_caller]
    fn refused(more: &Value, parts: &[&str]) {
        let text = parse(more).unwrap_err().to_string();
        for part in parts {
            assert!(text.contains(part), "{part:?} is not in {text:?}");
        }
    }

    #[test]
    fn a_call_is_read_with_its_defaults() {
        let draft = parse(
            &json!({"branchId": "null", "isRevision": null, "revisesThought": 0, "surprise": [1]}),
        )
        .unwrap();
        assert!(draft.is_first && draft.branch.is_main() && draft.revises_thought.is_none());
        assert_eq!((draft.number, draft.total), (3, 3));
        let draft = parse(&json!({"thought": " null "})).unwrap();
        assert_eq!(draft.text, " null ");
        assert_eq!(
            parse(&json!({"revisionNumber": 1}))
                .unwrap()
                .revises_thought,
            Some(3)
        );
        assert_eq!(
            parse(&json!({"is_revision": "True", "revises_thought": "2"}))
                .unwrap()
                .revises_thought,
            Some(2)
        );
    }

    #[test]
    fn refusals_name_the_field_what_came_and_what_is_right() {
        refused(
            &json!({"thought": "  \n"}),
            &["invalid_input", "thought is blank"],
        );
        refused(&json!({"thought": null}), &["thought is missing"]);
        refused(
            &json!({"thought": "é".repeat(101)}),
            &["thought_too_long", "101", "100"],
        );
        refused(
            &json!({"nextThoughtNeeded": null}),
            &["nextThoughtNeeded is missing"],
        );
        refused(&json!({"thoughtNumber": 1.5}), &["thoughtNumber", "1.5"]);
        refused(&json!({"sequenceId": "seq_1"}), &["sequenceId", "damaged"]);
        refused(&json!({"isRevision": true}), &["revision_target_required"]);
        refused(
            &json!({"revisesThought": 2}),
            &["invalid_input", "isRevision"],
        );
        refused(&json!({"rewind": true}), &["invalid_input", "rewind"]);
        refused(&json!({"branchFromThought": 2}), &["branch_id_required"]);
        refused(&json!({"branchId": "a\nb"}), &["branchId", "line"]);
    }
}

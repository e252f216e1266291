//! The tool `get_thought_history`: a stored process read back, page by page or as a brief.

use std::fmt::Write;

use serde_json::{Map, Value};

use crate::json::{json, put, put_value};
use crate::page::{
    BranchSummary, CHARACTERS_DEFAULT, CHARACTERS_MAX, LIMIT_DEFAULT, LIMIT_MAX, Order, Page,
    Query, Thought, View,
};
use crate::refusal::Refusal;
use crate::thought::BranchName;
use crate::tools::arguments::{Arguments, shown, wrong};
use crate::tools::{Annotations, Rendered, Tool, parse_sequence_id};
use crate::view;

const BRANCH_LINES_BYTES_MAX: usize = 40_000;

pub(super) const TOOL: Tool = Tool {
    name: "get_thought_history",
    title: "Get Thought History",
    description: include_str!("get_thought_history.md"),
    input_schema: include_str!("get_thought_history.input.json"),
    output_schema: include_str!("get_thought_history.output.json"),
    annotations: Annotations {
        read_only_hint: true,
        destructive_hint: false,
        idempotent_hint: true,
        open_world_hint: false,
    },
    meta: r#"{"ui":{"visibility":["model","app"]},"openai/widgetAccessible":true,"anthropic/maxResultSizeChars":500000}"#,
};

pub(super) fn parse(arguments: &Arguments<'_>) -> Result<Query, Refusal> {
    let sequence_id = parse_sequence_id(arguments.required_text("sequenceId")?)?;
    let view = match arguments.text("view")? {
        None | Some("all") => View::All,
        Some("active") => View::Active,
        Some("branch_path") => View::BranchPath,
        Some("brief") => View::Brief,
        Some(other) => {
            return Err(wrong(
                "view",
                &other.into(),
                "all, active, branch_path or brief",
            ));
        }
    };
    let order = match arguments.text("order")? {
        None | Some("asc") => Order::Asc,
        Some("desc") => Order::Desc,
        Some(other) => return Err(wrong("order", &other.into(), "asc or desc")),
    };
    let branch = arguments
        .text("branchId")?
        .map(|text| {
            BranchName::parse(text)
                .map_err(|bad| Refusal::invalid(format!("branchId {bad}; {:?} came", shown(text))))
        })
        .transpose()?;
    Ok(Query {
        sequence_id,
        view,
        order,
        branch,
        limit: arguments
            .integer("limit", 1, LIMIT_MAX)?
            .unwrap_or(LIMIT_DEFAULT),
        characters_max: arguments
            .integer("maxCharacters", 1, CHARACTERS_MAX)?
            .unwrap_or(CHARACTERS_DEFAULT),
        cursor: arguments.text("cursor")?.map(str::to_owned),
    })
}

pub(super) fn render(query: &Query, page: &Page) -> Rendered {
    let brief = page
        .brief
        .as_ref()
        .map(|brief| view::brief::render(&page.sequence, brief, query.characters_max));
    Rendered {
        text: render_text(page, brief.as_deref()),
        structured: render_structured(page, brief.as_deref()),
        meta: None,
    }
}

fn render_text(page: &Page, brief: Option<&str>) -> String {
    if let Some(brief) = brief {
        return brief.to_owned();
    }
    let sequence = &page.sequence;
    let mut text = format!("{}\n{}", sequence.title, sequence.sequence_id);
    let stored = match sequence.thoughts {
        1 => "1 thought".to_owned(),
        count => format!("{count} thoughts"),
    };
    // Writing into a String cannot fail.
    let _ = write!(
        text,
        " · {stored}{} · begun {} · last written {}",
        if sequence.completed {
            " · complete"
        } else {
            ""
        },
        sequence.created_at.to_rfc3339(),
        sequence.written_at.to_rfc3339(),
    );
    render_branches(sequence.branches.as_deref().unwrap_or_default(), &mut text);
    for thought in &page.thoughts {
        let _ = write!(text, "\n\n{}\n{}", render_label(thought), thought.text);
    }
    if let Some(cursor) = &page.next_cursor {
        let _ = write!(text, "\n\nMore follows. cursor: {cursor}");
    }
    text
}

/// Every branch, unless five hundred have very long names: the structure, which lists all, must fit beside the text.
fn render_branches(branches: &[BranchSummary], text: &mut String) {
    let end = text.len().saturating_add(BRANCH_LINES_BYTES_MAX);
    for (index, branch) in branches.iter().enumerate() {
        if text.len() > end {
            let more = branches.len().saturating_sub(index);
            let _ = write!(text, "\n… and {more} more branches");
            break;
        }
        let _ = write!(text, "\n{}", render_branch_line(branch));
    }
}

fn render_branch_line(branch: &BranchSummary) -> String {
    format!(
        "Branch {} from thought {} of {}, at {}{}{}",
        branch.name,
        branch.fork.number,
        branch.fork.branch,
        branch.last_number,
        if branch.completed { ", complete" } else { "" },
        if branch.hanging {
            ", hanging: its start was set aside"
        } else {
            ""
        },
    )
}

fn render_label(thought: &Thought) -> String {
    let mut label = format!("[{}/{}", thought.number, thought.total);
    if !thought.branch.is_main() {
        let _ = write!(label, " · branch {}", thought.branch);
    }
    if let Some(fork) = &thought.branch_from {
        let _ = write!(label, " · from thought {} of {}", fork.number, fork.branch);
    }
    if let Some(target) = &thought.revises {
        let verb = if thought.rewind {
            "rewinds to"
        } else {
            "revises"
        };
        let _ = write!(label, " · {verb} thought {}", target.number);
        if target.branch != thought.branch {
            let _ = write!(label, " of {}", target.branch);
        }
    }
    if let Some(number) = thought.summarizes_through {
        let _ = write!(label, " · summary through {number}");
    }
    if thought.superseded {
        label.push_str(" · superseded");
    }
    if !thought.next_thought_needed {
        label.push_str(" · last");
    }
    label.push(']');
    label
}

fn render_structured(page: &Page, brief: Option<&str>) -> Value {
    let sequence = &page.sequence;
    let mut about = Map::new();
    put(&mut about, "sequenceId", &sequence.sequence_id);
    put(&mut about, "title", &sequence.title);
    put(&mut about, "completed", &sequence.completed);
    put(&mut about, "thoughtHistoryLength", &sequence.thoughts);
    put(&mut about, "lastThoughtNumber", &sequence.last_number);
    put(&mut about, "totalThoughts", &sequence.total);
    put(&mut about, "createdAt", &sequence.created_at.to_rfc3339());
    put(&mut about, "updatedAt", &sequence.written_at.to_rfc3339());
    if let Some(branches) = &sequence.branches {
        let branches = branches.iter().map(render_branch).collect();
        put_value(&mut about, "branches", Value::Array(branches));
    }
    if let Some(origin) = &sequence.origin {
        put(&mut about, "origin", &origin);
    }
    let mut members = Map::new();
    put_value(&mut members, "sequence", Value::Object(about));
    if let Some(brief) = brief {
        put(&mut members, "brief", &brief);
    } else {
        let thoughts = page.thoughts.iter().map(render_thought).collect();
        put_value(&mut members, "thoughts", Value::Array(thoughts));
    }
    if let Some(cursor) = &page.next_cursor {
        put(&mut members, "nextCursor", &cursor);
    }
    Value::Object(members)
}

fn render_branch(branch: &BranchSummary) -> Value {
    let mut members = Map::new();
    put(&mut members, "branchId", &branch.name);
    put(&mut members, "parentBranchId", &branch.fork.branch);
    put(&mut members, "branchFromThought", &branch.fork.number);
    put(&mut members, "forkOrdinal", &branch.fork.ordinal);
    put(&mut members, "lastThoughtNumber", &branch.last_number);
    if branch.completed {
        put(&mut members, "completed", &true);
    }
    if branch.hanging {
        put(&mut members, "hanging", &true);
    }
    Value::Object(members)
}

fn render_thought(thought: &Thought) -> Value {
    let mut members = Map::new();
    put(&mut members, "ordinal", &thought.ordinal);
    put(&mut members, "thoughtNumber", &thought.number);
    put(&mut members, "totalThoughts", &thought.total);
    put(&mut members, "thought", &thought.text);
    put(&mut members, "createdAt", &thought.written_at.to_rfc3339());
    if !thought.branch.is_main() {
        put(&mut members, "branchId", &thought.branch);
    }
    if !thought.next_thought_needed {
        put(&mut members, "nextThoughtNeeded", &false);
    }
    if thought.needs_more_thoughts {
        put(&mut members, "needsMoreThoughts", &true);
    }
    if let Some(target) = &thought.revises {
        put(&mut members, "isRevision", &true);
        put(&mut members, "revisesThought", &target.number);
        put_value(
            &mut members,
            "revised",
            json!({"branchId": target.branch, "ordinal": target.ordinal}),
        );
    }
    if thought.rewind {
        put(&mut members, "rewind", &true);
    }
    if thought.superseded {
        put(&mut members, "superseded", &true);
    }
    if let Some(fork) = &thought.branch_from {
        put(&mut members, "branchFromThought", &fork.number);
    }
    if let Some(number) = thought.summarizes_through {
        put(&mut members, "summarizesThrough", &number);
    }
    Value::Object(members)
}

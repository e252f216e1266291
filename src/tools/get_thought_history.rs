//! The tool `get_thought_history`: a stored process read back, page by page or as a brief.

use std::fmt::Write;

use crate::json::{Json, Object, json};
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
        meta: Object::default(),
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

fn render_structured(page: &Page, brief: Option<&str>) -> Object {
    let sequence = &page.sequence;
    let mut about = Object::default();
    about.put("sequenceId", &sequence.sequence_id);
    about.put("title", &sequence.title);
    about.put("completed", &sequence.completed);
    about.put("thoughtHistoryLength", &sequence.thoughts);
    about.put("lastThoughtNumber", &sequence.last_number);
    about.put("totalThoughts", &sequence.total);
    about.put("createdAt", &sequence.created_at.to_rfc3339());
    about.put("updatedAt", &sequence.written_at.to_rfc3339());
    if let Some(branches) = &sequence.branches {
        let branches = branches.iter().map(render_branch);
        about.put("branches", &Json::array(branches));
    }
    if let Some(origin) = &sequence.origin {
        about.put("origin", &origin);
    }
    let mut members = Object::default();
    members.put("sequence", &about);
    if let Some(brief) = brief {
        members.put("brief", &brief);
    } else {
        let thoughts = page.thoughts.iter().map(render_thought);
        members.put("thoughts", &Json::array(thoughts));
    }
    if let Some(cursor) = &page.next_cursor {
        members.put("nextCursor", &cursor);
    }
    members
}

fn render_branch(branch: &BranchSummary) -> Object {
    let mut members = Object::default();
    members.put("branchId", &branch.name);
    members.put("parentBranchId", &branch.fork.branch);
    members.put("branchFromThought", &branch.fork.number);
    members.put("forkOrdinal", &branch.fork.ordinal);
    members.put("lastThoughtNumber", &branch.last_number);
    if branch.completed {
        members.put("completed", &true);
    }
    if branch.hanging {
        members.put("hanging", &true);
    }
    members
}

fn render_thought(thought: &Thought) -> Object {
    let mut members = Object::default();
    members.put("ordinal", &thought.ordinal);
    members.put("thoughtNumber", &thought.number);
    members.put("totalThoughts", &thought.total);
    members.put("thought", &thought.text);
    members.put("createdAt", &thought.written_at.to_rfc3339());
    if !thought.branch.is_main() {
        members.put("branchId", &thought.branch);
    }
    if !thought.next_thought_needed {
        members.put("nextThoughtNeeded", &false);
    }
    if thought.needs_more_thoughts {
        members.put("needsMoreThoughts", &true);
    }
    if let Some(target) = &thought.revises {
        members.put("isRevision", &true);
        members.put("revisesThought", &target.number);
        members.put(
            "revised",
            &json!({"branchId": target.branch, "ordinal": target.ordinal}),
        );
    }
    if thought.rewind {
        members.put("rewind", &true);
    }
    if thought.superseded {
        members.put("superseded", &true);
    }
    if let Some(fork) = &thought.branch_from {
        members.put("branchFromThought", &fork.number);
    }
    if let Some(number) = thought.summarizes_through {
        members.put("summarizesThrough", &number);
    }
    members
}

//! What the store says, compared with what the model says.

use durable_thinking::page::{BranchSummary, Page, Thought as Read};
use durable_thinking::refusal::Refusal;
use durable_thinking::thought::{Appended, Place as StoredPlace};
use durable_thinking::tools::Outcome;
use serde_json::{Value, json};

use crate::graph::model::{Answer, Code, Place, Said, Sequence, Thought};

pub fn arguments(said: &Said, id: Option<&String>) -> Value {
    json!({
        "sequenceId": id,
        "thought": said.text,
        "thoughtNumber": said.number,
        "totalThoughts": said.total,
        "nextThoughtNeeded": said.next,
        "needsMoreThoughts": said.more.then_some(true),
        "branchId": (said.branch != "main").then_some(&said.branch),
        "branchFromThought": said.from_thought,
        "branchFromBranchId": said.from_branch,
        "isRevision": said.revises.map(|_| true),
        "revisesThought": said.revises,
        "rewind": said.rewind.then_some(true),
        "summarizesThrough": said.summarizes,
    })
}

pub fn refused_before(said: &Said) -> Option<Code> {
    (said.branch == "main" && said.from_thought.is_some()).then_some("branch_id_required")
}

#[track_caller]
pub fn check_answer(
    said: &Said,
    answer: Result<Outcome, Refusal>,
    expected: &Result<Answer, Code>,
) {
    match (answer, expected) {
        (Err(refusal), Err(code)) => assert_eq!(refusal.code.name(), *code, "{said:?}\n{refusal}"),
        (Ok(Outcome::Appended(appended)), Ok(expected)) => {
            assert_eq!(read_answer(&appended), *expected, "{said:?}");
            assert_eq!(appended.number, said.number);
            assert_eq!(appended.total, said.total);
            assert_eq!(appended.branch.name.as_str(), said.branch);
            assert_eq!(appended.forks, said.from_thought.is_some());
            assert_eq!(
                appended.next_thought_needed,
                said.next && !expected.ended_by_guard
            );
            assert_eq!(appended.summarizes_through, said.summarizes);
        }
        (answer, expected) => panic!("{said:?}: {expected:?} expected, {answer:?} came"),
    }
}

fn read_answer(appended: &Appended) -> Answer {
    Answer {
        ordinal: appended.ordinal,
        thoughts: appended.thoughts,
        branches: appended.branches,
        fork: appended.branch.fork.as_ref().map(read_place),
        revised: appended.revised.as_ref().map(read_place),
        superseded: appended.superseded,
        permille: appended.progress_permille,
        completed: appended.completed,
        ended_by_guard: appended.ended_by_guard,
        warnings: appended
            .warnings
            .iter()
            .map(|warning| warning.code.name())
            .collect(),
    }
}

fn read_place(place: &StoredPlace) -> Place {
    (place.branch.to_string(), place.ordinal, place.number)
}

/// The ordinals that a view shows.
pub fn expected_view(model: Option<&Sequence>, query: &Value) -> Result<Vec<u32>, Code> {
    let model = model.ok_or("sequence_not_found")?;
    let branch = match query["branchId"].as_str() {
        None => None,
        Some(name) => Some(model.index(name.trim()).ok_or("branch_not_found")?),
    };
    let is_shown = |thought: &&Thought| {
        branch.is_none_or(|branch| thought.branch == branch)
            && (query["view"] == "all" || !thought.superseded)
    };
    let mut ordinals: Vec<u32> = match query["view"].as_str() {
        Some("branch_path") => model.newest(branch.unwrap_or(0)).unwrap().path.clone(),
        _ => model
            .thoughts
            .iter()
            .filter(is_shown)
            .map(|thought| thought.ordinal)
            .collect(),
    };
    if query["order"] == "desc" {
        ordinals.reverse();
    }
    Ok(ordinals)
}

#[track_caller]
pub fn check_summary(page: &Page, model: &Sequence, is_first: bool) {
    let summary = &page.sequence;
    let newest = model.newest(0).unwrap();
    assert_eq!(summary.thoughts as usize, model.thoughts.len());
    assert_eq!(summary.completed, model.completed());
    assert_eq!(summary.last_number, newest.said.number);
    assert_eq!(summary.total, newest.said.total);
    let expected: Vec<_> = (1..model.branches.len())
        .map(|index| {
            let newest = model.newest(index).unwrap();
            let fork = model.place(model.branches[index].fork);
            (
                model.branches[index].name.clone(),
                fork,
                newest.said.number,
                newest.finished,
                model.hangs(index),
            )
        })
        .collect();
    let read = |branch: &BranchSummary| {
        (
            branch.name.to_string(),
            read_place(&branch.fork),
            branch.last_number,
            branch.completed,
            branch.hanging,
        )
    };
    let branches = summary
        .branches
        .as_ref()
        .map(|branches| branches.iter().map(read).collect());
    assert_eq!(branches, is_first.then_some(expected));
}

#[track_caller]
pub fn check_read(read: &Read, model: &Sequence) {
    let thought = model.thought(read.ordinal);
    let said = &thought.said;
    assert_eq!(
        (read.number, read.total, &read.text),
        (said.number, said.total, &said.text)
    );
    assert_eq!(read.branch.as_str(), said.branch);
    assert_eq!(read.next_thought_needed, !thought.finished);
    assert_eq!(read.needs_more_thoughts, said.more);
    assert_eq!(
        read.revises.as_ref().map(read_place),
        thought.revises.map(|target| model.place(target))
    );
    assert_eq!(
        (read.rewind, read.superseded),
        (said.rewind, thought.superseded),
        "{}",
        read.ordinal
    );
    let fork = said
        .from_thought
        .map(|_| model.place(model.branches[thought.branch].fork));
    assert_eq!(read.branch_from.as_ref().map(read_place), fork);
    assert_eq!(read.summarizes_through, said.summarizes);
}

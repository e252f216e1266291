//! Refusals of an append. Each says what came and what exists, at most twenty of it.

use crate::database::Database;
use crate::graph::{Facts, MAIN, Node};
use crate::refusal::{Code, Refusal};
use crate::store::Error;
use crate::store::append::Append;
use crate::store::facts::{self, Sequence};
use crate::thought::{BranchName, Draft, THOUGHTS_MAX};

/// How many numbers or branches a refusal lists.
const LISTED_MAX: usize = 20;

/// A first thought has nothing to refer to.
pub(super) fn references_without_sequence(draft: &Draft) -> Result<(), Refusal> {
    let nothing = "this call has no sequenceId, so it begins a new sequence, which holds nothing yet. Give the sequenceId of the earlier result";
    if !draft.branch.is_main()
        || draft.branch_from_thought.is_some()
        || draft.branch_from_branch.is_some()
    {
        return Err(Refusal::new(
            Code::BranchPointNotFound,
            format!("there is nothing to branch from: {nothing}"),
        ));
    }
    if let Some(number) = draft.revises_thought {
        return Err(Refusal::new(
            Code::RevisionTargetNotFound,
            format!("there is no thought {number} to revise: {nothing}"),
        ));
    }
    if let Some(number) = draft.summarizes_through {
        return Err(Refusal::new(
            Code::SummaryTargetNotFound,
            format!("there is no thought {number} to sum up: {nothing}"),
        ));
    }
    Ok(())
}

pub(super) fn full() -> Refusal {
    Refusal::new(
        Code::SequenceFull,
        format!(
            "the sequence has {THOUGHTS_MAX} thoughts, as many as one may have. Begin a new sequence"
        ),
    )
}

pub(super) fn unknown_branch<D: Database>(
    append: &Append<'_>,
    sequence: &Sequence<'_, D>,
    argument: &str,
    name: &BranchName,
    advice: &str,
) -> Result<Refusal, Error> {
    let mut names = vec![BranchName::main()];
    let listed = u32::try_from(LISTED_MAX).unwrap_or(u32::MAX);
    for row in sequence.branch_rows(listed)? {
        names.push(facts::open_name(append.keys, &row)?);
    }
    names.truncate(LISTED_MAX);
    let count = sequence.row.branches.saturating_add(1);
    let exist = list(
        &names.iter().map(ToString::to_string).collect::<Vec<_>>(),
        usize::try_from(count).unwrap_or(usize::MAX) > names.len(),
    );
    Ok(Refusal::new(
        Code::BranchNotFound,
        format!("{argument} is {name}, and there is no such branch. There is: {exist}{advice}"),
    ))
}

/// No thought of this number is seen from `scope`, a branch and the largest number seen of it.
pub(super) fn unseen<D: Database>(
    append: &Append<'_>,
    sequence: &Sequence<'_, D>,
    code: Code,
    argument: &str,
    number: u32,
    scope: (u32, Option<u32>),
) -> Result<Refusal, Error> {
    let (branch, cutoff) = scope;
    let is_known = branch == MAIN || sequence.fork(branch)?.is_some();
    let from = match is_known {
        true => sequence.name(append.keys, branch)?,
        false => append.draft.branch.clone(),
    };
    let mut numbers = Vec::new();
    if is_known {
        numbers = visible(
            sequence,
            branch,
            cutoff,
            code == Code::SummaryTargetNotFound,
        )?;
    }
    let exist = match numbers.len() {
        0 => "nothing".to_owned(),
        count => list(
            &numbers.iter().map(ToString::to_string).collect::<Vec<_>>(),
            count >= LISTED_MAX,
        ),
    };
    Ok(Refusal::new(
        code,
        format!("{argument} is {number}, and {from} sees no such thought. It sees: {exist}"),
    ))
}

pub(super) fn superseded<D: Database>(
    append: &Append<'_>,
    sequence: &Sequence<'_, D>,
    number: u32,
    node: Node,
) -> Result<Refusal, Error> {
    let owner = sequence.name(append.keys, node.branch)?;
    let head = sequence.head(node.branch)?;
    let last = head.map_or(0, |head| head.number);
    Ok(Refusal::new(
        Code::RevisionTargetSuperseded,
        format!(
            "thought {number} of {owner} was set aside by a rewind. The newest thought of {owner} is {last}; revise an active one, or read the history with view active"
        ),
    ))
}

/// Numbers that a branch sees: its own, then its ancestors' up to where it forked.
fn visible<D: Database>(
    sequence: &Sequence<'_, D>,
    branch: u32,
    cutoff: Option<u32>,
    own_alone: bool,
) -> Result<Vec<u32>, Error> {
    let (mut branch, mut cutoff) = (branch, cutoff.unwrap_or(u32::MAX));
    let mut numbers: Vec<u32> = Vec::new();
    while numbers.len() < LISTED_MAX {
        let room = LISTED_MAX.saturating_sub(numbers.len());
        // Sorted as they come: they are few, and a sort for any number of them is large.
        for number in sequence.numbers(branch, cutoff, room)? {
            let place = numbers.partition_point(|known| *known < number);
            numbers.insert(place, number);
        }
        match sequence.fork(branch)? {
            Some(fork) if fork.parent < branch && !own_alone => {
                branch = fork.parent;
                cutoff = cutoff.min(fork.number);
            }
            _ => break,
        }
    }
    numbers.dedup();
    Ok(numbers)
}

fn list(items: &[String], more: bool) -> String {
    let mut text = items.join(", ");
    if more {
        text.push_str(", …");
    }
    text
}

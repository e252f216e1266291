//! What a thought refers to: the point that its branch begins at, the thought it revises, the thoughts it sums up.
//!
//! The order of the checks is the order in which faults are reported.

use crate::database::Database;
use crate::graph::{self, Facts, MAIN, Node, Resolved};
use crate::refusal::{Code, Refusal};
use crate::store::Error;
use crate::store::append::{Append, refuse};
use crate::store::facts::Sequence;
use crate::store::row::{Revises, Step};
use crate::thought::BranchName;

/// The references of a thought, resolved.
#[derive(Default)]
pub(super) struct Target {
    /// Where a branch begins that this call creates.
    pub fork: Option<Node>,
    pub revises: Option<Revises>,
    /// The first thought that a rewind sets aside.
    pub rewinds_to: Option<Node>,
    /// The position up to which this thought sums up its branch.
    pub summarized: Option<u32>,
    /// An active thought of the branch has the same number already.
    pub number_reused: bool,
}

pub(super) fn resolve<D: Database>(
    append: &Append<'_>,
    sequence: &Sequence<'_, D>,
    branch: Option<u32>,
    head: Option<&Step>,
) -> Result<Target, Error> {
    let fork = match branch {
        None => Some(resolve_fork(append, sequence)?),
        Some(branch) => {
            check_fork_claim(append, sequence, branch)?;
            None
        }
    };
    let revised = resolve_revision(append, sequence, branch, fork)?;
    let mut target = Target {
        fork,
        ..Target::default()
    };
    if let Some(node) = revised {
        target.revises = Some(chain(append, sequence, node)?);
        if append.draft.rewind {
            target.rewinds_to = Some(check_rewind(append, sequence, branch, node)?);
        }
    } else if let Some(branch) = branch {
        target.number_reused = graph::resolve_within(sequence, branch, append.draft.number)?
            .is_some_and(|found| found.is_active);
    }
    target.summarized = resolve_summary(append, sequence, branch, head, &target)?;
    Ok(target)
}

/// Where the new branch begins. The branch that owns the thought becomes the parent, whatever scope it was seen from.
fn resolve_fork<D: Database>(
    append: &Append<'_>,
    sequence: &Sequence<'_, D>,
) -> Result<Node, Error> {
    let draft = append.draft;
    let Some(number) = draft.branch_from_thought else {
        return Err(refuse::unknown_branch(
            append,
            sequence,
            "branchId",
            &draft.branch,
            ". To begin it, give branchFromThought: the thought that it starts after",
        )?
        .into());
    };
    let source = match &draft.branch_from_branch {
        None => MAIN,
        Some(name) if *name == draft.branch => {
            return Err(Refusal::invalid(format!(
                "branchFromBranchId is {name}, the branch that this call would create; name the branch that it starts from"
            ))
            .into());
        }
        Some(name) => named(append, sequence, name)?,
    };
    match graph::resolve(sequence, source, number, None)? {
        Some(found) => Ok(found.node),
        None => Err(refuse::unseen(
            append,
            sequence,
            Code::BranchPointNotFound,
            "branchFromThought",
            number,
            (source, None),
        )?
        .into()),
    }
}

fn named<D: Database>(
    append: &Append<'_>,
    sequence: &Sequence<'_, D>,
    name: &BranchName,
) -> Result<u32, Error> {
    if name.is_main() {
        return Ok(MAIN);
    }
    match sequence.branch_named(append.keys, name)? {
        Some(row) => Ok(row.branch),
        None => {
            Err(refuse::unknown_branch(append, sequence, "branchFromBranchId", name, "")?.into())
        }
    }
}

/// A call may repeat where its branch began; it may not say otherwise.
fn check_fork_claim<D: Database>(
    append: &Append<'_>,
    sequence: &Sequence<'_, D>,
    branch: u32,
) -> Result<(), Error> {
    let draft = append.draft;
    let Some(fork) = sequence.fork(branch)? else {
        return match &draft.branch_from_branch {
            None => Ok(()),
            Some(_) => Err(Refusal::invalid(
                "branchFromBranchId was given for main, which begins nowhere; give a branchId other than main, or leave it out",
            )
            .into()),
        };
    };
    let mut agrees = draft
        .branch_from_thought
        .is_none_or(|number| number == fork.number);
    if let Some(name) = &draft.branch_from_branch {
        let claimed = if name.is_main() {
            Some(MAIN)
        } else {
            sequence
                .branch_named(append.keys, name)?
                .map(|row| row.branch)
        };
        agrees &= match claimed {
            // The claim may name a descendant that sees the same thought.
            Some(claimed) => graph::sees(sequence, claimed, fork.parent, fork.number)?,
            None => false,
        };
    }
    if agrees {
        return Ok(());
    }
    let parent = sequence.name(append.keys, fork.parent)?;
    Err(Refusal::new(
        Code::BranchConflict,
        format!(
            "branch {} exists and began at thought {} of {parent}. Leave branchFromThought and branchFromBranchId out to continue it, or choose another branchId to begin a new branch",
            draft.branch, fork.number
        ),
    )
    .into())
}

fn resolve_revision<D: Database>(
    append: &Append<'_>,
    sequence: &Sequence<'_, D>,
    branch: Option<u32>,
    fork: Option<Node>,
) -> Result<Option<Node>, Error> {
    let Some(number) = append.draft.revises_thought else {
        return Ok(None);
    };
    // A branch that this call creates sees what its fork sees, up to the fork.
    let scope = match (branch, fork) {
        (Some(branch), _) => (branch, None),
        (None, Some(fork)) => (fork.branch, Some(fork.number)),
        (None, None) => (MAIN, None),
    };
    match graph::resolve(sequence, scope.0, number, scope.1)? {
        Some(Resolved {
            node,
            is_active: true,
        }) => Ok(Some(node)),
        Some(Resolved { node, .. }) => {
            Err(refuse::superseded(append, sequence, number, node)?.into())
        }
        None => Err(refuse::unseen(
            append,
            sequence,
            Code::RevisionTargetNotFound,
            "revisesThought",
            number,
            scope,
        )?
        .into()),
    }
}

/// The target's place in its chain of revisions, within the limit of the settings.
fn chain<D: Database>(
    append: &Append<'_>,
    sequence: &Sequence<'_, D>,
    node: Node,
) -> Result<Revises, Error> {
    let target = sequence.step(node.ordinal)?;
    let root = target
        .and_then(|step| step.revises)
        .map_or(node.ordinal, |revises| revises.root);
    let index = sequence
        .newest_revision(root)?
        .and_then(|step| step.revises)
        .map_or(1, |revises| revises.index.saturating_add(1));
    let max = append.settings.max_revisions;
    if max > 0 && index > max {
        return Err(Refusal::new(
            Code::RevisionLimit,
            format!(
                "thought {} was revised {max} times, which is the limit here. Its base may be wrong: begin a branch before it with branchFromThought, or go on",
                node.number
            ),
        )
        .into());
    }
    Ok(Revises {
        branch: node.branch,
        ordinal: node.ordinal,
        number: node.number,
        root,
        index,
    })
}

/// A rewind reaches the thoughts of the branch that is written: what an ancestor holds, other branches rest on too.
fn check_rewind<D: Database>(
    append: &Append<'_>,
    sequence: &Sequence<'_, D>,
    branch: Option<u32>,
    node: Node,
) -> Result<Node, Error> {
    if branch == Some(node.branch) {
        return Ok(node);
    }
    let owner = sequence.name(append.keys, node.branch)?;
    Err(Refusal::invalid(format!(
        "rewind reaches only thoughts of the branch that is written, and thought {} belongs to {owner}. Rewind with branchId {owner}, or begin a branch before that thought",
        node.number
    ))
    .into())
}

fn resolve_summary<D: Database>(
    append: &Append<'_>,
    sequence: &Sequence<'_, D>,
    branch: Option<u32>,
    head: Option<&Step>,
    target: &Target,
) -> Result<Option<u32>, Error> {
    let Some(number) = append.draft.summarizes_through else {
        return Ok(None);
    };
    // After a rewind, what it sets aside is no longer there to be summed up.
    let last = match (head, target.rewinds_to) {
        (Some(head), Some(node)) => {
            let position = node.position.saturating_sub(1);
            sequence.newest_at(head.branch, position, u32::MAX)?
        }
        (head, _) => head.map(Step::node),
    };
    let found = match last {
        Some(last) => graph::resolve_up_to(sequence, last, number)?,
        None => None,
    };
    match found {
        Some(Resolved {
            node,
            is_active: true,
        }) => Ok(Some(node.position)),
        _ => Err(refuse::unseen(
            append,
            sequence,
            Code::SummaryTargetNotFound,
            "summarizesThrough",
            number,
            (branch.unwrap_or(u32::MAX), None),
        )?
        .into()),
    }
}

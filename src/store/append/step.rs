//! The row that an append writes: the state of its branch and of its sequence after it.

use crate::database::{Database, DatabaseError};
use crate::graph::{Facts, MAIN};
use crate::settings::{LoopGuard, Settings};
use crate::store::append::target::Target;
use crate::store::append::{Append, warning};
use crate::store::facts::Sequence;
use crate::store::row::Step;

/// Thoughts between two words of the loop guard.
const LOOP_GUARD_EVERY: u32 = 10;

/// What stood before the thought.
#[derive(Default)]
pub(super) struct Before {
    /// The thought that it follows on the active path.
    pub predecessor: Option<Step>,
    /// The newest thought of its branch.
    pub head: Option<Step>,
    /// The newest thought of the sequence.
    pub newest: Option<Step>,
    /// `main` was complete. The loop guard's word on another branch holds until the next call, which is this one.
    pub main_finished: bool,
}

impl Before {
    pub(super) fn read<D: Database>(
        sequence: &Sequence<'_, D>,
        branch: Option<u32>,
        head: Option<Step>,
        target: &Target,
    ) -> Result<Self, DatabaseError> {
        let fork_step = |ordinal: u32| -> Result<Option<Step>, DatabaseError> {
            // A branch counts the thoughts that want a summary from its own beginning.
            Ok(sequence.step(ordinal)?.map(|step| Step {
                summarized: step.position,
                ..step
            }))
        };
        let predecessor = match (target.rewinds_to, target.fork) {
            (Some(node), _) => {
                let position = node.position.saturating_sub(1);
                match sequence.newest_at(node.branch, position, u32::MAX)? {
                    Some(before) => sequence.step(before.ordinal)?,
                    None => match sequence.fork(branch.unwrap_or(MAIN))? {
                        Some(fork) => fork_step(fork.ordinal)?,
                        None => None,
                    },
                }
            }
            (None, Some(fork)) => fork_step(fork.ordinal)?,
            (None, None) => head.clone(),
        };
        let newest = &sequence.newest;
        let ended_by_guard = newest.finished && newest.next_needed;
        let main_finished = match ended_by_guard && newest.branch != MAIN {
            true => sequence.head_step(MAIN)?.is_some_and(|main| main.finished),
            false => newest.main_finished,
        };
        Ok(Self {
            predecessor,
            head,
            newest: Some(newest.clone()),
            main_finished,
        })
    }
}

/// The row of the thought, with everything in it decided.
pub(super) fn next(append: &Append<'_>, before: &Before, branch: u32, target: &Target) -> Step {
    let draft = append.draft;
    let newest = before.newest.as_ref();
    let predecessor = before.predecessor.as_ref();
    let ordinal = newest.map_or(1, |step| step.ordinal.saturating_add(1));
    let is_unfinished = draft.next_thought_needed && (branch == MAIN || !before.main_finished);
    let guard = guard(append.settings, ordinal, is_unfinished);
    let finished = !draft.next_thought_needed || guard == Guard::Ends;
    let position = predecessor.map_or(1, |step| step.position.saturating_add(1));
    let is_plain_revision = target.revises.is_some() && target.rewinds_to.is_none();
    let steps = predecessor
        .map_or(0, |step| step.steps)
        .saturating_add(u32::from(!is_plain_revision));
    let superseded = target.rewinds_to.and_then(|node| {
        let head = before.head.as_ref()?;
        Some(
            head.position
                .saturating_sub(node.position)
                .saturating_add(1),
        )
    });
    let mut step = Step {
        ordinal,
        branch,
        number: draft.number,
        total: draft.total,
        position,
        stretch: match draft.rewind {
            true => ordinal,
            false => before.head.as_ref().map_or(0, |step| step.stretch),
        },
        steps,
        created_at: append.fresh.now,
        repeat_match: append.repeat_match,
        next_needed: draft.next_thought_needed,
        finished,
        needs_more: draft.needs_more_thoughts,
        forks: draft.branch_from_thought.is_some(),
        revises: target.revises,
        rewind: draft.rewind,
        superseded,
        summarizes_through: draft.summarizes_through,
        summarized: target
            .summarized
            .unwrap_or_default()
            .max(predecessor.map_or(0, |step| step.summarized)),
        warnings: 0,
        largest_total: newest.map_or(0, |step| step.largest_total).max(draft.total),
        open_branches: open_branches(before, branch, finished),
        main_finished: match branch {
            MAIN => finished,
            _ => before.main_finished || guard == Guard::Ends,
        },
        rewinds: newest
            .map_or(0, |step| step.rewinds)
            .saturating_add(u32::from(draft.rewind)),
        trunk: None,
    };
    step.trunk = trunk(newest, &step);
    step.warnings = warning::decide(&step, &draft.text, before, target, guard != Guard::Silent);
    step
}

/// The length of the trunk, if `step` does not continue it.
fn trunk(newest: Option<&Step>, step: &Step) -> Option<u32> {
    let goes_on = newest.is_none_or(|newest| newest.trunk.is_none())
        && (step.branch, step.stretch) == (MAIN, 0)
        && step.number == step.ordinal;
    match goes_on {
        true => None,
        false => Some(newest.map_or(0, Step::trunk_length)),
    }
}

/// Branches beside `main` that are not complete.
fn open_branches(before: &Before, branch: u32, finished: bool) -> u32 {
    let open = before.newest.as_ref().map_or(0, |step| step.open_branches);
    if branch == MAIN {
        return open;
    }
    let was_open = before.head.as_ref().is_some_and(|head| !head.finished);
    match (was_open, finished) {
        (true, true) => open.saturating_sub(1),
        (false, false) => open.saturating_add(1),
        _ => open,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Guard {
    Silent,
    Advises,
    Ends,
}

fn guard(settings: &Settings, ordinal: u32, is_unfinished: bool) -> Guard {
    let over = ordinal.checked_sub(settings.loop_guard_at);
    let speaks = over.is_some_and(|over| over.is_multiple_of(LOOP_GUARD_EVERY));
    match settings.loop_guard {
        LoopGuard::Advise if speaks && is_unfinished => Guard::Advises,
        LoopGuard::Enforce if speaks && is_unfinished => Guard::Ends,
        _ => Guard::Silent,
    }
}

/// How far the active path has come, in thousandths.
pub(super) fn progress_permille(step: &Step) -> u32 {
    if step.finished {
        return 1000;
    }
    u64::from(step.steps)
        .saturating_mul(1000)
        .checked_div(u64::from(step.total))
        .and_then(|permille| u32::try_from(permille).ok())
        .map_or(1000, |permille| permille.min(1000))
}

//! Warnings: decided once, kept as bits in the row, and worded from the row, so that a repeat says the same.

use crate::graph::MAIN;
use crate::store::append::step::Before;
use crate::store::append::target::Target;
use crate::store::row::Step;
use crate::thought::{Warning, WarningCode};

const LONG_THOUGHT_CHARACTERS: usize = 2_000;
/// The revision of one thought at which its base is doubtful.
const MANY_REVISIONS: u32 = 4;
/// Active thoughts without a summary at which one is due, and how often that is said again.
const SUMMARY_DUE_AT: u32 = 50;
const SUMMARY_DUE_EVERY: u32 = 10;

pub(super) fn decide(
    step: &Step,
    text: &str,
    before: &Before,
    target: &Target,
    guard_speaks: bool,
) -> u32 {
    let is_first = before.newest.is_none();
    let applies = |code| match code {
        WarningCode::Reopened => before.head.as_ref().is_some_and(|head| head.finished),
        WarningCode::NumberReused => target.number_reused,
        // Said of the repeat, not of the thought.
        WarningCode::Deduplicated => false,
        WarningCode::LongThought => text.chars().count() > LONG_THOUGHT_CHARACTERS,
        WarningCode::ManyRevisions => target
            .revises
            .is_some_and(|revises| revises.index >= MANY_REVISIONS),
        WarningCode::PossibleLostSequence => is_first && step.number > 1,
        WarningCode::EarlyFinish => {
            step.branch == MAIN
                && !step.next_needed
                && (step.number.saturating_mul(2) < step.largest_total || step.open_branches > 0)
        }
        WarningCode::LoopGuard => guard_speaks,
        WarningCode::SummaryDue => unsummarized(step)
            .checked_sub(SUMMARY_DUE_AT)
            .is_some_and(|over| step.next_needed && over.is_multiple_of(SUMMARY_DUE_EVERY)),
    };
    WarningCode::ALL
        .into_iter()
        .zip(0_u32..)
        .filter(|(code, _)| applies(*code))
        .fold(0, |bits, (_, bit)| bits | (1 << bit))
}

pub(super) fn render(step: &Step, text: &str) -> Vec<Warning> {
    WarningCode::ALL
        .into_iter()
        .zip(0_u32..)
        .filter(|(_, bit)| step.warnings & (1 << bit) != 0)
        .map(|(code, _)| Warning {
            code,
            message: message(code, step, text),
        })
        .collect()
}

fn unsummarized(step: &Step) -> u32 {
    step.position.saturating_sub(step.summarized)
}

fn message(code: WarningCode, step: &Step, text: &str) -> String {
    let number = step.number;
    match code {
        WarningCode::Reopened if step.finished => {
            "this branch was already complete; the step was added and the branch is still complete"
                .to_owned()
        }
        WarningCode::Reopened => "this branch was complete; the step reopened it".to_owned(),
        WarningCode::NumberReused => format!(
            "the branch already has a thought {number}; both are kept. If this corrects it, give isRevision and revisesThought"
        ),
        WarningCode::Deduplicated => String::new(),
        WarningCode::LongThought => format!(
            "this thought has {} characters; keep key conclusions and their reasons",
            text.chars().count()
        ),
        WarningCode::ManyRevisions => format!(
            "this is revision {} of one thought; its base is doubtful. Consider a branch from before it",
            step.revises.map_or(0, |revises| revises.index)
        ),
        WarningCode::PossibleLostSequence => format!(
            "this began a new sequence at thought {number}. If it continues an earlier one, send the step again with that sequenceId"
        ),
        WarningCode::EarlyFinish => early_finish(step),
        WarningCode::LoopGuard if step.finished => format!(
            "the loop guard ended the chain after {} thoughts. State the conclusion; only if more is truly needed, go on with one more call",
            step.ordinal
        ),
        WarningCode::LoopGuard => format!(
            "the sequence has {} thoughts and no conclusion. Conclude now, or say in the next thought what is still missing",
            step.ordinal
        ),
        WarningCode::SummaryDue => format!(
            "{} active thoughts of this branch have no summary. Write one with summarizesThrough: it stands for them in shortened views",
            unsummarized(step)
        ),
    }
}

fn early_finish(step: &Step) -> String {
    let mut message = format!("the process ended at thought {}", step.number);
    if step.number.saturating_mul(2) < step.largest_total {
        message.push_str(&format!(" of once {} expected", step.largest_total));
    }
    match step.open_branches {
        0 => {}
        1 => message.push_str(", and 1 branch is not complete"),
        count => message.push_str(&format!(", and {count} branches are not complete")),
    }
    message.push_str(". That is right if the answer is clear");
    message
}

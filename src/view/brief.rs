//! A brief in words: what a model needs that has lost its context, within the characters it has left.
//!
//! The same facts always make the same text. What does not fit is shortened step by step, the way on never.

use crate::brief::{Brief, Lane, RuledOut, Step};
use crate::page::{Sequence, weight};
use crate::thought::BranchName;

/// How much of each part is shown.
struct Detail {
    goal: u32,
    summary: u32,
    steps_in_full: usize,
    step_in_full: u32,
    steps: usize,
    step: u32,
    ruled_out: usize,
    branches: usize,
    line: u32,
}

/// From generous to bare: the first that fits is taken.
const DETAILS: [Detail; 6] = [
    Detail {
        goal: 4_000,
        summary: 6_000,
        steps_in_full: 5,
        step_in_full: 20_000,
        steps: 60,
        step: 400,
        ruled_out: 20,
        branches: 15,
        line: 240,
    },
    Detail {
        goal: 2_000,
        summary: 3_000,
        steps_in_full: 4,
        step_in_full: 4_000,
        steps: 60,
        step: 240,
        ruled_out: 20,
        branches: 15,
        line: 160,
    },
    Detail {
        goal: 1_000,
        summary: 1_500,
        steps_in_full: 3,
        step_in_full: 2_000,
        steps: 40,
        step: 160,
        ruled_out: 12,
        branches: 10,
        line: 120,
    },
    Detail {
        goal: 500,
        summary: 800,
        steps_in_full: 2,
        step_in_full: 1_000,
        steps: 24,
        step: 100,
        ruled_out: 8,
        branches: 6,
        line: 80,
    },
    Detail {
        goal: 240,
        summary: 300,
        steps_in_full: 1,
        step_in_full: 400,
        steps: 8,
        step: 60,
        ruled_out: 4,
        branches: 3,
        line: 60,
    },
    Detail {
        goal: 120,
        summary: 120,
        steps_in_full: 1,
        step_in_full: 160,
        steps: 1,
        step: 40,
        ruled_out: 0,
        branches: 0,
        line: 40,
    },
];

/// The brief in at most `characters_max` characters, as [`weight`] counts them.
pub fn render(sequence: &Sequence, brief: &Brief, characters_max: u32) -> String {
    let mut text = String::new();
    for detail in &DETAILS {
        text = render_with(sequence, brief, detail);
        if weight(&text) <= characters_max {
            return text;
        }
    }
    // Less room than even the barest form needs: its end, the way on, is worth most.
    let end = render_way_on(sequence, brief);
    if weight(&end) <= characters_max {
        return end;
    }
    cut(&text, characters_max)
}

fn render_with(sequence: &Sequence, brief: &Brief, detail: &Detail) -> String {
    let mut parts = vec![
        render_state(sequence, brief),
        format!("Goal\n{}", cut(&brief.goal, detail.goal)),
    ];
    parts.extend(render_path(brief, detail));
    parts.extend(render_ruled_out(brief, detail));
    parts.extend(render_branches(brief, detail));
    parts.extend(render_last_steps(brief, detail));
    parts.push(render_way_on(sequence, brief));
    parts.join("\n\n")
}

fn render_state(sequence: &Sequence, brief: &Brief) -> String {
    let stored = match sequence.thoughts {
        1 => "1 thought".to_owned(),
        count => format!("{count} thoughts"),
    };
    let state = match (sequence.completed, brief.is_complete) {
        (true, _) => "complete",
        (false, true) => "branch complete, main still open",
        (false, false) => "under way",
    };
    format!(
        "Brief of a thinking process: {stored}, last written {}\nState: {state}; on {} at thought {} of {}",
        sequence.written_at.to_rfc3339(),
        brief.branch,
        brief.number,
        brief.total
    )
}

/// The live path without the steps that follow in full.
fn render_path(brief: &Brief, detail: &Detail) -> Option<String> {
    let steps = brief
        .path
        .get(..brief.path.len().saturating_sub(detail.steps_in_full))
        .unwrap_or_default();
    if steps.is_empty() && brief.summary.is_none() {
        return None;
    }
    let mut lines = vec![format!(
        "Path so far on {} (newest version of each step)",
        brief.branch
    )];
    if let Some(summary) = &brief.summary {
        lines.push(format!(
            "Summary through {}: {}",
            summary.through,
            cut(&summary.text, detail.summary)
        ));
    }
    let skipped = steps.len().saturating_sub(detail.steps);
    let omitted = u32::try_from(skipped)
        .unwrap_or(u32::MAX)
        .saturating_add(brief.omitted);
    if omitted > 0 {
        lines.push(format!(
            "… {omitted} earlier steps: read them with view branch_path"
        ));
    }
    let shown = steps.get(skipped..).unwrap_or_default();
    // The first thought stands above, as the goal.
    for step in shown.iter().filter(|step| step.text != brief.goal) {
        lines.push(format!(
            "{} {}",
            label(step, &brief.branch),
            line(&step.text, detail.step)
        ));
    }
    Some(lines.join("\n"))
}

fn render_ruled_out(brief: &Brief, detail: &Detail) -> Option<String> {
    let shown = brief
        .ruled_out
        .get(..detail.ruled_out)
        .unwrap_or(&brief.ruled_out);
    let dead: Vec<&Lane> = brief
        .branches
        .iter()
        .filter(|lane| lane.branch.hanging)
        .take(detail.branches)
        .collect();
    if shown.is_empty() && dead.is_empty() {
        return None;
    }
    let mut lines = vec!["Ruled out: do not try again without a new reason".to_owned()];
    lines.extend(
        shown
            .iter()
            .map(|ruled_out| render_one_ruled_out(ruled_out, detail)),
    );
    lines.extend(dead.iter().map(|lane| {
        format!(
            "- Branch {} lost its start: {}",
            lane.branch.name,
            line(&lane.last, detail.line)
        )
    }));
    Some(lines.join("\n"))
}

fn render_one_ruled_out(ruled_out: &RuledOut, detail: &Detail) -> String {
    let place = &ruled_out.place;
    let on = match place.branch.is_main() {
        true => String::new(),
        false => format!(" of {}", place.branch),
    };
    let tail = match ruled_out.superseded {
        Some(count) if count > 1 => {
            format!(" and {} later", count.saturating_sub(1))
        }
        _ => String::new(),
    };
    format!(
        "- {}{on}{tail}: {}\n  because ({}): {}",
        place.number,
        line(&ruled_out.text, detail.line),
        ruled_out.by,
        line(&ruled_out.because, detail.line)
    )
}

fn render_branches(brief: &Brief, detail: &Detail) -> Option<String> {
    let alive: Vec<&Lane> = brief
        .branches
        .iter()
        .filter(|lane| !lane.branch.hanging)
        .collect();
    let shown = alive.get(..detail.branches).unwrap_or(&alive);
    if shown.is_empty() {
        return None;
    }
    let mut lines = vec!["Branches".to_owned()];
    for lane in shown {
        let branch = &lane.branch;
        lines.push(format!(
            "- {} (from {} of {}, {} at {} of {}): {}",
            branch.name,
            branch.fork.number,
            branch.fork.branch,
            if branch.completed { "complete" } else { "open" },
            branch.last_number,
            lane.total,
            line(&lane.last, detail.line)
        ));
    }
    let hidden = u32::try_from(alive.len().saturating_sub(shown.len()))
        .unwrap_or(u32::MAX)
        .saturating_add(brief.branches_omitted);
    if hidden > 0 {
        lines.push(format!(
            "… {hidden} more: the first page of the history lists all"
        ));
    }
    Some(lines.join("\n"))
}

fn render_last_steps(brief: &Brief, detail: &Detail) -> Option<String> {
    let from = brief.path.len().saturating_sub(detail.steps_in_full);
    let steps = brief.path.get(from..).unwrap_or_default();
    let title = match steps.len() {
        0 => return None,
        1 => "Last step".to_owned(),
        count => format!("Last {count} steps"),
    };
    let texts = steps.iter().map(|step| {
        format!(
            "{} {}",
            label(step, &brief.branch),
            cut(&step.text, detail.step_in_full)
        )
    });
    Some(format!("{title}\n{}", texts.collect::<Vec<_>>().join("\n")))
}

/// The call that goes on. Its id is the caller's own.
fn render_way_on(sequence: &Sequence, brief: &Brief) -> String {
    let branch = match brief.branch.is_main() {
        true => String::new(),
        false => format!(", branchId {}", brief.branch),
    };
    let next = brief.number.saturating_add(1);
    let verb = if brief.is_complete {
        "To reopen"
    } else {
        "To go on"
    };
    format!(
        "{verb}\nthoughtNumber {next}, totalThoughts {}{branch}, sequenceId {}",
        brief.total.max(next),
        sequence.sequence_id
    )
}

fn label(step: &Step, branch: &BranchName) -> String {
    let mut label = format!("[{}", step.number);
    if step.branch != *branch {
        label.push_str(&format!(" of {}", step.branch));
    }
    if let Some(number) = step.revised_in {
        label.push_str(&format!(", revised in {number}"));
    }
    label.push(']');
    label
}

/// One line of a text: white space runs together.
fn line(text: &str, max: u32) -> String {
    cut(&text.split_whitespace().collect::<Vec<_>>().join(" "), max)
}

/// At most `max` characters of a text, the last of them an ellipsis if it was longer.
fn cut(text: &str, max: u32) -> String {
    if weight(text) <= max {
        return text.to_owned();
    }
    let mut room = max.saturating_sub(1);
    let mut kept = String::new();
    for character in text.chars() {
        let cost = weight(character.encode_utf8(&mut [0; 4]));
        if cost > room {
            break;
        }
        room = room.saturating_sub(cost);
        kept.push(character);
    }
    if max > 0 {
        kept.push('…');
    }
    kept
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::cut;
    use crate::page::weight;

    proptest! {
        #[test]
        fn a_cut_text_fits(text: String, max in 0_u32..50) {
            prop_assert!(weight(&cut(&text, max)) <= max);
        }
    }
}

//! The process as a document for people: Markdown that reads well where Markdown is shown.
//!
//! The first pass over the thoughts learns what was corrected, where branches begin and how the conclusion was reached; then
//! each branch is written in a pass of its own. What was corrected is struck and linked, what was set aside is folded.

mod escape;

use std::collections::HashMap;
use std::fmt::Write;

use crate::page::{BranchSummary, Sequence, Thought};
use crate::thought::BranchName;
use crate::view::excerpt;
use crate::view::export::Render;
use crate::view::mermaid::Mermaid;

const TITLE_CHARACTERS: usize = 100;
/// Links on the path to the conclusion; the middle of a longer path is left out.
const PATH_LINKS_MAX: usize = 60;

#[derive(Debug, Default)]
pub struct Markdown {
    sequence: Option<Sequence>,
    branches: Vec<BranchSummary>,
    map: Mermaid,
    /// The newest correction of a thought: its ordinal and number.
    corrected: HashMap<u32, (u32, u32)>,
    /// The steps of `main` that hold, each in its newest version.
    path: Vec<(u32, u32)>,
    conclusion: Option<Thought>,
    /// The branch to write next: 0 for `main`. None in the first pass.
    next: Option<usize>,
    is_folded: bool,
}

impl Render for Markdown {
    fn begin(&mut self, sequence: &Sequence, out: &mut String) {
        self.map.begin(sequence, out);
        self.branches = sequence.branches.clone().unwrap_or_default();
        self.sequence = Some(sequence.clone());
    }

    fn thought(&mut self, thought: &Thought, out: &mut String) {
        if self.next.is_none() {
            self.map.thought(thought, out);
            self.learn(thought);
        } else {
            self.write_thought(thought, out);
        }
    }

    fn turn(&mut self, out: &mut String) -> Option<BranchName> {
        self.unfold(out);
        let next = match self.next {
            None => {
                self.write_head(out);
                0
            }
            Some(index) => index.saturating_add(1),
        };
        self.next = Some(next);
        let Some(index) = next.checked_sub(1) else {
            return Some(BranchName::main());
        };
        let branch = self.branches.get(index)?.clone();
        self.write_branch(next, &branch, out);
        Some(branch.name)
    }
}

impl Markdown {
    fn learn(&mut self, thought: &Thought) {
        if let Some(target) = &thought.revises {
            self.corrected
                .insert(target.ordinal, (thought.ordinal, thought.number));
        }
        if !thought.branch.is_main() || thought.superseded {
            return;
        }
        if let Some(target) = &thought.revises {
            let replaced = self.path.iter().rposition(|(it, _)| *it == target.ordinal);
            if let Some(at) = replaced {
                self.path.remove(at);
            }
        }
        self.path.push((thought.ordinal, thought.number));
        self.conclusion = (!thought.next_thought_needed).then(|| thought.clone());
    }

    fn write_head(&self, out: &mut String) {
        let Some(sequence) = &self.sequence else {
            return;
        };
        out.push_str("# ");
        escape::inline(&excerpt::line(&sequence.title, TITLE_CHARACTERS), out);
        out.push_str("\n\n");
        self.write_facts(sequence, out);
        if let Some(conclusion) = &self.conclusion {
            let _ = writeln!(
                out,
                "\n## Conclusion\n\nFrom {}:\n",
                link(conclusion.ordinal, conclusion.number)
            );
            escape::quote(&conclusion.text, out);
        }
        if self.path.len() > 1 {
            let heading = match self.conclusion {
                Some(_) => "Path to the conclusion",
                None => "Path so far",
            };
            let _ = writeln!(out, "\n## {heading}\n\n{}", self.path_line());
        }
        if self.map.has_shape() {
            out.push_str("\n## Map\n\n```mermaid\n");
            self.map.write(out);
            out.push_str("```\n");
        }
        out.push_str("\n## Steps\n");
    }

    fn write_facts(&self, sequence: &Sequence, out: &mut String) {
        let thoughts = match sequence.thoughts {
            1 => "1 step".to_owned(),
            count => format!("{count} steps"),
        };
        let branches = match self.branches.len() {
            0 => String::new(),
            1 => " · 1 branch".to_owned(),
            count => format!(" · {count} branches"),
        };
        let state = if sequence.completed {
            "complete"
        } else {
            "not complete"
        };
        // Writing into a String cannot fail.
        let _ = writeln!(
            out,
            "{thoughts}{branches} · {state} · begun {} · last written {}",
            sequence.created_at.to_rfc3339(),
            sequence.written_at.to_rfc3339()
        );
        if let Some(origin) = &sequence.origin {
            out.push('\n');
            escape::quote(origin, out);
        }
    }

    fn path_line(&self) -> String {
        let half = PATH_LINKS_MAX / 2;
        let end = self.path.len().saturating_sub(half);
        let links = self.path.iter().enumerate().filter_map(|(index, step)| {
            if self.path.len() <= PATH_LINKS_MAX || index < half || index >= end {
                Some(format!("[{}](#t{})", step.1, step.0))
            } else {
                (index == half).then(|| "…".to_owned())
            }
        });
        links.collect::<Vec<_>>().join(" → ")
    }

    fn write_branch(&self, index: usize, branch: &BranchSummary, out: &mut String) {
        let state = match (branch.completed, branch.hanging) {
            (true, false) => "complete",
            (false, false) => "not complete",
            (_, true) => "hanging: the step that it begins at was set aside",
        };
        let _ = write!(out, "\n## <a id=\"branch-{index}\"></a>Branch ");
        escape::inline(&excerpt::line(branch.name.as_str(), TITLE_CHARACTERS), out);
        let fork = &branch.fork;
        let _ = write!(out, "\n\nBegins after {}", link(fork.ordinal, fork.number));
        self.write_of_branch(&fork.branch, None, out);
        let _ = writeln!(out, " · {state}");
    }

    fn write_thought(&mut self, thought: &Thought, out: &mut String) {
        if thought.superseded && !self.is_folded {
            self.is_folded = true;
            let number = thought.number;
            let _ = writeln!(
                out,
                "\n<details>\n<summary>Set aside, from step {number} on</summary>"
            );
        } else if !thought.superseded {
            self.unfold(out);
        }
        let correction = self.corrected.get(&thought.ordinal).copied();
        self.write_heading(thought, correction, out);
        if correction.is_some() {
            out.push_str("<del>\n\n");
        }
        escape::quote(&thought.text, out);
        if correction.is_some() {
            out.push_str("\n</del>\n");
        }
        self.write_forks(thought, out);
    }

    fn unfold(&mut self, out: &mut String) {
        if std::mem::take(&mut self.is_folded) {
            out.push_str("\n</details>\n");
        }
    }

    fn write_heading(&self, thought: &Thought, correction: Option<(u32, u32)>, out: &mut String) {
        let step = format!("Step {} of {}", thought.number, thought.total);
        let _ = write!(out, "\n### <a id=\"t{}\"></a>", thought.ordinal);
        let _ = match correction {
            None => write!(out, "{step}"),
            Some((ordinal, number)) => {
                write!(out, "~~{step}~~ · corrected in {}", link(ordinal, number))
            }
        };
        if let Some(target) = &thought.revises {
            let verb = if thought.rewind {
                "goes back to"
            } else {
                "corrects"
            };
            let _ = write!(out, " · {verb} {}", link(target.ordinal, target.number));
            self.write_of_branch(&target.branch, Some(&thought.branch), out);
        }
        if let Some(number) = thought.summarizes_through {
            let _ = write!(out, " · sums up the steps up to {number}");
        }
        if !thought.next_thought_needed {
            out.push_str(" · conclusion");
        }
        out.push_str("\n\n");
    }

    /// Names the branch of a link, unless that is where the reader is.
    fn write_of_branch(&self, name: &BranchName, here: Option<&BranchName>, out: &mut String) {
        if here == Some(name) {
            return;
        }
        if name.is_main() {
            if here.is_some() {
                out.push_str(" of the main line");
            }
            return;
        }
        out.push_str(" of branch ");
        let index = self.branches.iter().position(|it| it.name == *name);
        write_branch_link(index.unwrap_or_default(), name, out);
    }

    fn write_forks(&self, thought: &Thought, out: &mut String) {
        let branches = self.branches.iter().enumerate();
        for (index, branch) in branches.filter(|(_, it)| it.fork.ordinal == thought.ordinal) {
            out.push_str("\n↳ branch ");
            write_branch_link(index, &branch.name, out);
            out.push('\n');
        }
    }
}

fn link(ordinal: u32, number: u32) -> String {
    format!("[step {number}](#t{ordinal})")
}

fn write_branch_link(index: usize, name: &BranchName, out: &mut String) {
    out.push('[');
    escape::inline(&excerpt::line(name.as_str(), TITLE_CHARACTERS), out);
    let _ = write!(out, "](#branch-{})", index.saturating_add(1));
}

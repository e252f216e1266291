//! The branch graph as a Mermaid flowchart, small enough for every renderer whatever the length of the process.
//!
//! Renderers refuse 500 edges or 50,000 characters. A short process is drawn step by step; in a longer one, runs of plain steps
//! become one node, and what makes the shape stays: starts and ends of branches, forks, corrections, summaries.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use crate::page::{BranchSummary, Sequence, Thought};
use crate::thought::{BranchName, Place};
use crate::view::excerpt;
use crate::view::export::Render;

/// Up to this length every step is a node.
const WHOLE_THOUGHTS_MAX: u32 = 60;
/// Nodes that stand for one step. Each may be followed by one run, so that there are at most twice as many nodes, as many
/// edges, and one more edge for each correction: 2 · 120 + 120 < 500.
const STEPS_MAX: usize = 120;
/// Characters for the labels of steps: with runs, edges and names of branches the text stays below 50,000.
const LABEL_CHARACTERS: usize = 20_000;
const EXCERPT_CHARACTERS: usize = 48;
const NAME_CHARACTERS: usize = 32;

const STYLES: &str = concat!(
    "  classDef revised stroke-dasharray:4 3,text-decoration:line-through\n",
    "  classDef superseded stroke-dasharray:2 4,opacity:0.55\n",
    "  classDef summary font-style:italic\n",
    "  classDef conclusion stroke-width:3px,font-weight:bold\n",
    "  classDef run stroke-dasharray:1 3\n",
);

/// Takes the thoughts in, and writes the graph when the last has come.
#[derive(Debug, Default)]
pub struct Mermaid {
    branches: Vec<BranchSummary>,
    draws_all: bool,
    forks: HashSet<u32>,
    lanes: HashMap<BranchName, Lane>,
    nodes: Vec<Node>,
    /// From, label, to.
    edges: Vec<(usize, Option<&'static str>, usize)>,
    label_characters: usize,
    steps: usize,
    left_out: u32,
}

/// The nodes of a branch that a next step may follow.
#[derive(Debug, Default)]
struct Lane {
    path: Vec<usize>,
}

#[derive(Debug)]
struct Node {
    branch: BranchName,
    /// The ordinals that it stands for lie between these.
    first: u32,
    last: u32,
    kind: Kind,
    class: Option<&'static str>,
}

#[derive(Debug)]
enum Kind {
    /// The label, encoded.
    Step(String),
    /// Plain steps: how many, and their first and last number.
    Run(u32, u32, u32),
}

impl Render for Mermaid {
    fn begin(&mut self, sequence: &Sequence, _: &mut String) {
        self.branches = sequence.branches.clone().unwrap_or_default();
        self.draws_all = sequence.thoughts <= WHOLE_THOUGHTS_MAX;
        self.forks = self.branches.iter().map(|it| it.fork.ordinal).collect();
    }

    fn thought(&mut self, thought: &Thought, _: &mut String) {
        let node = match self.label(thought) {
            Some(label) => Some(self.add_step(thought, label)),
            None => self.add_to_run(thought),
        };
        let (Some(node), Some(target)) = (node, &thought.revises) else {
            return;
        };
        self.correct(node, target, thought.rewind);
    }

    fn turn(&mut self, out: &mut String) -> Option<BranchName> {
        self.write(out);
        None
    }
}

impl Mermaid {
    /// Whether the graph says more than a line of steps would.
    pub(super) fn has_shape(&self) -> bool {
        !self.branches.is_empty() || self.edges.iter().any(|(_, label, _)| label.is_some())
    }

    /// The label of a step that gets a node of its own; none when it joins a run.
    fn label(&mut self, thought: &Thought) -> Option<String> {
        let makes_shape = self.draws_all
            || !self.lanes.contains_key(&thought.branch)
            || self.forks.contains(&thought.ordinal)
            || thought.revises.is_some()
            || thought.summarizes_through.is_some()
            || !thought.next_thought_needed;
        if !makes_shape || self.steps >= STEPS_MAX {
            return None;
        }
        let text = excerpt::line(&thought.text, EXCERPT_CHARACTERS);
        let label = encode(&format!("{} · {text}", thought.number));
        let characters = self.label_characters.saturating_add(label.chars().count());
        if characters > LABEL_CHARACTERS {
            return None;
        }
        self.label_characters = characters;
        Some(label)
    }

    fn add_step(&mut self, thought: &Thought, label: String) -> usize {
        self.steps = self.steps.saturating_add(1);
        let class = if thought.superseded {
            Some("superseded")
        } else if !thought.next_thought_needed {
            Some("conclusion")
        } else if thought.summarizes_through.is_some() {
            Some("summary")
        } else {
            None
        };
        self.add(thought, Kind::Step(label), class)
    }

    /// Joins the run at the end of the branch, or begins one. A branch that has no node yet is left out with its steps.
    fn add_to_run(&mut self, thought: &Thought) -> Option<usize> {
        let Some(last) = self
            .lanes
            .get(&thought.branch)
            .and_then(|lane| lane.path.last().copied())
        else {
            self.left_out = self.left_out.saturating_add(1);
            return None;
        };
        if let Some(node) = self.nodes.get_mut(last)
            && let Kind::Run(count, _, number) = &mut node.kind
            && (node.class == Some("superseded")) == thought.superseded
        {
            *count = count.saturating_add(1);
            *number = thought.number;
            node.last = thought.ordinal;
            return Some(last);
        }
        let class = if thought.superseded {
            "superseded"
        } else {
            "run"
        };
        let kind = Kind::Run(1, thought.number, thought.number);
        Some(self.add(thought, kind, Some(class)))
    }

    fn add(&mut self, thought: &Thought, kind: Kind, class: Option<&'static str>) -> usize {
        let node = self.nodes.len();
        let before = self.before(thought);
        self.nodes.push(Node {
            branch: thought.branch.clone(),
            first: thought.ordinal,
            last: thought.ordinal,
            kind,
            class,
        });
        if let Some(before) = before {
            self.edges.push((before, None, node));
        }
        let lane = self.lanes.entry(thought.branch.clone()).or_default();
        lane.path.push(node);
        node
    }

    /// The node that the thought follows: what a rewind sets aside is passed over, and a branch begins at its fork.
    fn before(&mut self, thought: &Thought) -> Option<usize> {
        if let Some(lane) = self.lanes.get_mut(&thought.branch) {
            let target = match &thought.revises {
                Some(target) if thought.rewind => target.ordinal,
                _ => u32::MAX,
            };
            while let Some(last) = lane.path.last() {
                if self.nodes.get(*last).is_none_or(|node| node.first < target) {
                    return Some(*last);
                }
                lane.path.pop();
            }
        }
        let branches = self.branches.iter();
        let fork = branches
            .filter(|branch| branch.name == thought.branch)
            .map(|branch| &branch.fork)
            .next()?;
        self.holding(fork)
    }

    /// The node that stands for a thought, alone or among others.
    fn holding(&self, place: &Place) -> Option<usize> {
        self.nodes.iter().position(|node| {
            node.branch == place.branch && (node.first..=node.last).contains(&place.ordinal)
        })
    }

    fn correct(&mut self, node: usize, target: &Place, is_rewind: bool) {
        let Some(corrected) = self.holding(target).filter(|it| *it != node) else {
            return;
        };
        let label = if is_rewind { "rewinds to" } else { "corrects" };
        let is_step = |it: usize| {
            let node = self.nodes.get(it);
            node.is_some_and(|node| matches!(node.kind, Kind::Step(_)))
        };
        if !is_step(node) {
            return;
        }
        let was_step = is_step(corrected);
        self.edges.push((node, Some(label), corrected));
        if let Some(corrected) = self.nodes.get_mut(corrected)
            && was_step
            && corrected.class.is_none()
        {
            corrected.class = Some("revised");
        }
    }

    pub(super) fn write(&self, out: &mut String) {
        out.push_str("flowchart TB\n  accTitle: Thinking process\n");
        self.write_nodes(&BranchName::main(), "  ", out);
        for (index, branch) in self.branches.iter().enumerate() {
            if !self.lanes.contains_key(&branch.name) {
                continue;
            }
            let name = encode(&excerpt::line(branch.name.as_str(), NAME_CHARACTERS));
            // Writing into a String cannot fail.
            let _ = writeln!(out, "  subgraph b{index}[\"{name}\"]");
            self.write_nodes(&branch.name, "    ", out);
            out.push_str("  end\n");
        }
        if self.left_out > 0 {
            let steps = steps(self.left_out);
            let _ = writeln!(out, "  more([\"… {steps} of further branches\"]):::run");
        }
        for (from, label, to) in &self.edges {
            let _ = match label {
                None => writeln!(out, "  n{from} --> n{to}"),
                Some(label) => writeln!(out, "  n{from} -. {label} .-> n{to}"),
            };
        }
        out.push_str(STYLES);
    }

    fn write_nodes(&self, branch: &BranchName, indent: &str, out: &mut String) {
        let nodes = self.nodes.iter().enumerate();
        for (index, node) in nodes.filter(|(_, node)| node.branch == *branch) {
            let _ = match &node.kind {
                Kind::Step(label) => write!(out, "{indent}n{index}[\"{label}\"]"),
                Kind::Run(1, number, _) => write!(out, "{indent}n{index}([\"{number}\"])"),
                Kind::Run(count, first, last) => write!(
                    out,
                    "{indent}n{index}([\"{first} … {last} · {}\"])",
                    steps(*count)
                ),
            };
            if let Some(class) = node.class {
                let _ = write!(out, ":::{class}");
            }
            out.push('\n');
        }
    }
}

fn steps(count: u32) -> String {
    match count {
        1 => "1 step".to_owned(),
        count => format!("{count} steps"),
    }
}

/// A label in which nothing has a meaning to Mermaid: characters that might have become its numbered entities.
fn encode(text: &str) -> String {
    let mut label = String::new();
    for character in text.chars() {
        match character {
            '"' | '#' | '&' | '<' | '>' | ';' | ':' | '%' | '`' | '{' | '}' | '[' | ']' | '\\'
            | '|' | '$' | '@' | '*' | '_' | '~' => {
                let _ = write!(label, "#{};", u32::from(character));
            }
            other => label.push(other),
        }
    }
    label
}

#[cfg(test)]
mod tests {
    use super::encode;

    #[test]
    fn a_label_says_nothing_to_mermaid() {
        assert_eq!(encode("a \"b\" #1"), "a #34;b#34; #35;1");
        assert_eq!(encode("思考 <b>"), "思考 #60;b#62;");
    }
}

//! The JSON document: everything of a process, so that it can be imported again, and no sequence id.
//!
//! The members are those of a history page, with two more: `forked`, the resolved thought that a branch begins at, and `check`,
//! the beginning of the SHA-256 of the object's other members, which tells damage and where it is. One thought stands on one
//! line. Reading a document back is left to [`read`].

pub mod read;

use std::fmt::Write;

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::clock::Timestamp;
use crate::page;
use crate::thought::{BranchName, Place};
use crate::view::export::Render;

pub const FORMAT: &str = "durable-thinking/sequence";
pub const VERSION: u32 = 1;
const CHECK_BYTES: usize = 4;

/// What is said of the process as a whole. All but the length is derived from the thoughts and never read back.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Sequence {
    pub title: String,
    pub completed: bool,
    pub thought_history_length: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_thought_number: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_thoughts: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Moment>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Moment>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branches: Option<Vec<Branch>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Branch {
    pub branch_id: BranchName,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_branch_id: Option<BranchName>,
    pub branch_from_thought: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fork_ordinal: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_thought_number: Option<u32>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub completed: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub hanging: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Thought {
    pub ordinal: u32,
    pub thought_number: u32,
    pub total_thoughts: u32,
    pub thought: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Moment>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch_id: Option<BranchName>,
    #[serde(skip_serializing_if = "is_yes")]
    pub next_thought_needed: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub needs_more_thoughts: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_revision: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revises_thought: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revised: Option<Target>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rewind: bool,
    /// Derived from later rewinds, and never read back.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub superseded: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch_from_thought: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forked: Option<Target>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summarizes_through: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
}

/// A reference resolved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Target {
    pub branch_id: BranchName,
    pub ordinal: u32,
}

/// A time, written as RFC 3339.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "String")]
pub struct Moment(pub Timestamp);

impl From<Moment> for String {
    fn from(moment: Moment) -> Self {
        moment.0.to_rfc3339()
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // the shape that serde wants
fn is_yes(value: &bool) -> bool {
    *value
}

/// The check of an object whose own `check` is absent.
fn check(object: &impl Serialize) -> String {
    let bytes = serde_json::to_vec(object).unwrap_or_default();
    let mut text = String::new();
    for byte in Sha256::digest(bytes).iter().take(CHECK_BYTES) {
        // Writing into a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

impl From<&page::Sequence> for Sequence {
    fn from(sequence: &page::Sequence) -> Self {
        let branches = sequence.branches.iter().flatten().map(|branch| Branch {
            branch_id: branch.name.clone(),
            parent_branch_id: Some(branch.fork.branch.clone()),
            branch_from_thought: branch.fork.number,
            fork_ordinal: Some(branch.fork.ordinal),
            last_thought_number: Some(branch.last_number),
            completed: branch.completed,
            hanging: branch.hanging,
        });
        let mut header = Self {
            title: sequence.title.clone(),
            completed: sequence.completed,
            thought_history_length: sequence.thoughts,
            last_thought_number: Some(sequence.last_number),
            total_thoughts: Some(sequence.total),
            created_at: Some(Moment(sequence.created_at)),
            updated_at: Some(Moment(sequence.written_at)),
            branches: Some(branches.collect()),
            origin: sequence.origin.clone(),
            check: None,
        };
        header.check = Some(check(&header));
        header
    }
}

impl From<&page::Thought> for Thought {
    fn from(thought: &page::Thought) -> Self {
        let target = |place: &Place| Target {
            branch_id: place.branch.clone(),
            ordinal: place.ordinal,
        };
        let (revises, fork) = (thought.revises.as_ref(), thought.branch_from.as_ref());
        let mut written = Self {
            ordinal: thought.ordinal,
            thought_number: thought.number,
            total_thoughts: thought.total,
            thought: thought.text.clone(),
            created_at: Some(Moment(thought.written_at)),
            branch_id: (!thought.branch.is_main()).then(|| thought.branch.clone()),
            next_thought_needed: thought.next_thought_needed,
            needs_more_thoughts: thought.needs_more_thoughts,
            is_revision: revises.is_some(),
            revises_thought: revises.map(|place| place.number),
            revised: revises.map(target),
            rewind: thought.rewind,
            superseded: thought.superseded,
            branch_from_thought: fork.map(|place| place.number),
            forked: fork.map(target),
            summarizes_through: thought.summarizes_through,
            check: None,
        };
        written.check = Some(check(&written));
        written
    }
}

/// Writes the document while its pages come.
#[derive(Debug, Default)]
pub struct Document {
    thoughts: u32,
}

impl Render for Document {
    fn begin(&mut self, sequence: &page::Sequence, out: &mut String) {
        let header = serde_json::to_string(&Sequence::from(sequence)).unwrap_or_default();
        let _ = write!(
            out,
            "{{\n\"format\": \"{FORMAT}\",\n\"version\": {VERSION},\n\"sequence\": {header},\n\"thoughts\": ["
        );
    }

    fn thought(&mut self, thought: &page::Thought, out: &mut String) {
        out.push_str(if self.thoughts == 0 { "\n" } else { ",\n" });
        self.thoughts = self.thoughts.saturating_add(1);
        out.push_str(&serde_json::to_string(&Thought::from(thought)).unwrap_or_default());
    }

    fn turn(&mut self, out: &mut String) -> Option<BranchName> {
        out.push_str("\n]\n}\n");
        None
    }
}

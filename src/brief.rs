//! What a brief tells: the facts of a process that a reader needs who has lost it. How they are worded is left to `view::brief`.

use serde::{Deserialize, Serialize};

use crate::page::BranchSummary;
use crate::thought::{BranchName, Place};

/// The facts, each list already cut to what the row budget of a brief allows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Brief {
    /// The first thought.
    pub goal: String,
    /// The branch whose path is told.
    pub branch: BranchName,
    pub is_complete: bool,
    /// The number of the branch's newest thought and its total.
    pub number: u32,
    pub total: u32,
    /// Stands for the steps of the path that it sums up.
    pub summary: Option<Summary>,
    /// Steps left out between the summary, or the start, and the first of `path`.
    pub omitted: u32,
    /// The live path, oldest first, each step in its newest version.
    pub path: Vec<Step>,
    pub ruled_out: Vec<RuledOut>,
    pub branches: Vec<Lane>,
    /// Branches that the list leaves out.
    pub branches_omitted: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    pub through: u32,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    pub branch: BranchName,
    pub number: u32,
    pub text: String,
    /// The number of the thought that holds this version, when it is not the first.
    pub revised_in: Option<u32>,
}

/// A thought that no longer holds, and what took its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuledOut {
    pub place: Place,
    pub text: String,
    /// The number of the thought that corrects it, and its text.
    pub by: u32,
    pub because: String,
    /// Thoughts that a rewind set aside with it, itself included.
    pub superseded: Option<u32>,
}

/// A branch beside the path, with its last step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lane {
    pub branch: BranchSummary,
    pub total: u32,
    pub last: String,
}

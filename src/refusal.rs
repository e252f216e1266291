//! What a tool call can be refused with: one table of codes, each with its class and what a caller may do.

use serde::{Deserialize, Serialize};

/// A refusal of a tool call, worded for the model that made it. Displays as the whole text of the error result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{}: {message}\nclass: {} · retry: {}", .code.name(), .code.class().name(), .code.retry().name())]
pub struct Refusal {
    pub code: Code,
    pub message: String,
}

impl Refusal {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }

    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidInput, message)
    }

    /// A fault that room would mend: the owner's to make, and the log tells it to the owner.
    pub fn storage_full(request_id: &str) -> Self {
        Self::new(
            Code::StorageFull,
            format!(
                "the store has no room left and nothing was written; all that it holds can still be read and deleted (request {request_id})"
            ),
        )
    }

    /// A fault of ours: the log has the cause under the request id, the caller has only this.
    pub fn unavailable(request_id: &str) -> Self {
        Self::new(
            Code::Unavailable,
            format!(
                "the store could not be reached; nothing was lost. Repeat the call in a moment (request {request_id})"
            ),
        )
    }
}

/// Every code of a tool error. The names are a contract with clients and never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    InvalidInput,
    ThoughtTooLong,
    BranchIdRequired,
    RevisionTargetRequired,
    SequenceNotFound,
    BranchNotFound,
    BranchPointNotFound,
    RevisionTargetNotFound,
    SummaryTargetNotFound,
    RevisionTargetSuperseded,
    BranchConflict,
    CursorInvalid,
    RevisionLimit,
    BranchLimit,
    SequenceFull,
    ImportInvalid,
    StorageFull,
    Unavailable,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Input,
    NotFound,
    Conflict,
    Limit,
    Unavailable,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    Never,
    FixInput,
    Later,
}

impl Code {
    pub const ALL: [Self; 18] = [
        Self::InvalidInput,
        Self::ThoughtTooLong,
        Self::BranchIdRequired,
        Self::RevisionTargetRequired,
        Self::SequenceNotFound,
        Self::BranchNotFound,
        Self::BranchPointNotFound,
        Self::RevisionTargetNotFound,
        Self::SummaryTargetNotFound,
        Self::RevisionTargetSuperseded,
        Self::BranchConflict,
        Self::CursorInvalid,
        Self::RevisionLimit,
        Self::BranchLimit,
        Self::SequenceFull,
        Self::ImportInvalid,
        Self::StorageFull,
        Self::Unavailable,
    ];

    /// The table: name, class, retry, and what the code means for whoever reads the documentation.
    #[allow(clippy::too_many_lines)] // a table, one line for each code
    const fn row(self) -> (&'static str, Class, Retry, &'static str) {
        use Class::{Conflict, Input, Limit, NotFound, Unavailable};
        use Retry::{FixInput, Later, Never};
        match self {
            Self::InvalidInput => (
                "invalid_input",
                Input,
                FixInput,
                "An argument is missing, of the wrong kind or out of range, or two arguments contradict each other.",
            ),
            Self::ThoughtTooLong => (
                "thought_too_long",
                Input,
                FixInput,
                "The thought has more characters than the server stores in one.",
            ),
            Self::BranchIdRequired => (
                "branch_id_required",
                Input,
                FixInput,
                "branchFromThought was given without a branchId other than main.",
            ),
            Self::RevisionTargetRequired => (
                "revision_target_required",
                Input,
                FixInput,
                "isRevision was true and revisesThought was missing.",
            ),
            Self::SequenceNotFound => (
                "sequence_not_found",
                NotFound,
                Never,
                "No sequence has this id: it was deleted, it expired, or it was never made here.",
            ),
            Self::BranchNotFound => (
                "branch_not_found",
                NotFound,
                FixInput,
                "The sequence has no branch of this name.",
            ),
            Self::BranchPointNotFound => (
                "branch_point_not_found",
                NotFound,
                FixInput,
                "The thought to branch from does not exist where the branch would begin.",
            ),
            Self::RevisionTargetNotFound => (
                "revision_target_not_found",
                NotFound,
                FixInput,
                "The thought to revise is not visible from the branch.",
            ),
            Self::SummaryTargetNotFound => (
                "summary_target_not_found",
                NotFound,
                FixInput,
                "summarizesThrough names no active thought of the branch before this one.",
            ),
            Self::RevisionTargetSuperseded => (
                "revision_target_superseded",
                Conflict,
                FixInput,
                "The thought to revise was set aside by a rewind.",
            ),
            Self::BranchConflict => (
                "branch_conflict",
                Conflict,
                FixInput,
                "The branch exists and began elsewhere.",
            ),
            Self::CursorInvalid => (
                "cursor_invalid",
                Input,
                FixInput,
                "The cursor is damaged, or belongs to another sequence, branch, order or view.",
            ),
            Self::RevisionLimit => (
                "revision_limit",
                Limit,
                FixInput,
                "The thought has been revised as often as the server allows.",
            ),
            Self::BranchLimit => (
                "branch_limit",
                Limit,
                FixInput,
                "The sequence has as many branches as a sequence may have.",
            ),
            Self::SequenceFull => (
                "sequence_full",
                Limit,
                Never,
                "The sequence has as many thoughts as a sequence may have.",
            ),
            Self::ImportInvalid => (
                "import_invalid",
                Input,
                FixInput,
                "The document to import is damaged; nothing of it was stored.",
            ),
            Self::StorageFull => (
                "storage_full",
                Limit,
                Later,
                "The store has no room left. Reading and deleting still work.",
            ),
            Self::Unavailable => (
                "unavailable",
                Unavailable,
                Later,
                "The store could not be reached. Nothing was lost; the same call may be repeated.",
            ),
        }
    }

    pub const fn name(self) -> &'static str {
        self.row().0
    }

    pub const fn class(self) -> Class {
        self.row().1
    }

    pub const fn retry(self) -> Retry {
        self.row().2
    }

    pub const fn meaning(self) -> &'static str {
        self.row().3
    }
}

impl Class {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::NotFound => "not_found",
            Self::Conflict => "conflict",
            Self::Limit => "limit",
            Self::Unavailable => "unavailable",
        }
    }
}

impl Retry {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::FixInput => "fix_input",
            Self::Later => "later",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{Code, Refusal};

    #[test]
    fn names_are_one_truth() {
        let mut seen = HashSet::new();
        for code in Code::ALL {
            assert!(seen.insert(code.name()));
            assert_eq!(serde_json::to_value(code).unwrap(), code.name());
        }
    }

    #[test]
    fn the_text_says_everything() {
        let error = Refusal::new(Code::BranchNotFound, "no branch is called x");
        assert_eq!(
            error.to_string(),
            "branch_not_found: no branch is called x\nclass: not_found · retry: fix_input"
        );
    }
}

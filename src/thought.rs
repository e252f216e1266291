//! Thoughts as values: what a caller asks to append, and what an append answers.
//!
//! These values cross from the Worker to the object: `wire` says what a change of their fields asks for.
//! Which thought a number means is left to `graph`; how rows look, to the store.

use serde::{Deserialize, Serialize};

use crate::sequence_id::SequenceId;
use crate::wire;

pub const NUMBER_MAX: u32 = 1_000_000;
pub const BRANCH_NAME_CHARACTERS_MAX: usize = 128;
/// Branches of one sequence beside `main`.
pub const BRANCHES_MAX: u32 = 500;
/// Ordinals fit into 22 bits of a row's key.
pub const THOUGHTS_MAX: u32 = (1 << 22) - 1;
pub const MAIN: &str = "main";

/// The name of a branch: trimmed, 1 to 128 characters, none of which could forge a line of a text result.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BranchName(String);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadBranchName {
    #[error("is blank; a branch name has 1 to {BRANCH_NAME_CHARACTERS_MAX} characters")]
    Blank,
    #[error("has {0} characters; a branch name has 1 to {BRANCH_NAME_CHARACTERS_MAX}")]
    Long(usize),
    #[error("holds a control character or a line break; a branch name is one line of text")]
    Control,
}

impl BranchName {
    pub fn main() -> Self {
        Self(MAIN.to_owned())
    }

    pub fn parse(text: &str) -> Result<Self, BadBranchName> {
        let text = text.trim();
        let characters = text.chars().count();
        if characters == 0 {
            return Err(BadBranchName::Blank);
        }
        if characters > BRANCH_NAME_CHARACTERS_MAX {
            return Err(BadBranchName::Long(characters));
        }
        if text
            .chars()
            .any(|character| character.is_control() || matches!(character, '\u{2028}' | '\u{2029}'))
        {
            return Err(BadBranchName::Control);
        }
        Ok(Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn is_main(&self) -> bool {
        self.0 == MAIN
    }
}

impl std::fmt::Display for BranchName {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.0)
    }
}

impl TryFrom<String> for BranchName {
    type Error = BadBranchName;

    fn try_from(text: String) -> Result<Self, BadBranchName> {
        // Most names that cross the wire.
        if text == MAIN {
            return Ok(Self(text));
        }
        Self::parse(&text)
    }
}

impl From<BranchName> for String {
    fn from(name: BranchName) -> Self {
        name.0
    }
}

/// A thought to append, with everything about it that can be judged without the store already judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Draft {
    pub sequence_id: SequenceId,
    /// The caller gave no id: `sequence_id` was minted for this call and names a sequence to create.
    pub is_first: bool,
    /// Minted with the call. The store keeps it, so that the same call arriving twice is one write.
    #[serde(with = "wire::bytes")]
    pub call_id: [u8; 16],
    pub text: String,
    pub number: u32,
    pub total: u32,
    pub next_thought_needed: bool,
    pub needs_more_thoughts: bool,
    pub branch: BranchName,
    pub branch_from_thought: Option<u32>,
    pub branch_from_branch: Option<BranchName>,
    pub revises_thought: Option<u32>,
    pub rewind: bool,
    pub summarizes_through: Option<u32>,
}

/// Where a thought lies: the target of a revision, the point that a branch begins at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    pub branch: BranchName,
    pub ordinal: u32,
    pub number: u32,
}

/// A branch as the thoughts on it need to know it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Branch {
    pub name: BranchName,
    /// 0 for `main`, then 1, 2, … in the order of creation.
    pub index: u32,
    /// The thought that it begins at; `main` has none.
    pub fork: Option<Place>,
}

/// The answer to an append. A repeated call is answered from the stored row with the same values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Appended {
    pub sequence_id: SequenceId,
    pub ordinal: u32,
    pub number: u32,
    pub total: u32,
    /// Thoughts stored in the whole sequence when this was answered.
    pub thoughts: u32,
    pub branch: Branch,
    /// Branches beside `main` when this was answered.
    pub branches: u32,
    /// This very call named the thought that its branch begins at.
    pub forks: bool,
    pub revised: Option<Place>,
    /// Thoughts that a rewind set aside.
    pub superseded: Option<u32>,
    pub summarizes_through: Option<u32>,
    /// Thousandths of the way along the active path.
    pub progress_permille: u32,
    /// The sequence is complete, which is to say that `main` is.
    pub completed: bool,
    /// As the caller said, unless the loop guard ended the chain.
    pub next_thought_needed: bool,
    pub ended_by_guard: bool,
    pub warnings: Vec<Warning>,
}

/// Something that the caller should know about an append that succeeded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    pub code: WarningCode,
    pub message: String,
}

/// The bit of each code in a stored row is its place in [`WarningCode::ALL`]: append only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WarningCode {
    Reopened,
    NumberReused,
    Deduplicated,
    LongThought,
    ManyRevisions,
    PossibleLostSequence,
    EarlyFinish,
    LoopGuard,
    SummaryDue,
}

impl WarningCode {
    pub const ALL: [Self; 9] = [
        Self::Reopened,
        Self::NumberReused,
        Self::Deduplicated,
        Self::LongThought,
        Self::ManyRevisions,
        Self::PossibleLostSequence,
        Self::EarlyFinish,
        Self::LoopGuard,
        Self::SummaryDue,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Reopened => "reopened",
            Self::NumberReused => "number_reused",
            Self::Deduplicated => "deduplicated",
            Self::LongThought => "long_thought",
            Self::ManyRevisions => "many_revisions",
            Self::PossibleLostSequence => "possible_lost_sequence",
            Self::EarlyFinish => "early_finish",
            Self::LoopGuard => "loop_guard",
            Self::SummaryDue => "summary_due",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BadBranchName, BranchName, WarningCode};

    #[track_caller]
    fn check(text: &str, expected: Result<&str, BadBranchName>) {
        assert_eq!(
            BranchName::parse(text).as_ref().map(BranchName::as_str),
            expected.as_ref().copied()
        );
    }

    #[test]
    fn branch_names_are_one_line_of_text() {
        check(" main ", Ok("main"));
        check("__proto__", Ok("__proto__"));
        check("constructor", Ok("constructor"));
        check("方案 B", Ok("方案 B"));
        check("\u{3000}", Err(BadBranchName::Blank));
        check("a\nb", Err(BadBranchName::Control));
        check("a\u{2028}b", Err(BadBranchName::Control));
        check("a\u{0}b", Err(BadBranchName::Control));
        check(&"é".repeat(128), Ok(&"é".repeat(128)));
        check(&"é".repeat(129), Err(BadBranchName::Long(129)));
    }

    #[test]
    fn warning_names_are_one_truth() {
        for code in WarningCode::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.name());
        }
    }
}

//! Pages of a history: what is asked for, what comes back, and the cursor between two pages.
//!
//! Reading the rows is left to the store; the shape that a client sees, to the tool.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use crate::brief::Brief;
use crate::clock::Timestamp;
use crate::seal::{self, DIGEST_BYTES, Keys};
use crate::sequence_id::SequenceId;
use crate::thought::{BranchName, Place};

pub const LIMIT_MAX: u32 = 100;
pub const LIMIT_DEFAULT: u32 = 50;
pub const CHARACTERS_MAX: u32 = 250_000;
pub const CHARACTERS_DEFAULT: u32 = 30_000;
/// A result above 1 MB is refused by some clients; each text stands twice in one.
const RESULT_BYTES_MAX: usize = 880_000;
/// What one thought costs beside its text: marks, punctuation and up to six names, in the text and in the structure.
const THOUGHT_OVERHEAD_BYTES: usize = 3_000;
/// What one branch costs in the list of branches beside the two names in it.
const BRANCH_OVERHEAD_BYTES: usize = 300;

const CURSOR_VERSION: u8 = 1;
const CURSOR_BYTES: usize = 9 + DIGEST_BYTES;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum View {
    All,
    Active,
    BranchPath,
    Brief,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    Asc,
    Desc,
}

/// A page to read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Query {
    pub sequence_id: SequenceId,
    pub view: View,
    pub order: Order,
    pub branch: Option<BranchName>,
    pub limit: u32,
    pub characters_max: u32,
    pub cursor: Option<String>,
}

/// What is known of a sequence as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sequence {
    pub sequence_id: SequenceId,
    pub title: String,
    pub completed: bool,
    pub thoughts: u32,
    pub last_number: u32,
    pub total: u32,
    pub created_at: Timestamp,
    pub written_at: Timestamp,
    /// On the first page only.
    pub branches: Option<Vec<BranchSummary>>,
    /// Where an imported sequence came from.
    pub origin: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchSummary {
    pub name: BranchName,
    pub fork: Place,
    pub last_number: u32,
    pub completed: bool,
    /// The thought that it begins at was set aside, or lies on a branch that hangs.
    pub hanging: bool,
}

/// A stored thought as it is read back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thought {
    pub ordinal: u32,
    pub number: u32,
    pub total: u32,
    pub text: String,
    pub written_at: Timestamp,
    pub branch: BranchName,
    pub next_thought_needed: bool,
    pub needs_more_thoughts: bool,
    pub revises: Option<Place>,
    pub rewind: bool,
    pub superseded: bool,
    /// On the call that named it.
    pub branch_from: Option<Place>,
    pub summarizes_through: Option<u32>,
}

/// The answer to a [`Query`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    pub sequence: Sequence,
    pub thoughts: Vec<Thought>,
    pub next_cursor: Option<String>,
    /// In the view `brief`, instead of thoughts.
    pub brief: Option<Brief>,
}

/// The room that is left on a page.
#[derive(Debug)]
pub struct Budget {
    thoughts: u32,
    characters: u32,
    bytes: usize,
    is_empty: bool,
}

impl Budget {
    pub fn new(query: &Query) -> Self {
        Self {
            thoughts: query.limit,
            characters: query.characters_max,
            bytes: RESULT_BYTES_MAX,
            is_empty: true,
        }
    }

    /// Keeps room for the list of branches.
    pub fn reserve(&mut self, branches: &[BranchSummary]) {
        for branch in branches {
            let names = [&branch.name, &branch.fork.branch];
            let names: usize = names.map(|name| escaped_bytes(name.as_str())).iter().sum();
            let bytes = names
                .saturating_mul(2)
                .saturating_add(BRANCH_OVERHEAD_BYTES);
            self.bytes = self.bytes.saturating_sub(bytes);
        }
    }

    pub fn thoughts(&self) -> u32 {
        self.thoughts
    }

    /// Takes room for `text`; false when the page must end before it. The first thought always fits, so every page moves on.
    pub fn take(&mut self, text: &str) -> bool {
        let (characters, bytes) = (weight(text), result_bytes(text));
        if !self.is_empty && (characters > self.characters || bytes > self.bytes) {
            return false;
        }
        self.is_empty = false;
        self.thoughts = self.thoughts.saturating_sub(1);
        self.characters = self.characters.saturating_sub(characters);
        self.bytes = self.bytes.saturating_sub(bytes);
        true
    }
}

/// Characters as a budget counts them: wide ones twice, since a model pays about two tokens for them.
pub fn weight(text: &str) -> u32 {
    text.chars()
        .map(|character| if is_wide(character) { 2 } else { 1 })
        .fold(0, u32::saturating_add)
}

fn is_wide(character: char) -> bool {
    matches!(u32::from(character),
        0x1100..=0x115f | 0x2e80..=0x303e | 0x3041..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff
        | 0xfe30..=0xfe4f | 0xff00..=0xff60 | 0xffe0..=0xffe6 | 0x1_f300..=0x1_faff | 0x2_0000..=0x3_fffd)
}

/// A text stands twice in a result.
fn result_bytes(text: &str) -> usize {
    escaped_bytes(text)
        .saturating_mul(2)
        .saturating_add(THOUGHT_OVERHEAD_BYTES)
}

/// Bytes of a text in JSON.
fn escaped_bytes(text: &str) -> usize {
    text.chars()
        .map(|character| match character {
            '"' | '\\' | '\n' | '\r' | '\t' => 2,
            control if u32::from(control) < 0x20 => 6,
            other => other.len_utf8(),
        })
        .sum()
}

/// A cursor that this server did not make for this query. Says nothing of why: it is a credential of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "this cursor does not belong to this query. Use a cursor only with the sequence, order, branch and view of the page that gave it, unchanged; or leave it out to begin again"
)]
pub struct BadCursor;

/// Where a page ended: the last key on it, and the newest thought that the walk may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    pub last: u32,
    pub newest: u32,
}

impl Cursor {
    pub fn render(self, keys: &Keys, query: &Query) -> String {
        let body = self.body();
        let mut bytes = body.to_vec();
        bytes.extend(tag(keys, query, &body));
        URL_SAFE_NO_PAD.encode(bytes)
    }

    pub fn parse(text: &str, keys: &Keys, query: &Query) -> Result<Self, BadCursor> {
        let bytes = URL_SAFE_NO_PAD.decode(text.trim()).map_err(|_| BadCursor)?;
        if bytes.len() != CURSOR_BYTES {
            return Err(BadCursor);
        }
        let (body, given) = bytes.split_first_chunk::<9>().ok_or(BadCursor)?;
        let (version, keys_at) = body.split_first().ok_or(BadCursor)?;
        if *version != CURSOR_VERSION || !seal::equal(given, &tag(keys, query, body)) {
            return Err(BadCursor);
        }
        let (last, newest) = keys_at.split_first_chunk::<4>().ok_or(BadCursor)?;
        Ok(Self {
            last: u32::from_be_bytes(*last),
            newest: u32::from_be_bytes(newest.try_into().map_err(|_| BadCursor)?),
        })
    }

    fn body(self) -> [u8; 9] {
        let mut body = [CURSOR_VERSION; 9];
        let numbers = self
            .last
            .to_be_bytes()
            .into_iter()
            .chain(self.newest.to_be_bytes());
        for (to, from) in body.iter_mut().skip(1).zip(numbers) {
            *to = from;
        }
        body
    }
}

/// Binds the cursor to the sequence (by its key), the order, the view and the branch.
fn tag(keys: &Keys, query: &Query, body: &[u8]) -> [u8; DIGEST_BYTES] {
    let order = match query.order {
        Order::Asc => b"asc".as_slice(),
        Order::Desc => b"desc",
    };
    let view = match query.view {
        View::All => b"all".as_slice(),
        View::Active => b"active",
        View::BranchPath => b"branch_path",
        View::Brief => b"brief",
    };
    let branch = query.branch.as_ref().map_or("", BranchName::as_str);
    keys.cursor_tag(&[body, order, view, branch.as_bytes()])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{BadCursor, Budget, Cursor, Order, Query, View, weight};
    use crate::seal::Keys;
    use crate::sequence_id::SequenceId;
    use crate::thought::BranchName;

    fn query(view: View, order: Order, branch: Option<&str>) -> Query {
        Query {
            sequence_id: SequenceId::new([1; 16]),
            view,
            order,
            branch: branch.map(|name| BranchName::parse(name).unwrap()),
            limit: 3,
            characters_max: 10,
            cursor: None,
        }
    }

    proptest! {
        #[test]
        fn a_cursor_serves_its_own_query_alone(last: u32, newest: u32, at: prop::sample::Index) {
            let keys = Keys::derive(&SequenceId::new([1; 16]));
            let own = query(View::All, Order::Asc, None);
            let cursor = Cursor { last, newest };
            let text = cursor.render(&keys, &own);
            prop_assert_eq!(Cursor::parse(&text, &keys, &own), Ok(cursor));
            for other in [
                query(View::Active, Order::Asc, None),
                query(View::All, Order::Desc, None),
                query(View::All, Order::Asc, Some("b")),
            ] {
                prop_assert_eq!(Cursor::parse(&text, &keys, &other), Err(BadCursor));
            }
            let stranger = Keys::derive(&SequenceId::new([2; 16]));
            prop_assert_eq!(Cursor::parse(&text, &stranger, &own), Err(BadCursor));
            let mut damaged = text.clone().into_bytes();
            let at = at.index(damaged.len());
            damaged[at] = if damaged[at] == b'A' { b'B' } else { b'A' };
            prop_assert_eq!(Cursor::parse(std::str::from_utf8(&damaged).unwrap(), &keys, &own), Err(BadCursor));
        }
    }

    #[test]
    fn malformed_cursors_are_refused() {
        let keys = Keys::derive(&SequenceId::new([1; 16]));
        let own = query(View::All, Order::Asc, None);
        for text in [
            "",
            "5",
            "null",
            "AAAA",
            "====",
            "\u{1f600}",
            &"A".repeat(10_000),
        ] {
            assert_eq!(Cursor::parse(text, &keys, &own), Err(BadCursor), "{text}");
        }
    }

    #[test]
    fn a_page_takes_the_first_thought_whatever_its_size() {
        let mut budget = Budget::new(&query(View::All, Order::Asc, None));
        assert!(budget.take(&"x".repeat(50)));
        assert!(!budget.take("y"));
        let mut budget = Budget::new(&query(View::All, Order::Asc, None));
        assert!(budget.take("12345") && budget.take("12345") && !budget.take("1"));
        assert_eq!(budget.thoughts(), 1);
    }

    #[test]
    fn wide_characters_weigh_two() {
        assert_eq!(weight("ab"), 2);
        assert_eq!(weight("思考"), 4);
        assert_eq!(weight("é\u{1f600}한"), 5);
    }
}

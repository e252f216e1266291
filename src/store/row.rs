//! Rows as values: the column lists, and how each row is read. A row that does not decode is a fault of ours.

use crate::clock::Timestamp;
use crate::database::{Column, DatabaseError, Row, Value};
use crate::graph::Node;
use crate::seal::DIGEST_BYTES;

/// Ordinals take the low 22 bits of a thought's key, so one key finds a thought and a range finds a sequence.
pub(crate) const ORDINAL_BITS: u32 = 22;

/// The key of a thought's row. Sequences stay below 2^31, so keys stay within what a Durable Object holds exactly.
pub(crate) fn place(sequence: i64, ordinal: u32) -> i64 {
    (sequence << ORDINAL_BITS) | i64::from(ordinal)
}

pub(crate) fn ordinal(place: i64) -> u32 {
    u32::try_from(place & ((1 << ORDINAL_BITS) - 1)).unwrap_or_default()
}

/// A thought's row without its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub ordinal: u32,
    pub branch: u32,
    pub number: u32,
    pub total: u32,
    pub position: u32,
    pub stretch: u32,
    pub steps: u32,
    pub created_at: Timestamp,
    pub repeat_match: [u8; DIGEST_BYTES],
    pub next_needed: bool,
    pub finished: bool,
    pub needs_more: bool,
    pub forks: bool,
    pub revises: Option<Revises>,
    pub rewind: bool,
    pub superseded: Option<u32>,
    pub summarizes_through: Option<u32>,
    pub summarized: u32,
    pub warnings: u32,
    pub largest_total: u32,
    pub open_branches: u32,
    pub main_finished: bool,
    pub rewinds: u32,
    /// How many thoughts the trunk has; none while this one belongs to it.
    pub trunk: Option<u32>,
}

/// The resolved target of a revision, and its place in the chain of revisions of one thought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Revises {
    pub branch: u32,
    pub ordinal: u32,
    pub number: u32,
    pub root: u32,
    pub index: u32,
}

pub(crate) const STEP_COLUMNS: &str = "place, branch, number, total, position, stretch, steps, created_at, repeat_match, next_needed, \
     finished, needs_more, forks, revises_branch, revises_ordinal, revises_number, revises_root, revision_index, rewind, \
     superseded, summarizes_through, summarized, warnings, largest_total, open_branches, main_finished, rewinds, trunk";

impl Step {
    pub(crate) fn node(&self) -> Node {
        Node {
            ordinal: self.ordinal,
            branch: self.branch,
            number: self.number,
            position: self.position,
            stretch: self.stretch,
        }
    }

    /// How many thoughts the trunk has after this one.
    pub(crate) fn trunk_length(&self) -> u32 {
        self.trunk.unwrap_or(self.ordinal)
    }

    /// Reads the columns of [`STEP_COLUMNS`] and leaves the row at what follows them.
    pub(crate) fn read(row: &mut Row) -> Result<Self, DatabaseError> {
        let mut read = |column| number(row, column);
        let ordinal = ordinal(read_integer(&mut read, "place")?);
        let branch = small(read("branch")?)?;
        let number_ = small(read("number")?)?;
        let total = small(read("total")?)?;
        let position = small(read("position")?)?;
        let stretch = small(read("stretch")?)?;
        let steps = small(read("steps")?)?;
        let created_at = Timestamp::from_milliseconds(read("created_at")?.unsigned_abs());
        let repeat_match = row
            .blob(Column("thought", "repeat_match"))?
            .try_into()
            .map_err(|_| DatabaseError::Corrupt("repeat_match of thought has another length"))?;
        let next_needed = row.flag(Column("thought", "next_needed"))?;
        let finished = row.flag(Column("thought", "finished"))?;
        let needs_more = row.flag(Column("thought", "needs_more"))?;
        let forks = row.flag(Column("thought", "forks"))?;
        let revises = Revises::read(row)?;
        let rewind = row.flag(Column("thought", "rewind"))?;
        let superseded = optional_small(row, "superseded")?;
        let summarizes_through = optional_small(row, "summarizes_through")?;
        let mut read = |column| number(row, column).and_then(small);
        let (summarized, warnings) = (read("summarized")?, read("warnings")?);
        let (largest_total, open_branches) = (read("largest_total")?, read("open_branches")?);
        let main_finished = read("main_finished")? == 1;
        let rewinds = read("rewinds")?;
        Ok(Self {
            ordinal,
            branch,
            number: number_,
            total,
            position,
            stretch,
            steps,
            created_at,
            repeat_match,
            next_needed,
            finished,
            needs_more,
            forks,
            revises,
            rewind,
            superseded,
            summarizes_through,
            summarized,
            warnings,
            largest_total,
            open_branches,
            main_finished,
            rewinds,
            trunk: optional_small(row, "trunk")?,
        })
    }

    /// What [`STEP_COLUMNS`] hold; null also for a 0 that is the column's default.
    pub(crate) fn values(&self, sequence: i64) -> [(&'static str, Value); 28] {
        let revises = self.revises;
        [
            ("place", place(sequence, self.ordinal).into()),
            ("branch", unless_zero(self.branch)),
            ("number", self.number.into()),
            ("total", self.total.into()),
            ("position", self.position.into()),
            ("stretch", unless_zero(self.stretch)),
            ("steps", self.steps.into()),
            ("created_at", milliseconds(self.created_at)),
            ("repeat_match", self.repeat_match.as_slice().into()),
            ("next_needed", self.next_needed.into()),
            ("finished", unless_zero(self.finished)),
            ("needs_more", unless_zero(self.needs_more)),
            ("forks", unless_zero(self.forks)),
            (
                "revises_branch",
                revises.map(|revises| revises.branch).into(),
            ),
            (
                "revises_ordinal",
                revises.map(|revises| revises.ordinal).into(),
            ),
            (
                "revises_number",
                revises.map(|revises| revises.number).into(),
            ),
            ("revises_root", revises.map(|revises| revises.root).into()),
            (
                "revision_index",
                revises.map(|revises| revises.index).into(),
            ),
            ("rewind", unless_zero(self.rewind)),
            ("superseded", self.superseded.into()),
            ("summarizes_through", self.summarizes_through.into()),
            ("summarized", unless_zero(self.summarized)),
            ("warnings", unless_zero(self.warnings)),
            ("largest_total", self.largest_total.into()),
            ("open_branches", unless_zero(self.open_branches)),
            ("main_finished", unless_zero(self.main_finished)),
            ("rewinds", unless_zero(self.rewinds)),
            ("trunk", self.trunk.into()),
        ]
    }
}

impl Revises {
    fn read(row: &mut Row) -> Result<Option<Self>, DatabaseError> {
        let branch = optional_small(row, "revises_branch")?;
        let ordinal = optional_small(row, "revises_ordinal")?;
        let number = optional_small(row, "revises_number")?;
        let root = optional_small(row, "revises_root")?;
        let index = optional_small(row, "revision_index")?;
        match (branch, ordinal, number, root, index) {
            (None, None, None, None, None) => Ok(None),
            (Some(branch), Some(ordinal), Some(number), Some(root), Some(index)) => {
                Ok(Some(Self {
                    branch,
                    ordinal,
                    number,
                    root,
                    index,
                }))
            }
            _ => Err(DatabaseError::Corrupt("a thought holds half a revision")),
        }
    }
}

/// A sequence's row.
#[derive(Clone, Debug)]
pub(crate) struct SequenceRow {
    pub sequence: i64,
    pub title: Vec<u8>,
    pub origin: Option<Vec<u8>>,
    pub created_at: Timestamp,
    /// Older than the truth, if the sequence went on; never younger.
    pub written_at: Timestamp,
    /// How many branches there are beside `main`: they are numbered without gaps.
    pub branches: u32,
}

/// With names that no column of a thought has.
pub(crate) const SEQUENCE_COLUMNS: &str = "sequence.sequence as id, title, origin, created_at as begun, written_at, \
     (select branch from branch where branch.sequence = sequence.sequence order by branch desc limit 1)";

impl SequenceRow {
    pub(crate) fn read(row: &mut Row) -> Result<Self, DatabaseError> {
        Ok(Self {
            sequence: row.integer(Column("sequence", "sequence"))?,
            title: row.blob(Column("sequence", "title"))?,
            origin: row.optional_blob(Column("sequence", "origin"))?,
            created_at: Timestamp::from_milliseconds(
                row.integer(Column("sequence", "created_at"))?
                    .unsigned_abs(),
            ),
            written_at: Timestamp::from_milliseconds(
                row.integer(Column("sequence", "written_at"))?
                    .unsigned_abs(),
            ),
            branches: row
                .optional_integer(Column("branch", "branch"))?
                .map(small)
                .transpose()?
                .unwrap_or_default(),
        })
    }
}

/// A branch's row.
#[derive(Clone, Debug)]
pub(crate) struct BranchRow {
    pub branch: u32,
    pub name: Vec<u8>,
    pub parent: u32,
    pub fork_ordinal: u32,
    pub fork_number: u32,
}

pub(crate) const BRANCH_COLUMNS: &str = "branch, name, parent, fork_ordinal, fork_number";

impl BranchRow {
    pub(crate) fn read(row: &mut Row) -> Result<Self, DatabaseError> {
        Ok(Self {
            branch: small(row.integer(Column("branch", "branch"))?)?,
            name: row.blob(Column("branch", "name"))?,
            parent: small(row.integer(Column("branch", "parent"))?)?,
            fork_ordinal: small(row.integer(Column("branch", "fork_ordinal"))?)?,
            fork_number: small(row.integer(Column("branch", "fork_number"))?)?,
        })
    }
}

fn unless_zero(value: impl Into<u32>) -> Value {
    match value.into() {
        0 => Value::Null,
        value => value.into(),
    }
}

/// A time within 2^53, which [`Timestamp`] keeps to.
pub(crate) fn milliseconds(time: Timestamp) -> Value {
    Value::Integer(i64::try_from(time.milliseconds()).unwrap_or(i64::MAX))
}

pub(crate) fn small(value: i64) -> Result<u32, DatabaseError> {
    u32::try_from(value).map_err(|_| DatabaseError::Corrupt("an integer is out of range"))
}

fn number(row: &mut Row, column: &'static str) -> Result<i64, DatabaseError> {
    row.integer(Column("thought", column))
}

fn read_integer(
    read: &mut impl FnMut(&'static str) -> Result<i64, DatabaseError>,
    column: &'static str,
) -> Result<i64, DatabaseError> {
    read(column)
}

fn optional_small(row: &mut Row, column: &'static str) -> Result<Option<u32>, DatabaseError> {
    row.optional_integer(Column("thought", column))?
        .map(small)
        .transpose()
}

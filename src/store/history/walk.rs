//! The walk along a sequence: by ordinal through all branches or one, or by position along the path of a branch.
//!
//! A walk goes on from a key, never from a count of rows passed over, so that each portion costs what it returns.

use crate::database::{Column, Database, DatabaseError, Row, Value};
use crate::graph::{Facts, MAIN};
use crate::page::{Cursor, View};
use crate::refusal::{Code, Refusal};
use crate::seal::Keys;
use crate::store::Error;
use crate::store::facts::Sequence;
use crate::store::history::{Reader, Sealed};
use crate::store::row::{STEP_COLUMNS, Step, place};
use crate::thought::{BranchName, THOUGHTS_MAX};

/// Rows read at a time: texts may be long, and a page may end after the first.
const PORTION: u32 = 16;

pub(super) struct Walk {
    way: Way,
    ascending: bool,
    /// The key at which the page before ended.
    start: Option<u32>,
    last: Option<u32>,
    /// The newest thought that the walk may see.
    newest: u32,
}

enum Way {
    /// Keys are ordinals.
    All,
    Branch(u32),
    /// Keys are positions. Segments from `main` to the branch itself.
    Path(Vec<Segment>),
}

/// The part of a path that lies on one branch: the newest thoughts, not newer than `newest`, at `above` < position ≤ `top`.
pub(in crate::store) struct Segment {
    pub branch: u32,
    pub above: u32,
    pub top: u32,
    pub newest: u32,
}

/// A condition for rows, with its parameters.
struct Range {
    condition: &'static str,
    params: Vec<Value>,
}

impl Walk {
    pub(super) fn open<D: Database>(
        reader: &Reader<'_, D>,
        cursor: Option<Cursor>,
    ) -> Result<Self, Error> {
        let sequence = reader.sequence;
        let branch = named_branch(sequence, reader.keys, reader.query.branch.as_ref())?;
        let mut newest = cursor.map_or(sequence.newest.ordinal, |cursor| cursor.newest);
        let way = match (reader.query.view, branch) {
            (View::BranchPath, branch) => {
                let branch = branch.unwrap_or(MAIN);
                if cursor.is_none() {
                    newest = sequence.head(branch)?.map_or(0, |head| head.ordinal);
                }
                Way::Path(segments(sequence, branch, newest, 0)?)
            }
            (_, Some(branch)) => Way::Branch(branch),
            (_, None) => Way::All,
        };
        let start = cursor.map(|cursor| cursor.last);
        Ok(Self {
            way,
            ascending: reader.is_ascending(),
            start,
            last: start,
            newest,
        })
    }

    pub(super) fn start(&self) -> Option<u32> {
        self.start
    }

    pub(super) fn last(&self) -> Option<u32> {
        self.last
    }

    pub(super) fn cursor(&self, last: u32) -> Cursor {
        Cursor {
            last,
            newest: self.newest,
        }
    }

    /// The next thoughts with their keys, at most `limit`; none at the end.
    pub(super) fn next<D: Database>(
        &mut self,
        sequence: &Sequence<'_, D>,
        limit: u32,
    ) -> Result<Vec<(u32, Sealed)>, DatabaseError> {
        let rows = match &self.way {
            _ if limit == 0 => Vec::new(),
            Way::Path(segments) => self.path_rows(sequence, segments, limit.min(PORTION))?,
            Way::All | Way::Branch(_) => self.rows(sequence, limit.min(PORTION))?,
        };
        if let Some((key, _)) = rows.last() {
            self.last = Some(*key);
        }
        Ok(rows)
    }

    /// Whether anything follows the key `last`.
    pub(super) fn has_more<D: Database>(
        &self,
        sequence: &Sequence<'_, D>,
        last: u32,
    ) -> Result<bool, DatabaseError> {
        if let Way::Path(segments) = &self.way {
            return Ok(match self.ascending {
                true => segments.last().is_some_and(|segment| last < segment.top),
                false => last > 1,
            });
        }
        for Range { condition, params } in self.ranges(sequence, Some(last)) {
            let sql = format!("select 1 from thought where {condition} limit 1");
            if !sequence.database.query(&sql, &params)?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn rows<D: Database>(
        &self,
        sequence: &Sequence<'_, D>,
        limit: u32,
    ) -> Result<Vec<(u32, Sealed)>, DatabaseError> {
        let direction = if self.ascending { "asc" } else { "desc" };
        let mut rows = Vec::new();
        for Range { condition, params } in self.ranges(sequence, self.last) {
            let sql = format!(
                "select {STEP_COLUMNS}, text from thought where {condition} order by place {direction} limit ?"
            );
            let params: Vec<Value> = params.into_iter().chain([limit.into()]).collect();
            rows = sequence.database.query(&sql, &params)?;
            if !rows.is_empty() {
                break;
            }
        }
        rows.into_iter()
            .map(|mut row| {
                let sealed = Sealed::read(&mut row)?;
                Ok((sealed.step.ordinal, sealed))
            })
            .collect()
    }

    /// Where the rows after `last` lie, in the order of the walk.
    fn ranges<D: Database>(&self, sequence: &Sequence<'_, D>, last: Option<u32>) -> Vec<Range> {
        let id = sequence.row.sequence;
        let (low, high) = match (self.ascending, last) {
            (true, Some(last)) => (last.saturating_add(1), THOUGHTS_MAX),
            (false, Some(last)) => (1, last.saturating_sub(1)),
            (true, None) => (1, THOUGHTS_MAX),
            (false, None) => (1, self.newest),
        };
        let places = |high| Range {
            condition: "place between +? and +?",
            params: vec![place(id, low).into(), place(id, high).into()],
        };
        let Way::Branch(branch) = self.way else {
            return vec![places(high)];
        };
        let mut ranges = Vec::new();
        let trunk = sequence.trunk().min(high);
        if branch == MAIN && low <= trunk {
            ranges.push(places(trunk));
        }
        if sequence.is_beyond_trunk() {
            ranges.push(Range {
                condition: "sequence = +? and branch = +? and place between +? and +? and trunk is not null",
                params: [Value::from(id), branch.into()]
                    .into_iter()
                    .chain(places(high).params)
                    .collect(),
            });
        }
        if !self.ascending {
            ranges.reverse();
        }
        ranges
    }

    fn path_rows<D: Database>(
        &self,
        sequence: &Sequence<'_, D>,
        segments: &[Segment],
        limit: u32,
    ) -> Result<Vec<(u32, Sealed)>, DatabaseError> {
        let limit = limit.saturating_sub(1);
        let mut rows = Vec::new();
        if self.ascending {
            let first = self.last.unwrap_or_default().saturating_add(1);
            for segment in segments {
                rows.extend(path_rows(
                    sequence,
                    segment,
                    first,
                    first.saturating_add(limit),
                )?);
            }
        } else {
            let last = match self.last {
                None => segments.last().map_or(0, |segment| segment.top),
                Some(last) => last.saturating_sub(1),
            };
            for segment in segments {
                rows.extend(path_rows(
                    sequence,
                    segment,
                    last.saturating_sub(limit),
                    last,
                )?);
            }
            rows.reverse();
        }
        Ok(rows
            .into_iter()
            .map(|sealed| (sealed.step.position, sealed))
            .collect())
    }
}

impl Sealed {
    pub(super) fn read(row: &mut Row) -> Result<Self, DatabaseError> {
        Ok(Self {
            step: Step::read(row)?,
            text: row.blob(Column("thought", "text"))?,
        })
    }
}

/// The thoughts of a segment from position `first` to `last`, in this order.
pub(in crate::store) fn path_rows<D: Database>(
    sequence: &Sequence<'_, D>,
    segment: &Segment,
    first: u32,
    last: u32,
) -> Result<Vec<Sealed>, DatabaseError> {
    let positions = first.max(segment.above.saturating_add(1))..=last.min(segment.top);
    if positions.is_empty() {
        return Ok(Vec::new());
    }
    let id = sequence.row.sequence;
    let read = |rest: &str, numbers: &[u32]| {
        let sql = format!(
            "select {STEP_COLUMNS}, text from thought where sequence = +? and branch = +? and place <= +? and trunk is not null \
             and position {rest}"
        );
        let newest = place(id, segment.newest);
        let mut params = vec![id.into(), segment.branch.into(), newest.into()];
        params.extend(numbers.iter().map(|number| Value::from(*number)));
        sequence.database.query(&sql, &params)
    };
    let trunk = match segment.branch {
        MAIN => sequence.trunk().min(segment.newest),
        _ => 0,
    };
    let in_trunk = |first: u32, last: u32| {
        if first > last {
            return Ok(Vec::new());
        }
        let sql = format!(
            "select {STEP_COLUMNS}, text from thought where place between +? and +? order by place"
        );
        let range = [place(id, first).into(), place(id, last).into()];
        sequence.database.query(&sql, &range)
    };
    let (first, last) = (*positions.start(), *positions.end());
    let mut rows = Vec::new();
    if sequence.newest.rewinds == 0 {
        // No two thoughts of a branch have one position.
        rows = in_trunk(first, last.min(trunk))?;
        let first = first.max(trunk.saturating_add(1));
        if first <= last {
            let count = last.saturating_sub(first).saturating_add(1);
            // The limit keeps SQLite from looking at what follows.
            rows.extend(read(
                "between +? and +? order by position limit ?",
                &[first, last, count],
            )?);
        }
    } else {
        for position in positions {
            let mut row = read("= +? order by place desc limit 1", &[position])?;
            if row.is_empty() {
                row = in_trunk(position, position.min(trunk))?;
            }
            rows.extend(row);
        }
    }
    rows.into_iter()
        .map(|mut row| Sealed::read(&mut row))
        .collect()
}

/// The index of the branch that a reader names; none when no branch is named.
pub(in crate::store) fn named_branch<D: Database>(
    sequence: &Sequence<'_, D>,
    keys: &Keys,
    name: Option<&BranchName>,
) -> Result<Option<u32>, Error> {
    match name {
        None => Ok(None),
        Some(name) if name.is_main() => Ok(Some(MAIN)),
        Some(name) => match sequence.branch_named(keys, name)? {
            Some(row) => Ok(Some(row.branch)),
            None => Err(Refusal::new(
                Code::BranchNotFound,
                format!("the sequence has no branch {name}. The first page of the history lists its branches"),
            )
            .into()),
        },
    }
}

/// The path that ends at the thought `newest` of `branch`, oldest segment first, back to position `lowest`.
pub(in crate::store) fn segments<D: Database>(
    sequence: &Sequence<'_, D>,
    branch: u32,
    newest: u32,
    lowest: u32,
) -> Result<Vec<Segment>, DatabaseError> {
    let mut segments = Vec::new();
    let mut branch = branch;
    let mut end = sequence.node(newest)?;
    while let Some(node) = end {
        let fork = sequence.fork(branch)?.filter(|fork| fork.parent < branch);
        end = match fork {
            None => None,
            Some(fork) => sequence.node(fork.ordinal)?,
        };
        let above = end.map_or(0, |node| node.position);
        segments.push(Segment {
            branch,
            above,
            top: node.position,
            newest: node.ordinal,
        });
        match fork {
            Some(fork) if above >= lowest => branch = fork.parent,
            _ => break,
        }
    }
    segments.reverse();
    Ok(segments)
}

//! Reading a sequence back, page by page. Reads write nothing, and a page costs the same wherever it lies.

mod branches;
mod brief;
mod walk;

use std::collections::HashSet;

use crate::clock::Timestamp;
use crate::database::{Database, DatabaseError};
use crate::graph::{self, MAIN, Node};
use crate::page::{Budget, Cursor, Order, Page, Query, Sequence as SequenceSummary, Thought, View};
use crate::refusal::{Code, Refusal};
use crate::seal::{Field, Keys};
use crate::settings::Settings;
use crate::store::facts::Sequence;
use crate::store::row::Step;
use crate::store::{Error, Store, not_found, title};

use branches::Names;
use walk::Walk;

/// A stored thought, still sealed.
pub(in crate::store) struct Sealed {
    pub step: Step,
    pub text: Vec<u8>,
}

impl<D: Database> Store<D> {
    /// One page of a sequence.
    ///
    /// 1. The cursor is checked against the query and the sequence.
    /// 2. Rows are read in small portions until the page is full.
    /// 3. Superseded thoughts are marked, names are opened, and the cursor of the next page is made.
    pub fn history(
        &self,
        query: &Query,
        settings: &Settings,
        now: Timestamp,
    ) -> Result<Page, Error> {
        let keys = Keys::derive(&query.sequence_id);
        self.database.snapshot(|| {
            let sequence = self.find(&keys, settings, now)?.ok_or_else(not_found)?;
            let reader = Reader {
                query,
                keys: &keys,
                names: Names::new(&sequence, &keys),
                sequence: &sequence,
            };
            reader.page()
        })
    }
}

/// Thoughts opened, and the key at which the page ends.
type Filled = (Vec<(Step, String)>, Option<u32>);

struct Reader<'a, D> {
    query: &'a Query,
    keys: &'a Keys,
    sequence: &'a Sequence<'a, D>,
    names: Names<'a, D>,
}

impl<D: Database> Reader<'_, D> {
    fn page(&self) -> Result<Page, Error> {
        if self.query.view == View::Brief {
            return Ok(Page {
                sequence: self.summary(false)?,
                thoughts: Vec::new(),
                next_cursor: None,
                brief: Some(self.brief()?),
            });
        }
        let cursor = self
            .query
            .cursor
            .as_ref()
            .map(|text| Cursor::parse(text, self.keys, self.query))
            .transpose()
            .map_err(|bad| Refusal::new(Code::CursorInvalid, bad.to_string()))?;
        // First, since the list of branches opens the names that the thoughts then need.
        let summary = self.summary(cursor.is_none())?;
        let mut walk = Walk::open(self, cursor)?;
        let mut budget = Budget::new(self.query);
        budget.reserve(summary.branches.as_deref().unwrap_or_default());
        let (rows, last) = match self.query.view {
            View::Active => self.fill_active(&mut walk, &mut budget)?,
            _ => self.fill(&mut walk, &mut budget)?,
        };
        let superseded = self.superseded(rows.iter().map(|(step, _)| step))?;
        let thoughts = rows
            .into_iter()
            .map(|(step, text)| {
                let is_superseded = superseded.contains(&step.ordinal);
                self.thought(&step, text, is_superseded)
            })
            .collect::<Result<Vec<_>, Error>>()?;
        let next_cursor = match last {
            Some(last) if walk.has_more(self.sequence, last)? => {
                Some(walk.cursor(last).render(self.keys, self.query))
            }
            _ => None,
        };
        Ok(Page {
            sequence: summary,
            thoughts,
            next_cursor,
            brief: None,
        })
    }

    /// Thoughts as they come.
    fn fill(&self, walk: &mut Walk, budget: &mut Budget) -> Result<Filled, Error> {
        let (mut rows, mut last) = (Vec::new(), walk.last());
        loop {
            let portion = walk.next(self.sequence, budget.thoughts())?;
            if portion.is_empty() {
                return Ok((rows, last));
            }
            for (key, sealed) in portion {
                let text = self.open(&sealed)?;
                if !budget.take(&text) {
                    return Ok((rows, last));
                }
                rows.push((sealed.step, text));
                last = Some(key);
            }
        }
    }

    /// The same without superseded thoughts. Those passed over count, so that a page's cost is bounded: a page may hold fewer
    /// thoughts than asked for, or none, and still have a cursor.
    fn fill_active(&self, walk: &mut Walk, budget: &mut Budget) -> Result<Filled, Error> {
        let mut portion = Vec::new();
        loop {
            let read = u32::try_from(portion.len()).unwrap_or(u32::MAX);
            let more = walk.next(self.sequence, self.query.limit.saturating_sub(read))?;
            if more.is_empty() {
                break;
            }
            portion.extend(more);
        }
        let superseded = self.superseded(portion.iter().map(|(_, sealed)| &sealed.step))?;
        let (mut rows, mut last) = (Vec::new(), walk.start());
        for (key, sealed) in portion {
            if !superseded.contains(&sealed.step.ordinal) {
                let text = self.open(&sealed)?;
                if !budget.take(&text) {
                    return Ok((rows, last));
                }
                rows.push((sealed.step, text));
            }
            last = Some(key);
        }
        Ok((rows, last))
    }

    /// The ordinals among `steps` that a rewind has set aside.
    fn superseded<'s>(
        &self,
        steps: impl Iterator<Item = &'s Step>,
    ) -> Result<HashSet<u32>, DatabaseError> {
        if self.sequence.newest.rewinds == 0 {
            return Ok(HashSet::new());
        }
        let mut nodes: Vec<Node> = Vec::new();
        for step in steps {
            // Sorted as they come: a page has few, and a sort for any number of them is large.
            let key = |node: &Node| (node.branch, node.ordinal);
            let node = step.node();
            let place = nodes.partition_point(|known| key(known) < key(&node));
            nodes.insert(place, node);
        }
        let mut superseded = HashSet::new();
        for nodes in nodes.chunk_by(|one, next| one.branch == next.branch) {
            superseded.extend(nodes.iter().map(|node| node.ordinal));
            for node in graph::active_among(self.sequence, nodes)? {
                superseded.remove(&node.ordinal);
            }
        }
        Ok(superseded)
    }

    fn open(&self, sealed: &Sealed) -> Result<String, Error> {
        Ok(self
            .keys
            .open(Field::Thought(sealed.step.ordinal), &sealed.text)?)
    }

    fn thought(&self, step: &Step, text: String, superseded: bool) -> Result<Thought, Error> {
        let revises = match step.revises {
            None => None,
            Some(target) => Some(
                self.names
                    .place(target.branch, target.ordinal, target.number)?,
            ),
        };
        let branch_from = match step.forks {
            false => None,
            true => self.names.fork(step.branch)?,
        };
        Ok(Thought {
            ordinal: step.ordinal,
            number: step.number,
            total: step.total,
            text,
            written_at: step.created_at,
            branch: self.names.name(step.branch)?,
            next_thought_needed: !step.finished,
            needs_more_thoughts: step.needs_more,
            revises,
            rewind: step.rewind,
            superseded,
            branch_from,
            summarizes_through: step.summarizes_through,
        })
    }

    fn summary(&self, is_first_page: bool) -> Result<SequenceSummary, Error> {
        let newest = &self.sequence.newest;
        let main_head = match newest.branch {
            MAIN => Some(newest.clone()),
            _ => self.sequence.head_step(MAIN)?,
        };
        let head = main_head.as_ref().unwrap_or(newest);
        let branches = match is_first_page {
            true => Some(self.names.summaries()?),
            false => None,
        };
        let row = &self.sequence.row;
        let origin = row
            .origin
            .as_ref()
            .map(|sealed| self.keys.open(Field::Origin, sealed))
            .transpose()?;
        Ok(SequenceSummary {
            sequence_id: self.query.sequence_id,
            title: title(self.keys, row)?,
            completed: newest.main_finished,
            thoughts: newest.ordinal,
            last_number: head.number,
            total: head.total,
            created_at: row.created_at,
            written_at: newest.created_at,
            branches,
            origin,
        })
    }

    fn is_ascending(&self) -> bool {
        self.query.order == Order::Asc
    }
}

//! Names of branches on a page, each opened once, and the list of all branches on the first page.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::database::{Database, DatabaseError};
use crate::graph::{self, Facts, MAIN};
use crate::page::BranchSummary;
use crate::seal::Keys;
use crate::store::Error;
use crate::store::facts::{self, Sequence};
use crate::store::row::BranchRow;
use crate::thought::{BRANCHES_MAX, BranchName, Place};

pub(super) struct Names<'a, D> {
    sequence: &'a Sequence<'a, D>,
    keys: &'a Keys,
    opened: RefCell<HashMap<u32, (BranchName, BranchRow)>>,
    /// Whether a thought is active, for those asked about: many branches begin at few thoughts.
    active: RefCell<HashMap<u32, bool>>,
}

impl<'a, D: Database> Names<'a, D> {
    pub(super) fn new(sequence: &'a Sequence<'a, D>, keys: &'a Keys) -> Self {
        Self {
            sequence,
            keys,
            opened: RefCell::default(),
            active: RefCell::default(),
        }
    }

    pub(super) fn name(&self, branch: u32) -> Result<BranchName, Error> {
        if branch == MAIN {
            return Ok(BranchName::main());
        }
        Ok(self.row(branch)?.0)
    }

    pub(super) fn place(&self, branch: u32, ordinal: u32, number: u32) -> Result<Place, Error> {
        Ok(Place {
            branch: self.name(branch)?,
            ordinal,
            number,
        })
    }

    /// Where the branch begins; none for `main`.
    pub(super) fn fork(&self, branch: u32) -> Result<Option<Place>, Error> {
        if branch == MAIN {
            return Ok(None);
        }
        let (_, row) = self.row(branch)?;
        self.place(row.parent, row.fork_ordinal, row.fork_number)
            .map(Some)
    }

    /// The branch that it begins on.
    pub(super) fn parent(&self, branch: u32) -> Result<u32, Error> {
        Ok(self.row(branch)?.1.parent)
    }

    fn row(&self, branch: u32) -> Result<(BranchName, BranchRow), Error> {
        if let Some(known) = self.opened.borrow().get(&branch) {
            return Ok(known.clone());
        }
        let row = self
            .sequence
            .branch_row(branch)?
            .ok_or(DatabaseError::Corrupt("a thought lies on no branch"))?;
        self.keep(row)
    }

    fn keep(&self, row: BranchRow) -> Result<(BranchName, BranchRow), Error> {
        let name = facts::open_name(self.keys, &row)?;
        let known = (name, row);
        self.opened
            .borrow_mut()
            .insert(known.1.branch, known.clone());
        Ok(known)
    }

    /// Every branch beside `main`, with its state. A branch hangs when its start was set aside, or its parent hangs.
    pub(super) fn summaries(&self) -> Result<Vec<BranchSummary>, Error> {
        let mut hanging: HashMap<u32, bool> = HashMap::new();
        let mut summaries = Vec::new();
        for row in self.sequence.branch_rows(BRANCHES_MAX)? {
            let (name, row) = self.keep(row)?;
            let head = self
                .sequence
                .head_step(row.branch)?
                .ok_or(DatabaseError::Corrupt("a branch has no thought"))?;
            let hangs = hanging.get(&row.parent).copied().unwrap_or_default()
                || !self.is_active(row.fork_ordinal)?;
            hanging.insert(row.branch, hangs);
            summaries.push(BranchSummary {
                name,
                fork: self.place(row.parent, row.fork_ordinal, row.fork_number)?,
                last_number: head.number,
                completed: head.finished,
                hanging: hangs,
            });
        }
        Ok(summaries)
    }

    /// Whether no rewind has set the thought aside.
    pub(super) fn is_active(&self, ordinal: u32) -> Result<bool, DatabaseError> {
        if self.sequence.newest.rewinds == 0 {
            return Ok(true);
        }
        if let Some(known) = self.active.borrow().get(&ordinal) {
            return Ok(*known);
        }
        let is_active = match self.sequence.node(ordinal)? {
            Some(node) => graph::is_active(self.sequence, node)?,
            None => false,
        };
        self.active.borrow_mut().insert(ordinal, is_active);
        Ok(is_active)
    }
}

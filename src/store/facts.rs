//! One sequence inside a call: its row, its newest thought, and the facts that the graph asks for.

use std::rc::Rc;

use crate::database::{Column, Database, DatabaseError, Row, Value};
use crate::graph::{Facts, Fork, MAIN, Node};
use crate::seal::{Field, Keys};
use crate::store::Error;
use crate::store::row::{
    BRANCH_COLUMNS, BranchRow, STEP_COLUMNS, SequenceRow, Step, ordinal, place, small,
};
use crate::thought::{Branch, BranchName, Place, THOUGHTS_MAX};

pub(crate) struct Sequence<'a, D> {
    pub database: &'a D,
    pub row: Rc<SequenceRow>,
    pub newest: Step,
}

/// How many thoughts may have come between a call and its repeat: repeats come within seconds.
const REPEAT_REACH: u32 = 10_000;

const NODE_COLUMNS: &str = "place, branch, number, position, stretch";

impl<D: Database> Sequence<'_, D> {
    fn id(&self) -> Value {
        self.row.sequence.into()
    }

    /// The key of the newest thought that may be seen.
    fn until(&self, ordinal: u32) -> Value {
        place(self.row.sequence, ordinal.min(THOUGHTS_MAX)).into()
    }

    fn one<T>(
        &self,
        sql: &str,
        params: &[Value],
        read: impl FnOnce(&mut Row) -> Result<T, DatabaseError>,
    ) -> Result<Option<T>, DatabaseError> {
        self.database
            .query(sql, params)?
            .into_iter()
            .next()
            .map(|mut row| read(&mut row))
            .transpose()
    }

    /// How many thoughts the trunk has.
    pub(crate) fn trunk(&self) -> u32 {
        self.newest.trunk_length()
    }

    /// Whether there are thoughts outside of the trunk. Only they are in the indexes.
    pub(crate) fn is_beyond_trunk(&self) -> bool {
        self.newest.trunk.is_some()
    }

    /// The thought of the trunk whose ordinal, number and position this is: there is nothing to read.
    fn in_trunk(&self, branch: u32, ordinal: u32, until: u32) -> Option<Node> {
        let is_there = branch == MAIN && (1..=self.trunk().min(until)).contains(&ordinal);
        is_there.then_some(Node {
            ordinal,
            branch: MAIN,
            number: ordinal,
            position: ordinal,
            stretch: 0,
        })
    }

    /// The newest thought of a branch, with the branch's state.
    pub(crate) fn head_step(&self, branch: u32) -> Result<Option<Step>, DatabaseError> {
        if self.newest.branch == branch {
            return Ok(Some(self.newest.clone()));
        }
        let sql = format!(
            "select {STEP_COLUMNS} from thought where sequence = +? and branch = +? and trunk is not null order by place desc limit 1"
        );
        match self.one(&sql, &[self.id(), branch.into()], Step::read)? {
            None if branch == MAIN => self.step(self.trunk()),
            found => Ok(found),
        }
    }

    pub(crate) fn step(&self, ordinal: u32) -> Result<Option<Step>, DatabaseError> {
        let sql = format!("select {STEP_COLUMNS} from thought where place = ?");
        self.one(
            &sql,
            &[place(self.row.sequence, ordinal).into()],
            Step::read,
        )
    }

    /// The thought that a call wrote, among the newest. No index holds these ids, since few calls are ever asked again.
    pub(crate) fn step_of_call(&self, call_id: &[u8]) -> Result<Option<Step>, DatabaseError> {
        let sql = format!(
            "select {STEP_COLUMNS} from thought where place between +? and +? and call_id = +? order by place desc limit 1"
        );
        let newest = self.newest.ordinal;
        let range = [newest.saturating_sub(REPEAT_REACH), newest];
        let [oldest, newest] = range.map(|ordinal| place(self.row.sequence, ordinal).into());
        self.one(&sql, &[oldest, newest, call_id.into()], Step::read)
    }

    /// The newest thought of a branch beyond the trunk that has this number or position.
    fn newest_of(
        &self,
        branch: u32,
        (column, value): (&str, u32),
        until: u32,
    ) -> Result<Option<Node>, DatabaseError> {
        if !self.is_beyond_trunk() {
            return Ok(None);
        }
        let sql = format!(
            "select {NODE_COLUMNS} from thought where sequence = +? and branch = +? and {column} = +? and place <= +? \
             and trunk is not null order by place desc limit 1"
        );
        let params = [self.id(), branch.into(), value.into(), self.until(until)];
        self.one(&sql, &params, read_node)
    }

    /// The newest revision in the chain that begins at `root`.
    pub(crate) fn newest_revision(&self, root: u32) -> Result<Option<Step>, DatabaseError> {
        let sql = format!(
            "select {STEP_COLUMNS} from thought where sequence = +? and revises_root = +? order by place desc limit 1"
        );
        self.one(&sql, &[self.id(), root.into()], Step::read)
    }

    pub(crate) fn branch_row(&self, branch: u32) -> Result<Option<BranchRow>, DatabaseError> {
        let sql = format!("select {BRANCH_COLUMNS} from branch where sequence = ? and branch = ?");
        self.one(&sql, &[self.id(), branch.into()], BranchRow::read)
    }

    pub(crate) fn branch_named(
        &self,
        keys: &Keys,
        name: &BranchName,
    ) -> Result<Option<BranchRow>, DatabaseError> {
        let sql =
            format!("select {BRANCH_COLUMNS} from branch where sequence = ? and name_match = ?");
        let name_match = keys.branch_match(name.as_str());
        self.one(
            &sql,
            &[self.id(), name_match.as_slice().into()],
            BranchRow::read,
        )
    }

    /// Branches beside `main`, oldest first.
    pub(crate) fn branch_rows(&self, limit: u32) -> Result<Vec<BranchRow>, DatabaseError> {
        let sql = format!(
            "select {BRANCH_COLUMNS} from branch where sequence = +? order by branch limit ?"
        );
        self.database
            .query(&sql, &[self.id(), limit.into()])?
            .into_iter()
            .map(|mut row| BranchRow::read(&mut row))
            .collect()
    }

    /// At most `limit` different numbers of `branch` up to `cutoff`, lowest first, each found by one step through the index.
    pub(crate) fn numbers(
        &self,
        branch: u32,
        cutoff: u32,
        limit: usize,
    ) -> Result<Vec<u32>, DatabaseError> {
        let mut numbers: Vec<u32> = Vec::new();
        while numbers.len() < limit {
            let last = numbers.last().copied().unwrap_or_default();
            let next = self.one(
                "select number from thought where sequence = +? and branch = +? and number > +? and number <= +? \
                 and trunk is not null order by number limit 1",
                &[self.id(), branch.into(), last.into(), cutoff.into()],
                |row| small(row.integer(Column("thought", "number"))?),
            )?;
            let in_trunk = self.in_trunk(branch, last.saturating_add(1), cutoff);
            match in_trunk
                .map(|node| node.number)
                .into_iter()
                .chain(next)
                .min()
            {
                Some(number) => numbers.push(number),
                None => break,
            }
        }
        Ok(numbers)
    }

    pub(crate) fn name(&self, keys: &Keys, branch: u32) -> Result<BranchName, Error> {
        if branch == MAIN {
            return Ok(BranchName::main());
        }
        let row = self
            .branch_row(branch)?
            .ok_or(DatabaseError::Corrupt("a thought lies on no branch"))?;
        open_name(keys, &row)
    }

    /// The branch with its name and its fork, for the answer to a caller.
    pub(crate) fn describe(&self, keys: &Keys, branch: u32) -> Result<Branch, Error> {
        if branch == MAIN {
            return Ok(Branch {
                name: BranchName::main(),
                index: MAIN,
                fork: None,
            });
        }
        let row = self
            .branch_row(branch)?
            .ok_or(DatabaseError::Corrupt("a thought lies on no branch"))?;
        Ok(Branch {
            name: open_name(keys, &row)?,
            index: branch,
            fork: Some(Place {
                branch: self.name(keys, row.parent)?,
                ordinal: row.fork_ordinal,
                number: row.fork_number,
            }),
        })
    }
}

impl<D: Database> Facts for Sequence<'_, D> {
    type Error = DatabaseError;

    fn fork(&self, branch: u32) -> Result<Option<Fork>, DatabaseError> {
        if branch == MAIN {
            return Ok(None);
        }
        Ok(self.branch_row(branch)?.map(|row| Fork {
            parent: row.parent,
            ordinal: row.fork_ordinal,
            number: row.fork_number,
        }))
    }

    fn node(&self, ordinal: u32) -> Result<Option<Node>, DatabaseError> {
        let in_trunk = self.in_trunk(MAIN, ordinal, u32::MAX);
        if in_trunk.is_some() {
            return Ok(in_trunk);
        }
        let sql = format!("select {NODE_COLUMNS} from thought where place = ?");
        self.one(&sql, &[place(self.row.sequence, ordinal).into()], read_node)
    }

    fn head(&self, branch: u32) -> Result<Option<Node>, DatabaseError> {
        Ok(self.head_step(branch)?.map(|step| step.node()))
    }

    fn called(&self, branch: u32, number: u32, until: u32) -> Result<Option<Node>, DatabaseError> {
        let found = self.newest_of(branch, ("number", number), until)?;
        Ok(found.or_else(|| self.in_trunk(branch, number, until)))
    }

    fn newest_at(
        &self,
        branch: u32,
        position: u32,
        until: u32,
    ) -> Result<Option<Node>, DatabaseError> {
        let found = self.newest_of(branch, ("position", position), until)?;
        Ok(found.or_else(|| self.in_trunk(branch, position, until)))
    }
}

fn read_node(row: &mut Row) -> Result<Node, DatabaseError> {
    Ok(Node {
        ordinal: ordinal(row.integer(Column("thought", "place"))?),
        branch: small(row.integer(Column("thought", "branch"))?)?,
        number: small(row.integer(Column("thought", "number"))?)?,
        position: small(row.integer(Column("thought", "position"))?)?,
        stretch: small(row.integer(Column("thought", "stretch"))?)?,
    })
}

pub(crate) fn open_name(keys: &Keys, row: &BranchRow) -> Result<BranchName, Error> {
    let name = keys.open(Field::Branch(row.branch), &row.name)?;
    BranchName::parse(&name)
        .map_err(|_| DatabaseError::Corrupt("a branch has no name that a branch may have").into())
}

//! The facts of a brief, within a fixed number of rows however long the sequence is.
//!
//! At most 6 for the sequence and its goal, 240 for the path (even when each step lies on another branch), 8 for its summary,
//! 40 for what was ruled out and 90 for the branches: 384.

use std::collections::HashMap;

use crate::brief::{Brief, Lane, RuledOut, Step as PathStep, Summary};
use crate::database::{Column, Database, DatabaseError, Value};
use crate::graph::{self, MAIN};
use crate::page::BranchSummary;
use crate::seal::Field;
use crate::store::Error;
use crate::store::history::walk::{named_branch, path_rows, segments};
use crate::store::history::{Reader, Sealed};
use crate::store::row::{STEP_COLUMNS, Step, place};

const PATH_STEPS_MAX: u32 = 60;
const SUMMARIES_TRIED: u32 = 3;
const REVISIONS_MAX: u32 = 20;
const BRANCHES_MAX: u32 = 15;

impl<D: Database> Reader<'_, D> {
    pub(super) fn brief(&self) -> Result<Brief, Error> {
        let branch = self.focus()?;
        let head = self
            .sequence
            .head_step(branch)?
            .ok_or(DatabaseError::Corrupt("a branch has no thought"))?;
        let summary = self.newest_summary(branch)?;
        let covered = summary.as_ref().map_or(0, |(step, _)| step.summarized);
        let (path, omitted) = self.path(branch, &head, covered)?;
        let (branches, branches_omitted) = self.lanes(branch)?;
        Ok(Brief {
            goal: self.text(1)?,
            branch: self.names.name(branch)?,
            is_complete: head.finished,
            number: head.number,
            total: head.total,
            summary: summary.map(|(step, text)| Summary {
                through: step.summarizes_through.unwrap_or_default(),
                text,
            }),
            omitted,
            path,
            ruled_out: self.ruled_out()?,
            branches,
            branches_omitted,
        })
    }

    /// The branch that the caller named; else the one last written, unless `main` is complete or that branch hangs.
    fn focus(&self) -> Result<u32, Error> {
        if self.query.branch.is_some() {
            return named_branch(self.sequence, self.keys, self.query.branch.as_ref())
                .map(|branch| branch.unwrap_or(MAIN));
        }
        let newest = &self.sequence.newest;
        if newest.main_finished || newest.branch == MAIN {
            return Ok(MAIN);
        }
        let row = self.sequence.branch_row(newest.branch)?;
        let hangs = match row {
            Some(row) => !self.names.is_active(row.fork_ordinal)?,
            None => true,
        };
        Ok(if hangs { MAIN } else { newest.branch })
    }

    /// The newest active summary on the branch: it covers whatever older ones cover.
    fn newest_summary(&self, branch: u32) -> Result<Option<(Step, String)>, Error> {
        let sql = format!(
            "select {STEP_COLUMNS}, text from thought \
             where sequence = +? and branch = +? and summarizes_through is not null order by place desc limit ?"
        );
        let id = self.sequence.row.sequence;
        for sealed in self.read(&sql, &[id.into(), branch.into(), SUMMARIES_TRIED.into()])? {
            if graph::is_active(self.sequence, sealed.step.node())? {
                let text = self.open(&sealed)?;
                return Ok(Some((sealed.step, text)));
            }
        }
        Ok(None)
    }

    /// The newest steps of the path above position `covered`, and how many older ones are left out.
    fn path(&self, branch: u32, head: &Step, covered: u32) -> Result<(Vec<PathStep>, u32), Error> {
        let first = head
            .position
            .saturating_sub(PATH_STEPS_MAX)
            .max(covered)
            .saturating_add(1);
        let segments = segments(self.sequence, branch, head.ordinal, first)?;
        let mut steps: Vec<PathStep> = Vec::new();
        let mut shown: HashMap<u32, usize> = HashMap::new();
        for segment in &segments {
            for sealed in path_rows(self.sequence, segment, first, head.position)? {
                self.add_step(&sealed, &mut steps, &mut shown)?;
            }
        }
        Ok((steps, first.saturating_sub(covered).saturating_sub(1)))
    }

    /// A revision takes the place of the step that it corrects, if that step is shown; a summary is told by itself.
    fn add_step(
        &self,
        sealed: &Sealed,
        steps: &mut Vec<PathStep>,
        shown: &mut HashMap<u32, usize>,
    ) -> Result<(), Error> {
        let step = &sealed.step;
        if step.summarizes_through.is_some() && step.next_needed {
            return Ok(());
        }
        let text = self.open(sealed)?;
        let target = step
            .revises
            .filter(|_| !step.rewind)
            .and_then(|revises| shown.get(&revises.root))
            .and_then(|index| steps.get_mut(*index));
        if let Some(target) = target {
            target.text = text;
            target.revised_in = Some(step.number);
            return Ok(());
        }
        shown.insert(step.ordinal, steps.len());
        steps.push(PathStep {
            branch: self.names.name(step.branch)?,
            number: step.number,
            text,
            revised_in: None,
        });
        Ok(())
    }

    /// What the newest revisions corrected, newest first.
    fn ruled_out(&self) -> Result<Vec<RuledOut>, Error> {
        let sql = format!(
            "select {STEP_COLUMNS}, text from thought \
             where sequence = +? and revises_root is not null order by place desc limit ?"
        );
        let id = self.sequence.row.sequence;
        self.read(&sql, &[id.into(), REVISIONS_MAX.into()])?
            .iter()
            .filter_map(|sealed| sealed.step.revises.map(|revises| (sealed, revises)))
            .map(|(sealed, revises)| {
                Ok(RuledOut {
                    place: self
                        .names
                        .place(revises.branch, revises.ordinal, revises.number)?,
                    text: self.text(revises.ordinal)?,
                    by: sealed.step.number,
                    because: self.open(sealed)?,
                    superseded: sealed.step.superseded,
                })
            })
            .collect()
    }

    /// The newest branches beside the path, and how many more there are.
    fn lanes(&self, focus: u32) -> Result<(Vec<Lane>, u32), Error> {
        let count = self.sequence.row.branches;
        let first = count.saturating_sub(BRANCHES_MAX).saturating_add(1);
        let mut lanes = Vec::new();
        let mut hanging: HashMap<u32, bool> = HashMap::new();
        for branch in (first..=count).filter(|branch| *branch != focus) {
            let Some(fork) = self.names.fork(branch)? else {
                continue;
            };
            let head = self
                .sequence
                .head_step(branch)?
                .ok_or(DatabaseError::Corrupt("a branch has no thought"))?;
            let hangs = hanging
                .get(&self.names.parent(branch)?)
                .copied()
                .unwrap_or_default()
                || !self.names.is_active(fork.ordinal)?;
            hanging.insert(branch, hangs);
            lanes.push(Lane {
                total: head.total,
                last: self.text(head.ordinal)?,
                branch: BranchSummary {
                    name: self.names.name(branch)?,
                    hanging: hangs,
                    fork,
                    last_number: head.number,
                    completed: head.finished,
                },
            });
        }
        // A path on another branch leaves `main` to be told of like a branch.
        Ok((lanes, first.saturating_sub(1)))
    }

    fn text(&self, ordinal: u32) -> Result<String, Error> {
        let rows = self.sequence.database.query(
            "select text from thought where place = ?",
            &[place(self.sequence.row.sequence, ordinal).into()],
        )?;
        let mut row = rows.into_iter().next().ok_or(DatabaseError::Corrupt(
            "a thought is gone that others refer to",
        ))?;
        let sealed = row.blob(Column("thought", "text"))?;
        Ok(self.keys.open(Field::Thought(ordinal), &sealed)?)
    }

    fn read(&self, sql: &str, params: &[Value]) -> Result<Vec<Sealed>, Error> {
        Ok(self
            .sequence
            .database
            .query(sql, params)?
            .into_iter()
            .map(|mut row| Sealed::read(&mut row))
            .collect::<Result<_, _>>()?)
    }
}

//! Appending a thought: find what it refers to, decide what it does to its branch and sequence, write it. One transaction.

mod refuse;
pub(in crate::store) mod replay;
mod step;
mod target;
mod warning;

use std::rc::Rc;

use crate::database::{Column, Database, DatabaseError, Value};
use crate::fresh::Fresh;
use crate::graph::{self, MAIN};
use crate::refusal::Code;
use crate::refusal::Refusal;
use crate::seal::{self, Field, Keys};
use crate::settings::Settings;
use crate::store::facts::Sequence;
use crate::store::row::{SequenceRow, Step, milliseconds};
use crate::store::{Error, Store, not_found};
use crate::thought::{Appended, BRANCHES_MAX, Draft, Place, THOUGHTS_MAX, Warning, WarningCode};

use step::Before;
use target::Target;

/// The title is the beginning of the first thought.
const TITLE_CHARACTERS: usize = 80;

impl<D: Database> Store<D> {
    /// Appends `draft`, or answers as before when it is a repeat.
    ///
    /// 1. The same call arriving twice (the Worker retries the object) is known by its call id, once it is said to be a repeat.
    /// 2. A client's repeat is known by its content, against the newest thought of its branch.
    /// 3. Otherwise the branch and all references are resolved, or the call is refused and nothing is written.
    /// 4. The new row is decided from the newest row of the branch and of the sequence, and written: by one statement, or in
    ///    one transaction where a sequence or a branch begins with it.
    pub fn append(
        &self,
        draft: &Draft,
        settings: &Settings,
        fresh: &Fresh,
    ) -> Result<Appended, Error> {
        let keys = Keys::derive(&draft.sequence_id);
        let append = Append {
            draft,
            keys: &keys,
            settings,
            fresh,
            repeat_match: repeat_match(&keys, draft),
        };
        self.database
            .exclusive(|| match self.find(&keys, settings, fresh.now)? {
                Some(sequence) => append.to(self, &sequence),
                None if draft.is_first => append.first(self),
                None => Err(not_found().into()),
            })
    }
}

/// One append under way.
struct Append<'a> {
    draft: &'a Draft,
    keys: &'a Keys,
    settings: &'a Settings,
    fresh: &'a Fresh,
    repeat_match: [u8; seal::DIGEST_BYTES],
}

impl Append<'_> {
    fn first<D: Database>(&self, store: &Store<D>) -> Result<Appended, Error> {
        refuse::references_without_sequence(self.draft)?;
        let sequence = store.database.transaction(|| self.begin(store))?;
        store.remember(self.keys, &sequence.row, &sequence.newest);
        self.answer(&sequence, &sequence.newest, false)
    }

    fn begin<'s, D: Database>(&self, store: &'s Store<D>) -> Result<Sequence<'s, D>, Error> {
        let row = self.create_sequence(&store.database)?;
        let newest = step::next(self, &Before::default(), MAIN, &Target::default());
        self.insert(&store.database, row.sequence, &newest)?;
        Ok(Sequence {
            database: &store.database,
            row: Rc::new(row),
            newest,
        })
    }

    fn to<D: Database>(
        &self,
        store: &Store<D>,
        sequence: &Sequence<'_, D>,
    ) -> Result<Appended, Error> {
        if store.memory.is_repeat(&self.draft.call_id)
            && let Some(step) = sequence.step_of_call(&self.draft.call_id)?
        {
            return self.answer(sequence, &step, false);
        }
        let branch = self.existing_branch(sequence)?;
        let head = branch
            .map(|branch| sequence.head_step(branch))
            .transpose()?
            .flatten();
        if let Some(head) = &head
            && seal::equal(&head.repeat_match, &self.repeat_match)
        {
            return self.answer(sequence, head, true);
        }
        if sequence.newest.ordinal >= THOUGHTS_MAX {
            return Err(refuse::full().into());
        }
        let target = target::resolve(self, sequence, branch, head.as_ref())?;
        let before = Before::read(sequence, branch, head, &target)?;
        let step = match (branch, target.fork) {
            (Some(branch), _) => self.write(sequence, &before, branch, &target)?,
            (None, Some(fork)) => sequence.database.transaction(|| {
                let branch = self.create_branch(sequence, fork)?;
                self.write(sequence, &before, branch, &target)
            })?,
            (None, None) => return Err(DatabaseError::Corrupt("a branch without a fork").into()),
        };
        store.remember(self.keys, &sequence.row, &step);
        self.answer(sequence, &step, false)
    }

    fn write<D: Database>(
        &self,
        sequence: &Sequence<'_, D>,
        before: &Before,
        branch: u32,
        target: &Target,
    ) -> Result<Step, Error> {
        let step = step::next(self, before, branch, target);
        self.insert(sequence.database, sequence.row.sequence, &step)?;
        Ok(step)
    }

    /// The index of the draft's branch, if the sequence has it.
    fn existing_branch<D: Database>(
        &self,
        sequence: &Sequence<'_, D>,
    ) -> Result<Option<u32>, Error> {
        if self.draft.branch.is_main() {
            return Ok(Some(MAIN));
        }
        let row = sequence.branch_named(self.keys, &self.draft.branch)?;
        Ok(row.map(|row| row.branch))
    }

    fn create_sequence(&self, database: &impl Database) -> Result<SequenceRow, Error> {
        let title: String = self
            .draft
            .text
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .chars()
            .take(TITLE_CHARACTERS)
            .collect();
        let title = self.keys.seal(Field::Title, &title, self.fresh);
        let now = milliseconds(self.fresh.now);
        let rows = database.query(
            "insert into sequence (lookup, title, created_at, written_at) values (?, ?, ?, ?) returning sequence",
            &[
                self.keys.lookup().into(),
                title.as_slice().into(),
                now.clone(),
                now,
            ],
        )?;
        let mut row = rows
            .into_iter()
            .next()
            .ok_or(DatabaseError::Corrupt("an insert returned no row"))?;
        Ok(SequenceRow {
            sequence: row.integer(Column("sequence", "sequence"))?,
            title,
            origin: None,
            created_at: self.fresh.now,
            written_at: self.fresh.now,
            branches: 0,
        })
    }

    fn create_branch<D: Database>(
        &self,
        sequence: &Sequence<'_, D>,
        fork: graph::Node,
    ) -> Result<u32, Error> {
        let count = sequence.row.branches;
        if count >= BRANCHES_MAX {
            return Err(Refusal::new(
                Code::BranchLimit,
                format!(
                    "the sequence has {count} branches; it may have {BRANCHES_MAX}. Continue one of them, or begin a new sequence"
                ),
            )
            .into());
        }
        let index = count.saturating_add(1);
        let name = self.draft.branch.as_str();
        sequence.database.execute(
            "insert into branch (sequence, branch, name_match, name, parent, fork_ordinal, fork_number) values (?, ?, ?, ?, ?, ?, ?)",
            &[
                sequence.row.sequence.into(),
                index.into(),
                self.keys.branch_match(name).as_slice().into(),
                self.keys.seal(Field::Branch(index), name, self.fresh).into(),
                fork.branch.into(),
                fork.ordinal.into(),
                fork.number.into(),
            ],
        )?;
        Ok(index)
    }

    fn insert(&self, database: &impl Database, sequence: i64, step: &Step) -> Result<(), Error> {
        let text = &self.draft.text;
        let mut values = vec![
            Value::from(sequence),
            self.draft.call_id.as_slice().into(),
            self.keys
                .seal(Field::Thought(step.ordinal), text, self.fresh)
                .into(),
        ];
        let mut sql = String::with_capacity(512);
        sql.push_str("insert into thought (sequence, call_id, text");
        for (column, value) in step.values(sequence) {
            // Most are null, and each value costs time on its way into SQLite.
            if value != Value::Null {
                sql.push(',');
                sql.push_str(column);
                values.push(value);
            }
        }
        sql.push_str(") values (?");
        for _ in 1..values.len() {
            sql.push_str(",?");
        }
        sql.push(')');
        database.execute(&sql, &values)?;
        Ok(())
    }

    /// What `step` answers: at its first writing, and from the stored row at every repeat.
    fn answer<D: Database>(
        &self,
        sequence: &Sequence<'_, D>,
        step: &Step,
        is_repeat: bool,
    ) -> Result<Appended, Error> {
        let revised = match step.revises {
            None => None,
            Some(target) => Some(Place {
                branch: sequence.name(self.keys, target.branch)?,
                ordinal: target.ordinal,
                number: target.number,
            }),
        };
        let ended_by_guard = step.finished && step.next_needed;
        let mut warnings = warning::render(step, &self.draft.text);
        if is_repeat {
            warnings.push(Warning {
                code: WarningCode::Deduplicated,
                message:
                    "this step was stored before; this is its answer again and nothing was written"
                        .to_owned(),
            });
        }
        Ok(Appended {
            sequence_id: self.draft.sequence_id,
            ordinal: step.ordinal,
            number: step.number,
            total: step.total,
            thoughts: sequence.newest.ordinal.max(step.ordinal),
            branch: sequence.describe(self.keys, step.branch)?,
            branches: sequence.row.branches.max(step.branch),
            forks: step.forks,
            revised,
            superseded: step.superseded,
            summarizes_through: step.summarizes_through,
            progress_permille: step::progress_permille(step),
            completed: step.main_finished,
            next_thought_needed: !step.finished,
            ended_by_guard,
            warnings,
        })
    }
}

/// Equal for calls that say the same: number, total, text, flags and references.
fn repeat_match(keys: &Keys, draft: &Draft) -> [u8; seal::DIGEST_BYTES] {
    let numbers = [
        Some(draft.number),
        Some(draft.total),
        draft.branch_from_thought,
        draft.revises_thought,
        draft.summarizes_through,
    ]
    .map(|number| number.unwrap_or_default().to_be_bytes());
    let flags = [
        draft.next_thought_needed,
        draft.needs_more_thoughts,
        draft.rewind,
    ]
    .map(u8::from);
    let from = draft.branch_from_branch.as_ref();
    keys.repeat_match(&[
        numbers.as_flattened(),
        &flags,
        draft.branch.as_str().as_bytes(),
        from.map_or("", |name| name.as_str()).as_bytes(),
        draft.text.as_bytes(),
    ])
}

//! Replaying a thought of a document: the decisions of an append, except that nothing counts as a repeat, and that what the
//! document says of a reference must be what the store makes of it.

use std::rc::Rc;

use crate::database::{Database, DatabaseError};
use crate::fresh::Fresh;
use crate::refusal::{Code, Refusal};
use crate::seal::Keys;
use crate::sequence_id::SequenceId;
use crate::settings::Settings;
use crate::store::append::step::Before;
use crate::store::append::target::{self, Target};
use crate::store::append::{Append, refuse, repeat_match};
use crate::store::facts::Sequence;
use crate::store::import::{self, Claim, Entry};
use crate::store::{Error, Store};
use crate::thought::{BranchName, Draft, THOUGHTS_MAX};

pub(in crate::store) struct Replay<'a> {
    pub entry: &'a Entry,
    pub draft: &'a Draft,
    pub keys: &'a Keys,
    pub settings: &'a Settings,
    /// The time at which the thought was first written.
    pub moment: &'a Fresh,
}

/// The call that would have written `entry`.
pub(in crate::store) fn draft(
    entry: &Entry,
    sequence_id: SequenceId,
    moment: &Fresh,
    is_first: bool,
) -> Draft {
    let fork = entry.fork.as_ref();
    Draft {
        sequence_id,
        is_first,
        call_id: moment.draw(),
        text: entry.text.clone(),
        number: entry.number,
        total: entry.total,
        next_thought_needed: entry.next_thought_needed,
        needs_more_thoughts: entry.needs_more_thoughts,
        branch: entry.branch.clone(),
        branch_from_thought: fork.map(|fork| fork.number),
        branch_from_branch: fork.and_then(|fork| fork.branch.clone()),
        revises_thought: entry.revises.as_ref().map(|revises| revises.number),
        rewind: entry.rewind,
        summarizes_through: entry.summarizes_through,
    }
}

impl Replay<'_> {
    fn append(&self) -> Append<'_> {
        Append {
            draft: self.draft,
            keys: self.keys,
            settings: self.settings,
            fresh: self.moment,
            repeat_match: repeat_match(self.keys, self.draft),
        }
    }

    /// Begins the sequence.
    pub(in crate::store) fn first<'s, D: Database>(
        &self,
        store: &'s Store<D>,
    ) -> Result<Sequence<'s, D>, Error> {
        refuse::references_without_sequence(self.draft).map_err(|refusal| self.at(&refusal))?;
        self.append().begin(store)
    }

    /// Continues it. The sequence in memory moves on with the rows.
    pub(in crate::store) fn to<D: Database>(
        &self,
        sequence: &mut Sequence<'_, D>,
    ) -> Result<(), Error> {
        let append = self.append();
        if sequence.newest.ordinal >= THOUGHTS_MAX {
            return Err(self.at(&refuse::full()).into());
        }
        let branch = append.existing_branch(sequence)?;
        let head = branch
            .map(|branch| sequence.head_step(branch))
            .transpose()?
            .flatten();
        let target = target::resolve(&append, sequence, branch, head.as_ref())
            .map_err(|error| self.point(error))?;
        self.check_claims(sequence, branch, &target)?;
        let before = Before::read(sequence, branch, head, &target)?;
        let index = match (branch, target.fork) {
            (Some(branch), _) => branch,
            (None, Some(fork)) => append
                .create_branch(sequence, fork)
                .map_err(|error| self.point(error))?,
            (None, None) => return Err(DatabaseError::Corrupt("a branch without a fork").into()),
        };
        let step = append.write(sequence, &before, index, &target)?;
        let row = Rc::make_mut(&mut sequence.row);
        row.branches = row.branches.max(index);
        sequence.newest = step;
        Ok(())
    }

    /// What the document says of its references beside the numbers.
    fn check_claims<D: Database>(
        &self,
        sequence: &Sequence<'_, D>,
        branch: Option<u32>,
        target: &Target,
    ) -> Result<(), Error> {
        if let Some(claim) = &self.entry.fork {
            let found = match (branch, target.fork) {
                (None, Some(fork)) => Some((fork.branch, fork.ordinal)),
                (Some(branch), _) => sequence
                    .branch_row(branch)?
                    .map(|row| (row.parent, row.fork_ordinal)),
                (None, None) => None,
            };
            self.check_claim(sequence, "forked", claim, found)?;
        }
        if let Some(claim) = &self.entry.revises {
            let found = target
                .revises
                .map(|revises| (revises.branch, revises.ordinal));
            self.check_claim(sequence, "revised", claim, found)?;
        }
        Ok(())
    }

    fn check_claim<D: Database>(
        &self,
        sequence: &Sequence<'_, D>,
        member: &str,
        claim: &Claim,
        found: Option<(u32, u32)>,
    ) -> Result<(), Error> {
        let Some((branch, ordinal)) = found else {
            return Ok(());
        };
        let number = claim.number;
        if let Some(claimed) = claim.ordinal
            && claimed != ordinal
        {
            let reason = format!(
                "says ordinal {claimed}, but thought {number} is the one with ordinal {ordinal}"
            );
            return Err(import::refuse(&self.place(member), reason).into());
        }
        if let Some(claimed) = &claim.branch {
            let name: BranchName = sequence.name(self.keys, branch)?;
            if name != *claimed {
                let reason =
                    format!("says branch {claimed}, but thought {number} belongs to {name}");
                return Err(import::refuse(&self.place(member), reason).into());
            }
        }
        Ok(())
    }

    fn place(&self, member: &str) -> String {
        format!("{}/{member}", self.entry.place)
    }

    fn point(&self, error: Error) -> Error {
        match error {
            Error::Refused(refusal) => self.at(&refusal).into(),
            Error::Fault(fault) => Error::Fault(fault),
        }
    }

    /// A refusal of an append, pointing to the member that it is about.
    fn at(&self, refusal: &Refusal) -> Refusal {
        let member = match refusal.code {
            Code::RevisionTargetNotFound | Code::RevisionTargetSuperseded | Code::RevisionLimit => {
                "/revisesThought"
            }
            Code::SummaryTargetNotFound => "/summarizesThrough",
            Code::BranchPointNotFound | Code::BranchConflict => "/branchFromThought",
            Code::BranchNotFound | Code::BranchLimit => "/branchId",
            _ if self.entry.rewind => "/rewind",
            _ => "",
        };
        import::refuse(&format!("{}{member}", self.entry.place), &refusal.message)
    }
}

//! Reading a document, or the history pages of a server of these tools, one thought at a time.
//!
//! A document of any length is read in the memory that its longest thought needs. The first fault ends the reading, and is told
//! with its place as a JSON pointer. What the graph makes of a reference is left to the store behind [`Sink`].

mod members;
mod metered;
mod pages;

use std::collections::HashMap;
use std::io::Read;

use serde::de::DeserializeSeed;

use crate::clock::Timestamp;
use crate::database::Database;
use crate::settings::THOUGHT_CHARACTERS_MAX;
use crate::store;
use crate::store::import::{Claim, Entry, Importer, refuse};
use crate::thought::{BRANCHES_MAX, BranchName, NUMBER_MAX};
use crate::view::document::{Sequence, Target, Thought, check};

use metered::Metered;
use pages::Value;

/// The longest note of an origin that is kept.
const ORIGIN_CHARACTERS_MAX: usize = 500;

/// Takes the thoughts of a document in their order.
pub trait Sink {
    fn append(&mut self, entry: Entry) -> Result<(), store::Error>;
}

impl Sink for Vec<Entry> {
    fn append(&mut self, entry: Entry) -> Result<(), store::Error> {
        self.push(entry);
        Ok(())
    }
}

impl<D: Database> Sink for Importer<'_, D> {
    fn append(&mut self, entry: Entry) -> Result<(), store::Error> {
        Importer::append(self, &entry)
    }
}

/// What was read beside the thoughts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The note of where the new sequence came from.
    pub origin: String,
    /// What the answer to the first part gave, for the parts after it.
    pub upload: Option<String>,
    /// The ordinal of the first thought.
    pub first: u32,
    /// Further parts follow.
    pub more: bool,
}

/// Reads a whole document, and gives the note of where it came from.
pub fn read(
    input: impl Read,
    sink: &mut impl Sink,
    now: Timestamp,
) -> Result<String, store::Error> {
    let budget = metered::Budget::default();
    let input = Metered::new(input, budget.clone());
    let json = serde_json::Deserializer::from_reader(input);
    let source = read_values(json, budget, sink, now)?;
    if source.upload.is_some() || source.more {
        return Err(refuse("/upload", "this is one part of a document; give the whole").into());
    }
    Ok(source.origin)
}

/// Reads what one message can hold: a document or a part of one, or history pages.
pub fn read_part(text: &str, sink: &mut impl Sink, now: Timestamp) -> Result<Source, store::Error> {
    let json = serde_json::Deserializer::from_str(text);
    read_values(json, metered::Budget::default(), sink, now)
}

/// Reads the whole input into `sink`.
///
/// The input is one document, or history pages: one, an array of them, or one after another. `now` stands in for times that
/// a history does not tell.
fn read_values<'de, R: serde_json::de::Read<'de>>(
    mut json: serde_json::Deserializer<R>,
    budget: metered::Budget,
    sink: &mut impl Sink,
    now: Timestamp,
) -> Result<Source, store::Error> {
    let mut reader = Reader {
        sink,
        now,
        budget,
        fault: None,
        prefix: String::new(),
        place: String::new(),
        kind: None,
        is_checked: false,
        expected: None,
        count: 0,
        ordinal: 0,
        parents: HashMap::new(),
        began: None,
        origin: None,
        more: false,
        first: 1,
        upload: None,
        is_part: false,
    };
    let mut values: u32 = 0;
    loop {
        reader.value(&mut json)?;
        if json.end().is_ok() {
            break;
        }
        if reader.kind == Some(Kind::Document) {
            return Err(refuse("/", "something follows the document").into());
        }
        values = values.saturating_add(1);
        reader.prefix = format!("page {}: ", values.saturating_add(1));
    }
    reader.finish()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Document,
    History,
}

struct Reader<'s, S> {
    sink: &'s mut S,
    now: Timestamp,
    budget: metered::Budget,
    /// Why the reading was ended, when that was not the JSON's fault.
    fault: Option<store::Error>,
    /// What stands before the pointer: which of several pages.
    prefix: String,
    /// The element that is being read.
    place: String,
    kind: Option<Kind>,
    /// The objects carry checks.
    is_checked: bool,
    /// How many thoughts there must be.
    expected: Option<u32>,
    count: u32,
    ordinal: u32,
    parents: HashMap<BranchName, BranchName>,
    began: Option<Timestamp>,
    origin: Option<String>,
    /// The page before said that another one follows.
    more: bool,
    /// The ordinal of the first thought.
    first: u32,
    upload: Option<String>,
    /// The document says that more parts follow.
    is_part: bool,
}

/// A fault ends the reading.
type Checked = Result<(), store::Error>;

impl<S: Sink> Reader<'_, S> {
    /// Reads one value: a document, a page, or an array of pages.
    fn value<'de, R: serde_json::de::Read<'de>>(
        &mut self,
        json: &mut serde_json::Deserializer<R>,
    ) -> Checked {
        self.place = format!("{}/", self.prefix);
        let result = Value { reader: self }.deserialize(json);
        let Err(error) = result else { return Ok(()) };
        // What JSON itself has against the text is told with the element in which it was found.
        let place = std::mem::take(&mut self.place);
        Err(self
            .fault
            .take()
            .unwrap_or_else(|| refuse(&place, error).into()))
    }

    fn header(&mut self, mut header: Sequence, place: &str) -> Checked {
        let given = header.check.take();
        let branches = header.branches.take();
        if branches
            .as_ref()
            .is_some_and(|branches| branches.len() > BRANCHES_MAX as usize)
        {
            let reason = format!("a sequence has at most {BRANCHES_MAX} branches");
            return Err(refuse(&format!("{place}/branches"), reason).into());
        }
        header.branches = branches;
        if self.kind == Some(Kind::Document) {
            self.is_checked = given.is_some();
            if given.is_some_and(|given| given != check(&header)) {
                return Err(changed(place).into());
            }
        }
        self.expected = Some(header.thought_history_length);
        self.began = self.began.or(header.created_at.map(|moment| moment.0));
        for branch in header.branches.into_iter().flatten() {
            let parent = branch.parent_branch_id.unwrap_or_else(BranchName::main);
            self.parents.insert(branch.branch_id, parent);
        }
        if header.origin.is_some() {
            self.origin = header.origin;
        }
        Ok(())
    }

    fn thought(&mut self, thought: Thought, place: String) -> Checked {
        self.count = self.count.saturating_add(1);
        let entry = self.entry(thought, place)?;
        if self.began.is_none() {
            self.began = Some(entry.written_at);
        }
        self.budget.renew();
        self.sink.append(entry)
    }

    /// Judges a thought as far as that can be done without the store.
    fn entry(&mut self, mut thought: Thought, place: String) -> Result<Entry, store::Error> {
        let is_document = self.kind == Some(Kind::Document);
        let at = |member: &str| format!("{place}/{member}");
        if is_document {
            let given = thought.check.take();
            if given.is_some() != self.is_checked {
                let reason = "either the sequence and every thought have a check, or none has";
                return Err(refuse(&at("check"), reason).into());
            }
            if given.is_some_and(|given| given != check(&thought)) {
                return Err(changed(&place).into());
            }
        }
        self.check_ordinal(thought.ordinal, &at("ordinal"))?;
        let number = number(thought.thought_number, &at("thoughtNumber"))?;
        let total = self::number(thought.total_thoughts, &at("totalThoughts"))?;
        if is_document && total < number {
            return Err(refuse(&at("totalThoughts"), "is below thoughtNumber").into());
        }
        check_text(&thought.thought, &at("thought"))?;
        let written_at = match thought.created_at {
            Some(moment) => moment.0,
            None if is_document => return Err(refuse(&at("createdAt"), "is missing").into()),
            None => self.now,
        };
        check_references(&thought, &place)?;
        let branch = thought.branch_id.unwrap_or_else(BranchName::main);
        let fork = thought.branch_from_thought.map(|number| {
            let known = self.parents.get(&branch).cloned();
            claim(number, thought.forked, known)
        });
        let revises = thought
            .revises_thought
            .map(|number| claim(number, thought.revised, None));
        Ok(Entry {
            written_at,
            text: thought.thought,
            number,
            total: total.max(number),
            next_thought_needed: thought.next_thought_needed,
            needs_more_thoughts: thought.needs_more_thoughts,
            branch,
            fork,
            revises,
            rewind: thought.rewind,
            summarizes_through: thought.summarizes_through,
            place,
        })
    }

    /// A document counts its thoughts. In a history of another server the numbers may have gaps.
    fn check_ordinal(&mut self, ordinal: u32, place: &str) -> Checked {
        let fits = match self.kind {
            Some(Kind::Document) if self.count == 1 && self.upload.is_some() => {
                self.first = ordinal;
                ordinal > 1
            }
            Some(Kind::Document) => ordinal == self.ordinal.saturating_add(1),
            _ => ordinal > self.ordinal,
        };
        let after = self.ordinal;
        self.ordinal = ordinal;
        if fits {
            return Ok(());
        }
        let reason = format!(
            "{ordinal} came after {after}: the thoughts must stand in the order of their ordinals, without a gap"
        );
        Err(refuse(place, reason).into())
    }

    fn finish(self) -> Result<Source, store::Error> {
        if self.more {
            let reason = format!(
                "nextCursor says that more follows after {} thoughts. Give all pages, in order asc",
                self.count
            );
            return Err(refuse(&format!("{}/nextCursor", self.prefix), reason).into());
        }
        let count = match self.kind {
            Some(Kind::Document) => self.ordinal,
            _ => self.count,
        };
        if let Some(expected) = self.expected {
            let place = format!("{}/sequence/thoughtHistoryLength", self.prefix);
            if self.is_part && expected <= count {
                let reason = format!("says {expected}, so nothing follows after {count} thoughts");
                return Err(refuse(&place, reason).into());
            }
            if !self.is_part && expected != count {
                let reason = format!("says {expected}, but there are {count} thoughts");
                return Err(refuse(&place, reason).into());
            }
        }
        Ok(Source {
            origin: self.note(),
            upload: self.upload,
            first: self.first,
            more: self.is_part,
        })
    }

    /// Where the new sequence came from.
    fn note(&self) -> String {
        let source = match self.kind {
            Some(Kind::Document) => "an exported document",
            _ => "a thought history",
        };
        let mut note = format!(
            "Imported {} from {source} of {} thoughts",
            self.now.to_rfc3339(),
            self.expected.unwrap_or(self.count)
        );
        match self.began {
            Some(began) if began != self.now => {
                note.push_str(&format!(", the first of {}", began.to_rfc3339()));
            }
            _ => note.push_str(", which tells no times"),
        }
        if let Some(before) = &self.origin {
            note.push_str(&format!(". Before that: {before}"));
        }
        note.chars().take(ORIGIN_CHARACTERS_MAX).collect()
    }
}

fn changed(place: &str) -> crate::refusal::Refusal {
    let place_of_check = format!("{place}/check");
    refuse(
        &place_of_check,
        "does not fit: this object was changed after the export. To import a document that was edited on purpose, take every check out of it",
    )
}

fn number(value: u32, place: &str) -> Result<u32, store::Error> {
    if (1..=NUMBER_MAX).contains(&value) {
        return Ok(value);
    }
    let reason = format!("{value} came; it is a whole number from 1 to {NUMBER_MAX}");
    Err(refuse(place, reason).into())
}

fn check_text(text: &str, place: &str) -> Checked {
    if text.trim().is_empty() {
        return Err(refuse(place, "is blank").into());
    }
    let characters = text.chars().count();
    if characters > THOUGHT_CHARACTERS_MAX as usize {
        let reason =
            format!("has {characters} characters; a thought has at most {THOUGHT_CHARACTERS_MAX}");
        return Err(refuse(place, reason).into());
    }
    Ok(())
}

/// Members that need one another.
fn check_references(thought: &Thought, place: &str) -> Checked {
    let is_main = thought.branch_id.as_ref().is_none_or(BranchName::is_main);
    let faults = [
        (
            "isRevision",
            thought.is_revision != thought.revises_thought.is_some(),
            "isRevision and revisesThought go together",
        ),
        (
            "revised",
            thought.revised.is_some() && !thought.is_revision,
            "needs revisesThought",
        ),
        (
            "rewind",
            thought.rewind && !thought.is_revision,
            "needs revisesThought",
        ),
        (
            "branchFromThought",
            thought.branch_from_thought.is_some() && is_main,
            "needs a branchId other than main",
        ),
        (
            "forked",
            thought.forked.is_some() && thought.branch_from_thought.is_none(),
            "needs branchFromThought",
        ),
    ];
    match faults.into_iter().find(|(_, is_fault, _)| *is_fault) {
        None => Ok(()),
        Some((member, _, reason)) => Err(refuse(&format!("{place}/{member}"), reason).into()),
    }
}

fn claim(number: u32, target: Option<Target>, known: Option<BranchName>) -> Claim {
    match target {
        Some(target) => Claim {
            number,
            branch: Some(target.branch_id),
            ordinal: Some(target.ordinal),
        },
        None => Claim {
            number,
            branch: known,
            ordinal: None,
        },
    }
}

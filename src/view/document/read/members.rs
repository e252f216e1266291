//! One object of a document, read member by member, so that each fault is told with its own place (RFC 6901).

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::clock::Timestamp;
use crate::store;
use crate::store::import::refuse;
use crate::thought::BranchName;
use crate::view::document::{Branch, Moment, Sequence, Target, Thought};

/// How much is shown of a name that nobody asked for.
const NAME_CHARACTERS_MAX: usize = 64;

type Read<T> = Result<T, store::Error>;

/// What is left of an object. Each member is taken out once; `null` counts as absent.
pub(super) struct Members {
    place: String,
    left: Pairs,
}

/// The members in their order. One that stands twice would be read as the one or the other, so it is refused.
struct Pairs(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PairsVisitor)
    }
}

struct PairsVisitor;

impl<'de> Visitor<'de> for PairsVisitor {
    type Value = Pairs;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
        let mut pairs: Vec<(String, Value)> = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            if pairs.iter().any(|(known, _)| *known == name) {
                return Err(A::Error::custom(format!("{name} stands here twice")));
            }
            pairs.push((name, map.next_value()?));
        }
        Ok(Pairs(pairs))
    }
}

impl Members {
    pub(super) fn read(object: &RawValue, place: &str) -> Read<Self> {
        let left = serde_json::from_str(object.get()).map_err(|error| refuse(place, error))?;
        Ok(Self {
            place: place.to_owned(),
            left,
        })
    }

    fn inner(value: Value, place: String) -> Read<Self> {
        match value {
            Value::Object(object) => Ok(Self {
                place,
                left: Pairs(object.into_iter().collect()),
            }),
            other => Err(unfit(&place, &other, "an object")),
        }
    }

    fn at(&self, name: &str) -> String {
        format!("{}/{}", self.place, shown(name))
    }

    fn take(&mut self, name: &str) -> Option<Value> {
        let index = self.left.0.iter().position(|(known, _)| known == name)?;
        let (_, value) = self.left.0.swap_remove(index);
        (!value.is_null()).then_some(value)
    }

    fn missing(&self, name: &str) -> store::Error {
        refuse(&self.at(name), "is missing").into()
    }

    fn text(&mut self, name: &str) -> Read<Option<String>> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(unfit(&self.at(name), &other, "a text")),
        }
    }

    fn flag(&mut self, name: &str) -> Read<Option<bool>> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(other) => Err(unfit(&self.at(name), &other, "true or false")),
        }
    }

    fn integer(&mut self, name: &str) -> Read<Option<u32>> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        let integer = value.as_u64().and_then(|value| u32::try_from(value).ok());
        match integer {
            Some(integer) => Ok(Some(integer)),
            None => Err(unfit(&self.at(name), &value, "a whole number")),
        }
    }

    fn required(&mut self, name: &str) -> Read<u32> {
        self.integer(name)?.ok_or_else(|| self.missing(name))
    }

    fn branch(&mut self, name: &str) -> Read<Option<BranchName>> {
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        let branch = BranchName::parse(&text).map_err(|bad| refuse(&self.at(name), bad))?;
        Ok(Some(branch))
    }

    fn moment(&mut self, name: &str) -> Read<Option<Moment>> {
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        let time = Timestamp::parse_rfc3339(&text)
            .ok_or_else(|| refuse(&self.at(name), "a time looks like 2026-11-30T13:45:00.000Z"))?;
        Ok(Some(Moment(time)))
    }

    fn target(&mut self, name: &str) -> Read<Option<Target>> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        let mut members = Self::inner(value, self.at(name))?;
        let target = Target {
            branch_id: members
                .branch("branchId")?
                .ok_or_else(|| members.missing("branchId"))?,
            ordinal: members.required("ordinal")?,
        };
        members.end()?;
        Ok(Some(target))
    }

    /// Nothing may be left that nobody asked for.
    fn end(self) -> Read<()> {
        match self.left.0.first() {
            None => Ok(()),
            Some((name, _)) => Err(refuse(&self.at(name), "unknown field").into()),
        }
    }

    pub(super) fn sequence(mut self) -> Read<Sequence> {
        // In a history; never kept.
        self.take("sequenceId");
        let sequence = Sequence {
            title: self.text("title")?.unwrap_or_default(),
            completed: self.flag("completed")?.unwrap_or_default(),
            thought_history_length: self.required("thoughtHistoryLength")?,
            last_thought_number: self.integer("lastThoughtNumber")?,
            total_thoughts: self.integer("totalThoughts")?,
            created_at: self.moment("createdAt")?,
            updated_at: self.moment("updatedAt")?,
            branches: self.branches()?,
            origin: self.text("origin")?,
            check: self.text("check")?,
        };
        self.end()?;
        Ok(sequence)
    }

    fn branches(&mut self) -> Read<Option<Vec<Branch>>> {
        let place = self.at("branches");
        let branches = match self.take("branches") {
            None => return Ok(None),
            Some(Value::Array(branches)) => branches,
            Some(other) => return Err(unfit(&place, &other, "an array of branches")),
        };
        let branches = branches.into_iter().enumerate();
        let branches = branches
            .map(|(index, branch)| Self::inner(branch, format!("{place}/{index}"))?.a_branch());
        branches.collect::<Read<_>>().map(Some)
    }

    fn a_branch(mut self) -> Read<Branch> {
        let branch = Branch {
            branch_id: self
                .branch("branchId")?
                .ok_or_else(|| self.missing("branchId"))?,
            parent_branch_id: self.branch("parentBranchId")?,
            branch_from_thought: self.required("branchFromThought")?,
            fork_ordinal: self.integer("forkOrdinal")?,
            last_thought_number: self.integer("lastThoughtNumber")?,
            completed: self.flag("completed")?.unwrap_or_default(),
            hanging: self.flag("hanging")?.unwrap_or_default(),
        };
        self.end()?;
        Ok(branch)
    }

    pub(super) fn thought(mut self) -> Read<Thought> {
        let thought = Thought {
            ordinal: self.required("ordinal")?,
            thought_number: self.required("thoughtNumber")?,
            total_thoughts: self.required("totalThoughts")?,
            thought: self
                .text("thought")?
                .ok_or_else(|| self.missing("thought"))?,
            created_at: self.moment("createdAt")?,
            branch_id: self.branch("branchId")?,
            next_thought_needed: self.flag("nextThoughtNeeded")?.unwrap_or(true),
            needs_more_thoughts: self.flag("needsMoreThoughts")?.unwrap_or_default(),
            is_revision: self.flag("isRevision")?.unwrap_or_default(),
            revises_thought: self.integer("revisesThought")?,
            revised: self.target("revised")?,
            rewind: self.flag("rewind")?.unwrap_or_default(),
            superseded: self.flag("superseded")?.unwrap_or_default(),
            branch_from_thought: self.integer("branchFromThought")?,
            forked: self.target("forked")?,
            summarizes_through: self.integer("summarizesThrough")?,
            check: self.text("check")?,
        };
        self.end()?;
        Ok(thought)
    }
}

/// What came is told by its kind: it may be long, or a thought.
fn unfit(place: &str, value: &Value, right: &str) -> store::Error {
    let came = match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(value) => value.to_string(),
        Value::String(_) => "a text".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    };
    refuse(place, format!("{came} came; it must be {right}")).into()
}

/// A name in a pointer.
pub(super) fn shown(name: &str) -> String {
    let shown: String = name.chars().take(NAME_CHARACTERS_MAX).collect();
    shown.replace('~', "~0").replace('/', "~1")
}

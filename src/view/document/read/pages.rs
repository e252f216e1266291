//! The JSON around the thoughts: pages and their members, visited while they are parsed.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::Value as Json;
use serde_json::value::RawValue;

use crate::json;
use crate::store::import::refuse;
use crate::view::document::read::members::{Members, shown};
use crate::view::document::read::{Checked, Kind, Reader, Sink};
use crate::view::document::{FORMAT, VERSION};

/// A document, a page, or an array of pages.
pub(super) struct Value<'r, 's, S> {
    pub reader: &'r mut Reader<'s, S>,
}

impl<'de, S: Sink> DeserializeSeed<'de> for Value<'_, '_, S> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, S: Sink> Visitor<'de> for Value<'_, '_, S> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an exported document or the pages of a thought history")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        let place = self.reader.prefix.clone();
        self.reader.page(map, &place)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut pages: A) -> Result<(), A::Error> {
        let mut index: usize = 0;
        let reader = self.reader;
        let place = reader.prefix.clone();
        while pages
            .next_element_seed(Page {
                reader: &mut *reader,
                place: format!("{place}/{index}"),
            })?
            .is_some()
        {
            index = index.saturating_add(1);
        }
        Ok(())
    }
}

struct Page<'r, 's, S> {
    reader: &'r mut Reader<'s, S>,
    place: String,
}

impl<'de, S: Sink> DeserializeSeed<'de> for Page<'_, '_, S> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, S: Sink> Visitor<'de> for Page<'_, '_, S> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a page of a thought history")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        self.reader.page(map, &self.place)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Member {
    Format,
    Version,
    Sequence,
    Thoughts,
    NextCursor,
    Upload,
    More,
}

impl Member {
    const ALL: [(Self, &'static str); 7] = [
        (Self::Format, "format"),
        (Self::Version, "version"),
        (Self::Sequence, "sequence"),
        (Self::Thoughts, "thoughts"),
        (Self::NextCursor, "nextCursor"),
        (Self::Upload, "upload"),
        (Self::More, "more"),
    ];
}

impl<S: Sink> Reader<'_, S> {
    fn page<'de, A: MapAccess<'de>>(&mut self, mut map: A, place: &str) -> Result<(), A::Error> {
        if self.kind == Some(Kind::Document) {
            return Err(A::Error::custom("a document stands alone"));
        }
        self.more = false;
        let mut seen = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            let member = Member::ALL.into_iter().find(|(_, known)| *known == name);
            let Some((member, name)) = member else {
                return Err(self.stop(place, &shown(&name), "unknown field"));
            };
            self.place = format!("{place}/{name}");
            if seen.contains(&member) {
                return Err(A::Error::custom("this member stands here twice"));
            }
            self.member(member, &mut map, &seen, place)?;
            seen.push(member);
        }
        self.place = format!("{place}/");
        let is_document = self.kind == Some(Kind::Document);
        let has = |member| seen.contains(&member);
        if !has(Member::Sequence) {
            return Err(self.stop(place, "sequence", "is missing"));
        }
        if !has(Member::Thoughts) {
            return Err(self.stop(place, "thoughts", "is missing"));
        }
        if is_document != has(Member::Version) {
            return Err(self.stop(place, "version", "format and version go together"));
        }
        if !is_document && (has(Member::Upload) || has(Member::More)) {
            return Err(self.stop(place, "upload", "a history comes in one piece"));
        }
        if is_document && has(Member::NextCursor) {
            return Err(self.stop(place, "nextCursor", "a document has one page"));
        }
        Ok(())
    }

    fn member<'de, A: MapAccess<'de>>(
        &mut self,
        member: Member,
        map: &mut A,
        seen: &[Member],
        place: &str,
    ) -> Result<(), A::Error> {
        match member {
            Member::Format => {
                let format: Json = map.next_value()?;
                let is_first = self.kind.is_none() && !seen.contains(&Member::Thoughts);
                if format.as_str() != Some(FORMAT) || !is_first {
                    let reason = format!("must be \"{FORMAT}\", and stand before the sequence");
                    return Err(self.stop(place, "format", &reason));
                }
                self.kind = Some(Kind::Document);
            }
            Member::Version => {
                let version: Json = map.next_value()?;
                if version.as_u64() != Some(VERSION.into()) {
                    let version: String = json::text(&version).chars().take(20).collect();
                    let reason = format!("{version} came; this program reads {VERSION}");
                    return Err(self.stop(place, "version", &reason));
                }
            }
            Member::Sequence => {
                let header: Box<RawValue> = map.next_value()?;
                self.kind.get_or_insert(Kind::History);
                self.budget.renew();
                let place = format!("{place}/sequence");
                let checked = Members::read(&header, &place)
                    .and_then(Members::sequence)
                    .and_then(|header| self.header(header, &place));
                self.keep(checked)?;
            }
            Member::Thoughts if !seen.contains(&Member::Sequence) => {
                return Err(self.stop(place, "thoughts", "must stand after the sequence"));
            }
            Member::Thoughts => map.next_value_seed(Thoughts {
                reader: self,
                place,
            })?,
            Member::Upload if seen.contains(&Member::Thoughts) => {
                return Err(self.stop(place, "upload", "must stand before the thoughts"));
            }
            Member::Upload => match map.next_value()? {
                Json::String(upload) => self.upload = Some(upload),
                _ => return Err(self.stop(place, "upload", "must be a text")),
            },
            Member::More => match map.next_value()? {
                Json::Bool(more) => self.is_part = more,
                _ => return Err(self.stop(place, "more", "must be true or false")),
            },
            Member::NextCursor => self.more = map.next_value::<Json>()? != Json::Null,
        }
        Ok(())
    }

    /// Ends the reading for a reason of ours.
    fn stop<E: serde::de::Error>(&mut self, place: &str, member: &str, reason: &str) -> E {
        self.fault = Some(refuse(&format!("{place}/{member}"), reason).into());
        E::custom(reason)
    }

    fn keep<E: serde::de::Error>(&mut self, checked: Checked) -> Result<(), E> {
        checked.map_err(|fault| {
            self.fault = Some(fault);
            E::custom("refused")
        })
    }
}

/// The thoughts of a page, each handed on before the next is read.
struct Thoughts<'r, 's, 'p, S> {
    reader: &'r mut Reader<'s, S>,
    place: &'p str,
}

impl<'de, S: Sink> DeserializeSeed<'de> for Thoughts<'_, '_, '_, S> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, S: Sink> Visitor<'de> for Thoughts<'_, '_, '_, S> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an array of thoughts")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut thoughts: A) -> Result<(), A::Error> {
        let mut index: usize = 0;
        loop {
            let place = format!("{}/thoughts/{index}", self.place);
            self.reader.place.clone_from(&place);
            let Some(thought) = thoughts.next_element::<Box<RawValue>>()? else {
                break;
            };
            index = index.saturating_add(1);
            let checked = Members::read(&thought, &place)
                .and_then(Members::thought)
                .and_then(|thought| self.reader.thought(thought, place));
            self.reader.keep(checked)?;
        }
        Ok(())
    }
}

//! A key-value store as the platform has it: one view per location, misses remembered, one write a second and key,
//! no time to live under a minute, and failures on demand.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use durable_thinking::oauth::port::Trouble;

/// How long a location may keep what it read, a miss included.
pub const LAG_SECONDS: u64 = 60;

#[derive(Default)]
pub struct Kv {
    truth: RefCell<BTreeMap<String, Entry>>,
    views: RefCell<BTreeMap<(usize, String), View>>,
    pub operations: Cell<u64>,
    pub is_down: Cell<bool>,
    /// Every write is refused, as when the daily quota is used up.
    pub is_full: Cell<bool>,
}

#[derive(Clone)]
struct Entry {
    value: String,
    expires: u64,
    written: u64,
}

struct View {
    value: Option<Entry>,
    until: u64,
}

impl Kv {
    pub fn get(&self, location: usize, key: &str, now: u64) -> Result<Option<String>, Trouble> {
        self.operations.set(self.operations.get() + 1);
        if self.is_down.get() {
            return Err(Trouble);
        }
        let mut views = self.views.borrow_mut();
        let at = (location, key.to_owned());
        if let Some(view) = views.get(&at).filter(|view| view.until > now) {
            return Ok(live(view.value.as_ref(), now));
        }
        let value = self.truth.borrow().get(key).cloned();
        let found = live(value.as_ref(), now);
        let until = now + LAG_SECONDS;
        views.insert(at, View { value, until });
        Ok(found)
    }

    pub fn put(
        &self,
        location: usize,
        key: &str,
        value: &str,
        ttl_seconds: u64,
        now: u64,
    ) -> Result<(), Trouble> {
        self.operations.set(self.operations.get() + 1);
        assert!(
            ttl_seconds >= 60,
            "the platform refuses {ttl_seconds} seconds"
        );
        let mut truth = self.truth.borrow_mut();
        let too_soon = truth.get(key).is_some_and(|entry| entry.written == now);
        if self.is_down.get() || self.is_full.get() || too_soon {
            return Err(Trouble);
        }
        let entry = Entry {
            value: value.to_owned(),
            expires: now + ttl_seconds,
            written: now,
        };
        // Where it was written it is usually seen at once; anywhere else when that location's own view ends.
        self.views.borrow_mut().remove(&(location, key.to_owned()));
        truth.insert(key.to_owned(), entry);
        Ok(())
    }

    pub fn delete(&self, location: usize, key: &str) -> Result<(), Trouble> {
        self.operations.set(self.operations.get() + 1);
        if self.is_down.get() {
            return Err(Trouble);
        }
        self.views.borrow_mut().remove(&(location, key.to_owned()));
        self.truth.borrow_mut().remove(key);
        Ok(())
    }

    pub fn len(&self) -> usize {
        self.truth.borrow().len()
    }

    pub fn dump(&self) -> String {
        let truth = self.truth.borrow();
        let pairs: Vec<_> = truth
            .iter()
            .map(|(key, entry)| format!("{key}={}", entry.value))
            .collect();
        pairs.join("\n")
    }
}

fn live(entry: Option<&Entry>, now: u64) -> Option<String> {
    entry
        .filter(|entry| entry.expires > now)
        .map(|entry| entry.value.clone())
}

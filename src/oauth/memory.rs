//! What one isolate remembers between requests: the root keys, tokens seen alive or dead a moment ago, client documents.
//!
//! All of it may vanish at any moment, and nothing here is ever the only proof that something does not exist.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::fresh::Fresh;
use crate::oauth::keys::{KeyId, Keyring, Missing, Refusal, RootKey};
use crate::oauth::port::{Ports, Trouble, ask_twice};
use crate::oauth::vault::message::{Answer, Ask, Hash, Record};

const LIVE_SECONDS: u64 = 30;
const DEAD_SECONDS: u64 = 5;
const TOKENS_MAX: usize = 1000;
const DOCUMENTS_MAX: usize = 50;
/// How old the keys may get before the vault is asked again, if it can be reached.
const RING_SECONDS: u64 = 600;
/// How soon an unknown key id may make the vault be asked again: strangers can write any number into a token.
const RING_AGAIN_SECONDS: u64 = 5;

#[derive(Default)]
pub struct Memory {
    ring: RefCell<Option<(Rc<Keyring>, u64)>>,
    tokens: RefCell<HashMap<Hash, Seen>>,
    documents: RefCell<HashMap<String, Remembered>>,
}

#[derive(Clone)]
struct Seen {
    until: u64,
    record: Option<Record>,
}

#[derive(Clone)]
struct Remembered {
    until: u64,
    body: Option<String>,
}

/// Why something sealed could be neither opened nor refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsure {
    /// There is no key, because the vault could not be asked.
    NoKeys,
    /// It names a key that is not there, and the vault was asked a moment ago.
    AskedLately,
}

impl Memory {
    /// The root keys: remembered, or asked for.
    pub async fn ring<P: Ports>(&self, ports: &P, fresh: &Fresh) -> Result<Rc<Keyring>, Trouble> {
        let now = fresh.now.seconds();
        let known = self.ring.borrow().clone();
        match known {
            Some((ring, at)) if now.saturating_sub(at) < RING_SECONDS => Ok(ring),
            Some((ring, _)) => Ok(self.ask_ring(ports, fresh).await.unwrap_or(ring)),
            None => self.ask_ring(ports, fresh).await,
        }
    }

    /// Opens something sealed. When it names a key newer than the remembered ones, another isolate may have met a
    /// rotation: the vault is asked before it is refused.
    pub async fn open<P: Ports, T>(
        &self,
        ports: &P,
        fresh: &Fresh,
        open: impl Fn(&Keyring) -> Result<T, Refusal>,
    ) -> Result<Result<T, Refusal>, Unsure> {
        let ring = self.ring(ports, fresh).await.map_err(|_| Unsure::NoKeys)?;
        let first = open(&ring);
        if !matches!(first, Err(Refusal::Key(Missing::Newer))) {
            return Ok(first);
        }
        let now = fresh.now.seconds();
        let asked = self.ring.borrow().as_ref().map_or(0, |(_, at)| *at);
        if now.saturating_sub(asked) < RING_AGAIN_SECONDS {
            return Err(Unsure::AskedLately);
        }
        let ring = self
            .ask_ring(ports, fresh)
            .await
            .map_err(|_| Unsure::NoKeys)?;
        Ok(open(&ring))
    }

    async fn ask_ring<P: Ports>(&self, ports: &P, fresh: &Fresh) -> Result<Rc<Keyring>, Trouble> {
        let Answer::Keys { keys } = ask_twice(ports, fresh, &Ask::Keys).await? else {
            return Err(Trouble);
        };
        let keys = keys
            .into_iter()
            .filter_map(|(number, bytes)| Some(RootKey::new(KeyId::new(number)?, bytes.0)));
        let ring = Rc::new(Keyring::new(keys.collect()).ok_or(Trouble)?);
        *self.ring.borrow_mut() = Some((Rc::clone(&ring), fresh.now.seconds()));
        Ok(ring)
    }

    pub fn forget_ring(&self) {
        *self.ring.borrow_mut() = None;
    }

    /// `None`: not seen lately. `Some(None)`: the vault said a moment ago that it is dead.
    pub fn token(&self, token: &Hash, now: u64) -> Option<Option<Record>> {
        self.tokens
            .borrow()
            .get(token)
            .filter(|seen| seen.until > now)
            .map(|seen| seen.record.clone())
    }

    pub fn remember_live(&self, token: Hash, record: Record, now: u64) {
        let until = now.saturating_add(LIVE_SECONDS).min(record.expires);
        self.remember(token, Some(record), until, now);
    }

    pub fn remember_dead(&self, token: Hash, now: u64) {
        self.remember(token, None, now.saturating_add(DEAD_SECONDS), now);
    }

    pub fn forget_token(&self, token: &Hash) {
        self.tokens.borrow_mut().remove(token);
    }

    fn remember(&self, token: Hash, record: Option<Record>, until: u64, now: u64) {
        let mut tokens = self.tokens.borrow_mut();
        if tokens.len() >= TOKENS_MAX {
            tokens.retain(|_, seen| seen.until > now);
            if tokens.len() >= TOKENS_MAX {
                tokens.clear();
            }
        }
        tokens.insert(token, Seen { until, record });
    }

    /// A document fetched a while ago; `Some(None)`: it could not be had a moment ago.
    pub fn document(&self, url: &str, now: u64) -> Option<Option<String>> {
        self.documents
            .borrow()
            .get(url)
            .filter(|remembered| remembered.until > now)
            .map(|remembered| remembered.body.clone())
    }

    pub fn remember_document(&self, url: &str, body: Option<String>, until: u64, now: u64) {
        let mut documents = self.documents.borrow_mut();
        if documents.len() >= DOCUMENTS_MAX {
            documents.retain(|_, remembered| remembered.until > now);
            if documents.len() >= DOCUMENTS_MAX {
                documents.clear();
            }
        }
        documents.insert(url.to_owned(), Remembered { until, body });
    }
}

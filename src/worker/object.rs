//! The Durable Object that holds every thought: it reads a call, runs it on its store, and writes the outcome.
//!
//! What a call does is left to `tools`; who may make one to the Worker, since nobody else reaches this object.

use std::cell::{Cell, OnceCell};
use std::rc::Rc;

use wasm_bindgen::prelude::*;
use worker::Env;

use super::alarm::Alarm;
use super::stub::{self, Silence};
use super::work::Work;
use super::{host, log};
use crate::database::durable::Durable;
use crate::database::{Cost, Database, DatabaseError};
use crate::log::{Level, cost, database_fault, expired, fault};
use crate::refusal::Refusal;
use crate::settings::Settings;
use crate::store::{self, Store};
use crate::tools::{self, Call, Outcome};
use crate::wire;

/// What `entry.mjs` makes a class of the platform of.
#[wasm_bindgen]
pub struct ThoughtStore(Rc<Object>);

struct Object {
    storage: JsValue,
    alarm: Alarm,
    settings: Settings,
    store: OnceCell<Store<Durable>>,
    /// A call may have brought the next expiry nearer.
    is_unsettled: Cell<bool>,
}

#[wasm_bindgen]
impl ThoughtStore {
    #[wasm_bindgen(constructor)]
    pub fn new(state: &JsValue, env: &Env) -> Self {
        let lookup = |name: &str| host::variable(env, name);
        log::set_level(Level::parse(lookup).0);
        Self(Rc::new(Object {
            storage: host::storage(state),
            // The Worker reports what cannot be understood.
            settings: Settings::parse(lookup).0,
            store: OnceCell::new(),
            alarm: Alarm::default(),
            is_unsettled: Cell::default(),
        }))
    }

    /// Runs a call and returns the bytes of its answer, or the word of a silence; without a question it opens the store and
    /// looks no further. Nothing is awaited in here, so no other call comes between.
    pub fn ask(&self, question: Option<Vec<u8>>, request_id: &str) -> JsValue {
        stub::reply(self.0.answer(question, request_id))
    }

    /// Whether [`Self::settle`] has something to do before the answer may be sent.
    pub fn is_unsettled(&self) -> bool {
        self.0.is_unsettled.get()
    }

    /// Sets the alarm. A call that was stored stays stored whatever becomes of it, so a failure is only logged.
    pub fn settle(&self, request_id: String) -> Work {
        let object = Rc::clone(&self.0);
        object.is_unsettled.set(false);
        Work::new(async move {
            object.keep_alarm(&request_id).await;
            Ok(JsValue::UNDEFINED)
        })
    }

    /// Deletes what has expired, in portions, and says when to look again.
    pub fn alarm(&self) -> Work {
        let object = Rc::clone(&self.0);
        Work::new(async move { object.sweep().await })
    }
}

/// What the Worker reads: an outcome, none for a check, or a refusal.
pub(super) type Answer = Result<Option<Outcome>, Refusal>;

impl Object {
    /// The store, opened by the first call that needs it. A failure is not kept: the next call tries again.
    fn store(&self) -> Result<&Store<Durable>, DatabaseError> {
        if let Some(store) = self.store.get() {
            return Ok(store);
        }
        let store = Store::open(Durable::new(self.storage.clone()))?;
        Ok(self.store.get_or_init(|| store))
    }

    fn answer(&self, question: Option<Vec<u8>>, request_id: &str) -> Result<Answer, Silence> {
        let outcome = match question {
            None => self.store().map(|_| None).map_err(store::Error::from),
            Some(question) => {
                let (is_repeat, call) = wire::read(&question)?;
                self.run(&call, is_repeat, request_id).map(Some)
            }
        };
        match outcome {
            Ok(outcome) => Ok(Ok(outcome)),
            Err(store::Error::Refused(refusal)) => Ok(Err(refusal)),
            // Not an answer: the Worker asks the instance that comes after this one.
            Err(store::Error::Fault(DatabaseError::Reset)) => Err(Silence::Over),
            Err(store::Error::Fault(fault)) => Ok(Err(told(request_id, &fault))),
        }
    }

    async fn sweep(&self) -> Result<JsValue, JsValue> {
        let fresh = host::fresh()?;
        let request_id = fresh.request_id();
        self.alarm.rang();
        let swept = self
            .store()
            .and_then(|store| store.sweep(&self.settings, fresh.now));
        match swept {
            Ok(swept) => log::print(&expired(&request_id, swept.sequences, swept.thoughts)),
            Err(fault) => {
                log::print(&database_fault(&request_id, &fault));
                // The platform rings again for an alarm that failed.
                return Err("the sweep failed".into());
            }
        }
        self.keep_alarm(&request_id).await;
        Ok(JsValue::UNDEFINED)
    }

    async fn keep_alarm(&self, request_id: &str) {
        let (wanted, now) = match (self.store(), host::fresh()) {
            (Ok(store), Ok(fresh)) => (store.next_expiry(&self.settings), fresh.now),
            _ => return,
        };
        let kept = match wanted {
            Ok(wanted) => self.alarm.keep(&self.storage, wanted, now).await,
            Err(database) => return drop(told(request_id, &database)),
        };
        if kept.is_err() {
            log::print(&fault(request_id, "alarm", "failed"));
        }
    }

    fn run(&self, call: &Call, is_repeat: bool, request_id: &str) -> Result<Outcome, store::Error> {
        let fresh = host::fresh().map_err(|_| DatabaseError::Corrupt("no chance to be had"))?;
        let store = self.store()?;
        if let (Call::Append(draft), true) = (call, is_repeat) {
            store.expect_repeat(draft.call_id);
        }
        let before = log::is_on(Level::Debug).then(|| store.database().cost());
        let result = tools::run(call, store, &self.settings, &fresh);
        if let Some(before) = before {
            let spent = difference(before, store.database().cost());
            log::print(&cost(request_id, name(call), spent));
        }
        // Only a new sequence or an import can bring the next expiry nearer; a changed setting is seen after a start.
        let begins = match &result {
            Ok(Outcome::Appended(appended)) => appended.ordinal == 1,
            Ok(Outcome::Imported(_)) => true,
            _ => false,
        };
        let is_fault = matches!(&result, Err(store::Error::Fault(_)));
        if begins || !self.alarm.is_known() && !is_fault {
            self.is_unsettled.set(true);
        }
        result
    }
}

/// Logs a fault and makes of it what the caller may know.
fn told(request_id: &str, fault: &DatabaseError) -> Refusal {
    log::print(&database_fault(request_id, fault));
    store::shown(fault, request_id)
}

fn name(call: &Call) -> &'static str {
    match call {
        Call::Append(_) => "append",
        Call::History(_) => "history",
        Call::Delete(_) => "delete",
        Call::Import(_) => "import",
        Call::Purge(_) => "purge",
    }
}

fn difference(before: Cost, after: Cost) -> Cost {
    Cost {
        rows_read: after.rows_read.saturating_sub(before.rows_read),
        rows_written: after.rows_written.saturating_sub(before.rows_written),
    }
}

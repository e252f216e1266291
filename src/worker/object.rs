//! The Durable Object that holds every thought: it reads a call, runs it on its store, and writes the outcome.
//!
//! What a call does is left to `tools`; who may make one to the Worker, since nobody else reaches this object.

use std::cell::OnceCell;

use worker::{DurableObject, Env, Request, Response, Result, State, durable_object};

use super::alarm::Alarm;
use super::stub::{self, REQUEST_ID};
use super::{host, log, message};
use crate::database::durable::Durable;
use crate::database::{Cost, Database, DatabaseError};
use crate::log::{Level, cost, database_fault, expired, fault};
use crate::refusal::Refusal;
use crate::settings::Settings;
use crate::store::{self, Store};
use crate::tools::{self, Call, Outcome};
use crate::wire;

/// Asks whether the store opens. Any other path is a call.
pub(super) const CHECK: &str = "https://object/check";
pub(super) const CALL: &str = "https://object/call";

#[durable_object(alarm)]
pub struct ThoughtStore {
    state: State,
    alarm: Alarm,
    settings: Settings,
    store: OnceCell<Store<Durable>>,
}

impl DurableObject for ThoughtStore {
    fn new(state: State, env: Env) -> Self {
        let lookup = |name: &str| host::variable(&env, name);
        log::set_level(Level::parse(lookup).0);
        Self {
            state,
            // The Worker reports what cannot be understood.
            settings: Settings::parse(lookup).0,
            store: OnceCell::new(),
            alarm: Alarm::default(),
        }
    }

    async fn fetch(&self, request: Request) -> Result<Response> {
        let request_id = request.headers().get(REQUEST_ID)?.unwrap_or_default();
        let outcome = if request.inner().url() == CHECK {
            self.store().map(|_| None).map_err(store::Error::from)
        } else {
            let call: Call =
                match wire::read(&message::received(request.inner()).unwrap_or_default()) {
                    Ok(call) => call,
                    Err(error) => return stub::refuse(error),
                };
            let outcome = self.run(&call, &request_id)?;
            // Only a new sequence or an import can bring the next expiry nearer; a changed setting is seen after a start.
            let begins = match &outcome {
                Ok(Outcome::Appended(appended)) => appended.ordinal == 1,
                Ok(Outcome::Imported(_)) => true,
                _ => false,
            };
            let is_fault = matches!(&outcome, Err(store::Error::Fault(_)));
            if begins || !self.alarm.is_known() && !is_fault {
                self.keep_alarm(&request_id).await;
            }
            outcome.map(Some)
        };
        let answer: Answer = match outcome {
            Ok(outcome) => Ok(outcome),
            Err(store::Error::Refused(refusal)) => Err(refusal),
            // Not an answer: the Worker asks the instance that comes after this one.
            Err(store::Error::Fault(DatabaseError::Reset)) => {
                return Response::error("reset", stub::OVER);
            }
            Err(store::Error::Fault(fault)) => Err(told(&request_id, &fault)),
        };
        stub::reply(&answer)
    }

    /// Deletes what has expired, in portions, and says when to look again.
    async fn alarm(&self) -> Result<Response> {
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
        Response::empty()
    }
}

/// What the Worker reads: an outcome, none for a check, or a refusal.
pub(super) type Answer = std::result::Result<Option<Outcome>, Refusal>;

impl ThoughtStore {
    /// The store, opened by the first call that needs it. A failure is not kept: the next call tries again.
    fn store(&self) -> std::result::Result<&Store<Durable>, DatabaseError> {
        if let Some(store) = self.store.get() {
            return Ok(store);
        }
        let store = Store::open(Durable::new(self.state.storage()))?;
        Ok(self.store.get_or_init(|| store))
    }

    /// A call that was stored stays stored whatever becomes of the alarm, so a failure is only logged.
    async fn keep_alarm(&self, request_id: &str) {
        let (wanted, now) = match (self.store(), host::fresh()) {
            (Ok(store), Ok(fresh)) => (store.next_expiry(&self.settings), fresh.now),
            _ => return,
        };
        let kept = match wanted {
            Ok(wanted) => {
                let storage = self.state.storage();
                self.alarm.keep(&storage, wanted, now).await
            }
            Err(database) => return drop(told(request_id, &database)),
        };
        if kept.is_err() {
            log::print(&fault(request_id, "alarm", "failed"));
        }
    }

    /// Nothing is awaited in here, so no other call comes between.
    fn run(
        &self,
        call: &Call,
        request_id: &str,
    ) -> Result<std::result::Result<Outcome, store::Error>> {
        let fresh = host::fresh()?;
        Ok(self.store().map_err(store::Error::from).and_then(|store| {
            let before = store.database().cost();
            let result = tools::run(call, store, &self.settings, &fresh);
            if log::is_on(Level::Debug) {
                let spent = difference(before, store.database().cost());
                log::print(&cost(request_id, name(call), spent));
            }
            result
        }))
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

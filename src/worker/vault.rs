//! The Durable Object that holds the vault, and the way to it.
//!
//! What the vault decides is left to `oauth::vault`; who may ask to the Worker, since nobody else reaches this object.

use std::cell::{Cell, OnceCell};
use std::rc::Rc;

use wasm_bindgen::prelude::*;
use worker::Env;

use super::alarm::Alarm;
use super::stub::{self, Failure, Silence};
use super::work::Work;
use super::{host, log};
use crate::database::DatabaseError;
use crate::database::durable::Durable;
use crate::log::{Level, fault};
use crate::oauth::port::Trouble;
use crate::oauth::vault::Vault;
use crate::oauth::vault::message::{Answer, Ask};
use crate::wire;

const BINDING: &str = "AUTH_VAULT";
/// The one vault of this deployment.
const INSTANCE: &str = "main";
/// How soon what is new is looked at for cleaning up.
const SWEEP_MILLISECONDS: u64 = 3_600_000;

/// Asks the vault once.
pub(super) async fn ask(env: &Env, ask: &Ask) -> Result<Answer, Trouble> {
    ask_once(env, ask).await.map_err(|_| Trouble)
}

async fn ask_once(env: &Env, ask: &Ask) -> Result<Answer, Failure> {
    let question = wire::write(ask)?;
    let vaults = host::binding(env, BINDING);
    let answer = stub::ask(&vaults, INSTANCE, Some(&question), "").await?;
    Ok(wire::read(&answer)?)
}

/// What `entry.mjs` makes a class of the platform of.
#[wasm_bindgen]
pub struct AuthVault(Rc<Object>);

struct Object {
    storage: JsValue,
    alarm: Alarm,
    vault: OnceCell<Vault<Durable>>,
    /// Something was written that has to go again some day.
    is_unsettled: Cell<bool>,
}

#[wasm_bindgen]
impl AuthVault {
    #[wasm_bindgen(constructor)]
    pub fn new(state: &JsValue, env: &Env) -> Self {
        log::set_level(Level::parse(|name| host::variable(env, name)).0);
        Self(Rc::new(Object {
            storage: host::storage(state),
            alarm: Alarm::default(),
            vault: OnceCell::new(),
            is_unsettled: Cell::default(),
        }))
    }

    /// Returns the bytes of the answer, or the word of a silence.
    pub fn ask(&self, question: Option<Vec<u8>>, _request_id: &str) -> JsValue {
        stub::reply(self.0.answer(&question.unwrap_or_default()))
    }

    /// Whether [`Self::settle`] has something to do before the answer may be sent.
    pub fn is_unsettled(&self) -> bool {
        self.0.is_unsettled.get()
    }

    /// Sets the alarm that cleans up.
    pub fn settle(&self, _request_id: String) -> Work {
        let object = Rc::clone(&self.0);
        object.is_unsettled.set(false);
        Work::new(async move {
            // One that an earlier instance set stays: pushed back each time, it would never ring.
            let time = host::now().plus_milliseconds(SWEEP_MILLISECONDS);
            object.alarm.begin(&object.storage, time).await?;
            Ok(JsValue::UNDEFINED)
        })
    }

    /// Deletes what is over, and comes again while something is left.
    pub fn alarm(&self) -> Work {
        let object = Rc::clone(&self.0);
        Work::new(async move { object.sweep().await })
    }
}

impl Object {
    async fn sweep(&self) -> Result<JsValue, JsValue> {
        self.alarm.rang();
        let fresh = host::fresh()?;
        match self.vault().and_then(|vault| vault.sweep(&fresh)) {
            Ok(None) => {}
            Ok(Some(seconds)) => {
                let again = fresh.now.plus_milliseconds(seconds.saturating_mul(1_000));
                self.alarm
                    .keep(&self.storage, Some(again), fresh.now)
                    .await?;
            }
            Err(error) => {
                log::print(&fault(&fresh.request_id(), "vault", &error.to_string()));
                // The platform rings again for an alarm that failed.
                return Err("the sweep failed".into());
            }
        }
        Ok(JsValue::UNDEFINED)
    }

    fn answer(&self, question: &[u8]) -> Result<Answer, Silence> {
        let ask: Ask = wire::read(question)?;
        let fresh = host::fresh().map_err(|_| Silence::Fault)?;
        let answered = self.vault().and_then(|vault| vault.answer(&ask, &fresh));
        let answer = answered.map_err(|error| {
            log::print(&fault(&fresh.request_id(), "vault", &error.to_string()));
            Silence::Fault
        })?;
        if !self.alarm.is_set() && leaves_something(&ask) {
            self.is_unsettled.set(true);
        }
        Ok(answer)
    }

    /// The vault, opened by the first question. A failure is not kept: the next question tries again.
    fn vault(&self) -> Result<&Vault<Durable>, DatabaseError> {
        if let Some(vault) = self.vault.get() {
            return Ok(vault);
        }
        let vault = Vault::open(Durable::new(self.storage.clone()))?;
        Ok(self.vault.get_or_init(|| vault))
    }
}

/// Whether a question may write what has to go again some day.
fn leaves_something(ask: &Ask) -> bool {
    matches!(
        ask,
        Ask::Complete(_) | Ask::Redeem { .. } | Ask::Refresh { .. } | Ask::NonceOnce { .. }
    )
}

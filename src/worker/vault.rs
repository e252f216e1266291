//! The Durable Object that holds the vault, and the way to it.
//!
//! What the vault decides is left to `oauth::vault`; who may ask to the Worker, since nobody else reaches this object.

use std::cell::{Cell, OnceCell};
use std::time::Duration;

use worker::{DurableObject, Env, Request, Response, Result, State, durable_object};

use super::stub::{self, Failure};
use super::{host, log, message};
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
const URL: &str = "https://vault/ask";
/// How soon what is new is looked at for cleaning up.
const SWEEP: Duration = Duration::from_hours(1);

/// Asks the vault once, over a fresh stub: one that failed keeps failing.
pub(super) async fn ask(env: &Env, ask: &Ask) -> std::result::Result<Answer, Trouble> {
    ask_once(env, ask).await.map_err(|_| Trouble)
}

async fn ask_once(env: &Env, ask: &Ask) -> std::result::Result<Answer, Failure> {
    let stub = env.durable_object(BINDING)?.get_by_name(INSTANCE)?;
    let question = wire::write(ask)?;
    let answer = stub::ask(stub, URL, Some(&question), "").await?;
    Ok(wire::read(&answer)?)
}

#[durable_object(alarm)]
pub struct AuthVault {
    state: State,
    vault: OnceCell<Vault<Durable>>,
    /// Whether this instance knows that the alarm is set.
    alarm_is_set: Cell<bool>,
}

impl DurableObject for AuthVault {
    fn new(state: State, env: Env) -> Self {
        log::set_level(Level::parse(|name| host::variable(&env, name)).0);
        Self {
            state,
            vault: OnceCell::new(),
            alarm_is_set: Cell::new(false),
        }
    }

    async fn fetch(&self, request: Request) -> Result<Response> {
        let ask: Ask = match wire::read(&message::received(request.inner()).unwrap_or_default()) {
            Ok(ask) => ask,
            Err(error) => return stub::refuse(error),
        };
        let fresh = host::fresh()?;
        let answered = self.vault().and_then(|vault| vault.answer(&ask, &fresh));
        let answer = match answered {
            Ok(answer) => answer,
            Err(error) => {
                log::print(&fault(&fresh.request_id(), "vault", &error.to_string()));
                return Response::error("fault", 500);
            }
        };
        if !self.alarm_is_set.get() && leaves_something(&ask) {
            let storage = self.state.storage();
            // One that an earlier instance set stays: pushed back each time, it would never ring.
            if storage.get_alarm().await?.is_none() {
                storage.set_alarm(SWEEP).await?;
            }
            self.alarm_is_set.set(true);
        }
        stub::reply(&answer)
    }

    /// Deletes what is over, and comes again while something is left.
    async fn alarm(&self) -> Result<Response> {
        self.alarm_is_set.set(false);
        let fresh = host::fresh()?;
        match self.vault().and_then(|vault| vault.sweep(&fresh)) {
            Ok(None) => {}
            Ok(Some(seconds)) => {
                let again = Duration::from_secs(seconds);
                self.state.storage().set_alarm(again).await?;
                self.alarm_is_set.set(true);
            }
            Err(error) => {
                log::print(&fault(&fresh.request_id(), "vault", &error.to_string()));
                // The platform rings again for an alarm that failed.
                return Err("the sweep failed".into());
            }
        }
        Response::empty()
    }
}

impl AuthVault {
    /// The vault, opened by the first question. A failure is not kept: the next question tries again.
    fn vault(&self) -> std::result::Result<&Vault<Durable>, DatabaseError> {
        if let Some(vault) = self.vault.get() {
            return Ok(vault);
        }
        let vault = Vault::open(Durable::new(self.state.storage()))?;
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

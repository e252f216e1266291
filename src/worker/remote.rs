//! Runs tool calls in the Durable Object: the port of `mcp`, filled over the object's stub.

use std::time::Duration;

use wasm_bindgen::JsValue;
use worker::{Delay, Error, ObjectNamespace, Result, js_sys};

use super::object::{Answer, CALL, CHECK};
use super::{log, stub};
use crate::database::durable::RESET;
use crate::fresh::Fresh;
use crate::log::fault;
use crate::mcp::ToolHost;
use crate::refusal::Refusal;
use crate::tools::{Call, Outcome};

/// The one store of this deployment.
const INSTANCE: &str = "personal";
/// The pauses before the tries that follow the first one. A call carries its own id, so a repeat is the same write.
const PAUSES_MILLISECONDS: [u64; 3] = [100, 500, 1500];

/// The store at the other end of a binding.
#[derive(Debug)]
pub(crate) struct Remote {
    pub(crate) objects: ObjectNamespace,
}

impl ToolHost for Remote {
    async fn call(&self, call: &Call, fresh: &Fresh) -> std::result::Result<Outcome, Refusal> {
        let request_id = fresh.request_id();
        let answered = match serde_json::to_string(call) {
            Ok(body) => self.ask(CALL, Some(&body), &request_id).await,
            Err(error) => Err(error.into()),
        };
        match answered {
            Ok(Ok(Some(outcome))) => Ok(outcome),
            Ok(Err(refusal)) => Err(refusal),
            Ok(Ok(None)) => Err(unavailable(&request_id, "no outcome")),
            Err(error) => Err(unavailable(&request_id, reason(&error))),
        }
    }

    async fn check(&self, fresh: &Fresh) -> std::result::Result<(), Refusal> {
        let request_id = fresh.request_id();
        match self.ask(CHECK, None, &request_id).await {
            Ok(answer) => answer.map(drop),
            Err(error) => Err(unavailable(&request_id, reason(&error))),
        }
    }
}

impl Remote {
    /// Asks the object, and asks again while the platform says that it may help.
    async fn ask(&self, url: &str, body: Option<&str>, request_id: &str) -> Result<Answer> {
        let mut pauses = PAUSES_MILLISECONDS.into_iter();
        loop {
            match self.ask_once(url, body, request_id).await {
                Err(error) if Advice::of(&error) == Advice::Repeat => match pauses.next() {
                    Some(pause) => Delay::from(Duration::from_millis(pause)).await,
                    None => return Err(error),
                },
                answered => return answered,
            }
        }
    }

    /// A stub that has failed once keeps failing, so every try takes a fresh one.
    async fn ask_once(&self, url: &str, body: Option<&str>, request_id: &str) -> Result<Answer> {
        let stub = self.objects.get_by_name(INSTANCE)?;
        Ok(serde_json::from_slice(
            &stub::ask(stub, url, body, request_id).await?,
        )?)
    }
}

/// What the platform says of a failed call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Advice {
    /// It failed in a way that passes, such as a new version being deployed.
    Repeat,
    /// There are too many calls: another one would make it worse.
    Overloaded,
    None,
}

impl Advice {
    fn of(error: &Error) -> Self {
        let (original, message) = match error {
            Error::UnknownJsError {
                original, message, ..
            } => (original, message),
            Error::RustError(message) => (&JsValue::UNDEFINED, message),
            _ => return Self::None,
        };
        let is = |name: &str| {
            js_sys::Reflect::get(original, &JsValue::from_str(name))
                .is_ok_and(|value| value.as_bool() == Some(true))
        };
        if is("overloaded") {
            Self::Overloaded
        } else if is("retryable") || is("durableObjectReset") || message.contains(RESET) {
            Self::Repeat
        } else {
            Self::None
        }
    }
}

fn reason(error: &Error) -> &'static str {
    match Advice::of(error) {
        Advice::Repeat => "unreachable",
        Advice::Overloaded => "overloaded",
        Advice::None => "failed",
    }
}

fn unavailable(request_id: &str, reason: &str) -> Refusal {
    log::print(&fault(request_id, "object", reason));
    Refusal::unavailable(request_id)
}

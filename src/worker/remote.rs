//! Runs tool calls in the Durable Object: the port of `mcp`, filled over the object's stub.

use wasm_bindgen::prelude::*;
use worker::js_sys::{self, Promise};

use super::log;
use super::object::Answer;
use super::stub::{self, Failure, Silence};
use super::work::settled;
use crate::database::durable::{RESET, message};
use crate::fresh::Fresh;
use crate::log::fault;
use crate::mcp::ToolHost;
use crate::refusal::Refusal;
use crate::tools::{Call, Outcome};
use crate::wire;

/// The one store of this deployment.
const INSTANCE: &str = "personal";
/// The pauses before the tries that follow the first one. A call carries its own id, so a repeat is the same write.
const PAUSES_MILLISECONDS: [u32; 3] = [100, 500, 1500];

#[wasm_bindgen(module = "/src/worker/platform.mjs")]
extern "C" {
    fn pause(milliseconds: u32) -> Promise;
}

/// The store at the other end of a binding.
#[derive(Debug)]
pub(crate) struct Remote {
    pub(crate) objects: JsValue,
}

impl ToolHost for Remote {
    async fn call(&self, call: &Call, fresh: &Fresh) -> Result<Outcome, Refusal> {
        let request_id = fresh.request_id();
        match self.ask(Some(call), &request_id).await {
            Ok(Ok(Some(outcome))) => Ok(outcome),
            Ok(Err(refusal)) => Err(refusal),
            Ok(Ok(None)) => Err(unavailable(&request_id, "no outcome")),
            Err(error) => Err(unavailable(&request_id, reason(&error))),
        }
    }

    async fn check(&self, fresh: &Fresh) -> Result<(), Refusal> {
        let request_id = fresh.request_id();
        match self.ask(None, &request_id).await {
            Ok(answer) => answer.map(drop),
            Err(error) => Err(unavailable(&request_id, reason(&error))),
        }
    }
}

impl Remote {
    /// Asks the object, and asks again while the platform says that it may help.
    async fn ask(&self, call: Option<&Call>, request_id: &str) -> Result<Answer, Failure> {
        let mut pauses = PAUSES_MILLISECONDS.into_iter();
        let mut is_repeat = false;
        loop {
            match self.ask_once(call, is_repeat, request_id).await {
                Err(error) if Advice::of(&error) == Advice::Repeat => match pauses.next() {
                    Some(milliseconds) => drop(settled(pause(milliseconds)).await),
                    None => return Err(error),
                },
                answered => return answered,
            }
            is_repeat = true;
        }
    }

    async fn ask_once(
        &self,
        call: Option<&Call>,
        is_repeat: bool,
        request_id: &str,
    ) -> Result<Answer, Failure> {
        let question = call
            .map(|call| wire::write(&(is_repeat, call)))
            .transpose()?;
        let answer = stub::ask(&self.objects, INSTANCE, question.as_deref(), request_id).await?;
        Ok(wire::read(&answer)?)
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
    fn of(failure: &Failure) -> Self {
        let thrown = match failure {
            // A deploy is under way: the next instance answers.
            Failure::Object(Silence::Version | Silence::Over) => return Self::Repeat,
            Failure::Object(Silence::Fault) => return Self::None,
            Failure::Platform(thrown) => thrown,
        };
        let is = |name: &str| {
            js_sys::Reflect::get(thrown, &JsValue::from_str(name))
                .is_ok_and(|value| value.as_bool() == Some(true))
        };
        if is("overloaded") {
            Self::Overloaded
        } else if is("retryable") || is("durableObjectReset") || message(thrown).contains(RESET) {
            Self::Repeat
        } else {
            Self::None
        }
    }
}

fn reason(failure: &Failure) -> &'static str {
    if matches!(failure, Failure::Object(Silence::Version)) {
        return "other_version";
    }
    match Advice::of(failure) {
        Advice::Repeat => "unreachable",
        Advice::Overloaded => "overloaded",
        Advice::None => "failed",
    }
}

fn unavailable(request_id: &str, reason: &str) -> Refusal {
    log::print(&fault(request_id, "object", reason));
    Refusal::unavailable(request_id)
}

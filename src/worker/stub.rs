//! One question to a Durable Object: bytes there, bytes back, over the platform's RPC.

use serde::Serialize;
use wasm_bindgen::prelude::*;
use worker::js_sys::{Promise, Uint8Array};

use super::work::settled;
use crate::wire;

#[wasm_bindgen(module = "/src/worker/platform.mjs")]
extern "C" {
    #[wasm_bindgen(catch, js_name = ask)]
    fn ask_platform(
        namespace: &JsValue,
        name: &str,
        question: Option<&[u8]>,
        request_id: &str,
    ) -> Result<Promise, JsValue>;
}

/// Asks the object of this name; without a question, whether it is well.
pub(super) async fn ask(
    namespace: &JsValue,
    name: &str,
    question: Option<&[u8]>,
    request_id: &str,
) -> Result<Vec<u8>, Failure> {
    let asked = ask_platform(namespace, name, question, request_id).map_err(Failure::Platform)?;
    let answer = settled(asked).await.map_err(Failure::Platform)?;
    match answer.dyn_ref::<Uint8Array>() {
        Some(bytes) => Ok(bytes.to_vec()),
        None => Err(Silence::named(&answer).into()),
    }
}

/// What an object answers: bytes, or a word.
pub(super) fn reply(answer: Result<impl Serialize, Silence>) -> JsValue {
    match answer.and_then(|answer| Ok(wire::write(&answer)?)) {
        Ok(bytes) => Uint8Array::from(bytes.as_slice()).into(),
        Err(silence) => silence.name().into(),
    }
}

/// Why an object gave no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Silence {
    /// It runs another version of this program.
    Version,
    /// The instance is over: the one after it answers.
    Over,
    /// It failed, or could not read the question.
    Fault,
}

impl Silence {
    fn name(self) -> &'static str {
        match self {
            Self::Version => "version",
            Self::Over => "over",
            Self::Fault => "fault",
        }
    }

    fn named(word: &JsValue) -> Self {
        [Self::Version, Self::Over]
            .into_iter()
            .find(|silence| word == silence.name())
            .unwrap_or(Self::Fault)
    }
}

impl From<wire::Error> for Silence {
    fn from(error: wire::Error) -> Self {
        match error {
            wire::Error::Version => Self::Version,
            wire::Error::Damaged => Self::Fault,
        }
    }
}

/// Why a question got no answer.
pub(super) enum Failure {
    Object(Silence),
    /// What the platform threw.
    Platform(JsValue),
}

impl From<Silence> for Failure {
    fn from(silence: Silence) -> Self {
        Self::Object(silence)
    }
}

impl From<wire::Error> for Failure {
    fn from(error: wire::Error) -> Self {
        Self::Object(error.into())
    }
}

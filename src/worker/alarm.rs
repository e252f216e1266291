//! The objects' alarms: set only when their time changes, and never in the past.

use std::cell::Cell;

use js_sys::Promise;
use wasm_bindgen::prelude::*;

use super::work::settled;
use crate::clock::Timestamp;

/// The least time ahead. An alarm in the past would ring at once, and again.
const AHEAD_MILLISECONDS: u64 = 1_000;

#[wasm_bindgen(module = "/src/worker/platform.mjs")]
extern "C" {
    #[wasm_bindgen(js_name = keepAlarm)]
    fn keep_alarm(storage: &JsValue, time: Option<f64>) -> Promise;

    #[wasm_bindgen(js_name = beginAlarm)]
    fn begin_alarm(storage: &JsValue, time: f64) -> Promise;
}

#[derive(Debug, Default)]
pub(super) struct Alarm {
    set: Cell<Set>,
}

/// What is known of the alarm since this instance started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Set {
    #[default]
    Unknown,
    Never,
    At(Timestamp),
}

impl From<Option<Timestamp>> for Set {
    fn from(time: Option<Timestamp>) -> Self {
        time.map_or(Self::Never, Self::At)
    }
}

impl Alarm {
    pub(super) fn is_known(&self) -> bool {
        self.set.get() != Set::Unknown
    }

    /// Whether this instance knows that it will ring.
    pub(super) fn is_set(&self) -> bool {
        matches!(self.set.get(), Set::At(_))
    }

    /// The alarm rang, so none is set.
    pub(super) fn rang(&self) {
        self.set.set(Set::Never);
    }

    /// Makes the alarm ring at `wanted`.
    pub(super) async fn keep(
        &self,
        storage: &JsValue,
        wanted: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<(), JsValue> {
        let wanted = wanted.map(|wanted| wanted.max(now.plus_milliseconds(AHEAD_MILLISECONDS)));
        if self.set.get() != Set::from(wanted) {
            settled(keep_alarm(storage, wanted.map(milliseconds))).await?;
            self.set.set(wanted.into());
        }
        Ok(())
    }

    /// Makes it ring at `time`, unless it is to ring already.
    pub(super) async fn begin(&self, storage: &JsValue, time: Timestamp) -> Result<(), JsValue> {
        settled(begin_alarm(storage, milliseconds(time))).await?;
        self.set.set(Set::At(time));
        Ok(())
    }
}

/// Years fit exactly: `Timestamp` ends within what a double holds.
#[allow(clippy::cast_precision_loss)]
fn milliseconds(time: Timestamp) -> f64 {
    time.milliseconds() as f64
}

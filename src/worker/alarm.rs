//! The object's alarm for retention: set only when its time changes, and never in the past.

use std::cell::Cell;

use wasm_bindgen::JsValue;
use worker::js_sys::Date;
use worker::{Result, ScheduledTime, Storage};

use crate::clock::Timestamp;

/// The least time ahead. An alarm in the past would ring at once, and again.
const AHEAD_MILLISECONDS: u64 = 1_000;
#[derive(Debug, Default)]
pub(super) struct Alarm {
    set: Cell<Set>,
}

/// What is known of the alarm since this instance started.
#[derive(Clone, Copy, Debug, Default)]
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
    /// Whether the alarm has been looked at since this instance started.
    pub(super) fn is_known(&self) -> bool {
        !matches!(self.set.get(), Set::Unknown)
    }

    /// The alarm rang, so none is set.
    pub(super) fn rang(&self) {
        self.set.set(Set::Never);
    }

    /// Makes the alarm ring at `wanted`.
    pub(super) async fn keep(
        &self,
        storage: &Storage,
        wanted: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<()> {
        let set = match self.set.get() {
            Set::At(set) => Some(set),
            Set::Never => None,
            Set::Unknown => storage.get_alarm().await?.map(|milliseconds| {
                Timestamp::from_milliseconds(u64::try_from(milliseconds).unwrap_or_default())
            }),
        };
        let wanted = wanted.map(|wanted| wanted.max(now.plus_milliseconds(AHEAD_MILLISECONDS)));
        match (set, wanted) {
            (Some(set), Some(wanted)) if set == wanted => {}
            (_, Some(wanted)) => {
                // Years fit exactly: `Timestamp` ends within what a double holds.
                #[allow(clippy::cast_precision_loss)]
                let date = Date::new(&JsValue::from_f64(wanted.milliseconds() as f64));
                storage.set_alarm(ScheduledTime::new(date)).await?;
            }
            (Some(_), None) => storage.delete_alarm().await?,
            (None, None) => {}
        }
        self.set.set(wanted.into());
        Ok(())
    }
}

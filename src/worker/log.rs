//! Prints the lines of [`crate::log`] where the platform collects them.

use std::cell::Cell;

use worker::web_sys::console;

use super::host;
use crate::clock::Timestamp;
use crate::log::{Level, Line, access};
use crate::transport::Access;

thread_local! {
    static LEVEL: Cell<Level> = const { Cell::new(Level::Info) };
}

/// Sets how much this isolate prints.
pub(crate) fn set_level(level: Level) {
    LEVEL.set(level);
}

pub(crate) fn is_on(level: Level) -> bool {
    level <= LEVEL.get()
}

pub(crate) fn print(line: &Line) {
    if !is_on(line.level) {
        return;
    }
    let text = line.text.as_str().into();
    if line.level == Level::Error {
        console::error_1(&text);
    } else {
        console::log_1(&text);
    }
}

/// A request that is being answered, and what its line says once it has been.
pub(crate) struct Answered {
    pub(crate) request_id: String,
    pub(crate) start: Timestamp,
    pub(crate) status: u16,
    pub(crate) access: Access,
}

impl Answered {
    pub(crate) fn print(&self) {
        if !is_on(Level::Info) {
            return;
        }
        let milliseconds = host::now()
            .milliseconds()
            .saturating_sub(self.start.milliseconds());
        for line in access(&self.request_id, self.status, milliseconds, &self.access) {
            print(&line);
        }
    }
}

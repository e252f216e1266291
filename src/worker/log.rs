//! Prints the lines of [`crate::log`] where the platform collects them.

use std::cell::Cell;

use worker::web_sys::console;

use crate::log::{Level, Line};

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

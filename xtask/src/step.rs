//! Says what is being done while it is done: steps that take longer than a moment print their name and their time.

use std::fmt::Display;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// A step that is done sooner prints nothing.
const QUIET_FOR: Duration = Duration::from_secs(2);
const REMIND_EVERY: Duration = Duration::from_secs(30);

/// Runs `work`. After two seconds a line says that it runs, and at its end a line says how long it took.
pub fn step<T>(name: impl Display, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let name = name.to_string();
    let start = Instant::now();
    let (done, waiting) = mpsc::channel::<()>();
    let result = thread::scope(|scope| {
        let running = name.clone();
        scope.spawn(move || remind(&running, start, &waiting));
        let result = work();
        drop(done);
        result
    });
    let elapsed = start.elapsed();
    match &result {
        Ok(_) if elapsed < QUIET_FOR => {}
        Ok(_) => eprintln!("  done: {name}, {}", seconds(elapsed)),
        Err(_) => eprintln!("  failed: {name}, {}", seconds(elapsed)),
    }
    result.with_context(|| name)
}

fn remind(name: &str, start: Instant, waiting: &mpsc::Receiver<()>) {
    let mut pause = QUIET_FOR;
    while waiting.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
        eprintln!("  … {name}, {}", seconds(start.elapsed()));
        pause = REMIND_EVERY;
    }
}

pub fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

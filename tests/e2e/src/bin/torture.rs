//! `cargo xtask torture [ROUNDS [SEED]]`: kills the Worker and the native program under load, and says what was lost.

// It runs on a developer's machine, prints what it saw, and ends at what must not be.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]
#![allow(clippy::disallowed_methods)]

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use e2e::torture::native::Native;
use e2e::torture::workerd::Workerd;
use e2e::torture::{Victim, run};

const ROUNDS: u32 = 300;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let rounds = arguments.next().map_or(ROUNDS, |text| {
        text.parse().expect("ROUNDS must be a number")
    });
    let seed = arguments
        .next()
        .map_or_else(of_now, |text| text.parse().expect("SEED must be a number"));
    println!("seed {seed}");
    torture("workerd", &mut Workerd::start(), rounds.div_ceil(2), seed);
    torture("native program", &mut Native::start(), rounds / 2, seed);
}

fn torture(name: &str, victim: &mut dyn Victim, rounds: u32, seed: u64) {
    let start = Instant::now();
    let report = run(victim, rounds, seed);
    println!("{name}: {report} ({} s)", start.elapsed().as_secs());
}

fn of_now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_secs()
}

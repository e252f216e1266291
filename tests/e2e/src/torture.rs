//! Kills a server at random moments while several writers write, starts it again, and looks whether what it had
//! acknowledged is there, to the byte. `cargo xtask torture` runs it long, a test runs it short.

pub mod dice;
mod ledger;
pub mod native;
pub mod workerd;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use dice::Dice;
use ledger::Ledger;

const WRITERS: usize = 4;
/// A server lives for so many acknowledged calls at most, and for as long again as the dice say.
const CALLS_OF_A_LIFE: u64 = 60;
const MORE_MICROSECONDS: u64 = 10_000;
/// A writer that has met a fault of its own stops, and its calls do not come.
const PATIENCE: Duration = Duration::from_secs(20);
/// After so many rounds every writer begins anew, so that reading everything back stays short.
const ROUNDS_OF_A_LEDGER: u32 = 10;

/// A server that can be killed and started again on what it stored.
pub trait Victim: Sync {
    /// A connection of one more client.
    fn connect(&self) -> Box<dyn Line + '_>;

    /// Ends all of it at once, as the kernel does: no handler runs and nothing is flushed.
    fn kill(&self);

    fn start(&mut self);

    /// The whole sequence as the JSON document of `export`.
    fn export(&self, sequence: &str) -> Value;
}

/// One client's connection.
pub trait Line: Send {
    /// The result of a tool; `None` when the server is gone.
    fn call(&mut self, tool: &str, arguments: &Value) -> Option<Value>;
}

/// What was seen. Everything that must not be seen ends the run with a panic that names the seed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Report {
    pub seed: u64,
    pub kills: u32,
    pub sequences: u64,
    pub acknowledged: u64,
    /// Calls that were under way at a kill.
    pub cut_off: u64,
    /// Of those, the ones that were stored all the same.
    pub stored_unheard: u64,
    /// Of those, the ones that the client sent again.
    pub repeated: u64,
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{} kills (seed {}): {} thoughts acknowledged in {} sequences, none lost, none torn; \
             {} calls cut off, of which {} were stored; {} of them repeated, all stored once",
            self.kills,
            self.seed,
            self.acknowledged,
            self.sequences,
            self.cut_off,
            self.stored_unheard,
            self.repeated
        )
    }
}

/// Writes, kills and checks, so many times.
pub fn run(victim: &mut dyn Victim, rounds: u32, seed: u64) -> Report {
    let mut report = Report {
        seed,
        ..Report::default()
    };
    let mut dice = Dice::new(seed);
    let mut finished: Vec<Ledger> = Vec::new();
    let mut ledgers: Vec<Ledger> = Vec::new();
    for round in 0..rounds {
        if round % ROUNDS_OF_A_LEDGER == 0 {
            finished.append(&mut ledgers);
            ledgers = (0..WRITERS)
                .map(|writer| Ledger::new(writer, dice.roll()))
                .collect();
        }
        let calls = dice.below(CALLS_OF_A_LIFE);
        let more = Duration::from_micros(dice.below(MORE_MICROSECONDS));
        write_until_killed(victim, &mut ledgers, calls, more);
        report.kills += 1;
        victim.start();
        let mut line = victim.connect();
        for ledger in &mut ledgers {
            ledger.check(&mut *line, victim, &mut report, seed);
        }
    }
    // What was written first has lived through all the kills since.
    let mut line = victim.connect();
    finished.append(&mut ledgers);
    for ledger in &mut finished {
        ledger.check(&mut *line, victim, &mut report, seed);
        report.acknowledged += ledger.len();
        report.sequences += ledger.sequences();
    }
    report
}

/// Lets everybody write, waits until `calls` were acknowledged and a moment longer, and kills.
fn write_until_killed(victim: &dyn Victim, ledgers: &mut [Ledger], calls: u64, more: Duration) {
    // All at once, as clients do that begin together.
    let lines: Vec<_> = thread::scope(|scope| {
        let connecting: Vec<_> = ledgers
            .iter()
            .map(|_| scope.spawn(|| victim.connect()))
            .collect();
        connecting
            .into_iter()
            .map(|line| line.join().expect("a connection"))
            .collect()
    });
    let made = AtomicU64::new(0);
    thread::scope(|scope| {
        for (ledger, mut line) in ledgers.iter_mut().zip(lines) {
            let made = &made;
            scope.spawn(move || {
                while ledger.write(&mut *line) {
                    made.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let start = Instant::now();
        while made.load(Ordering::Relaxed) < calls && start.elapsed() < PATIENCE {
            thread::sleep(Duration::from_micros(200));
        }
        thread::sleep(more);
        victim.kill();
    });
}

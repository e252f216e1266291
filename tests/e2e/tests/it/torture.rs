//! The short form of `cargo xtask torture`.

use e2e::torture::native::Native;
use e2e::torture::run;
use e2e::torture::workerd::Workerd;

const SEED: u64 = 7;

#[test]
fn a_worker_that_is_killed_under_load_has_all_that_it_acknowledged() {
    let mut victim = Workerd::start();
    let report = run(&mut victim, 5, SEED);
    assert_eq!(report.kills, 5);
    assert!(report.acknowledged > 20, "{report}");
    // Being killed is no fault of its own.
    let lines = victim.log();
    assert!(
        !lines.iter().any(|line| line.contains("\"error\"")),
        "{lines:?}"
    );
}

#[test]
fn native_programs_that_are_killed_under_load_have_all_that_they_acknowledged() {
    let report = run(&mut Native::start(), 5, SEED);
    assert_eq!(report.kills, 5);
    assert!(report.acknowledged > 20, "{report}");
}

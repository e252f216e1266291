//! Random tests that can be repeated: each run has one seed, which stands in the output of a test that fails.

use durable_thinking::local::fresh;
use proptest::prelude::ProptestConfig;
use proptest::test_runner::RngSeed;

/// A configuration of `cases`, unless `PROPTEST_CASES` says otherwise. `PROPTEST_RNG_SEED` brings a run back.
pub fn config(cases: u32) -> ProptestConfig {
    let mut config = ProptestConfig::default();
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = cases;
    }
    // A case that failed becomes a test of its own, with a name; a file of seeds would break with every change to a strategy.
    config.failure_persistence = None;
    let seed = match config.rng_seed {
        RngSeed::Fixed(seed) => seed,
        RngSeed::Random => u64::from_be_bytes(fresh().unwrap().draw()),
    };
    config.rng_seed = RngSeed::Fixed(seed);
    eprintln!(
        "PROPTEST_CASES={} PROPTEST_RNG_SEED={seed} repeats this run",
        config.cases
    );
    config
}

#[test]
fn the_same_seed_brings_the_same_values() {
    use proptest::prelude::{Strategy, any};
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    let drawn = |config: ProptestConfig| {
        let mut runner = TestRunner::new(config);
        let mut draw = || any::<u64>().new_tree(&mut runner).unwrap().current();
        [draw(), draw(), draw()]
    };
    let first = config(1);
    assert_ne!(first.rng_seed, RngSeed::Random);
    let again = ProptestConfig {
        rng_seed: first.rng_seed,
        ..ProptestConfig::default()
    };
    assert_eq!(drawn(first), drawn(again));
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        assert_ne!(config(1).rng_seed, config(1).rng_seed);
    }
}

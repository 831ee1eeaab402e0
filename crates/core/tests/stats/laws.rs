//! How laws are tried: the same cases each time, so that a failure is the code's doing.

use proptest::test_runner::{Config, RngSeed};

/// Tries a law on `cases` cases from a fixed seed.
pub(super) fn laws(cases: u32) -> Config {
    Config {
        cases,
        rng_seed: RngSeed::Fixed(20),
        failure_persistence: None,
        ..Config::default()
    }
}

//! Run directories, from the outside: written, read back, killed, damaged, opened by others.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests of an effectful crate have effects, and a helper that fails is a failed test"
)]

#[path = "runs/arbitrary.rs"]
mod arbitrary;
#[path = "runs/damage.rs"]
mod damage;
#[path = "runs/elsewhere.rs"]
mod elsewhere;
#[path = "runs/killed.rs"]
mod killed;
#[path = "runs/profiles.rs"]
mod profiles;
#[path = "runs/roundtrip.rs"]
mod roundtrip;
#[path = "runs/spans.rs"]
mod spans;
#[path = "runs/timings.rs"]
mod timings;
#[path = "runs/traced.rs"]
mod traced;

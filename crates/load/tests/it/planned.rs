//! What the plan of an open loop says, worked out apart from the loop that sends it.
//!
//! A busy machine may keep the client or the server from its work at any time. What of the warm-up
//! is left over when the window begins is then given up, and what is left over at the end is counted
//! as unsent; what the plan says does not change.

use slowpath_core::plan::{Plan, Stream};
use slowpath_core::sample::{Sample, Stage};
use slowpath_core::scenario::{Model, Scenario};
use slowpath_load::pacers::Pacer;

use crate::Run;

/// The offsets of all requests of the one schedule of a scenario, from the start of the load: those
/// of the warm-up, and those of the window.
pub(crate) fn offsets(scenario: &Scenario) -> (Vec<u64>, Vec<u64>) {
    let load = &scenario.load;
    let Model::Open { arrivals, .. } = load.model else {
        panic!("users have no schedule");
    };
    let plan: Plan = crate::plan(scenario.clone());
    let [lane] = &plan.lanes()[..] else {
        panic!("several schedules");
    };
    let random = plan.random_of_lane(0, 0, 0, Stream::Arrivals);
    let mut pacer = Pacer::new(lane.rate_per_s, arrivals, random);
    let end = load.warmup_ns + load.duration_ns;
    std::iter::repeat_with(|| pacer.next_ns())
        .take_while(|&offset| offset < end)
        .partition(|&offset| offset < load.warmup_ns)
}

/// Of things that are dealt to so many loops round-robin, those of one.
pub(crate) fn dealt(whole: &[u64], first: usize, loops: usize) -> Vec<u64> {
    whole.iter().skip(first).step_by(loops).copied().collect()
}

/// Holds what a loop sent, in order, against its part of the schedule.
pub(crate) fn assert_sent(run: &Run, sent: &[&Sample], (warmup, window): (&[u64], &[u64])) {
    let of = |stage: Stage| -> Vec<u64> {
        let of_stage = sent.iter().filter(|sample| sample.stage == stage);
        let begin = run.drove.load.begin;
        of_stage.map(|s| s.scheduled.since(begin)).collect()
    };
    let measured = of(Stage::Measured);
    assert!(!measured.is_empty());
    assert!(
        window.starts_with(&measured),
        "planned {window:?}, sent {measured:?}"
    );
    let warmed = of(Stage::Warmup);
    assert!(
        warmup.starts_with(&warmed),
        "planned {warmup:?}, sent {warmed:?}"
    );
}

//! How a run settled, on simulated runs of which a part is taken away.

use slowpath_core::record::RunRecord;
use slowpath_core::sample::{Outcome, Sample};
use slowpath_diagnose::diagnosis::Settling;
use slowpath_diagnose::judge;

use crate::case::build;
use crate::case::spec::Case;

fn run(load: &str) -> RunRecord {
    let text = "name = \"a\"\nexpect = \"nothing\"\nduration = \"10s\"\n";
    let class = "\nclass = [{ sleep = \"2ms + 0.2ms\" }]";
    build(&Case::parse(&format!("{text}{load}{class}")).unwrap())
}

fn settling(record: &RunRecord) -> Option<Settling> {
    judge(record).endpoints[0].settling
}

/// How far into its load a request ended, from 0 to 1.
fn place(record: &RunRecord, sample: &Sample) -> f64 {
    let repeat = &record.manifest.repeats[usize::from(sample.repeat)];
    let whole = repeat.window.end.since(repeat.load.begin);
    sample.done.since(repeat.load.begin) as f64 / whole as f64
}

/// The run with so many of the requests that ended at a place as the share there says.
fn thinned(load: &str, share: impl Fn(f64) -> f64) -> RunRecord {
    let whole = run(load);
    let mut thinned = whole.clone();
    let mut owed = 0.0;
    let mut keeps = |sample: &Sample| {
        owed += share(place(&whole, sample));
        let keep = owed >= 1.0;
        owed -= f64::from(u8::from(keep));
        keep
    };
    thinned.samples.change(|samples| samples.retain(&mut keeps));
    thinned
}

#[test]
fn a_healthy_run_is_steady_from_the_start_in_either_loop() {
    assert_eq!(settling(&run("users = 4")), Some(Settling::None));
    assert_eq!(settling(&run("rate = 200")), Some(Settling::None));
    assert_eq!(
        settling(&run("users = 4\nrepeats = 3")),
        Some(Settling::None)
    );
}

#[test]
fn few_requests_are_not_judged() {
    assert_eq!(settling(&run("rate = 10")), None);
}

#[test]
fn a_closed_loop_settles_in_its_throughput() {
    let fast = thinned("users = 4", |at| if at < 0.06 { 0.3 } else { 1.0 });
    assert_eq!(settling(&fast), Some(Settling::FastRamp));
    let slow = thinned("users = 4", |at| (0.2 + 2.0 * at).min(1.0));
    assert_eq!(settling(&slow), Some(Settling::SlowRamp));
    let climbs = thinned("users = 4", |at| 0.1 + 0.9 * at);
    assert_eq!(settling(&climbs), Some(Settling::NotSettled));
}

#[test]
fn an_open_loop_settles_in_its_latency() {
    let mut slow = run("rate = 200");
    let whole = slow.clone();
    slow.samples.change(|samples| {
        for sample in samples {
            if place(&whole, sample) < 0.3 {
                sample.done = sample.done.plus(sample.latency_ns());
            }
        }
    });
    assert_eq!(settling(&slow), Some(Settling::SlowRamp));
    // Fewer requests than planned say nothing about how long they took.
    let fewer = thinned("rate = 400", |at| if at < 0.3 { 0.5 } else { 1.0 });
    assert_eq!(settling(&fewer), Some(Settling::None));
}

#[test]
fn a_run_that_fails_more_than_it_serves_never_got_going() {
    let mut stuck = run("users = 4");
    stuck.samples.change(|samples| {
        for (at, sample) in samples.iter_mut().enumerate() {
            if at % 5 > 0 {
                sample.outcome = Outcome::Reset;
            }
        }
    });
    assert_eq!(settling(&stuck), Some(Settling::NoRamp));
}

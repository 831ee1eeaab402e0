//! What is seen in the shape of latencies and in their course.
#![allow(clippy::unwrap_used, reason = "what fails to be set up fails the test")]

use std::sync::Arc;

use slowpath_core::Nanos;
use slowpath_core::facts::{EndpointTally, HostFacts, RepeatFacts, TargetFacts};
use slowpath_core::nanos::Span;
use slowpath_core::plan::Plan;
use slowpath_core::record::{MANIFEST_FORMAT, Manifest, RunRecord};
use slowpath_core::sample::{Outcome, Phase, Sample, Stage};
use slowpath_core::scenario::{LoadDraft, Scenario, Timer};
use slowpath_core::signal::{CLOCK_REALTIME_OFFSET, HOST_CPU_BUSY, HOST_CPU_IDLE, Signal};
use slowpath_core::timeline::{Point, Series, Subject, Timeline, Window};
use slowpath_diagnose::diagnosis::{Axis, EndpointFigures, Settling};
use slowpath_diagnose::judge;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;
/// Requests of a repeat.
const REQUESTS: u32 = 4_000;

/// The service time of the request number `n`, which is due so many nanoseconds after the begin, and
/// at that time of the host.
type Server = fn(n: u32, due_ns: u64, at_ns: u64) -> u64;

/// Some scatter that is the same in every run, of a millisecond.
fn scatter(n: u32) -> u64 {
    u64::from(n.wrapping_mul(2_654_435_761) >> 12) % MS
}

/// A clock on the wall that is half a second ahead of full seconds.
fn wall_clock() -> Timeline {
    let at = Nanos::new(1000 * SECOND);
    let mut timeline = Timeline::default();
    timeline.series.push(Series {
        signal: CLOCK_REALTIME_OFFSET.id.to_owned(),
        subject: Subject::Host,
        label: String::new(),
        points: vec![Point {
            window: Window { begin: at, end: at },
            value: 1.7e18 + 0.5e9,
        }],
    });
    timeline
}

/// A host of which others take nine tenths, from 12 s after the begin of each repeat on.
fn crowded_after_12_s() -> Timeline {
    let counter = |signal: &Signal, share: fn(bool) -> f64| {
        let mut value = 0.0;
        let mut points = Vec::new();
        for tick in 0..400_u64 {
            let (repeat, tick) = (tick / 100, tick % 100);
            let begin = Nanos::new((1000 * SECOND + 1300 * MS) * (1 + repeat));
            let at = begin.plus(tick * SECOND / 4);
            value += share(tick > 48) * SECOND as f64 / 4.0;
            let window = Window { begin: at, end: at };
            points.push(Point { window, value });
        }
        Series {
            signal: signal.id.to_owned(),
            subject: Subject::Host,
            label: String::new(),
            points,
        }
    };
    let mut timeline = wall_clock();
    timeline.series.extend([
        counter(&HOST_CPU_BUSY, |crowded| if crowded { 0.9 } else { 0.1 }),
        counter(&HOST_CPU_IDLE, |crowded| if crowded { 0.1 } else { 0.9 }),
    ]);
    timeline
}

fn manifest(scenario: Scenario, repeats: Vec<RepeatFacts>) -> Manifest {
    Manifest {
        format: MANIFEST_FORMAT,
        id: "01".to_owned(),
        version: "0".to_owned(),
        began: "2026-01-01T00:00:00Z".to_owned(),
        plan: Plan {
            scenario,
            seed: 1,
            release: None,
        },
        scenario_text: None,
        host: HostFacts::default(),
        git: None,
        target: TargetFacts::default(),
        repeats,
        interrupted: false,
        trouble: String::new(),
        imported: None,
        recovered: false,
    }
}

/// Judges repeats of which the first sends every `gap_ns`, and each further one half as fast
/// again as the one before.
fn judged(repeats: u16, gap_ns: u64, server: Server) -> EndpointFigures {
    judged_on(wall_clock(), repeats, gap_ns, server)
}

/// The same on a host that the timeline describes.
fn judged_on(timeline: Timeline, repeats: u16, gap_ns: u64, server: Server) -> EndpointFigures {
    let (mut samples, mut facts) = (Vec::new(), Vec::new());
    let mut scenario = Scenario::from_url("http://127.0.0.1:1/search").unwrap();
    scenario.load = LoadDraft {
        rate_per_s: Some(1e9 / gap_ns as f64),
        ..LoadDraft::default()
    }
    .resolve()
    .unwrap();
    scenario.timers = vec![Timer {
        name: "poll_interval".to_owned(),
        period_ns: 70 * MS,
    }];
    for repeat in 0..repeats {
        let begin = Nanos::new((1000 * SECOND + 1300 * MS) * (1 + u64::from(repeat)));
        let gap_ns = (0..repeat).fold(gap_ns, |gap, _| gap * 2 / 3);
        for serial in 0..REQUESTS {
            let after_ns = u64::from(serial) * gap_ns;
            let due = begin.plus(after_ns);
            samples.push(Sample {
                sent: Some(due),
                first_byte: Some(due.plus(MS / 2)),
                done: due.plus(server(serial, after_ns, due.get())),
                serial,
                connection: serial % 64,
                repeat,
                stage: Stage::Measured,
                status: 200,
                outcome: Outcome::Ok,
                phase: Phase::Check,
                ..Sample::due(due)
            });
        }
        let span = Span::new(begin, begin.plus(u64::from(REQUESTS) * gap_ns));
        let offered = u64::from(REQUESTS);
        let tally = EndpointTally { offered, unsent: 0 };
        facts.push(RepeatFacts {
            endpoints: vec![tally],
            ..RepeatFacts::new(repeat, span, span)
        });
    }
    let record = RunRecord {
        manifest: manifest(scenario, facts),
        samples: samples.into(),
        keys: Vec::new(),
        timeline,
        trace: Arc::default(),
        timings: Arc::default(),
        collections: Arc::default(),
        spans: Arc::default(),
        profiles: Arc::default(),
    };
    judge(&record).endpoints.remove(0)
}

#[test]
fn what_only_scatters_has_no_shape_to_tell() {
    let found = judged(3, 5 * MS, |n, _, _| 4 * MS + scatter(n));
    assert_eq!(found.shape.comb, None);
    assert_eq!(found.shape.stalls, None);
    assert_eq!(found.shape.steps, []);
    assert_eq!(found.shape.constants, []);
    assert_eq!(found.shape.mode_counts.map(|[fewest, _]| fewest), Some(1));
    let p50 = &found.over_repeats[0];
    assert_eq!((p50.metric.as_str(), p50.repeats), ("p50", 3));
    assert!(p50.least_ms <= p50.median_ms && p50.median_ms <= p50.most_ms);
    let p99 = &found.latency_ms.p99;
    assert_eq!(p99.rank, Some(11_880), "99 % of 12,000");
    assert!(p99.deff.unwrap() >= 1.0);
}

#[test]
fn a_mode_is_made_of_a_declared_timer() {
    let found = judged(1, 5 * MS, |n, _, _| {
        4 * MS + scatter(n) + if n % 10 == 3 { 70 * MS } else { 0 }
    });
    let [constant] = found.shape.constants.as_slice() else {
        panic!("{:?}", found.shape)
    };
    assert!((constant.added_ms - 70.0).abs() < 1.5, "{constant:?}");
    assert_eq!(constant.made_of[0], "poll_interval");
}

#[test]
fn modes_have_weights_with_intervals() {
    // Every tenth request is slow, all the time.
    let steady = judged(1, 5 * MS, |n, _, _| {
        4 * MS + scatter(n) + if n % 10 == 3 { 70 * MS } else { 0 }
    });
    let [fast, slow] = steady.modes.as_slice() else {
        panic!("{:?}", steady.modes)
    };
    assert!((slow.weight - 0.1).abs() < 0.001 && !slow.is_satellite);
    let (low, high) = (slow.share_low.unwrap(), slow.share_high.unwrap());
    assert!(low < 0.1 && low > 0.085 && high > 0.1 && high < 0.115);
    assert!((fast.share_low.unwrap() - (1.0 - high)).abs() < 1e-5);
    // As many, in two bursts: it is not known what share the next run will have.
    let bursts = judged(1, 5 * MS, |n, _, _| {
        4 * MS + scatter(n) + if n % 2_000 < 200 { 70 * MS } else { 0 }
    });
    let slow = &bursts.modes[1];
    assert!((slow.weight - 0.1).abs() < 0.001);
    assert!(slow.share_high.unwrap() > 0.2, "{slow:?}");
    assert!(slow.deff.unwrap() > 10.0, "{slow:?}");
}

#[test]
fn each_repeat_says_how_it_settled() {
    let found = judged(2, 5 * MS, |n, due_ns, _| {
        let starting = n < 3_900 && due_ns < 3 * SECOND;
        4 * MS + scatter(n) + if starting { 6 * MS } else { 0 }
    });
    let classes: Vec<_> = found.by_repeat.iter().map(|r| r.settling).collect();
    assert_eq!(classes, [Some(Settling::SlowRamp); 2]);
    for repeat in &found.by_repeat {
        let after_s = repeat.settled_after_s.unwrap();
        assert!((after_s - 3.0).abs() < 0.5, "{repeat:?}");
    }
}

#[test]
fn a_level_that_changes_with_requests_is_told_from_one_that_changes_with_time() {
    let by_request = judged(3, 5 * MS, |n, _, _| {
        4 * MS + scatter(n) + if n >= 2_500 { 6 * MS } else { 0 }
    });
    assert_eq!(by_request.shape.steps.len(), 3);
    for step in &by_request.shape.steps {
        let off = step.after_requests.abs_diff(2_500);
        assert!(off < 25, "{step:?}");
        assert!(step.behind_ms / step.before_ms > 2.0, "{step:?}");
    }
    assert_eq!(by_request.shape.steps_follow, Some(Axis::Requests));
    let by_time = judged(3, 5 * MS, |n, due_ns, _| {
        4 * MS + scatter(n) + if due_ns >= 6 * SECOND { 6 * MS } else { 0 }
    });
    assert_eq!(by_time.shape.steps_follow, Some(Axis::Time));
}

#[test]
fn a_change_of_level_that_others_may_have_made_is_none() {
    let server: Server =
        |n, due_ns, _| 4 * MS + scatter(n) + if due_ns >= 12 * SECOND { 6 * MS } else { 0 };
    let quiet = judged(1, 5 * MS, server);
    assert_eq!(quiet.shape.steps.len(), 1);
    assert_eq!(quiet.settling, Some(Settling::NotSettled));
    let crowded = judged_on(crowded_after_12_s(), 1, 5 * MS, server);
    assert_eq!(crowded.shape.steps, []);
    assert_eq!(
        (crowded.settling, crowded.by_repeat[0].settling),
        (None, None)
    );
    // Others do not come at the same request of each repeat.
    let by_request: Server = |n, _, _| 4 * MS + scatter(n) + if n >= 2_400 { 6 * MS } else { 0 };
    let each = judged_on(crowded_after_12_s(), 3, 5 * MS, by_request);
    assert_eq!(each.shape.steps.len(), 3);
    assert_eq!(each.shape.steps_follow, Some(Axis::Requests));
}

#[test]
fn stalls_that_keep_to_a_period_are_told_with_it() {
    let found = judged(1, 10 * MS, |n, due_ns, _| {
        let into_ns = due_ns % (4 * SECOND);
        let left_ns = (300 * MS).saturating_sub(into_ns);
        4 * MS + scatter(n) + left_ns
    });
    let stalls = found.shape.stalls.as_ref().unwrap();
    assert!(
        (stalls.period_ms / 4_000.0 - 1.0).abs() < 0.01,
        "{stalls:?}"
    );
    assert!(stalls.p < 0.01 && stalls.missed == 0, "{stalls:?}");
    assert!(stalls.kept.is_empty(), "there is no other repeat");
}

#[test]
fn a_fast_clock_is_told_with_its_period() {
    let found = judged(1, 10 * MS, |n, due_ns, _| {
        let into_ns = due_ns % (500 * MS);
        4 * MS + scatter(n) / 4 + (60 * MS).saturating_sub(into_ns)
    });
    let stalls = found.shape.stalls.as_ref().unwrap();
    assert!((stalls.period_ms / 500.0 - 1.0).abs() < 0.002, "{stalls:?}");
    assert!(stalls.p < 0.001 && stalls.stalls >= 75, "{stalls:?}");
}

#[test]
fn a_job_outside_strikes_when_it_is_due_in_other_repeats_and_on_the_wall() {
    let found = judged(3, 10 * MS, |n, _, at_ns| {
        let into_ns = (at_ns + 3 * SECOND) % (4 * SECOND);
        4 * MS + scatter(n) + (300 * MS).saturating_sub(into_ns)
    });
    let stalls = found.shape.stalls.as_ref().unwrap();
    let held = stalls.kept.iter().filter(|kept| kept.holds).count();
    assert_eq!((stalls.kept.len(), held), (2, 2), "{stalls:?}");
    let wall = stalls.wall.as_ref().unwrap();
    assert_eq!((wall.every_s, wall.repeats), (4.0, 3));
    assert!((wall.after_s - 1.5).abs() < 0.1, "{wall:?}");
}

#[test]
fn a_level_that_swings_is_told_with_its_period() {
    let found = judged(1, 40 * MS, |n, due_ns, _| {
        let turn = std::f64::consts::TAU * due_ns as f64 / (25.0 * SECOND as f64);
        ((4.0 + 2.0 * turn.sin()) * MS as f64) as u64 + scatter(n) / 4
    });
    let swing = found.shape.swing.as_ref().unwrap();
    assert!((swing.period_s / 25.0 - 1.0).abs() < 0.05, "{swing:?}");
    assert!(swing.power > 0.8 && swing.p <= 0.01, "{swing:?}");
    let steady = judged(1, 40 * MS, |n, _, _| 4 * MS + scatter(n));
    assert_eq!(steady.shape.swing, None);
}

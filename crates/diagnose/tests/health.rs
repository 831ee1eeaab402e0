//! The host's health around repeats: what it says of their spread, and which are excluded.
#![allow(clippy::unwrap_used, reason = "what fails to be set up fails the test")]

use std::sync::Arc;

use slowpath_core::Nanos;
use slowpath_core::facts::{EndpointTally, HostFacts, RepeatFacts, TargetFacts};
use slowpath_core::health::{CpuNoise, During, FixedWork, Health, Noise, TimerNoise};
use slowpath_core::nanos::Span;
use slowpath_core::plan::Plan;
use slowpath_core::record::{MANIFEST_FORMAT, Manifest, RunRecord};
use slowpath_core::sample::{Outcome, Phase, Sample, Stage};
use slowpath_core::scenario::{LoadDraft, Scenario};
use slowpath_core::signal::{
    CLOCK_BOOTTIME_OFFSET, CLOCK_REALTIME_OFFSET, HOST_CPU_BUSY, HOST_CPU_IDLE, HOST_CPU_STEAL,
    Signal,
};
use slowpath_core::timeline::{Point, Series, Subject, Timeline};
use slowpath_diagnose::diagnosis::{BlameOf, Diagnosis, Fitness, Status};
use slowpath_diagnose::{judge, run_figures};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;
/// A window every so often.
const EVERY: u64 = 10 * SECOND;
const REQUESTS: u32 = 500;

/// What is varied from repeat to repeat.
#[derive(Clone, Copy)]
struct Repeat {
    /// The service time in microseconds.
    service_us: u64,
    /// The mean time of the calibration loop in microseconds.
    work_us: u64,
    /// Its standard deviation.
    work_sd_us: u64,
    /// CPUs of two that others use.
    others: f64,
}

const CALM: Repeat = Repeat {
    service_us: 2_000,
    work_us: 1_001,
    work_sd_us: 3,
    others: 0.02,
};

fn window(repeat: usize) -> Span {
    let begin = Nanos::new(EVERY * (1 + repeat as u64));
    Span::new(begin, begin.plus(5 * SECOND))
}

fn noise(at: Nanos, of: Repeat) -> Noise {
    Noise {
        span: Span::new(at, at.plus(200 * MS)),
        cpus: vec![CpuNoise {
            cpu: 0,
            spun_ns: 100 * MS,
            gaps: 0,
            stolen_ns: 0,
            max_gap_ns: 9_000,
            wait_p99_ns: 0,
            wait_p999_ns: 0,
            work: FixedWork {
                n: 50,
                median_ns: 1_001_000,
                mean_ns: of.work_us * 1_000,
                sd_ns: of.work_sd_us * 1_000,
            },
        }],
        timer: TimerNoise {
            n: 40,
            late_p50_ns: 55_000,
            late_p99_ns: 80_000,
            step_ns: 25,
        },
    }
}

fn health(repeat: usize, of: Repeat) -> Health {
    let window = window(repeat);
    Health {
        before: noise(window.begin.minus(SECOND), of),
        after: noise(window.end.plus(SECOND), of),
        during: During {
            span: window,
            cpus: Some(2),
            cpu: None,
            own_cpu_ns: None,
            children_cpu_ns: None,
            psi_cpu_ns: None,
            psi_io_ns: None,
            psi_memory_ns: None,
            throttled_ns: Some(0),
            switches: Some(5_000),
            clocks: None,
        },
    }
}

/// A counter or gauge of the host, read ten times a second in and around every window.
fn series(signal: &Signal, repeats: &[Repeat], at: impl Fn(Nanos, usize) -> f64) -> Series {
    let reading = |(repeat, tick): (usize, u64)| {
        let begin = window(repeat).begin.minus(450 * MS).plus(tick * 100 * MS);
        Point {
            window: Span::new(begin, begin.plus(1_000)),
            value: at(begin, repeat),
        }
    };
    let ticks = (0..repeats.len()).flat_map(|repeat| (0..60).map(move |tick| (repeat, tick)));
    Series {
        signal: signal.id.to_owned(),
        subject: Subject::Host,
        label: String::new(),
        points: ticks.map(reading).collect(),
    }
}

fn timeline(repeats: &[Repeat], realtime_ns: impl Fn(Nanos) -> f64) -> Timeline {
    let elapsed = |at: Nanos, repeat: usize| at.since(window(repeat).begin.minus(SECOND)) as f64;
    let cpu = |share: fn(f64) -> f64| {
        move |at: Nanos, repeat: usize| elapsed(at, repeat) * share(repeats[repeat].others)
    };
    Timeline {
        series: vec![
            series(&CLOCK_REALTIME_OFFSET, repeats, |at, _| realtime_ns(at)),
            series(&CLOCK_BOOTTIME_OFFSET, repeats, |_, _| 0.0),
            series(&HOST_CPU_BUSY, repeats, cpu(|others| others)),
            series(&HOST_CPU_IDLE, repeats, cpu(|others| 2.0 - others)),
            series(&HOST_CPU_STEAL, repeats, |_, _| 0.0),
        ],
        ..Timeline::default()
    }
}

fn request(serial: u32, number: usize, of: &Repeat, window: Span) -> Sample {
    let due = window.begin.plus(u64::from(serial) * 10 * MS);
    let scatter = u64::from(serial.wrapping_mul(2_654_435_761) >> 12) % (MS / 8);
    Sample {
        sent: Some(due),
        first_byte: Some(due.plus(MS / 2)),
        done: due.plus(of.service_us * 1_000 + scatter),
        serial,
        connection: serial % 8,
        repeat: number as u16,
        stage: Stage::Measured,
        status: 200,
        outcome: Outcome::Ok,
        phase: Phase::Check,
        ..Sample::due(due)
    }
}

fn record(repeats: &[Repeat]) -> RunRecord {
    let (mut samples, mut facts) = (Vec::new(), Vec::new());
    for (number, of) in repeats.iter().enumerate() {
        let window = window(number);
        samples.extend((0..REQUESTS).map(|serial| request(serial, number, of, window)));
        facts.push(RepeatFacts {
            endpoints: vec![EndpointTally {
                offered: u64::from(REQUESTS),
                unsent: 0,
            }],
            health: Some(health(number, *of)),
            ..RepeatFacts::new(number as u16, window, window)
        });
    }
    let mut scenario = Scenario::from_url("http://127.0.0.1:1/search").unwrap();
    scenario.load = LoadDraft {
        rate_per_s: Some(100.0),
        duration_ns: Some(5 * SECOND),
        repeats: Some(repeats.len() as u32),
        ..LoadDraft::default()
    }
    .resolve()
    .unwrap();
    RunRecord {
        manifest: Manifest {
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
            host: HostFacts {
                cpus: 2,
                ..HostFacts::default()
            },
            git: None,
            target: TargetFacts::default(),
            repeats: facts,
            interrupted: false,
            trouble: String::new(),
            imported: None,
            recovered: false,
        },
        samples: samples.into(),
        keys: Vec::new(),
        timeline: timeline(repeats, |_| 0.0),
        trace: Arc::default(),
        timings: Arc::default(),
        collections: Arc::default(),
        spans: Arc::default(),
        profiles: Arc::default(),
    }
}

fn repeats(change: impl Fn(usize, &mut Repeat)) -> Vec<Repeat> {
    let one = |number| {
        let mut repeat = CALM;
        change(number, &mut repeat);
        repeat
    };
    (0..5).map(one).collect()
}

fn blame(diagnosis: &Diagnosis) -> Option<(BlameOf, &str)> {
    let blame = diagnosis.endpoints[0].spread_blame.as_ref()?;
    Some((blame.blame, &blame.detail))
}

fn status(diagnosis: &Diagnosis, name: &str) -> Option<Status> {
    let check = diagnosis.validity.iter().find(|c| c.check == name);
    check.map(|check| check.status)
}

#[test]
fn a_calm_host_scores_full_and_a_steady_service_asks_no_question() {
    let diagnosis = judge(&record(&repeats(|_, _| {})));
    let health = diagnosis.run.health.as_ref().unwrap();
    assert_eq!(
        (health.score, health.fitness),
        (100, Fitness::Good),
        "{health:#?}"
    );
    assert_eq!(health.repeats.len(), 5);
    assert!((health.floor_ms - 0.08).abs() < 1e-9);
    assert_eq!(status(&diagnosis, "host-health"), Some(Status::Ok));
    assert_eq!(blame(&diagnosis), None);
    // The target was not seen: that is reported, and no share of the CPUs.
    let host = diagnosis
        .validity
        .iter()
        .find(|c| c.check == "host")
        .unwrap();
    let told = "stolen by the hypervisor, what the target used was not seen";
    assert!(host.detail.ends_with(told), "{}", host.detail);
}

#[test]
fn what_varies_with_the_same_fixed_work_is_the_hosts() {
    let both = repeats(|number, repeat| {
        let slower = 100 + 15 * number as u64;
        repeat.service_us = repeat.service_us * slower / 100;
        repeat.work_us = repeat.work_us * slower / 100;
    });
    let (who, why) = blame(&judge(&record(&both)))
        .map(|(b, t)| (b, t.to_owned()))
        .unwrap();
    assert_eq!(who, BlameOf::Host);
    assert!(why.contains("1.00 ms to 1.60 ms"), "{why}");
}

#[test]
fn what_varies_while_fixed_work_holds_still_is_the_services() {
    let service = repeats(|number, repeat| repeat.service_us += 300 * number as u64);
    let diagnosis = judge(&record(&service));
    assert_eq!(blame(&diagnosis).unwrap().0, BlameOf::Service);
    assert!(diagnosis.run.valid);
}

#[test]
fn others_in_a_window_keep_the_host_from_being_acquitted() {
    let crowded = repeats(|number, repeat| {
        repeat.service_us += 300 * number as u64;
        repeat.others = if number == 3 { 0.9 } else { 0.02 };
    });
    let diagnosis = judge(&record(&crowded));
    let (who, why) = blame(&diagnosis).unwrap();
    assert_eq!(who, BlameOf::Unknown);
    assert!(
        why.contains("other processes used 45 % of the CPU time in repeat 4"),
        "{why}"
    );
}

#[test]
fn repeats_that_were_heard_together_are_one_witness() {
    let service = repeats(|number, repeat| repeat.service_us += 300 * number as u64);
    let mut record = record(&service);
    let first = record.manifest.repeats[0].health.clone();
    for facts in &mut record.manifest.repeats {
        facts.health.clone_from(&first);
    }
    let diagnosis = judge(&record);
    let (who, why) = blame(&diagnosis).unwrap();
    assert_eq!(who, BlameOf::Unknown);
    assert!(why.contains("around only 1 of the repeats"), "{why}");
}

#[test]
fn a_repeat_that_the_host_spoiled_is_kept_and_does_not_count() {
    let mut record = record(&repeats(|number, repeat| {
        repeat.work_sd_us = if number == 1 { 400 } else { 3 };
    }));
    let spoiled = record.manifest.repeats[1].health.as_mut().unwrap();
    spoiled.during.throttled_ns = Some(30 * MS);
    let diagnosis = judge(&record);
    let health = diagnosis.run.health.as_ref().unwrap();
    let asides: Vec<bool> = health.repeats.iter().map(|r| !r.aside.is_empty()).collect();
    assert_eq!(asides, [false, true, false, false, false]);
    assert_eq!((health.score, health.repeats[1].score), (100, 30));
    assert!(diagnosis.run.valid, "a low score warns");
    assert_eq!(
        status(&diagnosis, "host-health"),
        Some(Status::Warn),
        "never silently"
    );
    let figures = run_figures(&record.manifest, &diagnosis);
    let median = figures.rows.iter().find(|row| row.metric == "p50").unwrap();
    assert_eq!((median.repeats.len(), median.values().len()), (5, 4));
    assert!(
        median.repeats[1]
            .aside
            .contains("a quota kept slowpath from running")
    );
    // What is reported over repeats is of those that count, and so is what comparisons read.
    let told = &diagnosis.endpoints[0].over_repeats;
    assert!(told.iter().all(|of| of.repeats == 4), "{told:?}");
    assert_eq!(diagnosis.endpoints[0].by_repeat.len(), 5);
    assert_eq!(median.whole, None);
    assert!(
        median.refused.contains("1 of its repeats"),
        "{}",
        median.refused
    );
    let numbers: Vec<Option<u32>> = median.repeats.iter().map(|f| f.repeat).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4].map(Some));
}

#[test]
fn a_target_that_hangs_fails_and_does_not_void_the_run() {
    let mut record = record(&repeats(|_, _| {}));
    record.samples.change(|samples| {
        for sample in samples {
            sample.outcome = Outcome::Unfinished;
        }
    });
    let diagnosis = judge(&record);
    assert_eq!(status(&diagnosis, "samples"), Some(Status::Warn));
    let figures = run_figures(&record.manifest, &diagnosis);
    assert!(!figures.void.iter().any(|void| void.contains("completed")));
    let errors = figures.rows.iter().find(|row| row.metric == "errors");
    assert_eq!(errors.unwrap().values(), [1.0; 5]);
}

/// Only what waited for longer than anything that was answered counts as failed.
#[test]
fn an_almost_hung_repeat_has_failed_and_a_request_that_was_cut_off_has_not() {
    let mut record = record(&repeats(|_, _| {}));
    record.samples.change(|samples| {
        for sample in samples {
            // The third repeat answers its first request and none after it, the last is cut off
            // under its first one, and of the others nothing is left.
            let cut_off = sample.repeat == 4 && sample.serial == 0;
            if sample.repeat == 2 && sample.serial > 0 || cut_off {
                sample.outcome = Outcome::Unfinished;
            }
            if sample.repeat == 2 && sample.serial > 0 {
                sample.done = window(2).end;
            }
        }
    });
    let keep: Vec<Sample> = record.samples.to_vec();
    let keep = keep.into_iter().filter(|s| s.repeat < 4 || s.serial == 0);
    record.samples = keep.collect::<Vec<Sample>>().into();
    record.manifest.repeats[4].endpoints[0].offered = 1;
    let figures = run_figures(&record.manifest, &judge(&record));
    let errors = figures.rows.iter().find(|row| row.metric == "errors");
    let errors = errors.unwrap().values();
    // All but the first and those that were due in the last ten medians.
    let last = 10 * (CALM.service_us + 125) / 10_000;
    let almost_all = 1.0 - (1.0 + last as f64) / f64::from(REQUESTS);
    assert!((errors[2] - almost_all).abs() < 1e-9, "{errors:?}");
    assert_eq!((errors[0], errors[4]), (0.0, 0.0));
}

#[test]
fn a_step_at_the_edge_of_a_window_voids_it_and_one_between_windows_does_not() {
    let all = repeats(|_, _| {});
    let stepped_at = |at: Nanos| {
        let mut record = record(&all);
        record.timeline = timeline(&all, |now| if now < at { 0.0 } else { 7e6 });
        judge(&record)
    };
    // Readings lie at 50 ms before and after the end of a window.
    let edge = stepped_at(window(2).end);
    assert!(!edge.run.valid);
    assert_eq!(status(&edge, "clock-jump"), Some(Status::Invalid));
    let aside = &edge.run.health.as_ref().unwrap().repeats[2].aside;
    assert_eq!(aside, "the wall clock was stepped by 7.00 ms");
    let between = stepped_at(window(2).end.plus(2 * SECOND));
    assert!(between.run.valid, "{:?}", between.validity);
    assert_eq!(between.run.health.unwrap().score, 100);
}

#[test]
fn records_of_versions_that_did_not_look_are_read_and_judged() {
    let mut record = record(&repeats(|number, repeat| {
        repeat.service_us += 300 * number as u64;
    }));
    for facts in &mut record.manifest.repeats {
        let mut json = serde_json::to_value(&*facts).unwrap();
        json.as_object_mut().unwrap().remove("health").unwrap();
        *facts = serde_json::from_value(json).unwrap();
    }
    let diagnosis = judge(&record);
    assert_eq!(diagnosis.run.health, None);
    assert_eq!(
        (status(&diagnosis, "host-health"), blame(&diagnosis)),
        (None, None)
    );
}

#[test]
fn a_health_is_read_as_it_was_written() {
    let written = health(0, CALM);
    let json = serde_json::to_string(&written).unwrap();
    assert_eq!(serde_json::from_str::<Health>(&json).unwrap(), written);
}

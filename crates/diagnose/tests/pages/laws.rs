//! What holds of every record, however strange.

use proptest::prelude::*;
use slowpath_core::facts::{EndpointTally, RepeatFacts};
use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::record::RunRecord;
use slowpath_core::sample::{Outcome, Phase, Sample, Stage};
use slowpath_core::signal;
use slowpath_core::timeline::{Mark, MarkKind, Point, Series, Subject};
use slowpath_diagnose::diagnosis::Diagnosis;
use slowpath_diagnose::judge;

use super::cases::JUDGED;
use crate::case::spec::Case;
use crate::case::{build, diagnose};

/// Windows, requests and readings lie in these seconds, as nanoseconds.
const LAST_NS: u64 = 8_000_000_000;

fn instant() -> impl Strategy<Value = Nanos> {
    prop_oneof![8 => 0..LAST_NS, 1 => Just(u64::MAX)].prop_map(Nanos::new)
}

fn span() -> impl Strategy<Value = Span> {
    (instant(), prop_oneof![Just(0), 0..LAST_NS])
        .prop_map(|(begin, len)| Span::new(begin, begin.plus(len)))
}

/// An offset that is often one of those that causes look for.
fn duration() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(0),
        Just(41_000_000),
        Just(1_001_000_000),
        0..3_000_000_u64,
        0..LAST_NS,
    ]
}

fn sample() -> impl Strategy<Value = Sample> {
    let instants = prop::collection::vec(duration(), 7);
    let present = prop::collection::vec(prop::bool::weighted(0.8), 5);
    let ends = (0..Outcome::ALL.len(), 0..Phase::ALL.len(), any::<bool>());
    let small = (0..4_u16, 0..3_u16, 0..20_u32, 0..200_u32);
    (instant(), instants, present, ends, small, any::<bool>()).prop_map(
        |(scheduled, after, has, (outcome, phase, warm), small, ordered)| {
            let mut at = scheduled;
            let mut next = |i: usize| {
                let instant = if ordered {
                    at.plus(after[i])
                } else {
                    scheduled.plus(after[i])
                };
                at = instant;
                instant
            };
            let ready = next(0);
            let mut maybe = |i: usize| Some(next(i)).filter(|_| has[i - 1]);
            Sample {
                scheduled,
                ready,
                connect_begin: maybe(1),
                connected: maybe(2),
                sent: maybe(3),
                first_byte: maybe(4),
                gap_begin: maybe(5),
                gap_ns: after[6],
                done: next(6),
                received_bytes: 1,
                sent_bytes: 1,
                connection: small.2,
                index_on_connection: small.2,
                in_flight: small.3,
                repeat: small.0,
                endpoint: small.1,
                local_port: 1,
                status: 200,
                errno: small.0,
                stage: if warm { Stage::Warmup } else { Stage::Measured },
                outcome: if has[0] {
                    Outcome::Ok
                } else {
                    Outcome::ALL[outcome]
                },
                phase: Phase::ALL[phase],
                ..Sample::due(scheduled)
            }
        },
    )
}

fn subject() -> impl Strategy<Value = Subject> {
    prop_oneof![
        Just(Subject::Host),
        Just(Subject::Tool),
        Just(Subject::Target),
        Just(Subject::Process { pid: 1 }),
        Just(Subject::Thread { pid: 1, tid: 2 }),
    ]
}

fn series() -> impl Strategy<Value = Series> {
    let value = prop_oneof![Just(0.0), 0.0..1e10, -1e6..1e6];
    let points = prop::collection::vec((span(), value), 0..40);
    let label = prop_oneof![Just(""), Just("poll"), Just("clock_nanosleep")];
    (0..signal::ALL.len(), subject(), label, points).prop_map(|(signal, subject, label, points)| {
        let point = |(window, value)| Point { window, value };
        Series {
            signal: signal::ALL[signal].id.to_owned(),
            subject,
            label: label.to_owned(),
            points: points.into_iter().map(point).collect(),
        }
    })
}

fn repeat() -> impl Strategy<Value = RepeatFacts> {
    let tally =
        (0..500_u64, 0..500_u64).prop_map(|(offered, unsent)| EndpointTally { offered, unsent });
    let tallies = prop::collection::vec(tally, 0..4);
    (span(), span(), tallies).prop_map(|(window, load, endpoints)| RepeatFacts {
        endpoints,
        ..RepeatFacts::new(0, window, load)
    })
}

/// Any record of up to two endpoints: empty, without repeats, with windows of no length, with
/// requests of repeats and endpoints that do not exist.
fn record() -> impl Strategy<Value = RunRecord> {
    let samples = prop::collection::vec(sample(), 0..400);
    let parts = (samples, prop::collection::vec(series(), 0..25));
    let facts = (
        prop::collection::vec(repeat(), 0..3),
        any::<bool>(),
        any::<bool>(),
    );
    (parts, facts).prop_map(|((samples, series), (repeats, visible, open))| {
        let load = if open { "rate = 1" } else { "users = 1" };
        let class = |name: &str| format!("{{ endpoint = \"{name}\", share = 0.5 }}");
        let classes = format!("class = [{}, {}]", class("a"), class("b"));
        let mut record = small(&format!("{load}\n{classes}"));
        record.samples = samples.into();
        record.timeline.series = series;
        record.timeline.marks = vec![Mark {
            at: Nanos::new(1),
            kind: MarkKind::TargetDied,
            repeat: 9,
            text: String::new(),
        }];
        record.timeline.sort();
        record.manifest.repeats = repeats;
        record.manifest.target.visible = visible;
        record
    })
}

fn small(text: &str) -> RunRecord {
    let text = format!("name = \"any\"\nexpect = \"nothing\"\nduration = \"1s\"\n{text}");
    build(&Case::parse(&text).unwrap())
}

/// What is true of every judgement.
fn holds(diagnosis: &Diagnosis) {
    let share = |s: f64| (0.0..=1.0 + 1e-6).contains(&s);
    for f in &diagnosis.findings {
        assert!(
            share(f.share) && share(f.share_low) && share(f.share_high),
            "{f:?}"
        );
        assert!(f.share_low <= f.share_high, "{f:?}");
        assert!(!f.evidence.is_empty() && !f.summary.is_empty(), "{f:?}");
        for proof in &f.evidence {
            let id = proof.pointer.as_str();
            let column = [
                "gap_ns",
                "first_byte_ns",
                "connected_ns",
                "secured_ns",
                "sent_ns",
                "in_flight",
                "idle_before_ns",
                "key",
                "serial",
                "scheduled_ns",
                "received_bytes",
                "outcome",
            ];
            let other = [
                "collections",
                "index_on_connection",
                "manifest.repeats.connections_stale",
                "manifest.repeats.endpoints",
                "profiles",
                "trace",
            ];
            let known = signal::find(id).is_some() || column.contains(&id) || other.contains(&id);
            assert!(known, "{id} is no signal and no column");
        }
    }
    let mut frames: Vec<(Option<&String>, _, f64)> = Vec::new();
    for f in &diagnosis.findings {
        let key = (f.endpoint.as_ref(), f.place);
        match frames.iter_mut().find(|(e, p, _)| (*e, *p) == key) {
            Some((_, _, sum)) => *sum += f.share,
            None => frames.push((key.0, key.1, f.share)),
        }
    }
    for (endpoint, place, sum) in frames {
        let whole = endpoint.is_none() || sum <= 1.0 + 1e-6;
        assert!(whole, "shares of {endpoint:?} {place:?} add up to {sum}");
    }
    assert!(
        diagnosis.unexplained.iter().all(|u| share(u.share)),
        "{:?}",
        diagnosis.unexplained
    );
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 150,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_record_is_judged_without_panic_and_always_alike(record in record()) {
        let diagnosis = judge(&record);
        holds(&diagnosis);
        prop_assert_eq!(judge(&record), diagnosis);
    }

    #[test]
    fn the_order_of_what_is_scheduled_at_once_does_not_matter(
        samples in prop::collection::vec(sample(), 0..300),
        order in any::<u64>(),
    ) {
        let mut record = small("class = [{}]");
        record.samples = samples.into();
        record.samples.change(|samples| {
            for s in samples.iter_mut() {
                s.scheduled = Nanos::new(s.scheduled.get() % 7 + 1);
            }
            samples.sort_by_key(|s| (s.repeat, s.scheduled));
        });
        let mut other = record.clone();
        // Within one instant, in the order of a keyed hash.
        other.samples.change(|samples| samples.sort_by_key(|s| {
            let mixed = (s.done.get() ^ order).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            (s.repeat, s.scheduled, mixed)
        }));
        prop_assert_eq!(judge(&record), judge(&other));
    }
}

#[test]
fn the_judgement_of_every_page_holds_them_too() {
    for judged in JUDGED.iter().flat_map(|(_, judged)| judged) {
        holds(&judged.diagnosis);
    }
}

#[test]
fn runs_with_hardly_anything_in_them_are_judged() {
    let whole = small("class = [{ sleep = \"10ms\" }]");
    let cut = |change: fn(&mut RunRecord)| {
        let mut record = whole.clone();
        change(&mut record);
        holds(&judge(&record));
    };
    cut(|r| r.samples.change(Vec::clear));
    cut(|r| r.samples.change(|samples| samples.truncate(1)));
    cut(|r| r.manifest.repeats.clear());
    cut(|r| r.timeline.series.clear());
    cut(|r| {
        for series in &mut r.timeline.series {
            series.points.truncate(1);
        }
    });
    for outcome in [Outcome::Timeout, Outcome::Unfinished, Outcome::Reset] {
        let mut record = whole.clone();
        each(&mut record, |s| s.outcome = outcome);
        holds(&judge(&record));
    }
    cut(|r| each(r, |s| s.repeat = 7));
    cut(|r| each(r, |s| s.endpoint = 7));
    cut(|r| each(r, |s| s.done = s.scheduled));
    cut(|r| {
        let window = &mut r.manifest.repeats[0].window;
        window.end = window.begin;
    });
    cut(|r| r.manifest.repeats[0].endpoints.clear());
    cut(|r| r.manifest.plan.scenario.endpoints.clear());
}

fn each(record: &mut RunRecord, change: impl Fn(&mut Sample)) {
    record
        .samples
        .change(|samples| samples.iter_mut().for_each(change));
}

#[test]
fn requests_that_were_never_answered_are_slower_than_all() {
    let text = "name = \"a\"\nexpect = \"nothing\"\nworkers = 1\nconnections = 4\nrate = 200\n\
        class = [{ cpu = \"10ms + 0.1ms\" }]";
    let diagnosis = diagnose(&Case::parse(text).unwrap());
    let figures = &diagnosis.endpoints[0];
    assert!(
        figures.unsent * 3 > figures.offered,
        "about half is never sent"
    );
    let latency = &figures.latency_ms;
    for high in [&latency.p90, &latency.p99, &latency.max] {
        assert_eq!(high.value, None, "{high:?}");
        assert!(high.reason.is_some());
    }
    assert!(
        figures.service_ms.p90.value.is_some(),
        "those that were served are known"
    );
    let check = diagnosis
        .validity
        .iter()
        .find(|c| c.check == "offered-rate");
    assert!(check.unwrap().detail.contains("were answered"));
}

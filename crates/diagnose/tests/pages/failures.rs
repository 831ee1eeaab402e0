//! What is reported of failures and connections, on simulated runs some of whose requests are made
//! failures.

use slowpath_core::logs::{LogExcerpt, LogLine};
use slowpath_core::nanos::{MILLISECOND, SECOND};
use slowpath_core::record::RunRecord;
use slowpath_core::sample::{Outcome, Phase, Sample, Stage};
use slowpath_core::scenario::{Escape, Template};
use slowpath_diagnose::diagnosis::{Diagnosis, ErrorCount};
use slowpath_diagnose::{attach_logs, judge, wanted_logs};

use crate::case::build;
use crate::case::spec::Case;

const TEN_SECONDS: u64 = 10 * SECOND;

/// A run of twenty users over ten seconds, changed by `change`, which gets the number of each
/// measured request that was completed.
fn run(options: &str, mut change: impl FnMut(usize, &mut Sample)) -> RunRecord {
    let text = format!(
        "name = \"a\"\nexpect = \"nothing\"\nduration = \"10s\"\n{options}\n\
         class = [{{ sleep = \"20ms + 2ms\" }}]"
    );
    let mut record = build(&Case::parse(&text).unwrap());
    let mut number = 0;
    record.samples.change(|samples| {
        for sample in samples {
            // Connections are made one after the other and last.
            let age_ns = (u64::from(sample.serial) * 7_919 % 9_000 + 1) * MILLISECOND;
            sample.connection_since = sample.sent.map(|sent| sent.minus(age_ns));
            if sample.stage == Stage::Measured && sample.outcome == Outcome::Ok {
                change(number, sample);
                number += 1;
            }
        }
    });
    record
}

fn fail(sample: &mut Sample, outcome: Outcome, phase: Phase) {
    sample.outcome = outcome;
    sample.phase = phase;
    sample.errno = if outcome == Outcome::Reset { 104 } else { 0 };
    if phase != Phase::Body {
        (sample.first_byte, sample.received_bytes) = (None, 0);
    }
}

fn only_error(diagnosis: &Diagnosis) -> &ErrorCount {
    let [error] = diagnosis.endpoints[0].errors.as_slice() else {
        panic!("{:?}", diagnosis.endpoints[0].errors);
    };
    error
}

fn summary(record: &RunRecord) -> String {
    only_error(&judge(record)).summary.clone()
}

#[test]
fn a_kind_of_failure_is_counted_and_shown() {
    let record = run("users = 20\nrepeats = 2", |number, sample| {
        if number % 50 == 7 {
            fail(sample, Outcome::Reset, Phase::Body);
            sample.first_byte = Some(sample.done.minus(12 * MILLISECOND));
        }
    });
    let diagnosis = judge(&record);
    let (figures, error) = (&diagnosis.endpoints[0], only_error(&diagnosis));
    assert_eq!(error.errno.as_deref(), Some("ECONNRESET"));
    assert_eq!(
        error.summary,
        "2.0 % of the requests: the server reset the connection inside the response, 12.0 ms after \
         the first byte, on connections of any age"
    );
    assert_eq!(error.by_repeat.iter().sum::<u64>(), error.count);
    assert_eq!(error.by_repeat.len(), 2);
    let per_s = error.count as f64 / 20.0;
    assert!((error.per_s - per_s).abs() < 0.001, "{per_s} {error:?}");
    assert!(error.peak_per_s as f64 >= per_s && error.first_s >= 0.0 && error.last_s <= 10.1);
    let share = figures.completed as f64 / figures.offered as f64;
    assert!((figures.served - share).abs() < 1e-6 && figures.served < 0.981);

    // The first, the last, and three between, in the order of time.
    let samples = record.samples.to_vec();
    let failed: Vec<&Sample> = samples.iter().filter(|s| s.errno == 104).collect();
    let latest = failed.iter().map(|s| (s.repeat, s.done)).max().unwrap();
    assert_eq!(error.examples.len(), 5);
    let last = error.examples.last().unwrap();
    let same = |s: &&&Sample| (s.repeat, s.serial) == (last.repeat, last.serial);
    let sample = failed.iter().find(same).unwrap();
    assert_eq!((sample.repeat, sample.done), latest);
    let id = Sample::trace_id(record.manifest.plan.seed, sample.repeat, sample.serial);
    assert_eq!(u128::from_str_radix(&last.trace_id, 16), Ok(id));
    assert_eq!(last.local_port, Some(sample.local_port));
    let order: Vec<(u16, f64)> = error.examples.iter().map(|e| (e.repeat, e.at_s)).collect();
    assert!(order.is_sorted(), "{order:?}");
}

#[test]
fn what_failures_have_in_common_is_said() {
    let nth = run("users = 20", |_, sample| {
        if sample.index_on_connection == 100 {
            fail(sample, Outcome::Closed, Phase::FirstByte);
        }
    });
    let said = summary(&nth);
    assert!(
        said.contains("always on request 101 of a connection"),
        "{said}"
    );

    let old = run("users = 20", |number, sample| {
        if number % 40 == 0 {
            fail(sample, Outcome::Closed, Phase::FirstByte);
            let age_ns = TEN_SECONDS + number as u64 * 10_000;
            sample.connection_since = sample.sent.map(|sent| sent.minus(age_ns));
        }
    });
    let said = summary(&old);
    assert!(
        said.contains("always on connections 10.0 s to 10.1 s old"),
        "{said}"
    );

    let burst = run("users = 20", |number, sample| {
        if (1000..1030).contains(&number) {
            fail(sample, Outcome::Truncated, Phase::Body);
        }
    });
    let said = summary(&burst);
    assert!(
        said.contains(", all within ") && said.contains(" s on"),
        "{said}"
    );

    let late = run("users = 20", |number, sample| {
        if number > 4000 && number % 20 == 0 {
            fail(sample, Outcome::Truncated, Phase::Body);
        }
    });
    let said = summary(&late);
    let first_s = only_error(&judge(&late)).first_s;
    assert!(first_s > 2.5, "{first_s}");
    assert!(
        said.ends_with(&format!(", none before {first_s:.2} s")),
        "{said}"
    );
}

#[test]
fn idle_gaps_that_failures_follow_are_said() {
    let idle = run("users = 20", |number, sample| {
        sample.idle_before_ns = number as u64 % 400 * 10 * MILLISECOND;
        if number % 400 == 399 {
            fail(sample, Outcome::Reset, Phase::FirstByte);
        }
    });
    let diagnosis = judge(&idle);
    let error = only_error(&diagnosis);
    let gaps = error.idle_gaps.as_ref().unwrap();
    assert_eq!(
        (gaps.low_ms, gaps.high_ms, gaps.failed),
        (3990.0, 3990.0, error.count)
    );
    assert_eq!(gaps.longer_completed, 0);
    assert!(
        error
            .summary
            .contains("always after the connection had been idle for 3.99 s")
    );
}

#[test]
fn few_failures_have_nothing_in_common_that_could_not_be_chance() {
    let few = run("users = 20", |number, sample| {
        if number % 3000 == 1 {
            fail(sample, Outcome::Closed, Phase::FirstByte);
        }
    });
    let said = summary(&few);
    assert!(
        !said.contains("connections") && said.contains("less than 0.1 %"),
        "{said}"
    );
}

#[test]
fn statuses_are_kinds_of_their_own() {
    let record = run("users = 20", |number, sample| {
        if number % 10 < 2 {
            fail(sample, Outcome::Status, Phase::Check);
            sample.status = if number % 10 == 0 { 503 } else { 500 };
        }
    });
    let diagnosis = judge(&record);
    let errors = &diagnosis.endpoints[0].errors;
    let mut statuses: Vec<Option<u16>> = errors.iter().map(|e| e.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [Some(500), Some(503)]);
    assert!(
        errors
            .iter()
            .all(|e| e.summary.contains("answered with status 50"))
    );
    // The connections worked.
    assert_eq!(diagnosis.connections.never_worked, 0);
}

#[test]
fn a_percentile_among_given_up_requests_has_a_bound() {
    let record = run("users = 20", |number, sample| {
        if number % 20 == 0 {
            fail(sample, Outcome::Timeout, Phase::FirstByte);
            sample.done = sample.scheduled.plus(5 * SECOND);
        }
    });
    let latency = &judge(&record).endpoints[0].latency_ms;
    assert!(latency.p50.value.is_some() && latency.p50.above.is_none());
    for percentile in [&latency.p98, &latency.p99, &latency.max] {
        assert_eq!((percentile.value, percentile.above), (None, Some(5000.0)));
        assert_eq!(percentile.censored_by.as_deref(), Some("timeout"));
    }
}

#[test]
fn nothing_that_was_answered_is_told() {
    let record = run("users = 20", |_, sample| {
        fail(sample, Outcome::Refused, Phase::Connect);
        sample.errno = 111;
        (sample.sent, sample.connection) = (None, slowpath_core::sample::NONE);
        sample.connect_begin = Some(sample.scheduled);
    });
    let diagnosis = judge(&record);
    assert!(diagnosis.endpoints[0].served < 1e-9);
    let said = &only_error(&diagnosis).summary;
    assert!(
        said.starts_with("100 % of the requests: the target refused"),
        "{said}"
    );
    let connections = &diagnosis.connections;
    assert_eq!(connections.dial_failures[0].count, connections.dials);
    assert_eq!(connections.users_never_served, Some(20));
    let notable = connections.notable.join("\n");
    assert!(notable.contains("reconnect storm"), "{notable}");
    assert!(notable.contains("20 of 20 users never got"), "{notable}");
    assert!(
        notable.contains("refused in connect (ECONNREFUSED)"),
        "{notable}"
    );
    let samples = diagnosis
        .validity
        .iter()
        .find(|c| c.check == "samples")
        .unwrap();
    assert!(samples.detail.contains("failed"), "{samples:?}");
}

#[test]
fn connections_that_last_are_not_worth_a_line() {
    let diagnosis = judge(&run("users = 20", |_, _| {}));
    assert_eq!(diagnosis.connections.notable, Vec::<String>::new());
    assert_eq!(diagnosis.connections.users_never_served, Some(0));
    assert_eq!(diagnosis.endpoints[0].errors, []);
}

#[test]
fn slow_first_requests_and_connections_that_end_are_told() {
    let record = run("users = 20", |_, sample| {
        // Each connection carries twenty requests, and the first takes three times as long.
        sample.index_on_connection %= 20;
        if sample.index_on_connection == 0 {
            sample.connect_begin = sample.sent;
            sample.connected = sample.sent;
            sample.sent = sample.sent.map(|sent| sent.minus(50 * MILLISECOND));
        }
    });
    let notable = judge(&record).connections.notable.join("\n");
    assert!(notable.contains("connections do not last"), "{notable}");
    assert!(
        notable.contains("the first request on a connection takes 7"),
        "{notable}"
    );
    // Both with the number that they rest on.
    let slow = notable.lines().find(|line| line.contains("first request"));
    assert_eq!(slow.unwrap().matches(", n ").count(), 2, "{notable}");
}

#[test]
fn log_lines_are_put_beside_the_failure() {
    let mut record = run("users = 20", |number, sample| {
        if number % 100 == 0 {
            fail(sample, Outcome::Reset, Phase::FirstByte);
        }
    });
    let mut diagnosis = judge(&record);
    let wanted = wanted_logs(&record, &diagnosis);
    assert_eq!(wanted.len(), 5);
    let example = &only_error(&diagnosis).examples[1];
    let same = |s: &&Sample| (s.repeat, s.serial) == (example.repeat, example.serial);
    let samples = record.samples.to_vec();
    let sample = samples.iter().find(same).unwrap();
    let [begun, done] = wanted[1].instants[..] else {
        panic!("{wanted:?}");
    };
    assert!(done.since(sample.done).max(sample.done.since(done)) < 2_000);
    assert!(
        begun
            .since(sample.scheduled)
            .max(sample.scheduled.since(begun))
            < 4_000
    );
    assert!(wanted[1].names.contains(&example.trace_id));

    let line = LogLine {
        at: sample.done.plus(3 * MILLISECOND),
        source: "target".into(),
        is_err: true,
        text: "x".repeat(10_000),
    };
    let mut found = vec![LogExcerpt::default(); 5];
    found[1] = LogExcerpt {
        lines: vec![line],
        omitted: 4,
    };
    let unseen = |diagnosis: &Diagnosis| diagnosis.logs_unseen.clone().unwrap_or_default();
    attach_logs(&record, &mut diagnosis, Ok(found.clone()));
    assert!(unseen(&diagnosis).contains("target.command"));
    record.manifest.plan.scenario.target.command = Some(vec![Template::literal("x", Escape::None)]);
    attach_logs(&record, &mut diagnosis, Ok(found));
    assert_eq!(diagnosis.logs_unseen, None);
    let example = &only_error(&diagnosis).examples[1];
    assert_eq!((example.log.len(), example.log_omitted), (1, 4));
    assert!((example.log[0].after_ms - 3.0).abs() < 0.01);
    assert!(example.log[0].text.len() < 1000);
    attach_logs(&record, &mut diagnosis, Err("no such folder".into()));
    assert!(unseen(&diagnosis).contains("no such folder"));
}

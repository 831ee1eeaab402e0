//! The builder's own tests: what it refuses, what it simulates, and that a wrong expectation fails.

use slowpath_core::sample::{Outcome, Phase};
use slowpath_core::samples::SampleRef;
use slowpath_core::signal;
use slowpath_core::timeline::Subject;

use super::spec::{Case, Expect};
use super::{build, check, diagnose};

fn parse(text: &str) -> Case {
    Case::parse(&format!("name = \"a\"\nexpect = \"nothing\"\n{text}")).unwrap()
}

fn refused(text: &str) -> String {
    Case::parse(&format!("name = \"a\"\nexpect = \"nothing\"\n{text}")).unwrap_err()
}

#[test]
fn what_is_not_known_is_refused() {
    assert!(refused("class = [{ slep = \"1ms\" }]").contains("unknown field `slep`"));
    assert!(refused("rat = 1\nclass = [{}]").contains("unknown field `rat`"));
    assert!(refused("class = [{ sleep = \"1 fortnight\" }]").contains("distribution"));
    assert!(refused("class = [{ sleep = \"lognormal 1ms 1.5\" }]").contains("x and a number"));
    assert!(refused("class = [{ sleep = \"5\" }]").contains("has no unit"));
    assert!(refused("class = [{ share = 0.5 }]").contains("add up to 0.5"));
    assert!(refused("rate = 1\nusers = 1\nclass = [{}]").contains("open (rate) or closed"));
    let gap = "class = [{}]\ngap = [{ signal = \"cpu.heat\", reason = \"x\" }]";
    assert!(refused(gap).contains("no signal is called"));
    let series =
        "class = [{}]\nseries = [{ signal = \"host.cpus\", subject = \"moon\", value = 1 }]";
    assert!(refused(series).contains("no subject is called"));
    assert!(refused("name = \"b\"\nclass = [{}]").contains("duplicate key"));
}

#[test]
fn a_wrong_expectation_fails_and_says_what_is() {
    let mut case = parse("class = [{ sleep = \"10ms + 0.1ms\" }]");
    let diagnosis = diagnose(&case);
    for (expect, cause, right) in [
        (Expect::Found, "fixed-delay", true),
        (Expect::Cleared, "fixed-delay", false),
        (Expect::Blind, "fixed-delay", false),
        (Expect::Nothing, "", false),
        (Expect::Found, "delayed-ack", false),
        (Expect::Cleared, "delayed-ack", true),
        (Expect::Cleared, "no-such-cause", false),
    ] {
        case.expect = expect;
        let checked = check(&case, cause, &diagnosis);
        assert_eq!(checked.is_ok(), right, "{expect:?} {cause}");
        if let Err(text) = checked {
            assert!(text.contains("expected to be"), "{text}");
        }
    }
}

#[test]
fn the_same_text_gives_the_same_record_and_another_seed_another() {
    let text = "repeats = 2\nclass = [{ wait = \"lognormal 1ms x2\" }]";
    let record = build(&parse(text));
    assert_eq!(record, build(&parse(text)));
    assert_ne!(
        record.samples,
        build(&parse(&format!("seed = 2\n{text}"))).samples
    );
    let of = |repeat| record.samples.iter().filter(move |s| s.repeat() == repeat);
    let since = |s: SampleRef<'_>, repeat: usize| {
        s.scheduled()
            .since(record.manifest.repeats[repeat].load.begin)
    };
    let starts: Vec<_> = of(0)
        .zip(of(1))
        .map(|(a, b)| (since(a, 0), since(b, 1)))
        .collect();
    assert!(
        starts.iter().any(|(a, b)| a != b),
        "repeats draw numbers of their own"
    );
}

#[test]
fn instants_of_a_request_are_in_order_and_tallies_add_up() {
    let record = build(&parse(
        "rate = 600\nconnections = 4\nworkers = 2\nduration = \"5s\"\ntimeout = \"12ms\"\n\
         class = [{ wait = \"lognormal 4ms x2\", held = \"1ms\" }]",
    ));
    for s in record.samples.to_vec() {
        let instants = [
            Some(s.scheduled),
            Some(s.ready),
            s.connect_begin,
            s.connected,
            s.sent,
        ];
        let rest = [s.first_byte, s.gap_begin, Some(s.done)];
        let instants: Vec<_> = instants.into_iter().chain(rest).flatten().collect();
        assert!(instants.is_sorted(), "{s:?}");
        assert!(
            s.gap_begin.is_none_or(|b| b.plus(s.gap_ns) <= s.done),
            "{s:?}"
        );
    }
    let facts = &record.manifest.repeats[0];
    let measured = record
        .samples
        .iter()
        .filter(|s| facts.window.begin <= s.scheduled());
    assert_eq!(
        measured.count() as u64 + facts.endpoints[0].unsent,
        facts.endpoints[0].offered
    );
    assert!(
        record
            .samples
            .iter()
            .any(|s| s.outcome() == Outcome::Timeout)
    );
}

#[test]
fn requests_queue_for_connections_threads_and_cpus() {
    let slow = |text: &str| {
        let record = build(&parse(&format!("rate = 300\nduration = \"5s\"\n{text}")));
        let latency: u64 = record.samples.iter().map(SampleRef::latency_ns).sum();
        latency / record.samples.len() as u64
    };
    let free = slow("class = [{ cpu = \"2.5ms\" }]");
    let few_connections = slow("connections = 1\nclass = [{ cpu = \"2.5ms\" }]");
    let few_threads = slow("workers = 1\nclass = [{ cpu = \"2.5ms\" }]");
    let one_cpu = slow("cpus = 1\nclass = [{ cpu = \"2.5ms\" }]");
    assert!(free < 3_000_000, "{free}");
    assert!(few_connections > 2 * free && few_threads > 2 * free && one_cpu > 2 * free);
}

#[test]
fn what_was_computed_is_what_the_counters_say() {
    let record = build(&parse(
        "duration = \"5s\"\ncpus = 1\nclass = [{ cpu = \"1ms\", sleep = \"3ms\" }]\n\
         stall = [{ every = \"100ms\", lasts = \"20ms\", kind = \"throttled\" }]",
    ));
    let load = record.manifest.repeats[0].load;
    let cpu = record
        .timeline
        .all(&signal::PROCESS_CPU_USER)
        .next()
        .unwrap();
    let requests = record.samples.len() as f64;
    assert!((cpu.increase(load).unwrap() / (requests * 1e6) - 1.0).abs() < 0.01);
    let one = |signal| record.timeline.one(signal, &Subject::Target, "").unwrap();
    let throttled = one(&signal::CGROUP_THROTTLED).increase(load).unwrap();
    assert!((throttled / 1.2e9 - 1.0).abs() < 0.05, "{throttled}");
    let mut calls = record.timeline.all(&signal::PROCESS_THREADS_CALL);
    let sleeping = calls.find(|s| s.label == "clock_nanosleep").unwrap();
    // A request that begins or ends inside a stall sleeps a little longer: Little's law, from
    // above and below.
    let mean = sleeping.mean(load).unwrap();
    assert!((0.4..1.2).contains(&mean), "{mean}");
}

#[test]
fn a_dropped_syn_costs_a_second_and_times_out_while_dialling() {
    let record = build(&parse(
        "dial_each = true\ntimeout = \"1.5s\"\nduration = \"5s\"\n\
         class = [{ share = 0.5, syns_dropped = 1 }, { share = 0.5, syns_dropped = 2 }]",
    ));
    for s in &record.samples {
        match s.outcome() {
            Outcome::Ok => {
                let took = s.connect_ns().unwrap();
                assert!((1_000_000_000..1_060_000_000).contains(&took));
            }
            _ => assert_eq!((s.phase(), s.connected()), (Phase::Connect, None)),
        }
    }
    let drops = record
        .timeline
        .one(&signal::LISTENER_DROPS, &Subject::Target, "")
        .unwrap();
    let count = drops.increase(record.manifest.repeats[0].load).unwrap();
    let (ok, not): (Vec<_>, Vec<_>) = record
        .samples
        .iter()
        .partition(|s| s.outcome() == Outcome::Ok);
    assert!(!ok.is_empty() && (ok.len() + not.len()) as f64 <= count);
}

#[test]
fn a_remote_target_shows_nothing_of_itself() {
    let record = build(&parse("visible = false\nclass = [{}]"));
    let own = |s: &Subject| !matches!(s, Subject::Tool | Subject::Host);
    assert!(record.timeline.series.iter().all(|s| !own(&s.subject)));
    assert!(!record.manifest.target.visible);
}

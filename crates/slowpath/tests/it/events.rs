//! Streams of events against a server that drops events, breaks streams off or falls silent: what
//! slowpath counts is what the server counts.

use serde_json::Value;
use slowpath_core::sample::{Outcome, Sample, Stage};

use crate::support::{Server, assert_exit, run_scenario, stderr};

/// Events of a whole stream.
const EVENTS: u32 = 20;
/// Silence of a stream that stalls.
const STALL_MS: u64 = 400;
/// How long a stream may take.
const TIMEOUT_MS: u64 = 1500;

/// What a run left, and the server's truth.
struct Left {
    code: i32,
    report: Value,
    samples: Vec<Sample>,
    truth: Value,
}

fn load(server: &[&str]) -> Left {
    let server = Server::lab(&[&["event-stream"], server].concat()).unwrap();
    let scenario = format!(
        "[target]\nurl = \"{}\"\n[load]\nmodel = \"closed\"\nusers = 4\nduration = \"3s\"\n\
         warmup = \"500ms\"\ntimeout = \"{TIMEOUT_MS}ms\"\n\
         [[endpoint]]\nname = \"it\"\nrequest = \"GET /\"\n\
         expect = {{ events = {EVENTS}, last_event = \"[DONE]\" }}\n",
        server.url()
    );
    let folder = tempfile::tempdir().unwrap();
    let (code, report, output) = run_scenario(folder.path(), &scenario);
    assert!(report.is_object(), "{}", stderr(&output));
    let id = report["run"]["id"].as_str().unwrap();
    let run = folder.path().join(".slowpath/runs").join(id);
    Left {
        code,
        samples: slowpath_record::read(&run).unwrap().samples.to_vec(),
        report,
        truth: server.truth(),
    }
}

impl Left {
    fn of(&self, holds: impl Fn(&&Sample) -> bool) -> u64 {
        self.samples.iter().filter(holds).count() as u64
    }

    /// The server counts the streams that it began, slowpath those that ended; the end of the load
    /// overtakes a few. Gives the number of faulty ones that ended.
    fn agrees(&self, faulty: impl Fn(&Sample) -> bool) -> u64 {
        let overtaken = self.of(|s| s.outcome == Outcome::Unfinished);
        let whole = self.truth["requests"].as_u64().unwrap();
        let all = self.samples.len() as u64;
        assert!(
            (whole..=whole + overtaken).contains(&all),
            "{all} {}",
            self.truth
        );
        let ended = self.of(|s| s.outcome != Outcome::Unfinished && faulty(s));
        let induced = self.truth["induced"].as_u64().unwrap();
        assert!(
            (ended..=ended + overtaken).contains(&induced),
            "{ended} {}",
            self.truth
        );
        ended
    }

    /// The report has this class of errors alone, as often as the samples of the window.
    fn says(&self, outcome: Outcome, phase: &str) {
        let errors = self.report["endpoints"][0]["errors"].as_array().unwrap();
        let [error] = &errors[..] else {
            panic!("{errors:?}");
        };
        assert_eq!(
            (&error["class"], &error["phase"]),
            (&outcome.name().into(), &phase.into())
        );
        let measured = self.of(|s| s.stage == Stage::Measured && s.outcome == outcome);
        assert_eq!(error["count"].as_u64(), Some(measured));
        self.ends_with(6);
    }

    /// The exit code, unless this machine was too busy to measure at all.
    fn ends_with(&self, code: i32) {
        assert_exit(self.code, &self.report, code);
    }

    /// The figures of streams are there, and count what the samples of the window count.
    fn figures(&self) -> &Value {
        let stream = &self.report["endpoints"][0]["stream"];
        let ended = |s: &&Sample| s.stage == Stage::Measured && s.outcome != Outcome::Unfinished;
        let offered = self.of(ended) * u64::from(EVENTS);
        let delivered: u64 = self
            .samples
            .iter()
            .filter(ended)
            .map(|s| u64::from(s.events))
            .sum();
        assert_eq!(stream["offered"].as_u64(), Some(offered));
        assert_eq!(stream["delivered"].as_u64(), Some(delivered));
        let short = self.of(|s| ended(s) && s.events < EVENTS);
        assert_eq!(stream["short_streams"].as_u64(), Some(short));
        stream
    }
}

/// How soon the first event came and how long the streams were silent is known.
fn is_timed(stream: &Value) {
    for figure in ["first_event_ms", "gap_ms"] {
        let median = stream[figure]["p50"]["value"].as_f64();
        assert!(median.is_some_and(|ms| ms > 0.0), "{stream}");
    }
}

/// Whole events of a faulty stream.
fn has_events(outcome: Outcome, events: u32) -> impl Fn(&Sample) -> bool {
    move |sample| sample.outcome == outcome && sample.events == events
}

#[test]
fn whole_streams_are_clean() {
    let left = load(&[]);
    assert_eq!(left.agrees(|s| s.outcome != Outcome::Ok), 0);
    assert_eq!(
        left.report["endpoints"][0]["errors"],
        Value::Array(Vec::new())
    );
    let findings = left.report["findings"].as_array().unwrap();
    // Of a noisy machine only.
    let is_clean = findings.iter().all(|f| f["cause"] == "client-saturation");
    assert!(is_clean, "{findings:#?}");
    let stream = left.figures();
    assert_eq!(stream["offered"], stream["delivered"]);
    is_timed(stream);
    left.ends_with(0);
}

#[test]
fn a_dropped_event_is_missed() {
    let left = load(&["--variant", "drops"]);
    assert!(left.agrees(has_events(Outcome::Events, EVENTS - 1)) >= 5);
    is_timed(left.figures());
    left.says(Outcome::Events, "check");
}

#[test]
fn a_stream_that_breaks_off_is_truncated() {
    for (variant, phase) in [("breaks", "body"), ("ends", "check")] {
        let left = load(&["--variant", variant]);
        let ended = left.agrees(has_events(Outcome::Truncated, EVENTS / 2));
        assert!(ended >= 5, "{variant}");
        left.figures();
        left.says(Outcome::Truncated, phase);
    }
}

#[test]
fn a_silence_in_the_middle_is_seen_and_is_no_error() {
    let stall_ms = STALL_MS.to_string();
    let left = load(&["--variant", "stalls", "--stall-ms", &stall_ms]);
    let stalled = left.agrees(|s| s.gap_ns >= STALL_MS * 1_000_000);
    assert!(stalled >= 4, "{stalled}");
    assert_eq!(
        left.report["endpoints"][0]["errors"],
        Value::Array(Vec::new())
    );
    left.figures();
    left.ends_with(0);
}

#[test]
fn a_stream_that_falls_silent_times_out_with_what_came() {
    let left = load(&["--variant", "stalls", "--stall-ms", "600000"]);
    assert!(left.agrees(has_events(Outcome::Timeout, EVENTS / 2)) >= 4);
    let stream = left.figures();
    // How long it would have been silent is not known: a bound, and no figure.
    let longest = &stream["gap_ms"]["max"];
    assert!(
        longest["value"].is_null() && longest["above"].is_number(),
        "{longest}"
    );
    left.says(Outcome::Timeout, "body");
}

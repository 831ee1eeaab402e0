//! Entries of an investigation that are made up.

use slowpath_core::figures::{RunFigures, Unit};
use slowpath_core::investigation::{
    Decided, Decision, Entry, Hypothesis, Investigation, Measured, Outcome, Prediction, Symptom,
    Target, Verdict, What,
};
use slowpath_experiment::log::{Log, LogReport, Standing};

use crate::made::latencies;

/// An entry of the `day`th day of the year, before what the run of that day began.
pub(crate) fn entry(day: usize, what: What) -> Entry {
    Entry {
        id: format!("01JE{day:022}"),
        at: format!("2026-{:02}-{:02}T01:00:00Z", 1 + day / 28, 1 + day % 28),
        by: None,
        text: "x".to_owned(),
        runs: Vec::new(),
        links: Vec::new(),
        figures: Vec::new(),
        sign: None,
        what,
    }
}

pub(crate) fn opened(day: usize) -> Entry {
    let symptom = Symptom {
        title: "The tail of search".to_owned(),
        scenario: "shop".to_owned(),
        metric: Target::parse("search.p99").unwrap(),
        since: None,
        measured: Some(Measured {
            unit: Unit::Ns,
            value: 440e6,
            range: None,
        }),
    };
    entry(day, What::Opened(symptom))
}

pub(crate) fn predicts(day: usize, that: &str, due: Option<&str>) -> Entry {
    entry(
        day,
        What::Hypothesis(Hypothesis {
            cause: Some("fixed-delay".to_owned()),
            answers: Vec::new(),
            prediction: Some(Prediction::parse(that, due.map(str::to_owned)).unwrap()),
        }),
    )
}

pub(crate) fn decided(
    day: usize,
    decision: Decision,
    of: Option<&Entry>,
    release: Option<&str>,
) -> Entry {
    entry(
        day,
        What::Decision(Decided {
            decision,
            of: of.map(|entry| entry.id.clone()),
            release: release.map(str::to_owned),
        }),
    )
}

pub(crate) fn outcome(day: usize, of: &Entry, release: &str, verdict: Verdict) -> Entry {
    entry(
        day,
        What::Outcome(Outcome {
            of: of.id.clone(),
            release: Some(release.to_owned()),
            verdict,
            measured: None,
        }),
    )
}

pub(crate) fn tail(id: &str, entries: &[Entry]) -> Investigation {
    let mut made = Investigation {
        id: id.to_owned(),
        entries: entries.to_vec(),
    };
    made.sort();
    made
}

/// A run of five repeats around a p99, on a day.
pub(crate) fn run(day: usize, release: &str, ms: f64) -> RunFigures {
    let around = [0.99, 1.0, 1.01, 0.995, 1.005].map(|factor| factor * ms);
    let mut run = latencies(day, &[("search.p99", &around)]);
    run.release = Some(release.to_owned());
    run
}

pub(crate) fn standing_of(investigations: &[Investigation], runs: &[RunFigures]) -> Vec<Standing> {
    let report = LogReport::of(&Log::new(investigations, runs));
    let all = report.investigations.iter().flat_map(|one| &one.entries);
    all.filter_map(|entry| Some(entry.prediction.as_ref()?.standing))
        .collect()
}

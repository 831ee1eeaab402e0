//! The investigations that a run touched, in its report.

use slowpath_core::figures::Unit;
use slowpath_core::investigation::{
    BY_SLOWPATH, Entry, Hypothesis, Investigation, Measured, Outcome, Prediction, Symptom, Target,
    Verdict, What,
};
use slowpath_core::spread::InTurn;
use slowpath_experiment::log::{InvestigationView, Log, LogReport};
use slowpath_report::html_by;

use crate::sample;

fn entry(at: usize, text: &str, run: &str, what: What) -> Entry {
    Entry {
        id: format!("01JE{at:022}"),
        at: format!("2026-01-{:02}T00:00:00Z", at + 1),
        by: Some(BY_SLOWPATH.to_owned()),
        text: text.to_owned(),
        runs: vec![run.to_owned()],
        links: Vec::new(),
        figures: Vec::new(),
        sign: None,
        what,
    }
}

/// An investigation that was opened on another run, and whose prediction `run` was compared with.
fn log(run: &str) -> Vec<InvestigationView> {
    let opened = Symptom {
        title: "The <tail> of search".to_owned(),
        scenario: "shop".to_owned(),
        metric: Target::parse("search.p99").unwrap(),
        since: Some("v1".to_owned()),
        measured: None,
    };
    let predicted = Hypothesis {
        cause: Some("fixed-delay".to_owned()),
        answers: Vec::new(),
        prediction: Some(Prediction::parse("search.p99 in 55ms..75ms", None).unwrap()),
    };
    let other = "01JD0000000000000000000001";
    let hypothesis = entry(1, "It sleeps twice.", other, What::Hypothesis(predicted));
    let outcome = What::Outcome(Outcome {
        of: hypothesis.id.clone(),
        release: Some("v2".to_owned()),
        verdict: Verdict::Failed,
        measured: Some(Measured {
            unit: Unit::Ns,
            value: 440e6,
            range: Some((430e6, 450e6)),
        }),
    });
    let entries = vec![
        entry(0, "", other, What::Opened(opened)),
        hypothesis,
        entry(2, "search.p99 is 440 ms & more", run, outcome),
    ];
    let one = Investigation {
        id: "search-tail".to_owned(),
        entries,
    };
    LogReport::of(&Log::new(&[one], &[])).investigations
}

fn page(log: &[InvestigationView]) -> String {
    let diagnosis = sample::diagnosis("static");
    html_by(&diagnosis, &sample::record("static"), &[], log, &InTurn)
}

#[test]
fn a_report_says_which_investigations_its_run_touched_and_what_predictions_came_to() {
    let run = sample::diagnosis("static").run.id;
    let told = page(&log(&run));
    for part in [
        "<section id=\"log\">",
        "search-tail",
        "The &lt;tail&gt; of search",
        "This run was compared with 1 prediction: 1 failed.",
        "search.p99 in 55ms..75ms: failed in v2, with 440 ms [430, 450]",
        "search.p99 is 440 ms &amp; more",
    ] {
        assert!(told.contains(part), "{part}");
    }
    // What other runs said is in the log and not in this report.
    assert!(!told.contains("It sleeps twice."));
    assert!(!page(&log("01JD0000000000000000000009")).contains("id=\"log\""));
    assert!(!page(&[]).contains("id=\"log\""));
}

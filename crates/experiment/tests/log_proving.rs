//! What experiments say to the log: made up, so that the truth is known.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use slowpath_core::figures::Unit;
use slowpath_core::investigation::{
    Decided, Decision, Entry, Investigation, Symptom, Target, Tested, Verdict, What,
};
use slowpath_experiment::log::{Log, belongs_to, proved};
use slowpath_experiment::{
    Design, Experiment, FORMAT, Hypothesis, Intervention, Outcome, Summary, Verdict as Judged,
};

const RUN: &str = "01JD0000000000000000000001";

fn experiment(metric: &str, verdict: Judged, held: bool) -> Experiment {
    let summary = |median_ms: f64| Summary {
        median_ms,
        low_ms: median_ms * 0.9,
        high_ms: median_ms * 1.1,
        slow_share: 0.1,
        blocks: 6,
    };
    Experiment {
        format: FORMAT,
        run: RUN.to_owned(),
        cause: "lock-held-over-io".to_owned(),
        endpoint: None,
        hypothesis: Hypothesis {
            statement: "Without the exporter search answers in 2 to 13 ms.".to_owned(),
            intervention: Intervention::PauseThread {
                thread: "exporter".to_owned(),
            },
            metric: metric.to_owned(),
            baseline_ms: 57.0,
            low_ms: 2.0,
            high_ms: 13.0,
            slow_above_ms: 20.0,
            remains: 0.0,
            written_at: "2026-01-01T00:00:00Z".to_owned(),
        },
        design: Design::new(1, 6, 1_000_000_000),
        outcome: Some(Outcome {
            verdict,
            without: Some(summary(57.0)),
            with: Some(summary(8.0)),
            p: Some(0.001),
            change: Some(-0.9),
            predicted_held: held,
            reason: "x".to_owned(),
            blocks: Vec::new(),
            restored: true,
            withheld: 0,
        }),
    }
}

fn about(id: &str, metric: &str, runs: &[&str], more: Option<Decision>) -> Investigation {
    let symptom = Symptom {
        title: "t".to_owned(),
        scenario: "shop".to_owned(),
        metric: Target::parse(metric).unwrap(),
        since: None,
        measured: None,
    };
    let closed = |decision| {
        What::Decision(Decided {
            decision,
            of: None,
            release: None,
        })
    };
    let whats = [Some(What::Opened(symptom)), more.map(closed)];
    let entries = whats.into_iter().flatten().map(|what| Entry {
        id: format!("01JE{id:0>22}"),
        at: "2026-01-01T00:00:00Z".to_owned(),
        by: None,
        text: "x".to_owned(),
        runs: runs.iter().map(|&run| run.to_owned()).collect(),
        links: Vec::new(),
        figures: Vec::new(),
        sign: None,
        what,
    });
    Investigation {
        id: id.to_owned(),
        entries: entries.collect(),
    }
}

#[test]
fn an_experiment_belongs_to_what_cites_its_run_or_is_about_its_figure() {
    let own = experiment("search.p98", Judged::Confirmed, true);
    let found = |all: &[Investigation], scenario: &str| {
        let log = Log::new(all, &[]);
        belongs_to(&log, scenario, &own).map(|one| one.id.clone())
    };
    let cites = about("1", "cart.p50", &[RUN], None);
    let about_it = about("2", "search.p98", &[], None);
    let other = about("3", "search.p50", &[], None);
    let closed = about("4", "search.p98", &[RUN], Some(Decision::Explained));
    let both = about("5", "search.p98", &[RUN], None);
    let all = [cites, about_it.clone(), other.clone(), closed, both];
    assert_eq!(found(&all, "shop").as_deref(), Some("5"));
    assert_eq!(found(&all[..4], "shop").as_deref(), Some("1"));
    assert_eq!(
        found(&[about_it, other.clone()], "shop").as_deref(),
        Some("2")
    );
    assert_eq!(found(&all[3..4], "shop"), None, "it is closed");
    assert_eq!(found(&[other], "shop"), None);
    assert_eq!(found(&all, "another"), None);
}

#[test]
fn the_log_has_the_prediction_the_verdict_and_the_figure() {
    let said = proved(&experiment("search.p98", Judged::Confirmed, true)).unwrap();
    let prediction = said.hypothesis.prediction.unwrap();
    assert_eq!(prediction.that(), "search.p98 in 2ms..13ms");
    assert_eq!(
        (said.tested, said.verdict),
        (Tested::Confirmed, Verdict::Held)
    );
    let measured = said.measured.unwrap();
    assert_eq!(measured.unit, Unit::Ns);
    assert!((measured.value - 8e6).abs() < 1.0);
    assert_eq!(
        said.text,
        "search.p98: 8ms in 6 blocks with the intervention, 57ms in 6 blocks without"
    );
    // The cause may be right and the size wrong; and what is not decided says nothing of either.
    let size = proved(&experiment("search.p98", Judged::Confirmed, false)).unwrap();
    assert_eq!(
        (size.tested, size.verdict),
        (Tested::Confirmed, Verdict::Failed)
    );
    let open = proved(&experiment("search.p98", Judged::Undecided, true)).unwrap();
    assert_eq!(
        (open.tested, open.verdict),
        (Tested::Undecided, Verdict::Undecided)
    );
    // What did not move may lie in a wide interval.
    let wide = proved(&experiment("search.p98", Judged::Refuted, true)).unwrap();
    assert_eq!(
        (wide.tested, wide.verdict),
        (Tested::Refuted, Verdict::Failed)
    );
    let mut planned = experiment("search.p98", Judged::Confirmed, true);
    planned.outcome = None;
    assert_eq!(proved(&planned), None);
}

#[test]
fn failures_are_shares_and_odd_names_stand_between_quotation_marks() {
    let failing = proved(&experiment("search.errors", Judged::Refuted, false)).unwrap();
    let prediction = failing.hypothesis.prediction.unwrap();
    assert_eq!(prediction.that(), "search.errors in 2%..13%");
    assert_eq!(prediction.range(), (0.02, 0.13));
    assert_eq!(failing.verdict, Verdict::Failed);
    let odd = proved(&experiment("GET /a b (cold).p99", Judged::Confirmed, true)).unwrap();
    let prediction = odd.hypothesis.prediction.unwrap();
    assert_eq!(prediction.target().subject(), "GET /a b (cold)");
}

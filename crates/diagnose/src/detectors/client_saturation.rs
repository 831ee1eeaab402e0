//! The load generator could not keep its own schedule: what it measured is itself.

use slowpath_attribution::StateSet;
use slowpath_core::scenario::Model;
use slowpath_core::signal::TOOL_LOOP_RUN;

use crate::case::Case;
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Evidence, Grade, Place, Source};
use crate::instrument::Load;
use crate::verdict::{Amount, Found, Verdict, evidence, human, percent};

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Run(examine),
    could_be: StateSet::CLIENT_LATE,
    may_be_the_work: false,
};

fn examine(case: &Case<'_>) -> Verdict {
    let load = case.load();
    let open = matches!(
        case.record.manifest.plan.scenario.load.model,
        Model::Open { .. }
    );
    let busy = load.busy.map_or("not observed".to_owned(), |b| {
        format!("busy {}", percent(b))
    });
    let lag = format!(
        "requests were sent {} late at the median and {} at p99, of latencies of {} and {}",
        human(load.lag_p50_ns as f64),
        human(load.lag_p99_ns as f64),
        human(load.p50_ns as f64),
        human(load.p99_ns as f64)
    );
    let Some(why) = load.saturated(open) else {
        if load.is_undecided(open) {
            let gap = case.timeline().gap(&TOOL_LOOP_RUN);
            return Verdict::Blind {
                missing: gap.map_or_else(
                    || "the load loop's CPU time".to_owned(),
                    |g| g.reason.clone(),
                ),
                remedy: gap.map_or_else(String::new, |g| g.remedy.clone()),
            };
        }
        return Verdict::Absent(format!("loop {busy}; {lag}"));
    };
    let mut proofs: Vec<Evidence> = vec![
        evidence(
            Source::Client,
            TOOL_LOOP_RUN.id,
            format!("{} {busy}", the_loop(load)),
        ),
        evidence(Source::Client, "sent_ns", lag),
    ];
    if load.sent < 1.0 {
        let text = format!("{} of the offered requests were sent", percent(load.sent));
        proofs.push(evidence(Source::Client, "manifest.repeats.endpoints", text));
    }
    let lag_share = load.lag_p50_ns as f64 / load.p50_ns.max(1) as f64;
    let share = (1.0 - load.sent)
        .max(lag_share)
        .max(load.busy.unwrap_or(0.0));
    Verdict::Found(Found {
        place: Place::Throughput,
        amount: Amount::Measurement(share.min(1.0)),
        grade: Grade::Supported,
        summary: format!(
            "slowpath itself is the bottleneck: {why}; {}",
            load.remedy()
        ),
        evidence: proofs,
        culprit: Culprit::default(),
        prediction: None,
    })
}

fn the_loop(load: &Load) -> String {
    match load.loops {
        0 | 1 => "the load loop was".to_owned(),
        loops => format!("the busiest of {loops} load loops was"),
    }
}

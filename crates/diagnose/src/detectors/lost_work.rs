//! The server answers that all is well and does not do what was asked: its answers come sooner and
//! lack what they should hold.

use slowpath_attribution::StateSet;
use std::collections::BTreeMap;

use slowpath_core::nanos::scaled;
use slowpath_core::sample::Outcome;
use slowpath_core::samples::SampleRef;
use slowpath_core::stats::beta::clopper_pearson;
use slowpath_core::stats::quantile::type_1;

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Grade, Place, Source};
use crate::ledger::{NAMED_EPISODES, NAMED_ERRORS};
use crate::verdict::{Amount, Found, Verdict, evidence, human, percent, plural};

/// What is not done takes no time: in the median at most this share of what answers take that hold
/// what they should.
const SOONER: f64 = 0.5;
/// Stretches of a repeat in which the two are compared with each other.
const BLOCKS: u64 = 20;
/// The statuses that say that all is well.
const WELL: std::ops::Range<u16> = 200..300;

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Endpoint(examine),
    could_be: StateSet::NONE,
    may_be_the_work: false,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    let is_lost = |s: &SampleRef<'_>| {
        let unmet = matches!(s.outcome(), Outcome::Check | Outcome::Events);
        unmet && (WELL.contains(&s.status()) || s.status() == 0)
    };
    let failed = endpoint.failed.iter().map(|&i| case.sample(i));
    let lost: Vec<SampleRef<'_>> = failed.filter(is_lost).collect();
    let touched = lost.len() as f64 / endpoint.offered.max(1) as f64;
    if lost.len() < NAMED_EPISODES || touched < NAMED_ERRORS {
        return Verdict::Absent(format!(
            "{} of {} lack what the scenario expects of them",
            lost.len(),
            plural(endpoint.offered, "answer")
        ));
    }
    let held = Held::of(case, endpoint, &lost);
    let text = format!(
        "{} answers of status 2xx lack what the scenario expects, and take {} in the median; the {} \
         that hold it take {}",
        lost.len(),
        human(held.lost_ns),
        endpoint.completed.len(),
        human(held.kept_ns)
    );
    let times = format!(
        "they are the faster ones in {} of {} stretches of time that have both",
        held.sooner, held.compared
    );
    let more_often = clopper_pearson(held.sooner, held.compared).0 > 0.5;
    if held.lost_ns > SOONER * held.kept_ns || !more_often {
        return Verdict::Blind {
            missing: format!(
                "whether work is lost or the expectation is mistaken: {text}; {times}"
            ),
            remedy: "look at one of these answers".to_owned(),
        };
    }
    let under_way = format!(
        "{} others were under way at the median when they were sent, {} with those that hold it",
        held.in_flight.0, held.in_flight.1
    );
    Verdict::Found(Found {
        place: Place::Errors,
        amount: Amount::Failures {
            failed: lost.len() as u64,
            of: endpoint.failed.len() as u64,
        },
        grade: Grade::Suspected,
        summary: format!(
            "{} of the answers say that all is well, come sooner than the others and lack what was \
             asked for: work is dropped, and latency looks the better for it; count what is \
             delivered, and let the server say what it did not do",
            percent(touched)
        ),
        evidence: vec![
            evidence(Source::Client, "outcome", text),
            evidence(Source::Client, "scheduled_ns", times),
            evidence(Source::Client, "in_flight", under_way),
        ],
        culprit: Culprit::default(),
        prediction: None,
    })
}

/// Answers that lack something against those that do not.
struct Held {
    lost_ns: f64,
    kept_ns: f64,
    /// Stretches of time that have both kinds, and those in which what lacks something is faster.
    compared: u64,
    sooner: u64,
    /// Others under way, at the medians.
    in_flight: (u64, u64),
}

impl Held {
    fn of(case: &Case<'_>, endpoint: &EndpointCase, lost: &[SampleRef<'_>]) -> Self {
        let mut blocks: BTreeMap<(u16, u64), (Vec<u64>, Vec<u64>)> = BTreeMap::new();
        let kept = || endpoint.completed.iter().map(|&i| case.sample(i));
        let all = lost.iter().map(|&s| (s, true));
        for (sample, is_lost) in all.chain(kept().map(|s| (s, false))) {
            let Some(window) = case.windows.get(usize::from(sample.repeat())) else {
                continue;
            };
            let into_ns = sample.scheduled().since(window.begin);
            let block = scaled(into_ns, BLOCKS, window.len_ns().max(1));
            let both = blocks.entry((sample.repeat(), block)).or_default();
            let side = if is_lost { &mut both.0 } else { &mut both.1 };
            side.push(sample.latency_ns());
        }
        let middle = |values: &[u64]| {
            let mut sorted = values.to_vec();
            sorted.sort_unstable();
            type_1(&sorted, 0.5)
        };
        let medians = blocks
            .values()
            .map(|(lost, kept)| middle(lost).zip(middle(kept)));
        let medians: Vec<(u64, u64)> = medians.flatten().collect();
        let over = |of: Vec<u64>| middle(&of).unwrap_or(0);
        let latency = |s: SampleRef<'_>| s.latency_ns();
        let in_flight = |s: SampleRef<'_>| u64::from(s.in_flight());
        Self {
            lost_ns: over(lost.iter().copied().map(latency).collect()) as f64,
            kept_ns: over(kept().map(latency).collect()) as f64,
            compared: medians.len() as u64,
            sooner: medians.iter().filter(|(lost, kept)| lost < kept).count() as u64,
            in_flight: (
                over(lost.iter().copied().map(in_flight).collect()),
                over(kept().map(in_flight).collect()),
            ),
        }
    }
}

//! Users who wait for a slow answer send nothing while they wait: what a steady stream of requests would have met
//! is in no percentile of theirs.

use slowpath_attribution::StateSet;
use slowpath_core::scenario::Model;
use slowpath_core::stats::selection::Selection;

use crate::case::Case;
use crate::detectors::{Detector, Examine};
use crate::verdict::{Verdict, human, percent};

/// The percentile that is compared.
const P: f64 = 0.99;
/// What users measure says little of what a steady stream meets if that is so many times as long: one run
/// differs from the next by less.
const TIMES: f64 = 3.0;
/// A hundredth of fewer requests than this is a handful.
const FEWEST: usize = 1_000;

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Run(examine),
    could_be: StateSet::NONE,
    may_be_the_work: false,
};

fn examine(case: &Case<'_>) -> Verdict {
    let Model::Closed { users, .. } = case.record.manifest.plan.scenario.load.model else {
        return Verdict::Absent(
            "latency starts when a request is due: what it waits for a free connection is part of it".to_owned(),
        );
    };
    let all = case.endpoints.iter().flat_map(|e| &e.latencies_ns);
    let latencies: Vec<u64> = all.copied().collect();
    let n = latencies.len();
    if n < FEWEST {
        return Verdict::Absent(format!("{n} requests have no 99th percentile to speak of"));
    }
    let each_ns = case.measured_ns() as f64 * f64::from(users) / n as f64;
    let total = n as f64
        + latencies
            .iter()
            .map(|&ns| (ns as f64 / each_ns).floor())
            .sum::<f64>();
    let mut latencies = Selection::new(latencies);
    let users_ns = latencies.type_1(P).unwrap_or_default();
    let longer: Vec<u64> = latencies
        .values()
        .iter()
        .copied()
        .filter(|&ns| ns > users_ns)
        .collect();
    let steady = at_a_steady_pace(&longer, users_ns as f64, each_ns, (1.0 - P) * total);
    let text = format!(
        "{} of the requests took longer than {}; of requests sent every {} come what may it would be {}",
        percent(1.0 - P),
        human(users_ns as f64),
        human(each_ns),
        human(steady)
    );
    if steady < TIMES * users_ns as f64 {
        return Verdict::Absent(text);
    }
    Verdict::Blind {
        missing: format!(
            "what a steady stream of requests meets: users wait for their answers; {text}"
        ),
        remedy: "give a rate (--rate)".to_owned(),
    }
}

/// The latency that so many requests exceed which are sent at a steady pace: where one that waits would have
/// been followed by others, these wait for the rest of its time (Tene's correction, `HdrHistogram`'s
/// `recordValueWithExpectedInterval`). `longer` are the latencies above `least_ns`, below which it does not lie.
fn at_a_steady_pace(longer: &[u64], least_ns: f64, each_ns: f64, beyond: f64) -> f64 {
    /// Halvings of the range: to a thousandth of a millionth of it.
    const HALVINGS: usize = 30;
    let exceed = |limit: f64| -> f64 {
        let above = longer
            .iter()
            .map(|&ns| ns as f64 - limit)
            .filter(|&more| more > 0.0);
        above.map(|more| (more / each_ns).floor() + 1.0).sum()
    };
    let most = longer.iter().copied().max().unwrap_or_default() as f64;
    let (mut low, mut high) = (least_ns, most.max(least_ns));
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if exceed(middle) > beyond {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stall_counts_for_all_who_would_have_met_it() {
        // 1,000 requests of 1 ms and one of 1 s: half of the time was the stall.
        let each = 2e6;
        let total = 1_001.0 + 500.0;
        let steady = at_a_steady_pace(&[1_000_000_000], 1e6, each, 0.01 * total);
        assert!((steady / 1e9 - 0.97).abs() < 0.01, "{steady}");
        assert!((at_a_steady_pace(&[], 1e6, each, 1.0) - 1e6).abs() < 1.0);
    }
}

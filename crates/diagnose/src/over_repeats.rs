//! The figures of an endpoint over its repeats: what the next run may give.

use std::collections::BTreeMap;

use slowpath_core::nanos::MILLISECOND;
use slowpath_core::plan::Plan;
use slowpath_core::stats::repeats::log_mean;
use slowpath_core::stats::spread::spread;

use crate::diagnosis::{EndpointFigures, HostHealth, OverRepeats, RepeatFigures};
use crate::figures::{millis, share};

/// Why comparisons put repeats of an endpoint aside, by their numbers.
pub(crate) fn asides(
    health: Option<&HostHealth>,
    plan: &Plan,
    endpoint: &EndpointFigures,
) -> BTreeMap<u32, String> {
    let repeats = health.into_iter().flat_map(|h| &h.repeats);
    let aside = repeats.filter(|r| !r.aside.is_empty() && r.pass == endpoint.pass);
    // Windows are numbered through over all passes.
    aside
        .map(|r| (r.repeat / u32::from(plan.passes()), r.aside.clone()))
        .collect()
}

/// Takes the repeats that comparisons exclude out of what is reported over repeats.
pub(crate) fn leave_out(
    endpoints: &mut [EndpointFigures],
    health: Option<&HostHealth>,
    plan: &Plan,
) {
    for endpoint in endpoints {
        let asides = asides(health, plan, endpoint);
        if asides.is_empty() {
            continue;
        }
        let repeats = endpoint.by_repeat.iter();
        let kept = repeats.filter(|r| !asides.contains_key(&r.repeat)).cloned();
        endpoint.over_repeats = over_repeats(&kept.collect::<Vec<_>>());
        let mut over = endpoint.over_repeats.iter();
        endpoint.run_spread = over.find(|of| of.metric == "p50").map(|of| of.spread);
    }
}

/// The percentiles of repeats, each over those repeats that have it; those that fewer than two
/// have are left out.
pub(crate) fn over_repeats(by_repeat: &[RepeatFigures]) -> Vec<OverRepeats> {
    let names = by_repeat.iter().flat_map(|repeat| repeat.latency_ms.keys());
    let mut names: Vec<&String> = names.collect();
    names.sort_unstable();
    names.dedup();
    let of = |name: &String| {
        let values = by_repeat.iter().filter_map(|r| r.latency_ms.get(name));
        figure(name, &values.copied().collect::<Vec<f64>>())
    };
    names.into_iter().filter_map(of).collect()
}

fn figure(metric: &str, values_ms: &[f64]) -> Option<OverRepeats> {
    if values_ms.len() < 2 {
        return None;
    }
    let found = spread(values_ms)?;
    let interval = log_mean(values_ms, None).ok();
    let ms = |value: f64| millis(value * MILLISECOND as f64);
    Some(OverRepeats {
        metric: metric.to_owned(),
        repeats: found.runs as u32,
        median_ms: ms(found.median),
        least_ms: ms(found.low),
        most_ms: ms(found.high),
        confidence: share(found.confidence),
        low_ms: interval.map(|of| ms(of.low)),
        high_ms: interval.map(|of| ms(of.high)),
        spread: share(found.spread),
        steadiness: found.steadiness,
    })
}

#[cfg(test)]
mod tests {
    use slowpath_core::stats::spread::Steadiness;

    use super::*;

    #[test]
    fn three_repeats_have_three_quarters_of_confidence() {
        let repeat = |p50: f64, p99: Option<f64>| RepeatFigures {
            repeat: 0,
            offered: 10,
            completed: 10,
            rate_per_s: 1.0,
            errors: 0.0,
            latency_ms: [("p50", Some(p50)), ("p99", p99)]
                .into_iter()
                .filter_map(|(name, value)| Some((name.to_owned(), value?)))
                .collect::<BTreeMap<_, _>>(),
            ..RepeatFigures::default()
        };
        let repeats = [repeat(1.0, None), repeat(1.1, None), repeat(1.5, Some(9.0))];
        let found = over_repeats(&repeats);
        assert_eq!(found.len(), 1, "one p99 is no figure over repeats");
        let p50 = &found[0];
        assert_eq!((p50.least_ms, p50.most_ms, p50.median_ms), (1.0, 1.5, 1.1));
        assert!((p50.confidence - 0.75).abs() < 1e-9);
        assert_eq!(p50.steadiness, Steadiness::Inconclusive);
        assert!(p50.low_ms.unwrap() < 1.0 && p50.high_ms.unwrap() > 1.5);
    }
}

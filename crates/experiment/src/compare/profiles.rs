//! Which functions have another share of the CPU time than before, or another CPU time in a request.
//!
//! A share may fall because something else grew; hence both. Intervals are those of samples, corrected
//! for as many functions as are compared with each other (Bonferroni): another start of the same program
//! may differ by more.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use slowpath_core::figures::{FunctionFigure, ProfileFigures, RunFigures};
use slowpath_core::stats::student::upper_point;

/// What both intervals leave out together, over all functions.
const ALPHA: f64 = 0.05;
/// A share that moved by less is of no interest.
const SHARE_LEAST: f64 = 0.01;
/// Functions that have fewer samples than this in both are not compared: none of them could be distinguished.
const SAMPLES_LEAST: f64 = 5.0;

/// The profiles of both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProfileChange {
    /// The run of A whose profiling pass it is, the newest that has one.
    pub a: String,
    /// The run of B.
    pub b: String,
    /// CPU time of the target for each request of A, in milliseconds; `null` if it is not known.
    pub a_per_request_ms: Option<f64>,
    /// The same of B.
    pub b_per_request_ms: Option<f64>,
    /// Functions that were compared with each other.
    pub compared: u64,
    /// Those that changed, the one with the largest change of share first.
    pub changes: Vec<FunctionChange>,
    /// Why nothing is said of changes; empty if something may be.
    pub because: String,
}

/// A function that has another share, or another CPU time in a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FunctionChange {
    /// The function.
    pub function: String,
    /// Its own share of the CPU time in A, from 0 to 1.
    pub a_share: f64,
    /// The same in B.
    pub b_share: f64,
    /// By how much the share grew, with its interval.
    pub share: Grown,
    /// By how much its CPU time in a request grew, in milliseconds; `null` if it is not known.
    pub per_request_ms: Option<Grown>,
}

/// B less A, with the interval of that.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Grown {
    /// B less A.
    pub by: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Grown {
    fn around(by: f64, half: f64) -> Self {
        Self {
            by,
            low: by - half,
            high: by + half,
        }
    }

    /// Whether chance does not explain it.
    pub fn is_beyond_chance(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }
}

/// Holds the newest profiles of both sides against each other; `None` if a side has none.
pub(super) fn changes(
    a: &[&RunFigures],
    b: &[&RunFigures],
    obstacles: &[String],
) -> Option<ProfileChange> {
    let newest = |side: &[&RunFigures]| {
        let run = side.iter().rev().find(|run| run.profile.is_some())?;
        Some((run.id.clone(), run.profile.clone()?))
    };
    let ((a_id, of_a), (b_id, of_b)) = (newest(a)?, newest(b)?);
    let because = if let Some(first) = obstacles.first() {
        format!("A and B were not measured alike: {first}")
    } else if of_a.source != of_b.source {
        let [a, b] = [of_a.source.by(), of_b.source.by()];
        format!("the samples were taken {a} in one, {b} in the other")
    } else {
        String::new()
    };
    let pairs = pairs(&of_a, &of_b);
    let compared = pairs.len();
    let mut changes: Vec<FunctionChange> = pairs
        .into_iter()
        .filter_map(|(name, pair)| change(name, pair, &of_a, &of_b, compared))
        .collect();
    if !because.is_empty() {
        changes.clear();
    }
    changes.sort_by(|x, y| {
        (y.share.by.abs().total_cmp(&x.share.by.abs())).then_with(|| x.function.cmp(&y.function))
    });
    Some(ProfileChange {
        a: a_id,
        b: b_id,
        a_per_request_ms: of_a.per_request_ms,
        b_per_request_ms: of_b.per_request_ms,
        compared: compared as u64,
        changes,
        because,
    })
}

/// The share of one function in each, and how many independent samples it rests on.
type Pair = [(f64, f64); 2];

/// All functions that have enough samples on one side.
fn pairs<'f>(a: &'f ProfileFigures, b: &'f ProfileFigures) -> BTreeMap<&'f str, Pair> {
    let names = |of: &'f ProfileFigures| of.functions.iter().map(|f| f.function.as_str());
    let names: BTreeSet<&str> = names(a).chain(names(b)).collect();
    let pairs = names
        .into_iter()
        .map(|name| (name, [of(a, name), of(b, name)]));
    let enough = |pair: &Pair| {
        let samples = [a.samples as f64, b.samples as f64];
        (pair.iter().zip(samples)).any(|((share, _), n)| share * n >= SAMPLES_LEAST)
    };
    pairs.filter(|(_, pair)| enough(pair)).collect()
}

fn of(profile: &ProfileFigures, name: &str) -> (f64, f64) {
    let found = profile.functions.iter().find(|f| f.function == name);
    let samples = profile.samples as f64;
    let told = |f: &FunctionFigure| (f.share, samples / f.deff.max(1.0));
    found.map_or_else(
        // What was not listed has no larger share than what was listed last.
        || (profile.unlisted_share, samples),
        told,
    )
}

fn change(
    name: &str,
    pair: Pair,
    a: &ProfileFigures,
    b: &ProfileFigures,
    compared: usize,
) -> Option<FunctionChange> {
    let z = upper_point(ALPHA / 2.0 / compared.max(1) as f64, f64::INFINITY);
    // Shares near 0 have an interval too (Agresti & Caffo 2000).
    let moderate = |(share, n): (f64, f64)| ((share * n + 1.0) / (n + 2.0), n + 2.0);
    let variance = |of: (f64, f64)| {
        let (share, n) = moderate(of);
        share * (1.0 - share) / n
    };
    let [of_a, of_b] = pair;
    let middle = moderate(of_b).0 - moderate(of_a).0;
    let half = z * (variance(of_a) + variance(of_b)).sqrt();
    let share = Grown {
        by: of_b.0 - of_a.0,
        ..Grown::around(middle, half)
    };
    let per_request_ms = a.per_request_ms.zip(b.per_request_ms).map(|(a_ms, b_ms)| {
        let by = moderate(of_b).0 * b_ms - moderate(of_a).0 * a_ms;
        let spread = a_ms.powi(2) * variance(of_a) + b_ms.powi(2) * variance(of_b);
        Grown {
            by: of_b.0 * b_ms - of_a.0 * a_ms,
            ..Grown::around(by, z * spread.sqrt())
        }
    });
    let grew = share.is_beyond_chance() && share.by.abs() >= SHARE_LEAST;
    grew.then(|| FunctionChange {
        function: name.to_owned(),
        a_share: of_a.0,
        b_share: of_b.0,
        share,
        per_request_ms,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(samples: u64, per_request_ms: f64, shares: &[(&str, f64)]) -> ProfileFigures {
        let function = |(name, share): &(&str, f64)| FunctionFigure {
            function: (*name).to_owned(),
            share: *share,
            deff: 1.0,
        };
        ProfileFigures {
            source: slowpath_core::profile_pass::ProfileSource::Pprof,
            samples,
            per_request_ms: Some(per_request_ms),
            functions: shares.iter().map(function).collect(),
            unlisted_share: 0.0,
        }
    }

    fn changed(a: &ProfileFigures, b: &ProfileFigures) -> Vec<FunctionChange> {
        let pairs = pairs(a, b);
        let compared = pairs.len();
        let all = pairs.into_iter();
        all.filter_map(|(name, pair)| change(name, pair, a, b, compared))
            .collect()
    }

    #[test]
    fn a_share_that_fell_because_another_grew_has_the_same_cpu_time() {
        let a = profile(2000, 1.0, &[("main.a", 0.5), ("main.b", 0.5)]);
        let b = profile(4000, 2.0, &[("main.a", 0.25), ("main.b", 0.75)]);
        let changes = changed(&a, &b);
        assert_eq!(changes.len(), 2);
        let of_a = changes[0].per_request_ms.unwrap();
        assert_eq!(changes[0].function, "main.a");
        assert!(changes[0].share.high < 0.0, "{:?}", changes[0]);
        assert!(!of_a.is_beyond_chance(), "{of_a:?}");
        let of_b = changes[1].per_request_ms.unwrap();
        assert!((of_b.by - 1.0).abs() < 1e-9 && of_b.low > 0.0, "{of_b:?}");
    }

    #[test]
    fn what_samples_explain_is_no_change() {
        let a = profile(100, 1.0, &[("main.a", 0.5), ("main.b", 0.5)]);
        let b = profile(100, 1.0, &[("main.a", 0.6), ("main.b", 0.4)]);
        assert!(changed(&a, &b).is_empty());
        let mut bursts = profile(10_000, 1.0, &[("main.a", 0.6), ("main.b", 0.4)]);
        let even = profile(10_000, 1.0, &[("main.a", 0.5), ("main.b", 0.5)]);
        assert_eq!(changed(&even, &bursts).len(), 2);
        for function in &mut bursts.functions {
            function.deff = 1000.0;
        }
        assert!(changed(&even, &bursts).is_empty());
    }

    #[test]
    fn a_function_that_is_new_is_a_change() {
        let a = profile(1000, 1.0, &[("main.a", 1.0)]);
        let b = profile(1000, 1.0, &[("main.a", 0.9), ("main.new", 0.1)]);
        let changes = changed(&a, &b);
        assert_eq!(changes[1].function, "main.new");
        assert!(changes[1].a_share <= 0.0 && changes[1].share.low > 0.0);
    }
}

//! From blocks to what may be said of the difference.

use serde::{Deserialize, Serialize};
use slowpath_core::stats::fdr::{CLAIMED_UP_TO, benjamini_hochberg};
use slowpath_core::stats::log_ratio::{EQUIVALENCE_CONFIDENCE, EQUIVALENT_WITHIN, LogRatio};
use slowpath_core::stats::moderated::moderated;
use slowpath_core::stats::paired::{agreeing, logit};

use super::block::{Block, BlockFigure};
use super::noise::MetricNoise;
use super::plan::{Arm, METRICS, Metric, Plan};

/// Fewest pairs whose scatter means anything.
const PAIRS_FEWEST: usize = 3;

/// One pair in so many may point the other way: of ten pairs one, as a rule of thumb that keeps
/// a difference which two disturbed blocks have made from being claimed.
const ONE_MAY_DISAGREE_OF: usize = 10;

/// Two shares of slow requests are taken for equal when they differ by at most a request in a
/// thousand: odds of rare things differ by large factors that nobody notices.
const SHARES_EQUAL_WITHIN: f64 = 0.001;

/// Pairs beyond which nobody goes: a difference that needs them is at the limit of what is seen.
const PAIRS_IMAGINABLE: usize = 500;

/// What may be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// They differ.
    Different,
    /// They do not differ by anything that matters.
    NoDifference,
    /// Neither can be said.
    Undetermined,
    /// There is nothing to compare: no such request in either arm.
    Absent,
}

impl Verdict {
    /// The words used in reports.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Different => "different",
            Self::NoDifference => "no difference",
            Self::Undetermined => "undetermined",
            Self::Absent => "none in either",
        }
    }
}

/// One test of the family.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Test {
    /// The endpoint.
    pub endpoint: String,
    /// Which figure.
    pub metric: Metric,
    /// Median of A's blocks: nanoseconds, requests a second, or a share.
    pub a: Option<f64>,
    /// Median of B's blocks.
    pub b: Option<f64>,
    /// B over A, by pairs; of shares the ratio of odds.
    pub ratio: Option<f64>,
    /// Lower end of its 95 % interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Student's t, with the variance moderated by the other endpoints where there are enough.
    pub t: Option<f64>,
    /// Its degrees of freedom; `null` if they are without bound.
    pub df: Option<f64>,
    /// Chance of a ratio at least as far from 1, were there no difference.
    pub p: Option<f64>,
    /// The same, adjusted for the family.
    pub q: Option<f64>,
    /// Pairs that count.
    pub pairs: usize,
    /// Pairs that point in the direction of the ratio.
    pub agreeing: usize,
    /// The least difference that is claimed, as a share.
    pub minimum: f64,
    /// What may be said.
    pub verdict: Verdict,
    /// Why no more, and what it would take; empty if nothing is open.
    pub takes: String,
}

/// What follows from the blocks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Analysis {
    /// The tests: endpoints in the scenario's order, each with all metrics.
    pub tests: Vec<Test>,
    /// Pairs of which both blocks count.
    pub pairs: usize,
    /// Pairs put aside, and why.
    pub aside: Vec<String>,
    /// The noise of these pairs: what later comparisons plan with.
    pub noise: Vec<MetricNoise>,
}

impl Analysis {
    /// The tests with that verdict.
    pub fn with(&self, verdict: Verdict) -> impl Iterator<Item = &Test> {
        self.tests
            .iter()
            .filter(move |test| test.verdict == verdict)
    }
}

/// Judges blocks by a plan. With fewer pairs than planned nothing is claimed, whatever they show:
/// who may stop when it looks well finds differences where there are none.
pub fn analyse(plan: &Plan, blocks: &[Block]) -> Analysis {
    let (pairs, aside) = pairs(plan, blocks);
    let complete = pairs.len() + aside.len() >= plan.pairs as usize;
    let mut found: Vec<(Test, Vec<f64>, Option<LogRatio>)> = Vec::new();
    for metric in METRICS {
        let series: Vec<Series> = plan
            .endpoints
            .iter()
            .map(|endpoint| Series::of(&pairs, endpoint, metric))
            .collect();
        // One prior for each metric: medians scatter differently than tails.
        let differences: Vec<&[f64]> = series.iter().map(|s| s.differences.as_slice()).collect();
        for (series, ratio) in series.iter().zip(moderated(&differences)) {
            let ratio = ratio
                .ok()
                .filter(|_| series.differences.len() >= PAIRS_FEWEST && !series.is_absent());
            let test = series.test(plan, ratio.as_ref());
            found.push((test, series.differences.clone(), ratio));
        }
    }
    let known: Vec<f64> = found.iter().filter_map(|(test, ..)| test.p).collect();
    let mut adjusted = benjamini_hochberg(&known).into_iter();
    for (test, differences, ratio) in &mut found {
        test.q = test.p.and_then(|_| adjusted.next());
        decide(test, differences, ratio.as_ref(), plan, complete);
    }
    let noise = noise(&found, plan);
    let of = |name: &String| {
        let own = found.iter().filter(|(test, ..)| test.endpoint == *name);
        own.map(|(test, ..)| test.clone()).collect::<Vec<_>>()
    };
    Analysis {
        tests: plan.endpoints.iter().flat_map(of).collect(),
        pairs: pairs.len(),
        aside,
        noise,
    }
}

/// The pairs of which both blocks count, as A and B, and why others do not.
fn pairs<'a>(plan: &Plan, blocks: &'a [Block]) -> (Vec<[&'a Block; 2]>, Vec<String>) {
    let (mut pairs, mut aside) = (Vec::new(), Vec::new());
    for pair in 0..plan.pairs {
        let of = |arm| {
            let mut own = blocks.iter().filter(|block| block.pair == Some(pair));
            own.find(|block| block.arm == arm)
        };
        let (Some(a), Some(b)) = (of(Arm::A), of(Arm::B)) else {
            continue;
        };
        let why = [a, b].into_iter().find(|block| !block.aside.is_empty());
        match why {
            Some(block) => aside.push(format!("pair {}: {}", pair + 1, block.aside)),
            None => pairs.push([a, b]),
        }
    }
    (pairs, aside)
}

/// One metric of one endpoint over the pairs that have it.
struct Series<'a> {
    endpoint: &'a str,
    metric: Metric,
    a: Vec<&'a BlockFigure>,
    b: Vec<&'a BlockFigure>,
    /// Logarithms of B over A, or differences of logits.
    differences: Vec<f64>,
}

impl<'a> Series<'a> {
    fn of(pairs: &[[&'a Block; 2]], endpoint: &'a str, metric: Metric) -> Self {
        let mut series = Self {
            endpoint,
            metric,
            a: Vec::new(),
            b: Vec::new(),
            differences: Vec::new(),
        };
        for [a, b] in pairs {
            let known = |block: &'a Block| block.figure(endpoint, metric);
            let (Some(a), Some(b)) = (known(a), known(b)) else {
                continue;
            };
            let level = |figure: &BlockFigure| match figure.hits {
                _ if !metric.is_share() => figure.value.filter(|v| *v > 0.0).map(f64::ln),
                hits => hits.map(|hits| logit(hits, figure.n)),
            };
            if let (Some(of_a), Some(of_b)) = (level(a), level(b)) {
                series.a.push(a);
                series.b.push(b);
                series.differences.push(of_b - of_a);
            }
        }
        series
    }

    /// Whether it counts something that never occurred. That is seen in the sum of both arms and
    /// says nothing of their difference, so leaving it out of the family favours nothing
    /// (Bourgon, Gentleman & Huber 2010).
    fn is_absent(&self) -> bool {
        let mut all = self.a.iter().chain(&self.b);
        self.metric.is_share() && !self.a.is_empty() && all.all(|figure| figure.hits == Some(0))
    }

    fn test(&self, plan: &Plan, ratio: Option<&LogRatio>) -> Test {
        Test {
            endpoint: self.endpoint.to_owned(),
            metric: self.metric,
            a: median(&self.a),
            b: median(&self.b),
            ratio: ratio.map(|ratio| ratio.ratio),
            low: ratio.map(|ratio| ratio.low),
            high: ratio.map(|ratio| ratio.high),
            t: ratio.map(LogRatio::t).filter(|t| t.is_finite()),
            df: ratio.map(|ratio| ratio.df).filter(|df| df.is_finite()),
            p: ratio.map(|ratio| ratio.p),
            q: None,
            pairs: self.differences.len(),
            agreeing: agreeing(&self.differences),
            minimum: plan.minimum(self.metric),
            verdict: if self.is_absent() {
                Verdict::Absent
            } else {
                Verdict::Undetermined
            },
            takes: String::new(),
        }
    }
}

fn median(figures: &[&BlockFigure]) -> Option<f64> {
    let mut values: Vec<f64> = figures.iter().filter_map(|figure| figure.value).collect();
    crate::trend::median(&mut values)
}

/// Sets the verdict of a test, and what it would take to say more.
fn decide(
    test: &mut Test,
    differences: &[f64],
    ratio: Option<&LogRatio>,
    plan: &Plan,
    complete: bool,
) {
    if test.verdict == Verdict::Absent {
        return;
    }
    let Some(ratio) = ratio else {
        test.takes = format!(
            "{} pairs have it, and {PAIRS_FEWEST} are needed: longer blocks or more requests",
            test.pairs
        );
        return;
    };
    if !complete {
        "all of the planned pairs".clone_into(&mut test.takes);
        return;
    }
    let size = ratio.ratio.max(ratio.ratio.recip()) - 1.0;
    let is_seen = test.q.is_some_and(|q| q <= CLAIMED_UP_TO);
    let needed = test.pairs - (test.pairs / ONE_MAY_DISAGREE_OF).max(1);
    let scatter = ratio.standard_error * (differences.len() as f64).sqrt();
    if is_seen && size >= test.minimum && test.agreeing >= needed {
        test.verdict = Verdict::Different;
    } else if is_equal(test, ratio) {
        test.verdict = Verdict::NoDifference;
    } else if is_seen && size < test.minimum {
        test.takes = format!(
            "nothing: a difference of {} is there, less than the {} that is claimed",
            crate::wording::percent(size),
            crate::wording::percent(test.minimum)
        );
    } else if is_seen && test.agreeing < needed {
        test.takes = format!(
            "a calmer host: {} of {} pairs agree, and {needed} must",
            test.agreeing, test.pairs
        );
    } else {
        test.takes = more(plan, scatter, test.metric);
    }
}

/// Whether the interval leaves room for nothing that matters.
fn is_equal(test: &Test, ratio: &LogRatio) -> bool {
    if !test.metric.is_share() {
        return ratio.is_equivalent(EQUIVALENT_WITHIN);
    }
    // What the odds of B can be, from those of A.
    let (Some(share), (low, high)) = (test.a, ratio.interval(EQUIVALENCE_CONFIDENCE)) else {
        return false;
    };
    let of_b = |odds_ratio: f64| {
        let odds = share / (1.0 - share).max(f64::MIN_POSITIVE) * odds_ratio;
        odds / (1.0 + odds)
    };
    test.metric == Metric::SlowShare
        && of_b(high) - share <= SHARES_EQUAL_WITHIN
        && share - of_b(low) <= SHARES_EQUAL_WITHIN
}

/// How many pairs would find the wanted effect with that scatter.
fn more(plan: &Plan, scatter: f64, metric: Metric) -> String {
    let noise = MetricNoise {
        metric: Metric::P50,
        sd_log: scatter,
        floor: None,
        from: 1,
    };
    let effect = crate::wording::percent(plan.effect);
    let imagined = Plan {
        pairs_most: PAIRS_IMAGINABLE as u32,
        ..plan.clone()
    };
    let needed = imagined.pairs_for(&[noise]);
    let odds = if metric.is_share() {
        " of the odds"
    } else {
        ""
    };
    if needed >= PAIRS_IMAGINABLE as u32 {
        format!(
            "a calmer host or longer blocks: {PAIRS_IMAGINABLE} pairs do not see {effect}{odds}"
        )
    } else if needed > plan.pairs {
        format!("about {needed} pairs for a difference of {effect}{odds}")
    } else {
        format!("more pairs: a difference of {effect}{odds} would have been seen")
    }
}

/// The noise of the pairs, metric by metric, over all endpoints.
fn noise(found: &[(Test, Vec<f64>, Option<LogRatio>)], plan: &Plan) -> Vec<MetricNoise> {
    let is_same = plan.compared == super::Compared::Same;
    let of = |metric: Metric| {
        let own = || {
            found.iter().filter(move |(test, _, ratio)| {
                test.metric == metric && ratio.is_some() && test.verdict != Verdict::Absent
            })
        };
        let (mut squares, mut df) = (0.0, 0.0);
        for (_, differences, _) in own() {
            let n = differences.len() as f64;
            let mean = differences.iter().sum::<f64>() / n;
            squares += differences.iter().map(|d| (d - mean).powi(2)).sum::<f64>();
            df += n - 1.0;
        }
        let size = |ratio: &LogRatio| ratio.ratio.max(ratio.ratio.recip()) - 1.0;
        let sizes = own().filter_map(|(.., ratio)| ratio.as_ref().map(size));
        let floor = sizes.reduce(f64::max).filter(|_| is_same);
        (df > 0.0).then(|| MetricNoise {
            metric,
            sd_log: (squares / df).sqrt(),
            floor,
            from: 1,
        })
    };
    METRICS.into_iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests;

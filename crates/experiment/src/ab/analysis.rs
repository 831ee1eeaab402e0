//! From blocks to what may be said of the difference.

use serde::{Deserialize, Serialize};
use slowpath_core::stats::family::{self, Member, compare, disagreeing_most};
use slowpath_core::stats::log_ratio::EQUIVALENCE_CONFIDENCE;
use slowpath_core::stats::paired::{agreeing, logit};

use super::Ab;
use super::block::{Block, BlockFigure};
use super::noise::{EFFECT_LEAST, MetricNoise};
use super::plan::{Arm, METRICS, Metric, Plan};

/// Fewest pairs whose scatter means anything.
const PAIRS_FEWEST: usize = 3;

/// Two shares of slow requests are taken for equal when they differ by at most a request in a
/// thousand: odds of rare things differ by large factors without a noticeable effect.
const SHARES_EQUAL_WITHIN: f64 = 0.001;

/// Pairs beyond which a comparison is not worth while: a difference that needs them is at the limit of what is seen.
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
    /// Pairs excluded, and why.
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
    let complete = is_complete(plan, pairs.len(), aside.len());
    let series: Vec<Series> = (plan.endpoints.iter())
        .flat_map(|endpoint| METRICS.map(|metric| Series::of(&pairs, endpoint, metric)))
        .collect();
    let is_tested =
        |series: &&Series| series.differences.len() >= PAIRS_FEWEST && !series.is_absent();
    let members: Vec<Member> = (series.iter().filter(is_tested))
        .map(|series| series.member(plan))
        .collect();
    let mut compared = compare(&members).into_iter();
    let mut tests = Vec::new();
    let mut scatters = Vec::new();
    for series in &series {
        let found = Some(series).filter(is_tested).and_then(|_| compared.next());
        let found = found.and_then(Result::ok);
        let mut test = series.test(plan, found.as_ref());
        decide(&mut test, series, found.as_ref(), plan, complete);
        tests.push(test);
        if let Some(found) = found {
            scatters.push(Scatter::of(series, &found));
        }
    }
    Analysis {
        tests,
        pairs: pairs.len(),
        aside,
        noise: noise(&scatters, plan),
    }
}

fn is_complete(plan: &Plan, counted: usize, aside: usize) -> bool {
    counted + aside >= plan.pairs as usize
}

impl Ab {
    /// Whether all planned pairs were measured; nothing is claimed otherwise.
    pub fn is_complete(&self) -> bool {
        is_complete(&self.plan, self.analysis.pairs, self.analysis.aside.len())
    }
}

/// The pairs of which both blocks count, as A and B, and why others do not.
pub(super) fn pairs<'a>(plan: &Plan, blocks: &'a [Block]) -> (Vec<[&'a Block; 2]>, Vec<String>) {
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

    fn member(&self, plan: &Plan) -> Member {
        Member {
            // One prior for each metric: medians scatter differently than tails.
            level: self.metric as u32,
            differences: self.differences.clone(),
            ratio_least: 1.0 + plan.minimum(self.metric),
        }
    }

    fn test(&self, plan: &Plan, found: Option<&family::Compared>) -> Test {
        let ratio = found.map(|found| found.ratio);
        Test {
            endpoint: self.endpoint.to_owned(),
            metric: self.metric,
            a: median(&self.a),
            b: median(&self.b),
            ratio: ratio.map(|ratio| ratio.ratio),
            low: ratio.map(|ratio| ratio.low),
            high: ratio.map(|ratio| ratio.high),
            t: ratio.map(|ratio| ratio.t()).filter(|t| t.is_finite()),
            df: ratio.map(|ratio| ratio.df).filter(|df| df.is_finite()),
            p: ratio.map(|ratio| ratio.p),
            q: found.map(|found| found.adjusted_p),
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

/// The share over all blocks of an arm, with half a hit and half a miss more.
fn pooled(figures: &[&BlockFigure]) -> f64 {
    let hits: u64 = figures.iter().filter_map(|figure| figure.hits).sum();
    let n: u64 = figures.iter().map(|figure| figure.n).sum();
    (hits as f64 + 0.5) / (n as f64 + 1.0)
}

fn median(figures: &[&BlockFigure]) -> Option<f64> {
    let mut values: Vec<f64> = figures.iter().filter_map(|figure| figure.value).collect();
    slowpath_core::stats::median::median(&mut values)
}

/// Sets the verdict of a test, and what it would take to say more.
fn decide(
    test: &mut Test,
    series: &Series,
    found: Option<&family::Compared>,
    plan: &Plan,
    complete: bool,
) {
    if test.verdict == Verdict::Absent {
        return;
    }
    if !complete {
        "all of the planned pairs".clone_into(&mut test.takes);
        return;
    }
    let Some(found) = found else {
        test.takes = format!(
            "longer blocks or more requests: it is known in {} of {} pairs, and {PAIRS_FEWEST} are \
             needed",
            test.pairs, plan.pairs
        );
        return;
    };
    if found.verdict == family::Verdict::Different {
        test.verdict = Verdict::Different;
    } else if is_equal(series, found) {
        test.verdict = Verdict::NoDifference;
    } else if found.significant && !found.large {
        let [size, least] =
            [found.ratio.mean_log.abs().exp() - 1.0, test.minimum].map(crate::wording::percent);
        test.takes = format!(
            "nothing: a difference of {size} is there, less than the {least} that is claimed"
        );
        if test.minimum > EFFECT_LEAST {
            test.takes = format!(
                "--aa again, on a calmer host: a difference of {size} is there, less than the {least} \
                 that is claimed, which is twice what A against itself has shown"
            );
        }
    } else if found.significant {
        test.takes = format!(
            "a calmer host: {} of {} pairs agree, and {} must",
            test.agreeing,
            test.pairs,
            test.pairs - disagreeing_most(test.pairs)
        );
    } else {
        let scatter = found.ratio.standard_error * (found.pairs as f64).sqrt();
        test.takes = more(plan, scatter, test.metric);
    }
}

/// Whether the interval leaves room for nothing that matters.
fn is_equal(series: &Series, found: &family::Compared) -> bool {
    if !series.metric.is_share() {
        return found.verdict == family::Verdict::Equivalent;
    }
    // What the odds of B can be, from those of A; half a hit more, so that none has odds too.
    let (low, high) = found.ratio.interval(EQUIVALENCE_CONFIDENCE);
    let [share, other] = [&series.a, &series.b].map(|arm| pooled(arm));
    let of_b = |odds_ratio: f64| {
        let odds = share / (1.0 - share).max(f64::MIN_POSITIVE) * odds_ratio;
        odds / (1.0 + odds)
    };
    series.metric == Metric::SlowShare
        && (other - share).abs() <= SHARES_EQUAL_WITHIN
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

/// How the pairs of a test scatter.
struct Scatter {
    metric: Metric,
    /// Sum of the squared distances of the differences from their mean.
    squares: f64,
    /// Degrees of freedom with which that is known.
    df: f64,
    /// The ratio, to whichever side of 1, as a share.
    size: f64,
}

impl Scatter {
    fn of(series: &Series, found: &family::Compared) -> Self {
        let n = series.differences.len() as f64;
        let mean = series.differences.iter().sum::<f64>() / n;
        let squares = series.differences.iter().map(|d| (d - mean).powi(2));
        Self {
            metric: series.metric,
            squares: squares.sum(),
            df: n - 1.0,
            size: found.ratio.mean_log.abs().exp() - 1.0,
        }
    }
}

/// The noise of the pairs, metric by metric, over all endpoints.
fn noise(scatters: &[Scatter], plan: &Plan) -> Vec<MetricNoise> {
    let is_same = plan.compared == super::Compared::Same;
    let of = |metric: Metric| {
        let own = || scatters.iter().filter(move |s| s.metric == metric);
        let squares: f64 = own().map(|s| s.squares).sum();
        let df: f64 = own().map(|s| s.df).sum();
        let floor = own().map(|s| s.size).reduce(f64::max);
        (df > 0.0).then(|| MetricNoise {
            metric,
            sd_log: (squares / df).sqrt(),
            floor: floor.filter(|_| is_same),
            from: 1,
        })
    };
    METRICS.into_iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests;

//! From measured blocks to a verdict.
//!
//! The test is exact and on ranks: under the null hypothesis every order of the arms was equally
//! likely, so p is the share of orders at least as favourable as the one that was drawn, and one
//! disturbed block moves a rank, not a mean. The last block takes no part, because its arm was
//! not drawn; it answers only whether the system returned.

use slowpath_core::stats::median::median;
use slowpath_core::stats::permutation::{Statistic, permutation};
use slowpath_core::stats::ranks::ranks;
use slowpath_core::stats::trend::trend_at;

use crate::design::{Arm, Design};
use crate::experiment::{BlockMeasurement, Effect, Hypothesis, Outcome, Summary, Verdict};
use crate::power::{SLOW_PER_BLOCK, power};
use crate::wording;

/// An effect is seen when chance gives it in fewer than one of a hundred experiments.
pub const ALPHA: f64 = 0.01;

/// Slow requests must fall by this share before the cause counts as theirs; less leaves room for
/// a second cause.
const FALLS_BY: f64 = 0.80;

/// No more than this share of the slow requests may be none of the cause's: a fall of the rest is distinguished from
/// one of all then.
pub const REMAINS_MOST: f64 = 0.5;

/// What leaves a part of its cause by itself (`Intervention::leaves`) has shown it if more than half of the slow
/// requests are gone and the metric has come to where it was predicted: no other cause is left that explains
/// as many.
const FALLS_MOSTLY: f64 = 0.50;

/// A fall smaller than this says that the cause explains next to nothing.
const FALLS_PARTLY_FROM: f64 = 0.20;

/// A timer that may fire late by the slack is late by some more, since its thread has to be woken
/// and run; a quarter of the slack covers a busy host.
const RISE_TOLERANCE: f64 = 0.25;

/// Where the least that is predicted is at least this share of the most, the prediction says how much, and
/// not only that something moves …
const EXACT_FROM: f64 = 0.3;
/// … so that a rise below this share of the most refutes it: one call in a row is not four or more.
const FAR_BELOW: f64 = 0.2;

/// Where a prediction says no more than that something rises, whatever chance does fulfils it half of the time:
/// nearly every block has to be above those without then, so that it is one of a thousand experiments and not
/// one of a hundred (of 6 against 6 blocks one order of 924 is more extreme than any other).
const ALPHA_OF_ANY_RISE: f64 = 0.0015;

/// The chance to see half of the predicted effect that a refutation needs: the usual 80 %.
const POWER_TO_REFUTE: f64 = 0.80;

/// Fewest completed requests in a block whose median means anything.
const REQUESTS_PER_BLOCK: u64 = 30;

/// Fewest slow requests in a block without the intervention, on average: half of what blocks are planned
/// for, since the share that was planned with was that of another run. It is known to a quarter of itself
/// then, and whether so many blocks are enough the test and the power say.
const SLOW_LEAST: f64 = SLOW_PER_BLOCK / 2.0;

/// Fewest failures in a block without the intervention, on average: their share is then known to
/// some 40 % of itself (Poisson), and that all of them vanish in six blocks is no chance.
pub const FAILED_PER_BLOCK: f64 = 6.0;

/// More failures under the intervention than without it, as a share of the requests, that leave
/// the latencies of the rest without meaning.
const ERRORS_ADDED: f64 = 0.01;
/// Where some fail without it too, their number differs from block to block: it is more under the intervention
/// unless chance alone gives as much in one of so many experiments.
const ERRORS_BY_CHANCE: f64 = 0.05;

/// A drift of more than this share of the effect makes blocks incomparable.
const DRIFT_OF_EFFECT: f64 = 0.5;

/// The last block is back if it lies this close to the others without the intervention, in
/// standard deviations of blocks; a steady system fails this in 1 of 370 experiments.
const BACK_WITHIN_SD: f64 = 3.0;

/// Judges an experiment. `measurements` may come in any order; a missing block leaves the
/// verdict open.
pub fn judge(
    design: &Design,
    measurements: &[BlockMeasurement],
    hypothesis: &Hypothesis,
) -> Outcome {
    let mut blocks = measurements.to_vec();
    blocks.sort_by_key(|block| block.block);
    let case = Case::new(design, &blocks, hypothesis);
    let figures = case.figures();
    let (verdict, reason) = match (case.obstacle(), &figures) {
        (None, Some(figures)) => case.decide(figures),
        (Some(reason), _) => (Verdict::Undecided, reason),
        (None, None) => (Verdict::Undecided, "no block was measured".to_owned()),
    };
    let with = case.summary(Arm::With);
    Outcome {
        verdict,
        without: case.summary(Arm::Without),
        with,
        p: figures.as_ref().map(|figures| figures.p),
        change: figures.as_ref().and_then(Figures::change),
        predicted_held: figures.as_ref().is_some_and(Figures::moved)
            && with.is_some_and(|with| hypothesis.predicts(with.median_ms)),
        reason,
        restored: figures.as_ref().is_some_and(|figures| figures.restored),
        blocks,
        withheld: 0,
    }
}

/// The effect that had to be seen and how much blocks of an arm scatter by what is judged, where an experiment
/// is undecided because these are too few to see it.
pub(crate) fn unseen(
    design: &Design,
    outcome: &Outcome,
    hypothesis: &Hypothesis,
) -> Option<(f64, f64)> {
    let case = Case::new(design, &outcome.blocks, hypothesis);
    if outcome.verdict != Verdict::Undecided || case.obstacle().is_some() {
        return None;
    }
    let figures = case.figures().filter(|figures| !figures.moved())?;
    let (effect, _) = hypothesis.to_be_seen(figures.without);
    (figures.power_for(effect) < POWER_TO_REFUTE).then_some((effect, figures.scatter))
}

impl Hypothesis {
    /// The share of the slow requests that is the cause's, and is predicted to go.
    fn own(&self) -> f64 {
        1.0 - self.remains.clamp(0.0, REMAINS_MOST)
    }

    /// The size of the predicted effect: what is the cause's of the slow share, or the middle of the
    /// prediction.
    fn effect(&self, without: f64) -> f64 {
        match self.intervention.effect() {
            Effect::Falls => without * self.own(),
            Effect::Rises { .. } => {
                (f64::midpoint(self.low_ms, self.high_ms) - self.baseline_ms).abs()
            }
        }
    }

    /// The effect that a refutation has to have been able to see where what is judged is so much without the
    /// intervention, and what it is: half of what is predicted, and no more than the least of that.
    pub fn to_be_seen(&self, without: f64) -> (f64, &'static str) {
        let half = 0.5 * self.effect(without);
        let least = match self.intervention.effect() {
            Effect::Falls => half,
            Effect::Rises { .. } => self.low_ms - self.baseline_ms,
        };
        if least < half {
            (least, "the least that is predicted")
        } else {
            (half, "half of the predicted effect")
        }
    }
}

/// What is judged: complete blocks against a hypothesis.
struct Case<'a> {
    design: &'a Design,
    blocks: &'a [BlockMeasurement],
    hypothesis: &'a Hypothesis,
    effect: Effect,
}

/// The arms in figures, in the unit of what is judged.
struct Figures {
    without: f64,
    with: f64,
    p: f64,
    /// Standard deviation of blocks of one arm, pooled.
    scatter: f64,
    counts: (usize, usize),
    restored: bool,
}

impl Figures {
    /// Whether the arms differ beyond chance, in the predicted direction.
    fn moved(&self) -> bool {
        self.p < ALPHA
    }

    /// The chance that so many blocks see an effect of this size.
    fn power_for(&self, effect: f64) -> f64 {
        power(effect, self.scatter, self.counts.0, self.counts.1)
    }

    fn change(&self) -> Option<f64> {
        (self.without > 0.0).then(|| self.with / self.without - 1.0)
    }
}

impl<'a> Case<'a> {
    /// `blocks` are in their order.
    fn new(design: &'a Design, blocks: &'a [BlockMeasurement], hypothesis: &'a Hypothesis) -> Self {
        Self {
            design,
            blocks,
            hypothesis,
            effect: hypothesis.intervention.effect(),
        }
    }

    /// What is compared: the share of slow requests if it must fall, the metric if it must rise.
    fn value(&self, block: &BlockMeasurement) -> f64 {
        match self.effect {
            Effect::Falls => block.slow_share,
            Effect::Rises { .. } => block.metric_ms,
        }
    }

    /// The blocks of an arm whose order was drawn.
    fn drawn(&self, arm: Arm) -> impl Iterator<Item = &BlockMeasurement> {
        let last = self.design.last();
        self.blocks
            .iter()
            .filter(move |block| block.arm == arm && block.block != last)
    }

    fn values(&self, arm: Arm) -> Vec<f64> {
        self.drawn(arm).map(|block| self.value(block)).collect()
    }

    fn summary(&self, arm: Arm) -> Option<Summary> {
        let mut metric: Vec<f64> = self.drawn(arm).map(|block| block.metric_ms).collect();
        let mut slow: Vec<f64> = self.drawn(arm).map(|block| block.slow_share).collect();
        let median_ms = median(&mut metric)?;
        Some(Summary {
            median_ms,
            low_ms: *metric.first()?,
            high_ms: *metric.last()?,
            slow_share: median(&mut slow)?,
            blocks: metric.len(),
        })
    }

    /// The comparison; `None` if a block is missing or not what the design says.
    fn figures(&self) -> Option<Figures> {
        if self.incomplete().is_some() {
            return None;
        }
        let (mut without, mut with) = (self.values(Arm::Without), self.values(Arm::With));
        let p = self.p(&without, &with)?;
        let scatter = pooled_sd(&without, &with);
        let counts = (without.len(), with.len());
        let (without, with) = (median(&mut without)?, median(&mut with)?);
        let last = self.value(self.blocks.last()?);
        let nearer = (last - without).abs() < (last - with).abs();
        let restored = nearer || (last - without).abs() <= BACK_WITHIN_SD * scatter;
        Some(Figures {
            without,
            with,
            p,
            scatter,
            counts,
            restored,
        })
    }

    /// The chance that these differ so in the predicted direction.
    fn p(&self, without: &[f64], with: &[f64]) -> Option<f64> {
        let pooled: Vec<f64> = without.iter().chain(with).copied().collect();
        let ranks = ranks(&pooled);
        let (a, b) = ranks.split_at(without.len());
        let test = permutation(a, b, Statistic::Mean, self.design.seed)?;
        Some(match self.effect {
            Effect::Falls => test.less,
            Effect::Rises { .. } => test.greater,
        })
    }

    /// How the metric fell, if it did by some of what is predicted although the share of slow requests did
    /// not: all of them may be slower than the boundary in both arms.
    fn metric_fell(&self) -> Option<String> {
        if self.effect != Effect::Falls || self.hypothesis.is_of_failures() {
            return None;
        }
        let metrics = |arm| -> Vec<f64> { self.drawn(arm).map(|block| block.metric_ms).collect() };
        let (mut without, mut with) = (metrics(Arm::Without), metrics(Arm::With));
        let p = self.p(&without, &with).filter(|&p| p < ALPHA)?;
        let (without, with) = (median(&mut without)?, median(&mut with)?);
        let predicted = 1.0 - self.hypothesis.high_ms / self.hypothesis.baseline_ms;
        let is_some = 1.0 - with / without >= FALLS_PARTLY_FROM * predicted;
        is_some.then(|| {
            format!(
                "{} fell from {} to {} ({})",
                self.hypothesis.metric,
                wording::ms(without),
                wording::ms(with),
                wording::p(p)
            )
        })
    }

    /// Why nothing can be said whatever the figures are.
    fn obstacle(&self) -> Option<String> {
        self.incomplete()
            .or_else(|| self.too_few())
            .or_else(|| self.failing())
            .or_else(|| self.drifting())
    }

    fn incomplete(&self) -> Option<String> {
        let planned = &self.design.blocks;
        if self.blocks.len() < planned.len() {
            let (got, all) = (self.blocks.len(), planned.len());
            return Some(format!("only {got} of {all} blocks were measured"));
        }
        let fits = |(at, block): (usize, &BlockMeasurement)| {
            block.block == at && planned.get(at) == Some(&block.arm)
        };
        let all_fit = self.blocks.iter().enumerate().all(fits);
        (!all_fit).then(|| "the blocks that were measured are not those of the design".to_owned())
    }

    fn too_few(&self) -> Option<String> {
        let of_failures = self.hypothesis.is_of_failures();
        let held = |block: &BlockMeasurement| block.n + if of_failures { block.errors } else { 0 };
        let scarce = self.blocks.iter().min_by_key(|block| held(block))?;
        if held(scarce) < REQUESTS_PER_BLOCK {
            return Some(format!(
                "block {} holds {} requests; a median needs {REQUESTS_PER_BLOCK}",
                scarce.block + 1,
                held(scarce)
            ));
        }
        if self.effect != Effect::Falls {
            return None;
        }
        let slow: f64 = self
            .drawn(Arm::Without)
            .map(|block| block.slow_share * held(block) as f64)
            .sum();
        let slow = slow / self.drawn(Arm::Without).count().max(1) as f64;
        let (least, what, hardly) = if of_failures {
            (FAILED_PER_BLOCK, "failures".to_owned(), "they were")
        } else {
            let over = wording::ms(self.hypothesis.slow_above_ms);
            (
                SLOW_LEAST,
                format!("requests over {over}"),
                "the slowness was",
            )
        };
        (slow < least).then(|| {
            format!(
                "without the intervention a block held {slow:.1} {what} on average, \
                 and {least} are needed: {hardly} hardly there"
            )
        })
    }

    fn failing(&self) -> Option<String> {
        if self.hypothesis.is_of_failures() {
            return None;
        }
        let share = |arm| {
            let errors: u64 = self.drawn(arm).map(|block| block.errors).sum();
            let all: u64 = self.drawn(arm).map(|block| block.n + block.errors).sum();
            errors as f64 / all.max(1) as f64
        };
        let shares = |arm| -> Vec<f64> {
            let of = |block: &BlockMeasurement| {
                block.errors as f64 / (block.n + block.errors).max(1) as f64
            };
            self.drawn(arm).map(of).collect()
        };
        let (before, under) = (shares(Arm::Without), shares(Arm::With));
        let test = permutation(&before, &under, Statistic::Mean, self.design.seed);
        let by_chance = test.is_some_and(|test| test.greater >= ERRORS_BY_CHANCE);
        let (without, with) = (share(Arm::Without), share(Arm::With));
        (with - without > ERRORS_ADDED && !by_chance).then(|| {
            format!(
                "{} of the requests failed under the intervention and {} without it, so the \
                 others cannot be compared",
                wording::percent(with),
                wording::percent(without)
            )
        })
    }

    fn drifting(&self) -> Option<String> {
        let without: Vec<(f64, f64)> = self
            .blocks
            .iter()
            .filter(|block| block.arm == Arm::Without)
            .map(|block| (block.block as f64, self.value(block)))
            .collect();
        let trend = trend_at(&without)?;
        let seen = median(&mut self.values(Arm::With))? - median(&mut self.values(Arm::Without))?;
        let effect = seen.abs().max(
            self.hypothesis
                .effect(median(&mut self.values(Arm::Without))?),
        );
        let large = trend.gain.abs() > DRIFT_OF_EFFECT * effect;
        (trend.p < ALPHA && large).then(|| {
            let way = if trend.gain > 0.0 { "rose" } else { "fell" };
            format!(
                "the system drifted: what is judged {way} by {} over the blocks without the \
                 intervention ({})",
                self.amount(trend.gain.abs()),
                wording::p(trend.p)
            )
        })
    }

    fn amount(&self, value: f64) -> String {
        match self.effect {
            Effect::Falls => wording::percent(value),
            Effect::Rises { .. } => wording::ms(value),
        }
    }

    fn decide(&self, figures: &Figures) -> (Verdict, String) {
        if !figures.moved() {
            return self.nothing_seen(figures);
        }
        match self.effect {
            Effect::Falls => self.fell(figures),
            Effect::Rises { at_most_ms } => self.rose(figures, at_most_ms),
        }
    }

    fn nothing_seen(&self, figures: &Figures) -> (Verdict, String) {
        let (effect, of) = self.hypothesis.to_be_seen(figures.without);
        let power = figures.power_for(effect);
        let moved = format!(
            "{} went from {} to {} ({})",
            self.subject(),
            self.amount(figures.without),
            self.amount(figures.with),
            wording::p(figures.p)
        );
        let chance = wording::percent(power);
        if power < POWER_TO_REFUTE {
            let reason = format!("{moved}, but {of} would have been seen with only {chance}");
            return (Verdict::Undecided, reason);
        }
        if let Some(fell) = self.metric_fell() {
            let reason = format!("{moved}, but {fell}: less than predicted");
            return (Verdict::Undecided, reason);
        }
        let reason = format!("{moved}; {of} would have been seen with {chance}");
        (Verdict::Refuted, reason)
    }

    fn fell(&self, figures: &Figures) -> (Verdict, String) {
        let fall = (1.0 - figures.with / figures.without) / self.hypothesis.own();
        let moved = format!(
            "{} fell from {} to {} ({})",
            self.subject(),
            self.amount(figures.without),
            self.amount(figures.with),
            wording::p(figures.p)
        );
        if fall < FALLS_PARTLY_FROM {
            return (
                Verdict::Undecided,
                format!("{moved}: real, but next to nothing of it"),
            );
        }
        let leaves = self.hypothesis.intervention.leaves();
        let with = self.summary(Arm::With);
        let is_met = with.is_some_and(|with| self.hypothesis.predicts(with.median_ms));
        let least = match leaves {
            Some(_) if is_met => FALLS_MOSTLY,
            _ => FALLS_BY,
        };
        if fall < least {
            let share = wording::percent(fall);
            let rest = match leaves {
                Some(why) => format!("{why}, so that neither more nor less of a cause is shown"),
                None => "so there is another cause".to_owned(),
            };
            let reason = format!("{moved}: a partial effect of {share}, {rest}");
            return (Verdict::Undecided, reason);
        }
        self.returned(figures, &moved)
    }

    fn rose(&self, figures: &Figures, at_most_ms: f64) -> (Verdict, String) {
        let rise = figures.with - figures.without;
        let moved = format!(
            "{} rose from {} to {} ({})",
            self.subject(),
            self.amount(figures.without),
            self.amount(figures.with),
            wording::p(figures.p)
        );
        if rise <= 0.0 || rise > at_most_ms * (1.0 + RISE_TOLERANCE) {
            let most = wording::ms(at_most_ms);
            let reason = format!("{moved}: not what an addition of at most {most} can do");
            return (Verdict::Undecided, reason);
        }
        let least = self.hypothesis.low_ms - self.hypothesis.baseline_ms;
        if least >= EXACT_FROM * at_most_ms && rise < FAR_BELOW * at_most_ms {
            let least = wording::ms(least);
            let reason = format!("{moved}: far less than the {least} or more that were predicted");
            return (Verdict::Refuted, reason);
        }
        if least < EXACT_FROM * at_most_ms && figures.p >= ALPHA_OF_ANY_RISE {
            let least = wording::ms(least);
            let reason =
                format!("{moved}: chance rises by the {least} that were predicted as well");
            return (Verdict::Undecided, reason);
        }
        let Hypothesis {
            baseline_ms,
            low_ms,
            high_ms,
            ..
        } = self.hypothesis;
        // The system need not be as fast as when it was measured: what is predicted is a rise.
        if !self.hypothesis.predicts(baseline_ms + rise) {
            let reason = format!(
                "{moved}: a rise by {}, outside the predicted {} to {}",
                wording::ms(rise),
                wording::ms(low_ms - baseline_ms),
                wording::ms(high_ms - baseline_ms)
            );
            return (Verdict::Undecided, reason);
        }
        self.returned(figures, &moved)
    }

    fn returned(&self, figures: &Figures, moved: &str) -> (Verdict, String) {
        if figures.restored {
            return (
                Verdict::Confirmed,
                format!("{moved} and returned when it was undone"),
            );
        }
        let last = self.blocks.last().map_or(0.0, |block| self.value(block));
        let last = self.amount(last);
        let reason = format!("{moved}, but did not return when it was undone: it ended at {last}");
        (Verdict::Undecided, reason)
    }

    fn subject(&self) -> String {
        match self.effect {
            Effect::Falls => {
                let over = wording::ms(self.hypothesis.slow_above_ms);
                if self.hypothesis.is_of_failures() {
                    format!("the share of requests that failed or took over {over}")
                } else {
                    format!("the share of requests over {over}")
                }
            }
            Effect::Rises { .. } => self.hypothesis.metric.clone(),
        }
    }
}

/// The standard deviation of blocks about the mean of their arm.
fn pooled_sd(a: &[f64], b: &[f64]) -> f64 {
    let squares = |values: &[f64]| {
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        values
            .iter()
            .map(|value| (value - mean).powi(2))
            .sum::<f64>()
    };
    let df = (a.len() + b.len()).saturating_sub(2).max(1);
    ((squares(a) + squares(b)) / df as f64).sqrt()
}

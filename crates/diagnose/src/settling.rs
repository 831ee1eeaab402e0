//! How an endpoint settled after the start of the load.

use slowpath_core::facts::RepeatFacts;
use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::samples::SampleRef;
use slowpath_core::scenario::Model;
use slowpath_core::stats::median::median;
use slowpath_core::stats::settle::{Ramp, medians, settle, throughput};

use crate::case::{Case, EndpointCase};
use crate::diagnosis::{RepeatFigures, Settling};
use crate::figures::round;
use crate::validity::{is_crowded, others_changed};

/// A run that serves less than this share of what it was asked, from its first moment to its
/// last, is stuck: more fails than succeeds, and time does not mend it.
const STUCK_BELOW: f64 = 0.5;

/// How an endpoint settled in each repeat, by its number.
pub(crate) struct Courses {
    by_repeat: Vec<Option<Settled>>,
    is_crowded: bool,
    is_stuck: bool,
}

/// A repeat whose begin was of another speed than the rest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    /// The repeat.
    pub(crate) repeat: u16,
    /// When it had settled; its begin if it never had.
    pub(crate) settled: Nanos,
    /// How many times as slow it was in the beginning: as once it had settled, or as in the end.
    pub(crate) times_slower: f64,
}

/// How it settled in one.
struct Settled {
    ramp: Ramp,
    after_s: f64,
    start: Start,
    /// Whether others on the host may have made what looks like a ramp.
    is_of_others: bool,
}

impl Courses {
    pub(crate) fn of(case: &Case<'_>, endpoint: &EndpointCase) -> Self {
        let served = endpoint.completed.len() as f64 / endpoint.offered.max(1) as f64;
        let repeats = case.record.manifest.repeats.iter();
        Self {
            by_repeat: repeats
                .map(|repeat| course(case, endpoint, repeat))
                .collect(),
            is_crowded: is_crowded(case),
            is_stuck: served < STUCK_BELOW,
        }
    }

    /// The class of the endpoint: the middle one of its repeats, the milder of two; `None` if none
    /// could be judged.
    pub(crate) fn middle(&self) -> Option<Settling> {
        let mut repeats: Vec<&Settled> = self.by_repeat.iter().flatten().collect();
        repeats.sort_by_key(|settled| settled.ramp);
        self.class(repeats.get(repeats.len().checked_sub(1)? / 2)?)
    }

    /// The starts of repeats that settled after a while, as far as others cannot have made them.
    pub(crate) fn starts(&self) -> Vec<Start> {
        let settled = self.by_repeat.iter().flatten();
        let ramps = settled.filter(|settled| {
            let class = self.class(settled);
            matches!(class, Some(Settling::FastRamp | Settling::SlowRamp))
        });
        ramps.map(|settled| settled.start).collect()
    }

    /// The starts of repeats that went on changing to their end, as far as others cannot have made that.
    pub(crate) fn unsettled(&self) -> impl Iterator<Item = Start> {
        let all = self.by_repeat.iter().flatten();
        let unsettled = all.filter(|s| self.class(s) == Some(Settling::NotSettled));
        unsettled.map(|settled| settled.start)
    }

    /// Repeats whose course could not be judged: too few requests, or others may have made it.
    pub(crate) fn unjudged(&self) -> usize {
        let is_judged = |of: &Option<Settled>| of.as_ref().is_some_and(|s| self.class(s).is_some());
        self.by_repeat.iter().filter(|of| !is_judged(of)).count()
    }

    /// Writes the class of each repeat, and how long it took to settle, beside its figures.
    pub(crate) fn tell(&self, repeats: &mut [RepeatFigures]) {
        for (figures, settled) in repeats.iter_mut().zip(&self.by_repeat) {
            let Some(settled) = settled else { continue };
            figures.settling = self.class(settled);
            figures.settled_after_s = figures
                .settling
                .filter(|class| matches!(class, Settling::FastRamp | Settling::SlowRamp))
                .map(|_| round(settled.after_s, 1e3));
        }
    }

    /// On a host without room, or where others took another share of it in the same time, a change of speed
    /// may be their work, so that only steadiness is reported.
    fn class(&self, settled: &Settled) -> Option<Settling> {
        if settled.ramp != Ramp::None && (self.is_crowded || settled.is_of_others) {
            return None;
        }
        Some(match settled.ramp {
            Ramp::None if self.is_stuck => Settling::NoRamp,
            Ramp::None => Settling::None,
            Ramp::Fast => Settling::FastRamp,
            Ramp::Slow => Settling::SlowRamp,
            Ramp::NotSettled => Settling::NotSettled,
        })
    }
}

/// The course of one repeat, warm-up included. Users who do not think leave the throughput free;
/// where arrivals or thinking set it, the latency shows what the target does.
fn course(case: &Case<'_>, endpoint: &EndpointCase, repeat: &RepeatFacts) -> Option<Settled> {
    let model = &case.record.manifest.plan.scenario.load.model;
    let begin = all_there(model, repeat.load.begin);
    let end = repeat.window.end;
    let all = endpoint.warmed_up.iter().chain(&endpoint.completed);
    let all = all.map(|&i| case.sample(i));
    let completed = all.filter(|s: &SampleRef<'_>| s.repeat() == repeat.repeat);
    let is_free = is_free(model);
    let values = if is_free {
        throughput(begin.get(), end.get(), completed.map(|s| s.done().get()))
    } else {
        let due = completed.map(|s| (s.scheduled().get(), s.latency_ns()));
        medians(begin.get(), end.get(), due)
    };
    let values = values?;
    let course = settle(&values)?;
    let share = course.settled_at as f64 / course.windows as f64;
    let settled = begin.plus((share * end.since(begin) as f64) as u64);
    // Of what never settled the halves are compared with each other, as its judgement does.
    let border = match course.ramp {
        Ramp::NotSettled => begin.plus(end.since(begin) / 2),
        _ => settled,
    };
    let (before, behind) = (Span::new(begin, border), Span::new(border, end));
    let ratio = match course.ramp {
        Ramp::NotSettled => first_of_last(&values),
        _ => course.start_ratio,
    };
    Some(Settled {
        ramp: course.ramp,
        after_s: settled.since(repeat.load.begin) as f64 / 1e9,
        start: Start {
            repeat: repeat.repeat,
            settled,
            times_slower: if is_free { 1.0 / ratio } else { ratio },
        },
        is_of_others: course.ramp != Ramp::None
            && others_changed(case, before, behind, course.start_ratio),
    })
}

/// The first tenth of a course as a multiple of its last, by their medians.
fn first_of_last(values: &[f64]) -> f64 {
    /// The smaller one of both, where it is nothing.
    const LEAST: f64 = 1e-9;
    let tenth = values.len().div_ceil(10);
    let middle = |of: &[f64]| median(&mut of.to_vec()).unwrap_or_default().max(LEAST);
    middle(&values[..tenth]) / middle(&values[values.len() - tenth..])
}

/// When all users have been started: until then the ramp is ours.
fn all_there(model: &Model, begin: Nanos) -> Nanos {
    match model {
        Model::Closed {
            users,
            spawn_per_s: Some(spawn_per_s),
            ..
        } => begin.plus((f64::from(*users) / spawn_per_s * 1e9) as u64),
        Model::Closed { .. } | Model::Open { .. } => begin,
    }
}

/// Whether the target alone decides how many requests are made.
fn is_free(model: &Model) -> bool {
    matches!(model, Model::Closed { think, .. } if think.is_none())
}

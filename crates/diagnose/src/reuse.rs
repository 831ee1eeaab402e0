//! Requests on connections that had carried others before, and which of them met their end.

use slowpath_core::nanos::SECOND;
use slowpath_core::sample::{Outcome, Phase};
use slowpath_core::samples::SampleRef;
use slowpath_core::stats::episodes::episodes;

use crate::case::{Case, EndpointCase};
use crate::hazard::{self, Met, Step};
use crate::lives::{restarts, spans};
use crate::overlap::parts;

/// Gaps shorter than this share of another are shorter beyond what timers and wake-ups blur.
const SHORTER: f64 = 0.9;

/// What a connection's end may depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Covariate {
    /// For how long it had not been used.
    Idle,
    /// How many requests it had carried.
    Index,
    /// How long ago it was made.
    Age,
}

impl Covariate {
    pub(crate) const fn describe(self) -> &'static str {
        match self {
            Self::Idle => "the idle gap before the request",
            Self::Index => "the number of the request on its connection",
            Self::Age => "the age of the connection",
        }
    }

    fn of(self, sample: SampleRef<'_>) -> Option<u64> {
        match self {
            Self::Idle => Some(sample.idle_before_ns()),
            Self::Index => Some(u64::from(sample.index_on_connection())),
            Self::Age => Some(sample.sent()?.since(sample.connection_since()?)),
        }
    }
}

/// Whether the request was on a connection that had worked before and ended before any answer.
pub(crate) fn met_the_end(sample: SampleRef<'_>) -> bool {
    sample.index_on_connection() > 0
        && matches!(
            sample.outcome(),
            Outcome::Reset | Outcome::BrokenPipe | Outcome::Closed
        )
        && matches!(sample.phase(), Phase::Send | Phase::FirstByte)
        && sample.received_bytes() == 0
}

/// All requests of an endpoint on connections that had been used before. Each endpoint is tested
/// alone: where one is asked after other gaps than another and fails more often for a reason of its
/// own, gaps would seem to be the reason in both together.
#[derive(Debug)]
pub(crate) struct Reuses<'c, 'r> {
    case: &'c Case<'r>,
    endpoint: &'c EndpointCase,
    /// One for each instant at which connections ended under requests: those that ended together
    /// are one observation.
    failed: Vec<u32>,
}

impl<'c, 'r> Reuses<'c, 'r> {
    /// Of an endpoint.
    pub(crate) fn of(case: &'c Case<'r>, endpoint: &'c EndpointCase) -> Self {
        let all = Self::ended(case, endpoint);
        let span = |&i: &u32| {
            let sample = case.sample(i);
            (sample.ready().get(), sample.done().get())
        };
        let spans: Vec<(u64, u64)> = all.iter().map(span).collect();
        let merged = episodes(&spans);
        let mut seen = vec![false; merged.episodes.len()];
        let first =
            |&(_, &episode): &(u32, &u32)| !std::mem::replace(&mut seen[episode as usize], true);
        let failed = all
            .into_iter()
            .zip(&merged.of)
            .filter(first)
            .map(|(i, _)| i);
        Self {
            case,
            endpoint,
            failed: failed.collect(),
        }
    }

    /// The requests of an endpoint that met the end of a used connection, but for those whose server
    /// ended.
    pub(crate) fn ended(case: &Case<'_>, endpoint: &EndpointCase) -> Vec<u32> {
        if endpoint.failed.is_empty() {
            return Vec::new();
        }
        let restarts = spans(&restarts(case));
        let lives = |&i: &u32| parts(&restarts, case.sample(i).span()).next().is_none();
        let failed = endpoint.failed.iter().copied().filter(lives);
        failed.filter(|&i| met_the_end(case.sample(i))).collect()
    }

    /// At how many instants connections ended under requests.
    pub(crate) const fn episodes(&self) -> usize {
        self.failed.len()
    }

    /// The idle gaps of those, ascending.
    pub(crate) fn failed_gaps_ns(&self) -> Vec<u64> {
        let gap = |&i: &u32| self.case.sample(i).idle_before_ns();
        let mut gaps: Vec<u64> = self.failed.iter().map(gap).collect();
        gaps.sort_unstable();
        gaps
    }

    /// How many went well after gaps clearly shorter than this.
    pub(crate) fn shorter(&self, gap_ns: u64) -> u64 {
        let below = (gap_ns as f64 * SHORTER) as u64;
        self.fine().filter(|s| s.idle_before_ns() < below).count() as u64
    }

    /// The step of the hazard along a covariate.
    pub(crate) fn step(&self, of: Covariate) -> Option<Step> {
        let met = move |sample: SampleRef<'_>| {
            Some(Met {
                value: of.of(sample)?,
                half: self.half(sample),
            })
        };
        let failed = self.failed.iter().map(|&i| self.case.sample(i));
        hazard::step(&self.fine().filter_map(met), &failed.filter_map(met))
    }

    fn fine(&self) -> impl Iterator<Item = SampleRef<'r>> + Clone + use<'c, 'r> {
        let case = self.case;
        let completed = self.endpoint.completed.iter();
        completed
            .map(move |&i| case.sample(i))
            .filter(|s| s.index_on_connection() > 0)
    }

    fn half(&self, sample: SampleRef<'_>) -> bool {
        let begin = self.case.windows.get(usize::from(sample.repeat()));
        let since = begin.map_or(0, |window| sample.scheduled().since(window.begin));
        hazard::half(sample.repeat(), since / SECOND)
    }
}

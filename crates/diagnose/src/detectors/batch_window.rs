//! Requests wait until a batch is full or its window closes: they end in groups, and each group ends
//! the same time after its first request came.

use slowpath_attribution::StateSet;
use slowpath_core::nanos::{MILLISECOND, Span};
use slowpath_core::stats::median::median;

use super::{Detector, Examine};
use crate::case::{Case, EndpointCase};
use crate::cell::share_in;
use crate::diagnosis::{Culprit, Grade, Source};
use crate::predict::without_claims;
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, human, percent};

/// Answers that follow each other within this time are of one batch: a server writes them one after the
/// other, and is preempted in between at most once.
const TOGETHER_NS: u64 = 3 * MILLISECOND;
/// Fewer batches of two requests or more show no window.
const BATCHES_LEAST: usize = 20;
/// From this share of the requests on in such batches, it is how the server works.
const BATCHED_LEAST: f64 = 0.5;
/// So many of the batches last as long as the window, within a tenth: the others were full before. Groups that end
/// at the strike of a clock last anything up to its period, so that a fifth of them lie within a tenth.
const ALIKE_LEAST: f64 = 0.5;
/// What counts as alike.
const ALIKE: f64 = 0.1;
/// Those that come later in a window wait for what is left of it: half on average. Requests that take a constant time
/// and end together have begun together.
const LATER_MOST: f64 = 0.75;
/// Where the trace shows what requests wait for, it is a timer for this share of the time at least: the window of the first
/// request of a batch, of which the loop may do other things for a part.
const TIMER_LEAST: f64 = 0.3;
/// A shorter window is what a wake-up takes.
const WINDOW_LEAST_NS: f64 = 3.0 * MILLISECOND as f64;

/// Requests that are examined, from the first on: they hold more batches than it takes.
const MOST: usize = 20_000;

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Endpoint(examine),
    could_be: StateSet::SLEEP
        .and(StateSet::QUEUED)
        .and(StateSet::LOCK)
        .and(StateSet::UNKNOWN),
    may_be_the_work: false,
};

/// Requests that were answered together.
struct Batch {
    /// From the first arrival to the last answer.
    lasts_ns: f64,
    requests: Vec<u32>,
}

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    let batches = batches(case, endpoint);
    let of_several = |batch: &&Batch| batch.requests.len() > 1;
    let several: Vec<&Batch> = batches.iter().filter(of_several).collect();
    let batched: usize = several.iter().map(|batch| batch.requests.len()).sum();
    let share = batched as f64 / endpoint.completed.len().clamp(1, MOST) as f64;
    if several.len() < BATCHES_LEAST || share < BATCHED_LEAST {
        return Verdict::Absent(format!(
            "{} of the requests end together with others",
            percent(share)
        ));
    }
    let mut lengths: Vec<f64> = several.iter().map(|batch| batch.lasts_ns).collect();
    let window = median(&mut lengths).unwrap_or(0.0);
    let alike = |batch: &&&Batch| (batch.lasts_ns / window - 1.0).abs() <= ALIKE;
    let alike = several.iter().filter(alike).count() as f64 / several.len() as f64;
    let later = later(case, &several);
    if window < WINDOW_LEAST_NS || alike < ALIKE_LEAST || later > LATER_MOST * window {
        return Verdict::Absent(format!(
            "requests end in groups, {} of which begin as long before, {}; those that come later wait {}",
            percent(alike),
            human(window),
            human(later)
        ));
    }
    let claims = claims_of(case, &batches, window);
    let place = endpoint.place_of(&claims);
    // Requests that share one answer of another server end together as well: a window is a timer.
    let asks = case
        .inside()
        .is_none_or(|inside| !inside.calls(case).is_empty());
    if asks
        && share_in(case, endpoint, StateSet::SLEEP, &claims)
            .is_some_and(|share| share < TIMER_LEAST)
    {
        return Verdict::Lead {
            place,
            claims,
            missing: format!(
                "whether a timer ends the wait: requests end together, {} after the first of them was sent, as they do \
                 where one answer of another server is shared",
                human(window)
            ),
            remedy: "look at what the server waits for at that time".to_owned(),
        };
    }
    let text = format!(
        "{} of the requests end in {} groups of {:.1} on average, {} of which end {} after their first request \
         was sent",
        percent(share),
        several.len(),
        batched as f64 / several.len() as f64,
        percent(alike),
        human(window)
    );
    Verdict::Found(Found {
        place,
        prediction: without_claims(case, endpoint, place, &claims),
        amount: Amount::Claims(claims),
        grade: Grade::Suspected,
        summary: format!(
            "requests wait until a batch window of {} closes; shorten the window, or close the batch when it has \
             waited for no further request",
            human(window)
        ),
        evidence: vec![evidence(Source::Client, "first_byte_ns", text)],
        culprit: Culprit {
            constant_ms: Some(window / 1e6),
            ..Culprit::default()
        },
    })
}

/// The waits of the requests of batches that are no longer than the window.
fn claims_of(case: &Case<'_>, batches: &[Batch], window: f64) -> Vec<Claim> {
    let mut claims: Vec<Claim> = batches
        .iter()
        .filter(|batch| batch.lasts_ns <= window * (1.0 + ALIKE))
        .flat_map(|batch| &batch.requests)
        .filter_map(|&i| {
            let sample = case.sample(i);
            Some(Claim {
                sample: i,
                span: Span::new(sample.sent()?, sample.first_byte()?),
            })
        })
        .collect();
    claims.sort_unstable_by_key(|claim| claim.sample);
    claims
}

/// How long those wait that are not the first of their batch, in the median.
fn later(case: &Case<'_>, several: &[&Batch]) -> f64 {
    let mut waits: Vec<f64> = Vec::new();
    for batch in several {
        let lasts = batch.requests.iter().filter_map(|&i| {
            let sample = case.sample(i);
            Some(sample.first_byte()?.since(sample.sent()?) as f64)
        });
        let mut lasts: Vec<f64> = lasts.collect();
        lasts.sort_by(|a, b| b.total_cmp(a));
        waits.extend(lasts.into_iter().skip(1));
    }
    median(&mut waits).unwrap_or(0.0)
}

/// The completed requests by when their answers began, cut where none follows soon.
fn batches(case: &Case<'_>, endpoint: &EndpointCase) -> Vec<Batch> {
    let mut all: Vec<(u64, u64, u32)> = endpoint
        .completed
        .iter()
        .take(MOST)
        .filter_map(|&i| {
            let sample = case.sample(i);
            Some((sample.first_byte()?.get(), sample.sent()?.get(), i))
        })
        .collect();
    all.sort_unstable();
    let batch = |group: &[(u64, u64, u32)]| {
        let first = group.iter().map(|(_, sent, _)| *sent).min().unwrap_or(0);
        let last = group.last().map_or(first, |(end, ..)| *end);
        Batch {
            lasts_ns: last.saturating_sub(first) as f64,
            requests: group.iter().map(|(.., i)| *i).collect(),
        }
    };
    all.chunk_by(|a, b| b.0 - a.0 <= TOGETHER_NS)
        .map(batch)
        .collect()
}

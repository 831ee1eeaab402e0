//! Requests that are refused at once whenever too many came before: a refused request found a bucket without a
//! token, an admitted one took a token, and tokens come at an even rate.
//!
//! How many tokens there are is not seen, but it is bounded: after a refusal there is less than one, and each
//! that is let in had one. Between the bounds nothing is claimed; where they leave one answer only, the answer
//! is compared with it. Failures at random, or by how many are under way, contradict every rate.

use slowpath_core::nanos::{MILLISECOND, SECOND};
use slowpath_core::sample::Outcome;

use crate::case::{Case, EndpointCase};
use crate::paced::{Lane, Shared};

/// The first requests that are examined.
const REQUESTS_MOST: usize = 6_000;
/// Fewer of either kind show no rule.
const FEWEST: usize = 30;
/// Rates are tried from that at which requests were let in to so many times it, in steps of a hundredth: where
/// most are let in, tokens come faster than they are taken.
const TIMES: f64 = 8.0;
const STEP: f64 = 1.01;
/// Sizes of the bucket that are tried. One in between differs after a long rest only.
const SIZES: [f64; 16] = [
    1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 11.0, 15.0, 20.0, 21.0, 30.0, 50.0, 100.0, 200.0,
];
/// Instants are those of the client; servers count whole milliseconds.
const SLACK_NS: f64 = 1.5 * MILLISECOND as f64;
/// … but no more than this part of a token.
const SLACK_MOST: f64 = 0.25;
/// A wrong answer weighs so many right ones when rates are compared.
const WEIGHT: f64 = 10.0;
/// Of rules that are contradicted nearly as little as the best the one in the middle is taken.
const NEARLY: f64 = 0.98;
/// So many of the answers that the rule leaves no choice are wrong at most, which is what late instants cost. Of
/// refusals at random a rule that fits best has a third wrong …
const WRONG_MOST: f64 = 0.03;
/// … and it leaves none in this share of either kind: a rule that is bound to little explains little.
const FORCED_LEAST: f64 = 0.5;

/// The statuses that refuse for want of tokens: RFC 6585, 4, and RFC 9110, 15.6.4, which nginx sends.
pub(crate) const TOO_MANY: u16 = 429;
const UNAVAILABLE: u16 = 503;

/// A rate at which requests are let in, and others refused.
#[derive(Debug)]
pub(crate) struct Tokens {
    pub(crate) rate_per_s: f64,
    /// Refused where the rule left no choice but to refuse, and all that it left no choice but to refuse.
    pub(crate) refused: (usize, usize),
    /// The same of those let in.
    pub(crate) let_in: (usize, usize),
    /// The share of the refused that met another request under way which was let in.
    pub(crate) beside_others: f64,
}

/// A request that came.
#[derive(Clone, Copy)]
struct Come {
    lane: Lane,
    at: u64,
    until: u64,
    let_in: bool,
}

/// The status with which the endpoint refuses, of those that may be for want of tokens, and how often.
pub(crate) fn refusals(case: &Case<'_>, endpoint: &EndpointCase) -> (u16, usize) {
    let of = |status: u16| {
        let failed = endpoint.failed.iter().map(|&i| case.sample(i));
        let count = failed
            .filter(|s| s.outcome() == Outcome::Status && s.status() == status)
            .count();
        (status, count)
    };
    let (many, unavailable) = (of(TOO_MANY), of(UNAVAILABLE));
    if many.1 >= unavailable.1 {
        many
    } else {
        unavailable
    }
}

/// Looks for a rate at which requests that share a bucket are let in.
pub(crate) fn tokens(case: &Case<'_>, shared: Shared, status: u16) -> Option<Tokens> {
    let of = |sample: slowpath_core::samples::SampleRef<'_>| {
        let let_in = sample.outcome() == Outcome::Ok;
        let refused = sample.outcome() == Outcome::Status && sample.status() == status;
        (let_in || refused).then_some(())?;
        Some(Come {
            lane: shared.lane(sample)?,
            at: sample.sent()?.get(),
            until: sample.first_byte()?.get(),
            let_in,
        })
    };
    let mut come: Vec<Come> = case
        .record
        .samples
        .iter()
        .filter_map(of)
        .take(REQUESTS_MOST)
        .collect();
    come.sort_unstable_by_key(|c| (c.lane, c.at));
    let refused = come.iter().filter(|c| !c.let_in).count();
    let let_in = come.len() - refused;
    if refused.min(let_in) < FEWEST {
        return None;
    }
    let best = best(&come, let_in)?;
    let wrong = best.wrong() as f64;
    let is_rule = wrong <= WRONG_MOST * best.forced() as f64
        && best.refused.1 as f64 >= FORCED_LEAST * refused as f64
        && best.let_in.1 as f64 >= FORCED_LEAST * let_in as f64;
    is_rule.then(|| Tokens {
        rate_per_s: SECOND as f64 / best.period_ns,
        refused: best.refused,
        let_in: best.let_in,
        beside_others: beside_others(&come) / refused as f64,
    })
}

/// The rate and the size that answers contradict least.
fn best(come: &[Come], let_in: usize) -> Option<Held> {
    let parts = come.chunk_by(|a, b| a.lane == b.lane);
    let length_ns: u64 = parts.map(|part| part[part.len() - 1].at - part[0].at).sum();
    // The bucket is full in the beginning: a little less than the whole time may have gone into those let in.
    let longest_ns = length_ns as f64 / let_in as f64 * STEP.powi(5);
    let steps = (TIMES.ln() / STEP.ln()) as i32;
    let tried = (0..steps).flat_map(|step| SIZES.map(|size| (longest_ns / STEP.powi(step), size)));
    let held = tried.map(|(period_ns, size)| Held::against(come, period_ns, size));
    let mut held: Vec<Held> = held.collect();
    let most = held.iter().map(Held::score).max_by(f64::total_cmp)?;
    held.retain(|held| held.score() >= NEARLY * most);
    held.sort_unstable_by(|a, b| a.period_ns.total_cmp(&b.period_ns));
    held.get(held.len() / 2).copied()
}

/// What answers say of a rule.
#[derive(Clone, Copy, Debug)]
struct Held {
    period_ns: f64,
    refused: (usize, usize),
    let_in: (usize, usize),
}

impl Held {
    fn against(come: &[Come], period_ns: f64, size: f64) -> Self {
        let mut held = Self {
            period_ns,
            refused: (0, 0),
            let_in: (0, 0),
        };
        let slack = (SLACK_NS / period_ns).min(SLACK_MOST);
        for lane in come.chunk_by(|a, b| a.lane == b.lane) {
            let (mut least, mut most, mut before) = (0.0_f64, size, lane[0].at);
            for c in lane {
                let came = (c.at - before) as f64 / period_ns;
                let (at_least, at_most) = (least + came, (most + came).min(size));
                (least, most, before) = (at_least.min(size), at_most, c.at);
                if at_least >= 1.0 + slack {
                    held.let_in.1 += 1;
                    held.let_in.0 += usize::from(c.let_in);
                } else if most < 1.0 - slack {
                    held.refused.1 += 1;
                    held.refused.0 += usize::from(!c.let_in);
                }
                // What was answered is so, whatever was thought.
                (least, most) = if c.let_in {
                    (least.max(1.0) - 1.0, most.max(1.0) - 1.0)
                } else {
                    (least.min(1.0 - slack), most.min(1.0))
                };
            }
        }
        held
    }

    fn forced(&self) -> usize {
        self.refused.1 + self.let_in.1
    }

    fn wrong(&self) -> usize {
        self.forced() - self.refused.0 - self.let_in.0
    }

    fn score(&self) -> f64 {
        self.forced() as f64 - (WEIGHT + 1.0) * self.wrong() as f64
    }
}

/// How many of the refused came while one that was let in was under way.
fn beside_others(come: &[Come]) -> f64 {
    let (mut until, mut lane, mut beside) = (0, None, 0_usize);
    for c in come {
        if lane.replace(c.lane) != Some(c.lane) {
            until = 0;
        }
        if c.let_in {
            until = until.max(c.until);
        } else {
            beside += usize::from(c.at < until);
        }
    }
    beside as f64
}

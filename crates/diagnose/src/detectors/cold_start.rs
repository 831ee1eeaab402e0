//! What is done for the first time takes longer: the first request for a key, or all requests for a
//! while after the start. For first requests on connections it cannot be determined.

use slowpath_attribution::StateSet;
use std::collections::BTreeMap;

use slowpath_core::nanos::{Span, scaled};

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Grade, Place, Source};
use crate::firsts::Matched;
use crate::herds::Tally;
use crate::predict::without_claims;
use crate::settling::{Courses, Start};
use crate::touches::{Touch, Touches};
use crate::verdict::{Amount, Claim, Found, Verdict, evidence};

/// A start is slow if it takes this many times as long as what comes once the run has settled.
const START_TIMES: f64 = 1.5;
/// One slow start may be anything that happened at that time; the same start after start is not.
const STARTS_LEAST: usize = 2;
/// … and in so many of those that were measured.
const STARTS_SHARE: f64 = 2.0 / 3.0;

/// What is slow because it is done for the first time is fast the next time, but for what comes by chance.
const LATER_SLOW_MOST: f64 = 0.25;

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Endpoint(examine),
    could_be: StateSet::ON_CPU
        .and(StateSet::RUNNABLE)
        .and(StateSet::INTERPRETER)
        .and(StateSet::REPLY)
        .and(StateSet::DISK)
        .and(StateSet::LOCK)
        .and(StateSet::QUEUED)
        .and(StateSet::SLEEP)
        .and(StateSet::UNKNOWN),
    may_be_the_work: false,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    let mut firsts = Vec::new();
    if let Some(touches) = endpoint.touches(case) {
        let of = |t: &Touch| (t.before == 0 && t.beside == 0, t.is_slow(), t.block);
        let all = touches.all.iter().filter(|t| t.is_measured && !t.follows);
        let matched = Matched::of(all.clone().map(of));
        if matched.are_slow() && later_are_fast(touches) {
            let slow = all.filter(|t| t.before == 0 && t.is_slow());
            firsts.push(First {
                text: matched.text("for a key"),
                what: "for each key",
                pointer: "key",
                claims: slow.map(|t| t.claim(case)).collect(),
            });
        }
    }
    let starts = Starts::of(case, endpoint);
    let recurs = starts.slow.len() >= STARTS_LEAST
        && starts.slow.len() as f64 >= STARTS_SHARE * starts.measured as f64
        && case.restarts();
    if recurs {
        firsts.push(First {
            text: starts.text(),
            what: "after the start of the server",
            pointer: "scheduled_ns",
            claims: starts.claims(case, endpoint),
        });
    }
    if !firsts.is_empty() {
        return found(case, endpoint, firsts);
    }
    if let Some(first) = of_connections(case, endpoint) {
        return lead(endpoint, first);
    }
    if starts.slow.is_empty() && starts.unsettled > 0 {
        return Verdict::Blind {
            missing: format!(
                "whether what is slow is the start alone: {} of {} repeats began slowly \
                 and went on changing until they ended",
                starts.unsettled, starts.measured
            ),
            remedy: "measure for at least twice as long as it takes to settle".to_owned(),
        };
    }
    if starts.slow.is_empty() && starts.unjudged == starts.measured {
        return Verdict::Blind {
            missing: "whether the start is slow: a repeat holds too few requests, or others on the host may \
                      have made its course"
                .to_owned(),
            remedy: "measure for longer or at a higher rate, on a host with room".to_owned(),
        };
    }
    if starts.slow.is_empty() {
        let text = "first requests, for keys and on connections, are no slower than later ones";
        return Verdict::Absent(format!("{text}, and so is the start"));
    }
    Verdict::Lead {
        place: Place::Tail,
        claims: starts.claims(case, endpoint),
        missing: format!(
            "whether every start of the server is slow: {}",
            starts.text()
        ),
        remedy: "measure several repeats, with the server started by slowpath for each".to_owned(),
    }
}

/// Whether later requests for the keys whose first one is slow are fast, key by key: keys that are asked for seldom
/// may be slow each time, and make up most of what comes first.
fn later_are_fast(touches: &Touches) -> bool {
    let is_first = |t: &&Touch| t.before == 0 && !t.follows;
    let slow_at_first = touches.all.iter().filter(is_first).filter(|t| t.is_slow());
    let mut later: BTreeMap<u32, Tally> =
        slow_at_first.map(|t| (t.key, Tally::default())).collect();
    for touch in touches.all.iter().filter(|t| t.before > 0 && !t.follows) {
        if let Some(of) = later.get_mut(&touch.key) {
            of.add(touch.is_slow());
        }
    }
    later.retain(|_, of| of.all > 0);
    let slow: f64 = later.values().map(|of| of.share()).sum();
    slow <= LATER_SLOW_MOST * later.len() as f64
}

/// Requests that do something for the first time.
struct First {
    what: &'static str,
    text: String,
    pointer: &'static str,
    claims: Vec<Claim>,
}

/// The first requests on connections, if these are slow once they were sent. Where each request has a
/// connection of its own there are no later ones.
fn of_connections(case: &Case<'_>, endpoint: &EndpointCase) -> Option<First> {
    /// Stretches that a repeat is cut into to compare what happens at one time.
    const BLOCKS: u64 = 20;
    let cut_ns = endpoint.split.cut_ns?;
    let requests = || {
        endpoint.completed.iter().filter_map(|&i| {
            let sample = case.sample(i);
            let sent = sample.sent()?;
            let window = case.windows.get(usize::from(sample.repeat()))?;
            let block = scaled(sent.since(window.begin), BLOCKS, window.len_ns().max(1));
            let took = Span::new(sent, sample.done());
            let is_first = sample.index_on_connection() == 0;
            let block = u64::from(sample.repeat()) * BLOCKS + block.min(BLOCKS - 1);
            Some((i, took, is_first, block as u32))
        })
    };
    let is_slow = |took: Span| took.len_ns() >= cut_ns;
    let of = requests().map(|(_, took, is_first, block)| (is_first, is_slow(took), block));
    let matched = Matched::of(of);
    matched.are_slow().then(|| First {
        text: matched.text("on a connection"),
        what: "on each connection",
        pointer: "index_on_connection",
        claims: requests()
            .filter(|&(_, took, is_first, _)| is_first && is_slow(took))
            .map(|(sample, span, ..)| Claim { sample, span })
            .collect(),
    })
}

/// The starts that were measured, and those that were slow.
struct Starts {
    measured: usize,
    slow: Vec<Start>,
    /// How many were slow as well and had not settled when the repeat ended.
    unsettled: usize,
    /// How many could not be judged.
    unjudged: usize,
}

impl Starts {
    fn of(case: &Case<'_>, endpoint: &EndpointCase) -> Self {
        let courses = Courses::of(case, endpoint);
        let is_slow = |start: &Start| start.times_slower >= START_TIMES;
        Self {
            measured: case.windows.len(),
            slow: courses.starts().into_iter().filter(is_slow).collect(),
            unsettled: courses.unsettled().filter(is_slow).count(),
            unjudged: courses.unjudged(),
        }
    }

    fn text(&self) -> String {
        let times = self.slow.iter().map(|s| format!("{:.1}", s.times_slower));
        format!(
            "{} of {} starts are slow, by factors of {}, as long as the endpoint settles",
            self.slow.len(),
            self.measured,
            times.collect::<Vec<_>>().join(", ")
        )
    }

    /// The slow requests until the run had settled.
    fn claims(&self, case: &Case<'_>, endpoint: &EndpointCase) -> Vec<Claim> {
        let of = |&i: &u32| {
            let sample = case.sample(i);
            let start = self.slow.iter().find(|s| s.repeat == sample.repeat())?;
            (sample.scheduled() < start.settled).then(|| Claim {
                sample: i,
                span: sample.span(),
            })
        };
        endpoint.split.slow.iter().filter_map(of).collect()
    }
}

/// What is slow once for each connection may be something that the server does once for each, or a queue
/// that each joins once: many servers give a thread to a connection, and let the next one wait.
fn lead(endpoint: &EndpointCase, first: First) -> Verdict {
    Verdict::Lead {
        place: endpoint.place_of(&first.claims),
        claims: first.claims,
        missing: format!(
            "whether the server does something once {}, or connections wait until a worker takes \
             them up: {}",
            first.what, first.text
        ),
        remedy: "measure with fewer connections than the server has workers".to_owned(),
    }
}

fn found(case: &Case<'_>, endpoint: &EndpointCase, firsts: Vec<First>) -> Verdict {
    let what: Vec<&str> = firsts.iter().map(|first| first.what).collect();
    let proof = |first: &First| evidence(Source::Client, first.pointer, first.text.clone());
    let proofs = firsts.iter().map(proof).collect();
    let mut claims: Vec<Claim> = firsts.into_iter().flat_map(|first| first.claims).collect();
    claims.sort_unstable_by_key(|claim| claim.sample);
    let place = endpoint.place_of(&claims);
    Verdict::Found(Found {
        place,
        prediction: without_claims(case, endpoint, place, &claims),
        amount: Amount::Claims(claims),
        grade: Grade::Suspected,
        summary: format!(
            "the first requests {} are slow, and never again later; warm the server up before it \
             gets load, or do at its start what is done on demand",
            what.join(" and ")
        ),
        evidence: proofs,
        culprit: Culprit::default(),
    })
}

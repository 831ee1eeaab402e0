//! Requests for one key queue for each other, and the load asks for so few keys that they
//! meet.

use slowpath_attribution::{State, StateSet};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use slowpath_core::stats::explain::{Explained, Row, levels};
use slowpath_core::stats::median::median;

use crate::attribute::without_digits;
use crate::beat::Beat;
use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Grade, Place, Source};
use crate::fillings;
use crate::ledger::NAMED_EPISODES;
use crate::paced::pace_of_each_key;
use crate::predict::without_claims;
use crate::touches::{Touch, Touches};
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, percent};

/// The number of requests for the same key has to explain so much more of the excess than that of
/// those for all others: in a pause, or before a full pool, both rise together.
const BEYOND_OTHERS: f64 = 0.15;
/// A request that finds no other for its key is fast: of these at most this share of those that are
/// slow after others.
const ALONE_SLOW: f64 = 0.2;
/// At least so many of the slow requests found another one for their key.
const SLOW_BEHIND: f64 = 0.8;
/// So many requests that queue, and alone, are needed to compare.
const FEWEST: usize = 30;

/// In a queue a request that finds two waits for one and a half of their times and then for its own, and one that finds one for
/// half and its own: 1.7 times as long. Where a key is slow for a while, all take as long.
const LONGER_LEAST: f64 = 1.25;

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Endpoint(examine),
    could_be: StateSet::LOCK
        .and(StateSet::QUEUED)
        .and(StateSet::REPLY)
        .and(StateSet::SLEEP)
        .and(StateSet::UNKNOWN),
    may_be_the_work: false,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    let touches = endpoint.touches(case).filter(|_| endpoint.is_keyed(case));
    let Some(touches) = touches else {
        let text = "no requests for keys are slow beside others";
        return Verdict::Absent(text.to_owned());
    };
    let line = Line::of(case, touches);
    let text = line.text(touches);
    let is_line = line.behind.slow >= NAMED_EPISODES
        && line.behind.all >= FEWEST
        && line.alone.all >= FEWEST
        && line.behind.slow as f64 >= SLOW_BEHIND * line.slow() as f64
        && line.alone.share() <= ALONE_SLOW * line.behind.share();
    let explained = line.by_key.filter(Explained::is_enough);
    let (true, Some(explained)) = (is_line, explained) else {
        return Verdict::Absent(text);
    };
    if fillings::end_with_the_first(touches) {
        return Verdict::Absent(format!(
            "{text}; these end together with the first of them, and do not stand in line"
        ));
    }
    if touches.keys < 2 {
        return Verdict::Lead {
            place: Place::Tail,
            claims: claims(case, touches),
            missing: format!("whether it is the key, since all requests have the same one: {text}"),
            remedy: "ask for many keys, as users do".to_owned(),
        };
    }
    if let Some(longer) = longer_in_line(touches).filter(|longer| *longer < LONGER_LEAST) {
        return Verdict::Absent(format!(
            "{text}; but slow ones that found several take {longer:.2} times as long as those that found one, as \
             where a key is slow for a while, and not as in a line"
        ));
    }
    if let Some(verdict) = let_through(case, endpoint, touches, &text) {
        return verdict;
    }
    let others = line.by_others.map_or(0.0, |others| others.removed);
    if explained.removed < others + BEYOND_OTHERS {
        return Verdict::Absent(format!(
            "{text}, and all requests under way explain as much"
        ));
    }
    if let Some(thread) = helper(case, endpoint) {
        return Verdict::Absent(format!(
            "{text}; what they wait for is given by thread {thread}, which serves no request"
        ));
    }
    found(case, endpoint, touches, &line, (explained, text))
}

/// The thread that serves no request, and is the only one of its name, if slow requests wait for it most of the time: all of them give
/// something to it, whatever their keys are.
fn helper(case: &Case<'_>, endpoint: &EndpointCase) -> Option<String> {
    let (inside, attribution) = (case.inside()?, endpoint.attribution(case));
    let (mut by_thread, mut all_ns) = (BTreeMap::<(&str, &str), u64>::new(), 0);
    let slow = attribution.paths.iter().filter(|path| path.slow);
    for slice in slow.flat_map(|path| &path.slices) {
        all_ns += slice.len_ns();
        let actor = attribution.actors.get(slice.actor as usize);
        let waits = matches!(slice.state, State::Lock | State::Queued(_));
        if let Some(actor) = actor.filter(|actor| waits && !actor.thread.is_empty()) {
            let thread = (actor.process.as_str(), actor.thread.as_str());
            *by_thread.entry(thread).or_default() += slice.len_ns();
        }
    }
    let ((process, thread), ns) = by_thread.into_iter().max_by_key(|(_, ns)| *ns)?;
    let mut own = inside.index.tids().filter(|&tid| {
        inside.is_targets(tid)
            && inside.process_name(tid) == process
            && without_digits(&inside.thread_name(tid)) == thread
    });
    let only = own.next().filter(|_| own.next().is_none())?;
    let is_helper = !inside.serving().all().contains(&only);
    (2 * ns > all_ns && is_helper).then(|| thread.to_owned())
}

/// How many times as long as slow requests that found one for their key take those that found more, in the medians;
/// `None` of too few of either.
fn longer_in_line(touches: &Touches) -> Option<f64> {
    let slow = |found: RangeInclusive<u32>| {
        let touches = touches.all.iter();
        let own = touches.filter(|t| t.is_measured && t.is_slow() && found.contains(&t.beside));
        let mut took: Vec<f64> = own.map(|t| t.took_ns as f64).collect();
        (took.len() >= FEWEST).then(|| median(&mut took))?
    };
    Some(slow(2..=u32::MAX)? / slow(1..=1)?)
}

/// What is said where requests for a key are released at an even pace, and one that finds none has its answer much
/// sooner than that: no server is busy for so long with each.
fn let_through(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    touches: &Touches,
    text: &str,
) -> Option<Verdict> {
    let pace = pace_of_each_key(case, endpoint)?;
    let text = format!("{text}; {}", pace.of_each_key());
    Some(match pace.beat {
        Beat::Clock => Verdict::Absent(format!("{text}: that is a limit of the rate")),
        Beat::Untold | Beat::Wanders => Verdict::Lead {
            place: Place::Tail,
            claims: claims(case, touches),
            missing: format!(
                "whether a limit of the rate lets them go, or a server that works after each answer: {text}"
            ),
            remedy: "send more for each key, or for longer".to_owned(),
        },
    })
}

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    all: usize,
    slow: usize,
}

impl Tally {
    fn share(self) -> f64 {
        self.slow as f64 / self.all.max(1) as f64
    }
}

/// Requests by who was before them for their key.
struct Line {
    behind: Tally,
    alone: Tally,
    by_key: Option<Explained>,
    by_others: Option<Explained>,
}

impl Line {
    fn of(case: &Case<'_>, touches: &Touches) -> Self {
        let measured = || touches.all.iter().filter(|t| t.is_measured);
        let (mut behind, mut alone) = (Tally::default(), Tally::default());
        for touch in measured() {
            let of = if touch.beside > 0 {
                &mut behind
            } else {
                &mut alone
            };
            of.all += 1;
            of.slow += usize::from(touch.is_slow());
        }
        let rows = |x: &dyn Fn(&Touch) -> f64| -> Vec<Row> {
            let row = |touch: &Touch| Row {
                x: x(touch),
                y: touch.took_ns as f64,
                block: touch.block,
            };
            // The few that queue decide; of the many that are alone as many do.
            let (mut some, mut taken) = (Vec::new(), 0);
            for touch in measured() {
                let is_alone = touch.beside == 0;
                taken += usize::from(is_alone);
                if !is_alone || taken.is_multiple_of((alone.all / behind.all.max(1)).max(1)) {
                    some.push(row(touch));
                }
            }
            some
        };
        let others = |touch: &Touch| {
            let all = case.sample(touch.sample).in_flight();
            f64::from(all.saturating_sub(touch.beside))
        };
        Self {
            behind,
            alone,
            by_key: levels(&rows(&|touch| f64::from(touch.beside))),
            by_others: levels(&rows(&others)),
        }
    }

    const fn slow(&self) -> usize {
        self.behind.slow + self.alone.slow
    }

    fn text(&self, touches: &Touches) -> String {
        format!(
            "of the requests that found another one for their key under way {} are slow, of those \
             that found none {} ({} keys)",
            percent(self.behind.share()),
            percent(self.alone.share()),
            touches.keys
        )
    }
}

/// What those claim that found others for their key before them.
fn claims(case: &Case<'_>, touches: &Touches) -> Vec<Claim> {
    let behind = touches.all.iter();
    let behind = behind.filter(|t| t.is_measured && t.beside > 0 && t.is_slow());
    let mut claims: Vec<Claim> = behind.map(|t| t.claim(case)).collect();
    claims.sort_unstable_by_key(|claim| claim.sample);
    claims
}

fn found(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    touches: &Touches,
    line: &Line,
    (explained, text): (Explained, String),
) -> Verdict {
    let claims = claims(case, touches);
    let place = endpoint.place_of(&claims);
    let others = line.by_others.map_or(0.0, |others| others.removed.max(0.0));
    let held = format!(
        "how many requests for the same key were under way explains {} of what they take, in one \
         half of the run what was learned from the other; those for other keys {}",
        percent(explained.removed),
        percent(others)
    );
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    for touch in &touches.all {
        *counts.entry(touch.key).or_default() += 1;
    }
    let most = counts.values().max().copied().unwrap_or(0);
    let hottest = percent(most as f64 / touches.all.len() as f64);
    Verdict::Found(Found {
        place,
        prediction: without_claims(case, endpoint, place, &claims),
        amount: Amount::Claims(claims),
        grade: Grade::Suspected,
        summary: format!(
            "requests for the same key queue for each other, and the load has only {} keys (the hottest has \
             {hottest} of the requests), so that they meet; ask for as many keys as users do, or do \
             less at a time for each key",
            touches.keys
        ),
        evidence: vec![
            evidence(Source::Client, "key", text),
            evidence(Source::Client, "in_flight", held),
        ],
        culprit: Culprit::default(),
    })
}

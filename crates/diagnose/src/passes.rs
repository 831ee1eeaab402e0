//! Whether a cold pass was cold: the first request for each key, against the same one warm.
//!
//! The passes of a repeat ask for the same things in the same order, so the first request for a
//! key in the cold pass has a twin. Service time is compared: waiting for a connection is not the
//! cache's.

use std::collections::BTreeMap;

use slowpath_core::record::RunRecord;
use slowpath_core::sample::{NONE, Outcome, Stage};
use slowpath_core::samples::SampleRef;
use slowpath_core::scenario::{COLD, Step, Template};
use slowpath_core::stats::first_touch::{
    Coldness, FEWEST_PAIRS, FirstTouches, Pair, first_touches,
};

use crate::diagnosis::{Check, FirstTouchFigures, PassFigures, ResetProof, Status};
use crate::figures::share;

/// The service times of the requests for one key of one endpoint, in order of schedule.
type Touches = BTreeMap<(u16, u32), Vec<u64>>;

/// First and later touches of one endpoint in one repeat.
#[derive(Clone, Debug, Default)]
struct Touched {
    firsts: Vec<Pair>,
    later: Vec<Pair>,
    /// What each repeat shows.
    repeats: Vec<Option<bool>>,
}

/// The passes of a run, in their order; empty for a run without.
pub(crate) fn passes(record: &RunRecord) -> Vec<PassFigures> {
    let scenario = &record.manifest.plan.scenario;
    let names = scenario.load.passes.iter().enumerate();
    names
        .map(|(number, name)| {
            let is_cold = name == COLD;
            let proof = is_cold.then(|| proof(record, number as u16));
            let cold = proof.as_ref().and_then(|proof| overall(&proof.repeats));
            let steps = scenario.target.reset.iter().filter(|_| is_cold);
            PassFigures {
                name: name.clone(),
                reset: steps.map(in_words).collect(),
                proof,
                cold,
            }
        })
        .collect()
}

/// What the passes say about the measurement.
pub(crate) fn checks(passes: &[PassFigures]) -> impl Iterator<Item = Check> + '_ {
    passes.iter().filter_map(|pass| {
        let proof = pass.proof.as_ref()?;
        let best = proof.endpoints.first();
        Some(Check {
            check: "cold-pass".to_owned(),
            status: match pass.cold {
                Some(true) => Status::Ok,
                Some(false) | None => Status::Warn,
            },
            value: best.map(|best| share(best.slower as f64 / best.keys.max(1) as f64)),
            detail: proof.text.clone(),
        })
    })
}

/// A step as it was written.
fn in_words(step: &Step) -> String {
    let text = |template: &Template| template.as_literal().unwrap_or("...").to_owned();
    match step {
        Step::Request { method, path } => format!("{method} {}", text(path)),
        Step::Command(words) => words.iter().map(text).collect::<Vec<_>>().join(" "),
    }
}

fn as_bool(coldness: Coldness) -> Option<bool> {
    match coldness {
        Coldness::Cold => Some(true),
        Coldness::NotCold => Some(false),
        Coldness::CannotTell => None,
    }
}

/// Cold if every repeat was; not cold if one was not.
fn overall(repeats: &[Option<bool>]) -> Option<bool> {
    if repeats.contains(&Some(false)) {
        return Some(false);
    }
    (!repeats.is_empty() && repeats.iter().all(|one| *one == Some(true))).then_some(true)
}

fn proof(record: &RunRecord, number: u16) -> ResetProof {
    let plan = &record.manifest.plan;
    let (mut all, mut repeats) = (BTreeMap::<u16, Touched>::new(), Vec::new());
    for window in &record.manifest.repeats {
        if plan.pass_of(window.repeat) != number {
            continue;
        }
        let cold = touches(record, window.repeat);
        // The next pass of the same repeat; where there is none, later requests of this one.
        let next = window.repeat + 1;
        let warm = (plan.pass_of(next) > number).then(|| touches(record, next));
        let touched = match &warm {
            Some(warm) => against(&cold, warm),
            None => within(&cold),
        };
        let each = touched
            .values()
            .map(|one| first_touches(&one.firsts, &one.later).coldness);
        repeats.push(as_bool(strongest(each)));
        for (endpoint, one) in touched {
            let shows = as_bool(first_touches(&one.firsts, &one.later).coldness);
            let sum = all.entry(endpoint).or_default();
            sum.repeats.push(shows);
            sum.firsts.extend(one.firsts);
            sum.later.extend(one.later);
        }
    }
    let name = |endpoint: u16| plan.scenario.endpoints[usize::from(endpoint)].name.clone();
    let mut endpoints: Vec<FirstTouchFigures> = all
        .iter()
        .filter(|(_, one)| one.firsts.len() > 1)
        .map(|(endpoint, one)| {
            let found = first_touches(&one.firsts, &one.later);
            figures(name(*endpoint), &found, overall(&one.repeats))
        })
        .collect();
    let unclear = |cold: Option<bool>| match cold {
        Some(true) => 0,
        Some(false) => 1,
        None => 2,
    };
    endpoints.sort_by_key(|one| (unclear(one.cold), std::cmp::Reverse(one.keys)));
    ResetProof {
        text: text(record, &repeats, &endpoints),
        repeats,
        endpoints,
    }
}

/// One endpoint with a cold cache is enough, and one without says more than one that cannot show it.
fn strongest(each: impl Iterator<Item = Coldness>) -> Coldness {
    each.min_by_key(|one| rank(*one))
        .unwrap_or(Coldness::CannotTell)
}

fn rank(coldness: Coldness) -> u8 {
    match coldness {
        Coldness::Cold => 0,
        Coldness::NotCold => 1,
        Coldness::CannotTell => 2,
    }
}

fn figures(endpoint: String, found: &FirstTouches, cold: Option<bool>) -> FirstTouchFigures {
    let rounded = |ratio: f64| crate::figures::round(ratio, 1e3);
    FirstTouchFigures {
        endpoint,
        keys: found.pairs as u64,
        slower: found.slower as u64,
        share_low: share(found.share.0),
        share_high: share(found.share.1),
        ratio: found.ratio.map(rounded),
        later_ratio: found.later_ratio.map(rounded),
        cold,
    }
}

/// The measured requests of a window that have keys and were answered, or were given up.
fn touches(record: &RunRecord, window: u16) -> Touches {
    let endpoints = &record.manifest.plan.scenario.endpoints;
    let is_keyed = |endpoint: u16| {
        let own = endpoints.get(usize::from(endpoint));
        own.is_some_and(|own| own.key.is_some())
    };
    let counts = |sample: &SampleRef<'_>| {
        let ended = matches!(sample.outcome(), Outcome::Ok | Outcome::Timeout);
        sample.repeat() == window
            && sample.stage() == Stage::Measured
            && sample.key() != NONE
            && is_keyed(sample.endpoint())
            && ended
    };
    let mut touches = Touches::new();
    for sample in record.samples.iter().filter(counts) {
        if let Some(service_ns) = sample.service_ns() {
            let own = touches.entry((sample.endpoint(), sample.key()));
            own.or_default().push(service_ns);
        }
    }
    touches
}

/// Requests of the cold pass beside their twins.
fn against(cold: &Touches, warm: &Touches) -> BTreeMap<u16, Touched> {
    let mut touched = BTreeMap::<u16, Touched>::new();
    for ((endpoint, key), cold) in cold {
        let Some(warm) = warm.get(&(*endpoint, *key)) else {
            continue;
        };
        let mut pairs = cold
            .iter()
            .zip(warm)
            .map(|(&cold_ns, &warm_ns)| Pair { cold_ns, warm_ns });
        let own = touched.entry(*endpoint).or_default();
        own.firsts.extend(pairs.next());
        own.later.extend(pairs);
    }
    touched
}

/// The first request for each key beside the second one of the same pass.
fn within(cold: &Touches) -> BTreeMap<u16, Touched> {
    let mut touched = BTreeMap::<u16, Touched>::new();
    for ((endpoint, _), all) in cold {
        if let [cold_ns, warm_ns, ..] = *all.as_slice() {
            let own = touched.entry(*endpoint).or_default();
            own.firsts.push(Pair { cold_ns, warm_ns });
        }
    }
    touched
}

fn text(record: &RunRecord, repeats: &[Option<bool>], endpoints: &[FirstTouchFigures]) -> String {
    let figures = endpoints.first().map(|best| {
        let ratio = best.ratio.map_or(String::new(), |ratio| {
            format!(", {ratio:.1} times as long in the median")
        });
        let FirstTouchFigures {
            endpoint,
            keys,
            slower,
            ..
        } = best;
        format!(
            "{slower} of {keys} first requests for a key of {endpoint} took longer than the same \
             requests later{ratio}"
        )
    });
    let steps = record.manifest.plan.scenario.target.reset.iter();
    let steps: Vec<String> = steps.map(in_words).collect();
    let reset = match steps.as_slice() {
        [] => "the restart".to_owned(),
        steps => format!("the reset ({})", steps.join(", ")),
    };
    match (overall(repeats), figures) {
        (Some(true), Some(figures)) => format!("the cold pass was cold: {figures}"),
        (Some(false), Some(figures)) => {
            let failed = repeats.iter().filter(|one| **one == Some(false)).count();
            format!(
                "the cold pass was not cold in {failed} of {} repeats: {figures}; {reset} emptied \
                 nothing that these requests use, or nothing of theirs is cached",
                repeats.len()
            )
        }
        (_, Some(figures)) => format!(
            "whether the cold pass was cold is not known: {figures}; more keys would show it \
             ({FEWEST_PAIRS} in each repeat at least)"
        ),
        (_, None) => format!(
            "whether the cold pass was cold is not known: no two keys were asked for again; give \
             the requests a pool, or a key ({FEWEST_PAIRS} keys at least)"
        ),
    }
}

//! Some keys or inputs are expensive in themselves: their requests are slow each time, alone or not, first or
//! not, and those for others are not.

use std::collections::BTreeMap;

use slowpath_attribution::StateSet;
use slowpath_core::nanos::Span;
use slowpath_core::sample::NONE;

use super::{Detector, Examine};
use crate::case::{Case, EndpointCase};
use crate::diagnosis::{Culprit, Grade, Source};
use crate::factors::{Factor, factors};
use crate::predict::without_claims;
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, percent, plural};

/// A value is expensive if so much of its requests are slow.
const SLOW_EACH_TIME: f64 = 0.8;
/// A value is judged by at least so many requests: two that are slow by chance are no sign, where one in ten is.
const EACH_LEAST: usize = 3;
/// The expensive values hold at least this part of the slow requests …
const HELD_LEAST: f64 = 0.5;
/// … and are at most this part of all values: where most are slow it is no value's own.
const VALUES_MOST: f64 = 0.5;
/// Values in the text.
const SHOWN: usize = 3;

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Endpoint(examine),
    could_be: StateSet::ON_CPU.and(StateSet::RUNNABLE).and(StateSet::INTERPRETER).and(StateSet::UNKNOWN),
    may_be_the_work: true,
};

/// Values of a factor whose requests are slow each time.
struct Hot {
    name: String,
    values: Vec<String>,
    of: usize,
    requests: Vec<u32>,
    held: f64,
}

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    let hot = factors(case, endpoint).into_iter().filter_map(|factor| hot(case, endpoint, &factor));
    let Some(hot) = hot.max_by(|a, b| a.held.total_cmp(&b.held)) else {
        return Verdict::Absent("no value of a key is slow each time while others are not".to_owned());
    };
    let usual = endpoint.split.fast_ns.unwrap_or(0);
    let mut claims: Vec<Claim> = hot
        .requests
        .iter()
        .map(|&i| {
            let sample = case.sample(i);
            let begin = sample.sent().unwrap_or(sample.ready()).plus(usual).min(sample.done());
            Claim { sample: i, span: Span::new(begin, sample.done()) }
        })
        .collect();
    claims.sort_unstable_by_key(|claim| claim.sample);
    let place = endpoint.place_of(&claims);
    let shown: Vec<&str> = hot.values.iter().take(SHOWN).map(String::as_str).collect();
    let text = format!(
        "{} of {} values of {} are slow each time, in both halves of the run ({}); they hold {} of the slow \
         requests",
        hot.values.len(),
        hot.of,
        hot.name,
        shown.join(", "),
        percent(hot.held)
    );
    Verdict::Found(Found {
        place,
        prediction: without_claims(case, endpoint, place, &claims),
        amount: Amount::Claims(claims),
        grade: Grade::Suspected,
        summary: format!(
            "requests for {} of {} are slow each time and others are not: the input itself is expensive; bound the \
             work for one input, or treat these apart",
            plural(hot.values.len() as u64, "value"),
            hot.name
        ),
        evidence: vec![evidence(Source::Client, "key", text)],
        culprit: Culprit::default(),
    })
}

/// The values of a factor that are slow each time, in both halves of the requests.
fn hot(case: &Case<'_>, endpoint: &EndpointCase, factor: &Factor) -> Option<Hot> {
    let mut by_value: BTreeMap<u32, Vec<(u32, bool)>> = BTreeMap::new();
    for &i in &endpoint.completed {
        let key = case.sample(i).key();
        if key == NONE {
            continue;
        }
        let value = *factor.value_of.get(key as usize)?;
        let slow = endpoint.split.slow.binary_search(&i).is_ok();
        by_value.entry(value).or_default().push((i, slow));
    }
    let judged = by_value.values().filter(|all| all.len() >= EACH_LEAST).count();
    let slow_part = |part: &[(u32, bool)]| {
        let slow = part.iter().filter(|(_, slow)| *slow).count();
        slow as f64 / part.len().max(1) as f64
    };
    let is_hot = |all: &[(u32, bool)]| {
        let (first, second) = all.split_at(all.len() / 2);
        all.len() >= EACH_LEAST && slow_part(first) >= SLOW_EACH_TIME && slow_part(second) >= SLOW_EACH_TIME
    };
    let expensive: Vec<(&u32, &Vec<(u32, bool)>)> = by_value.iter().filter(|(_, all)| is_hot(all)).collect();
    let requests: Vec<u32> = expensive.iter().flat_map(|(_, all)| all.iter().map(|(i, _)| *i)).collect();
    let slow = requests.iter().filter(|i| endpoint.split.slow.binary_search(i).is_ok()).count();
    let held = slow as f64 / endpoint.split.slow.len().max(1) as f64;
    let few = expensive.len() as f64 <= VALUES_MOST * judged as f64;
    (!expensive.is_empty() && held >= HELD_LEAST && few).then(|| Hot {
        name: factor.name.clone(),
        values: expensive.iter().map(|(value, _)| factor.values[**value as usize].clone()).collect(),
        of: judged,
        requests,
        held,
    })
}

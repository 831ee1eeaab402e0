//! Factors of requests: each part of their keys is one, and so is the whole key where it has one part.
//!
//! A default key is the product of all pool values of a request, `tenant/item`. What depends on the tenant alone is not
//! seen in the product, of which each value may occur once.

use std::collections::{BTreeMap, BTreeSet};

use slowpath_core::nanos::Span;
use slowpath_core::sample::NONE;
use slowpath_core::stats::median::median;

use crate::case::{Case, EndpointCase};
use crate::verdict::Claim;

/// A value is expensive if so much of its requests are slow.
const SLOW_EACH_TIME: f64 = 0.8;
/// A value is judged by at least so many requests: two that are slow by chance are no sign, where one in ten is.
const EACH_LEAST: usize = 3;
/// The expensive values hold at least this part of what slow requests take beyond others (their number says nothing: those
/// that queue after a few expensive ones may be more) …
const HELD_LEAST: f64 = 0.5;
/// … and are at most this part of all values: where most are slow it is no value's own.
const VALUES_MOST: f64 = 0.5;
/// Inputs that are slow each time are large if they are so many times as long as the others in the median …
const LARGE_TIMES: f64 = 4.0;
/// … and at least as long as a page of memory: shorter ones are read at once.
const LARGE_LEAST: f64 = 4_096.0;

/// One factor.
pub(crate) struct Factor {
    /// For people: "the key", or "part 2 of the key".
    name: String,
    /// For each key of the record, which value it has.
    value_of: Vec<u32>,
    /// The values.
    values: Vec<String>,
}

impl Factor {
    /// The number of the value that a key has of it; `None` for a key that the record does not have.
    pub(crate) fn value_of(&self, key: u32) -> Option<u32> {
        self.value_of.get(key as usize).copied()
    }
}

/// The factors of an endpoint's keys: each part between slashes, if all keys have as many; otherwise the whole.
pub(crate) fn factors(case: &Case<'_>, endpoint: &EndpointCase) -> Vec<Factor> {
    let keys = &case.record.keys;
    let all = endpoint.completed.iter().map(|&i| case.sample(i).key());
    let used: BTreeSet<u32> = all.filter(|&key| (key as usize) < keys.len()).collect();
    let parts = |key: u32| keys[key as usize].split('/').count();
    let Some(&first) = used.first() else {
        return Vec::new();
    };
    let count = parts(first);
    let same = used.iter().all(|&key| parts(key) == count);
    if !same || count == 1 {
        return vec![factor("the key".to_owned(), keys, |key| key)];
    }
    let part = |n: usize| {
        let name = format!("part {} of the key", n + 1);
        factor(name, keys, move |key| key.split('/').nth(n).unwrap_or(""))
    };
    (0..count).map(part).collect()
}

fn factor(name: String, keys: &[String], of: impl for<'k> Fn(&'k str) -> &'k str) -> Factor {
    let mut known: BTreeMap<&str, u32> = BTreeMap::new();
    let mut values = Vec::new();
    let value_of = keys.iter().map(|key| {
        let value = of(key);
        let next = values.len() as u32;
        let at = *known.entry(value).or_insert(next);
        if at == next {
            values.push(value.to_owned());
        }
        at
    });
    let value_of = value_of.collect();
    Factor {
        name,
        value_of,
        values,
    }
}

/// Values of a factor whose requests are slow each time.
pub(crate) struct Hot {
    /// The factor.
    pub(crate) name: String,
    /// Its values whose requests are slow each time.
    pub(crate) values: Vec<String>,
    /// Of how many values.
    pub(crate) of: usize,
    /// All requests for them.
    pub(crate) requests: Vec<u32>,
    /// The share that they hold of what slow requests take beyond others.
    pub(crate) held: f64,
    /// Whether they are large beside the others, in bytes: the least of both in the median, if so.
    pub(crate) large: Option<(f64, f64)>,
}

/// The values of a part of the key that are slow each time and hold most of the slow requests, if there are such.
pub(crate) fn hottest(case: &Case<'_>, endpoint: &EndpointCase) -> Option<Hot> {
    if endpoint.split.slow.is_empty() {
        return None;
    }
    let all = factors(case, endpoint).into_iter();
    all.filter_map(|factor| hot(case, endpoint, &factor))
        .max_by(|a, b| a.held.total_cmp(&b.held))
}

impl Hot {
    /// What these requests take beyond what others of the endpoint do.
    pub(crate) fn claims(&self, case: &Case<'_>, endpoint: &EndpointCase) -> Vec<Claim> {
        let usual = endpoint.split.fast_ns.unwrap_or(0);
        let claim = |&i: &u32| {
            let sample = case.sample(i);
            let begin = sample
                .sent()
                .unwrap_or(sample.ready())
                .plus(usual)
                .min(sample.done());
            Claim {
                sample: i,
                span: Span::new(begin, sample.done()),
            }
        };
        let mut claims: Vec<Claim> = self.requests.iter().map(claim).collect();
        claims.sort_unstable_by_key(|claim| claim.sample);
        claims
    }
}

/// The values of a factor that are slow each time, in both halves of the requests.
fn hot(case: &Case<'_>, endpoint: &EndpointCase, factor: &Factor) -> Option<Hot> {
    let mut by_value: BTreeMap<u32, Vec<(u32, bool)>> = BTreeMap::new();
    for &i in &endpoint.completed {
        let key = case.sample(i).key();
        if key == NONE {
            continue;
        }
        let value = factor.value_of(key)?;
        let slow = endpoint.split.slow.binary_search(&i).is_ok();
        by_value.entry(value).or_default().push((i, slow));
    }
    let judged = by_value
        .values()
        .filter(|all| all.len() >= EACH_LEAST)
        .count();
    let slow_part = |part: &[(u32, bool)]| {
        let slow = part.iter().filter(|(_, slow)| *slow).count();
        slow as f64 / part.len().max(1) as f64
    };
    let is_hot = |all: &[(u32, bool)]| {
        let (first, second) = all.split_at(all.len() / 2);
        all.len() >= EACH_LEAST
            && slow_part(first) >= SLOW_EACH_TIME
            && slow_part(second) >= SLOW_EACH_TIME
    };
    let expensive: Vec<(&u32, &Vec<(u32, bool)>)> =
        by_value.iter().filter(|(_, all)| is_hot(all)).collect();
    let requests: Vec<u32> = expensive
        .iter()
        .flat_map(|(_, all)| all.iter().map(|(i, _)| *i))
        .collect();
    let usual = endpoint.split.fast_ns.unwrap_or(0);
    let beyond = |i: &u32| case.sample(*i).latency_ns().saturating_sub(usual) as f64;
    let slow = requests
        .iter()
        .filter(|i| endpoint.split.slow.binary_search(i).is_ok());
    let all: f64 = endpoint.split.slow.iter().map(beyond).sum();
    let held = slow.map(beyond).sum::<f64>() / all.max(1.0);
    let few = expensive.len() as f64 <= VALUES_MOST * judged as f64;
    if expensive.is_empty() || held < HELD_LEAST || !few {
        return None;
    }
    let bytes = |of_hot: bool| {
        let own = by_value.iter().filter(|(_, all)| is_hot(all) == of_hot);
        let mut all: Vec<f64> = own
            .map(|(value, _)| factor.values[*value as usize].len() as f64)
            .collect();
        median(&mut all).unwrap_or(0.0)
    };
    let (large, others) = (bytes(true), bytes(false));
    let is_large = large >= LARGE_LEAST && large >= LARGE_TIMES * others;
    Some(Hot {
        name: factor.name.clone(),
        values: expensive
            .iter()
            .map(|(value, _)| factor.values[**value as usize].clone())
            .collect(),
        of: judged,
        requests,
        held,
        large: is_large.then_some((large, others)),
    })
}

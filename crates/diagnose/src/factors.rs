//! Factors of requests: each part of their keys is one, and so is the whole key where it has one part.
//!
//! A default key is the product of all pool values of a request, `tenant/item`. What goes by the tenant alone is not
//! seen in the product, of which each value may occur once.

use std::collections::BTreeMap;

use crate::case::{Case, EndpointCase};
use slowpath_core::sample::NONE;

/// One factor.
pub(crate) struct Factor {
    /// For people: "the key", or "part 2 of the key".
    pub(crate) name: String,
    /// For each key of the record, which value it has.
    pub(crate) value_of: Vec<u32>,
    /// The values.
    pub(crate) values: Vec<String>,
}

/// The factors of an endpoint's keys: each part between slashes, if all keys have as many; otherwise the whole.
pub(crate) fn factors(case: &Case<'_>, endpoint: &EndpointCase) -> Vec<Factor> {
    let keys = &case.record.keys;
    let mut used: Vec<u32> = endpoint
        .completed
        .iter()
        .map(|&i| case.sample(i).key())
        .collect();
    used.sort_unstable();
    used.dedup();
    used.retain(|&key| key != NONE && (key as usize) < keys.len());
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

//! The keys that an endpoint asks for, and how likely each of them is.

use std::collections::{BTreeMap, BTreeSet};

use slowpath_core::scenario::{Endpoint, Part, Scenario, Template};

use crate::occupancy::Keys;

/// More keys than this are counted and not named: nobody writes that many by hand, and a key
/// twice in so many is no longer felt.
const MOST_NAMED: usize = 20_000;

/// For each pool drawn from, the position of the value.
pub(crate) type Picks = BTreeMap<usize, usize>;

/// The keys of one endpoint.
#[derive(Debug, Clone)]
pub(crate) struct KeySpace {
    /// Their probabilities; `None` where every request has a key of its own.
    pub(crate) keys: Option<Keys>,
    /// Their texts with their probabilities; empty where there are none or too many.
    pub(crate) named: BTreeMap<String, f64>,
    /// The requests by what a server may take for the same; empty where there are too many or
    /// where each is its own.
    pub(crate) requests: BTreeMap<String, Request>,
    /// The same by what a cache would keep them under: the path without its query, and the key.
    pub(crate) entries: BTreeMap<String, Request>,
}

/// One request that an endpoint may send.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// Its key.
    pub(crate) key: String,
    /// Method, path and body as written.
    pub(crate) written: String,
    /// How likely it is.
    pub(crate) p: f64,
}

impl KeySpace {
    /// The keys of an endpoint of a scenario.
    pub(crate) fn of(scenario: &Scenario, endpoint: &Endpoint) -> Self {
        let Some(template) = endpoint.key.as_ref().filter(|key| !key.is_unique()) else {
            return Self {
                keys: None,
                named: BTreeMap::new(),
                requests: BTreeMap::new(),
                entries: BTreeMap::new(),
            };
        };
        let pools: BTreeSet<usize> = template.pools().collect();
        let pools: Vec<usize> = pools.into_iter().collect();
        let combinations = pools
            .iter()
            .map(|&pool| scenario.pools[pool].values.len())
            .try_fold(1_usize, usize::checked_mul);
        match combinations {
            Some(n) if n <= MOST_NAMED => Self::named(scenario, endpoint, template, &pools, n),
            _ => Self::counted(scenario, &pools),
        }
    }

    fn named(
        scenario: &Scenario,
        endpoint: &Endpoint,
        template: &Template,
        pools: &[usize],
        n: usize,
    ) -> Self {
        let mut named: BTreeMap<String, f64> = BTreeMap::new();
        let mut requests = BTreeMap::new();
        let mut entries = BTreeMap::new();
        // What is drawn but not part of the key makes requests that nobody could list.
        let listed = texts(endpoint).all(|text| text.pools().all(|pool| pools.contains(&pool)));
        for combination in 0..n {
            let mut rest = combination;
            let mut picks = Picks::new();
            for &pool in pools {
                let values = scenario.pools[pool].values.len();
                picks.insert(pool, rest % values);
                rest /= values;
            }
            let key = text_of(scenario, template, &picks);
            let p = 1.0 / n as f64;
            *named.entry(key.clone()).or_default() += p;
            if listed {
                let written = written(scenario, endpoint, &picks);
                let names = [normalised(&written), entry(scenario, endpoint, &picks)];
                let request = Request {
                    key,
                    written,
                    p: 0.0,
                };
                for (map, name) in [&mut requests, &mut entries].into_iter().zip(names) {
                    let same: &mut Request = map.entry(name).or_insert_with(|| request.clone());
                    same.p += p;
                }
            }
        }
        let weights: Vec<f64> = named.values().copied().collect();
        Self {
            keys: Some(Keys::weighted(&weights)),
            named,
            requests,
            entries,
        }
    }

    fn counted(scenario: &Scenario, pools: &[usize]) -> Self {
        let distinct = |&pool: &usize| {
            let values: BTreeSet<&str> = scenario.pools[pool].values.iter().collect();
            values.len() as f64
        };
        Self {
            keys: Some(Keys::uniform(pools.iter().map(distinct).product())),
            named: BTreeMap::new(),
            requests: BTreeMap::new(),
            entries: BTreeMap::new(),
        }
    }
}

/// What an answer is kept under: method, path without the query, and key; method and whole path
/// where no pool is in the key.
pub(crate) fn entry(scenario: &Scenario, endpoint: &Endpoint, picks: &Picks) -> String {
    let path = text_of(scenario, &endpoint.path, picks);
    let template = endpoint.key.as_ref();
    match template.filter(|key| key.pools().next().is_some()) {
        Some(key) => {
            let stem = path.split('?').next().unwrap_or_default();
            let key = normalised(&text_of(scenario, key, picks));
            format!("{} {stem} {key}", endpoint.method)
        }
        None => format!("{} {path}", endpoint.method),
    }
}

/// All texts of a request that may name pools.
pub(crate) fn texts(endpoint: &Endpoint) -> impl Iterator<Item = &Template> {
    let headers = endpoint.headers.iter().map(|(_, text)| text);
    std::iter::once(&endpoint.path)
        .chain(headers)
        .chain(&endpoint.body)
        .chain(&endpoint.key)
}

/// Method, path and body of a request.
fn written(scenario: &Scenario, endpoint: &Endpoint, picks: &Picks) -> String {
    let path = text_of(scenario, &endpoint.path, picks);
    let body = endpoint.body.as_ref();
    let body = body.map_or(String::new(), |body| {
        format!(" {}", text_of(scenario, body, picks))
    });
    format!("{} {path}{body}", endpoint.method)
}

/// The text of a key whose pools give the values at these positions.
fn text_of(scenario: &Scenario, template: &Template, picks: &Picks) -> String {
    let part = |part: &Part| match part {
        Part::Literal(text) => text.clone(),
        Part::Pool(pool) => scenario.pools[*pool].values[picks[pool]].to_owned(),
        // A key that names them is the same for all requests of a run.
        // A user's own variable stands for one value, as it does within a session.
        Part::Port
        | Part::ServicePort(_)
        | Part::Tmp
        | Part::Seq
        | Part::Uuid
        | Part::Variable(_) => String::new(),
    };
    template.parts.iter().map(part).collect()
}

/// What a server may take for the same key: percent signs decoded, lower case, white space
/// trimmed and collapsed.
pub(crate) fn normalised(key: &str) -> String {
    let decoded = decoded(key).to_lowercase();
    decoded.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Percent-encoded bytes and `+` decoded (the form encoding of the URL standard); what decodes to
/// no UTF-8 stays as it is.
fn decoded(key: &str) -> String {
    let bytes = key.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = |i: usize| bytes.get(i).and_then(|b| (*b as char).to_digit(16));
        match (bytes[at], hex(at + 1), hex(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high << 4 | low) as u8);
                at += 2;
            }
            (b'+', ..) => out.push(b' '),
            (byte, ..) => out.push(byte),
        }
        at += 1;
    }
    String::from_utf8(out).unwrap_or_else(|_| key.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_servers_take_for_the_same_is_the_same() {
        for key in [
            "what is nitrogen",
            "What  is Nitrogen ",
            "what%20is%20nitrogen",
            "what+is+nitrogen",
        ] {
            assert_eq!(normalised(key), "what is nitrogen", "{key}");
        }
        assert_ne!(normalised("what is nitrogen"), normalised("what is oxygen"));
        assert_eq!(normalised("100%"), "100%");
        assert_eq!(normalised("%ff"), "%ff");
    }
}

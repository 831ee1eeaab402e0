//! The keys that an endpoint asks for, and how likely each of them is.

use std::collections::{BTreeMap, BTreeSet};

use slowpath_core::scenario::{Endpoint, Part, Pick, Pool, Scenario, Template};

use crate::occupancy::Keys;

/// More keys than this are counted and not named: that many are not written by hand, and a key
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
        let ways = combinations(scenario, endpoint);
        match (&endpoint.key, ways) {
            (Some(key), Combinations::Listed(all)) => Self::named(scenario, endpoint, key, &all),
            (Some(key), Combinations::InOrder(_, all)) => {
                let p = 1.0 / all.len() as f64;
                let all: Vec<(Picks, f64)> = all.into_iter().map(|picks| (picks, p)).collect();
                let mut space = Self::named(scenario, endpoint, key, &all);
                space.keys = space.keys.map(Keys::in_order);
                space
            }
            (_, Combinations::Counted(keys, None)) => Self::empty(Some(Keys::uniform(keys as f64))),
            (_, Combinations::Counted(keys, Some(pool))) => {
                let pool = &scenario.pools[pool];
                let keys = match &pool.weights {
                    Some(weights) => Keys::weighted(&above_zero(weights)),
                    None => Keys::uniform(keys as f64),
                };
                let ordered = pool.pick != Pick::Random;
                Self::empty(Some(if ordered { keys.in_order() } else { keys }))
            }
            _ => Self::empty(None),
        }
    }

    fn empty(keys: Option<Keys>) -> Self {
        Self {
            keys,
            named: BTreeMap::new(),
            requests: BTreeMap::new(),
            entries: BTreeMap::new(),
        }
    }

    fn named(
        scenario: &Scenario,
        endpoint: &Endpoint,
        key: &Template,
        all: &[(Picks, f64)],
    ) -> Self {
        let mut named: BTreeMap<String, f64> = BTreeMap::new();
        let mut requests = BTreeMap::new();
        let mut entries = BTreeMap::new();
        // What is drawn but not part of the key makes requests that cannot be listed.
        let drawn = |pool| all.iter().all(|(picks, _)| picks.contains_key(&pool));
        let listed = endpoint.texts().iter().all(|text| text.pools().all(drawn));
        for (picks, p) in all {
            let key = text_of(scenario, key, picks);
            *named.entry(key.clone()).or_default() += p;
            if listed {
                let written = written(scenario, endpoint, picks);
                let names = [normalised(&written), entry(scenario, endpoint, picks)];
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
}

/// How an endpoint's key is drawn.
#[derive(Debug, Clone)]
pub(crate) enum Combinations {
    /// Every request has a key of its own.
    Own,
    /// All the ways there are, with their probabilities.
    Listed(Vec<(Picks, f64)>),
    /// All the rows of this pool, given out in the order written.
    InOrder(usize, Vec<Picks>),
    /// Too many ways to list: how many there are, and the pool if they are its rows.
    Counted(u64, Option<usize>),
}

/// The ways to draw the pools in an endpoint's key.
pub(crate) fn combinations(scenario: &Scenario, endpoint: &Endpoint) -> Combinations {
    let Some(key) = endpoint.key.as_ref().filter(|key| !key.is_unique()) else {
        return Combinations::Own;
    };
    let leader = |pool: usize| scenario.pools[pool].same_row_as.unwrap_or(pool);
    let leaders: BTreeSet<usize> = key.pools().map(leader).collect();
    let rows = |pool: &usize| scenario.pools[*pool].values.len() as u64;
    let n = leaders.iter().map(rows).fold(1, u64::saturating_mul);
    let only = leaders.first().filter(|_| leaders.len() == 1).copied();
    if n > MOST_NAMED as u64 {
        return Combinations::Counted(n, only);
    }
    let chances: BTreeMap<usize, Vec<f64>> = leaders
        .iter()
        .map(|&leader| (leader, chances(&scenario.pools[leader])))
        .collect();
    let one = |mut number: u64| {
        let mut picks = Picks::new();
        let mut p = 1.0;
        for leader in &leaders {
            let row = (number % rows(leader)) as usize;
            number /= rows(leader);
            p *= chances[leader][row];
            let columns = scenario.pools.iter().enumerate();
            let same = columns.filter(|(i, pool)| i == leader || pool.same_row_as == Some(*leader));
            picks.extend(same.map(|(i, _)| (i, row)));
        }
        (picks, p)
    };
    let all = (0..n).map(one);
    match only {
        Some(only) if scenario.pools[only].pick != Pick::Random => {
            Combinations::InOrder(only, all.map(|(picks, _)| picks).collect())
        }
        _ => Combinations::Listed(all.filter(|(_, p)| *p > 0.0).collect()),
    }
}

/// How likely each row of a pool is.
fn chances(pool: &Pool) -> Vec<f64> {
    let rows = pool.values.len();
    match &pool.weights {
        Some(weights) => {
            let sum: f64 = weights.iter().sum();
            weights.iter().map(|weight| weight / sum).collect()
        }
        None => vec![1.0 / rows as f64; rows],
    }
}

fn above_zero(weights: &[f64]) -> Vec<f64> {
    weights.iter().copied().filter(|w| *w > 0.0).collect()
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
pub(crate) fn text_of(scenario: &Scenario, template: &Template, picks: &Picks) -> String {
    let part = |part: &Part| match part {
        Part::Literal(text) => text.clone(),
        Part::Pool(pool) => scenario.pools[*pool].values[picks[pool]].to_owned(),
        // A key that names them is the same for all requests of a run.
        // A user's own variable has one value, as it does within a session.
        Part::Port
        | Part::ServicePort(_)
        | Part::ServiceHost(_)
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
    use crate::checks::trial::scenario;

    fn pooled(pools: &[&str]) -> Scenario {
        let named = pools.iter().map(|name| format!("{{{name}}}"));
        let path: Vec<String> = named.collect();
        let lists: Vec<String> = pools
            .iter()
            .map(|name| format!("{name} = [\"x\", \"y\", \"z\"]\n"))
            .collect();
        scenario(&format!(
            "[pools]\n{}[[endpoint]]\nname = \"e\"\nrequest = \"GET /{}\"\n",
            lists.concat(),
            path.join("/")
        ))
    }

    fn space(scenario: &Scenario) -> KeySpace {
        KeySpace::of(scenario, &scenario.endpoints[0])
    }

    fn count(space: &KeySpace) -> f64 {
        space.keys.as_ref().map_or(0.0, Keys::count)
    }

    #[test]
    fn pools_multiply_and_columns_do_not() {
        let mut scenario = pooled(&["a", "b"]);
        assert!((count(&space(&scenario)) - 9.0).abs() < 1e-9);
        scenario.pools[1].same_row_as = Some(0);
        let columns = space(&scenario);
        let keys: Vec<&str> = columns.named.keys().map(String::as_str).collect();
        assert_eq!(keys, ["x/x", "y/y", "z/z"]);
        assert_eq!(
            columns.requests.len(),
            3,
            "the other column follows from the row"
        );
    }

    #[test]
    fn weights_and_order_are_those_of_the_pool() {
        let mut scenario = pooled(&["a"]);
        scenario.pools[0].weights = Some(vec![3.0, 1.0, 0.0]);
        let weighted = space(&scenario);
        assert!((weighted.named["x"] - 0.75).abs() < 1e-12);
        assert_eq!(
            weighted.named.len(),
            2,
            "what has no weight is never requested"
        );
        scenario.pools[0].weights = None;
        scenario.pools[0].pick = Pick::Sequence;
        let touched = space(&scenario).keys.map(|keys| keys.touched(2.0));
        assert_eq!(touched, Some(2.0));
    }

    #[test]
    fn too_many_to_list_are_counted() {
        let mut scenario = pooled(&["a", "b"]);
        for pool in &mut scenario.pools {
            pool.values = (0..1000).map(|i| i.to_string()).collect();
        }
        let counted = space(&scenario);
        assert!((count(&counted) - 1e6).abs() < 1e-3);
        assert!(counted.named.is_empty());
    }

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

//! What a simulated server remembers: entries of a cache, which request holds a key, how often it was asked for.

use std::collections::HashMap;

use rand_chacha::ChaCha8Rng;
use serde::Deserialize;
use slowpath_core::nanos::SECOND;
use slowpath_core::plan::unit;

use super::dist::{Dist, Time};
use super::request::{Asks, Request, Step};
use super::spec::{Case, When};

/// What requests ask for. Each is for a key, and the key's number is its size.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Keys {
    pub(crate) count: u32,
    /// Exponent of Zipf's law; 0 asks for all alike.
    #[serde(default)]
    pub(crate) skew: f64,
    /// What an entry of the cache takes that is not there; there is no cache without it.
    pub(crate) miss: Option<Dist>,
    /// How long an entry lives once it was filled; for ever without it.
    pub(crate) ttl: Option<Time>,
    /// Whether its life is counted in whole seconds that have begun, as nginx does.
    #[serde(default)]
    pub(crate) whole_seconds: bool,
    /// Whether each use prolongs its life.
    #[serde(default)]
    pub(crate) sliding: bool,
    /// Whether a request that comes in that time waits for the first, and does not fill it again.
    #[serde(default)]
    pub(crate) single_flight: bool,
    /// What a miss takes longer that finds its key being filled.
    pub(crate) crowded: Option<Time>,
    /// Whether all entries are there in the beginning, until they expire.
    #[serde(default)]
    pub(crate) filled: bool,
    /// How many entries there is room for; the one least recently used makes room.
    pub(crate) room: Option<usize>,
    /// How long a request has its key for itself.
    pub(crate) exclusive: Option<Dist>,
    /// What a request takes longer for each 1 of its key's number, before the first byte …
    pub(crate) scans: Option<Time>,
    /// … and after it.
    pub(crate) transfers: Option<Time>,
    /// Bytes of the answer for each 1 of its key's number.
    #[serde(default)]
    pub(crate) bytes: u64,
    /// The first key takes longer, always …
    pub(crate) heavy: Option<Dist>,
    /// … or those from this one on …
    pub(crate) heavy_from: Option<u32>,
    /// … and only in these stretches of time.
    pub(crate) heavy_when: Option<When>,
}

/// What changes with the number of requests, or with the time since the server's start.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Grows {
    /// From so many requests on …
    pub(crate) at: Option<u64>,
    /// … or so long after the start …
    pub(crate) after: Option<Time>,
    /// … each takes longer …
    pub(crate) by: Option<Dist>,
    /// … or is answered wrongly, this share of them.
    #[serde(default)]
    pub(crate) wrong: f64,
    /// The status of those; 200 with a body that is not what was asked for without it.
    pub(crate) status: Option<u16>,
    /// With more requests than this under way, work is dropped: an answer comes at once, and
    /// nothing is in it.
    pub(crate) busy: Option<u32>,
    /// What each request takes longer for every one before it.
    pub(crate) each: Option<Time>,
    /// What the first requests take longer, which is gone …
    pub(crate) cold: Option<Dist>,
    /// … by a factor of e in this time.
    pub(crate) warms_in: Option<Time>,
    /// What the first request of a connection takes longer.
    pub(crate) first: Option<Dist>,
}

impl Keys {
    pub(crate) fn names(&self) -> Vec<String> {
        (1..=self.count).map(|k| k.to_string()).collect()
    }
}

#[derive(Clone, Copy, Default)]
struct Entry {
    /// The ends of its fillings.
    filled: u64,
    used: u64,
    free: u64,
    is_there: bool,
}

/// The state of one server.
pub(super) struct Memory<'a> {
    keys: Option<&'a Keys>,
    grows: Option<&'a Grows>,
    begin: u64,
    entries: HashMap<u32, Entry>,
    /// Shares of the keys, summed up.
    shares: Vec<f64>,
    asked: u64,
}

impl<'a> Memory<'a> {
    pub(super) fn of(case: &'a Case, begin: u64) -> Option<Self> {
        if case.keys.is_none() && case.grows.is_none() {
            return None;
        }
        let keys = case.keys.as_ref();
        let weights = keys.into_iter().flat_map(|keys| {
            let weight = |k: u32| (1.0 + f64::from(k)).powf(-keys.skew);
            (0..keys.count).map(weight)
        });
        let sums = weights.scan(0.0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        });
        let mut memory = Self {
            keys,
            grows: case.grows.as_ref(),
            begin,
            entries: HashMap::new(),
            shares: sums.collect(),
            asked: 0,
        };
        if let Some(keys) = keys.filter(|keys| keys.filled) {
            let entry = Entry {
                filled: begin,
                used: begin,
                is_there: true,
                ..Entry::default()
            };
            memory.entries = (0..keys.count).map(|k| (k, entry)).collect();
        }
        Some(memory)
    }

    /// Adds what the request meets, sent at that time, to what it does.
    pub(super) fn meets(&mut self, request: &mut Request, sent: u64, random: &mut ChaCha8Rng) {
        let at = request
            .steps
            .iter()
            .position(|s| matches!(s, Step::FirstByte));
        let at = at.expect("every request has a first byte");
        let busy = self.grows.and_then(|grows| grows.busy);
        if busy.is_some_and(|busy| request.sample.in_flight > busy) {
            request.is_wrong = true;
            request.steps.drain(..at);
            return;
        }
        let mut before = self.of_growth(request, sent, random);
        let mut behind = 0;
        if let Some(keys) = self.keys {
            let draw = unit(random) * self.shares.last().copied().unwrap_or_default();
            let key = self.shares.partition_point(|&sum| sum <= draw) as u32;
            let key = key.min(keys.count - 1);
            request.sample.key = key;
            let number = u64::from(key) + 1;
            request.bytes += keys.bytes * number;
            before += self.of_key(keys, key, sent, random);
            before += keys.scans.map_or(0, |each| each.0 * number);
            behind += keys.transfers.map_or(0, |each| each.0 * number);
            let is_heavy = keys.heavy_from.map_or(key == 0, |from| key >= from);
            if is_heavy && keys.heavy_when.is_none_or(|when| when.holds(sent)) {
                before += keys.heavy.map_or(0, |dist| dist.draw(random));
            }
        }
        let call = |ns| Step::Call {
            name: "futex:untimed".to_owned(),
            ns,
            asks: Asks::Nobody,
        };
        if behind > 0 {
            request.steps.insert(at + 1, call(behind));
        }
        if before > 0 {
            request.steps.insert(at, call(before));
        }
    }

    fn of_growth(&mut self, request: &mut Request, sent: u64, random: &mut ChaCha8Rng) -> u64 {
        let index = self.asked;
        self.asked += 1;
        let Some(grows) = self.grows else { return 0 };
        let since = sent - self.begin;
        let mut ns = grows.each.map_or(0, |each| each.0 * index);
        let is_full = grows.at.is_some_and(|at| index >= at)
            || grows.after.is_some_and(|after| since >= after.0);
        if is_full {
            ns += grows.by.map_or(0, |by| by.draw(random));
            request.is_wrong = unit(random) < grows.wrong;
            request.refusal = grows.status;
        }
        if let (Some(cold), Some(warms)) = (grows.cold, grows.warms_in) {
            let left = (-(since as f64) / warms.0 as f64).exp();
            ns += (cold.draw(random) as f64 * left) as u64;
        }
        if request.sample.index_on_connection == 0 {
            ns += grows.first.map_or(0, |first| first.draw(random));
        }
        ns
    }

    fn of_key(&mut self, keys: &Keys, key: u32, sent: u64, random: &mut ChaCha8Rng) -> u64 {
        let mut entry = self.entries.get(&key).copied().unwrap_or_default();
        let mut ns = 0;
        if let Some(hold) = keys.exclusive {
            let begin = entry.free.max(sent);
            entry.free = begin + hold.draw(random);
            ns += entry.free - sent;
        }
        if let Some(miss) = keys.miss {
            let since = if keys.sliding {
                entry.used
            } else {
                entry.filled
            };
            let tick = |at: u64| {
                if keys.whole_seconds {
                    at / SECOND * SECOND
                } else {
                    at
                }
            };
            let lives = keys.ttl.is_none_or(|ttl| tick(sent) < tick(since) + ttl.0);
            let is_filling = entry.is_there && entry.filled > sent;
            if is_filling && keys.single_flight {
                ns += entry.filled - sent;
            } else if is_filling || !(entry.is_there && lives) {
                let crowd = if is_filling { keys.crowded } else { None };
                let took = miss.draw(random) + crowd.map_or(0, |more| more.0);
                // A request that fills it again while it is filled does not bring it back later.
                entry.filled = if is_filling {
                    entry.filled
                } else {
                    sent + took
                };
                ns += took;
            }
            entry.is_there = true;
            entry.used = sent + ns;
        }
        self.entries.insert(key, entry);
        self.make_room(keys);
        ns
    }

    fn make_room(&mut self, keys: &Keys) {
        let Some(room) = keys.room else { return };
        while self.entries.len() > room {
            let oldest = self.entries.iter().min_by_key(|(key, e)| (e.used, **key));
            let oldest = *oldest.expect("there are some").0;
            self.entries.remove(&oldest);
        }
    }
}

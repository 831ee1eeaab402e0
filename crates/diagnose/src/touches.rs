//! Requests for keys, each with what had become of its key before.

use std::collections::BTreeMap;

use slowpath_core::nanos::{Span, scaled};
use slowpath_core::sample::{NONE, Outcome, Stage};
use slowpath_core::samples::SampleRef;

use crate::case::{Case, EndpointCase};
use crate::factors::{Factor, factors};
use crate::verdict::Claim;

/// Requests that are examined, of each endpoint: enough for any constant that a run can show, and
/// little beside ten million.
const MOST: usize = 300_000;
/// Stretches of time that a repeat is cut into, the halves of what is learned and tested: more
/// than one stall would spoil.
const BLOCKS: u64 = 20;

/// A tenth of what a request waited for before its end is too late to wait for the same: ends of what
/// waits at one gate scatter by as much.
const LATE: u64 = 10;

/// Slow requests that have less than this share of what slow ones have in the median, each counted by its
/// excess, fill no entry, and are not distinguished from fast ones: fillings of one kind differ by less than ten times …
const TRIFLE: f64 = 0.1;
/// … if all of them have no more than this share of the excess: with more, it is not known what they are.
const TRIFLES: f64 = 0.02;

/// One request for a key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    /// Its position in the record's samples.
    pub(crate) sample: u32,
    pub(crate) key: u32,
    pub(crate) sent: u64,
    pub(crate) done: u64,
    /// What it took beyond the fast class; 0 if it was not slow.
    pub(crate) excess_ns: u64,
    /// Its latency.
    pub(crate) took_ns: u64,
    pub(crate) is_measured: bool,
    /// The stretch of time.
    pub(crate) block: u32,
    /// How many requests for the key were answered before it was sent.
    pub(crate) before: u32,
    /// Of these, fast ones since the last slow one.
    pub(crate) hits: u32,
    /// Since its entry was filled: the end of the latest slow request for the key; where several
    /// were slow at once, of the first of these. `None` if there was none.
    pub(crate) age_ns: Option<u64>,
    /// The same, where several were slow at once, of the last of these.
    pub(crate) last_age_ns: Option<u64>,
    /// Since the end of the latest request for the key.
    pub(crate) rest_ns: Option<u64>,
    /// Requests for the key under way when it was sent.
    pub(crate) beside: u32,
    /// Whether one of these turned out to be slow, and none that began with it had ended: it came
    /// while the key's entry was being filled, if that is what took so long.
    pub(crate) follows: bool,
}

impl Touch {
    pub(crate) const fn is_slow(&self) -> bool {
        self.excess_ns > 0
    }

    /// What it took too long.
    pub(crate) fn claim(&self, case: &Case<'_>) -> Claim {
        let span = case.sample(self.sample).span();
        Claim {
            sample: self.sample,
            span: Span::new(span.end.minus(self.excess_ns.min(span.len_ns())), span.end),
        }
    }
}

/// The requests of one endpoint for keys, in the order in which they were sent.
#[derive(Debug)]
pub(crate) struct Touches {
    pub(crate) all: Vec<Touch>,
    /// How many different keys there are.
    pub(crate) keys: usize,
    /// From which latency on a request is slow.
    cut_ns: u64,
}

/// What the entry of a cache is for, of the requests that may share one.
#[derive(Clone, Copy)]
pub(crate) enum EntryFor<'f> {
    /// A key.
    Key,
    /// A value of one factor of the key.
    Value(&'f Factor),
    /// The endpoint: all of its requests share the one entry.
    Endpoint,
}

impl EntryFor<'_> {
    /// The number of the entry that a request asks for; `None` if it asks for none.
    fn number(self, request: SampleRef<'_>) -> Option<u32> {
        let key = Some(request.key()).filter(|&key| key != NONE);
        match self {
            Self::Key => key,
            Self::Value(factor) => factor.value_of(key?),
            Self::Endpoint => Some(0),
        }
    }
}

impl Touches {
    /// The warm-up belongs to them: what it filled is there. `None` without keys, or if none is slow.
    pub(crate) fn of(case: &Case<'_>, endpoint: &EndpointCase) -> Option<Self> {
        Self::without(case, endpoint, EntryFor::Key, &[])
    }

    /// Looks for the best answer of those that the requests give by what else than the whole key entries may be for: each factor
    /// of it, and the endpoint, of which only a trace shows that an entry is filled.
    pub(crate) fn best_otherwise<T>(
        case: &Case<'_>,
        endpoint: &EndpointCase,
        answer: impl Fn(&Self) -> Option<T>,
        worth: impl Fn(&T) -> f64,
    ) -> Option<(Self, T)> {
        let factors = factors(case, endpoint);
        // One factor is the key.
        let of_factors = factors.iter().filter(|_| factors.len() > 1);
        let of_endpoint = case.inside().map(|_| EntryFor::Endpoint);
        let entries = of_factors.map(EntryFor::Value).chain(of_endpoint);
        let answers = entries.filter_map(|entry| {
            let touches = Self::without(case, endpoint, entry, &[])?;
            let answer = answer(&touches)?;
            Some((touches, answer))
        });
        answers.max_by(|a, b| worth(&a.1).total_cmp(&worth(&b.1)))
    }

    /// Requests by what their entries are for, where some are slow for a reason that has to do with no entry: those at these
    /// positions, ascending.
    pub(crate) fn without(
        case: &Case<'_>,
        endpoint: &EndpointCase,
        entry: EntryFor<'_>,
        otherwise: &[u32],
    ) -> Option<Self> {
        let fast_ns = endpoint.split.fast_ns?;
        let cut_ns = endpoint.split.cut_ns?;
        let timed_out = endpoint.failed.iter().filter(|&&i| {
            // A request that timed out for an entry has waited for it.
            case.sample(i).outcome() == Outcome::Timeout
        });
        let most = MOST / case.record.manifest.repeats.len().max(1);
        let of = |&sample: &u32| touch(case, sample, entry, (fast_ns, cut_ns));
        let completed = endpoint.completed.iter().filter_map(of);
        let mut all = first_of_each(case, completed, most);
        all.extend(endpoint.warmed_up.iter().chain(timed_out).filter_map(of));
        if all.is_empty() {
            return None;
        }
        all.sort_unstable_by_key(|t| (t.sent, t.sample));
        let mut all = first_of_each(case, all.into_iter(), most);
        for touch in &mut all {
            if otherwise.binary_search(&touch.sample).is_ok() {
                touch.excess_ns = 0;
            }
        }
        let trifle_ns = trifle_ns(all.iter().map(|t| t.excess_ns).collect());
        for touch in all.iter_mut().filter(|t| t.excess_ns < trifle_ns) {
            touch.excess_ns = 0;
        }
        let mut touches = Self {
            all,
            keys: 0,
            cut_ns,
        };
        touches.tell_histories(case);
        Some(touches)
    }

    fn tell_histories(&mut self, case: &Case<'_>) {
        let restarts = case.restarts();
        let mut histories: BTreeMap<(u16, u32), History> = BTreeMap::new();
        for touch in &mut self.all {
            let repeat = if restarts {
                case.sample(touch.sample).repeat()
            } else {
                0
            };
            let history = histories.entry((repeat, touch.key)).or_default();
            history.meet(touch);
        }
        let mut keys: Vec<u32> = histories.keys().map(|&(_, key)| key).collect();
        keys.sort_unstable();
        keys.dedup();
        self.keys = keys.len();
    }

    /// Those of other keys that were sent while a request was under way.
    pub(crate) fn beside(&self, position: usize) -> impl Iterator<Item = &Touch> {
        let of = self.all[position];
        self.during(position).filter(move |t| t.key != of.key)
    }

    /// All that were sent while a request was under way, itself left out, and early enough to be
    /// slow if they wait for the same: one that comes just before the entry is filled is fast.
    pub(crate) fn during(&self, position: usize) -> impl Iterator<Item = &Touch> {
        let of = self.all[position];
        let last = of.done - self.cut_ns.max(of.excess_ns / LATE).min(of.done);
        let rest = self.all[position + 1..].iter();
        rest.take_while(move |t| t.sent < last)
    }
}

/// Up to which excess slow requests are no matter beside the others: a host that hiccups for a millisecond
/// fills no entry, and would seem to, where filling one takes a hundred.
fn trifle_ns(mut excess_ns: Vec<u64>) -> u64 {
    excess_ns.sort_unstable();
    let total: u64 = excess_ns.iter().sum();
    let mut sum = 0;
    let median = excess_ns.iter().find(|&&ns| {
        sum += ns;
        2 * sum >= total
    });
    let at = median.map_or(0, |&ns| (ns as f64 * TRIFLE) as u64);
    let below: u64 = excess_ns.iter().take_while(|&&ns| ns < at).sum();
    if below as f64 <= TRIFLES * total as f64 {
        at
    } else {
        0
    }
}

/// What became of a key.
#[derive(Default)]
struct History {
    /// Requests under way: end, and the stampede that it belongs to if it is slow.
    active: Vec<(u64, Option<u32>)>,
    answered: u32,
    hits: u32,
    /// The stampede whose end came last, with its first and its last end.
    filled: Option<(u32, u64, u64)>,
    /// The stampede that has begun, and of which none has ended.
    open: Option<u32>,
    herds: u32,
    used: Option<u64>,
}

impl History {
    fn meet(&mut self, touch: &mut Touch) {
        let mut ended: Vec<(u64, Option<u32>)> = Vec::new();
        self.active.retain(|&one| {
            let is_over = one.0 <= touch.sent;
            if is_over {
                ended.push(one);
            }
            !is_over
        });
        ended.sort_unstable();
        for (end, herd) in ended {
            self.ends(end, herd);
        }
        touch.before = self.answered;
        touch.hits = self.hits;
        touch.age_ns = self.filled.map(|(_, first, _)| touch.sent - first);
        touch.last_age_ns = self.filled.map(|(.., last)| touch.sent - last);
        touch.rest_ns = self.used.map(|at| touch.sent - at);
        touch.beside = self.active.len() as u32;
        touch.follows = self.open.is_some();
        if touch.is_slow() && self.open.is_none() {
            self.herds += 1;
            self.open = Some(self.herds);
        }
        let own = self.open.filter(|_| touch.is_slow());
        self.active.push((touch.done, own));
    }

    /// A request for the key has ended.
    fn ends(&mut self, end: u64, herd: Option<u32>) {
        self.answered += 1;
        self.used = self.used.max(Some(end));
        let Some(herd) = herd else {
            self.hits += 1;
            return;
        };
        self.hits = 0;
        self.open = self.open.filter(|&open| open != herd);
        self.filled = match self.filled {
            Some((latest, first, last)) if latest >= herd => Some((latest, first, last.max(end))),
            _ => Some((herd, end, end)),
        };
    }
}

fn touch(
    case: &Case<'_>,
    sample: u32,
    entry: EntryFor<'_>,
    (fast_ns, cut_ns): (u64, u64),
) -> Option<Touch> {
    let request = case.sample(sample);
    let latency_ns = request.latency_ns();
    let sent = request.sent()?.get();
    let is_slow = latency_ns >= cut_ns;
    let window = case.windows.get(usize::from(request.repeat()))?;
    let into_ns = request.scheduled().since(window.begin);
    let block = scaled(into_ns, BLOCKS, window.len_ns().max(1)).min(BLOCKS - 1);
    let key = entry.number(request)?;
    Some(Touch {
        sample,
        key,
        sent,
        done: request.done().get(),
        excess_ns: if is_slow {
            latency_ns.saturating_sub(fast_ns)
        } else {
            0
        },
        took_ns: latency_ns,
        is_measured: request.stage() == Stage::Measured,
        block: (u64::from(request.repeat()) * BLOCKS + block) as u32,
        before: 0,
        hits: 0,
        age_ns: None,
        last_age_ns: None,
        rest_ns: None,
        beside: 0,
        follows: false,
    })
}

/// The first of each repeat, so many of them: a history without holes.
fn first_of_each(case: &Case<'_>, all: impl Iterator<Item = Touch>, most: usize) -> Vec<Touch> {
    let mut counts: BTreeMap<u16, usize> = BTreeMap::new();
    let is_first = |touch: &Touch| {
        let count = counts
            .entry(case.sample(touch.sample).repeat())
            .or_default();
        *count += 1;
        *count <= most
    };
    all.filter(is_first).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hiccups_beside_fillings_are_trifles_and_a_broad_tail_has_none() {
        let fillings = vec![100, 120, 90, 300, 25, 30];
        let with = |more: &[u64]| trifle_ns([fillings.as_slice(), more].concat());
        assert_eq!(with(&[]), 12);
        assert_eq!(with(&[1, 2, 0, 0]), 12);
        // Together they are a part of what is slow.
        assert_eq!(with(&[10; 9]), 0);
        assert_eq!(trifle_ns(Vec::new()), 0);
    }
}

//! What a recurring constant may be made of: timers that the user declared and quanta that are
//! built into systems, alone, several times or added up.
//!
//! An explanation is a hint. With enough timers any constant is the sum of some, so each comes
//! with the chance that a random constant would have been explained as well and as simply.

use serde::{Deserialize, Serialize};

/// A quantum that is built into a system.
#[derive(Clone, Copy, Debug)]
pub struct Quantum {
    /// What it is.
    pub name: &'static str,
    /// How long, in nanoseconds.
    pub ns: u64,
    /// How often it may recur within one request.
    pub times: u32,
    /// Where its length is written.
    pub source: &'static str,
}

const MS: u64 = 1_000_000;

const fn quantum(name: &'static str, ms: u64, times: u32, source: &'static str) -> Quantum {
    Quantum {
        name,
        ns: ms * MS,
        times,
        source,
    }
}

/// Known quanta. Those of back-off are sums from the first try on, as a request sees them.
pub const QUANTA: &[Quantum] = &[
    quantum("tick at 1000 Hz", 1, 1, "Linux kernel/Kconfig.hz"),
    quantum("tick at 250 Hz", 4, 1, "Linux kernel/Kconfig.hz"),
    quantum("tick at 100 Hz", 10, 1, "Linux kernel/Kconfig.hz"),
    quantum(
        "delayed ACK",
        40,
        12,
        "Linux include/net/tcp.h, TCP_DELACK_MIN",
    ),
    quantum(
        "period of a CPU quota",
        100,
        12,
        "Linux Documentation/admin-guide/cgroup-v2.rst, cpu.max",
    ),
    quantum(
        "retransmission",
        200,
        1,
        "Linux include/net/tcp.h, TCP_RTO_MIN",
    ),
    quantum(
        "retransmission, second",
        600,
        1,
        "RFC 6298, 5.5: 200 + 400 ms",
    ),
    quantum(
        "retransmission, third",
        1400,
        1,
        "RFC 6298, 5.5: 200 + 400 + 800 ms",
    ),
    quantum("lost SYN", 1000, 1, "RFC 6298, 2.1"),
    quantum("two lost SYNs", 3000, 1, "RFC 6298, 5.5: 1 + 2 s"),
    quantum("three lost SYNs", 7000, 1, "RFC 6298, 5.5: 1 + 2 + 4 s"),
    quantum("unanswered DNS query", 5000, 2, "resolv.conf(5), timeout"),
];

/// How often a declared timer may recur within one request: a poll that is missed again and
/// again.
const DECLARED_TIMES: u32 = 12;

/// Largest chance of an explanation that is more than a possibility.
pub const LARGEST_P: f64 = 0.05;

/// Explanations given at most; a constant with more has none.
const MOST: usize = 5;

/// Explanations are counted, for the chance, within this factor to either side of the constant.
const NEIGHBOURHOOD: f64 = 2.0;

/// A constant of the system under test that its user declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared<'a> {
    /// Its name.
    pub name: &'a str,
    /// How long, in nanoseconds.
    pub ns: u64,
}

/// One timer of an explanation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Term {
    /// The timer's name.
    pub name: String,
    /// How often.
    pub times: u32,
    /// How long once, in nanoseconds.
    pub ns: u64,
    /// Where the length of a known quantum is written; `None` for a declared timer.
    pub source: Option<String>,
}

/// One way to make up a constant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// One or two timers.
    pub terms: Vec<Term>,
    /// What they add up to, in nanoseconds.
    pub sum_ns: u64,
    /// The constant less the sum, in nanoseconds.
    pub off_ns: f64,
    /// Chance that a random constant would be explained at least as simply and as closely.
    pub p: f64,
}

/// A timer, declared or known.
#[derive(Clone, Copy)]
struct Timer<'a> {
    name: &'a str,
    ns: u64,
    most: u32,
    source: Option<&'static str>,
}

/// A sum of timers and how far-fetched it is.
struct Candidate<'a> {
    terms: Vec<(Timer<'a>, u32)>,
    sum_ns: u64,
    class: u32,
}

/// What a constant may be made of, within `tolerance_ns`: the least fortuitous first, five at
/// most. Some fit nearly always; see [`Explanation::is_remarkable`].
///
/// The tolerance is what the constant is uncertain by: its interval, or the width of its mode.
/// A base that every request takes must have been subtracted: what recurs is what is added.
pub fn explain(constant_ns: f64, tolerance_ns: f64, declared: &[Declared]) -> Vec<Explanation> {
    let all = candidates(declared);
    let mut found: Vec<Explanation> = all
        .iter()
        .filter(|candidate| (constant_ns - candidate.sum_ns as f64).abs() <= tolerance_ns)
        .map(|candidate| Explanation {
            terms: candidate
                .terms
                .iter()
                .map(|&(timer, times)| timer.term(times))
                .collect(),
            sum_ns: candidate.sum_ns,
            off_ns: constant_ns - candidate.sum_ns as f64,
            p: by_chance(&all, candidate.class, constant_ns, tolerance_ns),
        })
        .collect();
    found.sort_by(|a, b| {
        let closeness = || a.off_ns.abs().total_cmp(&b.off_ns.abs());
        a.p.total_cmp(&b.p).then_with(closeness)
    });
    found.truncate(MOST);
    found
}

impl Explanation {
    /// Whether so good and simple a fit is rare enough to be said without a "perhaps".
    pub fn is_remarkable(&self) -> bool {
        self.p <= LARGEST_P
    }
}

impl Timer<'_> {
    fn term(&self, times: u32) -> Term {
        Term {
            name: self.name.to_owned(),
            times,
            ns: self.ns,
            source: self.source.map(str::to_owned),
        }
    }
}

/// Chance that at least one candidate of at most this class lies within the tolerance of a random
/// constant: they are taken to lie at random, as densely in the logarithm as they do around here.
fn by_chance(all: &[Candidate], class: u32, constant_ns: f64, tolerance_ns: f64) -> f64 {
    let around = constant_ns / NEIGHBOURHOOD..=constant_ns * NEIGHBOURHOOD;
    let count = all
        .iter()
        .filter(|other| other.class <= class && around.contains(&(other.sum_ns as f64)))
        .count();
    let covered = 2.0 * tolerance_ns / constant_ns;
    let density = count as f64 / (2.0 * NEIGHBOURHOOD.ln());
    -(-density * covered).exp_m1()
}

/// All sums: of declared timers before known quanta, of one before two, of once before often.
fn candidates<'a>(declared: &[Declared<'a>]) -> Vec<Candidate<'a>> {
    let own = declared
        .iter()
        .filter(|timer| timer.ns > 0)
        .map(|timer| Timer {
            name: timer.name,
            ns: timer.ns,
            most: DECLARED_TIMES,
            source: None,
        });
    let known = QUANTA.iter().map(|quantum| Timer {
        name: quantum.name,
        ns: quantum.ns,
        most: quantum.times,
        source: Some(quantum.source),
    });
    let timers: Vec<Timer> = own.chain(known).collect();
    let mut all = Vec::new();
    for (place, &timer) in timers.iter().enumerate() {
        for times in 1..=timer.most {
            all.push(candidate(vec![(timer, times)]));
        }
        for &other in &timers[place + 1..] {
            for times in 1..=timer.most {
                all.push(candidate(vec![(timer, times), (other, 1)]));
            }
            for times in 2..=other.most {
                all.push(candidate(vec![(timer, 1), (other, times)]));
            }
        }
    }
    all
}

fn candidate(terms: Vec<(Timer, u32)>) -> Candidate {
    let sum_ns = terms
        .iter()
        .map(|(timer, times)| timer.ns * u64::from(*times))
        .sum();
    let known = terms
        .iter()
        .filter(|(timer, _)| timer.source.is_some())
        .count() as u32;
    let repeated: u32 = terms.iter().map(|&(_, times)| far_fetched(times)).sum();
    let class = 2 * (terms.len() as u32 - 1) + known + repeated;
    Candidate {
        terms,
        sum_ns,
        class,
    }
}

/// Twice or three times is easily said; eleven times needs a reason.
fn far_fetched(times: u32) -> u32 {
    match times {
        0 | 1 => 0,
        2 | 3 => 1,
        _ => 2,
    }
}

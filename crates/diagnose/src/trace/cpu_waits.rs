//! Requests whose threads are ready to run, and whose CPUs other threads occupy.

use std::collections::{BTreeMap, BTreeSet};

use slowpath_core::trace::Role;

use super::index::Runner;
use super::inside::{Inside, Walked, summed};
use super::looked::{Looked, Picked, claims};
use super::pieces::LeafKind;
use crate::case::{Case, EndpointCase};
use crate::diagnosis::{Evidence, Phase, Place, Source};
use crate::overlap::parts;
use crate::throttling::throttled_spans;
use crate::verdict::{Claim, Verdict, evidence, human, percent};

/// Those who had the CPU are named down to this share of the time.
pub(crate) const NAMED_LEAST: f64 = 0.1;
/// … and no more of them than a person reads.
const NAMED_MOST: usize = 3;
/// From this share of the waits on it is other processes that have the CPUs; below, the server's own
/// threads are in each other's way as much.
const MOSTLY: f64 = 0.5;
/// One of the other processes stands out if it has the CPU for this share of what all of them have:
/// more than all the rest of them together.
const STANDS_OUT: f64 = 0.5;

/// The waits of an endpoint's requests for CPUs that others have: there are some.
pub(crate) struct CpuWaits<'c> {
    pub(crate) looked: Looked<'c>,
    pub(crate) place: Place,
    pub(crate) claims: Vec<Claim>,
    /// Who had the CPUs, by the time, largest part first: whether it is the target's own, and its name.
    pub(crate) who: Vec<((bool, String), f64)>,
    /// The process that stands out among others that have the CPUs, with its share of the waits.
    pub(crate) neighbour: Option<(String, f64)>,
    /// Shares of the requests' time: ready to run, and that with the CPU idle.
    ready: (String, String),
}

impl<'c> CpuWaits<'c> {
    /// The waits, or what is said if none can be named.
    pub(crate) fn of<'r: 'c>(
        case: &'c Case<'r>,
        endpoint: &EndpointCase,
    ) -> Result<CpuWaits<'c>, Box<Verdict>> {
        let looked = Looked::at(case, endpoint)?;
        // A cgroup that has used its quota up is ready to run too, and then the CPU is idle or
        // another process's: that is the throttling's.
        let throttled = throttled_spans(case);
        let mut idle_ns = 0;
        for piece in looked.join.walked.iter().flat_map(|w| &w.pieces) {
            if piece.leaf.kind == LeafKind::Ready(Runner::Idle) {
                idle_ns += piece.len_ns();
            }
        }
        let behind = |of: fn(Runner) -> bool| {
            looked.pick(|_, piece, _| {
                matches!(piece.leaf.kind, LeafKind::Ready(runner) if of(runner))
                    && parts(&throttled, piece.span()).next().is_none()
            })
        };
        let picked = behind(|runner| matches!(runner, Runner::Thread(_)));
        let nobody = behind(|runner| runner == Runner::Unknown);
        let length = |all: &[Picked<'_>]| all.iter().map(|p| p.piece.len_ns()).sum::<u64>();
        let (ready, unknown) = (length(&picked), length(&nobody));
        let claims = claims(&picked);
        let total: u64 = looked
            .join
            .walked
            .iter()
            .map(|w| w.joined.latency_ns())
            .sum();
        let share = |ns: u64| percent(ns as f64 / total.max(1) as f64);
        if unknown > ready {
            return Err(Box::new(who_is_not_known(
                endpoint,
                &looked,
                &nobody,
                &share(unknown),
            )));
        }
        if claims.is_empty() {
            return Err(Box::new(Verdict::Absent(format!(
                "no thread waited for a CPU that another had; for one that was idle, {} of the time",
                share(idle_ns)
            ))));
        }
        if let Some(lead) = looked.too_small(case, endpoint, &claims) {
            return Err(Box::new(lead));
        }
        let place = looked.place(endpoint, &claims);
        let (ours, own) = held_up(&looked, place, &claims);
        if ours >= own {
            return Err(Box::new(ours_too(place, claims, (ours, own))));
        }
        let having = Having::of(looked.inside);
        let who = Looked::shares(&picked, place, |p| having.whose(p));
        Ok(Self {
            neighbour: having.neighbour(&picked, place),
            who,
            place,
            claims,
            ready: (share(ready + unknown + idle_ns), share(idle_ns)),
            looked,
        })
    }

    /// Whether the server's own threads are in each other's way for most of it.
    pub(crate) fn is_own(&self) -> bool {
        let own = self.who.iter().filter(|((own, _), _)| *own);
        own.map(|(_, share)| share).sum::<f64>() >= MOSTLY
    }

    /// Who had the CPUs, in a sentence.
    pub(crate) fn evidence(&self) -> Evidence {
        let named = self
            .who
            .iter()
            .take(NAMED_MOST)
            .filter(|(_, s)| *s >= NAMED_LEAST);
        let named: Vec<String> = named
            .map(|(who, s)| format!("{} {}", in_words(who), percent(*s)))
            .collect();
        let text = format!(
            "the server's threads were ready to run for {} of the requests' time, for {} with the \
             CPU idle; the CPU had {}",
            self.ready.0,
            self.ready.1,
            named.join(", ")
        );
        evidence(Source::Trace, "trace", text)
    }
}

/// A thread, and that it is the server's own if so.
pub(crate) fn in_words((own, name): &(bool, String)) -> String {
    let whose = if *own { "its own thread " } else { "" };
    format!("{whose}{name}")
}

/// The occupants of the CPUs that the server's threads wait for.
struct Having<'a> {
    inside: &'a Inside<'a>,
    /// The CPUs on which threads of the target have run: those that they may have.
    cpus: Vec<u16>,
}

impl<'a> Having<'a> {
    fn of(inside: &'a Inside<'a>) -> Self {
        let threads = inside.trace().threads.iter();
        let own = threads.filter(|thread| role(inside, thread.tid) == Some(Role::Target));
        let offs = own.flat_map(|thread| inside.index.offs(thread.tid, 0, u64::MAX));
        let cpus: BTreeSet<u16> = offs.map(|off| off.cpu).collect();
        Self {
            inside,
            cpus: cpus.into_iter().collect(),
        }
    }

    /// Whose work is in the way in a piece of waiting for a CPU. A thread of the target that has one is not,
    /// where another process has another one that this thread could have had.
    fn thread(&self, p: &Picked<'_>) -> Option<u32> {
        let LeafKind::Ready(Runner::Thread(tid)) = p.piece.leaf.kind else {
            return None;
        };
        let is_own = role(self.inside, tid) == Some(Role::Target);
        let foreign = is_own.then(|| self.foreign_beside(p)).flatten();
        Some(foreign.unwrap_or(tid))
    }

    /// The thread of others that has a CPU for most of that time, if any has.
    fn foreign_beside(&self, p: &Picked<'_>) -> Option<u32> {
        let span = p.piece.span();
        let (begin, end) = (span.begin.get(), span.end.get());
        let runners = self.cpus.iter();
        let runners = runners.flat_map(|&cpu| self.inside.index.runners(cpu, begin, end));
        let foreign = runners.filter_map(|(from, to, runner)| match runner {
            Runner::Thread(tid) if self.is_foreign(tid) => Some((tid, (to - from) as f64)),
            _ => None,
        });
        let foreign: Vec<(u32, f64)> = foreign.collect();
        let all: f64 = foreign.iter().map(|(_, ns)| ns).sum();
        let (tid, _) = summed(foreign.into_iter()).into_iter().next()?;
        (all >= MOSTLY * span.len_ns() as f64).then_some(tid)
    }

    /// Who works for the target is no neighbour, nor is the kernel.
    fn is_foreign(&self, tid: u32) -> bool {
        let own = matches!(
            role(self.inside, tid),
            Some(Role::Target | Role::Tool | Role::Peer)
        );
        !own && !is_kernels(self.inside, tid)
    }

    /// Whether it is the target's own, and its name.
    fn whose(&self, p: &Picked<'_>) -> (bool, String) {
        self.thread(p).map_or((false, String::new()), |tid| {
            let own = role(self.inside, tid) == Some(Role::Target);
            (own, self.inside.thread_name(tid))
        })
    }

    /// The process that has the CPUs for most of the time for which other processes have them, if they have
    /// them for most of the waits. slowpath itself is no neighbour: that is reported elsewhere.
    fn neighbour(&self, picked: &[Picked<'_>], place: Place) -> Option<(String, f64)> {
        let of = |p: &Picked<'_>| {
            let tid = self.thread(p).filter(|&tid| self.is_foreign(tid))?;
            // Processes that had ended before they were asked have no name but their thread's.
            let name = self.inside.process_name(tid);
            Some(if name.is_empty() {
                self.inside.thread_name(tid)
            } else {
                name.to_owned()
            })
        };
        let shares = Looked::shares(picked, place, of);
        let foreign: Vec<(String, f64)> = shares
            .into_iter()
            .filter_map(|(name, share)| Some((name?, share)))
            .collect();
        let all: f64 = foreign.iter().map(|(_, share)| share).sum();
        let (name, share) = summed(foreign.into_iter()).into_iter().next()?;
        (all >= MOSTLY && share >= STANDS_OUT * all).then_some((name, share))
    }
}

/// Whether a thread is one of the kernel's own: those have no executable, and names that it gives them.
fn is_kernels(inside: &Inside<'_>, tid: u32) -> bool {
    const NAMES: &[&str] = &[
        "kworker/",
        "ksoftirqd/",
        "migration/",
        "rcu_",
        "kswapd",
        "kcompactd",
        "jbd2/",
        "irq/",
        "cpuhp/",
    ];
    let name = inside.thread_name(tid);
    inside.process_name(tid).is_empty() && NAMES.iter().any(|own| name.starts_with(own))
}

fn role(inside: &Inside<'_>, tid: u32) -> Option<Role> {
    inside.trace().process_of(tid).map(|process| process.role)
}

/// Threads were ready to run, and the record of the CPUs has holes where they were: a thread may have
/// had the CPU, or none.
fn who_is_not_known(
    endpoint: &EndpointCase,
    looked: &Looked<'_>,
    nobody: &[Picked<'_>],
    share: &str,
) -> Verdict {
    let claims = claims(nobody);
    Verdict::Lead {
        place: looked.place(endpoint, &claims),
        claims,
        missing: format!(
            "who had the CPU while the server's threads were ready to run, for {share} of the \
             requests' time"
        ),
        remedy: "run slowpath as root, or measure again if records were lost".to_owned(),
    }
}

/// slowpath itself is held up for as long.
fn ours_too(place: Place, claims: Vec<Claim>, (ours, own): (f64, f64)) -> Verdict {
    Verdict::Lead {
        place,
        claims,
        missing: format!(
            "a host that leaves slowpath itself alone: requests wait {} for CPUs in the server, and \
             {} on slowpath's side, as others press on both",
            human(own),
            human(ours)
        ),
        remedy: "measure on a calm host, or give each CPUs of its own".to_owned(),
    }
}

/// How long requests are held up on slowpath's own side, and how long they wait for CPUs in the
/// server, in the mean: the slow ones more than the others, or all of them.
fn held_up(looked: &Looked<'_>, place: Place, claims: &[Claim]) -> (f64, f64) {
    let mut ready: BTreeMap<u32, u64> = BTreeMap::new();
    for claim in claims {
        *ready.entry(claim.sample).or_default() += claim.span.len_ns();
    }
    let side = |walked: &Walked| {
        let parts = [Phase::ClientLag, Phase::Response];
        parts
            .iter()
            .map(|&part| walked.joined.part_ns(part))
            .sum::<u64>()
    };
    let own = |walked: &Walked| ready.get(&walked.joined.sample).copied().unwrap_or(0);
    let mean = |of: &dyn Fn(&Walked) -> u64, slow: bool| {
        let all = looked.join.walked.iter();
        let all = all.filter(|walked| place != Place::Tail || walked.slow == slow);
        let (n, sum) = all.fold((0_u64, 0), |(n, sum), walked| (n + 1, sum + of(walked)));
        sum as f64 / n.max(1) as f64
    };
    let more = |of: &dyn Fn(&Walked) -> u64| match place {
        Place::Tail => mean(of, true) - mean(of, false),
        _ => mean(of, true),
    };
    (more(&side), more(&own))
}

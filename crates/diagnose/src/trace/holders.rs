//! The threads that have the locks which requests wait for, weighed together.

use std::collections::{BTreeMap, BTreeSet};

use slowpath_core::trace::NO_STACK;

use super::index::Index;
use super::inside::Inside;
use super::locks::{Held, Proof, held};
use super::looked::{Looked, Picked, claims};
use super::pieces::LeafKind;
use crate::case::{Case, EndpointCase};
use crate::diagnosis::{Evidence, Place, Source};
use crate::verdict::{Verdict, evidence, percent};

/// From this share of the waits for a thread on, what speaks for a lock speaks for the rest of them: it
/// lies in stretches without stacks, or was met when no other thread waited.
const PROVED: f64 = 0.5;
/// A lock is slow to work with if its holder runs for this share of the waits: else it is a CPU
/// that all wait for.
const WORKS: f64 = 0.5;

/// What holders of locks do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// They wait for something themselves.
    Waits,
    /// They run, or would if they had a CPU.
    Works,
}

/// The pieces that requests spent waiting for locks: there are some, and they are distinguished from waits for
/// anything else.
pub(crate) struct Holders<'c> {
    pub(crate) picked: Vec<Picked<'c>>,
    pub(crate) place: Place,
    /// Shares of the picked time, by what speaks for a lock.
    proofs: Vec<(Proof, f64)>,
}

/// The holder that most of the time is spent waiting for.
pub(crate) struct Holder<'c> {
    pub(crate) name: String,
    /// Its share of the picked time.
    pub(crate) share: f64,
    /// How many threads of that name there are among the holders at a time.
    pub(crate) threads: usize,
    pub(crate) picked: Vec<Picked<'c>>,
}

impl<'c> Holders<'c> {
    /// The locks that an endpoint's requests wait for, or what is said if none can be named.
    pub(crate) fn of(
        case: &Case<'_>,
        endpoint: &EndpointCase,
        looked: &Looked<'c>,
        kind: Kind,
    ) -> Result<Self, Box<Verdict>> {
        let inside = looked.inside;
        let mut all = looked.pick(|_, piece, hops| {
            held(hops, &piece.leaf).is_some_and(|held| held.waits == (kind == Kind::Waits))
                && !inside.stops_the_world(hops)
                && (kind == Kind::Waits || !inside.is_kept_by_others(&piece.leaf))
        });
        if kind == Kind::Works {
            only_at_work(&mut all);
        }
        if all.is_empty() {
            let what = match kind {
                Kind::Waits => "waits itself",
                Kind::Works => "works",
            };
            let n = looked.join.walked.len();
            let text = format!("none of {n} requests waited for a lock whose holder {what}");
            return Err(Box::new(Verdict::Absent(text)));
        }
        let claims = claims(&all);
        if let Some(lead) = looked.too_small(case, endpoint, &claims) {
            return Err(Box::new(lead));
        }
        let place = looked.place(endpoint, &claims);
        let picked = proved(inside, &all, place);
        if picked.is_empty() {
            return Err(Box::new(unproved(looked, kind, (place, all))));
        }
        let proofs = Looked::shares(&picked, place, |p| proof(inside, p));
        Ok(Self {
            picked,
            place,
            proofs,
        })
    }

    fn share(&self, of: Proof) -> f64 {
        let own = self.proofs.iter().find(|(proof, _)| *proof == of);
        own.map_or(0.0, |(_, share)| *share)
    }

    /// The holder that most of the time is spent waiting for.
    pub(crate) fn main(&self, looked: &Looked<'c>) -> Holder<'c> {
        main(looked, &self.picked, self.place)
    }

    /// What the trace says of it, in sentences.
    pub(crate) fn evidence(&self, looked: &Looked<'_>, holder: &Holder<'_>) -> Vec<Evidence> {
        let deepest = self.picked.iter().map(|p| p.hops.len() - 1).max();
        let mut touched: Vec<u32> = self.picked.iter().map(|p| p.walked.joined.sample).collect();
        touched.dedup();
        let of = if self.place == Place::Tail {
            "slow requests'"
        } else {
            "requests'"
        };
        let waits = format!(
            "{} of {} followed requests wait for such a lock; {} of the {of} waits lead to \
             {}, through up to {} others",
            touched.len(),
            looked.join.walked.len(),
            percent(holder.share),
            holder.called(),
            deepest.unwrap_or(1) - 1
        );
        let mut why = Vec::new();
        for (proof, text) in [
            (
                Proof::Says,
                "the stack or the lock itself says that it is one",
            ),
            (Proof::HandedOn, "those who wait hand it on to each other"),
        ] {
            let share = self.share(proof);
            if share > 0.0 {
                why.push(format!("{} {text}", percent(share)));
            }
        }
        vec![
            evidence(Source::Trace, "trace", waits),
            evidence(
                Source::Trace,
                "trace",
                format!("of the waits: {}", why.join(", ")),
            ),
        ]
    }
}

impl Holder<'_> {
    /// The thread by its name, which several may share.
    pub(crate) fn called(&self) -> String {
        match self.threads {
            1 => format!("thread {}", self.name),
            n => format!("one of {n} threads called {}", self.name),
        }
    }

    /// Where it stands while it has the lock, most often; empty without stacks.
    pub(crate) fn stack(&self, looked: &Looked<'_>) -> Vec<String> {
        let index = &looked.inside.index;
        looked.stack(&self.picked, |p| {
            let at = p.piece.begin;
            let off = index.offs(holder_of(p), at, at.saturating_add(1)).first();
            let waiting = off.map(|off| off.stack).filter(|&s| s != NO_STACK);
            waiting.or_else(|| Some(p.piece.leaf.stack).filter(|&s| s != NO_STACK))
        })
    }

    /// When its waits ended, each once, in the repeat in which there were most.
    pub(crate) fn ends(&self, looked: &Looked<'_>) -> Vec<u64> {
        let index = &looked.inside.index;
        let end = |p: &Picked<'_>| {
            let at = p.piece.begin;
            let off = index.offs(holder_of(p), at, at.saturating_add(1)).first()?;
            Some((repeat_at(index, at)?, off.end))
        };
        let mut ends: Vec<(u16, u64)> = self.picked.iter().filter_map(end).collect();
        ends.sort_unstable();
        ends.dedup();
        let repeats = ends.chunk_by(|a, b| a.0 == b.0);
        let most = repeats.max_by_key(|repeat| repeat.len());
        most.map_or_else(Vec::new, |most| most.iter().map(|end| end.1).collect())
    }
}

/// The repeat that an instant lies in, of those that were traced.
fn repeat_at(index: &Index<'_>, at: u64) -> Option<u16> {
    let stretches = &index.trace.stretches;
    let behind = stretches.partition_point(|s| s.span.begin.get() <= at);
    Some(stretches.get(behind.checked_sub(1)?)?.repeat)
}

/// The holder that most of the time of such pieces is spent waiting for; there is one.
fn main<'c>(looked: &Looked<'c>, picked: &[Picked<'c>], place: Place) -> Holder<'c> {
    let inside = looked.inside;
    let name = |p: &Picked<'_>| {
        let tid = holder_of(p);
        (inside.thread_name(tid), inside.process_name(tid))
    };
    let shares = Looked::shares(picked, place, name);
    let (own, share) = shares.into_iter().next().unwrap_or_default();
    let picked: Vec<Picked<'c>> = picked.iter().filter(|p| name(p) == own).cloned().collect();
    // What is restarted for each repeat has another thread of that name in each.
    let mut threads: BTreeMap<Option<u16>, BTreeSet<u32>> = BTreeMap::new();
    for one in &picked {
        let repeat = repeat_at(&inside.index, one.piece.begin);
        threads.entry(repeat).or_default().insert(holder_of(one));
    }
    let threads = threads.values().map(BTreeSet::len).max();
    Holder {
        threads: threads.unwrap_or_default(),
        picked,
        name: own.0,
        share,
    }
}

/// Leaves out who is ready to run, if that is most of it.
fn only_at_work(all: &mut Vec<Picked<'_>>) {
    let is_cpu = |p: &Picked<'_>| p.piece.leaf.kind == LeafKind::Cpu;
    let ns = |of: &dyn Fn(&Picked<'_>) -> bool| -> u64 {
        let own = all.iter().filter(|p| of(p));
        own.map(|p| p.piece.len_ns()).sum()
    };
    if (ns(&is_cpu) as f64) < WORKS * ns(&|_| true) as f64 {
        all.retain(is_cpu);
    }
}

/// The pieces of holders that something speaks for having a lock.
fn proved<'c>(inside: &Inside<'_>, all: &[Picked<'c>], place: Place) -> Vec<Picked<'c>> {
    /// Of a thread's pieces, what is proved, and what might be the same.
    #[derive(Default)]
    struct Sums {
        proved: u64,
        silent: u64,
    }
    let mut sums: BTreeMap<u32, Sums> = BTreeMap::new();
    for p in all.iter().filter(|p| place != Place::Tail || p.walked.slow) {
        let sums = sums.entry(holder_of(p)).or_default();
        match proof(inside, p) {
            Proof::Says | Proof::HandedOn => sums.proved += p.piece.len_ns(),
            Proof::Nothing => sums.silent += p.piece.len_ns(),
            Proof::Condition | Proof::Interpreter => {}
        }
    }
    let speaks_for_all = |tid: u32| {
        let sums = sums.get(&tid);
        sums.is_some_and(|s| s.proved as f64 >= PROVED * (s.proved + s.silent) as f64)
    };
    let own = all.iter().filter(|p| match proof(inside, p) {
        Proof::Says | Proof::HandedOn => true,
        Proof::Nothing => speaks_for_all(holder_of(p)),
        Proof::Condition | Proof::Interpreter => false,
    });
    own.cloned().collect()
}

/// What is said of waits that nothing speaks for being for a lock.
fn unproved<'c>(
    looked: &Looked<'c>,
    kind: Kind,
    (place, mut all): (Place, Vec<Picked<'c>>),
) -> Verdict {
    let inside = looked.inside;
    let shares = Looked::shares(&all, place, |p| proof(inside, p));
    let most = shares.first().map_or(Proof::Nothing, |(proof, _)| *proof);
    all.retain(|p| proof(inside, p) == most);
    let holder = main(looked, &all, place);
    let whom = holder.called();
    if most == Proof::Interpreter && kind == Kind::Works {
        let text = format!(
            "requests wait to be let into the interpreter that {whom} runs, and for no lock of the \
             program's own"
        );
        return Verdict::Absent(text);
    }
    if most == Proof::Condition {
        let text = format!(
            "requests wait until {whom} says that something has come about: a condition, no lock"
        );
        return Verdict::Absent(text);
    }
    let doing = holder.picked.first().map_or_else(
        || "waits".to_owned(),
        |p| inside.doing(&p.piece.leaf, p.piece.begin),
    );
    let (missing, remedy) = if most == Proof::Interpreter {
        (
            format!(
                "what the program's own locks have in it: requests wait to be let into the \
                 interpreter, which {whom} runs while it {doing}"
            ),
            "more processes, or an interpreter without such a lock, would show the rest",
        )
    } else {
        (
            format!(
                "whether requests wait for a lock or for work that they handed on: they wait for \
                 {whom}, which {doing}"
            ),
            "build with symbols; in Go, Java and others look at the profile of locks",
        )
    };
    Verdict::Lead {
        place,
        claims: claims(&all),
        missing,
        remedy: remedy.to_owned(),
    }
}

pub(crate) fn held_of(p: &Picked<'_>) -> Held {
    held(&p.hops, &p.piece.leaf).expect("only such pieces are picked")
}

fn holder_of(p: &Picked<'_>) -> u32 {
    p.hops[held_of(p).holder].tid
}

fn proof(inside: &Inside<'_>, p: &Picked<'_>) -> Proof {
    inside.proof(&p.hops, &held_of(p))
}

//! The threads that have the locks which requests wait for, weighed together.

use slowpath_core::trace::NO_STACK;

use super::inside::Inside;
use super::locks::{Held, Proof, held};
use super::looked::{Looked, Picked, claims};
use crate::case::{Case, EndpointCase};
use crate::diagnosis::{Evidence, Place, Source};
use crate::verdict::{Verdict, evidence, percent};

/// From this share of the waits on, what speaks for a lock speaks for all of them: the others are
/// in stretches without stacks, or of threads that were alone.
const PROVED: f64 = 0.5;

/// What holders of locks do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// They wait for something themselves.
    Waits,
    /// They run, or would if they had a CPU.
    Works,
}

/// The pieces that requests spent waiting for locks.
pub(crate) struct Holders<'c> {
    pub(crate) picked: Vec<Picked<'c>>,
    kind: Kind,
    /// Shares of the picked time, by what speaks for a lock.
    proofs: Vec<(Proof, f64)>,
}

/// The holder that most of the time is spent waiting for.
pub(crate) struct Holder<'c> {
    pub(crate) name: String,
    /// Its share of the picked time.
    pub(crate) share: f64,
    pub(crate) picked: Vec<Picked<'c>>,
}

impl<'c> Holders<'c> {
    pub(crate) fn of(looked: &Looked<'c>, kind: Kind) -> Self {
        let inside = looked.inside;
        let picked = looked.pick(|_, piece, hops| {
            held(hops, &piece.leaf).is_some_and(|held| held.waits == (kind == Kind::Waits))
                && !inside.stops_the_world(hops)
        });
        let proofs = Looked::shares(&picked, Place::Floor, |p| proof(inside, p));
        Self {
            picked,
            kind,
            proofs,
        }
    }

    fn share(&self, of: &[Proof]) -> f64 {
        let own = self.proofs.iter().filter(|(proof, _)| of.contains(proof));
        own.map(|(_, share)| share).sum()
    }

    /// What is said if no lock can be named.
    pub(crate) fn verdict(
        &self,
        case: &Case<'_>,
        endpoint: &EndpointCase,
        looked: &Looked<'_>,
    ) -> Option<Verdict> {
        let what = match self.kind {
            Kind::Waits => "waits itself",
            Kind::Works => "works",
        };
        if self.picked.is_empty() {
            let n = looked.join.walked.len();
            let text = format!("none of {n} requests waited for a lock whose holder {what}");
            return Some(Verdict::Cleared(text));
        }
        let claims = claims(&self.picked);
        if let Some(blind) = Looked::too_small(case, &claims) {
            return Some(blind);
        }
        if self.share(&[Proof::Says, Proof::HandedOn, Proof::Shared]) >= PROVED {
            return None;
        }
        let place = looked.place(endpoint, &claims);
        let holder = self.main(looked, place);
        let doing = holder.picked.first().map_or_else(
            || "waits".to_owned(),
            |p| looked.inside.doing(&p.piece.leaf, p.piece.begin),
        );
        if self.share(&[Proof::Condition]) >= PROVED {
            return Some(Verdict::Cleared(format!(
                "requests wait until thread {} says that something has come about: a condition, \
                 no lock",
                holder.name
            )));
        }
        Some(Verdict::Lead {
            place,
            claims,
            missing: format!(
                "whether requests wait for a lock or for work that they handed on: they wait for \
                 thread {}, which {doing}",
                holder.name
            ),
            remedy: "build with symbols; in Go, Java and others look at the profile of locks"
                .to_owned(),
        })
    }

    /// The holder that most of the time is spent waiting for; there is one.
    pub(crate) fn main(&self, looked: &Looked<'c>, place: Place) -> Holder<'c> {
        let inside = looked.inside;
        let name = |p: &Picked<'_>| inside.thread_name(holder_of(p));
        let shares = Looked::shares(&self.picked, place, name);
        let (thread, share) = shares.into_iter().next().unwrap_or_default();
        let own = self.picked.iter().filter(|p| name(p) == thread);
        let own = own.map(|p| Picked {
            walked: p.walked,
            piece: p.piece,
            hops: p.hops.clone(),
        });
        Holder {
            picked: own.collect(),
            name: thread,
            share,
        }
    }

    /// What the trace says of it, in sentences.
    pub(crate) fn evidence(
        &self,
        looked: &Looked<'_>,
        place: Place,
        holder: &Holder<'_>,
    ) -> Vec<Evidence> {
        let deepest = self.picked.iter().map(|p| p.hops.len() - 1).max();
        let mut touched: Vec<u32> = self.picked.iter().map(|p| p.walked.joined.sample).collect();
        touched.dedup();
        let of = if place == Place::Tail {
            "slow requests'"
        } else {
            "requests'"
        };
        let waits = format!(
            "{} of {} followed requests wait for such a lock; {} of the {of} waits lead to \
             thread {}, through up to {} others",
            touched.len(),
            looked.join.walked.len(),
            percent(holder.share),
            holder.name,
            deepest.unwrap_or(1) - 1
        );
        let mut why = Vec::new();
        for (proof, text) in [
            (
                Proof::Says,
                "the stack or the lock itself says that it is one",
            ),
            (Proof::HandedOn, "those who wait hand it on to each other"),
            (Proof::Shared, "several threads wait at one address"),
        ] {
            let share = self.share(&[proof]);
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
            let repeat = index
                .trace
                .stretches
                .partition_point(|s| s.span.begin.get() <= at);
            let repeat = index.trace.stretches.get(repeat.checked_sub(1)?)?.repeat;
            Some((repeat, off.end))
        };
        let mut ends: Vec<(u16, u64)> = self.picked.iter().filter_map(end).collect();
        ends.sort_unstable();
        ends.dedup();
        let repeats = ends.chunk_by(|a, b| a.0 == b.0);
        let most = repeats.max_by_key(|repeat| repeat.len());
        most.map_or_else(Vec::new, |most| most.iter().map(|end| end.1).collect())
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

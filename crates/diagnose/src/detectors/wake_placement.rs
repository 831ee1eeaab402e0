//! Threads that are woken for requests could run, and the CPU that they get is idle until it takes them up: it has
//! to be woken itself, out of a deep sleep or by a hypervisor, and which CPU that is differs from time to time.
//!
//! How long that takes is seen. Why is not: the kernel reports idle states as it requests them, and neither what
//! the processor makes of that nor what a hypervisor does. So it is ruled out, or left open, and never named.

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::Place;
use crate::ledger::{NAMED_SHARE, NAMED_SHARE_LOW};
use crate::overlap::parts;
use crate::throttling::throttled_spans;
use crate::trace::index::Runner;
use crate::trace::looked::{Looked, Picked, claims};
use crate::trace::pieces::LeafKind;
use crate::verdict::{Verdict, human, percent};
use slowpath_attribution::StateSet;

/// Two modes that lie nearer to each other than this are what waking takes on any machine: an interrupt to another
/// CPU, the way out of a light sleep, and the switch.
const FELT_NS: f64 = 20_000.0;

/// What would distinguish the reasons.
const REMEDY: &str = "measure with deep sleep off (hold /dev/cpu_dma_latency open with four zero bytes written to it), \
                      and with the server's threads on one CPU (taskset); in a virtual machine, on CPUs of its own";

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Followed(examine),
    could_be: StateSet::RUNNABLE.and(StateSet::UNTRACED),
    may_be_the_work: false,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase, looked: &Looked<'_>) -> Verdict {
    // A cgroup that has used its quota up is ready to run while CPUs are idle, too.
    let throttled = throttled_spans(case);
    let woken_for = |runner: Runner| {
        looked.pick(|_, piece, _| {
            let is_woken = piece.leaf.call.is_some();
            let waits = piece.leaf.kind == LeafKind::Ready(runner);
            is_woken && waits && parts(&throttled, piece.span()).next().is_none()
        })
    };
    let (idle, unknown) = (woken_for(Runner::Idle), woken_for(Runner::Unknown));
    let (waited, hidden) = (Waited::of(looked, &idle), Waited::of(looked, &unknown));
    let in_tail = endpoint.tail.is_some() && waited.sides[1].n > 0;
    let (tail, floor) = (waited.more(), waited.each());
    let said = waited.said(in_tail);
    let place = if in_tail && tail.is_felt() {
        Place::Tail
    } else if floor.is_felt() {
        Place::Floor
    } else if in_tail && hidden.more().share >= NAMED_SHARE_LOW {
        return Verdict::Blind {
            missing: format!(
                "whether CPUs were idle to which threads were woken, for {} of what makes requests slow: the record \
                 of the CPUs has holes there",
                percent(hidden.more().share.min(1.0))
            ),
            remedy:
                "measure on a quieter host: that a CPU becomes idle among others is not recorded"
                    .to_owned(),
        };
    } else {
        return Verdict::Absent(said);
    };
    let claims = claims(&idle);
    if let Some(lead) = looked.too_small(case, endpoint, &claims) {
        return lead;
    }
    let missing = format!(
        "what idle CPUs did until they took up threads that had been woken: {said}; {} of those wake-ups came from \
         another CPU. They may have left a deep sleep, or have waited for a hypervisor",
        percent(moved(looked, &idle))
    );
    let remedy = REMEDY.to_owned();
    // A floor that is too low to be divided can be left open all the same.
    match endpoint.frame(place) {
        Some(_) => Verdict::Lead {
            place,
            claims,
            missing,
            remedy,
        },
        None => Verdict::Blind { missing, remedy },
    }
}

/// How long requests waited so: the others, and the slow ones.
#[derive(Default)]
struct Waited {
    sides: [Side; 2],
}

#[derive(Clone, Copy, Default)]
struct Side {
    n: u64,
    waited_ns: u64,
    latency_ns: u64,
}

/// A part of what requests take.
#[derive(Clone, Copy)]
struct Part {
    ns: f64,
    share: f64,
}

impl Waited {
    fn of(looked: &Looked<'_>, picked: &[Picked<'_>]) -> Self {
        let mut waited = Self::default();
        for walked in &looked.join.walked {
            let side = &mut waited.sides[usize::from(walked.slow)];
            side.n += 1;
            side.latency_ns += walked.joined.latency_ns();
        }
        for p in picked {
            waited.sides[usize::from(p.walked.slow)].waited_ns += p.piece.len_ns();
        }
        waited
    }

    /// That in words.
    fn said(&self, in_tail: bool) -> String {
        let [others, slow] = self.sides.map(|side| human(side.each_ns()));
        if in_tail {
            format!(
                "threads that were woken waited {slow} for a CPU that was idle in each slow request, and {others} in \
                 each other: {} of what makes the slow ones slow",
                percent(self.more().share.clamp(0.0, 1.0))
            )
        } else {
            format!(
                "threads that were woken waited {} for a CPU that was idle in each request: {} of its time",
                human(self.each().ns),
                percent(self.each().share)
            )
        }
    }

    /// What slow requests have more of than the others.
    fn more(&self) -> Part {
        let [others, slow] = &self.sides;
        let ns = slow.each_ns() - others.each_ns();
        let whole_ns = slow.whole_ns() - others.whole_ns();
        Part {
            ns,
            share: ns / whole_ns.max(1.0),
        }
    }

    /// What requests that are not slow have; all of them, if there are no others.
    fn each(&self) -> Part {
        let side = self.sides.iter().find(|side| side.n > 0);
        let side = side.copied().unwrap_or_default();
        Part {
            ns: side.each_ns(),
            share: side.each_ns() / side.whole_ns().max(1.0),
        }
    }
}

impl Side {
    fn each_ns(&self) -> f64 {
        self.waited_ns as f64 / self.n.max(1) as f64
    }

    fn whole_ns(&self) -> f64 {
        self.latency_ns as f64 / self.n.max(1) as f64
    }
}

impl Part {
    fn is_felt(self) -> bool {
        self.ns >= FELT_NS && self.share >= NAMED_SHARE
    }
}

/// The share of the waits whose threads were woken from another CPU than the one that took them up.
fn moved(looked: &Looked<'_>, picked: &[Picked<'_>]) -> f64 {
    let index = &looked.inside.index;
    let is_moved = |p: &&Picked<'_>| {
        let at = p.piece.begin;
        let off = index
            .offs(p.piece.leaf.tid, at, at.saturating_add(1))
            .first();
        off.is_some_and(|off| off.context.is_some() && off.from != off.cpu)
    };
    picked.iter().filter(is_moved).count() as f64 / picked.len().max(1) as f64
}

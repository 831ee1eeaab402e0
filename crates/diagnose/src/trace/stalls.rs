//! Waits of the threads that serve requests, or that were asked to do a part of them, for
//! what the kernel does: a disk, memory, a pipe.

use slowpath_core::trace::{Call, NO_STACK, Role};

use super::inside::{Inside, summed};
use super::kernel_io::Io;
use super::looked::{Looked, Picked};
use super::pieces::{Behalf, Hop, How, LeafKind, Piece};

/// Waits without a stack, as many are in stretches that are recorded without them, are taken to be
/// for what so much of the others is for, by time.
const SPEAKS_FOR_ALL: f64 = 0.5;

/// What is known of what a wait was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Told {
    For(Io),
    /// For something else, by its stack.
    Otherwise,
    /// Nothing: it has no stack.
    Nothing,
}

/// The pieces of requests that were waits for a disk or for memory, with what each was for.
pub(crate) struct Stalls<'c> {
    all: Vec<(Picked<'c>, Told)>,
    /// What those without a stack are for.
    silent: Option<Io>,
}

impl<'c> Stalls<'c> {
    /// Of an endpoint's requests. Who waits for a lock waits for its holder, and that is the lock's.
    pub(crate) fn of(looked: &Looked<'c>) -> Self {
        let inside = looked.inside;
        let picked = looked.pick(|_, piece, hops| {
            piece.behalf == Behalf::Own
                && matches!(
                    piece.leaf.kind,
                    LeafKind::Disk | LeafKind::Ready(_) | LeafKind::Cpu
                )
                && hops.iter().skip(1).all(|hop| inside.is_asked(hop))
        });
        let mut all: Vec<(Picked<'c>, Told)> = Vec::with_capacity(picked.len());
        for p in picked {
            let io = match inside.io(p.piece) {
                Some(io) => Told::For(io),
                None if p.piece.leaf.stack == NO_STACK => Told::Nothing,
                None => Told::Otherwise,
            };
            match p.piece.leaf.kind {
                LeafKind::Disk => all.push((p, io)),
                // Memory is freed by the thread that needs it, which computes in that time.
                LeafKind::Cpu if io == Told::For(Io::Reclaim) => all.push((p, io)),
                LeafKind::Ready(_) => {
                    let before = all.last().filter(|(waited, _)| goes_on(waited, &p));
                    if let Some(&(_, io)) = before {
                        all.push((p, io));
                    }
                }
                _ => {}
            }
        }
        let of = |(p, _): &(Picked<'c>, Told)| p.walked.joined.sample;
        let requests = all.chunk_by(|a, b| of(a) == of(b));
        let all: Vec<(Picked<'c>, Told)> = requests.flat_map(without_queues).collect();
        let known = all.iter().filter(|(_, told)| *told != Told::Nothing);
        let known = summed(known.map(|(p, told)| (*told, p.piece.len_ns() as f64)));
        let total: f64 = known.iter().map(|(_, ns)| ns).sum();
        let most = known
            .first()
            .filter(|(_, ns)| *ns >= SPEAKS_FOR_ALL * total);
        Self {
            silent: most.and_then(|(told, _)| match told {
                Told::For(io) => Some(*io),
                Told::Otherwise | Told::Nothing => None,
            }),
            all,
        }
    }

    /// Those for some of it.
    pub(crate) fn picked(&self, of: impl Fn(Io) -> bool) -> Vec<Picked<'c>> {
        let own = self.all.iter().filter(|(_, told)| match told {
            Told::For(io) => of(*io),
            Told::Nothing => self.silent.is_some_and(&of),
            Told::Otherwise => false,
        });
        own.map(|(p, _)| p.clone()).collect()
    }
}

/// Whether a thread is ready to go on from what it waited for.
fn goes_on(waited: &Picked<'_>, p: &Picked<'_>) -> bool {
    waited.walked.joined.sample == p.walked.joined.sample
        && waited.piece.end == p.piece.begin
        && waited.piece.leaf.tid == p.piece.leaf.tid
}

/// The waits of a request, with the times from waking up to running if these are no longer, all
/// together: who does not wait stays on its CPU, but beyond that it is the CPU that is scarce.
fn without_queues<'c>(waits: &[(Picked<'c>, Told)]) -> Vec<(Picked<'c>, Told)> {
    let is_ready = |p: &Picked<'_>| matches!(p.piece.leaf.kind, LeafKind::Ready(_));
    let sum = |ready: bool| -> u64 {
        let own = waits.iter().filter(|(p, _)| is_ready(p) == ready);
        own.map(|(p, _)| p.piece.len_ns()).sum()
    };
    let all = sum(true) <= sum(false);
    let own = waits.iter().filter(|(p, _)| all || !is_ready(p));
    own.cloned().collect()
}

impl Inside<'_> {
    /// What a wait for a disk is for; `None` if nothing shows it.
    pub(crate) fn io(&self, piece: &Piece) -> Option<Io> {
        let told = self.stacks.facts(piece.leaf.stack).io;
        told.or((piece.leaf.call == Some(Call::Sync)).then_some(Io::Sync))
    }

    /// Whether a thread that is waited for was asked to do a part of the request, in the target or in a
    /// server on this host that it asks, or says when that is done.
    fn is_asked(&self, hop: &Hop) -> bool {
        match hop.how {
            How::Serves | How::Asked | How::Condition => true,
            How::Sent => {
                let process = self.trace().process_of(hop.tid);
                process.is_some_and(|p| matches!(p.role, Role::Target | Role::Peer))
            }
            _ => false,
        }
    }
}

//! Pieces of a request's time, as slices: what it waited for, who had that, and what that one did.

mod body;
mod dials;
mod held;
mod held_data;
mod on_cpu;
mod peer;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use slowpath_attribution::{
    Actor, Basis, CpuUser, DiskUse, Holder, Path, Phase, Place, Reason, Slice, State,
};
use slowpath_core::nanos::Span;
use slowpath_core::trace::{Call, NO_STACK, Runtime};

use self::dials::Dials;
use self::held::held_idle;
pub(super) use self::peer::{DELAYED_NS, does_mostly};
use self::peer::{addresses, held_back};
use super::executor::Executors;
use super::overlay;
use crate::case::Case;
use crate::throttling::throttled_spans;
use crate::trace::calls::{Calls, during, settled};
use crate::trace::index::{Off, Runner, Why};
use crate::trace::inside::{Inside, Walked};
use crate::trace::kernel_io::Io;
use crate::trace::locks::{Proof, held};
use crate::trace::loops::IdleWaits;
use crate::trace::pieces::{Behalf, Blank, Hop, How, Leaf, LeafKind, Piece};
use crate::trace::stacks::Waits;

/// Makes slices of the pieces of requests.
pub(super) struct Classifier<'c, 'r> {
    inside: &'c Inside<'r>,
    calls: &'c Calls,
    executors: Executors,
    /// Where the programs of this host are asked that the target asks.
    addresses: BTreeMap<String, String>,
    /// Threads that read and answer requests.
    serving: BTreeSet<u32>,
    /// Where event loops wait that have nothing to do.
    idle: IdleWaits,
    throttled: Vec<Span>,
    paused: Vec<Span>,
    /// By connection to another server, when data was on its way for as long as an acknowledgement is delayed.
    held_back: BTreeMap<u32, Vec<Span>>,
    dials: Dials,
    /// By thread and time: what a session of another program waits for, if that is another session.
    held: Memo<Option<Seen>>,
    /// By connection and time: what a wait for a reply is.
    replies: Memo<Seen>,
    actors: Vec<Actor>,
    known: BTreeMap<Who, u32>,
}

/// A thread with where it stood, and the other end of the connection that it waits at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Who {
    tid: u32,
    stack: u32,
    peer: String,
}

/// What was found of a thread, or of a connection, in a time: pieces of many requests ask for the same.
type Memo<T> = RefCell<BTreeMap<(u32, (u64, u64)), T>>;

/// What is seen in a piece.
#[derive(Clone, Debug)]
struct Seen {
    state: State,
    holder: Holder,
    activity: State,
    who: Who,
}

impl Seen {
    fn of(state: State, holder: Holder, tid: u32, stack: u32) -> Self {
        Self {
            state,
            holder,
            activity: state,
            who: Who {
                tid,
                stack,
                peer: String::new(),
            },
        }
    }
}

/// The name of a thread without what distinguishes those of a pool.
pub(crate) fn without_digits(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '0'..='9' if out.ends_with('N') => {}
            '0'..='9' => out.push('N'),
            c => out.push(c),
        }
    }
    out
}

impl<'c, 'r> Classifier<'c, 'r> {
    pub(super) fn new(case: &'c Case<'r>, inside: &'c Inside<'r>) -> Self {
        let serving = inside.serving().all();
        Self {
            inside,
            calls: inside.calls(case),
            addresses: addresses(inside, inside.calls(case)),
            executors: Executors::of(inside, inside.calls(case), &serving),
            serving,
            idle: IdleWaits::of(inside),
            throttled: throttled_spans(case),
            held_back: held_back(inside, inside.calls(case)),
            dials: Dials::of(inside, inside.calls(case)),
            paused: case
                .pauses()
                .map_or_else(Vec::new, |pauses| pauses.spans().to_vec()),
            held: RefCell::default(),
            replies: RefCell::default(),
            actors: Vec::new(),
            known: BTreeMap::new(),
        }
    }

    /// Threads that read and answer requests.
    pub(super) const fn serving(&self) -> &BTreeSet<u32> {
        &self.serving
    }

    /// How many threads there are of each process and name that requests are handed to.
    pub(super) fn pools(&self) -> BTreeMap<(String, String), u32> {
        self.executors.threads(self.inside)
    }

    pub(super) fn into_actors(self) -> Vec<Actor> {
        self.actors
    }

    /// The slices of a request.
    pub(super) fn path(&mut self, walked: &Walked) -> Path {
        let own = self.calls.known(self.inside, walked);
        let calls = settled(&own.calls);
        let is_shared = self.inside.is_shared(walked);
        let mut slices: Vec<Slice> = Vec::with_capacity(walked.pieces.len());
        for piece in &walked.pieces {
            let hops = self.inside.chains.hops(piece.chain);
            let begun = self
                .executors
                .handed_to((self.inside, self.calls), walked, piece, &hops);
            let cut = begun
                .as_ref()
                .map_or(piece.begin, |begun| begun.at.min(piece.end));
            if let Some(begun) = begun {
                let leaf = self.at_rest(walked, piece, &hops[begun.hop..]);
                let waits = Seen {
                    state: State::Queued(begun.place),
                    holder: Holder::AnotherRequest,
                    ..self.doing(piece, &hops, begun.hop, &leaf)
                };
                self.push(&mut slices, piece, (piece.begin, cut), &waits);
            }
            if piece.segment == Phase::Network {
                self.not_accepted(walked, piece, &mut slices);
                continue;
            }
            let mut seen = self.seen(walked, piece, &hops);
            let (mut at, before) = (cut, slices.len());
            // A loop is woken up by replies to all of its requests, unless its thread waits for one of them, or for a child.
            let by_any = is_shared && seen.state == State::Reply && piece.segment == Phase::Service;
            let leaf = &piece.leaf;
            let is_blocked = leaf.call == Some(Call::Read) || leaf.kind == LeafKind::Child;
            if by_any && own.whole && !is_blocked {
                let waits = State::Unknown(Reason::LoopWaits);
                seen = Seen::of(waits, Holder::Unknown, leaf.tid, leaf.stack);
            }
            if by_any || is_open(&seen, piece) {
                for part in during(&calls, piece) {
                    let (begin, end) = (part.begin.max(at), part.end.min(piece.end));
                    if begin >= end {
                        continue;
                    }
                    self.push(&mut slices, piece, (at, begin), &seen);
                    let reply = self.reply(part.socket, (part.begin, part.end));
                    self.push(&mut slices, piece, (begin, end), &reply);
                    at = end;
                }
            }
            self.push(&mut slices, piece, (at, piece.end), &seen);
            if seen.state == State::Reply {
                let mut of_piece = slices.split_off(before);
                self.lay_acknowledgements_over_piece(piece, &hops, &mut of_piece);
                slices.append(&mut of_piece);
            }
        }
        self.lay_counters_over(&mut slices);
        for call in own.calls {
            self.lay_acknowledgements_over(call, &mut slices);
            self.lay_dials_over(call, &mut slices);
        }
        self.lay_held_data_over(walked, &mut slices);
        self.lay_body_over(walked, &mut slices);
        Path {
            sample: walked.joined.sample,
            slow: walked.slow,
            weight: 1.0,
            slices,
        }
    }

    /// Intervals of the target's counters, over what the trace leaves open.
    fn lay_counters_over(&self, slices: &mut Vec<Slice>) {
        overlay(slices, &self.throttled, |slice| {
            let idle = State::Runnable(CpuUser::Idle);
            let waits = slice.state == idle || slice.state == State::Runnable(CpuUser::Unknown);
            let throttled = State::Runnable(CpuUser::Throttled);
            waits.then_some(Slice {
                state: throttled,
                activity: throttled,
                basis: Basis::Counter,
                ..*slice
            })
        });
        overlay(slices, &self.paused, |slice| {
            let unknown = matches!(slice.state, State::Unknown(_) | State::Lock);
            unknown.then_some(Slice {
                state: State::Paused,
                holder: Holder::Background,
                activity: State::Paused,
                basis: Basis::Counter,
                ..*slice
            })
        });
    }

    fn push(
        &mut self,
        slices: &mut Vec<Slice>,
        piece: &Piece,
        (begin, end): (u64, u64),
        seen: &Seen,
    ) {
        if begin >= end {
            return;
        }
        let slice = Slice {
            begin,
            end,
            phase: piece.segment,
            state: seen.state,
            holder: seen.holder,
            activity: seen.activity,
            actor: self.actor(&seen.who),
            basis: if matches!(seen.state, State::Unknown(_)) {
                Basis::Unknown
            } else {
                Basis::Traced
            },
        };
        match slices.last_mut() {
            Some(last) if last.end == begin && is_one(last, &slice) => last.end = end,
            _ => slices.push(slice),
        }
    }

    fn actor(&mut self, who: &Who) -> u32 {
        if let Some(&known) = self.known.get(who) {
            return known;
        }
        let next = self.actors.len() as u32;
        let is_known = who.tid != 0;
        self.actors.push(Actor {
            process: if is_known {
                self.inside.process_name(who.tid).to_owned()
            } else {
                String::new()
            },
            thread: if is_known {
                without_digits(&self.inside.thread_name(who.tid))
            } else {
                String::new()
            },
            peer: who.peer.clone(),
            stack: if who.stack == NO_STACK {
                Vec::new()
            } else {
                self.inside.stack_words(who.stack)
            },
        });
        self.known.insert(who.clone(), next);
        next
    }

    /// What a piece was spent on.
    fn seen(&self, walked: &Walked, piece: &Piece, hops: &[Hop]) -> Seen {
        let none = |state, holder| Seen::of(state, holder, 0, NO_STACK);
        match piece.segment {
            Phase::Queued | Phase::ClientLag => none(State::ClientLate, Holder::Client),
            Phase::Connect => none(State::Handshake, Holder::Kernel),
            Phase::Network => none(State::Unknown(Reason::Network), Holder::Kernel),
            Phase::Response => none(State::Client, Holder::Client),
            Phase::Unread | Phase::Service => self.in_server(walked, piece, hops),
        }
    }

    fn in_server(&self, walked: &Walked, piece: &Piece, hops: &[Hop]) -> Seen {
        let first = hops.first().map_or(0, |hop| hop.tid);
        let rest = self.chain(walked, piece, hops);
        let is_loop = self.inside.loops.has(first);
        let parks = self.inside.index.parks(first);
        // What is not read yet while its reader runs waits for that thread, whatever runtime it is.
        let runs = matches!(piece.leaf.kind, LeafKind::Cpu | LeafKind::Ready(_)) && hops.len() <= 1;
        let unread = piece.segment == Phase::Unread && runs && (is_loop || parks);
        // A runtime that is stopped, or whose thread may not run, serves no request, whatever the request waits for besides.
        let is_stopped = matches!(rest.state, State::Paused | State::Interpreter);
        // A worker of an executor that waits in the kernel for one task keeps its others waiting; Go hands these to another
        // thread.
        let runtime = self.inside.trace().process_of(first).map(|p| p.runtime);
        let takes_tasks = self.inside.index.task_threads.contains(&first);
        let is_executors = takes_tasks || runtime == Some(Runtime::Tokio);
        // A thread of the target that waits for another program on this host is blocked, unless it waits for whatever comes next.
        let asks = hops
            .get(1)
            .is_some_and(|asked| !self.inside.is_targets(asked.tid));
        let waits_outside = hops.len() <= 1 && piece.leaf.kind.waits_outside()
            || asks && !self.may_wait_for_any(first, piece.begin);
        let is_kept = is_executors && waits_outside;
        let is_free = self.idle.has(self.inside, first, piece.begin);
        let by_another = piece.behalf != Behalf::Own && (!parks || is_kept) && !is_free;
        if !is_stopped && (unread || by_another) {
            let place = if is_loop || parks && !takes_tasks {
                Place::EventLoop
            } else {
                Place::Workers
            };
            let holder = match piece.behalf {
                Behalf::Other | Behalf::Own => Holder::AnotherRequest,
                Behalf::Background => Holder::Background,
            };
            // A loop that waits for a reply is blocked by that, whatever the other end does.
            let activity = match rest.state {
                State::Reply => State::Reply,
                _ => rest.activity,
            };
            let mut who = rest.who;
            if asks {
                // Requests wait for the thread of the target, which waits for the other program.
                let leaf = self.at_rest(walked, piece, hops);
                let own = self.doing(piece, hops, 0, &leaf).who;
                who = Who {
                    peer: who.peer,
                    ..own
                };
            }
            return Seen {
                state: State::Queued(place),
                holder,
                activity,
                who,
            };
        }
        rest
    }

    /// What the end of a chain of threads waits for, and what the first wait in it is for.
    fn chain(&self, walked: &Walked, piece: &Piece, hops: &[Hop]) -> Seen {
        let inside = self.inside;
        let leaf = self.at_rest(walked, piece, hops);
        if inside.stops_the_world(hops) {
            return Seen {
                state: State::Paused,
                holder: Holder::Background,
                ..leaf
            };
        }
        for (place, hop) in hops.iter().enumerate().skip(1) {
            if !inside.is_targets(hop.tid) {
                return self.at_peer(walked, piece, (hops, place), &leaf);
            }
            let is_lock = matches!(hop.how, How::Lock | How::Woke | How::Interpreter);
            if !is_lock {
                continue;
            }
            let proof = match held(hops, &piece.leaf) {
                Some(held) if held.first == place => inside.proof(hops, &held),
                _ => match hop.how {
                    How::Lock => Proof::Says,
                    How::Interpreter => Proof::Interpreter,
                    _ => Proof::Nothing,
                },
            };
            let state = match proof {
                // The holder collects garbage: until it has, no thread runs in the interpreter.
                Proof::Interpreter if leaf.state == State::Paused => return leaf,
                Proof::Says | Proof::HandedOn => State::Lock,
                Proof::Interpreter => State::Interpreter,
                // A thread that serves another request has what this one waits for, and gives it back.
                Proof::Condition | Proof::Nothing if self.serves_another(walked, hop.tid) => {
                    State::Queued(Place::Permits)
                }
                Proof::Condition | Proof::Nothing
                    if self.executors.keeps(
                        self.inside,
                        hop.tid,
                        hops[place - 1].tid,
                        piece.begin,
                    ) =>
                {
                    State::Lock
                }
                Proof::Condition | Proof::Nothing => continue,
            };
            let holder = if matches!(state, State::Queued(_)) {
                Holder::AnotherRequest
            } else {
                Holder::Background
            };
            let has = held(hops, &piece.leaf).map_or(place, |held| held.holder.max(place));
            return Seen {
                state,
                holder,
                ..self.doing(piece, hops, has, &leaf)
            };
        }
        leaf
    }

    /// What a thread of a chain does, and where: what the last one does if that is it, or what it waits for the next one
    /// in.
    fn doing(&self, piece: &Piece, hops: &[Hop], at: usize, leaf: &Seen) -> Seen {
        let Some((own, next)) = hops.get(at).zip(hops.get(at + 1)) else {
            return leaf.clone();
        };
        let offs = self
            .inside
            .index
            .offs(own.tid, piece.begin, piece.begin.saturating_add(1));
        let stack = offs.first().map_or(NO_STACK, |off| off.stack);
        let writes = offs
            .first()
            .is_some_and(|off| self.inside.stacks.call_in(off) == Some(Call::Write));
        let state = match next.how {
            How::Sent if writes => State::SendBlocked,
            How::Sent | How::Ended => State::Reply,
            How::Interpreter => State::Interpreter,
            How::Lock | How::Woke => State::Lock,
            How::Serves | How::Condition | How::Asked => {
                let mut seen = self.doing(piece, hops, at + 1, leaf);
                seen.who.tid = own.tid;
                return seen;
            }
        };
        Seen {
            activity: state,
            ..Seen::of(state, Holder::Background, own.tid, stack)
        }
    }

    /// Whether a thread reads and answers requests, and not this one.
    fn serves_another(&self, walked: &Walked, tid: u32) -> bool {
        let joined = &walked.joined;
        tid != joined.reader && tid != joined.writer && self.serving.contains(&tid)
    }

    /// What the last thread of a chain does.
    fn at_rest(&self, walked: &Walked, piece: &Piece, hops: &[Hop]) -> Seen {
        let leaf = &piece.leaf;
        let of = |state, holder| Seen::of(state, holder, leaf.tid, leaf.stack);
        let this = if hops.len() <= 1 {
            Holder::ThisRequest
        } else {
            Holder::Background
        };
        if piece.segment == Phase::Unread && self.waits_for_next(leaf, piece.begin) {
            return held_idle(leaf.tid, leaf.stack);
        }
        let facts = self.inside.stacks.facts(leaf.stack);
        match leaf.kind {
            LeafKind::Outside => of(State::Unknown(Reason::Network), Holder::Kernel),
            LeafKind::Cpu => {
                let holder = if self.is_asked(walked, piece, hops) {
                    Holder::ThisRequest
                } else {
                    Holder::Background
                };
                self.runs(piece, holder)
            }
            // A collection goes on where its thread waits for a CPU that its helpers have.
            LeafKind::Ready(Runner::Thread(by))
                if self.inside.is_targets(by) && self.is_in_collection(leaf.tid, piece) =>
            {
                of(State::Paused, Holder::Background)
            }
            LeafKind::Ready(runner) => self.ready(leaf, runner),
            LeafKind::Sleep if piece.segment == Phase::Unread && self.is_first_met(leaf, piece) => {
                of(State::Unknown(Reason::NotTaken), Holder::Unknown)
            }
            LeafKind::Sleep | LeafKind::RuntimeTimer => {
                let polled = self.polled_for(leaf, piece).filter(|_| facts.polls);
                match polled {
                    Some(socket) => self.reply(socket, (piece.begin, piece.end)),
                    None => of(State::Sleep, this),
                }
            }
            LeafKind::Lock => match facts.waits {
                Some(Waits::Lock) => of(State::Lock, Holder::Unknown),
                Some(Waits::Interpreter) => of(State::Interpreter, Holder::Unknown),
                _ => of(State::Unknown(Reason::Holder), Holder::Unknown),
            },
            LeafKind::Disk => of(disk(leaf, facts.io), Holder::Kernel),
            LeafKind::Network | LeafKind::Data => self.data(walked, piece, facts.io),
            LeafKind::Peer | LeafKind::Child => of(State::Reply, Holder::Peer),
            LeafKind::RuntimeIdle => of(State::Unknown(Reason::Parked), Holder::Unknown),
            LeafKind::Unknown(Blank::Loop) => self.loop_waits(walked, piece),
            LeafKind::Unknown(blank) => of(State::Unknown(blank.reason()), Holder::Unknown),
        }
    }

    /// Whether a thread is met for the first time when it goes on after a wait of which nothing is known: it may as well have begun
    /// then.
    fn is_first_met(&self, leaf: &Leaf, piece: &Piece) -> bool {
        let index = &self.inside.index;
        let known = |off: &&Off| off.why != Why::Unknown;
        leaf.call.is_none()
            && leaf.stack == NO_STACK
            && index
                .offs(leaf.tid, 0, piece.end)
                .iter()
                .filter(known)
                .count()
                <= 1
            && index.last_mark(leaf.tid, piece.end).is_none()
    }
}

/// Whether two slices differ in their time only: a chain of threads changes whenever the last of them does something else.
fn is_one(before: &Slice, next: &Slice) -> bool {
    *next
        == Slice {
            begin: next.begin,
            end: next.end,
            ..*before
        }
}

/// Whether a call of the request may say what a piece was: it waits, and for what is not known.
fn is_open(seen: &Seen, piece: &Piece) -> bool {
    let unknown = matches!(
        seen.state,
        State::Unknown(Reason::Parked | Reason::LoopWaits | Reason::OtherEnd)
    );
    piece.segment == Phase::Service
        && (unknown || seen.state == State::Reply && seen.who.peer.is_empty())
}

fn disk(leaf: &Leaf, io: Option<Io>) -> State {
    match io {
        Some(Io::Swap | Io::Reclaim) => State::Memory,
        Some(Io::Sync) => State::Disk(DiskUse::Sync),
        Some(Io::Writeback) => State::Disk(DiskUse::Write),
        Some(Io::Pipe | Io::Terminal | Io::Datagram) => State::SendBlocked,
        None if leaf.call == Some(Call::Sync) => State::Disk(DiskUse::Sync),
        Some(Io::Read) | None => State::Disk(DiskUse::Read),
    }
}

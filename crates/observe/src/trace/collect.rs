//! Makes events of records: which thread is meant, which connection, whether it was reported already.

mod datagrams;
mod moved;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::net::SocketAddr;

use slowpath_core::Nanos;
use slowpath_core::timeline::Gap;
use slowpath_core::trace::{
    Context, Depth, Event, IDLE, Left, NO_STACK, Socket, Stretch, Trace, What,
};

use self::datagrams::Datagrams;
use super::ends::Ends;
use super::files::Files;
use super::filters::{TCP_CLOSE, TCP_SYN_SENT};
use super::kinds::{Comm, Fact, Kind, SWITCH, Sort};
use super::members::Members;
use super::records::{Record, Sample, Stack};
use super::session::Source;
use super::stacks::{Handed, Stacks};

/// Two events of one tracepoint that report the same moment do so within this.
const SAME_MOMENT_NS: u64 = 50_000;

/// Connections that are begun between two turns of the reader, at most: of more than these the
/// regular looks report.
const MOST_DIALLED: usize = 64;

/// What is collected in a repeat.
#[derive(Debug)]
pub(super) struct Collector {
    pub(super) members: Members,
    ends: Ends,
    /// The ports whose connections are followed.
    pub(super) ports: BTreeSet<u16>,
    /// What happened, as it was read: nearly in order.
    events: Vec<Event>,
    /// When records were lost, and how many.
    lost: Vec<(Nanos, u64)>,
    /// Earlier events only say who is who.
    pub(super) keep_from: Option<Nanos>,
    /// So many events are kept for now.
    room: usize,
    /// The last fact of each kind on each CPU.
    latest: Vec<[Option<Told>; Kind::TRACEPOINTS.len()]>,
    /// Records about threads that are not followed.
    pub(super) foreign: u64,
    /// The ways for datagrams that threads looked for last, and when: no record of a datagram has
    /// addresses.
    routed: HashMap<u32, (Nanos, Socket)>,
    datagrams: Datagrams,
    /// Threads that were woken and have not got a CPU since, as far as that is reported.
    woken: HashSet<u32>,
    /// How often each followed thread has begun to wait.
    pub(super) waits: HashMap<u32, u64>,
    pub(super) stacks: Stacks,
    /// What file descriptors are.
    pub(super) files: Files,
    /// What the kernel calls the reasons for resets.
    pub(super) reset_reasons: BTreeMap<u32, String>,
    /// Which addresses the target began to connect to since that was taken last.
    pub(super) dialled: BTreeSet<SocketAddr>,
}

/// A fact and the event that reported it.
#[derive(Clone, Copy, Debug)]
struct Told {
    at: Nanos,
    id: u64,
    fact: Fact,
}

impl Collector {
    pub(super) fn new(members: Members) -> Self {
        Self {
            files: Files::new(members.proc_root()),
            members,
            ends: Ends::default(),
            ports: BTreeSet::new(),
            events: Vec::new(),
            lost: Vec::new(),
            keep_from: None,
            room: usize::MAX,
            latest: Vec::new(),
            foreign: 0,
            routed: HashMap::new(),
            datagrams: Datagrams::default(),
            woken: HashSet::new(),
            waits: HashMap::new(),
            stacks: Stacks::default(),
            reset_reasons: BTreeMap::new(),
            dialled: BTreeSet::new(),
        }
    }

    /// Begins a slot: makes room for a part of what is left of `most` events. Who was woken in an
    /// earlier one may have run and slept since.
    pub(super) fn begin_slot(&mut self, most: u64, parts: usize) {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        self.woken.clear();
        let kept = self.events.len();
        self.room = kept + most.saturating_sub(kept) / parts.max(1);
    }

    /// When the last event was kept, if there is no room for more.
    pub(super) fn full_since(&self) -> Option<Nanos> {
        let is_full = self.events.len() >= self.room;
        self.events.last().map(|event| event.at).filter(|_| is_full)
    }

    /// Takes one record.
    pub(super) fn take(&mut self, at: Nanos, record: &Record, source: Option<Source>) {
        match *record {
            Record::Sample(ref sample) => {
                let fact = source.and_then(|source| source.layout?.read(sample.raw));
                match (fact, &sample.stack) {
                    (Some(Fact::Switch { from, to, .. }), Some(stack)) => {
                        self.stack(sample, Handed { at, from, to }, stack);
                    }
                    (None, Some(stack)) => self.found_running(at, sample, stack),
                    (Some(fact), None) if !self.was_told(at, sample, &fact) => {
                        self.fact(at, sample, fact);
                    }
                    _ => {}
                }
            }
            Record::Lost { count } => self.lost.push((at, count)),
            Record::Named { pid, tid, name } => self.members.named(pid, tid, name),
            Record::Born {
                pid,
                parent,
                tid,
                by,
                cpu,
            } => {
                self.members.born(pid, parent, tid);
                if self.is_followed(tid) {
                    self.woken.insert(tid);
                    let context = Context::Birth;
                    self.keep(at, cpu, What::Waking { tid, by, context });
                }
            }
            Record::Ended { tid, .. } => {
                self.files.ended(tid);
                self.members.ended(tid);
            }
            Record::Got {
                tid,
                pid,
                cpu,
                from: IDLE,
            } => self.got_idle_cpu(at, tid, pid, cpu),
            // The tracepoint reports more of these.
            Record::Got { .. } | Record::Switched { .. } => {}
        }
    }

    /// A thread got a CPU that was idle. Where the kernel's tracepoints report nothing of an idle CPU
    /// ([`super::idle`]) this is all there is: what then ends the rest of the CPU, if no thread on
    /// another one did, is an interrupt on it.
    fn got_idle_cpu(&mut self, at: Nanos, tid: u32, pid: u32, cpu: u32) {
        if !self.members.is_followed(tid) {
            return;
        }
        let last = self
            .latest
            .get(cpu as usize)
            .and_then(|latest| latest[SWITCH]);
        let is_told = last.is_some_and(|told| {
            let is_it = matches!(told.fact, Fact::Switch { to, .. } if to == tid);
            is_it && at.since(told.at) <= SAME_MOMENT_NS
        });
        if is_told {
            return;
        }
        self.members.meet(tid, pid, [0; 16]);
        if !self.woken.remove(&tid) {
            let (by, context) = (IDLE, Context::Hardirq);
            self.keep(at, cpu, What::Waking { tid, by, context });
        }
        let what = What::Switch {
            from: IDLE,
            left: Left::Runnable,
            to: tid,
            stack: NO_STACK,
        };
        self.keep(at, cpu, what);
    }

    /// Whether another event has reported the same of the same moment: while one succeeds another,
    /// both report.
    fn was_told(&mut self, at: Nanos, sample: &Sample, fact: &Fact) -> bool {
        let cpu = sample.cpu as usize;
        if self.latest.len() <= cpu {
            self.latest.resize(cpu + 1, [None; Kind::TRACEPOINTS.len()]);
        }
        let told = Told {
            at,
            id: sample.id,
            fact: *fact,
        };
        let before = self.latest[cpu][fact.place()].replace(told);
        before.is_some_and(|before| {
            before.id != sample.id && before.fact == *fact && at.since(before.at) <= SAME_MOMENT_NS
        })
    }

    /// Where the thread stood that leaves its CPU.
    fn stack(&mut self, sample: &Sample, handed: Handed, stack: &Stack) {
        if !self.is_followed(handed.from) || !self.is_kept(handed.at) {
            return;
        }
        let stack = self
            .stacks
            .keep(self.members.proc_root(), sample.pid, stack);
        if stack == NO_STACK {
            return;
        }
        if let Some(place) = self.stacks.of_stack(sample.cpu, handed, stack)
            && let What::Switch { stack: of, .. } = &mut self.events[place].what
        {
            *of = stack;
        }
    }

    /// The clock found a thread running.
    fn found_running(&mut self, at: Nanos, sample: &Sample, stack: &Stack) {
        let tid = sample.tid;
        if self.members.is_followed(tid) && self.is_kept(at) {
            let stack = self
                .stacks
                .keep(self.members.proc_root(), sample.pid, stack);
            self.keep(at, sample.cpu, What::Sample { tid, stack });
        }
    }

    fn switch(
        &mut self,
        at: Nanos,
        sample: &Sample,
        from: (u32, Comm),
        left: Left,
        to: (u32, Comm),
    ) {
        let waits = matches!(left, Left::Sleeping | Left::Uninterruptible);
        self.woken.remove(&to.0);
        if self.members.is_followed(from.0) {
            *self.waits.entry(from.0).or_default() += u64::from(waits);
        } else if !self.is_followed(to.0) {
            return;
        }
        self.members.meet(from.0, sample.pid, from.1);
        self.members.meet(to.0, 0, to.1);
        let (from, to) = (from.0, to.0);
        let place = self.events.len();
        let mut stack = NO_STACK;
        if self.is_kept(at) {
            stack = self
                .stacks
                .of_switch(sample.cpu, Handed { at, from, to }, place);
        }
        let what = What::Switch {
            from,
            left,
            to,
            stack,
        };
        self.keep(at, sample.cpu, what);
    }

    fn fact(&mut self, at: Nanos, sample: &Sample, fact: Fact) {
        let what = match fact {
            Fact::Switch {
                from,
                from_name,
                left,
                to,
                to_name,
            } => return self.switch(at, sample, (from, from_name), left, (to, to_name)),
            Fact::Waking { tid, by, context } => {
                if !self.is_followed(tid) {
                    return;
                }
                self.members.meet(by, sample.pid, [0; 16]);
                self.woken.insert(tid);
                What::Waking { tid, by, context }
            }
            Fact::Call { tid, call, about } => {
                // Those numbers mean other calls.
                if !self.is_followed(tid) || self.members.has_narrow_calls(tid) {
                    return;
                }
                self.enters(sample.pid, tid, (call, about));
                What::Call { tid, call, about }
            }
            _ if fact.is_by_file() => return self.by_file(at, sample, fact),
            Fact::Wrote {
                tid,
                key,
                bytes,
                sort,
            } => {
                if sort == Sort::Datagram && self.members.is_followed(tid) {
                    self.sends_datagram(at, (sample.pid, tid), (key, bytes));
                }
                let Some(socket) = self.socket_of(tid, key) else {
                    return;
                };
                What::Wrote { tid, socket, bytes }
            }
            Fact::Received { tid, key, .. } => {
                let Some(socket) = self.socket_of(tid, key) else {
                    return;
                };
                self.datagrams.received(socket);
                What::Read { tid, socket }
            }
            Fact::Routed { tid, ends } => return self.looks_for_way(at, tid, ends),
            Fact::Read { tid, key, ends } => {
                let socket = self.ends.certain(key, ends);
                self.members.meet(tid, sample.pid, [0; 16]);
                self.read_tcp(sample.pid, tid, socket);
                What::Read { tid, socket }
            }
            Fact::Arrived { key, ends, bytes } => {
                let socket = self.ends.arrived(key, ends);
                What::Arrived { socket, bytes }
            }
            Fact::State { state, ends, .. } if is_of_dial(state, ends) => {
                match self.dials(sample.pid, fact) {
                    Some(what) => what,
                    None => return,
                }
            }
            other => match self.about_connection(other) {
                Some(what) => what,
                None => return,
            },
        };
        self.keep(at, sample.cpu, what);
    }

    /// A thread of the target begins to make a connection, or finds no port for one.
    fn dials(&mut self, pid: u32, fact: Fact) -> Option<What> {
        let Fact::State {
            key,
            ends,
            state,
            by,
        } = fact
        else {
            return None;
        };
        if !self.members.is_target(pid) {
            return None;
        }
        if state == TCP_SYN_SENT {
            // It has no port of its own yet, and so no end to speak of.
            if self.dialled.len() < MOST_DIALLED {
                self.dialled.insert(ends.remote);
            }
            return None;
        }
        // What a segment or a timer ended is no thread's call.
        let socket = (by != 0).then(|| self.ends.certain(key, ends))?;
        Some(What::State { socket, state, by })
    }

    /// The end at which a followed thread gives or takes something, by the key of its socket.
    fn socket_of(&mut self, tid: u32, key: u64) -> Option<u32> {
        let followed = self.is_followed(tid);
        self.ends.known(key).filter(|_| followed)
    }

    /// Events of connections alone; their tracepoints may report all connections on the host.
    fn about_connection(&mut self, fact: Fact) -> Option<What> {
        let (Fact::Reset { ends, .. } | Fact::Retransmit { ends } | Fact::State { ends, .. }) =
            fact
        else {
            return None;
        };
        let ours = |port: u16| self.ports.contains(&port);
        if !ours(ends.local.port()) && !ours(ends.remote.port()) {
            return None;
        }
        Some(match fact {
            Fact::State { key, state, by, .. } => What::State {
                socket: self.ends.certain(key, ends),
                state,
                by,
            },
            Fact::Reset {
                sent, reason, by, ..
            } => What::Reset {
                socket: self.ends.place(ends),
                sent,
                reason,
                by,
            },
            _ => What::Retransmit {
                socket: self.ends.place(ends),
            },
        })
    }

    fn is_followed(&mut self, tid: u32) -> bool {
        let followed = self.members.is_followed(tid);
        self.foreign += u64::from(!followed);
        followed
    }

    /// Whether an event of that instant is kept.
    fn is_kept(&self, at: Nanos) -> bool {
        self.keep_from.is_some_and(|from| at >= from) && self.events.len() < self.room
    }

    fn keep(&mut self, at: Nanos, cpu: u32, what: What) {
        if self.is_kept(at) {
            let cpu = cpu as u16;
            self.events.push(Event { at, cpu, what });
        }
    }

    /// Forgets what records said of losses: the events count them themselves.
    pub(super) fn forget_losses(&mut self) {
        self.lost.clear();
    }

    /// Everything that lies in a stretch, in order of time, and what could not be resolved of stacks.
    pub(super) fn finish(mut self, mut stretches: Vec<Stretch>) -> (Trace, Vec<Gap>) {
        let inferred = self.inferred();
        let (sockets, turned) = self.ends.finish();
        let datagrams = self.datagrams.sort(&sockets);
        let named = self.stacks.finish();
        for event in &mut self.events {
            match &mut event.what {
                What::Arrived { socket, .. } => {
                    if let Some(turned) = &turned {
                        *socket = turned[*socket as usize];
                    }
                }
                What::Switch { stack, .. } | What::Sample { stack, .. } => {
                    let place = named.places.get(*stack as usize);
                    *stack = place.copied().unwrap_or(NO_STACK);
                }
                _ => {}
            }
        }
        self.events.sort_by_key(|event| event.at);
        for (at, count) in self.lost {
            // The kernel reports them with the next record that there is room for, which may come when
            // tracing is off already.
            if let Some(place) = traced_place(at, &stretches) {
                stretches[place].lost += count;
            }
        }
        self.events.retain(|event| {
            let stretch = place_of(event.at, &stretches).map(|place| stretches[place]);
            let (What::Wrote { socket, .. } | What::Read { socket, .. }) = event.what else {
                return is_traced(stretch, event.at);
            };
            is_traced(stretch, event.at) && !datagrams.other.contains(&socket)
        });
        let mut gaps = named.gaps;
        gaps.extend(inferred);
        gaps.extend(untold_calls(&self.members.narrow()));
        gaps.extend(self.members.gap());
        let (processes, threads) = self.members.finish();
        let unix_paths = self.files.unix.paths_of(&sockets);
        let trace = Trace {
            stretches,
            processes,
            threads,
            sockets,
            frames: named.frames,
            stacks: named.stacks,
            events: self.events,
            reset_reasons: self.reset_reasons,
            unix_paths,
            resolvers: datagrams.resolvers,
            ..Trace::default()
        };
        (trace, gaps)
    }
}

/// Whether an instant lies in a stretch that was traced.
fn is_traced(stretch: Option<Stretch>, at: Nanos) -> bool {
    stretch.is_some_and(|s| s.depth != Depth::Off && at <= s.span.end)
}

/// The last stretch that has begun at an instant.
fn place_of(at: Nanos, stretches: &[Stretch]) -> Option<usize> {
    stretches
        .partition_point(|stretch| stretch.span.begin <= at)
        .checked_sub(1)
}

/// The stretch that a loss which was reported at an instant is charged to: the last one that was traced
/// and has begun, or else the first that is.
fn traced_place(at: Nanos, stretches: &[Stretch]) -> Option<usize> {
    let is_traced = |stretch: &Stretch| stretch.depth != Depth::Off;
    let begun = place_of(at, stretches).map_or(0, |place| place + 1);
    let last = stretches[..begun].iter().rposition(is_traced);
    last.or_else(|| stretches.iter().position(is_traced))
}

fn untold_calls(narrow: &BTreeSet<&str>) -> Option<Gap> {
    let names: Vec<&str> = narrow.iter().copied().collect();
    (!names.is_empty()).then(|| Gap {
        signal: "trace.calls".to_owned(),
        reason: format!(
            "system calls of 32-bit programs are not reported: {}",
            names.join(", ")
        ),
        remedy: "a 64-bit build of the program".to_owned(),
    })
}

/// Whether a state is that of a connection being made, or given up for want of a port.
fn is_of_dial(state: u8, ends: Socket) -> bool {
    state == TCP_SYN_SENT || (state == TCP_CLOSE && ends.local.port() == 0)
}

#[cfg(test)]
mod tests {
    use slowpath_core::nanos::Span;

    use super::*;

    #[test]
    fn a_loss_is_charged_to_what_was_traced() {
        let stretch = |begin, depth| Stretch {
            span: Span::new(Nanos::new(begin), Nanos::new(begin + 100)),
            depth,
            repeat: 0,
            lost: 0,
        };
        let depths = [Depth::Off, Depth::Full, Depth::Off, Depth::Light];
        let mut stretches = Vec::new();
        for (place, depth) in depths.into_iter().enumerate() {
            stretches.push(stretch(100 * (place as u64 + 1), depth));
        }
        let place = |at| traced_place(Nanos::new(at), &stretches);
        assert_eq!(place(250), Some(1));
        assert_eq!(place(350), Some(1), "reported when tracing was off");
        assert_eq!(place(900), Some(3));
        assert_eq!(
            (place(7), place(150)),
            (Some(1), Some(1)),
            "before the first"
        );
        assert_eq!(traced_place(Nanos::new(150), &stretches[..1]), None);
    }
}

//! What the kernel did with the connections of failures: who reset them and why, who closed them,
//! what had to be sent again.
//!
//! Packets are joined with a failure by the two ports of its connection, within its own time. Names
//! of reasons are those of the kernel that ran; what is reported beside them is given by name too, since
//! their numbers differ between kernels.

use std::collections::{BTreeMap, BTreeSet};

use slowpath_core::nanos::SECOND;
use slowpath_core::sample::{Outcome, Phase};
use slowpath_core::samples::SampleRef;
use slowpath_core::trace::{Event, Left, Trace, What};

use super::quantiles;
use crate::case::Case;
use crate::diagnosis::{KernelAct, KernelEnd, KernelFacts};
use crate::figures::millis;
use crate::trace::ports::Ports;

/// States of a connection's end whose process has closed it in good order: `TCP_FIN_WAIT1` and
/// `TCP_LAST_ACK` of `include/net/tcp_states.h`.
const CLOSED_BY_PROCESS: [u8; 2] = [4, 9];

/// A process that ends closes its connections within this: it still has its memory to give back.
const ENDING_NS: u64 = SECOND;

/// What happened to one end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    at: u64,
    at_server: bool,
    /// The thread whose call it was, or 0.
    by: u32,
    what: Packet,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packet {
    SentReset(u32),
    ReceivedReset,
    Closed,
    SentAgain,
}

/// What is alike in failures that one thing ended: what, the reason, whether the process of the
/// thread that did it ended.
type Kind = (KernelAct, Option<u32>, bool);

/// Failures of one kind.
#[derive(Debug, Default)]
struct Alike {
    /// How long before the failure each was.
    before_ns: Vec<u64>,
    /// The names of the threads that did it; empty for those whose thread is not known.
    threads: BTreeSet<String>,
}

/// What the kernel did with the connections of these failures of one kind; `None` if tracing
/// saw none.
pub(super) fn facts(
    case: &Case<'_>,
    outcome: Outcome,
    failed: &[SampleRef<'_>],
) -> Option<KernelFacts> {
    let of_connections = failed.iter().filter(|s| s.phase() != Phase::Check);
    let ports: BTreeSet<u16> = of_connections
        .map(|sample| sample.local_port())
        .filter(|&port| port != 0)
        .collect();
    if ports.is_empty() {
        return None;
    }
    let inside = case.inside()?;
    let trace = inside.trace();
    let target = Ports::of(&case.record.manifest);
    let packets = packets(trace, &ports, &target);
    let ended = ended(trace);
    let mut facts = KernelFacts::default();
    let mut ends: BTreeMap<Kind, Alike> = BTreeMap::new();
    for sample in failed.iter().filter(|s| ports.contains(&s.local_port())) {
        let (begin, done) = (begun(*sample), sample.done().get());
        let of_port = packets.get(&sample.local_port());
        let own = of_port.map_or(&[][..], |seen| within(seen, begin, done));
        if let Some((seen, act)) = decisive(own, outcome) {
            let reason = match seen.what {
                Packet::SentReset(reason) => Some(reason),
                _ => None,
            };
            let has_ended = trace.process_of(seen.by).is_some_and(|process| {
                let at = ended.get(&process.pid);
                at.is_some_and(|at| at.abs_diff(seen.at) <= ENDING_NS)
            });
            let alike = ends.entry((act, reason, has_ended)).or_default();
            alike.before_ns.push(done - seen.at.min(done));
            let thread = trace.thread(seen.by).map(|thread| thread.name.clone());
            alike.threads.insert(thread.unwrap_or_default());
        } else {
            let block = inside.index.block_at(sample.ready());
            let whole = block.is_some_and(|b| b.has_wakers && b.lost == 0);
            if !whole || block.is_none_or(|block| block.span.end < sample.done()) {
                continue;
            }
            facts.unseen += 1;
        }
        facts.n += 1;
    }
    let ends = ends
        .into_iter()
        .map(|(kind, alike)| told(trace, kind, alike));
    facts.ends = ends.collect();
    facts.ends.sort_by_key(|end| std::cmp::Reverse(end.count));
    (facts.n > 0).then_some(facts)
}

/// What happened to connections with one of these ports at our end, in order of time.
fn packets(trace: &Trace, ports: &BTreeSet<u16>, target: &Ports) -> BTreeMap<u16, Vec<Seen>> {
    let mut packets: BTreeMap<u16, Vec<Seen>> = BTreeMap::new();
    for &Event { at, what, .. } in &trace.events {
        let (socket, by, what) = match what {
            What::Reset {
                socket,
                sent: true,
                reason,
                by,
            } => (socket, by, Packet::SentReset(reason)),
            What::Reset { socket, .. } => (socket, 0, Packet::ReceivedReset),
            What::State { socket, state, by } if CLOSED_BY_PROCESS.contains(&state) => {
                (socket, by, Packet::Closed)
            }
            What::Retransmit { socket } => (socket, 0, Packet::SentAgain),
            _ => continue,
        };
        let Some(ends) = trace.sockets.get(socket as usize) else {
            continue;
        };
        let (local, remote) = (ends.local.port(), ends.remote.port());
        let (port, at_server) = if ports.contains(&remote) && target.may_hold(local) {
            (remote, true)
        } else if ports.contains(&local) && target.may_hold(remote) {
            (local, false)
        } else {
            continue;
        };
        packets.entry(port).or_default().push(Seen {
            at: at.get(),
            at_server,
            by,
            what,
        });
    }
    packets
}

/// When each process that ended in the trace did: its first thread was last seen to leave for good.
fn ended(trace: &Trace) -> BTreeMap<u32, u64> {
    let mut ended = BTreeMap::new();
    let is_first = |tid: u32| trace.thread(tid).is_some_and(|thread| thread.pid == tid);
    for event in &trace.events {
        if let What::Switch { from, left, to, .. } = event.what {
            if left == Left::Gone && is_first(from) {
                ended.insert(from, event.at.get());
            } else {
                ended.remove(&from);
            }
            ended.remove(&to);
        }
    }
    ended
}

/// From when on what happens to a failure's connection may be the reason: since the answer before,
/// or since it was made.
fn begun(sample: SampleRef<'_>) -> u64 {
    let made = sample.connect_begin().or(sample.connection_since());
    let since = match sample.sent() {
        Some(sent) if sample.index_on_connection() > 0 => Some(sent.minus(sample.idle_before_ns())),
        _ => made,
    };
    since.unwrap_or(sample.ready()).get()
}

fn within(seen: &[Seen], begin: u64, end: u64) -> &[Seen] {
    let from = seen.partition_point(|seen| seen.at < begin);
    let to = seen.partition_point(|seen| seen.at <= end);
    &seen[from..to.max(from)]
}

/// What ended a connection: the server's own doing before what came of it. A request that got a
/// reset is explained by the reset, one that got an end in good order by that.
fn decisive(own: &[Seen], outcome: Outcome) -> Option<(Seen, KernelAct)> {
    let first = |is: fn(&Seen) -> bool| own.iter().copied().find(is);
    let reset = || {
        first(|s| s.at_server && matches!(s.what, Packet::SentReset(_)))
            .map(|seen| (seen, KernelAct::ServerReset))
    };
    let closed = || {
        first(|s| s.at_server && s.what == Packet::Closed)
            .map(|seen| (seen, KernelAct::ServerClosed))
    };
    let received = || {
        first(|s| !s.at_server && s.what == Packet::ReceivedReset)
            .map(|seen| (seen, KernelAct::ResetReceived))
    };
    let again = || {
        first(|s| !s.at_server && s.what == Packet::SentAgain)
            .map(|seen| (seen, KernelAct::SentAgain))
    };
    let ended = match outcome {
        Outcome::Closed | Outcome::Truncated => closed().or_else(reset),
        _ => reset().or_else(closed),
    };
    ended.or_else(received).or_else(again)
}

fn told(trace: &Trace, (what, reason, process_ended): Kind, alike: Alike) -> KernelEnd {
    let Alike {
        mut before_ns,
        threads,
    } = alike;
    before_ns.sort_unstable();
    let mut named = threads.into_iter();
    let thread = match (named.next(), named.next()) {
        (Some(name), None) if !name.is_empty() => Some(name),
        _ => None,
    };
    let reason = reason.and_then(|number| trace.reset_reasons.get(&number).cloned());
    let mut text = match what {
        KernelAct::ServerReset => match reason.as_deref() {
            Some(name) => format!("the server's kernel sent a reset: {}", explained(name)),
            None => "the server's kernel sent a reset, and gives no reason".to_owned(),
        },
        KernelAct::ResetReceived => {
            "a reset came from the server's side, and which end sent it was not seen".to_owned()
        }
        KernelAct::ServerClosed => "the server closed the connection in good order".to_owned(),
        KernelAct::SentAgain => {
            "nothing ended the connection, and our side had to send again".to_owned()
        }
    };
    if let Some(thread) = &thread {
        text.push_str(&[", by thread ", thread].concat());
    }
    if process_ended {
        text.push_str(", as its process ended");
    }
    KernelEnd {
        what,
        reason,
        thread,
        process_ended,
        count: before_ns.len() as u64,
        before_ms: quantiles(&before_ns, millis),
        text,
    }
}

/// `TCP_ABORT_ON_CLOSE (its process closed it with data that it had not read)`: what a name means
/// where `include/net/rstreason.h` and who uses it in `net/ipv4` say so.
fn explained(name: &str) -> String {
    let meaning = match name {
        "NOT_SPECIFIED" => "the kernel does not say why",
        "NO_SOCKET" => {
            "no socket was there for the segment: no process listens, or it was closed before"
        }
        "TCP_ABORT_ON_CLOSE" => "its process closed it with data that it had not read",
        "TCP_ABORT_ON_LINGER" => "its process closed it with a negative TCP_LINGER2",
        "TCP_ABORT_ON_DATA" => "data came after its process had closed it",
        "TCP_ABORT_ON_MEMORY" => "the kernel had no memory left for closed connections",
        "TCP_STATE" => {
            "its process aborted it, as SO_LINGER of 0 s does, or closed the listener before it was \
             accepted"
        }
        "TCP_DISCONNECT_WITH_DATA" => "its process disconnected it with data that was not sent",
        "TCP_KEEPALIVE_TIMEOUT" => "keep-alive probes were not answered",
        "TCP_TIMEWAIT_SOCKET" => "the segment belongs to a connection that had ended",
        "INVALID_SYN" => "a SYN came inside an established connection",
        _ => return name.to_owned(),
    };
    format!("{name} ({meaning})")
}

#[cfg(test)]
#[path = "kernel_tests.rs"]
mod tests;

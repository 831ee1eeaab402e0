//! What the target asked other servers, question by question: what it sent at one go, and whether anything
//! came back.
//!
//! [`super::Calls`] has what was answered; here is also what was not, and connections that were not accepted.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use slowpath_core::nanos::Nanos;
use slowpath_core::trace::What;

use super::Calls;
use crate::diagnosis::Phase;
use crate::trace::index::{Mark, TrafficKind};
use crate::trace::inside::{Inside, Walked};

/// The state of a connection that is no more (`include/net/tcp_states.h`).
const TCP_CLOSE: u8 = 7;
/// What resets a connection closes it at once.
const REFUSED_WITHIN_NS: u64 = 1_000_000;

/// Something that the target sent to another server at one go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) remote: SocketAddr,
    /// The thread that asked.
    pub(crate) tid: u32,
    /// When it began to ask.
    pub(crate) begin: u64,
    /// How much was sent.
    pub(crate) bytes: u64,
    pub(crate) fate: Fate,
}

/// What became of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The last of an answer was read then.
    Answered(u64),
    /// Nothing was read.
    Silent,
    /// The connection was not accepted.
    Refused,
}

/// All questions.
#[derive(Debug)]
pub(crate) struct Questions {
    /// In order of time.
    all: Vec<Question>,
    /// Positions in `all`, by thread.
    by_thread: BTreeMap<u32, Vec<usize>>,
    /// Positions in `all`, by the target's end of the connection and the begin.
    by_begin: BTreeMap<(u32, u64), usize>,
    /// Who answers at all: lines for a log or a counter never have an answer.
    answering: BTreeSet<SocketAddr>,
}

impl Questions {
    /// Finds them.
    pub(crate) fn of(inside: &Inside<'_>) -> Self {
        let mut met: Vec<(u32, Question)> = Vec::new();
        for socket in 0..inside.index.sockets.len() {
            if inside.asks(socket) {
                let own = on_one(inside, socket).into_iter();
                met.extend(own.map(|question| (socket, question)));
            }
        }
        // Those have no end that is known.
        met.extend(
            refused(inside)
                .into_iter()
                .map(|question| (u32::MAX, question)),
        );
        met.retain(|(_, question)| !inside.trace().is_resolver(question.remote));
        Self::from_all(met)
    }

    /// From all questions, each with the target's end of the connection.
    pub(super) fn from_all(mut met: Vec<(u32, Question)>) -> Self {
        met.sort_unstable_by_key(|(socket, question)| (question.begin, *socket));
        let mut questions = Self {
            all: met.iter().map(|(_, question)| *question).collect(),
            by_thread: BTreeMap::new(),
            by_begin: BTreeMap::new(),
            answering: BTreeSet::new(),
        };
        for (place, (socket, question)) in met.into_iter().enumerate() {
            let own = questions.by_thread.entry(question.tid).or_default();
            own.push(place);
            questions.by_begin.insert((socket, question.begin), place);
            if matches!(question.fate, Fate::Answered(_)) {
                questions.answering.insert(question.remote);
            }
        }
        questions
    }

    /// Whether no server was asked.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether who is asked answers, now and then at least.
    pub(super) fn answers(&self, remote: SocketAddr) -> bool {
        self.answering.contains(&remote)
    }

    /// Whether a thread asks at all.
    pub(super) fn asks(&self, tid: u32) -> bool {
        self.by_thread.contains_key(&tid)
    }

    /// What was asked from `begin` to `end`, by whichever thread, in order of time.
    pub(super) fn during(&self, begin: u64, end: u64) -> &[Question] {
        let first = self.all.partition_point(|question| question.begin < begin);
        let last = self.all.partition_point(|question| question.begin < end);
        &self.all[first.min(last)..last]
    }

    /// The same, by one thread.
    pub(super) fn of_thread(&self, tid: u32, begin: u64, end: u64) -> Vec<Question> {
        let own = self.by_thread.get(&tid).map_or(&[][..], Vec::as_slice);
        let first = own.partition_point(|&place| self.all[place].begin < begin);
        let own = own[first..].iter().map(|&place| self.all[place]);
        own.take_while(|question| question.begin < end).collect()
    }

    fn at(&self, socket: u32, begin: u64) -> Option<Question> {
        let place = self.by_begin.get(&(socket, begin))?;
        Some(self.all[*place])
    }

    /// What the thread that read a request asked as soon as it had read it: in between it read nothing else
    /// and did not leave its CPU.
    pub(super) fn first_step(&self, inside: &Inside<'_>, walked: &Walked) -> Option<Question> {
        let joined = &walked.joined;
        let (begin, end) = joined.part(Phase::Service);
        let marks = inside.index.marks(joined.reader, begin, end);
        let is_own = |mark: &Mark| !mark.wrote && mark.socket == joined.socket;
        let read = marks.iter().position(is_own)?;
        let mut behind = marks[read..].iter().skip_while(|mark| is_own(mark));
        let next = behind.next().filter(|mark| mark.wrote)?;
        let offs = inside.index.offs(joined.reader, marks[read].at, next.at);
        self.at(next.socket, next.at).filter(|_| offs.is_empty())
    }

    /// The question whose answer let the request be answered.
    pub(super) fn last_step(
        &self,
        inside: &Inside<'_>,
        calls: &Calls,
        walked: &Walked,
    ) -> Option<Question> {
        let call = calls.last_step(inside, walked)?;
        self.at(call.socket, call.begin)
    }
}

impl Question {
    /// Whether another one may be this one once more: it goes to the same server, and is as long. Of a
    /// connection that was not accepted it is not known what would have been asked on it.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        match self.fate {
            Fate::Refused => self.remote.port() == other.remote.port(),
            _ => self.remote == other.remote && (self.bytes == other.bytes || other.bytes == 0),
        }
    }
}

/// What was asked on one connection.
fn on_one(inside: &Inside<'_>, socket: u32) -> Vec<Question> {
    let index = &inside.index;
    let Some(end) = index.sockets.end(socket) else {
        return Vec::new();
    };
    let mut all: Vec<Question> = Vec::new();
    for traffic in index.sockets.traffic(socket) {
        let known_until = |question: &Question| {
            let block = index.block_at(Nanos::new(question.begin.max(1)));
            block.map_or(0, |block| block.span.end.get())
        };
        // What was asked before a hole in the record may have been answered in it.
        let last = all.last_mut().filter(|q| traffic.at < known_until(q));
        match (traffic.kind, last) {
            (TrafficKind::Wrote, Some(last)) if last.fate == Fate::Silent => {
                last.bytes += u64::from(traffic.bytes);
            }
            (TrafficKind::Wrote, _) => all.push(Question {
                remote: end.remote,
                tid: traffic.tid,
                begin: traffic.at,
                bytes: traffic.bytes.into(),
                fate: Fate::Silent,
            }),
            (TrafficKind::Read, Some(last)) => last.fate = Fate::Answered(traffic.at),
            _ => {}
        }
    }
    all
}

/// Connections that the target began to make and that were not accepted: they are reset before anything was sent. On one host
/// that happens within the call that makes them, so that its thread is known.
fn refused(inside: &Inside<'_>) -> Vec<Question> {
    let sockets = &inside.index.sockets;
    let mut all = Vec::new();
    let mut reset = None;
    for event in &inside.trace().events {
        let at = event.at.get();
        let (socket, tid) = match event.what {
            What::Reset {
                socket,
                sent: false,
                ..
            } => {
                reset = Some((socket, at));
                continue;
            }
            What::State {
                socket,
                state: TCP_CLOSE,
                by,
            } => (socket, by),
            _ => continue,
        };
        let is_reset =
            reset.is_some_and(|(which, since)| which == socket && at - since <= REFUSED_WITHIN_NS);
        let end = sockets
            .end_at(socket)
            .filter(|&end| sockets.traffic(end).is_empty());
        let Some(end) = end.and_then(|end| sockets.end(end)) else {
            continue;
        };
        if is_reset && end.local.port() != 0 && !inside.is_clients(end) && inside.is_targets(tid) {
            all.push(Question {
                remote: end.remote,
                tid,
                begin: at,
                bytes: 0,
                fate: Fate::Refused,
            });
        }
    }
    all
}

//! What a server asks other servers while it is asked itself.

use crate::trace::calls::Asked;
use crate::trace::index::TrafficKind;
use crate::trace::inside::Inside;

/// A question on a connection, from when it is written until its reply is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question {
    /// The end of who asks.
    socket: u32,
    /// When it is written.
    pub(super) begin: u64,
    /// When the reply is read; until when that was waited for, if none is.
    pub(super) end: u64,
    /// Whether a reply is read.
    pub(super) is_answered: bool,
}

/// The thread that reads a question, and when it did.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader {
    /// The thread.
    pub(super) tid: u32,
    /// When it read the question.
    pub(super) at: u64,
}

impl Question {
    /// A call of the target.
    pub(super) const fn of(call: &Asked) -> Self {
        Self {
            socket: call.socket,
            begin: call.begin,
            end: call.end,
            is_answered: true,
        }
    }

    /// Its length.
    pub(super) const fn len_ns(&self) -> u64 {
        self.end.saturating_sub(self.begin)
    }

    /// The thread that reads it.
    pub(super) fn reader(&self, inside: &Inside<'_>) -> Option<Reader> {
        let sockets = &inside.index.sockets;
        let traffic = sockets.between(sockets.other(self.socket)?, self.begin, self.end);
        let read = traffic.iter().find(|t| t.kind == TrafficKind::Read)?;
        Some(Reader {
            tid: read.tid,
            at: read.at,
        })
    }

    /// The question that the thread which reads this one asks another server, if it waits for that for most of the time.
    pub(super) fn asked_in_turn(&self, inside: &Inside<'_>, reader: Reader) -> Option<Self> {
        let marks = inside.index.marks(reader.tid, reader.at, self.end).iter();
        let asks = marks.filter(|mark| mark.wrote && !inside.serves(mark.socket));
        let questions = asks.map(|mark| {
            let traffic = inside.index.sockets.between(mark.socket, mark.at, self.end);
            let reply = traffic.iter().find(|t| t.kind == TrafficKind::Read);
            Self {
                socket: mark.socket,
                begin: mark.at,
                end: reply.map_or(self.end, |reply| reply.at),
                is_answered: reply.is_some(),
            }
        });
        let longest = questions.max_by_key(Self::len_ns)?;
        (2 * longest.len_ns() > self.len_ns()).then_some(longest)
    }

    /// For how long by its end questions on its connection wait for a reply: a timeout is that of the first.
    pub(super) fn silent_ns(&self, inside: &Inside<'_>) -> u64 {
        let traffic = inside.index.sockets.traffic(self.socket);
        let until = traffic.partition_point(|t| t.at < self.end);
        let before = traffic[..until].iter().rev();
        let unanswered = before.take_while(|t| t.kind == TrafficKind::Wrote);
        let first = unanswered.last().map_or(self.begin, |t| t.at);
        self.end.saturating_sub(first)
    }
}

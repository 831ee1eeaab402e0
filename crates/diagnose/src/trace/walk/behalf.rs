//! For which request a thread that serves several connections is at work.
//!
//! It is seen in what it reads and writes: from reading another connection's request on it works
//! for that one, until it has answered it or has nothing to do.

use slowpath_core::trace::Call;

use crate::diagnosis::Phase;
use crate::trace::index::{Index, Mark, State};
use crate::trace::join::Joined;
use crate::trace::pieces::Behalf;

/// What a thread read and wrote of the target's connections around a request.
pub(super) struct Markers<'a> {
    marks: Vec<Mark>,
    /// The request's own connection.
    own: u32,
    /// From when on marks count: the thread had nothing to do before.
    since: u64,
    /// Whether the thread has been at work since before the request came.
    busy: bool,
    end: u64,
    index: &'a Index<'a>,
}

impl<'a> Markers<'a> {
    /// Of a thread, for the part of a request's time from `begin` to `end`.
    pub(super) fn new(
        index: &'a Index<'a>,
        joined: &Joined,
        tid: u32,
        (begin, end): (u64, u64),
    ) -> Self {
        let since = index.at_work_since(tid, begin);
        let mut markers = Self {
            marks: Vec::new(),
            own: joined.socket,
            since,
            busy: false,
            end,
            index,
        };
        let marks = index.marks(tid, since, end.saturating_add(1));
        let marks = marks.iter().filter(|mark| markers.is_server(mark.socket));
        markers.marks = marks.copied().collect();
        let (unread, read) = joined.part(Phase::Unread);
        markers.busy = (begin, end) == (unread, read) && markers.is_busy(tid, begin, end);
        markers
    }

    /// Whether a thread had something to do when a request came that it read later.
    fn is_busy(&self, tid: u32, begin: u64, end: u64) -> bool {
        let index = self.index;
        match index.slices(tid, begin, end).first().map(|s| s.state) {
            Some(State::Run | State::Ready(_)) => true,
            Some(State::Blocked(off)) => match off.call {
                // Threads wait for requests in these …
                None | Some(Call::Poll | Call::Accept | Call::Futex) => false,
                // … and in this, if it is the request's own connection that is read then.
                Some(Call::Read) => {
                    let next = index.marks(tid, off.end, end.saturating_add(1)).first();
                    next.is_some_and(|mark| mark.socket != self.own)
                }
                Some(_) => true,
            },
            _ => false,
        }
    }

    /// Whether a connection is one to the target, as the request's own is.
    fn is_server(&self, socket: u32) -> bool {
        let port = |end| self.index.sockets.end(end).map(|s| s.local.port());
        port(socket) == port(self.own)
    }

    /// The thread had nothing to do until `at`.
    pub(super) const fn idle(&mut self, at: u64) {
        self.since = at;
        self.busy = false;
    }

    /// For which request it is at work at `at`.
    pub(super) fn behalf(&self, at: u64) -> Behalf {
        let behind = self.marks.partition_point(|mark| mark.at <= at);
        let before = self.marks[..behind].last().filter(|m| m.at >= self.since);
        let next = self.marks.get(behind).filter(|m| m.at <= self.end);
        let next_is_other = next.is_some_and(|mark| mark.socket != self.own);
        match before {
            // What it did on the request's connection before it read the request belongs to one
            // before, and what it does after an answer to none.
            Some(mark) if mark.socket == self.own && !self.busy => Behalf::Own,
            Some(mark) if mark.socket != self.own && !mark.wrote => Behalf::Other,
            _ if next_is_other => Behalf::Other,
            _ if self.busy => Behalf::Background,
            _ => Behalf::Own,
        }
    }

    /// A stretch of its time, cut where it reads or writes.
    pub(super) fn cut(&self, begin: u64, end: u64) -> Vec<(u64, u64, Behalf)> {
        let inside = |mark: &&Mark| mark.at > begin && mark.at < end;
        let cuts = self.marks.iter().filter(inside).map(|mark| mark.at);
        let mut out = Vec::new();
        let mut at = begin;
        for cut in cuts.chain([end]) {
            if cut > at {
                out.push((at, cut, self.behalf(at)));
                at = cut;
            }
        }
        out
    }
}

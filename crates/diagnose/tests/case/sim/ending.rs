//! What a server does to connections: it ends them, has no room for them, or is replaced.

use slowpath_core::nanos::Nanos;

use super::super::ends::{End, Met};
use super::{Event, Sim, one_way, span};

impl Sim<'_> {
    /// How a request ends that is not served; `None` if it is.
    pub(super) fn turned_away(&self, now: u64, index: usize, met: Met) -> Option<End> {
        if let Met::Closing(end) = met {
            return Some(end);
        }
        let sample = &self.requests[index].sample;
        let ports = self.case.ports.map_or(u64::MAX, u64::from);
        if sample.connect_begin.is_some() && self.facts.opened > ports {
            return Some(End::NoPort);
        }
        let down = self.case.restarts.filter(|r| !r.gracefully);
        if sample.connect_begin.is_some() && down.is_some_and(|r| r.reached(self.begin, now) > now)
        {
            return Some(End::Refused);
        }
        let room = self.case.room?;
        let full = self.served.len() >= room.connections as usize;
        room.beyond
            .filter(|_| full && !self.served.contains(&sample.connection))
    }

    /// When a request comes to a thread; `None` if its connection is never accepted.
    pub(super) fn let_in(&mut self, arrives: u64, index: usize) -> Option<u64> {
        let serial = self.requests[index].sample.connection;
        if let Some(room) = self.case.room
            && !self.served.contains(&serial)
        {
            if self.served.len() >= room.connections as usize {
                return None;
            }
            self.served.insert(serial);
            self.seen.taken_in.push((arrives, 1));
        }
        if self.case.accepts.is_some() && !self.served.contains(&serial) {
            return self.accept(arrives, index);
        }
        Some(match self.case.restarts.filter(|r| r.gracefully) {
            Some(restarts) => restarts.reached(self.begin, arrives),
            None => arrives,
        })
    }

    /// When a request comes to a thread whose connection is new; `None` if that is not known yet.
    fn accept(&mut self, arrives: u64, index: usize) -> Option<u64> {
        let accepts = self.case.accepts?;
        if accepts.by_workers {
            return Some(arrives);
        }
        let full = |most| self.served.len() >= most as usize;
        if accepts.most.is_some_and(full) {
            self.unaccepted.push_back(index);
            return None;
        }
        let made = self.made(index);
        let at = accepts.back(self.begin, made.max(self.acceptor_free));
        let each = accepts.each.map_or(0, |each| each.draw(&mut self.random));
        let greets = accepts
            .greets
            .map_or(0, |greets| greets.draw(&mut self.random));
        self.acceptor_free = at + each;
        self.accepted(at, index);
        Some(arrives.max(at + greets))
    }

    /// When the kernel had made the connection of a request.
    fn made(&self, index: usize) -> u64 {
        let sample = &self.requests[index].sample;
        sample.connected.map_or(self.begin, Nanos::get)
    }

    /// A connection leaves the listener's queue.
    pub(super) fn accepted(&mut self, at: u64, index: usize) {
        let made = self.made(index);
        self.seen.queued.push(span(made, at.max(made)));
        self.served.insert(self.requests[index].sample.connection);
        self.seen.taken_in.push((at, 1));
    }

    /// The server's end of a connection is no more.
    pub(super) fn let_go_of(&mut self, at: u64, serial: u32) {
        if self.served.remove(&serial) {
            self.seen.taken_in.push((at, -1));
            if let Some(next) = self.unaccepted.pop_front() {
                self.accepted(at, next);
                self.push(at, Event::Arrives(next));
            }
        }
    }

    pub(super) fn next_restart(&mut self, after: u64) {
        if let Some(restarts) = self.case.restarts {
            let at = restarts.next(self.begin, after + 1);
            if at < self.facts.window.end.get() {
                self.push(at, Event::Restarts);
            }
        }
    }

    /// The server's process ends, and another one begins.
    pub(super) fn restarts(&mut self, at: u64) {
        let restarts = self.case.restarts.expect("it was scheduled");
        self.seen.lives.push(span(self.life_begin, at));
        self.life_begin = at + restarts.lasts.0 / 2;
        for connection in &mut self.idle {
            self.facts.stale += u64::from(connection.dialled);
            connection.dialled = false;
        }
        if !restarts.gracefully {
            for index in 0..self.busy.len() {
                if self.busy[index].is_some() {
                    self.ends_at(at, index, restarts.outcome);
                }
            }
        }
        self.next_restart(at);
    }

    /// The server resets or closes the connection of a request when it comes.
    pub(super) fn ends_at(&mut self, sent: u64, index: usize, end: End) {
        let arrives = sent + one_way(self.case, &mut self.random);
        let port = self.requests[index].sample.local_port;
        if !end.is_of_dial() {
            self.seen.ended.push((arrives, port, end));
        }
        let at = arrives + one_way(self.case, &mut self.random);
        self.push(at, Event::Ends(index, end));
    }

    pub(super) fn ends(&mut self, at: u64, index: usize, end: End) {
        if !self.requests[index].finished {
            end.put(&mut self.requests[index].sample, at);
            self.finish(at, index, false);
        }
    }
}

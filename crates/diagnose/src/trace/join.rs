//! Which of the server's events belong to a request.
//!
//! A request is found by its connection: the client's port, and the time between its first byte
//! and its last. That takes a connection for itself; where several requests are under way on one
//! (HTTP/2), nothing says which of them a thread is at work for.

use slowpath_core::nanos::Nanos;
use slowpath_core::samples::SampleRef;
use slowpath_core::trace::is_unix;

use super::index::{Index, Traffic, TrafficKind};
use super::ports::Ports;
use crate::diagnosis::Phase;

/// How much later than the client has read the answer the server's write may be reported to have
/// happened: it is recorded when the call returns, and on one host the client may be faster.
pub(crate) const WRITE_TOLD_LATE_NS: u64 = 2_000_000;

/// A request with what the server did for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Joined {
    /// Where it stands in the record's samples.
    pub sample: u32,
    /// The server's end of its connection.
    pub socket: u32,
    /// The thread that read it.
    pub reader: u32,
    /// The thread that wrote the end of the answer; the reader, if no write was recorded.
    pub writer: u32,
    /// Where one part ends and the next begins, from the scheduled instant to the end.
    pub bounds: [u64; Phase::ALL.len() + 1],
}

impl Joined {
    /// When a part began and ended.
    pub const fn part(&self, segment: Phase) -> (u64, u64) {
        let place = segment as usize;
        (self.bounds[place], self.bounds[place + 1])
    }

    /// How long a part took.
    pub const fn part_ns(&self, segment: Phase) -> u64 {
        let (begin, end) = self.part(segment);
        end - begin
    }

    /// How long it all took.
    pub const fn latency_ns(&self) -> u64 {
        self.bounds[Phase::ALL.len()] - self.bounds[0]
    }
}

/// Why a request could not be joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unjoined {
    /// It lies in a stretch that was left untraced on purpose, wholly or in part.
    LeftOut,
    /// It lies where nothing was recorded.
    Outside,
    /// Only what threads do was recorded, not what they read.
    NoSockets,
    /// It has no port: no TCP.
    NoPort,
    /// Others were under way on its connection.
    Shared,
    /// Records were lost around it, and its own may be among them.
    Lost,
    /// Its connection was not seen.
    NoConnection,
    /// Nothing was read from its connection in its time.
    NotRead,
}

impl Unjoined {
    /// Every reason.
    pub const ALL: [Self; 8] = [
        Self::LeftOut,
        Self::Outside,
        Self::NoSockets,
        Self::NoPort,
        Self::Shared,
        Self::Lost,
        Self::NoConnection,
        Self::NotRead,
    ];

    /// For people.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::LeftOut => "in stretches left untraced to see what tracing costs",
            Self::Outside => "outside of what was traced",
            Self::NoSockets => "which thread read which request is known from tracepoints only",
            Self::NoPort => "not over TCP",
            Self::Shared => "others were under way on the connection",
            Self::Lost => "records were lost around it",
            Self::NoConnection => "its connection was not seen",
            Self::NotRead => "nothing was read from its connection in its time",
        }
    }
}

/// Finds what the server did for requests.
#[derive(Debug)]
pub struct Joiner<'a> {
    index: &'a Index<'a>,
    ports: Ports,
}

impl<'a> Joiner<'a> {
    /// For a target that listened there.
    pub const fn new(index: &'a Index<'a>, ports: Ports) -> Self {
        Self { index, ports }
    }

    /// Finds what the server did for a request at a position of the record's samples, which has
    /// its connection for itself.
    ///
    /// # Errors
    ///
    /// Why it is not known.
    pub fn join(&self, position: u32, sample: SampleRef<'_>) -> Result<Joined, Unjoined> {
        let port = sample.local_port();
        if port == 0 {
            return Err(Unjoined::NoPort);
        }
        let begun = begun(sample);
        let done = sample.done().get();
        let ends = self.index.sockets.with_remote_port(port).iter().copied();
        let ends = ends.filter(|&end| self.is_target(end));
        let mut unjoined = Unjoined::NoConnection;
        for end in ends {
            unjoined = Unjoined::NotRead;
            let traffic = self
                .index
                .sockets
                .between(end, begun, done + WRITE_TOLD_LATE_NS);
            if let Some(served) = Served::of(traffic, done) {
                let answered = served.answered.unwrap_or(done);
                let at_client = self.arrived_at_client(end, served.read.at, done);
                let answered = at_client.map_or(answered, |at| at.min(answered));
                let bounds = bounds(sample, served.arrived, served.read.at, answered);
                return Ok(Joined {
                    sample: position,
                    socket: end,
                    reader: served.read.tid,
                    writer: served.writer.unwrap_or(served.read.tid),
                    bounds,
                });
            }
        }
        Err(self.unless_lost(sample, unjoined))
    }

    /// Whether an end of a connection is one that the target accepted.
    fn is_target(&self, end: u32) -> bool {
        let own = self.index.sockets.end(end);
        own.is_some_and(|own| self.ports.may_hold(own.local.port()) && !is_unix(own.local))
    }

    /// When the last of the answer came to the client's own end, where that was recorded.
    fn arrived_at_client(&self, end: u32, read: u64, done: u64) -> Option<u64> {
        let other = self.index.sockets.other(end)?;
        let traffic = self.index.sockets.between(other, read, done + 1);
        let mut arrived = traffic.iter().filter(|t| t.kind == TrafficKind::Arrived);
        arrived.next_back().map(|t| t.at)
    }

    fn unless_lost(&self, sample: SampleRef<'_>, why: Unjoined) -> Unjoined {
        let block = self.index.block_at(sample.done());
        if block.is_some_and(|block| block.lost > 0) {
            Unjoined::Lost
        } else {
            why
        }
    }
}

/// From when on data on a request's connection may be the request's.
fn begun(sample: SampleRef<'_>) -> u64 {
    let made = sample.secured().or(sample.connected());
    made.map_or(sample.ready(), |at| at.max(sample.ready()))
        .get()
}

/// What happened at the server's end in a request's time.
struct Served {
    arrived: u64,
    read: Traffic,
    answered: Option<u64>,
    writer: Option<u32>,
}

impl Served {
    fn of(traffic: &[Traffic], done: u64) -> Option<Self> {
        let first = |kind: TrafficKind| traffic.iter().position(move |t| t.kind == kind);
        let reads = first(TrafficKind::Read)?;
        let read = traffic[reads];
        let arrived = match first(TrafficKind::Arrived) {
            Some(place) if place < reads => traffic[place].at,
            _ => read.at,
        };
        if read.at > done {
            return None;
        }
        // What comes after the client had its answer is the next request's.
        let behind = &traffic[reads..];
        let next = |t: &Traffic| t.at > done && t.kind == TrafficKind::Arrived;
        let own = behind.iter().position(next).unwrap_or(behind.len());
        let mut behind = behind[..own].iter().rev();
        let last = behind.find(|t| t.kind == TrafficKind::Wrote);
        Some(Self {
            arrived,
            read,
            answered: last.map(|t| t.at),
            writer: last.map(|t| t.tid),
        })
    }
}

/// Where the parts of a request begin, none before the one that comes before it.
fn bounds(
    sample: SampleRef<'_>,
    arrived: u64,
    read: u64,
    answered: u64,
) -> [u64; Phase::ALL.len() + 1] {
    let made = sample.secured().or(sample.connected());
    let sent = sample.sent().unwrap_or(sample.done());
    let dialled = sample.connect_begin();
    let lag_ends = dialled.unwrap_or(sent);
    let connected = made.filter(|_| dialled.is_some()).unwrap_or(lag_ends);
    let all = [
        sample.scheduled(),
        sample.ready(),
        lag_ends,
        connected,
        Nanos::new(arrived.max(1)),
        Nanos::new(read.max(1)),
        Nanos::new(answered.max(1)),
        sample.done(),
    ];
    let mut bounds = all.map(Nanos::get);
    // On one host the data may be there before the client has noted that it sent it.
    bounds[2] = bounds[2].min(bounds[4]);
    let done = bounds[7].max(bounds[0]);
    let mut at = bounds[0];
    for bound in &mut bounds {
        *bound = (*bound).clamp(at, done);
        at = *bound;
    }
    bounds[7] = done;
    bounds
}

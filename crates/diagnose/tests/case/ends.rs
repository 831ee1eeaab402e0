//! How a simulated server ends connections that work.

use serde::Deserialize;
use slowpath_core::nanos::Nanos;
use slowpath_core::sample::{Outcome, Phase, Sample};

use super::dist::{Dist, Time};
use super::spec::When;

/// When a server closes a connection without saying so in an answer.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Keeps {
    /// Once it was idle for this long …
    pub(crate) idle: Option<Time>,
    /// … or has carried so many requests …
    pub(crate) requests: Option<u32>,
    /// … or is so old.
    pub(crate) age: Option<Time>,
    /// A request that is sent within this of the close meets it; later ones find the connection
    /// closed.
    #[serde(default = "twenty_milliseconds")]
    pub(crate) meets: Time,
    #[serde(default)]
    pub(crate) outcome: End,
}

/// What a request that meets the close sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum End {
    #[default]
    Reset,
    Closed,
    BrokenPipe,
    /// No process listens.
    Refused,
    /// The client has no local port left.
    NoPort,
}

/// Processes of the server that end, each followed by another.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Restarts {
    pub(crate) every: Time,
    #[serde(default)]
    pub(crate) at: Time,
    /// Until the next one serves; no connection can be made before.
    pub(crate) lasts: Time,
    /// Whether new requests wait until then, since the listener is kept open, and what is under way
    /// is finished before.
    #[serde(default)]
    pub(crate) gracefully: bool,
    #[serde(default)]
    pub(crate) outcome: End,
}

/// How many connections the server has room for.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Room {
    pub(crate) connections: u32,
    /// What happens to others; they wait without it.
    pub(crate) beyond: Option<End>,
    /// Whether it is the limit on its descriptors.
    #[serde(default)]
    pub(crate) descriptors: bool,
}

/// The rate at which a server lets requests pass, once it has read them: a bucket (`limit_req` of nginx).
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Limit {
    /// One in so long …
    pub(crate) every: Time,
    /// … and so many more at once after a rest.
    #[serde(default)]
    pub(crate) at_once: u32,
    /// No clock decides when the next one may pass, but the one before: so much later each time.
    pub(crate) late: Option<Dist>,
    /// Others wait, of which there are no more than this; all without it.
    pub(crate) waiting: Option<u32>,
    /// Whether each key has a bucket of its own.
    #[serde(default)]
    pub(crate) each_key: bool,
    /// The status that refuses the rest.
    #[serde(default = "unavailable")]
    pub(crate) refuses: u16,
}

const fn unavailable() -> u16 {
    503
}

/// How the server takes connections out of the listener's queue.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Accepts {
    /// The acceptor does something else in these stretches of time …
    pub(crate) away: Option<When>,
    /// … and for so long once it has handed a connection on.
    pub(crate) each: Option<Dist>,
    /// What is done for each connection once it is accepted, all at the same time.
    pub(crate) greets: Option<Dist>,
    /// It accepts no more than so many at a time; others wait until one is given up.
    pub(crate) most: Option<u32>,
    /// Threads accept for themselves when they are free, and serve each connection to its end.
    #[serde(default)]
    pub(crate) by_workers: bool,
}

impl Accepts {
    /// When the acceptor is there, from `now` on; `load` is the begin of the load.
    pub(super) fn back(&self, load: u64, now: u64) -> u64 {
        match self.away {
            Some(away) if away.holds(now - load) => {
                let since = (now - load - away.at.0) % away.every.0.max(1);
                now + away.lasts.0 - since
            }
            _ => now,
        }
    }
}

impl Restarts {
    /// When the next one is, from `after` on.
    pub(super) fn next(&self, load: u64, after: u64) -> u64 {
        let first = load + self.at.0;
        if after <= first {
            return first;
        }
        first + (after - first).div_ceil(self.every.0.max(1)) * self.every.0
    }

    /// When the server can be reached, for a client that tries at `now`.
    pub(super) fn reached(&self, load: u64, now: u64) -> u64 {
        let first = load + self.at.0;
        if now < first {
            return now;
        }
        let since = (now - first) % self.every.0.max(1);
        now + self.lasts.0.saturating_sub(since)
    }
}

const fn twenty_milliseconds() -> Time {
    Time(20_000_000)
}

/// A connection of the client.
pub(super) struct Connection {
    pub(super) dialled: bool,
    pub(super) serial: u32,
    pub(super) carried: u32,
    pub(super) since: u64,
    pub(super) idle_since: u64,
}

/// What a request finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Met {
    Open,
    /// It is closed under the request.
    Closing(End),
    /// It was closed before.
    Stale,
}

impl Keeps {
    pub(super) fn met(&self, now: u64, connection: &Connection) -> Met {
        let full = |limit: u32| (connection.carried >= limit).then_some(connection.idle_since);
        let closes = [
            self.idle.map(|idle| connection.idle_since + idle.0),
            self.requests.and_then(full),
            self.age.map(|age| connection.since + age.0),
        ];
        match closes.into_iter().flatten().min() {
            Some(at) if now >= at + self.meets.0 => Met::Stale,
            Some(at) if now >= at => Met::Closing(self.outcome),
            _ => Met::Open,
        }
    }
}

impl End {
    /// Whether there was never a connection.
    pub(super) fn is_of_dial(self) -> bool {
        matches!(self, Self::Refused | Self::NoPort)
    }

    /// Makes a request one that met this.
    pub(super) fn put(self, sample: &mut Sample, at: u64) {
        let (outcome, phase, errno) = match self {
            Self::Reset => (Outcome::Reset, Phase::FirstByte, 104),
            Self::Closed => (Outcome::Closed, Phase::FirstByte, 0),
            Self::BrokenPipe => (Outcome::BrokenPipe, Phase::Send, 32),
            Self::Refused => (Outcome::Refused, Phase::Connect, 111),
            Self::NoPort => (Outcome::PortsExhausted, Phase::Connect, 99),
        };
        if self.is_of_dial() {
            (sample.connected, sample.sent, sample.connection_since) = (None, None, None);
        }
        (sample.outcome, sample.phase, sample.errno) = (outcome, phase, errno);
        (sample.status, sample.first_byte, sample.gap_begin) = (0, None, None);
        (sample.received_bytes, sample.gap_ns) = (0, 0);
        sample.done = Nanos::new(at);
    }
}

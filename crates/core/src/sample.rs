//! One request: when each of its phases happened and how it ended.

use serde::{Deserialize, Serialize};

use crate::nanos::Nanos;

/// No key, no user: stands in [`Sample::key`] and [`Sample::user`].
pub const NONE: u32 = u32::MAX;

/// Whether a request counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Scheduled before the measured window: kept as evidence, left out of every figure.
    Warmup,
    /// Scheduled inside the measured window.
    Measured,
}

/// The part of a request's life in which something happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Making a connection.
    Connect,
    /// Writing the request.
    Send,
    /// Waiting for the first byte of the response.
    FirstByte,
    /// Reading the rest of the response.
    Body,
    /// The response is whole; it is checked against what the scenario expects.
    Check,
    /// The TLS handshake, between connecting and sending. Last, because codes of phases are stored.
    Handshake,
}

impl Phase {
    /// The name used in files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Send => "send",
            Self::FirstByte => "first-byte",
            Self::Body => "body",
            Self::Check => "check",
            Self::Handshake => "handshake",
        }
    }

    /// Every phase; the position is its code in stored samples and never changes.
    pub const ALL: [Self; 6] = [
        Self::Connect,
        Self::Send,
        Self::FirstByte,
        Self::Body,
        Self::Check,
        Self::Handshake,
    ];
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// A whole response that meets what the scenario expects.
    Ok,
    /// Nothing came within the time limit: the latency is only known to be longer (censored).
    Timeout,
    /// The run ended (or was interrupted) while it was under way: censored too.
    Unfinished,
    /// The connection was refused (`ECONNREFUSED`).
    Refused,
    /// The connection was reset (`ECONNRESET`).
    Reset,
    /// The peer had closed when we wrote (`EPIPE`).
    BrokenPipe,
    /// The peer closed in good order before the first byte of a response.
    Closed,
    /// The peer closed in good order inside a response.
    Truncated,
    /// What came is not an HTTP response.
    BadResponse,
    /// A whole response with a status that was not expected.
    Status,
    /// A whole response that does not meet another expectation.
    Check,
    /// The network or host cannot be reached.
    Unreachable,
    /// This host ran out of local ports (`EADDRNOTAVAIL`).
    PortsExhausted,
    /// slowpath ran out of file descriptors (`EMFILE`, `ENFILE`).
    FilesExhausted,
    /// Any other error of the operating system; the errno says which.
    Io,
    /// The TLS handshake failed, or what came later breaks the TLS protocol.
    Tls,
    /// The peer reset this one stream of an HTTP/2 connection (`RST_STREAM`).
    StreamReset,
    /// A whole stream of events, but not as many as the scenario expects.
    Events,
}

impl Outcome {
    /// Every outcome; the position is its code in stored samples and never changes.
    pub const ALL: [Self; 18] = [
        Self::Ok,
        Self::Timeout,
        Self::Unfinished,
        Self::Refused,
        Self::Reset,
        Self::BrokenPipe,
        Self::Closed,
        Self::Truncated,
        Self::BadResponse,
        Self::Status,
        Self::Check,
        Self::Unreachable,
        Self::PortsExhausted,
        Self::FilesExhausted,
        Self::Io,
        Self::Tls,
        Self::StreamReset,
        Self::Events,
    ];

    /// The error class in files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Timeout => "timeout",
            Self::Unfinished => "unfinished",
            Self::Refused => "refused",
            Self::Reset => "reset",
            Self::BrokenPipe => "broken-pipe",
            Self::Closed => "closed",
            Self::Truncated => "truncated",
            Self::BadResponse => "bad-response",
            Self::Status => "status",
            Self::Check => "check",
            Self::Unreachable => "unreachable",
            Self::PortsExhausted => "ports-exhausted",
            Self::FilesExhausted => "files-exhausted",
            Self::Io => "io",
            Self::Tls => "tls",
            Self::StreamReset => "stream-reset",
            Self::Events => "events",
        }
    }

    /// Whether the request failed. Unfinished requests did not fail: the run ended first.
    pub const fn is_error(self) -> bool {
        !matches!(self, Self::Ok | Self::Unfinished)
    }

    /// Whether only a lower bound of the latency is known.
    pub const fn is_censored(self) -> bool {
        matches!(self, Self::Timeout | Self::Unfinished)
    }
}

/// One request. Instants that did not happen are `None`; a failure keeps the times it reached.
/// All requests of a run together are [`crate::samples::Samples`], which take a fifth of the room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// When the plan wanted it sent. Latency starts here.
    pub scheduled: Nanos,
    /// When a connection was free for it: `scheduled`, or later if all were busy.
    pub ready: Nanos,
    /// When it began to dial a connection of its own, if it did.
    pub connect_begin: Option<Nanos>,
    /// When that connection was there, before any TLS handshake.
    pub connected: Option<Nanos>,
    /// When the TLS handshake on that connection was over; `None` without one.
    pub secured: Option<Nanos>,
    /// When the connection it used was made, by whichever request or ahead of all: its age.
    pub connection_since: Option<Nanos>,
    /// When the kernel had taken its first byte.
    pub sent: Option<Nanos>,
    /// When the first byte of the response was read.
    pub first_byte: Option<Nanos>,
    /// When the first event of a streamed response was whole.
    pub first_event: Option<Nanos>,
    /// When the longest silence inside the response began: after its first byte, or, of a stream of
    /// events, after its first event.
    pub gap_begin: Option<Nanos>,
    /// Length of that silence; zero if the response came in one read.
    pub gap_ns: u64,
    /// When it ended: last byte read, failure seen, or time limit reached.
    pub done: Nanos,
    /// Bytes of the response read so far.
    pub received_bytes: u64,
    /// How long its connection had been idle before; zero on a new one.
    pub idle_before_ns: u64,
    /// Bytes of the request written.
    pub sent_bytes: u32,
    /// Serial number within its run and repeat, in order of schedule; the seed of its trace id.
    pub serial: u32,
    /// Connection's serial number within the repeat; [`NONE`] if it never had one.
    pub connection: u32,
    /// How many requests the connection had carried before.
    pub index_on_connection: u32,
    /// Requests under way when it was sent, itself not counted.
    pub in_flight: u32,
    /// Whole events received, of a streamed response.
    pub events: u32,
    /// Position in [`crate::record::RunRecord::keys`], or [`NONE`].
    pub key: u32,
    /// Closed loop: which user; [`NONE`] in an open loop.
    pub user: u32,
    /// Which repeat of the run, from 0.
    pub repeat: u16,
    /// Position of its endpoint in the plan.
    pub endpoint: u16,
    /// Our port, which joins it with what the kernel and the server saw; 0 if unknown.
    pub local_port: u16,
    /// HTTP status; 0 if none came.
    pub status: u16,
    /// The errno of a failure; 0 if none.
    pub errno: u16,
    /// Warm-up or measured.
    pub stage: Stage,
    /// How it ended.
    pub outcome: Outcome,
    /// In which phase it ended; [`Phase::Check`] for a whole response.
    pub phase: Phase,
}

impl Sample {
    /// A request to which nothing has happened yet but that it is due.
    pub const fn due(scheduled: Nanos) -> Self {
        Self {
            scheduled,
            ready: scheduled,
            connect_begin: None,
            connected: None,
            secured: None,
            connection_since: None,
            sent: None,
            first_byte: None,
            first_event: None,
            gap_begin: None,
            gap_ns: 0,
            done: scheduled,
            received_bytes: 0,
            idle_before_ns: 0,
            sent_bytes: 0,
            serial: 0,
            connection: NONE,
            index_on_connection: 0,
            in_flight: 0,
            events: 0,
            key: NONE,
            user: NONE,
            repeat: 0,
            endpoint: 0,
            local_port: 0,
            status: 0,
            errno: 0,
            stage: Stage::Warmup,
            outcome: Outcome::Unfinished,
            phase: Phase::Connect,
        }
    }

    /// From the scheduled instant to the end: what a user waits. A lower bound if censored.
    pub fn latency_ns(&self) -> u64 {
        self.done.since(self.scheduled)
    }

    /// From the first byte written to the end; `None` if nothing was written.
    pub fn service_ns(&self) -> Option<u64> {
        self.sent.map(|sent| self.done.since(sent))
    }

    /// How long it waited because every connection was busy.
    pub fn queued_ns(&self) -> u64 {
        self.ready.since(self.scheduled)
    }

    /// How late slowpath itself was: a connection was free, or dialling could begin, and nothing
    /// happened. `None` if it was never picked up.
    pub fn lag_ns(&self) -> Option<u64> {
        let begun = self.connect_begin.or(self.sent)?;
        let dialled_to_sent = match (self.secured.or(self.connected), self.sent) {
            (Some(connected), Some(sent)) => sent.since(connected),
            _ => 0,
        };
        Some(begun.since(self.ready) + dialled_to_sent)
    }

    /// The time from `sent` to the first whole event.
    pub fn first_event_ns(&self) -> Option<u64> {
        Some(self.first_event?.since(self.sent?))
    }

    /// Its W3C trace id within a run: the run's seed and repeat, then its serial number.
    pub fn trace_id(seed: u64, repeat: u16, serial: u32) -> u128 {
        let low = (u128::from(repeat) << 32) | u128::from(serial);
        // An all-zero id is invalid (W3C Trace Context 3.2.2.3); the marker bit keeps it away.
        (u128::from(seed) << 64) | (1 << 63) | low
    }
}

/// One whole event of a streamed response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamEvent {
    /// When its last byte was read.
    pub at: Nanos,
    /// The serial number of its request.
    pub serial: u32,
    /// How many events of the response came before it.
    pub index: u32,
    /// Length of its data in bytes; the largest number for all that are larger.
    pub data_bytes: u32,
    /// The repeat of its request.
    pub repeat: u16,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_outcomes_are_their_positions() {
        for (code, outcome) in Outcome::ALL.iter().enumerate() {
            assert_eq!(*outcome as usize, code);
        }
        for (code, phase) in Phase::ALL.iter().enumerate() {
            assert_eq!(*phase as usize, code);
        }
    }
}

//! What a request has: its fields as numbers, for whatever goes over them column by column.

use crate::nanos::{Nanos, stored};
use crate::sample::{NONE, Outcome, Phase, Sample, Stage};

/// A field of a request. As a number an instant that did not happen is 0, and a missing
/// connection, key or user is [`NONE`]; stages, outcomes and phases are their codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// [`Sample::scheduled`].
    Scheduled,
    /// [`Sample::ready`].
    Ready,
    /// [`Sample::connect_begin`].
    ConnectBegin,
    /// [`Sample::connected`].
    Connected,
    /// [`Sample::secured`].
    Secured,
    /// [`Sample::connection_since`].
    ConnectionSince,
    /// [`Sample::sent`].
    Sent,
    /// [`Sample::first_byte`].
    FirstByte,
    /// [`Sample::first_event`].
    FirstEvent,
    /// [`Sample::gap_begin`].
    GapBegin,
    /// [`Sample::gap_ns`].
    GapNs,
    /// [`Sample::done`].
    Done,
    /// [`Sample::received_bytes`].
    ReceivedBytes,
    /// [`Sample::idle_before_ns`].
    IdleBeforeNs,
    /// [`Sample::sent_bytes`].
    SentBytes,
    /// [`Sample::serial`].
    Serial,
    /// [`Sample::connection`].
    Connection,
    /// [`Sample::index_on_connection`].
    IndexOnConnection,
    /// [`Sample::in_flight`].
    InFlight,
    /// [`Sample::events`].
    Events,
    /// [`Sample::key`].
    Key,
    /// [`Sample::user`].
    User,
    /// [`Sample::repeat`].
    Repeat,
    /// [`Sample::endpoint`].
    Endpoint,
    /// [`Sample::local_port`].
    LocalPort,
    /// [`Sample::status`].
    Status,
    /// [`Sample::errno`].
    Errno,
    /// [`Sample::stage`].
    Stage,
    /// [`Sample::outcome`].
    Outcome,
    /// [`Sample::phase`].
    Phase,
}

/// What a field's numbers count from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// Zero.
    Zero,
    /// The request's scheduled instant.
    Scheduled,
    /// The request's place in its block: numbers in order of schedule grow with it.
    Row,
}

impl Field {
    /// Every field, in the order of their codes.
    pub const ALL: [Self; 30] = [
        Self::Scheduled,
        Self::Ready,
        Self::ConnectBegin,
        Self::Connected,
        Self::Secured,
        Self::ConnectionSince,
        Self::Sent,
        Self::FirstByte,
        Self::FirstEvent,
        Self::GapBegin,
        Self::GapNs,
        Self::Done,
        Self::ReceivedBytes,
        Self::IdleBeforeNs,
        Self::SentBytes,
        Self::Serial,
        Self::Connection,
        Self::IndexOnConnection,
        Self::InFlight,
        Self::Events,
        Self::Key,
        Self::User,
        Self::Repeat,
        Self::Endpoint,
        Self::LocalPort,
        Self::Status,
        Self::Errno,
        Self::Stage,
        Self::Outcome,
        Self::Phase,
    ];

    /// The field of a request as a number.
    pub fn of(self, sample: &Sample) -> u64 {
        match self {
            Self::Scheduled => sample.scheduled.get(),
            Self::Ready => sample.ready.get(),
            Self::ConnectBegin => stored(sample.connect_begin),
            Self::Connected => stored(sample.connected),
            Self::Secured => stored(sample.secured),
            Self::ConnectionSince => stored(sample.connection_since),
            Self::Sent => stored(sample.sent),
            Self::FirstByte => stored(sample.first_byte),
            Self::FirstEvent => stored(sample.first_event),
            Self::GapBegin => stored(sample.gap_begin),
            Self::GapNs => sample.gap_ns,
            Self::Done => sample.done.get(),
            Self::ReceivedBytes => sample.received_bytes,
            Self::IdleBeforeNs => sample.idle_before_ns,
            Self::SentBytes => sample.sent_bytes.into(),
            Self::Serial => sample.serial.into(),
            Self::Connection => sample.connection.into(),
            Self::IndexOnConnection => sample.index_on_connection.into(),
            Self::InFlight => sample.in_flight.into(),
            Self::Events => sample.events.into(),
            Self::Key => sample.key.into(),
            Self::User => sample.user.into(),
            Self::Repeat => sample.repeat.into(),
            Self::Endpoint => sample.endpoint.into(),
            Self::LocalPort => sample.local_port.into(),
            Self::Status => sample.status.into(),
            Self::Errno => sample.errno.into(),
            Self::Stage => sample.stage as u64,
            Self::Outcome => sample.outcome as u64,
            Self::Phase => sample.phase as u64,
        }
    }

    /// Whether a number can be this field's, [`Field::nothing`] left aside.
    pub fn takes(self, value: u64) -> bool {
        match self {
            Self::Scheduled
            | Self::Ready
            | Self::Done
            | Self::ConnectBegin
            | Self::Connected
            | Self::Secured
            | Self::ConnectionSince
            | Self::Sent
            | Self::FirstByte
            | Self::FirstEvent
            | Self::GapBegin => value > 0,
            Self::GapNs | Self::ReceivedBytes | Self::IdleBeforeNs => true,
            Self::SentBytes
            | Self::Serial
            | Self::Connection
            | Self::IndexOnConnection
            | Self::InFlight
            | Self::Events
            | Self::Key
            | Self::User => u32::try_from(value).is_ok(),
            Self::Repeat | Self::Endpoint | Self::LocalPort | Self::Status | Self::Errno => {
                u16::try_from(value).is_ok()
            }
            Self::Stage => value < 2,
            Self::Outcome => value < Outcome::ALL.len() as u64,
            Self::Phase => value < Phase::ALL.len() as u64,
        }
    }

    /// The number that means nothing, if one does.
    pub fn nothing(self) -> Option<u64> {
        match self {
            Self::ConnectBegin
            | Self::Connected
            | Self::Secured
            | Self::ConnectionSince
            | Self::Sent
            | Self::FirstByte
            | Self::FirstEvent
            | Self::GapBegin
            | Self::Events
            | Self::LocalPort
            | Self::Status
            | Self::Errno => Some(0),
            Self::Connection | Self::Key | Self::User => Some(NONE.into()),
            _ => None,
        }
    }

    pub(super) fn origin(self) -> Origin {
        match self {
            Self::Ready
            | Self::ConnectBegin
            | Self::Connected
            | Self::Secured
            | Self::Sent
            | Self::FirstByte
            | Self::FirstEvent
            | Self::GapBegin
            | Self::Done => Origin::Scheduled,
            Self::Serial => Origin::Row,
            _ => Origin::Zero,
        }
    }
}

/// The stage of a code.
pub(super) fn stage(code: u64) -> Stage {
    if code == Stage::Warmup as u64 {
        Stage::Warmup
    } else {
        Stage::Measured
    }
}

/// The outcome of a code.
#[inline]
pub(super) fn outcome(code: u64) -> Outcome {
    Outcome::ALL
        .get(code as usize)
        .copied()
        .unwrap_or(Outcome::Io)
}

/// The phase of a code.
#[inline]
pub(super) fn phase(code: u64) -> Phase {
    Phase::ALL
        .get(code as usize)
        .copied()
        .unwrap_or(Phase::Check)
}

/// The instant of a number that is never 0.
#[inline]
pub(super) fn instant(value: u64) -> Nanos {
    Nanos::new(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_fields_are_their_positions() {
        for (code, field) in Field::ALL.iter().enumerate() {
            assert_eq!(*field as usize, code);
        }
    }
}

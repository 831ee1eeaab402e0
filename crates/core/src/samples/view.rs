//! A packed request, field by field.

use super::block::Block;
use super::field::{Field, instant, outcome, phase, stage};
use crate::nanos::{Nanos, Span};
use crate::sample::{Outcome, Phase, Sample, Stage};

/// One of the requests of [`super::Samples`]. It is copied freely, and what is not asked for is not
/// unpacked. Its fields are those of [`Sample`].
#[derive(Clone, Copy)]
pub struct SampleRef<'a> {
    block: &'a Block,
    row: u32,
}

macro_rules! fields {
    ($($name:ident: $type:ty = $field:ident, $value:ident => $read:expr;)+) => {
        impl SampleRef<'_> {
            $(
                #[doc = concat!("[`Sample::", stringify!($name), "`].")]
                #[inline]
                pub fn $name(self) -> $type {
                    let $value = self.block.get(Field::$field, self.row);
                    $read
                }
            )+

            /// The request itself.
            pub fn to_sample(self) -> Sample {
                Sample { $($name: self.$name(),)+ }
            }
        }
    };
}

fields! {
    scheduled: Nanos = Scheduled, v => instant(v);
    ready: Nanos = Ready, v => instant(v);
    connect_begin: Option<Nanos> = ConnectBegin, v => Nanos::from_stored(v);
    connected: Option<Nanos> = Connected, v => Nanos::from_stored(v);
    secured: Option<Nanos> = Secured, v => Nanos::from_stored(v);
    connection_since: Option<Nanos> = ConnectionSince, v => Nanos::from_stored(v);
    sent: Option<Nanos> = Sent, v => Nanos::from_stored(v);
    first_byte: Option<Nanos> = FirstByte, v => Nanos::from_stored(v);
    first_event: Option<Nanos> = FirstEvent, v => Nanos::from_stored(v);
    gap_begin: Option<Nanos> = GapBegin, v => Nanos::from_stored(v);
    gap_ns: u64 = GapNs, v => v;
    done: Nanos = Done, v => instant(v);
    received_bytes: u64 = ReceivedBytes, v => v;
    idle_before_ns: u64 = IdleBeforeNs, v => v;
    sent_bytes: u32 = SentBytes, v => v as u32;
    serial: u32 = Serial, v => v as u32;
    connection: u32 = Connection, v => v as u32;
    index_on_connection: u32 = IndexOnConnection, v => v as u32;
    in_flight: u32 = InFlight, v => v as u32;
    events: u32 = Events, v => v as u32;
    key: u32 = Key, v => v as u32;
    user: u32 = User, v => v as u32;
    repeat: u16 = Repeat, v => v as u16;
    endpoint: u16 = Endpoint, v => v as u16;
    local_port: u16 = LocalPort, v => v as u16;
    status: u16 = Status, v => v as u16;
    errno: u16 = Errno, v => v as u16;
    stage: Stage = Stage, v => stage(v);
    outcome: Outcome = Outcome, v => outcome(v);
    phase: Phase = Phase, v => phase(v);
}

impl<'a> SampleRef<'a> {
    pub(super) fn new(block: &'a Block, row: u32) -> Self {
        Self { block, row }
    }

    /// A field as a number, see [`Field`].
    #[inline]
    pub fn get(self, field: Field) -> u64 {
        self.block.get(field, self.row)
    }

    /// From the scheduled instant to the end: what a user waits. A lower bound if censored.
    #[inline]
    pub fn latency_ns(self) -> u64 {
        self.block.latency_ns(self.row)
    }

    /// From the first byte written to the end; `None` if nothing was written.
    #[inline]
    pub fn service_ns(self) -> Option<u64> {
        self.sent().map(|sent| self.done().since(sent))
    }

    /// How long it waited because every connection was busy.
    pub fn queued_ns(self) -> u64 {
        self.ready().since(self.scheduled())
    }

    /// How late slowpath itself was: a connection was free, or dialling could begin, and nothing
    /// happened. `None` if it was never picked up.
    pub fn lag_ns(self) -> Option<u64> {
        let sample = Sample {
            ready: self.ready(),
            connect_begin: self.connect_begin(),
            connected: self.connected(),
            secured: self.secured(),
            sent: self.sent(),
            ..Sample::due(self.scheduled())
        };
        sample.lag_ns()
    }

    /// How long its own dialling took, if it dialled; a TLS handshake is not part of it.
    pub fn connect_ns(self) -> Option<u64> {
        Some(self.connected()?.since(self.connect_begin()?))
    }

    /// How long the TLS handshake on its own connection took, if there was one.
    pub fn handshake_ns(self) -> Option<u64> {
        Some(self.secured()?.since(self.connected()?))
    }

    /// How old its connection was when it ended; `None` if it never had one.
    pub fn connection_age_ns(self) -> Option<u64> {
        Some(self.done().since(self.connection_since()?))
    }

    /// The time from `sent` to the first whole event.
    pub fn first_event_ns(self) -> Option<u64> {
        Some(self.first_event()?.since(self.sent()?))
    }

    /// The time from `sent` to the first byte of the response.
    pub fn first_byte_ns(self) -> Option<u64> {
        Some(self.first_byte()?.since(self.sent()?))
    }

    /// The interval of its latency.
    pub fn span(self) -> Span {
        Span::new(self.scheduled(), self.done())
    }
}

impl std::fmt::Debug for SampleRef<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.to_sample().fmt(f)
    }
}

//! Rows of a spool: fixed width, little-endian, in the order of the fields below.
//!
//! Decoding takes any bytes and never fails in another way than by `None`: after a crash of the
//! machine the end of a file may hold anything.

use slowpath_core::nanos::{Nanos, Span, stored};
use slowpath_core::sample::{Outcome, Phase, Sample, StreamEvent};
use slowpath_core::timeline::Point;

use crate::samples::STAGES;

/// Something that is stored as a row of fixed width.
pub(crate) trait Row: Sized {
    /// Bytes of a row.
    const BYTES: usize;
    /// The first bytes of a spool of such rows; the last of them is the format's number.
    const HEADER: [u8; 8];
    /// Appends the row.
    fn encode(&self, out: &mut Vec<u8>);
    /// Reads a row; `None` if these bytes were never one.
    fn decode(row: &[u8]) -> Option<Self>;
}

impl Row for Sample {
    const BYTES: usize = 14 * 8 + 8 * 4 + 5 * 2 + 3;
    const HEADER: [u8; 8] = *b"slowsmp\x02";

    fn encode(&self, out: &mut Vec<u8>) {
        let longs = [
            self.scheduled.get(),
            self.ready.get(),
            stored(self.connect_begin),
            stored(self.connected),
            stored(self.secured),
            stored(self.connection_since),
            stored(self.sent),
            stored(self.first_byte),
            stored(self.first_event),
            stored(self.gap_begin),
            self.gap_ns,
            self.done.get(),
            self.received_bytes,
            self.idle_before_ns,
        ];
        let ints = [
            self.sent_bytes,
            self.serial,
            self.connection,
            self.index_on_connection,
            self.in_flight,
            self.events,
            self.key,
            self.user,
        ];
        let shorts = [
            self.repeat,
            self.endpoint,
            self.local_port,
            self.status,
            self.errno,
        ];
        for long in longs {
            out.extend(long.to_le_bytes());
        }
        for int in ints {
            out.extend(int.to_le_bytes());
        }
        for short in shorts {
            out.extend(short.to_le_bytes());
        }
        out.extend([self.stage as u8, self.outcome as u8, self.phase as u8]);
    }

    fn decode(row: &[u8]) -> Option<Self> {
        let mut fields = Fields(row);
        // A struct's fields are evaluated in the order in which they are written: the row's.
        let sample = Self {
            scheduled: Nanos::from_stored(fields.long()?)?,
            ready: Nanos::from_stored(fields.long()?)?,
            connect_begin: Nanos::from_stored(fields.long()?),
            connected: Nanos::from_stored(fields.long()?),
            secured: Nanos::from_stored(fields.long()?),
            connection_since: Nanos::from_stored(fields.long()?),
            sent: Nanos::from_stored(fields.long()?),
            first_byte: Nanos::from_stored(fields.long()?),
            first_event: Nanos::from_stored(fields.long()?),
            gap_begin: Nanos::from_stored(fields.long()?),
            gap_ns: fields.long()?,
            done: Nanos::from_stored(fields.long()?)?,
            received_bytes: fields.long()?,
            idle_before_ns: fields.long()?,
            sent_bytes: fields.int()?,
            serial: fields.int()?,
            connection: fields.int()?,
            index_on_connection: fields.int()?,
            in_flight: fields.int()?,
            events: fields.int()?,
            key: fields.int()?,
            user: fields.int()?,
            repeat: fields.short()?,
            endpoint: fields.short()?,
            local_port: fields.short()?,
            status: fields.short()?,
            errno: fields.short()?,
            stage: STAGES.get(fields.code()?)?.0,
            outcome: *Outcome::ALL.get(fields.code()?)?,
            phase: *Phase::ALL.get(fields.code()?)?,
        };
        fields.0.is_empty().then_some(sample)
    }
}

impl Row for StreamEvent {
    const BYTES: usize = 8 + 3 * 4 + 2;
    const HEADER: [u8; 8] = *b"slowevt\x01";

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend(self.at.get().to_le_bytes());
        for int in [self.serial, self.index, self.data_bytes] {
            out.extend(int.to_le_bytes());
        }
        out.extend(self.repeat.to_le_bytes());
    }

    fn decode(row: &[u8]) -> Option<Self> {
        let mut fields = Fields(row);
        let event = Self {
            at: Nanos::from_stored(fields.long()?)?,
            serial: fields.int()?,
            index: fields.int()?,
            data_bytes: fields.int()?,
            repeat: fields.short()?,
        };
        fields.0.is_empty().then_some(event)
    }
}

/// A reading: the position of its series, and the point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ReadingRow {
    /// Position in the list of series.
    pub(crate) series: u32,
    /// When, and the value.
    pub(crate) point: Point,
}

impl Row for ReadingRow {
    const BYTES: usize = 4 + 3 * 8;
    const HEADER: [u8; 8] = *b"slowtml\x01";

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend(self.series.to_le_bytes());
        out.extend(self.point.window.begin.get().to_le_bytes());
        out.extend(self.point.window.end.get().to_le_bytes());
        out.extend(self.point.value.to_bits().to_le_bytes());
    }

    fn decode(row: &[u8]) -> Option<Self> {
        let mut fields = Fields(row);
        let series = fields.int()?;
        let begin = Nanos::from_stored(fields.long()?)?;
        let end = Nanos::from_stored(fields.long()?)?;
        let value = f64::from_bits(fields.long()?);
        let point = Point {
            window: Span { begin, end },
            value,
        };
        fields.0.is_empty().then_some(Self { series, point })
    }
}

/// Takes fields from the front of a row.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*field)
    }

    fn long(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    fn int(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn short(&mut self) -> Option<u16> {
        self.take().map(u16::from_le_bytes)
    }

    fn code(&mut self) -> Option<usize> {
        self.take().map(|[code]: [u8; 1]| usize::from(code))
    }
}

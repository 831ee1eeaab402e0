//! `stream_events.parquet`: every event of every streamed response, one row each.
//!
//! Absent in a run without streamed responses. One row group a repeat, rows by repeat, request and
//! order of arrival. There are at most [`MOST_STREAM_EVENTS`] rows; how many more there were is
//! `stream_events_dropped` in the manifest and in the report, and the column `events` of
//! `samples.parquet` counts all of them.
//!
//! | column | type | what |
//! |---|---|---|
//! | `repeat` | int32 | which repeat of the run, from 0 |
//! | `serial` | int64 | number of its request within the repeat, as in `samples.parquet` |
//! | `index` | int64 | how many events of the response came before it |
//! | `at_ns` | int64 | when its last byte was read, on `CLOCK_MONOTONIC` |
//! | `data_bytes` | int64 | length of its data |
//!
//! Events that one read made whole have the same instant. An event may belong to a request that
//! `samples.parquet` does not have, because slowpath was killed before it ended.

use std::path::Path;

use parquet::basic::Encoding;
use parquet::data_type::{DataType, Int32Type, Int64Type};
use parquet::file::reader::RowGroupReader;
use parquet::schema::types::ColumnPath;
use slowpath_core::nanos::Nanos;
use slowpath_core::sample::StreamEvent;

use crate::columnar::{BATCH_ROWS, Cursor, Flaw, TableWriter, read_groups, write_column};
use crate::error::RecordError;
use crate::files;
use crate::manifest;
use crate::seal::Seal;
use crate::spool;

/// Events that a run keeps one by one at most: as many as the requests of the largest runs that
/// are meant to be judged; they take 220 MB while the run goes on.
pub const MOST_STREAM_EVENTS: u64 = 10_000_000;

const MESSAGE_TYPE: &str = "message event {
    required int32 repeat;
    required int64 serial;
    required int64 index;
    required int64 at_ns;
    required int64 data_bytes;
}";

/// Puts events into the order in which they are stored.
pub(crate) fn sort(events: &mut [StreamEvent]) {
    events.sort_by_key(|event| (event.repeat, event.serial, event.index));
}

/// Reads the events of streamed responses of the run in a directory, finished or not, by repeat,
/// request and order. A run without any gives none.
///
/// # Errors
/// When the directory holds no run, or the file is damaged.
pub fn read_stream_events(dir: &Path) -> Result<Vec<StreamEvent>, RecordError> {
    let (_, seals) = manifest::read_sealed(dir)?;
    if dir.join(files::SAMPLES_SPOOL).exists() {
        let mut events = Vec::new();
        spool::read::stream_events(dir, |event| events.push(event))?;
        sort(&mut events);
        return Ok(events);
    }
    let path = dir.join(files::STREAM_EVENTS);
    // Its seal distinguishes a file that is missing from one that never was.
    if !path.exists() && !seals.iter().any(|seal| seal.name == files::STREAM_EVENTS) {
        return Ok(Vec::new());
    }
    Seal::check(&seals, dir, files::STREAM_EVENTS)?;
    let mut events = Vec::new();
    read_groups(&path, |group, rows| read_group(group, rows, &mut events))?;
    Ok(events)
}

fn read_group(
    group: &dyn RowGroupReader,
    rows: usize,
    events: &mut Vec<StreamEvent>,
) -> Result<(), Flaw> {
    let mut repeats = Cursor::<Int32Type>::open(group, "repeat")?;
    let mut serials = Cursor::<Int64Type>::open(group, "serial")?;
    let mut indices = Cursor::<Int64Type>::open(group, "index")?;
    let mut instants = Cursor::<Int64Type>::open(group, "at_ns")?;
    let mut lengths = Cursor::<Int64Type>::open(group, "data_bytes")?;
    let mut left = rows;
    while left > 0 {
        let rows = left.min(BATCH_ROWS);
        let mut repeats = repeats.batch(rows)?;
        let mut serials = serials.batch(rows)?;
        let mut indices = indices.batch(rows)?;
        let mut instants = instants.batch(rows)?;
        let mut lengths = lengths.batch(rows)?;
        for _ in 0..rows {
            let row = events.len() + 1;
            let at = instants.next().flatten();
            let at = at.and_then(|at| Nanos::from_stored(*at as u64));
            events.push(StreamEvent {
                at: at.ok_or_else(|| unreadable(row, "at_ns"))?,
                serial: number(serials.next().flatten(), row, "serial")?,
                index: number(indices.next().flatten(), row, "index")?,
                data_bytes: number(lengths.next().flatten(), row, "data_bytes")?,
                repeat: number(repeats.next().flatten(), row, "repeat")?,
            });
        }
        left -= rows;
    }
    Ok(())
}

/// A cell as the number that belongs there.
fn number<'a, T: Copy + 'a, N: TryFrom<T>>(
    cell: Option<&'a T>,
    row: usize,
    name: &str,
) -> Result<N, Flaw> {
    let value = cell.and_then(|value| N::try_from(*value).ok());
    value.ok_or_else(|| unreadable(row, name))
}

fn unreadable(row: usize, name: &str) -> Flaw {
    Flaw::Damaged(format!(
        "row {row}: {name} holds nothing that belongs there"
    ))
}

/// Writes the file, a repeat at a time.
pub(crate) struct StreamEventsWriter(TableWriter);

impl StreamEventsWriter {
    /// Begins the file.
    pub(crate) fn create(path: &Path) -> Result<Self, RecordError> {
        let table = TableWriter::create(path, MESSAGE_TYPE, |mut properties| {
            // Serial numbers and indices are the same or one more from row to row.
            for name in ["serial", "index", "at_ns"] {
                properties = properties
                    .set_column_dictionary_enabled(ColumnPath::from(name), false)
                    .set_column_encoding(ColumnPath::from(name), Encoding::DELTA_BINARY_PACKED);
            }
            properties
        })?;
        Ok(Self(table))
    }

    /// Appends the events of one repeat, which are sorted already.
    pub(crate) fn repeat(&mut self, events: &[StreamEvent]) -> Result<(), RecordError> {
        fn cells<'e, T: 'e>(
            events: &'e [StreamEvent],
            cell: impl Fn(&StreamEvent) -> T + 'e,
        ) -> impl Iterator<Item = Option<T>> + 'e {
            events.iter().map(move |event| Some(cell(event)))
        }
        type Long = <Int64Type as DataType>::T;
        self.0.group(|group| {
            write_column::<Int32Type>(group, cells(events, |e| i32::from(e.repeat)))?;
            write_column::<Int64Type>(group, cells(events, |e| Long::from(e.serial)))?;
            write_column::<Int64Type>(group, cells(events, |e| Long::from(e.index)))?;
            write_column::<Int64Type>(group, cells(events, |e| e.at.get() as Long))?;
            write_column::<Int64Type>(group, cells(events, |e| Long::from(e.data_bytes)))
        })
    }

    /// Ends the file and gives it its name.
    pub(crate) fn publish(self) -> Result<(), RecordError> {
        self.0.publish()
    }
}

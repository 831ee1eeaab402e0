//! `spans/N.parquet`: what the target's telemetry reported of the requests of repeat N; absent where it
//! reported nothing.
//!
//! A row a span, by request and begin; `repeat` and `serial` join it with `samples.parquet`.
//!
//! | column | type | what |
//! |---|---|---|
//! | `repeat` | int32 | the repeat of its request |
//! | `serial` | int64 | the number of its request within the repeat |
//! | `span_id` | int64 | its id, as the same 64 bits |
//! | `parent_id` | int64 | the span that it is a part of; 0 for none |
//! | `name` | string | what it is called |
//! | `service` | string | who made it |
//! | `kind` | int32 | its role, as OpenTelemetry numbers them |
//! | `error` | int32 | 1 if it failed |
//! | `thread` | int64 | the attribute `thread.id`; 0 for none |
//! | `begin_ns` | int64 | when it began, on `CLOCK_MONOTONIC` |
//! | `end_ns` | int64 | when it ended |

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use parquet::basic::Encoding;
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::file::reader::RowGroupReader;
use parquet::schema::types::ColumnPath;
use slowpath_core::nanos::Nanos;
use slowpath_core::spans::{AppSpan, AppSpans, SpanKind};

use crate::columnar::{
    BATCH_ROWS, Cursor, Flaw, TableWriter, next, read_groups, repeats_in, write_column,
};
use crate::error::RecordError;
use crate::files;
use crate::seal::Seal;

const MESSAGE_TYPE: &str = "message span {
    required int32 repeat;
    required int64 serial;
    required int64 span_id;
    required int64 parent_id;
    required byte_array name (string);
    required byte_array service (string);
    required int32 kind;
    required int32 error;
    required int64 thread;
    required int64 begin_ns;
    required int64 end_ns;
}";

/// Spans in a row group: some tens of megabytes while they are encoded.
const GROUP_SPANS: usize = 262_144;

/// The name of the file of a repeat.
fn name(repeat: u16) -> String {
    format!("{}/{repeat}.parquet", files::SPANS)
}

/// Writes the spans of a repeat; nothing if there is none.
pub(crate) fn write(dir: &Path, repeat: u16, all: &AppSpans) -> Result<(), RecordError> {
    if all.spans.is_empty() {
        return Ok(());
    }
    let folder = dir.join(files::SPANS);
    fs::create_dir_all(&folder).map_err(RecordError::io("create", &folder))?;
    let path = dir.join(name(repeat));
    let mut table = TableWriter::create(&path, MESSAGE_TYPE, |mut properties| {
        for name in ["serial", "span_id", "parent_id", "begin_ns", "end_ns"] {
            properties = properties.set_column_dictionary_enabled(ColumnPath::from(name), false);
        }
        // Ids are drawn at random; the others grow from row to row.
        for name in ["serial", "begin_ns", "end_ns"] {
            let delta = Encoding::DELTA_BINARY_PACKED;
            properties = properties.set_column_encoding(ColumnPath::from(name), delta);
        }
        properties
    })?;
    for spans in all.spans.chunks(GROUP_SPANS) {
        write_group(&mut table, all, spans)?;
    }
    table.publish()
}

fn write_group(
    table: &mut TableWriter,
    all: &AppSpans,
    spans: &[AppSpan],
) -> Result<(), RecordError> {
    fn cells<'s, T: 's>(
        spans: &'s [AppSpan],
        cell: impl Fn(&AppSpan) -> T + 's,
    ) -> impl Iterator<Item = Option<T>> + 's {
        spans.iter().map(move |span| Some(cell(span)))
    }
    let texts = |texts: &[String]| -> Vec<ByteArray> {
        texts.iter().map(|text| text.as_str().into()).collect()
    };
    let (names, services) = (texts(&all.names), texts(&all.services));
    let text = |texts: &[ByteArray], place: u32| {
        texts
            .get(place as usize)
            .cloned()
            .unwrap_or_else(|| "".into())
    };
    table.group(|group| {
        write_column::<Int32Type>(group, cells(spans, |s| i32::from(s.repeat)))?;
        write_column::<Int64Type>(group, cells(spans, |s| i64::from(s.serial)))?;
        write_column::<Int64Type>(group, cells(spans, |s| s.id as i64))?;
        write_column::<Int64Type>(group, cells(spans, |s| s.parent as i64))?;
        write_column::<ByteArrayType>(group, cells(spans, |s| text(&names, s.name)))?;
        write_column::<ByteArrayType>(group, cells(spans, |s| text(&services, s.service)))?;
        write_column::<Int32Type>(group, cells(spans, |s| s.kind as i32))?;
        write_column::<Int32Type>(group, cells(spans, |s| i32::from(s.error)))?;
        write_column::<Int64Type>(group, cells(spans, |s| s.thread as i64))?;
        write_column::<Int64Type>(group, cells(spans, |s| s.begin.get() as i64))?;
        write_column::<Int64Type>(group, cells(spans, |s| s.end.get() as i64))
    })
}

/// The names of all files that hold spans in a run directory, in order.
pub(crate) fn recorded(dir: &Path) -> Result<Vec<String>, RecordError> {
    let repeats = repeats_in(&dir.join(files::SPANS), ".parquet")?;
    Ok(repeats.into_iter().map(name).collect())
}

/// Reads the spans of a run. With `seals`, those of a finished run, the files are those that they
/// speak of.
pub(crate) fn read(dir: &Path, seals: Option<&[Seal]>) -> Result<AppSpans, RecordError> {
    let recorded = match seals {
        Some(seals) => Seal::checked_in(seals, dir, files::SPANS)?,
        None => recorded(dir)?,
    };
    let mut found = Gathered::default();
    for name in recorded {
        read_groups(&dir.join(name), |group, rows| {
            read_group(group, rows, &mut found)
        })?;
    }
    let mut all = found.all;
    all.spans.sort_by_key(AppSpan::order);
    Ok(all)
}

/// Spans while they are gathered.
#[derive(Default)]
struct Gathered {
    all: AppSpans,
    names: BTreeMap<String, u32>,
    services: BTreeMap<String, u32>,
}

fn read_group(group: &dyn RowGroupReader, rows: usize, found: &mut Gathered) -> Result<(), Flaw> {
    let mut repeat = Cursor::<Int32Type>::open(group, "repeat")?;
    let mut serial = Cursor::<Int64Type>::open(group, "serial")?;
    let mut id = Cursor::<Int64Type>::open(group, "span_id")?;
    let mut parent = Cursor::<Int64Type>::open(group, "parent_id")?;
    let mut name = Cursor::<ByteArrayType>::open(group, "name")?;
    let mut service = Cursor::<ByteArrayType>::open(group, "service")?;
    let mut kind = Cursor::<Int32Type>::open(group, "kind")?;
    let mut error = Cursor::<Int32Type>::open(group, "error")?;
    let mut thread = Cursor::<Int64Type>::open(group, "thread")?;
    let mut begin = Cursor::<Int64Type>::open(group, "begin_ns")?;
    let mut end = Cursor::<Int64Type>::open(group, "end_ns")?;
    let mut left = rows;
    while left > 0 {
        let rows = left.min(BATCH_ROWS);
        let (mut repeat, mut serial) = (repeat.batch(rows)?, serial.batch(rows)?);
        let (mut id, mut parent) = (id.batch(rows)?, parent.batch(rows)?);
        let (mut name, mut service) = (name.batch(rows)?, service.batch(rows)?);
        let (mut kind, mut error) = (kind.batch(rows)?, error.batch(rows)?);
        let (mut thread, mut begin) = (thread.batch(rows)?, begin.batch(rows)?);
        let mut end = end.batch(rows)?;
        for _ in 0..rows {
            let row = found.all.spans.len() + 1;
            let instant = |cell: i64| Nanos::from_stored(cell as u64);
            let unreadable = || Flaw::Damaged(format!("span {row} is none"));
            let span = AppSpan {
                repeat: u16::try_from(next::<Int32Type>(&mut repeat)?).map_err(|_| unreadable())?,
                serial: u32::try_from(next::<Int64Type>(&mut serial)?).map_err(|_| unreadable())?,
                id: next::<Int64Type>(&mut id)? as u64,
                parent: next::<Int64Type>(&mut parent)? as u64,
                name: place(
                    name.next().flatten(),
                    &mut found.names,
                    &mut found.all.names,
                )
                .ok_or_else(unreadable)?,
                service: place(
                    service.next().flatten(),
                    &mut found.services,
                    &mut found.all.services,
                )
                .ok_or_else(unreadable)?,
                kind: SpanKind::of_number(next::<Int32Type>(&mut kind)?.into()),
                error: next::<Int32Type>(&mut error)? != 0,
                thread: next::<Int64Type>(&mut thread)? as u64,
                begin: instant(next::<Int64Type>(&mut begin)?).ok_or_else(unreadable)?,
                end: instant(next::<Int64Type>(&mut end)?).ok_or_else(unreadable)?,
            };
            found.all.spans.push(span);
        }
        left -= rows;
    }
    Ok(())
}

/// The position of a text in a table that is still growing; `None` if the cell is no text.
fn place(
    cell: Option<&ByteArray>,
    places: &mut BTreeMap<String, u32>,
    table: &mut Vec<String>,
) -> Option<u32> {
    let text = std::str::from_utf8(cell?.data()).ok()?;
    if let Some(&place) = places.get(text) {
        return Some(place);
    }
    let place = table.len() as u32;
    places.insert(text.to_owned(), place);
    table.push(text.to_owned());
    Some(place)
}

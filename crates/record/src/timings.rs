//! `server-timing/N.parquet`: what the target said in `Server-Timing` of the requests of repeat N;
//! absent where it said nothing.
//!
//! | column | type | what |
//! |---|---|---|
//! | `repeat` | int32 | the repeat of its request |
//! | `serial` | int64 | the number of its request within the repeat, as in `samples.parquet` |
//! | `metric` | string | what the target calls it |
//! | `duration_ns` | int64 | how long it took, as the target says |

use std::fs;
use std::path::Path;

use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::file::reader::RowGroupReader;
use slowpath_core::server_timing::{ServerTimings, TimingValue};

use crate::columnar::{
    BATCH_ROWS, Cursor, Flaw, TableWriter, next, read_groups, repeats_in, write_column,
};
use crate::error::RecordError;
use crate::files;
use crate::seal::Seal;

const MESSAGE_TYPE: &str = "message timing {
    required int32 repeat;
    required int64 serial;
    required byte_array metric (string);
    required int64 duration_ns;
}";

/// The name of the file of a repeat.
fn name(repeat: u16) -> String {
    format!("{}/{repeat}.parquet", files::TIMINGS)
}

/// Writes what was said in a repeat; nothing if nothing was.
pub(crate) fn write(dir: &Path, repeat: u16, all: &ServerTimings) -> Result<(), RecordError> {
    if all.values.is_empty() {
        return Ok(());
    }
    let folder = dir.join(files::TIMINGS);
    fs::create_dir_all(&folder).map_err(RecordError::io("create", &folder))?;
    let metrics: Vec<ByteArray> = all
        .metrics
        .iter()
        .map(|name| name.as_str().into())
        .collect();
    let metric = |value: &TimingValue| metrics.get(usize::from(value.metric)).cloned();
    let mut table = TableWriter::create(&dir.join(name(repeat)), MESSAGE_TYPE, |properties| {
        properties
    })?;
    table.group(|group| {
        let values = || all.values.iter();
        write_column::<Int32Type>(group, values().map(|v| Some(i32::from(v.repeat))))?;
        write_column::<Int64Type>(group, values().map(|v| Some(i64::from(v.serial))))?;
        write_column::<ByteArrayType>(group, values().map(|v| metric(v).or(Some("".into()))))?;
        write_column::<Int64Type>(group, values().map(|v| Some(v.duration_ns as i64)))
    })?;
    table.publish()
}

/// The names of all files of a run directory that hold some, in order.
pub(crate) fn recorded(dir: &Path) -> Result<Vec<String>, RecordError> {
    let repeats = repeats_in(&dir.join(files::TIMINGS), ".parquet")?;
    Ok(repeats.into_iter().map(name).collect())
}

/// Reads what was said in a run. With `seals`, those of a finished run, the files are those that
/// they speak of.
pub(crate) fn read(dir: &Path, seals: Option<&[Seal]>) -> Result<ServerTimings, RecordError> {
    let recorded = match seals {
        Some(seals) => Seal::checked_in(seals, dir, files::TIMINGS)?,
        None => recorded(dir)?,
    };
    let mut all = ServerTimings::default();
    for name in recorded {
        read_groups(&dir.join(name), |group, rows| {
            read_group(group, rows, &mut all)
        })?;
    }
    all.values.sort_unstable();
    Ok(all)
}

fn read_group(
    group: &dyn RowGroupReader,
    rows: usize,
    all: &mut ServerTimings,
) -> Result<(), Flaw> {
    let mut repeat = Cursor::<Int32Type>::open(group, "repeat")?;
    let mut serial = Cursor::<Int64Type>::open(group, "serial")?;
    let mut metric = Cursor::<ByteArrayType>::open(group, "metric")?;
    let mut duration = Cursor::<Int64Type>::open(group, "duration_ns")?;
    let mut left = rows;
    while left > 0 {
        let rows = left.min(BATCH_ROWS);
        let (mut repeat, mut serial) = (repeat.batch(rows)?, serial.batch(rows)?);
        let (mut metric, mut duration) = (metric.batch(rows)?, duration.batch(rows)?);
        for _ in 0..rows {
            let row = all.values.len() + 1;
            let unreadable = || Flaw::Damaged(format!("duration {row} is none"));
            let name = metric.next().flatten().map(ByteArray::data);
            let name = name.and_then(|name| str::from_utf8(name).ok());
            let metric = name.and_then(|name| all.metric(name));
            all.values.push(TimingValue {
                repeat: u16::try_from(next::<Int32Type>(&mut repeat)?).map_err(|_| unreadable())?,
                serial: u32::try_from(next::<Int64Type>(&mut serial)?).map_err(|_| unreadable())?,
                metric: metric.ok_or_else(unreadable)?,
                duration_ns: next::<Int64Type>(&mut duration)? as u64,
            });
        }
        left -= rows;
    }
    Ok(())
}

//! `timeline.parquet`: the series, one row a reading.
//!
//! Rows are ordered by `signal`, subject, `label`, then by the end and the beginning of their
//! windows.
//!
//! | column | type | what |
//! |---|---|---|
//! | `signal` | string | the signal's id, as `slowpath_core::signal` declares it |
//! | `subject` | string | `host`, `tool`, `target`, `process:PID` or `thread:PID:TID` |
//! | `label` | string | a name within the signal, or empty |
//! | `begin_ns` | int64 | when reading began, on `CLOCK_MONOTONIC` |
//! | `end_ns` | int64 | when reading ended |
//! | `value` | double | what was read, in the signal's unit |

use std::collections::BTreeMap;
use std::path::Path;

use parquet::basic::Encoding;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::file::reader::RowGroupReader;
use parquet::schema::types::ColumnPath;
use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::timeline::{Point, Series, Subject};

use crate::columnar::{BATCH_ROWS, Cursor, Flaw, TableWriter, read_groups, write_column};
use crate::error::RecordError;

const MESSAGE_TYPE: &str = "message reading {
    required byte_array signal (string);
    required byte_array subject (string);
    required byte_array label (string);
    required int64 begin_ns;
    required int64 end_ns;
    required double value;
}";

/// Writes series, which are sorted already.
pub(crate) fn write(path: &Path, series: &[Series]) -> Result<(), RecordError> {
    let mut table = TableWriter::create(path, MESSAGE_TYPE, |mut properties| {
        for name in ["begin_ns", "end_ns"] {
            properties = properties
                .set_column_dictionary_enabled(ColumnPath::from(name), false)
                .set_column_encoding(ColumnPath::from(name), Encoding::DELTA_BINARY_PACKED);
        }
        properties
    })?;
    table.group(|group| {
        write_column::<ByteArrayType>(group, texts(series, |s| s.signal.as_str().into()))?;
        write_column::<ByteArrayType>(
            group,
            texts(series, |s| s.subject.to_string().as_str().into()),
        )?;
        write_column::<ByteArrayType>(group, texts(series, |s| s.label.as_str().into()))?;
        let points = || series.iter().flat_map(|series| &series.points);
        let begins = points().map(|point| Some(point.window.begin.get() as i64));
        write_column::<Int64Type>(group, begins)?;
        let ends = points().map(|point| Some(point.window.end.get() as i64));
        write_column::<Int64Type>(group, ends)?;
        write_column::<DoubleType>(group, points().map(|point| Some(point.value)))
    })?;
    table.publish()
}

/// One text of each series, repeated for each of its points.
fn texts(
    series: &[Series],
    text: impl Fn(&Series) -> ByteArray,
) -> impl Iterator<Item = Option<ByteArray>> {
    series
        .iter()
        .flat_map(move |series| std::iter::repeat_n(Some(text(series)), series.points.len()))
}

/// Reads the series, ordered by signal, subject and label.
pub(crate) fn read(path: &Path) -> Result<Vec<Series>, RecordError> {
    let mut series = Gathered::default();
    let mut row = 0;
    read_groups(path, |group, rows| {
        read_group(group, rows, &mut row, &mut series)
    })?;
    Ok(series.into_series())
}

fn read_group(
    group: &dyn RowGroupReader,
    rows: usize,
    row: &mut usize,
    series: &mut Gathered,
) -> Result<(), Flaw> {
    let mut signals = Cursor::<ByteArrayType>::open(group, "signal")?;
    let mut subjects = Cursor::<ByteArrayType>::open(group, "subject")?;
    let mut labels = Cursor::<ByteArrayType>::open(group, "label")?;
    let mut begins = Cursor::<Int64Type>::open(group, "begin_ns")?;
    let mut ends = Cursor::<Int64Type>::open(group, "end_ns")?;
    let mut values = Cursor::<DoubleType>::open(group, "value")?;
    let mut left = rows;
    while left > 0 {
        let rows = left.min(BATCH_ROWS);
        let mut signals = signals.batch(rows)?;
        let mut subjects = subjects.batch(rows)?;
        let mut labels = labels.batch(rows)?;
        let mut begins = begins.batch(rows)?;
        let mut ends = ends.batch(rows)?;
        let mut values = values.batch(rows)?;
        for _ in 0..rows {
            *row += 1;
            let signal = cell(&mut signals, *row, "signal", text)?;
            let subject = cell(&mut subjects, *row, "subject", text)?;
            let label = cell(&mut labels, *row, "label", text)?;
            let begin = cell(&mut begins, *row, "begin_ns", |ns| {
                Nanos::from_stored(*ns as u64)
            })?;
            let end = cell(&mut ends, *row, "end_ns", |ns| {
                Nanos::from_stored(*ns as u64)
            })?;
            let value = cell(&mut values, *row, "value", |value| Some(*value))?;
            let Some(points) = series.points(signal, subject, label) else {
                return Err(unreadable(*row, "subject"));
            };
            points.push(Point {
                window: Span { begin, end },
                value,
            });
        }
        left -= rows;
    }
    Ok(())
}

/// The next cell of a column, as what `read` makes of it.
fn cell<'a, T: 'a, V>(
    cells: &mut impl Iterator<Item = Option<&'a T>>,
    row: usize,
    name: &str,
    read: impl Fn(&'a T) -> Option<V>,
) -> Result<V, Flaw> {
    let value = cells.next().flatten().and_then(read);
    value.ok_or_else(|| unreadable(row, name))
}

fn unreadable(row: usize, name: &str) -> Flaw {
    Flaw::Damaged(format!(
        "row {row}: {name} holds nothing that belongs there"
    ))
}

fn text(cell: &ByteArray) -> Option<&str> {
    std::str::from_utf8(cell.data()).ok()
}

/// Series while they are gathered from rows in any order.
#[derive(Default)]
struct Gathered {
    positions: BTreeMap<(String, Subject, String), usize>,
    points: Vec<Vec<Point>>,
    /// Signal, subject and label of the last row, and their position: most rows repeat them.
    last: Option<(String, String, String, usize)>,
}

impl Gathered {
    /// The points of one series; `None` if the subject is none.
    fn points(&mut self, signal: &str, subject: &str, label: &str) -> Option<&mut Vec<Point>> {
        let position = match &self.last {
            Some((s, j, l, position)) if s == signal && j == subject && l == label => *position,
            _ => {
                let key = (
                    signal.to_owned(),
                    Subject::parse(subject)?,
                    label.to_owned(),
                );
                let next = self.points.len();
                let position = *self.positions.entry(key).or_insert(next);
                if position == next {
                    self.points.push(Vec::new());
                }
                let texts = [signal, subject, label].map(str::to_owned);
                let [signal, subject, label] = texts;
                self.last = Some((signal, subject, label, position));
                position
            }
        };
        self.points.get_mut(position)
    }

    fn into_series(mut self) -> Vec<Series> {
        let taken = self
            .positions
            .into_iter()
            .map(|((signal, subject, label), position)| {
                let points = std::mem::take(&mut self.points[position]);
                Series {
                    signal,
                    subject,
                    label,
                    points,
                }
            });
        taken.collect()
    }
}

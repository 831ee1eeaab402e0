//! Reads `samples.parquet` column by column into packed samples, on as many threads as help.

use std::ops::Range;
use std::path::Path;
use std::thread;

use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::file::reader::RowGroupReader;
use slowpath_core::plan::Plan;
use slowpath_core::sample::{NONE, Outcome, Phase};
use slowpath_core::samples::{BLOCK_ROWS, Chunk, Field, Samples};

use super::columns::{COLUMNS, Cell, Column, Text};
use super::{KeysInUse, STAGES};
use crate::columnar::{Cell as Found, Cursor, Flaw, TableReader, has_column, only_cell};
use crate::error::RecordError;

/// Threads that read at most: more wait for memory, and other work on the host has CPUs left.
const MOST_READERS: usize = 8;

/// Blocks that are worth a thread of their own: a twentieth of a second of decoding.
const FEWEST_BLOCKS: usize = 128;

/// Reads `samples.parquet`: the samples, and the keys that they point to, in order of first use.
pub(crate) fn read(path: &Path, plan: &Plan) -> Result<(Samples, Vec<String>), RecordError> {
    all(path, plan).map_err(|flaw| flaw.at(path))
}

fn all(path: &Path, plan: &Plan) -> Result<(Samples, Vec<String>), Flaw> {
    let rows = TableReader::open(path)?.rows()?.iter().sum();
    let ranges = ranges(rows, thread::available_parallelism().map_or(1, usize::from));
    let parts: Vec<Result<Part, Flaw>> = thread::scope(|scope| {
        let read = |range| scope.spawn(move || Part::read(path, plan, range));
        let readers: Vec<_> = ranges.into_iter().map(read).collect();
        let join = |reader: thread::ScopedJoinHandle<'_, _>| {
            reader
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        readers.into_iter().map(join).collect()
    });
    let (mut samples, mut keys) = (Samples::default(), KeysInUse::default());
    for part in parts {
        let mut part = part?;
        let positions = keys.adopt(&part.keys.into_keys());
        if (0..).zip(&positions).any(|(old, new)| old != *new) {
            part.samples.replace_keys(|old| positions[old as usize]);
        }
        samples.append(part.samples);
    }
    Ok((samples, keys.into_keys()))
}

/// Even shares of the rows, each of them whole blocks but for the last.
fn ranges(rows: usize, cpus: usize) -> Vec<Range<usize>> {
    let blocks = rows.div_ceil(BLOCK_ROWS);
    let readers = (blocks / FEWEST_BLOCKS).clamp(1, cpus.min(MOST_READERS));
    let edge = |reader: usize| (blocks * reader / readers * BLOCK_ROWS).min(rows);
    (0..readers).map(|r| edge(r)..edge(r + 1)).collect()
}

/// The samples of a range of rows.
struct Part<'a> {
    plan: &'a Plan,
    samples: Samples,
    chunk: Chunk,
    keys: KeysInUse,
}

/// A column of a row group, from some row on.
enum Open {
    Int(Cursor<Int32Type>),
    Long(Cursor<Int64Type>),
    Text(Cursor<ByteArrayType>, Text),
    /// All its cells are this number of the field.
    Same(u64),
    /// The file has no such column.
    Absent,
}

impl<'a> Part<'a> {
    fn read(path: &Path, plan: &'a Plan, range: Range<usize>) -> Result<Self, Flaw> {
        let mut part = Self {
            plan,
            samples: Samples::default(),
            chunk: Chunk::default(),
            keys: KeysInUse::default(),
        };
        let table = TableReader::open(path)?;
        let mut first = 0;
        for (index, rows) in table.rows()?.into_iter().enumerate() {
            let own = first.max(range.start)..(first + rows).min(range.end);
            if !own.is_empty() {
                part.group(&*table.group(index)?, first, own)?;
            }
            first += rows;
        }
        part.samples.push_chunk(&mut part.chunk);
        Ok(part)
    }

    /// Reads some rows of a row group that begins at row `first` of the file.
    fn group(
        &mut self,
        group: &dyn RowGroupReader,
        first: usize,
        own: Range<usize>,
    ) -> Result<(), Flaw> {
        let mut columns = Vec::with_capacity(COLUMNS.len());
        for column in COLUMNS {
            if let Some(field) = column.field() {
                let open = match self.same(column, field, group) {
                    Some(value) => Open::Same(value),
                    None => Open::of(column, group, own.start - first)?,
                };
                columns.push((column, field, open));
            }
        }
        let mut row = own.start;
        while row < own.end {
            let begin = self.chunk.rows();
            let rows = (own.end - row).min(BLOCK_ROWS - begin);
            self.chunk.resize(begin + rows);
            for (column, field, open) in &mut columns {
                self.fill((column, *field), open, row, begin)?;
            }
            if self.chunk.is_full() {
                self.samples.push_chunk(&mut self.chunk);
            }
            row += rows;
        }
        Ok(())
    }

    /// The number that a whole column of a row group is, if it is one that may be there: what may
    /// not is reported with its row by the code that reads the cells.
    fn same(&mut self, column: &Column, field: Field, group: &dyn RowGroupReader) -> Option<u64> {
        let number = match (only_cell(group, column.name)?, column.cell) {
            (Found::Null, _) => return field.nothing().filter(|_| column.nullable),
            (Found::Number(value), Cell::Int(_)) => u64::try_from(value).ok()?,
            (Found::Number(value), Cell::Long { .. }) => value as u64,
            (Found::Text(value), Cell::Text(text)) => {
                code_of(text, value, self.plan, &mut self.keys)?
            }
            _ => return None,
        };
        field.takes(number).then_some(number)
    }

    /// Sets one column of the chunk from `begin` on, which is a row of the file.
    fn fill(
        &mut self,
        (column, field): (&Column, Field),
        open: &mut Open,
        row: usize,
        begin: usize,
    ) -> Result<(), Flaw> {
        let out = &mut self.chunk.column_mut(field)[begin..];
        match open {
            Open::Int(cursor) => {
                numbers(column, cursor, field, row, out, |v| u64::try_from(v).ok())
            }
            Open::Long(cursor) => numbers(column, cursor, field, row, out, |v| Some(v as u64)),
            Open::Text(cursor, text) => {
                let code = |value: &[u8]| code_of(*text, value, self.plan, &mut self.keys);
                texts(column, cursor, row, out, code)
            }
            Open::Same(value) => {
                out.fill(*value);
                Ok(())
            }
            Open::Absent => {
                out.fill(field.nothing().unwrap_or(0));
                Ok(())
            }
        }
    }
}

impl Open {
    /// The column of a row group from a row of it on.
    fn of(column: &Column, group: &dyn RowGroupReader, from: usize) -> Result<Self, Flaw> {
        let is_there = !column.came_later() || has_column(group, column.name);
        let mut open = match column.cell {
            _ if !is_there => Self::Absent,
            Cell::Int(_) => Self::Int(Cursor::open(group, column.name)?),
            Cell::Long { .. } | Cell::Latency => Self::Long(Cursor::open(group, column.name)?),
            Cell::Text(text) => Self::Text(Cursor::open(group, column.name)?, text),
        };
        if from > 0 {
            match &mut open {
                Self::Int(cursor) => cursor.skip(from)?,
                Self::Long(cursor) => cursor.skip(from)?,
                Self::Text(cursor, _) => cursor.skip(from)?,
                Self::Same(_) | Self::Absent => {}
            }
        }
        Ok(open)
    }
}

/// Takes the next cells of a column over as numbers of a field.
fn numbers<T: DataType<T: Copy + ToString>>(
    column: &Column,
    cursor: &mut Cursor<T>,
    field: Field,
    first: usize,
    out: &mut [u64],
    number: impl Fn(T::T) -> Option<u64>,
) -> Result<(), Flaw> {
    let nothing = field.nothing().filter(|_| column.nullable);
    for ((row, cell), slot) in (first..).zip(cursor.batch(out.len())?).zip(out) {
        let value = match cell {
            Some(&value) => number(value).filter(|&value| field.takes(value)),
            None => nothing,
        };
        *slot = value.ok_or_else(|| column.flaw(row, cell.map(T::T::to_string)))?;
    }
    Ok(())
}

/// Takes the next cells of a column over as what `code` makes of texts.
fn texts(
    column: &Column,
    cursor: &mut Cursor<ByteArrayType>,
    first: usize,
    out: &mut [u64],
    mut code: impl FnMut(&[u8]) -> Option<u64>,
) -> Result<(), Flaw> {
    // Cells of a dictionary share its bytes, and most repeat the cell before.
    let mut last: Option<(&ByteArray, u64)> = None;
    for ((row, cell), slot) in (first..).zip(cursor.batch(out.len())?).zip(out) {
        *slot = match (cell, last) {
            (Some(cell), Some((known, code))) if is_same(cell, known) => code,
            (Some(cell), _) => {
                let code = code(cell.data());
                let code = code.ok_or_else(|| column.flaw(row, Some(quoted(cell))))?;
                last = Some((cell, code));
                code
            }
            (None, _) if column.nullable => NONE.into(),
            (None, _) => return Err(column.flaw(row, None)),
        };
    }
    Ok(())
}

fn is_same(one: &ByteArray, other: &ByteArray) -> bool {
    std::ptr::eq(one.data(), other.data())
}

/// What a text means; `None` if it is none that we know.
fn code_of(text: Text, value: &[u8], plan: &Plan, keys: &mut KeysInUse) -> Option<u64> {
    let place = match text {
        Text::Stage => STAGES.iter().position(|(_, s)| s.as_bytes() == value),
        Text::Endpoint => {
            let mut endpoints = plan.scenario.endpoints.iter();
            endpoints.position(|endpoint| endpoint.name.as_bytes() == value)
        }
        Text::Outcome => Outcome::ALL
            .iter()
            .position(|o| o.name().as_bytes() == value),
        Text::Phase => Phase::ALL.iter().position(|p| p.name().as_bytes() == value),
        Text::Key => keys.position(value).map(|position| position as usize),
        Text::TraceId => None,
    };
    place.map(|place| place as u64)
}

/// A text for an error, also if it is no UTF-8.
fn quoted(value: &ByteArray) -> String {
    format!("{:?}", String::from_utf8_lossy(value.data()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_whole_blocks_that_cover_all_rows() {
        assert_eq!(ranges(0, 2), vec![Range { start: 0, end: 0 }]);
        let one = Range {
            start: 0,
            end: BLOCK_ROWS + 1,
        };
        assert_eq!(ranges(BLOCK_ROWS + 1, 2), vec![one]);
        let rows = 4 * FEWEST_BLOCKS * BLOCK_ROWS + 5;
        for cpus in 1..=5 {
            let ranges = ranges(rows, cpus);
            assert_eq!(ranges.len(), cpus.min(4));
            let mut next = 0;
            for range in &ranges {
                assert_eq!(range.start, next);
                assert!(range.start % BLOCK_ROWS == 0 && !range.is_empty());
                next = range.end;
            }
            assert_eq!(next, rows);
        }
    }
}

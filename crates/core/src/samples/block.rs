//! A block of requests, packed column by column.

use super::field::{Field, Origin};
use crate::sample::Sample;

/// Requests in a full block: enough that what is kept once a block is less than half a byte a
/// request, and so few that a slow rate does not stretch their instants over many bytes.
pub const BLOCK_ROWS: usize = 1024;

/// Bytes that are read for a number, however short it is.
const READ_BYTES: usize = size_of::<u64>();

/// Bytes that a request of an ordinary load takes; more are found when they are needed.
const USUAL_BYTES: usize = 48;

/// Words of a bitmap over the rows of a block.
const BITMAP_WORDS: usize = BLOCK_ROWS / 64;

/// What is left of a word of which so many bytes belong to a number.
const MASKS: [u64; READ_BYTES + 1] = [
    0,
    0xff,
    0xffff,
    0xff_ffff,
    0xffff_ffff,
    0xff_ffff_ffff,
    0xffff_ffff_ffff,
    0xff_ffff_ffff_ffff,
    u64::MAX,
];

/// Which rows have something in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Presence {
    All,
    None,
    /// Those whose bit is set, in a bitmap before the numbers.
    Some,
}

/// Where a column is, and what its numbers are added to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Column {
    base: u64,
    /// The first byte of its numbers.
    at: u32,
    /// Bytes of a number; 0 if all are the base.
    width: u8,
    presence: Presence,
}

impl Column {
    /// The first byte of its bitmap, or of its numbers without one.
    fn begin(&self) -> usize {
        let bitmap = match self.presence {
            Presence::Some => BITMAP_WORDS * size_of::<u64>(),
            Presence::All | Presence::None => 0,
        };
        self.at as usize - bitmap
    }
}

/// Up to [`BLOCK_ROWS`] requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    columns: [Column; Field::ALL.len()],
    rows: u32,
    bytes: Box<[u8]>,
}

impl Block {
    #[inline]
    pub(super) fn rows(&self) -> usize {
        self.rows as usize
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The number of a field without its origin; `None` for nothing.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "judging ten million requests is mostly this, and the field is a constant"
    )]
    fn packed(&self, field: Field, row: u32) -> Option<u64> {
        let column = &self.columns[field as usize];
        match column.presence {
            Presence::All => {}
            Presence::None => return None,
            Presence::Some => {
                let word = column.at as usize - 8 * BITMAP_WORDS + 8 * (row as usize / 64);
                if (self.word(word) >> (row % 64)) & 1 == 0 {
                    return None;
                }
            }
        }
        let at = column.at as usize + row as usize * usize::from(column.width);
        let code = self.word(at) & MASKS[usize::from(column.width)];
        Some(column.base.wrapping_add(code))
    }

    /// The eight bytes from `at` on; there are as many after any number.
    #[inline]
    fn word(&self, at: usize) -> u64 {
        let word = self.bytes[at..].first_chunk();
        u64::from_le_bytes(*word.expect("a number has a word's length after its begin"))
    }

    /// A field of a row as a number.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as above")]
    pub(super) fn get(&self, field: Field, row: u32) -> u64 {
        match (self.packed(field, row), field.origin()) {
            (None, _) => field.nothing().unwrap_or(0),
            (Some(value), Origin::Zero) => value,
            (Some(value), Origin::Row) => value.wrapping_add(row.into()),
            (Some(value), Origin::Scheduled) => {
                value.wrapping_add(self.get_plain(Field::Scheduled, row))
            }
        }
    }

    /// How long a row's request took, from its scheduled instant to its end; 0 if it ended before.
    #[inline]
    pub(super) fn latency_ns(&self, row: u32) -> u64 {
        let scheduled = self.get_plain(Field::Scheduled, row);
        let taken = self.get_plain(Field::Done, row);
        match scheduled.checked_add(taken) {
            Some(_) => taken,
            // What is added is a negative number.
            None => scheduled.wrapping_add(taken).saturating_sub(scheduled),
        }
    }

    /// A field that is never missing, without its origin.
    #[inline]
    fn get_plain(&self, field: Field, row: u32) -> u64 {
        self.packed(field, row).unwrap_or(0)
    }

    /// Packs the column of keys again; what follows it moves.
    pub(super) fn replace_keys(&mut self, of: impl Fn(u32) -> u32) {
        let old = self.columns[Field::Key as usize];
        if old.presence == Presence::None {
            return;
        }
        let nothing = Field::Key.nothing();
        let mut keys: Vec<u64> = (0..self.rows)
            .map(|row| self.get(Field::Key, row))
            .collect();
        for key in &mut keys {
            if Some(*key) != nothing {
                *key = of(*key as u32).into();
            }
        }
        let begin = old.begin();
        let end = old.at as usize + keys.len() * usize::from(old.width);
        let mut bytes = self.bytes[..begin].to_vec();
        let present = presence(&keys, Field::Key, &mut bytes);
        let new = pack_column(&keys, present, &mut bytes);
        let moved = bytes.len().wrapping_sub(end) as u32;
        bytes.extend(&self.bytes[end..]);
        for column in &mut self.columns[Field::Key as usize + 1..] {
            column.at = column.at.wrapping_add(moved);
        }
        self.columns[Field::Key as usize] = new;
        self.bytes = bytes.into_boxed_slice();
    }
}

/// Requests that gather until they fill a block, as numbers, column by column.
#[derive(Clone, Debug)]
pub struct Chunk {
    columns: Vec<[u64; BLOCK_ROWS]>,
    rows: usize,
}

impl Default for Chunk {
    fn default() -> Self {
        Self {
            columns: vec![[0; BLOCK_ROWS]; Field::ALL.len()],
            rows: 0,
        }
    }
}

impl Chunk {
    /// How many there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Whether no more fit.
    pub fn is_full(&self) -> bool {
        self.rows == BLOCK_ROWS
    }

    /// Adds a request.
    ///
    /// # Panics
    ///
    /// If it is full.
    pub fn push(&mut self, sample: &Sample) {
        self.grow();
        for field in Field::ALL {
            self.columns[field as usize][self.rows - 1] = field.of(sample);
        }
    }

    /// Makes room for so many requests, all of whose fields are to be set by
    /// [`Chunk::column_mut`].
    ///
    /// # Panics
    ///
    /// If they do not fit.
    pub fn resize(&mut self, rows: usize) {
        assert!(rows <= BLOCK_ROWS, "a block has {BLOCK_ROWS} rows");
        self.rows = rows;
    }

    fn grow(&mut self) {
        self.resize(self.rows + 1);
    }

    /// The numbers of a field, one for each request. Each must be one that the field
    /// takes, or its nothing.
    pub fn column_mut(&mut self, field: Field) -> &mut [u64] {
        &mut self.columns[field as usize][..self.rows]
    }

    /// Packs what is there, and is empty then.
    pub(super) fn pack(&mut self) -> Block {
        let rows = self.rows;
        let scheduled = self.columns[Field::Scheduled as usize];
        let mut bytes = Vec::with_capacity(USUAL_BYTES * rows);
        let columns = Field::ALL.map(|field| {
            let values = &mut self.columns[field as usize][..rows];
            let present = presence(values, field, &mut bytes);
            relate(values, field, &scheduled);
            pack_column(values, present, &mut bytes)
        });
        bytes.extend([0; READ_BYTES]);
        self.rows = 0;
        Block {
            columns,
            rows: rows as u32,
            bytes: bytes.into_boxed_slice(),
        }
    }
}

/// Which rows have something; a bitmap is appended where that differs.
fn presence(values: &[u64], field: Field, bytes: &mut Vec<u8>) -> (Presence, Bitmap) {
    let mut bitmap = [u64::MAX; BITMAP_WORDS];
    let Some(nothing) = field.nothing() else {
        return (Presence::All, bitmap);
    };
    let missing = values.iter().filter(|&&value| value == nothing).count();
    if missing == 0 {
        return (Presence::All, bitmap);
    }
    if missing == values.len() {
        return (Presence::None, [0; BITMAP_WORDS]);
    }
    bitmap = [0; BITMAP_WORDS];
    for (row, &value) in values.iter().enumerate() {
        bitmap[row / 64] |= u64::from(value != nothing) << (row % 64);
    }
    for word in bitmap {
        bytes.extend(word.to_le_bytes());
    }
    (Presence::Some, bitmap)
}

type Bitmap = [u64; BITMAP_WORDS];

/// Takes the origin off.
fn relate(values: &mut [u64], field: Field, scheduled: &[u64; BLOCK_ROWS]) {
    match field.origin() {
        Origin::Zero => {}
        Origin::Row => {
            for (row, value) in values.iter_mut().enumerate() {
                *value = value.wrapping_sub(row as u64);
            }
        }
        Origin::Scheduled => {
            for (value, scheduled) in values.iter_mut().zip(scheduled) {
                *value = value.wrapping_sub(*scheduled);
            }
        }
    }
}

/// Appends the numbers of a column. Distances from an origin may be negative, so the smallest is
/// that of signed numbers; for plain numbers any base does, since sums wrap.
fn pack_column(
    values: &[u64],
    (presence, bitmap): (Presence, Bitmap),
    out: &mut Vec<u8>,
) -> Column {
    let is_there = |row: usize| (bitmap[row / 64] >> (row % 64)) & 1 == 1;
    let signed = |row: usize| values[row] as i64;
    let (low, high) = match presence {
        Presence::All => values
            .iter()
            .map(|&v| v as i64)
            .fold((i64::MAX, i64::MIN), |(low, high), v| {
                (low.min(v), high.max(v))
            }),
        _ => (0..values.len())
            .filter(|&row| is_there(row))
            .map(signed)
            .fold((i64::MAX, i64::MIN), |(low, high), v| {
                (low.min(v), high.max(v))
            }),
    };
    let base = if low <= high { low as u64 } else { 0 };
    let range = (high as u64).wrapping_sub(base);
    let width = if low <= high {
        (u64::BITS - range.leading_zeros()).div_ceil(8) as u8
    } else {
        0
    };
    let at = out.len();
    match presence {
        Presence::All => write_numbers(values, base, width, out),
        _ if width > 0 => {
            let there = |(row, &value)| if is_there(row) { value } else { base };
            let codes: Vec<u64> = values.iter().enumerate().map(there).collect();
            write_numbers(&codes, base, width, out);
        }
        _ => {}
    }
    Column {
        base,
        at: at as u32,
        width,
        presence,
    }
}

/// Appends the distances of numbers from a base, each in `width` bytes.
fn write_numbers(values: &[u64], base: u64, width: u8, out: &mut Vec<u8>) {
    match width {
        0 => {}
        1 => write_each::<1>(values, base, out),
        2 => write_each::<2>(values, base, out),
        3 => write_each::<3>(values, base, out),
        4 => write_each::<4>(values, base, out),
        5 => write_each::<5>(values, base, out),
        6 => write_each::<6>(values, base, out),
        7 => write_each::<7>(values, base, out),
        _ => write_each::<8>(values, base, out),
    }
}

fn write_each<const WIDTH: usize>(values: &[u64], base: u64, out: &mut Vec<u8>) {
    let at = out.len();
    out.resize(at + values.len() * WIDTH, 0);
    for (cell, value) in out[at..].chunks_exact_mut(WIDTH).zip(values) {
        cell.copy_from_slice(&value.wrapping_sub(base).to_le_bytes()[..WIDTH]);
    }
}

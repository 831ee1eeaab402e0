//! Reads the spool of a run: when it is finished, and when it was killed before that.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use slowpath_core::nanos::Nanos;
use slowpath_core::sample::{NONE, Sample, StreamEvent};
use slowpath_core::timeline::{Gap, Series, Timeline};

use super::rows::{ReadingRow, Row};
use super::{BUFFER_BYTES, SeriesLine};
use crate::error::RecordError;
use crate::files;
use crate::jsonl;

/// Length of a spool's header in bytes.
const HEADER_BYTES: usize = 8;

/// What a spool holds, found in one pass over it.
pub(crate) struct Index {
    path: PathBuf,
    /// For each repeat, the range of rows from its first to after its last.
    pub(crate) repeats: BTreeMap<u16, Range<u64>>,
    /// The keys that samples point to: those that were written, then a text for each lost one.
    pub(crate) keys: Vec<String>,
    /// How many keys were written.
    keys_written: usize,
    /// The positions of keys that samples have, and whose texts were not written any more.
    keys_lost: BTreeSet<u32>,
    /// What was lost.
    pub(crate) gaps: Vec<Gap>,
}

/// Goes over the samples of a run directory.
pub(crate) fn index(dir: &Path) -> Result<Index, RecordError> {
    let path = dir.join(files::SAMPLES_SPOOL);
    let mut keys: Vec<String> = jsonl::read(&dir.join(files::KEYS_SPOOL))?;
    let keys_written = keys.len();
    let mut keys_lost = BTreeSet::new();
    let mut repeats: BTreeMap<u16, Range<u64>> = BTreeMap::new();
    let dropped_bytes = scan(&path, 0, |row, sample: Sample| {
        repeats.entry(sample.repeat).or_insert(row..row).end = row + 1;
        if sample.key != NONE && sample.key as usize >= keys_written {
            keys_lost.insert(sample.key);
        }
        true
    })?;
    let mut gaps: Vec<Gap> = dropped(files::SAMPLES_SPOOL, dropped_bytes)
        .into_iter()
        .collect();
    if !keys_lost.is_empty() {
        let lost = keys_lost.len();
        gaps.push(Gap {
            signal: files::KEYS_SPOOL.to_owned(),
            reason: format!("the texts of {lost} keys were not recorded before the run was killed"),
            remedy: String::new(),
        });
        // They still show which requests had the same key.
        keys.extend(keys_lost.iter().map(|key| format!("(lost key {key})")));
    }
    Ok(Index {
        path,
        repeats,
        keys,
        keys_written,
        keys_lost,
        gaps,
    })
}

/// A sample's place in the order in which they are stored; the last is its row in the spool.
type Place = (Nanos, u32, u64);

impl Index {
    /// Visits the samples of one repeat in the order in which they are stored, pointing into the
    /// keys, in groups of `most`: only those of one are in memory, and 24 bytes of each other.
    pub(crate) fn samples(
        &self,
        repeat: u16,
        most: usize,
        mut visit: impl FnMut(&[Sample]) -> Result<(), RecordError>,
    ) -> Result<(), RecordError> {
        // A key's position may be anything in a damaged row: lost keys are closed up.
        let lost = (self.keys_written as u32..).zip(&self.keys_lost);
        let moved: HashMap<u32, u32> = lost.map(|(new, old)| (*old, new)).collect();
        for places in self.places(repeat)?.chunks(most) {
            let mut samples = self.fetch(places)?;
            for sample in &mut samples {
                sample.key = *moved.get(&sample.key).unwrap_or(&sample.key);
            }
            visit(&samples)?;
        }
        Ok(())
    }

    /// The places of the samples of one repeat, ascending.
    fn places(&self, repeat: u16) -> Result<Vec<Place>, RecordError> {
        let Some(range) = self.repeats.get(&repeat) else {
            return Ok(Vec::new());
        };
        let mut places = Vec::new();
        scan(&self.path, range.start, |row, sample: Sample| {
            if sample.repeat == repeat && row < range.end {
                places.push((sample.scheduled, sample.serial, row));
            }
            row + 1 < range.end
        })?;
        places.sort_unstable();
        Ok(places)
    }

    /// The samples of these places. What is due together ends at about the same time, so their rows
    /// lie close together.
    fn fetch(&self, places: &[Place]) -> Result<Vec<Sample>, RecordError> {
        let mut order: Vec<u32> = (0..places.len() as u32).collect();
        order.sort_unstable_by_key(|&at| places[at as usize].2);
        let mut samples = vec![Sample::due(Nanos::new(0)); places.len()];
        let file = File::open(&self.path).map_err(RecordError::io("open", &self.path))?;
        let mut reader = BufReader::with_capacity(BUFFER_BYTES, file);
        let mut bytes = vec![0; Sample::BYTES];
        let mut position = 0;
        for at in order {
            let row = places[at as usize].2;
            let begin = HEADER_BYTES as u64 + row * Sample::BYTES as u64;
            reader
                .seek_relative(begin as i64 - position as i64)
                .and_then(|()| reader.read_exact(&mut bytes))
                .map_err(RecordError::io("read", &self.path))?;
            position = begin + Sample::BYTES as u64;
            samples[at as usize] = Sample::decode(&bytes).ok_or_else(|| {
                RecordError::damaged(&self.path, format!("row {} changed", row + 1))
            })?;
        }
        Ok(samples)
    }
}

/// Visits the events of streamed responses of a run directory in the order in which they came;
/// gives a gap if some of them were lost. Runs of older versions have none.
pub(crate) fn stream_events(
    dir: &Path,
    mut visit: impl FnMut(StreamEvent),
) -> Result<Option<Gap>, RecordError> {
    let path = dir.join(files::STREAM_EVENTS_SPOOL);
    if !path.exists() {
        return Ok(None);
    }
    let dropped_bytes = scan(&path, 0, |_, event| {
        visit(event);
        true
    })?;
    Ok(dropped(files::STREAM_EVENTS_SPOOL, dropped_bytes))
}

/// The series of a run directory, not sorted, and a gap if some of them were lost.
pub(crate) fn timeline(dir: &Path) -> Result<Timeline, RecordError> {
    let lines: Vec<SeriesLine> = jsonl::read(&dir.join(files::SERIES_SPOOL))?;
    let named = |SeriesLine {
                     signal,
                     subject,
                     label,
                 }| {
        Series {
            signal,
            subject,
            label,
            points: Vec::new(),
        }
    };
    let mut series: Vec<Series> = lines.into_iter().map(named).collect();
    let mut nameless = 0;
    let path = dir.join(files::TIMELINE_SPOOL);
    let dropped_bytes = scan(&path, 0, |_, row: ReadingRow| {
        match series.get_mut(row.series as usize) {
            Some(series) => series.points.push(row.point),
            None => nameless += ReadingRow::BYTES as u64,
        }
        true
    })?;
    let gaps = dropped(files::TIMELINE_SPOOL, dropped_bytes + nameless)
        .into_iter()
        .collect();
    Ok(Timeline {
        series,
        gaps,
        marks: Vec::new(),
    })
}

fn dropped(name: &str, bytes: u64) -> Option<Gap> {
    (bytes > 0).then(|| Gap {
        signal: name.to_owned(),
        reason: format!("{bytes} bytes were not written whole before the run was killed"),
        remedy: String::new(),
    })
}

/// Decodes the rows of a spool from row `first` on, until `visit` says `false`. Returns how many
/// bytes at its end are no rows; zero if `visit` ended it.
fn scan<R: Row>(
    path: &Path,
    first: u64,
    mut visit: impl FnMut(u64, R) -> bool,
) -> Result<u64, RecordError> {
    let file = File::open(path).map_err(RecordError::io("open", path))?;
    let read = RecordError::io("read", path);
    scan_rows(file, first, &mut visit)
        .map_err(read)?
        .map_err(|header| match header {
            Header::Newer(found) => RecordError::Newer {
                path: path.to_owned(),
                found,
                known: u32::from(R::HEADER[HEADER_BYTES - 1]),
            },
            Header::Foreign => RecordError::damaged(path, "it does not begin like a spool"),
        })
}

/// Why a file is not a spool that we read.
enum Header {
    Newer(u32),
    Foreign,
}

fn scan_rows<R: Row>(
    mut file: impl Read + Seek,
    first: u64,
    visit: &mut impl FnMut(u64, R) -> bool,
) -> std::io::Result<Result<u64, Header>> {
    let length = file.seek(SeekFrom::End(0))?;
    file.rewind()?;
    let mut header = Vec::with_capacity(HEADER_BYTES);
    file.by_ref()
        .take(HEADER_BYTES as u64)
        .read_to_end(&mut header)?;
    if header.len() < HEADER_BYTES && R::HEADER.starts_with(&header) {
        return Ok(Ok(length)); // Killed while it was created.
    }
    if header != R::HEADER {
        let ours = header.strip_prefix(&R::HEADER[..HEADER_BYTES - 1]);
        return Ok(Err(match ours {
            Some(&[format]) => Header::Newer(u32::from(format)),
            _ => Header::Foreign,
        }));
    }
    let mut position = HEADER_BYTES as u64 + first * R::BYTES as u64;
    file.seek(SeekFrom::Start(position))?;
    let mut reader = BufReader::with_capacity(BUFFER_BYTES, file);
    let mut bytes = vec![0; R::BYTES];
    for row in first.. {
        match reader.read_exact(&mut bytes) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => break,
            Err(error) => return Err(error),
        }
        let Some(decoded) = R::decode(&bytes) else {
            break;
        };
        position += R::BYTES as u64;
        if !visit(row, decoded) {
            return Ok(Ok(0));
        }
    }
    Ok(Ok(length.saturating_sub(position)))
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::collection::vec;
    use proptest::prelude::*;
    use slowpath_core::nanos::{Nanos, Span};
    use slowpath_core::timeline::Point;

    use super::*;

    fn decode<R: Row>(bytes: Vec<u8>, first: u64) -> Option<(Vec<R>, u64)> {
        let mut rows = Vec::new();
        let visit = &mut |_, row| {
            rows.push(row);
            true
        };
        let outcome = scan_rows(Cursor::new(bytes), first, visit).unwrap();
        outcome.ok().map(|dropped| (rows, dropped))
    }

    fn reading(series: u32) -> ReadingRow {
        let at = Nanos::new(7);
        let point = Point {
            window: Span { begin: at, end: at },
            value: 0.5,
        };
        ReadingRow { series, point }
    }

    fn spool_of(rows: u32) -> Vec<u8> {
        let mut bytes = ReadingRow::HEADER.to_vec();
        (0..rows).for_each(|series| reading(series).encode(&mut bytes));
        bytes
    }

    #[test]
    fn a_spool_ends_at_the_first_row_that_is_none() {
        let mut bytes = spool_of(3);
        bytes.extend([0; 2 * ReadingRow::BYTES]);
        let (rows, dropped) = decode::<ReadingRow>(bytes, 1).unwrap();
        assert_eq!(rows, [reading(1), reading(2)]);
        assert_eq!(dropped, 2 * ReadingRow::BYTES as u64);
    }

    #[test]
    fn other_headers_are_told_apart() {
        let read = |bytes: &[u8]| {
            scan_rows(Cursor::new(bytes.to_vec()), 0, &mut |_, _: ReadingRow| true).unwrap()
        };
        assert!(matches!(read(b""), Ok(0)));
        assert!(matches!(read(b"slow"), Ok(4)));
        assert!(matches!(read(b"fast"), Err(Header::Foreign)));
        assert!(matches!(read(b"slowtml\x02"), Err(Header::Newer(2))));
        assert!(matches!(read(&Sample::HEADER), Err(Header::Foreign)));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn a_torn_spool_keeps_its_whole_rows(cut in 0_usize..28 * 5 + 8) {
            let mut bytes = spool_of(5);
            bytes.truncate(cut);
            let (rows, dropped) = decode::<ReadingRow>(bytes, 0).unwrap();
            let kept = cut.saturating_sub(HEADER_BYTES) / ReadingRow::BYTES;
            prop_assert_eq!(rows.len(), kept);
            let whole = if cut < HEADER_BYTES { 0 } else { HEADER_BYTES + kept * ReadingRow::BYTES };
            prop_assert_eq!(dropped as usize, cut - whole);
        }

        #[test]
        fn any_bytes_decode_to_rows_that_encode_to_them(bytes in vec(any::<u8>(), 0..600)) {
            let mut spool = Sample::HEADER.to_vec();
            spool.extend(&bytes);
            let (rows, dropped) = decode::<Sample>(spool, 0).unwrap();
            prop_assert_eq!(rows.len() * Sample::BYTES + dropped as usize, bytes.len());
            let mut again = Vec::new();
            for row in rows {
                row.encode(&mut again);
            }
            prop_assert_eq!(&bytes[..again.len()], &again[..]);
            decode::<Sample>(bytes, 0);
        }
    }
}

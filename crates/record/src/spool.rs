//! The spool: what an unfinished run has so far, in a form that is cheap to append to.
//!
//! `samples.spool`, `stream_events.spool` and `timeline.spool` are a header of eight bytes and rows of fixed width (see
//! [`rows`]); `keys.spool` and `series.spool` are the JSON lines that rows point to by position.
//! A row that cannot be decoded ends a spool: the machine crashed while it was written. What
//! follows it is dropped, and a [`Gap`] says how much that was.
//!
//! [`Gap`]: slowpath_core::timeline::Gap

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use slowpath_core::sample::{Sample, StreamEvent};
use slowpath_core::timeline::{Reading, Subject};

use crate::error::RecordError;
use crate::events::Event;
use crate::files;
use crate::jsonl;

pub(crate) mod read;
pub(crate) mod rows;

use rows::{ReadingRow, Row};

/// Rows are handed to the kernel when so many bytes have gathered: one system call for about two
/// thousand requests.
const BUFFER_BYTES: usize = 256 * 1024;

/// A series that readings point to, as a line of `series.spool`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SeriesLine {
    signal: String,
    subject: Subject,
    label: String,
}

/// Appends to the spool files of one run.
pub(crate) struct Spool {
    samples: RowFile<Sample>,
    stream_events: RowFile<StreamEvent>,
    readings: RowFile<ReadingRow>,
    keys: LineFile,
    series: LineFile,
    events: LineFile,
    known: HashMap<(&'static str, Subject, String), u32>,
}

impl Spool {
    /// Creates the files.
    pub(crate) fn create(dir: &Path) -> Result<Self, RecordError> {
        Ok(Self {
            // First, because its existence is what marks a directory as taken.
            samples: RowFile::create(dir.join(files::SAMPLES_SPOOL))?,
            stream_events: RowFile::create(dir.join(files::STREAM_EVENTS_SPOOL))?,
            readings: RowFile::create(dir.join(files::TIMELINE_SPOOL))?,
            keys: LineFile::create(dir.join(files::KEYS_SPOOL))?,
            series: LineFile::create(dir.join(files::SERIES_SPOOL))?,
            events: LineFile::create(dir.join(files::EVENTS))?,
            known: HashMap::new(),
        })
    }

    pub(crate) fn samples(&mut self, samples: &[Sample]) -> Result<(), RecordError> {
        for sample in samples {
            self.samples.push(sample);
        }
        self.flush_if_full()
    }

    pub(crate) fn stream_events(&mut self, events: &[StreamEvent]) -> Result<(), RecordError> {
        for event in events {
            self.stream_events.push(event);
        }
        self.flush_if_full()
    }

    pub(crate) fn readings(&mut self, readings: Vec<Reading>) -> Result<(), RecordError> {
        for Reading {
            signal,
            subject,
            label,
            point,
        } in readings
        {
            let next = self.known.len() as u32;
            let key = (signal.id, subject.clone(), label.clone());
            let series = *self.known.entry(key).or_insert(next);
            if series == next {
                let signal = signal.id.to_owned();
                self.series.push(&SeriesLine {
                    signal,
                    subject,
                    label,
                })?;
            }
            self.readings.push(&ReadingRow { series, point });
        }
        self.flush_if_full()
    }

    pub(crate) fn keys(&mut self, keys: &[String]) -> Result<(), RecordError> {
        keys.iter().try_for_each(|key| self.keys.push(key))?;
        self.flush_if_full()
    }

    pub(crate) fn event(&mut self, event: &Event) -> Result<(), RecordError> {
        self.events.push(event)
    }

    fn flush_if_full(&mut self) -> Result<(), RecordError> {
        let buffers = [
            &self.samples.0,
            &self.stream_events.0,
            &self.readings.0,
            &self.keys.0,
            &self.series.0,
        ];
        let full = buffers
            .iter()
            .any(|buffer| buffer.bytes.len() >= BUFFER_BYTES);
        if full { self.flush() } else { Ok(()) }
    }

    /// Hands everything to the kernel, from where it survives the end of this process. What is
    /// pointed to goes before what points to it.
    pub(crate) fn flush(&mut self) -> Result<(), RecordError> {
        self.keys.0.flush()?;
        self.series.0.flush()?;
        self.events.0.flush()?;
        self.samples.0.flush()?;
        self.stream_events.0.flush()?;
        self.readings.0.flush()
    }
}

/// Removes the spool of a run that is finished.
pub(crate) fn remove(dir: &Path) -> Result<(), RecordError> {
    // `samples.spool` goes first: from then on the run counts as finished, and a crash leaves
    // files that are never read.
    let names = [
        files::SAMPLES_SPOOL,
        files::STREAM_EVENTS_SPOOL,
        files::TIMELINE_SPOOL,
        files::SERIES_SPOOL,
        files::KEYS_SPOOL,
    ];
    for name in names {
        let path = dir.join(name);
        fs::remove_file(&path).map_err(RecordError::io("remove", &path))?;
    }
    Ok(())
}

/// A file that is appended to in large pieces.
struct Buffered {
    file: File,
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Buffered {
    fn create(path: PathBuf) -> Result<Self, RecordError> {
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => Ok(Self {
                file,
                path,
                bytes: Vec::new(),
            }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let dir = path.parent().unwrap_or(&path).to_owned();
                Err(RecordError::Occupied { path: dir })
            }
            Err(error) => Err(RecordError::io("create", &path)(error)),
        }
    }

    fn flush(&mut self) -> Result<(), RecordError> {
        self.file
            .write_all(&self.bytes)
            .map_err(RecordError::io("write", &self.path))?;
        self.bytes.clear();
        Ok(())
    }
}

struct RowFile<R>(Buffered, PhantomData<R>);

impl<R: Row> RowFile<R> {
    fn create(path: PathBuf) -> Result<Self, RecordError> {
        let mut buffer = Buffered::create(path)?;
        buffer.bytes.extend(R::HEADER);
        buffer.flush()?;
        Ok(Self(buffer, PhantomData))
    }

    fn push(&mut self, row: &R) {
        row.encode(&mut self.0.bytes);
    }
}

struct LineFile(Buffered);

impl LineFile {
    fn create(path: PathBuf) -> Result<Self, RecordError> {
        Buffered::create(path).map(Self)
    }

    fn push<T: Serialize>(&mut self, value: &T) -> Result<(), RecordError> {
        jsonl::push_line(&mut self.0.bytes, value).map_err(RecordError::json(&self.0.path))
    }
}

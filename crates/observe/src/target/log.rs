//! The output of a started process, kept with timestamps.
//!
//! A line of the file is
//! `MONOTONIC_SECONDS.NANOSECONDS 2026-01-02T03:04:05.123456Z out|err TEXT`: the first stamp joins
//! the line with the samples of the run, the second one with other logs. The stamp is the instant
//! at which slowpath read the line. Both streams go to one file, in the order in which they were
//! read. Whatever happens to the file, the streams are drained, so the process never blocks on us.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write as _};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use jiff::Timestamp;

use crate::clock;

/// Longer lines are broken into pieces of this size: a stack trace fits, a dumped body does not
/// fill memory.
const LINE_MAX_BYTES: usize = 16 * 1024;

/// The file grows no further than this; a chatty server under full load writes some 100 MB a
/// minute, and a log that is too large to open is of no use.
const FILE_MAX_BYTES: u64 = 256 * 1024 * 1024;

/// Lines kept in memory for error messages.
const TAIL_LINES: usize = 5;

/// Room in the kernel between the process and us, so that it seldom waits: the largest pipe that
/// an unprivileged user may ask for by default (`fs.pipe-max-size`).
const PIPE_BYTES: usize = 1024 * 1024;

/// How long the last output may take to arrive after the process has ended.
const DRAIN_WAIT: Duration = Duration::from_secs(1);

/// A log that is being written.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    page: Arc<Mutex<Page>>,
    /// Notified whenever a reader has come to the end of its stream.
    ended: Arc<Condvar>,
}

impl Log {
    /// Opens `dir/name.log` for appending and creates `dir`.
    pub(crate) fn open(dir: &Path, name: &str) -> io::Result<Self> {
        std::fs::create_dir_all(dir)?;
        let path = dir.join(format!("{name}.log"));
        let file = OpenOptions::new().create(true).append(true).open(&path)?;
        let page = Page {
            file,
            tail: VecDeque::new(),
            room: FILE_MAX_BYTES,
            lines_lost: 0,
            reading: 0,
        };
        Ok(Self {
            path,
            page: Arc::new(Mutex::new(page)),
            ended: Arc::default(),
        })
    }

    /// Reads `stream` on a thread of its own until its end; `label` is `out` or `err`.
    pub(crate) fn follow<S>(&self, stream: S, label: &'static str) -> io::Result<()>
    where
        S: Read + AsFd + Send + 'static,
    {
        // Refused when the user's pipes are already large; then the default size serves.
        let _ = rustix::pipe::fcntl_setpipe_size(stream.as_fd(), PIPE_BYTES);
        let reading = Reading::begin(&self.page, &self.ended);
        let reader = move || drain(stream, label, &reading.page);
        thread::Builder::new()
            .name(format!("log {label}"))
            .spawn(reader)?;
        Ok(())
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The last lines, without their stamps.
    pub(crate) fn tail(&self) -> Vec<String> {
        locked(&self.page).tail.iter().cloned().collect()
    }

    /// The last lines of a process that has ended, once they have been read.
    pub(crate) fn last_words(&self) -> Vec<String> {
        self.wait();
        self.tail()
    }

    /// Waits a little until both streams have ended; returns the number of lines that could not be
    /// kept. A process that slowpath could not end may hold a stream open: its reader stays.
    pub(crate) fn close(self) -> u64 {
        self.wait();
        locked(&self.page).lines_lost
    }

    /// Waits until both streams have ended, but not for what never ends.
    fn wait(&self) {
        let page = locked(&self.page);
        let waited = self
            .ended
            .wait_timeout_while(page, DRAIN_WAIT, |page| page.reading > 0);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

/// One stream that is being read; over when it is dropped.
struct Reading {
    page: Arc<Mutex<Page>>,
    ended: Arc<Condvar>,
}

impl Reading {
    fn begin(page: &Arc<Mutex<Page>>, ended: &Arc<Condvar>) -> Self {
        locked(page).reading += 1;
        Self {
            page: Arc::clone(page),
            ended: Arc::clone(ended),
        }
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        locked(&self.page).reading -= 1;
        self.ended.notify_all();
    }
}

#[derive(Debug)]
struct Page {
    file: File,
    tail: VecDeque<String>,
    room: u64,
    lines_lost: u64,
    /// Streams that have not come to their end.
    reading: u32,
}

impl Page {
    /// Writes lines that were read at one instant, with one write.
    fn write(&mut self, label: &str, lines: &[String]) {
        let mut text = String::new();
        let now = clock::now().get();
        let (seconds, nanos) = (now / 1_000_000_000, now % 1_000_000_000);
        let utc = Timestamp::now();
        for line in lines {
            // Writing into a string does not fail.
            let _ = writeln!(text, "{seconds}.{nanos:09} {utc:.6} {label} {line}");
        }
        let size = text.len() as u64;
        if size > self.room || self.file.write_all(text.as_bytes()).is_err() {
            self.lines_lost += lines.len() as u64;
        } else {
            self.room -= size;
        }
        self.tail.extend(lines.iter().cloned());
        let surplus = self.tail.len().saturating_sub(TAIL_LINES);
        self.tail.drain(..surplus);
    }
}

/// A reader that panicked leaves whole lines, so its page is still good.
fn locked(page: &Mutex<Page>) -> MutexGuard<'_, Page> {
    page.lock().unwrap_or_else(PoisonError::into_inner)
}

fn drain(mut stream: impl Read, label: &str, page: &Mutex<Page>) {
    let mut chunk = vec![0; 64 * 1024];
    let mut splitter = Splitter::default();
    loop {
        let lines = match stream.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => splitter.push(&chunk[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        if !lines.is_empty() {
            locked(page).write(label, &lines);
        }
    }
    if let Some(last) = splitter.finish() {
        locked(page).write(label, &[last]);
    }
}

/// Cuts a stream of bytes into lines of bounded length.
#[derive(Default)]
struct Splitter {
    rest: Vec<u8>,
}

impl Splitter {
    fn push(&mut self, mut bytes: &[u8]) -> Vec<String> {
        let mut lines = Vec::new();
        while !bytes.is_empty() {
            let room = LINE_MAX_BYTES - self.rest.len();
            let window = &bytes[..bytes.len().min(room)];
            let newline = window.iter().position(|&byte| byte == b'\n');
            let (piece, used) = match newline {
                Some(at) => (&window[..at], at + 1),
                None => (window, window.len()),
            };
            self.rest.extend_from_slice(piece);
            bytes = &bytes[used..];
            if newline.is_some() || self.rest.len() == LINE_MAX_BYTES {
                lines.push(self.take());
            }
        }
        lines
    }

    fn finish(mut self) -> Option<String> {
        (!self.rest.is_empty()).then(|| self.take())
    }

    fn take(&mut self) -> String {
        let line = String::from_utf8_lossy(&self.rest)
            .trim_end_matches('\r')
            .to_owned();
        self.rest.clear();
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_wherever_the_reads_end() {
        let mut splitter = Splitter::default();
        assert_eq!(splitter.push(b"one\r\ntw"), ["one"]);
        assert_eq!(splitter.push(b"o\n\nthree"), ["two", ""]);
        assert_eq!(splitter.finish().as_deref(), Some("three"));
        assert_eq!(Splitter::default().finish(), None);
    }

    #[test]
    fn a_long_line_is_broken() {
        let mut splitter = Splitter::default();
        let lines = splitter.push(&vec![b'x'; 2 * LINE_MAX_BYTES + 3]);
        assert_eq!(
            lines.iter().map(String::len).collect::<Vec<_>>(),
            [LINE_MAX_BYTES; 2]
        );
        assert_eq!(splitter.finish().map(|rest| rest.len()), Some(3));
    }

    #[test]
    fn last_words_are_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let log = Log::open(&dir.path().join("logs"), "server").unwrap();
        let (reader, mut writer) = std::io::pipe().unwrap();
        log.follow(reader, "out").unwrap();
        let process = thread::spawn(move || {
            thread::sleep(Duration::from_millis(100));
            writer.write_all(b"out of luck\n").unwrap();
        });
        assert_eq!(log.last_words(), ["out of luck"]);
        process.join().unwrap();
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let dir = tempfile::tempdir().unwrap();
        let log = Log::open(&dir.path().join("logs"), "server").unwrap();
        locked(&log.page).room = 60;
        drain(&b"first\nsecond\n"[..], "out", &log.page);
        drain(&b"third\n"[..], "err", &log.page);
        let path = log.path().to_owned();
        assert_eq!(log.tail(), ["first", "second", "third"]);
        assert_eq!(log.close(), 2);
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.ends_with("Z err third\n"), "{text}");
        assert_eq!(text.lines().count(), 1);
    }
}

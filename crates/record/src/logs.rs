//! Reads the lines of `logs/` around some instants, without reading whole files.
//!
//! A line begins with its instant, `SECONDS.NANOSECONDS`, and lines are in the order of time, so
//! the place of an instant is found by halving the file.

use std::collections::BinaryHeap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use slowpath_core::gc_log::{self, GcLog};
use slowpath_core::logs::{LogExcerpt, LogLine, LogWanted};
use slowpath_core::nanos::{Nanos, SECOND};

use crate::error::RecordError;
use crate::files::LOGS;

/// Halving ends at this many bytes; the rest is read through, in one read.
const NEAR_BYTES: u64 = 64 * 1024;

/// At most this much of a file is read around one instant: two seconds of a log that grows by
/// 4 MiB a second, twice what fills its largest size in a minute. What lies beyond is not counted
/// as omitted.
const READ_MAX_BYTES: u64 = 8 * 1024 * 1024;

/// The target's own log.
const TARGET: &str = "target.log";

/// As much of it is looked through for garbage collections: a second's work, and more than a traced
/// collector writes in an hour.
const MOST_SCANNED_BYTES: u64 = 256 * 1024 * 1024;

/// A longer line is taken for several, none of which a runtime wrote.
const MOST_LINE_BYTES: u64 = 64 * 1024;

/// Collections that are kept: 100 a second for three hours, 100 bytes each.
const MOST_COLLECTIONS: usize = 1_000_000;

/// The lines of the target and its services around instants, one excerpt for each wanted. A run
/// without logs has empty ones.
///
/// # Errors
/// When the folder or a file in it cannot be read.
pub fn excerpts(dir: &Path, wanted: &[LogWanted]) -> Result<Vec<LogExcerpt>, RecordError> {
    let mut found: Vec<Choice> = wanted.iter().map(|_| Choice::default()).collect();
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    for path in files(dir)? {
        let stem = path.file_stem().unwrap_or_default();
        let source = stem.to_string_lossy().into_owned();
        let mut file = File::open(&path).map_err(RecordError::io("open", &path))?;
        for (wanted, choice) in wanted.iter().zip(&mut found) {
            read_around(&mut file, &source, wanted, choice)
                .map_err(RecordError::io("read", &path))?;
        }
    }
    Ok(found.into_iter().map(Choice::into_excerpt).collect())
}

/// What the target's log reports of garbage collections; nothing without a log.
///
/// # Errors
/// When the log cannot be read.
pub(crate) fn collections(dir: &Path) -> Result<GcLog, RecordError> {
    let path = dir.join(LOGS).join(TARGET);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(GcLog::default()),
        Err(error) => return Err(RecordError::io("open", &path)(error)),
    };
    let mut log = GcLog::default();
    let mut lines = BufReader::with_capacity(NEAR_BYTES as usize, file);
    let (mut line, mut seen) = (Vec::new(), 0);
    loop {
        line.clear();
        let mut rest = Read::take(&mut lines, MOST_LINE_BYTES);
        let read = rest.read_until(b'\n', &mut line);
        let read = read.map_err(RecordError::io("read", &path))? as u64;
        seen += read;
        log.cut = seen > MOST_SCANNED_BYTES || log.lines.len() >= MOST_COLLECTIONS;
        if read == 0 || log.cut {
            return Ok(log);
        }
        let collection = parsed(&line).and_then(|(at, _, text)| Some((at, gc_log::parse(&text)?)));
        log.lines.extend(collection);
    }
}

/// The logs of a run, by name.
fn files(dir: &Path) -> Result<Vec<PathBuf>, RecordError> {
    let folder = dir.join(LOGS);
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(RecordError::io("read", &folder)(error)),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(RecordError::io("read", &folder))?.path();
        if path.extension().is_some_and(|ending| ending == "log") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// The best lines so far. The worst of them is on top.
#[derive(Default)]
struct Choice {
    kept: BinaryHeap<Candidate>,
    omitted: u64,
}

/// Ordered by worth, the worst last: lines that name the request before others, what went to
/// standard error before what is mostly access logs, the near before the far.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    is_strange: bool,
    is_out: bool,
    distance_ns: u64,
    at: Nanos,
    source: String,
    /// Lines that one read brought have one instant; their place keeps their order.
    place: u64,
    text: String,
}

impl Choice {
    fn offer(&mut self, candidate: Candidate, lines_max: usize) {
        self.kept.push(candidate);
        if self.kept.len() > lines_max {
            self.kept.pop();
            self.omitted += 1;
        }
    }

    fn into_excerpt(self) -> LogExcerpt {
        let mut kept = self.kept.into_vec();
        kept.sort_by(|a, b| (a.at, &a.source, a.place).cmp(&(b.at, &b.source, b.place)));
        let line = |candidate: Candidate| LogLine {
            at: candidate.at,
            source: candidate.source,
            is_err: !candidate.is_out,
            text: candidate.text,
        };
        LogExcerpt {
            lines: kept.into_iter().map(line).collect(),
            omitted: self.omitted,
        }
    }
}

fn read_around(
    file: &mut File,
    source: &str,
    wanted: &LogWanted,
    choice: &mut Choice,
) -> io::Result<()> {
    let mut instants = wanted.instants.clone();
    instants.sort();
    // Where the surroundings of two instants overlap, lines are read once.
    let mut read_until = None;
    for at in instants {
        let from = Some(at.minus(wanted.within_ns)).max(read_until);
        let until = at.plus(wanted.within_ns);
        let from = from.unwrap_or(at);
        let place = place_of(file, from)?;
        file.seek(SeekFrom::Start(place))?;
        let mut lines = BufReader::new(Read::take(&mut *file, READ_MAX_BYTES));
        let mut line = Vec::new();
        let mut position = place;
        loop {
            line.clear();
            let read = lines.read_until(b'\n', &mut line)?;
            // A line without an end is being written, or its writer was killed.
            if read == 0 || line.last() != Some(&b'\n') {
                break;
            }
            position += read as u64;
            let Some((stamp, is_out, text)) = parsed(&line) else {
                continue;
            };
            if stamp > until {
                break;
            }
            let Some(distance_ns) = wanted.distance_ns(stamp).filter(|_| stamp >= from) else {
                continue;
            };
            let candidate = Candidate {
                is_strange: !wanted.names.iter().any(|name| text.contains(name.as_str())),
                is_out,
                distance_ns,
                at: stamp,
                source: source.to_owned(),
                place: position,
                text,
            };
            choice.offer(candidate, wanted.lines_max);
        }
        read_until = Some(until.plus(1));
    }
    Ok(())
}

/// Where a line begins such that all before it are earlier than `from`, at most
/// [`NEAR_BYTES`] and a line before the first that is not.
fn place_of(file: &mut File, from: Nanos) -> io::Result<u64> {
    let (mut low, mut high) = (0, file.metadata()?.len());
    while high - low > NEAR_BYTES {
        let middle = low + (high - low) / 2;
        match line_after(file, middle)? {
            Some((place, stamp)) if stamp < from && place < high => low = place,
            _ => high = middle,
        }
    }
    Ok(low)
}

/// The first whole line that begins after `place`, and its instant.
fn line_after(file: &mut File, place: u64) -> io::Result<Option<(u64, Nanos)>> {
    file.seek(SeekFrom::Start(place))?;
    let mut lines = BufReader::new(Read::take(&mut *file, NEAR_BYTES));
    let mut line = Vec::new();
    let mut begin = place + lines.read_until(b'\n', &mut line)? as u64;
    loop {
        line.clear();
        let read = lines.read_until(b'\n', &mut line)?;
        if read == 0 || line.last() != Some(&b'\n') {
            return Ok(None);
        }
        if let Some((stamp, ..)) = parsed(&line) {
            return Ok(Some((begin, stamp)));
        }
        begin += read as u64;
    }
}

/// `SECONDS.NANOSECONDS UTC out|err TEXT`: the instant, whether it is `out`, and the text; `None`
/// for anything else.
fn parsed(line: &[u8]) -> Option<(Nanos, bool, String)> {
    let line = String::from_utf8_lossy(line);
    let mut fields = line.trim_end_matches('\n').splitn(4, ' ');
    let (seconds, nanos) = fields.next()?.split_once('.')?;
    let seconds: u64 = seconds.parse().ok()?;
    let nanos: u64 = nanos.parse().ok().filter(|_| nanos.len() == 9)?;
    let _utc = fields.next()?;
    let is_out = match fields.next()? {
        "out" => true,
        "err" => false,
        _ => return None,
    };
    let at = seconds.checked_mul(SECOND)?.checked_add(nanos)?;
    let text = fields.next().unwrap_or_default().to_owned();
    Some((Nanos::from_stored(at)?, is_out, text))
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    #[test]
    fn collections_are_read_from_the_target_alone() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(collections(dir.path()).unwrap(), GcLog::default());
        let logs = dir.path().join(LOGS);
        fs::create_dir(&logs).unwrap();
        let pause = "[2.058s][info][gc] GC(1) Pause Full 8M->4M(128M) 8.8ms";
        let text = written(&[
            (5 * SECOND, "out", "listening"),
            (6 * SECOND, "out", pause),
            (7 * SECOND, "err", "gc is on"),
        ]);
        fs::write(logs.join(TARGET), &text).unwrap();
        fs::write(logs.join("db.log"), &text).unwrap();
        let found = collections(dir.path()).unwrap();
        let line = gc_log::parse(pause).unwrap();
        assert_eq!(found.lines, [(Nanos::new(6 * SECOND), line)]);
        assert!(!found.cut);
    }

    fn written(lines: &[(u64, &str, &str)]) -> String {
        let mut text = String::new();
        for (at, stream, line) in lines {
            let (s, ns) = (at / SECOND, at % SECOND);
            let _ = writeln!(
                text,
                "{s}.{ns:09} 2026-01-02T03:04:05.123456Z {stream} {line}"
            );
        }
        text
    }

    fn wanted(at_ns: &[u64], within_ns: u64, lines_max: usize) -> LogWanted {
        LogWanted {
            instants: at_ns.iter().map(|&at| Nanos::new(at)).collect(),
            within_ns,
            names: vec!["port 4711".to_owned()],
            lines_max,
        }
    }

    fn texts(excerpt: &LogExcerpt) -> Vec<&str> {
        excerpt
            .lines
            .iter()
            .map(|line| line.text.as_str())
            .collect()
    }

    #[test]
    fn the_lines_around_an_instant_are_found_in_a_long_file() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(LOGS)).unwrap();
        let millisecond = SECOND / 1000;
        let long = "x".repeat(200);
        let lines: Vec<String> = (0..20_000_u64).map(|k| format!("{k} {long}")).collect();
        let all: Vec<(u64, &str, &str)> = lines
            .iter()
            .zip(1..)
            .map(|(line, k)| (k * millisecond, "out", line.as_str()))
            .collect();
        fs::write(dir.path().join(LOGS).join("target.log"), written(&all)).unwrap();
        for at in [1, 2, 7_000, 12_345, 19_999, 20_000_u64] {
            let asked = [wanted(&[at * millisecond], 2 * millisecond, 100)];
            let found = excerpts(dir.path(), &asked).unwrap();
            let first = at.saturating_sub(2).max(1);
            let meant: Vec<u64> = (first..=(at + 2).min(20_000)).map(|k| k - 1).collect();
            let numbers: Vec<u64> = texts(&found[0])
                .iter()
                .map(|text| text.split(' ').next().unwrap().parse().unwrap())
                .collect();
            assert_eq!(numbers, meant, "{at}");
        }
    }

    #[test]
    fn what_names_the_request_is_kept_first_then_what_is_near() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(LOGS)).unwrap();
        let target = written(&[
            (900, "out", "GET / from port 4711"),
            (980, "out", "GET /a"),
            (990, "err", "boom"),
            (995, "out", "GET /b"),
            (5000, "err", "later"),
        ]);
        let half = "0.000001000 2026-01-02T03:04:05.123456Z err half of a li";
        fs::write(dir.path().join(LOGS).join("target.log"), target + half).unwrap();
        let db = written(&[(1001, "err", "slow query"), (1002, "err", "")]);
        fs::write(dir.path().join(LOGS).join("db.log"), db).unwrap();
        fs::write(
            dir.path().join(LOGS).join("notes.txt"),
            "0.000001000 x err no",
        )
        .unwrap();
        let asked = [wanted(&[1000, 1050], 200, 3), wanted(&[90_000], 100, 3)];
        let found = excerpts(dir.path(), &asked).unwrap();
        assert_eq!(texts(&found[0]), ["GET / from port 4711", "slow query", ""]);
        assert_eq!(
            (found[0].lines[1].source.as_str(), found[0].omitted),
            ("db", 3)
        );
        assert!(found[0].lines[1].is_err && !found[0].lines[0].is_err);
        assert_eq!(found[1], LogExcerpt::default());
    }

    #[test]
    fn a_run_without_logs_has_empty_excerpts() {
        let dir = tempfile::tempdir().unwrap();
        let found = excerpts(dir.path(), &[wanted(&[5], 5, 5)]).unwrap();
        assert_eq!(found, [LogExcerpt::default()]);
    }
}

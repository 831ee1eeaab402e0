//! The names of the files of a run directory, and how they are replaced: whole or not at all.
//!
//! | name | written | what |
//! |---|---|---|
//! | `manifest.json` | at creation, again when the run is finished | who, what, where; checksums |
//! | `samples.parquet` | when finished | every request, see [`crate::samples`] |
//! | `stream_events.parquet` | when finished | events of streams, see [`crate::stream_events`] |
//! | `timeline.parquet` | when finished | the series, see [`crate::timeline`] |
//! | `events.jsonl` | line by line, sorted when finished | marks and gaps, see [`crate::events`] |
//! | `trace/` | after each repeat | what the kernel reported of threads, see [`crate::trace`] |
//! | `spans/` | after each repeat | what the target reported of requests, see `spans.rs` |
//! | `profiles/` | after each repeat | what the target's runtime reported, see `profiles.rs` |
//! | `profiling/` | after the repeats | what a profiling pass showed, see `profile_pass.rs` |
//! | `profiling-imported/` | later | profiles that were taken elsewhere, see `profile_pass.rs` |
//! | `*.spool` | while the run goes on | rows of an unfinished run, see `spool.rs` |
//! | `logs/` | while the run goes on | output of the target and its services |
//! | `report.json`, `report.html`, `experiments/` | later | derived; may be deleted |
//! | `figures.json` | later | derived; all there is of a benchmark, see `figures.rs` |

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::error::RecordError;

/// The facts of the run.
pub const MANIFEST: &str = "manifest.json";
/// Every request.
pub const SAMPLES: &str = "samples.parquet";
/// Every event of streamed responses; absent if there were none.
pub const STREAM_EVENTS: &str = "stream_events.parquet";
/// The series.
pub const TIMELINE: &str = "timeline.parquet";
/// Marks and gaps.
pub const EVENTS: &str = "events.jsonl";
/// The folder of what was traced, two files a repeat; absent if nothing was.
pub const TRACE: &str = "trace";
/// The folder of the spans of the target's telemetry, a file a repeat; absent if there is none.
pub const SPANS: &str = "spans";
/// The folder of what the target said in `Server-Timing`, a file a repeat; absent if it said nothing.
pub const TIMINGS: &str = "server-timing";
/// The folder of what the target's runtime reported of its code, a file a repeat; absent if it was not
/// asked.
pub const PROFILES: &str = "profiles";
/// The folder of the profiling pass after the repeats; absent without one.
pub const PROFILING: &str = "profiling";
/// The folder of profiles that were imported beside a run; absent without any.
pub const IMPORTED_PROFILES: &str = "profiling-imported";
/// The folder of the output of the target and its services.
pub const LOGS: &str = "logs";
/// The diagnosis for programs.
pub const REPORT_JSON: &str = "report.json";
/// The diagnosis for people.
pub const REPORT_HTML: &str = "report.html";
/// The figures for comparisons, gates and histories.
pub const FIGURES: &str = "figures.json";
/// The folder of experiments, one JSON file each.
pub const EXPERIMENTS: &str = "experiments";

/// Rows of requests of an unfinished run. It is deleted first when a run is finished, so a run is
/// unfinished exactly while this file exists.
pub(crate) const SAMPLES_SPOOL: &str = "samples.spool";
/// Rows of readings of an unfinished run.
pub(crate) const TIMELINE_SPOOL: &str = "timeline.spool";
/// Rows of events of streamed responses of an unfinished run.
pub(crate) const STREAM_EVENTS_SPOOL: &str = "stream_events.spool";
/// The series that rows of readings point to.
pub(crate) const SERIES_SPOOL: &str = "series.spool";
/// The keys that rows of requests point to.
pub(crate) const KEYS_SPOOL: &str = "keys.spool";

/// What was recorded: never replaced by something derived.
const RECORDED: [&str; 17] = [
    MANIFEST,
    SAMPLES,
    STREAM_EVENTS,
    TIMELINE,
    EVENTS,
    TRACE,
    SPANS,
    TIMINGS,
    PROFILES,
    PROFILING,
    IMPORTED_PROFILES,
    LOGS,
    SAMPLES_SPOOL,
    STREAM_EVENTS_SPOOL,
    TIMELINE_SPOOL,
    SERIES_SPOOL,
    KEYS_SPOOL,
];

/// Whether the run in a directory is being measured, or was when slowpath was killed.
pub fn is_unfinished(dir: &Path) -> bool {
    dir.join(SAMPLES_SPOOL).exists()
}

/// Writes a derived file, such as `report.json` or `experiments/delayed-ack.json`, into a run
/// directory; a file of that name is replaced at once.
///
/// # Errors
/// When the name leaves the directory or belongs to the record itself, or on I/O errors.
pub fn write_derived(dir: &Path, name: &str, contents: &[u8]) -> Result<(), RecordError> {
    let mut parts = Path::new(name).components();
    let Some(Component::Normal(first)) = parts.next() else {
        return Err(not_derived(dir, name));
    };
    let recorded = RECORDED.iter().any(|recorded| first == *recorded);
    if recorded || !parts.all(|part| matches!(part, Component::Normal(_))) {
        return Err(not_derived(dir, name));
    }
    let path = dir.join(name);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(RecordError::io("create", parent))?;
    }
    replace(&path, contents)
}

fn not_derived(dir: &Path, name: &str) -> RecordError {
    RecordError::NotDerived {
        dir: dir.to_owned(),
        name: name.to_owned(),
    }
}

/// Reads the experiments of a run: names without their ending, and their JSON text, by name.
///
/// # Errors
/// When the folder or one of its files cannot be read; an absent folder is empty.
pub fn read_experiments(dir: &Path) -> Result<Vec<(String, String)>, RecordError> {
    let folder = dir.join(EXPERIMENTS);
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(RecordError::io("read", &folder)(error)),
    };
    let mut experiments = Vec::new();
    for entry in entries {
        let path = entry.map_err(RecordError::io("read", &folder))?.path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        // A leading dot marks a file that is being written, or was when its writer was killed.
        let Some(name) = name
            .strip_suffix(".json")
            .filter(|name| !name.starts_with('.'))
        else {
            continue;
        };
        let text = fs::read_to_string(&path).map_err(RecordError::io("read", &path))?;
        experiments.push((name.to_owned(), text));
    }
    experiments.sort();
    Ok(experiments)
}

/// Replaces a file by `contents`: readers see the old one or the new one, also after a crash.
pub(crate) fn replace(path: &Path, contents: &[u8]) -> Result<(), RecordError> {
    let mut draft = Draft::create(path)?;
    draft
        .file()
        .write_all(contents)
        .map_err(RecordError::io("write", path))?;
    draft.publish()
}

/// A file that is written under a temporary name and takes its own name when it is whole.
#[derive(Debug)]
pub(crate) struct Draft {
    file: File,
    path: PathBuf,
    temporary: PathBuf,
}

impl Draft {
    /// Begins to write what will be `path`.
    pub(crate) fn create(path: &Path) -> Result<Self, RecordError> {
        // Threads of one process and several processes may derive the same file at once.
        static SERIAL: AtomicU32 = AtomicU32::new(0);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let mut name = OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        name.push(format!(".{}-{serial}.tmp", process::id()));
        let temporary = path.with_file_name(name);
        let file = File::create(&temporary).map_err(RecordError::io("create", &temporary))?;
        Ok(Self {
            file,
            path: path.to_owned(),
            temporary,
        })
    }

    /// The file to write into.
    pub(crate) fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Gives the file its name, with its contents and the name safe on the disk.
    pub(crate) fn publish(self) -> Result<(), RecordError> {
        self.file
            .sync_all()
            .map_err(RecordError::io("write", &self.path))?;
        fs::rename(&self.temporary, &self.path).map_err(RecordError::io("write", &self.path))?;
        sync_dir(self.path.parent().unwrap_or(Path::new(".")))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // After `publish` there is nothing left under this name, which is as good.
        let _ = fs::remove_file(&self.temporary);
    }
}

fn sync_dir(dir: &Path) -> Result<(), RecordError> {
    let dir = if dir.as_os_str().is_empty() {
        Path::new(".")
    } else {
        dir
    };
    let opened = File::open(dir).map_err(RecordError::io("open", dir))?;
    match opened.sync_all() {
        // Some file systems cannot sync a directory; they have nothing to offer instead.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        result => result.map_err(RecordError::io("write", dir)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_files_stay_inside_and_beside_the_record() {
        let dir = tempfile::tempdir().unwrap();
        for name in [
            "",
            ".",
            "..",
            "../x",
            "/etc/x",
            "a/../../x",
            "manifest.json",
            "logs/x",
        ] {
            let error = write_derived(dir.path(), name, b"x").unwrap_err();
            assert!(
                matches!(error, RecordError::NotDerived { .. }),
                "{name}: {error}"
            );
        }
        write_derived(dir.path(), "experiments/b.json", b"1").unwrap();
        write_derived(dir.path(), "experiments/a.json", b"2").unwrap();
        write_derived(dir.path(), "experiments/a.json", b"3").unwrap();
        write_derived(dir.path(), "experiments/.c.json", b"4").unwrap();
        let expected = [
            ("a".to_owned(), "3".to_owned()),
            ("b".to_owned(), "1".to_owned()),
        ];
        assert_eq!(read_experiments(dir.path()).unwrap(), expected);
        assert_eq!(
            fs::read_dir(dir.path().join(EXPERIMENTS)).unwrap().count(),
            3
        );
    }

    #[test]
    fn a_draft_that_is_not_published_leaves_the_old_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("report.json");
        replace(&path, b"old").unwrap();
        let mut draft = Draft::create(&path).unwrap();
        draft.file().write_all(b"half of the new").unwrap();
        drop(draft);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_run_without_experiments_has_none() {
        let dir = tempfile::tempdir().unwrap();
        assert!(read_experiments(dir.path()).unwrap().is_empty());
    }
}

//! How a setting is restored: plain data that slowpath and its guardian both carry out.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::file_limit::{self, Files};
use super::niceness::{self, ThreadNice};
use super::thread_slack::{self, ThreadSlack};
use super::{InterventionError, file_error};
use crate::target::Identity;

/// One step back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Restore {
    /// Write a value to a file.
    File {
        /// The file.
        path: PathBuf,
        /// Its original contents.
        value: String,
        /// Only if this is what it says, but for the end of the line: what another process has written
        /// since is theirs.
        #[serde(default)]
        only_if: Option<String>,
    },
    /// Set the timer slack of threads, each to its own value.
    Threads(Vec<ThreadSlack>),
    /// Set every thread of a process and of its descendants that has the widened timer slack to
    /// another: threads born during an intervention inherit what their parents had.
    Sweep {
        /// The process.
        process: Identity,
        /// The slack that the intervention has set, in nanoseconds.
        widened_ns: u64,
        /// The slack that belongs there, in nanoseconds.
        slack_ns: u64,
    },
    /// Give the processes of a family that have the raised limit of open files the one that belongs
    /// there.
    FileLimit {
        /// The process.
        process: Identity,
        /// The limit that the intervention has set.
        raised: u64,
        /// What belongs there.
        files: Files,
    },
    /// Give threads back their niceness, and others of the family that have the changed one that of
    /// the process.
    Niceness {
        /// The threads that were changed, with their values.
        threads: Vec<ThreadNice>,
        /// The process.
        process: Identity,
        /// The niceness that the intervention has set.
        changed: i32,
        /// The one that belongs to what was born since.
        nice: i32,
    },
    /// Start this very program again with arguments that make it undo something, and wait for it:
    /// what takes a conversation with the target takes more than a guardian can say.
    Program {
        /// The arguments.
        words: Vec<String>,
        /// How long it may take; it is ended then. The user has their prompt back, but the processes that
        /// are to be ended afterwards wait for it.
        most: Duration,
    },
}

/// How often a program is looked after.
const EVERY: Duration = Duration::from_millis(10);

impl Restore {
    /// Restores the setting. What is gone needs no restoring and is no error.
    pub fn carry_out(&self) -> Result<(), InterventionError> {
        let outcome = match self {
            Self::File {
                path,
                value,
                only_if,
            } => match only_if {
                Some(own) if !says(path, own) => Ok(()),
                _ => overwrite(path, value),
            },
            Self::Threads(threads) => thread_slack::restore(threads),
            Self::Sweep {
                process,
                widened_ns,
                slack_ns,
            } => thread_slack::sweep(*process, *widened_ns, *slack_ns),
            Self::FileLimit {
                process,
                raised,
                files,
            } => file_limit::restore(*process, *raised, *files),
            Self::Niceness {
                threads,
                process,
                changed,
                nice,
            } => niceness::restore(threads, *process, (*changed, *nice)),
            Self::Program { words, most } => program(words, *most),
        };
        match outcome {
            Err(InterventionError::Gone { .. }) => Ok(()),
            other => other,
        }
    }
}

fn program(words: &[String], most: Duration) -> Result<(), InterventionError> {
    let failed = |source| InterventionError::Io {
        what: words.join(" "),
        source,
    };
    // The link names the binary even after it was replaced on disk.
    let mut child = Command::new("/proc/self/exe")
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .map_err(failed)?;
    let begun = Instant::now();
    loop {
        match child.try_wait().map_err(failed)? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(failed(io::Error::other(status.to_string()))),
            None if begun.elapsed() > most => {
                // It is ours, and its time is over.
                let _ = child.kill();
                let _ = child.wait();
                return Err(failed(io::ErrorKind::TimedOut.into()));
            }
            None => std::thread::sleep(EVERY),
        }
    }
}

/// How often a pass is repeated until it finds nothing more to change: what is born between the listing and
/// the write inherits the old value. Each pass closes a gap of microseconds, so two are nearly always
/// enough.
const PASSES_MAX: usize = 10;

/// Repeats a pass over a family until it changes nothing; it returns whether it did.
pub(super) fn until_still(
    mut pass: impl FnMut() -> Result<bool, InterventionError>,
) -> Result<(), InterventionError> {
    for _ in 0..PASSES_MAX {
        if !pass()? {
            break;
        }
    }
    Ok(())
}

/// Whether a file says this; one that cannot be read does not.
fn says(path: &Path, text: &str) -> bool {
    std::fs::read_to_string(path).is_ok_and(|now| now.trim_end() == text.trim_end())
}

/// Writes to a file that exists; one that is gone stays gone.
pub(super) fn overwrite(path: &Path, value: &str) -> Result<(), InterventionError> {
    OpenOptions::new()
        .write(true)
        .truncate(true)
        .open(path)
        .and_then(|mut file| file.write_all(value.as_bytes()))
        .map_err(|source| file_error(path, source))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_else_wrote_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("cpu.max");
        let back = Restore::File {
            path: path.clone(),
            value: "20000 100000".to_owned(),
            only_if: Some("max 100000".to_owned()),
        };
        for (now, then) in [
            ("30000 100000\n", "30000 100000\n"),
            ("max 100000\n", "20000 100000"),
        ] {
            std::fs::write(&path, now).unwrap();
            back.carry_out().unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), then);
        }
        std::fs::remove_file(&path).unwrap();
        back.carry_out().unwrap();
    }

    #[test]
    fn passes_are_repeated_until_one_changes_nothing() {
        let passes = |changing: usize| {
            let mut done = 0;
            let repeated = until_still(|| {
                done += 1;
                Ok(done <= changing)
            });
            repeated.map(|()| done).unwrap()
        };
        assert_eq!([passes(0), passes(2), passes(1_000)], [1, 3, PASSES_MAX]);
    }
}

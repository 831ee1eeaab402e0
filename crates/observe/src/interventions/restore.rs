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
    },
}

/// How long such a program may take: the user has their prompt back, and the processes that are
/// to be ended afterwards wait for it.
const PROGRAM_MAX: Duration = Duration::from_secs(10);
/// How often it is looked after.
const EVERY: Duration = Duration::from_millis(10);

impl Restore {
    /// Restores the setting. What is gone needs no restoring and is no error.
    pub fn carry_out(&self) -> Result<(), InterventionError> {
        let outcome = match self {
            Self::File { path, value } => overwrite(path, value),
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
            Self::Program { words } => program(words),
        };
        match outcome {
            Err(InterventionError::Gone { .. }) => Ok(()),
            other => other,
        }
    }
}

fn program(words: &[String]) -> Result<(), InterventionError> {
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
            None if begun.elapsed() > PROGRAM_MAX => {
                // It is ours, and its time is over.
                let _ = child.kill();
                let _ = child.wait();
                return Err(failed(io::ErrorKind::TimedOut.into()));
            }
            None => std::thread::sleep(EVERY),
        }
    }
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

//! The timer slack of single threads (`/proc/TID/timerslack_ns`): how much later than asked the
//! kernel may fire a thread's timers, to batch them. 50 µs by default.
//!
//! The file exists for the number of a thread only, not under `/proc/PID/task`. Reading and writing
//! that of another process needs `CAP_SYS_NICE`. Writing 0 sets the value the thread was born with,
//! which is no way back for a thread born while its parent's was widened.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::restore::until_still;
use super::{InterventionError, sorted};
use crate::target::Identity;
use crate::target::process::{PROC, Table};

/// A thread and its timer slack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadSlack {
    /// The thread.
    pub thread: Identity,
    /// Its slack in nanoseconds.
    pub slack_ns: u64,
}

/// The threads of a process, its main thread first; none when it is gone.
pub(super) fn threads_of(process: Identity) -> Vec<Identity> {
    if !process.is_current() {
        return Vec::new();
    }
    let Ok(folder) = fs::read_dir(Path::new(PROC).join(format!("{}/task", process.pid))) else {
        return Vec::new();
    };
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    let mut tids: Vec<u32> = folder.flatten().filter_map(number).collect();
    tids.sort_by_key(|&tid| (tid != process.pid, tid));
    tids.into_iter().filter_map(Identity::of).collect()
}

/// A thread's timer slack in nanoseconds.
pub(super) fn read(thread: Identity) -> Result<u64, InterventionError> {
    let text = fs::read_to_string(path(thread)).map_err(|source| error(thread, source))?;
    text.trim().parse().map_err(|source| InterventionError::Io {
        what: path(thread).display().to_string(),
        source: std::io::Error::other(format!("{text:?} is no number: {source}")),
    })
}

/// Sets a thread's timer slack; one that is gone is an error, and its successor is not touched.
pub(super) fn write(thread: Identity, slack_ns: u64) -> Result<(), InterventionError> {
    if !thread.is_current() {
        return Err(InterventionError::Gone {
            what: format!("thread {}", thread.pid),
        });
    }
    fs::write(path(thread), slack_ns.to_string()).map_err(|source| error(thread, source))
}

/// Sets each of the threads to its own value, passing over those that are gone; goes on after a
/// failure and returns the first one.
pub(super) fn restore(threads: &[ThreadSlack]) -> Result<(), InterventionError> {
    let mut failure = None;
    for each in threads {
        match write(each.thread, each.slack_ns) {
            Ok(()) | Err(InterventionError::Gone { .. }) => {}
            Err(error) => {
                failure.get_or_insert(error);
            }
        }
    }
    failure.map_or(Ok(()), Err)
}

/// Sets every thread of the process and of its descendants that has exactly `widened_ns` to
/// `slack_ns`.
pub(super) fn sweep(
    process: Identity,
    widened_ns: u64,
    slack_ns: u64,
) -> Result<(), InterventionError> {
    if widened_ns == slack_ns {
        return Ok(());
    }
    until_still(|| {
        let mut changed = false;
        for thread in family_of(process).into_iter().flat_map(threads_of) {
            match read(thread) {
                Ok(found) if found == widened_ns => write_if_there(thread, slack_ns)?,
                Ok(_) | Err(InterventionError::Gone { .. }) => continue,
                Err(error) => return Err(error),
            }
            changed = true;
        }
        Ok(changed)
    })
}

/// The process and its descendants, parents before children; none when it is gone.
pub(super) fn family_of(process: Identity) -> Vec<Identity> {
    if !process.is_current() {
        return Vec::new();
    }
    let Ok(table) = Table::read(Path::new(PROC)) else {
        return Vec::new();
    };
    let rows = table.with_descendants(&[process.pid]);
    rows.iter()
        .filter(|row| !row.zombie)
        .map(|row| row.identity)
        .collect()
}

fn write_if_there(thread: Identity, slack_ns: u64) -> Result<(), InterventionError> {
    match write(thread, slack_ns) {
        Err(InterventionError::Gone { .. }) => Ok(()),
        other => other,
    }
}

fn path(thread: Identity) -> PathBuf {
    Path::new(PROC).join(format!("{}/timerslack_ns", thread.pid))
}

fn error(thread: Identity, source: std::io::Error) -> InterventionError {
    let remedy = || "run slowpath as root or with CAP_SYS_NICE".to_owned();
    sorted(
        source,
        || format!("the timer slack of thread {}", thread.pid),
        remedy,
    )
}

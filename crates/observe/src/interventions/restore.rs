//! How a setting is restored: plain data that slowpath and its guardian both carry out.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

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
}

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
        };
        match outcome {
            Err(InterventionError::Gone { .. }) => Ok(()),
            other => other,
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

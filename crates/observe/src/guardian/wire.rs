//! What slowpath and its guardian say to each other: one JSON value a line.

use serde::{Deserialize, Serialize};

use crate::interventions::Restore;
use crate::target::Identity;
use crate::target::family::Family;

/// What slowpath says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Order {
    /// Say that you are there.
    Ping,
    /// On death, restore this setting.
    Restore {
        /// The number of the entry; a known one replaces it.
        id: u64,
        /// What to write where.
        restore: Restore,
    },
    /// On death, end these processes.
    Kill {
        /// The number of the entry; a known one replaces it.
        id: u64,
        /// The processes.
        family: Family,
    },
    /// There is nothing left to do about this entry.
    Forget {
        /// The number of the entry.
        id: u64,
    },
    /// Keep this thread from going on; one that is kept already goes on.
    Pause {
        /// The thread.
        thread: Identity,
        /// For how long at most, in milliseconds.
        most_ms: u64,
    },
    /// Let the thread that is kept go on.
    Resume,
}

/// What the guardian answers, once for each order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Answer {
    /// It is known now, or done.
    Done,
    /// It was not understood, or could not be done.
    Refused(String),
    /// The system does not let it.
    NotPermitted(String),
    /// It could not be done now.
    Busy(String),
}

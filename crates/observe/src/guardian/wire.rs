//! What slowpath and its guardian say to each other: one JSON value a line.

use serde::{Deserialize, Serialize};

use crate::interventions::Restore;
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
}

/// What the guardian answers, once for each order.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Answer {
    /// It is known now.
    Done,
    /// It was not understood.
    Refused(String),
}

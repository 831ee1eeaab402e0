//! What can go wrong between a record and its files. Every error names the file.

use std::io;
use std::path::{Path, PathBuf};

use parquet::errors::ParquetError;
use thiserror::Error;

/// Why a run directory could not be written or read.
#[derive(Debug, Error)]
pub enum RecordError {
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// A JSON file is malformed or does not have the expected shape.
    #[error("{} is not what slowpath writes there: {source}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// Where and why.
        source: serde_json::Error,
    },
    /// A Parquet file could not be decoded, or its columns could not be written.
    #[error("{} is not a readable Parquet file: {source}", path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// Where and why.
        source: ParquetError,
    },
    /// A file is sound in form, but says something that cannot be.
    #[error("{} is damaged: {problem}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Which row or column, and what is wrong with it.
        problem: String,
    },
    /// A newer slowpath wrote the file.
    #[error(
        "{} has format {found}, but this slowpath reads up to {known}: read it with a newer one",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The format that it declares.
        found: u32,
        /// The newest format that this code knows.
        known: u32,
    },
    /// The directory holds no run.
    #[error("{} holds no run: it has no manifest.json", path.display())]
    NotARun {
        /// The directory.
        path: PathBuf,
    },
    /// The directory holds a run already, and a record is written once.
    #[error("{} holds a run already: choose a directory of its own", path.display())]
    Occupied {
        /// The directory.
        path: PathBuf,
    },
    /// A derived file must not take the place of what was recorded.
    #[error("{name:?} is not the name of a derived file of {}", dir.display())]
    NotDerived {
        /// The run directory.
        dir: PathBuf,
        /// The name that was asked for.
        name: String,
    },
}

impl RecordError {
    /// Turns an I/O error into one that says what was done to which path.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io {
            action,
            path,
            source,
        }
    }

    pub(crate) fn json(path: &Path) -> impl FnOnce(serde_json::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Json { path, source }
    }

    pub(crate) fn parquet(path: &Path) -> impl FnOnce(ParquetError) -> Self {
        let path = path.to_owned();
        move |source| Self::Parquet { path, source }
    }

    pub(crate) fn damaged(path: &Path, problem: impl Into<String>) -> Self {
        Self::Damaged {
            path: path.to_owned(),
            problem: problem.into(),
        }
    }
}

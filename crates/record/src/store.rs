//! The runs of a project: `.slowpath/runs/<ULID>/`, one directory a run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;
use ulid::Ulid;

use crate::error::RecordError;
use crate::files;

/// How many runs an error lists: what fits into one glance.
const CANDIDATES_MAX: usize = 5;

/// A directory of runs, named by ULID: their names sort by the time at which they began.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
}

/// Why a text names no run.
#[derive(Debug, Error)]
pub enum FindError {
    /// There is nothing to choose from.
    #[error("no runs in {}: record one with `slowpath run`", root.display())]
    Empty {
        /// The store.
        root: PathBuf,
    },
    /// Nothing has that name.
    #[error(
        "no run {text:?} in {}: try `last`, a path, or the beginning of one of {}",
        root.display(), listed(candidates)
    )]
    Unknown {
        /// What was asked for.
        text: String,
        /// The store.
        root: PathBuf,
        /// All runs, oldest first.
        candidates: Vec<String>,
    },
    /// Several runs begin like that.
    #[error("{text:?} is the beginning of {} runs: {}; write more of it",
        candidates.len(), listed(candidates))]
    Ambiguous {
        /// What was asked for.
        text: String,
        /// The runs that it fits, oldest first.
        candidates: Vec<String>,
    },
    /// The text is the path of a directory that holds no run.
    #[error("{} holds no run: it has no manifest.json", path.display())]
    NotARun {
        /// The directory.
        path: PathBuf,
    },
    /// The store cannot be listed.
    #[error("cannot read {}: {source}", root.display())]
    Unreadable {
        /// The store.
        root: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
}

/// The newest of the candidates, for an error's text.
fn listed(candidates: &[String]) -> String {
    let hidden = candidates.len().saturating_sub(CANDIDATES_MAX);
    let shown = candidates[hidden..].join(", ");
    if hidden > 0 {
        format!("{shown} ({hidden} older)")
    } else {
        shown
    }
}

impl Store {
    /// The store in that directory, which need not exist yet.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Its directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Creates the empty directory of a new run.
    ///
    /// # Errors
    /// When `id` is no ULID, there is such a run already, or on I/O errors.
    pub fn create_dir(&self, id: &str) -> Result<PathBuf, RecordError> {
        let dir = self.root.join(id);
        if Ulid::from_string(id).is_err() {
            let source = io::Error::new(io::ErrorKind::InvalidInput, "its name is not a ULID");
            return Err(RecordError::Io {
                action: "create",
                path: dir,
                source,
            });
        }
        fs::create_dir_all(&self.root).map_err(RecordError::io("create", &self.root))?;
        match fs::create_dir(&dir) {
            Ok(()) => Ok(dir),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(RecordError::Occupied { path: dir })
            }
            Err(error) => Err(RecordError::io("create", &dir)(error)),
        }
    }

    /// The ids of all runs, oldest first. Directories that have neither a manifest
    /// nor figures are no runs.
    ///
    /// # Errors
    /// When the store cannot be listed; an absent store is empty.
    pub fn ids(&self) -> Result<Vec<String>, FindError> {
        let unreadable = |source| FindError::Unreadable {
            root: self.root.clone(),
            source,
        };
        let entries = match fs::read_dir(&self.root) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(unreadable(error)),
        };
        let mut ids = Vec::new();
        for entry in entries {
            let entry = entry.map_err(unreadable)?;
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            if Ulid::from_string(&name).is_ok() && is_run(&entry.path()) {
                ids.push(name);
            }
        }
        ids.sort_by_key(|id| id.to_ascii_uppercase());
        Ok(ids)
    }

    /// The directory of the run that `text` names: `last`, the path of a run directory, or the
    /// beginning of a run's ULID in any case, if no other run begins like that.
    ///
    /// # Errors
    /// When nothing or more than one thing is meant; the text lists the candidates.
    pub fn find(&self, text: &str) -> Result<PathBuf, FindError> {
        let path = Path::new(text);
        if text != "last" && is_run(path) {
            return Ok(path.to_owned());
        }
        if text.contains('/') && path.is_dir() {
            return Err(FindError::NotARun {
                path: path.to_owned(),
            });
        }
        let ids = self.ids()?;
        let Some(last) = ids.last() else {
            return Err(FindError::Empty {
                root: self.root.clone(),
            });
        };
        if text == "last" {
            return Ok(self.root.join(last));
        }
        let wanted = text.to_ascii_uppercase();
        let fits = |id: &&String| !text.is_empty() && id.to_ascii_uppercase().starts_with(&wanted);
        let fitting: Vec<&String> = ids.iter().filter(fits).collect();
        match fitting.as_slice() {
            [id] => Ok(self.root.join(id)),
            [] => Err(FindError::Unknown {
                text: text.to_owned(),
                root: self.root.clone(),
                candidates: ids,
            }),
            several => Err(FindError::Ambiguous {
                text: text.to_owned(),
                candidates: several.iter().map(|id| (*id).clone()).collect(),
            }),
        }
    }
}

fn is_run(dir: &Path) -> bool {
    [files::MANIFEST, files::FIGURES]
        .iter()
        .any(|name| dir.join(name).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "01JD0000000000000000000001";
    const NEW: &str = "01JE0000000000000000000001";

    fn store_of(ids: &[&str]) -> (tempfile::TempDir, Store) {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path().join("runs"));
        for id in ids {
            let run = store.create_dir(id).unwrap();
            fs::write(run.join(files::MANIFEST), "{}").unwrap();
        }
        (dir, store)
    }

    #[test]
    fn runs_are_found_by_last_prefix_and_path() {
        let (_dir, store) = store_of(&[NEW, OLD]);
        fs::create_dir(store.root().join("01JF0000000000000000000001")).unwrap();
        assert_eq!(store.ids().unwrap(), [OLD, NEW]);
        assert_eq!(store.find("last").unwrap(), store.root().join(NEW));
        assert_eq!(store.find("01jd").unwrap(), store.root().join(OLD));
        assert_eq!(store.find(OLD).unwrap(), store.root().join(OLD));
        let path = store.root().join(OLD);
        assert_eq!(store.find(path.to_str().unwrap()).unwrap(), path);
    }

    #[test]
    fn errors_list_the_candidates_and_what_to_try() {
        let (_dir, store) = store_of(&[NEW, OLD]);
        let text = store.find("01J").unwrap_err().to_string();
        assert!(
            text.contains("2 runs") && text.contains(OLD) && text.contains(NEW),
            "{text}"
        );
        let text = store.find("02").unwrap_err().to_string();
        assert!(text.contains("`last`") && text.contains(OLD), "{text}");
        assert!(matches!(store.find(""), Err(FindError::Unknown { .. })));
        let text = store.root().to_str().unwrap().to_owned();
        assert!(matches!(store.find(&text), Err(FindError::NotARun { .. })));
        let (_dir, store) = store_of(&[]);
        let text = store.find("last").unwrap_err().to_string();
        assert!(text.contains("slowpath run"), "{text}");
    }

    #[test]
    fn long_lists_are_cut_to_the_newest() {
        let ids: Vec<String> = (1..=8).map(|n| format!("0{n}")).collect();
        assert_eq!(listed(&ids), "04, 05, 06, 07, 08 (3 older)");
    }

    #[test]
    fn a_run_directory_is_created_once_and_only_by_ulid() {
        let (_dir, store) = store_of(&[OLD]);
        assert!(matches!(
            store.create_dir(OLD),
            Err(RecordError::Occupied { .. })
        ));
        let error = store.create_dir("../escape").unwrap_err().to_string();
        assert!(error.contains("not a ULID"), "{error}");
    }
}

//! Where runs live, and how a person names one.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

use slowpath_record::Store;

use crate::exit::Problem;

/// The folder of all runs, under the working directory.
pub(crate) const RUNS: &str = ".slowpath/runs";

/// The run that `text` names.
pub(crate) fn find(text: &str) -> Result<PathBuf, Problem> {
    Store::new(Path::new(RUNS)).find(text).map_err(|error| {
        Problem::usage(
            format!("cannot find the run {text:?}: {error}"),
            "give its directory, the beginning of its id, or `last`",
        )
    })
}

/// A place for a copy of report.json, checked before a long measurement and not after it. Nothing
/// that is there changes, and nothing is left.
pub(crate) fn check_copy(path: Option<&Path>) -> Result<(), Problem> {
    let Some(path) = path else { return Ok(()) };
    let there = std::fs::metadata(path);
    // To open a pipe and close it again would be an end of file to its reader.
    if there.as_ref().is_ok_and(|m| !m.is_file() && !m.is_dir()) {
        return Ok(());
    }
    OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .map_err(|error| cannot_copy(path, &error))?;
    if there.is_err() {
        // Ours and empty; if it cannot be removed, it will be filled later.
        let _ = std::fs::remove_file(path);
    }
    Ok(())
}

/// Writes the copy that was asked for.
pub(crate) fn write_copy(path: Option<&Path>, text: &str) -> Result<(), Problem> {
    path.map_or(Ok(()), |path| {
        std::fs::write(path, text).map_err(|error| cannot_copy(path, &error))
    })
}

fn cannot_copy(path: &Path, error: &std::io::Error) -> Problem {
    Problem::environment(
        format!("cannot write {}: {error}", path.display()),
        "give --json a file that can be written, in a folder that exists",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_changes_nothing_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        check_copy(Some(&path)).unwrap();
        assert!(!path.exists());
        std::fs::write(&path, "old").unwrap();
        check_copy(Some(&path)).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
        assert!(check_copy(Some(folder.path())).is_err());
        assert!(check_copy(Some(&path.join("inside"))).is_err());
        assert!(check_copy(None).is_ok());
    }

    #[test]
    fn a_full_disk_is_told_with_its_file_and_once() {
        let full = Path::new("/dev/full");
        check_copy(Some(full)).unwrap();
        let said = write_copy(Some(full), "{}").unwrap_err().to_string();
        assert_eq!(said.matches("No space left").count(), 1, "{said}");
        assert!(said.contains("/dev/full"), "{said}");
    }
}

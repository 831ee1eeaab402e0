//! Where runs live, and how a person names one.

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

/// A place for a copy of report.json, checked before a long measurement and not after it.
pub(crate) fn check_copy(path: Option<&Path>) -> Result<(), Problem> {
    let Some(path) = path else { return Ok(()) };
    let folder = path
        .parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    if path.is_dir() || !folder.is_dir() {
        return Err(Problem::usage(
            format!("cannot write {}", path.display()),
            "name a file in a folder that exists",
        ));
    }
    Ok(())
}

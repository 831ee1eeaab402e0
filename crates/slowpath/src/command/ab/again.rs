//! A comparison that was made before: its blocks are judged again, by this version.

use std::path::{Path, PathBuf};

use anyhow::Result;
use slowpath_experiment::ab::{Ab, SCHEMA, analyse};

use crate::exit::{Exit, Problem};
use crate::{out, store};

/// The file of a comparison, beside its blocks.
pub(crate) const FILE: &str = "ab.json";

/// The directory of the comparison that a person names by its path or the beginning of its id;
/// `None` if that names none, or several.
pub(crate) fn find(text: &str) -> Option<PathBuf> {
    let is_one = |dir: &Path| dir.join(FILE).is_file();
    let named = Path::new(text);
    if is_one(named) {
        return Some(named.to_owned());
    }
    let entries = std::fs::read_dir(store::RUNS).ok()?;
    let wanted = text.to_ascii_uppercase();
    let fits = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        !wanted.is_empty() && name.is_some_and(|name| name.starts_with(&wanted)) && is_one(path)
    };
    let mut fitting = entries.flatten().map(|entry| entry.path()).filter(fits);
    let first = fitting.next()?;
    fitting.next().is_none().then_some(first)
}

/// Judges the blocks again and shows what they say; `copy` is where `--json` goes.
pub(crate) fn again(dir: &Path, markdown: bool, copy: Option<&Path>) -> Result<Exit> {
    let ab = read(dir)?;
    let text = slowpath_report::ab_markdown(&ab);
    let saved = write(dir, "ab.md", &text);
    if markdown {
        out::answer(&text);
    } else {
        let place = dir.display().to_string();
        out::answer(&slowpath_report::ab_terminal(&ab, out::style(), &place));
    }
    if let Err(problem) = saved {
        // Another user's comparison, or an archive: the answer is what was asked for.
        out::say(&problem.to_string());
    }
    store::write_copy(copy, &slowpath_report::ab_json(&ab))?;
    Ok(Exit::Done)
}

/// The comparison in a directory, judged by this version.
pub(crate) fn read(dir: &Path) -> Result<Ab, Problem> {
    let path = dir.join(FILE);
    let wrong = |what: String| {
        Problem::usage(
            format!("cannot read {}: {what}", path.display()),
            "name a comparison that this version wrote; each of its blocks is a run, which \
             `slowpath explain` reads",
        )
    };
    let text = std::fs::read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
    let ab: Ab = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    if ab.schema != SCHEMA {
        return Err(wrong(format!("it is no {SCHEMA}")));
    }
    Ok(Ab {
        analysis: analyse(&ab.plan, &ab.blocks),
        ..ab
    })
}

pub(super) fn write(dir: &Path, name: &str, text: &str) -> Result<(), Problem> {
    slowpath_record::write_derived(dir, name, text.as_bytes()).map_err(|error| {
        Problem::environment(
            format!("the comparison is not written: {error}"),
            "make room on the disk; the blocks measured so far are kept",
        )
    })
}

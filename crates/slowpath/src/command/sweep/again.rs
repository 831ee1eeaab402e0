//! A sweep that was measured before: its windows are analysed again, by this version.

use std::path::{Path, PathBuf};

use anyhow::Result;
use slowpath_experiment::sweep::{SCHEMA, Sweep, analyse};

use crate::exit::{Exit, Problem};
use crate::{out, store};

/// The file of a sweep, beside its windows.
pub(crate) const FILE: &str = "sweep.json";

/// What is shown of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// The answer as `slowpath sweep` gave it.
    Answer,
    /// Where the page is.
    Html,
    /// Markdown.
    Markdown,
}

/// The directory of the sweep that a person names by its path or the beginning of its id; `None`
/// if that names none, or several.
pub(crate) fn find(text: &str) -> Option<PathBuf> {
    let is_sweep = |dir: &Path| dir.join(FILE).is_file();
    let named = Path::new(text);
    if is_sweep(named) {
        return Some(named.to_owned());
    }
    let entries = std::fs::read_dir(store::RUNS).ok()?;
    let wanted = text.to_ascii_uppercase();
    let fits = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        !wanted.is_empty() && name.is_some_and(|name| name.starts_with(&wanted)) && is_sweep(path)
    };
    let mut fitting = entries.flatten().map(|entry| entry.path()).filter(fits);
    let first = fitting.next()?;
    fitting.next().is_none().then_some(first)
}

/// Analyses the windows again and shows what they say; `copy` is where `--json` goes.
pub(crate) fn again(dir: &Path, shown: Shown, copy: Option<&Path>) -> Result<Exit> {
    let sweep = read(dir)?;
    let html = slowpath_report::sweep_html(&sweep);
    let markdown = slowpath_report::sweep_markdown(&sweep);
    let saved = super::write(dir, "sweep.html", &html)
        .and_then(|()| super::write(dir, "sweep.md", &markdown));
    let place = dir.display().to_string();
    if shown == Shown::Html {
        // The place of a page that is not there is no answer.
        saved?;
        out::answer(&format!("{place}/sweep.html\n"));
        store::write_copy(copy, &slowpath_report::sweep_json(&sweep))?;
        return Ok(Exit::Done);
    }
    if shown == Shown::Markdown {
        out::answer(&markdown);
    } else {
        out::answer(&slowpath_report::sweep_terminal(
            &sweep,
            out::style(),
            &place,
        ));
    }

    if let Err(problem) = saved {
        // Another user's sweep, or an archive: the answer is what was asked for.
        out::say(&problem.to_string());
    }
    store::write_copy(copy, &slowpath_report::sweep_json(&sweep))?;
    Ok(Exit::Done)
}

/// The sweep in a directory, analysed by this version.
pub(crate) fn read(dir: &Path) -> Result<Sweep, Problem> {
    let path = dir.join(FILE);
    let wrong = |what: String| {
        Problem::usage(
            format!("cannot read {}: {what}", path.display()),
            "name a sweep that this version wrote; each of its windows is a run, which `slowpath \
             explain` reads",
        )
    };
    let text = std::fs::read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
    let sweep: Sweep = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    if sweep.schema != SCHEMA {
        return Err(wrong(format!("it is no {SCHEMA}")));
    }
    Ok(Sweep {
        analysis: analyse(sweep.plan.grid.dimension, &sweep.windows, sweep.plan.seed),
        ..sweep
    })
}

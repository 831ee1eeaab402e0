//! The figures of stored runs. Only `figures.json` is read; a measured run that has none, or one
//! of another version, is judged once and gets its own.

use std::borrow::Borrow;
use std::io::IsTerminal;
use std::path::Path;

use slowpath_core::figures::RunFigures;
use slowpath_record::{Store, read_figures, read_manifest, write_figures};

use crate::exit::Problem;
use crate::present::Judged;
use crate::{out, store};

/// What to do with a measured run that has no figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// Judge it, which takes a while.
    Judge,
    /// Go on without it.
    Skip,
}

/// Which runs are wanted, by scenario name and release.
pub(crate) type Wanted<'a> = &'a dyn Fn(&str, Option<&str>) -> bool;

/// The figures of the run in a directory.
pub(crate) fn figures(dir: &Path) -> Result<RunFigures, Problem> {
    let found = read_figures(dir).map_err(|error| {
        Problem::usage(
            error,
            "delete that file: a measured run is judged again without it",
        )
    })?;
    match found {
        Some(figures) => Ok(figures),
        None => judged(dir),
    }
}

/// Judges a run that has no figures, and leaves them there for the next time.
fn judged(dir: &Path) -> Result<RunFigures, Problem> {
    let figures = Judged::read(dir)?.figures();
    // An archive that cannot be written to can still be read.
    if let Err(error) = write_figures(dir, &figures) {
        out::say(&format!("the figures are not kept: {error}"));
    }
    Ok(figures)
}

/// The figures of all stored runs that are wanted, in order of time. Runs that cannot be read are
/// reported and left out: one of them must not hide the others.
pub(crate) fn all(wanted: Wanted<'_>, missing: Missing) -> Result<Vec<RunFigures>, Problem> {
    let stored = Store::new(store::RUNS);
    let ids = stored
        .ids()
        .map_err(|error| Problem::environment(error, "run where .slowpath can be read"))?;
    let mut all = Vec::new();
    let mut judging = 0;
    for id in ids {
        let dir = stored.root().join(id);
        match one(&dir, wanted, missing, &mut judging) {
            Ok(found) => all.extend(found),
            Err(problem) => out::say(&format!("going on without a run: {problem}")),
        }
    }
    sort(&mut all);
    Ok(all)
}

fn one(
    dir: &Path,
    wanted: Wanted<'_>,
    missing: Missing,
    judging: &mut usize,
) -> Result<Option<RunFigures>, Problem> {
    let is_wanted = |run: &RunFigures| wanted(&run.name, run.release.as_deref());
    let found = read_figures(dir).map_err(|error| Problem::usage(error, ""))?;
    if let Some(figures) = found {
        return Ok(Some(figures).filter(is_wanted));
    }
    if missing == Missing::Skip {
        return Ok(None);
    }
    let manifest = read_manifest(dir).map_err(|error| Problem::usage(error, ""))?;
    let plan = &manifest.plan;
    if !wanted(&plan.scenario.name, plan.release.as_deref()) {
        return Ok(None);
    }
    *judging += 1;
    if *judging == 1 && std::io::stderr().is_terminal() {
        out::say("judging runs that have no figures yet ...");
    }
    judged(dir).map(Some)
}

/// In order of the instant at which they began: figures made elsewhere are stored later than that.
pub(crate) fn sort<R: Borrow<RunFigures>>(runs: &mut [R]) {
    runs.sort_by_cached_key(|run| {
        let run: &RunFigures = run.borrow();
        let began: Option<jiff::Timestamp> = run.began.parse().ok();
        (began, run.began.clone(), run.id.clone())
    });
}

//! What a run of a release says to the log: every open prediction is held against it, and a fix
//! that did not move its target is open again.

use std::path::Path;

use slowpath_core::figures::RunFigures;
use slowpath_core::investigation::{
    BY_SLOWPATH, Entry, Investigation, Outcome, Prediction, Verdict, What,
};
use slowpath_experiment::log::{Checked, check, is_to_be_checked, reopening};
use slowpath_record::write_entry;

use super::{Kept, entries};
use crate::exit::Problem;
use crate::present::Judged;
use crate::{notes, out, stored};

/// Where the log is looked for: a project without this folder keeps none.
const FOLDER: &str = "investigations";

/// Checks predictions after a run, writes the verdicts and tells them. The run is measured and
/// told: what is wrong with the log is said, and changes no exit code.
pub(crate) fn tell(judged: &Judged) {
    tell_figures(&judged.figures());
}

/// The same of figures that somebody else measured.
pub(crate) fn tell_figures(own: &RunFigures) {
    if own.release.is_none() || !Path::new(FOLDER).is_dir() {
        return;
    }
    match checked(own) {
        Ok(said) => {
            for line in said {
                out::answer(&format!("log      {line}\n"));
            }
        }
        Err(problem) => out::say(&format!("the log is left as it is: {problem}")),
    }
}

/// Checks and writes; what was written, a line each.
fn checked(own: &RunFigures) -> Result<Vec<String>, Problem> {
    let dir = Path::new(FOLDER);
    let mut kept = Kept::read(dir)?;
    kept.runs.retain(|run| run.id != own.id);
    kept.runs.push(own.clone());
    stored::sort(&mut kept.runs);
    let log = kept.log();
    let mut said = Vec::new();
    for investigation in &kept.investigations {
        // A prediction that fails may open it again, once.
        let mut is_reopened = false;
        for (entry, prediction) in investigation.predictions() {
            if !is_to_be_checked(&log, investigation, entry, prediction, own) {
                continue;
            }
            let held = investigation
                .outcomes(&entry.id)
                .any(|(_, outcome)| outcome.verdict == Verdict::Held);
            let checked = check(&log, investigation, entry, prediction, own);
            // A fix that still holds is no news.
            if held && checked.verdict != Verdict::Failed {
                continue;
            }
            let outcome = outcome(entry, own, &checked);
            put(dir, investigation, &outcome)?;
            said.push(told(investigation, prediction, &checked));
            let why = reopening(investigation, &entry.id, prediction, &checked);
            if let Some(why) = why.filter(|_| !is_reopened) {
                let after = later_than(&outcome.id);
                put(dir, investigation, &by_slowpath(after, why, What::Reopening, &checked.runs))?;
                said.push(format!("{}: open again", investigation.id));
                is_reopened = true;
            }
        }
    }
    Ok(said)
}

fn outcome(entry: &Entry, own: &RunFigures, checked: &Checked) -> Entry {
    let what = What::Outcome(Outcome {
        of: entry.id.clone(),
        release: own.release.clone(),
        verdict: checked.verdict,
        measured: checked.measured,
    });
    by_slowpath(notes::new_id(), checked.text.clone(), what, &checked.runs)
}

fn by_slowpath(id: String, text: String, what: What, runs: &[String]) -> Entry {
    Entry {
        id,
        at: entries::now(),
        by: Some(BY_SLOWPATH.to_owned()),
        text,
        runs: runs.to_vec(),
        links: Vec::new(),
        figures: Vec::new(),
        what,
    }
}

/// An id that sorts behind another one: within a millisecond chance orders them.
fn later_than(id: &str) -> String {
    loop {
        let next = notes::new_id();
        if next.as_str() > id {
            return next;
        }
    }
}

fn put(dir: &Path, investigation: &Investigation, entry: &Entry) -> Result<(), Problem> {
    let written = write_entry(dir, &investigation.id, entry);
    written.map(drop).map_err(|error| {
        Problem::environment(error, "make the folder of the log one that can be written")
    })
}

/// `search-tail: search.p99 in 96ms..118ms held (search.p99 is 104 ms ...)`.
fn told(investigation: &Investigation, prediction: &Prediction, checked: &Checked) -> String {
    format!(
        "{}: {} {} ({})",
        investigation.id,
        prediction.that(),
        checked.verdict.word().replace('-', " "),
        checked.text
    )
}

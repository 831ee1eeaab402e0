//! What a run of a release says to the log: every open prediction is compared with it, a fix that
//! did not move its target is open again, and what stands out against the history of the scenario
//! opens an investigation or is added to one.

use std::path::Path;

use slowpath_core::figures::{FailureFigure, RunFigures};
use slowpath_core::investigation::{
    BY_SLOWPATH, Entry, Investigation, Outcome, Prediction, Symptom, Verdict, What,
};
use slowpath_experiment::history::{Ask, history};
use slowpath_experiment::log::{
    Checked, Log, Noticed, Step, check, figure_of, is_to_be_checked, noticed, reopening, step,
};
use slowpath_record::write_entry;

use super::{Kept, entries};
use crate::exit::Problem;
use crate::present::Judged;
use crate::{notes, out, stored};

/// Where the log is looked for: a project without this folder keeps none.
pub(super) const FOLDER: &str = "investigations";

/// What was written to the log, a line each, and why it is not all.
#[must_use]
pub(crate) struct Said {
    lines: Vec<String>,
    problem: Option<Problem>,
}

impl Said {
    /// Prints it.
    pub(crate) fn tell(self) {
        for line in self.lines {
            out::answer(&format!("log      {line}\n"));
        }
        if let Some(problem) = self.problem {
            out::say(&format!("the log is left as it is: {problem}"));
        }
    }
}

/// Checks predictions after a run and writes the verdicts, before its report is written, which has
/// them. What is wrong with the log is said, and changes no exit code.
pub(crate) fn write(judged: &Judged) -> Said {
    let own = judged.figures();
    let is_explained =
        |failure: &FailureFigure| judged.diagnosis.explains_failures_of(&failure.subject);
    let failures = own.failures.iter().filter(|failure| !is_explained(failure));
    let unexplained: Vec<FailureFigure> = failures.cloned().collect();
    enter(&own, &unexplained)
}

/// The same of figures that another tool measured: what explains their failures is not known.
pub(crate) fn tell_figures(own: &RunFigures) {
    enter(own, &[]).tell();
}

fn enter(own: &RunFigures, unexplained: &[FailureFigure]) -> Said {
    let mut lines = Vec::new();
    let mut problem = None;
    if own.release.is_some() && Path::new(FOLDER).is_dir() {
        let done = checked(own, &mut lines).and_then(|()| noted(own, unexplained, &mut lines));
        problem = done.err();
    }
    Said { lines, problem }
}

/// The log, and the runs with this one among them.
fn kept(own: &RunFigures) -> Result<Kept<'static>, Problem> {
    let mut kept = Kept::read(Path::new(FOLDER))?;
    kept.runs.retain(|run| run.id != own.id);
    kept.runs.push(own.clone());
    stored::sort(&mut kept.runs);
    Ok(kept)
}

/// Checks and writes; what was written, a line each.
fn checked(own: &RunFigures, said: &mut Vec<String>) -> Result<(), Problem> {
    let dir = Path::new(FOLDER);
    let kept = kept(own)?;
    let log = kept.log();
    if let Some(why) = own.void.first() {
        said.extend(untested(&log, own).map(|waits| {
            format!("the run is void ({why}) and tests no prediction: {waits} still waits")
        }));
        return Ok(());
    }
    for investigation in &kept.investigations {
        // A prediction that fails may open it again, once.
        let mut is_reopened = false;
        for (entry, prediction) in investigation.predictions() {
            if !is_to_be_checked(&log, investigation, entry, prediction, own) {
                continue;
            }
            let held = investigation.held_since(&entry.id);
            let checked = check(&log, investigation, entry, prediction, own);
            // A fix that still holds is no news.
            if held && checked.verdict != Verdict::Failed {
                continue;
            }
            said.push(told(investigation, prediction, &checked));
            if is_told(investigation, &entry.id, own, &checked) {
                continue;
            }
            let outcome = outcome(entry, own, &checked);
            put(dir, &investigation.id, &outcome)?;
            let why = reopening(investigation, &entry.id, prediction, &checked);
            if let Some(why) = why.filter(|_| !is_reopened) {
                let after = later_than(&outcome.id);
                let reopened = by_slowpath(after, why, What::Reopening, &checked.runs);
                put(dir, &investigation.id, &reopened)?;
                said.push(format!("{}: open again", investigation.id));
                is_reopened = true;
            }
        }
    }
    Ok(())
}

/// A prediction that a run would have tested if it were sound.
fn untested<'a>(log: &Log<'a>, own: &RunFigures) -> Option<&'a str> {
    let sound = RunFigures {
        void: Vec::new(),
        ..own.clone()
    };
    log.investigations().iter().find_map(|investigation| {
        let mut waiting = investigation.predictions();
        let found = waiting.find(|(entry, prediction)| {
            is_to_be_checked(log, investigation, entry, prediction, &sound)
        });
        found.map(|(_, prediction)| prediction.that())
    })
}

/// Whether it was entered before that a release is not comparable, for the same reason: each run of
/// it would say so again.
fn is_told(
    investigation: &Investigation,
    hypothesis: &str,
    own: &RunFigures,
    checked: &Checked,
) -> bool {
    checked.verdict == Verdict::NotComparable
        && investigation.outcomes(hypothesis).any(|(entry, outcome)| {
            outcome.verdict == Verdict::NotComparable
                && outcome.release == own.release
                && entry.text == checked.text
        })
}

/// Enters what stands out against the history of the scenario. A void run shows nothing.
fn noted(
    own: &RunFigures,
    unexplained: &[FailureFigure],
    said: &mut Vec<String>,
) -> Result<(), Problem> {
    if !own.void.is_empty() {
        return Ok(());
    }
    let mut kept = kept(own)?;
    let mut runs = kept.runs.clone();
    runs.retain(|run| run.name == own.name);
    let history = history(&runs, &Ask::default());
    for noticed in noticed(&history, own, unexplained) {
        let (id, what, word) = match step(&kept.log(), &noticed, own) {
            Step::Nothing => continue,
            Step::Open(id) => (id, What::Opened(symptom(&noticed, own)), "opened"),
            Step::Add(id) => (id, What::Observation, "added"),
            Step::Reopen(id) => (id, What::Reopening, "open again"),
        };
        let text = slowpath_report::noticed_text(&noticed);
        let runs = std::slice::from_ref(&own.id);
        let entry = Entry {
            sign: Some(noticed.what.sign()),
            ..by_slowpath(notes::new_id(), text.clone(), what, runs)
        };
        put(Path::new(FOLDER), &id, &entry)?;
        said.push(format!("{id}: {word}: {text}"));
        // What is noticed next may belong to the same one.
        match kept.investigations.iter_mut().find(|one| one.id == id) {
            Some(one) => one.entries.push(entry),
            None => kept.investigations.push(Investigation {
                id,
                entries: vec![entry],
            }),
        }
    }
    Ok(())
}

fn symptom(noticed: &Noticed<'_>, own: &RunFigures) -> Symptom {
    Symptom {
        title: slowpath_report::noticed_title(noticed),
        scenario: own.name.clone(),
        metric: noticed.target.clone(),
        since: own.release.clone(),
        measured: figure_of(&[own], &noticed.target),
    }
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

pub(super) fn by_slowpath(id: String, text: String, what: What, runs: &[String]) -> Entry {
    Entry {
        id,
        at: entries::now(),
        by: Some(BY_SLOWPATH.to_owned()),
        text,
        runs: runs.to_vec(),
        links: Vec::new(),
        figures: Vec::new(),
        sign: None,
        what,
    }
}

/// An id that sorts after another one: within a millisecond chance orders them.
pub(crate) fn later_than(id: &str) -> String {
    loop {
        let next = notes::new_id();
        if next.as_str() > id {
            return next;
        }
    }
}

pub(super) fn put(dir: &Path, id: &str, entry: &Entry) -> Result<(), Problem> {
    let written = write_entry(dir, id, entry);
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

//! What an experiment writes to the log: what the run showed, the hypothesis with its prediction, what
//! the experiment said of it, and what was measured.

use std::path::Path;

use slowpath_core::investigation::{Entry, Outcome, Trial, What};
use slowpath_experiment::Experiment;
use slowpath_experiment::log::{Proved, belongs_to, proved};

use super::Kept;
use super::after::{FOLDER, by_slowpath, later_than, put};
use crate::exit::Problem;
use crate::present::Judged;
use crate::{notes, out};

/// Writes an experiment that is over into the open investigation that its run belongs to, and says
/// where. It is judged and stored: what is wrong with the log is said, and changes no exit code.
pub(crate) fn tell(judged: &Judged, experiment: &Experiment) {
    let Some(proved) = proved(experiment).filter(|_| Path::new(FOLDER).is_dir()) else {
        return;
    };
    match enter(judged, experiment, &proved) {
        Ok(Some(id)) => out::say(&format!(
            "log      {id}: {} {}",
            experiment.cause,
            proved.tested.word()
        )),
        Ok(None) => out::say(&format!(
            "no open investigation is about this run: slowpath log new TITLE --metric {} --run {} \
             opens one",
            experiment.hypothesis.metric, experiment.run
        )),
        Err(problem) => out::say(&format!("the log is left as it is: {problem}")),
    }
}

fn enter(
    judged: &Judged,
    experiment: &Experiment,
    proved: &Proved,
) -> Result<Option<String>, Problem> {
    let dir = Path::new(FOLDER);
    let kept = Kept::read(dir)?;
    let scenario = &judged.record.manifest.plan.scenario.name;
    let Some(investigation) = belongs_to(&kept.log(), scenario, experiment) else {
        return Ok(None);
    };
    let findings = judged.diagnosis.findings.iter();
    let mut own = findings.filter(|finding| finding.cause == experiment.cause);
    let seen = own.next().map(|finding| finding.summary.clone());
    // What the run shows is entered once, whatever is tried on it.
    let is_told = |text: &String| {
        let mut entries = investigation.entries.iter();
        entries.any(|one| one.text == *text && one.runs.contains(&experiment.run))
    };
    for entry in entries(experiment, proved, seen.filter(|text| !is_told(text))) {
        put(dir, &investigation.id, &entry)?;
    }
    Ok(Some(investigation.id.clone()))
}

/// The entries, in their order.
fn entries(experiment: &Experiment, proved: &Proved, seen: Option<String>) -> Vec<Entry> {
    let runs = std::slice::from_ref(&experiment.run);
    let mut all: Vec<Entry> = Vec::new();
    let mut add = |text: String, what: What| {
        let id = all
            .last()
            .map_or_else(notes::new_id, |last: &Entry| later_than(&last.id));
        all.push(by_slowpath(id.clone(), text, what, runs));
        id
    };
    if let Some(seen) = seen {
        add(seen, What::Observation);
    }
    let own = &experiment.hypothesis;
    let supposed = format!("{} (written at {})", own.statement, own.written_at);
    let of = add(supposed, What::Hypothesis(proved.hypothesis.clone()));
    let reason = experiment.outcome.as_ref().map(|one| one.reason.clone());
    let tried = format!(
        "{} (experiments/{}.json of the run)",
        reason.unwrap_or_default(),
        experiment.name()
    );
    let trial = Trial {
        of: Some(of.clone()),
        verdict: Some(proved.tested),
    };
    add(tried, What::Experiment(trial));
    if proved.hypothesis.prediction.is_some() {
        let outcome = Outcome {
            of,
            release: None,
            verdict: proved.verdict,
            measured: proved.measured,
        };
        add(proved.text.clone(), What::Outcome(outcome));
    }
    all
}

//! `slowpath log note` and `predict`, and what all entries have.

use slowpath_core::figures::RunFigures;
use slowpath_core::investigation::{
    Decided, Decision, Entry, Hypothesis, Investigation, NoPrediction, Prediction, Target, Trial,
    What,
};
use slowpath_experiment::log::is_regression;
use slowpath_record::write_entry;

use super::{Kept, Wrote};
use crate::cli::{EvidenceArgs, NoteArgs, NoteKind, PredictArgs};
use crate::exit::Problem;
use crate::{notes, out, store, stored};

/// An entry that a person writes now.
pub(super) fn by_person(
    text: &str,
    what: What,
    evidence: &EvidenceArgs,
) -> Result<(Entry, Vec<RunFigures>), Problem> {
    let mut runs: Vec<RunFigures> = Vec::new();
    for named in &evidence.run {
        let figures = stored::figures(&store::find(named)?)?;
        if !runs.iter().any(|known| known.id == figures.id) {
            runs.push(figures);
        }
    }
    stored::sort(&mut runs);
    let by = evidence.by.clone().or_else(notes::author);
    let entry = Entry {
        id: notes::new_id(),
        at: now(),
        by: by
            .map(|by| by.trim().to_owned())
            .filter(|by| !by.is_empty()),
        text: text.trim().to_owned(),
        runs: runs.iter().map(|run| run.id.clone()).collect(),
        links: evidence.link.clone(),
        figures: evidence.figure.clone(),
        sign: None,
        what,
    };
    Ok((entry, runs))
}

/// Now, to the second, as entries have it.
pub(super) fn now() -> String {
    let now = notes::now_utc();
    match now.split_once('.') {
        Some((seconds, _)) => format!("{seconds}Z"),
        None => now,
    }
}

/// Writes an entry, after it was read as if it were written: what a person gives on the command
/// line is held to the same rules as what is written by hand.
pub(super) fn write(kept: &Kept<'_>, id: &str, entry: &Entry) -> Result<Wrote, Problem> {
    let text = slowpath_record::entry_text(entry);
    if let Err(mistakes) = slowpath_record::parse_entry(&text, "the entry", &entry.id) {
        let lines = mistakes.iter().map(|mistake| {
            let key = &mistake.key;
            format!("{key}: {}; {}", mistake.what, mistake.remedy)
        });
        return Err(Problem::usage(
            lines.collect::<Vec<String>>().join("\n"),
            "",
        ));
    }
    for figure in &entry.figures {
        let path = kept.dir.join(id).join(figure);
        if !path.is_file() {
            let remedy = "put it there first: entries are never changed";
            return Err(Problem::usage(
                format!("{} is not there", path.display()),
                remedy,
            ));
        }
    }
    let path = write_entry(kept.dir, id, entry)
        .map_err(|error| Problem::environment(error, "give --dir a folder that can be written"))?;
    Ok(Wrote {
        id: id.to_owned(),
        file: path.display().to_string(),
    })
}

/// Adds a note.
pub(super) fn note(kept: &Kept<'_>, args: &NoteArgs) -> Result<Wrote, Problem> {
    let investigation = kept.find(&args.id)?;
    let fits = |what: &str, given: bool, kinds: &[NoteKind]| {
        if given && !kinds.contains(&args.kind) {
            let remedy = "slowpath log note --help says which option is of which kind";
            return Err(Problem::usage(
                format!("{what} is not for this --kind"),
                remedy,
            ));
        }
        Ok(())
    };
    fits(
        "--of",
        args.of.is_some(),
        &[NoteKind::Experiment, NoteKind::Change],
    )?;
    fits("--verdict", args.verdict.is_some(), &[NoteKind::Experiment])?;
    fits("--cause", args.cause.is_some(), &[NoteKind::Hypothesis])?;
    fits("--release", args.release.is_some(), &[NoteKind::Change])?;
    let of = args.of.as_deref();
    let of = of.map(|text| hypothesis(investigation, text)).transpose()?;
    let what = match args.kind {
        NoteKind::Observation => What::Observation,
        NoteKind::Hypothesis => What::Hypothesis(Hypothesis {
            cause: args.cause.clone(),
            ..Hypothesis::default()
        }),
        NoteKind::Experiment => What::Experiment(Trial {
            of,
            verdict: args.verdict,
        }),
        NoteKind::Change => What::Decision(Decided {
            decision: Decision::Changed,
            of,
            release: args.release.clone(),
        }),
    };
    let (entry, _) = by_person(&args.text, what, &args.evidence)?;
    write(kept, &investigation.id, &entry)
}

/// The hypothesis that a person means: the last one, or that whose id begins or ends so.
pub(super) fn hypothesis(investigation: &Investigation, text: &str) -> Result<String, Problem> {
    let all = investigation.entries.iter();
    let all: Vec<&Entry> = all
        .filter(|entry| matches!(entry.what, What::Hypothesis(_)))
        .collect();
    let wanted = text.to_ascii_uppercase();
    let fits: Vec<&&Entry> = all
        .iter()
        .filter(|entry| entry.id.starts_with(&wanted) || entry.id.ends_with(&wanted))
        .collect();
    match (text, fits.as_slice()) {
        ("last", _) if !all.is_empty() => Ok(all[all.len() - 1].id.clone()),
        (_, [one]) => Ok(one.id.clone()),
        _ => {
            let ids: Vec<&str> = all.iter().map(|entry| entry.id.as_str()).collect();
            let remedy = if ids.is_empty() {
                "slowpath log predict adds one".to_owned()
            } else {
                format!("one of {}", ids.join(", "))
            };
            let what = format!("{} has not one hypothesis {text:?}", investigation.id);
            Err(Problem::usage(what, remedy))
        }
    }
}

/// Adds a hypothesis with its prediction.
pub(super) fn predict(kept: &Kept<'_>, args: &PredictArgs) -> Result<Wrote, Problem> {
    let investigation = kept.find(&args.id)?;
    let prediction = Prediction::parse(&args.that, args.due.clone())
        .map_err(|error| Problem::usage(error, NoPrediction::REMEDY))?;
    let scenario = investigation
        .symptom()
        .map(|symptom| symptom.scenario.as_str());
    let runs = kept.log().runs_of(scenario.unwrap_or_default());
    known(&runs, prediction.target())?;
    let due = args.due.as_ref();
    let is_due = |run: &&&RunFigures| run.void.is_empty() && run.release.as_ref() == due;
    if let Some(run) = runs.iter().find(|run| due.is_some() && is_due(run)) {
        return Err(Problem::usage(
            format!(
                "{} was measured already ({})",
                due.map_or("", String::as_str),
                run.id
            ),
            "predict before you measure: name a release that is still to come",
        ));
    }
    let symptom = investigation.symptom();
    if symptom.is_some_and(|symptom| is_regression(&prediction, symptom)) {
        out::say("this predicts that it gets worse than it was");
    }
    let what = What::Hypothesis(Hypothesis {
        cause: args.cause.clone(),
        answers: args.answers.clone(),
        prediction: Some(prediction),
    });
    let (entry, _) = by_person(&args.because, what, &args.evidence)?;
    write(kept, &investigation.id, &entry)
}

/// Refuses a figure that no run has, if there are runs: it could never be measured.
pub(super) fn known(runs: &[&RunFigures], target: &Target) -> Result<(), Problem> {
    let rows = || runs.iter().flat_map(|run| &run.rows);
    let (subject, metric) = (target.subject(), target.metric());
    if runs.is_empty() || rows().any(|row| row.subject == subject && row.metric == metric) {
        return Ok(());
    }
    let mut names: Vec<String> = rows().map(slowpath_core::figures::Row::name).collect();
    names.sort();
    names.dedup();
    Err(Problem::usage(
        format!("no run of {} has {target}", runs[0].name),
        format!("one of {}", names.join(", ")),
    ))
}

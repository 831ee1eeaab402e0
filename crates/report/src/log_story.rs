//! The words of the investigation log, which all its views share.

use slowpath_core::figures::FailureFigure;
use slowpath_experiment::log::{
    Calibration, Due, EntryView, FigureView, InvestigationView, Noticed, PredictionView, Rate,
    Seen, Standing,
};

use crate::{figure, history_story, quantity};

/// Predictions below which a share of those that held says little.
const FEW: u64 = 10;

/// The day of an instant.
pub(crate) fn day(at: &str) -> &str {
    at.split('T').next().unwrap_or(at)
}

/// `2026-01-31 14:05`.
pub(crate) fn minute(at: &str) -> String {
    let (day, time) = at.split_once('T').unwrap_or((at, ""));
    let minute = time.get(..5).unwrap_or_default();
    format!("{day} {minute}").trim_end().to_owned()
}

/// `1.42 s [1.31, 1.55]`.
pub(crate) fn measured(of: &FigureView) -> String {
    let value = figure::value(of.unit, of.value);
    match of.low.zip(of.high) {
        Some((low, high)) => {
            let interval = figure::interval(of.unit, of.value, low, high);
            format!("{value} {interval}")
        }
        None => value,
    }
}

/// What an investigation is about: `search.p99 of shop since v3.17, 1.42 s [1.31, 1.55]`.
pub(crate) fn symptom(of: &InvestigationView) -> String {
    let since = of.since.as_ref();
    let since = since.map_or(String::new(), |release| format!(" since {release}"));
    let measured = of.measured.as_ref().map(measured);
    let measured = measured.map_or(String::new(), |figure| format!(", {figure}"));
    format!("{} of {}{since}{measured}", of.metric, of.scenario)
}

/// What an entry is, in a word or two.
pub(crate) fn kind(entry: &EntryView) -> String {
    match (entry.kind.as_str(), entry.decides.as_deref()) {
        ("observation", _) => "seen".to_owned(),
        ("hypothesis", _) => "supposed".to_owned(),
        ("experiment", _) => "tried".to_owned(),
        ("outcome", _) => "measured".to_owned(),
        ("reopening", _) => "reopened".to_owned(),
        ("decision", Some("changed")) => "changed".to_owned(),
        ("decision", Some(decision)) => format!("closed as {decision}"),
        (other, _) => other.to_owned(),
    }
}

/// What an entry says beside its text, a sentence each.
pub(crate) fn facts(entry: &EntryView, of: &InvestigationView) -> Vec<String> {
    let mut said = Vec::new();
    if entry.kind == "opened" {
        said.push(symptom(of));
    }
    let cause = entry.cause.as_ref();
    said.extend(cause.map(|cause| format!("cause: {cause}")));
    if !entry.answers.is_empty() {
        said.push(format!("answers: {}", entry.answers.join(", ")));
    }
    said.extend(entry.prediction.as_ref().map(predicted));
    said.extend(verdict(entry, of));
    if !entry.residual.is_empty() {
        said.push(entry.residual.clone());
    }
    if !entry.confounded_by.is_empty() {
        said.push(format!(
            "confounded: {} changes came under this measurement, which does not tell them apart \
             ({})",
            entry.confounded_by.len(),
            entry.confounded_by.join(", ")
        ));
    }
    if entry.kind == "decision"
        && let Some(release) = &entry.release
    {
        said.push(format!("first in {release}"));
    }
    said
}

/// `predicts search.p99 in 96ms..118ms by v3.18: held`.
pub(crate) fn predicted(of: &PredictionView) -> String {
    let due = of.due.as_ref();
    let due = due.map_or(String::new(), |due| format!(" by {due}"));
    let worse = if of.is_regression {
        " (which is worse than it was)"
    } else {
        ""
    };
    let held = of.held_in.as_ref();
    let held = held.map_or(String::new(), |release| format!("held in {release}, "));
    let later = if of.held_in.is_some() { " later" } else { "" };
    let standing = of.standing.words();
    format!("predicts {}{due}{worse}: {held}{standing}{later}", of.that)
}

/// What an experiment or a measurement said of which prediction.
fn verdict(entry: &EntryView, of: &InvestigationView) -> Option<String> {
    let verdict = entry.verdict.as_ref()?.replace('-', " ");
    if entry.kind != "outcome" {
        return Some(format!("the hypothesis is {verdict}"));
    }
    let meant = of
        .entries
        .iter()
        .find(|one| Some(&one.id) == entry.of.as_ref());
    let that = meant.and_then(|one| one.prediction.as_ref());
    let that = that.map_or("a prediction", |prediction| prediction.that.as_str());
    let release = entry.release.as_ref();
    let release = release.map_or(String::new(), |release| format!(" in {release}"));
    let figure = entry.measured.as_ref().map(measured);
    let figure = figure.map_or(String::new(), |figure| format!(", with {figure}"));
    Some(format!("{that}: {verdict}{release}{figure}"))
}

/// Why a prediction waits.
pub(crate) fn due(of: &Due) -> String {
    let prediction = &of.prediction;
    let named = prediction.due.as_deref();
    match (&of.overdue_since, named) {
        (Some(since), Some(due)) if since == due => {
            format!("overdue: {due} was measured and did not settle it")
        }
        (Some(since), Some(due)) => {
            format!("overdue: {since} was measured, it was due by {due}")
        }
        (None, Some(due)) if prediction.standing == Standing::Open => format!("due by {due}"),
        (None, None) if prediction.standing == Standing::Open => "due by no release".to_owned(),
        _ => prediction.standing.words().to_owned(),
    }
}

/// How often we were right, a sentence each.
pub(crate) fn calibration(of: &Calibration) -> Vec<String> {
    let mut said = Vec::new();
    if of.predictions.of == 0 {
        said.push("no prediction was settled by a measurement yet".to_owned());
    } else {
        let few = if of.predictions.of < FEW {
            "; too few to tell how good we are"
        } else {
            ""
        };
        said.push(format!(
            "predicted intervals that held: {}{few}",
            rate(&of.predictions)
        ));
        for (who, rate_of) in [("slowpath", &of.by_slowpath), ("people", &of.by_people)] {
            if rate_of.of > 0 && rate_of.of < of.predictions.of {
                said.push(format!("of those by {who}: {}", rate(rate_of)));
            }
        }
    }
    if let Some(width) = of.width {
        said.push(format!(
            "half of the intervals were wider than 1 to {}: wide ones hold easily",
            figure::ratio(width)
        ));
    }
    if of.confounded > 0 {
        said.push(format!(
            "{} confounded and not counted: several changes under one measurement",
            quantity::count(of.confounded)
        ));
    }
    if of.open > 0 {
        let overdue = match of.overdue {
            0 => String::new(),
            overdue => format!(", {} of them overdue", quantity::count(overdue)),
        };
        let open = quantity::plural(of.open, "prediction");
        said.push(format!("waiting for a measurement: {open}{overdue}"));
    }
    if of.causes.of > 0 {
        said.push(format!(
            "named causes that were confirmed: {}",
            rate(&of.causes)
        ));
    }
    if of.causes_open > 0 {
        said.push(format!(
            "named causes that nothing has confirmed or refuted yet: {}",
            quantity::count(of.causes_open)
        ));
    }
    said
}

/// `7 of 9, 78 % [40, 97]`.
fn rate(of: &Rate) -> String {
    let bare = |share| quantity::percent(share).trim_end_matches(" %").to_owned();
    format!(
        "{} of {}, {} [{}, {}]",
        quantity::count(of.hits),
        quantity::count(of.of),
        quantity::percent(of.hits as f64 / of.of as f64),
        bare(of.low),
        bare(of.high)
    )
}

/// What an investigation that slowpath opens is called.
pub fn noticed_title(of: &Noticed<'_>) -> String {
    let (target, subject) = (&of.target, of.target.subject());
    match &of.what {
        Seen::Novelty(..) => format!("{target} is far outside of its history"),
        Seen::Drift(_) => format!("{target} gets worse slowly"),
        Seen::Constant(constant) => {
            let at = figure::value(slowpath_core::figures::Unit::Ns, constant.at_ns);
            format!("{subject} shows the same {at} again and again")
        }
        Seen::Tail(_) => format!("{subject} has the worst tail, run after run"),
        Seen::Again(_) => format!("{subject} has a tail, run after run"),
        Seen::Same(same) => {
            let at = figure::value(slowpath_core::figures::Unit::Ns, same.at_ns);
            format!("{} are slow by the same {at}", same.subjects.join(" and "))
        }
        Seen::Errors(failures) => match others(failures, subject) {
            0 => format!("{subject} fails, and no cause explains it"),
            1 => format!("{subject} and another one fail, and no cause explains it"),
            n => format!("{subject} and {n} others fail, and no cause explains it"),
        },
    }
}

/// How many rows fail beside one of them.
fn others(failures: &[&FailureFigure], subject: &str) -> usize {
    let mut others: Vec<&str> = failures.iter().map(|one| one.subject.as_str()).collect();
    others.retain(|other| *other != subject);
    others.sort_unstable();
    others.dedup();
    others.len()
}

/// How often what failed how.
fn failed(failures: &[&FailureFigure]) -> String {
    let mut rows: Vec<(&str, Vec<String>)> = Vec::new();
    for failure in failures {
        let (count, share) = (
            quantity::count(failure.count),
            quantity::percent(failure.share),
        );
        let class = format!("{count} {} ({share})", failure.class);
        match rows.iter_mut().find(|(row, _)| *row == failure.subject) {
            Some((_, classes)) => classes.push(class),
            None => rows.push((&failure.subject, vec![class])),
        }
    }
    let rows = rows.iter();
    let rows: Vec<String> = rows
        .map(|(row, classes)| format!("{row}: {}", classes.join(", ")))
        .collect();
    format!(
        "{} of what was offered; no cause explains them",
        rows.join("; ")
    )
}

/// What a run showed, in the words of histories.
pub fn noticed_text(of: &Noticed<'_>) -> String {
    let said = match &of.what {
        Seen::Novelty(track, newest) => history_story::novel(track, newest),
        Seen::Drift(track) => history_story::moving(track),
        Seen::Constant(constant) => Some(history_story::constant(constant)),
        Seen::Tail(worst) => history_story::worst(worst),
        Seen::Again(again) => Some(history_story::tails::again(again)),
        Seen::Same(same) => Some(history_story::tails::same(same)),
        Seen::Errors(failures) => Some(failed(failures)),
    };
    said.unwrap_or_else(|| noticed_title(of))
}

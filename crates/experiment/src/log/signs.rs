//! What a run shows by itself, against the history of its scenario, and where in the log that
//! belongs: into the investigation that is open, into a new one, or nowhere since it is known.

use slowpath_core::figures::{FailureFigure, RunFigures};
use slowpath_core::investigation::{Entry, Investigation, Sign, Target};

use super::Log;
use super::status::{Status, status};
use crate::compare::Verdict;
use crate::history::{
    Basis, Constant, Course, History, Newest, SameTail, Says, Setting, TailAgain, Track, WorstRow,
    label,
};

/// Metrics whose history is examined, the first that shows something of a subject alone: what
/// moves p99 often moves its neighbours.
const METRICS: [&str; 3] = ["p99", "p50", "errors"];
/// The metric of what is about a subject's tail.
const TAIL: &str = "p99";
/// The metric of failures.
const ERRORS: &str = "errors";

/// Something that a run shows by itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Noticed<'a> {
    /// The figure in which it shows.
    pub target: Target,
    /// What it is.
    pub what: Seen<'a>,
}

/// What a run shows by itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Seen<'a> {
    /// A figure that is worse than its whole history lets expect.
    Novelty(&'a Track, &'a Newest),
    /// A figure that gets worse slowly.
    Drift(&'a Track),
    /// A constant that this release has too.
    Constant(&'a Constant),
    /// The row that has the worst tail in run after run.
    Tail(&'a WorstRow),
    /// The row that has a tail in run after run, up to this one.
    Again(&'a TailAgain),
    /// Slow requests of several rows that take the same time, in this release too.
    Same(&'a SameTail),
    /// Failures that no cause explains, of one row or of several that fail in the same way; the figure is
    /// that of the row that fails most.
    Errors(Vec<&'a FailureFigure>),
}

impl Seen<'_> {
    /// The sign that entries have for it.
    pub const fn sign(&self) -> Sign {
        match self {
            Self::Novelty(..) => Sign::Novelty,
            Self::Drift(_) => Sign::Drift,
            Self::Constant(_) | Self::Same(_) => Sign::Constant,
            Self::Tail(_) | Self::Again(_) => Sign::Tail,
            Self::Errors(_) => Sign::Errors,
        }
    }

    /// Whether it recurs by its nature, so that it is reported once and not with each release.
    const fn recurs(&self) -> bool {
        !matches!(self, Self::Novelty(..) | Self::Drift(_) | Self::Errors(_))
    }
}

/// What a run shows, against the history that ends with it. `unexplained` are its failures that no
/// cause explains.
pub fn noticed<'a>(
    history: &'a History,
    own: &RunFigures,
    unexplained: &'a [FailureFigure],
) -> Vec<Noticed<'a>> {
    let release = label(own);
    let has_own = |setting: &&Setting| {
        let mut runs = setting.releases.iter().flat_map(|release| &release.runs);
        runs.any(|run| run.id == own.id)
    };
    let mut all = Vec::new();
    if let Some(setting) = history.settings.iter().find(has_own) {
        tracks(setting, &release, &mut all);
        for constant in &setting.recurring {
            if constant.releases.contains(&release) {
                add(&mut all, &constant.subject, TAIL, Seen::Constant(constant));
            }
        }
        let stays = setting
            .worst
            .iter()
            .filter(|worst| worst.says == Says::Stays);
        for worst in stays {
            add(&mut all, &worst.subject, TAIL, Seen::Tail(worst));
        }
        let told = |all: &[Noticed<'_>], subject: &str| {
            let mut of_tail = all.iter().filter(|one| one.target.metric() == TAIL);
            of_tail.any(|one| one.target.subject() == subject)
        };
        for again in setting.tails.iter().filter(|tail| tail.is_ongoing) {
            if !told(&all, &again.subject) {
                add(&mut all, &again.subject, TAIL, Seen::Again(again));
            }
        }
        let same = setting.same_tails.iter();
        for same in same.filter(|same| same.releases.contains(&release)) {
            add(&mut all, &same.subjects[0], TAIL, Seen::Same(same));
        }
    }
    for failures in alike(unexplained) {
        if let Some(subject) = fails_most(&failures) {
            add(&mut all, subject, ERRORS, Seen::Errors(failures));
        }
    }
    all
}

/// Failures of rows that fail in the same way: a server that is down fails in every row at once, which
/// is one thing to investigate and not as many as there are rows.
fn alike(unexplained: &[FailureFigure]) -> Vec<Vec<&FailureFigure>> {
    let mut groups: Vec<Vec<&FailureFigure>> = Vec::new();
    for failure in unexplained.iter().filter(|failure| failure.count > 0) {
        let is_like = |known: &&FailureFigure| {
            known.subject == failure.subject || known.class == failure.class
        };
        match groups.iter_mut().find(|group| group.iter().any(is_like)) {
            Some(group) => group.push(failure),
            None => groups.push(vec![failure]),
        }
    }
    groups
}

/// The row with the largest share of failures; of several the first.
fn fails_most<'a>(failures: &[&'a FailureFigure]) -> Option<&'a str> {
    let share = |subject: &str| -> f64 {
        let own = failures.iter().filter(|failure| failure.subject == subject);
        own.map(|failure| failure.share).sum()
    };
    let mut most: Option<(&str, f64)> = None;
    for failure in failures {
        let share = share(&failure.subject);
        if most.is_none_or(|(_, known)| share > known) {
            most = Some((&failure.subject, share));
        }
    }
    most.map(|(subject, _)| subject)
}

fn tracks<'a>(setting: &'a Setting, release: &str, all: &mut Vec<Noticed<'a>>) {
    for metric in METRICS {
        for track in setting.tracks.iter().filter(|track| track.metric == metric) {
            let told = all.iter().any(|one| one.target.subject() == track.subject);
            let newest = track.newest.as_ref().filter(|newest| {
                newest.release == release && newest.verdict == Verdict::Worse && !newest.is_hosts
            });
            let what = match (newest, &track.course) {
                _ if told => continue,
                (Some(newest), _) if newest.basis == Basis::Level => Seen::Novelty(track, newest),
                (Some(newest), Course::Drifting { .. }) if newest.basis == Basis::Drift => {
                    Seen::Drift(track)
                }
                _ => continue,
            };
            add(all, &track.subject, metric, what);
        }
    }
}

/// Adds what shows in a figure, if that is one that an investigation can be about.
fn add<'a>(all: &mut Vec<Noticed<'a>>, subject: &str, metric: &str, what: Seen<'a>) {
    let written = [
        format!("{subject}.{metric}"),
        format!("\"{subject}\".{metric}"),
    ];
    let targets = written.iter().filter_map(|text| Target::parse(text).ok());
    let meant = targets
        .into_iter()
        .find(|target| target.subject() == subject);
    if let Some(target) = meant {
        all.push(Noticed { target, what });
    }
}

/// What the log does with something that was noticed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// It is known.
    Nothing,
    /// It opens an investigation of that name.
    Open(String),
    /// It is added to that investigation.
    Add(String),
    /// What was fixed is back in that investigation.
    Reopen(String),
}

/// Where something belongs that a run showed. What an investigation of that figure has said of this
/// release, and what was closed without a fix, is known.
pub fn step(log: &Log<'_>, noticed: &Noticed<'_>, own: &RunFigures) -> Step {
    let about = log.investigations().iter().filter(|investigation| {
        let symptom = investigation.symptom();
        symptom.is_some_and(|symptom| {
            symptom.scenario == own.name && is_about(noticed, &symptom.metric)
        })
    });
    // In the order in which they came to stand as they do: folders have names, not dates.
    let mut about: Vec<(&Investigation, Status)> = about
        .map(|investigation| (investigation, status(investigation).0))
        .collect();
    about.sort_by_key(|(investigation, _)| stands_since(investigation));
    let sign = noticed.what.sign();
    let of_release = |entry: &Entry| {
        let cited = log.runs.iter().filter(|run| entry.runs.contains(&run.id));
        let mut cited = cited.filter(|run| run.name == own.name);
        entry.runs.contains(&own.id) || cited.any(|run| label(run) == label(own))
    };
    let is_told = |investigation: &Investigation| {
        let mut entries = investigation.entries.iter();
        entries
            .any(|entry| entry.sign == Some(sign) && (noticed.what.recurs() || of_release(entry)))
    };
    if let Some((open, _)) = about.iter().rfind(|(_, status)| *status == Status::Open) {
        return if is_told(open) {
            Step::Nothing
        } else {
            Step::Add(open.id.clone())
        };
    }
    match about.last() {
        None => Step::Open(name(log, noticed, &own.name)),
        Some((fixed, status)) if status.is_fixed() && !noticed.what.recurs() => {
            if is_told(fixed) {
                Step::Nothing
            } else {
                Step::Reopen(fixed.id.clone())
            }
        }
        Some(_) => Step::Nothing,
    }
}

/// Whether an investigation of that figure is one of what was noticed. Of rows that fail together each
/// may be the one that fails most next time.
fn is_about(noticed: &Noticed<'_>, figure: &Target) -> bool {
    let fails = |failures: &[&FailureFigure]| {
        let mut failures = failures.iter();
        figure.metric() == ERRORS && failures.any(|failure| failure.subject == figure.subject())
    };
    figure.is(&noticed.target) || matches!(&noticed.what, Seen::Errors(of) if fails(of))
}

/// When an investigation came to stand as it does, and the entry that made it so.
fn stands_since(investigation: &Investigation) -> Option<(&str, &str)> {
    let opened = investigation.opened().map(|(opened, _)| opened);
    let by = status(investigation).1.or(opened)?;
    Some((by.at.as_str(), by.id.as_str()))
}

/// The name of an investigation that slowpath opens: two branches that open the same one have it
/// in one folder when they are merged.
fn name(log: &Log<'_>, noticed: &Noticed<'_>, scenario: &str) -> String {
    let (subject, metric) = (noticed.target.subject(), noticed.target.metric());
    let text = format!("{scenario} {subject} {metric}");
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<String> = words
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    let mut name = words.join("-");
    // Another figure may have that name: one that differs in signs alone.
    while log.investigations().iter().any(|one| one.id == name) {
        name.push_str("-2");
    }
    name
}

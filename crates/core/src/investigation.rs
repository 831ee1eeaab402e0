//! Investigations: what was seen, supposed, predicted, tried and found, entry by entry.
//!
//! An investigation is what its entries say and nothing else. Entries are written once and never
//! changed; a mistake is corrected by another one. Its status, what became of its predictions and
//! what confounds them are derived from them (`slowpath_experiment::log`), and stored nowhere.

mod prediction;
mod quantity;

pub use prediction::{NoPrediction, Prediction, Target};
pub use quantity::{parse_quantity, quantity};

use crate::figures::Unit;

/// An investigation.
#[derive(Clone, Debug, PartialEq)]
pub struct Investigation {
    /// The name of its folder.
    pub id: String,
    /// Its entries, in order of time; at least one of them opens it.
    pub entries: Vec<Entry>,
}

impl Investigation {
    /// What opened it, first of all.
    pub fn symptom(&self) -> Option<&Symptom> {
        self.opened().map(|(_, symptom)| symptom)
    }

    /// The entry that opened it, and its symptom.
    pub fn opened(&self) -> Option<(&Entry, &Symptom)> {
        self.entries.iter().find_map(|entry| match &entry.what {
            What::Opened(symptom) => Some((entry, symptom)),
            _ => None,
        })
    }

    /// The entry of that id.
    pub fn entry(&self, id: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.id == id)
    }

    /// Its predictions, each with its entry, in order of time.
    pub fn predictions(&self) -> impl Iterator<Item = (&Entry, &Prediction)> {
        self.entries.iter().filter_map(|entry| match &entry.what {
            What::Hypothesis(hypothesis) => Some((entry, hypothesis.prediction.as_ref()?)),
            _ => None,
        })
    }

    /// What was measured of a prediction, in order of time.
    pub fn outcomes<'a>(
        &'a self,
        hypothesis: &'a str,
    ) -> impl Iterator<Item = (&'a Entry, &'a Outcome)> {
        self.entries
            .iter()
            .filter_map(move |entry| match &entry.what {
                What::Outcome(outcome) if outcome.of == hypothesis => Some((entry, outcome)),
                _ => None,
            })
    }

    /// Its entries since it was opened last: what was measured before a reopening says nothing of
    /// what was done since.
    pub fn since_opened_last(&self) -> &[Entry] {
        let is_reopening = |entry: &Entry| matches!(entry.what, What::Reopening);
        let from = self.entries.iter().rposition(is_reopening);
        &self.entries[from.map_or(0, |at| at + 1)..]
    }

    /// Whether a prediction held in a release that was measured since the investigation was opened
    /// last.
    pub fn held_since(&self, hypothesis: &str) -> bool {
        self.since_opened_last().iter().any(|entry| {
            matches!(&entry.what, What::Outcome(outcome)
                if outcome.of == hypothesis
                    && outcome.verdict == Verdict::Held
                    && outcome.release.is_some())
        })
    }

    /// Brings entries into their order: by time, and by id within a second.
    pub fn sort(&mut self) {
        self.entries
            .sort_by(|a, b| (&a.at, &a.id).cmp(&(&b.at, &b.id)));
    }
}

/// One entry, written once.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its ULID: the beginning of its file's name.
    pub id: String,
    /// When it was written, RFC 3339 in UTC, to the second.
    pub at: String,
    /// Who wrote it; [`BY_SLOWPATH`] if no person did.
    pub by: Option<String>,
    /// What is to be said, in Markdown; may be empty where the rest says all.
    pub text: String,
    /// The runs that it rests on, by ULID.
    pub runs: Vec<String>,
    /// Addresses of what lies elsewhere.
    pub links: Vec<String>,
    /// Pictures and other files in the investigation's folder.
    pub figures: Vec<String>,
    /// What slowpath saw that made it write, of what it wrote by itself.
    pub sign: Option<Sign>,
    /// What it is.
    pub what: What,
}

/// What slowpath sees by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// A figure far outside of its own history.
    Novelty,
    /// A slow movement over releases.
    Drift,
    /// A constant that comes back over releases.
    Constant,
    /// The same row has the worst tail, run after run.
    Tail,
    /// Failures that no cause explains.
    Errors,
}

impl Sign {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Novelty,
        Self::Drift,
        Self::Constant,
        Self::Tail,
        Self::Errors,
    ];

    /// The word of files and reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Novelty => "novelty",
            Self::Drift => "drift",
            Self::Constant => "constant",
            Self::Tail => "tail",
            Self::Errors => "errors",
        }
    }
}

/// Who wrote what slowpath wrote by itself.
pub const BY_SLOWPATH: &str = "slowpath";

/// What an entry is.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// Opens the investigation.
    Opened(Symptom),
    /// Something was seen.
    Observation,
    /// Something is supposed.
    Hypothesis(Hypothesis),
    /// Something was tried to find out whether a hypothesis is right.
    Experiment(Trial),
    /// A prediction was compared with a measurement.
    Outcome(Outcome),
    /// Something was decided.
    Decision(Decided),
    /// A closed investigation is open again.
    Reopening,
}

impl What {
    /// The word of files and reports.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Opened(_) => "opened",
            Self::Observation => "observation",
            Self::Hypothesis(_) => "hypothesis",
            Self::Experiment(_) => "experiment",
            Self::Outcome(_) => "outcome",
            Self::Decision(_) => "decision",
            Self::Reopening => "reopening",
        }
    }

    /// The hypothesis that it is about, by the id of its entry.
    pub fn of(&self) -> Option<&str> {
        match self {
            Self::Experiment(trial) => trial.of.as_deref(),
            Self::Outcome(outcome) => Some(&outcome.of),
            Self::Decision(decided) => decided.of.as_deref(),
            _ => None,
        }
    }
}

/// What is wrong, and since when.
#[derive(Clone, Debug, PartialEq)]
pub struct Symptom {
    /// A few words.
    pub title: String,
    /// The scenario or benchmark in whose runs it shows.
    pub scenario: String,
    /// The figure that it shows in.
    pub metric: Target,
    /// The release that first had it, if that is known.
    pub since: Option<String>,
    /// The figure then, if it was measured.
    pub measured: Option<Measured>,
}

/// What is supposed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hypothesis {
    /// The cause, by its name in the catalogue or in one's own words.
    pub cause: Option<String>,
    /// The questions that it answers; empty where that was not stated.
    pub answers: Vec<Question>,
    /// What would be measured if it were right.
    pub prediction: Option<Prediction>,
}

/// A cause that says when something is slow may still not say why it costs so much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Question {
    /// How often, and which requests.
    When,
    /// Why it takes as long as it takes.
    HowMuch,
}

impl Question {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::When, Self::HowMuch];

    /// The word of files and reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::When => "when",
            Self::HowMuch => "how-much",
        }
    }
}

/// Something that was tried.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trial {
    /// The hypothesis that was tested.
    pub of: Option<String>,
    /// What it said; `None` if nothing yet.
    pub verdict: Option<Tested>,
}

/// What an experiment said of a hypothesis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tested {
    /// What was predicted happened, and was undone again.
    Confirmed,
    /// It did not happen, although it would have been seen.
    Refuted,
    /// Neither can be said.
    Undecided,
}

impl Tested {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Confirmed, Self::Refuted, Self::Undecided];

    /// The word of files and reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Refuted => "refuted",
            Self::Undecided => "undecided",
        }
    }
}

/// What a measurement said of a prediction.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The hypothesis, by the id of its entry.
    pub of: String,
    /// The release that was measured, if it was named.
    pub release: Option<String>,
    /// What it said.
    pub verdict: Verdict,
    /// The figure, if there was one.
    pub measured: Option<Measured>,
}

/// What became of a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The whole interval of the figure lies in the predicted one.
    Held,
    /// The whole interval of the figure lies beside it.
    Failed,
    /// The figure is not known well enough.
    Undecided,
    /// It was measured in another way, on another machine, or not soundly.
    NotComparable,
}

impl Verdict {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::Held,
        Self::Failed,
        Self::Undecided,
        Self::NotComparable,
    ];

    /// The word of files.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Failed => "failed",
            Self::Undecided => "undecided",
            Self::NotComparable => "not-comparable",
        }
    }

    /// Whether the prediction is settled by it.
    pub const fn settles(self) -> bool {
        matches!(self, Self::Held | Self::Failed)
    }
}

/// What was decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// Which decision.
    pub decision: Decision,
    /// The hypothesis for whose sake, by the id of its entry.
    pub of: Option<String>,
    /// The first release with it, of a change.
    pub release: Option<String>,
}

/// A decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Something of the system was changed; the investigation stays open.
    Changed,
    /// The cause is known; nothing had to be changed.
    Explained,
    /// The cause is removed.
    Fixed,
    /// The cause is known and stays, for the reason given.
    NotFixed,
    /// There was nothing to investigate.
    Refuted,
}

impl Decision {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Changed,
        Self::Explained,
        Self::Fixed,
        Self::NotFixed,
        Self::Refuted,
    ];

    /// The word of files and reports.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Explained => "explained",
            Self::Fixed => "fixed",
            Self::NotFixed => "not-fixed",
            Self::Refuted => "refuted",
        }
    }
}

/// A figure with its interval, in the unit of figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// What the values are numbers of.
    pub unit: Unit,
    /// The figure.
    pub value: f64,
    /// Both ends of its interval, if it has one.
    pub range: Option<(f64, f64)>,
}

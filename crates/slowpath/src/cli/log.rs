//! Arguments of `slowpath log`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use slowpath_core::investigation::{Decision, Question, Tested};

/// An investigation is a folder of entries, a file each, that git merges and people read. Without
/// a verb all investigations are listed.
#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    #[command(subcommand)]
    pub(crate) verb: Option<LogVerb>,
    /// The folder of all investigations.
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        default_value = "investigations"
    )]
    pub(crate) dir: PathBuf,
    /// Where to put the answer as JSON.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LogVerb {
    /// All investigations, a line each.
    List {
        /// Only those that stand so.
        #[arg(long, value_enum, value_name = "STATUS")]
        status: Option<Stands>,
    },
    /// An investigation from its first entry to the last.
    Show {
        /// Its name or the beginning of it.
        id: String,
    },
    /// Open an investigation: what is slow, in which figure, since when, in which runs.
    New(NewArgs),
    /// Add what was seen, supposed, tried or changed.
    Note(NoteArgs),
    /// Say what will be measured if a hypothesis is right, before it is measured.
    Predict(PredictArgs),
    /// Close an investigation.
    Close(CloseArgs),
    /// Open a closed investigation again.
    Reopen {
        /// Its name or the beginning of it.
        id: String,
        /// Why.
        #[arg(long, value_name = "TEXT")]
        because: String,
        #[command(flatten)]
        evidence: EvidenceArgs,
    },
    /// Predictions that wait for a measurement, overdue ones first.
    Due,
    /// How often predicted intervals held, and named causes were confirmed.
    Calibration,
    /// Read all files, and say what is wrong with them: exit 2 if anything is.
    Check {
        /// Leave out whether the runs that entries rest on are stored here.
        #[arg(long)]
        no_runs: bool,
    },
    /// Write INVESTIGATIONS.md and BENCHMARKS.md.
    Render {
        /// The folder to write them to.
        #[arg(long, value_name = "DIR", default_value = ".")]
        to: PathBuf,
    },
}

/// What an entry rests on.
#[derive(Debug, Args)]
pub(crate) struct EvidenceArgs {
    /// A run that it rests on: its directory, the beginning of its id, or `last`; may be given
    /// several times.
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Vec<String>,
    /// An address of what lies elsewhere.
    #[arg(long, value_name = "URL")]
    pub(crate) link: Vec<String>,
    /// A picture or another file in the folder of the investigation.
    #[arg(long, value_name = "FILE")]
    pub(crate) figure: Vec<String>,
    /// Who says so; otherwise git's user.name.
    #[arg(long, value_name = "NAME")]
    pub(crate) by: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// What is slow, in a few words.
    pub(crate) title: String,
    /// The figure in which it shows, such as search.p99.
    #[arg(long, value_name = "ENDPOINT.METRIC")]
    pub(crate) metric: String,
    /// The first release with it; otherwise the first one of its runs.
    #[arg(long, value_name = "RELEASE")]
    pub(crate) since: Option<String>,
    /// The scenario or benchmark; otherwise that of its runs.
    #[arg(long, value_name = "NAME")]
    pub(crate) scenario: Option<String>,
    /// The name of its folder; otherwise made of the title.
    #[arg(long, value_name = "NAME")]
    pub(crate) id: Option<String>,
    /// More about it.
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) text: String,
    #[command(flatten)]
    pub(crate) evidence: EvidenceArgs,
}

#[derive(Debug, Args)]
pub(crate) struct NoteArgs {
    /// The investigation: its name or the beginning of it.
    pub(crate) id: String,
    /// What is to be said, in Markdown.
    pub(crate) text: String,
    /// What it is.
    #[arg(long, value_enum, value_name = "KIND", default_value = "observation")]
    pub(crate) kind: NoteKind,
    /// Of an experiment or a change: the hypothesis that it is about, by the beginning or the end
    /// of its entry's id, or `last`.
    #[arg(long, value_name = "HYPOTHESIS")]
    pub(crate) of: Option<String>,
    /// Of an experiment: what it said.
    #[arg(long, value_name = "VERDICT", value_parser = tested)]
    pub(crate) verdict: Option<Tested>,
    /// Of a hypothesis: the cause, by its name in `slowpath causes` or in your own words.
    #[arg(long, value_name = "CAUSE")]
    pub(crate) cause: Option<String>,
    /// Of a change: the first release with it.
    #[arg(long, value_name = "RELEASE")]
    pub(crate) release: Option<String>,
    #[command(flatten)]
    pub(crate) evidence: EvidenceArgs,
}

/// What a note is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum NoteKind {
    /// Something was seen.
    Observation,
    /// Something is supposed, and predicts nothing yet.
    Hypothesis,
    /// Something was tried.
    Experiment,
    /// Something of the system was changed.
    Change,
}

#[derive(Debug, Args)]
pub(crate) struct PredictArgs {
    /// The investigation: its name or the beginning of it.
    pub(crate) id: String,
    /// What will be measured, such as "search.p99 in 96ms..118ms".
    #[arg(value_name = "ENDPOINT.METRIC in LOW..HIGH")]
    pub(crate) that: String,
    /// The hypothesis that says so.
    #[arg(long, value_name = "TEXT")]
    pub(crate) because: String,
    /// The cause that it names, as in `slowpath causes` or in your own words.
    #[arg(long, value_name = "CAUSE")]
    pub(crate) cause: Option<String>,
    /// The release by which it must have been measured.
    #[arg(long, value_name = "RELEASE")]
    pub(crate) due: Option<String>,
    /// The question that it answers: when it is slow, or how-much that costs.
    #[arg(long, value_name = "QUESTION", value_parser = question)]
    pub(crate) answers: Vec<Question>,
    #[command(flatten)]
    pub(crate) evidence: EvidenceArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CloseArgs {
    /// The investigation: its name or the beginning of it.
    pub(crate) id: String,
    /// How it ends: explained, fixed, not-fixed (understood, and left as it is) or refuted.
    #[arg(long = "as", value_name = "END", value_parser = end)]
    pub(crate) end: Decision,
    /// Why.
    #[arg(long, value_name = "TEXT")]
    pub(crate) because: String,
    /// The hypothesis that was right, by the beginning or the end of its entry's id, or `last`.
    #[arg(long, value_name = "HYPOTHESIS")]
    pub(crate) of: Option<String>,
    #[command(flatten)]
    pub(crate) evidence: EvidenceArgs,
}

/// How an investigation stands, as an option says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Stands {
    /// It is not known yet.
    Open,
    /// The cause is known.
    Explained,
    /// The cause is removed, confirmed or not.
    Fixed,
    /// The cause is known and stays.
    NotFixed,
    /// There was nothing to investigate.
    Refuted,
}

fn tested(text: &str) -> Result<Tested, String> {
    one_of(text, &Tested::ALL, Tested::word)
}

fn question(text: &str) -> Result<Question, String> {
    one_of(text, &Question::ALL, Question::word)
}

/// A decision that closes.
fn end(text: &str) -> Result<Decision, String> {
    let ends: Vec<Decision> = Decision::ALL
        .into_iter()
        .filter(|one| *one != Decision::Changed)
        .collect();
    one_of(text, &ends, Decision::word)
}

fn one_of<T: Copy>(text: &str, all: &[T], word: fn(T) -> &'static str) -> Result<T, String> {
    let found = all.iter().copied().find(|one| word(*one) == text);
    found.ok_or_else(|| {
        let words: Vec<&str> = all.iter().map(|one| word(*one)).collect();
        format!("say {}", words.join(" or "))
    })
}

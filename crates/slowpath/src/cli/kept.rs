//! Arguments of the verbs that read what is kept.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::load::RunArgs;
use super::values;

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// A run or a sweep: its directory or the beginning of its id; or `last`, the last run.
    pub(crate) run: String,
    /// Where to put a copy of report.json.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

/// A scenario is measured first, as `slowpath run` does it and with its options; a run is judged
/// as it is. A gate holds or fails when the whole 95 % interval of its figure says so. Where it
/// does not, the answer is "cannot tell" with what it would take, and the exit code is 0 unless
/// --strict is given.
#[derive(Debug, Args)]
#[command(
    mut_arg("what", |arg| arg.value_name("SCENARIO.toml|URL|RUN").help(
        "A scenario file or URL, which is measured; or a run: its directory, the beginning of its \
         id, or `last`; or a comparison of `slowpath ab`, in which A is the baseline of B.")),
    mut_arg("json", |arg| arg.help("Where to put the gates as JSON."))
)]
pub(crate) struct GateArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// The gates, instead of those of the scenario: a file with [[gate]] tables.
    #[arg(long, value_name = "FILE.toml")]
    pub(crate) gates: Option<PathBuf>,
    /// What `baseline` means in gates: a run, or a release, whose last run it is.
    #[arg(long, value_name = "RUN|RELEASE")]
    pub(crate) baseline: Option<String>,
    /// Where to put the gates as JUnit XML.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Print GitHub annotations of what fails or cannot be decided.
    #[arg(long)]
    pub(crate) github: bool,
    /// A gate that cannot be decided counts as failed.
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// What is compared with: a run (its directory, the beginning of its id, or `last`), or a
    /// release, of which all stored runs count.
    pub(crate) a: String,
    /// What is compared.
    pub(crate) b: String,
    /// The scenario, where a release measured several.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Print Markdown.
    #[arg(long)]
    pub(crate) markdown: bool,
    /// Where to put the answer as JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    /// The scenario or benchmark; otherwise that of the last run.
    pub(crate) name: Option<String>,
    /// Only this endpoint.
    #[arg(long, value_name = "E")]
    pub(crate) endpoint: Option<String>,
    /// Only this metric, such as p99 or rate; otherwise all are searched and p50 and p99 shown.
    #[arg(long, value_name = "METRIC")]
    pub(crate) metric: Option<String>,
    /// Print Markdown.
    #[arg(long)]
    pub(crate) markdown: bool,
    /// Where to write the page with its pictures; otherwise .slowpath/history.html.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Where to put the answer as JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// A run or a sweep: its directory or the beginning of its id; or `last`, the last run.
    pub(crate) run: String,
    /// Print Markdown instead of writing report.html.
    #[arg(long)]
    pub(crate) markdown: bool,
    /// Where to put a copy of report.json.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

/// Prints where it listens and answers until Ctrl-C. Nothing can be changed there. Every page answers JSON
/// to `Accept: application/json` or `?format=json`.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Where to listen: an address, a port, or both; port 0 takes a free one.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7878", value_parser = values::listen)]
    pub(crate) listen: SocketAddr,
    /// The folder of all investigations.
    #[arg(long, value_name = "DIR", default_value = "investigations")]
    pub(crate) dir: PathBuf,
    /// Where to put the address of the page as JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

/// Only a part of a run fits into such a viewer: the time around its slowest requests, or a window.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// A run: its directory or the beginning of its id; or `last`, the last run.
    pub(crate) run: String,
    /// Where to write the trace.
    pub(crate) file: PathBuf,
    /// The format of the trace.
    #[arg(long, value_enum, default_value_t = ExportFormat::Chrome)]
    pub(crate) format: ExportFormat,
    /// The time around so many of the slowest requests (of those that were traced, if any were).
    #[arg(
        long,
        value_name = "N",
        default_value_t = 20,
        value_parser = clap::value_parser!(u16).range(1..=1_000),
        conflicts_with = "length"
    )]
    pub(crate) slowest: u16,
    /// Only requests of this endpoint count as slow.
    #[arg(long, value_name = "E", conflicts_with = "length")]
    pub(crate) endpoint: Option<String>,
    /// A window instead: its begin after that of the first measured window.
    #[arg(long, value_name = "D", value_parser = values::offset, requires = "length")]
    pub(crate) from: Option<u64>,
    /// A window instead: its length.
    #[arg(long = "for", value_name = "D", value_parser = values::duration)]
    pub(crate) length: Option<u64>,
    /// The most trace events to write, beside the names of tracks.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub(crate) most: usize,
}

/// Formats of traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Chrome trace events as JSON, which Perfetto reads too.
    #[value(alias = "perfetto-json")]
    Chrome,
}

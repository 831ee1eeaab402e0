//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use slowpath_lint::simulate::FEWEST_SEEDS;

mod kept;
mod load;
mod log;
mod mistakes;
mod others;
mod values;

pub(crate) use kept::{
    CompareArgs, ExplainArgs, ExportArgs, ExportFormat, GateArgs, HistoryArgs, ReportArgs,
    ServeArgs,
};
pub(crate) use load::{AbArgs, ProveArgs, ReachArgs, RunArgs, SweepArgs};
pub(crate) use log::{
    CloseArgs, EvidenceArgs, LogArgs, LogVerb, NewArgs, NoteArgs, NoteKind, PredictArgs, Stands,
};
pub(crate) use mistakes::parse;
pub(crate) use others::{BenchArgs, ImportArgs};

/// Finds out why a network service is slow, and proves it.
#[derive(Debug, Parser)]
#[command(
    name = "slowpath",
    version,
    max_term_width = 100,
    arg_required_else_help = true
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Verb,
    /// Print all figures with the answer: every cause that was ruled out or could not be judged, what the load and the tool
    /// did.
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Load a target, measure, and say why it is slow.
    Run(RunArgs),
    /// Judge a recorded run again.
    Explain(ExplainArgs),
    /// Run the experiment that confirms or refutes a finding.
    Prove(ProveArgs),
    /// Start a sick lab server, load it, name the cause, prove it, write the report.
    Demo(DemoArgs),
    /// What is wrong with a workload, before a request is sent.
    Lint(LintArgs),
    /// Measure a workload at many levels of connections, rate or size.
    Sweep(SweepArgs),
    /// Repeat a benchmark command and read its figures.
    Bench(BenchArgs),
    /// Keep figures that other tools have written, as a run.
    Import(ImportArgs),
    /// Hold two runs or releases against each other, with what differs in how they were measured.
    Compare(CompareArgs),
    /// What became of a scenario's figures over its releases: changes, drift, what comes back.
    History(HistoryArgs),
    /// The investigation log: what was seen, supposed, predicted, tried and found.
    Log(Box<LogArgs>),
    /// Compare two settings in interleaved pairs of blocks.
    Ab(Box<AbArgs>),
    /// Hold a run against its gates: exit 5 when one fails.
    Gate(Box<GateArgs>),
    /// Write the HTML report of a run again, or print it as Markdown.
    Report(ReportArgs),
    /// A local web page over all runs, releases and investigations.
    Serve(ServeArgs),
    /// Write requests and the server's threads as a trace for ui.perfetto.dev or chrome://tracing.
    Export(ExportArgs),
    /// The page of a cause, or the list of all.
    Causes(CausesArgs),
    /// What can be seen on this machine, how noisy it is, and what would help.
    Doctor(DoctorArgs),
    /// What the guardian starts.
    #[command(name = crate::toggles::UNDO, hide = true)]
    SwitchOff {
        /// What is to be undone.
        file: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// The cause to show; otherwise one that needs no privilege.
    pub(crate) cause: Option<String>,
    /// List what can be shown.
    #[arg(long)]
    pub(crate) list: bool,
    /// Where to put a copy of report.json.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct LintArgs {
    /// A scenario file.
    #[arg(value_name = "SCENARIO.toml")]
    pub(crate) scenario: PathBuf,
    /// Play the workload against a model of the target and predict its percentiles.
    #[arg(long)]
    pub(crate) simulate: bool,
    /// What the target's answers take, from a file.
    #[arg(long, value_name = "FILE.toml", conflicts_with = "from")]
    pub(crate) model: Option<PathBuf>,
    /// What the target's answers take, from a run: its directory, the beginning of its id, or
    /// `last`.
    #[arg(long, value_name = "RUN")]
    pub(crate) from: Option<String>,
    /// A change to predict beside the scenario as it is: pool:NAME=N, expensive:ENDPOINT=N,
    /// users=N, slots=N, singleflight, or several with commas between them.
    #[arg(long, value_name = "CHANGE", requires = "simulate")]
    pub(crate) variant: Vec<String>,
    /// The percentile that changes are judged by, such as search.p99 (p50, p90 or p99).
    #[arg(long, value_name = "ENDPOINT.pN", requires = "simulate")]
    pub(crate) target: Option<String>,
    /// How often the workload is played.
    #[arg(long, value_name = "N", default_value_t = slowpath_lint::simulate::DEFAULT_SEEDS,
          value_parser = clap::value_parser!(u32).range(i64::from(FEWEST_SEEDS)..=100_000))]
    pub(crate) seeds: u32,
    /// The first seed.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Where to put the answer as JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CausesArgs {
    /// The cause; otherwise all are listed.
    pub(crate) name: Option<String>,
    /// Where to put the answer as JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Listen for longer, and say what can be measured here: noise of each CPU, a calibration loop,
    /// timers, clocks, a score with its components.
    #[arg(long)]
    pub(crate) bench: bool,
    /// Where to put the answer as JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}

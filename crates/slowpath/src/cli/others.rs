//! Arguments of the verbs that take other tools' figures.

use std::path::PathBuf;

use clap::Args;

use super::values::duration;

#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// Who reads the figures; otherwise the command or its output decides it. `time` is the time of the
    /// command itself.
    #[arg(long, value_name = "NAME", conflicts_with = "regex")]
    pub(crate) adapter: Option<String>,
    /// Reads lines of the output: a regular expression with the group `value` and, if wanted,
    /// `name`, `metric` and `unit`.
    #[arg(long, value_name = "REGEX")]
    pub(crate) regex: Option<String>,
    /// Executions; otherwise 5.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) repeats: Option<u32>,
    /// After how long an execution is ended; otherwise 1h.
    #[arg(long, value_name = "D", value_parser = duration)]
    pub(crate) timeout: Option<u64>,
    /// The name of the benchmark, under which its history is kept; otherwise the command.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// The release that is measured, kept with the figures.
    #[arg(long, value_name = "NAME")]
    pub(crate) release: Option<String>,
    /// No progress, no notes; only the answer.
    #[arg(long)]
    pub(crate) quiet: bool,
    /// This run's own directory; otherwise .slowpath/runs/ULID.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Where to put a copy of bench.json.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// The command; {out} in it is a file of its own for its figures.
    #[arg(value_name = "COMMAND", required = true, last = true)]
    pub(crate) command: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// What wrote them: go, criterion, jmh, google-benchmark, pytest-benchmark, hyperfine, wrk,
    /// oha, k6, locust, vegeta, autocannon; tables in markdown or csv, of which a column `release` makes
    /// each release a run; with a line for each request k6-csv, k6-json,
    /// vegeta-csv, vegeta-json, jmeter; with --run the profiles pprof, folded (py-spy -f raw,
    /// async-profiler -o collapsed, flame graphs), speedscope, jfr (jfr print --json); auto to
    /// recognise it, lines with --regex.
    #[arg(value_name = "FORMAT")]
    pub(crate) format: String,
    /// The files, each of which is a repeat.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<String>,
    /// The run that profiles were taken of: its directory, the beginning of its id, or `last`. They
    /// are kept beside it, and it is judged again.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["regex", "name", "release", "timer", "out"])]
    pub(crate) run: Option<String>,
    /// Reads lines: a regular expression with the group `value` and, if wanted, `name`, `metric`
    /// and `unit`.
    #[arg(long, value_name = "REGEX")]
    pub(crate) regex: Option<String>,
    /// The name under which the history is kept; otherwise the format.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// The release that was measured.
    #[arg(long, value_name = "NAME")]
    pub(crate) release: Option<String>,
    /// A timer of the system, which constants are compared with, such as `poll=200ms`.
    #[arg(long, value_name = "NAME=DURATION", value_parser = timer)]
    pub(crate) timer: Vec<(String, String)>,
    /// This run's own directory; otherwise .slowpath/runs/ULID.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Where to put a copy of bench.json (of several releases, that of the last).
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

/// A name and a duration with an equals sign between them.
fn timer(text: &str) -> Result<(String, String), String> {
    let parts = text
        .split_once('=')
        .filter(|(name, _)| !name.trim().is_empty());
    let (name, length) = parts.ok_or("say NAME=DURATION, such as poll=200ms")?;
    let read = slowpath_core::scenario::units::parse_duration(length.trim());
    read.map_err(|error| error.to_string())?;
    Ok((name.trim().to_owned(), length.trim().to_owned()))
}

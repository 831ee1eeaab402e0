//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use slowpath_core::scenario::units;
use slowpath_lint::simulate::FEWEST_SEEDS;

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
    /// Compare two settings in interleaved pairs of blocks.
    Ab(Box<AbArgs>),
    /// Hold a run against its gates: exit 5 when one fails.
    Gate(Box<GateArgs>),
    /// Write the HTML report of a run again, or print it as Markdown.
    Report(ReportArgs),
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
pub(crate) struct RunArgs {
    /// A scenario file, or the URL of a running target.
    #[arg(value_name = "SCENARIO.toml|URL")]
    pub(crate) what: String,
    /// The most connections at once; in a closed loop also the number of users.
    #[arg(short = 'c', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=60_000))]
    pub(crate) connections: Option<u32>,
    /// Length of the measured window, such as 20s or 500ms.
    #[arg(short = 'd', long, value_name = "D", value_parser = duration)]
    pub(crate) duration: Option<u64>,
    /// Requests a second, such as 500 or 500/s: makes the loop open.
    #[arg(short = 'r', long, value_name = "R", value_parser = rate)]
    pub(crate) rate: Option<f64>,
    /// Users of a closed loop.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=60_000))]
    pub(crate) users: Option<u32>,
    /// Measured windows; with --precision, the most.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) repeats: Option<u32>,
    /// Repeat until the interval of p50 and p99 over repeats reaches no further than this to
    /// either side, such as 5%.
    #[arg(long, value_name = "SHARE", value_parser = precision)]
    pub(crate) precision: Option<f64>,
    /// Threads that send; one is enough up to some 100,000 requests a second.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) loops: Option<u32>,
    /// Requests at once on each pooled connection of HTTP/2.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) streams: Option<u32>,
    /// The process to observe; otherwise the one that listens on the URL's port.
    #[arg(long, value_name = "PID")]
    pub(crate) pid: Option<u32>,
    #[command(flatten)]
    pub(crate) reach: ReachArgs,
    /// The toggle of the scenario that is on; otherwise none is.
    #[arg(long, value_name = "NAME")]
    pub(crate) toggle: Option<String>,
    /// The release that is measured, kept in the record.
    #[arg(long, value_name = "NAME")]
    pub(crate) release: Option<String>,
    /// Seed of every random choice; otherwise drawn and recorded.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Failed requests that are accepted, as a share from 0 to 1.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share)]
    pub(crate) allow_errors: f64,
    /// No progress, no notes; only the answer.
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Do not trace the kernel. (This version never does.)
    #[arg(long)]
    pub(crate) no_trace: bool,
    /// This run's own directory; otherwise .slowpath/runs/ULID.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Where to put a copy of report.json.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

/// How the target is reached, over what a scenario says; the names are curl's.
#[derive(Debug, Default, Args)]
pub(crate) struct ReachArgs {
    /// Accept any certificate.
    #[arg(short = 'k', long)]
    pub(crate) insecure: bool,
    /// The authorities to trust instead of the system's (PEM).
    #[arg(long, value_name = "FILE")]
    pub(crate) cacert: Option<PathBuf>,
    /// Our certificate (PEM).
    #[arg(long, value_name = "FILE", requires = "key")]
    pub(crate) cert: Option<PathBuf>,
    /// The key to our certificate (PEM).
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub(crate) key: Option<PathBuf>,
    /// The Unix socket to connect to instead of the URL's host and port.
    #[arg(long, value_name = "PATH")]
    pub(crate) unix_socket: Option<PathBuf>,
    /// Speak HTTP/2: at once over http://, negotiated (ALPN) over https://.
    #[arg(long)]
    pub(crate) http2: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// A run or a sweep: its directory or the beginning of its id; or `last`, the last run.
    pub(crate) run: String,
    /// Where to put a copy of report.json.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ProveArgs {
    /// A run: its directory, the beginning of its id, or `last`.
    pub(crate) run: String,
    /// The cause to test; otherwise the first finding that has an experiment.
    #[arg(long, value_name = "NAME")]
    pub(crate) cause: Option<String>,
    /// The process to act on; otherwise found as in the run.
    #[arg(long, value_name = "PID")]
    pub(crate) pid: Option<u32>,
    /// Seed of the order of blocks; otherwise drawn and recorded.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// No progress, no notes; only the answer.
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Where to put a copy of report.json.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
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
pub(crate) struct SweepArgs {
    /// A scenario file, or the URL of a running target.
    #[arg(value_name = "SCENARIO.toml|URL")]
    pub(crate) what: String,
    /// What to vary: connections=1..2560, rate=100/s..5000/s..+500, size=1KiB,64KiB..1MiB..x4.
    /// A size goes where requests say {size}, or else fills their bodies.
    #[arg(long, value_name = "WHAT=LEVELS")]
    pub(crate) over: String,
    /// Levels of a range that names no step; otherwise it doubles.
    #[arg(long, value_name = "N", value_parser = levels)]
    pub(crate) steps: Option<usize>,
    /// Length of each measured window; otherwise 2s.
    #[arg(short = 'd', long, value_name = "D", value_parser = duration)]
    pub(crate) duration: Option<u64>,
    /// Load before each window; otherwise 500ms.
    #[arg(long, value_name = "D", value_parser = duration)]
    pub(crate) warmup: Option<u64>,
    /// Windows of each level; otherwise 3.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) repeats: Option<u32>,
    /// Levels added where the answer changes most; otherwise one for three of the range.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=64))]
    pub(crate) refine: Option<u32>,
    /// The most connections at once, where they are not what is varied.
    #[arg(short = 'c', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=60_000))]
    pub(crate) connections: Option<u32>,
    /// Requests a second, where they are not what is varied: makes the loop open.
    #[arg(short = 'r', long, value_name = "R", value_parser = rate)]
    pub(crate) rate: Option<f64>,
    /// Threads that send; one is enough up to some 100,000 requests a second.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) loops: Option<u32>,
    #[command(flatten)]
    pub(crate) reach: ReachArgs,
    /// The process to observe; otherwise the one that listens on the URL's port.
    #[arg(long, value_name = "PID")]
    pub(crate) pid: Option<u32>,
    /// The release that is measured, kept in the record.
    #[arg(long, value_name = "NAME")]
    pub(crate) release: Option<String>,
    /// Seed of the order and of every other random choice; otherwise drawn and recorded.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Failed requests that are accepted, as a share from 0 to 1.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share)]
    pub(crate) allow_errors: f64,
    /// No progress, no notes; only the answer.
    #[arg(long)]
    pub(crate) quiet: bool,
    /// This sweep's own directory; otherwise .slowpath/runs/ULID.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Where to put a copy of sweep.json.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

/// Blocks of A and B are measured in pairs, ABBA BAAB, each with a warm-up of its own; a target
/// that slowpath starts is started anew for each. How many pairs there will be, how long they
/// take and what they can see is said before. Exactly one of --toggle, --b, --other and --aa says
/// what B is. Afterwards each endpoint's percentiles, rate, errors and share of slow requests are
/// different, not different, or undetermined with what it would take.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("compared").required(true).args(["toggle", "b", "other", "aa"]))]
pub(crate) struct AbArgs {
    /// A scenario file, or the URL of a running target: A, and the load of both.
    #[arg(value_name = "SCENARIO.toml|URL")]
    pub(crate) what: String,
    /// B has this toggle of the scenario on.
    #[arg(long, value_name = "NAME")]
    pub(crate) toggle: Option<String>,
    /// B is started by this command instead of the scenario's, split as a shell does it.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) b: Option<String>,
    /// With --b, A is started by this command.
    #[arg(long, value_name = "COMMAND", requires = "b")]
    pub(crate) a: Option<String>,
    /// B is the target of this scenario, with its services: another build, another version.
    #[arg(long, value_name = "OTHER.toml")]
    pub(crate) other: Option<String>,
    /// A against itself: what this host makes of nothing. It is remembered in .slowpath/noise,
    /// and later comparisons claim only what is twice as large.
    #[arg(long)]
    pub(crate) aa: bool,
    /// Pairs of blocks; otherwise as many as the host's noise asks for.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(3..=1000))]
    pub(crate) pairs: Option<u32>,
    /// Most pairs, where their number follows the noise.
    #[arg(long, value_name = "N", default_value_t = slowpath_experiment::ab::PAIRS_MOST,
          value_parser = clap::value_parser!(u32).range(5..=1000))]
    pub(crate) pairs_most: u32,
    /// The difference of the median that is looked for, such as 10%.
    #[arg(long, value_name = "PERCENT", default_value = "10%", value_parser = effect)]
    pub(crate) effect: f64,
    /// Length of each block; otherwise the scenario's duration.
    #[arg(short = 'd', long, value_name = "D", value_parser = duration)]
    pub(crate) duration: Option<u64>,
    /// Load before each block; otherwise the scenario's warm-up.
    #[arg(long, value_name = "D", value_parser = duration)]
    pub(crate) warmup: Option<u64>,
    /// The most connections at once; in a closed loop also the number of users.
    #[arg(short = 'c', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=60_000))]
    pub(crate) connections: Option<u32>,
    /// Requests a second, such as 500 or 500/s: makes the loop open.
    #[arg(short = 'r', long, value_name = "R", value_parser = rate)]
    pub(crate) rate: Option<f64>,
    /// Users of a closed loop.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=60_000))]
    pub(crate) users: Option<u32>,
    /// Threads that send; one is enough up to some 100,000 requests a second.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) loops: Option<u32>,
    #[command(flatten)]
    pub(crate) reach: ReachArgs,
    /// The process to observe; otherwise the one that listens on the URL's port.
    #[arg(long, value_name = "PID")]
    pub(crate) pid: Option<u32>,
    /// Seed of the order and of every other random choice; otherwise drawn and recorded.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Failed requests that are accepted, as a share from 0 to 1.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share)]
    pub(crate) allow_errors: f64,
    /// No progress, no notes; only the answer.
    #[arg(long)]
    pub(crate) quiet: bool,
    /// This comparison's own directory; otherwise .slowpath/runs/ULID.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Where to put a copy of ab.json.
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
         id, or `last`.")),
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
    /// Print GitHub annotations of what fails or cannot be told.
    #[arg(long)]
    pub(crate) github: bool,
    /// A gate that cannot be told counts as failed.
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// Who reads the figures; otherwise the command or its output tells. `time` is the time of the
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
pub(crate) struct ImportArgs {
    /// What wrote them: go, criterion, jmh, google-benchmark, pytest-benchmark, hyperfine, wrk,
    /// oha, k6, locust, vegeta, autocannon; with a line for each request k6-csv, k6-json,
    /// vegeta-csv, vegeta-json, jmeter; auto to recognise it, lines with --regex.
    #[arg(value_name = "FORMAT")]
    pub(crate) format: String,
    /// The files, each of which is a repeat.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<String>,
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
    /// This run's own directory; otherwise .slowpath/runs/ULID.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Where to put a copy of bench.json.
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

fn levels(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(levels @ 2..=64) => Ok(levels),
        _ => Err(format!("{text:?} is not a number from 2 to 64")),
    }
}

fn duration(text: &str) -> Result<u64, String> {
    match units::parse_duration(text) {
        Ok(0) => Err("must be longer than 0s".to_owned()),
        Ok(ns) => Ok(ns),
        Err(error) => Err(error.to_string()),
    }
}

fn precision(text: &str) -> Result<f64, String> {
    units::parse_precision(text).map_err(|error| error.to_string())
}

/// A bare number is requests a second: what the hands of wrk and oha users know.
fn rate(text: &str) -> Result<f64, String> {
    let per_second = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let full = if per_second {
        format!("{text}/s")
    } else {
        text.to_owned()
    };
    units::parse_rate(&full).map_err(|error| error.to_string())
}

/// A difference in percent, with or without its sign.
fn effect(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').trim_end();
    match number.parse::<f64>() {
        Ok(percent) if percent > 0.0 && percent <= 1000.0 => Ok(percent / 100.0),
        _ => Err(format!("{text:?} is not a percentage above 0")),
    }
}

fn share(text: &str) -> Result<f64, String> {
    let value: f64 = text
        .parse()
        .map_err(|_| format!("{text:?} is not a number"))?;
    if (0.0..=1.0).contains(&value) {
        Ok(value)
    } else {
        Err(format!("{value} is not between 0 and 1"))
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn rates_need_no_unit() {
        assert_eq!(rate("500"), Ok(500.0));
        assert_eq!(rate("30/m"), Ok(0.5));
        assert!(rate("-1").is_err());
        assert!(rate("fast").is_err());
    }
}

//! Arguments of the verbs that load a target.

use std::path::PathBuf;

use clap::Args;

use slowpath_core::scenario::Profiler;

use super::values::{duration, effect, levels, precision, profiler, rate, share};

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
    /// Do not trace the target's threads: nothing is moved by it, and what requests waited for
    /// inside the server stays unseen.
    #[arg(long)]
    pub(crate) no_trace: bool,
    /// Load once more after the repeats, with profiling on, and report where the CPU time goes and
    /// what is waited for; these requests are in no figure. WITH takes the samples: pprof, perf, py-spy
    /// or jfr; otherwise what fits the target.
    #[arg(long, value_name = "WITH", value_parser = profiler, num_args = 0..=1,
          require_equals = true, default_missing_value = "auto")]
    pub(crate) profile: Option<Profiler>,
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
pub(crate) struct ProveArgs {
    /// A run: its directory, the beginning of its id, or `last`.
    pub(crate) run: String,
    /// The cause to test, found or not; otherwise the finding whose experiment decides most.
    #[arg(long, value_name = "NAME")]
    pub(crate) cause: Option<String>,
    /// Test whether this toggle of the scenario takes the slowness away.
    #[arg(long, value_name = "NAME")]
    pub(crate) toggle: Option<String>,
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
/// that slowpath starts is restarted for each. How many pairs there will be, how long they
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
    /// B is the target of this scenario, with its services, or this URL: another build, another
    /// version. The load is A's; where A is a URL too, B is asked for the path of its own.
    #[arg(long, value_name = "OTHER.toml|URL")]
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

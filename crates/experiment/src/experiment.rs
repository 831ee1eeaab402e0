//! The nouns of an experiment, as stored in `<run>/experiments/<cause>-<seed>.json`.

use serde::{Deserialize, Serialize};

use crate::design::{Arm, Design};

/// The value of [`Experiment::format`] that this code writes.
///
/// 2 added kinds of interventions and metrics of failures, 3 further kinds; what 1 and 2 wrote
/// reads as before.
pub const FORMAT: u32 = 3;

/// A question put to a live system. Stored once when it is designed, without an outcome, and once
/// more when it is judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// [`FORMAT`] of its writer.
    pub format: u32,
    /// The ULID of the run whose finding it tests.
    pub run: String,
    /// The cause it tests, as in the catalogue.
    pub cause: String,
    /// The endpoint whose finding it tests; `None` if the finding is of the whole run.
    #[serde(default)]
    pub endpoint: Option<String>,
    /// What must happen if the cause is the right one.
    pub hypothesis: Hypothesis,
    /// In which blocks the intervention is applied.
    pub design: Design,
    /// What came of it; `None` until it is over.
    pub outcome: Option<Outcome>,
}

impl Experiment {
    /// What distinguishes it from other experiments on the same run, and names its files: the cause, and
    /// the seed of its blocks in hexadecimal.
    pub fn name(&self) -> String {
        Self::name_of(&self.cause, self.design.seed)
    }

    /// The name of one that tests a cause with the blocks of a seed.
    pub fn name_of(cause: &str, seed: u64) -> String {
        format!("{cause}-{seed:016x}")
    }
}

/// A prediction that can fail, written before the first block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hypothesis {
    /// One sentence: what is done, what must then happen, and why.
    pub statement: String,
    /// What is done.
    pub intervention: Intervention,
    /// What is predicted: `ENDPOINT.pNN` in milliseconds, or `ENDPOINT.errors`, the per cent of
    /// requests that failed or took longer than `slow_above_ms`.
    pub metric: String,
    /// The metric as the run measured it, in its unit, as all that follow but the last.
    pub baseline_ms: f64,
    /// Lower end of the metric under the intervention.
    pub low_ms: f64,
    /// Upper end of the metric under the intervention.
    pub high_ms: f64,
    /// A request slower than this many milliseconds counts as slow in every block.
    pub slow_above_ms: f64,
    /// What share of the requests that are slow without the intervention is predicted to be slow with
    /// it all the same: the cause is what makes the others slow.
    #[serde(default)]
    pub remains: f64,
    /// When it was written: RFC 3339 in UTC.
    pub written_at: String,
}

/// What the name of a metric of failures ends in.
pub const ERRORS: &str = ".errors";

impl Hypothesis {
    /// Whether it is about requests that fail: then failures count as slow requests do, and the
    /// metric is their share in per cent.
    pub fn is_of_failures(&self) -> bool {
        self.metric.ends_with(ERRORS)
    }

    /// Whether a value of the metric lies in the predicted interval.
    pub fn predicts(&self, metric_ms: f64) -> bool {
        (self.low_ms..=self.high_ms).contains(&metric_ms)
    }
}

/// What an experiment does to a live system; restored after each block in which it is applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Intervention {
    /// The client acknowledges at once (`TCP_QUICKACK`), so that Nagle's algorithm on the server
    /// has nothing to wait for.
    ClientQuickAck,
    /// Timers of the target's threads may fire later by up to the slack
    /// (`/proc/TID/timerslack_ns`), so that a wait on a timer becomes longer.
    TimerSlack {
        /// The slack in nanoseconds.
        slack_ns: u64,
    },
    /// The CPU quota of the target's cgroup is raised.
    CpuQuota {
        /// The quota as found, in nanoseconds of CPU time a period.
        from_ns: u64,
        /// The quota that is set.
        to_ns: u64,
    },
    /// The client does not send the requests of one endpoint; those of the others keep their
    /// schedule.
    LeaveOut {
        /// The endpoint.
        endpoint: String,
    },
    /// The client sends one request of so many, as the schedule has them: of users, one of so many
    /// goes on.
    KeepOneOf {
        /// Of how many, at least 2.
        of: u32,
    },
    /// A request asks for a key that no other one asks for at the time. As many are sent.
    KeysApart,
    /// Requests ask for one key in so many. As many are sent.
    FewerKeys {
        /// In how many, at least 2.
        of: u32,
    },
    /// The client makes a connection for each request.
    FreshConnections,
    /// The client uses connections again that it would have made for each request.
    KeptConnections,
    /// The client makes a new connection where one was idle for longer.
    IdleLimit {
        /// For how long, in nanoseconds.
        limit_ns: u64,
    },
    /// The target's processes may have more files open (`prlimit`).
    FileLimit {
        /// How many it becomes.
        to: u64,
    },
    /// The target's threads come before others that want the same CPUs.
    Niceness {
        /// What it becomes; lower comes first.
        nice: i32,
        /// Threads of this name stay as they are.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        except: Option<String>,
    },
    /// A thread of the target is kept from going on, for a few seconds at a time.
    PauseThread {
        /// Its name.
        thread: String,
    },
    /// What a service is asked comes to it later, through a proxy that stands before it in all blocks.
    DelayService {
        /// Its name in the scenario.
        service: String,
        /// How much later, in nanoseconds.
        delay_ns: u64,
        /// How often a request asks it, one after the other.
        calls: u32,
    },
    /// A toggle of the scenario is switched on.
    Toggle {
        /// Its name.
        name: String,
    },
}

impl Intervention {
    /// Whether something of the target is changed, and not of the load alone.
    pub const fn changes_the_target(&self) -> bool {
        match self {
            Self::TimerSlack { .. }
            | Self::CpuQuota { .. }
            | Self::FileLimit { .. }
            | Self::Niceness { .. }
            | Self::PauseThread { .. }
            | Self::Toggle { .. } => true,
            Self::ClientQuickAck
            | Self::LeaveOut { .. }
            | Self::KeepOneOf { .. }
            | Self::KeysApart
            | Self::FewerKeys { .. }
            | Self::FreshConnections
            | Self::KeptConnections
            | Self::IdleLimit { .. }
            | Self::DelayService { .. } => false,
        }
    }

    /// Why a part of the slowness may remain although its cause is the right one; `None` of what takes a
    /// cause away altogether.
    pub const fn leaves(&self) -> Option<&'static str> {
        match self {
            Self::Niceness { .. } => Some(
                "and niceness is a weight that leaves others a part, and the target's own threads in each \
                 other's way",
            ),
            _ => None,
        }
    }

    /// What the intervention must do if its cause is the right one.
    pub fn effect(&self) -> Effect {
        match self {
            Self::TimerSlack { slack_ns } => Effect::Rises {
                at_most_ms: *slack_ns as f64 / 1_000_000.0,
            },
            Self::DelayService {
                delay_ns, calls, ..
            } => Effect::Rises {
                at_most_ms: *delay_ns as f64 * f64::from(*calls) / 1_000_000.0,
            },
            Self::ClientQuickAck
            | Self::CpuQuota { .. }
            | Self::LeaveOut { .. }
            | Self::KeepOneOf { .. }
            | Self::KeysApart
            | Self::FewerKeys { .. }
            | Self::FreshConnections
            | Self::KeptConnections
            | Self::IdleLimit { .. }
            | Self::FileLimit { .. }
            | Self::Niceness { .. }
            | Self::PauseThread { .. }
            | Self::Toggle { .. } => Effect::Falls,
        }
    }
}

/// The direction in which an intervention moves things.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effect {
    /// The cause is removed: the share of slow requests falls.
    Falls,
    /// The cause is made worse by a known amount: the metric rises by more than nothing and by no
    /// more than that amount.
    Rises {
        /// The most that the intervention can add to a request, in milliseconds.
        at_most_ms: f64,
    },
}

/// What one block measured. Requests scheduled inside the guard belong to no block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockMeasurement {
    /// Its position in [`Design::blocks`].
    pub block: usize,
    /// The arm that was in force.
    pub arm: Arm,
    /// Requests that completed.
    pub n: u64,
    /// The metric of the hypothesis over these requests, in its unit.
    pub metric_ms: f64,
    /// Share of these requests that were slower than [`Hypothesis::slow_above_ms`]; of all that
    /// ended, failures among them, where the hypothesis is about failures.
    pub slow_share: f64,
    /// Requests that failed.
    pub errors: u64,
}

/// One arm in figures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// Median of the metric over the blocks, in the metric's unit.
    pub median_ms: f64,
    /// Smallest metric of a block.
    pub low_ms: f64,
    /// Largest metric of a block.
    pub high_ms: f64,
    /// Median share of slow requests over the blocks.
    pub slow_share: f64,
    /// Blocks that were compared; the last block, which only checks the return, is not.
    pub blocks: usize,
}

/// What an experiment said about its hypothesis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// What was predicted happened, beyond chance, and was undone again.
    Confirmed,
    /// It did not happen, although it would have been seen.
    Refuted,
    /// Neither can be said.
    Undecided,
}

impl Verdict {
    /// The word used in files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Refuted => "refuted",
            Self::Undecided => "undecided",
        }
    }
}

/// A judged experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// What it said.
    pub verdict: Verdict,
    /// The blocks without the intervention; `None` if none was measured.
    pub without: Option<Summary>,
    /// The blocks with it; `None` if none was measured.
    pub with: Option<Summary>,
    /// One-sided exact p-value in the predicted direction; `None` where blocks are missing.
    pub p: Option<f64>,
    /// Relative change from without to with of what is judged: the share of slow requests where
    /// it must fall, the metric where it must rise.
    pub change: Option<f64>,
    /// Whether what is judged moved as predicted, beyond chance, and the median of the metric under the
    /// intervention lies in the predicted interval.
    pub predicted_held: bool,
    /// One sentence: why this verdict.
    pub reason: String,
    /// Every block, in order.
    pub blocks: Vec<BlockMeasurement>,
    /// Whether the last block, without the intervention, was like the others without it.
    pub restored: bool,
    /// Requests that were due and not sent, on purpose.
    #[serde(default)]
    pub withheld: u64,
}

impl Outcome {
    /// The outcome when something outside of its blocks forbids a verdict; the figures stay.
    #[must_use]
    pub fn overruled(self, why: &str) -> Self {
        let reason = match self.verdict {
            Verdict::Undecided => format!("{why}; {}", self.reason),
            verdict => format!("{why}, or it would be {}: {}", verdict.name(), self.reason),
        };
        Self {
            verdict: Verdict::Undecided,
            reason,
            ..self
        }
    }
}

//! Facts about a run that are neither requests nor series: host, target, tallies.

use serde::{Deserialize, Serialize};

use crate::health::Health;
use crate::nanos::Span;
use crate::profiles::ProfileFacts;
use crate::sample::{Outcome, Phase};
use crate::server_timing::TimingFacts;
use crate::spans::TelemetryFacts;
use crate::trace::Depth;

/// What kind of machine it was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct HostFacts {
    /// The host's name.
    pub hostname: String,
    /// The kernel's release, as in `uname -r`.
    pub kernel: String,
    /// The processor's model.
    pub cpu_model: String,
    /// CPUs online.
    pub cpus: u32,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// The clock source in use.
    pub clocksource: String,
    /// `net.ipv4.tcp_syn_linear_timeouts`: how many SYNs are repeated each second before the
    /// interval doubles; `None` on kernels before 6.5.
    pub syn_linear_timeouts: Option<u32>,
    /// Whether slowpath ran as root.
    pub root: bool,
}

/// The state of the source tree that the run was started from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GitFacts {
    /// The commit's full hash.
    pub commit: String,
    /// The branch, or empty on a detached head.
    pub branch: String,
    /// Whether tracked files differ from the commit.
    pub dirty: bool,
}

/// What was measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetFacts {
    /// The URL with its port filled in (of the last repeat).
    pub url: String,
    /// The command that started it, if slowpath started it.
    pub command: Option<Vec<String>>,
    /// The variables of its environment that the scenario set or that steer runtimes; values
    /// whose names look like secrets are masked. A variable stands there once for each value that it had: ports
    /// differ from repeat to repeat.
    pub environment: Vec<(String, String)>,
    /// The process to observe, if the user named one.
    #[serde(default)]
    pub pid: Option<u32>,
    /// Whether its processes could be seen on this host.
    pub visible: bool,
    /// The executable of its first process; empty if it cannot be seen.
    pub executable: String,
    /// Why it cannot be seen; empty if it can.
    pub hidden_because: String,
    /// The cgroup directory of its CPU controller; empty if there is none.
    pub cgroup: String,
}

/// What was asked of the target by one endpoint's schedule in the measured window of a repeat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndpointTally {
    /// Requests that the plan wanted sent. Equals completed + failed + unfinished.
    pub offered: u64,
    /// Of these, those never sent because no connection became free before the window ended.
    /// They have no sample and count as unfinished.
    pub unsent: u64,
}

/// One repeat of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RepeatFacts {
    /// From 0.
    pub repeat: u16,
    /// The measured window: requests scheduled in it count.
    pub window: Span,
    /// From the first request of the warm-up to the last response.
    pub load: Span,
    /// What was offered in the measured window, in the order of the plan's endpoints.
    pub endpoints: Vec<EndpointTally>,
    /// Connections dialled, warm-up included.
    pub connections_opened: u64,
    /// The shortest time a connection took to be made; `None` if none was. A SYN is answered by
    /// the other kernel alone, so this is what the way there and back costs.
    #[serde(default)]
    pub fastest_dial_ns: Option<u64>,
    /// TLS handshakes made in full; zero without TLS.
    #[serde(default)]
    pub tls_full: u64,
    /// TLS handshakes that resumed an earlier session.
    #[serde(default)]
    pub tls_resumed: u64,
    /// The pass that this repeat is (of `load.passes`); `None` without passes. The repeats of a
    /// run with two passes are the first cold, the first warm, the second cold, and so on.
    #[serde(default)]
    pub pass: Option<String>,
    /// Pooled connections found closed before sending; re-dialled, not an error.
    pub connections_stale: u64,
    /// Batches of samples that waited because the disk was slower than the load.
    pub spool_waits: u64,
    /// Events of streamed responses that `stream_events.parquet` has no room for; their requests
    /// count them all the same.
    #[serde(default)]
    pub stream_events_dropped: u64,
    /// Ids of the target's processes that were seen.
    pub target_pids: Vec<u32>,
    /// Where the target listened: one that is started for each repeat may get another port each time. `None`
    /// in records of versions that did not record it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// Why the repeat ended early; empty if it did not.
    pub cut_short: String,
    /// Why requests failed, in the words of the first of each class and phase, where more is
    /// known than an errno.
    #[serde(default)]
    pub reasons: Vec<Reason>,
    /// How closely the target's threads were traced in it, which moves what is measured; `None` if
    /// they were not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traced: Option<Depth>,
    /// How fit the host was, taken around the repeat and before its figures were examined;
    /// `None` in records of versions that did not look.
    #[serde(default)]
    pub health: Option<Health>,
    /// What became of the telemetry that the target sent; `None` if none was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub telemetry: Option<TelemetryFacts>,
    /// What became of the header `Server-Timing`; `None` if no measured answer had it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_timing: Option<TimingFacts>,
    /// What became of the profiles that were fetched from the target; `None` if none was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profiles: Option<ProfileFacts>,
}

impl TargetFacts {
    /// The same, with the variables that had other values in earlier repeats.
    #[must_use]
    pub fn since(mut self, earlier: &Self) -> Self {
        let others = earlier.environment.iter();
        let others: Vec<_> = others
            .filter(|one| !self.environment.contains(one))
            .cloned()
            .collect();
        self.environment.extend(others);
        self
    }
}

/// Why a request failed, in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// The class.
    pub outcome: Outcome,
    /// In which phase.
    pub phase: Phase,
    /// A fragment, such as `the server's certificate is not trusted: ...`.
    pub text: String,
}

impl RepeatFacts {
    /// A repeat of which nothing else is known.
    pub fn new(repeat: u16, window: Span, load: Span) -> Self {
        Self {
            repeat,
            window,
            load,
            endpoints: Vec::new(),
            connections_opened: 0,
            fastest_dial_ns: None,
            tls_full: 0,
            tls_resumed: 0,
            pass: None,
            connections_stale: 0,
            spool_waits: 0,
            stream_events_dropped: 0,
            target_pids: Vec::new(),
            port: None,
            cut_short: String::new(),
            reasons: Vec::new(),
            traced: None,
            health: None,
            telemetry: None,
            server_timing: None,
            profiles: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_stands_there_for_each_value_that_it_had() {
        let facts = |collector: &str| TargetFacts {
            environment: vec![
                ("GOGC".to_owned(), "100".to_owned()),
                ("COLLECTOR".to_owned(), collector.to_owned()),
            ],
            ..TargetFacts::default()
        };
        let all = facts("c:3").since(&facts("c:2").since(&facts("c:1")));
        let values: Vec<&str> = all
            .environment
            .iter()
            .map(|(_, value)| value.as_str())
            .collect();
        assert_eq!(values, ["100", "c:3", "c:2", "c:1"]);
        assert_eq!(facts("c:1").since(&all).environment.len(), 4);
    }
}

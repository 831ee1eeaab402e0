//! What the load generator itself did: how busy its loop was, how late it sent.

use std::collections::BTreeMap;

use slowpath_core::nanos::{MILLISECOND, Nanos};
use slowpath_core::sample::Stage;
use slowpath_core::samples::SampleRef;
use slowpath_core::scenario::Model;
use slowpath_core::signal::{HOST_CPU_IDLE, TOOL_LOOP_RUN, TOOL_LOOP_RUN_DELAY};
use slowpath_core::stats::selection::Selection;
use slowpath_core::timeline::{Series, Subject};

use crate::case::Case;

/// A loop that ran, or waited for a CPU, for this share of the time has none left for timing:
/// at this use a queue before a single server is more than twice as long as the service.
pub const LOOP_BUSY: f64 = 0.7;
/// In a closed loop full use is the normal state of a fast target's client; from here on the
/// latency is the client's own queue.
const LOOP_FULL: f64 = 0.95;
/// Lag that matters: beyond this share of the latency at the same percentile it changes what is concluded …
const LAG_SHARE: f64 = 0.2;
/// … and beyond this, which is more than a wake-up on a shared machine takes.
const LAG_LEAST_NS: u64 = MILLISECOND;
/// Sent less than this share of what was offered: the rate was not delivered.
const SENT_LEAST: f64 = 0.95;
/// The CPU time of a request falls up to this many times from light to full load, when one
/// wake-up serves many: measured 25 s for a million at one connection, 7.6 s at a thousand. A rate whose requests would need
/// more than this many CPUs a loop at today's price cannot be sent.
const CPUS_NEEDED: f64 = 3.5;
/// So many CPUs idle have room for one loop more: a whole one, since a loop that needs help uses
/// all of one.
const CPUS_FOR_A_LOOP: f64 = 1.0;

/// What the instrument did in the measured windows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Share of the time that the busiest loop ran or waited for a CPU; `None` if not observed.
    pub busy: Option<f64>,
    /// Loops that were observed; 0 if none was.
    pub loops: u32,
    /// How long all loops ran; `None` if not observed.
    pub ran_ns: Option<f64>,
    /// CPUs of the host that stood idle on average; `None` if not observed.
    pub cpus_idle: Option<f64>,
    /// CPUs that the offered rate would need at the measured price; `None` if not observed or if
    /// the loop is closed.
    pub cpus_needed: Option<f64>,
    /// Requests sent or tried, as a share of those offered; 1 without any.
    pub sent: f64,
    /// Median of [`SampleRef::lag_ns`].
    pub lag_p50_ns: u64,
    /// Its 99th percentile.
    pub lag_p99_ns: u64,
    /// Its maximum.
    pub lag_max_ns: u64,
    /// Standard deviation of the gaps between requests sent in an open loop, over their mean.
    pub gap_cv: Option<f64>,
    /// Median of the latency.
    pub p50_ns: u64,
    /// Its 99th percentile.
    pub p99_ns: u64,
}

impl Load {
    /// Reads it from a case.
    pub fn of(case: &Case<'_>) -> Self {
        let measured = || {
            case.record
                .samples
                .iter()
                .filter(|s| s.stage() == Stage::Measured)
        };
        // Of another tool's requests only the sending is known, and not when it was due.
        let ours = case.record.manifest.imported.is_none();
        let sent = measured().filter(|_| ours);
        let lags = Late::of(sent.filter_map(SampleRef::lag_ns).collect());
        let mut latencies: Selection = measured().map(SampleRef::latency_ns).collect();
        let offered: u64 = case.endpoints.iter().map(|e| e.offered).sum();
        let unsent: u64 = case.endpoints.iter().map(|e| e.unsent).sum();
        let seconds = case.measured_ns() as f64;
        let loops = loops_ns(case);
        let busiest = loops.iter().map(|(ran, delay)| ran + delay);
        let busy = busiest.reduce(f64::max).map(|ns| ns / seconds);
        let ran = loops.iter().map(|(ran, _)| *ran).reduce(|a, b| a + b);
        let cpus_idle = case
            .series(&HOST_CPU_IDLE, &Subject::Host, "")
            .and_then(|series| case.measured_increase(series))
            .map(|ns| ns / seconds);
        let open = matches!(
            case.record.manifest.plan.scenario.load.model,
            Model::Open { .. }
        );
        let cpus_needed = ran
            .filter(|_| open && lags.count > 0)
            .map(|ran| offered as f64 * (ran / lags.count as f64) / seconds);
        Self {
            busy: busy.map(|b| b.min(1.0)),
            loops: loops.len() as u32,
            ran_ns: ran,
            cpus_idle,
            cpus_needed,
            sent: if offered == 0 {
                1.0
            } else {
                1.0 - unsent as f64 / offered as f64
            },
            lag_p50_ns: lags.p50_ns,
            lag_p99_ns: lags.p99_ns,
            lag_max_ns: lags.max_ns,
            gap_cv: if open { gap_cv(case) } else { None },
            p50_ns: latencies.type_1(0.5).unwrap_or_default(),
            p99_ns: latencies.type_1(0.99).unwrap_or_default(),
        }
    }

    /// Whether lag at the percentile is large in itself and against the latency there.
    fn late(lag_ns: u64, latency_ns: u64) -> bool {
        lag_ns > LAG_LEAST_NS && lag_ns as f64 > LAG_SHARE * latency_ns as f64
    }

    /// Whether late sending is worth a warning although it does not void the run.
    pub fn is_late(&self) -> bool {
        Self::late(self.lag_p99_ns, self.p99_ns)
    }

    /// Whether only the loop's own CPU time, which is not known, could decide it.
    pub fn is_undecided(&self, open: bool) -> bool {
        self.busy.is_none() && (!open || self.sent < SENT_LEAST || self.is_late())
    }

    /// Why the client is the bottleneck, if it is.
    pub fn saturated(&self, open: bool) -> Option<&'static str> {
        let busy = self.busy.unwrap_or(0.0);
        let most = CPUS_NEEDED * f64::from(self.loops.max(1));
        if self.sent < SENT_LEAST && (busy >= LOOP_BUSY || self.cpus_needed > Some(most)) {
            Some(if self.loops > 1 {
                "the rate is beyond what its loops can send"
            } else {
                "the rate is beyond what one loop can send"
            })
        } else if Self::late(self.lag_p50_ns, self.p50_ns) {
            Some("most requests were sent late")
        } else if self.is_late() && busy >= LOOP_BUSY {
            Some("requests were sent late because the loop had no time left")
        } else if !open && busy >= LOOP_FULL {
            Some("the loop never rests, so its own queue is in every latency")
        } else {
            None
        }
    }
    /// What to do when the client is the bottleneck.
    pub fn remedy(&self) -> String {
        let room = self.cpus_idle.unwrap_or(0.0) >= CPUS_FOR_A_LOOP;
        if self.loops > 0 && room && self.busy >= Some(LOOP_BUSY) {
            let more = self.loops + 1;
            format!("send with more threads (--loops {more}), for which there are idle CPUs")
        } else {
            "lower the rate, or load from more machines".to_owned()
        }
    }
}

/// How late requests were sent.
struct Late {
    count: usize,
    p50_ns: u64,
    p99_ns: u64,
    max_ns: u64,
}

impl Late {
    fn of(mut lags: Selection) -> Self {
        Self {
            count: lags.len(),
            p50_ns: lags.type_1(0.5).unwrap_or_default(),
            p99_ns: lags.type_1(0.99).unwrap_or_default(),
            max_ns: lags.max().unwrap_or_default(),
        }
    }
}

/// How unevenly the requests of the measured windows were sent.
fn gap_cv(case: &Case<'_>) -> Option<f64> {
    let mut by_repeat: BTreeMap<u16, Vec<u64>> = BTreeMap::new();
    let (mut repeat, mut of_repeat) = (0, Vec::new());
    let samples = case.record.samples.iter();
    for sample in samples.filter(|s| s.stage() == Stage::Measured) {
        if sample.repeat() != repeat {
            by_repeat.insert(repeat, of_repeat);
            repeat = sample.repeat();
            of_repeat = by_repeat.remove(&repeat).unwrap_or_default();
        }
        of_repeat.extend(sample.sent().map(Nanos::get));
    }
    by_repeat.insert(repeat, of_repeat);
    let gaps = by_repeat.values_mut().flat_map(|sent| {
        sent.sort_unstable();
        sent.windows(2).map(|pair| (pair[1] - pair[0]) as f64)
    });
    let (n, sum, squares) = gaps.fold((0.0, 0.0, 0.0), |(n, sum, squares), gap| {
        (n + 1.0, sum + gap, squares + gap * gap)
    });
    let mean: f64 = sum / n;
    let variance: f64 = squares / n - mean * mean;
    (mean > 0.0).then(|| variance.max(0.0).sqrt() / mean)
}

/// How long each loop ran and waited for a CPU in the measured windows.
fn loops_ns(case: &Case<'_>) -> Vec<(f64, f64)> {
    let of_loop = |ran: &Series| {
        let delay = case.series(&TOOL_LOOP_RUN_DELAY, &Subject::Tool, &ran.label);
        let delay = delay.and_then(|series| case.measured_increase(series));
        Some((case.measured_increase(ran)?, delay.unwrap_or(0.0)))
    };
    case.timeline()
        .all(&TOOL_LOOP_RUN)
        .filter_map(of_loop)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_loop_is_advised_only_where_there_is_a_cpu_for_it() {
        let load = |busy, loops, cpus_idle| Load {
            busy: Some(busy),
            loops,
            cpus_idle,
            ..Load::default()
        };
        assert!(load(0.95, 1, Some(2.4)).remedy().contains("--loops 2"));
        assert!(load(0.95, 3, Some(1.0)).remedy().contains("--loops 4"));
        for other in [
            load(0.95, 1, Some(0.4)),
            load(0.95, 1, None),
            load(0.2, 1, Some(2.4)),
            Load::default(),
        ] {
            assert!(other.remedy().contains("lower the rate"), "{other:?}");
        }
    }
}

//! What an experiment predicts, written before its first block. Each intervention is a file below
//! this one; it says which causes it can test.

use std::collections::BTreeSet;

use anyhow::Result;
use slowpath_core::nanos::SECOND;
use slowpath_core::scenario::{ConnectionUse, Http, Pick, Pool, Template};
use slowpath_diagnose::case::{Case, EndpointCase};
use slowpath_diagnose::diagnosis::Finding;
use slowpath_experiment::{
    Design, Effect, FAILED_PER_BLOCK, FEWEST_PAIRS, GUARD_NS, Hypothesis, SLOW_PER_BLOCK, block_ns,
};

use crate::alternatives::Accounts;
use crate::exit::Problem;
use crate::present::Judged;

mod cpu_quota;
mod delay_service;
mod fewer;
mod fewer_keys;
mod file_limit;
mod fresh_connections;
mod idle_limit;
mod kept_connections;
mod keys_apart;
mod leave_out;
mod moved;
mod niceness;
mod pairs;
mod pause_thread;
mod quick_ack;
mod timer_slack;
mod toggle;

/// Requests that a block of the arm with fewer of them is expected to hold: half as many again as
/// the fewest that are judged.
const REQUESTS_PER_BLOCK: f64 = 45.0;

/// A block is planned to hold so many times as many slow requests as are needed: their share in the run
/// was an estimate, and a block that holds just as many as that on average is as often too short.
const PLANNED_MORE: f64 = 1.3;

/// Blocks do not become longer so that those of an arm hold enough of what is rare.
const LONGEST_OF_ALL_NS: u64 = 15 * SECOND;

/// An intervention.
struct Kind {
    /// The causes that it takes away, or makes worse by a known amount.
    causes: &'static [&'static str],
    /// Why it may be another cause although it moves what is slow, if none of them was found: it moves
    /// other things alike, which only the run distinguishes. `None` if it can move nothing else.
    shared: Option<&'static str>,
    /// Writes the hypothesis, if the run is one that it can act on.
    write: fn(&Ground<'_>) -> Result<Written, Problem>,
}

/// Every intervention; of those for one cause, the first that can act on a run is taken.
static KINDS: &[&Kind] = &[
    &quick_ack::KIND,
    &timer_slack::KIND,
    &cpu_quota::KIND,
    &idle_limit::KIND,
    &fresh_connections::KIND,
    &file_limit::KIND,
    &pause_thread::KIND,
    &leave_out::KIND,
    // Many a server closes each connection, whatever the client wants.
    &fewer::KIND,
    &kept_connections::KIND,
    &niceness::KIND,
    &keys_apart::KIND,
    &fewer_keys::KIND,
    &delay_service::KIND,
];

/// What a hypothesis is written from.
struct Ground<'a> {
    case: &'a Case<'a>,
    endpoint: &'a EndpointCase,
    /// The finding to test; `None` if the cause is one that the run does not have.
    finding: Option<&'a Finding>,
    cause: &'a str,
}

impl Ground<'_> {
    /// What the hypothesis supposes, of a cause that the run does not have: how its sentence begins.
    fn supposing(&self) -> String {
        if self.finding.is_some() {
            return String::new();
        }
        format!("supposing that {} is the cause: ", self.cause)
    }

    /// How connections are used, over HTTP/1.1; experiments leave those of HTTP/2 alone.
    fn connections(&self) -> Result<ConnectionUse, Problem> {
        let scenario = &self.case.record.manifest.plan.scenario;
        if scenario.target.http == Http::Two {
            let what = "this experiment changes how connections are used, which HTTP/2's are not";
            return Err(Problem::usage(what, "measure over HTTP/1.1"));
        }
        Ok(scenario.load.connection)
    }

    /// Requests of the endpoint that ended, a second.
    fn rate_per_s(&self) -> f64 {
        let ended = (self.endpoint.completed.len() + self.endpoint.failed.len()) as f64;
        ended / (self.case.measured_ns().max(1) as f64 / 1e9)
    }

    /// How long blocks have to be so that those of an arm together hold so many of some requests of the
    /// endpoint: `share` of all.
    fn block_ns_of_all(&self, wanted: f64, share: f64) -> u64 {
        let per_s = FEWEST_PAIRS as f64 * self.rate_per_s() * share;
        let needs_ns = (wanted / per_s * 1e9).ceil();
        // Beyond that it has to do with fewer, and says so.
        (needs_ns as u64).min(LONGEST_OF_ALL_NS)
    }

    /// The keys that the endpoint's requests ask for, where an experiment can change them.
    fn keys(&self) -> Result<KeysOf, Problem> {
        let scenario = &self.case.record.manifest.plan.scenario;
        let endpoint = &scenario.endpoints[usize::from(self.endpoint.index)];
        let named = endpoint.key.iter().flat_map(Template::pools);
        let leader = |pool: usize| scenario.pools[pool].same_row_as.unwrap_or(pool);
        let pools: BTreeSet<usize> = named.map(leader).collect();
        let pools = pools.into_iter().map(|pool| &scenario.pools[pool]);
        let values = |of: &Pool| (of.pick != Pick::Unique).then_some(of.values.len() as u64);
        let values: Option<Vec<u64>> = pools.map(values).collect();
        let keys = KeysOf {
            values: values.unwrap_or_default(),
        };
        if keys.count() < 2.0 {
            let what =
                "no pool of the scenario gives requests keys that they could ask for otherwise";
            return Err(Problem::usage(
                what,
                "write them as [pools], and name those in the request",
            ));
        }
        Ok(keys)
    }
}

/// The keys that an endpoint's requests ask for, as far as its scenario makes them.
struct KeysOf {
    /// How many values each of the pools has that a key is made of.
    values: Vec<u64>,
}

impl KeysOf {
    /// How many keys there are.
    fn count(&self) -> f64 {
        self.values.iter().map(|&n| n as f64).product()
    }
}

/// A hypothesis and what its blocks need.
struct Written {
    hypothesis: Hypothesis,
    /// The period of the cause; 0 if it has none.
    period_ns: u64,
    /// The shortest guard.
    guard_ns: u64,
    /// The shortest block.
    block_ns: u64,
    /// The longest piece of a block, if it may not be whole.
    piece_ns: Option<u64>,
    /// The share of the endpoint's requests that the arm with the intervention sends.
    sent: f64,
    /// What the intervention cannot show.
    limits: Limits,
}

/// What an intervention cannot show.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    /// Why the cause may be there although the intervention does not move it.
    pub(crate) limited_by: Option<String>,
    /// Why it may be another one although the intervention moves it.
    pub(crate) shared_by: Option<String>,
    /// It is another one unless the replies of a service account for the time of these requests.
    pub(crate) accounts: Option<Accounts>,
}

impl Written {
    fn new(hypothesis: Hypothesis) -> Self {
        Self {
            hypothesis,
            period_ns: 0,
            guard_ns: GUARD_NS,
            block_ns: 0,
            piece_ns: None,
            sent: 1.0,
            limits: Limits::default(),
        }
    }
}

/// A hypothesis that can be tested.
#[derive(Debug)]
pub(crate) struct Test {
    pub(crate) cause: String,
    /// The endpoint that it is about.
    pub(crate) endpoint: Option<String>,
    pub(crate) hypothesis: Hypothesis,
    pub(crate) design: Design,
    pub(crate) limits: Limits,
}

/// What is to be tested.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wanted<'a> {
    /// A finding of the run.
    Found(&'a Finding),
    /// A cause that the run does not have.
    Supposed(&'a str),
}

impl<'a> Wanted<'a> {
    fn cause(self) -> &'a str {
        match self {
            Self::Found(finding) => &finding.cause,
            Self::Supposed(cause) => cause,
        }
    }
}

/// The hypothesis for a finding or a cause, and the design that tests it.
pub(crate) fn write(judged: &Judged, wanted: Wanted<'_>, seed: u64) -> Result<Test> {
    on_ground(judged, wanted, |ground| {
        let kinds = KINDS.iter().filter(|k| k.causes.contains(&ground.cause));
        let mut refused = None;
        for kind in kinds {
            match (kind.write)(ground) {
                Ok(written) => return planned(ground, told(written, kind, ground), seed),
                Err(problem) => refused = refused.or(Some(problem)),
            }
        }
        let none = || Problem::usage(format!("no experiment for {}", ground.cause), "");
        Err(refused.unwrap_or_else(none).into())
    })
}

/// The hypothesis that a toggle of the scenario takes the cause away.
pub(crate) fn write_toggle(
    judged: &Judged,
    wanted: Wanted<'_>,
    name: &str,
    seed: u64,
) -> Result<Test> {
    on_ground(judged, wanted, |ground| {
        planned(ground, toggle::write(ground, name)?, seed)
    })
}

/// Whether the same intervention moves both causes, so that it cannot distinguish them.
pub(crate) fn moves_both(one: &str, other: &str) -> bool {
    let both = |kind: &&Kind| kind.causes.contains(&one) && kind.causes.contains(&other);
    KINDS.iter().copied().any(|kind| both(&kind))
}

fn on_ground(
    judged: &Judged,
    wanted: Wanted<'_>,
    write: impl FnOnce(&Ground<'_>) -> Result<Test>,
) -> Result<Test> {
    let finding = match wanted {
        Wanted::Found(finding) => Some(finding),
        Wanted::Supposed(_) => None,
    };
    let pass = finding.and_then(|finding| finding.pass.as_deref());
    let own = pass.map(|pass| slowpath_diagnose::of_pass(&judged.record, pass));
    let case = Case::new(own.as_ref().unwrap_or(&judged.record));
    let endpoint = endpoint(&case, finding)?;
    write(&Ground {
        case: &case,
        endpoint,
        finding,
        cause: wanted.cause(),
    })
}

/// A hypothesis with what its intervention cannot show of a cause that was not found.
fn told(mut written: Written, kind: &Kind, ground: &Ground<'_>) -> Written {
    if ground.finding.is_none() {
        written.limits.shared_by = kind.shared.map(str::to_owned);
    }
    written
}

fn planned(ground: &Ground<'_>, written: Written, seed: u64) -> Result<Test> {
    let hypothesis = written.hypothesis;
    let endpoint = ground.endpoint;
    let rate_per_s = ground.rate_per_s();
    let share = slow_share(ground, &hypothesis);
    let block = block_ns(rate_per_s, share / PLANNED_MORE, written.period_ns)
        .and_then(|block| {
            // Where few are sent, as many as are judged.
            let holds = REQUESTS_PER_BLOCK / SLOW_PER_BLOCK;
            Ok(block.max(block_ns(rate_per_s, written.sent / holds, 0)?))
        })
        .map_err(|e| Problem::usage(e, "measure at a higher rate"))?;
    let mut design = Design::new(seed, FEWEST_PAIRS, block);
    design.guard_ns = design.guard_ns.max(written.guard_ns);
    design.block_ns = design.block_ns.max(written.block_ns);
    if let Some(piece_ns) = written.piece_ns {
        design.pieces = design.block_ns.div_ceil(piece_ns.max(1)) as u32;
    }
    let pairs = pairs::pairs(ground, &hypothesis, design.block_ns, design.slot_ns());
    design.blocks = Design::blocks(seed, pairs);
    Ok(Test {
        cause: ground.cause.to_owned(),
        endpoint: match ground.finding {
            Some(finding) => finding.endpoint.clone(),
            None => Some(endpoint.name.clone()),
        },
        hypothesis,
        design,
        limits: written.limits,
    })
}

/// The finding's endpoint; without a finding the one with most slow or failed requests, and of
/// those that have none the one that takes most time.
fn endpoint<'a>(
    case: &'a Case<'_>,
    finding: Option<&Finding>,
) -> Result<&'a EndpointCase, Problem> {
    let lost = || {
        let what = "the finding's endpoint is not in the run";
        Problem::usage(what, "slowpath explain RUN")
    };
    let named = finding.and_then(|finding| finding.endpoint.as_deref());
    let found = match (named, finding) {
        (Some(name), _) => case.endpoints.iter().find(|e| e.name == name),
        (None, Some(_)) => case.endpoints.first(),
        (None, None) => case.endpoints.iter().max_by_key(|e| {
            let total: u64 = e.latencies_ns.iter().sum();
            (e.failed.len() + e.split.slow.len(), total)
        }),
    };
    found.ok_or_else(lost)
}

/// What share of requests is slow in the sense of the hypothesis; all when a rise is predicted.
fn slow_share(ground: &Ground<'_>, hypothesis: &Hypothesis) -> f64 {
    if matches!(hypothesis.intervention.effect(), Effect::Rises { .. }) {
        return 1.0;
    }
    if hypothesis.is_of_failures() {
        // Twice as many as are needed, since failures come in bursts.
        let share = moved::failed_share(ground, hypothesis.slow_above_ms);
        return (share * SLOW_PER_BLOCK / (2.0 * FAILED_PER_BLOCK)).min(1.0);
    }
    let sorted = &ground.endpoint.split.sorted_ns;
    let fast = sorted.partition_point(|&ns| ns as f64 / 1e6 <= hypothesis.slow_above_ms);
    (sorted.len() - fast) as f64 / sorted.len().max(1) as f64
}

/// The percentile that a metric `ENDPOINT.pNN` names; the p99 if it names none.
pub(crate) fn percentile_of(metric: &str) -> f64 {
    let named = metric.rsplit_once(".p").map(|(_, digits)| digits.parse());
    match named {
        Some(Ok::<u8, _>(percent)) if percent < 100 => f64::from(percent) / 100.0,
        _ => 0.99,
    }
}

#[cfg(test)]
mod tests {
    use slowpath_core::catalogue::{
        CPU_QUOTA_THROTTLING, DELAYED_ACK, FD_EXHAUSTION, KEEPALIVE_CLOSE_RACE, PROVABLE,
    };

    use super::*;

    #[test]
    fn what_moves_several_causes_confirms_none_that_was_not_found() {
        let silent = KINDS.iter().filter(|kind| kind.shared.is_none());
        let causes: Vec<&[&str]> = silent.map(|kind| kind.causes).collect();
        let sole = [
            &[DELAYED_ACK],
            &[CPU_QUOTA_THROTTLING],
            &[KEEPALIVE_CLOSE_RACE],
            &[FD_EXHAUSTION],
        ];
        assert_eq!(causes, sole);
    }

    #[test]
    fn every_cause_with_an_experiment_is_one_that_the_catalogue_promises() {
        let mut causes: Vec<&str> = KINDS.iter().flat_map(|kind| kind.causes).copied().collect();
        causes.sort_unstable();
        causes.dedup();
        let mut provable = PROVABLE.to_vec();
        provable.sort_unstable();
        assert_eq!(causes, provable);
    }
}

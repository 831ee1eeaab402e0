//! What a profiling pass after the repeats shows, and what it suggests to try.
//!
//! Nothing in here is a cause: a profile says where time goes in the mean, and neither what slow
//! requests wait for nor that it would be gained by doing less there. Hence leads, each with the most
//! that can be had by it.

mod leads;
mod shares;

use std::collections::BTreeMap;

use slowpath_core::profile_pass::{PassLatency, ProfilePass, ProfileSource, Waited};
use slowpath_core::profiles::CodeLine;

use crate::case::Case;
use crate::diagnosis::{
    CpuShares, EndpointFigures, FunctionShare, ProfileView, ProfilingEffect, WaitShares, WaitSite,
};
use crate::figures::{millis, round, share};
use crate::profiles::let_go;
use shares::{Counted, Own};

/// Functions that are listed: pages show the first of them, comparisons read all.
const FUNCTIONS_MOST: usize = 200;
/// Places of waits that are listed.
const SITES_MOST: usize = 10;
/// Callers that are listed.
const CALLERS_MOST: usize = 6;

/// What a run's profiling pass shows; `None` for a run without one.
pub(crate) fn view(case: &Case<'_>, endpoints: &[EndpointFigures]) -> Option<ProfileView> {
    let pass = case.record.profiles.pass.as_deref()?;
    let request = Request::of(case, pass);
    let counted = Counted::of(pass);
    let sites = pass.locks.as_deref();
    let sites = sites.map(|waits| self::sites(pass, waits, who_keeps(pass.source)));
    let mut view = ProfileView {
        source: pass.source,
        imported: pass.imported,
        from: pass.from.clone(),
        requests: pass.completed(),
        failed: sum(pass.load.endpoints.iter().map(|e| e.failed)),
        effects: effects(case, pass, endpoints),
        cpu: (counted.samples() > 0).then(|| cpu(&counted, &request)),
        locks: sites.as_deref().map(|sites| waits(sites, &request)),
        blocks: pass.blocks.as_deref().map(|waited| {
            let sites = self::sites(pass, waited, waiters);
            waits(&sites, &request)
        }),
        leads: leads::leads(
            pass,
            &counted,
            sites.as_deref().unwrap_or_default(),
            &request,
        ),
        files: pass.files.clone(),
    };
    for lead in &mut view.leads {
        lead.round();
    }
    Some(view)
}

/// What a mean request has of the target's time.
pub(super) struct Request {
    /// Its latency in the measured repeats, or else in the pass.
    pub(super) latency_ns: f64,
    /// CPU time of the target; `None` if it cannot be seen.
    pub(super) cpu_ns: Option<f64>,
    /// Requests that were completed while waits were counted. Where the counts are imported, as
    /// many as the run would have had in that time; 0 if that is not known.
    pub(super) completed: f64,
}

impl Request {
    fn of(case: &Case<'_>, pass: &ProfilePass) -> Self {
        let completed = case.endpoints.iter().flat_map(|e| &e.completed);
        let (sum, count) = completed.fold((0.0, 0.0), |(sum, count), &position| {
            (sum + case.sample(position).latency_ns() as f64, count + 1.0)
        });
        let of_pass = || {
            let weighed = pass.load.endpoints.iter();
            let sum: f64 = weighed.map(|e| e.mean_ns as f64 * e.completed as f64).sum();
            sum / pass.completed().max(1) as f64
        };
        let windows = case.record.manifest.repeats.iter();
        let measured_ns: u64 = windows.map(|repeat| repeat.window.len_ns()).sum();
        let completed = if pass.imported {
            count / measured_ns.max(1) as f64 * pass.load.window_ns as f64
        } else {
            pass.completed() as f64
        };
        let cpu_of_pass = || {
            let completed = pass.completed();
            let cpu_ns = pass.load.cpu_ns.filter(|_| completed > 0)?;
            Some(cpu_ns as f64 / completed as f64)
        };
        Self {
            latency_ns: if count > 0.0 { sum / count } else { of_pass() },
            cpu_ns: case.target_cpu_per_request_ns().or_else(cpu_of_pass),
            completed,
        }
    }
}

/// How the pass's requests fared beside the measured ones.
fn effects(
    case: &Case<'_>,
    pass: &ProfilePass,
    endpoints: &[EndpointFigures],
) -> Vec<ProfilingEffect> {
    let scenario = &case.record.manifest.plan.scenario;
    // With passes the profiled one is like the last of them.
    let last = scenario.load.passes.last();
    let named = scenario.endpoints.iter().zip(&pass.load.endpoints);
    let told = named.filter(|(_, of)| of.completed > 0);
    told.map(|(endpoint, of): (_, &PassLatency)| {
        let measured = endpoints
            .iter()
            .find(|figures| figures.name == endpoint.name && figures.pass.as_ref() == last);
        ProfilingEffect {
            endpoint: endpoint.name.clone(),
            measured_p50_ms: measured.and_then(|m| m.latency_ms.p50.value),
            profiled_p50_ms: millis(of.p50_ns as f64),
            measured_p99_ms: measured.and_then(|m| m.latency_ms.p99.value),
            profiled_p99_ms: millis(of.p99_ns as f64),
        }
    })
    .collect()
}

fn cpu(counted: &Counted<'_>, request: &Request) -> CpuShares {
    let of = |own: Own<'_>| share(counted.share(counted.own.get(&own)).share);
    let mut functions: Vec<FunctionShare> = counted
        .cumulative
        .iter()
        .map(|(function, hits)| FunctionShare {
            function: (*function).to_owned(),
            flat: counted.share(counted.flat.get(function)).rounded(),
            cumulative: counted.share(Some(hits)).rounded(),
            own: counted
                .share(counted.own.get(&Own::Function(function)))
                .rounded(),
        })
        .collect();
    functions.sort_by(|a, b| {
        let weight = |f: &FunctionShare| f.own.share.max(f.flat.share);
        (weight(b).total_cmp(&weight(a)))
            .then(b.cumulative.share.total_cmp(&a.cumulative.share))
            .then_with(|| a.function.cmp(&b.function))
    });
    let further = functions.len().saturating_sub(FUNCTIONS_MOST);
    functions.truncate(FUNCTIONS_MOST);
    CpuShares {
        samples: counted.samples(),
        slices: counted.all.len() as u32,
        per_request_ms: request.cpu_ns.map(millis),
        of_latency: request
            .cpu_ns
            .map(|cpu| share(cpu / request.latency_ns.max(1.0))),
        kernel: of(Own::Kernel),
        collector: of(Own::Collector),
        scheduler: of(Own::Scheduler),
        functions,
        further: further as u64,
    }
}

/// Counts of profiles are others', and may be as large as there can be.
fn sum(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

/// A place that was waited for, or at.
pub(super) struct Site {
    pub(super) function: String,
    /// The stack of most of the waits, as it is shown.
    pub(super) callers: Vec<String>,
    pub(super) share: f64,
    pub(super) count: u64,
    pub(super) delay_ns: u64,
}

/// The function of a stack that is waited for or at, and how many places it stands from the
/// innermost.
type Named = fn(&[&CodeLine]) -> (String, usize);

/// How the places of a profile of locks are named.
fn who_keeps(source: ProfileSource) -> Named {
    match source {
        // Its waits begin with what is waited for.
        ProfileSource::Jfr => |stack| {
            let first = stack.first().map_or("?", |line| line.function.as_str());
            (first.to_owned(), 0)
        },
        _ => locks,
    }
}

/// What releases a lock.
fn locks(stack: &[&CodeLine]) -> (String, usize) {
    let_go(stack).map_or_else(
        || ("a lock of the runtime".to_owned(), 0),
        |(function, at)| (function.to_owned(), at),
    )
}

/// Who waits: the innermost function that is none of the runtime's.
fn waiters(stack: &[&CodeLine]) -> (String, usize) {
    let inner = ["runtime.", "sync.", "internal/sync.", "internal/poll."];
    let own = |line: &&CodeLine| !inner.iter().any(|name| line.function.starts_with(name));
    let at = stack.iter().position(own).unwrap_or(0);
    let function = stack.get(at).map_or("?", |line| line.function.as_str());
    (function.to_owned(), at)
}

/// The places of a profile of waits, the longest waited for first.
fn sites(pass: &ProfilePass, waits: &[Waited], named: Named) -> Vec<Site> {
    // The largest of a site's stacks shows its callers.
    let mut by: BTreeMap<String, (Site, u64)> = BTreeMap::new();
    for waited in waits {
        let stack: Vec<&CodeLine> = pass.stack(waited.stack).collect();
        if stack.iter().any(|line| is_ours(&line.function)) {
            continue;
        }
        let (function, at) = named(&stack);
        let (site, largest) = by.entry(function.clone()).or_insert_with(|| {
            let site = Site {
                function,
                callers: Vec::new(),
                share: 0.0,
                count: 0,
                delay_ns: 0,
            };
            (site, 0)
        });
        site.count = waited.count.saturating_add(site.count);
        site.delay_ns = waited.delay_ns.saturating_add(site.delay_ns);
        if waited.delay_ns > *largest {
            *largest = waited.delay_ns;
            site.callers = callers(&stack, at + 1);
        }
    }
    let mut sites: Vec<Site> = by.into_values().map(|(site, _)| site).collect();
    let all = sum(sites.iter().map(|site| site.delay_ns));
    for site in &mut sites {
        site.share = site.delay_ns as f64 / all.max(1) as f64;
    }
    sites.sort_by(|a, b| (b.delay_ns.cmp(&a.delay_ns)).then_with(|| a.function.cmp(&b.function)));
    sites
}

/// Whether a function answers those who ask for profiles.
fn is_ours(function: &str) -> bool {
    ["net/http/pprof.", "runtime/pprof."]
        .iter()
        .any(|name| function.starts_with(name))
}

/// Who called what stands before `from`, innermost first.
fn callers(stack: &[&CodeLine], from: usize) -> Vec<String> {
    let outer = stack.iter().skip(from);
    let shown = outer.filter(|line| !line.function.starts_with("runtime."));
    shown.take(CALLERS_MOST).map(ToString::to_string).collect()
}

fn waits(sites: &[Site], request: &Request) -> WaitShares {
    let delay_ns = sum(sites.iter().map(|site| site.delay_ns));
    let each = |delay_ns: u64| {
        (request.completed > 0.0).then(|| millis(delay_ns as f64 / request.completed))
    };
    WaitShares {
        delay_s: round(delay_ns as f64 / 1e9, 1e6),
        per_request_ms: each(delay_ns),
        sites: sites
            .iter()
            .take(SITES_MOST)
            .map(|site| WaitSite {
                function: site.function.clone(),
                callers: site.callers.clone(),
                share: share(site.share),
                count: site.count,
                per_request_ms: each(site.delay_ns),
            })
            .collect(),
    }
}

//! The runtime stops all threads of the program to collect garbage, and requests wait until it ends.
//!
//! The runtime's own log says when. Without it a trace of a Java virtual machine or of .NET still
//! shows threads that wait for the collector's; of other runtimes nothing but the log distinguishes a pause
//! from work, and from a CPU that others have.

use slowpath_attribution::StateSet;
use slowpath_core::gc_log::Collector;
use slowpath_core::signal::PROCESS_THREADS_STATE;
use slowpath_core::trace::{Role, Runtime};

use crate::case::{Case, EndpointCase};
use crate::collections::{Alignment, Pauses, alignment};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Evidence, Grade, Place, Source};
use crate::ledger::{NAMED_EPISODES, NAMED_SHARE};
use crate::overlap::{claims_of, coverage};
use crate::predict::{without_claims, without_waits};
use crate::sleepers::by_label;
use crate::trace::looked::{Looked, claims};
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, human, percent};

/// Pauses that lie among slow requests by chance do so this seldom.
const CHANCE: f64 = 0.01;
/// … and give this many times less: with very many slow requests next to nothing is beyond chance.
const TIMES_CHANCE: f64 = 2.0;
/// Pauses that take so much of the time are met by every request: no slow ones stand out against it.
const USUAL: f64 = 0.15;
/// Pauses of which the begin is known no better than so many times their length cannot be held
/// against requests that they miss.
const ERROR_MOST: f64 = 0.5;

/// The state of threads that a signal has stopped (`proc_pid_stat(5)`).
const STOPPED: &str = "T";
/// Less of the time is met by too few requests to be what they wait for.
const STOPPED_LEAST: f64 = 0.01;

pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Endpoint(examine),
    could_be: StateSet::PAUSED.and(StateSet::UNKNOWN),
    may_be_the_work: false,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    let tail = endpoint.tail.as_ref().map_or(0, |tail| tail.clusters);
    if tail < NAMED_EPISODES as u32 {
        return without_tail(case);
    }
    if let Some((missing, remedy)) = case.target_hidden() {
        return Verdict::Blind { missing, remedy };
    }
    if let Some(pauses) = case.pauses() {
        return by_log(case, endpoint, pauses);
    }
    let traced = by_trace(case, endpoint);
    let from_outside = || by_signal(case);
    traced
        .or_else(from_outside)
        .unwrap_or_else(|| without_log(case))
}

/// Threads that were found stopped by a signal: that is no collector.
fn by_signal(case: &Case<'_>) -> Option<Verdict> {
    let states = by_label(case, &PROCESS_THREADS_STATE);
    let looks = states.get(STOPPED)?;
    let met = looks.iter().filter(|(_, threads)| *threads > 0.0).count();
    let all = looks.len();
    (met as f64 >= STOPPED_LEAST * all as f64).then(|| Verdict::Blind {
        missing: format!(
            "who stops the target from outside: threads of it were found stopped (SIGSTOP) at {met} of {all} looks"
        ),
        remedy: "look who sends it SIGSTOP, and measure without".to_owned(),
    })
}

/// Where requests are hardly ever slower than others, pauses explain nothing, or all alike.
fn without_tail(case: &Case<'_>) -> Verdict {
    let covered = case
        .pauses()
        .map_or(0.0, |pauses| coverage(case, pauses.spans()));
    if covered < USUAL {
        return Verdict::Absent("requests are not slow often enough to meet pauses".to_owned());
    }
    Verdict::Blind {
        missing: format!(
            "requests that met no pause: the runtime stops the program for {} of the time",
            percent(covered)
        ),
        remedy: "give it more memory, and measure again".to_owned(),
    }
}

/// Compares the pauses that the log reports with slow requests.
fn by_log(case: &Case<'_>, endpoint: &EndpointCase, pauses: &Pauses) -> Verdict {
    let Some(aligned) = alignment(case, endpoint, pauses) else {
        return Verdict::Absent("no request is slow".to_owned());
    };
    let own = || {
        pauses
            .spans()
            .iter()
            .filter(|s| case.windows.iter().any(|w| w.overlap_ns(**s) > 0))
    };
    let (n, longest) = (own().count(), own().map(|s| s.len_ns()).max().unwrap_or(0));
    let (name, covered) = (pauses.collector().name(), coverage(case, pauses.spans()));
    let told = format!(
        "{name} reports {n} pauses of up to {}, {} of the time; they have {} of what slow requests \
         take longer, by chance {} (p {:.3}); {} of the episodes meet one",
        human(longest as f64),
        percent(covered),
        percent(aligned.share),
        percent(aligned.chance),
        aligned.p,
        percent(aligned.met),
    );
    if is_beyond_chance(&aligned) {
        let claims = claims_of(case, endpoint, pauses.spans());
        let place = endpoint.place_of(&claims);
        let proof = evidence(Source::App, "collections", told);
        let prediction = without_claims(case, endpoint, place, &claims);
        return found(
            (place, claims),
            (Some(pauses.collector()), longest),
            proof,
            prediction,
        );
    }
    let median_ns = n.checked_sub(1).map_or(0, |_| {
        let mut all: Vec<u64> = own().map(|s| s.len_ns()).collect();
        all.sort_unstable();
        all[all.len() / 2]
    });
    let each_ns = endpoint
        .tail
        .as_ref()
        .map_or(0.0, |t| t.excess_ns / t.requests.len() as f64);
    let matter = n > 0 && longest as f64 >= NAMED_SHARE * each_ns;
    if matter && pauses.error_ns() as f64 > ERROR_MOST * median_ns as f64 {
        return Verdict::Blind {
            missing: format!(
                "when exactly the pauses of {name} were: to {}, of pauses of {}",
                human(pauses.error_ns() as f64),
                human(median_ns as f64)
            ),
            remedy: "let the runtime write its log to a terminal or to standard error, unbuffered"
                .to_owned(),
        };
    }
    Verdict::Absent(told)
}

/// What is claimed holds what chance would give too, so that without it enough must be left to name.
fn is_beyond_chance(aligned: &Alignment) -> bool {
    aligned.p < CHANCE
        && aligned.share >= TIMES_CHANCE * aligned.chance
        && aligned.share - aligned.chance >= NAMED_SHARE
}

/// Requests whose threads wait for those that collect, as a trace shows.
fn by_trace(case: &Case<'_>, endpoint: &EndpointCase) -> Option<Verdict> {
    let looked = Looked::at(case, endpoint).ok()?;
    let picked = looked.pick(|_, _, hops| looked.inside.stops_the_world(hops));
    if picked.is_empty() {
        return None;
    }
    let claims = claims(&picked);
    let place = looked.place(endpoint, &claims);
    let longest = claims
        .iter()
        .map(|claim| claim.span.len_ns())
        .max()
        .unwrap_or(0);
    let who = Looked::shares(&picked, place, |p| {
        p.hops
            .last()
            .map_or_else(String::new, |hop| looked.inside.thread_name(hop.tid))
    });
    let named = who.first().map_or("", |(name, _)| name.as_str());
    let text = format!(
        "the threads of requests wait for threads that stop all others of their process, above all \
         {named}, for up to {} at a time",
        human(longest as f64)
    );
    let proof = evidence(Source::Trace, "trace", text);
    let prediction = without_waits(case, endpoint, place, looked.join, &claims);
    Some(found((place, claims), (None, longest), proof, prediction))
}

/// Why nothing is known of pauses.
fn without_log(case: &Case<'_>) -> Verdict {
    let Some((runtime, remedy)) = runtime(case).map(|runtime| (runtime, remedy(runtime))) else {
        return Verdict::Blind {
            missing: "what runs the target's code, and when it stops it".to_owned(),
            remedy: "let its runtime log its collections (GODEBUG=gctrace=1, -Xlog:gc, --trace-gc)"
                .to_owned(),
        };
    };
    match remedy {
        None => {
            Verdict::Absent("a native program has no collector that stops its threads".to_owned())
        }
        Some(remedy) => Verdict::Blind {
            missing: format!(
                "when {} stopped the program to collect garbage",
                called(runtime)
            ),
            remedy: remedy.to_owned(),
        },
    }
}

/// What runs the target's code, by its trace or by the name of its executable.
fn runtime(case: &Case<'_>) -> Option<Runtime> {
    let processes = case.record.trace.processes.iter();
    let own = processes.filter(|p| p.role == Role::Target && p.runtime != Runtime::Unknown);
    let name = case
        .record
        .manifest
        .target
        .executable
        .rsplit('/')
        .next()
        .unwrap_or("");
    let by_name = match name {
        "java" => Some(Runtime::Jvm),
        "node" | "nodejs" => Some(Runtime::Node),
        // The last two, and those below, are native programs by their code.
        "dotnet" | "beam.smp" | "luajit" => Some(Runtime::Managed),
        _ if name.starts_with("python") => Some(Runtime::Python),
        _ if name.starts_with("ruby") || name.starts_with("php") => Some(Runtime::Managed),
        _ => None,
    };
    // One that collects counts, whatever else belongs to the target.
    let all = own.map(|p| p.runtime).chain(by_name);
    all.max_by_key(|&runtime| remedy(runtime).is_some())
}

const fn called(runtime: Runtime) -> &'static str {
    match runtime {
        Runtime::Go => "Go",
        Runtime::Jvm => "the Java virtual machine",
        Runtime::Node => "Node",
        Runtime::Python => "Python",
        _ => "the runtime",
    }
}

/// What makes a runtime log its pauses; `None` for code without a collector.
const fn remedy(runtime: Runtime) -> Option<&'static str> {
    match runtime {
        Runtime::Native | Runtime::Tokio => None,
        Runtime::Go => Some("start it with GODEBUG=gctrace=1 in its environment"),
        Runtime::Jvm => Some("start it with -Xlog:gc:stderr"),
        Runtime::Node => Some("start it with --trace-gc"),
        Runtime::Python => Some("hold gc.callbacks against slow requests, or call gc.freeze()"),
        Runtime::Managed | Runtime::Unknown => Some("let the runtime log its collections"),
    }
}

fn found(
    (place, claims): (Place, Vec<Claim>),
    (collector, longest): (Option<Collector>, u64),
    proof: Evidence,
    prediction: Option<crate::diagnosis::Prediction>,
) -> Verdict {
    let whose = match collector {
        Some(Collector::Go) => "Go stops",
        Some(Collector::Jvm) => "the Java virtual machine stops",
        Some(Collector::Node) => "Node stops",
        None => "the runtime stops",
    };
    Verdict::Found(Found {
        place,
        amount: Amount::Claims(claims),
        grade: Grade::Supported,
        summary: format!(
            "{whose} the whole program to collect garbage, for up to {} at a time, and requests wait; \
             make less garbage, keep less alive, give it more memory, or choose another collector",
            human(longest as f64)
        ),
        evidence: vec![proof],
        culprit: Culprit::default(),
        prediction,
    })
}

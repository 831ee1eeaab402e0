//! Threads of the server that could run wait for a CPU that somebody else has.

use std::collections::BTreeMap;

use slowpath_core::trace::Role;

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Grade, Place, Segment, Source};
use crate::overlap::parts;
use crate::predict::without_waits;
use crate::throttling::throttled_spans;
use crate::trace::index::Runner;
use crate::trace::inside::Walked;
use crate::trace::looked::{Looked, Picked, claims};
use crate::trace::pieces::LeafKind;
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, human, percent};

/// Those who had the CPU are named down to this share of the time.
const NAMED_LEAST: f64 = 0.1;
/// … and no more of them than a person reads.
const NAMED_MOST: usize = 3;

/// From this share of the waits on, it is the server's own threads that are in each other's way.
const MOSTLY_OWN: f64 = 0.5;

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Endpoint(examine),
    may_be_the_work: false,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    let looked = match Looked::at(case, endpoint) {
        Ok(looked) => looked,
        Err(blind) => return *blind,
    };
    // A cgroup that has used its quota up is ready to run too, and then the CPU is idle or
    // somebody else's: that is the throttling's.
    let throttled = throttled_spans(case);
    let mut idle_ns = 0;
    for piece in looked.join.walked.iter().flat_map(|w| &w.pieces) {
        if piece.leaf.kind == LeafKind::Ready(Runner::Idle) {
            idle_ns += piece.len_ns();
        }
    }
    let behind = |of: fn(Runner) -> bool| {
        looked.pick(|_, piece, _| {
            matches!(piece.leaf.kind, LeafKind::Ready(runner) if of(runner))
                && parts(&throttled, piece.span()).next().is_none()
        })
    };
    let picked = behind(|runner| matches!(runner, Runner::Thread(_)));
    let nobody = behind(|runner| runner == Runner::Unknown);
    let length = |all: &[Picked<'_>]| all.iter().map(|p| p.piece.len_ns()).sum::<u64>();
    let (ready, unknown) = (length(&picked), length(&nobody));
    let claims = claims(&picked);
    let total: u64 = looked.join.walked.iter().map(|w| w.joined.latency_ns()).sum();
    let share = |ns: u64| percent(ns as f64 / total.max(1) as f64);
    if unknown > ready {
        return who_is_not_known(endpoint, &looked, &nobody, &share(unknown));
    }
    if claims.is_empty() {
        return Verdict::Cleared(format!(
            "no thread waited for a CPU that another had; for one that was idle, {} of the time",
            share(idle_ns)
        ));
    }
    if let Some(lead) = looked.too_small(case, endpoint, &claims) {
        return lead;
    }
    let place = looked.place(endpoint, &claims);
    let (ours, own) = held_up(&looked, place, &claims);
    if ours >= own {
        return Verdict::Lead {
            place,
            claims,
            missing: format!(
                "a host that leaves slowpath itself alone: requests wait {} for CPUs in the server, \
                 and {} on slowpath's side, as others press on both",
                human(own),
                human(ours)
            ),
            remedy: "measure on a calm host, or give each CPUs of its own".to_owned(),
        };
    }
    let told = (share(ready + unknown + idle_ns), share(idle_ns));
    found(case, endpoint, &looked, &picked, (place, claims), &told)
}

/// Threads were ready to run, and the record of the CPUs has holes where they were: somebody may have
/// had the CPU, or nobody.
fn who_is_not_known(
    endpoint: &EndpointCase,
    looked: &Looked<'_>,
    nobody: &[Picked<'_>],
    share: &str,
) -> Verdict {
    let claims = claims(nobody);
    Verdict::Lead {
        place: looked.place(endpoint, &claims),
        claims,
        missing: format!(
            "who had the CPU while the server's threads were ready to run, for {share} of the \
             requests' time"
        ),
        remedy: "run slowpath as root, or measure again if records were lost".to_owned(),
    }
}

fn found(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    looked: &Looked<'_>,
    picked: &[Picked<'_>],
    (place, claims): (Place, Vec<Claim>),
    (ready, idle): &(String, String),
) -> Verdict {
    let inside = looked.inside;
    let is_own = |tid| inside.trace().process_of(tid).is_some_and(|p| p.role == Role::Target);
    let who = Looked::shares(picked, place, |p| match p.piece.leaf.kind {
        LeafKind::Ready(Runner::Thread(tid)) => {
            let whose = if is_own(tid) { "its own thread " } else { "" };
            (is_own(tid), format!("{whose}{}", inside.thread_name(tid)))
        }
        _ => (false, String::new()),
    });
    let own = who.iter().filter(|((own, _), _)| *own);
    let is_own = own.map(|(_, share)| share).sum::<f64>() >= MOSTLY_OWN;
    let named = who.iter().take(NAMED_MOST).filter(|(_, s)| *s >= NAMED_LEAST);
    let named: Vec<String> = named.map(|((_, who), s)| format!("{who} {}", percent(*s))).collect();
    let text = format!(
        "the server's threads were ready to run for {} of the requests' time, for {} with the CPU \
         idle; the CPU had {}",
        ready,
        idle,
        named.join(", ")
    );
    let known = who.iter().find(|(_, share)| *share >= NAMED_LEAST);
    let known = known.map(|((_, who), _)| who.clone());
    let first = known.as_ref().map_or_else(String::new, |who| format!(", among them {who}"));
    let summary = if is_own {
        format!(
            "the server has more threads that are ready to run than CPUs to run them on{first}; let \
             fewer of them work at a time, or give the server more CPUs"
        )
    } else {
        format!(
            "the server's threads are ready to run and wait for a CPU that others have{first}; \
             give the server CPUs of its own, or what else runs a lower priority"
        )
    };
    Verdict::Found(Found {
        place,
        prediction: without_waits(case, endpoint, place, looked.join, &claims),
        amount: Amount::Claims(claims),
        grade: Grade::Supported,
        summary,
        evidence: vec![evidence(Source::Trace, "trace", text)],
        culprit: Culprit {
            thread: known,
            ..Culprit::default()
        },
    })
}

/// How long requests are held up on slowpath's own side, and how long they wait for CPUs in the
/// server, in the mean: the slow ones more than the others, or all of them.
fn held_up(looked: &Looked<'_>, place: Place, claims: &[Claim]) -> (f64, f64) {
    let mut ready: BTreeMap<u32, u64> = BTreeMap::new();
    for claim in claims {
        *ready.entry(claim.sample).or_default() += claim.span.len_ns();
    }
    let side = |walked: &Walked| {
        let parts = [Segment::ClientLag, Segment::Response];
        parts.iter().map(|&part| walked.joined.part_ns(part)).sum::<u64>()
    };
    let own = |walked: &Walked| ready.get(&walked.joined.sample).copied().unwrap_or(0);
    let mean = |of: &dyn Fn(&Walked) -> u64, slow: bool| {
        let all = looked.join.walked.iter();
        let all = all.filter(|walked| place != Place::Tail || walked.slow == slow);
        let (n, sum) = all.fold((0_u64, 0), |(n, sum), walked| (n + 1, sum + of(walked)));
        sum as f64 / n.max(1) as f64
    };
    let more = |of: &dyn Fn(&Walked) -> u64| match place {
        Place::Tail => mean(of, true) - mean(of, false),
        _ => mean(of, true),
    };
    (more(&side), more(&own))
}

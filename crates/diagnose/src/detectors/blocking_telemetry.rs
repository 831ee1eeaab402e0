//! Requests wait while telemetry is sent for them: spans, logs or metrics go to a collector before the
//! answer goes to the client.
//!
//! A thread in the background that sends them with a lock that requests take is `lock-held-over-io`.

use slowpath_attribution::StateSet;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use slowpath_core::nanos::MILLISECOND;
use slowpath_core::trace::NO_STACK;

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine, sequential_fanout};
use crate::diagnosis::{Culprit, Evidence, Grade, Phase, Place, Source};
use crate::ledger::NAMED_SHARE_LOW;
use crate::predict::without_waits;
use crate::telemetry;
use crate::trace::calls::waits::waits;
use crate::trace::calls::{Calls, Part, during, settled};
use crate::trace::inside::{Inside, Walked, summed};
use crate::trace::looked::Looked;
use crate::trace::pieces::{Behalf, Piece};
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, human, percent};

/// What all requests have is named from here on: handing spans to a collector on the same host takes less.
const FLOOR_LEAST_NS: f64 = 2.0 * MILLISECOND as f64;
/// A peer is called by a telemetry library if at least this share of the waits for it that have stacks are in the library.
const BY_LIBRARY: f64 = 0.5;

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Followed(examine),
    could_be: StateSet::REPLY
        .and(StateSet::SEND_BLOCKED)
        .and(StateSet::UNKNOWN),
    may_be_the_work: false,
};

/// A part of a request in which it waited for a reply.
struct Waited {
    claim: Claim,
    remote: SocketAddr,
    stack: u32,
    slow: bool,
}

fn examine(case: &Case<'_>, endpoint: &EndpointCase, looked: &Looked<'_>) -> Verdict {
    let inside = looked.inside;
    let calls = inside.calls(case);
    let Met { waited, known } = Met::of(looked, calls);
    let all: BTreeSet<SocketAddr> = waited.iter().map(|w| w.remote).collect();
    let collectors: Collectors = all
        .into_iter()
        .filter_map(|remote| Some((remote, collector(case, inside, remote, &waited)?)))
        .collect();
    let (waited, others): (Vec<Waited>, Vec<Waited>) = waited
        .into_iter()
        .partition(|w| collectors.contains_key(&w.remote));
    if waited.is_empty() {
        return unknown(looked, calls, known)
            .or_else(|| hidden(endpoint, looked, &others))
            .unwrap_or_else(|| none(looked));
    }
    if is_collector(inside) {
        return Verdict::Absent(
            "the target collects telemetry itself: to send it on is its work".to_owned(),
        );
    }
    let claims: Vec<Claim> = waited.iter().map(|w| w.claim).collect();
    if let Some(lead) = looked.too_small(case, endpoint, &claims) {
        return lead;
    }
    let place = looked.place_within(endpoint, &claims, known);
    let counts = |w: &&Waited| place != Place::Tail || w.slow;
    let counted = || waited.iter().filter(counts);
    let touched: BTreeSet<u32> = counted().map(|w| w.claim.sample).collect();
    let total: u64 = counted().map(|w| w.claim.span.len_ns()).sum();
    let each = total as f64 / touched.len().max(1) as f64;
    if place == Place::Floor && each < FLOOR_LEAST_NS {
        return short(each);
    }
    let Some((remote, (why, grade))) = most_waited_for(&collectors, counted()) else {
        return Verdict::Absent("no slow request waited for a collector".to_owned());
    };
    let collector = inside.trace().address(remote);
    let (of, whose) = match place {
        Place::Tail => (known[1], " slow"),
        _ => (known[0] + known[1], ""),
    };
    let own = counted().filter(|w| w.remote == remote);
    let stack = own.map(|w| w.stack).find(|&stack| stack != NO_STACK);
    Verdict::Found(Found {
        place,
        prediction: without_waits(case, endpoint, place, looked.join, &claims),
        amount: Amount::Claims(claims),
        grade: *grade,
        summary: format!(
            "requests wait {} while telemetry is sent to {collector} before they are answered; hand it to a \
             queue that a thread in the background empties, and that drops when it is full",
            human(each)
        ),
        evidence: vec![
            traced(format!(
                "{} of {of} followed{whose} requests wait for replies from {collector}, {} each in the mean",
                touched.len(),
                human(each)
            )),
            traced(format!("that this is telemetry: {why}")),
        ],
        culprit: Culprit {
            stack: stack.map_or_else(Vec::new, |stack| inside.stack_words(stack)),
            ..Culprit::default()
        },
    })
}

fn traced(text: String) -> Evidence {
    evidence(Source::Trace, "trace", text)
}

fn short(each_ns: f64) -> Verdict {
    Verdict::Absent(format!(
        "requests wait {} for a collector of telemetry, in the mean: as much as sending takes",
        human(each_ns)
    ))
}

fn none(looked: &Looked<'_>) -> Verdict {
    let n = looked.join.walked.len();
    Verdict::Absent(format!(
        "none of {n} requests waited for what is known as a collector of telemetry"
    ))
}

/// That it is not seen which library asks, where requests wait for replies for long enough: an interpreter or a virtual machine
/// executes the target, and its own functions are on the stack.
fn hidden(endpoint: &EndpointCase, looked: &Looked<'_>, waited: &[Waited]) -> Option<Verdict> {
    let inside = looked.inside;
    let target = looked.join.walked.first()?.joined.reader;
    let claims: Vec<Claim> = waited.iter().map(|w| w.claim).collect();
    let mut places = [Place::Tail, Place::Floor].into_iter();
    let is_much =
        places.any(|place| endpoint.share_at_most(place, &claims) >= Some(NAMED_SHARE_LOW));
    let is_executed = inside.process_name(target) != inside.executable(target);
    (is_executed && is_much).then(|| Verdict::Blind {
        missing: format!(
            "which library asks: {} is executed by {}, whose functions are on the stacks of the waits",
            inside.process_name(target),
            inside.executable(target)
        ),
        remedy: "send spans (OTLP) to slowpath, or take a profile (slowpath run --profile)".to_owned(),
    })
}

/// Why the cause cannot be ruled out, where the calls of so many fast and slow requests are known, if it cannot.
fn unknown(looked: &Looked<'_>, calls: &Calls, known: [usize; 2]) -> Option<Verdict> {
    let n = looked.join.walked.len();
    let is_hidden = !calls.is_empty() && !looked.are_most(known);
    is_hidden.then(|| Verdict::Blind {
        missing: format!(
            "which calls belong to which request: {} of {n} requests were under way with others in a loop or a \
             runtime that keeps what waits in user space, or asked through a thread that asks for many",
            n - known[0] - known[1]
        ),
        remedy: sequential_fanout::ONE_CONNECTION.to_owned(),
    })
}

type Collectors = BTreeMap<SocketAddr, (String, Grade)>;

/// The collector that most of the time is spent waiting for.
fn most_waited_for<'a>(
    collectors: &'a Collectors,
    waited: impl Iterator<Item = &'a Waited>,
) -> Option<(SocketAddr, &'a (String, Grade))> {
    let sums = summed(waited.map(|w| (w.remote, w.claim.span.len_ns() as f64)));
    let (remote, _) = sums.first()?;
    Some((*remote, collectors.get(remote)?))
}

/// What requests were seen to wait for.
#[derive(Default)]
struct Met {
    waited: Vec<Waited>,
    /// Requests of which that is known: of the others, and of the slow ones.
    known: [usize; 2],
}

impl Met {
    fn of(looked: &Looked<'_>, calls: &Calls) -> Self {
        let mut met = Self::default();
        for walked in &looked.join.walked {
            let own = calls.own(looked.inside, walked);
            let before = met.waited.len();
            met.take(looked.inside, walked, &settled(&own.calls));
            let known = own.whole || met.waited.len() > before;
            met.known[usize::from(walked.slow)] += usize::from(known);
        }
        met
    }

    /// What a request waited for replies, which kept it in these parts.
    fn take(&mut self, inside: &Inside<'_>, walked: &Walked, parts: &[Part]) {
        let own = |p: &&Piece| p.segment == Phase::Service && p.behalf == Behalf::Own;
        for piece in walked.pieces.iter().filter(own) {
            let hops = inside.chains.hops(piece.chain);
            if waits(inside, piece, &hops, walked.joined.socket).is_none() {
                continue;
            }
            let off = hops.first().and_then(|hop| {
                let at = piece.begin;
                inside.index.offs(hop.tid, at, at.saturating_add(1)).first()
            });
            self.waited.extend(during(parts, piece).map(|part| Waited {
                claim: Claim::between(
                    walked.joined.sample,
                    (part.begin.max(piece.begin), part.end.min(piece.end)),
                ),
                remote: part.remote,
                stack: off.map_or(NO_STACK, |off| off.stack),
                slow: walked.slow,
            }));
        }
    }
}

/// Why a peer is a collector of telemetry, and how sure that is; `None` if nothing says so.
fn collector(
    case: &Case<'_>,
    inside: &Inside<'_>,
    remote: SocketAddr,
    waited: &[Waited],
) -> Option<(String, Grade)> {
    let own = waited
        .iter()
        .filter(|w| w.remote == remote && w.stack != NO_STACK);
    let mut sums = [0_u64; 2];
    for w in own {
        let exports = telemetry::exports("", &inside.stack_words(w.stack));
        sums[usize::from(exports)] += w.claim.span.len_ns();
    }
    let all = (sums[0] + sums[1]) as f64;
    if sums[1] > 0 && sums[1] as f64 >= BY_LIBRARY * all {
        let why = format!(
            "{} of the waits are in functions of such a library",
            percent(sums[1] as f64 / all)
        );
        return Some((why, Grade::Supported));
    }
    let told = telemetry::told_by(&case.record.manifest.target.environment, remote);
    if let Some(told) = told {
        return Some((told, Grade::Supported));
    }
    let program = inside
        .program_at(remote)
        .filter(|name| telemetry::collects(name));
    if let Some(program) = program {
        return Some((
            format!("{program} listens at {}", inside.trace().address(remote)),
            Grade::Supported,
        ));
    }
    let by_port = telemetry::is_port(remote.port());
    by_port.then(|| {
        (
            format!("port {} is that of collectors", remote.port()),
            Grade::Suspected,
        )
    })
}

/// Whether the target is a collector.
fn is_collector(inside: &Inside<'_>) -> bool {
    let mut own = inside.trace().processes.iter();
    own.any(|p| p.role == slowpath_core::trace::Role::Target && telemetry::collects(&p.executable))
        || inside.ports().any(telemetry::is_port)
}

//! Requests wait for one of the few connections that the target has to another server, while others
//! of its requests have all of them.

use slowpath_attribution::StateSet;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use slowpath_core::nanos::MILLISECOND;
use slowpath_core::trace::Call;

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Grade, Phase, Place, Source};
use crate::predict::without_waits;
use crate::trace::calls::Asked;
use crate::trace::calls::lines::Lines;
use crate::trace::index::State;
use crate::trace::inside::{Walked, summed};
use crate::trace::looked::Looked;
use crate::trace::pieces::LeafKind;
use crate::trace::stacks::Waits;
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, human, percent};

/// A connection that another has had is taken over when it asks again so soon after the reply. The
/// one who had it reads the reply, gives it back and wakes the waiter.
const TAKEN_OVER_NS: u64 = 5 * MILLISECOND;
/// So many of the waits must end with a connection taken over: a request that waits for something else takes
/// any connection then, as a rule one that was free for long.
const TAKEN_OVER: f64 = 0.5;
/// Between one who gives a connection back and the next to ask on it nothing is in use for as long, while
/// others wait. What was full before a longer break was full because of other requests.
const HANDED_OVER_NS: u64 = MILLISECOND;
/// One connection that many ask on at a time (HTTP/2, pipelines) is no pool, however often it is made again: so many
/// must be in use at a time.
const LINES_LEAST: usize = 2;
/// All connections are in use so little of a slow request's time by chance where there are enough.
const FULL_LEAST: f64 = 0.1;

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Followed(examine),
    could_be: StateSet::QUEUED.and(StateSet::LOCK).and(StateSet::UNKNOWN),
    may_be_the_work: false,
};

/// A request waited, and took a connection then.
struct Waited {
    claims: Vec<Claim>,
    remote: SocketAddr,
    taken_over: bool,
}

fn examine(case: &Case<'_>, endpoint: &EndpointCase, looked: &Looked<'_>) -> Verdict {
    let calls = looked.inside.calls(case);
    if calls.is_empty() {
        let text = "the target was not seen to ask any other server";
        return Verdict::Absent(text.to_owned());
    }
    let lines = calls.lines();
    let walked = looked.join.walked.iter();
    let own = walked.map(|walked| (walked, calls.own(looked.inside, walked).calls));
    let own: Vec<(&Walked, Vec<&Asked>)> = own.collect();
    if let Some(blind) = in_user_space(looked, &lines, &own) {
        return blind;
    }
    let mut waited = Vec::new();
    for (walked, calls) in &own {
        if looked.inside.parks(walked) {
            waited.extend(waits_in_user_space(&lines, walked, calls));
        } else {
            waited.extend(waits(looked, &lines, walked, calls));
        }
    }
    let over = waited.iter().filter(|w| w.taken_over).count();
    if (over as f64) < TAKEN_OVER * waited.len() as f64 || waited.is_empty() {
        let of_most = lines.values().max_by_key(|lines| lines.count);
        let (most, count) = of_most.map_or((0, 0), |lines| (lines.most, lines.count));
        let text = format!(
            "{} of {} requests waited until a connection to another server was given back; at most \
             {most} of {count} connections were in use at a time",
            over,
            looked.join.walked.len()
        );
        return Verdict::Absent(text);
    }
    let claims: Vec<Claim> = waited
        .iter()
        .flat_map(|w| w.claims.iter().copied())
        .collect();
    if let Some(lead) = looked.too_small(case, endpoint, &claims) {
        return lead;
    }
    let place = looked.place(endpoint, &claims);
    found(case, endpoint, looked, &lines, (place, claims, &waited))
}

/// Where what waits is kept in user space, and what requests asked for is not known, a wait for a
/// connection is not to be seen: only that all of them are in use.
fn in_user_space(
    looked: &Looked<'_>,
    lines: &BTreeMap<SocketAddr, Lines>,
    own: &[(&Walked, Vec<&Asked>)],
) -> Option<Verdict> {
    let unseen = |(walked, calls): &&(&Walked, Vec<&Asked>)| {
        let parked = looked.inside.parks(walked) && calls.is_empty();
        parked || looked.inside.loops.has(walked.joined.reader)
    };
    if 2 * own.iter().filter(unseen).count() <= own.len() {
        return None;
    }
    let shares = lines
        .iter()
        .map(|(remote, lines)| (remote, lines, lines.full_share(own)));
    let (remote, fullest, full) = shares.max_by(|a, b| a.2.total_cmp(&b.2))?;
    let whose =
        "of the time of requests, of the slow ones where there are such, beside their own calls";
    Some(if full >= FULL_LEAST {
        Verdict::Blind {
            missing: format!(
                "who waits for a connection: all {} to {remote} are in use for {} {whose}, and what waits \
                 for one is kept in user space",
                fullest.count,
                percent(full)
            ),
            remedy:
                "let the target send spans (OTLP) to slowpath, or allow it more connections and \
                     compare (slowpath ab)"
                    .to_owned(),
        }
    } else {
        let text = format!(
            "all {} connections to {remote} are in use for {} {whose}",
            fullest.count,
            percent(full)
        );
        Verdict::Absent(text)
    })
}

/// Of a request, the times before its own calls in which its thread was blocked while others had all
/// connections to the server that it called next.
fn waits(
    looked: &Looked<'_>,
    lines: &BTreeMap<SocketAddr, Lines>,
    walked: &Walked,
    calls: &[&Asked],
) -> Vec<Waited> {
    let inside = looked.inside;
    let joined = &walked.joined;
    let mut since = joined.part(Phase::Service).0;
    let mut all = Vec::new();
    for call in calls.iter().filter(|call| call.tid == joined.reader) {
        let Some(own) = lines.get(&call.remote) else {
            continue;
        };
        let mut claims = Vec::new();
        let mut ended_by = None;
        for slice in inside.index.slices(call.tid, since, call.begin.max(since)) {
            // Locks and conditions; calls with data end by data.
            let State::Blocked(off) = slice.state else {
                continue;
            };
            let let_in = inside.stacks.facts(off.stack).waits == Some(Waits::Interpreter);
            if let_in || !matches!(inside.stacks.call_in(off), None | Some(Call::Futex)) {
                continue;
            }
            ended_by = off.woken_by();
            let full = own.full(slice.begin, slice.end).into_iter();
            claims.extend(full.map(|span| Claim::between(joined.sample, span)));
        }
        since = since.max(call.end);
        if !claims.is_empty() {
            let before = own.given_back(call);
            all.push(Waited {
                claims,
                remote: call.remote,
                // A request that returns a connection releases a waiter for one: any other wait may be over
                // just then as well.
                taken_over: before.is_some_and(|at| {
                    let read = |by| inside.index.marks(by, at, at.saturating_add(1));
                    let by_giver = ended_by
                        .is_some_and(|by| read(by).iter().any(|mark| mark.socket == call.socket));
                    by_giver && call.begin - at <= TAKEN_OVER_NS
                }),
            });
        }
    }
    all
}

/// The same, where what waits is kept in user space: the times before the call in which the runtime had
/// nothing to do for the request, while others had all connections to the server that it called next.
fn waits_in_user_space(
    lines: &BTreeMap<SocketAddr, Lines>,
    walked: &Walked,
    calls: &[&Asked],
) -> Option<Waited> {
    let call = calls.first()?;
    let own = lines.get(&call.remote)?;
    let (before, sample) = (own.given_back(call), walked.joined.sample);
    let since = before.and_then(|_| own.full_since(call.begin, HANDED_OVER_NS));
    let since = since.filter(|_| own.most >= LINES_LEAST)?;
    let idle = walked.pieces.iter().filter(|piece| {
        piece.segment == Phase::Service && piece.leaf.kind == LeafKind::RuntimeIdle
    });
    let full = idle.flat_map(|piece| own.full(piece.begin.max(since), piece.end.min(call.begin)));
    let claims: Vec<Claim> = full.map(|span| Claim::between(sample, span)).collect();
    (!claims.is_empty()).then(|| Waited {
        claims,
        remote: call.remote,
        taken_over: before.is_some_and(|at| (at..=at + TAKEN_OVER_NS).contains(&call.begin)),
    })
}

fn found(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    looked: &Looked<'_>,
    lines: &BTreeMap<SocketAddr, Lines>,
    (place, claims, waited): (Place, Vec<Claim>, &[Waited]),
) -> Verdict {
    let length = |w: &Waited| w.claims.iter().map(|c| c.span.len_ns() as f64).sum::<f64>();
    let whom = summed(waited.iter().map(|w| (w.remote, length(w))));
    let all_ns: f64 = whom.iter().map(|(_, ns)| ns).sum();
    let requests: BTreeSet<u32> = claims.iter().map(|claim| claim.sample).collect();
    let each_ns = all_ns / requests.len().max(1) as f64;
    let remote = whom.first().map(|(remote, _)| *remote);
    let own = remote.and_then(|remote| lines.get(&remote));
    let count = own.map_or(0, |own| own.count);
    let call_ns = own.map_or(0.0, Lines::median_ns);
    let to = remote.map_or_else(String::new, |remote| looked.inside.trace().address(remote));
    let over = waited.iter().filter(|w| w.taken_over).count();
    let text = format!(
        "{} of {} followed requests waited, {} on average, while others had all {count} connections \
         to {to}; {} of {} of these waits ended as one was given back, which the request took over",
        requests.len(),
        looked.join.walked.len(),
        human(each_ns),
        over,
        waited.len()
    );
    Verdict::Found(Found {
        place,
        prediction: without_waits(case, endpoint, place, looked.join, &claims),
        amount: Amount::Claims(claims),
        grade: Grade::Supported,
        summary: format!(
            "requests wait for one of {count} connections to {to}, {} each, while others have them for \
             {} at a time; allow more of them, or keep each for less",
            human(each_ns),
            human(call_ns)
        ),
        evidence: vec![evidence(Source::Trace, "trace", text)],
        culprit: Culprit::default(),
    })
}

//! Requests wait until their log takes a line: its reader is slow, and the pipe or the queue of datagrams to it is full, or the
//! terminal is slow.
//!
//! A request that waits for the lock of a logger, or for the loop, of a thread that is stuck in such a write
//! waits for the log as well.

use slowpath_attribution::StateSet;
use std::collections::BTreeMap;

use slowpath_core::signal::PROCESS_THREADS_WRITING;
use slowpath_core::trace::NO_STACK;

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Grade, Phase, Source};
use crate::predict::without_waits;
use crate::trace::looked::{Looked, Picked, claims};
use crate::trace::own_code::own_frame;
use crate::trace::room::Readers;
use crate::verdict::{Amount, Found, Verdict, evidence, percent};

/// From this share of the writes that threads were found waiting in on, it is one log that they wait for.
const ONE_LOG: f64 = 0.8;
/// Fewer findings of a thread that waits in a write name no file.
const FOUND_LEAST: f64 = 3.0;

/// Where a log goes that is sent by datagrams.
const DATAGRAMS: &str = "a Unix datagram socket (syslog)";

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Followed(examine),
    could_be: StateSet::SEND_BLOCKED
        .and(StateSet::LOCK)
        .and(StateSet::OTHER_END)
        .and(StateSet::UNTRACED)
        .and(StateSet::PARKED),
    may_be_the_work: false,
};

/// What threads were found writing to while they waited.
struct Written {
    /// How many findings there are of pipes, terminals and logs.
    findings: f64,
    /// What most of them are of, and which share.
    most: String,
    share: f64,
}

fn examine(case: &Case<'_>, endpoint: &EndpointCase, looked: &Looked<'_>) -> Verdict {
    let readers = Readers::of(looked.inside);
    let picked = looked.pick(|_, piece, hops| {
        matches!(piece.segment, Phase::Unread | Phase::Service)
            && readers.stuck(looked.inside, hops, piece.begin).is_some()
    });
    if picked.is_empty() {
        let n = looked.join.walked.len();
        let text = format!(
            "none of {n} requests waited until what it wrote to a pipe or a terminal was taken"
        );
        return Verdict::Absent(text);
    }
    let claims = claims(&picked);
    if let Some(lead) = looked.too_small(case, endpoint, &claims) {
        return lead;
    }
    let written =
        Written::by_datagrams(looked, &readers, &picked).unwrap_or_else(|| Written::of(case));
    if written.findings < FOUND_LEAST {
        let gap = case.timeline().gap(&PROCESS_THREADS_WRITING);
        return Verdict::Lead {
            place: looked.place(endpoint, &claims),
            claims,
            missing: format!(
                "what is written to: requests wait until a pipe or a terminal takes what they write, \
                 and {} threads were found in such a write",
                written.findings
            ),
            remedy: gap
                .map_or("measure longer", |gap| gap.remedy.as_str())
                .to_owned(),
        };
    }
    if written.share < ONE_LOG || !is_log(&written.most) {
        return Verdict::Absent(format!(
            "requests wait until what they write is taken, but of {} findings of a thread that waits \
             in a write {} are of one log (most: {})",
            written.findings,
            percent(if is_log(&written.most) {
                written.share
            } else {
                0.0
            }),
            written.most
        ));
    }
    found(case, endpoint, looked, &readers, &picked, &written)
}

fn found(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    looked: &Looked<'_>,
    readers: &Readers,
    picked: &[Picked<'_>],
    written: &Written,
) -> Verdict {
    let (claims, inside) = (claims(picked), looked.inside);
    let place = looked.place(endpoint, &claims);
    let stuck = |p: &Picked<'_>| readers.stuck(inside, &p.hops, p.piece.begin).unwrap_or(0);
    let direct = Looked::shares(picked, place, |p| stuck(p) == 0);
    let direct = direct
        .iter()
        .find(|(own, _)| *own)
        .map_or(0.0, |(_, share)| *share);
    let stack = looked.stack(picked, |p| {
        let (tid, at) = (p.hops[stuck(p)].tid, p.piece.begin);
        let off = inside.index.offs(tid, at, at.saturating_add(1)).first()?;
        Some(off.stack).filter(|&stack| stack != NO_STACK)
    });
    let inside_of = own_frame(&stack).map_or_else(String::new, |frame| format!(", in {frame}"));
    let mut touched: Vec<u32> = picked.iter().map(|p| p.walked.joined.sample).collect();
    touched.dedup();
    let text = format!(
        "{} of {} followed requests wait until what is written is taken: {} of that time their own \
         thread, else one that they wait for",
        touched.len(),
        looked.join.walked.len(),
        percent(direct)
    );
    let (source, pointer) = if written.most == DATAGRAMS {
        (Source::Trace, "trace")
    } else {
        (Source::Proc, PROCESS_THREADS_WRITING.id)
    };
    let what = format!(
        "of {} findings of a thread that waits in a write to a pipe, a terminal or a log, {} are of {}",
        written.findings,
        percent(written.share),
        written.most
    );
    Verdict::Found(Found {
        place,
        prediction: without_waits(case, endpoint, place, looked.join, &claims),
        amount: Amount::Claims(claims),
        grade: Grade::Supported,
        summary: format!(
            "requests wait until {} takes what they log{inside_of}: its reader is slow; write to a file, \
             log less, or give the log a queue that drops and never blocks",
            written.most
        ),
        evidence: vec![
            evidence(Source::Trace, "trace", text),
            evidence(source, pointer, what),
        ],
        culprit: Culprit {
            thread: picked
                .first()
                .map(|p| inside.thread_name(p.hops[stuck(p)].tid)),
            stack,
            ..Culprit::default()
        },
    })
}

impl Written {
    /// Where threads wait for the reader of a datagram socket, as the kernel's functions say: what servers send so is their log.
    fn by_datagrams(looked: &Looked<'_>, readers: &Readers, picked: &[Picked<'_>]) -> Option<Self> {
        let inside = looked.inside;
        let is_one = |p: &&Picked<'_>| {
            let stuck = readers.stuck(inside, &p.hops, p.piece.begin);
            stuck.is_some_and(|place| inside.waits_for_datagrams(p.hops[place].tid, p.piece.begin))
        };
        let n = picked.iter().filter(is_one).count();
        let share = n as f64 / picked.len().max(1) as f64;
        (share >= ONE_LOG).then(|| Self {
            findings: n as f64,
            most: DATAGRAMS.to_owned(),
            share,
        })
    }

    fn of(case: &Case<'_>) -> Self {
        let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
        for series in case.timeline().all(&PROCESS_THREADS_WRITING) {
            let label = series.label.as_str();
            // Connections are no logs, and files on a disk are waited for in another way.
            if !["socket", "file"].contains(&label) {
                *sums.entry(label).or_default() += case.measured_sum(series);
            }
        }
        let findings: f64 = sums.values().sum();
        let most = sums.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let (most, count) = most.unwrap_or_default();
        Self {
            findings,
            most: most.to_owned(),
            share: count / findings.max(1.0),
        }
    }
}

/// Whether that is where a program writes its log rather than a response.
fn is_log(label: &str) -> bool {
    ["stdout", "stderr", "terminal", DATAGRAMS].contains(&label) || label.starts_with("log ")
}

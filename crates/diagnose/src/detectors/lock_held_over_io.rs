//! Requests wait for a lock, and the thread that holds it waits itself: it sleeps, or waits for a
//! disk, another host or another process.
//!
//! A chain of wake-ups alone does not distinguish a lock from work that was handed to another thread.
//! Evidence that distinguishes them is required: a stack, the owner that is written in the lock, waiters that
//! hand it on, or several that wait at one address.

use slowpath_attribution::StateSet;
use slowpath_core::stats::period::period;

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Evidence, Grade, Source};
use crate::predict::without_waits;
use crate::profiles;
use crate::telemetry;
use crate::trace::holders::{Holders, Kind, held_of};
use crate::trace::inside::Inside;
use crate::trace::looked::{Looked, Picked, claims};
use crate::trace::own_code::own_frame;
use crate::trace::owners;
use crate::trace::pieces::How;
use crate::verdict::{Amount, Found, Verdict, evidence, human, ms};

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Traced(examine),
    // A lock that is polled is waited for asleep.
    could_be: StateSet::LOCK
        .and(StateSet::QUEUED)
        .and(StateSet::SLEEP)
        .and(StateSet::UNKNOWN),
    may_be_the_work: false,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    if let Some(told) = profiles::locks(case, endpoint, Kind::Waits) {
        return told;
    }
    let looked = match Looked::at(case, endpoint) {
        Ok(looked) => looked,
        Err(blind) => return owners::held_over_io(case, endpoint).unwrap_or(*blind),
    };
    match Holders::of(case, endpoint, &looked, Kind::Waits) {
        Ok(holders) => found(case, endpoint, &looked, &holders),
        Err(verdict) => *verdict,
    }
}

fn found(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    looked: &Looked<'_>,
    holders: &Holders<'_>,
) -> Verdict {
    let claims = claims(&holders.picked);
    let place = holders.place;
    let holder = holders.main(looked);
    let inside = looked.inside;
    let what = Looked::shares(&holder.picked, place, |p| does_with_the_lock(inside, p));
    let does = what.first().map_or("waits", |(what, _)| what.as_str());
    let stack = holder.stack(looked);
    let ends = holder.ends(looked);
    let every = period(&ends);
    let inside_of = own_frame(&stack).map_or_else(String::new, |frame| format!(" in {frame}"));
    let exports = exports(&holder.name, &stack);
    let again = every.map_or_else(String::new, |p| format!(", every {}", human(p.period_ns)));
    let mut proofs = holders.evidence(looked, &holder);
    if let Some(every) = every {
        proofs.push(every_so_often(&every));
    }
    Verdict::Found(Found {
        place,
        prediction: without_waits(case, endpoint, place, looked.join, &claims),
        amount: Amount::Claims(claims),
        grade: Grade::Supported,
        summary: format!(
            "requests wait for a lock that {} has while it {does}{inside_of}{again}{exports}; let go \
             of the lock before waiting",
            holder.called()
        ),
        evidence: proofs,
        culprit: Culprit {
            thread: Some(holder.name),
            stack,
            constant_ms: None,
            period_ms: every.map(|p| ms(p.period_ns)),
        },
    })
}

/// What the thread that has the lock waits for, whatever the one that it waits for does.
fn does_with_the_lock(inside: &Inside<'_>, p: &Picked<'_>) -> String {
    let held = held_of(p);
    let holder = p.hops[held.holder].tid;
    let Some(next) = p.hops.get(held.holder + 1) else {
        return inside.doing(&p.piece.leaf, p.piece.begin);
    };
    if let (How::Sent, Some(remote)) = (next.how, inside.remote_of(holder, p.piece.begin)) {
        return remote;
    }
    let process = |tid| inside.trace().thread(tid).map(|thread| thread.pid);
    if process(next.tid) == process(holder) {
        let thread = format!("waits for thread {}", inside.thread_name(next.tid));
        let asked = matches!(next.how, How::Asked | How::Woke | How::Condition);
        match inside
            .remote_behind(holder, p.piece.begin)
            .filter(|_| asked)
        {
            Some(remote) => format!("{thread}, which {remote}"),
            None => thread,
        }
    } else {
        format!("waits for process {}", inside.process_name(next.tid))
    }
}

fn every_so_often(every: &slowpath_core::stats::period::Period) -> Evidence {
    let text = format!(
        "its waits end every {} (R {:.2}, {} waits)",
        human(every.period_ns),
        every.r,
        every.n
    );
    evidence(Source::Trace, "trace", text)
}

/// Says so when the thread is called after others of the program were named: what it does is not the
/// program's work then.
fn exports(thread: &str, stack: &[String]) -> &'static str {
    if telemetry::exports(thread, stack) {
        " (by its name it exports telemetry)"
    } else {
        ""
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exporters_are_known_by_their_names() {
        assert!(!exports("otel-export", &[]).is_empty());
        assert!(
            !exports(
                "worker",
                &["opentelemetry_sdk::trace::export (a.rs:1)".to_owned()]
            )
            .is_empty()
        );
        for (thread, frame) in [
            ("flusher", "flush (server)"),
            ("hotel-server", "book (hotel.c:7)"),
            ("csv-export", "write_all (otel-shop)"),
        ] {
            assert!(exports(thread, &[frame.to_owned()]).is_empty(), "{thread}");
        }
    }
}

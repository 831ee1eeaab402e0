//! A thread of the target that serves no requests is kept from going on.

use slowpath_core::catalogue::{LOCK_CONTENTION, LOCK_HELD_OVER_IO};
use slowpath_core::nanos::{MILLISECOND, SECOND};
use slowpath_diagnose::Serving;
use slowpath_experiment::Intervention;
use slowpath_observe::interventions::ThreadPause;

use super::moved::Moved;
use super::{Ground, Kind, Limits, Written};
use crate::exit::Problem;

/// A moment has to be found at which the thread has no lock, and the requests that it has kept waiting are
/// served first …
const GUARD_LEAST_MS: f64 = 600.0;
/// … who may be kept waiting for as long as requests are slow, before it is paused and by what it has to
/// catch up on.
const GUARD_WAITS: f64 = 4.0;
/// What is left of the longest pause is to be worth measuring.
const GUARD_MOST_MS: f64 = 1_200.0;
/// Blocks are longer than the shortest.
const BLOCK_NS: u64 = 2 * SECOND;

pub(super) static KIND: Kind = Kind {
    causes: &[LOCK_HELD_OVER_IO, LOCK_CONTENTION],
    shared: Some(
        "a request that waits for a thread, for whatever reason, goes on while it is paused",
    ),
    write,
};

fn write(ground: &Ground<'_>) -> Result<Written, Problem> {
    let finding = ground.finding;
    let thread = finding.and_then(|f| f.culprit.thread.clone());
    let thread = thread.ok_or_else(|| {
        let what = "the run does not say which thread has the lock";
        Problem::usage(what, "run slowpath as root, so that threads are traced")
    })?;
    let serving = Serving::of(ground.case);
    if let Some(serving) = &serving {
        refused(serving, &thread)?;
    }
    let done =
        format!("thread {thread} is paused while it has no lock, it keeps no request waiting");
    let moved = Moved::of(ground)?;
    let hypothesis = moved.hypothesis(
        ground,
        &done,
        Intervention::PauseThread {
            thread: thread.clone(),
        },
    );
    let limit = if ground.cause == LOCK_CONTENTION {
        Some("other threads may work with the lock as well".to_owned())
    } else {
        serving.is_none().then(|| {
            format!("whether {thread} serves requests was not recorded, and they would wait for it")
        })
    };
    let guard_ms = (GUARD_WAITS * hypothesis.baseline_ms).clamp(GUARD_LEAST_MS, GUARD_MOST_MS);
    let guard_ns = (guard_ms * MILLISECOND as f64) as u64;
    let period_ms = finding.and_then(|f| f.culprit.period_ms).unwrap_or(0.0);
    Ok(Written {
        period_ns: (period_ms * MILLISECOND as f64) as u64,
        guard_ns,
        block_ns: BLOCK_NS,
        piece_ns: Some((ThreadPause::longest().as_nanos() as u64).saturating_sub(guard_ns)),
        limits: Limits {
            limited_by: limit,
            ..Limits::default()
        },
        ..Written::new(hypothesis)
    })
}

/// Why pausing the thread would show nothing, or do harm.
fn refused(serving: &Serving, thread: &str) -> Result<(), Problem> {
    if serving.has(thread) {
        let what = format!("{thread} serves requests, which would wait for it if it were paused");
        return Err(Problem::usage(
            what,
            "a toggle of your own that takes the cause away",
        ));
    }
    let called = serving.called(thread);
    if called == 0 {
        let what = format!("{thread} is no thread that the kernel knows under that name");
        return Err(Problem::usage(
            what,
            "a toggle of your own that takes the cause away",
        ));
    }
    if called > 1 {
        let what = format!(
            "{called} threads of the target are called {thread}, and which of them has the lock \
             cannot be identified in another run"
        );
        return Err(Problem::usage(
            what,
            "give the program's threads names of their own (pthread_setname_np)",
        ));
    }
    Ok(())
}

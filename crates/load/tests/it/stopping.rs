//! A load that is stopped keeps what it has.

use std::io::{Read, Write};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use slowpath_core::nanos::SECOND;
use slowpath_core::sample::Outcome;
use slowpath_core::scenario::{Arrivals, LoadDraft};
use slowpath_load::Control;

use crate::server::{After, OK, Server, seq};
use crate::{run_with, scenario};

fn long() -> LoadDraft {
    LoadDraft {
        rate_per_s: Some(200.0),
        arrivals: Some(Arrivals::Uniform),
        connections: Some(4),
        duration_ns: Some(60 * SECOND),
        warmup_ns: Some(100_000_000),
        timeout_ns: Some(60 * SECOND),
        ..LoadDraft::default()
    }
}

#[test]
fn a_stop_leaves_what_is_under_way_unfinished() {
    // Request 40 is never answered.
    let server = Server::start(|head, stream| {
        if seq(head) == 40 {
            let _ = stream.read(&mut [0]);
            return After::Close;
        }
        let _ = stream.write_all(OK.as_bytes());
        After::Keep
    });
    let control = Control::default();
    let run = std::thread::scope(|scope| {
        scope.spawn(|| {
            while control.progress.done.load(Relaxed) < 50 {
                std::thread::sleep(Duration::from_millis(5));
            }
            assert!(control.progress.in_window.load(Relaxed));
            assert_eq!(control.loop_tids().len(), 1);
            control.stop.store(true, Relaxed);
        });
        run_with(scenario(&long()), server.address, &control)
    });
    assert_eq!(run.drove.cut_short, "interrupted");
    assert!(run.drove.window.len_ns() < 60 * SECOND);
    let unfinished: Vec<_> = run
        .samples
        .iter()
        .filter(|sample| sample.outcome != Outcome::Ok)
        .collect();
    assert_eq!(unfinished.len(), 1);
    assert_eq!(
        (unfinished[0].serial, unfinished[0].outcome),
        (40, Outcome::Unfinished)
    );
    assert_eq!(unfinished[0].done, run.drove.load.end);
    // Offered is what was due until the stop, not what the plan had in mind.
    let tally = run.drove.endpoints[0];
    let due = run.drove.window.len_ns() * 200 / SECOND;
    assert!(
        tally.offered.abs_diff(due) <= 1,
        "{tally:?}, {due} were due"
    );
    assert_eq!(control.progress.offered.load(Relaxed), tally.offered);
    assert_eq!(control.progress.errors.load(Relaxed), 0);
}

#[test]
fn a_stop_before_the_window_leaves_an_empty_one() {
    let server = Server::start(|_, stream| {
        let _ = stream.write_all(OK.as_bytes());
        After::Keep
    });
    let control = Control::default();
    control.stop.store(true, Relaxed);
    let run = run_with(scenario(&long()), server.address, &control);
    assert_eq!(run.drove.window.len_ns(), 0);
    assert_eq!(run.drove.endpoints[0].offered, 0);
    assert_eq!(run.measured().count(), 0);
}

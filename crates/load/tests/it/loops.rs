//! Several loops are one load.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use slowpath_core::nanos::SECOND;
use slowpath_core::sample::{NONE, Outcome, Sample};
use slowpath_core::scenario::{
    Arrivals, Endpoint, Escape, LoadDraft, Part, Pool, PoolOpen, Template,
};
use slowpath_load::Control;

use crate::planned::{assert_sent, dealt, offsets};
use crate::server::{After, OK, Server};
use crate::{Run, run, run_with, scenario};

fn keeping() -> Server {
    Server::start(|_, stream| {
        let _ = stream.write_all(OK.as_bytes());
        After::Keep
    })
}

fn open(arrivals: Arrivals, loops: u32) -> LoadDraft {
    LoadDraft {
        rate_per_s: Some(400.0),
        arrivals: Some(arrivals),
        connections: Some(8),
        open: Some(PoolOpen::AtStart),
        duration_ns: Some(500_000_000),
        warmup_ns: Some(100_000_000),
        loops: Some(loops),
        ..LoadDraft::default()
    }
}

fn serials(run: &Run) -> BTreeSet<u32> {
    run.samples.iter().map(|sample| sample.serial).collect()
}

#[test]
fn together_they_send_the_schedule_of_one() {
    let server = keeping();
    for arrivals in [Arrivals::Uniform, Arrivals::Poisson] {
        let (warmup, window) = offsets(&scenario(&open(arrivals, 1)));
        for loops in [1, 3] {
            let run = run(scenario(&open(arrivals, loops)), server.address);
            assert_eq!(run.drove.endpoints[0].offered, window.len() as u64);
            assert_eq!(serials(&run).len(), run.samples.len());
            assert_eq!(run.drove.connections_opened, 8);
            let (loops, before) = (loops as usize, warmup.len());
            for index in 0..loops {
                let of_loop = |number: u32| number as usize % loops == index;
                let sent = run.samples.iter().filter(|s| of_loop(s.serial));
                let sent: Vec<&Sample> = sent.collect();
                // The window goes on dealing where the warm-up ended.
                let first = (loops + index - before % loops) % loops;
                let warmup = dealt(&warmup, index, loops);
                assert_sent(&run, &sent, (&warmup, &dealt(&window, first, loops)));
                assert!(
                    sent.iter()
                        .all(|s| s.connection < 8 && of_loop(s.connection))
                );
            }
        }
    }
}

#[test]
fn users_are_divided_and_keep_their_connections() {
    let server = keeping();
    let load = LoadDraft {
        users: Some(5),
        duration_ns: Some(300_000_000),
        warmup_ns: Some(100_000_000),
        loops: Some(2),
        ..LoadDraft::default()
    };
    let run = run(scenario(&load), server.address);
    assert_eq!(*server.accepted.lock().unwrap(), 5);
    assert_eq!(serials(&run).len(), run.samples.len());
    let pairs: BTreeSet<_> = run.samples.iter().map(|s| (s.user, s.connection)).collect();
    let users: BTreeSet<_> = pairs.iter().map(|pair| pair.0).collect();
    let connections: BTreeSet<_> = pairs.iter().map(|pair| pair.1).collect();
    assert_eq!(users, (0..5).collect());
    assert_eq!((pairs.len(), connections.len()), (5, 5));
    assert!(run.samples.iter().all(|s| s.outcome == Outcome::Ok));
    // What is under way is counted over all loops.
    assert!(run.samples.iter().all(|sample| sample.in_flight < 5));
    let most = run.samples.iter().map(|sample| sample.in_flight).max();
    assert!(
        most >= Some(3),
        "one loop has three users at most: {most:?}"
    );
}

#[test]
fn a_key_is_one_key_in_all_of_them() {
    let server = keeping();
    let mut scenario = scenario(&open(Arrivals::Uniform, 4));
    let values = ["a", "b", "c"].map(String::from).to_vec();
    let name = "topics";
    scenario.pools.push(Pool::plain(name, values));
    let of_pool = |before: &str, escape| Template {
        parts: vec![Part::Literal(before.into()), Part::Pool(0)],
        escape,
    };
    let mut drawn = Endpoint::get("drawn".into(), of_pool("/", Escape::Url));
    drawn.key = Some(of_pool("", Escape::None));
    scenario.endpoints = vec![drawn];
    let run = run(scenario, server.address);
    let names: BTreeSet<&String> = run.keys.iter().collect();
    assert_eq!((names.len(), run.keys.len()), (3, 3));
    assert!(run.samples.iter().all(|s| s.key != NONE && s.key < 3));
}

#[test]
fn no_more_loops_run_than_have_a_connection() {
    let server = keeping();
    let load = LoadDraft {
        users: Some(2),
        duration_ns: Some(200_000_000),
        warmup_ns: Some(50_000_000),
        loops: Some(64),
        ..LoadDraft::default()
    };
    let control = Control::default();
    let run = std::thread::scope(|scope| {
        scope.spawn(|| {
            while control.progress.done.load(Relaxed) == 0 {
                std::thread::sleep(Duration::from_millis(1));
            }
            assert_eq!(control.loop_tids().len(), 2);
        });
        run_with(scenario(&load), server.address, &control)
    });
    assert_eq!(run.drove.connections_opened, 2);
}

#[test]
fn a_stop_closes_all_of_them_at_one_instant() {
    let server = keeping();
    let load = LoadDraft {
        duration_ns: Some(60 * SECOND),
        ..open(Arrivals::Uniform, 3)
    };
    let control = Control::default();
    let run = std::thread::scope(|scope| {
        scope.spawn(|| {
            while control.progress.done.load(Relaxed) < 50 {
                std::thread::sleep(Duration::from_millis(5));
            }
            control.stop.store(true, Relaxed);
        });
        run_with(scenario(&load), server.address, &control)
    });
    assert_eq!(run.drove.cut_short, "interrupted");
    let tally = run.drove.endpoints[0];
    let due = run.drove.window.len_ns() * 400 / SECOND;
    assert!(
        tally.offered.abs_diff(due) <= 1,
        "{tally:?}, {due} were due"
    );
    assert_eq!(control.progress.offered.load(Relaxed), tally.offered);
}

#[test]
fn more_than_they_can_send_is_counted() {
    let server = Server::start(|_, stream| {
        std::thread::sleep(Duration::from_millis(2));
        let _ = stream.write_all(OK.as_bytes());
        After::Keep
    });
    let load = LoadDraft {
        rate_per_s: Some(100_000.0),
        connections: Some(3),
        ..open(Arrivals::Uniform, 2)
    };
    let run = run(scenario(&load), server.address);
    let tally = run.drove.endpoints[0];
    assert_eq!(tally.offered, 50_000);
    assert!(tally.unsent > 40_000, "{tally:?}");
}

//! Servers whose latencies are known: what the client says against the server's own log.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use slowpath_core::nanos::{MILLISECOND, SECOND};
use slowpath_core::scenario::{Arrivals, LoadDraft};
use slowpath_core::stats::quantile::type_1;

use crate::server::{After, OK, Server, seq};
use crate::{Run, run, scenario};

/// What it may take at the median to wake the server's thread for a request, and the client for its
/// response, before a machine that does other work beside is no place for this test. The server's
/// log begins only when its thread has been woken, and ends before its write.
const WAKE_UPS_NS: u64 = 5 * MILLISECOND;
/// How closely the medians must agree beside that.
const TOLERANCE: f64 = 0.01;

/// When the server got request `serial`, and when it was about to answer, on the client's clock.
type Log = Arc<Mutex<BTreeMap<u32, (u64, u64)>>>;

fn now_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    time.tv_sec as u64 * SECOND + time.tv_nsec as u64
}

/// A server that takes so long over request `serial`.
fn taking(delay_ns: fn(u32) -> u64) -> (Server, Log) {
    let log: Log = Arc::default();
    let own = Arc::clone(&log);
    let server = Server::start(move |head, stream| {
        let (serial, got) = (seq(head), now_ns());
        let left = (got + delay_ns(serial)).saturating_sub(now_ns());
        std::thread::sleep(Duration::from_nanos(left));
        own.lock().unwrap().insert(serial, (got, now_ns()));
        let _ = stream.write_all(OK.as_bytes());
        After::Keep
    });
    (server, log)
}

/// A thousand requests hold exactly 98 % of 1 ms, 1.5 % of 20 ms and 0.5 % of 200 ms, scattered.
fn tailed(serial: u32) -> u64 {
    match serial * 617 % 1000 {
        0..980 => MILLISECOND,
        980..995 => 20 * MILLISECOND,
        _ => 200 * MILLISECOND,
    }
}

/// Of a hundred requests, 24 take 70 ms and the others 20 ms.
fn two_modes(serial: u32) -> u64 {
    if serial * 61 % 100 < 76 {
        20 * MILLISECOND
    } else {
        70 * MILLISECOND
    }
}

fn load() -> LoadDraft {
    LoadDraft {
        rate_per_s: Some(500.0),
        arrivals: Some(Arrivals::Uniform),
        connections: Some(64),
        duration_ns: Some(4 * SECOND),
        warmup_ns: Some(500_000_000),
        ..LoadDraft::default()
    }
}

/// Every request was sent before the server got it and ended after the server answered. Among the
/// requests over which the server took equally long the medians agree: a machine that is held up
/// now and then moves the highest percentiles of the client and of the server's log apart, these
/// it does not.
fn assert_agree(run: &Run, log: &Log, delay_ns: fn(u32) -> u64) {
    let log = log.lock().unwrap();
    let mut classes: BTreeMap<u64, (Vec<u64>, Vec<u64>)> = BTreeMap::new();
    for sample in run.measured() {
        let (got, answered) = log[&sample.serial];
        let sent = sample.sent.unwrap().get();
        assert!(sent <= got && answered <= sample.done.get(), "{sample:?}");
        assert!(sample.scheduled.get() <= sent);
        let (seen, truth) = classes.entry(delay_ns(sample.serial)).or_default();
        seen.push(sample.service_ns().unwrap());
        truth.push(answered - got);
    }
    for (nominal, (mut seen, mut truth)) in classes {
        seen.sort_unstable();
        truth.sort_unstable();
        let (seen, truth) = (type_1(&seen, 0.5).unwrap(), type_1(&truth, 0.5).unwrap());
        let most = (truth as f64 * (1.0 + TOLERANCE)) as u64 + WAKE_UPS_NS;
        assert!(
            nominal <= truth && truth <= seen && seen <= most,
            "{nominal} ns: seen as {seen}, the server says {truth}"
        );
    }
}

#[test]
fn a_rare_tail_is_seen_as_the_server_made_it() {
    let (server, log) = taking(tailed);
    let run = run(scenario(&load()), server.address);
    assert_agree(&run, &log, tailed);
    let slower = |than_ns: u64| {
        let slow = run.measured().filter(|s| s.service_ns() >= Some(than_ns));
        slow.count()
    };
    // Two thousand requests hold the mixture twice, whatever the machine does in between.
    assert!(slower(200 * MILLISECOND) >= 10);
    assert!(slower(20 * MILLISECOND) >= 40);
    assert_eq!(slower(MILLISECOND), run.measured().count());
}

#[test]
fn two_modes_are_seen_as_the_server_made_them() {
    let (server, log) = taking(two_modes);
    let run = run(scenario(&load()), server.address);
    assert_agree(&run, &log, two_modes);
    let slow = run
        .measured()
        .filter(|s| s.service_ns() >= Some(70 * MILLISECOND));
    let share = slow.count() as f64 / run.measured().count() as f64;
    // More only if the machine held a fast one up for 50 ms.
    assert!((0.24..0.30).contains(&share), "{share}");
}

/// The server stands still for a quarter of the time. Of evenly spaced requests a quarter then
/// waits for the end of the standstill, uniformly long, whatever was in flight.
#[test]
fn a_standstill_is_in_the_latency_of_all_that_were_due_in_it() {
    /// Two of them make the window.
    const PERIOD: u64 = 2 * SECOND;
    const STILL: u64 = PERIOD / 4;
    /// What the client may see more than the server's log, and the log less than arithmetic, since
    /// connections make up for time that was lost. A client that counts from the write, and not from when
    /// a request was due, is 300 ms off.
    const DRAINED_NS: u64 = 60 * MILLISECOND;
    let began = OnceLock::new();
    let log: Log = Arc::default();
    let own = Arc::clone(&log);
    let server = Server::start(move |head, stream| {
        let (serial, got) = (seq(head), now_ns());
        // Counted from the first request, so that no standstill lies across the window's end, when
        // what waits is never sent.
        let began = *began.get_or_init(now_ns);
        let phase = (now_ns() - began) % PERIOD;
        if (STILL..2 * STILL).contains(&phase) {
            std::thread::sleep(Duration::from_nanos(2 * STILL - phase));
        }
        own.lock().unwrap().insert(serial, (got, now_ns()));
        let _ = stream.write_all(OK.as_bytes());
        After::Keep
    });
    // Far fewer connections than the requests that become due in a standstill.
    let load = LoadDraft {
        connections: Some(8),
        ..load()
    };
    let run = run(scenario(&load), server.address);
    let log = log.lock().unwrap();
    let pairs = run.measured().map(|sample| {
        let (_, answered) = log[&sample.serial];
        let waited = answered - sample.scheduled.get();
        assert!(waited <= sample.latency_ns(), "{sample:?}");
        (sample.latency_ns(), waited)
    });
    let (mut latencies, mut waited): (Vec<u64>, Vec<u64>) = pairs.unzip();
    latencies.sort_unstable();
    waited.sort_unstable();
    for share in [0.8, 0.9, 0.98] {
        let by_arithmetic = ((share - 0.75) * PERIOD as f64) as u64;
        let seen = type_1(&latencies, share).unwrap();
        // A machine that is held up makes requests wait for longer than the standstills do, and
        // the server's log knows of it.
        let logged = type_1(&waited, share).unwrap();
        assert!(
            by_arithmetic <= seen + DRAINED_NS && seen <= logged + DRAINED_NS,
            "p{}: {seen} ns, by arithmetic {by_arithmetic}, by the log {logged}",
            share * 100.0
        );
    }
}

//! What the probes see of this very process on the kernel that runs the tests.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::{
    AddressFamily, SocketFlags, SocketType, bind, connect, getsockname, listen, socket_with,
};
use slowpath_core::signal::*;
use slowpath_core::timeline::Subject;
use slowpath_observe::Watch;
use slowpath_observe::observer::Observer;

use super::{Seen, gap, watch};

/// How long a condition may take to come true on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(20);
/// The kernel delays an acknowledgement by at least 40 ms (`TCP_DELACK_MIN`).
const DELAYED: Duration = Duration::from_millis(30);

fn observe_self(port: u16) -> (Seen, Observer) {
    let seen = Seen::default();
    let watch = Watch {
        loop_tids: Arc::new(Vec::new),
        ..watch(Path::new("/"), &[std::process::id()], port)
    };
    let observer = Observer::start(watch, seen.sink());
    (seen, observer)
}

/// Waits until `condition` holds; says whether it came to hold.
fn wait_for(condition: impl Fn() -> bool) -> bool {
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        if condition() {
            return true;
        }
        thread::sleep(Duration::from_millis(10));
    }
    false
}

/// A listening socket with room for two waiting connections.
fn short_listener() -> (rustix::fd::OwnedFd, SocketAddrV4) {
    let kind = SocketType::STREAM;
    let socket = socket_with(AddressFamily::INET, kind, SocketFlags::CLOEXEC, None).unwrap();
    bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).unwrap();
    listen(&socket, 1).unwrap();
    let address = SocketAddrV4::try_from(getsockname(&socket).unwrap()).unwrap();
    (socket, address)
}

#[test]
fn an_overflowing_accept_queue_is_seen_at_its_own_socket() {
    let (_listener, address) = short_listener();
    let (seen, observer) = observe_self(address.port());
    let mut clients = Vec::new();
    for _ in 0..6 {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None).unwrap();
        // A connection that cannot complete is in progress: that is what overflows the queue.
        let _ = connect(&socket, &address);
        clients.push(socket);
    }
    let over = |signal: &Signal, value: f64| {
        seen.values(signal, &Subject::Target, "")
            .last()
            .is_some_and(|last| *last > value)
    };
    let overflowed = wait_for(|| over(&LISTENER_DROPS, 0.0) && over(&LISTENER_QUEUE, 1.0));
    let gaps = observer.stop();
    if gap(&gaps, &LISTENER_QUEUE).is_some_and(|gap| gap.reason.contains("list sockets")) {
        println!("skipped: {:?}", gap(&gaps, &LISTENER_QUEUE));
        return;
    }
    assert!(
        overflowed,
        "{:?}",
        seen.values(&LISTENER_DROPS, &Subject::Target, "")
    );
    assert_eq!(
        seen.values(&LISTENER_DROPS, &Subject::Target, "").first(),
        Some(&0.0)
    );
    assert_eq!(
        seen.values(&LISTENER_BACKLOG, &Subject::Target, "").last(),
        Some(&1.0)
    );
    assert_eq!(
        seen.values(&SERVER_SOCKETS, &Subject::Target, "").last(),
        Some(&2.0)
    );
    assert!(seen.values(&UPSTREAM_SOCKETS, &Subject::Target, "").last() >= Some(&2.0));
}

/// Answers each byte with two small writes.
fn serve_in_two_pieces(mut connection: TcpStream) {
    let mut request = [0; 1];
    while connection.read_exact(&mut request).is_ok() {
        let sent = connection
            .write_all(b"head")
            .and_then(|()| connection.write_all(b"body"));
        if sent.is_err() {
            return;
        }
    }
}

/// Asks `rounds` times; gives the rounds that had to wait for a delayed acknowledgement.
fn ask(client: &mut TcpStream, rounds: usize) -> usize {
    let mut delayed = 0;
    for _ in 0..rounds {
        let begin = Instant::now();
        client.write_all(b"?").unwrap();
        client.read_exact(&mut [0; 8]).unwrap();
        delayed += usize::from(begin.elapsed() > DELAYED);
    }
    delayed
}

/// The share of the readings in which a socket was held back, and the delayed rounds.
fn held_back(no_delay: bool) -> Option<(f64, usize)> {
    let listener = TcpListener::bind("[::1]:0").or_else(|_| TcpListener::bind("127.0.0.1:0"));
    let listener = listener.unwrap();
    let address = listener.local_addr().unwrap();
    let mut client = TcpStream::connect(address).unwrap();
    client.set_nodelay(true).unwrap();
    let (connection, _) = listener.accept().unwrap();
    connection.set_nodelay(no_delay).unwrap();
    let server = thread::spawn(move || serve_in_two_pieces(connection));
    let (seen, observer) = observe_self(address.port());
    let delayed = ask(&mut client, 30);
    let gaps = observer.stop();
    drop(client);
    server.join().unwrap();
    if let Some(gap) = gap(&gaps, &SERVER_SOCKETS_HELD_BACK) {
        println!("skipped: {gap:?}");
        return None;
    }
    let values = seen.values(&SERVER_SOCKETS_HELD_BACK, &Subject::Target, "");
    Some((values.iter().sum::<f64>() / values.len() as f64, delayed))
}

#[test]
fn data_held_back_by_nagle_is_seen() {
    let (Some((nagle, delayed)), Some((control, _))) = (held_back(false), held_back(true)) else {
        return;
    };
    if delayed < 10 {
        println!("skipped: this kernel delayed {delayed} of 30 acknowledgements");
        return;
    }
    assert!(
        nagle > 0.3,
        "held back in {nagle} of the readings, {delayed} rounds delayed"
    );
    assert!(
        control < nagle / 4.0,
        "{control} without Nagle, {nagle} with"
    );
}

#[test]
fn unread_data_is_seen() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut client = TcpStream::connect(address).unwrap();
    client.write_all(b"unread").unwrap();
    let (seen, observer) = observe_self(address.port());
    let gaps = observer.stop();
    if let Some(gap) = gap(&gaps, &SERVER_SOCKETS_UNREAD) {
        println!("skipped: {gap:?}");
        return;
    }
    let unread = seen.values(&SERVER_SOCKETS_UNREAD, &Subject::Target, "");
    assert_eq!(unread.first(), Some(&1.0));
}

#[test]
fn sleeping_threads_are_named_by_what_they_wait_in() {
    let (tell, told) = mpsc::channel();
    let sleeper = thread::spawn(move || {
        tell.send(rustix::thread::gettid().as_raw_nonzero())
            .unwrap();
        thread::sleep(Duration::from_secs(2));
    });
    let tid = told.recv().unwrap();
    let sleeps = || {
        let stat = std::fs::read_to_string(format!("/proc/self/task/{tid}/stat"));
        stat.is_ok_and(|stat| stat.contains(") S "))
    };
    assert!(wait_for(sleeps));
    let (seen, observer) = observe_self(1);
    let gaps = observer.stop();
    sleeper.join().unwrap();
    let pid = std::process::id();
    let run = |r: &slowpath_core::timeline::Reading| {
        matches!(r.subject, Subject::Thread { pid: of, .. } if of == pid) && r.point.value > 0.0
    };
    if let Some(gap) = gap(&gaps, &THREAD_RUN) {
        println!("skipped: {gap:?}");
    } else {
        assert!(seen.any(&THREAD_RUN, run));
    }
    if let Some(gap) = gap(&gaps, &PROCESS_THREADS_CALL) {
        println!("skipped: {gap:?}");
    } else {
        let sleeping = seen.values(
            &PROCESS_THREADS_CALL,
            &Subject::Process { pid },
            "clock_nanosleep",
        );
        assert!(
            sleeping.first().is_some_and(|count| *count >= 1.0),
            "{sleeping:?}"
        );
    }
}

#[test]
fn every_reading_has_its_window_and_every_probe_its_cost() {
    let (seen, observer) = observe_self(1);
    assert!(wait_for(|| {
        seen.values(&CLOCK_REALTIME_OFFSET, &Subject::Host, "")
            .len()
            >= 3
    }));
    observer.stop();
    let readings = seen.0.lock().unwrap();
    assert!(
        readings
            .iter()
            .all(|r| r.point.window.begin <= r.point.window.end)
    );
    assert!(readings.iter().all(|r| r.point.value.is_finite()));
    for probe in [
        "scene", "clocks", "tool", "machine", "cgroup", "listener", "process", "threads",
    ] {
        assert!(
            readings
                .iter()
                .any(|r| r.signal.id == PROBE_COST.id && r.label == probe),
            "{probe}"
        );
    }
}

#[test]
fn without_a_target_its_signals_are_missing_and_the_host_is_seen() {
    let seen = Seen::default();
    let watch = Watch {
        target: None,
        ..watch(Path::new("/"), &[], 1)
    };
    let gaps = Observer::start(watch, seen.sink()).stop();
    for signal in [
        &PROCESS_RSS,
        &THREAD_RUN,
        &LISTENER_DROPS,
        &CGROUP_QUOTA,
        &NET_COUNTER,
    ] {
        let gap = gap(&gaps, signal).unwrap_or_else(|| panic!("no gap for {}", signal.id));
        assert!(!gap.remedy.is_empty());
    }
    assert_eq!(gap(&gaps, &HOST_CPU_BUSY), None);
    assert!(seen.any(&HOST_CPU_BUSY, |r| r.point.value > 0.0));
    assert!(seen.any(&TOOL_CPU_USER, |_| true));
}

#[test]
fn a_target_that_is_not_there_is_a_gap() {
    let seen = Seen::default();
    // Process ids end below this number on Linux.
    let gaps = Observer::start(watch(Path::new("/"), &[1 << 30], 1), seen.sink()).stop();
    assert!(gap(&gaps, &PROCESS_RSS).is_some_and(|gap| gap.reason.contains("not in /proc")));
    assert!(seen.any(&HOST_CPUS, |_| true));
}

#[test]
fn a_target_that_ends_leaves_what_was_read_and_no_gap() {
    let mut child = Command::new("sleep").arg("60").spawn().unwrap();
    let seen = Seen::default();
    let observer = Observer::start(watch(Path::new("/"), &[child.id()], 1), seen.sink());
    child.kill().unwrap();
    child.wait().unwrap();
    let gaps = observer.stop();
    let subject = Subject::Process { pid: child.id() };
    assert!(!seen.values(&PROCESS_RSS, &subject, "").is_empty());
    let hidden: Vec<_> = gaps
        .iter()
        .filter(|gap| gap.reason.contains("not in /proc"))
        .collect();
    assert!(hidden.is_empty(), "{hidden:?}");
}

#[test]
fn a_sink_that_panics_ends_in_gaps_and_not_in_a_panic() {
    let watch = Watch {
        target: None,
        ..watch(Path::new("/"), &[], 1)
    };
    let observer = Observer::start(watch, Box::new(|_| panic!("the disk is gone")));
    let gaps = observer.stop();
    assert!(gap(&gaps, &HOST_CPUS).is_some_and(|gap| gap.reason.contains("broke off")));
}

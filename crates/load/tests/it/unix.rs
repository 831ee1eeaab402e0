//! Unix sockets and IPv6.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv6Addr, TcpListener};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;

use rustix::io::Errno;
use slowpath_core::sample::{Outcome, Phase};
use slowpath_core::scenario::{LoadDraft, Scenario};
use slowpath_load::{Address, Route};
use socket2::{Domain, SockAddr, Socket, Type};

use crate::server::OK;
use crate::{run_on, scenario};

fn load() -> Scenario {
    scenario(&LoadDraft {
        users: Some(2),
        duration_ns: Some(200_000_000),
        warmup_ns: Some(50_000_000),
        ..LoadDraft::default()
    })
}

fn at(path: &Path) -> Route {
    Route::plain([Address::Unix(path.to_owned())])
}

/// Answers every request that comes in one read.
fn serve(mut stream: impl Read + Write) {
    let mut buffer = [0; 4096];
    while stream.read(&mut buffer).is_ok_and(|bytes| bytes > 0) {
        if stream.write_all(OK.as_bytes()).is_err() {
            return;
        }
    }
}

#[test]
fn a_unix_socket_is_a_connection_without_a_port() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.sock");
    let listener = UnixListener::bind(&path).unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || serve(stream));
        }
    });
    let run = run_on(load(), at(&path));
    assert!(run.samples.len() > 2);
    for sample in &run.samples {
        assert_eq!((sample.outcome, sample.local_port), (Outcome::Ok, 0));
    }
    assert_eq!(run.drove.connections_opened, 2);
}

/// A connection to a listener whose queue is full waits for as long as its limit allows.
#[test]
fn a_unix_socket_that_nobody_accepts_from_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.sock");
    let address = SockAddr::unix(&path).unwrap();
    let socket = || Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
    let listener = socket();
    listener.bind(&address).unwrap();
    listener.listen(1).unwrap();
    let mut waiting = Vec::new();
    loop {
        let client = socket();
        client.set_nonblocking(true).unwrap();
        if client.connect(&address).is_err() {
            break;
        }
        waiting.push(client);
    }
    let (said, heard) = channel();
    std::thread::spawn(move || {
        let limit = Duration::from_millis(100);
        let opened = at(&path).open(&Address::Unix(path), limit);
        said.send(opened.map(|_| ()).unwrap_err().kind()).unwrap();
    });
    let kind = heard.recv_timeout(Duration::from_secs(20));
    assert_eq!(kind, Ok(ErrorKind::TimedOut));
    drop((waiting, listener));
}

#[test]
fn what_is_wrong_with_a_unix_socket_is_told_by_its_errno() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.sock");
    let fails = |outcome, errno: Errno| {
        let run = run_on(load(), at(&path));
        assert!(!run.samples.is_empty());
        for sample in run
            .samples
            .iter()
            .filter(|s| s.outcome != Outcome::Unfinished)
        {
            assert_eq!((sample.outcome, sample.phase), (outcome, Phase::Connect));
            assert_eq!(i32::from(sample.errno), errno.raw_os_error());
        }
    };
    fails(Outcome::Io, Errno::NOENT);
    // A file on which no process listens any more.
    drop(UnixListener::bind(&path).unwrap());
    fails(Outcome::Refused, Errno::CONNREFUSED);
}

#[test]
fn a_literal_address_of_ipv6_is_reached() {
    let Ok(listener) = TcpListener::bind((Ipv6Addr::LOCALHOST, 0)) else {
        println!("skipped: this host has no IPv6");
        return;
    };
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || serve(stream));
        }
    });
    let run = run_on(load(), Route::plain([address]));
    assert!(
        run.samples
            .iter()
            .all(|sample| sample.outcome == Outcome::Ok)
    );
    // Of two addresses the one that answers is used from then on.
    let dead = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let run = run_on(load(), Route::plain([dead, address]));
    assert!(
        run.samples
            .iter()
            .all(|sample| sample.outcome == Outcome::Ok)
    );
}

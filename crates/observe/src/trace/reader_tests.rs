//! A server that asks another one over a Unix socket, traced with and without the tracepoints of young kernels.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use slowpath_core::nanos::{MILLISECOND, Span};
use slowpath_core::trace::{Trace, What, is_unix};

use super::*;

/// Requests, one after the other.
const REQUESTS: usize = 40;
const WORD: &[u8] = b"hello";

/// Answers whatever comes on a connection with as many bytes, having asked `ask` first.
fn serve(mut stream: impl Read + Write, mut ask: impl FnMut()) {
    let mut word = [0; WORD.len()];
    while stream.read_exact(&mut word).is_ok() {
        ask();
        stream.write_all(&word).unwrap();
    }
}

fn exchange(mut stream: impl Read + Write) {
    let mut word = [0; WORD.len()];
    stream.write_all(WORD).unwrap();
    stream.read_exact(&mut word).unwrap();
}

/// A database at a path, a server at a port that asks it for each request, and a client's connection to that.
fn start(path: &Path) -> (u16, TcpStream, mpsc::Receiver<u32>) {
    let database = UnixListener::bind(path).unwrap();
    thread::spawn(move || serve(database.accept().unwrap().0, || ()));
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let asked = UnixStream::connect(path).unwrap();
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        tell.send(rustix::thread::gettid().as_raw_nonzero().get() as u32)
            .unwrap();
        let (stream, _) = server.accept().unwrap();
        serve(stream, || exchange(&asked));
    });
    let client = TcpStream::connect(("127.0.0.1", port)).unwrap();
    client.set_nodelay(true).unwrap();
    (port, client, told)
}

/// What was traced while requests were made, on a kernel that has the tracepoints that `has` says; `None`
/// if tracing is not permitted here.
fn traced(path: &Path, has: impl Fn(Kind) -> bool) -> Option<(Traced, u32, u16)> {
    let mut formats = match formats(Path::new("/proc")) {
        Ok(formats) => formats,
        Err(gap) => {
            println!("skipped: {}", gap.reason);
            return None;
        }
    };
    formats.retain(|(kind, _)| has(*kind));
    let (port, client, told) = start(path);
    let tid = told.recv().unwrap();
    let watch = TraceWatch {
        proc_root: PathBuf::from("/proc"),
        pids: vec![std::process::id()],
        peers: Vec::new(),
        port: Some(port),
        repeat: 0,
        seed: 11,
        most_events: 1_000_000,
        most_files: 1024,
    };
    let reader = match Reader::open_with(watch, &formats) {
        Ok(reader) => reader,
        Err(gap) => {
            println!("skipped: {}", gap.reason);
            return None;
        }
    };
    let (commands, received) = mpsc::channel();
    let begin = clock::now();
    commands
        .send(Command::Window(Span::new(
            begin,
            begin.plus(90 * MILLISECOND),
        )))
        .unwrap();
    let reads = thread::spawn(move || reader.read(&received));
    while clock::now() < begin.plus(20 * MILLISECOND) {
        thread::sleep(Duration::from_millis(1));
    }
    for _ in 0..REQUESTS {
        exchange(&client);
        thread::sleep(Duration::from_micros(500));
    }
    commands.send(Command::Stop).unwrap();
    Some((reads.join().unwrap(), tid, port))
}

/// What the server did: each step as the thing that it read (`r`) or wrote (`w`), of a client or of the database.
fn steps(trace: &Trace, server: u32, port: u16) -> String {
    let which = |socket: u32, step: [char; 2]| {
        let end = trace.sockets[socket as usize];
        let step = step[usize::from(is_unix(end.local))];
        (is_unix(end.local) || end.local.port() == port).then_some(step)
    };
    let steps = trace.events.iter().filter_map(|event| match event.what {
        What::Read { tid, socket } if tid == server => which(socket, ['r', 'R']),
        What::Wrote { tid, socket, bytes } if tid == server => {
            assert_eq!(bytes as usize, WORD.len());
            which(socket, ['w', 'W'])
        }
        _ => None,
    });
    steps.collect()
}

/// Each request is read, the database asked and its reply read, and then it is answered.
fn is_told(traced: &Traced, server: u32, port: u16, path: &Path) {
    let trace = &traced.trace;
    let steps = steps(trace, server, port);
    let whole = steps.matches("rWRw").count();
    // The first ones may have come before the window.
    assert!(whole >= REQUESTS - 5, "{whole} of {REQUESTS}: {steps}");
    let left = steps.replace("rWRw", "");
    assert!(left.len() <= 4, "{left} of {steps}");
    let asked = trace.sockets.iter().find(|end| {
        let address = trace.address(end.remote);
        Path::new(&address) == path
    });
    let asked = asked.expect("the server's end of its connection to the database");
    let other = |end: &&slowpath_core::trace::Socket| end.local == asked.remote;
    let other = trace.sockets.iter().find(other);
    assert_eq!(other.map(|end| end.remote), Some(asked.local));
}

#[test]
fn what_goes_over_a_unix_socket_is_read_and_written_too() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db.sock");
    let Some((traced, server, port)) = traced(&path, |_| true) else {
        return;
    };
    is_told(&traced, server, port, &path);
}

#[test]
fn writes_are_told_by_calls_where_no_tracepoint_does() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db.sock");
    let young = |kind| matches!(kind, Kind::Wrote | Kind::Received);
    let Some((traced, server, port)) = traced(&path, |kind| !young(kind)) else {
        return;
    };
    is_told(&traced, server, port, &path);
    let gaps: Vec<&str> = traced.gaps.iter().map(|gap| gap.signal.as_str()).collect();
    assert!(gaps.contains(&"trace.writes"), "{gaps:?}");
    assert!(!gaps.contains(&"trace.sock:sock_send_length"), "{gaps:?}");
}

#[test]
fn writes_that_nothing_tells_are_a_gap() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db.sock");
    let told = |kind| !matches!(kind, Kind::Wrote | Kind::Received | Kind::Moved);
    let Some((traced, ..)) = traced(&path, told) else {
        return;
    };
    let gaps: Vec<&str> = traced.gaps.iter().map(|gap| gap.signal.as_str()).collect();
    assert!(gaps.contains(&"trace.sock:sock_send_length"), "{gaps:?}");
    assert!(!gaps.contains(&"trace.writes"), "{gaps:?}");
    let wrote = |event: &slowpath_core::trace::Event| matches!(event.what, What::Wrote { .. });
    assert!(!traced.trace.events.iter().any(wrote));
}

//! completed + errors + unfinished = offered, to the request, and each fault its own class.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

use serde_json::Value;

use crate::support::{assert_exit, run_scenario, stderr};

/// When slowpath gives up: long against what a busy machine keeps a request waiting.
const TIMEOUT: Duration = Duration::from_millis(1200);

/// What the server does to a request.
const FAULTS: [&str; 10] = [
    "ok",
    "close",
    "reset",
    "truncate",
    "chunk",
    "garbage",
    "late",
    "status",
    "wrong",
    "body-reset",
];

/// A server that does to each request what its path asks for, and counts.
fn faulty() -> (u16, Arc<Mutex<BTreeMap<String, u64>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let counts = Arc::new(Mutex::new(BTreeMap::new()));
    let shared = Arc::clone(&counts);
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let counts = Arc::clone(&shared);
            std::thread::spawn(move || serve(stream, &counts));
        }
    });
    (port, counts)
}

fn serve(mut stream: TcpStream, counts: &Mutex<BTreeMap<String, u64>>) {
    stream.set_nodelay(true).unwrap();
    while let Some(path) = read_path(&mut stream) {
        let fault = path.trim_start_matches('/').to_owned();
        *counts.lock().unwrap().entry(fault.clone()).or_default() += 1;
        let reply: &[u8] = match fault.as_str() {
            "ok" => b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine",
            "close" => return,
            "reset" => return reset(&stream),
            "truncate" => {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\nfine");
                return;
            }
            "chunk" => {
                let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nfine\r\n";
                let _ = stream.write_all(head);
                return;
            }
            "garbage" => {
                let _ = stream.write_all(b"!!! this is no HTTP !!!\r\n\r\n");
                return;
            }
            "late" => {
                std::thread::sleep(2 * TIMEOUT);
                b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine"
            }
            "status" => b"HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy",
            "wrong" => b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
            "body-reset" => {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\nfine");
                std::thread::sleep(Duration::from_millis(20));
                return reset(&stream);
            }
            other => panic!("no fault {other}"),
        };
        if stream.write_all(reply).is_err() {
            return;
        }
    }
}

/// Linger 0 makes the close a reset.
fn reset(stream: &TcpStream) {
    rustix::net::sockopt::set_socket_linger(stream, Some(Duration::ZERO)).unwrap();
}

fn read_path(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).ok()? == 0 {
            return None;
        }
        head.push(byte[0]);
    }
    let text = String::from_utf8(head).ok()?;
    text.split(' ').nth(1).map(str::to_owned)
}

#[test]
fn every_request_is_accounted_for() {
    let (port, counts) = faulty();
    let mut scenario = format!(
        "[target]\nurl = \"http://127.0.0.1:{port}\"\n[load]\nmodel = \"open\"\nrate = \"300/s\"\n\
         duration = \"3s\"\nwarmup = \"200ms\"\nconnections = 200\ntimeout = \"{}ms\"\n",
        TIMEOUT.as_millis()
    );
    for fault in FAULTS {
        let _ = write!(
            scenario,
            "[[endpoint]]\nname = \"{fault}\"\nrequest = \"GET /{fault}\"\n\
             expect = {{ contains = \"fine\" }}\n"
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let (code, report, output) = run_scenario(folder.path(), &scenario);
    assert!(report.is_object(), "{}", stderr(&output));
    assert_exit(code, &report, 6);
    let class = |name: &str| match name {
        "ok" => None,
        "close" => Some(("closed", "first-byte")),
        "reset" => Some(("reset", "first-byte")),
        "truncate" | "chunk" => Some(("truncated", "body")),
        "garbage" => Some(("bad-response", "body")),
        "late" => Some(("timeout", "first-byte")),
        "status" => Some(("status", "check")),
        "wrong" => Some(("check", "check")),
        "body-reset" => Some(("reset", "body")),
        other => panic!("{other}"),
    };
    let mut seen = 0;
    for endpoint in report["endpoints"].as_array().unwrap() {
        let name = endpoint["name"].as_str().unwrap();
        let errors = endpoint["errors"].as_array().unwrap();
        let failed: u64 = errors.iter().map(|e| e["count"].as_u64().unwrap()).sum();
        let number = |field: &str| endpoint[field].as_u64().unwrap();
        let (offered, completed) = (number("offered"), number("completed"));
        assert_eq!(completed + failed + number("unfinished"), offered, "{name}");
        assert!(offered > 30, "{name}: {offered}");
        seen += offered;
        match class(name) {
            None => assert_eq!((completed, failed), (offered, 0), "{name}: {errors:?}"),
            Some((class, phase)) => {
                assert_eq!(completed, 0, "{name}: {endpoint:?}");
                let is = |e: &Value| e["class"] == class && e["phase"] == phase;
                assert!(errors.iter().all(is), "{name}: {errors:?}");
            }
        }
        // The server saw these and the warm-up's, and not one more: nothing is sent twice.
        let served = counts.lock().unwrap()[name];
        assert!(
            served >= offered - number("unfinished"),
            "{name}: {served} of {offered}"
        );
    }
    assert!(seen > 600, "{seen}");
}

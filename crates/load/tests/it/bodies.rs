//! What is sent and read beside the ordinary: files, slow clients, bodies without an end in sight.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};

use slowpath_core::nanos::SECOND;
use slowpath_core::sample::{Outcome, Phase};
use slowpath_core::scenario::{Endpoint, Escape, LoadDraft, Scenario, Template};

use crate::server::{After, OK, Server};
use crate::{run, scenario};

fn one_user(duration_ns: u64) -> Scenario {
    scenario(&LoadDraft {
        users: Some(1),
        duration_ns: Some(duration_ns),
        warmup_ns: Some(0),
        timeout_ns: Some(20 * SECOND),
        ..LoadDraft::default()
    })
}

fn endpoint(name: &str) -> Endpoint {
    Endpoint::get(name.to_owned(), Template::literal("/1", Escape::Url))
}

fn announced(head: &str) -> usize {
    let line = head
        .lines()
        .find(|line| line.starts_with("Content-Length: "));
    line.unwrap()
        .trim_start_matches("Content-Length: ")
        .parse()
        .unwrap()
}

#[test]
fn a_file_is_the_body_byte_by_byte() {
    let folder = tempfile::tempdir().unwrap();
    // Larger than any socket's buffer, and no text.
    let content: Vec<u8> = (0..8_000_000_u32)
        .map(|i| (i * 7 + i / 251) as u8)
        .collect();
    std::fs::write(folder.path().join("b.bin"), &content).unwrap();
    let same = Arc::new(Mutex::new(Vec::new()));
    let theirs = Arc::clone(&same);
    let expected = content.clone();
    let server = Server::start(move |head, stream| {
        let mut body = vec![0; announced(head)];
        stream.read_exact(&mut body).unwrap();
        theirs.lock().unwrap().push(body == expected);
        let _ = stream.write_all(OK.as_bytes());
        After::Keep
    });
    let mut scenario = one_user(SECOND / 2);
    scenario.folder = folder.path().to_owned();
    scenario.endpoints = vec![Endpoint {
        method: "POST".into(),
        body_file: Some(Template::literal("b.bin", Escape::None)),
        ..endpoint("upload")
    }];
    let run = run(scenario, server.address);
    let same = same.lock().unwrap();
    assert!(!same.is_empty() && same.iter().all(|same| *same));
    for sample in run
        .samples
        .iter()
        .filter(|s| s.outcome != Outcome::Unfinished)
    {
        assert_eq!(sample.outcome, Outcome::Ok);
        assert!(sample.sent_bytes as usize > content.len());
    }
}

#[test]
fn a_slow_sender_takes_its_time_on_a_connection_of_its_own() {
    let server = Server::start(|head, stream| {
        let mut body = vec![0; announced(head)];
        stream.read_exact(&mut body).unwrap();
        let _ = stream.write_all(OK.as_bytes());
        After::Keep
    });
    let mut scenario = one_user(SECOND / 2);
    let body = "x".repeat(20_000);
    scenario.endpoints = vec![Endpoint {
        method: "POST".into(),
        body: Some(Template::literal(&body, Escape::None)),
        send_bytes_per_s: Some(100_000.0),
        ..endpoint("upload")
    }];
    let run = run(scenario, server.address);
    let done: Vec<_> = run
        .samples
        .iter()
        .filter(|s| s.outcome == Outcome::Ok)
        .collect();
    assert!(!done.is_empty());
    for (position, sample) in done.iter().enumerate() {
        let took_ns = sample.done.since(sample.sent.unwrap());
        // All but the first portion, of 20 ms, has to wait for its time.
        assert!(took_ns >= 180_000_000, "{took_ns}");
        assert_eq!(
            (sample.connection as usize, sample.index_on_connection),
            (position, 0)
        );
    }
}

#[test]
fn a_slow_reader_is_felt_by_the_server() {
    const BODY_BYTES: usize = 400_000;
    let written = Arc::new(Mutex::new(Vec::new()));
    let theirs = Arc::clone(&written);
    let server = Server::start(move |_, stream| {
        // The server's own buffer must not take all of it either.
        let socket = socket2::SockRef::from(&*stream);
        socket.set_send_buffer_size(16 * 1024).unwrap();
        let begun = std::time::Instant::now();
        write!(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Length: {BODY_BYTES}\r\n\r\n"
        )
        .unwrap();
        if stream.write_all(&vec![b'x'; BODY_BYTES]).is_ok() {
            theirs.lock().unwrap().push(begun.elapsed());
        }
        After::Keep
    });
    let mut scenario = one_user(SECOND / 4);
    scenario.endpoints = vec![Endpoint {
        read_bytes_per_s: Some(500_000.0),
        ..endpoint("download")
    }];
    let run = run(scenario, server.address);
    let done: Vec<_> = run
        .samples
        .iter()
        .filter(|s| s.outcome == Outcome::Ok)
        .collect();
    assert!(!done.is_empty(), "{:?}", run.samples);
    for sample in done {
        let read_ns = sample.done.since(sample.first_byte.unwrap());
        assert!(read_ns >= 700_000_000, "{read_ns}");
        assert_eq!(sample.received_bytes as usize, BODY_BYTES + 43);
    }
    // Two thirds of it had to wait for the client: what buffers hold is small.
    let written = written.lock().unwrap();
    assert!(
        written.iter().all(|took| took.as_millis() > 500),
        "{written:?}"
    );
}

#[test]
fn a_slow_client_that_is_too_slow_is_a_timeout_where_it_was() {
    let server = Server::start(|head, stream| {
        let mut body = vec![0; announced(head)];
        let _ = stream.read_exact(&mut body);
        After::Close
    });
    let mut scenario = one_user(SECOND / 2);
    scenario.load.timeout_ns = SECOND / 5;
    scenario.endpoints = vec![Endpoint {
        method: "POST".into(),
        body: Some(Template::literal(&"x".repeat(10_000), Escape::None)),
        send_bytes_per_s: Some(1_000.0),
        ..endpoint("upload")
    }];
    let run = run(scenario, server.address);
    assert!(run.samples.iter().any(|s| s.outcome == Outcome::Timeout));
    for sample in &run.samples {
        assert_eq!(sample.phase, Phase::Send);
        assert!(sample.sent_bytes > 0 && sample.sent_bytes < 1_000);
    }
}

/// The most memory that this process ever had, in bytes.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    let kib: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kib * 1024
}

fn endless(stream: &mut TcpStream, bytes: u64, chunked: bool) {
    let block = vec![b'x'; 1 << 20];
    for _ in 0..bytes >> 20 {
        let framed = if chunked {
            stream.write_all(b"100000\r\n")
        } else {
            Ok(())
        };
        let written = framed.and_then(|()| stream.write_all(&block));
        let ended = written.and_then(|()| {
            if chunked {
                stream.write_all(b"\r\n")
            } else {
                Ok(())
            }
        });
        if ended.is_err() {
            return;
        }
    }
    if chunked {
        let _ = stream.write_all(b"0\r\n\r\n");
    }
}

#[test]
fn a_body_larger_than_memory_needs_none() {
    /// More than a test process has by far, and read in a second.
    const BYTES: u64 = 256 << 20;
    let server = Server::start(|head, stream| {
        let chunked = head.contains("/2");
        let framing = if chunked {
            "Transfer-Encoding: chunked".to_owned()
        } else {
            format!("Content-Length: {BYTES}")
        };
        let _ = write!(stream, "HTTP/1.1 200 OK\r\n{framing}\r\n\r\n");
        endless(stream, BYTES, chunked);
        After::Keep
    });
    for path in ["/1", "/2"] {
        let mut scenario = one_user(SECOND / 10);
        scenario.endpoints[0].path = Template::literal(path, Escape::Url);
        let before = peak_bytes();
        let run = run(scenario, server.address);
        assert_eq!(run.samples[0].outcome, Outcome::Ok, "{:?}", run.samples[0]);
        assert!(run.samples[0].received_bytes >= BYTES);
        let grown = peak_bytes() - before;
        assert!(grown < BYTES / 4, "{grown} bytes more");
    }
}

//! Redirects: followed within the origin if asked for, else an answer like any other.

use std::io::Write;

use slowpath_core::sample::{Outcome, Phase};
use slowpath_core::scenario::{Endpoint, Escape, LoadDraft, Scenario, Template};

use crate::server::{After, OK, Server};
use crate::{Run, run, scenario};

fn server() -> Server {
    Server::start(|head, stream| {
        let path = head.split(' ').nth(1).unwrap();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("Content-Length: "));
        let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
        std::io::Read::read_exact(stream, &mut body).unwrap();
        let to = |status: u16, location: &str, more: &str| {
            format!("HTTP/1.1 {status} Go\r\nLocation: {location}\r\n{more}\r\nbye")
        };
        let text = match path {
            "/once" => to(302, "/end?a", "Content-Length: 3\r\n"),
            "/close" => to(302, "end?a", "Connection: close\r\nContent-Length: 3\r\n"),
            "/loop" => to(307, "loop", "Content-Length: 3\r\n"),
            "/away" => to(301, "http://else.test/", "Content-Length: 3\r\n"),
            _ => OK.to_owned(),
        };
        let _ = stream.write_all(text.as_bytes());
        if path == "/close" {
            After::Close
        } else {
            After::Keep
        }
    })
}

fn load(path: &str, redirects: u32) -> Scenario {
    let mut scenario = scenario(&LoadDraft {
        users: Some(1),
        duration_ns: Some(100_000_000),
        warmup_ns: Some(0),
        redirects: Some(redirects),
        ..LoadDraft::default()
    });
    scenario.endpoints = vec![Endpoint {
        method: "POST".into(),
        body: Some(Template::literal("hello", Escape::None)),
        ..Endpoint::get("e".into(), Template::literal(path, Escape::Url))
    }];
    scenario
}

fn ended(run: &Run) -> impl Iterator<Item = &slowpath_core::sample::Sample> {
    let ended = run
        .samples
        .iter()
        .filter(|s| s.outcome != Outcome::Unfinished);
    assert!(ended.clone().count() > 0);
    ended
}

#[test]
fn a_redirect_is_an_answer_unless_it_is_followed() {
    let server = server();
    let run = run(load("/once", 0), server.address);
    assert!(ended(&run).all(|s| (s.outcome, s.status) == (Outcome::Ok, 302)));
    let seen = server.seen.lock().unwrap();
    assert!(seen.iter().all(|head| head.starts_with("POST /once ")));
}

#[test]
fn a_followed_redirect_is_one_request_with_the_latency_of_all() {
    for (path, connections_a_request) in [("/once", 0), ("/close", 1)] {
        let server = server();
        let run = run(load(path, 1), server.address);
        for sample in ended(&run) {
            assert_eq!((sample.outcome, sample.status), (Outcome::Ok, 200));
            // Both heads and both bodies.
            assert!(sample.received_bytes > OK.len() as u64 + 50, "{sample:?}");
            assert!(sample.first_byte.unwrap() < sample.done);
        }
        let seen = server.seen.lock().unwrap();
        let posts = seen.iter().filter(|head| head.starts_with("POST ")).count();
        let gets: Vec<_> = seen
            .iter()
            .filter(|head| head.starts_with("GET /end?a "))
            .collect();
        assert!(
            posts - gets.len() <= 1,
            "the last may have been overtaken by the end"
        );
        assert!(gets.iter().all(|head| !head.contains("Content-Length")));
        let opened = run.drove.connections_opened;
        if connections_a_request == 0 {
            assert_eq!(opened, 1);
        } else {
            assert!(opened as usize >= gets.len());
        }
    }
}

#[test]
fn redirects_that_do_not_end_or_lead_away_are_refused_with_the_reason() {
    for (path, why, requests) in [("/loop", "more than 3", 4), ("/away", "another origin", 1)] {
        let server = server();
        let run = run(load(path, 3), server.address);
        for sample in ended(&run) {
            assert_eq!(
                (sample.outcome, sample.phase),
                (Outcome::Status, Phase::Check)
            );
        }
        let reasons = &run.drove.reasons;
        assert!(reasons[0].text.contains(why), "{reasons:?}");
        let seen = server.seen.lock().unwrap().len();
        let done = ended(&run).count();
        assert!(
            (done * requests..=(done + 1) * requests).contains(&seen),
            "{seen} of {done}"
        );
    }
}

#[test]
fn what_cannot_be_followed_adds_no_bytes() {
    const REDIRECT: &str =
        "HTTP/1.1 302 Go\r\nLocation: /end\r\nConnection: close\r\nContent-Length: 3\r\n\r\nbye";
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = [0; 4096];
        let asked = std::io::Read::read(&mut stream, &mut head).unwrap();
        // The listener is closed when the client hears where to go.
        drop(listener);
        stream.write_all(REDIRECT.as_bytes()).unwrap();
        asked
    });
    let run = run(load("/once", 1), address);
    let asked = server.join().unwrap();
    let first = run.samples.iter().find(|s| s.serial == 0).unwrap();
    assert_eq!(first.outcome, Outcome::Refused);
    assert_eq!(first.received_bytes, REDIRECT.len() as u64);
    assert_eq!(first.sent_bytes as usize, asked);
}

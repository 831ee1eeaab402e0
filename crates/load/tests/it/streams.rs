//! Streams of events: each one stamped, and none missed unnoticed.

use std::io::Write;
use std::net::TcpStream;
use std::thread::sleep;
use std::time::Duration;

use slowpath_core::Nanos;
use slowpath_core::sample::{Outcome, Phase};
use slowpath_core::scenario::{Escape, EventRange, Expect, LoadDraft, Model, Scenario, Template};

use crate::server::{After, Server, seq};
use crate::{run_until, scenario};

const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n\
                    Transfer-Encoding: chunked\r\n\r\n";
/// The pause that a silent server makes: far longer than what a busy machine adds by itself.
const PAUSE: Duration = Duration::from_millis(120);

fn chunk(stream: &mut TcpStream, text: &str) {
    let framed = format!("{:x}\r\n{text}\r\n", text.len());
    stream.write_all(framed.as_bytes()).unwrap();
}

fn end(stream: &mut TcpStream) -> After {
    stream.write_all(b"0\r\n\r\n").unwrap();
    After::Keep
}

/// One user whose requests expect so many events.
fn one_user(events: Option<EventRange>, timeout_ms: u64) -> Scenario {
    let mut scenario = scenario(&LoadDraft {
        users: Some(1),
        warmup_ns: Some(0),
        timeout_ns: Some(timeout_ms * 1_000_000),
        ..LoadDraft::default()
    });
    assert!(matches!(scenario.load.model, Model::Closed { .. }));
    scenario.endpoints[0].expect.events = events;
    scenario
}

/// Events split over chunks and reads, with comments between them.
fn three_events(_: &str, stream: &mut TcpStream) -> After {
    stream.write_all(HEAD.as_bytes()).unwrap();
    chunk(stream, ": hello\n\ndata: one\n");
    chunk(stream, "\nevent: x\r\ndata: three\r");
    chunk(stream, "\n\r\n: ping\n\nid: 4\ndata: 1\ndata: 2\n\n");
    end(stream)
}

#[test]
fn every_event_is_stamped_and_counted() {
    let server = Server::start(three_events);
    let wanted = Some(EventRange::exactly(3));
    let run = run_until(4, one_user(wanted, 5_000), server.address);
    assert!(run.events.len() >= 3 * 4);
    // The stop may leave one that is under way unfinished, after those that were waited for.
    for (sample, events) in run.samples[..4].iter().zip(run.events.chunks(3)) {
        assert_eq!((sample.outcome, sample.events), (Outcome::Ok, 3));
        let first_byte = sample.first_byte.unwrap();
        assert_eq!(sample.first_event, Some(events[0].at));
        assert!(first_byte <= events[0].at && events[2].at <= sample.done);
        assert!(events.is_sorted_by_key(|event| event.at));
        let told: Vec<_> = events
            .iter()
            .map(|event| (event.serial, event.index, event.data_bytes))
            .collect();
        let serial = sample.serial;
        assert_eq!(told, [(serial, 0, 3), (serial, 1, 5), (serial, 2, 3)]);
    }
    // The connection was kept: a stream with framing is a response like any other.
    assert_eq!(run.drove.connections_opened, 1);
}

#[test]
fn another_number_of_events_is_an_error_of_its_own() {
    let server = Server::start(three_events);
    let at_least = |min| Some(EventRange { min, max: u64::MAX });
    for (range, outcome) in [
        (Some(EventRange::exactly(4)), Outcome::Events),
        (Some(EventRange::exactly(2)), Outcome::Events),
        (at_least(4), Outcome::Events),
        (at_least(3), Outcome::Ok),
        (None, Outcome::Ok),
    ] {
        let run = run_until(3, one_user(range, 5_000), server.address);
        for sample in &run.samples[..3] {
            assert_eq!((sample.outcome, sample.events), (outcome, 3), "{range:?}");
        }
    }
}

#[test]
fn a_stream_that_ends_early_is_truncated() {
    // Inside the body, between two events, and in the middle of one that the framing cuts off.
    let server = Server::start(|head, stream| {
        stream.write_all(HEAD.as_bytes()).unwrap();
        chunk(stream, "data: one\n\n");
        if seq(head).is_multiple_of(2) {
            return After::Close;
        }
        chunk(stream, "data: lost");
        end(stream)
    });
    let run = run_until(4, one_user(None, 5_000), server.address);
    for sample in &run.samples[..4] {
        assert_eq!((sample.outcome, sample.events), (Outcome::Truncated, 1));
        let phase = match sample.serial % 2 {
            0 => Phase::Body,
            _ => Phase::Check,
        };
        assert_eq!(sample.phase, phase);
        assert!(sample.first_event.is_some());
    }
}

#[test]
fn a_stream_without_its_last_event_is_truncated() {
    let server = Server::start(|head, stream| {
        stream.write_all(HEAD.as_bytes()).unwrap();
        chunk(stream, "data: token\n\n");
        if seq(head).is_multiple_of(2) {
            chunk(stream, "data: [DONE]\n\n");
        }
        end(stream)
    });
    let mut scenario = one_user(None, 5_000);
    scenario.endpoints[0].expect = Expect {
        last_event: Some(Template::literal("[DONE]", Escape::None)),
        ..Expect::default()
    };
    let run = run_until(4, scenario, server.address);
    for sample in &run.samples[..4] {
        let outcome = match sample.serial % 2 {
            0 => Outcome::Ok,
            _ => Outcome::Truncated,
        };
        assert_eq!(sample.outcome, outcome);
    }
}

#[test]
fn the_longest_silence_is_between_events_or_behind_the_last() {
    // Comments keep the connection alive; they do not end a silence.
    let server = Server::start(|head, stream| {
        stream.write_all(HEAD.as_bytes()).unwrap();
        chunk(stream, ": no event yet\n\n");
        sleep(PAUSE / 4);
        chunk(stream, "data: one\n\n");
        if seq(head) == 0 {
            sleep(PAUSE / 2);
            chunk(stream, ": ping\n\n");
            sleep(PAUSE / 2);
        }
        chunk(stream, "data: two\n\n");
        if seq(head) == 1 {
            sleep(PAUSE);
        }
        end(stream)
    });
    let run = run_until(2, one_user(None, 5_000), server.address);
    let pause_ns = PAUSE.as_nanos() as u64;
    for sample in &run.samples[..2] {
        let of_it = run.events.iter().filter(|e| e.serial == sample.serial);
        let begins: Vec<Nanos> = of_it.map(|event| event.at).collect();
        let gaps = [begins[1].since(begins[0]), sample.done.since(begins[1])];
        // The longer one is the server's pause, unless a busy client read what came before it late.
        let longest = usize::from(gaps[1] > gaps[0]);
        assert_eq!(sample.gap_ns, gaps[longest], "{sample:?}");
        assert_eq!(sample.gap_begin, Some(begins[longest]), "{sample:?}");
        // The server slept after the request and before the first event, however busy it is.
        assert!(sample.first_event_ns().unwrap() >= pause_ns / 4);
        let service_ns = sample.done.since(sample.sent.unwrap());
        assert!(service_ns >= pause_ns + pause_ns / 4);
    }
}

#[test]
fn a_stream_that_falls_silent_times_out_with_its_events() {
    let server = Server::start(|_, stream| {
        stream.write_all(HEAD.as_bytes()).unwrap();
        chunk(stream, "data: one\n\n");
        // Until the client gives up.
        let _ = std::io::Read::read(stream, &mut [0]);
        After::Close
    });
    let run = run_until(
        1,
        one_user(Some(EventRange::exactly(2)), 100),
        server.address,
    );
    let sample = &run.samples[0];
    assert_eq!(
        (sample.outcome, sample.phase),
        (Outcome::Timeout, Phase::Body)
    );
    assert_eq!((sample.events, run.events.len()), (1, run.samples.len()));
    let silent_ns = sample.done.since(sample.first_event.unwrap());
    assert_eq!(sample.gap_ns, silent_ns);
}

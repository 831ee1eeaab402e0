//! Requests as streams that share connections.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use h2::Reason;
use http::Response;
use slowpath_core::sample::{Outcome, Phase};
use slowpath_core::scenario::{
    Arrivals, ConnectionUse, Endpoint, Escape, EventRange, Http, LoadDraft, Part, Scenario,
    SizeRange, Template,
};
use slowpath_load::{Control, LoadError, Route};

use crate::http2_server::{Answering, Asked, Http2Server, Manner, empty, ok, seq};
use crate::server::{After, Server};
use crate::{Run, run, scenario, try_drive};

/// A closed loop over two shared connections of four streams.
fn shared() -> LoadDraft {
    LoadDraft {
        connections: Some(2),
        streams: Some(4),
        duration_ns: Some(200_000_000),
        warmup_ns: Some(50_000_000),
        ..LoadDraft::default()
    }
}

fn over_http2(draft: &LoadDraft) -> Scenario {
    let mut scenario = scenario(draft);
    scenario.target.http = Http::Two;
    scenario
}

fn load(server: &Http2Server, draft: &LoadDraft) -> Run {
    run(over_http2(draft), server.address)
}

fn prompt() -> Http2Server {
    Http2Server::start(Manner::default(), |_, respond| {
        Box::pin(async move { ok(respond) })
    })
}

/// The first endpoint as a `POST` of this body.
fn posting(draft: &LoadDraft, body: Template) -> Scenario {
    let mut scenario = over_http2(draft);
    scenario.endpoints[0].method = "POST".into();
    scenario.endpoints[0].body = Some(body);
    scenario
}

#[test]
fn every_request_is_a_stream_and_is_counted() {
    let server = prompt();
    let run = load(&server, &shared());
    assert!(run.samples.len() > 20);
    let seen = server.seen.lock().unwrap().clone();
    assert_eq!(seen.requests as usize, run.samples.len());
    assert_eq!((seen.connections, run.drove.connections_opened), (2, 2));
    assert!(
        (2..=4).contains(&seen.most_at_once),
        "{}",
        seen.most_at_once
    );
    let mut streams: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for sample in &run.samples {
        assert_eq!((sample.outcome, sample.status), (Outcome::Ok, 200));
        assert!(sample.connection < 2 && sample.connection_since.is_some());
        let (sent, first) = (sample.sent.unwrap(), sample.first_byte.unwrap());
        assert!(sample.ready <= sent && sent <= first && first <= sample.done);
        assert!(sample.sent_bytes > 0 && sample.received_bytes >= 4);
        let fresh = streams
            .entry(sample.connection)
            .or_default()
            .insert(sample.index_on_connection);
        assert!(fresh, "two streams of one number");
    }
    for indices in streams.values() {
        assert_eq!(*indices.last().unwrap() as usize + 1, indices.len());
    }
}

#[test]
fn a_request_has_the_fields_of_http2() {
    // It reads what it is sent: a server that does not is right to complain.
    let server = Http2Server::start(Manner::default(), |request: Asked, respond| {
        Box::pin(async move {
            let mut incoming = request.into_body();
            while let Some(Ok(_)) = incoming.data().await {}
            ok(respond);
        })
    });
    let mut scenario = posting(
        &shared(),
        Template {
            parts: vec![Part::Literal("n=".into()), Part::Seq],
            escape: Escape::None,
        },
    );
    let literal = |text| Template::literal(text, Escape::None);
    let headers = &mut scenario.endpoints[0].headers;
    headers.push(("Host".into(), literal("shop.example")));
    headers.push(("X-Mine".into(), literal("Yes")));
    let run = run(scenario, server.address);
    let failed = run.samples.iter().find(|s| s.outcome != Outcome::Ok);
    assert_eq!(failed, None, "{:?}", run.drove.reasons);
    let seen = server.seen.lock().unwrap().clone();
    let head = &seen.headers[0];
    assert_eq!(head.method, "POST");
    assert_eq!(head.uri.authority().unwrap(), "shop.example");
    assert_eq!(head.uri.scheme_str(), Some("http"));
    let field = |name: &str| head.headers.get(name).map(|value| value.to_str().unwrap());
    assert_eq!((field("host"), field("x-mine")), (None, Some("Yes")));
    assert_eq!(field("content-length"), Some("3"));
    assert_eq!(field("traceparent").unwrap().len(), 55);
    assert!(field("user-agent").unwrap().starts_with("slowpath/"));
}

#[test]
fn users_keep_a_connection_each_and_requests_may_have_their_own() {
    let server = prompt();
    let per_user = LoadDraft {
        users: Some(3),
        streams: None,
        connections: None,
        ..shared()
    };
    let run = load(&server, &per_user);
    assert_eq!(run.drove.connections_opened, 3);
    assert!(run.samples.iter().all(|s| s.outcome == Outcome::Ok));
    let own = LoadDraft {
        connection: Some(ConnectionUse::PerRequest),
        ..per_user
    };
    let run = load(&server, &own);
    assert_eq!(run.drove.connections_opened as usize, run.samples.len());
    for sample in &run.samples {
        assert_eq!(
            (sample.outcome, sample.index_on_connection),
            (Outcome::Ok, 0)
        );
        assert!(sample.connect_begin.is_some() && sample.connected.is_some());
    }
}

#[test]
fn a_reset_stream_is_an_error_of_its_own_and_takes_nothing_with_it() {
    let server = Http2Server::start(Manner::default(), |request, mut respond| {
        Box::pin(async move {
            match seq(&request) % 4 {
                0 => respond.send_reset(Reason::REFUSED_STREAM),
                1 => {
                    let mut body = respond.send_response(Response::new(()), false).unwrap();
                    body.send_data(Bytes::from_static(b"part"), false).unwrap();
                    tokio::task::yield_now().await;
                    tokio::time::sleep(Duration::from_millis(5)).await;
                    body.send_reset(Reason::INTERNAL_ERROR);
                }
                _ => ok(respond),
            }
        })
    });
    let run = load(&server, &shared());
    assert!(run.samples.len() > 20);
    for sample in &run.samples {
        let (outcome, phase) = match sample.serial % 4 {
            0 => (Outcome::StreamReset, Phase::FirstByte),
            1 => (Outcome::StreamReset, Phase::Body),
            _ => (Outcome::Ok, Phase::Check),
        };
        assert_eq!(
            (sample.outcome, sample.phase),
            (outcome, phase),
            "{sample:?}"
        );
    }
    assert_eq!(run.drove.connections_opened, 2);
    let reasons: Vec<_> = run.drove.reasons.iter().map(|r| r.text.as_str()).collect();
    assert!(
        reasons
            .iter()
            .any(|text| text.contains("REFUSED_STREAM (7)"))
            && reasons
                .iter()
                .any(|text| text.contains("INTERNAL_ERROR (2)")),
        "{reasons:?}"
    );
}

#[test]
fn a_retired_connection_ends_its_streams_and_is_replaced() {
    let manner = Manner {
        retires_after: Some(10),
        ..Manner::default()
    };
    let server = Http2Server::start(manner, |_, respond| Box::pin(async move { ok(respond) }));
    let run = load(&server, &shared());
    let served = server.seen.lock().unwrap().requests as usize;
    assert!(run.drove.connections_opened > 4);
    // What came after the last stream that the server took was not served, and not sent again.
    let count = |outcome| run.samples.iter().filter(|s| s.outcome == outcome).count();
    let (ok, closed) = (count(Outcome::Ok), count(Outcome::Closed));
    assert_eq!(ok + closed, run.samples.len());
    assert!(
        ok >= served.saturating_sub(closed) && ok <= served,
        "{ok} of {served}"
    );
    let serials: BTreeSet<u32> = run.samples.iter().map(|s| s.serial).collect();
    assert_eq!(serials.len(), run.samples.len());
}

#[test]
fn a_connection_that_dies_takes_each_of_its_streams() {
    let manner = Manner {
        drops_at: Some(6),
        ..Manner::default()
    };
    let server = Http2Server::start(manner, |_, respond| {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(10)).await;
            ok(respond);
        })
    });
    let run = load(&server, &shared());
    let failed: Vec<_> = run
        .samples
        .iter()
        .filter(|s| s.outcome.is_error())
        .collect();
    assert!(failed.len() > 4 && run.drove.connections_opened > 2);
    for sample in failed {
        let known = matches!(sample.outcome, Outcome::Closed | Outcome::Reset);
        assert!(known && sample.phase == Phase::FirstByte, "{sample:?}");
        assert!(sample.sent.is_some() && sample.first_byte.is_none());
    }
}

#[test]
fn no_more_streams_are_open_than_the_server_takes() {
    let manner = Manner {
        most_streams: Some(3),
        ..Manner::default()
    };
    let pause = Duration::from_millis(20);
    let server = Http2Server::start(manner, move |_, respond| {
        Box::pin(async move {
            tokio::time::sleep(pause).await;
            ok(respond);
        })
    });
    let draft = LoadDraft {
        connections: Some(1),
        streams: Some(12),
        ..shared()
    };
    let run = load(&server, &draft);
    assert!(run.samples.iter().all(|s| s.outcome == Outcome::Ok));
    assert_eq!(server.seen.lock().unwrap().most_at_once, 3);
    // The wait for a stream is the server's doing: it is queueing, and no lateness of ours.
    let queued = run.samples.iter().filter(|s| s.queued_ns() > 0).count();
    assert!(queued * 2 > run.samples.len());
    let pause_ns = pause.as_nanos() as u64;
    let late = run
        .samples
        .iter()
        .filter(|s| s.lag_ns().unwrap() > pause_ns);
    assert!(late.count() * 10 < run.samples.len());
}

#[test]
fn what_was_read_is_granted_anew() {
    // Larger than all windows together: without grants the stream would stand still.
    const BYTES: usize = 24 * 1024 * 1024;
    const TIMES: usize = 3;
    let server = Http2Server::start(Manner::default(), |_, mut respond| {
        Box::pin(async move {
            let Ok(mut body) = respond.send_response(Response::new(()), false) else {
                return;
            };
            for piece in 0..TIMES * BYTES / 65_536 {
                body.reserve_capacity(65_536);
                let mut left = 65_536;
                while left > 0 {
                    let granted = std::future::poll_fn(|cx| body.poll_capacity(cx)).await;
                    let Some(Ok(granted)) = granted else { return };
                    let sent = granted.min(left);
                    left -= sent;
                    let last = left == 0 && piece + 1 == TIMES * BYTES / 65_536;
                    let _ = body.send_data(Bytes::from(vec![b'x'; sent]), last);
                }
            }
        })
    });
    let mut scenario = over_http2(&LoadDraft {
        connections: Some(1),
        users: Some(2),
        streams: Some(2),
        duration_ns: Some(100_000_000),
        warmup_ns: Some(10_000_000),
        timeout_ns: Some(60_000_000_000),
        ..LoadDraft::default()
    });
    let bytes = (TIMES * BYTES) as u64;
    scenario.endpoints[0].expect.size = Some(SizeRange {
        min_bytes: bytes,
        max_bytes: bytes,
    });
    let run = run(scenario, server.address);
    assert!(!run.samples.is_empty());
    assert!(run.samples.iter().all(|s| s.outcome == Outcome::Ok));
    assert!(run.samples.iter().all(|s| s.received_bytes >= bytes));
}

#[test]
fn a_large_request_waits_for_the_servers_grants() {
    // Four times the window that a server has by default.
    const BYTES: usize = 256 * 1024;
    let server = Http2Server::start(Manner::default(), |request: Asked, respond| {
        Box::pin(async move {
            let mut incoming = request.into_body();
            let mut read = 0;
            while let Some(Ok(piece)) = incoming.data().await {
                read += piece.len();
                let _ = incoming.flow_control().release_capacity(piece.len());
            }
            empty(respond, if read == BYTES { 200 } else { 400 });
        })
    });
    let scenario = posting(
        &shared(),
        Template::literal(&"x".repeat(BYTES), Escape::None),
    );
    let run = run(scenario, server.address);
    assert!(run.samples.iter().all(|s| s.outcome == Outcome::Ok));
    assert!(run.samples.iter().all(|s| s.sent_bytes as usize > BYTES));
    // And one that answers before it has read all of it is heard.
    let server = Http2Server::start(Manner::default(), |_, respond| {
        Box::pin(async move { empty(respond, 413) })
    });
    let large = Template::literal(&"x".repeat(4 * BYTES), Escape::None);
    let run = crate::run(posting(&shared(), large), server.address);
    let unheard: Vec<_> = run.samples.iter().filter(|s| s.status != 413).collect();
    assert!(
        unheard.is_empty(),
        "{} of {}: {:?}",
        unheard.len(),
        run.samples.len(),
        unheard[0]
    );
}

#[test]
fn a_late_stream_is_reset_and_the_connection_goes_on() {
    let server = Http2Server::start(Manner::default(), |request, respond| {
        Box::pin(async move {
            if seq(&request).is_multiple_of(5) {
                tokio::time::sleep(Duration::from_secs(5)).await;
            }
            ok(respond);
        })
    });
    let draft = LoadDraft {
        timeout_ns: Some(100_000_000),
        duration_ns: Some(500_000_000),
        ..shared()
    };
    let run = load(&server, &draft);
    let (late, prompt): (Vec<_>, Vec<_>) = run.samples.iter().partition(|s| s.serial % 5 == 0);
    assert!(late.len() > 4);
    for sample in late {
        let ended = (sample.outcome, sample.phase);
        assert_eq!(ended, (Outcome::Timeout, Phase::FirstByte), "{sample:?}");
    }
    // A busy machine may make others late too, but not most of them.
    let ok = prompt.iter().filter(|s| s.outcome == Outcome::Ok).count();
    assert!(2 * ok > prompt.len(), "{ok} of {}", prompt.len());
    assert_eq!(run.drove.connections_opened, 2);
}

async fn stream_of_events(respond: &mut Answering) {
    let mut head = Response::new(());
    let event_stream = http::HeaderValue::from_static("text/event-stream");
    head.headers_mut().insert("content-type", event_stream);
    let mut body = respond.send_response(head, false).unwrap();
    for piece in [": hi\n\ndata: on", "e\n\ndata: two\n\n", "data: three\n\n"] {
        body.send_data(Bytes::from_static(piece.as_bytes()), false)
            .unwrap();
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let mut trailers = http::HeaderMap::new();
    trailers.insert("x-sum", http::HeaderValue::from_static("3"));
    let _ = body.send_trailers(trailers);
}

#[test]
fn streams_of_events_and_trailers_are_read() {
    let server = Http2Server::start(Manner::default(), |_, mut respond| {
        Box::pin(async move { stream_of_events(&mut respond).await })
    });
    let mut scenario = over_http2(&shared());
    scenario.endpoints[0].expect.events = Some(EventRange::exactly(3));
    let run = run(scenario, server.address);
    assert!(run.samples.iter().all(|s| s.outcome == Outcome::Ok));
    assert_eq!(run.events.len(), 3 * run.samples.len());
}

#[test]
fn heads_empty_answers_and_statuses_are_what_they_are() {
    let server = Http2Server::start(Manner::default(), |request, mut respond| {
        Box::pin(async move {
            let mut head = Response::new(());
            let five = http::HeaderValue::from_static("5");
            head.headers_mut().insert("content-length", five);
            match request.method().as_str() {
                "HEAD" => drop(respond.send_response(head, true)),
                "DELETE" => empty(respond, 204),
                _ => empty(respond, 503),
            }
        })
    });
    for (method, status, outcome) in [
        ("HEAD", 200, Outcome::Ok),
        ("DELETE", 204, Outcome::Ok),
        ("GET", 503, Outcome::Status),
    ] {
        let mut scenario = over_http2(&shared());
        scenario.endpoints[0].method = method.into();
        let run = run(scenario, server.address);
        let as_said =
            |s: &slowpath_core::sample::Sample| (s.status, s.outcome) == (status, outcome);
        assert!(
            run.samples.iter().all(as_said),
            "{method}: {:?}",
            run.samples[0]
        );
    }
}

#[test]
fn what_is_not_http2_is_a_bad_response_or_the_end() {
    let server = Server::start(|_, stream| {
        let _ = std::io::Write::write_all(stream, b"HTTP/1.1 400 Bad Request\r\n\r\n");
        After::Close
    });
    let run = run(over_http2(&shared()), server.address);
    assert!(!run.samples.is_empty());
    for sample in &run.samples {
        let known = matches!(
            sample.outcome,
            Outcome::BadResponse | Outcome::Closed | Outcome::Reset | Outcome::BrokenPipe
        );
        assert!(known, "{sample:?}");
    }
}

#[test]
fn an_open_loop_spreads_over_all_streams() {
    let server = prompt();
    let draft = LoadDraft {
        rate_per_s: Some(400.0),
        arrivals: Some(Arrivals::Uniform),
        loops: Some(2),
        ..shared()
    };
    let run = load(&server, &draft);
    assert_eq!(run.drove.connections_opened, 2);
    assert!(run.samples.iter().all(|s| s.outcome == Outcome::Ok));
    let connections: BTreeSet<u32> = run.samples.iter().map(|s| s.connection).collect();
    assert_eq!(connections, BTreeSet::from([0, 1]));
}

#[test]
fn what_http2_has_no_room_for_is_refused_before_the_load() {
    let mut scenario = over_http2(&shared());
    let endpoint: &mut Endpoint = &mut scenario.endpoints[0];
    let upgrade = Template::literal("websocket", Escape::None);
    endpoint.headers.push(("Upgrade".into(), upgrade));
    let route = Route::plain([SocketAddr::from(([127, 0, 0, 1], 1))]);
    let refused = try_drive(scenario, route, "localhost", &Control::default());
    let is_named = |error: &LoadError| error.to_string().contains("the header Upgrade");
    assert!(refused.is_err_and(|error| is_named(&error)));
}

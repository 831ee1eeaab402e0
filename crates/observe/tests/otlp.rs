//! Telemetry comes in by every transport of the protocol, and what is ours is kept.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "these tests send over sockets, read clocks, and fail with their helpers"
)]

#[path = "otlp/crafted.rs"]
mod crafted;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use slowpath_core::sample::Sample;
use slowpath_core::spans::{AppSpan, SpanKind};
use slowpath_observe::clock;
use slowpath_observe::otlp::{Encoding, MOST_MESSAGE_BYTES, Receiver, count_spans};

use crafted::Crafted;

const SEED: u64 = 77;
const PATIENCE: Duration = Duration::from_secs(20);
const PROTOBUF: &str = "Content-Type: application/x-protobuf\r\n";
const JSON: &str = "Content-Type: application/json\r\n";

/// A span of request `serial` of repeat 2 that began 5 ms ago and took 3 ms.
fn span(serial: u32) -> Crafted {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let begin_ns = now.as_nanos() as u64 - 5_000_000;
    Crafted {
        trace_id: Sample::trace_id(SEED, 2, serial),
        id: 0xab00 + u64::from(serial),
        parent: 9,
        name: format!("op {}", serial % 2),
        begin_ns,
        end_ns: begin_ns + 3_000_000,
    }
}

fn receiver() -> Receiver {
    let receiver = Receiver::start(0).unwrap();
    receiver.begin(SEED, 2);
    receiver
}

/// Sends a request and gives the status line and the body of the answer.
fn post(receiver: &Receiver, path: &str, headers: &str, body: &[u8]) -> (String, String) {
    let address = receiver.endpoint().replace("http://", "");
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\n{headers}Connection: close\r\n\
         Content-Length: {length}\r\n\r\n"
    );
    // A receiver that has seen enough may answer before everything is sent.
    let sent = stream
        .write_all(head.as_bytes())
        .and_then(|()| stream.write_all(body));
    let mut answer = String::new();
    if stream.read_to_string(&mut answer).is_err() {
        sent.unwrap();
    }
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    (
        head.lines().next().unwrap_or_default().to_owned(),
        body.to_owned(),
    )
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Makes one call of gRPC and gives its status.
fn call(receiver: &Receiver, path: &str, framed: Vec<u8>, headers: &[(&str, &str)]) -> String {
    let address = receiver.endpoint().replace("http://", "");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let stream = tokio::net::TcpStream::connect(&address).await.unwrap();
        let (client, connection) = h2::client::handshake(stream).await.unwrap();
        let driver = tokio::spawn(connection);
        let mut client = client.ready().await.unwrap();
        let mut request = http::Request::post(format!("http://{address}{path}"))
            .header("content-type", "application/grpc")
            .header("te", "trailers");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (response, mut body) = client
            .send_request(request.body(()).unwrap(), false)
            .unwrap();
        body.send_data(Bytes::from(framed), true).unwrap();
        let response = tokio::time::timeout(PATIENCE, response)
            .await
            .unwrap()
            .unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "application/grpc");
        let in_head = response.headers().get("grpc-status").cloned();
        let mut body = response.into_body();
        let mut received = Vec::new();
        while let Some(data) = body.data().await {
            received.extend_from_slice(&data.unwrap());
        }
        let trailers = body.trailers().await.unwrap();
        let status = in_head
            .or_else(|| trailers?.get("grpc-status").cloned())
            .unwrap();
        if status == "0" {
            assert_eq!(received, [0; 5], "an empty message");
        }
        driver.abort();
        status.to_str().unwrap().to_owned()
    })
}

fn framed(packed: u8, message: &[u8]) -> Vec<u8> {
    let length = (message.len() as u32).to_be_bytes();
    [&[packed], &length[..], message].concat()
}

const EXPORT: &str = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";

#[test]
fn every_transport_brings_the_same_spans() {
    let receiver = receiver();
    let sent: Vec<Crafted> = (0..6).map(span).collect();
    let ok = "HTTP/1.1 200 OK";
    let message = |n: usize| crafted::protobuf("shop", &sent[n..=n]);
    let zipped = format!("{PROTOBUF}Content-Encoding: gzip\r\n");
    assert_eq!(post(&receiver, "/v1/traces", PROTOBUF, &message(0)).0, ok);
    assert_eq!(
        post(&receiver, "/v1/traces", &zipped, &gzip(&message(1))).0,
        ok
    );
    let json = crafted::json("shop", &sent[2..3]);
    let (status, body) = post(&receiver, "/v1/traces", JSON, json.as_bytes());
    assert_eq!((status.as_str(), body.as_str()), (ok, "{}"));
    assert_eq!(call(&receiver, EXPORT, framed(0, &message(3)), &[]), "0");
    let packed = framed(1, &gzip(&message(4)));
    assert_eq!(
        call(&receiver, EXPORT, packed, &[("grpc-encoding", "gzip")]),
        "0"
    );
    // A trailing slash, as endpoints that people write have it, and a repetition.
    assert_eq!(post(&receiver, "/v1/traces/", PROTOBUF, &message(5)).0, ok);
    assert_eq!(post(&receiver, "/v1/traces", PROTOBUF, &message(5)).0, ok);

    let now = clock::now();
    let (spans, facts) = receiver.take();
    assert_eq!((facts.messages, facts.kept, facts.refused), (7, 6, 0));
    assert_eq!((facts.foreign, facts.dropped), (0, 0));
    assert_eq!(spans.services, ["shop"]);
    assert_eq!(spans.spans.len(), 6);
    for (serial, AppSpan { begin, end, .. }) in (0..).zip(&spans.spans) {
        let [got] = spans.of_request(2, serial) else {
            panic!("request {serial} has one span");
        };
        assert_eq!(spans.name(got), format!("op {}", serial % 2));
        assert_eq!(
            (got.kind, got.error, got.thread),
            (SpanKind::Server, true, 4711)
        );
        assert_eq!((got.id, got.parent), (0xab00 + u64::from(serial), 9));
        // What a clock is corrected by while this runs is the only difference.
        assert!(end.since(*begin).abs_diff(3_000_000) < 1_000_000);
        assert!(*end <= now.plus(facts.clock_error_ns), "{end:?} {now:?}");
        assert!(now.since(*end) < PATIENCE.as_nanos() as u64);
    }
    // Nothing is left for the next repeat.
    receiver.begin(SEED, 3);
    assert_eq!(receiver.take().1.kept, 0);
}

#[test]
fn what_is_not_ours_is_counted_and_forgotten() {
    let receiver = receiver();
    let other_run = Crafted {
        trace_id: Sample::trace_id(SEED + 1, 2, 0),
        ..span(0)
    };
    let other_repeat = Crafted {
        trace_id: Sample::trace_id(SEED, 1, 0),
        ..span(0)
    };
    let no_id = Crafted { id: 0, ..span(0) };
    let own = [other_run, other_repeat, no_id, span(1)];
    let message = crafted::protobuf("shop", &own);
    assert!(
        post(&receiver, "/v1/traces", PROTOBUF, &message)
            .0
            .contains("200")
    );
    for path in ["/v1/metrics", "/v1/logs"] {
        assert!(
            post(&receiver, path, PROTOBUF, b"\x0a\x00")
                .0
                .contains("200")
        );
    }
    let metrics = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export";
    assert_eq!(call(&receiver, metrics, framed(0, b""), &[]), "0");
    let (spans, facts) = receiver.take();
    assert_eq!(spans.spans.len(), 1);
    assert_eq!((facts.kept, facts.foreign, facts.messages), (1, 3, 1));
}

#[test]
fn what_is_not_understood_is_refused_and_told() {
    let receiver = receiver();
    let status = |path: &str, headers: &str, body: &[u8]| post(&receiver, path, headers, body).0;
    assert!(status("/v1/traces", JSON, b"{\"resourceSpans\": 7}").contains("400"));
    assert!(status("/v1/traces", PROTOBUF, b"\xff\xff").contains("400"));
    assert!(status("/v1/traces", "Content-Type: text/plain\r\n", b"").contains("415"));
    assert!(status("/v2/traces", PROTOBUF, b"").contains("404"));
    let zipped = format!("{PROTOBUF}Content-Encoding: gzip\r\n");
    assert!(status("/v1/traces", &zipped, b"no gzip").contains("400"));
    let odd = format!("{PROTOBUF}Content-Encoding: zstd\r\n");
    assert!(status("/v1/traces", &odd, b"").contains("400"));
    // Zeros pack well.
    let bomb = gzip(&vec![0; MOST_MESSAGE_BYTES + 1]);
    assert!(status("/v1/traces", &zipped, &bomb).contains("400"));
    assert_eq!(call(&receiver, EXPORT, framed(0, b"\xff"), &[]), "3");
    assert_eq!(
        call(
            &receiver,
            EXPORT,
            framed(1, b""),
            &[("grpc-encoding", "zstd")]
        ),
        "3"
    );
    assert_eq!(call(&receiver, EXPORT, vec![0, 0], &[]), "3");
    assert_eq!(
        call(&receiver, "/some.Other/Call", framed(0, b""), &[]),
        "12"
    );
    let (spans, facts) = receiver.take();
    assert!(spans.spans.is_empty());
    assert_eq!((facts.messages, facts.refused), (0, 9));
    assert!(
        facts.refused_because.contains("JSON of OTLP"),
        "{}",
        facts.refused_because
    );
}

#[test]
fn waiting_ends_when_it_is_quiet_or_stopped() {
    let receiver = receiver();
    let (second, stop) = (Duration::from_secs(1), AtomicBool::new(false));
    receiver.settle(Duration::from_millis(40), 60 * second, &stop);
    receiver.settle(60 * second, Duration::from_millis(40), &stop);
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    receiver.settle(60 * second, 60 * second, &stop);
}

#[test]
fn json_may_leave_out_what_it_does_not_say() {
    let count = |text: &str| count_spans(text.as_bytes(), Encoding::Json);
    assert_eq!(count("{}"), Ok(0));
    assert_eq!(
        count("{\"resourceSpans\": null, \"new\": {\"a\": [1]}}"),
        Ok(0)
    );
    let span = "{\"parentSpanId\": null, \"kind\": \"SPAN_KIND_CLIENT\", \"events\": [{}],
        \"status\": {\"code\": \"STATUS_CODE_ERROR\"}, \"startTimeUnixNano\": 7,
        \"attributes\": [{\"key\": \"a\", \"value\": {\"doubleValue\": 1.5}},
                        {\"key\": \"b\", \"value\": {\"intValue\": 5}}, {\"key\": \"c\"}]}";
    let all =
        format!("{{\"resourceSpans\": [{{\"scopeSpans\": [{{\"spans\": [{span}, {{}}]}}]}}]}}");
    assert_eq!(count(&all), Ok(2));
    for wrong in [
        all.replace("SPAN_KIND_CLIENT", "SPAN_KIND_CLIENTS"),
        all.replace("\"startTimeUnixNano\": 7", "\"startTimeUnixNano\": \"-7\""),
        all.replace("\"parentSpanId\": null", "\"parentSpanId\": \"0g\""),
    ] {
        count(&wrong).unwrap_err();
    }
}

proptest! {
    #[test]
    fn no_bytes_make_a_parser_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = count_spans(&bytes, Encoding::Protobuf);
        let _ = count_spans(&bytes, Encoding::Json);
    }

    #[test]
    fn a_message_that_was_cut_is_refused_or_shorter(cut in 0_usize..400) {
        let spans: Vec<Crafted> = (0..3).map(span).collect();
        let message = crafted::protobuf("shop", &spans);
        let cut = cut.min(message.len());
        let whole = count_spans(&message, Encoding::Protobuf).unwrap();
        prop_assert_eq!(whole, 3);
        if let Ok(count) = count_spans(&message[..cut], Encoding::Protobuf) {
            prop_assert!(count <= whole);
        }
    }
}

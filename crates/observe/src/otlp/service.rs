//! The protocol's transports: HTTP/1.1 and HTTP/2 on one port.

use std::convert::Infallible;
use std::io::Read;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Empty, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::service::service_fn;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::sync::{Semaphore, oneshot};

use super::inbox::Inbox;
use super::message::{self, Encoding, MOST_MESSAGE_BYTES};

/// Connections at a time: a process has one or two, and a target may have many processes.
const MOST_CONNECTIONS: usize = 512;
/// Messages that are taken in at a time: with their bodies, packed and unpacked, they take 128 MB.
const MOST_BODIES: usize = 16;
/// How long a message may take to arrive: exporters give up after ten seconds.
const READ_TIMEOUT: Duration = Duration::from_secs(10);
/// How long to wait before trying again when no connection can be accepted, for want of files.
const ACCEPT_AGAIN: Duration = Duration::from_millis(50);
/// Bytes before each message of gRPC: whether it is packed, and its length.
const GRPC_PREFIX_BYTES: usize = 5;

const TRACES: &str = "/v1/traces";
/// What exporters of the same SDK send beside; it is taken and forgotten.
const OTHERS: [&str; 2] = ["/v1/metrics", "/v1/logs"];
const GRPC_TRACES: &str = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
const GRPC_OTHERS: [&str; 2] = [
    "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
    "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
];
const GRPC_STATUS: HeaderName = HeaderName::from_static("grpc-status");
const GRPC_ENCODING: HeaderName = HeaderName::from_static("grpc-encoding");
/// Codes of gRPC (`google/rpc/code.proto`).
const GRPC_INVALID_ARGUMENT: u8 = 3;
const GRPC_UNIMPLEMENTED: u8 = 12;

type Body = UnsyncBoxBody<Bytes, Infallible>;

/// Answers until `stopped` is signalled, or its sender is gone.
pub(super) async fn serve(
    listeners: Vec<TcpListener>,
    inbox: Arc<Inbox>,
    stopped: oneshot::Receiver<()>,
) {
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let desk = Arc::new(Desk {
        inbox,
        bodies: Semaphore::new(MOST_BODIES),
    });
    for listener in listeners {
        tokio::spawn(accept(listener, Arc::clone(&desk), Arc::clone(&room)));
    }
    // Either way it is over; what is still going on ends with the runtime.
    let _ = stopped.await;
}

/// Where messages are taken in.
#[derive(Debug)]
struct Desk {
    inbox: Arc<Inbox>,
    bodies: Semaphore,
}

async fn accept(listener: TcpListener, desk: Arc<Desk>, room: Arc<Semaphore>) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
        return;
    };
    loop {
        let Ok(seat) = Arc::clone(&room).acquire_owned().await else {
            return;
        };
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_AGAIN).await;
            continue;
        };
        let desk = Arc::clone(&desk);
        tokio::spawn(async move {
            let service = service_fn(move |request| answer(request, Arc::clone(&desk)));
            let mut builder = auto::Builder::new(TokioExecutor::new());
            builder.http1().timer(TokioTimer::new());
            // A connection that breaks off is the exporter's affair: it will try again.
            let _ = builder
                .serve_connection(TokioIo::new(stream), service)
                .await;
            drop(seat);
        });
    }
}

async fn answer(request: Request<Incoming>, desk: Arc<Desk>) -> Result<Response<Body>, Infallible> {
    // Until it is answered, since it is in memory as long.
    let _body = desk.bodies.acquire().await;
    let inbox = &desk.inbox;
    let kind = request.headers().get(CONTENT_TYPE);
    let kind = kind
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let kind = kind
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    let response = if kind.starts_with("application/grpc") {
        grpc(request, inbox).await
    } else {
        plain(request, &kind, inbox).await
    };
    Ok(response)
}

/// A call of gRPC with one message each way.
async fn grpc(request: Request<Incoming>, inbox: &Inbox) -> Response<Body> {
    let (head, body) = request.into_parts();
    let path = head.uri.path();
    let is_trace = path == GRPC_TRACES;
    if !is_trace && !GRPC_OTHERS.contains(&path) {
        return grpc_failure(GRPC_UNIMPLEMENTED);
    }
    let message = collect(body, MOST_MESSAGE_BYTES + GRPC_PREFIX_BYTES).await;
    if !is_trace {
        return grpc_success();
    }
    let is_gzip = head
        .headers
        .get(GRPC_ENCODING)
        .is_some_and(|value| value == "gzip");
    let taken = message
        .and_then(|message| unframed(&message, is_gzip))
        .and_then(|message| message::read(&message, Encoding::Protobuf));
    match taken {
        Ok(export) => {
            inbox.take_in(export);
            grpc_success()
        }
        Err(why) => {
            inbox.refuse(why);
            grpc_failure(GRPC_INVALID_ARGUMENT)
        }
    }
}

/// The one message of a call.
fn unframed(framed: &[u8], is_gzip: bool) -> Result<Bytes, String> {
    let not_one = || "not one message of gRPC".to_owned();
    let (prefix, message) = framed
        .split_at_checked(GRPC_PREFIX_BYTES)
        .ok_or_else(not_one)?;
    let length = prefix[1..]
        .iter()
        .fold(0, |sum, byte| sum << 8 | usize::from(*byte));
    if message.len() != length {
        return Err(not_one());
    }
    match prefix[0] {
        0 => Ok(Bytes::copy_from_slice(message)),
        1 if is_gzip => unpacked(message),
        _ => Err("packed in a way that is not gzip".to_owned()),
    }
}

/// A request in plain HTTP.
async fn plain(request: Request<Incoming>, kind: &str, inbox: &Inbox) -> Response<Body> {
    let (head, body) = request.into_parts();
    let path = head.uri.path().trim_end_matches('/');
    let is_trace = path == TRACES;
    if !is_trace && !OTHERS.contains(&path) {
        return status(StatusCode::NOT_FOUND);
    }
    if head.method != Method::POST {
        return status(StatusCode::METHOD_NOT_ALLOWED);
    }
    let encoding = match kind {
        "application/x-protobuf" | "application/protobuf" => Encoding::Protobuf,
        "application/json" => Encoding::Json,
        other => {
            inbox.refuse(format!("its type is {other:?}"));
            return status(StatusCode::UNSUPPORTED_MEDIA_TYPE);
        }
    };
    let body = collect(body, MOST_MESSAGE_BYTES).await;
    if !is_trace {
        return success(encoding);
    }
    let packing = head
        .headers
        .get(CONTENT_ENCODING)
        .map(HeaderValue::as_bytes);
    let body = body.and_then(|body| match packing {
        None | Some(b"" | b"identity") => Ok(body),
        Some(b"gzip") => unpacked(&body),
        Some(_) => Err("packed in a way that is not gzip".to_owned()),
    });
    match body.and_then(|body| message::read(&body, encoding)) {
        Ok(export) => {
            inbox.take_in(export);
            success(encoding)
        }
        Err(why) => {
            inbox.refuse(why);
            status(StatusCode::BAD_REQUEST)
        }
    }
}

/// A whole body.
async fn collect(body: Incoming, most: usize) -> Result<Bytes, String> {
    let whole = Limited::new(body, most).collect();
    match tokio::time::timeout(READ_TIMEOUT, whole).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) => Err(format!("not read: {error}")),
        Err(_) => Err("not sent within ten seconds".to_owned()),
    }
}

/// What gzip packed.
fn unpacked(packed: &[u8]) -> Result<Bytes, String> {
    let mut bytes = Vec::new();
    let most = MOST_MESSAGE_BYTES as u64;
    let mut decoder = MultiGzDecoder::new(packed).take(most + 1);
    let read = decoder.read_to_end(&mut bytes);
    read.map_err(|error| format!("not what gzip packs: {error}"))?;
    if bytes.len() > MOST_MESSAGE_BYTES {
        return Err(format!("larger than {MOST_MESSAGE_BYTES} bytes"));
    }
    Ok(bytes.into())
}

fn status(code: StatusCode) -> Response<Body> {
    let mut response = Response::new(Empty::new().boxed_unsync());
    *response.status_mut() = code;
    response
}

/// An empty `ExportTraceServiceResponse`, in the encoding that was asked in.
fn success(encoding: Encoding) -> Response<Body> {
    let (kind, body) = match encoding {
        Encoding::Protobuf => ("application/x-protobuf", ""),
        Encoding::Json => ("application/json", "{}"),
    };
    let mut response = Response::new(Full::from(body).boxed_unsync());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

fn grpc_success() -> Response<Body> {
    let mut trailers = HeaderMap::new();
    trailers.insert(GRPC_STATUS, HeaderValue::from_static("0"));
    // An empty message, not packed.
    let message = Full::from(Bytes::from_static(&[0; GRPC_PREFIX_BYTES]));
    let body = message.with_trailers(async { Some(Ok(trailers)) });
    grpc_response(body.boxed_unsync())
}

/// The status alone, in the head: there is no message, and no trailer after it.
fn grpc_failure(code: u8) -> Response<Body> {
    let mut response = grpc_response(Empty::new().boxed_unsync());
    response
        .headers_mut()
        .insert(GRPC_STATUS, HeaderValue::from(u16::from(code)));
    response
}

fn grpc_response(body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let kind = HeaderValue::from_static("application/grpc");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

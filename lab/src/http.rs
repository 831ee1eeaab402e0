//! The little HTTP/1.1 that the sick servers share: blocking, keep-alive, a thread for each
//! connection, every response in one write.
//!
//! Deliberately absent: chunked bodies, pipelining limits, timeouts. A lab server must have no
//! cause of slowness but its own.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use crate::sys;

/// Accept queue of every server whose fault is not the accept queue; the kernel caps it at
/// net.core.somaxconn.
pub(crate) const AMPLE_BACKLOG: i32 = 1024;
/// Longest request, head and body together; more is answered with 400.
const REQUEST_MAX_BYTES: usize = 1 << 20;
/// Pause after a failed accept, so that running out of descriptors does not burn a CPU.
pub(crate) const ACCEPT_RETRY: Duration = Duration::from_millis(10);

/// What the servers need to know of a request; its body has been read and dropped.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) path: String,
    /// The client wants the connection closed after the response.
    pub(crate) close: bool,
    /// The context of the trace that the request belongs to, as it was sent.
    pub(crate) traceparent: Option<String>,
    /// A HEAD request: the response has no body.
    head_only: bool,
}

impl Request {
    /// Readiness probes stay outside the fault and outside the count.
    pub(crate) fn is_health(&self) -> bool {
        self.path == "/health"
    }
}

/// How far the bytes received so far get us.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Parsed {
    Incomplete,
    Complete { request: Request, consumed: usize },
    Malformed,
}

/// Reads the request at the start of `received`.
pub(crate) fn parse(received: &[u8]) -> Parsed {
    let Some(head_end) = received.windows(4).position(|window| window == b"\r\n\r\n") else {
        let too_long = received.len() > REQUEST_MAX_BYTES;
        return if too_long {
            Parsed::Malformed
        } else {
            Parsed::Incomplete
        };
    };
    let Some((request, body_bytes)) = parse_head(&received[..head_end]) else {
        return Parsed::Malformed;
    };
    let consumed = head_end + 4 + body_bytes;
    if received.len() < consumed {
        return Parsed::Incomplete;
    }
    Parsed::Complete { request, consumed }
}

fn parse_head(head: &[u8]) -> Option<(Request, usize)> {
    let head = std::str::from_utf8(head).ok()?;
    let mut lines = head.split("\r\n");
    let mut words = lines.next()?.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    if words.next().is_some() || !version.starts_with("HTTP/1.") {
        return None;
    }
    let mut close = version == "HTTP/1.0";
    let mut body_bytes = 0;
    let mut traceparent = None;
    for line in lines {
        let (name, value) = line.split_once(':')?;
        let value = value.trim();
        if name.eq_ignore_ascii_case("content-length") {
            body_bytes = value
                .parse()
                .ok()
                .filter(|&bytes| bytes <= REQUEST_MAX_BYTES)?;
        } else if name.eq_ignore_ascii_case("connection") {
            close = value.eq_ignore_ascii_case("close")
                || (close && !value.eq_ignore_ascii_case("keep-alive"));
        } else if name.eq_ignore_ascii_case("traceparent") {
            traceparent = Some(value.to_owned());
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            return None;
        }
    }
    let path = target.split('?').next()?.to_owned();
    Some((
        Request {
            path,
            close,
            traceparent,
            head_only: method == "HEAD",
        },
        body_bytes,
    ))
}

/// Status line and headers up to the empty line. `extra` is whole header lines.
pub(crate) fn head(request: &Request, body_bytes: usize, extra: &str) -> String {
    let connection = if request.close { "close" } else { "keep-alive" };
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {body_bytes}\r\n\
         Connection: {connection}\r\n{extra}\r\n"
    )
}

/// The whole response, to be sent in one write.
pub(crate) fn response(request: &Request, body: &[u8]) -> Vec<u8> {
    let mut bytes = head(request, body.len(), "").into_bytes();
    bytes.extend_from_slice(body_of(request, body));
    bytes
}

/// The part of the body that is sent: none in answer to HEAD.
pub(crate) fn body_of<'a>(request: &Request, body: &'a [u8]) -> &'a [u8] {
    if request.head_only { &[] } else { body }
}

/// The response to a request that cannot be read; the connection ends with it.
pub(crate) const BAD_REQUEST: &[u8] =
    b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// Listens on 127.0.0.1; port 0 lets the kernel choose.
pub(crate) fn listen(port: u16, backlog: i32) -> io::Result<TcpListener> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    sys::set_backlog(&listener, backlog)?;
    Ok(listener)
}

/// The requests of one connection, one after the other.
pub(crate) struct Connection<S = TcpStream> {
    pub(crate) stream: S,
    received: Vec<u8>,
}

impl<S: Read + Write> Connection<S> {
    pub(crate) fn new(stream: S) -> Self {
        Self {
            stream,
            received: Vec::with_capacity(4096),
        }
    }

    /// The next request, or `None` when the client is done or cannot be understood.
    pub(crate) fn next_request(&mut self) -> io::Result<Option<Request>> {
        let mut chunk = [0; 4096];
        loop {
            match parse(&self.received) {
                Parsed::Complete { request, consumed } => {
                    self.received.drain(..consumed);
                    return Ok(Some(request));
                }
                Parsed::Malformed => {
                    self.stream.write_all(BAD_REQUEST)?;
                    return Ok(None);
                }
                Parsed::Incomplete => {}
            }
            match self.stream.read(&mut chunk)? {
                0 => return Ok(None),
                count => self.received.extend_from_slice(&chunk[..count]),
            }
        }
    }
}

/// Writes the answer to one request.
pub(crate) type Answer = dyn Fn(&Request, &mut TcpStream) -> io::Result<()> + Send + Sync;

/// A server with a thread for each connection.
pub(crate) struct Threaded {
    pub(crate) nodelay: bool,
    /// Closes each connection after its first response, whatever the client would like.
    pub(crate) one_request: bool,
    /// Counts the requests other than readiness probes.
    pub(crate) requests: Arc<AtomicU64>,
    pub(crate) answer: Box<Answer>,
}

impl Threaded {
    /// Serves in the background as long as the process lives.
    pub(crate) fn start(self, listener: TcpListener) -> io::Result<()> {
        let server = Arc::new(self);
        thread::Builder::new()
            .name("accept".to_owned())
            .spawn(move || accept_each(&listener, |stream| Arc::clone(&server).spawn(stream)))
            .map(drop)
    }

    /// Serves one connection in a thread of its own; without a thread it is closed.
    pub(crate) fn spawn(self: Arc<Self>, stream: TcpStream) {
        let thread = thread::Builder::new().name("connection".to_owned());
        // A client that goes away ends its connection, which is nothing to report.
        drop(thread.spawn(move || self.serve(stream)));
    }

    /// Serves one connection to its end. An error is the client's going away.
    pub(crate) fn serve(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(self.nodelay)?;
        let mut connection = Connection::new(stream);
        while let Some(mut request) = connection.next_request()? {
            request.close |= self.one_request;
            if request.is_health() {
                connection.stream.write_all(&response(&request, b"ok\n"))?;
            } else {
                self.requests.fetch_add(1, Ordering::Relaxed);
                (self.answer)(&request, &mut connection.stream)?;
            }
            if request.close {
                break;
            }
        }
        Ok(())
    }
}

/// Hands every accepted connection to `take`, for ever.
pub(crate) fn accept_each(listener: &TcpListener, take: impl Fn(TcpStream)) {
    loop {
        match listener.accept() {
            Ok((stream, _)) => take(stream),
            Err(_) => thread::sleep(ACCEPT_RETRY),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complete(text: &str) -> (Request, usize) {
        match parse(text.as_bytes()) {
            Parsed::Complete { request, consumed } => (request, consumed),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_request_ends_with_its_body_and_not_before() {
        let text = "POST /a?b=c HTTP/1.1\r\nContent-Length: 3\r\n\r\nxyzGET";
        let (request, consumed) = complete(text);
        assert_eq!((request.path.as_str(), request.close), ("/a", false));
        assert_eq!(&text[consumed..], "GET");
        for end in 0..consumed {
            assert_eq!(parse(&text.as_bytes()[..end]), Parsed::Incomplete, "{end}");
        }
    }

    #[test]
    fn the_connection_is_kept_as_version_and_header_say() {
        assert!(complete("GET / HTTP/1.0\r\n\r\n").0.close);
        assert!(
            !complete("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n")
                .0
                .close
        );
        assert!(
            complete("GET / HTTP/1.1\r\nconnection: close\r\n\r\n")
                .0
                .close
        );
        assert!(!complete("GET / HTTP/1.1\r\n\r\n").0.close);
    }

    #[test]
    fn what_cannot_be_read_is_malformed() {
        for text in [
            "GET /\r\n\r\n",
            "GET / HTTP/2\r\n\r\n",
            "GET / HTTP/1.1\r\nno colon\r\n\r\n",
            "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
            "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
        ] {
            assert_eq!(parse(text.as_bytes()), Parsed::Malformed, "{text}");
        }
    }

    #[test]
    fn a_response_to_head_has_the_length_but_not_the_body() {
        let (request, _) = complete("HEAD / HTTP/1.1\r\n\r\n");
        let text = String::from_utf8(response(&request, b"12345")).unwrap();
        assert!(
            text.contains("Content-Length: 5\r\n") && text.ends_with("\r\n\r\n"),
            "{text}"
        );
    }
}

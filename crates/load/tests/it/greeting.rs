//! Before a load: whether the target speaks the protocol of the load, and what it is sent.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use rustls::version;
use slowpath_core::scenario::Http;
use slowpath_load::{Address, GreetError, Route, Tls, TlsTerms};

use crate::http2_server::{Http2Server, Manner};
use crate::tls::{Identity, Server, hits, trusting};

/// Far longer than it takes.
const LIMIT: Duration = Duration::from_secs(20);

fn greet(route: &Route, http: Http, limit: Duration) -> Result<(), GreetError> {
    route.greet(&route.addresses[0], http, limit)
}

fn over_tls(address: SocketAddr, terms: &TlsTerms) -> Route {
    Route::plain([address]).secured(Tls::new(terms, "localhost").unwrap())
}

/// Reads once on each connection, says `answer`, and closes, or waits for the end if it says
/// nothing and `waits`.
fn saying(answer: &'static [u8], waits: bool) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut read = [0; 4096];
            let _ = stream.read(&mut read);
            let _ = stream.write_all(answer);
            if waits {
                while stream.read(&mut read).is_ok_and(|bytes| bytes > 0) {}
            }
        }
    });
    address
}

const HTTP: &[u8] = b"HTTP/1.1 400 Bad Request\r\n\r\n";
const ALERT: &[u8] = b"\x15\x03\x03\0\x02\x02\x46";

#[test]
fn what_speaks_http2_is_asked_for_nothing() {
    let server = Http2Server::start(Manner::default(), |_, _| Box::pin(async {}));
    let route = Route::plain([server.address]);
    greet(&route, Http::Two, LIMIT).unwrap();
    assert_eq!(server.seen.lock().unwrap().requests, 0);
}

#[test]
fn what_is_not_http2_is_told_at_once() {
    for (answer, text) in [
        (
            HTTP,
            "the server does not speak HTTP/2: it answers with HTTP/1",
        ),
        (
            b"",
            "the server does not speak HTTP/2: it closes the connection",
        ),
        (
            b"hello, hello, hello",
            "the server does not speak HTTP/2: it answers with something else",
        ),
        (ALERT, "the server speaks TLS"),
    ] {
        let route = Route::plain([saying(answer, false)]);
        let error = greet(&route, Http::Two, LIMIT).unwrap_err();
        assert_eq!(error.to_string(), text);
    }
    // A server may be slow to answer, and of HTTP/1.1 nothing is known without a request.
    let route = Route::plain([saying(b"", true)]);
    greet(&route, Http::Two, Duration::from_millis(50)).unwrap();
    greet(&route, Http::One, LIMIT).unwrap();
}

#[test]
fn what_is_not_tls_is_told_from_what_closes_and_what_is_silent() {
    let terms = TlsTerms {
        insecure: true,
        ..TlsTerms::default()
    };
    for (answer, waits, text) in [
        (HTTP, false, "what the server answers is not TLS"),
        (
            b"",
            false,
            "the server closes the connection in the middle of the handshake",
        ),
        (b"", true, "the server does not answer the handshake"),
    ] {
        let route = over_tls(saying(answer, waits), &terms);
        let limit = if waits {
            Duration::from_millis(50)
        } else {
            LIMIT
        };
        let error = greet(&route, Http::One, limit).unwrap_err();
        assert_eq!(error.to_string(), text);
    }
}

#[test]
fn a_handshake_that_comes_byte_by_byte_is_not_waited_for_for_ever() {
    // The header of a record of 16 KiB, of which each byte would restart the wait. The server
    // closes long before its end, so that a client that waits learns of the close.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.write_all(b"\x16\x03\x03\x40\0");
        for _ in 0..400 {
            std::thread::sleep(Duration::from_millis(20));
            if stream.write_all(&[0]).is_err() {
                return;
            }
        }
    });
    let terms = TlsTerms {
        insecure: true,
        ..TlsTerms::default()
    };
    let route = over_tls(address, &terms);
    let error = greet(&route, Http::One, Duration::from_millis(100)).unwrap_err();
    assert!(matches!(error, GreetError::Silent), "{error}");
}

#[test]
fn tls_that_does_not_choose_http2_is_told() {
    let identity = Identity::new();
    let server = Server::start(&identity, None, hits);
    let route = over_tls(server.address, &trusting(&identity));
    greet(&route, Http::One, LIMIT).unwrap();
    let error = greet(&route, Http::Two, LIMIT).unwrap_err();
    assert!(matches!(error, GreetError::NotHttp2(_)), "{error}");
}

#[test]
fn a_client_without_certificate_is_refused_in_both_versions() {
    let (identity, clients) = (Identity::new(), Identity::new());
    for version in [&version::TLS12, &version::TLS13] {
        let server = Server::of_versions(&[version], &identity, Some(&clients), hits);
        let route = over_tls(server.address, &trusting(&identity));
        let error = greet(&route, Http::One, LIMIT).unwrap_err();
        assert!(
            matches!(error, GreetError::ClientRefused(_)),
            "{version:?}: {error}"
        );
    }
}

#[test]
fn tls_is_known_where_plain_text_was_expected() {
    let terms = TlsTerms {
        insecure: true,
        ..TlsTerms::default()
    };
    let tls = Tls::new(&terms, "localhost").unwrap();
    let server = Server::start(&Identity::new(), None, hits);
    for (address, speaks) in [(server.address, true), (saying(HTTP, false), false)] {
        let route = Route::plain([address]);
        let told = route.speaks_tls(&Address::Tcp(address), tls.clone(), LIMIT);
        assert_eq!(told, speaks);
    }
}

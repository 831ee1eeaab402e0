//! Finding out before a load whether the target speaks what it will be spoken to in. No request is
//! sent: what the server counts is the load's alone.

use std::io::{self, ErrorKind, Read, Write};
use std::time::{Duration, Instant};

use rustls::{AlertDescription, CertificateError, ClientConnection, ProtocolVersion, StreamOwned};
use slowpath_core::scenario::Http;

use crate::http2;
use crate::route::{Blocking, Hurried, Limited, Route, shake};
use crate::tls::{Tls, explain, reason_of};
use crate::transport::Address;

/// How long the verdict of a TLS 1.3 server on its client is waited for at least. It comes after
/// the handshake (RFC 8446, section 4.4.2.4), and silence means that there is nothing to say.
const VERDICT: Duration = Duration::from_millis(50);
/// The same in handshakes, of which the server is far away that are long.
const VERDICT_HANDSHAKES: u32 = 2;

/// What a client of HTTP/2 says first (RFC 9113, section 3.4): the preface and empty SETTINGS.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
/// GOAWAY without error: we have asked for nothing and never will.
const FAREWELL: &[u8] = b"\0\0\x08\x07\0\0\0\0\0\0\0\0\0\0\0\0\0";
/// Bytes of the header of a frame.
const FRAME_HEADER_BYTES: usize = 9;
/// The type of a SETTINGS frame, with which a server begins.
const SETTINGS: u8 = 4;
/// How an alert of TLS begins: its content type and the first byte of any version.
const ALERT: &[u8] = &[21, 3];

/// Why a load would come to nothing.
#[derive(Debug, thiserror::Error)]
pub enum GreetError {
    /// There is no connection.
    #[error("{0}")]
    Connect(io::Error),
    /// No authority that we trust has signed its certificate.
    #[error("{0}")]
    Untrusted(String),
    /// Its certificate is for another name.
    #[error("{0}")]
    OtherName(String),
    /// Its certificate has expired, or is not valid yet.
    #[error("{0}")]
    OtherTime(String),
    /// It wants to know who we are, or does not accept it.
    #[error("the server does not accept its client: {0}")]
    ClientRefused(String),
    /// It answers, in plain text or in something else.
    #[error("what the server answers is not TLS")]
    NotTls,
    /// It is TLS that is spoken there.
    #[error("the server speaks TLS")]
    SpeaksTls,
    /// It closed the connection.
    #[error("the server closes the connection in the middle of the handshake")]
    Closed,
    /// Nothing came.
    #[error("the server does not answer the handshake")]
    Silent,
    /// It speaks TLS, but not HTTP/2 over it; or plain text, and that is not HTTP/2.
    #[error("the server does not speak HTTP/2: {0}")]
    NotHttp2(&'static str),
    /// TLS fails otherwise.
    #[error("{0}")]
    Tls(String),
}

impl Route {
    /// Connects, shakes hands where there is TLS, and hears whether the protocol is spoken where
    /// it can be known without a request. Each step takes no longer than `limit`.
    ///
    /// # Errors
    /// Says what is not as expected.
    pub fn greet(&self, address: &Address, http: Http, limit: Duration) -> Result<(), GreetError> {
        let bare = Self::plain([address.clone()]);
        let mut stream = bare.open(address, limit).map_err(GreetError::Connect)?;
        let Some(tls) = &self.tls else {
            return match http {
                Http::One => Ok(()),
                Http::Two => hear_http2(&mut Hurried::new(&mut stream, limit)),
            };
        };
        let begun = Instant::now();
        let tls = match http {
            Http::One => tls.clone(),
            Http::Two => tls.clone().speaking(http2::ALPN),
        };
        let session = shake(&tls, &mut stream, limit).map_err(|error| meaning(&error))?;
        let mut stream = StreamOwned::new(session, stream);
        match http {
            Http::Two if stream.conn.alpn_protocol() != Some(http2::ALPN) => {
                Err(GreetError::NotHttp2("it did not choose h2 (ALPN)"))
            }
            Http::Two => hear_http2(&mut Hurried::new(&mut stream, limit)),
            Http::One => {
                let patience = VERDICT.max(begun.elapsed() * VERDICT_HANDSHAKES).min(limit);
                hear_verdict(&mut stream, patience)
            }
        }
    }

    /// Whether TLS is spoken where plain text was expected.
    pub fn speaks_tls(&self, address: &Address, tls: Tls, limit: Duration) -> bool {
        let told = self.clone().secured(tls).greet(address, Http::One, limit);
        match told {
            Err(
                GreetError::Connect(_)
                | GreetError::NotTls
                | GreetError::Closed
                | GreetError::Silent,
            ) => false,
            // A refusal in TLS is TLS too.
            Ok(()) | Err(_) => true,
        }
    }
}

impl Limited for StreamOwned<ClientConnection, Blocking> {
    fn set_limit(&self, limit: Duration) -> io::Result<()> {
        self.sock.set_limit(limit)
    }
}

/// What a failure in or just after a handshake means.
fn meaning(error: &io::Error) -> GreetError {
    use AlertDescription as Alert;
    use CertificateError as Certificate;
    let Some(reason) = reason_of(error) else {
        return match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => GreetError::Silent,
            ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => {
                GreetError::Closed
            }
            _ => GreetError::Tls(error.to_string()),
        };
    };
    match reason {
        rustls::Error::InvalidCertificate(of) => match of {
            Certificate::NotValidForName | Certificate::NotValidForNameContext { .. } => {
                GreetError::OtherName(explain(reason))
            }
            Certificate::Expired
            | Certificate::ExpiredContext { .. }
            | Certificate::NotValidYet
            | Certificate::NotValidYetContext { .. } => GreetError::OtherTime(explain(reason)),
            _ => GreetError::Untrusted(explain(reason)),
        },
        rustls::Error::InvalidMessage(_) => GreetError::NotTls,
        rustls::Error::AlertReceived(Alert::NoApplicationProtocol) => {
            GreetError::NotHttp2("it chose no protocol of those offered (ALPN)")
        }
        rustls::Error::AlertReceived(
            Alert::CertificateRequired
            | Alert::BadCertificate
            | Alert::UnsupportedCertificate
            | Alert::CertificateExpired
            | Alert::CertificateUnknown
            | Alert::CertificateRevoked
            | Alert::UnknownCA
            | Alert::AccessDenied,
        ) => GreetError::ClientRefused(explain(reason)),
        _ => GreetError::Tls(explain(reason)),
    }
}

/// Hears whether the server has something against its client.
fn hear_verdict(
    stream: &mut StreamOwned<ClientConnection, Blocking>,
    patience: Duration,
) -> Result<(), GreetError> {
    if stream.conn.protocol_version() != Some(ProtocolVersion::TLSv1_3) {
        return Ok(());
    }
    let set = stream.sock.set_patience(patience);
    set.map_err(GreetError::Connect)?;
    match stream.read(&mut [0]) {
        Err(error) if reason_of(&error).is_some() => Err(meaning(&error)),
        // Silence, or an end in good order, which the load will show.
        _ => Ok(()),
    }
}

/// Greets in HTTP/2 and hears whether the answer is. Silence is none: a server may be slow.
fn hear_http2(stream: &mut (impl Read + Write)) -> Result<(), GreetError> {
    let mut header = [0; FRAME_HEADER_BYTES];
    let mut heard = 0;
    let said = stream.write_all(PREFACE).and_then(|()| stream.flush());
    let mut end = said.err();
    while end.is_none() && heard < header.len() {
        match stream.read(&mut header[heard..]) {
            Ok(0) => end = Some(ErrorKind::UnexpectedEof.into()),
            Ok(bytes) => heard += bytes,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => end = Some(error),
        }
    }
    let header = &header[..heard];
    if header.starts_with(ALERT) {
        return Err(GreetError::SpeaksTls);
    }
    if header.starts_with(b"HTTP/1") {
        return Err(GreetError::NotHttp2("it answers with HTTP/1"));
    }
    match end {
        None if header[3] == SETTINGS => {
            // If it has gone by now, the load will show it.
            let _ = stream.write_all(FAREWELL).and_then(|()| stream.flush());
            Ok(())
        }
        None => Err(GreetError::NotHttp2("it answers with something else")),
        Some(error) if reason_of(&error).is_some() => Err(meaning(&error)),
        Some(error) => match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => Ok(()),
            _ => Err(GreetError::NotHttp2("it closes the connection")),
        },
    }
}

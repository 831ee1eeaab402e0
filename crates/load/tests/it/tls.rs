//! TLS: what is handshaken, resumed, trusted and cut.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{HandshakeKind, RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use rustls::{SupportedProtocolVersion, version};
use slowpath_core::sample::{Outcome, Phase};
use slowpath_core::scenario::{Arrivals, ConnectionUse, LoadDraft, Scenario};
use slowpath_load::{Route, Tls, TlsTerms};

use crate::server::{OK, seq};
use crate::{Run, run_on, scenario};

/// How a server ends a connection, or does not.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Keep,
    /// With a `close_notify`.
    Notify,
    /// Without one: as if the wire were cut.
    Cut,
}

pub(crate) type Wire = StreamOwned<ServerConnection, TcpStream>;
pub(crate) type Answer = fn(&str, &mut Wire) -> End;

/// A certificate and its key in PEM, and files of both.
pub(crate) struct Identity {
    certificate: String,
    key: String,
    folder: tempfile::TempDir,
}

impl Identity {
    pub(crate) fn new() -> Self {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let (certificate, key) = (made.cert.pem(), made.signing_key.serialize_pem());
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("cert.pem"), &certificate).unwrap();
        std::fs::write(folder.path().join("key.pem"), &key).unwrap();
        Self {
            certificate,
            key,
            folder,
        }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn chain(&self) -> Vec<CertificateDer<'static>> {
        vec![CertificateDer::from_pem_slice(self.certificate.as_bytes()).unwrap()]
    }
}

/// A server that speaks TLS; its thread ends with the test's process.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    /// What each handshake was that ended well.
    handshakes: Arc<Mutex<Vec<HandshakeKind>>>,
}

impl Server {
    pub(crate) fn start(identity: &Identity, clients: Option<&Identity>, answer: Answer) -> Self {
        Self::of_versions(&[&version::TLS13], identity, clients, answer)
    }

    pub(crate) fn of_versions(
        versions: &[&'static SupportedProtocolVersion],
        identity: &Identity,
        clients: Option<&Identity>,
        answer: Answer,
    ) -> Self {
        let provider = Arc::new(ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(versions)
            .unwrap();
        let builder = if let Some(clients) = clients {
            let mut roots = RootCertStore::empty();
            roots.add_parsable_certificates(clients.chain());
            let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        } else {
            builder.with_no_client_auth()
        };
        let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes()).unwrap();
        let mut config = builder.with_single_cert(identity.chain(), key).unwrap();
        config.ticketer = ring::Ticketer::new().unwrap();
        let config = Arc::new(config);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let handshakes = Arc::new(Mutex::new(Vec::new()));
        let theirs = Arc::clone(&handshakes);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (config, handshakes) = (Arc::clone(&config), Arc::clone(&theirs));
                std::thread::spawn(move || serve(stream, config, &handshakes, answer));
            }
        });
        Self {
            address,
            handshakes,
        }
    }
}

fn serve(
    mut stream: TcpStream,
    config: Arc<ServerConfig>,
    handshakes: &Mutex<Vec<HandshakeKind>>,
    answer: Answer,
) {
    let mut session = ServerConnection::new(config).unwrap();
    while session.is_handshaking() {
        if session.complete_io(&mut stream).is_err() {
            return;
        }
    }
    let kind = session.handshake_kind().unwrap();
    handshakes.lock().unwrap().push(kind);
    let mut wire = StreamOwned::new(session, stream);
    let (mut head, mut byte) = (Vec::new(), [0]);
    while let Ok(1) = wire.read(&mut byte) {
        head.push(byte[0]);
        if head.ends_with(b"\r\n\r\n") {
            let text = String::from_utf8(std::mem::take(&mut head)).unwrap();
            match answer(&text, &mut wire) {
                End::Keep => {}
                End::Cut => return,
                End::Notify => {
                    wire.conn.send_close_notify();
                    let _ = wire.flush();
                    return;
                }
            }
        }
    }
}

fn say(wire: &mut Wire, text: &str) -> End {
    // The load may have given up already.
    let _ = wire.write_all(text.as_bytes()).and_then(|()| wire.flush());
    End::Keep
}

pub(crate) fn hits(_: &str, wire: &mut Wire) -> End {
    say(wire, OK)
}

pub(crate) fn trusting(identity: &Identity) -> TlsTerms {
    TlsTerms {
        ca: Some(identity.file("cert.pem")),
        resume: true,
        ..TlsTerms::default()
    }
}

fn load(connection: ConnectionUse) -> Scenario {
    scenario(&LoadDraft {
        rate_per_s: Some(100.0),
        arrivals: Some(Arrivals::Uniform),
        connections: Some(1),
        connection: Some(connection),
        duration_ns: Some(400_000_000),
        warmup_ns: Some(100_000_000),
        ..LoadDraft::default()
    })
}

fn drive(server: &Server, terms: &TlsTerms, connection: ConnectionUse) -> Run {
    let tls = Tls::new(terms, "localhost").unwrap();
    run_on(
        load(connection),
        Route::plain([server.address]).secured(tls),
    )
}

#[test]
fn a_pooled_connection_is_secured_once_and_ahead() {
    let identity = Identity::new();
    let server = Server::start(&identity, None, hits);
    let run = drive(&server, &trusting(&identity), ConnectionUse::Pool);
    assert!(run.samples.iter().all(|s| s.outcome == Outcome::Ok));
    assert_eq!((run.drove.tls_full, run.drove.tls_resumed), (1, 0));
    assert_eq!(*server.handshakes.lock().unwrap(), [HandshakeKind::Full]);
    // The tickets that come after the handshake are nothing that makes a connection stale.
    assert_eq!(run.drove.connections_stale, 0);
    assert!(
        run.measured()
            .all(|s| s.secured.is_none() && s.connection == 0)
    );
}

#[test]
fn sessions_are_resumed_unless_they_must_not() {
    for versions in [[&version::TLS13], [&version::TLS12]] {
        for resume in [true, false] {
            let identity = Identity::new();
            let server = Server::of_versions(&versions, &identity, None, hits);
            let terms = TlsTerms {
                resume,
                ..trusting(&identity)
            };
            let run = drive(&server, &terms, ConnectionUse::PerRequest);
            let theirs = server.handshakes.lock().unwrap();
            let resumed = theirs
                .iter()
                .filter(|kind| **kind == HandshakeKind::Resumed);
            assert_eq!(run.drove.tls_resumed, resumed.count() as u64);
            assert_eq!(
                run.drove.tls_full + run.drove.tls_resumed,
                theirs.len() as u64
            );
            assert_eq!(
                run.drove.tls_full,
                if resume { 1 } else { theirs.len() as u64 }
            );
            for sample in run.measured() {
                let (connected, secured) = (sample.connected.unwrap(), sample.secured.unwrap());
                assert!(connected < secured && secured <= sample.sent.unwrap());
                assert_eq!(sample.connection_since, Some(connected));
            }
        }
    }
}

#[test]
fn who_is_not_trusted_is_an_error_that_says_why() {
    let (identity, other) = (Identity::new(), Identity::new());
    let server = Server::start(&identity, None, hits);
    let run = drive(&server, &trusting(&other), ConnectionUse::Pool);
    for sample in &run.samples {
        assert_eq!(
            (sample.outcome, sample.phase),
            (Outcome::Tls, Phase::Handshake)
        );
        assert!(sample.connected.is_some() && sample.secured.is_none());
        assert_eq!(sample.sent, None);
    }
    let reasons = &run.drove.reasons;
    assert_eq!(reasons.len(), 1, "{reasons:?}");
    assert!(
        reasons[0].text.contains("certificate is not trusted"),
        "{reasons:?}"
    );

    let name = Tls::new(&trusting(&identity), "shop.test").unwrap();
    let route = Route::plain([server.address]).secured(name);
    let run = run_on(load(ConnectionUse::Pool), route);
    assert!(
        run.drove.reasons[0].text.contains("shop.test"),
        "{:?}",
        run.drove.reasons
    );

    let anybody = TlsTerms {
        insecure: true,
        ..TlsTerms::default()
    };
    let run = drive(&server, &anybody, ConnectionUse::Pool);
    assert!(run.samples.iter().all(|s| s.outcome == Outcome::Ok));
}

#[test]
fn a_client_says_who_it_is() {
    let (identity, client) = (Identity::new(), Identity::new());
    let server = Server::start(&identity, Some(&client), hits);
    let known = TlsTerms {
        cert: Some(client.file("cert.pem")),
        key: Some(client.file("key.pem")),
        ..trusting(&identity)
    };
    let run = drive(&server, &known, ConnectionUse::PerRequest);
    assert!(run.samples.iter().all(|s| s.outcome == Outcome::Ok));
    // In TLS 1.3 the client is done before the server has checked its certificate.
    let run = drive(&server, &trusting(&identity), ConnectionUse::PerRequest);
    assert!(
        run.samples.iter().all(|s| s.outcome == Outcome::Tls),
        "{:?}",
        run.samples[0]
    );
    assert!(
        run.drove
            .reasons
            .iter()
            .any(|r| r.text.contains("CertificateRequired"))
    );
}

#[test]
fn what_is_no_tls_fails_its_handshake() {
    let server = crate::server::Server::start(|_, _| crate::server::After::Close);
    let tls = Tls::new(&trusting(&Identity::new()), "localhost").unwrap();
    let (address, plain) = (server.address, TcpListener::bind("127.0.0.1:0").unwrap());
    drop(server);
    let refused = run_on(
        load(ConnectionUse::Pool),
        Route::plain([address]).secured(tls.clone()),
    );
    for sample in &refused.samples {
        assert_eq!(
            (sample.outcome, sample.phase),
            (Outcome::Refused, Phase::Connect)
        );
    }
    let address = plain.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in plain.incoming().flatten() {
            let _ = stream.read(&mut [0; 2000]);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    let run = run_on(
        load(ConnectionUse::Pool),
        Route::plain([address]).secured(tls),
    );
    for sample in &run.samples {
        assert_eq!(
            (sample.outcome, sample.phase),
            (Outcome::Tls, Phase::Handshake)
        );
    }
}

#[test]
fn a_handshake_that_never_ends_is_a_timeout_in_its_phase() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let tls = Tls::new(&trusting(&Identity::new()), "localhost").unwrap();
    let mut scenario = load(ConnectionUse::Pool);
    scenario.load.timeout_ns = 100_000_000;
    let route = Route::plain([silent.local_addr().unwrap()]).secured(tls);
    let run = run_on(scenario, route);
    for sample in run
        .samples
        .iter()
        .filter(|s| s.outcome != Outcome::Unfinished)
    {
        assert_eq!(
            (sample.outcome, sample.phase),
            (Outcome::Timeout, Phase::Handshake)
        );
        assert!(sample.connected.is_some());
    }
    assert!(run.measured().any(|s| s.outcome == Outcome::Timeout));
}

/// What the server does, and what that is to the load.
const ENDS: [(Outcome, Phase, Answer); 8] = [
    (Outcome::Ok, Phase::Check, hits),
    // All that was announced is there: whether the goodbye was cut off changes nothing.
    (Outcome::Ok, Phase::Check, |_, wire| {
        say(
            wire,
            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi",
        );
        End::Cut
    }),
    (Outcome::Truncated, Phase::Body, |_, wire| {
        say(wire, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi");
        End::Cut
    }),
    (Outcome::Truncated, Phase::Body, |_, wire| {
        say(wire, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi");
        End::Notify
    }),
    (Outcome::Truncated, Phase::Body, |_, wire| {
        say(
            wire,
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n",
        );
        End::Cut
    }),
    // Without a length the goodbye is all that distinguishes a whole body from a cut one.
    (Outcome::Truncated, Phase::Body, |_, wire| {
        say(wire, "HTTP/1.1 200 OK\r\n\r\nto be conti");
        End::Cut
    }),
    (Outcome::Ok, Phase::Check, |_, wire| {
        say(wire, "HTTP/1.1 200 OK\r\n\r\nthe end");
        End::Notify
    }),
    (Outcome::Closed, Phase::FirstByte, |_, _| End::Cut),
];

#[test]
fn a_cut_connection_is_told_from_a_closed_one() {
    let identity = Identity::new();
    let server = Server::start(&identity, None, |head, wire| {
        ENDS[seq(head) as usize % ENDS.len()].2(head, wire)
    });
    let run = drive(&server, &trusting(&identity), ConnectionUse::Pool);
    for sample in &run.samples {
        let (outcome, phase, _) = ENDS[sample.serial as usize % ENDS.len()];
        assert_eq!(
            (sample.outcome, sample.phase),
            (outcome, phase),
            "{sample:?}"
        );
    }
    assert!(run.samples.len() >= ENDS.len() * 2);
}

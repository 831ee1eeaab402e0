//! How TLS is spoken to a target: which authorities to trust, who we are, and which sessions are remembered.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{
    ClientSessionStore, Resumption, Tls12ClientSessionValue, Tls13ClientSessionValue,
    WebPkiServerVerifier, verify_server_name,
};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, NamedGroup, RootCertStore,
    SignatureScheme,
};

/// Tickets remembered at most: one for each of the most connections that a load may have, so that
/// resumption is bounded by what the server hands out and not by us.
const MOST_TICKETS: usize = 65_536;

/// What was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsTerms {
    /// Accept any certificate.
    pub insecure: bool,
    /// PEM file of the authorities to trust instead of the system's.
    pub ca: Option<PathBuf>,
    /// PEM file of our certificate and its chain.
    pub cert: Option<PathBuf>,
    /// PEM file of the key to it.
    pub key: Option<PathBuf>,
    /// Whether sessions are resumed; otherwise every connection makes a full handshake.
    pub resume: bool,
    /// The protocols offered (ALPN), the preferred one first.
    pub protocols: Vec<Vec<u8>>,
}

/// Why TLS cannot be spoken as asked for.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read, or is not what it should be.
    #[error("{what} {path} cannot be used: {reason}")]
    File {
        /// Which of the files.
        what: &'static str,
        /// Where it was looked for.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Key and certificate are not each other's, or of a kind that is not supported.
    #[error("the client's certificate cannot be used: {0}")]
    Client(rustls::Error),
    /// There is no authority to trust.
    #[error("this system has no certificates of authorities{0}")]
    NoRoots(String),
    /// The host of the URL can be no name in a certificate.
    #[error("{0:?} can be no name in a certificate")]
    Name(String),
}

/// TLS with one target; what is remembered of its sessions is shared by all clones.
#[derive(Clone, Debug)]
pub struct Tls {
    pub(crate) config: Arc<ClientConfig>,
    pub(crate) name: ServerName<'static>,
}

impl Tls {
    /// TLS on these terms with the server called `host`: a name, or an IP address, for which no
    /// name is indicated (SNI).
    ///
    /// # Errors
    /// When a file is missing or wrong, or when there is no authority to trust.
    pub fn new(terms: &TlsTerms, host: &str) -> Result<Self, TlsError> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .expect("the provider has suites for both versions");
        let builder = if terms.insecure {
            let verifier = Arc::new(AnyCertificate(provider));
            builder
                .dangerous()
                .with_custom_certificate_verifier(verifier)
        } else {
            let ca = terms.ca.as_deref();
            let trusted = ca.map(|path| certificates("the authorities' file", path));
            let trusted = trusted.transpose()?;
            let roots = Arc::new(roots(ca.zip(trusted.as_deref()))?);
            let verifier = WebPkiServerVerifier::builder_with_provider(roots, provider);
            let verifier = Named {
                of_authorities: verifier
                    .build()
                    .expect("there are roots, and no revocation lists"),
                trusted: trusted.unwrap_or_default(),
            };
            builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(verifier))
        };
        let mut config = match (&terms.cert, &terms.key) {
            (Some(cert), Some(key)) => builder
                .with_client_auth_cert(certificates("the certificate", cert)?, private_key(key)?)
                .map_err(TlsError::Client)?,
            _ => builder.with_no_client_auth(),
        };
        config.resumption = if terms.resume {
            Resumption::store(Arc::new(Sessions::default()))
        } else {
            Resumption::disabled()
        };
        config.alpn_protocols.clone_from(&terms.protocols);
        let name = ServerName::try_from(host.to_owned());
        Ok(Self {
            config: Arc::new(config),
            name: name.map_err(|_| TlsError::Name(host.to_owned()))?,
        })
    }

    /// The same TLS, over which one protocol alone is negotiated (ALPN).
    pub(crate) fn speaking(self, protocol: &[u8]) -> Self {
        let mut config = (*self.config).clone();
        config.alpn_protocols = vec![protocol.to_vec()];
        Self {
            config: Arc::new(config),
            ..self
        }
    }
}

fn roots(ca: Option<(&Path, &[CertificateDer<'static>])>) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    if let Some((path, certificates)) = ca {
        for certificate in certificates {
            let added = roots.add(certificate.clone());
            added.map_err(|error| unusable("the authorities' file", path, &error))?;
        }
        return Ok(roots);
    }
    let found = rustls_native_certs::load_native_certs();
    // Some systems carry an old certificate that nothing can read; the others are good.
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let why = found.errors.first().map(|error| format!(": {error}"));
        return Err(TlsError::NoRoots(why.unwrap_or_default()));
    }
    Ok(roots)
}

fn certificates(what: &'static str, path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
    let read: Vec<_> = read.map_err(|error| unusable(what, path, &error))?;
    if read.is_empty() {
        return Err(unusable(what, path, &"there is no certificate in it"));
    }
    Ok(read)
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    PrivateKeyDer::from_pem_file(path).map_err(|error| unusable("the key", path, &error))
}

fn unusable(what: &'static str, path: &Path, reason: &dyn ToString) -> TlsError {
    TlsError::File {
        what,
        path: path.display().to_string(),
        reason: reason.to_string(),
    }
}

/// What rustls says inside an error of a stream.
pub(crate) fn reason_of(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref()?.downcast_ref()
}

/// An error of TLS in words that say what to do.
pub(crate) fn explain(error: &rustls::Error) -> String {
    let rustls::Error::InvalidCertificate(of) = error else {
        return error.to_string();
    };
    let why = match of {
        CertificateError::UnknownIssuer => "no trusted authority has signed it".to_owned(),
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "it has expired".to_owned()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "it is not valid yet".to_owned()
        }
        CertificateError::Other(_) => format!("it has signed itself, or is no server's ({of})"),
        other => other.to_string(),
    };
    format!("the server's certificate is not trusted: {why}")
}

/// Takes what an authority has signed, and what was named as trusted itself: `openssl req -x509`
/// makes certificates that are their own authority, which the rules of authorities (RFC 5280) do
/// not let serve. Such a one must still have the server's name.
#[derive(Debug)]
struct Named {
    of_authorities: Arc<WebPkiServerVerifier>,
    trusted: Vec<CertificateDer<'static>>,
}

impl ServerCertVerifier for Named {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        chain: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let verified = self
            .of_authorities
            .verify_server_cert(certificate, chain, name, ocsp, now);
        // What rustls has no name for is that an authority's certificate serves.
        let is_own_authority = matches!(
            verified,
            Err(rustls::Error::InvalidCertificate(CertificateError::Other(
                _
            )))
        );
        if is_own_authority && self.trusted.iter().any(|trusted| trusted == certificate) {
            verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
            return Ok(ServerCertVerified::assertion());
        }
        verified
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.of_authorities
            .verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.of_authorities
            .verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.of_authorities.supported_verify_schemes()
    }
}

/// Takes every certificate; that the server has its key is checked all the same.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// The sessions of one server. The library's own memory keeps eight tickets a server, so that a
/// load with more connections than that would make full handshakes by its own fault.
#[derive(Debug, Default)]
struct Sessions(Mutex<Remembered>);

#[derive(Debug, Default)]
struct Remembered {
    group: Option<NamedGroup>,
    session: Option<Tls12ClientSessionValue>,
    tickets: VecDeque<Tls13ClientSessionValue>,
}

impl Sessions {
    fn with<T>(&self, act: impl FnOnce(&mut Remembered) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl ClientSessionStore for Sessions {
    fn set_kx_hint(&self, _: ServerName<'static>, group: NamedGroup) {
        self.with(|known| known.group = Some(group));
    }

    fn kx_hint(&self, _: &ServerName<'_>) -> Option<NamedGroup> {
        self.with(|known| known.group)
    }

    fn set_tls12_session(&self, _: ServerName<'static>, value: Tls12ClientSessionValue) {
        self.with(|known| known.session = Some(value));
    }

    fn tls12_session(&self, _: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        self.with(|known| known.session.clone())
    }

    fn remove_tls12_session(&self, _: &ServerName<'static>) {
        self.with(|known| known.session = None);
    }

    fn insert_tls13_ticket(&self, _: ServerName<'static>, value: Tls13ClientSessionValue) {
        self.with(|known| {
            if known.tickets.len() == MOST_TICKETS {
                known.tickets.pop_front();
            }
            known.tickets.push_back(value);
        });
    }

    fn take_tls13_ticket(&self, _: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        // The youngest, which has the longest to live.
        self.with(|known| known.tickets.pop_back())
    }
}

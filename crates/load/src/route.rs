//! The way to the target, and what one asks it outside of a load.

use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use rustls::client::Resumption;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use socket2::{Domain, SockAddr, Socket, Type};

use crate::tls::{Tls, explain, reason_of};
use crate::transport::Address;

/// How the target is reached.
#[derive(Clone, Debug)]
pub struct Route {
    /// Where it listens; at least one, tried one by one.
    pub addresses: Vec<Address>,
    /// How TLS is spoken there, if it is.
    pub tls: Option<Tls>,
}

impl Route {
    /// A route without encryption.
    pub fn plain(addresses: impl IntoIterator<Item = impl Into<Address>>) -> Self {
        Self {
            addresses: addresses.into_iter().map(Into::into).collect(),
            tls: None,
        }
    }

    /// The same route with TLS.
    #[must_use]
    pub fn secured(self, tls: Tls) -> Self {
        let tls = Some(tls);
        Self { tls, ..self }
    }

    /// The same route, over which one protocol alone is negotiated (ALPN).
    pub(crate) fn speaking(self, protocol: &[u8]) -> Self {
        let tls = self.tls.map(|tls| tls.speaking(protocol));
        Self { tls, ..self }
    }

    /// Opens a blocking connection for a question outside of a load (is it ready? start afresh!),
    /// handshake included. Connecting, the handshake and every single read or write after it take
    /// no longer than `limit` each.
    ///
    /// # Errors
    /// What the system says, or, as [`io::ErrorKind::InvalidData`], why TLS failed in words.
    pub fn open(&self, address: &Address, limit: Duration) -> io::Result<Blocking> {
        match address {
            Address::Tcp(address) => {
                let stream = TcpStream::connect_timeout(address, limit)?;
                self.secure(stream, limit, Blocking::Tcp, |stream| {
                    Blocking::TlsTcp(Box::new(stream))
                })
            }
            Address::Unix(path) => {
                let stream = connect_unix(path, limit)?;
                self.secure(stream, limit, Blocking::Unix, |stream| {
                    Blocking::TlsUnix(Box::new(stream))
                })
            }
        }
    }

    fn secure<S: Limited>(
        &self,
        mut stream: S,
        limit: Duration,
        plain: impl FnOnce(S) -> Blocking,
        secured: impl FnOnce(StreamOwned<ClientConnection, S>) -> Blocking,
    ) -> io::Result<Blocking> {
        stream.set_limit(limit)?;
        let Some(tls) = &self.tls else {
            return Ok(plain(stream));
        };
        let session = shake(tls, &mut stream, limit).map_err(in_words)?;
        Ok(secured(StreamOwned::new(session, stream)))
    }
}

/// Connects within `limit`. A listener whose queue is full lets one wait without an end otherwise.
fn connect_unix(path: &Path, limit: Duration) -> io::Result<UnixStream> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    let address = SockAddr::unix(path)?;
    let until = Instant::now() + limit;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        // It limits a connect too (unix_stream_connect in the kernel's net/unix/af_unix.c).
        socket.set_write_timeout(Some(left))?;
        match socket.connect(&address) {
            Ok(()) => return Ok(OwnedFd::from(socket).into()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                return Err(ErrorKind::TimedOut.into());
            }
            Err(error) => return Err(error),
        }
    }
}

/// Shakes hands within `limit`, which each read and write after it may take too.
pub(crate) fn shake(
    tls: &Tls,
    stream: &mut impl Limited,
    limit: Duration,
) -> io::Result<ClientConnection> {
    // What is remembered of a question would be resumed by the load.
    let mut config = ClientConfig::clone(&tls.config);
    config.resumption = Resumption::disabled();
    let session = ClientConnection::new(config.into(), tls.name.clone());
    let mut session = session.map_err(io::Error::other)?;
    let mut hurried = Hurried::new(stream, limit);
    while session.is_handshaking() {
        if let Err(error) = session.complete_io(&mut hurried) {
            let said = match error.kind() {
                ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => {
                    last_words(&mut session, &mut hurried)
                }
                _ => None,
            };
            return Err(said.unwrap_or(error));
        }
    }
    stream.set_limit(limit)?;
    Ok(session)
}

/// What a server has said that went away while we were still talking: its alert has come, and the
/// write that fails is heard of first.
fn last_words(session: &mut ClientConnection, stream: &mut impl Read) -> Option<io::Error> {
    while session.read_tls(stream).is_ok_and(|bytes| bytes > 0) {
        if let Err(reason) = session.process_new_packets() {
            return Some(io::Error::new(ErrorKind::InvalidData, reason));
        }
    }
    None
}

fn in_words(error: io::Error) -> io::Error {
    match reason_of(&error) {
        Some(reason) => io::Error::new(io::ErrorKind::InvalidData, explain(reason)),
        None => error,
    }
}

/// A blocking stream whose single reads and writes can be limited in time.
pub(crate) trait Limited: Read + Write {
    /// How long each of them may take.
    fn set_limit(&self, limit: Duration) -> io::Result<()>;
}

impl Limited for TcpStream {
    fn set_limit(&self, limit: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(limit))?;
        self.set_write_timeout(Some(limit))
    }
}

impl Limited for UnixStream {
    fn set_limit(&self, limit: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(limit))?;
        self.set_write_timeout(Some(limit))
    }
}

impl Limited for Blocking {
    fn set_limit(&self, limit: Duration) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.set_limit(limit),
            Self::Unix(stream) => stream.set_limit(limit),
            Self::TlsTcp(stream) => stream.sock.set_limit(limit),
            Self::TlsUnix(stream) => stream.sock.set_limit(limit),
        }
    }
}

/// A stream whose reads and writes all end by one instant. The kernel's own limit begins again with
/// each of them: for a peer that sends byte by byte, and after each signal.
pub(crate) struct Hurried<'a, S> {
    stream: &'a mut S,
    until: Instant,
}

impl<'a, S: Limited> Hurried<'a, S> {
    pub(crate) fn new(stream: &'a mut S, limit: Duration) -> Self {
        let until = Instant::now() + limit;
        Self { stream, until }
    }

    fn hurry(&mut self) -> io::Result<&mut S> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_limit(left)?;
        Ok(self.stream)
    }
}

impl<S: Limited> Read for Hurried<'_, S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.hurry()?.read(buffer)
    }
}

impl<S: Limited> Write for Hurried<'_, S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.hurry()?.write(bytes)
    }

    fn write_vectored(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        self.hurry()?.write_vectored(pieces)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.hurry()?.flush()
    }
}

/// A blocking connection.
#[derive(Debug)]
pub enum Blocking {
    /// TCP.
    Tcp(TcpStream),
    /// A Unix socket.
    Unix(UnixStream),
    /// TLS over TCP.
    TlsTcp(Box<StreamOwned<ClientConnection, TcpStream>>),
    /// TLS over a Unix socket.
    TlsUnix(Box<StreamOwned<ClientConnection, UnixStream>>),
}

impl Blocking {
    /// How long a read may wait before it fails and may be tried again.
    ///
    /// # Errors
    /// What the system says.
    pub fn set_patience(&self, patience: Duration) -> io::Result<()> {
        let patience = Some(patience);
        match self {
            Self::Tcp(stream) => stream.set_read_timeout(patience),
            Self::Unix(stream) => stream.set_read_timeout(patience),
            Self::TlsTcp(stream) => stream.sock.set_read_timeout(patience),
            Self::TlsUnix(stream) => stream.sock.set_read_timeout(patience),
        }
    }
}

impl Read for Blocking {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(buffer),
            Self::Unix(stream) => stream.read(buffer),
            Self::TlsTcp(stream) => stream.read(buffer).map_err(in_words),
            Self::TlsUnix(stream) => stream.read(buffer).map_err(in_words),
        }
    }
}

impl Write for Blocking {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(bytes),
            Self::Unix(stream) => stream.write(bytes),
            Self::TlsTcp(stream) => stream.write(bytes).map_err(in_words),
            Self::TlsUnix(stream) => stream.write(bytes).map_err(in_words),
        }
    }

    fn write_vectored(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write_vectored(pieces),
            Self::Unix(stream) => stream.write_vectored(pieces),
            Self::TlsTcp(stream) => stream.write_vectored(pieces).map_err(in_words),
            Self::TlsUnix(stream) => stream.write_vectored(pieces).map_err(in_words),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.flush(),
            Self::Unix(stream) => stream.flush(),
            Self::TlsTcp(stream) => stream.flush(),
            Self::TlsUnix(stream) => stream.flush(),
        }
    }
}

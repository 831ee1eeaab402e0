//! Making a connection: connect, then the TLS handshake where there is one.

use std::future::{Future as _, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::pin;
use std::task::{Context, Poll};

use rustix::io::Errno;
use rustls::HandshakeKind;
use slowpath_core::Nanos;
use slowpath_core::sample::{Outcome, Phase};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsConnector;

use crate::clock::now;
use crate::connection::{Network, pending};
use crate::limits::Broken;
use crate::tls::Tls;
use crate::transport::{Address, Plain, Secured, Stream};

/// How far a dial got, whatever became of it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    /// Our port; 0 if it got none, or has none.
    pub(crate) local_port: u16,
    /// When the connection was there.
    pub(crate) connected: Option<Nanos>,
    /// When the TLS handshake on it was over.
    pub(crate) secured: Option<Nanos>,
}

/// Dials the addresses one after the other, beginning with the one that answered last. What is
/// reported of several failures is the first.
///
/// `receive_buffer_bytes` is the size of the receive buffer, if it is not the kernel's to choose.
pub(crate) async fn dial(
    network: &Network,
    slot: u32,
    receive_buffer_bytes: Option<usize>,
) -> (Result<Stream, Broken>, Progress) {
    let addresses = &network.route.addresses;
    let first = network.preferred.get();
    let mut failed: Option<(Broken, Progress)> = None;
    for offset in 0..addresses.len() {
        let position = (first + offset) % addresses.len();
        let mut progress = Progress::default();
        let address = (&addresses[position], receive_buffer_bytes);
        match dial_one(network, slot, address, &mut progress).await {
            Ok(stream) => {
                network.preferred.set(position);
                return (Ok(stream), progress);
            }
            Err(broken) => {
                failed.get_or_insert((broken, progress));
                let is_over = matches!(
                    broken.failure.outcome,
                    Outcome::Timeout | Outcome::Unfinished
                );
                // What accepted the connection is the target; another address is no remedy.
                if is_over || progress.connected.is_some() {
                    break;
                }
            }
        }
    }
    let (broken, progress) = failed.expect("there is at least one address, and it failed");
    (Err(broken), progress)
}

async fn dial_one(
    network: &Network,
    slot: u32,
    (address, receive_buffer_bytes): (&Address, Option<usize>),
    progress: &mut Progress,
) -> Result<Stream, Broken> {
    let begun = now();
    let plain = match address {
        Address::Tcp(address) => {
            begin_tcp(*address, receive_buffer_bytes, &mut progress.local_port)
        }
        Address::Unix(path) => begin_unix(path),
    };
    let plain = plain.map_err(|error| network.broken(&error, Phase::Connect))?;
    poll_fn(|cx| poll_connected(network, slot, &plain, cx)).await?;
    let connected = now();
    network.note_dial(begun, connected);
    progress.connected = Some(connected);
    let Some(tls) = &network.route.tls else {
        return Ok(Stream::Plain(plain));
    };
    let secured = handshake(network, slot, tls, plain).await?;
    progress.secured = Some(now());
    Ok(secured)
}

async fn handshake(
    network: &Network,
    slot: u32,
    tls: &Tls,
    plain: Plain,
) -> Result<Stream, Broken> {
    let connector = TlsConnector::from(tls.config.clone());
    let mut shaking = pin!(connector.connect(tls.name.clone(), plain));
    let stream = poll_fn(|cx| match shaking.as_mut().poll(cx) {
        Poll::Ready(Ok(stream)) => Poll::Ready(Ok(stream)),
        Poll::Ready(Err(error)) => Poll::Ready(Err(network.broken(&error, Phase::Handshake))),
        Poll::Pending => pending(network.limits.expired(slot, Phase::Handshake)),
    })
    .await?;
    let resumed = stream.get_ref().1.handshake_kind() == Some(HandshakeKind::Resumed);
    network.note_handshake(resumed);
    Ok(Stream::Tls(Box::new(Secured::new(stream))))
}

/// A socket that has begun to connect; `port` is ours as soon as it is known.
fn begin_tcp(
    address: SocketAddr,
    receive_buffer_bytes: Option<usize>,
    port: &mut u16,
) -> io::Result<Plain> {
    let domain = Domain::for_address(address);
    let socket = Socket::new(domain, Type::STREAM.nonblocking(), Some(Protocol::TCP))?;
    // A request is one write, and the tail of a large one must not wait for an acknowledgement.
    socket.set_tcp_nodelay(true)?;
    if let Some(bytes) = receive_buffer_bytes {
        // Before it connects: a window that was offered cannot be taken back.
        socket.set_recv_buffer_size(bytes)?;
    }
    begin(&socket, &address.into())?;
    *port = socket
        .local_addr()?
        .as_socket()
        .map_or(0, |local| local.port());
    TcpStream::from_std(socket.into()).map(Plain::Tcp)
}

/// A socket that has connected: in the file system that is done at once or not at all. A listener
/// whose queue is full is `EAGAIN` here, as in every client that does not block.
fn begin_unix(path: &Path) -> io::Result<Plain> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM.nonblocking(), None)?;
    begin(&socket, &SockAddr::unix(path)?)?;
    UnixStream::from_std(socket.into()).map(Plain::Unix)
}

fn begin(socket: &Socket, address: &SockAddr) -> io::Result<()> {
    match socket.connect(address) {
        Err(error) if Errno::from_io_error(&error) != Some(Errno::INPROGRESS) => Err(error),
        _ => Ok(()),
    }
}

fn poll_connected(
    network: &Network,
    slot: u32,
    stream: &Plain,
    cx: &mut Context<'_>,
) -> Poll<Result<(), Broken>> {
    let failed = |error| Poll::Ready(Err(network.broken(&error, Phase::Connect)));
    match stream.poll_write_ready(cx) {
        Poll::Pending => pending(network.limits.expired(slot, Phase::Connect)),
        Poll::Ready(Err(error)) => failed(error),
        // A writable socket has connected or failed; its pending error says which.
        Poll::Ready(Ok(())) => match stream.take_error() {
            Ok(None) => Poll::Ready(Ok(())),
            Ok(Some(error)) | Err(error) => failed(error),
        },
    }
}

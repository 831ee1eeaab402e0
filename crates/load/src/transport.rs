//! What bytes travel over: TCP or a Unix socket, and TLS over either.
//!
//! The stream knows nothing of requests. It is an enum and not a trait object, so that plain TCP
//! costs one branch.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::client::TlsStream;

/// One place to connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// An IP address and a port.
    Tcp(SocketAddr),
    /// A socket in the file system.
    Unix(PathBuf),
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Self {
        Self::Tcp(address)
    }
}

/// A connection without encryption.
#[derive(Debug)]
pub(crate) enum Plain {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Plain {
    /// Whether something can be read, be it the end.
    fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Tcp(stream) => stream.poll_read_ready(cx),
            Self::Unix(stream) => stream.poll_read_ready(cx),
        }
    }

    fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.try_read(buffer),
            Self::Unix(stream) => stream.try_read(buffer),
        }
    }

    /// Whether it can be written, or has failed to connect.
    pub(crate) fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Tcp(stream) => stream.poll_write_ready(cx),
            Self::Unix(stream) => stream.poll_write_ready(cx),
        }
    }

    /// The error that is pending on it.
    pub(crate) fn take_error(&self) -> io::Result<Option<io::Error>> {
        match self {
            Self::Tcp(stream) => stream.take_error(),
            Self::Unix(stream) => stream.take_error(),
        }
    }
}

impl AsyncRead for Plain {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_read(cx, buffer),
            Self::Unix(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Plain {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Unix(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        // The kernel has what was written.
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Unix(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_write_vectored(cx, pieces),
            Self::Unix(stream) => Pin::new(stream).poll_write_vectored(cx, pieces),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }
}

/// A connection over which TLS is spoken; says goodbye (`close_notify`) when it is dropped, since
/// some servers forget the session of a peer that does not (RFC 5246, section 7.2.1).
#[derive(Debug)]
pub(crate) struct Secured(TlsStream<Plain>);

impl Secured {
    /// The stream after a finished handshake.
    pub(crate) fn new(stream: TlsStream<Plain>) -> Self {
        Self(stream)
    }
}

impl Drop for Secured {
    fn drop(&mut self) {
        // One attempt, unheard: a full buffer or a peer that has gone needs no goodbye.
        let _ = Pin::new(&mut self.0).poll_shutdown(&mut Context::from_waker(Waker::noop()));
    }
}

/// How a read ended that brought nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The peer closed in good order.
    Clean,
    /// TLS only: the connection was closed without `close_notify`, so an intermediary may have
    /// cut it (RFC 8446, section 6.1).
    Cut,
}

/// A connection, encrypted or not.
#[derive(Debug)]
pub(crate) enum Stream {
    Plain(Plain),
    Tls(Box<Secured>),
}

impl Stream {
    /// Reads once: how many bytes, or how it ended.
    pub(crate) fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<Result<usize, End>>> {
        let before = buffer.filled().len();
        match Pin::new(self).poll_read(cx, buffer) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Ok(())) => Poll::Ready(Ok(match buffer.filled().len() - before {
                0 => Err(End::Clean),
                bytes => Ok(bytes),
            })),
            // Sockets do not report this; it is how rustls says that the goodbye is missing.
            Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Poll::Ready(Ok(Err(End::Cut)))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
        }
    }

    /// Whether the peer has closed it, or said something unasked; if not, the task is woken when
    /// that happens. Costs a system call only if something happened on it. What TLS says between responses (tickets, new keys) is neither.
    pub(crate) fn is_stale(&mut self, cx: &mut Context<'_>) -> bool {
        match self {
            Self::Plain(stream) => loop {
                match stream.poll_read_ready(cx) {
                    Poll::Pending => return false,
                    Poll::Ready(Err(_)) => return true,
                    Poll::Ready(Ok(())) => match stream.try_read(&mut [0]) {
                        // Nothing came after all; the next look asks to be woken when it does.
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                        _ => return true,
                    },
                }
            },
            Self::Tls(stream) => {
                let mut byte = [0];
                let read = Pin::new(&mut stream.0).poll_read(cx, &mut ReadBuf::new(&mut byte));
                read.is_ready()
            }
        }
    }

    /// Whether TLS is spoken over it.
    pub(crate) fn is_secured(&self) -> bool {
        matches!(self, Self::Tls(_))
    }

    /// The protocol that TLS negotiated (ALPN), if it did.
    pub(crate) fn protocol(&self) -> Option<&[u8]> {
        match self {
            Self::Plain(_) => None,
            Self::Tls(stream) => stream.0.get_ref().1.alpn_protocol(),
        }
    }

    /// Has the kernel acknowledge at once what comes next, where there is something to
    /// acknowledge. It falls back to delaying at will.
    pub(crate) fn acknowledge_at_once(&self) -> io::Result<()> {
        let plain = match self {
            Self::Plain(plain) => plain,
            Self::Tls(stream) => stream.0.get_ref().0,
        };
        match plain {
            Plain::Tcp(stream) => SockRef::from(stream).set_tcp_quickack(true),
            Plain::Unix(_) => Ok(()),
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(cx, buffer),
            Self::Tls(stream) => Pin::new(&mut stream.0).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Tls(stream) => Pin::new(&mut stream.0).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Self::Tls(stream) => Pin::new(&mut stream.0).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Tls(stream) => Pin::new(&mut stream.0).poll_shutdown(cx),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write_vectored(cx, pieces),
            Self::Tls(stream) => Pin::new(&mut stream.0).poll_write_vectored(cx, pieces),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }
}

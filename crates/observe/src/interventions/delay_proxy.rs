//! A proxy before a server that another one asks: what is sent to the server comes to it later, and
//! its replies pass at once.
//!
//! Nothing of either server is changed, and the proxy is gone with slowpath; so are connections
//! through it, which is why it is for targets that slowpath has started.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// What is read at once.
const BLOCK_BYTES: usize = 1 << 16;
/// Blocks under way in one connection; whoever sends more waits.
const MOST_UNDER_WAY: usize = 64;
/// How long the server may take to accept.
const CONNECT_WAIT: Duration = Duration::from_secs(3);

#[derive(Debug)]
struct Shared {
    server: SocketAddr,
    delay_ns: AtomicU64,
    over: AtomicBool,
}

/// How much later what is sent comes to a server.
#[derive(Clone, Debug)]
pub struct Delay(Arc<Shared>);

impl Delay {
    /// From now on by so much, on all connections.
    pub fn set(&self, by: Duration) {
        let ns = by.as_nanos() as u64;
        self.0.delay_ns.store(ns, Ordering::Relaxed);
    }
}

/// See the module. Connections that are open when it is dropped stay until either end closes them.
#[derive(Debug)]
pub struct DelayProxy {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl DelayProxy {
    /// Listens on a free port of the loopback interface, without any delay at first.
    pub fn start(server: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            server,
            delay_ns: AtomicU64::new(0),
            over: AtomicBool::new(false),
        });
        let own = Arc::clone(&shared);
        spawn("slowpath-proxy", move || accept(&listener, &own))?;
        Ok(Self { address, shared })
    }

    /// The port that is to be asked in place of the server's.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// What delays it.
    pub fn delay(&self) -> Delay {
        Delay(Arc::clone(&self.shared))
    }
}

impl Drop for DelayProxy {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Relaxed);
        // Wakes the one who accepts; where that fails it waits for ever, and harms nobody.
        let _ = TcpStream::connect_timeout(&self.address, CONNECT_WAIT);
    }
}

fn spawn(name: &str, act: impl FnOnce() + Send + 'static) -> io::Result<()> {
    Builder::new().name(name.to_owned()).spawn(act).map(drop)
}

/// How long after a failure the next connection is taken.
const AGAIN_AFTER: Duration = Duration::from_millis(10);

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for client in listener.incoming() {
        if shared.over.load(Ordering::Relaxed) {
            return;
        }
        let Ok(client) = client else {
            // Without descriptors it would fail again at once, and take the CPU of what is measured.
            std::thread::sleep(AGAIN_AFTER);
            continue;
        };
        let shared = Arc::clone(shared);
        // Without a thread the connection is closed, as a server does that has no room.
        let _ = spawn("slowpath-proxy", move || drop(relay(client, &shared)));
    }
}

/// Passes on what comes on one connection, until both ends have said all that they want to say.
fn relay(mut client: TcpStream, shared: &Arc<Shared>) -> io::Result<()> {
    let mut server = TcpStream::connect_timeout(&shared.server, CONNECT_WAIT)?;
    for stream in [&client, &server] {
        stream.set_nodelay(true)?;
    }
    let (asked, mut late) = (client.try_clone()?, server.try_clone()?);
    let (send, receive) = sync_channel(MOST_UNDER_WAY);
    let shared = Arc::clone(shared);
    spawn("slowpath-proxy", move || read(asked, &shared, &send))?;
    spawn("slowpath-proxy", move || write(&receive, &mut late))?;
    let passed = io::copy(&mut server, &mut client);
    // Whichever end is gone, the other is told.
    let how = if passed.is_ok() {
        Shutdown::Write
    } else {
        Shutdown::Both
    };
    drop(client.shutdown(how));
    passed.map(drop)
}

fn read(mut client: TcpStream, shared: &Shared, send: &SyncSender<(Instant, Vec<u8>)>) {
    let mut block = vec![0; BLOCK_BYTES];
    while let Ok(n @ 1..) = client.read(&mut block) {
        let delay = Duration::from_nanos(shared.delay_ns.load(Ordering::Relaxed));
        let sent = send.send((Instant::now() + delay, block[..n].to_vec()));
        if sent.is_err() {
            break;
        }
    }
}

fn write(receive: &Receiver<(Instant, Vec<u8>)>, server: &mut TcpStream) {
    for (due, block) in receive {
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        if server.write_all(&block).is_err() {
            break;
        }
    }
    // It is told that nothing more comes; one that is gone knows.
    drop(server.shutdown(Shutdown::Write));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that gives everything back, and closes when its client has.
    fn echo() -> SocketAddr {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                std::thread::spawn(move || {
                    let mut back = stream.try_clone().unwrap();
                    io::copy(&mut stream, &mut back).unwrap();
                    back.shutdown(Shutdown::Write).unwrap();
                });
            }
        });
        address
    }

    fn ask(stream: &mut TcpStream, what: &[u8]) -> Duration {
        let begun = Instant::now();
        stream.write_all(what).unwrap();
        let mut reply = vec![0; what.len()];
        stream.read_exact(&mut reply).unwrap();
        assert_eq!(reply, what);
        begun.elapsed()
    }

    #[test]
    fn what_is_asked_comes_later_by_the_delay_at_least() {
        let proxy = DelayProxy::start(echo()).unwrap();
        let mut stream = TcpStream::connect(proxy.address).unwrap();
        ask(&mut stream, b"at once");
        let by = Duration::from_millis(30);
        proxy.delay().set(by);
        assert!(ask(&mut stream, b"later") >= by);
        let begun = Instant::now();
        for _ in 0..3 {
            ask(&mut stream, b"in a row");
        }
        assert!(begun.elapsed() >= 3 * by);
        proxy.delay().set(Duration::ZERO);
        ask(&mut stream, b"at once again");
    }

    #[test]
    fn everything_is_passed_on_until_both_have_closed() {
        let proxy = DelayProxy::start(echo()).unwrap();
        proxy.delay().set(Duration::from_millis(2));
        let mut stream = TcpStream::connect(proxy.address).unwrap();
        let much: Vec<u8> = (0..3_000_000_u32).map(|n| n as u8).collect();
        let mut writes = stream.try_clone().unwrap();
        let sent = much.clone();
        let writer = std::thread::spawn(move || {
            writes.write_all(&sent).unwrap();
            writes.shutdown(Shutdown::Write).unwrap();
        });
        let mut reply = Vec::new();
        stream.read_to_end(&mut reply).unwrap();
        writer.join().unwrap();
        assert!(reply == much, "{} of {} bytes", reply.len(), much.len());
    }

    #[test]
    fn nobody_behind_it_is_nobody() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let gone = listener.local_addr().unwrap();
        drop(listener);
        let proxy = DelayProxy::start(gone).unwrap();
        let mut stream = TcpStream::connect(proxy.address).unwrap();
        let mut reply = Vec::new();
        // Closed or reset: nothing comes either way.
        let _ = stream.read_to_end(&mut reply);
        assert!(reply.is_empty());
        let address = proxy.address;
        drop(proxy);
        let refused = || TcpStream::connect(address).err();
        let begun = Instant::now();
        while refused().is_none() && begun.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(refused().is_some(), "the port is free again");
    }
}

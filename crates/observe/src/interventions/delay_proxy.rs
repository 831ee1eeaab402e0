//! A proxy before a server that another one asks: what is sent to the server comes to it later, and
//! its replies pass at once. It notes when it was asked and answered.
//!
//! Nothing of either server is changed, and the proxy is gone with slowpath; so are connections
//! through it, which is why it is for targets that slowpath has started.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use slowpath_core::Nanos;
use slowpath_core::nanos::Span;

use crate::clock;

/// What is read at once.
const BLOCK_BYTES: usize = 1 << 16;
/// Blocks under way in one connection; a sender of more waits.
const MOST_UNDER_WAY: usize = 64;
/// How long the server may take to accept.
const CONNECT_WAIT: Duration = Duration::from_secs(3);

/// Exchanges that are kept: 3 MB of them. Those of a minute of three thousand a second.
const MOST_EXCHANGES: usize = 200_000;

#[derive(Debug)]
struct Shared {
    /// Where it may listen: a name has several addresses, and not all of them are served.
    servers: Vec<SocketAddr>,
    delay_ns: AtomicU64,
    over: AtomicBool,
    exchanges: Mutex<Vec<Span>>,
}

impl Shared {
    fn keep(&self, exchange: Option<Span>) {
        let mut exchanges = locked(&self.exchanges);
        let room = exchanges.len() < MOST_EXCHANGES;
        exchanges.extend(exchange.filter(|_| room));
    }
}

/// What is pushed or replaced whole is whole whatever became of who had it.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is said on one connection: the server is asked, and answers until it is asked again. Several
/// questions at a time are one.
#[derive(Debug, Default)]
struct Talk {
    asked: Option<Nanos>,
    answered: Option<Nanos>,
}

impl Talk {
    /// The server is asked something more; what is over, if that is a new question.
    fn ask(&mut self, now: Nanos) -> Option<Span> {
        let over = self.end();
        // What goes on with a question that has no answer yet belongs to it.
        self.asked.get_or_insert(now);
        over
    }

    fn answer(&mut self, now: Nanos) {
        // A server that speaks first, as many databases do, answers nothing.
        self.answered = self.asked.map(|_| now);
    }

    /// What is over, if something is.
    fn end(&mut self) -> Option<Span> {
        let answered = self.answered.take()?;
        self.asked.take().map(|asked| Span::new(asked, answered))
    }
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

    /// When the server was asked and answered, the delay left out: from when a question came to it to the
    /// last that it sent before the next question. The first two hundred thousand.
    pub fn exchanges(&self) -> Vec<Span> {
        locked(&self.0.exchanges).clone()
    }
}

/// See the module. Connections that are open when it is dropped stay until either end closes them.
#[derive(Debug)]
pub struct DelayProxy {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl DelayProxy {
    /// Listens on a free port of the loopback interface, without any delay at first. What comes goes to the
    /// first of these addresses that accepts it.
    pub fn start(servers: Vec<SocketAddr>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            servers,
            delay_ns: AtomicU64::new(0),
            over: AtomicBool::new(false),
            exchanges: Mutex::default(),
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
        // Wakes the one who accepts; where that fails it waits for ever, and does no harm.
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

/// A connection to the first address that accepts one.
fn connect(servers: &[SocketAddr]) -> io::Result<TcpStream> {
    let mut failure = io::ErrorKind::AddrNotAvailable.into();
    for server in servers {
        match TcpStream::connect_timeout(server, CONNECT_WAIT) {
            Ok(stream) => return Ok(stream),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

/// Passes on what comes on one connection, until both ends have said all that they want to say.
fn relay(mut client: TcpStream, shared: &Arc<Shared>) -> io::Result<()> {
    let mut server = connect(&shared.servers)?;
    for stream in [&client, &server] {
        stream.set_nodelay(true)?;
    }
    let (asked, mut late) = (client.try_clone()?, server.try_clone()?);
    let (send, receive) = sync_channel(MOST_UNDER_WAY);
    let talk = Arc::new(Mutex::new(Talk::default()));
    let (own, told) = (Arc::clone(shared), Arc::clone(&talk));
    spawn("slowpath-proxy", move || read(asked, &own, &send))?;
    let own = Arc::clone(shared);
    spawn("slowpath-proxy", move || {
        write(&receive, &mut late, |now| own.keep(locked(&told).ask(now)));
    })?;
    let passed = pass_back(&mut server, &mut client, &talk);
    shared.keep(locked(&talk).end());
    // When one end is gone, the other is closed too.
    let how = if passed.is_ok() {
        Shutdown::Write
    } else {
        Shutdown::Both
    };
    drop(client.shutdown(how));
    passed
}

/// Passes the answers on until there are no more.
fn pass_back(server: &mut TcpStream, client: &mut TcpStream, talk: &Mutex<Talk>) -> io::Result<()> {
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        let n = server.read(&mut block)?;
        if n == 0 {
            return Ok(());
        }
        locked(talk).answer(clock::now());
        client.write_all(&block[..n])?;
    }
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

fn write(
    receive: &Receiver<(Instant, Vec<u8>)>,
    server: &mut TcpStream,
    mut note: impl FnMut(Nanos),
) {
    for (due, block) in receive {
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        note(clock::now());
        if server.write_all(&block).is_err() {
            break;
        }
    }
    // Its end is closed for writing; one that is gone knows.
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
        let proxy = DelayProxy::start(vec![echo()]).unwrap();
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
    fn what_is_asked_and_answered_is_noted_without_the_delay() {
        let at = |ns: u64| Nanos::new(ns);
        let mut talk = Talk::default();
        talk.answer(at(1));
        assert_eq!(talk.end(), None, "a greeting answers nothing");
        assert_eq!(
            (talk.ask(at(10)), talk.ask(at(11))),
            (None, None),
            "one question in two parts"
        );
        talk.answer(at(20));
        talk.answer(at(25));
        assert_eq!(talk.ask(at(30)), Some(Span::new(at(10), at(25))));
        assert_eq!(talk.end(), None, "the second has no answer yet");
        talk.answer(at(40));
        assert_eq!(talk.end(), Some(Span::new(at(30), at(40))));

        let begun = clock::now();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let gone = listener.local_addr().unwrap();
        drop(listener);
        // No process listens at the first of its addresses.
        let proxy = DelayProxy::start(vec![gone, echo()]).unwrap();
        proxy.delay().set(Duration::from_millis(50));
        let mut stream = TcpStream::connect(proxy.address).unwrap();
        let took = ask(&mut stream, b"once");
        ask(&mut stream, b"twice");
        // The second question ends the first, before its answer comes.
        let first = proxy.delay().exchanges()[0];
        assert!(first.begin > begun && first.end <= clock::now());
        assert!(
            Duration::from_nanos(first.len_ns()) < took,
            "{first:?} {took:?}"
        );
    }

    #[test]
    fn everything_is_passed_on_until_both_have_closed() {
        let proxy = DelayProxy::start(vec![echo()]).unwrap();
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
        let proxy = DelayProxy::start(vec![gone]).unwrap();
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

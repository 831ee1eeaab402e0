//! A server of one thread a connection that answers each request as a function says.

use std::io::Read;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// Whether the server keeps a connection after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    Keep,
    Close,
    /// Closes with a reset.
    Reset,
}

type Answer = dyn Fn(&str, &mut TcpStream) -> After + Send + Sync;

/// Ends with its scope.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    /// The request lines and headers seen, in order of arrival.
    pub(crate) seen: Arc<Mutex<Vec<String>>>,
    /// Connections accepted.
    pub(crate) accepted: Arc<Mutex<u32>>,
    ending: Arc<AtomicBool>,
    acceptor: Option<JoinHandle<()>>,
}

impl Server {
    pub(crate) fn start(
        answer: impl Fn(&str, &mut TcpStream) -> After + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (seen, accepted) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(0)));
        let ending = Arc::new(AtomicBool::new(false));
        let answer: Arc<Answer> = Arc::new(answer);
        let (their_seen, their_accepted) = (Arc::clone(&seen), Arc::clone(&accepted));
        let their_ending = Arc::clone(&ending);
        let acceptor = std::thread::spawn(move || {
            let mut connections = Vec::new();
            for stream in listener.incoming() {
                if their_ending.load(Ordering::Relaxed) {
                    break;
                }
                *their_accepted.lock().unwrap() += 1;
                let (answer, seen) = (Arc::clone(&answer), Arc::clone(&their_seen));
                connections.push(std::thread::spawn(move || {
                    serve(stream.unwrap(), &*answer, &seen);
                }));
            }
            for connection in connections {
                connection.join().unwrap();
            }
        });
        Self {
            address,
            seen,
            accepted,
            ending,
            acceptor: Some(acceptor),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.ending.store(true, Ordering::Relaxed);
        // Wakes the acceptor; the load has closed all of its connections by now.
        drop(TcpStream::connect(self.address));
        if let Some(acceptor) = self.acceptor.take() {
            acceptor.join().unwrap();
        }
    }
}

fn serve(mut stream: TcpStream, answer: &Answer, seen: &Mutex<Vec<String>>) {
    stream.set_nodelay(true).unwrap();
    let mut head = Vec::new();
    let mut byte = [0];
    while let Ok(1) = stream.read(&mut byte) {
        head.push(byte[0]);
        if !head.ends_with(b"\r\n\r\n") {
            continue;
        }
        let text = String::from_utf8(std::mem::take(&mut head)).unwrap();
        seen.lock().unwrap().push(text.clone());
        match answer(&text, &mut stream) {
            After::Keep => {}
            After::Close => return,
            After::Reset => {
                let socket = socket2::SockRef::from(&stream);
                socket.set_linger(Some(Duration::ZERO)).unwrap();
                return;
            }
        }
    }
}

/// The number in a request to `/{seq}`.
pub(crate) fn seq(head: &str) -> u32 {
    let path = head.split(' ').nth(1).unwrap();
    path.trim_start_matches('/').parse().unwrap()
}

/// A small whole response.
pub(crate) const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhits";

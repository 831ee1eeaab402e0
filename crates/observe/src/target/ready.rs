//! Waiting until a started process answers.

use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::TargetError;
use super::running::Running;

/// First pause between two attempts: a small server is up after some 20 ms.
const PAUSE_FIRST: Duration = Duration::from_millis(20);
/// Longest pause: a slow start is noticed soon enough, and its log is not filled by our attempts.
const PAUSE_MAX: Duration = Duration::from_millis(200);
/// A connection attempt gets no longer than this, so that a lost SYN does not use up the time.
const CONNECT_MAX: Duration = Duration::from_secs(1);
/// How long a read waits before it is checked whether waiting still makes sense.
const READ_SLICE: Duration = Duration::from_millis(100);
/// A status line is shorter than this in any server.
const STATUS_LINE_MAX_BYTES: usize = 8 * 1024;

/// A connection that can be asked something.
pub trait Wire: Read + Write {
    /// How long a read may wait before it fails with [`ErrorKind::WouldBlock`] or
    /// [`ErrorKind::TimedOut`] and may be tried again.
    fn set_patience(&self, patience: Duration) -> io::Result<()>;
}

impl Wire for TcpStream {
    fn set_patience(&self, patience: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(patience))
    }
}

/// Opens a connection within the given time.
type Open = dyn Fn(Duration) -> io::Result<Box<dyn Wire>> + Send + Sync;

/// How a process is reached.
#[derive(Clone)]
pub struct Dial {
    name: String,
    open: Arc<Open>,
}

impl Dial {
    /// By whatever `open` does; it is given the longest time that it may take. `name` says where
    /// that leads.
    pub fn new(
        name: String,
        open: impl Fn(Duration) -> io::Result<Box<dyn Wire>> + Send + Sync + 'static,
    ) -> Self {
        let open = Arc::new(open);
        Self { name, open }
    }
}

impl From<SocketAddr> for Dial {
    fn from(address: SocketAddr) -> Self {
        Self::new(address.to_string(), move |limit| {
            Ok(Box::new(TcpStream::connect_timeout(&address, limit)?))
        })
    }
}

impl fmt::Debug for Dial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Dial").field(&self.name).finish()
    }
}

/// What shows that a process is ready.
#[derive(Clone, Debug)]
pub enum ReadyCheck {
    /// That it was started.
    Started,
    /// That a connection is accepted.
    Accepts(Dial),
    /// That a `GET` is answered with any 2xx or 3xx status.
    Get {
        /// How it is reached.
        dial: Dial,
        /// The `Host` header.
        host_header: String,
        /// The path, beginning with a slash, with its query.
        path: String,
    },
}

pub(super) fn wait(
    running: &mut Running,
    check: &ReadyCheck,
    timeout: Duration,
    stop: &AtomicBool,
) -> Result<(), TargetError> {
    let begin = Instant::now();
    let mut pause = PAUSE_FIRST;
    loop {
        let outcome = {
            let mut waits = || {
                let over = begin.elapsed() >= timeout || stop.load(Ordering::Relaxed);
                !over && running.exited().is_none()
            };
            ask(check, timeout.saturating_sub(begin.elapsed()), &mut waits)
        };
        // Asked also after a success: then another process has answered in its place.
        if let Some(exit) = running.exited() {
            return Err(died(running, exit));
        }
        let Err(last) = outcome else { return Ok(()) };
        if stop.load(Ordering::Relaxed) {
            return Err(TargetError::Interrupted);
        }
        let left = timeout.saturating_sub(begin.elapsed());
        if left.is_zero() {
            return Err(TargetError::NotReady {
                name: running.name().to_owned(),
                waited: timeout,
                last,
                log: running.log_path().to_owned(),
                tail: running.log_tail(),
            });
        }
        thread::sleep(pause.min(left));
        pause = (pause * 3 / 2).min(PAUSE_MAX);
    }
}

fn died(running: &Running, exit: String) -> TargetError {
    TargetError::Died {
        name: running.name().to_owned(),
        exit,
        log: running.log_path().to_owned(),
        tail: running.last_words(),
    }
}

/// One attempt; `waits` says whether waiting for the answer still makes sense.
fn ask(check: &ReadyCheck, left: Duration, waits: &mut dyn FnMut() -> bool) -> Result<(), String> {
    match check {
        ReadyCheck::Started => Ok(()),
        ReadyCheck::Accepts(dial) => connect(dial, left).map(|_| ()),
        ReadyCheck::Get {
            dial,
            host_header,
            path,
        } => {
            let request = format!(
                "GET {path} HTTP/1.1\r\nHost: {host_header}\r\nUser-Agent: slowpath\r\n\
                 Accept: */*\r\nConnection: close\r\n\r\n"
            );
            let mut stream = connect(dial, left)?;
            let line = exchange(&mut *stream, &request, waits)?;
            match status(&line) {
                Some(200..=399) => Ok(()),
                Some(code) => Err(format!("GET {path} is answered with {code}")),
                None => Err(format!("GET {path} is answered with no HTTP: {line:?}")),
            }
        }
    }
}

fn connect(dial: &Dial, left: Duration) -> Result<Box<dyn Wire>, String> {
    // Zero is refused by the library; the last attempt gets a moment.
    let limit = left.clamp(Duration::from_millis(1), CONNECT_MAX);
    let name = &dial.name;
    (dial.open)(limit).map_err(|error| match error.kind() {
        ErrorKind::ConnectionRefused => format!("nothing listens on {name}"),
        ErrorKind::TimedOut => format!("{name} does not take the connection"),
        _ => format!("cannot connect to {name}: {error}"),
    })
}

/// Sends the request and returns the first line of the answer.
fn exchange(
    stream: &mut dyn Wire,
    request: &str,
    waits: &mut dyn FnMut() -> bool,
) -> Result<String, String> {
    let broken = |error: io::Error| format!("the connection broke: {error}");
    stream.set_patience(READ_SLICE).map_err(broken)?;
    stream.write_all(request.as_bytes()).map_err(broken)?;
    let (begun, mut answer) = (Instant::now(), Vec::new());
    let mut chunk = [0; 1024];
    loop {
        match stream.read(&mut chunk) {
            Ok(0) => return Err("the connection was closed without an answer".to_owned()),
            Ok(count) => answer.extend_from_slice(&chunk[..count]),
            Err(error) if is_again(&error) => {}
            Err(error) => return Err(broken(error)),
        }
        let end = answer.iter().position(|&byte| byte == b'\n');
        if let Some(end) = end.or((answer.len() > STATUS_LINE_MAX_BYTES).then_some(80)) {
            return Ok(String::from_utf8_lossy(&answer[..end])
                .trim_end()
                .to_owned());
        }
        // Also of a server that sends byte by byte; what is on its way gets a moment.
        if begun.elapsed() >= READ_SLICE && !waits() {
            return Err("the request was not answered".to_owned());
        }
    }
}

/// Whether a read failed only for now.
fn is_again(error: &io::Error) -> bool {
    use ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}

/// The code in a status line of HTTP/1.
fn status(line: &str) -> Option<u16> {
    let code = line.strip_prefix("HTTP/1.")?.split(' ').nth(1)?;
    code.parse().ok().filter(|code| (100..=999).contains(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_line_has_a_code() {
        assert_eq!(status("HTTP/1.1 204 No Content"), Some(204));
        assert_eq!(status("HTTP/1.0 302"), Some(302));
        assert_eq!(status("SSH-2.0-OpenSSH_9.2"), None);
        assert_eq!(status("HTTP/1.1 OK"), None);
        assert_eq!(status(""), None);
    }
}

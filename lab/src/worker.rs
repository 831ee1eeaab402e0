//! Processes that serve, one after the other, from a listening socket that their parent keeps: what
//! supervisors of servers do.

use std::io::{self, Read, Write};
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::http::{self, Connection};
use crate::sys;

/// The word that makes this program a worker; see [`run`].
pub(crate) const WORD: &str = "--worker";
/// A worker that serves no connection.
pub(crate) const IDLE: &str = "idle";
/// A worker that serves each connection in a thread and ends in the middle of it.
pub(crate) const SUDDEN: &str = "sudden";
/// A worker that serves one request after the other, each on its connection, and ends between two.
pub(crate) const GRACEFUL: &str = "graceful";

/// Starts this program again as a worker with the parent's listener. Each byte that it writes is a
/// request that it answered.
pub(crate) fn start(
    listener: &TcpListener,
    kind: &str,
    (life, boot, work): (Duration, Duration, Duration),
    answered: &Arc<AtomicU64>,
) -> io::Result<Child> {
    let listener: OwnedFd = listener.try_clone()?.into();
    let millis = [life, boot, work].map(|time| time.as_millis().to_string());
    let mut child = Command::new("/proc/self/exe")
        .args([WORD, kind])
        .args(millis)
        .stdin(Stdio::from(listener))
        .stdout(Stdio::piped())
        .spawn()?;
    let mut output = child.stdout.take().expect("it was piped");
    let answered = Arc::clone(answered);
    thread::Builder::new()
        .name("counts".to_owned())
        .spawn(move || {
            let mut bytes = [0; 256];
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                answered.fetch_add(count as u64, Ordering::Relaxed);
            }
        })?;
    Ok(child)
}

/// The worker's side: `KIND LIFE_MS BOOT_MS WORK_MS`.
pub(crate) fn run(duty: &[String]) -> io::Result<()> {
    let [kind, times @ ..] = duty else {
        return Err(io::Error::other("a worker without a duty"));
    };
    let mut millis = times
        .iter()
        .map(|text| text.parse().map_err(io::Error::other));
    let mut next = || millis.next().unwrap_or(Ok(0)).map(Duration::from_millis);
    let (life, boot, work) = (next()?, next()?, next()?);
    sys::end_with_parent()?;
    thread::sleep(boot);
    let born = Instant::now();
    let listener = sys::inherited_listener();
    match kind.as_str() {
        GRACEFUL => {
            while born.elapsed() < life {
                let (stream, _) = listener.accept()?;
                // A client that goes away ends its connection, which is nothing to report.
                drop(serve(stream, work, true));
            }
        }
        SUDDEN => {
            thread::Builder::new()
                .name("accept".to_owned())
                .spawn(move || {
                    http::accept_each(&listener, |stream| {
                        let thread = thread::Builder::new().name("connection".to_owned());
                        drop(thread.spawn(move || serve(stream, work, false)));
                    });
                })?;
            thread::sleep(life);
        }
        _ => thread::sleep(life),
    }
    Ok(())
}

fn serve(stream: std::net::TcpStream, work: Duration, once: bool) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut connection = Connection::new(stream);
    while let Some(mut request) = connection.next_request()? {
        request.close |= once;
        if !request.is_health() {
            thread::sleep(work);
            let mut counts = io::stdout().lock();
            counts.write_all(b".")?;
            counts.flush()?;
        }
        connection
            .stream
            .write_all(&http::response(&request, b"ok\n"))?;
        if request.close {
            break;
        }
    }
    Ok(())
}

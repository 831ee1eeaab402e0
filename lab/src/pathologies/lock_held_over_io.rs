//! A background thread waits for something while it holds the lock that every request takes.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::{NO_CAUSE, Refusal, Server, Truth};
use crate::companion::Companion;
use crate::http::{self, Threaded};
use crate::lock::Lock;
use crate::options::{Knob, Options, Variant};
use crate::work;

pub(super) const SUMMARY: &str = "a background thread sleeps, calls or writes to the disk under the lock of all requests; the \
     twin does so without the lock";
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        flag: "hold-ms",
        help: "how long the thread waits each time",
        default: 40.0,
        range: (1.0, 60_000.0),
        healthy: None,
    },
    Knob {
        flag: "period-ms",
        help: "from one beginning to the next, as far as the wait permits",
        default: 400.0,
        range: (1.0, 600_000.0),
        healthy: None,
    },
    Knob {
        flag: "collector",
        help: "with remote: port of what is called; 0: a process of its own",
        default: 0.0,
        range: (0.0, 65_535.0),
        healthy: None,
    },
];
pub(super) const VARIANTS: &[Variant] = &[
    Variant {
        name: "remote",
        help: "it posts to a collector that takes that time to answer",
        excludes: &["fsync"],
    },
    Variant {
        name: "fsync",
        help: "it writes to a file and waits for the disk, again and again for that time",
        excludes: &[],
    },
    Variant {
        name: "pthread",
        help: "the lock is the C library's",
        excludes: &[],
    },
];

/// Name of the thread that must be found.
pub(super) const HOLDER: &str = "flusher";
/// Rounds of work that each request does under the lock, about 1 ns each.
const BRIEF_ROUNDS: u32 = 2_000;
/// What is written before each wait for the disk.
static BLOCK: [u8; 1 << 16] = [0x5A; 1 << 16];
/// A disk that takes data faster makes no request wait.
pub(super) const DISK_AT_LEAST: Duration = Duration::from_micros(50);

/// What the background thread waits for.
enum Wait {
    Sleep(Duration),
    Remote { port: u16, own: Option<Companion> },
    Disk { path: PathBuf, length: Duration },
}

impl Wait {
    fn of(options: &Options) -> Result<Self, Refusal> {
        let length = options.millis("hold-ms");
        if options.has("remote") {
            let port = options.count("collector") as u16;
            if port != 0 {
                return Ok(Self::Remote { port, own: None });
            }
            let delay_ms = length.as_millis().to_string();
            let own = Companion::start(&["collector", &delay_ms])?;
            let port = own.said.parse().map_err(io::Error::other)?;
            return Ok(Self::Remote {
                port,
                own: Some(own),
            });
        }
        if options.has("fsync") {
            let name = format!("slowpath-lab-{}", std::process::id());
            let path = std::env::temp_dir().join(name);
            let begin = Instant::now();
            let taken = sync_once(&path);
            fs::remove_file(&path)?;
            taken?;
            if begin.elapsed() < DISK_AT_LEAST {
                let place = std::env::temp_dir();
                let said = format!("{} has no disk below it", place.display());
                return Err(Refusal::NotPermitted(said));
            }
            return Ok(Self::Disk { path, length });
        }
        Ok(Self::Sleep(length))
    }

    /// One wait. A collector that is not there is no wait, and the truth reports it.
    #[inline(never)]
    fn pass(&self) {
        match self {
            Self::Sleep(length) => thread::sleep(*length),
            Self::Remote { port, .. } => drop(post(*port, "{}")),
            Self::Disk { path, length } => {
                let begin = Instant::now();
                while begin.elapsed() < *length && sync_once(path).is_ok() {}
                // Gone already when the disk is full, and written again next time.
                drop(fs::remove_file(path));
            }
        }
    }

    const fn describe(&self) -> &'static str {
        match self {
            Self::Sleep(_) => "sleeping",
            Self::Remote { own: None, .. } => "calling a collector",
            Self::Remote { own: Some(_), .. } => "calling a collector of its own",
            Self::Disk { .. } => "waiting for the disk",
        }
    }
}

pub(super) fn sync_once(path: &PathBuf) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(&BLOCK)?;
    file.sync_all()
}

/// Posts JSON over a new connection and reads the answer to its end.
#[inline(never)]
pub(super) fn post(port: u16, body: &str) -> io::Result<()> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_nodelay(true)?;
    let request = format!(
        "POST /v1/traces HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).map(drop)
}

/// Calls `work` once a period, and at once when a period has passed in between.
pub(super) fn every(period: Duration, work: impl Fn()) {
    let mut next = Instant::now() + period;
    loop {
        thread::sleep(next.saturating_duration_since(Instant::now()));
        work();
        next = (next + period).max(Instant::now());
    }
}

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let wait = Wait::of(options)?;
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let requests = Arc::new(AtomicU64::new(0));
    let lock = Arc::new(Lock::new((), options.has("pthread")));
    let (sick, period, what) = (
        !options.healthy,
        options.millis("period-ms"),
        wait.describe(),
    );
    let background = Arc::clone(&lock);
    thread::Builder::new()
        .name(HOLDER.to_owned())
        .spawn(move || {
            every(period, || {
                if sick {
                    background.at_length(|()| wait.pass());
                } else {
                    wait.pass();
                    background.briefly(|()| ());
                }
            });
        })?;
    let brief = Arc::clone(&lock);
    Threaded {
        nodelay: true,
        one_request: false,
        requests: Arc::clone(&requests),
        answer: Box::new(move |request, stream| {
            let sum = brief.briefly(|()| work::mix(1, BRIEF_ROUNDS));
            stream.write_all(&http::response(request, format!("{sum:x}\n").as_bytes()))
        }),
    }
    .start(listener)?;
    let stop = move || {
        let waits = lock.waits.load(Ordering::Relaxed);
        let holds = lock.holds.load(Ordering::Relaxed);
        let self_check = format!(
            "{waits} requests waited for the lock, which {HOLDER} held {holds} times while {what}"
        );
        Ok(Truth::new(
            requests.load(Ordering::Relaxed),
            waits,
            sick,
            self_check,
        ))
    };
    let cause = if sick { "lock-held-over-io" } else { NO_CAUSE };
    Ok(Server {
        address,
        cause,
        stop: Box::new(stop),
    })
}

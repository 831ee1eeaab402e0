//! Every request asks another process, which fails now and then; the request asks again after a pause.

use std::cell::RefCell;
use std::io::{self, ErrorKind, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use super::{NO_CAUSE, Refusal, Server, Truth, UNCATALOGUED};
use crate::http::{self, Threaded};
use crate::options::{Knob, Options, Variant};
use crate::upstream::{Asker, Upstream};
use crate::work;

pub(super) const SUMMARY: &str = "asks another process again after a pause, when it fails";
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        flag: "backoff-ms",
        help: "the first pause; each further one is twice as long. With silent: how long it waits",
        default: 80.0,
        range: (1.0, 60_000.0),
        healthy: None,
    },
    Knob {
        flag: "times",
        help: "how often the other process fails before it answers",
        default: 1.0,
        range: (1.0, 10.0),
        healthy: None,
    },
    Knob {
        flag: "every",
        help: "one request of this many meets that, drawn at random",
        default: 15.0,
        range: (1.0, 1_000_000.0),
        healthy: None,
    },
];
pub(super) const VARIANTS: &[Variant] = &[
    Variant {
        name: "silent",
        help: "the other process does not answer instead of answering with an error",
        excludes: &["sleeps", "another", "looks"],
    },
    Variant {
        name: "sleeps",
        help: "look-alike: nothing fails, and those requests sleep for the first pause before they ask",
        excludes: &["silent", "another", "looks"],
    },
    Variant {
        name: "another",
        help: "look-alike: nothing fails, and those ask for something else before that sleep",
        excludes: &["silent", "sleeps", "looks"],
    },
    Variant {
        name: "looks",
        help: "look-alike: those look ten times, with first pauses, whether something is done",
        excludes: &["silent", "sleeps", "another"],
    },
];

/// Seed of the draws.
const SEED: u64 = 18;
/// How often a request looks whether something is done.
const LOOKS: u32 = 10;

thread_local! {
    /// The connection of the thread of a client's connection.
    static ASKER: RefCell<Option<Asker>> = const { RefCell::new(None) };
}

/// What becomes of a request that is hit.
#[derive(Clone, Copy)]
enum Hit {
    Fails,
    Silent,
    Sleeps,
    Another,
    Looks,
}

/// Which server requests call, and how.
struct Client {
    upstream: Arc<Upstream>,
    backoff: Duration,
    times: u32,
    hit: Hit,
}

impl Client {
    /// Asks on the thread's own connection, which is given up with who does not answer in time; whether there
    /// was an answer without an error.
    #[inline(never)]
    fn get(&self, path: &str) -> io::Result<bool> {
        ASKER.with_borrow_mut(|own| {
            let mut asker = match own.take() {
                Some(asker) => asker,
                None => self.upstream.connect()?,
            };
            if matches!(self.hit, Hit::Silent) {
                asker.waits_for(self.backoff)?;
            }
            match asker.get(path) {
                Ok(is_fine) => {
                    *own = Some(asker);
                    Ok(is_fine)
                }
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    Ok(false)
                }
                Err(e) => Err(e),
            }
        })
    }

    /// Asks until there is an answer without an error.
    #[inline(never)]
    fn ask_until_answered(&self, path: &str) -> io::Result<()> {
        let mut pause = self.backoff;
        while !self.get(path)? {
            if !matches!(self.hit, Hit::Silent) {
                thread::sleep(pause);
            }
            pause *= 2;
        }
        Ok(())
    }

    /// What one request asks.
    fn serve(&self, index: u64, is_hit: bool) -> io::Result<()> {
        let fine = format!("/flaky/0/{index}");
        if !is_hit {
            return self.ask_until_answered(&fine);
        }
        match self.hit {
            Hit::Fails => self.ask_until_answered(&format!("/flaky/{}/{index}", self.times)),
            Hit::Silent => self.ask_until_answered(&format!("/mute/{}/{index}", self.times)),
            Hit::Sleeps => {
                thread::sleep(self.backoff);
                self.get(&fine).map(drop)
            }
            Hit::Another => {
                self.get(&format!("/something/else/{index}"))?;
                thread::sleep(self.backoff);
                self.get(&fine).map(drop)
            }
            Hit::Looks => {
                for _ in 0..LOOKS {
                    self.get(&fine)?;
                    thread::sleep(self.backoff);
                }
                self.get(&fine).map(drop)
            }
        }
    }
}

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let hit = match ["silent", "sleeps", "another", "looks"].map(|name| options.has(name)) {
        [true, ..] => Hit::Silent,
        [_, true, ..] => Hit::Sleeps,
        [_, _, true, _] => Hit::Another,
        [.., true] => Hit::Looks,
        _ => Hit::Fails,
    };
    let upstream = Arc::new(Upstream::start()?);
    let client = Client {
        upstream: Arc::clone(&upstream),
        backoff: options.millis("backoff-ms"),
        times: options.count("times") as u32,
        hit,
    };
    let (every, sick) = (options.number("every"), !options.healthy);
    let requests = Arc::new(AtomicU64::new(0));
    let induced = Arc::new(AtomicU64::new(0));
    let (counted, turn) = (Arc::clone(&induced), AtomicU64::new(0));
    Threaded {
        nodelay: true,
        one_request: false,
        requests: Arc::clone(&requests),
        answer: Box::new(move |request, stream| {
            let index = turn.fetch_add(1, Ordering::Relaxed);
            let is_hit = sick && work::uniform(SEED, index) * every < 1.0;
            client.serve(index, is_hit)?;
            counted.fetch_add(u64::from(is_hit), Ordering::Relaxed);
            stream.write_all(&http::response(request, b"ok\n"))
        }),
    }
    .start(listener)?;
    let stop = move || {
        drop(upstream);
        let (requests, induced) = (
            requests.load(Ordering::Relaxed),
            induced.load(Ordering::Relaxed),
        );
        Ok(Truth::new(
            requests,
            induced,
            sick,
            format!("{induced} requests were held up"),
        ))
    };
    let cause = match (sick, hit) {
        (false, _) => NO_CAUSE,
        (true, Hit::Fails | Hit::Silent) => "retry-backoff",
        (true, Hit::Sleeps | Hit::Another) => "fixed-delay",
        (true, Hit::Looks) => UNCATALOGUED,
    };
    Ok(Server {
        address,
        cause,
        stop: Box::new(stop),
    })
}

//! The handler waits for a constant time before it answers.

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::{NO_CAUSE, Refusal, Server, Truth, UNCATALOGUED};
use crate::http::{self, Threaded};
use crate::options::{Knob, Options, Variant};
use crate::work;

pub(super) const SUMMARY: &str = "sleeps for a constant time before each answer";
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        flag: "delay-ms",
        help: "length of the wait; with jitter the longest one",
        default: 13.0,
        range: (0.0, 60_000.0),
        healthy: Some(0.0),
    },
    Knob {
        flag: "every",
        help: "with tail: one request of this many waits",
        default: 20.0,
        range: (1.0, 1_000_000.0),
        healthy: None,
    },
    Knob {
        flag: "ramp-ms",
        help: "with ramp: how long after the first request the wait is gone",
        default: 1_000.0,
        range: (1.0, 600_000.0),
        healthy: None,
    },
    Knob {
        flag: "seed",
        help: "with jitter: seed of the random waits",
        default: 1.0,
        range: (0.0, 1e15),
        healthy: None,
    },
];
pub(super) const VARIANTS: &[Variant] = &[
    Variant {
        name: "poll",
        help: "waits on a condition variable that only times out",
        excludes: &["burn"],
    },
    Variant {
        name: "tail",
        help: "only some requests wait",
        excludes: &[],
    },
    Variant {
        name: "ramp",
        help: "look-alike: the wait shrinks to nothing after the first request, as in a warm-up",
        excludes: &["tail", "jitter", "drawn"],
    },
    Variant {
        name: "drawn",
        help: "the start of the server is drawn: in one of two no request waits at all",
        excludes: &["tail", "jitter"],
    },
    Variant {
        name: "burn",
        help: "look-alike: uses the CPU for that time instead of waiting",
        excludes: &["poll"],
    },
    Variant {
        name: "jitter",
        help: "look-alike: a uniformly random wait, not a constant one",
        excludes: &[],
    },
];

/// The ways to pass the time.
#[derive(Clone, Copy)]
enum Pause {
    Sleep,
    TimedWait,
    Burn,
}

impl Pause {
    fn pass(self, delay: Duration) {
        match self {
            Self::Sleep => thread::sleep(delay),
            Self::TimedWait => {
                let never = Mutex::new(());
                let guard = never.lock().unwrap_or_else(PoisonError::into_inner);
                // No thread notifies: the wait always ends by its timeout.
                drop(Condvar::new().wait_timeout_while(guard, delay, |()| true));
            }
            Self::Burn => work::burn(delay),
        }
    }
}

/// What is left of the wait of a server that warms up, from its first request on.
struct Ramp {
    first: OnceLock<Instant>,
    length: Duration,
}

impl Ramp {
    fn of(options: &Options) -> Option<Self> {
        let length = options.millis("ramp-ms");
        options.has("ramp").then(|| Self {
            first: OnceLock::new(),
            length,
        })
    }

    fn left(&self) -> f64 {
        let since = self.first.get_or_init(Instant::now).elapsed();
        1.0 - since.div_duration_f64(self.length).min(1.0)
    }
}

/// One bit of this process alone: its id, mixed.
fn draw() -> bool {
    work::uniform(u64::from(std::process::id()), 0) < 0.5
}

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let requests = Arc::new(AtomicU64::new(0));
    let waits = Arc::new(AtomicU64::new(0));
    let waits_here = Arc::clone(&waits);
    let (burn, jitter) = (options.has("burn"), options.has("jitter"));
    let pause = match (burn, options.has("poll")) {
        (true, _) => Pause::Burn,
        (_, true) => Pause::TimedWait,
        _ => Pause::Sleep,
    };
    let spared = options.has("drawn") && draw();
    let delay = if spared {
        Duration::ZERO
    } else {
        options.millis("delay-ms")
    };
    let ramp = Ramp::of(options);
    let is_ramp = ramp.is_some();
    let every = if options.has("tail") {
        options.number("every") as u64
    } else {
        1
    };
    let seed = options.number("seed") as u64;
    let turn = AtomicU64::new(0);
    Threaded {
        nodelay: true,
        one_request: false,
        requests: Arc::clone(&requests),
        answer: Box::new(move |request, stream| {
            let index = turn.fetch_add(1, Ordering::Relaxed);
            if !delay.is_zero() && (index + 1).is_multiple_of(every) {
                let share = match &ramp {
                    Some(ramp) => ramp.left(),
                    None if jitter => work::uniform(seed, index),
                    None => 1.0,
                };
                if share > 0.0 {
                    pause.pass(delay.mul_f64(share));
                }
                waits_here.fetch_add(1, Ordering::Relaxed);
            }
            stream.write_all(&http::response(request, b"hello\n"))
        }),
    }
    .start(listener)?;
    let sick = !options.healthy && !spared;
    let stop = move || {
        let waits = waits.load(Ordering::Relaxed);
        let self_check = format!("{waits} requests were held back by {delay:?}");
        Ok(Truth::new(
            requests.load(Ordering::Relaxed),
            waits,
            sick,
            self_check,
        ))
    };
    let cause = match (sick, burn || jitter || is_ramp) {
        (false, _) => NO_CAUSE,
        (true, true) => UNCATALOGUED,
        (true, false) => "fixed-delay",
    };
    Ok(Server {
        address,
        cause,
        stop: Box::new(stop),
    })
}

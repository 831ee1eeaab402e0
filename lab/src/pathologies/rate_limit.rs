//! A bucket that leaks lets requests pass one by one at an even pace; others wait until it is their turn, or are
//! refused. The server itself has nothing to do in that time.

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::{NO_CAUSE, Refusal, Server, Truth, UNCATALOGUED};
use crate::http::{self, Threaded};
use crate::options::{Knob, Options, Variant};

pub(super) const SUMMARY: &str =
    "lets so many requests a second pass, and others wait or are refused";
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        flag: "rate",
        help: "so many requests a second are let pass",
        default: 100.0,
        range: (0.1, 1_000_000.0),
        healthy: Some(1_000_000.0),
    },
    Knob {
        flag: "at-once",
        help: "so many more pass at once after a rest",
        default: 0.0,
        range: (0.0, 1_000_000.0),
        healthy: None,
    },
    Knob {
        flag: "waiting",
        help: "so many wait at most, the rest is refused",
        default: 1_000_000.0,
        range: (0.0, 1_000_000.0),
        healthy: None,
    },
    Knob {
        flag: "status",
        help: "the status that refuses",
        default: 503.0,
        range: (400.0, 599.0),
        healthy: None,
    },
];
pub(super) const VARIANTS: &[Variant] = &[
    Variant {
        name: "one-by-one",
        help: "look-alike: one at a time is served, which sleeps for as long as the rate says",
        excludes: &["behind", "under-way"],
    },
    Variant {
        name: "behind",
        help: "look-alike: one at a time is answered at once, and as long is slept after the answer",
        excludes: &["one-by-one", "under-way"],
    },
    Variant {
        name: "under-way",
        help: "look-alike: who comes while another is served is refused, whatever the rate",
        excludes: &["one-by-one", "behind"],
    },
];

/// What is in the bucket, as the instant at which it is empty.
struct Bucket {
    empty: Option<Instant>,
    period: Duration,
    at_once: u32,
    waiting: u32,
}

impl Bucket {
    /// How long one waits who comes now; `None` if he is refused.
    fn admits(&mut self, now: Instant) -> Option<Duration> {
        let left = self
            .empty
            .map_or(Duration::ZERO, |empty| empty.saturating_duration_since(now));
        let waits = left.saturating_sub(self.period * self.at_once);
        if waits > self.period.saturating_mul(self.waiting) {
            return None;
        }
        self.empty = Some(now + left + self.period);
        Some(waits)
    }
}

/// How requests are let pass.
enum Gate {
    Bucket(Mutex<Bucket>),
    OneByOne(Mutex<()>, Duration),
    Behind(Mutex<()>, Duration),
    UnderWay(Mutex<()>, Duration),
}

impl Gate {
    fn of(options: &Options) -> Self {
        let period = Duration::from_secs_f64(1.0 / options.number("rate"));
        if options.has("one-by-one") {
            return Self::OneByOne(Mutex::default(), period);
        }
        if options.has("behind") {
            return Self::Behind(Mutex::default(), period);
        }
        if options.has("under-way") {
            return Self::UnderWay(Mutex::default(), period);
        }
        Self::Bucket(Mutex::new(Bucket {
            empty: None,
            period,
            at_once: options.number("at-once") as u32,
            waiting: options.number("waiting") as u32,
        }))
    }

    /// Answers with `answer` when it is time, or refuses; whether the request met the fault.
    fn pass(&self, answer: impl FnOnce(bool) -> std::io::Result<()>) -> std::io::Result<bool> {
        match self {
            Self::Bucket(bucket) => {
                let waits = bucket
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .admits(Instant::now());
                thread::sleep(waits.unwrap_or_default());
                answer(waits.is_some()).map(|()| waits.is_none_or(|waits| !waits.is_zero()))
            }
            Self::OneByOne(turn, period) => {
                let turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
                thread::sleep(*period);
                drop(turn);
                answer(true).map(|()| true)
            }
            Self::Behind(turn, period) => {
                let turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
                answer(true)?;
                thread::sleep(*period);
                drop(turn);
                Ok(true)
            }
            Self::UnderWay(turn, period) => match turn.try_lock() {
                Ok(turn) => {
                    thread::sleep(*period);
                    drop(turn);
                    answer(true).map(|()| false)
                }
                Err(_) => answer(false).map(|()| true),
            },
        }
    }
}

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let requests = Arc::new(AtomicU64::new(0));
    let held = Arc::new(AtomicU64::new(0));
    let met = Arc::clone(&held);
    let gate = Gate::of(options);
    let status = options.number("status") as u16;
    let looks_like = !matches!(gate, Gate::Bucket(_));
    // A rate that nothing here reaches.
    let sick = !options.healthy;
    Threaded {
        nodelay: true,
        one_request: false,
        requests: Arc::clone(&requests),
        answer: Box::new(move |request, stream| {
            let is_held = gate.pass(|let_in| {
                if let_in {
                    stream.write_all(&http::response(request, b"passed\n"))
                } else {
                    let refusal = format!("HTTP/1.1 {status} Refused\r\nContent-Length: 0\r\n\r\n");
                    stream.write_all(refusal.as_bytes())
                }
            })?;
            if sick && is_held {
                met.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        }),
    }
    .start(listener)?;
    let stop = move || {
        let (requests, held) = (
            requests.load(Ordering::Relaxed),
            held.load(Ordering::Relaxed),
        );
        let text = format!("{held} requests waited for their turn, or were refused");
        Ok(Truth::new(requests, held, sick, text))
    };
    let cause = match (sick, looks_like) {
        (false, _) => NO_CAUSE,
        (true, true) => UNCATALOGUED,
        (true, false) => "rate-limit",
    };
    Ok(Server {
        address,
        cause,
        stop: Box::new(stop),
    })
}

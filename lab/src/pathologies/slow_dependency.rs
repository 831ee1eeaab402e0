//! Every request asks another process, whose reply sometimes takes long.

use std::cell::RefCell;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{NO_CAUSE, Refusal, Server, Truth};
use crate::http::{self, Threaded};
use crate::options::{Knob, Options, Variant};
use crate::upstream::{Asker, KNOB, Upstream};
use crate::work;

pub(super) const SUMMARY: &str =
    "every request asks another process, whose reply takes long now and then";
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        flag: "slow-ms",
        help: "how long a slow reply takes",
        default: 60.0,
        range: (0.0, 60_000.0),
        healthy: Some(1.0),
    },
    Knob {
        flag: "usual-ms",
        help: "how long the others take",
        default: 1.0,
        range: (0.0, 60_000.0),
        healthy: None,
    },
    Knob {
        flag: "every",
        help: "one reply of this many is slow, drawn at random; 1: all",
        default: 25.0,
        range: (1.0, 1_000_000.0),
        healthy: None,
    },
    KNOB,
];
pub(super) const VARIANTS: &[Variant] = &[];

/// Seed of the draws.
const SEED: u64 = 11;

thread_local! {
    /// The connection of the thread of a client's connection.
    static ASKER: RefCell<Option<Asker>> = const { RefCell::new(None) };
}

/// Asks on the thread's own connection.
pub(super) fn ask(
    upstream: &Upstream,
    of: impl Fn(&mut Asker) -> std::io::Result<()>,
) -> std::io::Result<()> {
    ASKER.with(|own| {
        let mut own = own.borrow_mut();
        if own.is_none() {
            *own = Some(upstream.connect()?);
        }
        own.as_mut().map_or(Ok(()), of)
    })
}

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let upstream = Arc::new(Upstream::at(options.count(KNOB.flag))?);
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let (slow, usual) = (options.millis("slow-ms"), options.millis("usual-ms"));
    let every = options.number("every");
    let requests = Arc::new(AtomicU64::new(0));
    let slow_ones = Arc::new(AtomicU64::new(0));
    let (counted, turn) = (Arc::clone(&slow_ones), AtomicU64::new(0));
    let behind = Arc::clone(&upstream);
    Threaded {
        nodelay: true,
        one_request: false,
        requests: Arc::clone(&requests),
        answer: Box::new(move |request, stream| {
            let index = turn.fetch_add(1, Ordering::Relaxed);
            let is_slow = work::uniform(SEED, index) * every < 1.0;
            counted.fetch_add(u64::from(is_slow), Ordering::Relaxed);
            ask(&behind, |asker| {
                asker.ask(if is_slow { slow } else { usual })
            })?;
            stream.write_all(&http::response(request, b"ok\n"))
        }),
    }
    .start(listener)?;
    let sick = !options.healthy;
    let stop = move || {
        drop(upstream);
        let (n, slow) = (
            requests.load(Ordering::Relaxed),
            slow_ones.load(Ordering::Relaxed),
        );
        let said = format!("{slow} slow replies");
        Ok(Truth::new(n, if sick { slow } else { 0 }, sick, said))
    };
    Ok(Server {
        address,
        cause: if sick { "slow-dependency" } else { NO_CAUSE },
        stop: Box::new(stop),
    })
}

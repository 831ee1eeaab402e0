//! Some requests write to a file and wait until it is on the disk.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::lock_held_over_io::{DISK_AT_LEAST, sync_once};
use super::{NO_CAUSE, Refusal, Server, Truth};
use crate::http::{self, Threaded};
use crate::options::{Knob, Options, Variant};
use crate::work;

pub(super) const SUMMARY: &str =
    "one request in so many writes to a file of its own and waits for the disk";
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        flag: "stall-ms",
        help: "for how long it writes and waits, again and again",
        default: 30.0,
        range: (1.0, 60_000.0),
        healthy: None,
    },
    Knob {
        flag: "every",
        help: "one request of this many does so, drawn at random; 1: all",
        default: 20.0,
        range: (1.0, 1_000_000.0),
        healthy: None,
    },
];
pub(super) const VARIANTS: &[Variant] = &[Variant {
    name: "locked",
    help: "with a lock that every request takes: then it is the lock",
    excludes: &[],
}];

/// Seed of the draws.
const SEED: u64 = 12;

fn write_and_wait(index: u64, stall: Duration) -> std::io::Result<()> {
    let name = format!("slowpath-lab-{}-{index}", std::process::id());
    let path: PathBuf = std::env::temp_dir().join(name);
    let begun = Instant::now();
    while begun.elapsed() < stall {
        sync_once(&path)?;
    }
    fs::remove_file(&path)
}

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let probe = std::env::temp_dir().join(format!("slowpath-lab-{}", std::process::id()));
    let begun = Instant::now();
    sync_once(&probe)?;
    fs::remove_file(&probe)?;
    if begun.elapsed() < DISK_AT_LEAST {
        let place = std::env::temp_dir();
        let said = format!("{} has no disk below it", place.display());
        return Err(Refusal::NotPermitted(said));
    }
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let (stall, every) = (options.millis("stall-ms"), options.number("every"));
    let (sick, locked) = (!options.healthy, options.has("locked"));
    let requests = Arc::new(AtomicU64::new(0));
    let stalled = Arc::new(AtomicU64::new(0));
    let (counted, turn, lock) = (Arc::clone(&stalled), AtomicU64::new(0), Mutex::new(()));
    Threaded {
        nodelay: true,
        one_request: false,
        requests: Arc::clone(&requests),
        answer: Box::new(move |request, stream| {
            let index = turn.fetch_add(1, Ordering::Relaxed);
            let held = locked.then(|| lock.lock());
            if sick && work::uniform(SEED, index) * every < 1.0 {
                write_and_wait(index, stall)?;
                counted.fetch_add(1, Ordering::Relaxed);
            }
            drop(held);
            stream.write_all(&http::response(request, b"ok\n"))
        }),
    }
    .start(listener)?;
    let stop = move || {
        let (n, stalls) = (
            requests.load(Ordering::Relaxed),
            stalled.load(Ordering::Relaxed),
        );
        Ok(Truth::new(
            n,
            stalls,
            sick,
            format!("{stalls} requests waited for the disk"),
        ))
    };
    let cause = match (sick, locked) {
        (false, _) => NO_CAUSE,
        (_, true) => "lock-held-over-io",
        (_, false) => "fsync-stall",
    };
    Ok(Server {
        address,
        cause,
        stop: Box::new(stop),
    })
}

//! Some requests read from a file what is not in memory.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{NO_CAUSE, Refusal, Server, Truth};
use crate::http::{self, Threaded};
use crate::options::{Knob, Options, Variant};
use crate::sys;
use crate::work;

pub(super) const SUMMARY: &str =
    "one request in so many reads parts of a file that are not in memory";
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        flag: "reads",
        help: "parts of 4 KiB that it reads, far from each other",
        default: 100.0,
        range: (1.0, 8_000.0),
        healthy: None,
    },
    Knob {
        flag: "every",
        help: "one request of this many finds them cold, drawn at random; 1: all",
        default: 20.0,
        range: (1.0, 1_000_000.0),
        healthy: None,
    },
];
pub(super) const VARIANTS: &[Variant] = &[];

/// Seed of the draws.
const SEED: u64 = 13;
const PART: u64 = 4_096;
/// Parts of the file: 128 MiB.
const PARTS: u64 = 32_768;

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let name = format!("slowpath-lab-{}.data", std::process::id());
    let path = std::env::temp_dir().join(name);
    let file = File::options()
        .read(true)
        .write(true)
        .create_new(true)
        .open(&path)?;
    // It lives as long as it is open.
    fs::remove_file(&path)?;
    let block = vec![0x5A; 1 << 20];
    for _ in 0..(PARTS * PART) >> 20 {
        (&file).write_all(&block)?;
    }
    file.sync_all()?;
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let (reads, every) = (options.count("reads") as u64, options.number("every"));
    let sick = !options.healthy;
    let requests = Arc::new(AtomicU64::new(0));
    let cold = Arc::new(AtomicU64::new(0));
    let (counted, turn) = (Arc::clone(&cold), AtomicU64::new(0));
    Threaded {
        nodelay: true,
        one_request: false,
        requests: Arc::clone(&requests),
        answer: Box::new(move |request, stream| {
            let index = turn.fetch_add(1, Ordering::Relaxed);
            let is_cold = sick && work::uniform(SEED, index) * every < 1.0;
            if is_cold {
                sys::forget(&file, 0, PARTS * PART)?;
                counted.fetch_add(1, Ordering::Relaxed);
            }
            let mut part = [0; PART as usize];
            for read in 0..if is_cold { reads } else { 1 } {
                let place = work::scatter(SEED + index, read) % PARTS;
                file.read_exact_at(&mut part, place * PART)?;
            }
            stream.write_all(&http::response(request, b"ok\n"))
        }),
    }
    .start(listener)?;
    let stop = move || {
        let (n, cold) = (
            requests.load(Ordering::Relaxed),
            cold.load(Ordering::Relaxed),
        );
        Ok(Truth::new(
            n,
            cold,
            sick,
            format!("{cold} requests found nothing in memory"),
        ))
    };
    Ok(Server {
        address,
        cause: if sick { "cold-page-cache" } else { NO_CAUSE },
        stop: Box::new(stop),
    })
}

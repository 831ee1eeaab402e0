//! A process with few descriptors: connections beyond them are complete, and are not accepted.

use std::fs::File;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::{NO_CAUSE, Refusal, Server, Truth};
use crate::http::{self, Threaded};
use crate::options::{Knob, Options, Variant};
use crate::sys;

pub(super) const SUMMARY: &str = "has fewer descriptors than connections come";
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        flag: "files",
        help: "descriptors that it may have open",
        default: 40.0,
        range: (16.0, 1e6),
        healthy: Some(4096.0),
    },
    Knob {
        flag: "work-ms",
        help: "how long a request takes",
        default: 0.0,
        range: (0.0, 10_000.0),
        healthy: None,
    },
];
pub(super) const VARIANTS: &[Variant] = &[Variant {
    name: "leak",
    help: "each request opens a file and forgets to close it; without a descriptor it answers 500",
    excludes: &[],
}];

/// Between two failed accepts.
const RETRY: Duration = Duration::from_millis(10);
/// The answer of a handler that could not open its file.
const FAILED: &[u8] = b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n";

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    sys::limit_files(options.number("files") as u64)?;
    let leaks = options.has("leak") && !options.healthy;
    let work = options.millis("work-ms");
    let requests = Arc::new(AtomicU64::new(0));
    let refused = Arc::new(AtomicU64::new(0));
    let failed = Arc::clone(&refused);
    let leaked: Mutex<Vec<File>> = Mutex::default();
    let server = Arc::new(Threaded {
        nodelay: true,
        one_request: false,
        requests: Arc::clone(&requests),
        answer: Box::new(move |request, stream| {
            thread::sleep(work);
            if leaks {
                let Ok(file) = File::open("/dev/null") else {
                    failed.fetch_add(1, Ordering::Relaxed);
                    return stream.write_all(FAILED);
                };
                let mut leaked = leaked.lock().unwrap_or_else(PoisonError::into_inner);
                leaked.push(file);
            }
            stream.write_all(&http::response(request, b"hello\n"))
        }),
    });
    let failing = Arc::clone(&refused);
    thread::Builder::new()
        .name("accept".to_owned())
        .spawn(move || {
            loop {
                if let Ok((stream, _)) = listener.accept() {
                    Arc::clone(&server).spawn(stream);
                } else {
                    failing.fetch_add(1, Ordering::Relaxed);
                    thread::sleep(RETRY);
                }
            }
        })?;
    let sick = !options.healthy;
    let stop = move || {
        let (requests, refused) = (
            requests.load(Ordering::Relaxed),
            refused.load(Ordering::Relaxed),
        );
        let text = format!("{refused} times there was no descriptor");
        Ok(Truth::new(requests, refused, sick, text))
    };
    let cause = if sick { "fd-exhaustion" } else { NO_CAUSE };
    Ok(Server {
        address,
        cause,
        stop: Box::new(stop),
    })
}

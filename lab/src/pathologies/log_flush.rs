//! Every request writes to its standard error, which is a pipe that is not always read.

use std::ffi::CString;
use std::fs::{self, File};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::{NO_CAUSE, Refusal, Server, Truth};
use crate::companion::Companion;
use crate::http::{self, Threaded};
use crate::options::{Knob, Options, Variant};
use crate::sys;

pub(super) const SUMMARY: &str =
    "every request writes to a log that is not read for some of the time";
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        flag: "stops-ms",
        help: "for how long the log is not read",
        default: 250.0,
        range: (0.0, 60_000.0),
        healthy: Some(0.0),
    },
    Knob {
        flag: "every-ms",
        help: "from one such time to the next",
        default: 1_000.0,
        range: (1.0, 600_000.0),
        healthy: None,
    },
    Knob {
        flag: "line-bytes",
        help: "what a request writes; a pipe holds 65536",
        default: 8_192.0,
        range: (1.0, 1_000_000.0),
        healthy: None,
    },
];
pub(super) const VARIANTS: &[Variant] = &[];

/// A write that takes so long waited for room.
const WAITED: Duration = Duration::from_millis(5);

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let name = format!("slowpath-lab-{}.log", std::process::id());
    let path = std::env::temp_dir().join(name);
    let text = path.to_string_lossy().into_owned();
    sys::named_pipe(&CString::new(text.clone()).map_err(std::io::Error::other)?)?;
    let (stops, every) = (options.number("stops-ms"), options.number("every-ms"));
    let reader = Companion::start(&["drain", &text, &stops.to_string(), &every.to_string()]);
    // Opening waits for the reader.
    let opened = reader.and_then(|reader| Ok((reader, File::options().write(true).open(&path)?)));
    fs::remove_file(&path)?;
    let (reader, pipe) = opened?;
    sys::standard_error_to(&pipe)?;
    let log = sys::standard_error_raw();
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let mut line = vec![b'.'; options.count("line-bytes")];
    line.push(b'\n');
    let requests = Arc::new(AtomicU64::new(0));
    let waited = Arc::new(AtomicU64::new(0));
    let waits = Arc::clone(&waited);
    Threaded {
        nodelay: true,
        one_request: false,
        requests: Arc::clone(&requests),
        answer: Box::new(move |request, stream| {
            let begun = Instant::now();
            // One write for each line, and no lock around it, as loggers in C do it.
            (&*log).write_all(&line)?;
            waits.fetch_add(u64::from(begun.elapsed() > WAITED), Ordering::Relaxed);
            stream.write_all(&http::response(request, b"ok\n"))
        }),
    }
    .start(listener)?;
    let sick = !options.healthy;
    let stop = move || {
        drop(reader);
        let (n, waits) = (
            requests.load(Ordering::Relaxed),
            waited.load(Ordering::Relaxed),
        );
        let said = format!("{waits} requests waited to write a line");
        Ok(Truth::new(n, if sick { waits } else { 0 }, sick, said))
    };
    Ok(Server {
        address,
        cause: if sick { "log-flush" } else { NO_CAUSE },
        stop: Box::new(stop),
    })
}

//! Large responses on a slow way: the number at the end of the path says how many kilobytes.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::slow_scan::number;
use super::{NO_CAUSE, Refusal, Server, Truth};
use crate::http::{self, Threaded};
use crate::options::{Knob, Options, Variant};

pub(super) const SUMMARY: &str = "answers with as many kilobytes as the number at the end of the path says (/bytes/40), each of which \
     takes its time; in the twin none does";
pub(super) const KNOBS: &[Knob] = &[Knob {
    flag: "kilobyte-us",
    help: "what each kilobyte takes",
    default: 300.0,
    range: (0.0, 1e6),
    healthy: Some(0.0),
}];
pub(super) const VARIANTS: &[Variant] = &[];

/// Written at once.
const PIECE_BYTES: usize = 1 << 14;
const KILOBYTES_MOST: f64 = 10_000.0;

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let requests = Arc::new(AtomicU64::new(0));
    let slow = Arc::new(AtomicU64::new(0));
    let slow_here = Arc::clone(&slow);
    let kilobyte = options.millis("kilobyte-us") / 1000;
    Threaded {
        nodelay: true,
        one_request: false,
        requests: Arc::clone(&requests),
        answer: Box::new(move |request, stream| {
            let kilobytes = number(request).clamp(1.0, KILOBYTES_MOST);
            let body = vec![b'x'; (kilobytes * 1024.0) as usize];
            stream.write_all(http::head(request, body.len(), "").as_bytes())?;
            for piece in http::body_of(request, &body).chunks(PIECE_BYTES) {
                if !kilobyte.is_zero() {
                    slow_here.fetch_add(1, Ordering::Relaxed);
                    thread::sleep(kilobyte.mul_f64(piece.len() as f64 / 1024.0));
                }
                stream.write_all(piece)?;
            }
            Ok(())
        }),
    }
    .start(listener)?;
    let sick = !options.healthy;
    let stop = move || {
        let slow = slow.load(Ordering::Relaxed);
        let self_check = format!("{slow} pieces were written late");
        let requests = requests.load(Ordering::Relaxed);
        Ok(Truth::new(requests, slow, sick, self_check))
    };
    let cause = if sick { "response-size" } else { NO_CAUSE };
    Ok(Server {
        address,
        cause,
        stop: Box::new(stop),
    })
}

//! The fault is the client's: this server answers at once, so a rate that cannot be kept is one
//! that the client, or its share of the machine, cannot send. The healthy twin is the same
//! server; what differs is the rate that is asked for.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::{NO_CAUSE, Refusal, Server, Truth};
use crate::http::{self, Threaded};
use crate::options::{Knob, Options, Variant};

pub(super) const SUMMARY: &str = "answers at once: a rate that is missed is missed by the client";
pub(super) const KNOBS: &[Knob] = &[];
pub(super) const VARIANTS: &[Variant] = &[];

/// From request read to response written; longer means that even this server had to wait for a
/// CPU or for the client to read.
const AT_ONCE: Duration = Duration::from_millis(1);

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let requests = Arc::new(AtomicU64::new(0));
    let late = Arc::new(AtomicU64::new(0));
    let late_here = Arc::clone(&late);
    Threaded {
        nodelay: true,
        one_request: false,
        requests: Arc::clone(&requests),
        answer: Box::new(move |request, stream| {
            let begin = Instant::now();
            let result = stream.write_all(&http::response(request, b"hello\n"));
            if begin.elapsed() > AT_ONCE {
                late_here.fetch_add(1, Ordering::Relaxed);
            }
            result
        }),
    }
    .start(listener)?;
    let stop = move || {
        let requests = requests.load(Ordering::Relaxed);
        let late = late.load(Ordering::Relaxed);
        Ok(Truth {
            requests,
            induced: 0,
            // The fault is made elsewhere; here it can only be ruled out that it was ours.
            holds: requests > 0 && late * 2 < requests,
            self_check: format!("the server took more than {AT_ONCE:?} for {late} requests"),
        })
    };
    let cause = if options.healthy {
        NO_CAUSE
    } else {
        "client-saturation"
    };
    Ok(Server {
        address,
        cause,
        stop: Box::new(stop),
    })
}

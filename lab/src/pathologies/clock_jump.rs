//! Serves fast while the machine's wall clock is stepped forward and back. A client that measures with
//! the wall clock sees latencies that never were.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{NO_CAUSE, Refusal, Server, Truth};
use crate::guardian::Guardian;
use crate::http::{self, Threaded};
use crate::options::{Knob, Options, Variant};
use crate::sys;

pub(super) const SUMMARY: &str = "steps the machine's wall clock to and fro (needs CAP_SYS_TIME)";
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        flag: "step-ms",
        help: "size of a step",
        default: 50.0,
        range: (1.0, 60_000.0),
        healthy: None,
    },
    Knob {
        flag: "period-ms",
        help: "time from step to step",
        default: 2_000.0,
        range: (10.0, 600_000.0),
        healthy: None,
    },
];
pub(super) const VARIANTS: &[Variant] = &[];

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let sick = !options.healthy;
    if sick {
        // A step of nothing shows whether steps are permitted.
        sys::step_clock(0).map_err(|error| {
            Refusal::NotPermitted(format!("cannot step the clock: {error} (run as root)"))
        })?;
    }
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let requests = Arc::new(AtomicU64::new(0));
    Threaded {
        nodelay: true,
        one_request: false,
        requests: Arc::clone(&requests),
        answer: Box::new(|request, stream| stream.write_all(&http::response(request, b"hello\n"))),
    }
    .start(listener)?;
    let step_us = ((options.number("step-ms") * 1e3) as i64).to_string();
    let period_ms = options.count("period-ms").to_string();
    let duty = ["clock", &step_us, &period_ms];
    let guardian = if sick {
        Some(Guardian::start(&duty)?)
    } else {
        None
    };
    let stop = move || {
        let report = guardian.map_or(Ok("0".to_owned()), Guardian::finish)?;
        let steps = report.trim().parse().map_err(io::Error::other)?;
        let self_check = format!("the clock was stepped {steps} times, in sum by nothing");
        Ok(Truth::new(
            requests.load(Ordering::Relaxed),
            steps,
            sick,
            self_check,
        ))
    };
    let cause = if sick { "clock-jump" } else { NO_CAUSE };
    Ok(Server {
        address,
        cause,
        stop: Box::new(stop),
    })
}

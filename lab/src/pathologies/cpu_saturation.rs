//! Each request costs more CPU time than the event loop has to give at the rate it is asked for.

use std::num::NonZero;
use std::sync::atomic::Ordering;
use std::thread;

use super::{NO_CAUSE, Refusal, Server, Truth};
use crate::event_loop;
use crate::http;
use crate::options::{Knob, Options, Variant};
use crate::work;

pub(super) const SUMMARY: &str = "burns CPU for each request on the one thread that serves all";
pub(super) const KNOBS: &[Knob] = &[Knob {
    flag: "burn-ms",
    help: "CPU time of a request",
    default: 5.0,
    range: (0.0, 1_000.0),
    healthy: Some(0.2),
}];
pub(super) const VARIANTS: &[Variant] = &[Variant {
    name: "threads",
    help: "as many event loops as there are CPUs, so that the machine is saturated",
    excludes: &[],
}];

/// The server was saturated when more than one request in this many had to queue. The twin's own
/// loop is interrupted now and then, so that none at all would be too much to ask of it.
const SATURATED_ONE_IN: u64 = 20;

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let cpus = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = if options.has("threads") { cpus } else { 1 };
    let cpu = options.millis("burn-ms");
    let counters = event_loop::start(listener, threads, move |_| work::burn(cpu))?;
    let sick = !options.healthy;
    let stop = move || {
        let requests = counters.requests.load(Ordering::Relaxed);
        let queued = counters.queued.load(Ordering::Relaxed);
        let busy = counters.cpus_busy();
        let self_check = format!(
            "{queued} requests waited for the CPU work of others; {busy:.2} of {threads} event \
             loops were busy since the first request"
        );
        let saturated = queued * SATURATED_ONE_IN > requests;
        let holds = requests > 0 && saturated == sick;
        Ok(Truth {
            requests,
            induced: queued,
            holds,
            self_check,
        })
    };
    let cause = if sick { "cpu-saturation" } else { NO_CAUSE };
    Ok(Server {
        address,
        cause,
        stop: Box::new(stop),
    })
}

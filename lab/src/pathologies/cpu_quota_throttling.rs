//! The server's cgroup may use a part of one CPU in each period of 100 ms; when it is used up,
//! all threads stand still until the next period, however idle the machine is.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;

use super::{NO_CAUSE, Refusal, Server, Truth};
use crate::cgroup::{self, Cgroup};
use crate::event_loop;
use crate::guardian::Guardian;
use crate::http;
use crate::options::{Knob, Options, Variant};
use crate::work;

pub(super) const SUMMARY: &str = "burns CPU in a cgroup of its own with a small quota (needs root)";
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        flag: "quota-percent",
        help: "quota in percent of one CPU; 0: none",
        default: 20.0,
        range: (0.0, 10_000.0),
        healthy: Some(0.0),
    },
    Knob {
        flag: "burn-ms",
        help: "CPU time of a request",
        default: 5.0,
        range: (0.0, 1_000.0),
        healthy: None,
    },
    Knob {
        flag: "threads",
        help: "event loops that share the connections",
        default: 2.0,
        range: (1.0, 256.0),
        healthy: None,
    },
];
pub(super) const VARIANTS: &[Variant] = &[];

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let membership = fs::read_to_string("/proc/self/cgroup")?;
    let cgroup =
        Cgroup::create(Path::new(cgroup::MOUNT), &membership).map_err(Refusal::NotPermitted)?;
    let path = cgroup.path().to_str().expect("the path is made of ASCII");
    // From here on the guardian removes the group, whatever becomes of this process.
    let guardian = Guardian::start(&["cgroup", path])?;
    let quota_percent = options.number("quota-percent");
    if quota_percent > 0.0 {
        cgroup.limit(quota_percent).map_err(Refusal::NotPermitted)?;
    }
    cgroup.enter().map_err(Refusal::NotPermitted)?;
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let cpu = options.millis("burn-ms");
    let counters = event_loop::start(listener, options.count("threads"), move |_| work::burn(cpu))?;
    let sick = !options.healthy;
    let stop = move || {
        let throttled = cgroup.throttled_periods().map_err(io::Error::other)?;
        cgroup.leave().map_err(io::Error::other)?;
        guardian.finish()?;
        let self_check = format!("the cgroup was throttled in {throttled} periods");
        Ok(Truth::new(
            counters.requests.load(Ordering::Relaxed),
            throttled,
            sick,
            self_check,
        ))
    };
    let cause = if sick {
        "cpu-quota-throttling"
    } else {
        NO_CAUSE
    };
    Ok(Server {
        address,
        cause,
        stop: Box::new(stop),
    })
}

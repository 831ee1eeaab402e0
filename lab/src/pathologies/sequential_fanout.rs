//! Every request asks another process many times, one after the other.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::slow_dependency::ask;
use super::{NO_CAUSE, Refusal, Server, Truth};
use crate::http::{self, Threaded};
use crate::options::{Knob, Options, Variant};
use crate::upstream::{Asker, KNOB, Upstream};

pub(super) const SUMMARY: &str =
    "every request asks another process so many times, one after the other";
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        flag: "calls",
        help: "how often a request asks",
        default: 10.0,
        range: (1.0, 1_000.0),
        healthy: Some(1.0),
    },
    Knob {
        flag: "call-ms",
        help: "how long a reply takes",
        default: 2.0,
        range: (0.0, 60_000.0),
        healthy: None,
    },
    Knob {
        flag: "pause-ms",
        help: "with pauses: how long it waits before it asks again",
        default: 5.0,
        range: (0.0, 60_000.0),
        healthy: None,
    },
    KNOB,
];
pub(super) const VARIANTS: &[Variant] = &[
    Variant {
        name: "one",
        help: "one reply takes as long as all of them",
        excludes: &["pauses"],
    },
    Variant {
        name: "pauses",
        help: "it sleeps before it asks again",
        excludes: &[],
    },
];

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let upstream = Arc::new(Upstream::at(options.count(KNOB.flag))?);
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let (calls, takes) = (options.count("calls") as u32, options.millis("call-ms"));
    let (one, pauses) = (options.has("one"), options.has("pauses"));
    let pause = options.millis("pause-ms");
    let requests = Arc::new(AtomicU64::new(0));
    let asked = Arc::new(AtomicU64::new(0));
    let (counted, behind) = (Arc::clone(&asked), Arc::clone(&upstream));
    let in_a_row = move |asker: &mut Asker| {
        if one {
            return asker.ask(takes * calls);
        }
        for call in 0..calls {
            if pauses && call > 0 {
                thread::sleep(pause);
            }
            asker.ask(takes)?;
        }
        Ok(())
    };
    Threaded {
        nodelay: true,
        one_request: false,
        requests: Arc::clone(&requests),
        answer: Box::new(move |request, stream| {
            ask(&behind, in_a_row)?;
            counted.fetch_add(if one { 1 } else { calls.into() }, Ordering::Relaxed);
            stream.write_all(&http::response(request, b"ok\n"))
        }),
    }
    .start(listener)?;
    let sick = !options.healthy && !one && !pauses;
    let stop = move || {
        drop(upstream);
        let (n, calls) = (
            requests.load(Ordering::Relaxed),
            asked.load(Ordering::Relaxed),
        );
        let said = format!("{calls} calls");
        let in_rows = calls.saturating_sub(n);
        Ok(Truth::new(n, if sick { in_rows } else { 0 }, sick, said))
    };
    let cause = match (sick, one, options.healthy) {
        (true, ..) => "sequential-fanout",
        (_, true, false) => "slow-dependency",
        (_, _, true) => NO_CAUSE,
        _ => super::UNCATALOGUED,
    };
    Ok(Server {
        address,
        cause,
        stop: Box::new(stop),
    })
}

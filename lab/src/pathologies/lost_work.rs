//! With too many requests under way answers come at once, and nothing is in them.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::{NO_CAUSE, Refusal, Server, Truth, UNCATALOGUED};
use crate::http::{self, Threaded};
use crate::options::{Knob, Options, Variant};

pub(super) const SUMMARY: &str = "answers 200 without doing the work when too many requests are under way; the twin does all of it";
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        flag: "most",
        help: "requests whose work is done at a time",
        default: 2.0,
        range: (1.0, 1e6),
        healthy: Some(1e6),
    },
    Knob {
        flag: "work-ms",
        help: "how long the work takes",
        default: 15.0,
        range: (0.1, 60_000.0),
        healthy: None,
    },
];
pub(super) const VARIANTS: &[Variant] = &[Variant {
    name: "late",
    help: "look-alike: the work is done, and the answer is wrong all the same",
    excludes: &[],
}];

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let requests = Arc::new(AtomicU64::new(0));
    let lost = Arc::new(AtomicU64::new(0));
    let lost_here = Arc::clone(&lost);
    let (most, work) = (options.number("most") as u64, options.millis("work-ms"));
    let late = options.has("late");
    let under_way = AtomicU64::new(0);
    Threaded {
        nodelay: true,
        one_request: false,
        requests: Arc::clone(&requests),
        answer: Box::new(move |request, stream| {
            let is_lost = under_way.fetch_add(1, Ordering::Relaxed) >= most;
            if !is_lost || late {
                thread::sleep(work);
            }
            under_way.fetch_sub(1, Ordering::Relaxed);
            if is_lost {
                lost_here.fetch_add(1, Ordering::Relaxed);
                return stream.write_all(&http::response(request, b"\n"));
            }
            stream.write_all(&http::response(request, b"result\n"))
        }),
    }
    .start(listener)?;
    let sick = !options.healthy;
    let stop = move || {
        let lost = lost.load(Ordering::Relaxed);
        let self_check = format!("{lost} answers had nothing in them");
        let requests = requests.load(Ordering::Relaxed);
        Ok(Truth::new(requests, lost, sick, self_check))
    };
    let cause = match (sick, late) {
        (false, _) => NO_CAUSE,
        (true, true) => UNCATALOGUED,
        (true, false) => "lost-work",
    };
    Ok(Server {
        address,
        cause,
        stop: Box::new(stop),
    })
}

//! A parent keeps the listening socket; a child serves for a while and ends, and the next one needs a
//! time to start: what a limit of requests, a watchdog or a crash does.

use std::process::Child;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use super::{NO_CAUSE, Refusal, Server, Truth};
use crate::http;
use crate::options::{Knob, Options, Variant};
use crate::worker;

pub(super) const SUMMARY: &str = "a child serves for a while and ends, and another takes its place";
pub(super) const KNOBS: &[Knob] = &[
    Knob {
        flag: "life-ms",
        help: "how long a child serves",
        default: 2_500.0,
        range: (1.0, 600_000.0),
        healthy: None,
    },
    Knob {
        flag: "boot-ms",
        help: "how long the next one takes to start",
        default: 200.0,
        range: (0.0, 60_000.0),
        healthy: None,
    },
    Knob {
        flag: "work-ms",
        help: "how long a request takes",
        default: 5.0,
        range: (0.0, 10_000.0),
        healthy: None,
    },
];
pub(super) const VARIANTS: &[Variant] = &[
    Variant {
        name: "graceful",
        help: "a child serves one connection after the other, one request each, and ends between",
        excludes: &["helpers"],
    },
    Variant {
        name: "helpers",
        help: "a look-alike: children that come and go serve no connection, and one that stays does",
        excludes: &["graceful"],
    },
];

/// Longer than any run.
const FOR_EVER: std::time::Duration = std::time::Duration::from_hours(24);

/// The child that serves, or the helper; none once the server ends.
type Current = Arc<Mutex<Vec<Child>>>;

pub(super) fn start(options: &Options) -> Result<Server, Refusal> {
    let listener = http::listen(options.port, http::AMPLE_BACKLOG)?;
    let address = listener.local_addr()?;
    let (life, boot) = (options.millis("life-ms"), options.millis("boot-ms"));
    let work = options.millis("work-ms");
    let helpers = options.has("helpers");
    let sick = !options.healthy && !helpers;
    let kind = if options.has("graceful") {
        worker::GRACEFUL
    } else {
        worker::SUDDEN
    };
    let requests = Arc::new(AtomicU64::new(0));
    let ended = Arc::new(AtomicU64::new(0));
    let stopping = Arc::new(AtomicBool::new(false));
    let current: Current = Arc::default();
    if !sick {
        let child = worker::start(&listener, kind, (FOR_EVER, boot, work), &requests)?;
        locked(&current).push(child);
    }
    let (counted, restarts) = (Arc::clone(&requests), Arc::clone(&ended));
    let (children, over) = (Arc::clone(&current), Arc::clone(&stopping));
    thread::Builder::new()
        .name("supervisor".to_owned())
        .spawn(move || {
            let replaces = sick || helpers;
            while replaces && !over.load(Ordering::Relaxed) {
                let kind = if sick { kind } else { worker::IDLE };
                let started = worker::start(&listener, kind, (life, boot, work), &counted);
                let Ok(child) = started else { break };
                let id = child.id();
                locked(&children).push(child);
                if wait(&children, id) && !over.load(Ordering::Relaxed) {
                    restarts.fetch_add(u64::from(sick), Ordering::Relaxed);
                }
            }
            // The thread that started children stays, since they end with it.
            loop {
                thread::park();
            }
        })?;
    let stop = move || {
        stopping.store(true, Ordering::Relaxed);
        for child in &mut *locked(&current) {
            // One that has ended by itself is no failure.
            drop(child.kill());
            drop(child.wait());
        }
        let (requests, ended) = (
            requests.load(Ordering::Relaxed),
            ended.load(Ordering::Relaxed),
        );
        let text = format!("{ended} children ended by themselves");
        Ok(Truth::new(requests, ended, sick, text))
    };
    let cause = if sick { "worker-restart" } else { NO_CAUSE };
    Ok(Server {
        address,
        cause,
        stop: Box::new(stop),
    })
}

fn locked(children: &Mutex<Vec<Child>>) -> std::sync::MutexGuard<'_, Vec<Child>> {
    children.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for the end of a child and forgets it; whether it ended in good order.
fn wait(children: &Mutex<Vec<Child>>, id: u32) -> bool {
    loop {
        {
            let mut children = locked(children);
            let Some(place) = children.iter().position(|child| child.id() == id) else {
                return false;
            };
            if let Ok(Some(_)) = children[place].try_wait() {
                let ended = children.remove(place).wait();
                return ended.is_ok_and(|status| status.success());
            }
        }
        thread::sleep(std::time::Duration::from_millis(2));
    }
}

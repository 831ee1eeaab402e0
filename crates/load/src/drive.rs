//! One repeat of a load, from the first connection to the last response.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::rc::Rc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::Poll;

use slowpath_core::Nanos;
use slowpath_core::facts::EndpointTally;
use slowpath_core::nanos::{MILLISECOND, Span};
use slowpath_core::plan::Plan;
use slowpath_core::sample::Sample;
use slowpath_core::scenario::{Places, Template};
use tokio::runtime::{Builder, LocalOptions};

use crate::clock::now;
use crate::connection::Network;
use crate::control::Control;
use crate::dispatch::{Dispatcher, slots};
use crate::engine::{Engine, prepare};
use crate::keys::Keys;
use crate::limits::Limits;
use crate::timer::Timer;

/// How often the loop looks after limits, flags and counters: often enough that a stop is felt at
/// once, rarely enough (50 wake-ups a second) to cost nothing.
const LOOK_NS: u64 = 20 * MILLISECOND;
/// A time limit is noticed after a fraction of itself at the latest, so that the connections of a
/// load with short limits are not held up.
const LOOKS_PER_TIMEOUT: u64 = 4;
/// Samples wait no longer than this for the sink: what a killed run loses.
const FLUSH_NS: u64 = 200 * MILLISECOND;
/// How long requests under way get after a stop: long enough for answers that are on their way,
/// short enough for somebody who pressed Ctrl-C.
const GRACE_NS: u64 = 500 * MILLISECOND;

/// What to drive.
#[derive(Clone, Debug)]
pub struct Drive<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Which repeat of it, from 0.
    pub repeat: u16,
    /// Where the target listens; at least one address.
    pub addresses: &'a [SocketAddr],
    /// What stands for `{port}`, `{service.NAME.port}` and `{tmp}` in requests.
    pub places: Places,
    /// The value of the `Host` header.
    pub host_header: String,
}

/// What was driven.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drove {
    /// The measured window; shorter than planned, even empty, if the load was cut short.
    pub window: Span,
    /// From the first request of the warm-up to the last response.
    pub load: Span,
    /// What was offered in the window, in the order of the plan's endpoints.
    pub endpoints: Vec<EndpointTally>,
    /// Connections made, warm-up included.
    pub connections_opened: u64,
    /// The shortest time one took to be made; `None` if none was.
    pub fastest_dial_ns: Option<u64>,
    /// Connections found closed before a request was sent on them.
    pub connections_stale: u64,
    /// Why it ended early; empty if it did not.
    pub cut_short: String,
}

/// Why a load could not be driven. Whatever a target does to requests is no error but a sample.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The plan says something that nothing here carries out.
    #[error("{0} is valid but not carried out yet")]
    NotCarriedOut(&'static str),
    /// There is nothing to connect to.
    #[error("the target has no address")]
    NoAddress,
    /// The name of the target's host leads nowhere.
    #[error("{host} has no address: {source}")]
    Resolve {
        /// The host.
        host: String,
        /// What the resolver said.
        source: io::Error,
    },
    /// An expectation cannot be compiled.
    #[error("the expectation {what} of {endpoint} cannot be used: {reason}")]
    Expectation {
        /// The endpoint's name.
        endpoint: String,
        /// The key under `expect`.
        what: String,
        /// What is wrong.
        reason: String,
    },
    /// A line break in a header would let its value become other headers.
    #[error("the header {header} of {endpoint} takes a value with a control character")]
    Header {
        /// The endpoint's name.
        endpoint: String,
        /// The header's name.
        header: String,
    },
    /// The operating system gives no event loop or timer.
    #[error("the event loop cannot start: {0}")]
    EventLoop(#[from] io::Error),
}

/// All addresses of a host, each once, in the resolver's order.
///
/// # Errors
/// When the name cannot be resolved or has no address.
pub fn resolve(host: &str, port: u16) -> Result<Vec<SocketAddr>, LoadError> {
    let found = (host, port)
        .to_socket_addrs()
        .map_err(|source| LoadError::Resolve {
            host: host.to_owned(),
            source,
        })?;
    let mut addresses: Vec<SocketAddr> = Vec::new();
    for address in found {
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    if addresses.is_empty() {
        return Err(LoadError::NoAddress);
    }
    Ok(addresses)
}

/// Drives one repeat on the calling thread and returns when its last request has ended. Finished
/// requests are given to `sink` in batches, warm-up included, in the order in which they ended.
///
/// # Errors
/// When the load cannot begin; nothing was sent then.
pub fn drive(
    drive: &Drive<'_>,
    control: &Control,
    keys: &mut Keys,
    sink: &mut dyn FnMut(&[Sample]),
) -> Result<Drove, LoadError> {
    check(drive)?;
    let runtime = Builder::new_current_thread()
        .enable_io()
        .build_local(LocalOptions::default())?;
    control.loop_tid.store(
        rustix::thread::gettid().as_raw_nonzero().get() as u32,
        Relaxed,
    );
    let load = &drive.plan.scenario.load;
    let start = now();
    let begin = start.plus(load.warmup_ns);
    let window = Span::new(begin, begin.plus(load.duration_ns));
    let endpoints = prepare(drive, keys)?;
    let (engine, timer) = {
        // Timers register with the runtime that is entered.
        let _entered = runtime.enter();
        let dispatcher = Dispatcher::new(drive.plan, drive.repeat, start, window)?;
        let limits = Limits::new(slots(drive.plan), start);
        let network = Network::new(drive.addresses, control.quickack.load(Relaxed), limits);
        let engine = Engine::new(drive, endpoints, dispatcher, network, start);
        (Rc::new(engine), Timer::new()?)
    };
    engine.keys.swap(&RefCell::new(std::mem::take(keys)));
    let mut watch = Watch {
        engine: &engine,
        control,
        window,
        look_ns: (load.timeout_ns / LOOKS_PER_TIMEOUT).clamp(MILLISECOND, LOOK_NS),
        flushed: start,
        reported: [0; 3],
        cut_short: "",
    };
    runtime.block_on(watch.run(slots(drive.plan), timer, sink));
    let (cut_short, reported) = (watch.cut_short, watch.reported);
    // Dropping the runtime drops the tasks, and with them every connection and share of the engine.
    drop(runtime);
    let engine = Rc::into_inner(engine).expect("only the tasks shared it");
    *keys = engine.keys.into_inner();
    let window = Span::new(window.begin, window.end.min(engine.dispatcher.closing()));
    let endpoints = engine.dispatcher.into_tally();
    let offered: u64 = endpoints.iter().map(|tally| tally.offered).sum();
    control
        .progress
        .offered
        .fetch_add(offered.saturating_sub(reported[0]), Relaxed);
    Ok(Drove {
        window,
        load: Span::new(start, engine.log.last_done()),
        endpoints,
        connections_opened: u64::from(engine.network.opened()),
        fastest_dial_ns: engine.network.fastest_dial_ns(),
        connections_stale: engine.stale.get(),
        cut_short: cut_short.to_owned(),
    })
}

/// Refuses what cannot be driven.
fn check(drive: &Drive<'_>) -> Result<(), LoadError> {
    if drive.addresses.is_empty() {
        return Err(LoadError::NoAddress);
    }
    let scenario = &drive.plan.scenario;
    let endpoints = || scenario.endpoints.iter();
    for (said, key) in [
        (scenario.load.idle.is_some(), "load.idle"),
        (!scenario.load.passes.is_empty(), "load.passes"),
        (!scenario.users.is_empty(), "user"),
        (
            endpoints().any(|endpoint| endpoint.rate_per_s.is_some()),
            "endpoint.rate",
        ),
        (
            endpoints().any(|endpoint| endpoint.read_bytes_per_s.is_some()),
            "endpoint.read_rate",
        ),
        (
            endpoints().any(|endpoint| endpoint.send_bytes_per_s.is_some()),
            "endpoint.send_rate",
        ),
        (
            endpoints().any(|endpoint| endpoint.expect.events.is_some()),
            "endpoint.expect.events",
        ),
        (
            endpoints().any(|endpoint| endpoint.expect.count.is_some()),
            "endpoint.expect.count",
        ),
    ] {
        if said {
            return Err(LoadError::NotCarriedOut(key));
        }
    }
    for endpoint in endpoints() {
        for (header, value) in &endpoint.headers {
            if has_control(value, drive) {
                return Err(LoadError::Header {
                    endpoint: endpoint.name.clone(),
                    header: header.clone(),
                });
            }
        }
    }
    Ok(())
}

/// Whether a header value can contain a character that ends it.
fn has_control(value: &Template, drive: &Drive<'_>) -> bool {
    use slowpath_core::scenario::Part;
    let is_control = |text: &str| text.contains(['\r', '\n', '\0']);
    value.parts.iter().any(|part| match part {
        Part::Literal(text) => is_control(text),
        Part::Tmp => is_control(&drive.places.tmp),
        Part::Pool(pool) => drive.plan.scenario.pools[*pool]
            .values
            .iter()
            .any(|value| is_control(value)),
        Part::Seq | Part::Uuid | Part::Port | Part::ServicePort(_) => false,
    })
}

/// Looks after a load while its slots work, and owns the way out of the loop.
struct Watch<'a> {
    engine: &'a Rc<Engine>,
    control: &'a Control,
    window: Span,
    look_ns: u64,
    flushed: Nanos,
    /// Offered, done and errors as far as [`crate::Progress`] knows them.
    reported: [u64; 3],
    cut_short: &'static str,
}

impl Watch<'_> {
    async fn run(&mut self, slots: u32, timer: Timer, sink: &mut dyn FnMut(&[Sample])) {
        for slot in 0..slots {
            tokio::task::spawn_local(Rc::clone(self.engine).work(slot));
        }
        let engine = Rc::clone(self.engine);
        tokio::task::spawn_local(async move { engine.dispatcher.keep_time(now).await });
        let mut next_look = now();
        loop {
            let at = now();
            if at >= next_look {
                self.look(at);
                next_look = at.plus(self.look_ns);
            }
            let log = &self.engine.log;
            if self.engine.dispatcher.is_over(at) {
                self.report(at);
                log.flush(sink);
                return;
            }
            if poll_fn(|cx| Poll::Ready(log.poll_full(cx))).await
                || at.since(self.flushed) >= FLUSH_NS
            {
                log.flush(sink);
                self.flushed = at;
            }
            let closing = self.engine.dispatcher.closing();
            timer.arm_by(if closing > at {
                next_look.min(closing)
            } else {
                next_look
            });
            poll_fn(|cx| {
                let wake = log.poll_full(cx) || self.engine.dispatcher.is_over(now());
                let expired = timer.poll_expired(cx).is_ready();
                if wake || expired {
                    Poll::Ready(())
                } else {
                    Poll::Pending
                }
            })
            .await;
        }
    }

    /// Flags, limits, counters.
    fn look(&mut self, at: Nanos) {
        let Engine {
            dispatcher,
            network,
            ..
        } = &**self.engine;
        network.quickack.set(self.control.quickack.load(Relaxed));
        if self.cut_short.is_empty() && self.control.stop.load(Relaxed) {
            if at < dispatcher.closing() {
                dispatcher.close(at);
            }
            network.limits.cut_off(at.plus(GRACE_NS));
            self.cut_short = "interrupted";
        }
        for slot in network.limits.look(at) {
            dispatcher.wake(slot);
        }
        self.report(at);
    }

    fn report(&mut self, at: Nanos) {
        let Engine {
            dispatcher, log, ..
        } = &**self.engine;
        let progress = &self.control.progress;
        let (done, errors) = log.counts();
        let present = [dispatcher.taken(), done, errors];
        let shown = [&progress.offered, &progress.done, &progress.errors];
        for ((shown, present), before) in shown.into_iter().zip(present).zip(self.reported) {
            shown.fetch_add(present - before, Relaxed);
        }
        self.reported = present;
        let is_open = at < dispatcher.closing();
        progress
            .in_window
            .store(at >= self.window.begin && is_open, Relaxed);
    }
}

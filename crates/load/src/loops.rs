//! The loops of one load, each on a thread of its own.
//!
//! A loop shares nothing with the others while it sends but a counter of what is under way: it has
//! its own connections, users and part of the schedule (see [`Share`]).

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use slowpath_core::Nanos;
use slowpath_core::nanos::Span;
use slowpath_core::plan::{Plan, Spent};
use slowpath_core::scenario::Http;
use tokio::runtime::{Builder, LocalOptions, LocalRuntime};

use crate::clock::now;
use crate::connection::Network;
use crate::control::Control;
use crate::dispatch::{Dispatcher, connections, slots};
use crate::drive::{Drive, Drove, LoadError};
use crate::engine::{Engine, prepare};
use crate::files::Files;
use crate::http2;
use crate::keys::SharedKeys;
use crate::limits::Limits;
use crate::log::Sink;
use crate::share::{Joint, Share};
use crate::timer::Timer;
use crate::watch::Watch;

/// What every loop of a load is given.
#[derive(Clone, Copy)]
struct Common<'a> {
    drive: &'a Drive<'a>,
    files: &'a Files,
    control: &'a Control,
    joint: &'a Arc<Joint>,
    sink: &'a dyn Sink,
    start: Nanos,
    window: Span,
}

/// Runs all loops of a load to their end. None begins unless all can.
///
/// # Errors
/// When one of them cannot begin.
pub(crate) fn run(
    drive: &Drive<'_>,
    files: &Files,
    control: &Control,
    keys: &SharedKeys,
    sink: &dyn Sink,
) -> Result<Vec<Drove>, LoadError> {
    let load = &drive.plan.scenario.load;
    let joint = Arc::new(Joint::new(keys.clone()));
    let start = now();
    let begin = start.plus(load.warmup_ns);
    let known = &control.progress.window_begin_ns;
    known.store(begin.get(), Relaxed);
    let common = Common {
        drive,
        files,
        control,
        joint: &joint,
        sink,
        start,
        window: Span::new(begin, begin.plus(load.duration_ns)),
    };
    // A loop without a connection has nothing to do.
    let of = load.loops.clamp(1, connections(drive.plan));
    let share = |index| Share { index, of };
    let first = Loop::prepare(common, share(0))?;
    thread::scope(|scope| {
        let (ready, readiness) = channel();
        let mut others = Vec::new();
        for index in 1..of {
            let ready = ready.clone();
            let (go, gone) = channel::<()>();
            let work = move || further(common, share(index), ready, &gone);
            let thread = thread::Builder::new().name(format!("load-{index}"));
            others.push((go, thread.spawn_scoped(scope, work)?));
        }
        drop(ready);
        let mut tids = vec![tid(); of as usize];
        // The iterator ends when all others are ready, or have given up.
        for (index, ready) in readiness {
            tids[index as usize] = ready?;
        }
        control.set_loops(tids);
        let threads: Vec<_> = others
            .into_iter()
            .map(|(go, thread)| {
                // It can only fail if the thread panicked, which joining it shows.
                let _ = go.send(());
                thread
            })
            .collect();
        let mut parts = vec![first.run(common)];
        for thread in threads {
            let part = thread.join();
            parts.extend(part.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        control.set_loops(vec![tid()]);
        Ok(parts)
    })
}

/// A loop that is not the first: prepares, says so, waits for the others, and runs. `None` if one
/// of them could not begin.
fn further(
    common: Common<'_>,
    share: Share,
    ready: Sender<(u32, Result<u32, LoadError>)>,
    go: &Receiver<()>,
) -> Option<Drove> {
    let prepared = Loop::prepare(common, share);
    let (prepared, answer) = match prepared {
        Ok(prepared) => (Some(prepared), Ok(tid())),
        Err(error) => (None, Err(error)),
    };
    // The receiver is gone only when another loop has failed, and then no loop starts.
    let _ = ready.send((share.index, answer));
    drop(ready);
    go.recv().ok()?;
    Some(prepared?.run(common))
}

fn tid() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get() as u32
}

/// Why a load ends at a pool of unique values.
fn all_given_out(plan: &Plan, spent: Spent) -> String {
    let pool = &plan.scenario.pools[spent.pool];
    let (name, values) = (&pool.name, pool.values.len());
    format!("all {values} unique values of the pool {name} were given out")
}

/// One loop, ready to run.
struct Loop {
    share: Share,
    runtime: LocalRuntime,
    engine: Rc<Engine>,
    timer: Timer,
}

impl Loop {
    fn prepare(common: Common<'_>, share: Share) -> Result<Self, LoadError> {
        let Common {
            drive,
            files,
            control,
            joint,
            start,
            window,
            ..
        } = common;
        let runtime = Builder::new_current_thread()
            .enable_io()
            .build_local(LocalOptions::default())?;
        let endpoints = prepare(drive, files, &mut joint.keys.lock())?;
        let (engine, timer) = {
            // Timers register with the runtime that is entered.
            let _entered = runtime.enter();
            let dispatcher = Dispatcher::new(
                drive.plan,
                drive.repeat,
                share,
                (start, window),
                drive.silent_warmup,
            )?;
            let limits = Limits::new(slots(drive.plan, share), start);
            let route = match drive.plan.scenario.target.http {
                Http::One => drive.route.clone(),
                Http::Two => drive.route.clone().speaking(http2::ALPN),
            };
            let network = Network::new(route, control.quickack.load(Relaxed), limits);
            let engine = Engine::new(drive, (share, joint), endpoints, dispatcher, network, start);
            (Rc::new(engine), Timer::new()?)
        };
        Ok(Self {
            share,
            runtime,
            engine,
            timer,
        })
    }

    /// Sends, until the last request has ended.
    fn run(self, common: Common<'_>) -> Drove {
        let Self {
            share,
            runtime,
            engine,
            timer,
        } = self;
        let Common {
            drive,
            control,
            joint,
            window,
            ..
        } = common;
        let timeout_ns = drive.plan.scenario.load.timeout_ns;
        let mut watch = Watch::new(&engine, control, (share, joint), window, timeout_ns);
        let slots = slots(drive.plan, share);
        runtime.block_on(watch.run(slots, timer, common.sink));
        let (cut_short, reported) = (watch.cut_short, watch.reported);
        // Dropping the runtime drops the tasks, and with them every connection and share of the
        // engine.
        drop(runtime);
        let engine = Rc::into_inner(engine).expect("only the tasks shared it");
        let cut_short = match engine.dispatcher.spent() {
            Some(spent) if cut_short.is_empty() => all_given_out(drive.plan, spent),
            _ => cut_short.to_owned(),
        };
        let window = Span::new(window.begin, window.end.min(engine.dispatcher.closing()));
        let endpoints = engine.dispatcher.into_tally();
        let offered: u64 = endpoints.iter().map(|tally| tally.offered).sum();
        control
            .progress
            .offered
            .fetch_add(offered.saturating_sub(reported[0]), Relaxed);
        let (tls_full, tls_resumed) = engine.network.handshakes();
        Drove {
            window,
            load: Span::new(common.start, engine.log.last_done()),
            endpoints,
            connections_opened: u64::from(engine.network.opened()),
            fastest_dial_ns: engine.network.fastest_dial_ns(),
            connections_stale: engine.stale.get(),
            tls_full,
            tls_resumed,
            reasons: engine.network.reasons.into_all(),
            cut_short,
            timings: engine.timings.into_noted(),
        }
    }
}

//! The thread that observes: it gives every probe its turn and hands on what they read.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::{Builder, JoinHandle};

use slowpath_core::Nanos;
use slowpath_core::signal::{PROBE_COST, Signal};
use slowpath_core::timeline::{Gap, Reading, Subject, Window};

use crate::clock;
use crate::probes::{Entry, FAST_NS, Out, Probe, REGISTRY, SLOW_NS, Scene, USUAL_NS, Watch};

/// Takes the readings, a batch at a time; called on the observing thread.
pub type Sink = Box<dyn FnMut(Vec<Reading>) + Send>;

/// A probe may use a fiftieth of a CPU. One that needed more for a turn waits accordingly longer
/// for the next: against a target with thousands of threads or sockets the readings become
/// rarer, and the tool does not become a load.
pub(crate) const CPU_SHARE_INVERSE: u64 = 50;

/// The label under which the cost of listing processes and sockets is recorded.
const SCENE: &str = "scene";

/// An observing thread.
pub struct Observer {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Vec<Gap>>>,
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observer").finish_non_exhaustive()
    }
}

impl Observer {
    /// Begins to observe. When this returns, every probe has read once, so whatever happens from
    /// now on lies between two readings.
    pub fn start(watch: Watch, sink: Sink) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let (ready, first_turn) = mpsc::channel();
        let thread = Builder::new()
            .name("slowpath-observe".to_owned())
            .spawn(move || {
                let mut round = Round::new(watch, sink);
                round.turn(clock::now(), true);
                round.flush();
                // The receiver is gone only if `start` was interrupted by a panic.
                let _ = ready.send(());
                round.observe(&stopped)
            });
        let thread = thread.ok();
        if thread.is_some() {
            // An error means that the thread ended, which `stop` reports.
            let _ = first_turn.recv();
        }
        Self { stop, thread }
    }

    /// Reads once more, ends the thread and gives what could not be observed, and why.
    pub fn stop(mut self) -> Vec<Gap> {
        self.stop.store(true, Ordering::Relaxed);
        let gaps = self.thread.take().map(JoinHandle::join);
        match gaps {
            Some(Ok(gaps)) => gaps,
            Some(Err(_)) => all_missing("the observing thread broke off"),
            None => all_missing("no observing thread could be started"),
        }
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn all_missing(reason: &str) -> Vec<Gap> {
    let signals = REGISTRY.iter().flat_map(|entry| entry.signals);
    signals
        .map(|signal| Gap {
            signal: signal.id.to_owned(),
            reason: reason.to_owned(),
            remedy: String::new(),
        })
        .collect()
}

/// A probe and when its next turn is.
struct Seat {
    entry: &'static Entry,
    probe: Box<dyn Probe>,
    next: Nanos,
}

/// Everything the observing thread has in its hands.
struct Round {
    scene: Scene,
    next_refresh: Nanos,
    seats: Vec<Seat>,
    out: Out,
    sink: Sink,
}

impl Round {
    fn new(watch: Watch, sink: Sink) -> Self {
        let mut out = Out::default();
        let has_target = watch.target.is_some();
        let now = clock::now();
        let mut seats = Vec::new();
        for entry in REGISTRY {
            if entry.of_target && !has_target {
                out.missing(
                    entry.signals,
                    "no process of the target is known on this host",
                    "run slowpath on the target's host, or give --pid",
                );
            } else {
                seats.push(Seat {
                    entry,
                    probe: (entry.open)(),
                    next: now,
                });
            }
        }
        Self {
            scene: Scene::new(watch),
            next_refresh: now,
            seats,
            out,
            sink,
        }
    }

    /// Turn after turn on a grid of absolute instants until the stop; then a last one.
    fn observe(mut self, stop: &AtomicBool) -> Vec<Gap> {
        let mut tick = clock::now();
        let mut next_flush = tick.plus(USUAL_NS);
        while !stop.load(Ordering::Relaxed) {
            tick = following(tick, FAST_NS, clock::now());
            clock::sleep_until(tick);
            let now = clock::now();
            self.turn(now, false);
            if now >= next_flush {
                self.flush();
                next_flush = following(next_flush, USUAL_NS, now);
            }
        }
        self.turn(clock::now(), true);
        self.flush();
        self.out.into_gaps()
    }

    /// Gives their turn to all probes whose time has come, or to `all`.
    fn turn(&mut self, now: Nanos, all: bool) {
        if self.scene.target.is_some() && (all || now >= self.next_refresh) {
            let scene = &mut self.scene;
            let free_at = measure(&mut self.out, SCENE, |_| scene.refresh());
            self.next_refresh = following(self.next_refresh, SLOW_NS, free_at);
            self.note_an_empty_scene();
        }
        for seat in &mut self.seats {
            if all || now >= seat.next {
                let free_at = measure(&mut self.out, seat.entry.name, |out| {
                    seat.probe.read(&self.scene, out);
                });
                seat.next = following(seat.next, seat.entry.cadence_ns, free_at);
            }
        }
    }

    /// If a target's processes are never seen, its signals are missing for that reason.
    fn note_an_empty_scene(&mut self) {
        if self.scene.ever_seen {
            return;
        }
        let of_target = REGISTRY.iter().filter(|entry| entry.of_target);
        let signals: Vec<&'static Signal> =
            of_target.flat_map(|entry| entry.signals).copied().collect();
        let reason = "the target's processes are not in /proc: they ended, or are hidden";
        let remedy = "run slowpath as root, in the target's pid namespace";
        self.out.missing_unless_read(&signals, reason, remedy);
    }

    fn flush(&mut self) {
        let readings = self.out.take();
        if !readings.is_empty() {
            (self.sink)(readings);
        }
    }
}

/// Does something and records how long it took; gives the instant before which it should not be
/// done again.
fn measure(out: &mut Out, name: &str, act: impl FnOnce(&mut Out)) -> Nanos {
    let (begin, cpu) = (clock::now(), clock::thread_cpu_ns());
    act(out);
    let (end, cpu) = (clock::now(), clock::thread_cpu_ns().saturating_sub(cpu));
    let window = Window::new(begin, end);
    let cost_ns = window.len_ns() as f64;
    out.push_labelled(&PROBE_COST, Subject::Tool, name.to_owned(), window, cost_ns);
    begin.plus(cpu.saturating_mul(CPU_SHARE_INVERSE))
}

/// The first instant of the grid `last`, `last + step_ns`, … after `last` and not before
/// `earliest`: turns that were missed are left out, not made up for.
pub(crate) fn following(last: Nanos, step_ns: u64, earliest: Nanos) -> Nanos {
    let steps = earliest.since(last).div_ceil(step_ns).max(1);
    last.plus(steps.saturating_mul(step_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_stay_on_the_grid() {
        let at = Nanos::new;
        assert_eq!(following(at(1000), 20, at(900)), at(1020));
        assert_eq!(following(at(1000), 20, at(1000)), at(1020));
        assert_eq!(following(at(1000), 20, at(1020)), at(1020));
        assert_eq!(following(at(1000), 20, at(1021)), at(1040));
        assert_eq!(following(at(1000), 20, at(1130)), at(1140));
    }

    #[test]
    fn a_dear_probe_waits_for_its_next_turn() {
        let mut out = Out::default();
        let begin = clock::now();
        let free_at = measure(&mut out, "x", |_| {
            let cpu = clock::thread_cpu_ns();
            while clock::thread_cpu_ns() - cpu < 1_000_000 {}
        });
        assert!(free_at.since(begin) >= 50_000_000);
        let [reading] = &out.take()[..] else { panic!() };
        assert_eq!(
            (reading.signal.id, reading.label.as_str()),
            (PROBE_COST.id, "x")
        );
        assert!(reading.point.value >= 1_000_000.0);
    }
}

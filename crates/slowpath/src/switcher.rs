//! Switches an intervention on and off while a load runs, block by block.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use slowpath_core::nanos::Span;
use slowpath_core::scenario::{Places, Scenario, Toggle};
use slowpath_experiment::{Arm, Design, Hypothesis, Intervention as Planned};
use slowpath_load::{Control, Reuse};
use slowpath_observe::guardian::Guardian;
use slowpath_observe::interventions::{
    CpuQuota, Delay, FileLimit, Intervention, InterventionError, NewQuota, Niceness, Reach,
    ThreadPause, TimerSlack,
};

use crate::exit::Problem;
use crate::measure::Companion;
use crate::pausing::{Paused, Pausing};
use crate::session::Session;
use crate::toggles::{Toggled, Undo};

/// How often the switcher looks: finer than a guard by far, and threads that are born during a
/// block are reached as fast.
const EVERY: Duration = Duration::from_millis(20);

/// See the module.
#[derive(Debug)]
pub(crate) struct Switcher<'a> {
    guardian: &'a Guardian,
    scenario: &'a Scenario,
    /// Where what a toggle's commands say goes.
    dir: &'a Path,
    stop: &'a Arc<AtomicBool>,
    planned: Planned,
    /// What is slow, in milliseconds.
    slow_ms: f64,
    design: Design,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<Followed>>>,
    followed: Followed,
}

/// What came of following a design.
#[derive(Debug, Default)]
pub(crate) struct Followed {
    /// What kept the intervention from its full effect.
    pub(crate) limited_by: Option<String>,
    /// Why it had next to no effect.
    pub(crate) hardly: Option<String>,
    /// Requests that were due and not sent.
    pub(crate) withheld: u64,
    /// The thread that was paused.
    pub(crate) paused: Option<Paused>,
    /// When a service that was delayed was asked and answered.
    pub(crate) exchanges: Vec<Span>,
}

impl<'a> Switcher<'a> {
    /// For one experiment.
    pub(crate) fn new(
        guardian: &'a Guardian,
        (scenario, dir, stop): (&'a Scenario, &'a Path, &'a Arc<AtomicBool>),
        hypothesis: &Hypothesis,
        design: &Design,
    ) -> Self {
        Self {
            guardian,
            scenario,
            dir,
            stop,
            planned: hypothesis.intervention.clone(),
            slow_ms: hypothesis.slow_above_ms,
            design: design.clone(),
            over: Arc::new(AtomicBool::new(false)),
            thread: None,
            followed: Followed::default(),
        }
    }

    /// What came of it, once it is over.
    pub(crate) fn followed(&self) -> &Followed {
        &self.followed
    }

    /// What is switched.
    fn lever(&self, session: &Session, control: &Arc<Control>) -> Result<Lever> {
        let client = match &self.planned {
            Planned::ClientQuickAck => Client::QuickAck,
            Planned::FreshConnections => Client::Reuse(Reuse::Never),
            Planned::KeptConnections => Client::Reuse(Reuse::Always),
            Planned::IdleLimit { limit_ns } => Client::IdleLimit(*limit_ns),
            Planned::KeepOneOf { of } => Client::KeepOneOf(*of),
            Planned::KeysApart => Client::KeysApart,
            Planned::FewerKeys { of } => Client::FewerKeys(*of),
            Planned::LeaveOut { endpoint } => {
                let mut names = self.scenario.endpoints.iter();
                let position = names.position(|e| e.name == *endpoint);
                let gone = || Problem::usage(format!("there is no endpoint {endpoint}"), "");
                Client::LeaveOut(position.ok_or_else(gone)? as u16)
            }
            Planned::Toggle { name } => return self.toggle(name, session),
            Planned::PauseThread { thread } => {
                let mut pause = ThreadPause::new(watched(session)?, thread);
                pause
                    .prerequisites(self.guardian)
                    .map_err(|e| cannot_be_run(&e))?;
                let pausing = Pausing::new(pause, Arc::clone(control), self.slow_ms);
                return Ok(Lever::Pause(Box::new(pausing)));
            }
            Planned::DelayService { delay_ns, .. } => {
                let none = || Problem::usage("no proxy stands before the service", "");
                let delay = session.delay().ok_or_else(none)?;
                return Ok(Lever::Delay(delay, Duration::from_nanos(*delay_ns)));
            }
            Planned::TimerSlack { .. }
            | Planned::CpuQuota { .. }
            | Planned::FileLimit { .. }
            | Planned::Niceness { .. } => return Ok(Lever::Target(self.on_target(session)?)),
        };
        Ok(Lever::Client(client))
    }

    fn toggle(&self, name: &str, session: &Session) -> Result<Lever> {
        let toggle = crate::toggles::find(self.scenario, name)?.clone();
        let lever = ToggleLever {
            guardian: self.guardian.clone(),
            scenario: Box::new(self.scenario.clone()),
            toggle,
            places: session.places.clone(),
            dir: self.dir.to_owned(),
            stop: Arc::clone(self.stop),
        };
        Ok(Lever::Toggle(lever))
    }

    /// What is switched on the target.
    fn on_target(&self, session: &Session) -> Result<Intervention, Problem> {
        let pids = watched(session);
        let intervention = match self.planned {
            Planned::TimerSlack { slack_ns } => {
                Intervention::TimerSlack(TimerSlack::new(pids?, slack_ns))
            }
            Planned::FileLimit { to } => Intervention::FileLimit(FileLimit::new(pids?, to)),
            Planned::Niceness { nice, ref except } => {
                Intervention::Niceness(Niceness::new(pids?, nice, except.as_deref()))
            }
            _ => {
                if session.facts.cgroup.is_empty() {
                    return Err(hidden(session));
                }
                let folder = Path::new(&session.facts.cgroup);
                Intervention::CpuQuota(CpuQuota::new(folder, NewQuota::Unlimited))
            }
        };
        intervention
            .prerequisites()
            .map_err(|e| cannot_be_run(&e))?;
        Ok(intervention)
    }
}

fn hidden(session: &Session) -> Problem {
    let what = format!(
        "the target's processes cannot be seen: {}",
        session.facts.hidden_because
    );
    Problem::usage(what, "say --pid PID, and run on the target's host as root")
}

/// The target's processes.
fn watched(session: &Session) -> Result<&[u32], Problem> {
    let pids = session.watched.as_ref().map(|watched| &watched.pids[..]);
    pids.ok_or_else(|| hidden(session))
}

fn cannot_be_run(error: &InterventionError) -> Problem {
    Problem::usage(format!("the experiment cannot be run: {error}"), "")
}

impl Companion for Switcher<'_> {
    fn delays(&self) -> Option<String> {
        match &self.planned {
            Planned::DelayService { service, .. } => Some(service.clone()),
            _ => None,
        }
    }

    fn accompany(&mut self, session: &Session, control: &Arc<Control>) -> Result<()> {
        let mut switch = Switch {
            lever: self.lever(session, control)?,
            control: Arc::clone(control),
            on: false,
            undo: None,
            limited_by: None,
        };
        let (design, over) = (self.design.clone(), Arc::clone(&self.over));
        let guardian = self.guardian.clone();
        let thread = std::thread::spawn(move || {
            let result = switch.follow(&design, &over, &guardian);
            // Whatever happened: off. The guardian would do the same if this thread were gone.
            let off = switch.set(false, &guardian);
            result.and(off)?;
            let mut followed = Followed {
                limited_by: switch.limited_by,
                withheld: switch.control.withhold.count.load(Ordering::Relaxed),
                ..Followed::default()
            };
            match &switch.lever {
                Lever::Pause(pausing) => {
                    followed.limited_by = followed.limited_by.or(pausing.shortfall());
                    followed.hardly = pausing.hardly();
                    followed.paused = pausing.paused();
                }
                Lever::Delay(delay, _) => followed.exchanges = delay.exchanges(),
                _ => {}
            }
            Ok(followed)
        });
        self.thread = Some(thread);
        Ok(())
    }

    fn leave(&mut self) -> Result<()> {
        self.over.store(true, Ordering::Relaxed);
        let Some(thread) = self.thread.take() else {
            return Ok(());
        };
        let result = thread
            .join()
            .map_err(|_| anyhow!("the switcher panicked"))?;
        self.followed =
            result.map_err(|e| Problem::usage(format!("the experiment was cut short: {e}"), ""))?;
        Ok(())
    }
}

/// What is switched.
enum Lever {
    Client(Client),
    Target(Intervention),
    Pause(Box<Pausing>),
    Delay(Delay, Duration),
    Toggle(ToggleLever),
}

/// What slowpath itself does otherwise.
#[derive(Clone, Copy)]
enum Client {
    QuickAck,
    Reuse(Reuse),
    IdleLimit(u64),
    KeepOneOf(u32),
    KeysApart,
    FewerKeys(u32),
    LeaveOut(u16),
}

impl Client {
    fn set(self, control: &Control, on: bool) {
        match self {
            Self::QuickAck => control.quickack.store(on, Ordering::Relaxed),
            Self::Reuse(reuse) => {
                control
                    .connections
                    .reuse(if on { reuse } else { Reuse::Planned });
            }
            Self::IdleLimit(limit_ns) => {
                control
                    .connections
                    .idle_max_ns(if on { limit_ns } else { 0 });
            }
            Self::KeepOneOf(of) => control.withhold.keep_one_of(if on { of } else { 1 }),
            Self::KeysApart => control.keys.keep_apart(on),
            Self::FewerKeys(of) => control.keys.keep_one_of(if on { of } else { 1 }),
            Self::LeaveOut(endpoint) => control.withhold.leave_out(on.then_some(endpoint)),
        }
    }
}

/// A toggle of the scenario, and what its steps need.
struct ToggleLever {
    guardian: Guardian,
    scenario: Box<Scenario>,
    toggle: Toggle,
    places: Places,
    dir: PathBuf,
    stop: Arc<AtomicBool>,
}

impl ToggleLever {
    fn set(&self, on: bool, undo: &mut Option<Undo>) -> Result<()> {
        // What was switched on is switched off again, even on an interrupt.
        let stop = if on {
            Arc::clone(&self.stop)
        } else {
            Arc::default()
        };
        let toggled = Toggled::new(
            &self.guardian,
            &self.scenario,
            &self.toggle,
            on,
            &self.dir,
            &stop,
        );
        toggled.switch(&self.places, undo)
    }
}

struct Switch {
    lever: Lever,
    control: Arc<Control>,
    on: bool,
    /// What is left to do of a toggle that is on.
    undo: Option<Undo>,
    limited_by: Option<String>,
}

impl Switch {
    /// Waits for the measured window and keeps to the design from there on.
    fn follow(&mut self, design: &Design, over: &AtomicBool, guardian: &Guardian) -> Result<()> {
        let gone = || over.load(Ordering::Relaxed);
        while !self.control.progress.in_window.load(Ordering::Relaxed) {
            if gone() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let began = Instant::now();
        let slot = Duration::from_nanos(design.slot_ns());
        let piece_slot = Duration::from_nanos(design.piece_slot_ns());
        let mut piece = 0;
        while !gone() {
            let block = (began.elapsed().as_nanos() / slot.as_nanos()) as usize;
            let Some(arm) = design.blocks.get(block) else {
                break;
            };
            let now = began.elapsed().as_nanos() / piece_slot.as_nanos();
            if let (true, Lever::Pause(pausing)) = (now != piece, &mut self.lever) {
                pausing.breathe(guardian)?;
            }
            piece = now;
            let was = self.on;
            self.set(*arm == Arm::With, guardian)?;
            let took = began.elapsed().saturating_sub(slot * block as u32);
            if was != self.on && took > Duration::from_nanos(design.guard_ns) {
                self.limited_by.get_or_insert_with(|| {
                    format!(
                        "switching took until {:.1} s into a block, longer than its guard",
                        took.as_secs_f64()
                    )
                });
            }
            std::thread::sleep(EVERY);
        }
        Ok(())
    }

    fn set(&mut self, on: bool, guardian: &Guardian) -> Result<()> {
        match (&mut self.lever, self.on, on) {
            (Lever::Client(client), ..) => client.set(&self.control, on),
            (Lever::Toggle(toggle), was, on) if was != on => toggle.set(on, &mut self.undo)?,
            (Lever::Toggle(_), ..) => {}
            (Lever::Delay(delay, by), _, on) => delay.set(if on { *by } else { Duration::ZERO }),
            (Lever::Pause(pausing), was, on) => pausing.turn((was, on), guardian)?,
            (Lever::Target(intervention), was, true) => {
                let reach = reached(intervention, was, guardian)?;
                self.limited_by = self.limited_by.take().or(reach.limited_by);
            }
            (Lever::Target(intervention), was, false) => {
                intervention.undo(guardian)?;
                if was && matches!(intervention, Intervention::FileLimit(_)) {
                    // What was let in beyond the limit would stay.
                    self.control.connections.renew();
                }
            }
        }
        self.on = on;
        Ok(())
    }
}

/// Makes the change, or extends one that was made.
fn reached(
    intervention: &mut Intervention,
    was_on: bool,
    guardian: &Guardian,
) -> Result<Reach, InterventionError> {
    if was_on {
        intervention.refresh(guardian)
    } else {
        intervention.apply(guardian)
    }
}

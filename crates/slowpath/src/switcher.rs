//! Switches an intervention on and off while a load runs, block by block.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use slowpath_experiment::{Arm, Design, Hypothesis, Intervention as Planned};
use slowpath_load::Control;
use slowpath_observe::guardian::Guardian;
use slowpath_observe::interventions::{
    CpuQuota, Intervention, InterventionError, NewQuota, TimerSlack,
};

use crate::exit::Problem;
use crate::measure::Companion;
use crate::session::Session;

/// How often the switcher looks: finer than a guard by far, and threads that are born during a
/// block are reached as fast.
const EVERY: Duration = Duration::from_millis(20);

/// See the module.
#[derive(Debug)]
pub(crate) struct Switcher<'a> {
    guardian: &'a Guardian,
    planned: Planned,
    design: Design,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<Option<String>, InterventionError>>>,
    limited_by: Option<String>,
}

impl<'a> Switcher<'a> {
    /// For one experiment.
    pub(crate) fn new(guardian: &'a Guardian, hypothesis: &Hypothesis, design: &Design) -> Self {
        Self {
            guardian,
            planned: hypothesis.intervention,
            design: design.clone(),
            over: Arc::new(AtomicBool::new(false)),
            thread: None,
            limited_by: None,
        }
    }

    /// What kept the intervention from its full effect, once it is over.
    pub(crate) fn limited_by(&self) -> Option<&str> {
        self.limited_by.as_deref()
    }

    /// What is switched on the target; `None` if only the client changes.
    fn on_target(&self, session: &Session) -> Result<Option<Intervention>, Problem> {
        let hidden = || {
            let what = format!(
                "the target's processes cannot be seen: {}",
                session.facts.hidden_because
            );
            Problem::usage(what, "say --pid PID, and run on the target's host as root")
        };
        let intervention = match self.planned {
            Planned::ClientQuickAck => return Ok(None),
            Planned::TimerSlack { slack_ns } => {
                let watched = session.watched.as_ref().ok_or_else(hidden)?;
                Intervention::TimerSlack(TimerSlack::new(&watched.pids, slack_ns))
            }
            Planned::CpuQuota { .. } => {
                if session.facts.cgroup.is_empty() {
                    return Err(hidden());
                }
                let folder = Path::new(&session.facts.cgroup);
                Intervention::CpuQuota(CpuQuota::new(folder, NewQuota::Unlimited))
            }
        };
        let checked = intervention.prerequisites();
        checked.map_err(|e| Problem::usage(format!("the experiment cannot be run: {e}"), ""))?;
        Ok(Some(intervention))
    }
}

impl Companion for Switcher<'_> {
    fn accompany(&mut self, session: &Session, control: &Arc<Control>) -> Result<()> {
        let intervention = self.on_target(session)?;
        let mut switch = Switch {
            intervention,
            control: Arc::clone(control),
            on: false,
            limited_by: None,
        };
        let (design, over) = (self.design.clone(), Arc::clone(&self.over));
        let guardian = self.guardian.clone();
        let thread = std::thread::spawn(move || {
            let result = switch.follow(&design, &over, &guardian);
            // Whatever happened: off. The guardian would do the same if this thread were gone.
            let off = switch.set(false, &guardian);
            result.and(off).map(|()| switch.limited_by)
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
        self.limited_by =
            result.map_err(|e| Problem::usage(format!("the experiment was cut short: {e}"), ""))?;
        Ok(())
    }
}

struct Switch {
    intervention: Option<Intervention>,
    control: Arc<Control>,
    on: bool,
    limited_by: Option<String>,
}

impl Switch {
    /// Waits for the measured window and keeps to the design from there on.
    fn follow(
        &mut self,
        design: &Design,
        over: &AtomicBool,
        guardian: &Guardian,
    ) -> Result<(), InterventionError> {
        let gone = || over.load(Ordering::Relaxed);
        while !self.control.progress.in_window.load(Ordering::Relaxed) {
            if gone() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let began = Instant::now();
        let slot = Duration::from_nanos(design.guard_ns + design.block_ns);
        while !gone() {
            let block = (began.elapsed().as_nanos() / slot.as_nanos()) as usize;
            let Some(arm) = design.blocks.get(block) else {
                break;
            };
            self.set(*arm == Arm::With, guardian)?;
            std::thread::sleep(EVERY);
        }
        Ok(())
    }

    fn set(&mut self, on: bool, guardian: &Guardian) -> Result<(), InterventionError> {
        match (&mut self.intervention, self.on, on) {
            (None, ..) => self.control.quickack.store(on, Ordering::Relaxed),
            (Some(intervention), false, true) => {
                let reach = intervention.apply(guardian)?;
                self.limited_by = self.limited_by.take().or(reach.limited_by);
            }
            (Some(intervention), true, true) => {
                let reach = intervention.refresh(guardian)?;
                self.limited_by = self.limited_by.take().or(reach.limited_by);
            }
            (Some(intervention), _, false) => intervention.undo(guardian)?,
        }
        self.on = on;
        Ok(())
    }
}

//! Toggles of a scenario: what switches them, and that they are switched back.
//!
//! A toggle is off when nothing is done about it. One of `env` and `args` changes the scenario of
//! a target that is restarted; one of `on` and `off` acts on the target that runs, and then the
//! guardian knows how to switch it off before it is switched on. The guardian can start a program
//! and nothing else, so what it starts is slowpath again, with a file that says what to undo.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use slowpath_core::scenario::{Places, Scenario, Step, Switch, Toggle, Url};
use slowpath_load::{Control, Route};
use slowpath_observe::guardian::{EntryId, Guardian};
use slowpath_observe::interventions::Restore;

use crate::exit::{Exit, Problem};
use crate::measure::Companion;
use crate::reach;
use crate::reset::{self, Ground};
use crate::session::{self, Session};

/// The verb that the guardian starts to switch a toggle off; not for people.
pub(crate) const UNDO: &str = "__switch-off";

/// The toggle that a person names.
pub(crate) fn find<'a>(scenario: &'a Scenario, name: &str) -> Result<&'a Toggle, Problem> {
    let named = |toggle: &&Toggle| toggle.name == name;
    scenario.toggles.iter().find(named).ok_or_else(|| {
        let names: Vec<&str> = scenario.toggles.iter().map(|t| t.name.as_str()).collect();
        let remedy = if names.is_empty() {
            format!("add [toggle.{name}] with env, args, or on and off")
        } else {
            format!("one of {}", names.join(", "))
        };
        Problem::usage(format!("the scenario has no toggle {name:?}"), remedy)
    })
}

/// The scenario with a toggle on, as far as starting the target does it.
pub(crate) fn switched(scenario: &Scenario, toggle: &Toggle) -> Scenario {
    let mut scenario = scenario.clone();
    if let Switch::Restart { env, args } = &toggle.switch {
        let target = &mut scenario.target;
        for (name, value) in env {
            target.env.retain(|(known, _)| known != name);
            target.env.push((name.clone(), value.clone()));
        }
        if let Some(command) = &mut target.command {
            command.extend(args.iter().cloned());
        }
    }
    scenario
}

/// Switches a toggle on or off when the target is ready, and off again when the load is over.
#[derive(Debug)]
pub(crate) struct Toggled<'a> {
    pub(crate) guardian: &'a Guardian,
    pub(crate) scenario: &'a Scenario,
    pub(crate) toggle: &'a Toggle,
    /// Whether it is on during the load. If it is not, its `off` steps are done all the same, so
    /// that both ways begin alike.
    pub(crate) on: bool,
    pub(crate) logs: PathBuf,
    pub(crate) stop: Arc<AtomicBool>,
    undo: Option<Undo>,
}

/// What is left to do.
#[derive(Debug)]
pub(crate) struct Undo {
    places: Places,
    file: PathBuf,
    entry: EntryId,
}

/// What the guardian's slowpath reads.
#[derive(Debug, Serialize, Deserialize)]
struct Orders {
    scenario: Scenario,
    places: Places,
    off: Vec<Step>,
    logs: PathBuf,
}

impl<'a> Toggled<'a> {
    /// A toggle of a scenario during one measurement.
    pub(crate) fn new(
        guardian: &'a Guardian,
        scenario: &'a Scenario,
        toggle: &'a Toggle,
        on: bool,
        dir: &Path,
        stop: &Arc<AtomicBool>,
    ) -> Self {
        Self {
            guardian,
            scenario,
            toggle,
            on,
            logs: dir.join("logs"),
            stop: Arc::clone(stop),
            undo: None,
        }
    }

    /// Switches a toggle of a running target as `on` says, for the middle of a load.
    pub(crate) fn switch(&self, places: &Places, undo: &mut Option<Undo>) -> Result<()> {
        let Switch::Live { on, off } = &self.toggle.switch else {
            let what = format!("the toggle {} takes a restart", self.toggle.name);
            return Err(Problem::usage(what, "slowpath ab compares with and without it").into());
        };
        if self.on {
            if undo.is_none() {
                *undo = Some(self.ensure_off(places, off)?);
            }
            return Ok(self.act(places, on)?);
        }
        let Some(left) = undo.take() else {
            return Ok(());
        };
        if let Err(error) = self.act(places, off) {
            // It is still to be done, by the next owner: the guardian at the latest.
            *undo = Some(left);
            return Err(error.into());
        }
        self.guardian.forget(left.entry)?;
        // It has done its duty; the logs stay.
        let _ = std::fs::remove_file(&left.file);
        Ok(())
    }

    fn act(&self, places: &Places, steps: &[Step]) -> Result<(), Problem> {
        let route = route(self.scenario, places, steps)?;
        let ground = Ground {
            scenario: self.scenario,
            places,
            route: &route.0,
            host_header: &route.1,
            logs: &self.logs,
            stop: &self.stop,
            name: "toggle",
        };
        reset::steps(&ground, steps, self.guardian).map_err(|(step, why)| {
            Problem::invalid(
                format!("the toggle {}: {step} failed: {why}", self.toggle.name),
                format!(
                    "what it said is in {}",
                    self.logs.join("toggle.log").display()
                ),
            )
        })
    }

    /// Has the guardian switch it off should slowpath die.
    fn ensure_off(&self, places: &Places, off: &[Step]) -> Result<Undo> {
        let logs = std::path::absolute(&self.logs)?;
        std::fs::create_dir_all(&logs)?;
        let file = logs.join("switch-off.json");
        let mut scenario = self.scenario.clone();
        // The guardian stands elsewhere.
        scenario.folder =
            std::path::absolute(session::working_folder(self.scenario, None, places))?;
        // Nor does it ask for anything but steps.
        scenario.pools.clear();
        scenario.endpoints.clear();
        let orders = Orders {
            scenario,
            places: places.clone(),
            off: off.to_vec(),
            logs,
        };
        std::fs::write(&file, serde_json::to_vec(&orders)?)?;
        let entry = self.guardian.restore_on_death(&Restore::Program {
            words: vec![UNDO.to_owned(), file.to_string_lossy().into_owned()],
            most: may_take(off),
        })?;
        Ok(Undo {
            places: places.clone(),
            file,
            entry,
        })
    }
}

impl Companion for Toggled<'_> {
    fn accompany(&mut self, session: &Session, _: &Arc<Control>) -> Result<()> {
        let Switch::Live { on, off } = &self.toggle.switch else {
            return Ok(());
        };
        if !self.on {
            return Ok(self.act(&session.places, off)?);
        }
        self.undo = Some(self.ensure_off(&session.places, off)?);
        let done = self.act(&session.places, on);
        if done.is_err() {
            // Half of it may be done. What this says is less than what failed first.
            let _ = self.leave();
        }
        Ok(done?)
    }

    fn leave(&mut self) -> Result<()> {
        let Switch::Live { off, .. } = &self.toggle.switch else {
            return Ok(());
        };
        let Some(undo) = self.undo.take() else {
            return Ok(());
        };
        // When this fails the guardian tries again in the end.
        self.act(&undo.places, off)?;
        self.guardian.forget(undo.entry)?;
        // It has done its duty; the logs stay.
        let _ = std::fs::remove_file(&undo.file);
        Ok(())
    }
}

/// How long slowpath may take to do these steps: each as long as a step may, and one more to begin.
fn may_take(steps: &[Step]) -> Duration {
    reset::STEP_MAX * (steps.len() as u32 + 1)
}

/// The way to the target, and what requests call it; none for steps that send no request, which are done
/// also where the target is gone.
fn route(scenario: &Scenario, places: &Places, steps: &[Step]) -> Result<(Route, String), Problem> {
    let is_request = |step: &Step| matches!(step, Step::Request { .. });
    if !steps.iter().any(is_request) {
        let nowhere = Route {
            addresses: Vec::new(),
            tls: None,
        };
        return Ok((nowhere, String::new()));
    }
    let url = Url::parse(&scenario.target.url.expand(places))
        .map_err(|e| Problem::usage(format!("target.url: {e}"), "http://HOST:PORT"))?;
    Ok((reach::route(scenario, places, &url)?, url.authority()))
}

/// Switches off what a killed slowpath has left on: the guardian's errand.
pub(crate) fn undo(file: &Path) -> Result<Exit> {
    let orders: Orders = serde_json::from_slice(&std::fs::read(file)?)?;
    let guardian = session::guardian()?;
    let stop = AtomicBool::new(false);
    let (route, host_header) = route(&orders.scenario, &orders.places, &orders.off)?;
    let ground = Ground {
        scenario: &orders.scenario,
        places: &orders.places,
        route: &route,
        host_header: &host_header,
        logs: &orders.logs,
        stop: &stop,
        name: "toggle",
    };
    let done = reset::steps(&ground, &orders.off, &guardian);
    done.map_err(|(step, why)| Problem::unreachable(format!("{step} failed: {why}"), "by hand"))?;
    std::fs::remove_file(file)?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use slowpath_core::scenario::{Escape, Template};

    use super::*;

    #[test]
    fn commands_switch_off_where_no_way_leads_to_the_target() {
        let literal = |text: &str| Template::literal(text, Escape::None);
        let mut scenario = Scenario::from_url("http://127.0.0.1:1/").unwrap();
        scenario.target.url = literal("nowhere");
        let command = Step::Command(vec![literal("./off.sh")]);
        let request = Step::Request {
            method: "POST".to_owned(),
            path: literal("/off"),
        };
        let places = Places::default();
        let (way, _) = route(&scenario, &places, std::slice::from_ref(&command)).unwrap();
        assert!(way.addresses.is_empty());
        let steps = [command, request];
        assert!(route(&scenario, &places, &steps).is_err());
        assert!(may_take(&steps) > reset::STEP_MAX * 2);
    }
}

//! Widening the timer slack of the target's threads: every wait that ends by a timer (a sleep, a
//! poll tick) then takes longer, and nothing else does. Needs `CAP_SYS_NICE`.

use std::collections::{BTreeMap, BTreeSet};

use super::thread_slack::{self, ThreadSlack, family_of, threads_of};
use super::{InterventionError, Reach, Restore, WayBack};
use crate::guardian::Guardian;
use crate::target::Identity;

/// The timer slack of all threads of some processes and their descendants.
#[derive(Debug)]
pub struct TimerSlack {
    roots: Vec<u32>,
    slack_ns: u64,
    /// Identities of the roots, fixed by the first use.
    processes: BTreeMap<Identity, u64>,
    threads: BTreeSet<Identity>,
    back: WayBack,
}

impl TimerSlack {
    /// Of the processes `roots` and all that descends from them; `slack_ns` is the slack to set,
    /// in nanoseconds, usually some milliseconds, at least 1.
    pub fn new(roots: &[u32], slack_ns: u64) -> Self {
        Self {
            roots: roots.to_vec(),
            // Zero would mean "the default" to the kernel, the opposite of a change.
            slack_ns: slack_ns.max(1),
            processes: BTreeMap::new(),
            threads: BTreeSet::new(),
            back: WayBack::default(),
        }
    }

    /// See [`super::Intervention::prerequisites`].
    pub fn prerequisites(&self) -> Result<(), InterventionError> {
        for thread in self.living()?.into_iter().flat_map(threads_of) {
            let outcome =
                thread_slack::read(thread).and_then(|now| thread_slack::write(thread, now));
            match outcome {
                Ok(()) | Err(InterventionError::Gone { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// See [`super::Intervention::apply`].
    pub fn apply(&mut self, guardian: &Guardian) -> Result<Reach, InterventionError> {
        let outcome = self.widen(guardian);
        if outcome.is_err() {
            // The first error says why; what cannot be taken back now stays with the guardian.
            let _ = self.undo(guardian);
        }
        outcome
    }

    /// See [`super::Intervention::refresh`].
    pub fn refresh(&mut self, guardian: &Guardian) -> Result<Reach, InterventionError> {
        self.widen(guardian)
    }

    /// See [`super::Intervention::undo`].
    pub fn undo(&mut self, guardian: &Guardian) -> Result<(), InterventionError> {
        self.back.go(guardian)?;
        self.processes.clear();
        self.threads.clear();
        Ok(())
    }

    /// The processes that are meant and alive, parents before children.
    fn living(&self) -> Result<Vec<Identity>, InterventionError> {
        let roots = self.roots.iter().filter_map(|&pid| Identity::of(pid));
        let known = self.processes.keys().copied();
        let mut found = BTreeSet::new();
        let living: Vec<Identity> = roots
            .chain(known)
            .flat_map(family_of)
            .filter(|&process| found.insert(process))
            .collect();
        if living.is_empty() {
            let pids: Vec<String> = self.roots.iter().map(u32::to_string).collect();
            return Err(InterventionError::Gone {
                what: format!("process {}", pids.join(", ")),
            });
        }
        Ok(living)
    }

    /// One pass over all threads that were not widened yet.
    fn widen(&mut self, guardian: &Guardian) -> Result<Reach, InterventionError> {
        let is_first = self.back.is_empty();
        let living = self.living()?;
        let mut originals = Vec::new();
        let mut sweeps = Vec::new();
        // Parents come first, so the parent of a process born widened is the last one before it
        // whose own value is known; in a family all have the same one unless the program set it.
        let mut inherited_ns = None;
        for &process in &living {
            let known_ns = self.processes.get(&process).copied();
            for thread in threads_of(process) {
                if self.threads.contains(&thread) {
                    continue;
                }
                let slack_ns = match thread_slack::read(thread) {
                    Ok(slack_ns) => slack_ns,
                    Err(InterventionError::Gone { .. }) => continue,
                    Err(error) => return Err(error),
                };
                let was_born_widened = !is_first && slack_ns == self.slack_ns;
                let own_ns = known_ns.or(inherited_ns).filter(|_| was_born_widened);
                let slack_ns = own_ns.unwrap_or(slack_ns);
                originals.push(ThreadSlack { thread, slack_ns });
                if thread.pid == process.pid {
                    self.processes.insert(process, slack_ns);
                    sweeps.push(Restore::Sweep {
                        process,
                        widened_ns: self.slack_ns,
                        slack_ns,
                    });
                }
            }
            inherited_ns = self.processes.get(&process).copied().or(inherited_ns);
        }
        if !originals.is_empty() {
            // Steps are gone back newest first: the sweep of everything that was born in between,
            // children before parents, then the values of the threads that were there before.
            self.back
                .add(guardian, Restore::Threads(originals.clone()))?;
            for sweep in sweeps {
                self.back.add(guardian, sweep)?;
            }
        }
        for ThreadSlack { thread, .. } in originals {
            match thread_slack::write(thread, self.slack_ns) {
                Ok(()) => self.threads.insert(thread),
                Err(InterventionError::Gone { .. }) => continue,
                Err(error) => return Err(error),
            };
        }
        Ok(Reach {
            text: format!(
                "timer slack of {} ns on {} threads of {} processes",
                self.slack_ns,
                self.threads.len(),
                living.len()
            ),
            limited_by: None,
        })
    }
}

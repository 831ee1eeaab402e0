//! Letting the target's threads come before others that want the same CPUs (`setpriority(2)`).
//! Going below the present value needs `CAP_SYS_NICE`.
//!
//! Among the tasks of one scheduling group the kernel divides CPUs by niceness; groups are divided
//! by their own weights. With autogroups (`sched_autogroup_enabled`) each session is a group, and
//! its niceness is in `/proc/PID/autogroup`; a cgroup of the CPU controller is one as well, and that
//! weight stays as it is.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, getpriority_process, setpriority_process};
use serde::{Deserialize, Serialize};

use super::restore::{overwrite, until_still};
use super::thread_slack::{family_of, threads_of};
use super::{InterventionError, Reach, Restore, WayBack, sorted};
use crate::guardian::Guardian;
use crate::target::Identity;
use crate::target::process::PROC;

/// A thread and its niceness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadNice {
    /// The thread.
    pub thread: Identity,
    /// From -20, which comes first, to 19.
    pub nice: i32,
}

fn gone(thread: Identity) -> InterventionError {
    InterventionError::Gone {
        what: format!("thread {}", thread.pid),
    }
}

fn refused(thread: Identity, errno: rustix::io::Errno) -> InterventionError {
    sorted(
        errno.into(),
        || format!("the niceness of thread {}", thread.pid),
        || "run slowpath as root or with CAP_SYS_NICE".to_owned(),
    )
}

fn number(thread: Identity) -> Result<Pid, InterventionError> {
    let pid = Pid::from_raw(thread.pid as i32);
    pid.filter(|_| thread.is_current())
        .ok_or_else(|| gone(thread))
}

fn read(thread: Identity) -> Result<i32, InterventionError> {
    getpriority_process(Some(number(thread)?)).map_err(|errno| refused(thread, errno))
}

fn write(thread: Identity, nice: i32) -> Result<(), InterventionError> {
    let pid = number(thread)?;
    setpriority_process(Some(pid), nice).map_err(|errno| refused(thread, errno))
}

/// Gives each of the threads its own value, and whatever else of the family has the changed one
/// that of the process: threads inherit what the one that made them has.
pub(super) fn restore(
    threads: &[ThreadNice],
    process: Identity,
    (changed, nice): (i32, i32),
) -> Result<(), InterventionError> {
    let mut failure = None;
    let mut set = |thread, nice| match write(thread, nice) {
        Ok(()) => true,
        Err(InterventionError::Gone { .. }) => false,
        Err(error) => {
            failure.get_or_insert(error);
            false
        }
    };
    for each in threads {
        set(each.thread, each.nice);
    }
    until_still(|| {
        let mut any = false;
        for thread in family_of(process).into_iter().flat_map(threads_of) {
            let known = threads.iter().any(|each| each.thread == thread);
            if !known && changed != nice && read(thread).is_ok_and(|now| now == changed) {
                any |= set(thread, nice);
            }
        }
        Ok(any)
    })?;
    failure.map_or(Ok(()), Err)
}

fn name_of(thread: Identity) -> Option<String> {
    let name = fs::read_to_string(Path::new(PROC).join(format!("{}/comm", thread.pid))).ok()?;
    Some(name.trim_end().to_owned())
}

/// Whether a process is in a cgroup that has a weight of its own; it is said to be if that is not known.
/// The group of its session is none: that gets the niceness as well.
fn is_in_group(process: Identity) -> bool {
    let text = fs::read_to_string(Path::new(PROC).join(format!("{}/cgroup", process.pid)));
    text.map_or(true, |text| group_of(&text) != Some("/"))
}

/// The group that divides CPUs, by `/proc/PID/cgroup` (cgroups(7)): that of the controller `cpu`, or of the
/// unified hierarchy.
fn group_of(text: &str) -> Option<&str> {
    let lines = text.lines().filter_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        Some((controllers, path))
    });
    let has_cpu = |of: &&(&str, &str)| of.0.split(',').any(|name| name == "cpu");
    let all: Vec<(&str, &str)> = lines.collect();
    let own = all.iter().find(has_cpu);
    own.or_else(|| all.iter().find(|of| of.0.is_empty()))
        .map(|of| of.1)
}

/// The file of a process's autogroup and the niceness in it (`/autogroup-55 nice 0`).
fn autogroup(process: Identity) -> Option<(PathBuf, String)> {
    let on = fs::read_to_string("/proc/sys/kernel/sched_autogroup_enabled").ok()?;
    let path = Path::new(PROC).join(format!("{}/autogroup", process.pid));
    let text = fs::read_to_string(&path)
        .ok()
        .filter(|_| on.trim() == "1")?;
    let nice = text.trim().rsplit_once(" nice ")?.1.to_owned();
    Some((path, nice))
}

/// The niceness of all threads of some processes and their descendants.
#[derive(Debug)]
pub struct Niceness {
    roots: Vec<u32>,
    nice: i32,
    except: Option<String>,
    threads: BTreeSet<Identity>,
    back: WayBack,
}

impl Niceness {
    /// Of the processes `roots` and all that descend from them, but of no thread called `except`.
    pub fn new(roots: &[u32], nice: i32, except: Option<&str>) -> Self {
        Self {
            roots: roots.to_vec(),
            nice,
            except: except.map(str::to_owned),
            threads: BTreeSet::new(),
            back: WayBack::default(),
        }
    }

    fn living(&self) -> Result<Vec<Identity>, InterventionError> {
        let roots = self.roots.iter().filter_map(|&pid| Identity::of(pid));
        let living: Vec<Identity> = roots.flat_map(family_of).collect();
        if living.is_empty() {
            let pids: Vec<String> = self.roots.iter().map(u32::to_string).collect();
            let what = format!("process {}", pids.join(", "));
            return Err(InterventionError::Gone { what });
        }
        Ok(living)
    }

    /// See [`super::Intervention::prerequisites`]. Lowering is what takes a privilege, so the first
    /// thread is lowered and raised again.
    pub fn prerequisites(&self) -> Result<(), InterventionError> {
        let first = self.living()?[0];
        let now = read(first)?;
        if now <= self.nice {
            return Err(InterventionError::Futile {
                reason: format!("the target's niceness is {now} already"),
            });
        }
        write(first, now - 1)?;
        write(first, now)
    }

    /// See [`super::Intervention::apply`].
    pub fn apply(&mut self, guardian: &Guardian) -> Result<Reach, InterventionError> {
        let outcome = self.lower(guardian);
        if outcome.is_err() {
            // The first error says why; what cannot be taken back now stays with the guardian.
            let _ = self.undo(guardian);
        }
        outcome
    }

    /// Extends it to threads that have appeared with another value.
    pub fn refresh(&mut self, guardian: &Guardian) -> Result<Reach, InterventionError> {
        self.lower(guardian)
    }

    fn lower(&mut self, guardian: &Guardian) -> Result<Reach, InterventionError> {
        let is_first = self.back.is_empty();
        for process in self.living()? {
            let mut found = Vec::new();
            let to_come_first = |thread: &Identity| {
                let except = self.except.as_ref();
                except.is_none_or(|except| name_of(*thread).as_ref() != Some(except))
            };
            for thread in threads_of(process).into_iter().filter(to_come_first) {
                match read(thread) {
                    Ok(nice) if nice > self.nice && !self.threads.contains(&thread) => {
                        found.push(ThreadNice { thread, nice });
                    }
                    Ok(_) | Err(InterventionError::Gone { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
            let Some(first) = found.first().copied() else {
                continue;
            };
            if let Some((path, value)) = autogroup(process).filter(|_| is_first) {
                let file = path.clone();
                self.back.add(
                    guardian,
                    Restore::File {
                        path: file,
                        value,
                        only_if: None,
                    },
                )?;
                overwrite(&path, &self.nice.to_string())?;
            }
            let restore = Restore::Niceness {
                threads: found.clone(),
                process,
                changed: self.nice,
                nice: first.nice,
            };
            self.back.add(guardian, restore)?;
            for each in found {
                match write(each.thread, self.nice) {
                    Ok(()) => self.threads.insert(each.thread),
                    Err(InterventionError::Gone { .. }) => continue,
                    Err(error) => return Err(error),
                };
            }
        }
        Ok(Reach {
            text: format!("niceness {} for {} threads", self.nice, self.threads.len()),
            // A process in a group of another weight is not outrun by this.
            limited_by: self.living()?.into_iter().any(is_in_group).then(|| {
                "niceness counts among tasks of one scheduling group only, and the target is in one of \
                 its own"
                    .to_owned()
            }),
        })
    }

    /// See [`super::Intervention::undo`].
    pub fn undo(&mut self, guardian: &Guardian) -> Result<(), InterventionError> {
        self.back.go(guardian)?;
        self.threads.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_that_divides_cpus_is_that_of_the_controller_or_the_unified_one() {
        assert_eq!(
            group_of("9:name=systemd:/\n1:cpu,cpuacct:/a/b\n0::/\n"),
            Some("/a/b")
        );
        assert_eq!(group_of("2:cpuacct:/c\n1:cpu:/\n"), Some("/"));
        assert_eq!(group_of("0::/user.slice\n"), Some("/user.slice"));
        assert_eq!(group_of("3:cpuset:/x\n"), None);
    }
}

//! Raising how many files the target's processes may have open (`prlimit(2)`, `RLIMIT_NOFILE`).
//!
//! Another process of the same user may be given up to its hard limit; more takes
//! `CAP_SYS_RESOURCE`. The way back is the old limit: what is open beyond it stays open.

use std::fs;
use std::path::Path;

use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde::{Deserialize, Serialize};

use super::restore::until_still;
use super::thread_slack::family_of;
use super::{InterventionError, Reach, Restore, WayBack, sorted};
use crate::guardian::Guardian;
use crate::target::Identity;
use crate::target::process::PROC;

/// How many files a process may have open; `None` for as many as it likes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Files {
    /// What it runs into.
    pub soft: Option<u64>,
    /// What it may raise that to.
    pub hard: Option<u64>,
}

impl Files {
    /// Those of a process.
    pub fn of(pid: u32) -> Result<Self, InterventionError> {
        let path = Path::new(PROC).join(format!("{pid}/limits"));
        let text = fs::read_to_string(&path).map_err(|source| super::file_error(&path, source))?;
        parse(&text).ok_or_else(|| InterventionError::Io {
            what: path.display().to_string(),
            source: std::io::Error::other("it names no limit of open files"),
        })
    }

    /// As close to `to` as a process that `may_exceed` the hard limit, or may not, can set it.
    fn raised_to(self, to: u64, may_exceed: bool) -> Self {
        let soft = match self.hard {
            Some(hard) if !may_exceed => to.min(hard),
            _ => to,
        };
        Self {
            soft: Some(soft),
            hard: self.hard.map(|hard| hard.max(soft)),
        }
    }

    /// Whether that is more than it has.
    fn is_above(self, present: Self) -> bool {
        present.soft.is_some_and(|has| self.soft > Some(has))
    }

    /// How many it may have open if that is fewer.
    fn short_of(self, to: u64) -> Option<u64> {
        self.soft.filter(|&has| has < to)
    }

    fn set(self, process: Identity) -> Result<(), InterventionError> {
        let gone = || InterventionError::Gone {
            what: format!("process {}", process.pid),
        };
        let pid = Pid::from_raw(process.pid as i32).ok_or_else(gone)?;
        if !process.is_current() {
            return Err(gone());
        }
        let limit = Rlimit {
            current: self.soft,
            maximum: self.hard,
        };
        let set = prlimit(Some(pid), Resource::Nofile, limit);
        set.map(drop).map_err(|errno| {
            sorted(
                errno.into(),
                || format!("the limit of open files of process {}", process.pid),
                || "run slowpath as root".to_owned(),
            )
        })
    }
}

/// Whether slowpath may raise hard limits (`CAP_SYS_RESOURCE`, bit 24).
fn may_exceed() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let bits = line.and_then(|line| u64::from_str_radix(line.trim(), 16).ok());
    bits.is_some_and(|bits| bits & 1 << 24 != 0)
}

/// The line `Max open files  SOFT  HARD  files`.
fn parse(text: &str) -> Option<Files> {
    let line = text
        .lines()
        .find(|line| line.starts_with("Max open files"))?;
    let mut words = line.split_whitespace().skip(3);
    let mut next = || match words.next()? {
        "unlimited" => Some(None),
        number => number.parse().ok().map(Some),
    };
    Some(Files {
        soft: next()?,
        hard: next()?,
    })
}

/// Gives the processes that descend from this one and have exactly the raised limit another: what
/// was born in between has inherited it.
pub(super) fn restore(
    process: Identity,
    raised: u64,
    files: Files,
) -> Result<(), InterventionError> {
    if files.soft == Some(raised) {
        return Ok(());
    }
    until_still(|| {
        let mut changed = false;
        for each in family_of(process) {
            let now = match Files::of(each.pid) {
                Err(InterventionError::Gone { .. }) => continue,
                now => now?,
            };
            if now.soft == Some(raised) {
                match files.set(each) {
                    Err(InterventionError::Gone { .. }) => continue,
                    set => set?,
                }
                changed = true;
            }
        }
        Ok(changed)
    })
}

/// The limit of some processes and their descendants.
#[derive(Debug)]
pub struct FileLimit {
    roots: Vec<u32>,
    to: u64,
    processes: usize,
    limited_by: Option<String>,
    back: WayBack,
}

impl FileLimit {
    /// Of the processes `roots` and all that descend from them, which may then open `to` files.
    pub fn new(roots: &[u32], to: u64) -> Self {
        Self {
            roots: roots.to_vec(),
            to,
            processes: 0,
            limited_by: None,
            back: WayBack::default(),
        }
    }

    fn living(&self) -> Result<Vec<(Identity, Files)>, InterventionError> {
        let roots = self.roots.iter().filter_map(|&pid| Identity::of(pid));
        let mut living = Vec::new();
        for process in roots.flat_map(family_of) {
            match Files::of(process.pid) {
                Err(InterventionError::Gone { .. }) => {}
                files => living.push((process, files?)),
            }
        }
        if living.is_empty() {
            let pids: Vec<String> = self.roots.iter().map(u32::to_string).collect();
            let what = format!("process {}", pids.join(", "));
            return Err(InterventionError::Gone { what });
        }
        Ok(living)
    }

    /// See [`super::Intervention::prerequisites`].
    pub fn prerequisites(&self) -> Result<(), InterventionError> {
        let living = self.living()?;
        let more = |may| {
            living
                .iter()
                .any(|(_, now)| now.raised_to(self.to, may).is_above(*now))
        };
        if !more(true) {
            return Err(InterventionError::Futile {
                reason: format!("the target may have {} files open already", self.to),
            });
        }
        if !more(may_exceed()) {
            return Err(InterventionError::Denied {
                what: "the target's hard limit of open files".to_owned(),
                remedy: "run slowpath as root with CAP_SYS_RESOURCE".to_owned(),
            });
        }
        living
            .iter()
            .try_for_each(|(process, files)| files.set(*process))
    }

    /// See [`super::Intervention::apply`].
    pub fn apply(&mut self, guardian: &Guardian) -> Result<Reach, InterventionError> {
        let outcome = self.raise(guardian);
        if outcome.is_err() {
            // The first error says why; what cannot be taken back now stays with the guardian.
            let _ = self.undo(guardian);
        }
        outcome
    }

    /// Sees what appeared since: what was born raised is raised, and what has lowered its own limit keeps it.
    pub fn refresh(&mut self, guardian: &Guardian) -> Result<Reach, InterventionError> {
        guardian.check()?;
        self.look(&self.living()?);
        Ok(self.reach())
    }

    /// Takes note of a process that has fewer than all were to have.
    fn look(&mut self, living: &[(Identity, Files)]) {
        let mut short = living.iter().filter_map(|(process, files)| {
            let has = files.short_of(self.to)?;
            Some(format!("process {} may have {has} files open", process.pid))
        });
        self.limited_by = self.limited_by.take().or_else(|| short.next());
    }

    fn raise(&mut self, guardian: &Guardian) -> Result<Reach, InterventionError> {
        for (process, files) in self.living()? {
            let goal = files.raised_to(self.to, may_exceed());
            let Some(raised) = goal.soft.filter(|_| goal.is_above(files)) else {
                continue;
            };
            let restore = Restore::FileLimit {
                process,
                raised,
                files,
            };
            self.back.add(guardian, restore)?;
            goal.set(process)?;
            self.processes += 1;
        }
        self.look(&self.living()?);
        Ok(self.reach())
    }

    fn reach(&self) -> Reach {
        Reach {
            text: format!("{} open files for {} processes", self.to, self.processes),
            limited_by: self.limited_by.clone(),
        }
    }

    /// See [`super::Intervention::undo`].
    pub fn undo(&mut self, guardian: &Guardian) -> Result<(), InterventionError> {
        self.back.go(guardian)?;
        self.processes = 0;
        self.limited_by = None;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_as_the_kernel_writes_them() {
        let text = "Limit                     Soft Limit           Hard Limit           Units     \n\
                    Max processes             63432                63432                processes \n\
                    Max open files            1024                 unlimited            files     \n";
        let files = parse(text).unwrap();
        assert_eq!((files.soft, files.hard), (Some(1024), None));
        assert_eq!(files.raised_to(4096, false).soft, Some(4096));
        assert_eq!(files.raised_to(4096, false).hard, None);
        assert_eq!(parse("Max processes 1 2 processes"), None);
        let narrow = Files {
            soft: Some(10),
            hard: Some(20),
        };
        let wide = Files {
            soft: Some(30),
            hard: Some(30),
        };
        assert_eq!(narrow.raised_to(30, true), wide);
        assert_eq!(narrow.raised_to(30, false).soft, Some(20));
        assert!(!wide.is_above(wide) && wide.is_above(narrow));
        assert_eq!(narrow.raised_to(30, false).short_of(30), Some(20));
        assert_eq!(narrow.raised_to(30, true).short_of(30), None);
        assert_eq!(Files { soft: None, ..wide }.short_of(30), None);
    }
}

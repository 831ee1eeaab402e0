//! Changes to a live system that an experiment makes and takes back.
//!
//! Every intervention sends the guardian the original values before it changes the first of them,
//! and takes itself back by the very [`Restore`]s that the guardian holds. One that is dropped
//! without [`Intervention::undo`] is taken back by the guardian when slowpath ends.

use std::io;
use std::path::Path;

use crate::guardian::{EntryId, Guardian, GuardianError};

mod cpu_quota;
mod delay_proxy;
mod file_limit;
mod niceness;
mod restore;
mod thread_pause;
mod thread_slack;
mod timer_slack;

pub use cpu_quota::{CpuQuota, NewQuota};
pub use delay_proxy::{Delay, DelayProxy};
pub use file_limit::{FileLimit, Files};
pub use niceness::{Niceness, ThreadNice};
pub use restore::Restore;
pub use thread_pause::ThreadPause;
pub use thread_slack::ThreadSlack;
pub use timer_slack::TimerSlack;

/// Why an intervention could not be made or taken back.
#[derive(Debug, thiserror::Error)]
pub enum InterventionError {
    /// This user may not change the setting.
    #[error("{what} may not be changed; {remedy}")]
    Denied {
        /// The setting.
        what: String,
        /// What would allow it.
        remedy: String,
    },
    /// What was to be changed does not exist any more.
    #[error("{what} is gone")]
    Gone {
        /// The process or the file.
        what: String,
    },
    /// The change would change nothing.
    #[error("it would change nothing: {reason}")]
    Futile {
        /// Why.
        reason: String,
    },
    /// The system refused for another reason, or the file reads unlike anything known.
    #[error("{what}: {source}")]
    Io {
        /// The setting or its file.
        what: String,
        /// What the system said.
        source: io::Error,
    },
    /// Nothing is changed without a guardian.
    #[error(transparent)]
    Guardian(#[from] GuardianError),
}

/// What an intervention has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach {
    /// In words, for the report.
    pub text: String,
    /// What keeps it from having its full effect, in words.
    pub limited_by: Option<String>,
}

/// A change to the target that an experiment switches on and off.
#[derive(Debug)]
pub enum Intervention {
    /// Timers of the target's threads become coarser.
    TimerSlack(TimerSlack),
    /// The CPU quota of the target's cgroup is raised.
    CpuQuota(CpuQuota),
    /// The target's processes may have more files open.
    FileLimit(FileLimit),
    /// The target's threads come before others.
    Niceness(Niceness),
}

impl Intervention {
    /// Whether it may be made, found out by writing the present values back: nothing changes.
    pub fn prerequisites(&self) -> Result<(), InterventionError> {
        match self {
            Self::TimerSlack(slack) => slack.prerequisites(),
            Self::CpuQuota(quota) => quota.prerequisites(),
            Self::FileLimit(limit) => limit.prerequisites(),
            Self::Niceness(nice) => nice.prerequisites(),
        }
    }

    /// Makes the change; when it fails, whatever was changed already is taken back.
    pub fn apply(&mut self, guardian: &Guardian) -> Result<Reach, InterventionError> {
        match self {
            Self::TimerSlack(slack) => slack.apply(guardian),
            Self::CpuQuota(quota) => quota.apply(guardian),
            Self::FileLimit(limit) => limit.apply(guardian),
            Self::Niceness(nice) => nice.apply(guardian),
        }
    }

    /// Extends a change that was made to what has appeared since.
    pub fn refresh(&mut self, guardian: &Guardian) -> Result<Reach, InterventionError> {
        match self {
            Self::TimerSlack(slack) => slack.refresh(guardian),
            Self::CpuQuota(quota) => quota.refresh(guardian),
            Self::FileLimit(limit) => limit.refresh(guardian),
            Self::Niceness(nice) => nice.refresh(guardian),
        }
    }

    /// Takes the change back; without one it does nothing.
    pub fn undo(&mut self, guardian: &Guardian) -> Result<(), InterventionError> {
        match self {
            Self::TimerSlack(slack) => slack.undo(guardian),
            Self::CpuQuota(quota) => quota.undo(guardian),
            Self::FileLimit(limit) => limit.undo(guardian),
            Self::Niceness(nice) => nice.undo(guardian),
        }
    }
}

/// The way back: what the guardian was sent, and what an undo does itself.
#[derive(Debug, Default)]
struct WayBack {
    steps: Vec<(EntryId, Restore)>,
}

impl WayBack {
    /// Sends it to the guardian; the setting may be changed once this returns.
    fn add(&mut self, guardian: &Guardian, restore: Restore) -> Result<(), GuardianError> {
        let entry = guardian.restore_on_death(&restore)?;
        self.steps.push((entry, restore));
        Ok(())
    }

    fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Goes all the way back, newest step first. A step that fails stays, here and with the
    /// guardian, and the first failure is returned.
    fn go(&mut self, guardian: &Guardian) -> Result<(), InterventionError> {
        let mut failure = None;
        let mut failed = Vec::new();
        for (entry, restore) in std::mem::take(&mut self.steps).into_iter().rev() {
            match restore.carry_out() {
                // What is restored needs no guardian, whether or not that could be sent.
                Ok(()) => drop(guardian.forget(entry)),
                Err(error) => {
                    failed.insert(0, (entry, restore));
                    failure.get_or_insert(error);
                }
            }
        }
        self.steps = failed;
        failure.map_or(Ok(()), Err)
    }
}

/// Sorts the refusals of the kernel by what can be done about them.
fn sorted(
    source: io::Error,
    what: impl FnOnce() -> String,
    remedy: impl FnOnce() -> String,
) -> InterventionError {
    match source.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => InterventionError::Denied {
            what: what(),
            remedy: remedy(),
        },
        Some(libc::EROFS) => InterventionError::Denied {
            what: what(),
            remedy: "its file system is read-only here; run slowpath outside of the container"
                .to_owned(),
        },
        Some(libc::ENOENT | libc::ESRCH | libc::ENODEV) => InterventionError::Gone { what: what() },
        _ => InterventionError::Io {
            what: what(),
            source,
        },
    }
}

/// A file of settings and how to name it.
fn file_error(path: &Path, source: io::Error) -> InterventionError {
    let remedy = || "run slowpath as root".to_owned();
    sorted(source, || path.display().to_string(), remedy)
}

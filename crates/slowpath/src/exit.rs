//! Exit codes, and the trouble that leads to them.

use std::fmt;
use std::process::ExitCode;

/// How slowpath ends. Where several hold, the lowest of 1 to 4 is returned, then 5, then 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Done.
    Done = 0,
    /// A bug of slowpath.
    Bug = 1,
    /// Usage or scenario, or a refusal of this machine (a full disk, a folder that is not ours).
    Usage = 2,
    /// The target is unreachable or never got ready.
    Unreachable = 3,
    /// The measurement is invalid; the report says by what.
    Invalid = 4,
    /// A declared gate failed.
    Gate = 5,
    /// Requests failed in the measured window, more than `--allow-errors` allows.
    Failures = 6,
    /// Interrupted; the record is kept.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl Exit {
    /// The code for trouble that ended a command.
    pub(crate) fn of(error: &anyhow::Error) -> Self {
        error
            .downcast_ref::<Problem>()
            .map_or(Self::Bug, |problem| problem.exit)
    }
}

/// Expected trouble: what happened, and what to try. Anything else is a bug and says so.
#[derive(Debug)]
pub(crate) struct Problem {
    exit: Exit,
    what: String,
    remedy: String,
}

impl Problem {
    /// Trouble with how slowpath was asked.
    pub(crate) fn usage(what: impl fmt::Display, remedy: impl fmt::Display) -> Self {
        Self {
            exit: Exit::Usage,
            what: what.to_string(),
            remedy: remedy.to_string(),
        }
    }

    /// Trouble with this machine: it refuses what slowpath needs, whatever was asked.
    pub(crate) fn environment(what: impl fmt::Display, remedy: impl fmt::Display) -> Self {
        Self::usage(what, remedy)
    }

    /// Trouble with reaching the target.
    pub(crate) fn unreachable(what: impl fmt::Display, remedy: impl fmt::Display) -> Self {
        Self {
            exit: Exit::Unreachable,
            what: what.to_string(),
            remedy: remedy.to_string(),
        }
    }

    /// Trouble that makes what would be measured something else than was asked for.
    pub(crate) fn invalid(what: impl fmt::Display, remedy: impl fmt::Display) -> Self {
        Self {
            exit: Exit::Invalid,
            what: what.to_string(),
            remedy: remedy.to_string(),
        }
    }

    /// The user asked to stop before there was anything to keep.
    pub(crate) fn interrupted() -> Self {
        Self {
            exit: Exit::Interrupted,
            what: "interrupted before anything was measured".to_owned(),
            remedy: String::new(),
        }
    }
}

impl std::error::Error for Problem {}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        if !self.remedy.is_empty() {
            write!(f, "\n  try: {}", self.remedy)?;
        }
        Ok(())
    }
}

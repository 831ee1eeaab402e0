//! The target process: started, awaited, found and stopped.
//!
//! What slowpath starts gets a process group of its own and a mark in its environment, and slowpath
//! becomes the reaper of everything below it, so that nothing is orphaned however the target forks.
//! Only what was started here is ever ended.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::guardian::GuardianError;

mod course;
pub(crate) mod family;
mod launch;
mod listener;
mod log;
pub(crate) mod process;
mod ready;
mod running;

pub use course::{Awaited, Cpu, Spent};
pub(crate) use listener::{entries as tcp_entries, holders};

pub use launch::{Launch, start, start_apart};
pub use listener::{Hidden, find_listener, find_unix_listener, free_port};
pub use process::Identity;
pub(crate) use process::below as processes_below;
pub use ready::{Dial, ReadyCheck, Wire};
pub use running::{Running, Stopped};

/// Why the target could not be started or did not become ready.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The command has no words.
    #[error("the command is empty; name a program to start")]
    EmptyCommand,
    /// The working folder does not exist or is no folder.
    #[error("the working folder {} does not exist; create it or correct cwd", .0.display())]
    NoFolder(PathBuf),
    /// There is no such program.
    #[error("there is no program {program} {place}; install it or correct the command")]
    NoProgram {
        /// The first word of the command.
        program: String,
        /// Where it was looked for.
        place: String,
    },
    /// The file is there and cannot be executed.
    #[error("{} cannot be executed; {remedy}", path.display())]
    NotExecutable {
        /// The file.
        path: PathBuf,
        /// What to try.
        remedy: &'static str,
    },
    /// Another process listens at the address where the target is to listen.
    #[error("something listens on {0} already; stop it or choose another port")]
    PortTaken(SocketAddr),
    /// The log could not be opened.
    #[error("the log in {} cannot be written: {source}", folder.display())]
    Log {
        /// The folder of the logs.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The system refused to start the process for another reason.
    #[error("{program} could not be started: {source}")]
    Spawn {
        /// The first word of the command.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// No guardian would end the process if slowpath were killed.
    #[error("nothing is started without a guardian: {0}")]
    Guardian(#[from] GuardianError),
    /// The process ended before it was ready.
    #[error("{name} ended before it was ready ({exit}){}", ending(log, tail))]
    Died {
        /// The name of the launch.
        name: String,
        /// Its exit status in words.
        exit: String,
        /// Where its output is.
        log: PathBuf,
        /// The last lines of its output.
        tail: Vec<String>,
    },
    /// The process did not become ready in time.
    #[error(
        "{name} was not ready after {waited:?}: {last}; correct ready or raise ready_timeout{}",
        ending(log, tail)
    )]
    NotReady {
        /// The name of the launch.
        name: String,
        /// How long it was given.
        waited: Duration,
        /// What the last attempt met.
        last: String,
        /// Where its output is.
        log: PathBuf,
        /// The last lines of its output.
        tail: Vec<String>,
    },
    /// The user interrupted the wait.
    #[error("interrupted before the target was ready")]
    Interrupted,
}

fn ending(log: &std::path::Path, tail: &[String]) -> String {
    if tail.is_empty() {
        return format!("; it wrote nothing to {}", log.display());
    }
    format!("; the end of {}:\n  {}", log.display(), tail.join("\n  "))
}

//! A process that was started here, until it is stopped.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, ExitStatus};
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, WaitOptions, waitpid};

use super::family::{Ended, Family};
use super::launch::is_taken;
use super::log::Log;
use super::process::{Identity, Row};
use super::ready::{self, ReadyCheck};
use super::{Launch, TargetError};
use crate::guardian::{EntryId, Guardian, GuardianError};

/// How long the target may take to end by itself after SIGTERM.
const STOP_GRACE: Duration = Duration::from_secs(5);

/// How long its port may take to be free after its last process is gone: the kernel closes sockets
/// in the exit of the process, so this only covers what is still on its way.
const PORT_WAIT: Duration = Duration::from_secs(1);

/// A process that was started here, with all its descendants. Dropping it stops it.
#[derive(Debug)]
pub struct Running {
    /// The process that was started; it leads its process group.
    pub pid: u32,
    name: String,
    log_path: PathBuf,
    address: Option<std::net::SocketAddr>,
    child: Child,
    exit: Option<ExitStatus>,
    /// Just before it was made.
    pub(super) began: Instant,
    family: Family,
    seen: BTreeSet<Identity>,
    log: Option<Log>,
    guardian: Guardian,
    entry: EntryId,
}

/// How a target ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stopped {
    /// The exit status of the first process, in words.
    pub exit: String,
    /// Processes that did not end within five seconds of SIGTERM and were killed.
    pub killed: usize,
    /// Pids that even SIGKILL has not ended yet; anything here deserves a warning.
    pub left: Vec<u32>,
    /// Whether something still listens where the target did.
    pub port_taken: bool,
    /// Lines of output that were not kept: a full disk, or a log at its limit.
    pub log_lines_lost: u64,
}

impl Running {
    pub(super) fn new(
        launch: &Launch,
        (child, began): (Child, Instant),
        family: Family,
        log: Log,
        guardian: Guardian,
        entry: EntryId,
    ) -> Self {
        Self {
            pid: child.id(),
            name: launch.name.clone(),
            log_path: log.path().to_owned(),
            address: launch.address,
            child,
            exit: None,
            began,
            seen: family.leader.into_iter().collect(),
            family,
            log: Some(log),
            guardian,
            entry,
        }
    }

    /// Sends the guardian the id of the process that it was announced.
    pub(super) fn announce_leader(&self) -> Result<(), GuardianError> {
        self.guardian
            .kill_on_death(Some(self.entry), &self.family)
            .map(|_| ())
    }

    pub(super) fn follow(&self, out: ChildStdout, err: ChildStderr) -> io::Result<()> {
        let log = self.log.as_ref().expect("the log is there until the stop");
        log.follow(out, "out")?;
        log.follow(err, "err")
    }

    /// Where its output is kept.
    pub fn log_path(&self) -> &Path {
        &self.log_path
    }

    /// The processes that everything else of the target descends from: the one that was started,
    /// or, when it has detached a daemon and ended, that daemon.
    pub fn roots(&mut self) -> Vec<u32> {
        if self.leader_exit().is_none() {
            return vec![self.pid];
        }
        let members = self.members_alive();
        let pids: BTreeSet<u32> = members.iter().map(|row| row.identity.pid).collect();
        let is_root = |row: &&Row| !pids.contains(&row.parent);
        members
            .iter()
            .filter(is_root)
            .map(|row| row.identity.pid)
            .collect()
    }

    /// How it ended, in words, once it and everything that descends from it is gone.
    pub fn exited(&mut self) -> Option<String> {
        let exit = self.leader_exit()?;
        self.members_alive().is_empty().then(|| in_words(exit))
    }

    /// Once its first process has ended: whether with status 0, and how if not. What descends from
    /// it may still run.
    pub fn ended(&mut self) -> Option<Result<(), String>> {
        let exit = self.leader_exit()?;
        Some(if exit.success() {
            Ok(())
        } else {
            Err(in_words(exit))
        })
    }

    /// Waits until it answers, asking every 20 ms at first and every 200 ms later.
    ///
    /// # Errors
    /// When it ends first, when `timeout` is over, or when `stop` becomes true.
    pub fn wait_ready(
        &mut self,
        check: &ReadyCheck,
        timeout: Duration,
        stop: &AtomicBool,
    ) -> Result<(), TargetError> {
        ready::wait(self, check, timeout, stop)?;
        // Known from now on, also those that will detach and wipe their environment later.
        self.members_alive();
        Ok(())
    }

    /// Ends it and everything that descends from it: SIGTERM to its group, five seconds, SIGKILL
    /// to the rest.
    pub fn stop(mut self) -> Stopped {
        self.halt()
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn log_tail(&self) -> Vec<String> {
        self.log.as_ref().map(Log::tail).unwrap_or_default()
    }

    /// What it wrote last before its end.
    pub(super) fn last_words(&self) -> Vec<String> {
        self.log.as_ref().map(Log::last_words).unwrap_or_default()
    }

    fn leader_exit(&mut self) -> Option<ExitStatus> {
        if self.exit.is_none() {
            // An error would mean that other code waited for our child; none does.
            self.exit = self.child.try_wait().ok().flatten();
        }
        self.exit
    }

    fn members_alive(&mut self) -> Vec<Row> {
        let members = self.family.members(&self.seen);
        self.seen.extend(members.iter().map(|row| row.identity));
        reap(&mut self.child, &mut self.exit, &members);
        members.into_iter().filter(|row| !row.zombie).collect()
    }

    /// Does its work once; a second call finds nothing to do.
    fn halt(&mut self) -> Stopped {
        let Some(log) = self.log.take() else {
            return Stopped::default();
        };
        let Self {
            child,
            exit,
            family,
            seen,
            ..
        } = self;
        let mut tend = |members: &[Row]| reap(child, exit, members);
        let Ended { killed, left } = family.end(seen, STOP_GRACE, &mut tend);
        let exit = self.leader_exit();
        if left.is_empty() {
            // A guardian that is gone has nothing to forget.
            let _ = self.guardian.forget(self.entry);
        }
        Stopped {
            exit: exit.map_or_else(|| "still running".to_owned(), in_words),
            killed: killed.len(),
            left,
            port_taken: self.address.is_some_and(stays_taken),
            log_lines_lost: log.close(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.halt();
    }
}

/// Waits for those members that have ended and whose parent we are: the process we started,
/// and the orphans that came to us as their reaper.
fn reap(child: &mut Child, exit: &mut Option<ExitStatus>, members: &[Row]) {
    if exit.is_none() {
        *exit = child.try_wait().ok().flatten();
    }
    let me = std::process::id();
    let ours = |row: &&Row| row.zombie && row.parent == me && row.identity.pid != child.id();
    for row in members.iter().filter(ours) {
        let pid = Pid::from_raw(row.identity.pid as i32);
        // It is a zombie and ours, so this neither waits nor fails.
        let _ = waitpid(pid, WaitOptions::NOHANG);
    }
}

fn stays_taken(address: std::net::SocketAddr) -> bool {
    let begin = Instant::now();
    while is_taken(address) {
        if begin.elapsed() > PORT_WAIT {
            return true;
        }
        thread::sleep(Duration::from_millis(10));
    }
    false
}

fn in_words(exit: ExitStatus) -> String {
    match (exit.code(), exit.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => format!("killed by signal {signal}{}", signal_name(signal)),
        (None, None) => exit.to_string(),
    }
}

/// The signals that end servers most often, and what they usually mean.
fn signal_name(signal: i32) -> &'static str {
    match signal {
        libc::SIGKILL => ", SIGKILL: out of memory, or another process ended it",
        libc::SIGTERM => ", SIGTERM",
        libc::SIGINT => ", SIGINT",
        libc::SIGSEGV => ", SIGSEGV: a crash",
        libc::SIGABRT => ", SIGABRT: it gave up",
        libc::SIGBUS => ", SIGBUS: a crash",
        _ => "",
    }
}

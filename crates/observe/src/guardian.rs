//! A helper process that restores what slowpath leaves changed when it is killed.
//!
//! slowpath starts itself again as `slowpath __guardian`, in a session of its own, and sends it
//! over a pipe what to restore and what to end. The guardian acknowledges every line, and slowpath
//! changes a setting only after that. When the pipe closes, for whatever reason, the guardian
//! restores the settings, newest first, ends the processes, and exits. After an orderly shutdown
//! there is nothing left to do.
//!
//! Deliberately absent: any way to change a setting or start a process. The guardian only undoes, but
//! for one thing, which the kernel undoes when the tracer ends: it can keep a thread from going on. A process that
//! does that must not stop with slowpath, as on Ctrl-Z, and must not wait for slowpath's children.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::interventions::Restore;
use crate::limits;
use crate::target::Identity;
use crate::target::family::{Family, GUARDIAN_MARK, MARK_VARIABLE};

mod hold;
mod serve;
mod wire;

pub use serve::serve;
use wire::{Answer, Order};

/// The argument that makes the binary a guardian.
pub const ARGUMENT: &str = "__guardian";

/// How long the guardian may take to acknowledge. It answers within a millisecond; a host that is
/// overloaded on purpose may keep it from a CPU for a while.
const ANSWER_WAIT: Duration = Duration::from_secs(5);

/// The same while it keeps a thread from going on: one that does not answer then may be stopped itself, and
/// releases no thread before it is killed.
const ANSWER_WAIT_HOLDING: Duration = Duration::from_secs(1);

/// How long the guardian may take to finish its work after an orderly shutdown; the longest is
/// ending processes, with its one second of grace and three of killing.
const FINISH_WAIT: Duration = Duration::from_secs(6);

/// No thread is kept from going on for longer: clients and balancers give up after more.
pub const PAUSE_MAX: Duration = Duration::from_secs(3);

/// A write of this size to a pipe that `poll` calls writable does not block (`PIPE_BUF`).
const WRITE_MAX_BYTES: usize = 4096;

/// Why the guardian cannot be relied on.
#[derive(Debug, thiserror::Error)]
pub enum GuardianError {
    /// It could not be started.
    #[error("the guardian {} could not be started: {source}", path.display())]
    Start {
        /// The program.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It has ended or does not answer; nothing may be changed any more.
    #[error("the guardian is gone ({0}); nothing is changed without it")]
    Gone(String),
    /// It has refused an order.
    #[error("the guardian refuses: {0}")]
    Refused(String),
    /// The system does not let it.
    #[error("the guardian may not: {0}")]
    NotPermitted(String),
    /// It could not be done now.
    #[error("the guardian could not: {0}")]
    Busy(String),
}

/// What the guardian knows under one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryId(u64);

/// The guardian of this process. Clones speak to the same one; it goes with the last of them.
#[derive(Clone, Debug)]
pub struct Guardian {
    link: Arc<Mutex<Link>>,
}

#[derive(Debug)]
struct Link {
    child: Child,
    orders: Option<ChildStdin>,
    answers: ChildStdout,
    next_id: u64,
    gone: Option<String>,
    /// Whether a thread may be kept from going on.
    holds: bool,
}

impl Guardian {
    /// Starts the guardian from this very binary, which must call [`serve`] when its first
    /// argument is [`ARGUMENT`].
    pub fn spawn() -> Result<Self, GuardianError> {
        // The link in /proc names the binary even after it was replaced on disk.
        let own = std::env::current_exe().ok().filter(|path| path.exists());
        Self::spawn_with(&own.unwrap_or_else(|| PathBuf::from("/proc/self/exe")))
    }

    /// Starts the guardian from another binary.
    pub fn spawn_with(program: &Path) -> Result<Self, GuardianError> {
        let start_error = |source| GuardianError::Start {
            path: program.to_owned(),
            source,
        };
        let mut command = Command::new(program);
        command
            .arg(ARGUMENT)
            .env(MARK_VARIABLE, GUARDIAN_MARK)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        // The processes that it starts are to find the limits that slowpath found.
        let child = limits::as_found(&mut command).spawn();
        let mut child = child.map_err(start_error)?;
        let orders = child.stdin.take();
        let answers = child
            .stdout
            .take()
            .expect("its stdout was just made a pipe");
        let link = Link {
            child,
            orders,
            answers,
            next_id: 0,
            gone: None,
            holds: false,
        };
        let guardian = Self {
            link: Arc::new(Mutex::new(link)),
        };
        // Its first answer shows that it is in a session of its own.
        guardian.check()?;
        Ok(guardian)
    }

    /// Whether the guardian still answers.
    pub fn check(&self) -> Result<(), GuardianError> {
        self.with_link(|link| link.order(&Order::Ping))
    }

    /// Has a setting restored if slowpath dies. The setting may be changed once this returns.
    pub fn restore_on_death(&self, restore: &Restore) -> Result<EntryId, GuardianError> {
        self.with_link(|link| {
            let id = link.new_id();
            link.order(&Order::Restore {
                id,
                restore: restore.clone(),
            })?;
            Ok(EntryId(id))
        })
    }

    /// Has the processes of a family ended if slowpath dies; `entry` replaces what was said before
    /// about the same family.
    pub(crate) fn kill_on_death(
        &self,
        entry: Option<EntryId>,
        family: &Family,
    ) -> Result<EntryId, GuardianError> {
        self.with_link(|link| {
            let id = entry.map_or_else(|| link.new_id(), |entry| entry.0);
            link.order(&Order::Kill {
                id,
                family: family.clone(),
            })?;
            Ok(EntryId(id))
        })
    }

    /// Takes an order back: the setting is restored, the process has ended.
    pub fn forget(&self, entry: EntryId) -> Result<(), GuardianError> {
        self.with_link(|link| link.order(&Order::Forget { id: entry.0 }))
    }

    /// Keeps a thread from going on: until [`Self::resume`], for `most` (at the longest
    /// [`PAUSE_MAX`]), and no longer than slowpath and the guardian live. One at a time.
    ///
    /// A guardian that does not answer in that time is killed, with which the thread goes on: it may be stopped
    /// (`SIGSTOP`), and then its own watch is too. The interventions take their own changes back.
    pub fn pause(&self, thread: Identity, most: Duration) -> Result<(), GuardianError> {
        let most_ms = most.as_millis() as u64;
        self.with_link(|link| {
            link.holds = true;
            let held = link.order(&Order::Pause { thread, most_ms });
            link.holds = held.is_ok();
            held
        })
    }

    /// Lets the thread that is kept go on; without one it does nothing.
    pub fn resume(&self) -> Result<(), GuardianError> {
        self.with_link(|link| {
            link.order(&Order::Resume)?;
            link.holds = false;
            Ok(())
        })
    }

    /// Its pid.
    pub fn pid(&self) -> u32 {
        self.with_link(|link| link.child.id())
    }

    fn with_link<T>(&self, act: impl FnOnce(&mut Link) -> T) -> T {
        // A panic inside an order leaves `gone` unset at worst, and the next order finds out.
        act(&mut self.link.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Link {
    fn new_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    /// Sends an order and waits for its acknowledgement. Once it failed to arrive, every later
    /// order is refused, because an answer that comes late would be taken for another's.
    fn order(&mut self, order: &Order) -> Result<(), GuardianError> {
        if let Some(why) = &self.gone {
            return Err(GuardianError::Gone(why.clone()));
        }
        let answer = self.exchange(order).map_err(|error| {
            let why = match self.child.try_wait() {
                Ok(Some(exit)) => exit.to_string(),
                _ => error.to_string(),
            };
            self.gone = Some(why.clone());
            if self.holds {
                // The kernel ends its traces with it. One that has ended needs no signal.
                drop(self.child.kill());
            }
            GuardianError::Gone(why)
        })?;
        match answer {
            Answer::Done => Ok(()),
            Answer::Refused(why) => Err(GuardianError::Refused(why)),
            Answer::NotPermitted(why) => Err(GuardianError::NotPermitted(why)),
            Answer::Busy(why) => Err(GuardianError::Busy(why)),
        }
    }

    fn exchange(&mut self, order: &Order) -> io::Result<Answer> {
        let wait = if self.holds {
            ANSWER_WAIT_HOLDING
        } else {
            ANSWER_WAIT
        };
        let mut line = serde_json::to_vec(order)?;
        line.push(b'\n');
        let orders = self.orders.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        for piece in line.chunks(WRITE_MAX_BYTES) {
            wait_for(orders, PollFlags::OUT, wait)?;
            orders.write_all(piece)?;
        }
        let mut answer = Vec::new();
        while !answer.ends_with(b"\n") {
            let mut byte = [0];
            wait_for(&self.answers, PollFlags::IN, wait)?;
            if self.answers.read(&mut byte)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            answer.extend(byte);
        }
        Ok(serde_json::from_slice(&answer)?)
    }
}

impl Drop for Link {
    /// Lets the guardian finish: it does at once when there is nothing left to do.
    fn drop(&mut self) {
        self.orders = None;
        let begin = Instant::now();
        while begin.elapsed() < FINISH_WAIT {
            // An error means that it was waited for already.
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(Duration::from_millis(2));
        }
    }
}

fn wait_for(stream: &impl AsFd, flags: PollFlags, wait: Duration) -> io::Result<()> {
    let deadline = Instant::now() + wait;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let limit = Timespec {
            tv_sec: left.as_secs() as i64,
            tv_nsec: left.subsec_nanos().into(),
        };
        match poll(&mut [PollFd::new(stream, flags)], Some(&limit)) {
            Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
            Ok(_) => return Ok(()),
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}

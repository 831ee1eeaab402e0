//! Keeping one thread of the target from going on, for a few seconds at the longest. The guardian does
//! that, by `ptrace(2)`: it takes the right to trace the target, `CAP_SYS_PTRACE` or its user where
//! Yama does not forbid it.
//!
//! A thread that holds a lock would block all waiters for it. So the waiters for a lock are checked
//! before it is held, and as long as it is: locks of the C library name their owner, for others
//! it is enough that a thread goes on waiting for one. Locks that are not the kernel's to see (of Go,
//! of the JVM) are not seen here: the caller that holds a thread has to watch whether the target answers.
//!
//! A call in which the thread waits is made again where the kernel can; some (`epoll_wait`) end with
//! `EINTR`, as for any signal.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use super::thread_slack::{family_of, threads_of};
use super::{InterventionError, file_error};
use crate::guardian::{Guardian, GuardianError, PAUSE_MAX};
use crate::peek::Waiters;
use crate::target::Identity;
use crate::target::process::PROC;

/// A lock at which threads were found waiting at so many looks in a row, a try each, is no lock that
/// the thread has now and then: idle workers queue at one, for the next thing to do.
const IDLE_LOOKS: u32 = 15;

/// The state of a thread that is kept by a tracer.
const TRACED: char = 't';

/// Locks at which some thread always waits.
#[derive(Debug, Default)]
struct Idle {
    known: BTreeSet<u64>,
    /// Those that were met at each of the last looks.
    common: BTreeSet<u64>,
    looks: u32,
}

impl Idle {
    /// Those of the waiters who wait at another lock.
    fn others(&self, waiters: &BTreeSet<(u32, u64)>) -> BTreeSet<(u32, u64)> {
        let is_other = |(_, lock): &&(u32, u64)| !self.known.contains(lock);
        waiters.iter().filter(is_other).copied().collect()
    }

    /// Learns from a look at which another thread waited as well.
    fn learn(&mut self, waiters: &BTreeSet<(u32, u64)>) {
        let locks: BTreeSet<u64> = waiters.iter().map(|(_, lock)| *lock).collect();
        if self.looks == 0 {
            self.common = locks;
        } else {
            self.common.retain(|lock| locks.contains(lock));
        }
        self.looks += 1;
        if self.looks >= IDLE_LOOKS {
            self.known.append(&mut self.common);
            self.looks = 0;
        }
    }
}

/// The thread, and the waiters for a lock whose holder is not known.
#[derive(Debug)]
struct Held {
    thread: Identity,
    process: u32,
    waiters: BTreeSet<(u32, u64)>,
}

/// One thread of some processes, by its name.
#[derive(Debug)]
pub struct ThreadPause {
    roots: Vec<u32>,
    name: String,
    held: Option<Held>,
    idle: Idle,
    /// Who was found under that name last.
    found: Option<Identity>,
    /// Whether, while it was held, a thread waited at a lock at which some thread always waits.
    may_have_a_lock: bool,
}

impl ThreadPause {
    /// The thread called `name` of the processes `roots` and all that descends from them.
    pub fn new(roots: &[u32], name: &str) -> Self {
        Self {
            roots: roots.to_vec(),
            name: name.to_owned(),
            held: None,
            idle: Idle::default(),
            found: None,
            may_have_a_lock: false,
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is held, as far as was said to the guardian.
    pub fn is_held(&self) -> bool {
        self.held.is_some()
    }

    /// Whether it stands still because it is held: the guardian releases it by itself after a while.
    pub fn stands(&self) -> bool {
        self.is_held() && self.state() == Some(TRACED)
    }

    /// What it does, as a letter of `/proc/TID/stat`; `None` before it was held for the first time.
    pub fn state(&self) -> Option<char> {
        let tid = self.found?.pid;
        let stat = fs::read_to_string(Path::new(PROC).join(format!("{tid}/stat"))).ok()?;
        // The name before it may hold anything.
        stat.rsplit_once(") ")?.1.chars().next()
    }

    /// Its number; `None` before it was held for the first time.
    pub fn tid(&self) -> Option<u32> {
        self.found.map(|thread| thread.pid)
    }

    /// Whether, while it was held, a thread waited at a lock that names no owner and at which some thread always
    /// waits: idle workers do that, and so do waiters for a thread that hardly ever releases it.
    pub const fn may_have_a_lock(&self) -> bool {
        self.may_have_a_lock
    }

    /// Whether it may be held, found out by holding it for an instant.
    pub fn prerequisites(&mut self, guardian: &Guardian) -> Result<(), InterventionError> {
        self.hold(guardian).map(drop)?;
        self.let_go(guardian)
    }

    /// Holds it, unless others wait for a lock that it has or may have; says whether it is held.
    pub fn hold(&mut self, guardian: &Guardian) -> Result<bool, InterventionError> {
        if self.held.is_some() {
            return Ok(true);
        }
        let (process, thread) = self.find()?;
        self.found = Some(thread);
        let before = Waiters::of(process.pid, thread.pid);
        if before.for_its_lock || !self.idle.others(&before.for_a_lock).is_empty() {
            self.idle.learn(&before.for_a_lock);
            return Ok(false);
        }
        match guardian.pause(thread, PAUSE_MAX) {
            Ok(()) => {}
            Err(GuardianError::Busy(_)) => return Ok(false),
            Err(error) => return Err(self.refused(error)),
        }
        self.held = Some(Held {
            thread,
            process: process.pid,
            waiters: BTreeSet::new(),
        });
        // It may have been let into a lock since the look.
        if self.is_waited_for() {
            self.let_go(guardian)?;
        }
        Ok(self.is_held())
    }

    /// Whether others wait for a lock that it has, or have waited since the last look for one that
    /// it may have.
    pub fn is_waited_for(&mut self) -> bool {
        let Some(held) = &mut self.held else {
            return false;
        };
        let now = Waiters::of(held.process, held.thread.pid);
        let mut locks = now.for_a_lock.iter().map(|(_, lock)| lock);
        self.may_have_a_lock |= locks.any(|lock| self.idle.known.contains(lock));
        let others = self.idle.others(&now.for_a_lock);
        let before = std::mem::replace(&mut held.waiters, others);
        now.for_its_lock || !before.is_disjoint(&held.waiters)
    }

    /// Lets it go on; without holding it, it does nothing.
    pub fn let_go(&mut self, guardian: &Guardian) -> Result<(), InterventionError> {
        if self.held.is_some() {
            guardian.resume()?;
            self.held = None;
        }
        Ok(())
    }

    /// The thread with its process: the only one of that name.
    fn find(&self) -> Result<(Identity, Identity), InterventionError> {
        let roots = self.roots.iter().filter_map(|&pid| Identity::of(pid));
        let processes: BTreeSet<Identity> = roots.flat_map(family_of).collect();
        let mut found = Vec::new();
        for process in processes {
            let own = threads_of(process).into_iter();
            let own = own.filter(|thread| name_of(*thread).as_deref() == Some(&*self.name));
            found.extend(own.map(|thread| (process, thread)));
        }
        let (process, thread) = match found[..] {
            [one] => one,
            [] => {
                return Err(InterventionError::Gone {
                    what: format!("thread {} of the target", self.name),
                });
            }
            _ => {
                let reason = format!(
                    "{} threads of the target are called {}, and which of them is meant cannot be \
                     told",
                    found.len(),
                    self.name
                );
                return Err(InterventionError::Futile { reason });
            }
        };
        if process.pid <= 1 {
            let reason = "the target is the process that all others descend from".to_owned();
            return Err(InterventionError::Futile { reason });
        }
        match tracer(thread)? {
            0 => Ok((process, thread)),
            other => Err(InterventionError::Denied {
                what: format!(
                    "thread {}, which process {other} traces already,",
                    self.name
                ),
                remedy: "end the debugger".to_owned(),
            }),
        }
    }

    fn refused(&self, error: GuardianError) -> InterventionError {
        match error {
            GuardianError::NotPermitted(_) => InterventionError::Denied {
                what: format!("thread {}, to be kept from going on,", self.name),
                remedy:
                    "run slowpath as root or with CAP_SYS_PTRACE, or as the target's user with \
                         sysctl kernel.yama.ptrace_scope=0"
                        .to_owned(),
            },
            other => other.into(),
        }
    }

    /// For how long at most it is held without a break: shorter than the guardian's own limit.
    pub const fn longest() -> Duration {
        /// For messages that are late, and for turns of the caller that holds it.
        const MARGIN: Duration = Duration::from_millis(500);
        PAUSE_MAX.saturating_sub(MARGIN)
    }
}

fn name_of(thread: Identity) -> Option<String> {
    let path = Path::new(PROC).join(format!("{}/comm", thread.pid));
    Some(
        fs::read_to_string(path)
            .ok()?
            .trim_end_matches('\n')
            .to_owned(),
    )
}

/// The process that traces a thread; 0 for none.
fn tracer(thread: Identity) -> Result<u32, InterventionError> {
    let path = Path::new(PROC).join(format!("{}/status", thread.pid));
    let text = fs::read_to_string(&path).map_err(|source| file_error(&path, source))?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("TracerPid:"));
    Ok(line.and_then(|line| line.trim().parse().ok()).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_at_which_somebody_always_waits_are_learned() {
        const POOL: u64 = 0x1000;
        const LOCK: u64 = 0x2000;
        let mut idle = Idle::default();
        for look in 0..IDLE_LOOKS {
            // Workers queue by turns, and now and then another thread waits for the thread.
            let mut waiters = BTreeSet::from([(look % 3, POOL)]);
            if look % 4 != 0 {
                waiters.insert((7, LOCK));
            }
            assert!(!idle.others(&waiters).is_empty());
            idle.learn(&waiters);
        }
        let waiters = BTreeSet::from([(1, POOL), (7, LOCK)]);
        assert_eq!(idle.others(&waiters), BTreeSet::from([(7, LOCK)]));
    }
}

//! Waiting for the end of what was started, and what it took until then.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::running::Running;

/// How long an interrupt may go unnoticed: less than a person notices. The end of the process
/// itself is reported by the kernel at once.
const NOTICE_STOP: Duration = Duration::from_millis(20);

/// How often a process is asked after where the kernel has no descriptor for it (before Linux 5.3,
/// or where a sandbox forbids `pidfd_open`).
const ASK_EVERY: Duration = Duration::from_millis(1);

/// How waiting for a process ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// Its first process ended.
    Ended {
        /// With status 0, or otherwise, in words.
        how: Result<(), String>,
        /// What it took.
        spent: Spent,
    },
    /// The time was over first.
    TimedOut,
    /// The user asked to stop.
    Interrupted,
}

/// What a process took, from just before it was made until its end was reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spent {
    /// Time on `CLOCK_MONOTONIC`, in nanoseconds; the making of the process and the waking of the
    /// one who waits are in it, together some hundred microseconds.
    pub wall_ns: u64,
    /// CPU time of the process and of those of its children that it has waited for; `None` if the
    /// kernel does not report it.
    pub cpu: Option<Cpu>,
}

/// CPU time as the kernel splits it: the sum is exact, the split between the two is sampled at
/// clock ticks (`cputime_adjust` in kernel/sched/cputime.c).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpu {
    /// In user mode, in nanoseconds.
    pub user_ns: u64,
    /// In the kernel, in nanoseconds.
    pub system_ns: u64,
}

impl Running {
    /// Waits until its first process has ended, at most until `limit` after its start.
    ///
    /// What descends from it may still run.
    pub fn wait_end(&mut self, limit: Duration, stop: &AtomicBool) -> Awaited {
        // It is our child and was not waited for, so the number is still its own.
        let pid = Pid::from_raw(self.pid as i32);
        let handle = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        loop {
            let wall = self.began.elapsed();
            let usage = cpu_of_ended(self.pid);
            // What ends between the two calls is asked again, so that its CPU time is known.
            let runs = matches!(usage, Ok(None));
            if let Some(how) = (!runs).then(|| self.ended()).flatten() {
                let wall_ns = wall.as_nanos() as u64;
                let cpu = usage.unwrap_or_default();
                let spent = Spent { wall_ns, cpu };
                return Awaited::Ended { how, spent };
            }
            if stop.load(Ordering::Relaxed) {
                return Awaited::Interrupted;
            }
            let left = limit.saturating_sub(wall);
            if left.is_zero() {
                return Awaited::TimedOut;
            }
            rest(handle.as_ref(), left.min(NOTICE_STOP));
        }
    }
}

/// Rests until the process has ended, at most that long.
fn rest(handle: Option<&OwnedFd>, most: Duration) {
    let Some(handle) = handle else {
        return thread::sleep(most.min(ASK_EVERY));
    };
    let limit = Timespec {
        tv_sec: most.as_secs() as i64,
        tv_nsec: most.subsec_nanos().into(),
    };
    let told = poll(&mut [PollFd::new(handle, PollFlags::IN)], Some(&limit));
    // A signal ends the rest early, which is what it is for.
    if told.is_err_and(|errno| errno != rustix::io::Errno::INTR) {
        thread::sleep(most.min(ASK_EVERY));
    }
}

/// CPU time of a child that has ended and was not waited for yet, and of those that it has waited
/// for itself; `None` while it runs. It stays to be waited for.
#[expect(
    unsafe_code,
    reason = "waitid(2) with its fifth argument has no wrapper at all"
)]
fn cpu_of_ended(pid: u32) -> io::Result<Option<Cpu>> {
    // SAFETY: both are plain data, for which all-zero is a value.
    let (mut ended, mut usage): (libc::siginfo_t, libc::rusage) = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to live data of the types that the kernel writes; with WNOHANG it
    // does not wait.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_waitid,
            libc::P_PID,
            pid,
            &raw mut ended,
            libc::WEXITED | libc::WNOHANG | libc::WNOWAIT,
            &raw mut usage,
        )
    };
    if answer != 0 {
        return Err(io::Error::last_os_error());
    }
    let ns = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000;
    let cpu = Cpu {
        user_ns: ns(usage.ru_utime),
        system_ns: ns(usage.ru_stime),
    };
    // SAFETY: what waitid(2) fills in has this member; of a child that runs it is left at 0.
    let of = unsafe { ended.si_pid() };
    Ok((of != 0).then_some(cpu))
}

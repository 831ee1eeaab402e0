//! Keeps one thread of another process from going on (`ptrace(2)`).
//!
//! The kernel ends that together with the tracer: when the thread here ends, or the guardian does,
//! or is killed, the other one goes on where it was. So a hold needs no process to take it back, and it
//! is over after a time whatever becomes of those who wanted it.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::target::Identity;

use super::PAUSE_MAX;
use super::wire::Answer;

/// How long a thread may take to stop: microseconds, unless it waits for a disk.
const STOP_WAIT: Duration = Duration::from_millis(50);
/// How often it is checked until then.
const LOOK_EVERY: Duration = Duration::from_micros(200);
/// How often a thread that is held is checked: one that is killed cannot end before its end was
/// taken note of, nor can its process.
const MIND_EVERY: Duration = Duration::from_millis(5);

/// A thread that does not go on. It does when this is dropped.
#[derive(Debug)]
pub(super) struct Hold {
    end: Option<Sender<()>>,
    holder: Option<JoinHandle<()>>,
}

impl Hold {
    /// Holds a thread for `most` at the longest.
    pub(super) fn begin(thread: Identity, most: Duration) -> Result<Self, Answer> {
        let (end, ended) = channel();
        let (tell, told) = channel();
        let most = most.min(PAUSE_MAX);
        let holder = std::thread::Builder::new()
            .name("slowpath-hold".to_owned())
            .spawn(move || {
                // A tracer is a thread and no process: all that follows happens on this one.
                let held = Traced::stop(thread);
                let stopped = held.as_ref().map(|_| ()).map_err(Clone::clone);
                let waits = tell.send(stopped).is_ok();
                if let (Ok(held), true) = (held, waits) {
                    held.mind(&ended, Instant::now() + most);
                }
            });
        let holder = holder.map_err(|error| Answer::Refused(error.to_string()))?;
        let hold = Self {
            end: Some(end),
            holder: Some(holder),
        };
        let gone = || Answer::Refused("the thread that holds another broke off".to_owned());
        told.recv().unwrap_or_else(|_| Err(gone())).map(|()| hold)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.end = None;
        if let Some(holder) = self.holder.take() {
            // A panic there ended the hold as well.
            let _ = holder.join();
        }
    }
}

/// A thread that this one traces and that stands still.
struct Traced {
    tid: libc::pid_t,
}

/// What a thread that is traced did.
enum Turn {
    Nothing,
    Stopped { signal: i32 },
    Ended,
}

impl Traced {
    fn stop(thread: Identity) -> Result<Self, Answer> {
        let gone = || Answer::Refused(format!("thread {} is gone", thread.pid));
        if thread.pid <= 1 || !thread.is_current() {
            return Err(gone());
        }
        let tid = thread.pid as libc::pid_t;
        request(libc::PTRACE_SEIZE, tid, 0).map_err(|e| refused(&e))?;
        request(libc::PTRACE_INTERRUPT, tid, 0).map_err(|e| refused(&e))?;
        let begun = Instant::now();
        loop {
            match turn(tid) {
                Turn::Stopped { signal: 0 } => return Ok(Self { tid }),
                Turn::Stopped { signal } => take(tid, signal),
                Turn::Ended => return Err(gone()),
                // What cannot be stopped is released by the end of this thread.
                Turn::Nothing if begun.elapsed() > STOP_WAIT => {
                    let why = "it waits for what cannot be interrupted".to_owned();
                    return Err(Answer::Busy(why));
                }
                Turn::Nothing => std::thread::sleep(LOOK_EVERY),
            }
        }
    }

    /// Holds it until it is released, or it is time.
    fn mind(self, ended: &Receiver<()>, until: Instant) {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let wanted = ended.recv_timeout(left.min(MIND_EVERY));
            if wanted != Err(RecvTimeoutError::Timeout) || left.is_zero() {
                break;
            }
            match turn(self.tid) {
                // Its whole process was continued: it stands still all the same.
                Turn::Nothing | Turn::Stopped { signal: 0 } => {}
                Turn::Stopped { signal } => take(self.tid, signal),
                Turn::Ended => return,
            }
        }
        // One that was killed in between has no need of it.
        let _ = request(libc::PTRACE_DETACH, self.tid, 0);
    }
}

/// Gives a thread the signal at which it was stopped, and stops it after that, before it runs any code of
/// its own. What it had not taken yet would be lost if the guardian were killed in between.
fn take(tid: libc::pid_t, signal: i32) {
    // One that was killed in between has no need of it. The stop is asked for first: nothing runs between.
    let _ = request(libc::PTRACE_INTERRUPT, tid, 0);
    let _ = request(libc::PTRACE_CONT, tid, signal);
}

fn refused(error: &std::io::Error) -> Answer {
    match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => Answer::NotPermitted(error.to_string()),
        _ => Answer::Refused(error.to_string()),
    }
}

#[expect(unsafe_code, reason = "ptrace(2) has no safe wrapper")]
fn request(what: libc::c_uint, tid: libc::pid_t, data: i32) -> std::io::Result<()> {
    let none = std::ptr::null_mut::<libc::c_void>();
    let data = std::ptr::without_provenance_mut::<libc::c_void>(data as usize);
    // SAFETY: these requests take numbers; no memory of ours or theirs is read or written.
    let answer = unsafe { libc::ptrace(what, tid, none, data) };
    if answer == -1 {
        return Err(std::io::Error::last_os_error());
    }
    Ok(())
}

#[expect(
    unsafe_code,
    reason = "of threads of others waitpid(2) reports with __WALL, which has no wrapper"
)]
fn turn(tid: libc::pid_t) -> Turn {
    let mut status = 0;
    // SAFETY: `status` is live memory for the time of the call.
    let which = unsafe { libc::waitpid(tid, &raw mut status, libc::__WALL | libc::WNOHANG) };
    if which == 0 {
        return Turn::Nothing;
    }
    if which < 0 || !libc::WIFSTOPPED(status) {
        return Turn::Ended;
    }
    // After the interrupt nothing waits to be delivered; another stop is that of a signal.
    let is_event = status >> 16 != 0;
    Turn::Stopped {
        signal: if is_event { 0 } else { libc::WSTOPSIG(status) },
    }
}

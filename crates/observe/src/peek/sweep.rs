//! One look at every thread that may wait in something new, and at the locks they wait for.

use std::collections::{BTreeMap, BTreeSet};

use rustix::io::Errno;
use slowpath_core::Nanos;
use slowpath_core::nanos::MILLISECOND;
use slowpath_core::timeline::Gap;
use slowpath_core::trace::{Call, Event, What};

use super::crew::{Crew, Look, Member, Told, Way};
use super::holders::Lock;
use super::text::Found;
use super::{locks, memory, text, wchan};
use crate::clock;

/// How long a look counts for a thread that did not run since: then it is put on record again, so
/// that a long wait is not one event at its begin.
const STALE_NS: u64 = 100 * MILLISECOND;
/// Threads sampled in one sweep, the others in the next: a look takes 2 to 6 µs, so that a
/// sweep stays below the distance of two.
const MOST_LOOKS: usize = 512;

/// Futexes that are remembered: runtimes that park each thread on one of its own have as many as
/// threads, and locks are few.
const MOST_FUTEXES: usize = 65_536;
/// A counter that threads wait on passes the value of a lock once; a lock holds it at each wait.
const LEAST_WAITS: u32 = 6;

/// What looks cannot show, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Lack {
    /// The calls may not be read; the kernel's functions may.
    Calls,
    /// Nor may these.
    Functions,
    /// The memory may not be read: owners of locks are unknown.
    Memory,
}

/// A thread that waits for a futex.
struct Waiter {
    tid: u32,
    about: u64,
    /// Whether it waits as one waits for a lock.
    is_lock: bool,
}

/// Looks at threads.
#[derive(Default)]
pub(super) struct Sweep {
    look: Look,
    /// The thread after which the last sweep had to end.
    last: u32,
    lacks: BTreeMap<Lack, Errno>,
    /// Whether any look showed anything.
    told_any: bool,
    /// Times that threads were found waiting for a futex as one waits for a lock that knows no
    /// owner; none if they were ever found waiting for it in another way.
    futexes: BTreeMap<Lock, Option<u32>>,
    /// Processes whose functions are hidden: every thread seems to run.
    hidden: BTreeSet<u32>,
}

impl Sweep {
    /// Looks at the threads and gives what they wait in to `out`.
    pub(super) fn turn(&mut self, crew: &mut Crew, out: &mut Vec<Event>) {
        let now = clock::now();
        let mut waiters: BTreeMap<u32, Vec<Waiter>> = BTreeMap::new();
        for tid in self.due(crew, now) {
            if let Some((pid, waiter)) = self.thread(crew, tid, out) {
                waiters.entry(pid).or_default().push(waiter);
            }
        }
        let first = out.len();
        for (pid, waiters) in waiters {
            self.locks(crew, pid, &waiters, out);
        }
        let owner_of = |event: &Event| match event.what {
            What::Peek { owner, .. } => owner,
            _ => 0,
        };
        let owners: BTreeSet<u32> = out[first..].iter().map(owner_of).collect();
        for owner in owners {
            repeat(crew, owner, now, out);
        }
    }

    /// The threads to look at now: those that may wait in something new, that wait for a lock,
    /// and that were not put on record for long.
    fn due(&mut self, crew: &Crew, now: Nanos) -> Vec<u32> {
        let is_due = |tid: &u32| {
            crew.members.get(tid).is_some_and(|member| {
                let is_due = |told: Told| told.is_lock || now.since(told.at) >= STALE_NS;
                !member.runs() && (member.may_have_run() || member.told.is_none_or(is_due))
            })
        };
        let after = crew.members.range(self.last + 1..);
        let before = crew.members.range(..=self.last);
        let in_turn = after.chain(before).map(|(tid, _)| *tid).filter(is_due);
        let due: Vec<u32> = in_turn.take(MOST_LOOKS).collect();
        self.last = due.last().copied().unwrap_or_default();
        due
    }

    /// Looks at one thread. One that waits for a futex is given back, to ask for the owner of
    /// all such locks at once.
    fn thread(&mut self, crew: &mut Crew, tid: u32, out: &mut Vec<Event>) -> Option<(u32, Waiter)> {
        let member = crew.members.get_mut(&tid)?;
        let pid = member.pid;
        let about_lock = |told: Told| {
            let waiter = Waiter {
                tid,
                about: told.about,
                is_lock: told.is_lock,
            };
            (pid, waiter)
        };
        if let Some(told) = member.told.filter(|_| !member.may_have_run()) {
            if told.is_lock {
                return Some(about_lock(told));
            }
            tell(member, tid, told.again(), out);
            return None;
        }
        let found = self.read(crew, pid, tid);
        let member = crew.members.get_mut(&tid)?;
        let Some(Found::Waiting {
            call,
            about,
            is_plain_lock,
        }) = found
        else {
            member.told = None;
            return None;
        };
        self.told_any = true;
        member.ran = false;
        let told = Told {
            call,
            about,
            owner: 0,
            is_lock: is_plain_lock,
            at: clock::now(),
        };
        if call == Call::Futex && about != 0 {
            self.note_futex((pid, about), is_plain_lock);
            return Some(about_lock(told));
        }
        tell(member, tid, told, out);
        None
    }

    /// Remembers what kind of futex that is.
    fn note_futex(&mut self, futex: Lock, is_plain_lock: bool) {
        if self.futexes.len() < MOST_FUTEXES || self.futexes.contains_key(&futex) {
            let waits = self.futexes.entry(futex).or_insert(Some(0));
            *waits = waits.filter(|_| is_plain_lock).map(|count| count + 1);
        }
    }

    /// The futexes that were waited for as locks that know no owner are, each time.
    pub(super) fn plain_locks(&self) -> BTreeSet<Lock> {
        let is_lock = |waits: &Option<u32>| waits.is_some_and(|count| count >= LEAST_WAITS);
        let locks = self.futexes.iter().filter(|(_, waits)| is_lock(waits));
        locks.map(|(futex, _)| *futex).collect()
    }

    /// Reads what a thread waits in, by the way that its process allows.
    fn read(&mut self, crew: &mut Crew, pid: u32, tid: u32) -> Option<Found> {
        let way = crew.programs.get(&pid)?.way;
        let error = match (crew.look(tid, &mut self.look), way) {
            (Ok(text), Way::Calls) => return text.and_then(text::syscall),
            (Ok(text), Way::Functions) => {
                let call = text.and_then(wchan::classify);
                if call.is_none() {
                    self.hidden.insert(pid);
                } else {
                    self.hidden.remove(&pid);
                }
                return call.map(|call| Found::Waiting {
                    call,
                    about: 0,
                    is_plain_lock: false,
                });
            }
            (Err(error), _) => error,
        };
        match (error, way) {
            (Errno::ACCESS | Errno::PERM | Errno::NOSYS, Way::Calls) => {
                self.lacks.insert(Lack::Calls, error);
                crew.fall_back(pid);
                return self.read(crew, pid, tid);
            }
            (Errno::ACCESS | Errno::PERM, Way::Functions) => {
                self.lacks.insert(Lack::Functions, error);
            }
            // It ended, or was woken while it was sampled.
            _ => {}
        }
        None
    }

    /// Asks for the owners of the locks that threads of a process wait for.
    fn locks(&mut self, crew: &mut Crew, pid: u32, waiters: &[Waiter], out: &mut Vec<Event>) {
        let addresses: Vec<u64> = waiters.iter().map(|waiter| waiter.about).collect();
        let is_open = crew.programs.get(&pid).is_some_and(|p| p.open_memory);
        let found = match is_open.then(|| memory::peek(pid, &addresses)) {
            Some(Ok(found)) => found,
            Some(Err(error @ (Errno::PERM | Errno::ACCESS | Errno::NOSYS))) => {
                self.lacks.insert(Lack::Memory, error);
                if let Some(program) = crew.programs.get_mut(&pid) {
                    program.open_memory = false;
                }
                vec![None; waiters.len()]
            }
            // The process ended.
            Some(Err(_)) => return,
            None => vec![None; waiters.len()],
        };
        let at = clock::now();
        for (waiter, bytes) in waiters.iter().zip(found) {
            let is_thread = |inner| {
                crew.host_id(pid, inner)
                    .is_some_and(|tid| tid != waiter.tid)
            };
            let inner = bytes.map_or(0, |bytes| locks::owner(&bytes, is_thread));
            let owner = crew.host_id(pid, inner).unwrap_or_default();
            let Some(member) = crew.members.get_mut(&waiter.tid) else {
                continue;
            };
            // Each look at one who waits for a lock counts as evidence.
            let told = Told {
                call: Call::Futex,
                about: waiter.about,
                owner,
                is_lock: waiter.is_lock || owner != 0,
                at,
            };
            tell(member, waiter.tid, told, out);
        }
    }

    /// What could not be seen, and why.
    pub(super) fn gaps(&self) -> Vec<Gap> {
        const REMEDY: &str = "let slowpath start the target, run it as root or with \
                              CAP_SYS_PTRACE, or sysctl kernel.yama.ptrace_scope=0";
        let gap = |signal: &str, reason: String| Gap {
            signal: signal.to_owned(),
            reason,
            remedy: REMEDY.to_owned(),
        };
        let hidden = !self.told_any && !self.hidden.is_empty();
        let mut gaps = Vec::new();
        for (lack, error) in &self.lacks {
            gaps.push(match lack {
                Lack::Calls => gap(
                    "trace.calls",
                    format!("the calls that the target's threads wait in may not be read: {error}"),
                ),
                Lack::Functions => gap(
                    "trace.waits",
                    format!("where in the kernel they wait may not be read: {error}"),
                ),
                Lack::Memory => gap(
                    "trace.lock-owners",
                    format!("the target's locks may not be read: {error}"),
                ),
            });
        }
        if hidden {
            let reason = "the kernel does not show where the target's threads wait";
            gaps.push(gap("trace.waits", reason.to_owned()));
        }
        gaps
    }
}

/// Puts on record what a thread waits in.
fn tell(member: &mut Member, tid: u32, told: Told, out: &mut Vec<Event>) {
    member.told = Some(told);
    out.push(Event {
        at: told.at,
        cpu: member.cpu,
        what: What::Peek {
            tid,
            call: told.call,
            about: told.about,
            owner: told.owner,
        },
    });
}

/// Puts on record again what a thread that owns a lock waits in, beside those who wait for it.
fn repeat(crew: &mut Crew, tid: u32, now: Nanos, out: &mut Vec<Event>) {
    if let Some(member) = crew.members.get_mut(&tid)
        && let Some(told) = member.told.filter(|told| told.at < now)
        && !member.runs()
        && !member.may_have_run()
    {
        tell(member, tid, told.again(), out);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::*;

    /// What the looks at one waiting thread of this very process show, the first time and again.
    fn looks(prepare: impl Fn(&mut Crew)) -> Option<Vec<(Call, u64, u32)>> {
        let pid = std::process::id();
        let (send, receive) = mpsc::channel();
        let (end, wait) = mpsc::channel::<()>();
        let sleeper = thread::spawn(move || {
            let tid = rustix::thread::gettid().as_raw_nonzero().get() as u32;
            send.send(tid).unwrap();
            // A wait with a limit is a futex, too.
            let _ = wait.recv_timeout(Duration::from_secs(20));
        });
        let tid = receive.recv().unwrap();
        let mut crew = Crew::new("/proc".into(), vec![pid], 16);
        crew.refresh();
        prepare(&mut crew);
        let mut sweep = Sweep::default();
        let mut told = Vec::new();
        for _ in 0..200 {
            let mut events = Vec::new();
            sweep.turn(&mut crew, &mut events);
            told.extend(events.iter().filter_map(|event| match event.what {
                What::Peek {
                    tid: of,
                    call,
                    about,
                    owner,
                } if of == tid => Some((call, about, owner)),
                _ => None,
            }));
            if !told.is_empty() {
                break;
            }
            thread::sleep(Duration::from_millis(10));
        }
        drop(end);
        sleeper.join().unwrap();
        if let Some(gap) = sweep.gaps().first() {
            println!("skipped: {}", gap.reason);
            return None;
        }
        Some(told)
    }

    #[test]
    fn a_wait_is_seen_by_its_call() {
        let Some(told) = looks(|_| {}) else { return };
        let (call, about, owner) = told[0];
        assert_eq!((call, owner), (Call::Futex, 0));
        assert_ne!(about, 0);
    }

    #[test]
    fn where_calls_may_not_be_read_the_kernels_function_tells() {
        let fallen = |crew: &mut Crew| crew.fall_back(std::process::id());
        let Some(told) = looks(fallen) else { return };
        assert_eq!(told[0], (Call::Futex, 0, 0));
    }
}

//! All processes that came from one start, however they hide: the process group, the descendants,
//! and whatever carries the family's mark in its environment. A daemon that detaches by forking
//! twice leaves the group and the descendants but keeps the mark. One that wipes its environment
//! too comes to us, the reaper, as a child in a session that is not ours; slowpath starts nothing
//! in such a session itself except its guardian, which carries a mark of its own.
//!
//! Only the last kind is out of the guardian's reach, which reaps no processes.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde::{Deserialize, Serialize};

use super::process::{Identity, PROC, Row, Table};

/// The environment variable that carries the mark.
pub(crate) const MARK_VARIABLE: &str = "SLOWPATH_FAMILY";

/// The mark of guardians, which belong to no family.
pub(crate) const GUARDIAN_MARK: &str = "guardian";

/// Pause between two looks at a family that is ending: short against the seconds it is given, long
/// against the reading of /proc, which takes about 20 µs a process.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How long processes may take to vanish after SIGKILL. The kernel needs microseconds, unless a
/// process sits in an uninterruptible wait; then waiting longer would not help either.
const KILL_WAIT: Duration = Duration::from_secs(3);

/// The processes of one start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Family {
    /// Value of the environment variable that all of them inherit.
    pub(crate) mark: String,
    /// The process that was started, once it is known; it leads its process group.
    pub(crate) leader: Option<Identity>,
}

/// How a family ended.
#[derive(Debug, Default)]
pub(crate) struct Ended {
    /// Processes that had to be ended with SIGKILL.
    pub(crate) killed: BTreeSet<Identity>,
    /// Pids that are still there.
    pub(crate) left: Vec<u32>,
}

impl Family {
    /// A family without members; its mark is unique on this host until the next boot.
    pub(crate) fn announce() -> Self {
        static STARTS: AtomicU32 = AtomicU32::new(0);
        let pid = std::process::id();
        let ticks = Identity::of(pid).map_or(0, |me| me.start_ticks);
        let count = STARTS.fetch_add(1, Ordering::Relaxed);
        Self {
            mark: format!("{pid}-{ticks}-{count}"),
            leader: None,
        }
    }

    /// All members, zombies too, and those of `known` that are still there.
    pub(crate) fn members(&self, known: &BTreeSet<Identity>) -> Vec<Row> {
        let Ok(table) = Table::read(Path::new(PROC)) else {
            return Vec::new();
        };
        let session = table.find(std::process::id()).map(|me| me.session);
        let is_member = |row: &&Row| {
            known.contains(&row.identity)
                || self.has_group_of(row, &table)
                || self.is_marked(row, session)
        };
        let roots = table
            .rows
            .iter()
            .filter(is_member)
            .map(|row| row.identity.pid);
        table.with_descendants(&roots.collect::<Vec<u32>>())
    }

    /// Whether the row is in the leader's group. The kernel gives the number of a group to no new
    /// process while the group has members, so only a reused leader has to be distinguished.
    fn has_group_of(&self, row: &Row, table: &Table) -> bool {
        self.leader.is_some_and(|leader| {
            row.group == leader.pid
                && row.identity.start_ticks >= leader.start_ticks
                && table
                    .find(leader.pid)
                    .is_none_or(|now| now.identity == leader)
        })
    }

    /// Whether the row carries the mark, or has lost every mark and come to us; `session` is ours.
    fn is_marked(&self, row: &Row, session: Option<u32>) -> bool {
        let is_older = self
            .leader
            .is_some_and(|leader| row.identity.start_ticks < leader.start_ticks);
        if is_older || row.zombie {
            return false;
        }
        let path = Path::new(PROC).join(format!("{}/environ", row.identity.pid));
        // Not to be read: another user's, which no descendant of ours is unless we are root.
        let Ok(environ) = fs::read(path) else {
            return false;
        };
        let mark = environ.split(|&byte| byte == 0).find_map(|entry| {
            entry
                .strip_prefix(MARK_VARIABLE.as_bytes())?
                .strip_prefix(b"=")
        });
        let is_lost = || row.parent == std::process::id() && Some(row.session) != session;
        mark.map_or_else(
            || self.leader.is_some() && is_lost(),
            |mark| mark == self.mark.as_bytes(),
        )
    }

    /// Ends all members: SIGTERM to the group, and to what is outside of it once the group is
    /// empty; SIGKILL to everything that is left after `grace`. `tend` sees the members at each
    /// look, so that a parent can reap them.
    pub(crate) fn end(
        &self,
        known: &mut BTreeSet<Identity>,
        grace: Duration,
        tend: &mut dyn FnMut(&[Row]),
    ) -> Ended {
        let mut ended = Ended::default();
        let mut look = |known: &mut BTreeSet<Identity>| {
            let members = self.members(known);
            known.extend(members.iter().map(|row| row.identity));
            tend(&members);
            members
                .into_iter()
                .filter(|row| !row.zombie)
                .collect::<Vec<Row>>()
        };
        let mut alive = look(known);
        self.ask_group(&alive);
        let mut asked = BTreeSet::new();
        let begin = Instant::now();
        while !alive.is_empty() && begin.elapsed() < grace {
            if !alive.iter().any(|row| self.is_in_group(row)) {
                ask_each(&alive, &mut asked);
            }
            thread::sleep(LOOK_EVERY);
            alive = look(known);
        }
        let begin = Instant::now();
        while !alive.is_empty() && begin.elapsed() < KILL_WAIT {
            for row in &alive {
                if row.identity.signal(Signal::KILL).is_ok() {
                    ended.killed.insert(row.identity);
                }
            }
            thread::sleep(LOOK_EVERY);
            alive = look(known);
        }
        // Zombies become ours when their parents have ended, which may be after the last look.
        look(known);
        ended.left = alive.iter().map(|row| row.identity.pid).collect();
        ended
    }

    fn is_in_group(&self, row: &Row) -> bool {
        self.leader.is_some_and(|leader| leader.pid == row.group)
    }

    /// SIGTERM to the whole group at once, if it is still the family's.
    fn ask_group(&self, alive: &[Row]) {
        let member = alive.iter().find(|row| self.is_in_group(row));
        let group = member.and_then(|row| Pid::from_raw(row.group as i32));
        if let Some(group) = group {
            // An error means that the group has just ended, which is what was asked for. A stopped
            // process takes SIGTERM only when it continues.
            let _ = kill_process_group(group, Signal::TERM);
            let _ = kill_process_group(group, Signal::CONT);
        }
    }
}

/// SIGTERM to each process that did not get it yet.
fn ask_each(alive: &[Row], asked: &mut BTreeSet<Identity>) {
    for row in alive {
        if asked.insert(row.identity) {
            // What cannot be asked is killed when its time is over.
            let _ = row.identity.signal(Signal::TERM);
            let _ = row.identity.signal(Signal::CONT);
        }
    }
}

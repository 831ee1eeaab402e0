//! Tasks of a runtime that parks them in user space (goroutines), as they were read from the memory of their process.
//!
//! The kernel sees that a thread of such a runtime is idle, and not what the tasks wait for that it would run. A [`Look`] at
//! all tasks of a process shows that at an instant; what a task was found doing at one look, or at several one after the
//! other, is a [`Stay`].

use serde::{Deserialize, Serialize};

use super::{NO_STACK, Trace};
use crate::nanos::Nanos;

/// The task is at no connection; stands in [`Stay::socket`].
pub const NO_SOCKET: u32 = u32::MAX;

/// A look at the tasks of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Look {
    /// When.
    pub at: Nanos,
    /// The process.
    pub pid: u32,
    /// Tasks that were found.
    pub found: u32,
    /// Tasks that were not examined, for they were too many.
    pub left_out: u32,
}

/// What a task does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Does {
    /// It runs on a thread.
    Runs,
    /// It could run, and no thread has taken it yet.
    Ready,
    /// Its thread is in a system call.
    Call,
    /// It waits for a lock.
    Lock,
    /// It waits for a semaphore of the runtime, and whose is not known.
    Semaphore,
    /// It waits until a condition holds.
    Condition,
    /// It waits until all tasks of a group are done.
    Group,
    /// It waits until another task takes what it sends.
    Send,
    /// It waits for what another task sends.
    Receive,
    /// It waits for one of several tasks.
    Select,
    /// It waits for one of several tasks that send nothing but a signal, or until a time.
    Until,
    /// It waits for a time.
    Sleep,
    /// It waits for data, or until data is taken.
    Data,
    /// It collects garbage, or waits for the collector.
    Collects,
    /// It waits for something else.
    Waits,
}

impl Does {
    /// Everything; the position is its code in stored traces and never changes.
    pub const ALL: [Self; 15] = [
        Self::Runs,
        Self::Ready,
        Self::Call,
        Self::Lock,
        Self::Semaphore,
        Self::Condition,
        Self::Group,
        Self::Send,
        Self::Receive,
        Self::Select,
        Self::Until,
        Self::Sleep,
        Self::Data,
        Self::Collects,
        Self::Waits,
    ];

    /// Whether it waits, and neither runs nor could.
    pub const fn is_parked(self) -> bool {
        !matches!(self, Self::Runs | Self::Ready | Self::Call)
    }
}

/// A task that was found doing the same at every look from the first to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stay {
    /// The first look that found it so.
    pub first: Nanos,
    /// The last one.
    pub last: Nanos,
    /// The process.
    pub pid: u32,
    /// Its number, which no other task of the process has ever had.
    pub task: u64,
    /// The number of the task that started it; 0 if that is not known.
    pub parent: u64,
    /// What it did.
    pub does: Does,
    /// The address of what it waits for, a lock or a channel; of [`Does::Until`] the time, in nanoseconds of the record's
    /// clock. 0 if that is not known.
    pub about: u64,
    /// Where it stood, or [`NO_STACK`].
    pub stack: u32,
    /// The end of the connection whose data it waits for, or [`NO_SOCKET`].
    pub socket: u32,
}

impl Stay {
    /// Whether the socket and the stack that it points to are there.
    pub const fn points_inside(&self, sockets: usize, stacks: usize) -> bool {
        (self.socket == NO_SOCKET || (self.socket as usize) < sockets)
            && (self.stack == NO_STACK || (self.stack as usize) < stacks)
    }
}

impl Trace {
    /// Appends looks and stays of a later trace, whose positions are moved up by so many.
    pub(super) fn append_tasks(
        &mut self,
        looks: Vec<Look>,
        stays: Vec<Stay>,
        (sockets, stacks): (u32, u32),
    ) {
        let moved = |position: u32, by: u32| {
            // Both mean that there is none.
            if position == NO_SOCKET || position == NO_STACK {
                position
            } else {
                position + by
            }
        };
        self.looks.extend(looks);
        self.stays.extend(stays.into_iter().map(|stay| Stay {
            socket: moved(stay.socket, sockets),
            stack: moved(stay.stack, stacks),
            ..stay
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_positions() {
        for (code, does) in Does::ALL.iter().enumerate() {
            assert_eq!(*does as usize, code);
        }
    }

    #[test]
    fn what_is_appended_keeps_its_meaning() {
        let stay = |socket, stack| Stay {
            first: Nanos::new(0),
            last: Nanos::new(0),
            pid: 1,
            task: 1,
            parent: 0,
            does: Does::Lock,
            about: 0,
            stack,
            socket,
        };
        let mut all = Trace::default();
        all.append_tasks(
            Vec::new(),
            vec![stay(1, NO_STACK), stay(NO_SOCKET, 2)],
            (10, 20),
        );
        assert_eq!(all.stays, [stay(11, NO_STACK), stay(NO_SOCKET, 22)]);
        assert!(all.stays[1].points_inside(0, 23) && !all.stays[1].points_inside(0, 22));
    }
}

//! Stacks as they were taken, until the window is over and there is time to name them.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use slowpath_core::Nanos;
use slowpath_core::timeline::Gap;
use slowpath_core::trace::{Frame, NO_STACK};

use super::budget::MOST_BYTES;
use super::gap;
use super::records::Stack;
use crate::symbols::{Dump, RawStack, Symbolizer, User};

/// The records of one switch, with a stack and without, are written within this of each other.
const SAME_SWITCH_NS: u64 = 50_000;

/// A stack that was taken.
#[derive(Debug)]
struct Kept {
    pid: u32,
    kernel: Box<[u64]>,
    registers: Box<[u64]>,
    dump: Box<[u8]>,
}

/// A switch on one CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Handed {
    pub(super) at: Nanos,
    pub(super) from: u32,
    pub(super) to: u32,
}

impl Handed {
    fn is_same(self, other: Self) -> bool {
        let apart_ns = self.at.since(other.at).max(other.at.since(self.at));
        (self.from, self.to) == (other.from, other.to) && apart_ns <= SAME_SWITCH_NS
    }
}

/// What was last reported of a CPU: a switch that is kept and may get a stack, or a stack whose switch
/// is yet to come. The two events of a switch write in either order.
#[derive(Clone, Copy, Debug, Default)]
struct Latest {
    switch: Option<(Handed, usize)>,
    stack: Option<(Handed, u32)>,
}

/// All stacks of a repeat.
#[derive(Debug, Default)]
pub(super) struct Stacks {
    kept: Vec<Kept>,
    bytes: usize,
    /// Stacks for which there was no room.
    refused: u64,
    /// Files of programs that may be open until stacks are named.
    pub(super) most_files: usize,
    symbolizer: Option<Symbolizer>,
    met: BTreeSet<u32>,
    latest: Vec<Latest>,
}

impl Stacks {
    /// Keeps a stack of a thread of a process, and gives its position for now; none if there is
    /// no room.
    pub(super) fn keep(&mut self, proc_root: &Path, pid: u32, stack: &Stack) -> u32 {
        let bytes = stack.dump.len() + 8 * (stack.kernel.len() + stack.registers.len());
        if self.bytes + bytes > MOST_BYTES {
            self.refused += 1;
            return NO_STACK;
        }
        self.bytes += bytes + size_of::<Kept>();
        if self.met.insert(pid) {
            // Its maps are read now: it may be gone when the window is over.
            let symbolizer = self
                .symbolizer
                .get_or_insert_with(|| Symbolizer::with_files(proc_root, self.most_files));
            symbolizer.meet(pid);
        }
        self.kept.push(Kept {
            pid,
            kernel: stack.kernel.as_slice().into(),
            registers: stack.registers.as_slice().into(),
            dump: stack.dump.into(),
        });
        self.kept.len() as u32 - 1
    }

    /// Whether there is no room for more.
    pub(super) const fn is_full(&self) -> bool {
        self.refused > 0
    }

    /// A switch was reported, which becomes the event at `place`; gives its stack if that came first.
    pub(super) fn of_switch(&mut self, cpu: u32, handed: Handed, place: usize) -> u32 {
        let latest = self.latest(cpu);
        latest.switch = Some((handed, place));
        let stack = latest.stack.take_if(|(of, _)| of.is_same(handed));
        stack.map_or(NO_STACK, |(_, stack)| stack)
    }

    /// A switch's stack was reported; gives the position of its event if that came first.
    pub(super) fn of_stack(&mut self, cpu: u32, handed: Handed, stack: u32) -> Option<usize> {
        let latest = self.latest(cpu);
        let switch = latest.switch.take_if(|(of, _)| of.is_same(handed));
        if switch.is_none() {
            latest.stack = Some((handed, stack));
        }
        switch.map(|(_, place)| place)
    }

    fn latest(&mut self, cpu: u32) -> &mut Latest {
        let cpu = cpu as usize;
        if self.latest.len() <= cpu {
            self.latest.resize(cpu + 1, Latest::default());
        }
        &mut self.latest[cpu]
    }

    /// Names them all: the functions, the stacks, and for each position that was given until now
    /// the stack that it refers to.
    pub(super) fn finish(self) -> Named {
        // Files of others are read here by parsers of others; what was traced must not go with them.
        named_or_gap(|| self.name())
    }

    fn name(self) -> Named {
        let Some(mut symbolizer) = self.symbolizer else {
            return Named::default();
        };
        let place = |kept: &Kept| {
            let user = dump_of(kept).map_or(User::None, User::Dump);
            let kernel = &kept.kernel;
            symbolizer.add(kept.pid, &RawStack { kernel, user })
        };
        let places = self.kept.iter().map(place).collect();
        let symbols = symbolizer.finish();
        Named {
            frames: symbols.frames,
            stacks: symbols.stacks,
            places,
            gaps: symbols.gaps,
        }
    }
}

/// Stacks by name.
#[derive(Debug, Default)]
pub(super) struct Named {
    pub(super) frames: Vec<Frame>,
    pub(super) stacks: Vec<Vec<u32>>,
    /// The stack of each position.
    pub(super) places: Vec<u32>,
    pub(super) gaps: Vec<Gap>,
}

/// What `name` gives; nothing but a gap if it panics.
fn named_or_gap(name: impl FnOnce() -> Named) -> Named {
    // Nothing that it touches is used after a panic.
    catch_unwind(AssertUnwindSafe(name)).unwrap_or_else(|_| {
        let reason = "naming the stacks broke off: a program's file is not as it should be";
        let remedy = "report it with what slowpath said; strip --strip-debug of the program helps";
        Named {
            gaps: vec![gap("stacks", reason.to_owned(), remedy)],
            ..Named::default()
        }
    })
}

/// The program's part, in the registers' order that `perf` asks for them.
fn dump_of(kept: &Kept) -> Option<Dump<'_>> {
    let (ip, sp, bp, lr) = match *kept.registers {
        #[cfg(target_arch = "x86_64")]
        [bp, sp, ip] => (ip, sp, bp, 0),
        #[cfg(target_arch = "aarch64")]
        [bp, lr, sp, ip] => (ip, sp, bp, lr),
        _ => return None,
    };
    let bytes = &kept.dump;
    Some(Dump {
        ip,
        sp,
        bp,
        lr,
        bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handed(at: u64, from: u32, to: u32) -> Handed {
        let at = Nanos::new(at);
        Handed { at, from, to }
    }

    #[test]
    fn a_switch_finds_its_stack_in_either_order() {
        let mut stacks = Stacks::default();
        assert_eq!(stacks.of_stack(1, handed(1000, 7, 8), 40), None);
        assert_eq!(
            stacks.of_switch(0, handed(1100, 7, 8), 2),
            NO_STACK,
            "another CPU"
        );
        assert_eq!(stacks.of_switch(1, handed(1100, 7, 8), 3), 40);
        assert_eq!(stacks.of_switch(1, handed(5000, 8, 7), 4), NO_STACK);
        assert_eq!(stacks.of_stack(1, handed(4900, 8, 7), 41), Some(4));
    }

    #[test]
    fn another_switch_of_the_same_threads_is_not_it() {
        let mut stacks = Stacks::default();
        assert_eq!(stacks.of_stack(0, handed(1000, 7, 8), 40), None);
        let later = handed(1000 + 2 * SAME_SWITCH_NS, 7, 8);
        assert_eq!(stacks.of_switch(0, later, 1), NO_STACK);
    }

    #[test]
    fn a_panic_while_naming_is_a_gap() {
        let named = named_or_gap(|| panic!("as a parser of files would"));
        assert!(named.places.is_empty() && named.stacks.is_empty());
        assert_eq!(named.gaps.len(), 1);
    }

    #[test]
    fn what_has_no_room_is_not_kept() {
        let mut stacks = Stacks {
            bytes: MOST_BYTES - 10,
            ..Stacks::default()
        };
        let stack = Stack {
            kernel: vec![1, 2],
            user: Vec::new(),
            registers: Vec::new(),
            dump: &[],
        };
        assert_eq!(stacks.keep(Path::new("/nowhere"), 1, &stack), NO_STACK);
        assert!(stacks.is_full());
    }
}

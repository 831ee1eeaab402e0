//! From raw stacks to the functions on them.
//!
//! The kernel gives addresses of its own functions, and of a program either a chain of frame
//! pointers or its registers with a piece of its stack. [`Symbolizer::add`] makes places of both
//! (an offset in a file, which is the same in all processes that have it mapped), and counts each
//! stack once; it reads the maps of a process and opens its files at its first stack. [`Symbolizer::finish`] names the
//! places, each once. Naming is what costs, and it is done after the measured window.
//!
//! A program without frame pointers is unwound by its call frame information (`.eh_frame`,
//! `.debug_frame`); code that has none, such as a runtime's compiled code, by frame pointers. An
//! address that no executable mapping holds ends a stack, so that garbage is not shown.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

use slowpath_core::timeline::Gap;
use slowpath_core::trace::{Frame, NO_STACK};

mod elf;
mod go_table;
mod modules;
mod names;
mod numbered;
mod perf_map;
mod python_types;
mod runtime;
mod space;
mod unwind;

pub use go_table::GoTable;
pub use perf_map::PerfMap;
pub use runtime::runtime;

pub(crate) use elf::{Bytes as SectionBytes, section};
pub(crate) use modules::open_regular;
use modules::{MOST_MODULES as MOST_FILES, Modules};
use numbered::Numbered;
use space::{Home, Space};
use unwind::Unwinding;

/// Functions on a stack, the kernel's and the program's, without those that were inlined. As deep as
/// the kernel's own chains (`kernel.perf_event_max_stack` is 127 unless changed).
pub const MOST_DEEP: usize = 127;
/// Different stacks. A server under load shows some hundreds.
pub const MOST_STACKS: usize = 65_536;
/// Different addresses on all stacks: some tens on each of [`MOST_STACKS`] would be rare.
pub const MOST_PLACES: usize = 262_144;
/// Processes whose maps are read: servers with a process for each connection have hundreds.
pub const MOST_PROCESSES: usize = 512;

/// Kernel: `PERF_CONTEXT_MAX` is -4095; what lies above it in a chain is a marker, no address.
const MARKERS: u64 = -4095_i64 as u64;
/// Kernel: `PERF_CONTEXT_USER`, after which the addresses are the program's.
const MARKER_USER: u64 = -512_i64 as u64;

/// One stack as it was taken. Innermost addresses first; the markers that the kernel puts into
/// chains (`PERF_CONTEXT_…`) may be left in.
#[derive(Clone, Copy, Debug)]
pub struct RawStack<'a> {
    /// The kernel's part of the chain.
    pub kernel: &'a [u64],
    /// The program's part.
    pub user: User<'a>,
}

/// The program's part of a stack.
#[derive(Clone, Copy, Debug)]
pub enum User<'a> {
    /// It was not taken, or the thread has none (threads of the kernel, 32-bit programs).
    None,
    /// As the kernel followed the frame pointers.
    Chain(&'a [u64]),
    /// Registers and memory, to be unwound here.
    Dump(Dump<'a>),
}

/// Registers of a program and the piece of its stack that begins at the stack pointer.
#[derive(Clone, Copy, Debug)]
pub struct Dump<'a> {
    /// Instruction pointer.
    pub ip: u64,
    /// Stack pointer.
    pub sp: u64,
    /// Frame pointer (`rbp`; on aarch64 `x29`).
    pub bp: u64,
    /// Link register (aarch64's `x30`; not read elsewhere).
    pub lr: u64,
    /// Memory from `sp` upwards; what was not written by the kernel is cut off.
    pub bytes: &'a [u8],
}

impl<'a> RawStack<'a> {
    /// A chain as `PERF_SAMPLE_CALLCHAIN` gives it, split where the program's part begins.
    pub fn from_callchain(chain: &'a [u64]) -> Self {
        let user = chain.iter().position(|ip| *ip == MARKER_USER);
        let (kernel, user) = chain.split_at(user.unwrap_or(chain.len()));
        let user = if user.is_empty() {
            User::None
        } else {
            User::Chain(user)
        };
        Self { kernel, user }
    }
}

/// Stacks by name.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    /// The functions.
    pub frames: Vec<Frame>,
    /// Stacks as [`Symbolizer::add`] numbered them: positions in `frames`, innermost first, the
    /// kernel's before the program's.
    pub stacks: Vec<Vec<u32>>,
    /// What could not be resolved, each once.
    pub gaps: Vec<Gap>,
}

/// Where an address lies: the same for all processes that share the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Place {
    home: Home,
    /// An address as the home counts: within a file as its symbols do, else absolute.
    at: u64,
}

/// Collects stacks and names them in the end.
#[derive(Debug)]
pub struct Symbolizer {
    proc_root: PathBuf,
    spaces: BTreeMap<u32, Option<Space>>,
    modules: Modules,
    unwinding: Unwinding,
    places: Numbered<Place>,
    stacks: Numbered<Arc<[u32]>>,
    lost: Lost,
    /// The places of the stack at hand; kept for its memory.
    at_hand: Vec<u32>,
}

/// What lay beyond a bound, or could not be read.
#[derive(Clone, Debug, Default)]
struct Lost {
    /// Stacks that were cut at [`MOST_DEEP`].
    deep: u64,
    /// Samples whose stack was new when there was no more room.
    stacks: u64,
    /// Addresses that were new when there was no more room.
    places: u64,
    /// Stacks that ended in a file whose unwind information is not as it should be.
    broken: u64,
    /// Samples of processes beyond [`MOST_PROCESSES`].
    processes: u64,
    /// Samples of processes whose maps could not be read, and what the first of them said.
    hidden: u64,
    hidden_because: String,
}

impl Symbolizer {
    /// Reads processes below `proc_root`, which is `/proc` outside of tests.
    pub fn new(proc_root: impl Into<PathBuf>) -> Self {
        Self::with_files(proc_root, MOST_FILES)
    }

    /// The same, with at most so many files open at a time, and no more than 256.
    pub fn with_files(proc_root: impl Into<PathBuf>, most_files: usize) -> Self {
        Self {
            proc_root: proc_root.into(),
            spaces: BTreeMap::new(),
            modules: Modules::new(most_files),
            unwinding: Unwinding::default(),
            places: Numbered::default(),
            stacks: Numbered::default(),
            lost: Lost::default(),
            at_hand: Vec::with_capacity(MOST_DEEP),
        }
    }

    /// Reads the maps of process `pid` and opens the files that it executes, now: worth it for one
    /// that may be gone when its stacks are added.
    pub fn meet(&mut self, pid: u32) {
        if !self.spaces.contains_key(&pid) && self.spaces.len() < MOST_PROCESSES {
            let space = Space::read(&self.proc_root, pid, &mut self.modules);
            let space = space.inspect_err(|error| {
                if self.lost.hidden_because.is_empty() {
                    self.lost.hidden_because = format!("maps of process {pid}: {error}");
                }
            });
            self.spaces.insert(pid, space.ok());
        }
    }

    /// Adds a stack of a thread of process `pid` (as the host numbers it) and gives the stack's
    /// number, or [`NO_STACK`] if nothing of it could be placed or there is no more room.
    pub fn add(&mut self, pid: u32, raw: &RawStack<'_>) -> u32 {
        let mut places = std::mem::take(&mut self.at_hand);
        places.clear();
        self.kernel(raw.kernel, &mut places);
        match raw.user {
            User::Chain(chain) if self.reach(pid) => self.chain(pid, chain, &mut places),
            User::Dump(dump) if self.reach(pid) => {
                let whole = unbroken(|| self.dump(pid, &dump, &mut places));
                self.lost.broken += u64::from(whole.is_none());
            }
            User::None | User::Chain(_) | User::Dump(_) => {}
        }
        let stack = self.number(&places);
        self.at_hand = places;
        stack
    }

    fn number(&mut self, places: &[u32]) -> u32 {
        if places.is_empty() {
            return NO_STACK;
        }
        if let Some(known) = self.stacks.find(places) {
            return known;
        }
        if self.stacks.all().len() >= MOST_STACKS {
            self.lost.stacks += 1;
            return NO_STACK;
        }
        self.stacks.number(places.into())
    }

    /// Takes a place into the stack at hand; says whether there is room for more.
    fn push(&mut self, place: Place, places: &mut Vec<u32>) -> bool {
        if places.len() >= MOST_DEEP {
            self.lost.deep += 1;
            return false;
        }
        let full = self.places.all().len() >= MOST_PLACES;
        if full && self.places.find(&place).is_none() {
            self.lost.places += 1;
            return false;
        }
        places.push(self.places.number(place));
        true
    }

    fn kernel(&mut self, chain: &[u64], places: &mut Vec<u32>) {
        for at in lookup_addresses(chain) {
            let home = Home::Kernel;
            if !self.push(Place { home, at }, places) {
                return;
            }
        }
    }

    fn chain(&mut self, pid: u32, chain: &[u64], places: &mut Vec<u32>) {
        for at in lookup_addresses(chain) {
            let Some(place) = self.place(pid, at) else {
                return;
            };
            if !self.push(place, places) {
                return;
            }
        }
    }

    fn dump(&mut self, pid: u32, dump: &Dump<'_>, places: &mut Vec<u32>) {
        let space = self.spaces.get(&pid).and_then(Option::as_ref);
        let mut walk = unwind::Walk::new(dump, space.map_or(0, Space::highest));
        while let Some(at) = walk.lookup_address() {
            let Some(place) = self.place(pid, at) else {
                return;
            };
            if !self.push(place, places) {
                return;
            }
            let Some(Some(space)) = self.spaces.get(&pid) else {
                return;
            };
            if !self.unwinding.step(&mut walk, &space.unwinder) {
                return;
            }
        }
    }

    /// Whether the maps of a process are known; a sample of one whose are not is counted.
    fn reach(&mut self, pid: u32) -> bool {
        self.meet(pid);
        match self.spaces.get(&pid) {
            Some(Some(_)) => return true,
            Some(None) => self.lost.hidden += 1,
            None => self.lost.processes += 1,
        }
        false
    }

    /// Where an address of a process lies, with the unwind information of its file at hand.
    fn place(&mut self, pid: u32, at: u64) -> Option<Place> {
        let space = self.spaces.get_mut(&pid)?.as_mut()?;
        space.place(&self.proc_root, at, &mut self.modules)
    }

    /// Names everything. Takes what it costs to read the symbols of each file that stacks lie in.
    pub fn finish(self) -> Symbols {
        names::finish(&self)
    }
}

/// What `read` gives; nothing if it panics. Libraries that parse files of any make do so over some that
/// are broken (gimli where builds check for overflow), and neither file nor library is ours.
pub(crate) fn unbroken<T>(read: impl FnOnce() -> T) -> Option<T> {
    // What it leaves half done belongs to that file or that stack alone.
    catch_unwind(AssertUnwindSafe(read)).ok()
}

/// The addresses to look up for a chain: the first as it is, those that follow are where calls
/// return to, and the call stands before that.
fn lookup_addresses(chain: &[u64]) -> impl Iterator<Item = u64> {
    chain
        .iter()
        .filter(|ip| **ip < MARKERS)
        .enumerate()
        .map(|(place, ip)| {
            if place == 0 {
                *ip
            } else {
                ip.saturating_sub(1)
            }
        })
}

//! A Go program that runs: which version has built it, and where its list of goroutines lies.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use object::elf::PF_W;
use object::read::ReadCache;
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol, SegmentFlags};

use super::debug_info;
use super::layout::{KNOWN, Layout, minor};
use super::memory::{Range, read, read_one, read_word, word};
use crate::symbols::open_regular;

/// The symbol of the list of all goroutines, a slice of pointers.
const ALL: &str = "runtime.allgs";
/// The symbol of the words for reasons to wait, an array of strings.
const REASONS: &str = "runtime.waitReasonStrings";
/// A reason is one byte.
const MOST_REASONS: usize = 256;
/// The longest words have some thirty letters.
const MOST_REASON_BYTES: usize = 128;
/// Where in the section the version stands, after its length, since Go 1.18 (`debug/buildinfo`).
const VERSION_AT: usize = 32;
/// The flag that it does.
const INLINE: u8 = 2;
/// A longer version is none.
const MOST_VERSION_BYTES: usize = 127;
/// Of a program without symbols at most so much of its data is searched for the list: that of Kubernetes has 20 MB.
const MOST_DATA_BYTES: usize = 64 << 20;
/// More goroutines than this are no list of them.
const MOST_GOROUTINES: u64 = 1 << 24;
/// The number of the second goroutine is not above this: 2, or, where C code is linked in, the first that no processor has been
/// given to hand out (each is given 16).
const SECOND_MOST: u64 = 64;
/// `AT_ENTRY` of the auxiliary vector: where the program begins.
const AT_ENTRY: u64 = 9;
/// The largest auxiliary vector that is read; the kernel's has some hundreds of bytes.
const MOST_AUXV_BYTES: u64 = 4_096;

/// A Go program that runs.
#[derive(Debug)]
pub(super) struct Program {
    /// Where the slice of all goroutines lies.
    pub(super) all: u64,
    pub(super) layout: Layout,
}

/// Why goroutines cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unreadable {
    /// The program file or the memory may not be read.
    #[error("its program cannot be read: {0}")]
    Refused(#[from] io::Error),
    /// It does not say which version has built it.
    #[error("its program does not say which version of Go has built it")]
    NoVersion,
    /// A version that is not known.
    #[error("it was built by {0} without debug information, and the structures of go1.{first} to go1.{last} are known", first = KNOWN[0], last = KNOWN[1])]
    Version(String),
    /// The list was not found.
    #[error("its list of goroutines was not found")]
    NoList,
}

impl Unreadable {
    /// What to try.
    pub(super) const fn remedy(&self) -> &'static str {
        match self {
            Self::Refused(_) => {
                "run slowpath as the server's user (with kernel.yama.ptrace_scope=0, or let slowpath start it) or as root"
            }
            Self::NoVersion | Self::Version(_) => {
                "a build that keeps its debug information (without -ldflags=-w), or a newer slowpath"
            }
            Self::NoList => "a build that keeps its symbols (without -ldflags=-s)",
        }
    }
}

impl Program {
    /// Finds what is needed of process `pid`.
    pub(super) fn open(proc_root: &Path, pid: u32) -> Result<Self, Unreadable> {
        let process = proc_root.join(pid.to_string());
        let file = open_regular(&process.join("exe"))?;
        let cache = ReadCache::new(&file);
        let object = object::File::parse(&cache).map_err(io::Error::other)?;
        let version = version(&object).ok_or(Unreadable::NoVersion)?;
        let entry = entry(&process)?.ok_or(Unreadable::NoList)?;
        // A program may lie anywhere.
        let bias = entry.wrapping_sub(object.entry());
        let layout = minor(&version).and_then(Layout::of).or_else(|| {
            let words = words(pid, &object, bias)?;
            Layout::in_words(&debug_info::structures(&file), &words)
        });
        let layout = layout.ok_or(Unreadable::Version(version))?;
        let named = object.symbols().find(|symbol| symbol.name() == Ok(ALL));
        let named = named.map(|symbol| symbol.address().wrapping_add(bias));
        let is_list = |&at: &u64| {
            let bytes = read_one(pid, at, 24);
            bytes.is_some_and(|bytes| is_list(pid, &layout, slice(&bytes, 0)))
        };
        let all = named.filter(is_list).or_else(|| {
            let segments = object.segments().filter_map(|segment| data(&segment));
            let mut segments = segments.map(|(at, bytes)| (at.wrapping_add(bias), bytes));
            segments.find_map(|(at, bytes)| search(pid, &layout, at, bytes))
        });
        let all = all.ok_or(Unreadable::NoList)?;
        Ok(Self { all, layout })
    }
}

/// What the runtime calls its reasons to wait.
fn words<'a>(pid: u32, object: &impl Object<'a>, bias: u64) -> Option<Vec<String>> {
    let mut symbols = object.symbols();
    let symbol = symbols.find(|symbol| symbol.name() == Ok(REASONS))?;
    let bytes = (symbol.size() as usize).min(16 * MOST_REASONS);
    let table = read_one(pid, symbol.address().wrapping_add(bias), bytes)?;
    let text = |at: usize| {
        let length = (word(&table, at + 8)? as usize).min(MOST_REASON_BYTES);
        let text = read_one(pid, word(&table, at)?, length)?;
        String::from_utf8(text).ok()
    };
    // The first one is empty.
    let all = (0..table.len()).step_by(16);
    Some(all.map(|at| text(at).unwrap_or_default()).collect())
}

/// The version that a program says it was built by.
fn version<'a>(object: &impl Object<'a>) -> Option<String> {
    let section = object.section_by_name(".go.buildinfo")?;
    version_in(section.data().ok()?)
}

fn version_in(info: &[u8]) -> Option<String> {
    if info.get(15)? & INLINE == 0 {
        return None;
    }
    let length = usize::from(*info.get(VERSION_AT)?);
    if length > MOST_VERSION_BYTES {
        return None;
    }
    let text = info.get(VERSION_AT + 1..VERSION_AT + 1 + length)?;
    String::from_utf8(text.to_vec()).ok()
}

/// Where the program begins in memory.
fn entry(process: &Path) -> io::Result<Option<u64>> {
    let mut bytes = Vec::new();
    let file = fs::File::open(process.join("auxv"))?;
    file.take(MOST_AUXV_BYTES).read_to_end(&mut bytes)?;
    let pairs = (0..bytes.len()).step_by(16);
    let mut pairs = pairs.filter_map(|at| Some((word(&bytes, at)?, word(&bytes, at + 8)?)));
    Ok(pairs.find(|(what, _)| *what == AT_ENTRY).map(|(_, at)| at))
}

/// Where data lies that the program changes.
fn data<'a>(segment: &impl ObjectSegment<'a>) -> Option<(u64, usize)> {
    let SegmentFlags::Elf { p_flags, .. } = segment.flags() else {
        return None;
    };
    let bytes = (segment.size() as usize).min(MOST_DATA_BYTES);
    p_flags.contains(PF_W).then(|| (segment.address(), bytes))
}

/// A slice in memory: where its elements lie, how many there are and how many there is room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slice {
    first: u64,
    length: u64,
    room: u64,
}

/// The slice at an offset; zeros beyond the end.
fn slice(bytes: &[u8], at: usize) -> Slice {
    let word = |number: usize| word(bytes, at.saturating_add(8 * number)).unwrap_or(0);
    Slice {
        first: word(0),
        length: word(1),
        room: word(2),
    }
}

impl Slice {
    /// Whether it may be the list of all goroutines: a program has its own and those of the runtime.
    const fn may_be_list(&self) -> bool {
        self.first != 0
            && self.first.is_multiple_of(8)
            && self.length >= 2
            && self.length <= self.room
            && self.room <= MOST_GOROUTINES
    }
}

/// Whether a slice is the list of all goroutines: the first one has the number 1, the second one of those that are given
/// next.
fn is_list(pid: u32, layout: &Layout, slice: Slice) -> bool {
    let id = |place: u64| {
        let g = read_word(pid, slice.first.saturating_add(8 * place))?;
        read_word(pid, g.checked_add(layout.g.id as u64)?)
    };
    let is_second = |id: u64| (2..=SECOND_MOST).contains(&id);
    slice.may_be_list() && id(0) == Some(1) && id(1).is_some_and(is_second)
}

/// Looks for the list of all goroutines in the data of a program without symbols.
fn search(pid: u32, layout: &Layout, at: u64, bytes: usize) -> Option<u64> {
    let memory = read_one(pid, at, bytes)?;
    let offsets = (0..memory.len()).step_by(8);
    let may_be: Vec<(usize, Slice)> = offsets
        .map(|offset| (offset, slice(&memory, offset)))
        .filter(|(_, slice)| slice.may_be_list())
        .collect();
    let firsts: Vec<Range> = may_be
        .iter()
        .map(|(_, slice)| Range {
            address: slice.first,
            bytes: 8,
        })
        .collect();
    let firsts = read(pid, &firsts).ok()?;
    // Of the few that begin with a pointer to something that has the number 1 each is checked.
    let begins = |place: usize| {
        let first = firsts.get(place).and_then(|bytes| word(bytes, 0));
        first.is_some_and(|first| first != 0 && first.is_multiple_of(8))
    };
    let own = may_be
        .iter()
        .enumerate()
        .filter(|(place, _)| begins(*place));
    let mut own = own.map(|(_, found)| found);
    let found = own.find(|(_, slice)| is_list(pid, layout, *slice))?;
    Some(at.saturating_add(found.0 as u64))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_version_stands_behind_its_length() {
        let mut info = b"\xff Go buildinf:\x08\x02".to_vec();
        info.resize(VERSION_AT, 0);
        info.push(8);
        info.extend(b"go1.26.8more");
        assert_eq!(version_in(&info).as_deref(), Some("go1.26.8"));
        info[15] = 0;
        assert_eq!(version_in(&info), None, "as it was before 1.18");
    }

    #[test]
    fn a_list_has_at_least_two_goroutines() {
        let slice = |first, length, room| Slice {
            first,
            length,
            room,
        };
        assert!(slice(0xc000_0000, 5, 8).may_be_list());
        assert!(!slice(0xc000_0000, 1, 8).may_be_list());
        assert!(!slice(0xc000_0000, 9, 8).may_be_list());
        assert!(!slice(0, 5, 8).may_be_list());
        assert!(!slice(0xc000_0001, 5, 8).may_be_list());
    }

    proptest! {
        #[test]
        fn broken_information_tells_nothing_wrong(info: Vec<u8>, at in 0..64_usize) {
            let _ = version_in(&info);
            let _ = slice(&info, at);
        }
    }
}

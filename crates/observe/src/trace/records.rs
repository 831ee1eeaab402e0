//! The records of a perf ring, as `perf_event_open(2)` lays them out under "MMAP layout".
//!
//! Every event is opened with the same head of a sample ([`HEAD`]), so records of all events lie
//! in one ring and each says by its id which event wrote it.

use slowpath_core::Nanos;

// `perf_event_sample_format` of linux/perf_event.h.
const SAMPLE_TID: u64 = 1 << 1;
const SAMPLE_TIME: u64 = 1 << 2;
const SAMPLE_CPU: u64 = 1 << 7;
const SAMPLE_IDENTIFIER: u64 = 1 << 16;
/// The chain of return addresses.
pub const CALLCHAIN: u64 = 1 << 5;
/// The tracepoint's own record.
pub const RAW: u64 = 1 << 10;
/// Registers of the program.
pub const REGS_USER: u64 = 1 << 12;
/// A piece of the program's stack.
pub const STACK_USER: u64 = 1 << 13;
/// What every sample begins with and every other record ends with.
pub const HEAD: u64 = SAMPLE_IDENTIFIER | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CPU;

// `perf_event_type` of linux/perf_event.h.
const LOST: u32 = 2;
const COMM: u32 = 3;
const EXIT: u32 = 4;
const FORK: u32 = 7;
const SAMPLE: u32 = 9;
const LOST_SAMPLES: u32 = 13;
const SWITCH: u32 = 14;
const SWITCH_CPU_WIDE: u32 = 15;
/// Flags of a switch (`PERF_RECORD_MISC_SWITCH_OUT` and `_PREEMPT`).
const SWITCH_OUT: u16 = 1 << 13;
const SWITCH_OUT_PREEMPT: u16 = 1 << 14;

/// Length of a record's header: type, flags, length of the record.
const HEADER_BYTES: usize = 8;
/// Length of what [`HEAD`] puts after a record that is no sample.
const TRAILER_BYTES: usize = 32;

/// Marks in a chain of addresses, `enum perf_callchain_context`: what follows is the kernel's.
const CONTEXT_KERNEL: u64 = -128_i64 as u64;
/// What follows is the program's.
const CONTEXT_USER: u64 = -512_i64 as u64;
/// No mark is below this, and no address above.
const CONTEXT_MAX: u64 = -4095_i64 as u64;

/// A record that is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record<'a> {
    /// An event happened.
    Sample(Sample<'a>),
    /// Records were lost for want of room.
    Lost {
        /// How many.
        count: u64,
    },
    /// A thread got a name.
    Named {
        /// Its process.
        pid: u32,
        /// The thread.
        tid: u32,
        /// The name, without its end.
        name: &'a [u8],
    },
    /// A thread was born.
    Born {
        /// Its process.
        pid: u32,
        /// The process it comes from; the same for a thread.
        parent: u32,
        /// The thread.
        tid: u32,
        /// The thread that made it.
        by: u32,
        /// Where that one ran.
        cpu: u32,
    },
    /// A thread ended.
    Ended {
        /// Its process.
        pid: u32,
        /// The thread.
        tid: u32,
    },
    /// A thread got a CPU or left it.
    Switched {
        /// The thread.
        tid: u32,
        /// Whether it left, and if so, whether it could have gone on.
        left: Option<bool>,
    },
    /// A thread got the CPU that another had.
    Got {
        /// The thread.
        tid: u32,
        /// Its process.
        pid: u32,
        /// On which CPU.
        cpu: u32,
        /// Who had it.
        from: u32,
    },
}

/// An event that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample<'a> {
    /// The event, as `PERF_EVENT_IOC_ID` names it.
    pub id: u64,
    /// The process that was running.
    pub pid: u32,
    /// The thread that was running.
    pub tid: u32,
    /// On which CPU.
    pub cpu: u32,
    /// The tracepoint's record; empty if the event has none.
    pub raw: &'a [u8],
    /// Where the thread stood, if the event says so.
    pub stack: Option<Stack<'a>>,
}

/// Where a thread stood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stack<'a> {
    /// Addresses in the kernel, innermost first.
    pub kernel: Vec<u64>,
    /// Addresses in the program by its frame pointers, innermost first.
    pub user: Vec<u64>,
    /// The registers that were asked for, in the order of their numbers; empty for a thread of
    /// the kernel and for a program of 32 bits.
    pub registers: Vec<u64>,
    /// The stack from the stack pointer on.
    pub dump: &'a [u8],
}

/// What the samples of an event hold after their head.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Shape {
    /// Whether they hold the tracepoint's record.
    pub raw: bool,
    /// Whether they hold a chain, registers and a piece of stack.
    pub stack: bool,
    /// How many registers were asked for.
    pub registers: usize,
}

/// The length of the record that `bytes` begin with; `None` if they hold no whole record.
pub fn length(bytes: &[u8]) -> Option<usize> {
    let length = usize::from(u16::from_ne_bytes(bytes.get(6..8)?.try_into().ok()?));
    (length >= HEADER_BYTES && length <= bytes.len()).then_some(length)
}

/// When the record in `bytes` was written.
pub fn time(bytes: &[u8]) -> Option<Nanos> {
    let mut at = Cursor(bytes.get(..length(bytes)?)?);
    let kind = at.u32()?;
    let ns = if kind == SAMPLE {
        at.skip(HEADER_BYTES - 4 + 8 + 8)?;
        at.u64()?
    } else {
        let end = at.0.len().checked_sub(TRAILER_BYTES - 8)?;
        at.skip(end)?;
        at.u64()?
    };
    Some(Nanos::new(ns))
}

/// Reads the record in `bytes`; `None` if it is of another kind, cut short, or of an event that
/// `shape_of` does not know.
pub fn parse(bytes: &[u8], shape_of: impl Fn(u64) -> Option<Shape>) -> Option<Record<'_>> {
    let mut at = Cursor(bytes.get(..length(bytes)?)?);
    let kind = at.u32()?;
    let flags = at.u16()?;
    at.u16()?;
    match kind {
        SAMPLE => sample(at, shape_of).map(Record::Sample),
        LOST => {
            at.u64()?;
            Some(Record::Lost { count: at.u64()? })
        }
        LOST_SAMPLES => Some(Record::Lost { count: at.u64()? }),
        COMM => {
            let (pid, tid) = (at.u32()?, at.u32()?);
            let name = at.0.get(..at.0.len().checked_sub(TRAILER_BYTES)?)?;
            let end = name.iter().position(|&byte| byte == 0);
            let name = &name[..end.unwrap_or(name.len())];
            Some(Record::Named { pid, tid, name })
        }
        FORK | EXIT => {
            let (pid, parent, tid, by) = (at.u32()?, at.u32()?, at.u32()?, at.u32()?);
            if kind == EXIT {
                return Some(Record::Ended { pid, tid });
            }
            // When it was, and the head of the trailer.
            at.skip(8 + 16)?;
            let cpu = at.u32()?;
            Some(Record::Born {
                pid,
                parent,
                tid,
                by,
                cpu,
            })
        }
        SWITCH => {
            let (_, tid) = (at.u32()?, at.u32()?);
            let left = flags & SWITCH_OUT != 0;
            let left = left.then_some(flags & SWITCH_OUT_PREEMPT != 0);
            Some(Record::Switched { tid, left })
        }
        // The thread that leaves is reported once more with the one that comes.
        SWITCH_CPU_WIDE if flags & SWITCH_OUT == 0 => {
            let (_, from) = (at.u32()?, at.u32()?);
            let (pid, tid) = (at.u32()?, at.u32()?);
            at.skip(8)?;
            let cpu = at.u32()?;
            Some(Record::Got {
                tid,
                pid,
                cpu,
                from,
            })
        }
        _ => None,
    }
}

fn sample(mut at: Cursor<'_>, shape_of: impl Fn(u64) -> Option<Shape>) -> Option<Sample<'_>> {
    let id = at.u64()?;
    let shape = shape_of(id)?;
    let (pid, tid) = (at.u32()?, at.u32()?);
    at.u64()?;
    let cpu = at.u32()?;
    at.u32()?;
    let chain = if shape.stack { at.words()? } else { &[] };
    let raw = if shape.raw {
        let length = at.u32()? as usize;
        at.take(length)?
    } else {
        &[]
    };
    let stack = if shape.stack {
        Some(stack(at, chain, shape.registers)?)
    } else {
        None
    };
    Some(Sample {
        id,
        pid,
        tid,
        cpu,
        raw,
        stack,
    })
}

fn stack<'a>(mut at: Cursor<'a>, chain: &[u8], registers: usize) -> Option<Stack<'a>> {
    /// `PERF_SAMPLE_REGS_ABI_64`: the program has 64 bits, as we have.
    const SAME_WIDTH: u64 = 2;
    let (kernel, user) = split(chain);
    let abi = at.u64()?;
    let words = if abi == 0 { 0 } else { registers };
    let mut registers = at.take(words.checked_mul(8)?)?;
    if abi != SAME_WIDTH {
        registers = &[];
    }
    let size = at.u64()? as usize;
    let dump = at.take(size)?;
    // How much of the dump is there; the field is missing if there is no dump at all.
    let filled = if size == 0 { 0 } else { at.u64()? as usize };
    Some(Stack {
        kernel,
        user,
        registers: words_of(registers).collect(),
        dump: dump.get(..filled.min(size))?,
    })
}

/// Parts a chain at its marks.
fn split(chain: &[u8]) -> (Vec<u64>, Vec<u64>) {
    let (mut kernel, mut user) = (Vec::new(), Vec::new());
    let mut into = None;
    for word in words_of(chain) {
        match word {
            CONTEXT_KERNEL => into = Some(&mut kernel),
            CONTEXT_USER => into = Some(&mut user),
            mark if mark >= CONTEXT_MAX => into = None,
            address => {
                if let Some(part) = &mut into {
                    part.push(address);
                }
            }
        }
    }
    (kernel, user)
}

fn words_of(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes
        .chunks_exact(8)
        .map(|word| u64::from_ne_bytes(word.try_into().expect("a chunk of eight")))
}

/// Bytes that are read from their begin.
#[derive(Clone, Copy)]
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn skip(&mut self, length: usize) -> Option<()> {
        self.take(length).map(|_| ())
    }

    fn u16(&mut self) -> Option<u16> {
        Some(u16::from_ne_bytes(self.take(2)?.try_into().ok()?))
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_ne_bytes(self.take(4)?.try_into().ok()?))
    }

    fn u64(&mut self) -> Option<u64> {
        Some(u64::from_ne_bytes(self.take(8)?.try_into().ok()?))
    }

    /// An array that says its length.
    fn words(&mut self) -> Option<&'a [u8]> {
        let count = self.u64()? as usize;
        self.take(count.checked_mul(8)?)
    }
}

#[cfg(test)]
#[path = "records_tests.rs"]
mod tests;

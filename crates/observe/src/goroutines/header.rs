//! What Go keeps of a goroutine, out of its memory.

use slowpath_core::trace::Does;

use super::layout::Layout;
use super::memory::{half, word};

/// The bit that the collector sets in the status while it looks at a stack (`_Gscan`).
const SCAN: u32 = 0x1000;
/// The states of a goroutine that is there (`_Grunnable` …, `src/runtime/runtime2.go`).
const RUNNABLE: u32 = 1;
const RUNNING: u32 = 2;
const CALL: u32 = 3;
const WAITING: u32 = 4;
const PREEMPTED: u32 = 9;
/// The largest stack that Go lets a goroutine have on a 64-bit machine (`runtime.maxstacksize`).
const MOST_STACK_BYTES: u64 = 1 << 30;

/// A goroutine as it was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// Where it lies.
    pub(super) address: u64,
    pub(super) id: u64,
    pub(super) parent: u64,
    pub(super) does: Does,
    /// Its stack.
    pub(super) low: u64,
    pub(super) high: u64,
    /// Where it stands; zeros where that is not kept, for it runs.
    pub(super) at: Standing,
    /// The first of what it is queued with (`sudog`); 0 for none.
    pub(super) sudog: u64,
}

/// Where a goroutine stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) sp: u64,
    pub(super) pc: u64,
    pub(super) bp: u64,
}

/// Whether a goroutine is there, by its status.
pub(super) const fn is_there(status: u32) -> bool {
    matches!(
        status & !SCAN,
        RUNNABLE | RUNNING | CALL | WAITING | PREEMPTED
    )
}

impl Header {
    /// Understands the begin of a `runtime.g`; `None` if it is none, or ends, begins or is moved.
    pub(super) fn parse(layout: &Layout, address: u64, bytes: &[u8]) -> Option<Self> {
        let g = &layout.g;
        let (low, high) = (word(bytes, 0)?, word(bytes, 8)?);
        let id = word(bytes, g.id).filter(|id| *id != 0)?;
        let sched = Standing {
            sp: word(bytes, g.sp)?,
            pc: word(bytes, g.sp + 8)?,
            bp: word(bytes, g.bp)?,
        };
        let sudog = word(bytes, g.waiting)?;
        let (does, at, sudog) = match half(bytes, g.status)? & !SCAN {
            RUNNING => (Does::Runs, Standing::default(), 0),
            RUNNABLE | PREEMPTED => (Does::Ready, sched, 0),
            CALL => {
                let call = Standing {
                    sp: word(bytes, g.call_sp)?,
                    pc: word(bytes, g.call_sp + 8)?,
                    bp: g.call_bp.map_or(Some(0), |at| word(bytes, at))?,
                };
                (Does::Call, call, 0)
            }
            WAITING => {
                let reason = usize::from(*bytes.get(g.reason)?);
                let does = layout.reasons.get(reason).copied();
                (does.unwrap_or(Does::Waits), sched, sudog)
            }
            _ => return None,
        };
        let is_stack = low < high && high - low <= MOST_STACK_BYTES;
        let stands = does == Does::Runs || (low..high).contains(&at.sp);
        (is_stack && stands).then_some(Self {
            address,
            id,
            parent: word(bytes, g.parent)?,
            does,
            low,
            high,
            at,
            sudog,
        })
    }

    /// Whether it is the same goroutine, and has done nothing since as far as that shows.
    pub(super) fn is_still(&self, other: &Self) -> bool {
        (self.id, self.does, self.at, self.sudog) == (other.id, other.does, other.at, other.sudog)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The memory of a goroutine of Go 1.26.
    fn goroutine(status: u32, reason: u8) -> Vec<u8> {
        let layout = Layout::of(26).unwrap();
        let mut bytes = vec![0; layout.g.bytes()];
        let mut put = |at: usize, word: u64| bytes[at..at + 8].copy_from_slice(&word.to_ne_bytes());
        put(0, 0xc000_0000);
        put(8, 0xc000_2000);
        put(layout.g.sp, 0xc000_1000);
        put(layout.g.sp + 8, 0x40_1000);
        put(layout.g.bp, 0xc000_1010);
        put(layout.g.call_sp, 0xc000_1800);
        put(layout.g.call_sp + 8, 0x40_2000);
        put(layout.g.status, status.into());
        put(layout.g.id, 33);
        put(layout.g.reason, reason.into());
        put(layout.g.parent, 7);
        put(layout.g.waiting, 0xc000_9000);
        bytes
    }

    fn parsed(bytes: &[u8]) -> Option<Header> {
        Header::parse(&Layout::of(26).unwrap(), 0xc0de_0000, bytes)
    }

    #[test]
    fn a_goroutine_that_waits_stands_where_it_was_parked() {
        let found = parsed(&goroutine(WAITING | SCAN, 22)).unwrap();
        assert_eq!((found.id, found.parent, found.does), (33, 7, Does::Lock));
        assert_eq!((found.at.pc, found.sudog), (0x40_1000, 0xc000_9000));
        let call = parsed(&goroutine(CALL, 0)).unwrap();
        assert_eq!(
            (call.does, call.at.pc, call.sudog),
            (Does::Call, 0x40_2000, 0)
        );
        let runs = parsed(&goroutine(RUNNING, 22)).unwrap();
        assert_eq!((runs.does, runs.at), (Does::Runs, Standing::default()));
    }

    #[test]
    fn what_is_no_goroutine_is_none() {
        assert_eq!(parsed(&goroutine(6, 0)), None, "it is dead");
        let mut bytes = goroutine(WAITING, 22);
        bytes[8..16].fill(0);
        assert_eq!(parsed(&bytes), None, "it has no stack");
        assert_eq!(parsed(&goroutine(WAITING, 22)[..200]), None);
    }

    proptest! {
        #[test]
        fn any_memory_is_a_goroutine_or_none(
            bytes in proptest::collection::vec(any::<u8>(), 0..400), at in 0..328_usize, value: u8,
        ) {
            let _ = parsed(&bytes);
            let mut near = goroutine(WAITING, 22);
            near[at] = value;
            if let Some(found) = parsed(&near) {
                prop_assert!((found.low..found.high).contains(&found.at.sp) || found.does == Does::Runs);
            }
        }
    }
}

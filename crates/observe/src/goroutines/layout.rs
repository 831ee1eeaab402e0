//! Where in Go's own structures the fields lie that are read: `src/runtime/runtime2.go`, `chan.go` and `netpoll.go` of Go.

use slowpath_core::trace::Does;

/// Offsets in bytes, for a 64-bit machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) g: G,
    pub(super) sudog: Sudog,
    pub(super) channel: Channel,
    pub(super) poll: Poll,
    /// What a goroutine does that waits, by `g.waitreason`.
    pub(super) reasons: Vec<Does>,
}

/// Offsets in `runtime.g`; `stack` is its first field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct G {
    /// `sched.sp`; `sched.pc` follows.
    pub(super) sp: usize,
    /// `sched.bp`.
    pub(super) bp: usize,
    /// `syscallsp`; `syscallpc` follows.
    pub(super) call_sp: usize,
    /// `syscallbp`, since Go 1.23.
    pub(super) call_bp: Option<usize>,
    /// `atomicstatus`.
    pub(super) status: usize,
    /// `goid`.
    pub(super) id: usize,
    /// `waitreason`, one byte.
    pub(super) reason: usize,
    /// `parentGoid`.
    pub(super) parent: usize,
    /// `waiting`.
    pub(super) waiting: usize,
}

/// Offsets in `runtime.sudog`; `g` is its first field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sudog {
    /// `elem`: of a semaphore its address.
    pub(super) elem: usize,
    /// `waitlink`.
    pub(super) link: usize,
    /// `c`.
    pub(super) channel: usize,
}

/// Offsets in `runtime.hchan`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Channel {
    /// `elemsize`, two bytes.
    pub(super) element: usize,
    /// `timer`, since Go 1.23, and `when` in `runtime.timer`.
    pub(super) timer: Option<Timer>,
}

/// Where a channel says which timer sends on it, and that when it fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Timer {
    /// `timer` in `runtime.hchan`.
    pub(super) at: usize,
    /// `when` in `runtime.timer`.
    pub(super) when: usize,
}

/// Offsets in `runtime.pollDesc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Poll {
    /// `fd`; `fdseq` follows.
    pub(super) fd: usize,
    /// `rg`; `wg` follows.
    pub(super) readers: usize,
}

impl G {
    /// So much of it is read.
    pub(super) const fn bytes(&self) -> usize {
        // It is the last of the fields in all versions.
        self.waiting + 8
    }
}

impl Sudog {
    /// So much of it is read.
    pub(super) const fn bytes(&self) -> usize {
        self.channel + 8
    }
}

impl Channel {
    /// So much of it is read.
    pub(super) const BYTES: usize = 40;
}

impl Poll {
    /// So much of it is read.
    pub(super) const fn bytes(&self) -> usize {
        self.readers + 16
    }
}

/// The first and the last minor version of Go 1 whose structures are known.
pub(super) const KNOWN: [u32; 2] = [22, 26];

impl Layout {
    /// That of a minor version of Go 1, read from the debug information of a program that each of them has built for amd64;
    /// `None` if it is not known.
    pub(super) fn of(minor: u32) -> Option<Self> {
        if !(KNOWN[0]..=KNOWN[1]).contains(&minor) {
            return None;
        }
        // `gobuf` lost a word with 1.25, `sudog` was given two with 1.26.
        let short = if minor >= 25 { 8 } else { 0 };
        let call_bp = (minor >= 23).then_some(128 - short);
        // `syscallbp` came in between.
        let later = if minor >= 23 { 8 } else { 0 };
        let parent = if minor >= 26 { 280 } else { 272 + later - short };
        let wide = minor >= 26;
        Some(Self {
            g: G {
                sp: 56,
                bp: 56 + 48 - short,
                call_sp: 112 - short,
                call_bp,
                status: 144 + later - short,
                id: 152 + later - short,
                reason: 176 + later - short,
                parent,
                waiting: parent + 40,
            },
            sudog: Sudog {
                // Since 1.26 a pointer that the collector sees, and the one that counts behind it.
                elem: if wide { 32 } else { 24 },
                link: if wide { 72 } else { 64 },
                channel: if wide { 96 } else { 80 },
            },
            channel: Channel {
                element: 24,
                timer: (minor >= 23).then_some(Timer {
                    at: 32,
                    when: if minor >= 25 { 24 } else { 16 },
                }),
            },
            poll: Poll { fd: 8, readers: 32 },
            reasons: reasons(minor),
        })
    }
}

/// What a goroutine does, by its reason to wait; the numbers are those of `runtime.waitReason`.
fn reasons(minor: u32) -> Vec<Does> {
    use Does::{
        Collects, Condition, Data, Group, Lock, Receive, Select, Semaphore, Send, Sleep, Waits,
    };
    let mut all = vec![Waits; 256];
    let mut put = |first: usize, does: &[Does]| {
        all[first..first + does.len()].copy_from_slice(does);
    };
    put(1, &[Collects, Data]);
    if minor >= 26 {
        // Garbage collection and its scan; the wait for help.
        put(4, &[Collects, Collects, Waits, Collects]);
        put(13, &[Semaphore, Sleep]);
        put(18, &[Select, Receive, Send, Condition, Lock, Lock, Lock, Group]);
        put(27, &[Collects, Collects]);
        return all;
    }
    put(6, &[Collects, Collects, Waits, Select, Waits, Collects]);
    put(14, &[Receive, Send]);
    let first = if minor >= 25 { 19 } else { 18 };
    put(first, &[Semaphore, Sleep, Condition, Lock, Lock, Lock]);
    if minor >= 24 {
        put(first + 6, &[Group]);
    }
    all
}

/// The minor version in what a program says of the compiler that has built it: `go1.26.8`, `go1.25.3 X:nocoverageredesign`.
pub(super) fn minor(version: &str) -> Option<u32> {
    let rest = version.strip_prefix("go1.")?;
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    rest[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_told_apart() {
        assert_eq!(minor("go1.26.8"), Some(26));
        assert_eq!(minor("go1.25rc1"), Some(25));
        assert_eq!(minor("go1.24 X:boringcrypto"), Some(24));
        assert_eq!(minor("devel go1.27-abc"), None);
        assert_eq!((minor("go1."), minor("")), (None, None));
    }

    #[test]
    fn the_offsets_are_those_of_the_compilers() {
        // Read with debug/dwarf from programs that these have built.
        let of = |minor| {
            let all = Layout::of(minor).unwrap();
            let g = all.g;
            let numbers = [g.bp, g.call_sp, g.status, g.id, g.reason, g.parent, g.waiting];
            (numbers, g.call_bp, all.sudog.channel)
        };
        assert_eq!(of(22), ([104, 112, 144, 152, 176, 272, 312], None, 80));
        assert_eq!(of(23), ([104, 112, 152, 160, 184, 280, 320], Some(128), 80));
        assert_eq!(of(24), of(23));
        assert_eq!(of(25), ([96, 104, 144, 152, 176, 272, 312], Some(120), 80));
        assert_eq!(of(26), ([96, 104, 144, 152, 176, 280, 320], Some(120), 96));
        assert_eq!((Layout::of(21), Layout::of(27)), (None, None));
    }

    #[test]
    fn reasons_are_those_of_the_versions() {
        let of = |minor: u32, reason: usize| reasons(minor)[reason];
        assert_eq!((of(26, 22), of(25, 22), of(24, 21)), (Does::Lock, Does::Lock, Does::Lock));
        assert_eq!((of(26, 14), of(25, 20), of(22, 19)), (Does::Sleep, Does::Sleep, Does::Sleep));
        assert_eq!((of(26, 18), of(23, 9)), (Does::Select, Does::Select));
        assert_eq!((of(26, 25), of(25, 25), of(24, 24)), (Does::Group, Does::Group, Does::Group));
        assert_eq!((of(23, 24), of(26, 2)), (Does::Waits, Does::Data));
        assert_eq!((of(26, 7), of(25, 11)), (Does::Collects, Does::Collects));
    }
}

//! Where in Go's own structures the fields lie that are read: `src/runtime/runtime2.go`, `chan.go` and `netpoll.go` of Go.

use slowpath_core::trace::Does;

use super::debug_info::Structures;

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
    /// So much of it is read: to the end of the field that lies last.
    pub(super) fn bytes(&self) -> usize {
        let all = [
            self.bp,
            self.call_sp + 8,
            self.id,
            self.parent,
            self.waiting,
        ];
        let last = all.into_iter().chain(self.call_bp).max().unwrap_or(0);
        last.max(self.reason) + 8
    }
}

impl Sudog {
    /// So much of it is read.
    pub(super) fn bytes(&self) -> usize {
        self.channel.max(self.link).max(self.elem) + 8
    }
}

impl Channel {
    /// So much of it is read.
    pub(super) fn bytes(&self) -> usize {
        self.element.max(self.timer.map_or(0, |timer| timer.at)) + 8
    }
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
        let parent = if minor >= 26 {
            280
        } else {
            272 + later - short
        };
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
                // Since 1.26 a pointer that the collector sees, and the one that counts after it.
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

impl Layout {
    /// That of a program whose debug information has these structures, and whose runtime gives reasons to wait these words; `None` if
    /// something is missing.
    pub(super) fn in_words(all: &Structures, words: &[String]) -> Option<Self> {
        let field = |of: &str, name: &str| all.get(of)?.field(name);
        let sched = field("runtime.g", "sched")?;
        // Two words where the collector sees one of them: the other one counts.
        let second = |begin: usize, end: usize| begin + end.saturating_sub(begin + 8);
        let elem = field("runtime.sudog", "elem")?;
        let channel = field("runtime.sudog", "c")?;
        let timer = field("runtime.hchan", "timer").zip(field("runtime.timer", "when"));
        Some(Self {
            g: G {
                sp: sched + field("runtime.gobuf", "sp")?,
                bp: sched + field("runtime.gobuf", "bp")?,
                call_sp: field("runtime.g", "syscallsp")?,
                call_bp: field("runtime.g", "syscallbp"),
                status: field("runtime.g", "atomicstatus")?,
                id: field("runtime.g", "goid")?,
                reason: field("runtime.g", "waitreason")?,
                parent: field("runtime.g", "parentGoid")?,
                waiting: field("runtime.g", "waiting")?,
            },
            sudog: Sudog {
                elem: second(elem, field("runtime.sudog", "acquiretime")?),
                link: field("runtime.sudog", "waitlink")?,
                channel: second(channel, all.get("runtime.sudog")?.bytes),
            },
            channel: Channel {
                element: field("runtime.hchan", "elemsize")?,
                timer: timer.map(|(at, when)| Timer { at, when }),
            },
            poll: Poll {
                fd: field("runtime.pollDesc", "fd")?,
                readers: field("runtime.pollDesc", "rg")?,
            },
            reasons: words.iter().map(|word| by_word(word)).collect(),
        })
    }
}

/// What a goroutine does that gives this reason to wait (`waitReasonStrings`).
fn by_word(word: &str) -> Does {
    match word {
        "IO wait" => Does::Data,
        "sleep" => Does::Sleep,
        "semacquire" => Does::Semaphore,
        "sync.Cond.Wait" => Does::Condition,
        "chan send" => Does::Send,
        "chan receive" => Does::Receive,
        "select" => Does::Select,
        _ if word.starts_with("sync.Mutex.") || word.starts_with("sync.RWMutex.") => Does::Lock,
        _ if word.starts_with("sync.WaitGroup.") => Does::Group,
        _ if word.starts_with("GC assist") || word.starts_with("garbage collection") => {
            Does::Collects
        }
        "GC worker (active)" | "GC worker (idle)" => Does::Collects,
        _ => Does::Waits,
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
        put(
            18,
            &[Select, Receive, Send, Condition, Lock, Lock, Lock, Group],
        );
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
    use super::super::debug_info::Structure;
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
            let numbers = [
                g.bp, g.call_sp, g.status, g.id, g.reason, g.parent, g.waiting,
            ];
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
    fn debug_information_tells_what_the_table_does() {
        let structure = Structure::with;
        let g = [
            ("sched", 56),
            ("syscallsp", 104),
            ("syscallbp", 120),
            ("atomicstatus", 144),
            ("goid", 152),
            ("waitreason", 176),
            ("parentGoid", 280),
            ("waiting", 320),
        ];
        let sudog = [
            ("elem", 24),
            ("acquiretime", 40),
            ("waitlink", 72),
            ("c", 88),
        ];
        let mut all = Structures::from([
            ("runtime.g", structure(456, &g)),
            (
                "runtime.gobuf",
                structure(48, &[("sp", 0), ("pc", 8), ("bp", 40)]),
            ),
            ("runtime.sudog", structure(104, &sudog)),
            (
                "runtime.hchan",
                structure(112, &[("elemsize", 24), ("timer", 32)]),
            ),
            ("runtime.timer", structure(96, &[("when", 24)])),
            ("runtime.pollDesc", structure(296, &[("fd", 8), ("rg", 32)])),
        ]);
        let words = [
            "",
            "GC assist marking",
            "IO wait",
            "sync.RWMutex.RLock",
            "select",
        ];
        let told = Layout::in_words(&all, &words.map(str::to_owned)).unwrap();
        let reasons = vec![
            Does::Waits,
            Does::Collects,
            Does::Data,
            Does::Lock,
            Does::Select,
        ];
        assert_eq!(
            told,
            Layout {
                reasons,
                ..Layout::of(26).unwrap()
            }
        );
        all.remove("runtime.g");
        assert_eq!(Layout::in_words(&all, &[]), None);
    }

    #[test]
    fn reasons_are_those_of_the_versions() {
        let of = |minor: u32, reason: usize| reasons(minor)[reason];
        assert_eq!(
            (of(26, 22), of(25, 22), of(24, 21)),
            (Does::Lock, Does::Lock, Does::Lock)
        );
        assert_eq!(
            (of(26, 14), of(25, 20), of(22, 19)),
            (Does::Sleep, Does::Sleep, Does::Sleep)
        );
        assert_eq!((of(26, 18), of(23, 9)), (Does::Select, Does::Select));
        assert_eq!(
            (of(26, 25), of(25, 25), of(24, 24)),
            (Does::Group, Does::Group, Does::Group)
        );
        assert_eq!((of(23, 24), of(26, 2)), (Does::Waits, Does::Data));
        assert_eq!((of(26, 7), of(25, 11)), (Does::Collects, Does::Collects));
    }
}

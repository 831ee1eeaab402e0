//! What runtimes write of their garbage collections: Go (`GODEBUG=gctrace=1`), Java virtual machines
//! (`-Xlog:gc`, `-Xlog:gc*`, `-verbose:gc`) and Node (`--trace-gc`).
//!
//! Only pauses count, in which no thread of the program runs. What a line says is in the clock of
//! its process, which begins with that; when the line came is in ours.

use crate::nanos::{MILLISECOND, Nanos, SECOND, Span};

/// Who wrote a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Collector {
    /// The runtime of Go.
    Go,
    /// A Java virtual machine.
    Jvm,
    /// V8, which Node runs.
    Node,
}

impl Collector {
    /// What people call the log.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Go => "Go's gctrace",
            Self::Jvm => "the Java virtual machine's log",
            Self::Node => "Node's --trace-gc",
        }
    }
}

/// One collection, in the clock of its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GcLine {
    /// Who wrote it.
    pub collector: Collector,
    /// Distinguishes processes and their heaps, where lines do; 0 elsewhere.
    pub heap: u64,
    /// The number of the collection, which grows within a process; 0 where lines have none.
    pub number: u64,
    /// When it was over, from the begin of the process.
    pub end_ns: u64,
    /// How coarse that is.
    pub resolution_ns: u64,
    /// Its pauses: how long before the end each began, and how long it took.
    pub pauses: [Pause; 2],
}

/// A pause, from the end of its collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pause {
    /// How long before the end it began.
    pub before_end_ns: u64,
    /// How long it took; 0 for none.
    pub length_ns: u64,
}

/// The collections of a run's target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GcLog {
    /// The lines and when slowpath read each, in the order of the log.
    pub lines: Vec<(Nanos, GcLine)>,
    /// Whether the log goes on beyond what was looked through.
    pub cut: bool,
}

/// The collection that a line of a log reports; `None` for any other line.
pub fn parse(line: &str) -> Option<GcLine> {
    go(line).or_else(|| jvm(line)).or_else(|| node(line))
}

/// `gc 124 @0.975s 4%: 1.2+2.1+0.003 ms clock, …`: when it began; a pause, work beside the program,
/// another pause (`runtime/extern.go`).
fn go(line: &str) -> Option<GcLine> {
    let (number, rest) = line.strip_prefix("gc ")?.split_once(" @")?;
    let (at, rest) = rest.split_once("s ")?;
    let (_, rest) = rest.split_once("%: ")?;
    let (clock, _) = rest.split_once(" ms clock")?;
    let mut parts = clock.split('+').map(ms);
    let (first, beside, last) = (parts.next()??, parts.next()??, parts.next()??);
    parts.next().is_none().then_some(())?;
    let all_ns = first + beside + last;
    Some(GcLine {
        collector: Collector::Go,
        heap: 0,
        number: number.parse().ok()?,
        end_ns: decimal(at, SECOND)? + all_ns,
        resolution_ns: MILLISECOND,
        pauses: [
            Pause {
                before_end_ns: all_ns,
                length_ns: first,
            },
            Pause {
                before_end_ns: last,
                length_ns: last,
            },
        ],
    })
}

/// `[2.058s][info][gc] GC(1) Pause Young (Normal) (G1 Evacuation Pause) 8M->4M(128M) 8.823ms`: among
/// the decorations the uptime, at the end of the pause (JEP 158).
fn jvm(line: &str) -> Option<GcLine> {
    let mut rest = line;
    let mut uptime = None;
    while let Some((decoration, behind)) = rest.strip_prefix('[').and_then(|r| r.split_once(']')) {
        uptime = uptime.or_else(|| uptime_ns(decoration.trim()));
        rest = behind;
    }
    let (number, what) = rest.trim_start().strip_prefix("GC(")?.split_once(") ")?;
    let length_ns = ms(what
        .trim_start()
        .strip_prefix("Pause ")?
        .rsplit_once(' ')?
        .1
        .strip_suffix("ms")?)?;
    let (end_ns, resolution_ns) = uptime?;
    Some(GcLine {
        collector: Collector::Jvm,
        heap: 0,
        number: number.parse().ok()?,
        end_ns,
        resolution_ns,
        pauses: whole(length_ns),
    })
}

/// The uptime in a decoration of a JVM's log, and how coarse it is: `2.058s`, `2058ms`.
fn uptime_ns(decoration: &str) -> Option<(u64, u64)> {
    let ns = match decoration.strip_suffix("ms") {
        Some(whole) => whole.parse::<u64>().ok()?.checked_mul(MILLISECOND)?,
        None => decimal(decoration.strip_suffix('s')?, SECOND)?,
    };
    Some((ns, MILLISECOND))
}

/// `[22195:0xfaa8c00]       58 ms: Scavenge 3.9 (4.0) -> 3.6 (5.0) MB, 1.33 / 0.00 ms  (average …`: the
/// time since the heap was made, at the end of the pause (V8, `heap/gc-tracer.cc`).
fn node(line: &str) -> Option<GcLine> {
    let (heap, rest) = line.strip_prefix('[')?.split_once(']')?;
    let (pid, address) = heap.split_once(":0x")?;
    let address = u64::from_str_radix(address, 16).ok()?;
    let heap = address ^ pid.parse::<u64>().ok()?.rotate_left(48);
    let (at, what) = rest.trim_start().split_once(" ms: ")?;
    let (_, times) = what.split_once(" MB, ")?;
    let (length, _) = times.split_once(" / ")?;
    // Later versions report more memory in between.
    let length_ns = ms(length.rsplit(' ').next()?)?;
    Some(GcLine {
        collector: Collector::Node,
        heap,
        number: 0,
        end_ns: at.trim().parse::<u64>().ok()?.checked_mul(MILLISECOND)?,
        resolution_ns: MILLISECOND,
        pauses: whole(length_ns),
    })
}

/// The pause that ends with its collection.
fn whole(length_ns: u64) -> [Pause; 2] {
    let pause = Pause {
        before_end_ns: length_ns,
        length_ns,
    };
    [pause, Pause::default()]
}

fn ms(text: &str) -> Option<u64> {
    decimal(text, MILLISECOND)
}

/// A decimal number of units of so many nanoseconds; at most a hundred days.
fn decimal(text: &str, unit_ns: u64) -> Option<u64> {
    const LONGEST_NS: f64 = 100.0 * 86_400.0 * 1e9;
    let plain = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let value: f64 = text.parse().ok().filter(|_| plain)?;
    let ns = value * unit_ns as f64;
    (ns <= LONGEST_NS).then(|| ns.round() as u64)
}

impl GcLine {
    /// The pauses in our clock, if the process began at `begin`.
    pub fn spans(&self, begin: Nanos) -> impl Iterator<Item = Span> {
        let end = begin.plus(self.end_ns);
        let pauses = self.pauses.into_iter().filter(|pause| pause.length_ns > 0);
        pauses.map(move |pause| {
            let from = end.minus(pause.before_end_ns);
            Span::new(from, from.plus(pause.length_ns))
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Lines of Go 1.26, OpenJDK 17 and Node 20.
    const GO: &str = "gc 124 @0.975s 4%: 1.2+2.1+0.003 ms clock, 2.4+0.009/2.2/0+0.007 ms cpu, \
        33->43->23 MB, 39 MB goal, 0 MB stacks, 0 MB globals, 2 P";
    const JVM: &str = "[2.058s][info][gc] GC(1) Pause Young (Normal) (G1 Evacuation Pause) \
        8M->4M(128M) 8.823ms";
    const NODE: &str = "[22354:0x3a898c00]     1243 ms: Mark-Compact 99.6 (132.2) -> 11.6 (47.2) MB, \
        11.62 / 0.00 ms  (+ 17.8 ms in 7 steps since start of marking, biggest step 14.4 ms)";

    fn pauses(line: &str) -> Vec<(u64, u64)> {
        let begin = Nanos::new(SECOND);
        let line = parse(line).unwrap();
        let us = |at: Nanos| (at.get() - SECOND) / 1000;
        line.spans(begin)
            .map(|s| (us(s.begin), us(s.end)))
            .collect()
    }

    #[test]
    fn pauses_lie_where_each_runtime_says() {
        assert_eq!(pauses(GO), [(975_000, 976_200), (978_300, 978_303)]);
        assert_eq!(pauses(JVM), [(2_049_177, 2_058_000)]);
        assert_eq!(pauses(NODE), [(1_231_380, 1_243_000)]);
        let decorated = "[2026-11-22T01:04:07.301+0000][2.340s][info][gc          ] GC(0) Pause \
            Young (Allocation Failure) 17M->4M(61M) 73.460ms";
        assert_eq!(pauses(decorated), [(2_266_540, 2_340_000)]);
        let zgc = "[1585ms][info][gc,phases   ] GC(0) Pause Mark End 0.015ms";
        assert_eq!(pauses(zgc), [(1_584_985, 1_585_000)]);
        let later =
            "[1:0x7f]  8 ms: Scavenge 3.9 (4.0) -> 3.6 (5.0) MB, pooled: 0 MB, 1.50 / 0.00 ms";
        assert_eq!(pauses(later), [(6_500, 8_000)]);
    }

    #[test]
    fn what_is_no_pause_is_none() {
        let others = [
            "",
            "listening on 8080",
            "gc is slow @ noon",
            "[3.401s][info][gc,start       ] GC(4) Pause Young (Normal) (G1 Evacuation Pause)",
            "[3.408s][info][gc,cpu         ] GC(4) User=0.00s Sys=0.01s Real=0.01s",
            "[3.408s][info][gc,phases      ] GC(4)   Evacuate Collection Set: 6.7ms",
            "[3.408s][info][gc             ] GC(7) Concurrent Mark Cycle 12.3ms",
            "[info][gc] GC(1) Pause Young (Normal) 8M->4M(128M) 8.823ms",
            "gc 1 @0.1s 4%: 1.2+2.1 ms clock",
            "gc 1 @1e400s 4%: 1+1+1 ms clock",
            "[1:0x1] 5 ms: Scavenge MB, -1 / 0 ms",
        ];
        for line in others {
            assert_eq!(parse(line), None, "{line}");
        }
    }

    proptest! {
        #[test]
        fn no_line_breaks_it(
            text in "(gc [0-9]{1,20} @|\\[[0-9.sm]{0,22}\\]|\\[[0-9]{1,20}:0x[0-9a-f]{1,20}\\] | MB, |GC\\(|\
                \\) Pause |s [0-9]%: |[0-9.+]{0,24}| ms clock| ms: | / |ms|.){0,10}",
        ) {
            if let Some(line) = parse(&text) {
                for span in line.spans(Nanos::new(SECOND)) {
                    prop_assert!(span.begin <= span.end);
                }
            }
        }
    }
}

//! What profiles of the simulated server would have shown, were it written in Go.

use std::collections::BTreeMap;

use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::profiles::{CodeLine, Dump, Profiles, Release, Standing};

use super::acts::{Act, Did};
use super::sim::Run;
use super::spec::{Case, Holder};

/// From asking for a dump to its last byte.
const TAKES_NS: u64 = 300_000;
/// What answers a request.
const SERVES: &str = "net/http.(*conn).serve:2067";

/// The profiles of a run; empty if the case has none.
pub(super) fn profiles(case: &Case, run: &Run) -> Profiles {
    let Some(profiled) = &case.profiles else {
        return Profiles::default();
    };
    let mut tables = Tables::default();
    let mut acts: Vec<&Did> = run.seen.acts.iter().collect();
    acts.sort_by_key(|did| (did.begin, did.end, did.tid));
    let longest = acts
        .iter()
        .map(|did| did.end - did.begin)
        .max()
        .unwrap_or(0);
    for (repeat, facts) in (0..).zip(&run.repeats) {
        let window = facts.window;
        let mut at = window.begin.get();
        while at < window.end.get() {
            let from = acts.partition_point(|did| did.begin + longest < at);
            let near = acts[from..].iter().take_while(|did| did.begin <= at);
            let mut standing: BTreeMap<u32, u32> = BTreeMap::new();
            for did in near.filter(|did| at < did.end) {
                if let Some(text) = stands(case, did) {
                    *standing.entry(tables.stack(&text)).or_default() += 1;
                }
            }
            let standing = standing.into_iter();
            let span = Span::new(Nanos::new(at), Nanos::new(at + TAKES_NS));
            tables.all.dumps.push(Dump {
                repeat,
                span,
                standing: standing
                    .map(|(stack, goroutines)| Standing { stack, goroutines })
                    .collect(),
            });
            // As good as drawn: the golden ratio keeps to no rhythm of a case.
            let number = tables.all.dumps.len() as f64;
            let part = 0.5 + (number * 0.618_033_988_75).fract();
            at += (profiled.every.0 as f64 * part) as u64 + TAKES_NS;
        }
        if profiled.locks {
            releases(case, run, repeat, window, &mut tables);
        }
    }
    tables.all
}

/// Whose letting go of the lock ended waits: each wait is parted among those who had it.
fn releases(case: &Case, run: &Run, repeat: u16, window: Span, tables: &mut Tables) {
    let mut charged: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let waits = run.seen.acts.iter();
    for did in waits.filter(|did| matches!(did.act, Act::Waits(_))) {
        let wait = Span::new(Nanos::new(did.begin), Nanos::new(did.end));
        let Some(wait) = wait.intersect(window) else {
            continue;
        };
        for (tid, kept) in &run.seen.owned {
            let overlap_ns = kept.overlap_ns(wait);
            let condition = holder(case, *tid).is_some_and(|holder| holder.condition);
            if overlap_ns > 0 && !condition {
                let own = charged.entry(lets_go(case, *tid)).or_default();
                *own = (own.0 + 1, own.1 + overlap_ns);
            }
        }
    }
    for (text, (count, delay_ns)) in charged {
        let stack = tables.stack(&text);
        tables.all.releases.push(Release {
            repeat,
            stack,
            count,
            delay_ns,
        });
    }
}

fn holder(case: &Case, tid: u32) -> Option<&Holder> {
    let number = tid.checked_sub(Did::tid(Did::HOLDERS))?;
    case.holder.get(number as usize)
}

fn lets_go(case: &Case, tid: u32) -> String {
    match holder(case, tid) {
        Some(holder) => format!(
            "sync.(*Mutex).Unlock:65 main.{}:39 main.background:45",
            holder.function
        ),
        None => format!("sync.(*Mutex).Unlock:65 main.handle:23 {SERVES}"),
    }
}

/// Where a goroutine stands, innermost first; `None` if it does nothing of its own.
fn stands(case: &Case, did: &Did) -> Option<String> {
    let sleeps = "runtime.gopark:462 time.Sleep:363";
    let receives = "runtime.gopark:462 internal/poll.runtime_pollWait:351 net.(*conn).Read:196";
    Some(match &did.act {
        Act::Holds => {
            let holder = holder(case, did.tid)?;
            let inner = match holder.call.as_str() {
                "cpu" => "main.work:12",
                "recvfrom" => receives,
                _ => sleeps,
            };
            format!("{inner} main.{}:38 main.background:45", holder.function)
        }
        Act::Waits(_) => {
            // As in a trace of such a case: no thread waits for anything else.
            let inner = if case.holder.iter().any(|holder| holder.condition) {
                "sync.runtime_notifyListWait:606 sync.(*Cond).Wait:71"
            } else {
                "sync.runtime_SemacquireMutex:95 sync.(*Mutex).lockSlow:149 sync.(*Mutex).Lock:46"
            };
            format!("runtime.gopark:462 {inner} main.handle:20 {SERVES}")
        }
        Act::Locked => format!("main.work:12 main.handle:22 {SERVES}"),
        Act::Runs | Act::TakenUp | Act::Ready(_) => format!("main.handle:15 {SERVES}"),
        Act::Asks => format!("runtime.gopark:462 runtime.chanrecv:667 main.handle:17 {SERVES}"),
        Act::Calls(name) if name.contains("nanosleep") => {
            format!("{sleeps} main.handle:18 {SERVES}")
        }
        Act::Calls(_) => format!("{receives} main.handle:19 {SERVES}"),
        Act::Arrived(_) | Act::Read(_) | Act::Wrote(_) | Act::Sends(..) | Act::Gets(_) => {
            return None;
        }
    })
}

#[derive(Default)]
struct Tables {
    all: Profiles,
    stacks: BTreeMap<String, u32>,
}

impl Tables {
    /// The position of a stack of `function:line` words, innermost first.
    fn stack(&mut self, text: &str) -> u32 {
        if let Some(&stack) = self.stacks.get(text) {
            return stack;
        }
        let lines = text.split(' ').map(|word| {
            let (function, line) = word.rsplit_once(':').expect("each word has a line");
            CodeLine {
                function: function.to_owned(),
                file: "main.go".to_owned(),
                line: line.parse().expect("a line is a number"),
            }
        });
        let first = self.all.lines.len() as u32;
        self.all.lines.extend(lines);
        let stack = self.all.stacks.len() as u32;
        self.all
            .stacks
            .push((first..self.all.lines.len() as u32).collect());
        self.stacks.insert(text.to_owned(), stack);
        stack
    }
}

//! What tracing showed of the target's inside, in sentences.

use slowpath_core::trace::Depth;
use slowpath_diagnose::diagnosis::{
    AttributionLine, ChainNode, ChainTree, Diagnosis, EndpointInside, FrameAttribution, NodeKind,
    Place, TraceView,
};

use crate::quantity;

/// Lines of the attribution that are printed; the others are in the report.
const LINES_TOLD: usize = 5;

/// A line is worth its place from this share of the excess on.
const LINE_FROM: f64 = 0.03;

/// What the attribution calls the parts that it does not list.
const SMALLER: &str = "smaller parts";

/// What is left is printed from this share on: less is rounding.
const LINE_LEFT: f64 = 0.005;

/// A chain is worth its place from this share of the excess on.
const CHAIN_FROM: f64 = 0.05;

/// How functions begin that say little of who called them: those of standard libraries and
/// runtimes. They are passed over between the innermost function and the program's own.
const PLUMBING: [&str; 12] = [
    "_", "std::", "core::", "alloc::", "tokio::", "pthread_", "runtime.", "java.", "jdk.",
    "node::", "uv_", "Py",
];

/// A way to spend time: a thread at the end of chains of threads that wait for each other.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Chain {
    /// Its share of what slow requests take longer.
    pub(crate) share: f64,
    /// The thread at the end.
    thread: String,
    /// What it does.
    doing: String,
    /// The fewest and the most threads that wait for it one after the other, the request's own
    /// among them; `None` if it is the request's own.
    waiters: Option<(usize, usize)>,
}

/// The endpoint's name, with that of its pass.
pub(crate) fn label(inside: &EndpointInside) -> String {
    match &inside.pass {
        Some(pass) => format!("{} ({pass})", inside.name),
        None => inside.name.clone(),
    }
}

/// Where the time of what a question is about went, in a few lines: the attribution.
pub(crate) fn told(diagnosis: &Diagnosis, endpoint: Option<&str>, place: Place) -> Vec<String> {
    let label = |one: &FrameAttribution| match &one.pass {
        Some(pass) => format!("{} ({pass})", one.endpoint),
        None => one.endpoint.clone(),
    };
    let mut frames = diagnosis
        .attribution
        .iter()
        .filter(|one| one.place == place);
    let frame = match endpoint {
        Some(endpoint) => frames.find(|one| label(one) == endpoint),
        None => frames.next().filter(|_| frames.next().is_none()),
    };
    let lines = frame.map_or(&[][..], |frame| frame.lines.as_slice());
    let worth = |line: &&AttributionLine| line.share >= LINE_FROM && line.text != SMALLER;
    let mut printed: Vec<String> = Vec::new();
    let mut left: f64 = lines.iter().map(|line| line.share).sum();
    for line in lines.iter().filter(worth).take(LINES_TOLD) {
        left -= line.share;
        printed.push(format!("{} {}", quantity::percent(line.share), line.text));
    }
    if left >= LINE_LEFT && !printed.is_empty() {
        printed.push(format!("{} {SMALLER}", quantity::percent(left)));
    }
    printed
}

/// `61 % flusher: clock_nanosleep < flush_locked, through 1-4 waiters`.
pub(crate) fn chain(chain: &Chain) -> String {
    let share = quantity::percent(chain.share);
    let through = match chain.waiters {
        None => String::new(),
        Some((low, high)) if low == high => {
            format!(", through {}", quantity::plural(high as u64, "waiter"))
        }
        Some((low, high)) => format!(", through {low}-{high} waiters"),
    };
    format!("{share} {}: {}{through}", chain.thread, chain.doing)
}

/// The ends of the chains, those of one thread doing one thing taken together, largest first.
pub(crate) fn chains(tree: &ChainTree) -> Vec<Chain> {
    let mut chains = Vec::new();
    for node in &tree.nodes {
        collect(node, 0, "", &mut chains);
    }
    // What no thread works on is shown by the parts of the request.
    chains.retain(|chain| chain.share >= CHAIN_FROM && !chain.thread.is_empty());
    chains.sort_by(|a, b| b.share.total_cmp(&a.share));
    chains
}

/// Adds the leaves below a node that has so many threads above it, the last of which has a name.
fn collect(node: &ChainNode, threads: usize, last: &str, chains: &mut Vec<Chain>) {
    let is_thread = node.kind == NodeKind::Thread;
    let threads = threads + usize::from(is_thread);
    let last = if is_thread { &node.thread } else { last };
    for child in &node.children {
        collect(child, threads, last, chains);
    }
    let is_leaf = !is_thread && !matches!(node.kind, NodeKind::Segment(_));
    if !is_leaf && !node.children.is_empty() {
        return;
    }
    // A leaf that is split further has shown its parts already.
    let below: f64 = node.children.iter().map(|child| child.share).sum();
    let share = node.share - below;
    let thread = if node.thread.is_empty() {
        last
    } else {
        &node.thread
    };
    let doing = in_short(node);
    let waiters = threads.checked_sub(1).filter(|&waiters| waiters > 0);
    let same = |one: &&mut Chain| {
        let own = one.waiters.is_none() == waiters.is_none();
        own && one.thread == thread && one.doing == doing
    };
    if let Some(known) = chains.iter_mut().find(same) {
        known.share += share;
        let widened = |(low, high): (usize, usize)| {
            let of = waiters.unwrap_or(low);
            (low.min(of), high.max(of))
        };
        known.waiters = known.waiters.map(widened);
    } else {
        chains.push(Chain {
            share,
            thread: thread.to_owned(),
            doing,
            waiters: waiters.map(|waiters| (waiters, waiters)),
        });
    }
}

/// Where a leaf stands: its innermost function and the program's own that led to it, or what it
/// is in words.
fn in_short(node: &ChainNode) -> String {
    // A function of a program has its module or source after it; the kernel's have nothing.
    let mut program = node.stack.iter().filter_map(|frame| {
        let (function, _) = frame.rsplit_once(" (")?;
        Some(function)
    });
    let Some(innermost) = program.next() else {
        return node.label.clone();
    };
    let plumbing = |function: &str| {
        let name = function.trim_start_matches('<');
        PLUMBING.iter().any(|begin| name.starts_with(begin))
    };
    match program.find(|function| !plumbing(function)) {
        Some(own) => format!("{innermost} < {}", own.trim_end_matches("::{{closure}}")),
        None => innermost.to_owned(),
    }
}

/// What was traced and joined, what tracing cost, and what was lost.
pub(crate) fn traced(view: &TraceView) -> Vec<String> {
    let how = match view.depth {
        Depth::Off => "",
        Depth::Threads => ", without which thread woke which, and which one read which request",
        Depth::Light => ", without stacks",
        Depth::Full => ", in part with stacks",
    };
    let traced = format!(
        "{} of the measured time{how}",
        quantity::percent(view.traced)
    );
    let joined = format!(
        "; {} of {} requests in it joined with the server's threads ({})",
        quantity::count(view.joined),
        quantity::count(view.within),
        quantity::served(share(view.joined, view.within)),
    );
    let mut lines = vec![if view.depth.has_wakers() {
        traced + &joined
    } else {
        traced
    }];
    lines.push(match &view.shift {
        Some(shift) => format!(
            "tracing moved p50 by {} [{}, {}]",
            signed(shift.shift),
            bare(shift.shift_low),
            bare(shift.shift_high)
        ),
        None => "what tracing cost is not known: too few requests were left untraced".to_owned(),
    });
    if view.lost > 0 {
        lines.push(format!(
            "{} of {} trace records lost: what threads did then is known in part",
            quantity::count(view.lost),
            quantity::count(view.events + view.lost)
        ));
    }
    lines
}

fn share(part: u64, of: u64) -> f64 {
    if of == 0 {
        0.0
    } else {
        part as f64 / of as f64
    }
}

/// A change in per cent with its sign.
fn signed(change: f64) -> String {
    format!("{} %", bare(change))
}

fn bare(change: f64) -> String {
    let percent = change * 100.0;
    let places = usize::from(percent.abs() < 9.95);
    let text = format!("{percent:+.places$}");
    let zero = text.trim_start_matches(['+', '-']).trim_matches(['0', '.']);
    if zero.is_empty() {
        return "0".to_owned();
    }
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_have_a_sign_and_no_needless_zeros() {
        let told = [0.02, -0.011, 0.0, 0.0004, 0.234, -0.1].map(signed);
        assert_eq!(told, ["+2 %", "-1.1 %", "0 %", "0 %", "+23 %", "-10 %"]);
    }
}

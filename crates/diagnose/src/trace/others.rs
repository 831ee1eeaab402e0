//! What threads of other programs wait for.

use slowpath_core::nanos::MILLISECOND;
use slowpath_core::trace::{Call, Context, NO_STACK};

use super::index::{Off, Why};
use super::inside::Inside;

/// Whether a thread waits for a time to come: timers of the kernel fire in the hard interrupt.
pub(crate) fn waits_for_time(inside: &Inside<'_>, off: &Off) -> bool {
    let call = inside.stacks.call_in(off);
    call == Some(Call::Sleep) || off.context == Some(Context::Hardirq) && call == Some(Call::Poll)
}

/// A wait that is taken up again so soon, at the same place, is one wait: a session of PostgreSQL that waits for a lock looks for
/// deadlocks when `deadlock_timeout` is over, and goes on waiting.
const AGAIN_NS: u64 = MILLISECOND;

fn waits(offs: &[Off]) -> impl DoubleEndedIterator<Item = &Off> {
    offs.iter().filter(|off| off.why != Why::Preempted)
}

/// Whether a wait of a thread is taken up again by the next one: it has read and written nothing in between.
fn is_one(inside: &Inside<'_>, tid: u32, before: &Off, next: &Off) -> bool {
    let soon = next.begin.saturating_sub(before.end) <= AGAIN_NS;
    let is_same = before.stack == next.stack && before.stack != NO_STACK;
    soon && is_same && inside.index.marks(tid, before.end, next.begin).is_empty()
}

/// The wait of a thread that a time is a part of; the time itself, if it is no part of one.
pub(crate) fn whole_wait(inside: &Inside<'_>, tid: u32, span: (u64, u64)) -> (u64, u64) {
    let index = &inside.index;
    let around = waits(index.offs(tid, span.0, span.1)).next();
    let Some(&around) = around.filter(|off| off.begin <= span.0 && off.end >= span.1) else {
        return span;
    };
    let (mut first, mut last) = (around, around);
    for off in waits(index.offs(tid, 0, around.begin)).rev() {
        if !is_one(inside, tid, off, &first) {
            break;
        }
        first = *off;
    }
    for off in waits(index.offs(tid, around.end, u64::MAX)) {
        if !is_one(inside, tid, &last, off) {
            break;
        }
        last = *off;
    }
    (first.begin, last.end)
}

/// The thread of the same program that ends the longest wait of a thread in a time, and when that wait is.
pub(crate) fn session_before(
    inside: &Inside<'_>,
    tid: u32,
    (begin, end): (u64, u64),
) -> Option<(u32, (u64, u64))> {
    if inside.index.parks(tid) {
        return None;
    }
    let waits: Vec<&Off> = waits(inside.index.offs(tid, begin, end)).collect();
    let within = |wait: &[&Off]| (wait[0].begin.max(begin), wait[wait.len() - 1].end.min(end));
    let length = |wait: &[&Off]| within(wait).1.saturating_sub(within(wait).0);
    let longest = waits
        .chunk_by(|before, next| is_one(inside, tid, before, next))
        .max_by_key(|wait| length(wait))?;
    let holder = longest.last()?.woken_by()?;
    let is_session = holder != tid
        && inside.process_name(holder) == inside.process_name(tid)
        && !inside.is_targets(holder)
        && length(longest) > 0;
    is_session.then(|| (holder, within(longest)))
}

//! What threads of other programs wait for.

use slowpath_core::trace::{Call, Context};

use super::index::Off;
use super::inside::Inside;

/// Whether a thread waits for a time to come: timers of the kernel fire in the hard interrupt.
pub(crate) fn waits_for_time(inside: &Inside<'_>, off: &Off) -> bool {
    let call = inside.stacks.call_in(off);
    call == Some(Call::Sleep) || off.context == Some(Context::Hardirq) && call == Some(Call::Poll)
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
    let offs = inside.index.offs(tid, begin, end);
    let within = |off: &Off| (off.begin.max(begin), off.end.min(end));
    let length = |off: &Off| within(off).1.saturating_sub(within(off).0);
    let longest = offs.iter().max_by_key(|off| length(off))?;
    let holder = longest.woken_by()?;
    let is_session = holder != tid
        && inside.process_name(holder) == inside.process_name(tid)
        && !inside.is_targets(holder)
        && length(longest) > 0;
    is_session.then(|| (holder, within(longest)))
}

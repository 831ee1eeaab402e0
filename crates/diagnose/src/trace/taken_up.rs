//! Whether the threads that took new connections up were free while these waited to be accepted.
//!
//! Who accepts is not recorded. But a thread that was born for the connection, or waited for work until
//! another thread woke it, kept no request waiting: the server had it, and it was accepting that was late.

use slowpath_core::nanos::MILLISECOND;
use slowpath_core::trace::Call;

use super::index::{State, Why};
use super::inside::Inside;
use super::looked::Looked;
use super::pool::Pool;
use crate::diagnosis::Phase;
use crate::verdict::Claim;

/// Fewer connections that were followed are no picture.
const FOLLOWED_LEAST: usize = 20;
/// Shorter waits are those of threads that are woken.
const LONG_NS: u64 = MILLISECOND;
/// A thread that did something for so much of the time was not free.
const BUSY_MOST: f64 = 0.1;

/// The share of these waits, by time, in which the thread that read the request then was free; `None` if too
/// few were followed, or if a runtime keeps in user space what waits. The claims are by position.
pub(crate) fn readers_were_free(looked: &Looked<'_>, claims: &[Claim]) -> Option<f64> {
    let (mut followed_long, mut free, mut all) = (0_usize, 0_u64, 0_u64);
    for (reader, begin, end) in followed(looked, claims) {
        let process = looked.inside.index.trace.process_of(reader);
        if process.is_none_or(|process| process.runtime.parks_in_user_space()) {
            return None;
        }
        let ns = end - begin;
        followed_long += usize::from(ns >= LONG_NS);
        all += ns;
        free += if is_free(looked.inside, reader, begin, end) {
            ns
        } else {
            0
        };
    }
    (followed_long >= FOLLOWED_LEAST).then(|| free as f64 / all.max(1) as f64)
}

/// The share of these waits in which all threads that serve one request after the other had one.
pub(crate) fn all_were_busy(looked: &Looked<'_>, claims: &[Claim]) -> f64 {
    let pool = Pool::of(looked.inside);
    if pool.is_empty() {
        return 0.0;
    }
    let (mut full, mut all) = (0_u64, 0_u64);
    for (_, begin, end) in followed(looked, claims) {
        all += end - begin;
        let times = pool.full(begin, end).into_iter();
        full += times.map(|(begin, end)| end - begin).sum::<u64>();
    }
    full as f64 / all.max(1) as f64
}

/// The waits that were followed: who read the request then, and the begin and end of the wait.
fn followed<'b>(
    looked: &'b Looked<'_>,
    claims: &'b [Claim],
) -> impl Iterator<Item = (u32, u64, u64)> + 'b {
    looked.join.walked.iter().filter_map(|walked| {
        let joined = &walked.joined;
        let place = claims.binary_search_by_key(&joined.sample, |claim| claim.sample);
        let span = claims.get(place.ok()?)?.span;
        let (_, read) = joined.part(Phase::Unread);
        let (begin, end) = (span.begin.get(), span.end.get().min(read));
        (begin < end).then_some((joined.reader, begin, end))
    })
}

/// Whether a thread was not there yet, or waited until another one gave it something to do.
fn is_free(inside: &Inside<'_>, tid: u32, begin: u64, end: u64) -> bool {
    let index = &inside.index;
    let is_new = index.is_new(tid, begin);
    let slices = index.slices(tid, begin, end).into_iter();
    let busy = slices.filter(|slice| match slice.state {
        State::Unknown => !is_new,
        State::Blocked(off) => {
            let for_work = inside.stacks.call_in(off) == Some(Call::Futex);
            !(for_work && off.why == Why::Sleeping && off.woken_by().is_some())
        }
        State::Run | State::Ready(_) | State::Gone => true,
    });
    let busy: u64 = busy.map(|slice| slice.end - slice.begin).sum();
    index.marks(tid, begin, end).is_empty() && busy as f64 <= BUSY_MOST * (end - begin) as f64
}

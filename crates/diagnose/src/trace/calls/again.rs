//! Questions that a request asks again after a pause: the next that it asks any server goes to the same server
//! and is as long, and between the two it waited for nothing but a time.

use std::net::SocketAddr;

use slowpath_core::nanos::MILLISECOND;
use slowpath_core::trace::{Call, Context};

use super::Calls;
use super::questions::{Fate, Question, Questions};
use crate::diagnosis::Phase;
use crate::trace::index::State;
use crate::trace::inside::{Inside, Walked};
use crate::trace::pieces::{Behalf, LeafKind};

/// A shorter pause is the time that asking takes.
const PAUSE_LEAST_NS: u64 = MILLISECOND;
/// From this share of it on a pause is what the thread waits for, and no work or other wait beside it.
const SLEPT_LEAST: f64 = 0.5;
/// A program that asks again does so at most so long after the timer that ends the pause: as long as a connection
/// takes to be made within a region.
const LED_WITHIN_NS: u64 = 20 * MILLISECOND;

/// A question was asked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Again {
    /// From when on the request waited to ask again: after the answer, or from the first question on where
    /// there was none.
    pub(crate) begin: u64,
    /// When it was asked again.
    pub(crate) end: u64,
    pub(crate) remote: SocketAddr,
    /// What had become of the question before.
    pub(crate) fate: Fate,
}

impl Again {
    /// How long it was waited.
    pub(crate) const fn len_ns(&self) -> u64 {
        self.end.saturating_sub(self.begin)
    }
}

/// What is known of a request.
pub(crate) struct Told {
    pub(crate) again: Vec<Again>,
    /// Whether it asks a server the same twice, with a pause or without.
    pub(crate) repeats: bool,
    /// Which servers it asks.
    pub(crate) asked: Vec<SocketAddr>,
}

/// What a request asked again; `None` if it is not known what it asked.
pub(crate) fn told(
    questions: &Questions,
    calls: &Calls,
    inside: &Inside<'_>,
    walked: &Walked,
) -> Option<Told> {
    if inside.is_shared(walked) {
        return of_many(questions, calls, inside, walked);
    }
    let tid = walked.joined.writer;
    let (begin, end) = (
        inside.own_since(tid, walked),
        walked.joined.part(Phase::Service).1,
    );
    // Where another thread asks for those that serve, what it asks may be for any request.
    let is_anybodys = |question: &Question| !calls.background.contains(&question.remote);
    if !questions.asks(tid) && questions.during(begin, end).iter().any(is_anybodys) {
        return None;
    }
    let own = questions.of_thread(tid, begin, end);
    let mut told = Told::of(&own);
    let pauses = own.windows(2).filter_map(|pair| pause(questions, pair));
    told.again.extend(pauses.filter(|again| {
        let asleep = asleep_ns(inside, walked, again) as f64;
        asleep >= SLEPT_LEAST * again.len_ns() as f64
    }));
    Some(told)
}

/// The same in a loop, or in a runtime that parks what waits: many requests ask there at once. Of one that has
/// the target for itself all is its own that goes where its first question goes, or its last. Of others those
/// two alone are known.
fn of_many(
    questions: &Questions,
    calls: &Calls,
    inside: &Inside<'_>,
    walked: &Walked,
) -> Option<Told> {
    let (begin, end) = walked.joined.part(Phase::Service);
    let all = questions.during(begin, end).iter().copied();
    let is_anybodys = |question: &Question| !calls.background.contains(&question.remote);
    let all: Vec<Question> = all.filter(is_anybodys).collect();
    if all.is_empty() {
        return Some(Told::of(&[]));
    }
    let first = questions.first_step(inside, walked);
    let last = questions.last_step(inside, calls, walked);
    let alone = calls.is_alone(walked);
    let own: Vec<Question> = if alone {
        let is_own = |question: &Question| {
            let mut ends = [first, last].into_iter().flatten();
            ends.any(|end| end.remote.port() == question.remote.port())
        };
        all.into_iter().filter(is_own).collect()
    } else {
        let (first, last) = (first?, last?);
        if first == last {
            vec![first]
        } else if first.is_like(&last) {
            vec![first, last]
        } else {
            return None;
        }
    };
    if own.is_empty() {
        return None;
    }
    let mut told = Told::of(&own);
    for pair in own.windows(2) {
        if let Some(again) = pause(questions, pair) {
            if !is_led_by_timer(inside, &pair[1], again.begin, alone) {
                return None;
            }
            told.again.push(again);
        }
    }
    Some(told)
}

impl Told {
    fn of(own: &[Question]) -> Self {
        let is_asked = |question: &Question| question.fate != Fate::Refused;
        let asked: Vec<Question> = own.iter().copied().filter(is_asked).collect();
        Self {
            again: Vec::new(),
            repeats: asked.windows(2).any(|pair| pair[0].is_like(&pair[1])),
            asked: own.iter().map(|question| question.remote).collect(),
        }
    }
}

/// What lies between two questions if there is a pause, and the second may be the first one once more.
fn pause(questions: &Questions, pair: &[Question]) -> Option<Again> {
    let (first, next) = (&pair[0], &pair[1]);
    let begin = match first.fate {
        Fate::Answered(at) => at,
        Fate::Silent if !questions.answers(first.remote) => return None,
        Fate::Silent | Fate::Refused => first.begin,
    };
    let long = next.begin >= begin.saturating_add(PAUSE_LEAST_NS);
    (long && first.is_like(next)).then_some(Again {
        begin,
        end: next.begin,
        remote: next.remote,
        fate: first.fate,
    })
}

/// For how much of a pause the thread that asks waits for a time. Where no answer came it waits for that, and
/// what ends the wait may be taken for anything.
fn asleep_ns(inside: &Inside<'_>, walked: &Walked, again: &Again) -> u64 {
    let tid = walked.joined.writer;
    if again.fate == Fate::Silent {
        let slices = inside.index.slices(tid, again.begin, again.end).into_iter();
        let blocked = slices.filter(|slice| matches!(slice.state, State::Blocked(_)));
        return blocked.map(|slice| slice.end - slice.begin).sum();
    }
    let own = walked.pieces.iter().filter(|piece| {
        let own = piece.leaf.tid == tid && piece.behalf == Behalf::Own;
        own && piece.leaf.kind == LeafKind::Sleep
    });
    own.map(|piece| {
        let (begin, end) = (piece.begin.max(again.begin), piece.end.min(again.end));
        end.saturating_sub(begin)
    })
    .sum()
}

/// Whether a timer made a thread go on that asked then, without having read anything: timers of the kernel fire
/// in the hard interrupt. Of a request that has the target for itself it may have been any of its threads.
fn is_led_by_timer(inside: &Inside<'_>, next: &Question, since: u64, alone: bool) -> bool {
    let index = &inside.index;
    let threads: Vec<u32> = if alone {
        index.tids().filter(|&tid| inside.is_targets(tid)).collect()
    } else {
        vec![next.tid]
    };
    let since = since.max(next.begin.saturating_sub(LED_WITHIN_NS));
    let reads = |from: u64| {
        let marks = |tid: &u32| index.marks(*tid, from, next.begin).iter();
        threads.iter().any(|tid| marks(tid).any(|mark| !mark.wrote))
    };
    threads.iter().any(|&tid| {
        let offs = index.offs(tid, since, next.begin).iter();
        let mut ended = offs.filter(|off| off.end > since && off.end <= next.begin);
        ended.any(|off| {
            let by_timer = off.context == Some(Context::Hardirq);
            // Some runtimes have a thread that looks around every few milliseconds.
            let looks = inside.stacks.call_in(off) == Some(Call::Sleep);
            by_timer && !looks && !reads(off.end)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(ms: u64, bytes: u64, fate: Fate) -> Question {
        Question {
            remote: SocketAddr::from(([10, 0, 0, 1], 80)),
            tid: 1,
            begin: ms * MILLISECOND,
            bytes,
            fate,
        }
    }

    fn paused(pair: [Question; 2]) -> Option<(u64, u64)> {
        let questions = Questions::from_all(pair.map(|question| (0, question)).to_vec());
        let again = pause(&questions, &pair)?;
        Some((again.begin / MILLISECOND, again.end / MILLISECOND))
    }

    #[test]
    fn the_same_once_more_behind_a_pause_is_asked_again() {
        let answered = |ms| Fate::Answered(ms * MILLISECOND);
        let next = question(62, 100, answered(64));
        assert_eq!(
            paused([question(10, 100, answered(12)), next]),
            Some((12, 62))
        );
        assert_eq!(
            paused([question(10, 90, answered(12)), next]),
            None,
            "another question"
        );
        assert_eq!(
            paused([question(10, 100, answered(62)), next]),
            None,
            "at once"
        );
        assert_eq!(
            paused([question(10, 100, answered(70)), next]),
            None,
            "beside it"
        );
        assert_eq!(
            paused([question(10, 100, Fate::Silent), next]),
            Some((10, 62))
        );
        assert_eq!(
            paused([question(10, 0, Fate::Refused), next]),
            Some((10, 62))
        );
        let lines = [
            question(10, 100, Fate::Silent),
            question(62, 100, Fate::Silent),
        ];
        assert_eq!(paused(lines), None, "whoever takes them never answers");
    }
}

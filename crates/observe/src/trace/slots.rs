//! How the measured window is parted: stretches without tracing lie between those with it, so
//! what tracing costs shows within one run.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use slowpath_core::Nanos;
use slowpath_core::nanos::{MILLISECOND, SECOND, Span};

/// Slots to a window: with one in five of them off, four are, which is the least for a comparison
/// that does not hang on one of them.
const SLOTS: u64 = 20;
/// A shorter slot holds too few requests, and the ends of those that lie on its edges weigh.
const SHORTEST_NS: u64 = 100 * MILLISECOND;
/// A longer one would let slow changes of the machine pass for an effect of tracing.
const LONGEST_NS: u64 = SECOND;
/// How long the last slot goes on for requests that are still under way, unless tracing is stopped
/// before.
const TAIL_NS: u64 = SECOND;
/// Of so many neighbours one is off.
pub(super) const GROUP: usize = 5;

/// A slot of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    /// When.
    pub(crate) span: Span,
    /// Whether nothing is traced in it; if not, its turn among those of its group to be traced
    /// with stacks, from 0.
    pub(crate) turn: Option<u8>,
}

/// Parts a window into slots. Which of each five is off, and in which order the others are to be
/// traced with stacks, is drawn from the seed and the repeat.
pub(super) fn plan(window: Span, seed: u64, repeat: u16) -> Vec<Slot> {
    let length_ns = (window.len_ns() / SLOTS).clamp(SHORTEST_NS, LONGEST_NS);
    let count = (window.len_ns() / length_ns).max(1) as usize;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(u64::from(repeat));
    let mut slots = Vec::with_capacity(count);
    let mut order = Vec::new();
    for place in 0..count {
        if order.is_empty() {
            order = shuffled(&mut random);
        }
        let begin = window.begin.plus(place as u64 * length_ns);
        let end = if place + 1 == count {
            window.end
        } else {
            begin.plus(length_ns)
        };
        let drawn = order.pop().expect("it was just filled");
        slots.push(Slot {
            span: Span::new(begin, end),
            turn: drawn.checked_sub(1),
        });
    }
    slots
}

/// Slots on their way.
#[derive(Debug, Default)]
pub(crate) struct Course {
    /// Those that are to come, the next one last.
    slots: Vec<Slot>,
    /// When the last one ends.
    end: Option<Nanos>,
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// A slot begins.
    Slot(Slot),
    /// The last slot is over.
    Over,
}

impl Course {
    /// Lays slots over a window; the last goes on for [`TAIL_NS`].
    pub(crate) fn over(window: Span, seed: u64, repeat: u16) -> Self {
        let mut slots = plan(window, seed, repeat);
        slots.reverse();
        Self {
            slots,
            end: Some(window.end.plus(TAIL_NS)),
        }
    }

    /// When something is to be done next.
    pub(crate) fn next(&self) -> Option<Nanos> {
        self.slots.last().map(|slot| slot.span.begin).or(self.end)
    }

    /// How many of the slots that are to come are traced.
    pub(crate) fn traced(&self) -> usize {
        self.slots.iter().filter(|slot| slot.turn.is_some()).count()
    }

    /// What is to be done by now; slots that were missed are passed over.
    pub(crate) fn due(&mut self, now: Nanos) -> Option<Turn> {
        let mut due = None;
        while let Some(slot) = self.slots.pop_if(|slot| slot.span.begin <= now) {
            due = Some(Turn::Slot(slot));
        }
        if self.slots.is_empty() && self.end.take_if(|end| *end <= now).is_some() {
            due = Some(Turn::Over);
        }
        due
    }

    /// Drops what is to come.
    pub(super) fn end(&mut self) {
        *self = Self::default();
    }
}

/// The numbers below [`GROUP`] in random order (Fisher and Yates).
fn shuffled(random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut order: Vec<u8> = (0..GROUP as u8).collect();
    for last in (1..GROUP).rev() {
        // The bias of a remainder of 2^64 by at most five is below 1e-18.
        let other = (random.next_u64() % (last as u64 + 1)) as usize;
        order.swap(last, other);
    }
    order
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn window(begin: u64, length_ns: u64) -> Span {
        Span::new(Nanos::new(begin), Nanos::new(begin + length_ns))
    }

    #[test]
    fn a_window_of_twenty_seconds_has_four_slots_off_in_random_places() {
        let places = |seed| -> Vec<usize> {
            let slots = plan(window(7, 20 * SECOND), seed, 0);
            assert_eq!(slots.len(), 20);
            (0..20).filter(|&p| slots[p].turn.is_none()).collect()
        };
        assert_eq!(places(1).len(), 4);
        assert_eq!(places(1), places(1));
        assert!((2..9).any(|seed| places(seed) != places(1)));
    }

    #[test]
    fn a_course_comes_to_its_end_and_passes_over_what_was_missed() {
        let mut course = Course::over(window(1000, 2 * SECOND), 1, 0);
        assert_eq!(course.due(Nanos::new(999)), None);
        let begin = Nanos::new(1000);
        assert_eq!(course.next(), Some(begin));
        let Some(Turn::Slot(first)) = course.due(begin) else {
            panic!("{course:?}");
        };
        assert_eq!(first.span.begin, begin);
        let Some(Turn::Slot(fourth)) = course.due(begin.plus(3 * SHORTEST_NS)) else {
            panic!("{course:?}");
        };
        assert_eq!(fourth.span.begin, begin.plus(3 * SHORTEST_NS));
        let Some(Turn::Slot(last)) = course.due(begin.plus(2 * SECOND)) else {
            panic!("{course:?}");
        };
        assert_eq!(last.span.end, begin.plus(2 * SECOND));
        assert_eq!(course.next(), Some(last.span.end.plus(TAIL_NS)));
        assert_eq!(course.due(begin.plus(9 * SECOND)), Some(Turn::Over));
        assert_eq!(course.due(begin.plus(10 * SECOND)), None);
    }

    #[test]
    fn repeats_are_parted_differently() {
        let of = |repeat| plan(window(7, 20 * SECOND), 1, repeat);
        assert!((1..9).any(|repeat| of(repeat) != of(0)));
    }

    proptest! {
        #[test]
        fn slots_part_the_window(
            begin in 1_u64..1 << 50,
            length_ns in 0_u64..400 * SECOND,
            seed: u64,
            repeat: u16,
        ) {
            let window = window(begin, length_ns);
            let slots = plan(window, seed, repeat);
            prop_assert_eq!(slots[0].span.begin, window.begin);
            prop_assert_eq!(slots[slots.len() - 1].span.end, window.end);
            for pair in slots.windows(2) {
                prop_assert_eq!(pair[0].span.end, pair[1].span.begin);
            }
            for slot in &slots {
                let shortest = SHORTEST_NS.min(length_ns);
                prop_assert!((shortest..2 * LONGEST_NS).contains(&slot.span.len_ns()));
            }
            for group in slots.chunks(GROUP) {
                let mut turns: Vec<_> = group.iter().map(|slot| slot.turn).collect();
                turns.sort_unstable();
                turns.dedup();
                prop_assert_eq!(turns.len(), group.len(), "each has a turn of its own");
                if group.len() == GROUP {
                    prop_assert_eq!(turns[0], None);
                }
            }
        }
    }
}

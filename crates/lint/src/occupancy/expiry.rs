//! Answers that are kept for a while only: how often a workload misses them.

use super::Keys;

/// What answers are kept for, and how long they are asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expiry {
    /// Picks before the window whose answers are still kept when it begins.
    pub(crate) before: f64,
    /// How long ago the first of those was at most.
    pub(crate) warmup_s: f64,
    /// The length of the window.
    pub(crate) window_s: f64,
    /// How long an answer is kept.
    pub(crate) ttl_s: f64,
}

impl Keys {
    /// Misses of `n` picks spread evenly over a window when an answer is kept for a while, on
    /// average at least and at most. At least, each renewal waits for the key's next pick, so that
    /// one comes every `ttl + window / (n p)`; at most, one comes every `ttl`. A key that was not
    /// asked for in the warm-up is missed once more, at its first pick. There are never more
    /// misses than picks.
    pub(crate) fn expiry_misses(&self, n: f64, spans: &Expiry) -> (f64, f64) {
        let Expiry {
            before,
            warmup_s,
            window_s,
            ttl_s,
        } = *spans;
        let untouched = |p: f64| self.untouched(p, before);
        let every = (window_s / ttl_s).floor() + 1.0;
        // What was renewed in the warm-up is so old at most when the window begins.
        let if_warm = ((window_s + warmup_s) / ttl_s).floor().min(every);
        let (mut low, mut high) = (0.0, 0.0);
        for group in &self.groups {
            let (p, asked) = (group.p, n * group.p);
            let touched = if self.in_order {
                asked.min(1.0)
            } else {
                1.0 - (1.0 - p).powf(n)
            };
            if touched <= 0.0 {
                continue;
            }
            let least = (window_s / (ttl_s + window_s / asked)).floor() + untouched(p);
            let most = untouched(p) * every + (1.0 - untouched(p)) * if_warm;
            low += group.keys * touched * least;
            high += group.keys * (touched * most).min(asked.max(touched));
        }
        (low.min(n), high.max(low).min(n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_in_two_is_missed_two_or_three_times() {
        // One key asked for 22 times in 120 s: floor(120 / 60) + 1 at most, and two at least,
        // since each renewal waits 5.5 s for the next request.
        let cold = Expiry {
            before: 0.0,
            warmup_s: 0.0,
            window_s: 120.0,
            ttl_s: 60.0,
        };
        assert_eq!(Keys::uniform(1.0).expiry_misses(22.0, &cold), (2.0, 3.0));
        let (low, high) = Keys::uniform(1000.0).expiry_misses(50.0, &cold);
        assert!(
            low > 45.0 && high <= 50.0,
            "rarely asked keys always miss: {low} {high}"
        );
        // Kept since the warm-up, it runs out once at least, and twice if it was asked for early.
        let warm = Expiry {
            before: 1.0,
            warmup_s: 2.0,
            ..cold
        };
        assert_eq!(Keys::uniform(1.0).expiry_misses(22.0, &warm), (1.0, 2.0));
    }

    #[test]
    fn misses_of_a_key_are_within_what_playing_it_gives() {
        for (ttl_s, gap_s, warmup_s) in [(60.0, 5.45, 2.0), (10.0, 0.3, 0.0), (7.0, 8.0, 20.0)] {
            let window_s = 120.0;
            let spans = Expiry {
                before: if warmup_s > 0.0 { 1.0 } else { 0.0 },
                warmup_s,
                window_s,
                ttl_s,
            };
            let n = window_s / gap_s;
            let (low, high) = Keys::uniform(1.0).expiry_misses(n, &spans);
            // Asked for every so often, from any instant of the first gap on.
            for phase in 0..100 {
                let (mut at, mut kept_until) = (gap_s * f64::from(phase) / 100.0 - warmup_s, -1e9);
                let mut misses = 0.0;
                while at < window_s {
                    if at >= kept_until {
                        kept_until = at + ttl_s;
                        misses += f64::from(u8::from(at >= 0.0));
                    }
                    at += gap_s;
                }
                assert!(
                    (low..=high).contains(&misses),
                    "{misses} is not {low} to {high} ({ttl_s} {gap_s} {warmup_s} {phase})"
                );
            }
        }
    }

    #[test]
    fn keys_that_come_round_once_do_not_expire() {
        let spans = Expiry {
            before: 20.0,
            warmup_s: 2.0,
            window_s: 60.0,
            ttl_s: 10.0,
        };
        let keys = Keys::uniform(1000.0).in_order();
        // All of them are first touches.
        let (low, high) = keys.expiry_misses(500.0, &spans);
        assert!((low, high) == (490.0, 500.0), "{low} {high}");
        assert!(high - keys.touched_after(20.0, 500.0) < 1e-9);
    }
}

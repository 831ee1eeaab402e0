//! Whether a fall is one of requests for the same keys: an intervention on keys also changes which of
//! them are asked for how often, and those that are left may be fast by themselves.

use crate::wording;

/// Slow requests without the intervention, for the keys that are asked for with it, that show whether these
/// keys were slow: their share is then known to a third of itself (Poisson).
pub const SLOW_LEAST: f64 = 10.0;
/// Requests for the same keys have to get rarer by this share; what is left of a fall by four fifths if
/// their share was known to a third of itself.
const FALLS_LEAST: f64 = 0.6;

/// Requests for one key in one arm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyCount {
    /// All that were answered.
    pub all: u64,
    /// The slow ones.
    pub slow: u64,
}

impl KeyCount {
    /// One more.
    pub fn add(&mut self, slow: bool) {
        self.all += 1;
        self.slow += u64::from(slow);
    }
}

/// Why fewer slow requests may be of other keys. Each key has its counts without the intervention, and
/// with it; `remains` is as in [`crate::Hypothesis`]. Compared is how slow the keys that were asked for
/// with the intervention, as often as they were, are without it (direct standardisation).
pub fn other_keys(keys: &[[KeyCount; 2]], remains: f64) -> Option<String> {
    let both = keys
        .iter()
        .filter(|[without, with]| without.all > 0 && with.all > 0);
    let (mut asked, mut was, mut is, mut seen) = (0.0, 0.0, 0.0, 0.0);
    for [without, with] in both {
        asked += with.all as f64;
        was += with.all as f64 * without.slow as f64 / without.all as f64;
        is += with.slow as f64;
        seen += without.slow as f64;
    }
    if seen < SLOW_LEAST {
        return Some(format!(
            "without the intervention only {seen:.0} slow requests were for keys that are asked for with it, \
             so that these may be fast by themselves"
        ));
    }
    let own = (1.0 - remains).max(f64::EPSILON);
    let fall = (1.0 - is / was) / own;
    (fall < FALLS_LEAST).then(|| {
        format!(
            "of requests for the same keys as with the intervention {} are slow without it and {} with it: \
             it is other keys that were slow",
            wording::percent(was / asked),
            wording::percent(is / asked)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn count(all: u64, slow: u64) -> KeyCount {
        KeyCount { all, slow }
    }

    #[test]
    fn a_fall_within_keys_is_one() {
        // Every key is slow now and then; two of forty are asked for.
        let mut keys = vec![[count(100, 12), KeyCount::default()]; 38];
        keys.extend([[count(100, 12), count(2_000, 30)]; 2]);
        assert_eq!(other_keys(&keys, 0.1), None);
    }

    #[test]
    fn heavy_keys_that_are_left_out_are_no_fall() {
        // One key of four is always slow, and not asked for any more; the others have never been.
        let mut keys = vec![[count(100, 100), KeyCount::default()]; 10];
        keys.extend([[count(100, 0), count(1_300, 2)]; 3]);
        let why = other_keys(&keys, 0.0).unwrap();
        assert!(why.contains("only 0 slow requests"), "{why}");
        keys.push([count(100, 20), count(400, 78)]);
        let why = other_keys(&keys, 0.0).unwrap();
        assert!(why.contains("other keys"), "{why}");
    }

    #[test]
    fn a_slow_key_that_is_asked_for_less_often_is_no_fall() {
        // One at a time: the key that takes long by itself gets few requests.
        let heavy = [
            [count(500, 500), count(90, 90)],
            [count(500, 5), count(910, 9)],
        ];
        assert!(other_keys(&heavy, 0.0).is_some());
        // Those that queue are gone whatever the mix is.
        let line = [
            [count(500, 200), count(400, 4)],
            [count(500, 60), count(600, 3)],
        ];
        assert_eq!(other_keys(&line, 0.0), None);
    }
}

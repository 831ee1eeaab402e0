//! What answers say in `Server-Timing`, noted request by request in bounded room.

use std::cell::RefCell;

use slowpath_core::sample::{Sample, Stage};
use slowpath_core::server_timing::{ServerTimings, TimingFacts, TimingValue, each_duration};

/// Durations that all loops of a load keep at most: 16 bytes each, 8 MB.
const MOST_VALUES: usize = 500_000;

/// What was noted of a load.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Noted {
    /// The durations that are kept.
    pub timings: ServerTimings,
    /// What became of the others.
    pub facts: TimingFacts,
}

/// Notes the durations of requests.
#[derive(Debug)]
pub(crate) struct Timings {
    noted: RefCell<Noted>,
    most: usize,
}

impl Timings {
    /// For one of so many loops.
    pub(crate) fn new(loops: u32) -> Self {
        let mut noted = Noted::default();
        noted.facts.one_in = 1;
        Self {
            noted: RefCell::new(noted),
            most: MOST_VALUES / loops.max(1) as usize,
        }
    }

    /// Notes what stood in the header of a request's answer, if that is measured; nothing without it.
    pub(crate) fn note(&self, sample: &Sample, value: &[u8]) {
        if value.is_empty() || sample.stage != Stage::Measured {
            return;
        }
        let (repeat, serial) = (sample.repeat, sample.serial);
        let noted = &mut *self.noted.borrow_mut();
        let Noted { timings, facts } = noted;
        let is_kept = is_drawn(serial, facts.one_in);
        let mut has_any = false;
        each_duration(value, |name, duration_ns| {
            has_any = true;
            match timings.metric(name) {
                Some(metric) if is_kept => timings.values.push(TimingValue {
                    repeat,
                    serial,
                    metric,
                    duration_ns,
                }),
                Some(_) => {}
                None => facts.left_out += 1,
            }
        });
        facts.answers += u64::from(has_any);
        if timings.values.len() > self.most {
            noted.thin(noted.facts.one_in.saturating_mul(2));
        }
    }

    /// Everything that was noted.
    pub(crate) fn into_noted(self) -> Noted {
        self.noted.into_inner()
    }
}

impl Noted {
    /// Keeps one request of so many, a power of two.
    fn thin(&mut self, one_in: u32) {
        self.facts.one_in = one_in;
        self.timings
            .values
            .retain(|value| is_drawn(value.serial, one_in));
    }

    /// Adds what another loop noted.
    pub(crate) fn append(&mut self, other: &Self) {
        self.facts.answers += other.facts.answers;
        self.facts.left_out += other.facts.left_out;
        self.facts.left_out += self.timings.append(&other.timings);
        self.thin(self.facts.one_in.max(other.facts.one_in));
    }
}

/// Whether a request is one of those that are kept: the upper bits of its number, spread by
/// multiplicative hashing (Knuth, The Art of Computer Programming, 6.4).
const fn is_drawn(serial: u32, one_in: u32) -> bool {
    let spread = serial.wrapping_mul(2_654_435_769);
    spread.leading_zeros() >= one_in.ilog2()
}

#[cfg(test)]
mod tests {
    use slowpath_core::Nanos;

    use super::*;

    fn note(timings: &Timings, serial: u32, value: &[u8]) {
        let mut sample = Sample::due(Nanos::new(1));
        sample.serial = serial;
        // A warm-up is not measured.
        timings.note(&sample, value);
        sample.stage = Stage::Measured;
        timings.note(&sample, value);
    }

    #[test]
    fn room_is_bounded_and_what_is_kept_is_drawn_evenly() {
        let timings = Timings::new(1000);
        for serial in 0..20_000 {
            note(&timings, serial, b"db;dur=1, app;dur=2");
        }
        note(&timings, 7, b"db");
        let noted = timings.into_noted();
        assert_eq!(
            noted.facts.answers, 20_000,
            "one without a duration is none"
        );
        assert!(noted.timings.values.len() <= MOST_VALUES / 1000);
        let one_in = noted.facts.one_in;
        assert!(one_in.is_power_of_two() && one_in > 1);
        let kept = noted.timings.values.len() as f64 / 2.0;
        let expected = 20_000.0 / f64::from(one_in);
        assert!((kept / expected - 1.0).abs() < 0.1, "{kept} {expected}");
    }

    #[test]
    fn loops_are_thinned_alike() {
        let few = Timings::new(1);
        note(&few, 1, b"app;dur=1");
        note(&few, 3, b"db;dur=1");
        let mut all = few.into_noted();
        let many = Timings::new(MOST_VALUES as u32);
        for serial in [0, 2, 4] {
            note(&many, serial, b"db;dur=1");
        }
        let many = many.into_noted();
        let one_in = many.facts.one_in;
        assert!(one_in > 1);
        all.append(&many);
        assert_eq!((all.facts.answers, all.facts.one_in), (5, one_in));
        assert!(
            all.timings
                .values
                .iter()
                .all(|v| is_drawn(v.serial, one_in))
        );
        assert_eq!(all.timings.metrics, ["app", "db"]);
    }
}

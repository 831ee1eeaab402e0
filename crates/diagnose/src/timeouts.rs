//! Waits that a timeout ends: each is as long as the others, or as several of them where what failed is tried again.

use slowpath_core::stats::median::median;

/// Fewer waits show no timeout.
const LEAST: usize = 6;
/// So many of the waits lie within a tenth of their median, or of two or three times that: a timer ends them, and no reply.
const ALIKE_LEAST: f64 = 0.8;
/// What counts as alike.
const ALIKE: f64 = 0.1;
/// So many attempts, each of which waits as long, are known as such: of more any length is nearly a multiple.
const ATTEMPTS_MOST: f64 = 3.0;

/// The waits of some requests that are as long as each other.
pub(crate) struct Timeouts<T> {
    pub(crate) waits: Vec<T>,
    pub(crate) usual_ns: f64,
    /// Whether there are enough of them, and few others: waits of any length are not so.
    pub(crate) are_some: bool,
}

impl<T> Timeouts<T> {
    /// Of these waits, each of which takes as many nanoseconds as `length_ns` says.
    pub(crate) fn of(mut waits: Vec<T>, length_ns: impl Fn(&T) -> f64) -> Self {
        let all = waits.len();
        let mut lengths: Vec<f64> = waits.iter().map(&length_ns).collect();
        let usual_ns = median(&mut lengths).unwrap_or(0.0);
        waits.retain(|wait| {
            let times = (length_ns(wait) / usual_ns)
                .round()
                .clamp(1.0, ATTEMPTS_MOST);
            (length_ns(wait) / (times * usual_ns) - 1.0).abs() <= ALIKE
        });
        let are_some = waits.len() >= LEAST && waits.len() as f64 >= ALIKE_LEAST * all as f64;
        Self {
            waits,
            usual_ns,
            are_some,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_are_as_long_each_time() {
        let of = |lengths: &[f64]| {
            let found = Timeouts::of(lengths.to_vec(), |ns| *ns);
            (found.waits.len(), found.are_some)
        };
        assert_eq!(of(&[200.0, 201.0, 202.0, 200.0, 203.0, 199.0]), (6, true));
        assert_eq!(of(&[200.0; 5]), (5, false), "too few");
        assert_eq!(
            of(&[200.0, 201.0, 202.0, 400.0, 200.0, 601.0]),
            (6, true),
            "attempts"
        );
        let differ = [20.0, 60.0, 100.0, 140.0, 180.0, 220.0, 260.0];
        assert!(!of(&differ).1);
        // One in three is a slow reply.
        assert!(!of(&[200.0, 200.0, 130.0, 201.0, 200.0, 260.0, 199.0, 90.0, 200.0]).1);
    }
}

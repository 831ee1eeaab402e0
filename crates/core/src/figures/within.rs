//! Several observations inside one repeat, as one figure.

use super::Figure;
use crate::stats::median::median;
use crate::stats::order;

/// The confidence of an interval within a repeat, as everywhere else.
const CONFIDENCE: f64 = 0.95;

/// The median of some values with its 95 % interval from order statistics, which holds whatever
/// their distribution is if they are independent; no interval of fewer than six, and a value of 0
/// from none at all.
pub fn median_of(values: &[f64]) -> Figure {
    let interval = order::median(values, CONFIDENCE).ok();
    let value = median(&mut values.to_vec()).unwrap_or_default();
    Figure {
        repeat: None,
        value,
        low: interval.map(|ends| ends.low),
        high: interval.map(|ends| ends.high),
        n: Some(values.len() as u64),
        aside: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_have_a_median_and_no_interval() {
        let figure = median_of(&[3.0, 1.0, 2.0, 4.0]);
        assert_eq!(
            (figure.value.to_bits(), figure.low),
            (2.5_f64.to_bits(), None)
        );
        let figure = median_of(&[6.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(
            (figure.low, figure.high, figure.n),
            (Some(1.0), Some(6.0), Some(6))
        );
    }
}

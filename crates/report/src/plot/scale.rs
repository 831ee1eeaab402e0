//! From values to places on an axis, and the ticks that a reader expects there.

/// Ticks that an axis should have at most: more than that and labels touch.
const TICKS: f64 = 6.0;

/// A logarithmic axis with fewer round values than these has even steps.
const LOG_TICKS_FEWEST: usize = 3;

/// How values are laid out on an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scale {
    /// Evenly.
    Linear {
        /// The value at the beginning.
        low: f64,
        /// The value at the end.
        high: f64,
    },
    /// By their logarithm; both ends are above 0.
    Log {
        /// The value at the beginning.
        low: f64,
        /// The value at the end.
        high: f64,
    },
    /// Quantiles by the logarithm of what lies above them, so that 90 %, 99 % and 99.9 % are
    /// equally far apart (as in HdrHistogram's plots).
    Tail {
        /// The quantile at the end, below 1; the axis begins at 0.
        most: f64,
    },
}

impl Scale {
    /// A linear scale that holds zero and all values, ending at a tick.
    pub(crate) fn from_zero(values: impl IntoIterator<Item = f64>) -> Self {
        let most = values
            .into_iter()
            .filter(|value| value.is_finite())
            .fold(0.0, f64::max);
        let most = if most > 0.0 { most } else { 1.0 };
        let step = nice_step(most);
        Self::Linear {
            low: 0.0,
            high: (most / step).ceil() * step,
        }
    }

    /// A logarithmic scale that holds all positive values with a little room; `None` without any.
    pub(crate) fn log_around(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
        for value in values
            .into_iter()
            .filter(|value| value.is_finite() && *value > 0.0)
        {
            low = low.min(value);
            high = high.max(value);
        }
        (low <= high).then_some(Self::Log {
            low: low / 1.15,
            high: high * 1.15,
        })
    }

    /// Where a value lies: 0 at the beginning, 1 at the end, held inside.
    pub(crate) fn at(self, value: f64) -> f64 {
        let place = match self {
            Self::Linear { low, high } => (value - low) / (high - low),
            Self::Log { low, high } => (value.max(low) / low).ln() / (high / low).ln(),
            Self::Tail { most } => depth(value) / depth(most),
        };
        if place.is_finite() {
            place.clamp(0.0, 1.0)
        } else {
            0.0
        }
    }

    /// The value at a place; inverse of [`Scale::at`].
    pub(crate) fn value(self, place: f64) -> f64 {
        match self {
            Self::Linear { low, high } => low + place * (high - low),
            Self::Log { low, high } => low * (high / low).powf(place),
            Self::Tail { most } => 1.0 - 10_f64.powf(-place * depth(most)),
        }
    }

    /// The values that deserve a label, in order.
    pub(crate) fn ticks(self) -> Vec<f64> {
        match self {
            Self::Linear { low, high } => linear_ticks(low, high),
            Self::Log { low, high } => log_ticks(low, high),
            Self::Tail { most } => [0.5, 0.9, 0.99, 0.999, 0.9999, 0.999_99, 0.999_999]
                .into_iter()
                .filter(|&tick| tick <= most)
                .collect(),
        }
    }

    /// The scale for the script that reads values under the pointer: kind, begin, end.
    pub(crate) fn describe(self) -> String {
        match self {
            Self::Linear { low, high } => format!("linear,{low},{high}"),
            Self::Log { low, high } => format!("log,{low},{high}"),
            Self::Tail { most } => format!("tail,0,{most}"),
        }
    }
}

/// How deep in the tail a quantile lies, in decades.
fn depth(quantile: f64) -> f64 {
    -(1.0 - quantile).max(1e-12).log10()
}

/// The step of 1, 2 or 5 times a power of ten that gives at most [`TICKS`] ticks.
fn nice_step(range: f64) -> f64 {
    let raw = range / TICKS;
    let power = 10_f64.powf(raw.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0];
    steps
        .into_iter()
        .map(|step| step * power)
        .find(|&step| step >= raw)
        .unwrap_or(10.0 * power)
}

fn linear_ticks(low: f64, high: f64) -> Vec<f64> {
    if high <= low {
        return Vec::new();
    }
    let step = nice_step(high - low);
    let (first, last) = (
        (low / step - 1e-9).ceil() as i64,
        (high / step + 1e-9).floor() as i64,
    );
    (first..=last).map(|at| at as f64 * step).collect()
}

fn log_ticks(low: f64, high: f64) -> Vec<f64> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let inside = |multiples: &[f64]| -> Vec<f64> {
        (first..=last)
            .flat_map(|power| {
                multiples
                    .iter()
                    .map(move |multiple| multiple * 10_f64.powi(power))
            })
            .filter(|tick| (low..=high).contains(tick))
            .collect()
    };
    // The densest set of ticks that still fits.
    let sets: [&[f64]; 3] = [&[1.0, 2.0, 5.0], &[1.0, 3.0], &[1.0]];
    let fits = |ticks: &Vec<f64>| ticks.len() as f64 <= TICKS;
    let round = sets
        .into_iter()
        .map(inside)
        .find(fits)
        .unwrap_or_else(|| inside(&[1.0]));
    if round.len() >= LOG_TICKS_FEWEST {
        return round;
    }
    // Within less than a decade even steps say more.
    let even: Vec<f64> = linear_ticks(low, high)
        .into_iter()
        .filter(|tick| *tick > 0.0)
        .collect();
    if even.len() > round.len() {
        even
    } else {
        round
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ticks_are_those_that_people_write() {
        assert_eq!(
            Scale::Linear {
                low: 0.0,
                high: 60.0
            }
            .ticks(),
            [0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0]
        );
        assert_eq!(
            Scale::Log {
                low: 0.9,
                high: 1100.0
            }
            .ticks(),
            [1.0, 10.0, 100.0, 1000.0]
        );
        assert_eq!(
            Scale::Log {
                low: 0.9,
                high: 12.0
            }
            .ticks(),
            [1.0, 2.0, 5.0, 10.0]
        );
        assert_eq!(
            Scale::Tail { most: 0.9995 }.ticks(),
            [0.5, 0.9, 0.99, 0.999]
        );
        assert_eq!(
            Scale::from_zero([3.2, 0.1]),
            Scale::Linear {
                low: 0.0,
                high: 4.0
            }
        );
    }

    proptest! {
        #[test]
        fn places_and_values_are_inverse(place in 0.0_f64..1.0) {
            let scales = [
                Scale::Linear { low: -3.0, high: 8.0 },
                Scale::Log { low: 0.01, high: 5000.0 },
                Scale::Tail { most: 0.9999 },
            ];
            for scale in scales {
                prop_assert!((scale.at(scale.value(place)) - place).abs() < 1e-6);
                let ticks = scale.ticks();
                prop_assert!(ticks.len() <= 8 && ticks.windows(2).all(|pair| pair[0] < pair[1]));
            }
        }

        #[test]
        fn nothing_leaves_its_axis(value in proptest::num::f64::ANY) {
            for scale in [Scale::from_zero([value]), Scale::Tail { most: 0.99 }] {
                prop_assert!((0.0..=1.0).contains(&scale.at(value)));
            }
        }
    }
}

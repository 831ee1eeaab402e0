//! The trigamma function and its inverse.

/// From here on the asymptotic series is exact to rounding.
const ASYMPTOTIC_FROM: f64 = 20.0;

/// Newton's steps converge quadratically and from one side; five are enough from this start.
const STEPS_MOST: usize = 50;

/// The second derivative of the logarithm of the gamma function, for `x > 0`: recurrence up to
/// where the series of Abramowitz & Stegun 6.4.12 is exact.
pub(super) fn trigamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < ASYMPTOTIC_FROM {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series =
        1.0 / 6.0 - y * (1.0 / 30.0 - y * (1.0 / 42.0 - y * (1.0 / 30.0 - y * 5.0 / 66.0)));
    sum + 1.0 / x + y / 2.0 + y / x * series
}

/// The `x` whose trigamma is `value`, for `value > 0`: Newton's method on the reciprocal, which is
/// convex and nearly linear (Smyth 2004, appendix).
pub(super) fn inverse(value: f64) -> f64 {
    let mut x = 0.5 + 1.0 / value;
    for _ in 0..STEPS_MOST {
        let found = trigamma(x);
        let step = found * (1.0 - found / value) / tetragamma(x);
        x += step;
        if -step / x < 1e-13 {
            break;
        }
    }
    x
}

/// The derivative of the trigamma function, by the same recurrence and the differentiated series
/// (Abramowitz & Stegun 6.4.13).
fn tetragamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < ASYMPTOTIC_FROM {
        sum -= 2.0 / x.powi(3);
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series = 0.5 - y * (1.0 / 6.0 - y * (1.0 / 6.0 - y * (3.0 / 10.0 - y * 5.0 / 6.0)));
    sum - y - y / x - y * y * series
}

#[cfg(test)]
mod tests {
    use super::{inverse, trigamma};

    #[test]
    fn trigamma_of_known_values() {
        let pi = std::f64::consts::PI;
        for (x, expected) in [
            (1.0, pi * pi / 6.0),
            (0.5, pi * pi / 2.0),
            (2.0, pi * pi / 6.0 - 1.0),
        ] {
            assert!((trigamma(x) / expected - 1.0).abs() < 1e-14, "{x}");
        }
    }

    /// `limma::trigammaInverse` of R.
    #[test]
    fn inverse_as_in_r() {
        for (value, expected) in [
            (0.1, 10.491_681_821_078_421),
            (0.5, 2.459_952_948_352_307),
            (1.0, 1.426_255_120_215_079),
            (2.0, 0.876_664_077_464_260_1),
        ] {
            assert!((inverse(value) / expected - 1.0).abs() < 1e-9, "{value}");
        }
        for value in [1e-6, 1e-3, 50.0, 1e6] {
            assert!((trigamma(inverse(value)) / value - 1.0).abs() < 1e-10);
        }
    }
}

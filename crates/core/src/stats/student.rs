//! Student's t for every number of degrees of freedom: points and tails.

use statrs::distribution::{Continuous, ContinuousCDF, Normal, StudentsT};

/// Above this many degrees of freedom series are used: their errors are then below 1e-9, while
/// the inversion of the incomplete beta function loses its way (1.83 instead of 1.96 at 10^7).
const SERIES_ABOVE_DF: f64 = 1000.0;

/// Above this many degrees of freedom tails are those of a transformed normal: its error is then
/// below 1e-9, and sooner the incomplete beta function is exact.
const NORMAL_ABOVE_DF: f64 = 1e5;

/// The point that Student's t with `df` degrees of freedom exceeds with probability `tail`, which
/// is in `0..1`; infinite below one degree, where a sample says nothing about its own scatter.
/// Infinitely many degrees are the normal distribution.
///
/// Large `df` by the expansion in Abramowitz & Stegun 26.7.5.
pub fn upper_point(tail: f64, df: f64) -> f64 {
    if df < 1.0 {
        return f64::INFINITY;
    }
    if df <= SERIES_ABOVE_DF {
        let of_df = student(df);
        let rough = of_df.inverse_cdf(1.0 - tail);
        // The inversion stops at some nine digits; a step of Newton's doubles them.
        return rough + (of_df.sf(rough) - tail) / of_df.pdf(rough);
    }
    let z = Normal::standard().inverse_cdf(1.0 - tail);
    let first = (z.powi(3) + z) / (4.0 * df);
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * df.powi(2));
    let third =
        (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / (384.0 * df.powi(3));
    z + first + second + third
}

/// The 97.5 % point of Student's t, half the width of a 95 % interval in standard errors.
pub fn t_975(df: f64) -> f64 {
    upper_point(0.025, df)
}

/// The chance that Student's t with `df` degrees of freedom exceeds `t`; one half below one
/// degree, where nothing is known.
///
/// Very large `df` by the normal approximation in Abramowitz & Stegun 26.7.8.
pub fn tail_above(t: f64, df: f64) -> f64 {
    if df < 1.0 {
        return 0.5;
    }
    if df <= NORMAL_ABOVE_DF {
        return student(df).sf(t);
    }
    let z = t * (1.0 - 0.25 / df) / (1.0 + t * t / (2.0 * df)).sqrt();
    Normal::standard().sf(z)
}

/// The chance that Student's t lies at least as far from 0 as `t`.
pub fn two_sided_p(t: f64, df: f64) -> f64 {
    (2.0 * tail_above(t.abs(), df)).min(1.0)
}

fn student(df: f64) -> StudentsT {
    StudentsT::new(0.0, 1.0, df).expect("location, scale and df are positive")
}

#[cfg(test)]
mod tests {
    use super::{t_975, tail_above, two_sided_p, upper_point};

    #[test]
    fn agrees_with_tables() {
        let table = [
            (2.0, 4.302_652_730),
            (9.0, 2.262_157_163),
            (29.0, 2.045_229_642),
        ];
        for (df, expected) in table {
            assert!((t_975(df) - expected).abs() < 1e-8, "df {df}");
        }
    }

    #[test]
    fn series_continues_the_inversion() {
        for tail in [0.2, 0.05, 0.025, 0.005] {
            let below = upper_point(tail, 1000.0);
            let above = upper_point(tail, 1000.0 + 1e-9);
            assert!((below - above).abs() < 1e-9, "{tail}: {below} {above}");
        }
        assert!((t_975(1e7) - 1.959_964_22).abs() < 1e-8);
        assert!((t_975(f64::INFINITY) - 1.959_963_984_540_054).abs() < 1e-12);
    }

    #[test]
    fn tails_invert_points() {
        for df in [1.0, 2.5, 4.0, 30.0, 999.0, 1001.0, 9e4, 1e6, f64::INFINITY] {
            for tail in [0.4, 0.05, 0.025, 0.001] {
                let found = tail_above(upper_point(tail, df), df);
                assert!((found / tail - 1.0).abs() < 1e-7, "{df} {tail}: {found}");
            }
        }
        assert!((two_sided_p(-2.776_445_105, 4.0) - 0.05).abs() < 1e-9);
    }

    #[test]
    fn no_degrees_of_freedom_say_nothing() {
        assert!(t_975(0.0).is_infinite());
        assert!((two_sided_p(9.0, 0.5) - 1.0).abs() < f64::EPSILON);
    }
}

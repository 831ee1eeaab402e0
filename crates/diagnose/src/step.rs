//! Whether what rises with a number follows a law, has two levels, or is the time that the number says.

use slowpath_core::nanos::{MILLISECOND, SECOND};

/// So near to a millisecond or a second for each 1 the number may be a time.
const TIME_NEAR: f64 = 0.05;
/// Exponents that a law may have: the root, in proportion, each with each, and once more.
const EXPONENTS: [f64; 4] = [0.5, 1.0, 2.0, 3.0];

/// Whether something grows by a millisecond or a second each time.
pub(crate) fn is_time(each_ns: f64) -> bool {
    let units = [MILLISECOND, SECOND].map(|unit| unit as f64);
    units
        .iter()
        .any(|unit| (each_ns - unit).abs() <= TIME_NEAR * unit)
}

/// Whether two levels, one from some number on, are nearer to the waits than any law: then what has a larger
/// number is of another kind, as what lies on another shard. Distances are in parts of the waits.
pub(crate) fn is_step(points: &[(f64, f64)]) -> bool {
    let law = EXPONENTS.iter().filter_map(|&exponent| {
        beside_line(points.iter().map(|&(n, wait)| (n.powf(exponent), wait)))
    });
    let step = (1..points.len()).filter_map(|at| {
        let (below, above) = points.split_at(at);
        Some(beside_level(below)? + beside_level(above)?)
    });
    let (law, step) = (law.reduce(f64::min), step.reduce(f64::min));
    law.zip(step).is_none_or(|(law, step)| step < law)
}

/// The sum of the squared distances of waits from the line that is nearest to them, in parts of the waits, if it
/// ascends.
fn beside_line(points: impl Iterator<Item = (f64, f64)> + Clone) -> Option<f64> {
    let weighted = points.clone().map(|(x, y)| (1.0 / (y * y), x, y));
    let (w, wx, wy, wxx, wxy) = weighted.fold((0.0, 0.0, 0.0, 0.0, 0.0), |sum, (w, x, y)| {
        (
            sum.0 + w,
            sum.1 + w * x,
            sum.2 + w * y,
            sum.3 + w * x * x,
            sum.4 + w * x * y,
        )
    });
    let rise = (w * wxy - wx * wy) / (w * wxx - wx * wx);
    let base = (wy - rise * wx) / w;
    let beside = points.map(|(x, y)| ((y - base - rise * x) / y).powi(2));
    (rise > 0.0).then(|| beside.sum())
}

/// The same of one level for all.
fn beside_level(points: &[(f64, f64)]) -> Option<f64> {
    let (parts, squares) = points.iter().fold((0.0, 0.0), |sum, (_, y)| {
        (sum.0 + 1.0 / y, sum.1 + 1.0 / (y * y))
    });
    let level = parts / squares;
    let beside = points.iter().map(|(_, y)| ((y - level) / y).powi(2));
    level.is_finite().then(|| beside.sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_no_law() {
        let told = |wait: fn(f64) -> f64| {
            let noise = |k: u32| 1.0 + 0.05 * f64::from(k * 7 % 5) - 0.1;
            let of = |k: u32| (f64::from(k), wait(f64::from(k)) * noise(k));
            is_step(&(1..40).map(of).collect::<Vec<_>>())
        };
        assert!(told(|n| if n < 28.0 { 2.5 } else { 45.0 }));
        assert!(told(|n| if n < 12.0 { 10.0 } else { 20.0 }));
        assert!(!told(|n| 2.0 + 0.2 * n));
        assert!(!told(|n| 2.0 + 0.01 * n * n));
        assert!(!told(|n| 0.1 * n.sqrt()));
        // Numbers of all orders of magnitude.
        let wide: Vec<(f64, f64)> = (0..7)
            .map(|k| (10_f64.powi(k), 1.0 + 1e-4 * 10_f64.powi(k)))
            .collect();
        assert!(!is_step(&wide));
    }
}

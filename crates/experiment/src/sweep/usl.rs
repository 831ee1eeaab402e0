//! The universal scalability law (Gunther 1993): how throughput grows with concurrency, what it
//! loses to waiting (sigma) and to agreeing (kappa), and where it peaks.

use serde::{Deserialize, Serialize};

/// Fewer levels do not hold three parameters down.
pub(super) const LEVELS_FEWEST: usize = 6;
/// A peak beyond this many times the largest level that was measured is a guess.
const PEAK_WITHIN: f64 = 1.5;
/// Residuals beyond this many standard deviations lose weight (Huber 1964: 95 % efficient for
/// normal noise).
const HUBER: f64 = 1.345;
/// A median absolute deviation times this is the standard deviation of a normal distribution.
const MAD_TO_SD: f64 = 1.482_602_218_505_602;
/// Rounds of reweighting: weights stand still after a handful.
const ROUNDS: usize = 20;
/// Parameters that change by less than this part of themselves stand still.
const STILL: f64 = 1e-5;
/// Steps of Levenberg and Marquardt's method: a start from the linear form needs about ten.
const STEPS: usize = 200;

/// What is made small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Residual {
    /// The difference of throughputs: what other tools for the law do.
    Absolute,
    /// The ratio of throughputs: noise of benchmarks grows with the figure.
    Relative,
}

/// `X(N) = lambda N / (1 + sigma (N - 1) + kappa N (N - 1))`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Usl {
    /// Throughput of one, per second.
    pub lambda: f64,
    /// Share of the work that waits for something shared.
    pub sigma: f64,
    /// Cost of agreeing between each two.
    pub kappa: f64,
    /// Root mean square of the relative error.
    pub error: f64,
    /// Where it peaks: `sqrt((1 - sigma) / kappa)`; `null` if that is not within one and a half
    /// times the range that was measured.
    pub peak_at: Option<f64>,
    /// Throughput at the peak.
    pub peak: Option<f64>,
}

impl Usl {
    /// Throughput at a concurrency.
    pub fn at(&self, n: f64) -> f64 {
        self.lambda * n / (1.0 + self.sigma * (n - 1.0) + self.kappa * n * (n - 1.0))
    }

    /// Throughput at a concurrency as a share of that many times one.
    pub fn efficiency(&self, n: f64) -> f64 {
        self.at(n) / (self.lambda * n)
    }
}

/// Least squares; `sigma` and `kappa` are not negative. `None` for fewer than three points
/// `(concurrency, throughput)`, both positive.
pub fn fit(points: &[(f64, f64)], residual: Residual) -> Option<Usl> {
    let model = Model { points, residual };
    let theta = model.best(&vec![1.0; points.len()])?;
    Some(model.usl(&theta))
}

/// The fit by ratios in which points that lie off weigh less.
pub fn fit_robust(points: &[(f64, f64)]) -> Option<Usl> {
    let model = Model {
        points,
        residual: Residual::Relative,
    };
    let mut weights = vec![1.0; points.len()];
    let mut theta = model.best(&weights)?;
    for _ in 0..ROUNDS {
        let residuals: Vec<f64> = points
            .iter()
            .map(|&p| model.residual_of(&theta, p))
            .collect();
        let mut sizes: Vec<f64> = residuals.iter().map(|r| r.abs()).collect();
        let sd = MAD_TO_SD * slowpath_core::stats::median::median(&mut sizes)?;
        if sd <= f64::EPSILON {
            break;
        }
        for (weight, r) in weights.iter_mut().zip(&residuals) {
            *weight = (HUBER * sd / r.abs()).min(1.0);
        }
        let next = model.best(&weights)?;
        let still = |(a, b): (&f64, &f64)| (a - b).abs() <= STILL * a.abs();
        let stands = theta.iter().zip(&next).all(still);
        theta = next;
        if stands {
            break;
        }
    }
    Some(model.usl(&theta))
}

/// `1/lambda`, `sigma/lambda`, `kappa/lambda`: in these the reciprocal of the law is linear.
type Theta = [f64; 3];
/// Which parameters are free; the others are zero.
type Mask = [bool; 3];

struct Model<'a> {
    points: &'a [(f64, f64)],
    residual: Residual,
}

impl Model<'_> {
    /// The best parameters of which none is negative: those that would be are zero.
    fn best(&self, weights: &[f64]) -> Option<Theta> {
        let valid = |&(n, x): &(f64, f64)| n >= 1.0 && x > 0.0 && x.is_finite();
        if self.points.len() < 3 || !self.points.iter().all(valid) {
            return None;
        }
        let masks = [
            [true, true, true],
            [true, true, false],
            [true, false, true],
            [true, false, false],
        ];
        let found = masks
            .into_iter()
            .filter_map(|mask| self.descend(mask, weights));
        found
            .filter(|theta| theta[0] > 0.0 && theta[1] >= 0.0 && theta[2] >= 0.0)
            .min_by(|a, b| self.cost(a, weights).total_cmp(&self.cost(b, weights)))
    }

    fn residual_of(&self, theta: &Theta, (n, x): (f64, f64)) -> f64 {
        let modelled = n / dot(theta, &basis(n));
        match self.residual {
            Residual::Absolute => x - modelled,
            Residual::Relative => (x / modelled).ln(),
        }
    }

    fn cost(&self, theta: &Theta, weights: &[f64]) -> f64 {
        let terms = self.points.iter().zip(weights);
        let sum: f64 = terms
            .map(|(&p, w)| w * self.residual_of(theta, p).powi(2))
            .sum();
        if sum.is_finite() { sum } else { f64::INFINITY }
    }

    /// Levenberg and Marquardt's method from the solution of the linear form.
    fn descend(&self, mask: Mask, weights: &[f64]) -> Option<Theta> {
        let mut theta = self.start(mask, weights)?;
        let mut cost = self.cost(&theta, weights);
        let mut damping = 1e-3;
        for _ in 0..STEPS {
            let (matrix, gradient) = self.normal_equations(&theta, mask, weights);
            let mut damped = matrix;
            for (i, row) in damped.iter_mut().enumerate() {
                row[i] *= 1.0 + damping;
            }
            let Some(step) = solve(&damped, &gradient, mask) else {
                break;
            };
            let next = [theta[0] + step[0], theta[1] + step[1], theta[2] + step[2]];
            let next_cost = self.cost(&next, weights);
            if next_cost < cost {
                let gained = (cost - next_cost) / cost;
                (theta, cost) = (next, next_cost);
                damping = f64::max(damping / 10.0, 1e-12);
                if gained < 1e-15 {
                    break;
                }
            } else {
                damping *= 10.0;
                if damping > 1e12 {
                    break;
                }
            }
        }
        Some(theta)
    }

    /// `n/x` is linear in the parameters; weighted by `x/n`, its errors are relative ones.
    fn start(&self, mask: Mask, weights: &[f64]) -> Option<Theta> {
        let mut matrix = [[0.0; 3]; 3];
        let mut right = [0.0; 3];
        for (&(n, x), weight) in self.points.iter().zip(weights) {
            let u = basis(n);
            let w = weight * (x / n).powi(2);
            for i in 0..3 {
                right[i] += w * u[i] * n / x;
                for j in 0..3 {
                    matrix[i][j] += w * u[i] * u[j];
                }
            }
        }
        let theta = solve(&matrix, &right, mask)?;
        self.cost(&theta, weights).is_finite().then_some(theta)
    }

    fn normal_equations(
        &self,
        theta: &Theta,
        mask: Mask,
        weights: &[f64],
    ) -> ([[f64; 3]; 3], [f64; 3]) {
        let mut matrix = [[0.0; 3]; 3];
        let mut gradient = [0.0; 3];
        for (&(n, x), weight) in self.points.iter().zip(weights) {
            let u = basis(n);
            let below = dot(theta, &u);
            let slope = match self.residual {
                Residual::Absolute => -n / (below * below),
                Residual::Relative => -1.0 / below,
            };
            let residual = self.residual_of(theta, (n, x));
            for i in (0..3).filter(|&i| mask[i]) {
                gradient[i] += weight * slope * u[i] * residual;
                for j in 0..3 {
                    matrix[i][j] += weight * slope * slope * u[i] * u[j];
                }
            }
        }
        (matrix, gradient)
    }

    fn usl(&self, theta: &Theta) -> Usl {
        let lambda = 1.0 / theta[0];
        let (sigma, kappa) = (theta[1] * lambda, theta[2] * lambda);
        let mut usl = Usl {
            lambda,
            sigma,
            kappa,
            error: 0.0,
            peak_at: None,
            peak: None,
        };
        let squares = self
            .points
            .iter()
            .map(|&(n, x)| (usl.at(n) / x - 1.0).powi(2));
        usl.error = (squares.sum::<f64>() / self.points.len() as f64).sqrt();
        let largest = self.points.iter().map(|&(n, _)| n).fold(0.0, f64::max);
        if kappa > 0.0 && sigma < 1.0 {
            let at = ((1.0 - sigma) / kappa).sqrt();
            usl.peak_at = (at <= PEAK_WITHIN * largest).then_some(at);
            usl.peak = usl.peak_at.map(|at| usl.at(at));
        }
        usl
    }
}

fn basis(n: f64) -> [f64; 3] {
    [1.0, n - 1.0, n * (n - 1.0)]
}

fn dot(a: &Theta, b: &[f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Solves the equations of the parameters in the mask, the others being zero; `None` if they do
/// not determine them. Columns are scaled first: they differ by the square of the concurrency.
fn solve(matrix: &[[f64; 3]; 3], right: &[f64; 3], mask: Mask) -> Option<[f64; 3]> {
    let free: Vec<usize> = (0..3).filter(|&i| mask[i]).collect();
    let scale: Vec<f64> = free.iter().map(|&i| matrix[i][i].sqrt()).collect();
    if scale.iter().any(|s| *s <= 0.0 || !s.is_finite()) {
        return None;
    }
    let size = free.len();
    let mut rows: Vec<Vec<f64>> = (0..size)
        .map(|a| {
            let scaled = |b: usize| matrix[free[a]][free[b]] / (scale[a] * scale[b]);
            (0..size)
                .map(scaled)
                .chain([right[free[a]] / scale[a]])
                .collect()
        })
        .collect();
    for pivot in 0..size {
        let size_of = |row: usize| rows[row][pivot].abs();
        let largest = (pivot..size).max_by(|&a, &b| size_of(a).total_cmp(&size_of(b)))?;
        rows.swap(pivot, largest);
        let lead = rows[pivot].clone();
        // Columns are scaled to one: this is no difference but rounding.
        if lead[pivot].abs() < 1e-14 {
            return None;
        }
        for (_, row) in rows.iter_mut().enumerate().filter(|(at, _)| *at != pivot) {
            let factor = row[pivot] / lead[pivot];
            for (value, of_lead) in row.iter_mut().zip(&lead) {
                *value -= factor * of_lead;
            }
        }
    }
    let mut found = [0.0; 3];
    for (a, &i) in free.iter().enumerate() {
        found[i] = rows[a][size] / rows[a][a] / scale[a];
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64, tolerance: f64) {
        assert!(
            (found / expected - 1.0).abs() < tolerance,
            "found {found}, expected {expected}"
        );
    }

    fn points(n: &[f64], x: &[f64]) -> Vec<(f64, f64)> {
        n.iter().copied().zip(x.iter().copied()).collect()
    }

    #[test]
    fn meets_the_published_fit_of_specsdm91() {
        // The README of the R package usl: .0277285, .0001044, 89.9952330, peak 1884 at 96.52.
        let n = [1.0, 18.0, 36.0, 72.0, 108.0, 144.0, 216.0];
        let x = [64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2];
        let usl = fit(&points(&n, &x), Residual::Absolute).unwrap();
        close(usl.sigma, 0.027_728_5, 1e-6);
        close(usl.kappa, 1.043_655e-4, 1e-5);
        close(usl.lambda, 89.995_233_0, 1e-8);
        close(usl.peak_at.unwrap(), 96.52, 1e-4);
        close(usl.peak.unwrap(), 1_884.0, 1e-4);
    }

    #[test]
    fn agrees_with_a_published_sweep_of_a_web_server() {
        // Users over throughput in ms, as published for a Swift server under wrk (Swift forums,
        // thread 71583); the second and third level are not named there and are inferred.
        let n = [
            1.0, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0, 640.0, 1280.0, 2000.0,
        ];
        let ms = [
            0.33, 0.42, 0.49, 0.54, 0.98, 1.95, 3.9, 7.8, 15.6, 32.0, 50.0,
        ];
        let x: Vec<f64> = n.iter().zip(ms).map(|(n, ms)| n / ms * 1e3).collect();
        let usl = fit(&points(&n, &x), Residual::Relative).unwrap();
        close(usl.sigma, 0.069, 0.15);
        close(usl.kappa, 1.8e-5, 0.45);
        assert!(usl.error < 0.15, "{usl:?}");
        assert!((200.0..400.0).contains(&usl.peak_at.unwrap()), "{usl:?}");
    }

    #[test]
    fn recovers_what_made_the_points() {
        let n = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
        let truth = Usl {
            lambda: 1000.0,
            sigma: 0.05,
            kappa: 0.001,
            error: 0.0,
            peak_at: None,
            peak: None,
        };
        let x: Vec<f64> = n.iter().map(|&n| truth.at(n)).collect();
        close(x[3], 5_689.900_426_742, 1e-9);
        for usl in [
            fit(&points(&n, &x), Residual::Absolute).unwrap(),
            fit(&points(&n, &x), Residual::Relative).unwrap(),
            fit_robust(&points(&n, &x)).unwrap(),
        ] {
            close(usl.lambda, 1000.0, 1e-6);
            close(usl.sigma, 0.05, 1e-6);
            close(usl.kappa, 0.001, 1e-6);
            close(usl.peak_at.unwrap(), 30.822_070_015, 1e-6);
            close(usl.efficiency(1.0), 1.0, 1e-9);
        }
    }

    #[test]
    fn one_bad_window_does_not_bend_the_robust_fit() {
        let n = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];
        let truth = Usl {
            lambda: 1000.0,
            sigma: 0.05,
            kappa: 0.001,
            error: 0.0,
            peak_at: None,
            peak: None,
        };
        let mut all = Vec::new();
        for (i, &n) in n.iter().enumerate() {
            for (j, noise) in [0.99, 1.0, 1.01].into_iter().enumerate() {
                let stuck = i == 5 && j == 1;
                all.push((n, truth.at(n) * if stuck { 0.02 } else { noise }));
            }
        }
        let usl = fit_robust(&all).unwrap();
        close(usl.kappa, 0.001, 0.05);
        close(usl.sigma, 0.05, 0.10);
        let plain = fit(&all, Residual::Relative).unwrap();
        assert!((plain.kappa / 0.001 - 1.0).abs() > (usl.kappa / 0.001 - 1.0).abs());
    }

    #[test]
    fn no_peak_is_claimed_that_was_not_approached() {
        let linear = fit_robust(&[(1.0, 10.0), (2.0, 20.0), (4.0, 40.0), (8.0, 80.0)]).unwrap();
        assert_eq!((linear.peak_at, linear.peak), (None, None));
        assert!(linear.sigma < 1e-9 && linear.kappa < 1e-9, "{linear:?}");
        // Amdahl's law has no peak either.
        let amdahl = |n: f64| 10.0 * n / (1.0 + 0.2 * (n - 1.0));
        let points: Vec<(f64, f64)> = [1.0, 2.0, 4.0, 8.0, 16.0]
            .iter()
            .map(|&n| (n, amdahl(n)))
            .collect();
        let found = fit_robust(&points).unwrap();
        close(found.sigma, 0.2, 1e-6);
        assert_eq!(found.peak_at, None);
        assert_eq!(fit_robust(&points[..2]), None);
        assert_eq!(fit_robust(&[(1.0, 1.0), (2.0, 0.0), (3.0, 1.0)]), None);
    }
}

//! Long series: binary segmentation, which does not ask each split whether it is beyond chance
//! but pays for it.

/// What a change costs in units of `ln n`: the main term of the modified information criterion for
/// changes of a mean (Zhang & Siegmund 2007).
const PENALTY: f64 = 3.0;
/// Most changes that are looked for: the default of the R package changepoint (Killick & Eckley
/// 2014).
const CHANGES_MOST: usize = 5;

/// Changes of the mean of a series by binary segmentation (Scott & Knott 1974): indexes of the
/// first values of new levels, ascending, at most [`CHANGES_MOST`].
///
/// The series is standardised first, so that the cost of a change, `3 ln n`, is in units of its
/// variance. What changes contribute to that makes the search careful.
pub fn segments(values: &[f64]) -> Vec<usize> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    let variance = squares / (n - 1.0);
    if variance <= 0.0 || values.len() < 2 {
        return Vec::new();
    }
    let mut sums = Vec::with_capacity(values.len() + 1);
    sums.push(0.0);
    for value in values {
        sums.push(sums[sums.len() - 1] + (value - mean));
    }
    let mut bounds = vec![0, values.len()];
    let least = PENALTY * n.ln() * variance;
    while bounds.len() < CHANGES_MOST + 2 {
        let best = bounds
            .windows(2)
            .filter_map(|pair| best_gain(&sums, pair[0], pair[1]))
            .max_by(|a, b| a.1.total_cmp(&b.1));
        match best {
            Some((at, gain)) if gain > least => bounds.push(at),
            _ => break,
        }
        bounds.sort_unstable();
    }
    bounds[1..bounds.len() - 1].to_vec()
}

/// The split of `from..to` that takes most off the sum of squares, and how much.
fn best_gain(sums: &[f64], from: usize, to: usize) -> Option<(usize, f64)> {
    let length = (to - from) as f64;
    let gain = |at: usize| {
        let left = (at - from) as f64;
        let off = sums[at] - sums[from] - left / length * (sums[to] - sums[from]);
        off * off * length / (left * (length - left))
    };
    (from + 1..to)
        .map(|at| (at, gain(at)))
        .max_by(|a, b| a.1.total_cmp(&b.1))
}

//! ED-PELT (Haynes, Fearnhead & Eckley 2017), for comparison: changes of the whole distribution.
//!
//! With the choices of AndreyAkinshin/perfolizer, whose published lists are the tests.

/// Changes: indexes of the first values of new segments, ascending.
pub(crate) fn ed_pelt(values: &[f64]) -> Vec<usize> {
    let n = values.len();
    if n < 3 {
        return Vec::new();
    }
    let costs = Costs::new(values);
    let penalty = 3.0 * (n as f64).ln();
    let mut best = vec![0.0; n + 1];
    best[0] = -penalty;
    let mut previous = vec![0; n + 1];
    let mut candidates = vec![0];
    for end in 1..=n {
        let total = |&begin: &usize| best[begin] + costs.cost(begin, end) + penalty;
        let totals: Vec<f64> = candidates.iter().map(total).collect();
        let mut chosen = 0;
        for (index, cost) in totals.iter().enumerate() {
            if *cost < totals[chosen] {
                chosen = index;
            }
        }
        best[end] = totals[chosen];
        previous[end] = candidates[chosen];
        let limit = best[end] + penalty;
        let mut index = 0;
        candidates.retain(|_| {
            index += 1;
            totals[index - 1] < limit
        });
        candidates.push(end);
    }
    let mut places = Vec::new();
    let mut at = previous[n];
    while at > 0 {
        places.push(at);
        at = previous[at];
    }
    places.reverse();
    places
}

/// Sums for the cost of a segment: for each of some quantiles, twice the values below it.
struct Costs {
    sums: Vec<Vec<u32>>,
    scale: f64,
}

impl Costs {
    fn new(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let count = ((4.0 * n.ln()).ceil() as usize).min(values.len());
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        // More quantiles in the tails than in the middle.
        let threshold = |i: usize| {
            let z = -1.0 + (2 * i + 1) as f64 / count as f64;
            let p = 1.0 / (1.0 + (2.0 * n - 1.0).powf(-z));
            sorted[((n - 1.0) * p) as usize]
        };
        let sums = (0..count)
            .map(|i| {
                let t = threshold(i);
                let twice = |v: &f64| u32::from(*v < t) + u32::from(*v <= t);
                let mut sum = 0;
                std::iter::once(0)
                    .chain(values.iter().map(|v| {
                        sum += twice(v);
                        sum
                    }))
                    .collect()
            })
            .collect();
        let scale = -2.0 * (2.0 * n - 1.0).ln() / count as f64;
        Self { sums, scale }
    }

    fn cost(&self, begin: usize, end: usize) -> f64 {
        let length = (end - begin) as f64;
        let term = |sums: &Vec<u32>| {
            let share = f64::from(sums[end] - sums[begin]) / 2.0 / length;
            if share > 0.0 && share < 1.0 {
                length * (share * share.ln() + (1.0 - share) * (1.0 - share).ln())
            } else {
                0.0
            }
        };
        self.scale * self.sums.iter().map(term).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::ed_pelt;

    /// `EdPeltTests.cs` of perfolizer, whose indexes are those of the last values of segments.
    #[test]
    fn published_lists_are_met() {
        let step = [[0.0; 5].as_slice(), &[100.0; 4]].concat();
        assert_eq!(ed_pelt(&step), [5]);
        let stairs = [[0.0; 6], [1.0; 6], [2.0; 6]].concat();
        assert_eq!(ed_pelt(&stairs), [6, 12]);
        let climb: Vec<f64> = (1..=1000).map(f64::from).collect();
        let last = [
            15, 47, 79, 129, 204, 306, 432, 565, 691, 793, 868, 918, 950, 982,
        ];
        assert_eq!(ed_pelt(&climb), last.map(|index| index + 1));
        let none = [
            3240.0, 3207.0, 2029.0, 3028.0, 3021.0, 2624.0, 3290.0, 2823.0, 3573.0,
        ];
        assert!(ed_pelt(&none).is_empty());
    }
}

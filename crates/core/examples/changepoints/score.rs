//! The scores of the Turing Change Point Dataset (van den Burg & Williams 2020), with their
//! published examples as tests.

use std::collections::BTreeSet;

/// Places this close to an annotated one are right.
const MARGIN: usize = 5;

/// Annotated places that are found, each found place counting once.
fn true_positives(truth: &BTreeSet<usize>, found: &BTreeSet<usize>) -> usize {
    let mut left = found.clone();
    let mut hits = 0;
    for &place in truth {
        let near = left.iter().filter(|x| x.abs_diff(place) <= MARGIN);
        if let Some(&nearest) = near.min_by_key(|x| (x.abs_diff(place), **x)) {
            left.remove(&nearest);
            hits += 1;
        }
    }
    hits
}

/// The F1 measure against several annotators; index 0 is a change in every list.
pub(crate) fn f1(annotations: &[Vec<usize>], found: &[usize]) -> f64 {
    let with_start =
        |places: &[usize]| -> BTreeSet<usize> { places.iter().copied().chain([0]).collect() };
    let truths: Vec<BTreeSet<usize>> = annotations.iter().map(|a| with_start(a)).collect();
    let found = with_start(found);
    let all: BTreeSet<usize> = truths.iter().flatten().copied().collect();
    let precision = true_positives(&all, &found) as f64 / found.len() as f64;
    let recalled =
        |truth: &BTreeSet<usize>| true_positives(truth, &found) as f64 / truth.len() as f64;
    let recall = truths.iter().map(recalled).sum::<f64>() / truths.len() as f64;
    2.0 * precision * recall / (precision + recall)
}

/// The covering of the annotated segmentations by the found one, averaged over annotators.
pub(crate) fn cover(annotations: &[Vec<usize>], found: &[usize], n: usize) -> f64 {
    let segments = |places: &[usize]| -> Vec<(usize, usize)> {
        let inside = places.iter().copied().filter(|&p| p > 0 && p < n);
        let bounds: BTreeSet<usize> = inside.chain([0, n]).collect();
        let bounds: Vec<usize> = bounds.into_iter().collect();
        bounds.windows(2).map(|pair| (pair[0], pair[1])).collect()
    };
    let found = segments(found);
    let overlap = |a: (usize, usize), b: (usize, usize)| {
        let shared = a.1.min(b.1).saturating_sub(a.0.max(b.0)) as f64;
        shared / ((a.1 - a.0 + b.1 - b.0) as f64 - shared)
    };
    let covered = |truth: &Vec<usize>| -> f64 {
        let best = |s: (usize, usize)| found.iter().map(|&f| overlap(s, f)).fold(0.0, f64::max);
        let truth = segments(truth).into_iter();
        truth.map(|s| (s.1 - s.0) as f64 * best(s)).sum::<f64>() / n as f64
    };
    annotations.iter().map(covered).sum::<f64>() / annotations.len() as f64
}

#[cfg(test)]
mod tests {
    use super::{cover, f1};

    fn assert_close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
    }

    /// The examples in `analysis/scripts/metrics.py` of alan-turing-institute/TCPDBench.
    #[test]
    fn published_examples_are_met() {
        let annotations = [vec![10, 20], vec![11, 20], vec![10], vec![0, 5]];
        assert_close(f1(&annotations, &[10, 20]), 1.0);
        let annotations = [vec![], vec![10], vec![50]];
        assert_close(f1(&annotations, &[10]), 0.909_090_909_090_909_1);
        assert_close(f1(&annotations, &[]), 0.8);
        let annotations = [vec![10, 20], vec![10], vec![0, 5]];
        assert_close(cover(&annotations, &[10, 20], 45), 0.796_296_296_296_296_3);
        let annotations = [vec![], vec![10], vec![40]];
        assert_close(cover(&annotations, &[10], 45), 0.795_414_462_081_128_6);
        assert_close(cover(&annotations, &[], 45), 0.818_930_041_152_263_4);
    }
}

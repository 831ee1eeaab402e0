use slowpath_core::stats::spread::{
    INCONCLUSIVE_ABOVE, Steadiness, UNSTEADY_ABOVE, confidence, mean_range, spread,
};

use super::grids::Noise;
use super::vectors::{assert_close, number, numbers, vectors};

#[test]
fn mean_range_of_vectors() {
    let vectors = vectors();
    for runs in [2, 3, 4, 5, 6, 7, 8, 10, 15, 20] {
        let expected = number(&vectors, &["d2", &runs.to_string()]);
        assert_close(mean_range(runs), expected, 1e-9);
    }
}

#[test]
fn confidence_of_vectors() {
    let vectors = vectors();
    for runs in [2, 3, 4, 5, 6, 7, 8, 10] {
        let path = ["median_minmax_coverage_by_runs", &runs.to_string()];
        assert_close(confidence(runs), number(&vectors, &path), 1e-12);
    }
    assert_close(confidence(1), 0.0, 0.0);
}

#[test]
fn three_runs() {
    let found = spread(&[11.0, 9.5, 10.0]).unwrap();
    assert_eq!(found.runs, 3);
    assert_close(found.median, 10.0, 1e-12);
    assert_close(found.low, 9.5, 0.0);
    assert_close(found.high, 11.0, 0.0);
    assert_close(found.confidence, 0.75, 1e-12);
    assert_close(found.spread, 0.15, 1e-12);
    assert_close(found.comparable, 0.15, 1e-12);
    assert_eq!(found.steadiness, Steadiness::Steady);
}

#[test]
fn the_limits_of_twenty_and_thirty_per_cent() {
    let judge = |high| spread(&[100.0, 100.0, high]).unwrap().steadiness;
    assert_eq!(judge(120.0), Steadiness::Steady);
    assert_eq!(judge(121.0), Steadiness::Unsteady);
    assert_eq!(judge(130.0), Steadiness::Unsteady);
    assert_eq!(judge(131.0), Steadiness::Inconclusive);
    assert_eq!(spread(&[1.0, 9.0]).unwrap().steadiness, Steadiness::Unknown);
    assert_eq!(spread(&[1.0]).unwrap().steadiness, Steadiness::Unknown);
    assert!(spread(&[]).is_none());
}

/// A range that five runs should not show is nothing special among twenty.
#[test]
fn more_runs_may_differ_more() {
    let figures = |runs: u32| -> Vec<f64> {
        let step = 28.0 / f64::from(runs - 1);
        (0..runs).map(|run| 86.0 + f64::from(run) * step).collect()
    };
    let five = spread(&figures(5)).unwrap();
    assert_close(five.comparable, 0.28, 1e-9);
    assert_eq!(five.steadiness, Steadiness::Unsteady);
    let twenty = spread(&figures(20)).unwrap();
    assert_close(twenty.spread, 0.28, 1e-9);
    assert_close(
        twenty.comparable,
        0.28 * 2.325_928_947 / 3.734_950_120,
        1e-8,
    );
    assert_eq!(twenty.steadiness, Steadiness::Steady);
}

#[test]
fn runs_of_nothing_do_not_differ() {
    let found = spread(&[0.0, 0.0, 0.0]).unwrap();
    assert_close(found.spread, 0.0, 0.0);
    assert_eq!(found.steadiness, Steadiness::Steady);
    // Most runs at 0 and one not: there is no scale to measure the difference by.
    assert_eq!(
        spread(&[0.0, 0.0, 1.0]).unwrap().steadiness,
        Steadiness::Inconclusive
    );
}

#[test]
fn an_even_number_of_runs_has_a_median_between() {
    assert_close(spread(&[4.0, 1.0, 3.0, 2.0]).unwrap().median, 2.5, 1e-12);
}

/// How often runs that scatter normally exceed the limits, as simulated with other software and
/// printed with three decimals.
#[test]
fn how_often_the_limits_are_exceeded() {
    let vectors = vectors();
    let family = "P(spread>20%), P(spread>30%) normal runs";
    let mut noise = Noise::new(4);
    for (runs, count) in [(3, 2500), (5, 2500), (10, 400), (20, 400)] {
        let campaigns: Vec<Vec<f64>> = (0..count)
            .map(|_| (0..runs).map(|_| noise.normal()).collect())
            .collect();
        for cv in [0.03, 0.05, 0.08, 0.10, 0.12, 0.15] {
            let mut exceeded = [0, 0];
            for campaign in &campaigns {
                let figures: Vec<f64> = campaign.iter().map(|z| 1.0 + cv * z).collect();
                let found = spread(&figures).unwrap().spread;
                exceeded[0] += u32::from(found > UNSTEADY_ABOVE);
                exceeded[1] += u32::from(found > INCONCLUSIVE_ABOVE);
            }
            let expected = numbers(&vectors, &[family, &format!("n={runs} cv={cv:.2}")]);
            for (exceeded, expected) in exceeded.into_iter().zip(expected) {
                let share = f64::from(exceeded) / f64::from(count);
                // Four standard errors of this share and of theirs, a thousandth for printing.
                let allowed = 4.0 * (2.0 * expected * (1.0 - expected) / f64::from(count)).sqrt();
                assert!(
                    (share - expected).abs() < allowed + 1e-3,
                    "{runs} {cv}: {share}"
                );
            }
        }
    }
}

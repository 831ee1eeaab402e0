//! Trends against pymannkendall 1.4 and scipy.stats.theilslopes 1.16, and novelty.

use slowpath_core::stats::novelty::novelty;
use slowpath_core::stats::trend::{mann_kendall, slope, trend, trend_at};

use super::change::NILE;
use super::vectors::assert_close;

#[test]
fn trends_agree_with_python() {
    let nile = NILE.map(f64::from);
    let found = trend(&nile).unwrap();
    assert_close(found.slope, -2.6, 1e-12);
    assert_close(found.gain, -2.6 * 99.0, 1e-12);
    assert_close(found.p, 3.658_262_921_657e-5, 1e-9);
    // With ties.
    let tied = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0, 5.0, 8.0];
    let found = trend(&tied).unwrap();
    assert_close(found.slope, 0.366_666_666_666, 1e-9);
    assert_close(found.p, 0.095_292_838_023_456, 1e-9);
}

#[test]
fn what_does_not_move_has_no_trend() {
    assert!(mann_kendall(&[7.0; 12]) >= 1.0);
    assert_eq!(trend(&[1.0, 2.0, 3.0]), None);
    assert_eq!(
        slope([(1.0, 5.0), (1.0, 9.0)]),
        None,
        "one place has no slope"
    );
    assert_eq!(slope([(1.0, 5.0), (3.0, 9.0)]), Some(2.0));
}

#[test]
fn a_new_value_is_held_against_an_interval_for_one_value() {
    // Logarithms of 1 to 4 have s = 0.60117; 5.8409 s sqrt(1.25) on either side at 1 %.
    let earlier = [1.0, 2.0, 3.0, 4.0];
    let found = novelty(&earlier, 10.0, 0.01).unwrap();
    assert_close(found.expected, 24_f64.powf(0.25), 1e-12);
    assert_close(found.high / found.low, f64::exp(2.0 * 3.925_826), 1e-3);
    assert_close(found.against.ratio, 10.0 / 24_f64.powf(0.25), 1e-12);
    assert!(found.against.p > 0.01 && found.against.p < 0.2 && found.high > 10.0);
    // An end of the interval is missed with just that chance.
    let end = novelty(&earlier, found.high, 0.01).unwrap();
    assert_close(end.against.p, 0.01, 1e-6);
    assert_eq!(novelty(&earlier[..3], 1.0, 0.01), None);
    assert_eq!(novelty(&earlier, 0.0, 0.01), None);
    // Equal values: anything else is new, the same is not.
    // Values that do not scatter at all say as much as their order does: one in seven each way.
    assert_close(
        novelty(&[5.0; 6], 5.1, 0.01).unwrap().against.p,
        2.0 / 7.0,
        1e-12,
    );
    assert!(novelty(&[5.0; 6], 5.0, 0.01).unwrap().against.p > 0.99);
}

#[test]
fn a_trend_at_places_of_its_own_gains_over_their_range() {
    let climb: Vec<(f64, f64)> = (0..7)
        .map(|at| (f64::from(2 * at), 10.0 + f64::from(at)))
        .collect();
    let found = trend_at(&climb).unwrap();
    assert_close(found.slope, 0.5, 1e-12);
    assert_close(found.gain, 6.0, 1e-12);
    assert_close(
        found.p,
        mann_kendall(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
        1e-12,
    );
    assert_eq!(trend_at(&climb[..3]), None);
}

//! What covariates explain, on data whose answer is known.

use slowpath_core::stats::explain::{Row, levels, threshold};

/// A number in `0..1` for each index: the golden ratio's multiples.
fn scattered(index: u32) -> f64 {
    (f64::from(index) * 0.618_033_988_749_895).fract()
}

/// 4000 requests in twenty stretches; `y` is given the covariate, another scattered number and the
/// stretch.
fn rows(y: impl Fn(f64, f64, u32) -> f64) -> Vec<Row> {
    let row = |i: u32| {
        let (x, other) = (scattered(i), scattered(i.wrapping_mul(7_919) + 13));
        let block = i / 200;
        Row {
            x,
            y: y(x, other, block),
            block,
        }
    };
    (0..4_000).map(row).collect()
}

#[test]
fn a_threshold_is_found_where_it_is() {
    let found = threshold(&rows(|x, other, _| {
        f64::from(u8::from(x >= 0.97)) * (80.0 + other)
    }));
    let found = found.unwrap();
    assert!((found.at - 0.97).abs() < 0.002, "{found:?}");
    assert!(found.explained.removed > 0.95 && found.explained.is_enough());
    assert!((found.halves.0 - found.halves.1).abs() < 0.005, "{found:?}");
}

#[test]
fn a_half_of_what_is_slow_may_have_another_reason() {
    let found = threshold(&rows(|x, other, _| {
        f64::from(u8::from(x >= 0.97 || other >= 0.98)) * 80.0
    }));
    let explained = found.unwrap().explained;
    assert!(
        (0.5..0.75).contains(&explained.removed),
        "{explained:?}: three of five"
    );
}

#[test]
fn slowness_of_its_own_is_explained_by_no_threshold() {
    for share in [0.9, 0.97, 0.99] {
        let found = threshold(&rows(|_, other, _| {
            f64::from(u8::from(other >= share)) * 80.0
        }));
        assert!(
            found.is_none_or(|found| !found.explained.is_enough()),
            "{share}"
        );
    }
}

#[test]
fn one_stall_explains_nothing_of_itself() {
    // All that is slow lies in one stretch, and the covariate identifies that stretch.
    let mut rows = rows(|_, _, block| f64::from(u8::from(block == 6)) * 80.0);
    for row in &mut rows {
        row.x = f64::from(row.block);
    }
    assert_eq!(threshold(&rows), None);
    let told = levels(&rows);
    assert!(told.is_none_or(|told| !told.is_enough()), "{told:?}");
}

#[test]
fn levels_follow_a_law_and_no_heavy_tail() {
    let law = levels(&rows(|x, other, _| 10.0 + 40.0 * x + other)).unwrap();
    assert!(law.removed > 0.8 && law.least > 0.8, "{law:?}");
    let tail = levels(&rows(|_, other, _| (1.0 - other).powf(-0.8))).unwrap();
    assert!(tail.removed < 0.02, "{tail:?}");
    assert_eq!(levels(&rows(|_, _, _| 1.0)), None, "there is no scatter");
}

#[test]
fn too_little_is_not_judged() {
    assert_eq!(threshold(&[]), None);
    assert_eq!(levels(&[]), None);
    let few = &rows(|x, _, _| x)[..8];
    assert_eq!(threshold(few), None);
}

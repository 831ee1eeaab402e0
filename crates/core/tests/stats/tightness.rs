use proptest::prelude::*;
use slowpath_core::stats::tightness::shortest;

use super::laws::laws;

#[test]
fn finds_the_densest_part() {
    let sorted = [1, 10, 11, 12, 13, 30, 60, 90];
    assert_eq!(shortest(&sorted, 0.5), Some((10, 13)));
    assert_eq!(shortest(&sorted, 0.25), Some((10, 11)));
    assert_eq!(shortest(&sorted, 1.0), Some((1, 90)));
    assert_eq!(shortest(&sorted, 0.0), Some((1, 1)));
    assert_eq!(shortest::<u64>(&[], 0.5), None);
}

/// The shorth is robust where the range is not.
#[test]
fn outliers_do_not_move_it() {
    let mut sorted: Vec<u64> = (1000..1100).collect();
    let clean = shortest(&sorted, 0.5);
    sorted.extend([1_000_000; 40]);
    sorted.sort_unstable();
    let (low, high) = shortest(&sorted, 0.5).unwrap();
    assert_eq!(clean, Some((1000, 1049)));
    assert_eq!((low, high), (1000, 1069));
}

proptest! {
    #![proptest_config(laws(256))]

    #[test]
    fn holds_its_share_and_no_shorter_one_does(
        mut values in prop::collection::vec(0u64..500, 1..60), share in 0.0..1.0,
    ) {
        values.sort_unstable();
        let (low, high) = shortest(&values, share).unwrap();
        let held = |low, high| values.iter().filter(|&value| (low..=high).contains(value)).count();
        let wanted = share * values.len() as f64;
        prop_assert!(held(low, high) as f64 >= wanted);
        for &other in &values {
            if high > low {
                prop_assert!((held(other, other + (high - low) - 1) as f64) < wanted);
            }
        }
    }
}

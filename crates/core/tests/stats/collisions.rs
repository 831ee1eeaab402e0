//! Collisions of keys, and the bend of a curve.

use slowpath_core::stats::kneedle::knee;

use super::collided::{any, behind_first, closed, keys_for, mutual, mutual_cost, mutual_sd, open};
use super::vectors::{assert_close, number, numbers, vectors};

fn uniform(keys: u32) -> Vec<f64> {
    vec![1.0 / f64::from(keys); keys as usize]
}

/// Zipf's law with exponent 1.
fn zipf(keys: u32) -> Vec<f64> {
    let sum: f64 = (1..=keys).map(|rank| 1.0 / f64::from(rank)).sum();
    (1..=keys).map(|rank| 1.0 / f64::from(rank) / sum).collect()
}

#[test]
fn equal_keys_of_vectors() {
    let vectors = vectors();
    for (keys, users) in [
        (100, 2),
        (100, 28),
        (1000, 50),
        (365, 23),
        (180, 50),
        (20, 10),
    ] {
        let name = format!("K={keys} N={users}");
        let of = |key| number(&vectors, &["collisions", &name, key]);
        let (k, n) = (f64::from(keys), f64::from(users));
        assert_close(mutual(&uniform(keys), n), of("f"), 1e-9);
        assert_close(mutual_sd(k, n), of("sd"), 1e-9);
        assert_close(any(k, users), of("any_pair"), 1e-9);
        assert_close(keys_for(of("f"), n), k, 1e-9);
    }
    let first = "first-come serialised (all but the first on each key wait) uniform: \
                 1-K(1-(1-1/K)^N)/N";
    for (keys, users) in [(100, 28), (1000, 50), (20, 10)] {
        let path = ["collisions", first, &format!("K={keys} N={users}")];
        let expected = number(&vectors, &path);
        assert_close(
            behind_first(&uniform(keys), f64::from(users)),
            expected,
            1e-9,
        );
    }
    for users in [10_u32, 20, 50, 100] {
        let path = [
            "collisions",
            "solve K for 24% collided, N=10,20,50,100",
            &users.to_string(),
        ];
        assert_close(
            keys_for(0.24, f64::from(users)),
            number(&vectors, &path),
            1e-9,
        );
    }
}

#[test]
fn unequal_keys_of_vectors() {
    let vectors = vectors();
    let of = |key| number(&vectors, &["collisions", key]);
    let weights = zipf(100);
    // Simulated shares are known to about 0.0013.
    for (name, weights) in [
        ("mc K=100 N=28", &uniform(100)),
        ("mc zipf1 K=100 N=28", &weights),
    ] {
        let simulated = numbers(&vectors, &["collisions", name])[0];
        assert!((mutual(weights, 28.0) - simulated).abs() < 3.0 * 0.0013);
    }
    assert_close(mutual(&weights, 28.0), of("zipf1 K=100 N=28"), 1e-9);
    assert_close(
        behind_first(&weights, 28.0),
        of("first-come zipf1 K=100 N=28"),
        1e-9,
    );
    let under_way = 50.0 * 0.2;
    let name = "in-flight: sum w(1-exp(-lam w d)) lam=50/s d=.2s zipf1 K=100";
    assert_close(open(&weights, under_way), of(name), 1e-9);
    assert_close(
        open(&uniform(100), under_way),
        of("in-flight uniform K=100"),
        1e-9,
    );
    let name = "in-flight closed: sum w(1-(1-u w)^(N-1)), N=28,u=.3,zipf1";
    assert_close(closed(&weights, 28.0, 0.3), of(name), 1e-9);
    let mut costs = vec![1.0; 100];
    costs[..5].fill(5.0);
    let name = "cost weighted zipf1, c=5 on top5";
    assert_close(mutual_cost(&weights, &costs, 28.0), of(name), 1e-9);
}

/// Figure 2 of Satopää et al. 2011, and the throughputs of SPEC SDM91.
#[test]
fn knees_of_vectors() {
    let vectors = vectors();
    let of = |name, x, y| -> Vec<(f64, f64)> {
        let x = numbers(&vectors, &[name, x]);
        x.into_iter().zip(numbers(&vectors, &[name, y])).collect()
    };
    let found = knee(&of("kneedle_fig2", "x", "y")).unwrap();
    // The points of the figure are printed with four decimals.
    assert!((found - number(&vectors, &["kneedle_fig2", "knee"])).abs() < 1e-4);
    let found = knee(&of("usl_specsdm91", "N", "X")).unwrap();
    assert_close(found, number(&vectors, &["kneedle_specsdm91", "knee"]), 0.0);
}

#[test]
fn straight_lines_have_no_knee() {
    let line: Vec<(f64, f64)> = (0..10)
        .map(|i| (f64::from(i), 3.0 * f64::from(i)))
        .collect();
    assert_eq!(knee(&line), None);
    assert_eq!(knee(&line[..2]), None);
    assert_eq!(knee(&[]), None);
    assert_eq!(knee(&[(1.0, 2.0), (2.0, 2.0), (3.0, 2.0)]), None);
}

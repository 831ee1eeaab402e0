//! Verdicts over a family of comparisons.

use slowpath_core::stats::family::{
    Member, Verdict, compare, disagreeing_most, noise_floor, ratio_to_claim,
};
use slowpath_core::stats::log_ratio::NotComparable;
use slowpath_core::stats::paired::of_differences;

use super::vectors::assert_close;

/// Five differences around a centre, whose standard deviation is `sd`.
fn around(centre: f64, sd: f64, turn: usize) -> Vec<f64> {
    // Sum 0, squares 10: a variance of 2.5 with four degrees of freedom.
    let mut wave = [-2.0, -1.0, 0.0, 1.0, 2.0];
    wave.rotate_left(turn % 5);
    wave.map(|w: f64| centre + w * sd / 2.5f64.sqrt()).to_vec()
}

fn member(differences: Vec<f64>, ratio_least: f64) -> Member {
    Member {
        level: 0,
        differences,
        ratio_least,
    }
}

fn verdicts(members: &[Member]) -> Vec<Verdict> {
    let compared = compare(members);
    compared
        .into_iter()
        .map(|found| found.unwrap().verdict)
        .collect()
}

#[test]
fn a_claim_needs_three_things() {
    let mut one_sided = around(0.15, 0.01, 0);
    one_sided[0] = -0.01;
    one_sided[1] = -0.01;
    let members = [
        member(around(0.10, 0.01, 0), 1.05),
        member(around(0.04, 0.005, 1), 1.05),
        member(around(0.10, 0.01, 2), 1.15),
        member(around(-0.10, 0.01, 3), 1.05),
        member(around(0.0, 0.01, 4), 1.05),
        member(around(0.02, 0.2, 0), 1.05),
        member(one_sided, 1.05),
    ];
    let expected = [
        Verdict::Different,
        // Certain, and too small; yet not known to be within 5 %.
        Verdict::Equivalent,
        // Certain, and no more than this host shows by itself.
        Verdict::Undetermined,
        Verdict::Different,
        Verdict::Equivalent,
        Verdict::Undetermined,
        Verdict::Undetermined,
    ];
    assert_eq!(verdicts(&members), expected);
    let compared = compare(&members);
    let small = compared[1].unwrap();
    assert!(small.significant && !small.large);
    assert_eq!(
        (compared[6].unwrap().agreeing, compared[6].unwrap().pairs),
        (3, 5)
    );
}

/// One lucky p among many is no claim.
#[test]
fn the_family_raises_the_bar() {
    let lucky = around(0.10, 0.06, 0);
    let alone = compare(&[member(lucky.clone(), 1.05)])[0].unwrap();
    assert_eq!(alone.verdict, Verdict::Different, "{alone:?}");
    let mut members: Vec<Member> = (0..40)
        .map(|i| Member {
            level: 1,
            ..member(around(0.0, 0.06, i), 1.05)
        })
        .collect();
    members.push(member(lucky, 1.05));
    let found = compare(&members)[40].unwrap();
    assert_close(found.ratio.p, alone.ratio.p, 1e-12);
    assert!(found.adjusted_p > 0.05);
    assert_eq!(found.verdict, Verdict::Undetermined);
}

#[test]
fn levels_do_not_lend_each_other_their_scatter() {
    let quiet = |level| Member {
        level,
        ..member(around(0.03, 0.005, 0), 1.05)
    };
    let noisy = |i| Member {
        level: 9,
        ..member(around(0.0, 0.3, i), 1.05)
    };
    let mut apart: Vec<Member> = (0..12).map(noisy).collect();
    apart.push(quiet(1));
    let error = |members: &[Member]| compare(members)[12].unwrap().ratio.standard_error;
    let alone = error(&apart);
    apart[12] = quiet(9);
    assert!(error(&apart) > alone * 1.5);
}

#[test]
fn who_cannot_be_compared_does_not_count_in_the_family() {
    let found = compare(&[member(vec![0.1], 1.05), member(around(0.1, 0.01, 0), 1.05)]);
    assert_eq!(found[0], Err(NotComparable::TooFew { needs: 2, have: 1 }));
    let other = found[1].unwrap();
    assert_close(other.adjusted_p, other.ratio.p, 1e-12);
    assert!(compare(&[]).is_empty());
}

#[test]
fn what_is_claimed_is_twice_the_floor_and_five_per_cent() {
    assert_close(ratio_to_claim(None), 1.05, 1e-12);
    assert_close(ratio_to_claim(Some(1.01)), 1.05, 1e-12);
    assert_close(ratio_to_claim(Some(1.1)), 1.21, 1e-12);
    assert_close(ratio_to_claim(Some(1.0 / 1.1)), 1.21, 1e-12);
    let ratios = [0.02, -0.07].map(|centre| of_differences(&around(centre, 0.01, 0)).unwrap());
    assert_close(noise_floor(&ratios).unwrap(), 0.07f64.exp(), 1e-12);
    assert_eq!(noise_floor(&[]), None);
}

/// R: `max(1, max(which(pbinom(0:n, n, 0.5) <= 0.10)) - 1)`.
#[test]
fn as_many_pairs_agree_as_chance_does_not_make() {
    let pairs = [3, 5, 8, 9, 10, 15, 20, 40, 1000];
    let most = pairs.map(disagreeing_most);
    assert_eq!(most, [1, 1, 1, 2, 2, 4, 6, 15, 479]);
}

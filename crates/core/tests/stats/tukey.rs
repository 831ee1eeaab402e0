use slowpath_core::stats::tukey::{Class, Classes, Fences};

use super::grids::{exponential, lognormal, mixture, normal};
use super::vectors::{assert_close, number, numbers, vectors};

#[test]
fn fences_and_classes_of_vectors() {
    let vectors = vectors();
    let values = numbers(&vectors, &["tukey", "x"]);
    let mut sorted = values.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    let fences = Fences::linear(&sorted).unwrap();
    let expected = numbers(&vectors, &["tukey", "fences"]);
    let found = [
        fences.low_severe,
        fences.low_mild,
        fences.high_mild,
        fences.high_severe,
    ];
    for (found, expected) in found.into_iter().zip(expected) {
        assert_close(found, expected, 1e-12);
    }
    let labels = vectors["tukey"]["labels"].as_array().unwrap();
    for (value, label) in values.into_iter().zip(labels) {
        let expected = match label.as_str().unwrap() {
            "ok" => Class::Inside,
            "low mild" => Class::LowMild,
            "high mild" => Class::HighMild,
            "high severe" => Class::HighSevere,
            other => panic!("no class {other}"),
        };
        assert_eq!(fences.classify(value), expected, "{value}");
    }
}

fn share(fences: Fences, sorted: &[u64], class: Class) -> f64 {
    let inside = sorted
        .iter()
        .filter(|&&ns| fences.classify(ns as f64) == class);
    inside.count() as f64 / sorted.len() as f64
}

/// On logarithms a log-normal sample looks normal: 0.35 % beyond each inner fence.
#[test]
fn a_log_normal_sample_is_clean_on_its_own_scale() {
    let sorted = mixture(&[lognormal(20_000, 5.0, 1.0)]);
    let fences = Fences::logarithmic(&sorted).unwrap();
    assert!((share(fences, &sorted, Class::HighMild) - 0.003_487).abs() < 1e-4);
    assert!((share(fences, &sorted, Class::LowMild) - 0.003_487).abs() < 1e-4);
    assert!(share(fences, &sorted, Class::HighSevere) < 1e-4);
}

#[test]
fn a_linear_scale_blames_a_clean_exponential() {
    let sorted = mixture(&[exponential(20_000, 10.0, 0.0)]);
    let floats: Vec<f64> = sorted.iter().map(|&ns| ns as f64).collect();
    let fences = Fences::linear(&floats).unwrap();
    assert!((share(fences, &sorted, Class::HighMild) - 0.038_853).abs() < 2e-4);
    assert!((share(fences, &sorted, Class::HighSevere) - 0.009_259).abs() < 2e-4);
}

#[test]
fn extremes_have_fences() {
    assert!(Fences::linear(&[]).is_none());
    assert!(Fences::logarithmic(&[]).is_none());
    let fences = Fences::logarithmic(&[0, 0, 0, 0]).unwrap();
    assert_eq!(fences.classify(1.0), Class::Inside);
    assert_eq!(fences.classify(2.0), Class::HighSevere);
    assert_eq!(fences.classify(0.5), Class::LowSevere);
}

/// Shares beyond linear fences of clean distributions, integrated: what a linear scale would
/// blame on each.
#[test]
fn false_shares_of_vectors() {
    let vectors = vectors();
    for (name, sorted) in [
        (
            "tukey_false_share_normal",
            mixture(&[normal(40_000, 100.0, 10.0)]),
        ),
        (
            "tukey_false_share_exponential",
            mixture(&[exponential(40_000, 10.0, 0.0)]),
        ),
        (
            "tukey_false_share_lognormal s=.5",
            mixture(&[lognormal(40_000, 5.0, 0.5)]),
        ),
        (
            "tukey_false_share_lognormal s=1",
            mixture(&[lognormal(40_000, 5.0, 1.0)]),
        ),
    ] {
        let floats: Vec<f64> = sorted.iter().map(|&ns| ns as f64).collect();
        let fences = Fences::linear(&floats).unwrap();
        for (figure, class) in [
            ("high_mild", Class::HighMild),
            ("high_severe", Class::HighSevere),
        ] {
            let expected = number(&vectors, &[name, figure]);
            assert!(
                (share(fences, &sorted, class) - expected).abs() < 2e-4,
                "{name} {figure}"
            );
        }
    }
}

#[test]
fn classes_share_out_a_run() {
    // Two far out on either side, one mildly so, of a run that is else clean.
    let mut sorted = mixture(&[lognormal(2000, 5.0, 0.2)]);
    sorted.extend([1_000, 2_000, 9_500_000, 80_000_000, 90_000_000]);
    sorted.sort_unstable();
    let found = Classes::of(&sorted).unwrap();
    assert_eq!((found.low_severe, found.high_severe), (2, 2));
    assert_eq!(found.low_mild + found.inside + found.high_mild, 2001);
    let fences = Fences::logarithmic(&sorted).unwrap();
    let count = |class| (share(fences, &sorted, class) * sorted.len() as f64).round() as u64;
    assert_eq!(found.high_mild, count(Class::HighMild));
    assert_eq!(found.inside, count(Class::Inside));
    assert_eq!(Classes::of(&[]), None);
}

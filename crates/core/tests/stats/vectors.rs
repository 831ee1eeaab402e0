//! Reference figures from R, scipy and exact arithmetic, and how closely they must be met.

use serde_json::Value;

/// The reference figures.
pub(super) fn vectors() -> Value {
    serde_json::from_str(include_str!("../data/vectors.json")).unwrap()
}

/// The number at a path of keys.
pub(super) fn number(vectors: &Value, path: &[&str]) -> f64 {
    let found = path.iter().fold(vectors, |value, key| &value[*key]);
    found
        .as_f64()
        .unwrap_or_else(|| panic!("no number at {path:?}"))
}

/// The list of numbers at a path of keys.
pub(super) fn numbers(vectors: &Value, path: &[&str]) -> Vec<f64> {
    let found = path.iter().fold(vectors, |value, key| &value[*key]);
    let list = found
        .as_array()
        .unwrap_or_else(|| panic!("no list at {path:?}"));
    list.iter().map(|value| value.as_f64().unwrap()).collect()
}

/// Asserts that two figures agree within a relative `tolerance`.
#[track_caller]
pub(super) fn assert_close(found: f64, expected: f64, tolerance: f64) {
    let allowed = tolerance * expected.abs().max(f64::MIN_POSITIVE);
    assert!(
        (found - expected).abs() <= allowed,
        "found {found}, expected {expected}"
    );
}

use slowpath_core::stats::comb::{comb, fold};

use super::grids::{MS, Noise, lognormal, mixture, normal};
use super::vectors::{assert_close, number, numbers, vectors};

fn sorted_ns(seconds: &[f64]) -> Vec<u64> {
    let mut sorted: Vec<u64> = seconds
        .iter()
        .map(|second| (second * 1e9).round() as u64)
        .collect();
    sorted.sort_unstable();
    sorted
}

#[test]
fn folds_of_vectors() {
    let vectors = vectors();
    let values = numbers(&vectors, &["comb", "x"]);
    for (name, step) in [
        ("0.05", 0.05),
        ("0.1", 0.1),
        ("0.2", 0.2),
        ("0.25", 0.25),
        ("0.3", 0.3),
        ("0.4", 0.4),
    ] {
        let (r, _) = fold(&values, step).unwrap();
        assert_close(r, number(&vectors, &["comb", "R", name]), 1e-9);
    }
    let (_, offset) = fold(&values, 0.2).unwrap();
    assert_close(offset, number(&vectors, &["comb", "offset_at_0_2"]), 1e-9);
    assert!(fold(&[], 1.0).is_none());
    let found = comb(&sorted_ns(&values)).unwrap();
    assert_close(found.step_ns, 0.2e9, 0.01);
    let places: Vec<u32> = found.teeth.iter().map(|tooth| tooth.steps).collect();
    assert_eq!(places, [0, 1, 2, 3, 4]);
    assert!(found.p < 1e-3, "{found:?}");
}

/// Teeth of a back-off that doubles stand at 0, 1, 3 and 7.
#[test]
fn a_back_off_is_a_comb_of_its_first_wait() {
    let mut noise = Noise::new(1);
    let values: Vec<f64> = (0..400)
        .map(|i| [0.0, 1.0, 3.0, 7.0][i % 4] + 0.012 * (0.3 * noise.normal()).exp())
        .collect();
    let found = comb(&sorted_ns(&values)).unwrap();
    assert_close(found.step_ns, 1e9, 0.001);
    assert!((found.step_ns - 1e9).abs() <= 4.0 * found.step_error_ns);
    assert_eq!(found.teeth[3].steps, 7);
}

/// The largest step is the answer, not its half, and wide teeth do not bias it.
#[test]
fn the_step_is_not_its_fraction() {
    for sd in [2.0_f64, 10.0, 20.0] {
        let sample = mixture(&[
            normal(500, 40.0, sd.min(8.0)),
            normal(300, 240.0, sd),
            normal(150, 440.0, sd),
            normal(50, 640.0, sd),
        ]);
        let found = comb(&sample).unwrap();
        assert_close(found.step_ns, 200.0 * MS, 0.005);
        assert!((found.offset_ns - 40.0 * MS).abs() < 2.0 * MS);
        assert_eq!(found.teeth.len(), 4);
        assert_close(found.teeth[1].share, 0.3, 0.02);
    }
}

#[test]
fn what_has_no_step_is_no_comb() {
    for sample in [
        mixture(&[lognormal(3000, 5.0, 0.5)]),
        mixture(&[lognormal(760, 5.0, 0.3), normal(240, 440.0, 8.0)]),
        // Three places that no step of some size joins.
        mixture(&[
            normal(500, 20.0, 1.0),
            normal(300, 95.0, 1.0),
            normal(200, 247.0, 1.0),
        ]),
        vec![7; 500],
        vec![],
    ] {
        assert_eq!(comb(&sample), None);
    }
}

/// What comes on top of a sleep has a tail towards the next tooth.
#[test]
fn tails_of_teeth_do_not_draw_them_together() {
    let mut noise = Noise::new(3);
    let values: Vec<f64> = (0..4000)
        .map(|i| {
            let tooth = [0.0, 0.0, 0.0, 0.0, 0.01, 0.01, 0.02, 0.03][i % 8];
            0.0025 + tooth + 0.001 * -noise.uniform().ln()
        })
        .collect();
    let found = comb(&sorted_ns(&values)).unwrap();
    assert_close(found.step_ns, 10.0 * MS, 0.003);
    assert!((found.offset_ns - 3.2 * MS).abs() < 0.1 * MS, "{found:?}");
}

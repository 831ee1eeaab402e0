//! How many runs, and what they say.

use slowpath_core::stats::moderated::Prior;
use slowpath_core::stats::repeats::{
    ALPHA_PER_LOOK, Next, Stopping, expected_half_width, history, log_mean,
};

use super::grids::Noise;
use super::vectors::assert_close;

/// `t.test(log(x))` of R for the five figures, exponentiated.
#[test]
fn t_on_logarithms_of_five_runs() {
    let found = log_mean(&[101.0, 98.0, 103.0, 99.0, 100.0], None).unwrap();
    let logs = [101.0f64, 98.0, 103.0, 99.0, 100.0].map(f64::ln);
    let mean = logs.iter().sum::<f64>() / 5.0;
    let sd = (logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / 4.0).sqrt();
    let half = 2.776_445_105_198 * sd / 5.0f64.sqrt();
    assert_close(found.centre, mean.exp(), 1e-12);
    assert_close(found.sd_log, sd, 1e-12);
    assert_close(found.half_width_log, half, 1e-9);
    assert_close(found.low, (mean - half).exp(), 1e-9);
    assert_close(found.high, (mean + half).exp(), 1e-9);
    assert!(log_mean(&[1.0], None).is_err());
    assert!(log_mean(&[1.0, 0.0], None).is_err());
}

#[test]
fn history_narrows_what_three_runs_say() {
    let campaign = (0.06f64.powi(2), 4.0);
    assert_eq!(
        history(&[campaign, campaign]),
        None,
        "8 degrees are too few"
    );
    let prior = history(&[campaign; 3]).unwrap();
    assert_close(prior.df, 10.0, 0.0);
    assert_close(prior.variance, 0.0036, 1e-12);
    let figures = [1.0, 0.06f64.exp(), (-0.06f64).exp()];
    let alone = log_mean(&figures, None).unwrap();
    let informed = log_mean(&figures, Some(prior)).unwrap();
    assert_close(
        alone.half_width_log,
        4.302_652_73 * 0.06 / 3f64.sqrt(),
        1e-8,
    );
    assert_close(
        informed.half_width_log,
        2.178_812_83 * 0.06 / 3f64.sqrt(),
        1e-8,
    );
    assert_close(informed.sd_log, 0.06, 1e-12);
}

#[test]
fn a_long_history_is_fitted() {
    let campaigns: Vec<(f64, f64)> = (1..=12).map(|i| (1e-3 * f64::from(i * i), 4.0)).collect();
    let prior = history(&campaigns).unwrap();
    assert!(
        prior.df < 10.0,
        "campaigns that differ are worth less: {prior:?}"
    );
    let alike = history(&[(4e-3, 4.0); 12]).unwrap();
    assert_close(alike.df, 10.0, 0.0);
    assert_close(alike.variance, 4e-3, 1e-12);
}

/// Figures of which every two neighbours differ by this much on the logarithm.
fn figures(n: usize, sd: f64) -> Vec<f64> {
    (0..n)
        .map(|i| if i % 2 == 0 { sd } else { -sd })
        .map(f64::exp)
        .collect()
}

#[test]
fn runs_are_added_until_the_interval_is_narrow() {
    let rule = Stopping::default();
    assert_eq!(rule.next(&[], None), Next::Run(3));
    assert_eq!(rule.next(&figures(1, 0.0), None), Next::Run(2));
    assert_eq!(rule.next(&figures(3, 0.0), None), Next::Run(2));
    assert_eq!(rule.next(&figures(5, 0.01), None), Next::Narrow);
    assert_eq!(rule.next(&figures(5, 0.08), None), Next::Run(1));
    assert_eq!(rule.next(&figures(9, 0.08), None), Next::Run(1));
    assert_eq!(rule.next(&figures(10, 0.08), None), Next::Exhausted);
    assert_eq!(rule.next(&[0.0; 10], None), Next::Exhausted);
    let two = Stopping { most: 2, ..rule };
    assert_eq!(two.next(&[], None), Next::Run(2));
    assert_eq!(two.next(&figures(2, 0.3), None), Next::Exhausted);
    // What the host showed before is believed: the same five are enough.
    let quiet = Prior {
        df: 10.0,
        variance: 1e-4,
    };
    assert_eq!(rule.next(&figures(5, 0.06), None), Next::Run(1));
    assert_eq!(rule.next(&figures(5, 0.06), Some(quiet)), Next::Narrow);
}

#[test]
fn the_number_of_runs_is_planned() {
    let rule = Stopping::default();
    assert_eq!(rule.expected(0.01), Some(5));
    assert_eq!(rule.expected(0.06), Some(9));
    assert_eq!(rule.expected(0.2), None);
    assert_close(expected_half_width(5, 0.06), 0.074_499_84, 1e-7);
    assert!(expected_half_width(1, 0.06).is_infinite());
}

/// Two looks at 5 and 10 pairs without a difference claim one in 5 % of all cases.
#[test]
fn looks_share_alpha() {
    use slowpath_core::stats::paired::of_differences;
    const CAMPAIGNS: u32 = 4000;
    let per_look = ALPHA_PER_LOOK[1];
    assert!((per_look - 0.029).abs() < 0.0005);
    let mut noise = Noise::new(3);
    let mut claimed = 0;
    for _ in 0..CAMPAIGNS {
        let d: Vec<f64> = (0..10).map(|_| noise.normal()).collect();
        let is_claimed = |n: usize| of_differences(&d[..n]).unwrap().p <= per_look;
        claimed += u32::from(is_claimed(5) || is_claimed(10));
    }
    let share = f64::from(claimed) / f64::from(CAMPAIGNS);
    // Three standard errors of a share of 0.05.
    assert!((share - 0.05).abs() < 0.0104, "{share}");
}

/// The interval of four runs holds the truth as often as it says.
#[test]
fn t_covers_the_level_of_runs() {
    const CAMPAIGNS: u32 = 2000;
    let mut noise = Noise::new(8);
    let mut covered = 0;
    for _ in 0..CAMPAIGNS {
        let figures: Vec<f64> = (0..4).map(|_| (0.06 * noise.normal()).exp()).collect();
        let found = log_mean(&figures, None).unwrap();
        covered += u32::from(found.low <= 1.0 && 1.0 <= found.high);
    }
    let share = f64::from(covered) / f64::from(CAMPAIGNS);
    assert!((share - 0.95).abs() < 0.015, "{share}");
}

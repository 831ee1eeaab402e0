//! What must not be claimed: noise of the host, levels that lie close, fits beyond the figures.

use slowpath_core::sample::Outcome;
use slowpath_core::stats::settle::{Course, Ramp};
use slowpath_experiment::sweep::{
    Analysis, Dimension, ErrorRate, Level, ThresholdKind, Told, Window, analyse, levels, refine,
};

use crate::simulated::{MS, Next, record, window};

/// A window in which `users` are served `per_s` requests a second.
fn served(users: u32, repeat: u32, per_s: f64) -> Window {
    let takes_ns = (1000.0 * MS as f64 * f64::from(users) / per_s) as u64;
    let run = record(users, |_, _| Next {
        takes_ns,
        outcome: Outcome::Ok,
    });
    let found = window(f64::from(users), repeat, &run, Told::default());
    // The last request of each user ends beyond the window; the figure is the one that is asked.
    Window { per_s, ..found }
}

fn over_connections(windows: &[Window]) -> Analysis {
    analyse(Dimension::Connections, windows, 1)
}

fn collapses(windows: &[Window]) -> bool {
    let found = over_connections(windows).thresholds;
    found
        .iter()
        .any(|(kind, _)| *kind == ThresholdKind::Collapse)
}

/// Three windows at each of these levels; `per_s` gives what a window serves.
fn repeated(at: &[u32], per_s: impl Fn(u32, u32) -> f64) -> Vec<Window> {
    at.iter()
        .flat_map(|&users| (0..3).map(move |repeat| (users, repeat)))
        .map(|(users, repeat)| served(users, repeat, per_s(users, repeat)))
        .collect()
}

#[test]
fn a_collapse_is_seen_in_every_window_and_in_several() {
    let at = [1, 2, 4, 8, 16, 32];
    let plain = |users: u32, _| if users < 16 { 800.0 } else { 200.0 };
    assert!(collapses(&repeated(&at, plain)));
    let one_of_three = |users: u32, repeat: u32| {
        if users >= 16 && repeat == 1 {
            200.0
        } else {
            800.0
        }
    };
    assert!(!collapses(&repeated(&at, one_of_three)));
    let mut once = repeated(&at, plain);
    once.retain(|w| w.repeat == 0);
    assert!(!collapses(&once), "a single window may be anything");
}

#[test]
fn what_others_on_the_host_took_is_no_collapse() {
    let at = [1, 2, 4, 8, 16, 32];
    let plain = |users: u32, _| if users < 16 { 800.0 } else { 200.0 };
    let held_up = |others: f64, waited: f64| {
        let mut windows = repeated(&at, plain);
        for w in &mut windows {
            let is_slow = w.level >= 16.0;
            w.others_cpu = Some(if is_slow { others } else { 0.2 });
            w.waited_cpu = Some(if is_slow { waited } else { 0.1 });
        }
        windows
    };
    assert!(!collapses(&held_up(1.6, 0.9)));
    assert!(collapses(&held_up(1.6, 0.1)), "it left its CPUs to others");
    assert!(collapses(&held_up(0.2, 4.0)), "it waits for itself");
}

#[test]
fn levels_that_lie_close_make_no_knee() {
    let at: Vec<u32> = (1..=10).collect();
    let linear = repeated(&at, |users, _| 100.0 * f64::from(users));
    assert_eq!(over_connections(&linear).knee, None);
    let saturated = repeated(&at, |users, _| 100.0 * f64::from(users.min(5)));
    let knee = over_connections(&saturated).knee.unwrap();
    assert!((knee.at - 5.0).abs() < 0.1, "{knee:?}");
    let noisy = repeated(&[1, 2, 4, 8, 16], |users, repeat| {
        // It grows to the end, but for one window that the host held up.
        let held_up = users == 16 && repeat < 2;
        100.0 * f64::from(users) * if held_up { 0.5 } else { 1.0 }
    });
    assert_eq!(over_connections(&noisy).knee, None);
}

#[test]
fn a_plateau_has_no_peak_and_a_decline_has_one() {
    let at = [1, 2, 4, 8, 16, 32, 64];
    let plateau = repeated(&at, |users, repeat| {
        100.0 * f64::from(users.min(12)) * (1.0 + 0.01 * f64::from(repeat))
    });
    let law = over_connections(&plateau).usl.unwrap();
    assert_eq!((law.law.peak_at, law.peak_at), (None, None), "{law:?}");
    let decline = repeated(&at, |users, repeat| {
        let n = f64::from(users);
        let scatter = 1.0 + 0.01 * f64::from(repeat);
        scatter * 100.0 * n / (1.0 + 0.05 * (n - 1.0) + 0.002 * n * (n - 1.0))
    });
    let law = over_connections(&decline).usl.unwrap();
    assert!((law.law.peak_at.unwrap() - 21.8).abs() < 1.0, "{law:?}");
}

#[test]
fn one_window_a_level_leaves_no_false_certainty() {
    let at = [1, 2, 4, 8, 16, 32, 64];
    let mut windows = repeated(&at, |users, _| {
        let n = f64::from(users);
        // What the law does not describe: every other level is a tenth off.
        let off = if users.trailing_zeros().is_multiple_of(2) {
            1.1
        } else {
            0.9
        };
        off * 100.0 * n / (1.0 + 0.05 * (n - 1.0))
    });
    windows.retain(|w| w.repeat == 0);
    let usl = over_connections(&windows).usl.unwrap();
    assert!(usl.sigma.1 - usl.sigma.0 > 0.01, "{usl:?}");
    assert!(usl.sigma.0 <= 0.05 && 0.05 <= usl.sigma.1, "{usl:?}");
}

fn with_course(repeat: u32, ramp: Ramp, start_ratio: f64) -> Window {
    let course = Course {
        ramp,
        windows: 50,
        settled_at: 20,
        ninety_at: 18,
        start_ratio,
        is_step: false,
    };
    Window {
        course: Some(course),
        settled_per_s: Some(900.0),
        ..served(4, repeat, 800.0)
    }
}

#[test]
fn a_ramp_is_one_if_all_windows_have_it_in_one_direction() {
    let of = |each: [(Ramp, f64); 3]| -> Level {
        let windows: Vec<Window> = (0..3)
            .zip(each)
            .map(|(repeat, (ramp, start))| with_course(repeat, ramp, start))
            .collect();
        levels(&windows).remove(0)
    };
    let rising = of([(Ramp::Slow, 0.3), (Ramp::Slow, 0.4), (Ramp::Fast, 0.3)]);
    assert_eq!(rising.ramp, Some(Ramp::Fast));
    assert!((rising.per_s.median - 900.0).abs() < 1e-9);
    let mixed = of([(Ramp::Slow, 0.3), (Ramp::Slow, 1.4), (Ramp::Slow, 0.3)]);
    assert_eq!(mixed.ramp, Some(Ramp::None));
    let most = of([(Ramp::Slow, 0.3), (Ramp::Slow, 0.3), (Ramp::None, 1.0)]);
    assert_eq!(most.ramp, Some(Ramp::None));
    assert!((most.per_s.median - 800.0).abs() < 1e-9, "{most:?}");
}

#[test]
fn errors_of_a_late_client_are_errors_and_its_timeouts_are_not() {
    let of = |class: &str| {
        let mut windows = repeated(&[1, 2, 4, 8, 16, 32], |_, _| 800.0);
        for w in windows.iter_mut().filter(|w| w.level >= 16.0) {
            w.client_limited = Some("the loop never rests".to_owned());
            w.failed = w.offered / 10;
            w.errors = vec![ErrorRate {
                class: class.to_owned(),
                phase: "first-byte".to_owned(),
                errno: None,
                status: None,
                count: w.failed,
                per_s: 10.0,
                share: 0.1,
            }];
        }
        windows
    };
    let found = over_connections(&of("closed")).thresholds;
    assert_eq!(found[0].0, ThresholdKind::Errors);
    assert_eq!(
        (found[0].1.last_without, found[0].1.first_with),
        (Some(8.0), 16.0)
    );
    assert!(over_connections(&of("timeout")).thresholds.is_empty());
    // A level that was measured is not chosen again, whether it counts or not.
    let mut gap = of("closed");
    gap.retain(|w| w.level != 16.0);
    let next = refine(Dimension::Connections, &gap, &[]).unwrap();
    assert_eq!(next.level, 16.0);
    let mut invalid = of("closed");
    for w in invalid.iter_mut().filter(|w| w.level == 16.0) {
        w.invalid = Some("the clock jumped".to_owned());
    }
    assert_eq!(refine(Dimension::Connections, &invalid, &[]), None);
}

#[test]
fn windows_in_which_the_client_was_the_limit_make_no_mode() {
    let mut windows: Vec<Window> = (0..8)
        .map(|repeat| served(4, repeat, if repeat < 2 { 50.0 } else { 800.0 }))
        .collect();
    assert_eq!(levels(&windows)[0].modes.len(), 2);
    for w in &mut windows[..2] {
        w.client_limited = Some("the loop never rests".to_owned());
    }
    assert_eq!(levels(&windows)[0].modes.len(), 1);
}

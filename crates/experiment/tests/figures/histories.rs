//! Histories whose truth is known.

use slowpath_core::figures::{HostNoise, RunFigures};
use slowpath_experiment::compare::Verdict;
use slowpath_experiment::history::{
    Ask, Course, History, Place, Says, Setting, Track, history, newest,
};

use crate::made::{MS, Noise, latencies, modes};

/// A run of three repeats around a level, of release `v1`, `v2` and so on.
fn release(at: usize, noise: &mut Noise, ms: f64) -> RunFigures {
    let level = noise.around(ms, 0.015);
    let mut repeat = || noise.around(level, 0.01);
    let values = [repeat(), repeat(), repeat()];
    let mut run = latencies(at, &[("search.p50", &values), ("search.p99", &values)]);
    run.release = Some(format!("v{}", at + 1));
    run
}

/// A run a release, each around its level.
fn releases(levels: &[f64]) -> Vec<RunFigures> {
    let mut noise = Noise::new(11);
    let levels = levels.iter().enumerate();
    levels
        .map(|(at, &ms)| release(at, &mut noise, ms))
        .collect()
}

fn found(runs: &[RunFigures]) -> History {
    history(runs, &Ask::default())
}

fn only(history: &History) -> &Setting {
    assert_eq!(history.settings.len(), 1);
    &history.settings[0]
}

fn p99(setting: &Setting) -> &Track {
    let mut tracks = setting.tracks.iter();
    tracks.find(|track| track.metric == "p99").unwrap()
}

#[test]
fn a_step_is_a_change_at_its_release() {
    let mut levels = vec![10.0; 8];
    levels.extend([12.0; 5]);
    let history = found(&releases(&levels));
    let track = p99(only(&history));
    assert_eq!(track.course, Course::Stepped);
    let [change] = track.changes.as_slice() else {
        panic!("{:?}", track.changes);
    };
    assert_eq!((change.at, change.release.as_str()), (8, "v9"));
    assert!((change.ratio - 1.2).abs() < 0.05 && change.p < 0.01);
    assert_eq!((change.verdict, change.is_suspect), (Verdict::Worse, false));
    // The newest is as its own level, not as all of history.
    let newest = track.newest.as_ref().unwrap();
    assert_eq!((newest.verdict, newest.earlier), (Verdict::Same, 12));
    assert!((newest.expected.unwrap() / 12e6 - 1.0).abs() < 0.05);
}

#[test]
fn a_steady_history_shows_nothing() {
    let history = found(&releases(&[10.0; 14]));
    let track = p99(only(&history));
    assert_eq!((&track.course, track.changes.len()), (&Course::Steady, 0));
    assert_eq!(history.searched, 2);
    let first = &track.points[0];
    assert_eq!((first.n, first.confidence), (3, Some(0.75)));
}

#[test]
fn a_slow_drift_is_held_against_all_history() {
    // 2 % a release: no two neighbours differ beyond noise.
    let levels: Vec<f64> = (0..14).map(|at| 10.0 * 1.02_f64.powi(at)).collect();
    let history = found(&releases(&levels));
    let track = p99(only(&history));
    let Course::Drifting { ratio, p, .. } = track.course else {
        panic!("{:?}", track.course);
    };
    assert!(
        (ratio - 1.02_f64.powi(13)).abs() < 0.08 && p < 0.01,
        "{ratio} {p}"
    );
    assert!(track.changes.is_empty());
}

#[test]
fn a_single_spike_is_no_change() {
    let mut levels = vec![10.0; 14];
    levels[6] = 20.0;
    let history = found(&releases(&levels));
    let track = p99(only(&history));
    let trusted = track.changes.iter().filter(|change| !change.is_suspect);
    assert_eq!(trusted.count(), 0, "{:?}", track.changes);
}

#[test]
fn few_releases_claim_nothing_and_say_what_it_takes() {
    for (have, word) in [(3, "5 are needed"), (6, "8 are needed")] {
        let mut levels = vec![10.0; have - 1];
        levels.push(30.0);
        let history = found(&releases(&levels));
        let track = p99(only(&history));
        let Course::Unknown { because } = &track.course else {
            panic!("{:?}", track.course);
        };
        assert!(because.contains(word), "{because}");
        assert!(track.changes.is_empty());
        // Yet the newest has a place among them.
        let newest = track.newest.as_ref().unwrap();
        assert_eq!(newest.place, Place::Highest);
        assert_eq!(newest.expected.is_some(), have > 4);
    }
}

#[test]
fn the_newest_release_is_told_from_its_level() {
    let mut levels = vec![10.0; 9];
    levels.push(14.0);
    let runs = releases(&levels);
    let tracks = newest(&runs, "p99", None);
    let [track] = tracks.as_slice() else {
        panic!("{tracks:?}");
    };
    let own = track.newest.as_ref().unwrap();
    assert_eq!((own.place, own.verdict), (Place::Highest, Verdict::Worse));
    assert!(own.p.unwrap() < 0.01 && own.high.unwrap() < 14e6);
    assert!(newest(&runs[..1], "p99", None).is_empty());
    // An old release that is measured again is not the newest.
    let mut again = runs;
    again.push(RunFigures {
        release: Some("v1".to_owned()),
        ..latencies(20, &[("search.p99", &[10.0])])
    });
    assert!(newest(&again, "p99", None).is_empty());
}

#[test]
fn another_host_is_another_series_and_no_change() {
    let mut levels = vec![10.0; 9];
    levels.extend([20.0; 9]);
    let mut runs = releases(&levels);
    for run in &mut runs[9..] {
        let host = &mut run.conditions.host;
        host.insert("hostname".to_owned(), "bench2".to_owned());
    }
    let history = found(&runs);
    assert_eq!(history.settings.len(), 2);
    let [newest, older] = history.settings.as_slice() else {
        panic!("two");
    };
    assert_eq!(newest.releases[0].label, "v10");
    assert!(newest.differs.is_empty());
    let differs = &older.differs[0];
    assert_eq!(
        (differs.name.as_str(), differs.is_known()),
        ("hostname", true)
    );
    for setting in [newest, older] {
        assert_eq!(p99(setting).course, Course::Steady);
    }
}

#[test]
fn runs_of_a_release_are_one_point_and_void_ones_are_none() {
    let mut runs = releases(&[10.0; 6]);
    for run in &mut runs[..3] {
        run.release = Some("v1".to_owned());
    }
    runs[5].void = vec!["clock-jump: set".to_owned()];
    let history = found(&runs);
    let setting = only(&history);
    let labels: Vec<&str> = setting.releases.iter().map(|r| r.label.as_str()).collect();
    assert_eq!(labels, ["v1", "v4", "v5"]);
    assert_eq!(p99(setting).points[0].n, 3);
    assert_eq!(history.void.len(), 1);
    let asked = Ask {
        endpoint: Some("cart".to_owned()),
        ..Ask::default()
    };
    let asked = self::history(&runs, &asked);
    assert!(asked.settings[0].tracks.is_empty());
}

#[test]
fn runs_without_a_release_belong_to_their_commit_or_to_themselves() {
    let mut runs = releases(&[10.0; 4]);
    for run in &mut runs {
        run.release = None;
    }
    let commit = "0123456789abcdef0123";
    for (run, git) in [
        (0, commit.to_owned()),
        (1, commit.to_owned()),
        (2, format!("{commit} with changes")),
    ] {
        runs[run].conditions.versions.insert("git".to_owned(), git);
    }
    let history = found(&runs);
    let labels: Vec<&str> = only(&history)
        .releases
        .iter()
        .map(|r| r.label.as_str())
        .collect();
    assert_eq!(labels, ["0123456789", &runs[2].id, &runs[3].id]);
}

#[test]
fn a_constant_that_comes_back_is_told_and_the_fast_mode_is_none() {
    let mut runs = releases(&[10.0; 5]);
    for (at, run) in runs.iter_mut().enumerate() {
        modes(run, "search", &[(1.0, 0.95)]);
        // Other slow modes come and go; 41 ms stays in four of five.
        modes(run, "search", &[(90.0 * 1.3_f64.powi(at as i32), 0.02)]);
        if at != 2 {
            modes(run, "search", &[(41.0 + 0.1 * at as f64, 0.03)]);
        }
    }
    let history = found(&runs);
    let [constant] = only(&history).recurring.as_slice() else {
        panic!("{:?}", only(&history).recurring);
    };
    assert!((constant.at_ns / 41.2e6 - 1.0).abs() < 0.01);
    assert_eq!((constant.releases.len(), constant.of_releases), (4, 5));
    assert!(constant.chance < 0.01);
    assert_eq!(constant.hint, "delayed ACK");
}

#[test]
fn the_same_constant_in_several_endpoints_is_a_common_dependency() {
    let mut run = releases(&[10.0]).remove(0);
    modes(&mut run, "search", &[(1.0, 0.9), (203.0, 0.1)]);
    modes(&mut run, "cart", &[(0.2, 0.9), (204.0, 0.1)]);
    modes(&mut run, "home", &[(0.5, 0.9), (203.5, 0.1)]);
    modes(&mut run, "help", &[(0.5, 0.9), (31.0, 0.1)]);
    let history = found(&[run]);
    let [shared] = only(&history).shared.as_slice() else {
        panic!("{:?}", only(&history).shared);
    };
    assert_eq!(shared.subjects, ["search", "cart", "home"]);
}

/// Runs of four endpoints of which one has a tail.
fn with_tail_in(which: &[usize]) -> Vec<RunFigures> {
    let names = ["a", "b", "c", "d"];
    let runs = which.iter().enumerate();
    runs.map(|(at, &worst)| {
        let rows: Vec<(String, [f64; 1])> = names
            .iter()
            .enumerate()
            .flat_map(|(row, name)| {
                let tail = if row == worst {
                    50.0
                } else {
                    4.0 + row as f64 * 0.1
                };
                [
                    (format!("{name}.p50"), [1.0]),
                    (format!("{name}.p99"), [tail]),
                ]
            })
            .collect();
        let rows: Vec<(&str, &[f64])> = rows.iter().map(|(n, v)| (n.as_str(), &v[..])).collect();
        latencies(at, &rows)
    })
    .collect()
}

#[test]
fn the_worst_row_stays_or_wanders() {
    let history = found(&with_tail_in(&[2, 2, 2, 2, 1, 2, 2, 2]));
    let worst = only(&history).worst.clone().unwrap();
    assert_eq!(
        (worst.subject.as_str(), worst.times, worst.runs),
        ("c", 7, 8)
    );
    assert_eq!(worst.says, Says::Stays);
    let history = found(&with_tail_in(&[0, 3, 1, 2, 3, 0, 1, 2]));
    assert_eq!(only(&history).worst.as_ref().unwrap().says, Says::Wanders);
    let history = found(&with_tail_in(&[0, 0]));
    assert_eq!(
        only(&history).worst.as_ref().unwrap().says,
        Says::CannotTell
    );
}

#[test]
fn tails_that_rise_together_share_what_is_slow() {
    let mut noise = Noise::new(4);
    let mut runs = |common: f64| -> Vec<RunFigures> {
        let mut run = |at: usize| {
            let of_run = noise.around(20.0, common);
            let mut tail = || [noise.around(of_run, 0.3)];
            let tails = [tail(), tail(), tail(), tail()];
            let of = |at: usize| &tails[at][..];
            let rows = [
                ("a.p50", &[1.0][..]),
                ("a.p99", of(0)),
                ("b.p50", &[1.0]),
                ("b.p99", of(1)),
                ("c.p50", &[1.0]),
                ("c.p99", of(2)),
                ("d.p50", &[1.0]),
                ("d.p99", of(3)),
            ];
            latencies(at, &rows)
        };
        (0..10).map(&mut run).collect()
    };
    let says = |runs: &[RunFigures]| only(&found(runs)).worst.clone().unwrap().says;
    assert_eq!(says(&runs(0.0)), Says::Wanders);
    assert_eq!(says(&runs(1.0)), Says::Shares);
}

#[test]
fn a_constant_is_as_uncertain_as_its_runs_and_its_clock() {
    // 41 and 43 ms differ by 4.8 %: on a clock of 2 ms they may be one, on a finer one not.
    let history = |unit_ms: f64| {
        let runs: Vec<RunFigures> = (0..8_usize)
            .map(|at| {
                let base = 10.0 + unit_ms * (at % 3) as f64;
                let mut run = latencies(
                    at,
                    &[("search.p50", &[base]), ("search.p99", &[base * 5.0])],
                );
                let slow = if at % 2 == 0 { 41.0 } else { 43.0 };
                modes(&mut run, "search", &[(1.0, 0.95), (slow, 0.05)]);
                run
            })
            .collect();
        found(&runs)
    };
    let coarse = history(2.0);
    let [constant] = only(&coarse).recurring.as_slice() else {
        panic!("{:?}", only(&coarse).recurring);
    };
    assert_eq!(constant.releases.len(), 8);
    let fine = history(0.000_001);
    assert!(only(&fine).recurring.iter().all(|c| c.releases.len() == 4));
}

#[test]
fn starts_of_one_release_that_fall_into_modes_are_told() {
    let fast_and_slow = [10.0, 14.0, 10.1, 9.9, 14.1, 10.0, 13.9, 10.05];
    let mut run = latencies(0, &[("search.p50", &fast_and_slow)]);
    run.release = Some("v1".to_owned());
    let history = found(std::slice::from_ref(&run));
    let [of] = only(&history).run_modes.as_slice() else {
        panic!("{:?}", only(&history).run_modes);
    };
    assert_eq!((of.repeats, of.modes.len()), (8, 2));
    assert!((of.modes[0].at_ns / 10e6 - 1.0).abs() < 0.01 && of.modes[0].share > 0.6);
    // The same figures in two releases are a difference between them.
    let one = |at, release: &str, values: &[f64]| RunFigures {
        release: Some(release.to_owned()),
        ..latencies(at, &[("search.p50", values)])
    };
    let runs = [
        one(0, "v1", &[10.0, 10.1, 9.9, 10.0, 10.05]),
        one(1, "v2", &[14.0, 14.1, 13.9]),
    ];
    assert!(only(&found(&runs)).run_modes.is_empty());
}

/// Twelve releases, of which the last six are faster by a third; the host of the first six as given.
fn faster(ms: f64, host: HostNoise) -> History {
    let mut levels = [ms; 12];
    levels[6..].fill(ms / 1.5);
    let mut runs = releases(&levels);
    for run in &mut runs[..6] {
        run.host = Some(host);
    }
    found(&runs)
}

#[test]
fn a_change_that_an_unfit_host_may_have_made_is_not_told() {
    let unfit = HostNoise {
        score: 20,
        late_ns: 2.3 * MS,
    };
    let history = faster(1.5, unfit);
    let track = p99(only(&history));
    let change = &track.changes[0];
    assert_eq!((change.at, change.is_hosts), (6, true), "{change:?}");
    assert_eq!(change.verdict, Verdict::CannotTell);
    let newest = track.newest.as_ref().unwrap();
    assert!(!matches!(newest.verdict, Verdict::Better), "{newest:?}");

    // A change beyond what its timers were late by is reported, and on a fit host any.
    let fit = HostNoise { score: 85, ..unfit };
    for (ms, host) in [(30.0, unfit), (1.5, fit)] {
        let history = faster(ms, host);
        let change = &p99(only(&history)).changes[0];
        let told = (change.is_hosts, change.verdict);
        assert_eq!(told, (false, Verdict::Better), "{change:?}");
    }
}

#[test]
fn a_newest_release_on_an_unfit_host_is_not_judged_by_what_its_timers_did() {
    let mut levels = [1.5; 12];
    levels[11] = 3.0;
    let mut runs = releases(&levels);
    let newest = |runs: &[RunFigures]| p99(only(&found(runs))).newest.clone().unwrap();
    assert_eq!(newest(&runs).verdict, Verdict::Worse);
    runs[11].host = Some(HostNoise {
        score: 20,
        late_ns: 2.3 * MS,
    });
    let newest = newest(&runs);
    assert_eq!(
        (newest.is_hosts, newest.verdict),
        (true, Verdict::CannotTell)
    );
}

//! The views of a sweep whose windows are written down here.

use slowpath_experiment::sweep::{
    Cpu, Dimension, ErrorRate, Fairness, Figure, FirstRequest, Grid, Little, Plan, Refinement,
    SCHEMA, Sweep, ThresholdKind, Why, Window, analyse,
};
use slowpath_report::{Style, sweep_html, sweep_json, sweep_markdown, sweep_terminal};

use crate::sample::HOSTILE;

/// Connections beyond which the server of these windows closes at once.
const LIMIT: f64 = 62.0;

fn figure(ms: f64) -> Figure {
    Figure {
        value: Some(ms),
        low: Some(0.9 * ms),
        high: Some(1.1 * ms),
        reason: None,
    }
}

/// What clients see beyond the limit, in two seconds.
fn closed(failed: u64, completed: u64) -> ErrorRate {
    ErrorRate {
        class: "closed".to_owned(),
        phase: "first-byte".to_owned(),
        errno: None,
        status: None,
        count: failed,
        per_s: failed as f64 / 2.0,
        share: failed as f64 / (completed + failed) as f64,
    }
}

/// A server of 50,000 requests a second with a knee at 16 connections.
fn window(level: f64, repeat: u32) -> Window {
    let served = level.min(LIMIT);
    let per_s = 50_000.0 * (served / 16.0).min(1.0) * (1.0 + 0.01 * f64::from(repeat));
    let failing = (level - served).max(0.0);
    let failed = (2.0 * 300.0 * failing) as u64;
    let completed = (2.0 * per_s) as u64;
    let mean_ms = served / per_s * 1e3;
    let error = closed(failed, completed);
    Window {
        level,
        repeat,
        dir: format!("windows/{level}-r{repeat}"),
        seconds: 2.0,
        offered: completed + failed,
        completed,
        failed,
        unfinished: 0,
        per_s,
        settled_per_s: None,
        p50_ms: figure(mean_ms),
        p99_ms: if level < 2.0 {
            Figure {
                reason: Some("needs 368 effective samples, have 90".to_owned()),
                ..Figure::default()
            }
        } else {
            figure(3.0 * mean_ms)
        },
        errors: if failed > 0 { vec![error] } else { Vec::new() },
        dials_per_request: failing / level,
        little: Some(Little {
            expected_ms: Some(level / per_s * 1e3),
            mean_ms: Some(mean_ms),
            completed: served / level,
            failed: failing / level,
            unfinished: 0.0,
            hung: 0.0,
            between: 0.0,
            thinks: false,
        }),
        fairness: Some(Fairness {
            of: level as u32,
            mean: 100.0,
            gini: failing / level,
            jain: served / level,
            jain_by_chance: 0.99,
            never: failing / level,
        }),
        first_request: Some(FirstRequest {
            connections: level as u64,
            first_ms: 20.0 * mean_ms,
            first_max_ms: 30.0 * mean_ms,
            later_ms: Some(mean_ms),
        }),
        server_cpu: Some(Cpu {
            user: 0.3,
            system: 0.6,
        }),
        client_cpu: Some(Cpu {
            user: 0.2,
            system: 0.5,
        }),
        others_cpu: Some(0.05),
        waited_cpu: Some(0.01),
        course: None,
        client_limited: None,
        invalid: None,
        cause: None,
    }
}

pub(crate) fn sweep(name: &str) -> Sweep {
    let levels = vec![1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];
    let windows: Vec<Window> = (0..3)
        .flat_map(|repeat| {
            levels
                .iter()
                .map(move |&level| (level, repeat))
                .collect::<Vec<_>>()
        })
        .map(|(level, repeat)| window(level, repeat))
        .collect();
    let grid = Grid {
        dimension: Dimension::Connections,
        levels,
    };
    Sweep {
        schema: SCHEMA.to_owned(),
        version: "0".to_owned(),
        id: "01JD0000000000000000000000".to_owned(),
        name: name.to_owned(),
        target: "http://127.0.0.1:8080".to_owned(),
        cpus: 2,
        began: "2026-01-01T00:00:00Z".to_owned(),
        plan: Plan {
            grid,
            repeats: 3,
            window_ns: 2_000_000_000,
            warmup_ns: 500_000_000,
            refinements: 4,
            seed: 1,
        },
        refinements: vec![Refinement {
            level: 32.0,
            why: Why::Threshold(ThresholdKind::Errors),
        }],
        analysis: analyse(Dimension::Connections, &windows, 1),
        windows,
        troubles: vec!["level 256: the target is gone".to_owned()],
        interrupted: true,
    }
}

fn terminal(width: usize) -> String {
    sweep_terminal(
        &sweep("shop"),
        Style {
            color: false,
            width,
            verbose: false,
        },
        ".slowpath/runs/01JD",
    )
}

#[test]
fn the_terminal_says_knee_threshold_storm_and_conditions() {
    insta::assert_snapshot!("sweep", terminal(160));
}

#[test]
fn percentiles_stand_beside_what_was_served_and_no_line_is_too_wide() {
    for width in [60, 80, 100, 160] {
        let text = terminal(width);
        let head = text.lines().next().unwrap();
        assert!(!head.contains("p99") || head.contains("served"), "{head}");
        for line in text.lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
    }
}

#[test]
fn markdown_and_html_escape_names_and_hold_every_window() {
    let hostile = sweep(HOSTILE);
    let (markdown, html) = (sweep_markdown(&hostile), sweep_html(&hostile));
    assert!(!markdown.contains("<script>") && !html.contains("<script>alert"));
    for window in &hostile.windows {
        assert!(html.contains(&window.dir));
    }
    assert_eq!(html.matches("class=\"plot\"").count(), 2);
    insta::assert_snapshot!("sweep_markdown", sweep_markdown(&sweep("shop")));
}

#[test]
fn an_interrupted_sweep_says_how_many_windows_its_figures_have() {
    let mut cut = sweep("shop");
    cut.windows.truncate(11);
    cut.analysis = analyse(Dimension::Connections, &cut.windows, 1);
    let said = sweep_markdown(&cut);
    assert!(said.contains("medians of 1 to 2 windows"), "{said}");
    assert!(said.contains("0 % to 50 % sure"), "{said}");
    cut.windows.truncate(8);
    cut.analysis = analyse(Dimension::Connections, &cut.windows, 1);
    assert!(sweep_markdown(&cut).contains("of one window each"));
}

#[test]
fn what_a_byte_costs_is_told_for_sizes() {
    let mut sizes = sweep("blobs");
    sizes.plan.grid.dimension = Dimension::Size;
    for w in &mut sizes.windows {
        w.level *= 16_384.0;
        w.p50_ms = figure(2.0 + 3.0 * w.level / 1_048_576.0);
        (w.failed, w.errors) = (0, Vec::new());
    }
    sizes.analysis = analyse(Dimension::Size, &sizes.windows, 1);
    let said = sweep_markdown(&sizes);
    assert!(said.contains("p50 is 2 ms"), "{said}");
    assert!(said.contains("3 ms for each MiB"), "{said}");
}

#[test]
fn the_json_is_read_back_as_it_was() {
    let written = sweep("shop");
    let read: Sweep = serde_json::from_str(&sweep_json(&written)).unwrap();
    assert_eq!(read, written);
}

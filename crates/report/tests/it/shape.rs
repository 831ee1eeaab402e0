//! What is said of the shape of latencies and of what percentiles rest on.

use slowpath_diagnose::diagnosis::{
    Axis, CombFigures, ConstantFigures, Diagnosis, KeptFigures, Percentile, Settling, ShapeFigures,
    StallFigures, StepFigures, SwingFigures, WallFigures,
};
use slowpath_report::{Style, markdown, terminal};

use crate::sample;

fn wide(diagnosis: &Diagnosis) -> String {
    let style = Style {
        color: false,
        width: 1000,
        verbose: true,
    };
    terminal(diagnosis, &[], style, None)
}

/// Markdown without what keeps its signs from being read as such.
fn unescaped(diagnosis: &Diagnosis) -> String {
    markdown(diagnosis, &[])
        .replace('\\', "")
        .replace("&lt;", "<")
}

fn shaped() -> Diagnosis {
    let mut diagnosis = sample::diagnosis("static");
    let kept = |repeat: u32, hit: u32| KeptFigures {
        repeat,
        due: 4,
        hit,
        p: 0.002,
        holds: hit > 2,
    };
    let step = |repeat: u32| StepFigures {
        repeat,
        after_s: 7.25,
        after_requests: 2500,
        before_ms: 3.0,
        behind_ms: 9.0,
        p: 0.001,
    };
    diagnosis.endpoints[0].shape = ShapeFigures {
        mode_counts: Some([2, 3]),
        comb: Some(CombFigures {
            step_ms: 200.0,
            step_error_ms: 0.4,
            offset_ms: 20.0,
            teeth: vec![[0.0, 0.5], [1.0, 0.3], [2.0, 0.2]],
            p: 1e-6,
            made_of: vec!["poll_interval".to_owned()],
        }),
        constants: vec![ConstantFigures {
            mode_ms: 204.1,
            added_ms: 200.0,
            made_of: vec!["retransmission (tcp.h)".to_owned()],
        }],
        stalls: Some(StallFigures {
            period_ms: 5000.0,
            jitter_ms: 12.0,
            first_s: 1.7,
            stalls: 8,
            missed: 0,
            p: 1e-4,
            kept: vec![kept(1, 4), kept(2, 1)],
            wall: Some(WallFigures {
                every_s: 5.0,
                after_s: 1.7,
                repeats: 3,
                p: 0.004,
            }),
        }),
        swing: Some(SwingFigures {
            period_s: 24.0,
            power: 0.83,
            p: 0.005,
        }),
        steps: vec![step(0), step(1)],
        steps_follow: Some(Axis::Requests),
        ..ShapeFigures::default()
    };
    diagnosis
}

#[test]
fn the_shape_is_told_in_words() {
    let diagnosis = shaped();
    for text in [wide(&diagnosis), unescaped(&diagnosis)] {
        for told in [
            "weights of the modes: 3.02 ms 97.9 % [97.1, 98.5], in bursts (design effect 14.2); \
             1.4 s 2.1 % [1.5, 2.9], a satellite, in bursts (design effect 14.2)",
            "two ways to count modes differ: 2 to 3",
            "204 ms = 200 ms (retransmission (tcp.h)?) + 4.1 ms of the fastest mode",
            "latencies stand on a comb: 20 ms + n x 200 ms",
            "the step may be poll_interval",
            "slow requests come every 5 s (±12 ms, 8 stalls, 0 missed, p < 0.001); they came when \
             due in 1 of 2 other repeats; aligned to the clock on the wall: 1.7 s after each full \
             5 s (UTC, 3 repeats, p 0.004)",
            "the median rises and falls every 24 s (a sine explains 83 % of its variance, p 0.005)",
            "in repeat 2 the median went from 3 ms to 9 ms for good, 7.2 s and 2,500 requests",
            "the number of requests places the step alike in all repeats",
        ] {
            assert!(text.contains(told), "{told}\n{text}");
        }
    }
}

#[test]
fn many_modes_are_summed_up_by_their_ends_and_the_heaviest() {
    let mut diagnosis = shaped();
    let modes = &mut diagnosis.endpoints[0].modes;
    let (fast, slow) = (modes[0].clone(), modes[1].clone());
    let shares = [0.2, 0.5, 0.15, 0.13];
    modes.clear();
    for (place, weight) in shares.into_iter().enumerate() {
        let mut one = fast.clone();
        (one.at_ms, one.weight) = (1.0 + place as f64, weight);
        modes.push(one);
    }
    modes.push(slow);
    for text in [wide(&diagnosis), unescaped(&diagnosis)] {
        let told = "5 modes, the fastest 1 ms (20 %), the heaviest 2 ms (50 %), the slowest 1.4 s \
                    (2.1 %)";
        assert!(text.contains(told), "{text}");
        let weight = "weight of the slowest mode: 1.4 s 2.1 % [1.5, 2.9], a satellite, in bursts";
        assert!(text.contains(weight), "{text}");
        assert!(!text.contains("3 ms (15 %)"), "{text}");
    }
}

#[test]
fn what_percentiles_rest_on_is_told_and_what_is_refused_too() {
    let mut diagnosis = sample::diagnosis("static");
    let latency = &mut diagnosis.endpoints[0].latency_ms;
    latency.p99 = Percentile {
        value: Some(80.0),
        low: Some(60.0),
        high: Some(120.0),
        n: Some(12_000),
        rank: Some(11_880),
        n_eff: Some(480.0),
        deff: Some(25.0),
        ..Percentile::default()
    };
    latency.p99_9 = Percentile {
        reason: Some("needs 3688 effective samples, have 412".to_owned()),
        ..Percentile::default()
    };
    let bursts =
        "slow requests come in bursts: for p99, 12,000 requests count as 480 (design effect 25)";
    assert!(wide(&diagnosis).contains(bursts), "{}", wide(&diagnosis));
    let text = unescaped(&diagnosis);
    for told in [
        bursts,
        "p99 is rank 11,880 of 12,000, which are worth 480 independent ones (design effect 25)",
        "p99.9: not determined, needs 3688 effective samples, have 412",
    ] {
        assert!(text.contains(told), "{told}\n{text}");
    }
}

#[test]
fn repeats_that_settle_unlike_the_others_are_told() {
    let mut diagnosis = shaped();
    let endpoint = &mut diagnosis.endpoints[0];
    let repeat = |repeat: u32, settling: Settling| slowpath_diagnose::diagnosis::RepeatFigures {
        repeat,
        offered: 100,
        completed: 100,
        rate_per_s: 10.0,
        errors: 0.0,
        latency_ms: std::collections::BTreeMap::new(),
        settling: Some(settling),
        settled_after_s: None,
    };
    endpoint.by_repeat = vec![
        repeat(0, Settling::None),
        repeat(1, Settling::NotSettled),
        repeat(2, Settling::FastRamp),
    ];
    let text = wide(&diagnosis);
    let told = "repeat 2 settled late or not at all, unlike the others";
    assert!(text.contains(told), "{text}");
    diagnosis.endpoints[0].settling = Some(Settling::NotSettled);
    let text = wide(&diagnosis);
    assert!(
        text.contains(
            "never settled: the figures depend on how long one measures (so in 1 of 3 repeats)"
        ),
        "{text}"
    );
}

//! Verdicts on simulated campaigns: chance must not confirm, causes must.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use slowpath_experiment::{
    ALPHA, Arm, BlockMeasurement, Design, Experiment, FORMAT, Hypothesis, Intervention, Outcome,
    Verdict, judge,
};

mod again;
mod partial;

/// What a simulated system does in a block.
struct System {
    without_ms: f64,
    with_ms: f64,
    without_slow: f64,
    with_slow: f64,
    /// Relative standard deviation from block to block.
    noise: f64,
    /// Added to both measures, relative, from the first block to the last.
    drift: f64,
}

const SICK: System = System {
    without_ms: 40.9,
    with_ms: 0.6,
    without_slow: 0.98,
    with_slow: 0.001,
    noise: 0.05,
    drift: 0.0,
};

fn normal(random: &mut ChaCha8Rng) -> f64 {
    // Irwin & Hall: the sum of twelve uniforms has variance 1.
    (0..12)
        .map(|_| random.next_u64() as f64 / u64::MAX as f64)
        .sum::<f64>()
        - 6.0
}

fn measure(system: &System, design: &Design, seed: u64) -> Vec<BlockMeasurement> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let blocks = design.blocks.len() as f64;
    let block = |(block, &arm): (usize, &Arm)| {
        let drift = 1.0 + system.drift * block as f64 / blocks;
        let mut scatter =
            |value: f64| (value * drift * (1.0 + system.noise * normal(&mut random))).max(0.0);
        let (ms, slow) = match arm {
            Arm::Without => (system.without_ms, system.without_slow),
            Arm::With => (system.with_ms, system.with_slow),
        };
        let metric_ms = scatter(ms);
        let slow_share = scatter(slow).min(1.0);
        BlockMeasurement {
            block,
            arm,
            n: 5000,
            metric_ms,
            slow_share,
            errors: 0,
        }
    };
    design.blocks.iter().enumerate().map(block).collect()
}

fn quick_ack() -> Hypothesis {
    Hypothesis {
        statement: "with immediate acknowledgements search answers in 0.3 to 1.2 ms".into(),
        intervention: Intervention::ClientQuickAck,
        metric: "search.p50".into(),
        baseline_ms: 40.9,
        low_ms: 0.3,
        high_ms: 1.2,
        slow_above_ms: 20.0,
        remains: 0.0,
        written_at: "2025-03-01T12:00:00Z".into(),
    }
}

fn slack() -> Hypothesis {
    Hypothesis {
        statement: "with 4 ms of timer slack search takes 0.4 to 4 ms longer".into(),
        intervention: Intervention::TimerSlack {
            slack_ns: 4_000_000,
        },
        baseline_ms: 13.2,
        low_ms: 13.6,
        high_ms: 17.4,
        slow_above_ms: 50.0,
        ..quick_ack()
    }
}

fn design(seed: u64) -> Design {
    Design::new(seed, 6, 1_000_000_000)
}

fn run(system: &System, hypothesis: &Hypothesis, seed: u64) -> Outcome {
    let design = design(seed);
    judge(&design, &measure(system, &design, seed), hypothesis)
}

#[test]
fn chance_reaches_p_no_more_often_than_alpha() {
    let nothing = System {
        with_ms: 40.9,
        with_slow: 0.5,
        without_slow: 0.5,
        ..SICK
    };
    let campaigns = 500;
    for hypothesis in [quick_ack(), slack()] {
        let outcomes: Vec<Outcome> = (0..campaigns)
            .map(|seed| run(&nothing, &hypothesis, seed))
            .collect();
        let below = |alpha: f64| {
            outcomes
                .iter()
                .filter(|outcome| outcome.p.unwrap() < alpha)
                .count() as f64
        };
        for alpha in [ALPHA, 0.05] {
            let mean = alpha * f64::from(campaigns as u32);
            let sd = (mean * (1.0 - alpha)).sqrt();
            let seen = below(alpha);
            assert!(
                seen <= mean + 3.0 * sd,
                "{seen} of {campaigns} below {alpha}"
            );
        }
        assert!(below(0.3) > 0.0, "the test never rejects");
        assert!(
            outcomes
                .iter()
                .all(|outcome| outcome.verdict != Verdict::Confirmed)
        );
    }
}

#[test]
fn a_removed_cause_is_confirmed() {
    for seed in 0..100 {
        let outcome = run(&SICK, &quick_ack(), seed);
        assert_eq!(outcome.verdict, Verdict::Confirmed, "{}", outcome.reason);
        assert!((outcome.p.unwrap() - 1.0 / 924.0).abs() < 1e-12);
        assert!(outcome.predicted_held && outcome.restored);
        assert!(outcome.change.unwrap() < -0.99);
        let (without, with) = (outcome.without.unwrap(), outcome.with.unwrap());
        assert_eq!((without.blocks, with.blocks), (6, 6));
    }
}

#[test]
fn a_widened_timer_is_confirmed_and_too_large_a_rise_is_not() {
    let sleeps = System {
        without_ms: 13.2,
        with_ms: 15.6,
        noise: 0.01,
        ..SICK
    };
    let outcome = run(&sleeps, &slack(), 3);
    assert_eq!(outcome.verdict, Verdict::Confirmed, "{}", outcome.reason);
    let slower = System {
        with_ms: 26.0,
        ..sleeps
    };
    let outcome = run(&slower, &slack(), 3);
    assert_eq!(outcome.verdict, Verdict::Undecided);
    assert!(
        outcome.reason.contains("at most 4 ms"),
        "{}",
        outcome.reason
    );
    let shy = System {
        with_ms: 13.5,
        noise: 0.001,
        ..sleeps
    };
    let outcome = run(&shy, &slack(), 3);
    assert_eq!(outcome.verdict, Verdict::Undecided);
    assert!(
        outcome.reason.contains("outside the predicted"),
        "{}",
        outcome.reason
    );
}

#[test]
fn no_effect_is_refuted_only_where_half_of_it_would_have_been_seen() {
    let steady = System {
        with_ms: 40.9,
        with_slow: 0.5,
        without_slow: 0.5,
        noise: 0.03,
        ..SICK
    };
    let mut refuted = 0;
    for seed in 0..50 {
        let outcome = run(&steady, &quick_ack(), seed);
        refuted += usize::from(outcome.verdict == Verdict::Refuted);
        assert_ne!(outcome.verdict, Verdict::Confirmed);
    }
    assert!(refuted >= 45, "{refuted}");
    let noisy = System {
        noise: 0.6,
        ..steady
    };
    for seed in 0..50 {
        let outcome = run(&noisy, &quick_ack(), seed);
        assert_ne!(outcome.verdict, Verdict::Refuted, "{}", outcome.reason);
    }
}

#[test]
fn missing_blocks_leave_it_undecided() {
    let design = design(5);
    let all = measure(&SICK, &design, 5);
    for kept in 0..all.len() {
        let outcome = judge(&design, &all[..kept], &quick_ack());
        assert_eq!(outcome.verdict, Verdict::Undecided);
        assert!(
            outcome.reason.contains(&format!("{kept} of 13 blocks")),
            "{}",
            outcome.reason
        );
        assert!(!outcome.restored);
        assert_eq!(outcome.blocks.len(), kept);
    }
}

#[test]
fn blocks_of_another_design_leave_it_undecided() {
    let planned = design(5);
    let mut swapped = measure(&SICK, &planned, 5);
    swapped[0].arm = if swapped[0].arm == Arm::With {
        Arm::Without
    } else {
        Arm::With
    };
    let outcome = judge(&planned, &swapped, &quick_ack());
    assert_eq!(outcome.verdict, Verdict::Undecided);
    assert!(
        outcome.reason.contains("not those of the design"),
        "{}",
        outcome.reason
    );
}

#[test]
fn what_does_not_return_is_not_confirmed() {
    let design = design(8);
    let mut blocks = measure(&SICK, &design, 8);
    blocks[12].slow_share = 0.001;
    let outcome = judge(&design, &blocks, &quick_ack());
    assert_eq!(
        (outcome.verdict, outcome.restored),
        (Verdict::Undecided, false)
    );
    assert!(
        outcome.reason.contains("did not return"),
        "{}",
        outcome.reason
    );
}

#[test]
fn drift_too_few_requests_and_new_errors_leave_it_undecided() {
    let drifting = System {
        without_slow: 0.1,
        with_slow: 0.1,
        drift: 4.0,
        noise: 0.01,
        ..SICK
    };
    let outcome = run(&drifting, &quick_ack(), 2);
    assert!(outcome.reason.contains("drifted"), "{}", outcome.reason);

    let design = design(2);
    let mut few = measure(&SICK, &design, 2);
    few[3].n = 12;
    let outcome = judge(&design, &few, &quick_ack());
    assert!(
        outcome.reason.contains("block 4 holds 12 requests"),
        "{}",
        outcome.reason
    );

    let rare = System {
        without_slow: 0.002,
        with_slow: 0.0,
        ..SICK
    };
    let outcome = run(&rare, &quick_ack(), 2);
    assert!(
        outcome.reason.contains("hardly there"),
        "{}",
        outcome.reason
    );

    let mut failing = measure(&SICK, &design, 2);
    for block in failing.iter_mut().filter(|block| block.arm == Arm::With) {
        block.errors = 900;
    }
    let outcome = judge(&design, &failing, &quick_ack());
    assert!(
        outcome.reason.contains("failed under the intervention"),
        "{}",
        outcome.reason
    );
    assert_eq!(outcome.verdict, Verdict::Undecided);

    // As many fail in both arms, now more and now fewer.
    let mut always = measure(&SICK, &design, 2);
    for (block, errors) in always.iter_mut().zip([400, 900, 700].into_iter().cycle()) {
        block.errors = errors + if block.arm == Arm::With { 190 } else { 0 };
    }
    let outcome = judge(&design, &always, &quick_ack());
    assert!(
        !outcome.reason.contains("failed under"),
        "{}",
        outcome.reason
    );
}

#[test]
fn an_experiment_survives_its_file_and_unknown_fields_are_refused() {
    let design = design(4);
    let outcome = judge(&design, &measure(&SICK, &design, 4), &quick_ack());
    let experiment = Experiment {
        format: FORMAT,
        run: "01JD".into(),
        cause: "delayed-ack".into(),
        endpoint: Some("page".into()),
        hypothesis: Hypothesis {
            intervention: slack().intervention,
            ..quick_ack()
        },
        design,
        outcome: Some(outcome),
    };
    let text = serde_json::to_string(&experiment).unwrap();
    assert!(
        text.contains(r#""intervention":{"kind":"timer-slack","slack_ns":4000000}"#),
        "{text}"
    );
    let back: Experiment = serde_json::from_str(&text).unwrap();
    assert_eq!(back, experiment);
    let more = text.replacen('{', r#"{"surprise":1,"#, 1);
    assert!(serde_json::from_str::<Experiment>(&more).is_err());
}

#[test]
fn an_outcome_that_is_overruled_keeps_its_figures() {
    let design = design(4);
    let outcome = judge(&design, &measure(&SICK, &design, 4), &quick_ack());
    assert_eq!(outcome.verdict, Verdict::Confirmed);
    let overruled = outcome.clone().overruled("a clock jumped");
    assert_eq!(overruled.verdict, Verdict::Undecided);
    assert!(overruled.reason.starts_with("a clock jumped"));
    assert!(overruled.reason.ends_with(&outcome.reason));
    assert_eq!((overruled.p, overruled.blocks), (outcome.p, outcome.blocks));
}

/// A hypothesis about failures, and blocks of which so many of a hundred requests fail in each arm.
fn failing(without: u64, with: u64) -> (Hypothesis, Design, Vec<BlockMeasurement>) {
    let hypothesis = Hypothesis {
        intervention: Intervention::FreshConnections,
        metric: "search.errors".into(),
        baseline_ms: without as f64,
        low_ms: 0.0,
        high_ms: without as f64 * 0.2,
        slow_above_ms: 500.0,
        ..quick_ack()
    };
    let design = design(6);
    let blocks = design.blocks.iter().enumerate().map(|(block, &arm)| {
        let errors = match arm {
            Arm::Without => without + block as u64 % 3,
            Arm::With => with + block as u64 % 2,
        };
        BlockMeasurement {
            block,
            arm,
            n: 100 - errors,
            metric_ms: errors as f64,
            slow_share: errors as f64 / 100.0,
            errors,
        }
    });
    let blocks = blocks.collect();
    (hypothesis, design, blocks)
}

#[test]
fn failures_that_vanish_are_confirmed_and_those_that_stay_refuted() {
    let judged = |without, with| {
        let (hypothesis, design, blocks) = failing(without, with);
        judge(&design, &blocks, &hypothesis)
    };
    let outcome = judged(20, 0);
    assert_eq!(outcome.verdict, Verdict::Confirmed, "{}", outcome.reason);
    assert!(outcome.reason.contains("that failed or took over 500 ms"));
    // Blocks may hold failures and nothing else.
    let outcome = judged(98, 0);
    assert_eq!(outcome.verdict, Verdict::Confirmed, "{}", outcome.reason);
    let outcome = judged(20, 20);
    assert_eq!(outcome.verdict, Verdict::Refuted, "{}", outcome.reason);
    let outcome = judged(2, 0);
    assert_eq!(outcome.verdict, Verdict::Undecided, "{}", outcome.reason);
    assert!(
        outcome.reason.contains("6 are needed"),
        "{}",
        outcome.reason
    );
}

#[test]
fn what_the_first_format_wrote_is_read() {
    let text = r#"{"format": 1, "run": "01JD", "cause": "fixed-delay", "endpoint": "page",
        "hypothesis": {"statement": "s", "intervention": {"kind": "timer-slack", "slack_ns": 4},
            "metric": "page.p50", "baseline_ms": 1.0, "low_ms": 1.2, "high_ms": 5.0,
            "slow_above_ms": 3.0, "written_at": "2026-01-01T00:00:00Z"},
        "design": {"seed": 1, "blocks": ["with", "without", "without"], "block_ns": 1,
            "guard_ns": 1, "warmup_ns": 1},
        "outcome": {"verdict": "refuted", "without": null, "with": null, "p": null,
            "change": null, "predicted_held": false, "reason": "r", "blocks": [],
            "restored": true}}"#;
    let read: Experiment = serde_json::from_str(text).unwrap();
    let slack = Intervention::TimerSlack { slack_ns: 4 };
    assert_eq!(read.hypothesis.intervention, slack);
    assert_eq!(read.outcome.unwrap().withheld, 0);
}

#[test]
fn a_delayed_service_tells_how_often_it_is_asked() {
    let ten_calls = Hypothesis {
        intervention: Intervention::DelayService {
            service: "db".into(),
            delay_ns: 2_000_000,
            calls: 10,
        },
        metric: "page.p50".into(),
        baseline_ms: 24.0,
        low_ms: 33.8,
        high_ms: 56.4,
        slow_above_ms: 34.0,
        ..quick_ack()
    };
    let rises_by = |ms: f64| System {
        without_ms: 25.0,
        with_ms: 25.0 + ms,
        without_slow: 0.02,
        with_slow: 0.02,
        noise: 0.01,
        drift: 0.0,
    };
    for (rise_ms, verdict) in [
        (20.6, Verdict::Confirmed),
        (0.0, Verdict::Refuted),
        // Side by side: one in a row.
        (2.1, Verdict::Refuted),
        // Half of the calls are on the way.
        (7.0, Verdict::Undecided),
    ] {
        let outcome = run(&rises_by(rise_ms), &ten_calls, 5);
        assert_eq!(outcome.verdict, verdict, "{rise_ms}: {}", outcome.reason);
    }
}

#[test]
fn what_is_slow_for_another_reason_is_not_asked_of_the_cause() {
    let herd = Hypothesis {
        intervention: Intervention::KeysApart,
        remains: 0.15,
        ..quick_ack()
    };
    let falls_to = |share: f64| System {
        without_slow: 0.14,
        with_slow: share,
        ..SICK
    };
    let verdict =
        |share: f64, hypothesis: &Hypothesis| run(&falls_to(share), hypothesis, 5).verdict;
    assert_eq!(verdict(0.03, &herd), Verdict::Confirmed);
    let all = Hypothesis {
        remains: 0.0,
        ..herd.clone()
    };
    assert_eq!(verdict(0.033, &all), Verdict::Undecided);
    assert_eq!(verdict(0.07, &herd), Verdict::Undecided, "half of it stays");
}

/// Blocks of a metric and a share of slow requests for each arm, which differ a little.
fn exactly(design: &Design, of: impl Fn(Arm) -> (f64, f64)) -> Vec<BlockMeasurement> {
    let block = |(block, &arm): (usize, &Arm)| {
        let (metric_ms, slow_share) = of(arm);
        BlockMeasurement {
            block,
            arm,
            n: 5000,
            metric_ms: metric_ms + (block % 3) as f64 / 100.0,
            slow_share,
            errors: 0,
        }
    };
    design.blocks.iter().enumerate().map(block).collect()
}

#[test]
fn what_falls_above_the_boundary_is_not_refuted() {
    let halves = Hypothesis {
        baseline_ms: 100.0,
        low_ms: 0.0,
        high_ms: 50.0,
        slow_above_ms: 50.0,
        ..quick_ack()
    };
    let design = design(3);
    let outcome = |with_ms: f64| {
        let blocks = exactly(&design, |arm| match arm {
            Arm::Without => (100.0, 1.0),
            Arm::With => (with_ms, 1.0),
        });
        judge(&design, &blocks, &halves)
    };
    let partly = outcome(60.0);
    assert_eq!(partly.verdict, Verdict::Undecided, "{}", partly.reason);
    assert!(partly.reason.contains("less than predicted"));
    // Next to nothing of what is predicted.
    for with_ms in [100.0, 98.0] {
        let outcome = outcome(with_ms);
        assert_eq!(outcome.verdict, Verdict::Refuted, "{}", outcome.reason);
    }
}

#[test]
fn a_rise_is_judged_from_where_the_system_is_today() {
    let design = design(3);
    let outcome = |with_ms: f64| {
        let blocks = exactly(&design, |arm| match arm {
            Arm::Without => (106.0, 1.0),
            Arm::With => (with_ms, 1.0),
        });
        judge(&design, &blocks, &slack())
    };
    let risen = outcome(108.4);
    assert_eq!(risen.verdict, Verdict::Confirmed, "{}", risen.reason);
    let shy = outcome(106.2);
    assert_eq!(shy.verdict, Verdict::Undecided, "{}", shy.reason);
    assert!(shy.reason.contains("outside"));
}

#[test]
fn no_effect_is_refuted_only_where_the_least_of_it_would_have_been_seen() {
    // The middle of the prediction is five times the least.
    let steady = System {
        without_ms: 13.2,
        with_ms: 13.2,
        noise: 0.002,
        ..SICK
    };
    let outcome = run(&steady, &slack(), 3);
    assert_eq!(outcome.verdict, Verdict::Refuted, "{}", outcome.reason);
    let scattered = System {
        noise: 0.03,
        ..steady
    };
    // Of what is slow half is the cause's.
    let half = Hypothesis {
        remains: 0.5,
        ..quick_ack()
    };
    let still = System {
        without_slow: 0.14,
        with_slow: 0.14,
        noise: 0.2,
        ..SICK
    };
    for (system, hypothesis) in [(&scattered, &slack()), (&still, &half)] {
        let outcomes = (0..20).map(|seed| run(system, hypothesis, seed));
        let refuted = outcomes.filter(|o| o.verdict == Verdict::Refuted).count();
        assert!(refuted <= 4, "{refuted} of 20");
    }
}

#[test]
fn a_prediction_does_not_hold_where_nothing_moves() {
    let wide = Hypothesis {
        high_ms: 50.0,
        ..quick_ack()
    };
    let design = design(3);
    let blocks = exactly(&design, |_| (40.9, 0.5));
    let outcome = judge(&design, &blocks, &wide);
    assert_eq!(outcome.verdict, Verdict::Refuted, "{}", outcome.reason);
    assert!(!outcome.predicted_held);
}

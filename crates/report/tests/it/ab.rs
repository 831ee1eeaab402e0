//! A comparison of two settings in every view, made of blocks that were written for it.

use serde_json::Value;
use slowpath_experiment::ab::{
    Ab, Arm, Block, BlockFigure, Compared, METRICS, Metric, Plan, SCHEMA, Threshold, analyse,
};
use slowpath_report::Style;

use crate::schema::schema;
use crate::shape_check::check;

fn block(pair: Option<u32>, arm: Arm, slower: f64) -> Block {
    let wobble = 1.0 + 0.01 * f64::from(pair.unwrap_or(0) * 7 % 5);
    let figures = METRICS.into_iter().map(|metric| {
        let hits = match metric {
            Metric::Errors => Some(0),
            Metric::SlowShare => Some(40 + u64::from(pair.unwrap_or(0) * 11 % 17)),
            _ => None,
        };
        BlockFigure {
            endpoint: "a|b".to_owned(),
            metric,
            value: hits
                .map(|hits| hits as f64 / 4000.0)
                .or(Some(2e6 * slower * wobble)),
            hits,
            n: 4000,
        }
    });
    Block {
        pair,
        arm,
        dir: "blocks/000-before".to_owned(),
        aside: String::new(),
        failed: 0,
        offered: 4000,
        figures: figures.collect(),
    }
}

fn ab(slower: f64) -> Ab {
    let plan = Plan {
        compared: Compared::Toggle {
            name: "telemetry_off".to_owned(),
        },
        seed: 8,
        pairs: 8,
        may_grow: false,
        pairs_most: 20,
        window_ns: 2_000_000_000,
        warmup_ns: 500_000_000,
        effect: 0.10,
        endpoints: vec!["a|b".to_owned()],
        noise: Vec::new(),
    };
    let mut blocks = vec![block(None, Arm::A, 1.0)];
    for (pair, arms) in (0..).zip(plan.order()) {
        for arm in arms {
            let slower = if arm == Arm::B { slower } else { 1.0 };
            blocks.push(block(Some(pair), arm, slower));
        }
    }
    Ab {
        schema: SCHEMA.to_owned(),
        version: "0.1.0".to_owned(),
        id: "01JD".to_owned(),
        name: "shop".to_owned(),
        host: "host".to_owned(),
        began: "2026-01-02T03:04:05Z".to_owned(),
        analysis: analyse(&plan, &blocks),
        plan,
        thresholds: vec![Threshold {
            endpoint: "a|b".to_owned(),
            slow_above_ns: 6_000_000,
        }],
        blocks,
        troubles: Vec::new(),
        interrupted: false,
    }
}

#[test]
fn every_view_says_what_differs_and_what_is_open() {
    let style = Style {
        color: false,
        width: 120,
        verbose: false,
    };
    let found = ab(1.25);
    let terminal = slowpath_report::ab_terminal(&found, style, "here");
    assert!(
        terminal.starts_with("they differ: a|b.p50 +25.0 % ["),
        "{terminal}"
    );
    assert!(
        terminal.contains("none in either") && terminal.contains("8/8"),
        "{terminal}"
    );
    assert!(terminal.contains("slow is, by the block before the first pair: a|b above 6 ms"));
    let markdown = slowpath_report::ab_markdown(&found);
    assert!(markdown.contains("| a\\|b | p50 |"), "{markdown}");
    let same = slowpath_report::ab_terminal(&ab(1.0), style, "here");
    assert!(!same.contains("they differ:"), "{same}");
    let mut cut = ab(1.25);
    cut.interrupted = true;
    cut.blocks.truncate(9);
    cut.analysis = analyse(&cut.plan, &cut.blocks);
    let cut = slowpath_report::ab_terminal(&cut, style, "here");
    assert!(
        cut.starts_with("interrupted after 4 of 8 pairs: nothing is claimed"),
        "{cut}"
    );
}

#[test]
fn comparisons_have_the_shape_of_the_schema_and_what_is_wrong_is_seen() {
    let schema = schema("ab");
    let mut found: Value = serde_json::from_str(&slowpath_report::ab_json(&ab(1.25))).unwrap();
    let mut wrong = Vec::new();
    check(&schema, &schema, &found, "ab", &mut wrong);
    assert_eq!(wrong, Vec::<String>::new());
    found["blocks"][0]["arm"] = "c".into();
    found["analysis"]["tests"][0]
        .as_object_mut()
        .unwrap()
        .remove("q");
    check(&schema, &schema, &found, "ab", &mut wrong);
    assert!(!wrong.is_empty());
}

//! The Markdown view.

use slowpath_core::stats::spread::Steadiness;
use slowpath_diagnose::diagnosis::{OverRepeats, RepeatFigures};
use slowpath_report::markdown;

use crate::sample;

#[test]
fn a_tail_with_causes() {
    insta::assert_snapshot!("tail", markdown(&sample::diagnosis("static"), &[]));
}

#[test]
fn a_confirmed_cause() {
    insta::assert_snapshot!(
        "confirmed",
        markdown(&sample::delayed_ack(), &[sample::experiment()])
    );
}

#[test]
fn an_invalid_run() {
    insta::assert_snapshot!("invalid", markdown(&sample::invalid(), &[]));
}

#[test]
fn names_are_text() {
    let text = markdown(&sample::diagnosis("a|b `c` <img> *d*"), &[]);
    assert!(text.contains(r"| a\|b \`c\` &lt;img&gt; \*d\* |"), "{text}");
    let text = markdown(&sample::diagnosis(sample::HOSTILE), &[]);
    assert!(!text.contains("<script>"));
}

/// The interval over repeats stands beside the figure where several repeats have it, the one within
/// them is named.
#[test]
fn brackets_are_over_repeats_where_there_are_some() {
    let mut diagnosis = sample::diagnosis("static");
    let figures = &mut diagnosis.endpoints[0];
    figures.by_repeat = vec![RepeatFigures::default(); 5];
    figures.over_repeats = vec![OverRepeats {
        metric: "p50".to_owned(),
        repeats: 5,
        median_ms: 3.0,
        least_ms: 2.5,
        most_ms: 4.0,
        confidence: 0.9375,
        low_ms: Some(2.25),
        high_ms: Some(4.75),
        spread: 0.5,
        steadiness: Steadiness::Inconclusive,
    }];
    let text = markdown(&diagnosis, &[]);
    assert!(text.contains("[2.25, 4.75]"), "{text}");
    assert!(text.contains("within these repeats: p50 "), "{text}");
    assert!(text.contains("p50 2.5-4 ms (with 94 %)"), "{text}");
}

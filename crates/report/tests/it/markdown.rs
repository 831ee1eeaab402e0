//! The Markdown view.

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

//! What tracing showed, in every view.

use slowpath_core::trace::Depth;
use slowpath_report::{Style, html, markdown, terminal};

use crate::sample;

const PLAIN: Style = Style {
    color: false,
    width: 100,
    verbose: true,
};

fn page(holder: &str) -> String {
    html(&sample::inside(holder), &sample::record("static"), &[])
}

/// The page's section about the inside.
fn section(page: &str) -> &str {
    let from = page.find("<section id=\"inside\">").unwrap();
    let to = page[from..].find("</section>").unwrap();
    &page[from..from + to]
}

#[test]
fn the_answer_tells_the_inside_in_a_few_lines() {
    let diagnosis = sample::inside("otel-export");
    insta::assert_snapshot!("terminal", terminal(&diagnosis, &[], PLAIN, None));
    insta::assert_snapshot!("markdown", markdown(&diagnosis, &[]));
}

#[test]
fn the_section_as_it_is_drawn() {
    insta::assert_snapshot!("section", section(&page("otel-export")).replace('>', ">\n"));
}

#[test]
fn a_run_that_was_not_traced_has_no_section() {
    let diagnosis = sample::diagnosis("static");
    let page = html(&diagnosis, &sample::record("static"), &[]);
    assert!(!page.contains("<section id=\"inside\">"));
    assert!(!terminal(&diagnosis, &[], PLAIN, None).contains("traced"));
}

/// Without pointer or picture: every figure of the chain stands in a list, with the whole stack.
#[test]
fn the_pictures_are_told_in_words() {
    let page = page("otel-export");
    let section = section(&page);
    for text in [
        "sleeping: 1.35 s, from 0 ms, ended by an interrupt",
        "hrtimer_nanosleep &lt; clock_nanosleep (libc.so.6) &lt; std::thread::sleep (thread",
        "1.35 s: worker-3 4719 woken by otel-export 4713",
        "1.4 s: otel-export 4713 woken by thread 9999",
        "read, not yet answered: 1.37 s, from 52 ms",
        "94 % otel-export: clock_nanosleep &lt; flush_locked, through 1-4 waiters",
    ] {
        assert!(section.contains(text), "{text}");
    }
    assert!(section.matches("role=\"img\"").count() == 2);
}

#[test]
fn names_of_threads_are_text() {
    let page = page(sample::HOSTILE);
    assert!(!section(&page).contains("<script>"));
    let text = markdown(&sample::inside("a|b `c` <img>"), &[]);
    assert!(!text.contains("<img>"), "{text}");
}

#[test]
fn nothing_that_was_traced_breaks_a_view() {
    let mut diagnosis = sample::inside("otel-export");
    let view = diagnosis.trace.as_mut().unwrap();
    (view.shift, view.lost, view.within, view.joined) = (None, 0, 0, 0);
    let inside = &mut view.endpoints[0];
    inside.segments.clear();
    let fall = inside.slowest.as_mut().unwrap();
    fall.latency_ms = 0.0;
    fall.lanes.clear();
    let tree = inside.tail.as_mut().unwrap();
    tree.nodes.clear();
    inside.floor = Some(tree.clone());
    let page = html(&diagnosis, &sample::record("static"), &[]);
    let section = section(&page);
    assert!(section.contains("None of it is explained."));
    assert!(
        !section.contains("NaN") && !section.contains("inf"),
        "{section}"
    );
    let text = terminal(&diagnosis, &[], PLAIN, None);
    assert!(text.contains("what tracing cost is not known"), "{text}");
}

/// Where only threads were sampled, that nothing is joined is no failure.
#[test]
fn what_cannot_be_joined_without_privilege_is_not_counted_as_missed() {
    let mut diagnosis = sample::inside("otel-export");
    let view = diagnosis.trace.as_mut().unwrap();
    (view.depth, view.joined) = (Depth::Threads, 0);
    let text = terminal(&diagnosis, &[], PLAIN, None);
    let told = "80 % of the measured time, without which thread woke which, and which one read which request; tracing";
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains(told), "{text}");
}

//! The HTML view: self-contained, well-formed, escaped, bounded.

use slowpath_core::samples::Samples;
use slowpath_diagnose::diagnosis::Diagnosis;
use slowpath_report::html;

use crate::sample;

/// Elements that have no content and no end tag (HTML 13.1.2), of those that the report uses.
const VOID: [&str; 2] = ["meta", "br"];

/// Where a browser would fetch something from; text may name URLs as it likes.
const FETCHES: [&str; 8] = [
    " src=", " href=", " srcset=", "url(", "@import", "<link", "<iframe", "fetch(",
];

fn page(diagnosis: &Diagnosis, other: &str) -> String {
    html(diagnosis, &sample::record(other), &[sample::experiment()])
}

#[test]
fn every_section_is_there() {
    let page = page(&sample::diagnosis("static"), "static");
    let sections = [
        "answer",
        "experiments",
        "latency",
        "time",
        "figures",
        "looked-for",
        "validity",
        "gaps",
        "conditions",
    ];
    for section in sections {
        assert!(
            page.contains(&format!("<section id=\"{section}\">")),
            "{section}"
        );
    }
    for text in [
        "Why the slowest 2.1 % of search",
        "lock-held-over-io",
        "otel-export",
        "[81 %, 93 %]",
        "needs 3688 effective samples, have 912",
        "Throttling was not observed: the target&#39;s cgroup has no quota.",
        "sysctl kernel.task_delayacct=1",
        "The prediction held.",
        "AMD EPYC 9B14",
        "prefers-color-scheme:dark",
        "20 reset in first-byte (ECONNRESET)",
    ] {
        let found = page.contains(text) || page.contains(&text.replace("&#39;", "'"));
        assert!(found, "{text}");
    }
}

#[test]
fn an_experiment_is_told_with_its_finding() {
    let page = page(&sample::delayed_ack(), "static");
    assert!(page.contains("<li>confirmed by experiment: p50 39.9 → 0.61 ms"));
}

#[test]
fn nothing_is_fetched() {
    let page = page(&sample::diagnosis("static"), "static");
    for fetch in FETCHES {
        assert!(!page.contains(fetch), "{fetch}");
    }
}

#[test]
fn tags_are_balanced() {
    for diagnosis in [
        sample::diagnosis(sample::HOSTILE),
        sample::inside(sample::HOSTILE),
        sample::healthy(),
        sample::invalid(),
    ] {
        let page = page(&diagnosis, sample::HOSTILE);
        let mut open: Vec<&str> = Vec::new();
        let mut rest = page.strip_prefix("<!DOCTYPE html>").unwrap();
        while let Some(at) = rest.find('<') {
            let (tag, after) = rest[at + 1..].split_once('>').expect("a tag ends");
            let name = tag
                .trim_start_matches('/')
                .split_whitespace()
                .next()
                .unwrap();
            if let Some(name) = tag.strip_prefix('/') {
                assert_eq!(open.pop(), Some(name));
            } else if !VOID.contains(&name) {
                open.push(name);
            }
            rest = after;
            if name == "script" && !tag.starts_with('/') {
                rest = &rest[rest.find("</script>").expect("the script ends")..];
            }
        }
        assert_eq!(open, Vec::<&str>::new());
    }
}

#[test]
fn names_are_text() {
    let page = page(&sample::diagnosis(sample::HOSTILE), sample::HOSTILE);
    assert!(!page.contains("<script>alert"));
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert_eq!(page.matches("<script>").count(), 1);
}

#[test]
fn its_size_does_not_grow_with_the_requests() {
    let diagnosis = sample::diagnosis("static");
    let once = sample::record("static");
    let mut often = once.clone();
    often
        .samples
        .change(|samples| *samples = vec![samples.clone(); 5].concat());
    let (small, large) = (html(&diagnosis, &once, &[]), html(&diagnosis, &often, &[]));
    assert!(small.len() < 400_000, "{}", small.len());
    assert!(
        large.len() < small.len() + small.len() / 10,
        "{} {}",
        small.len(),
        large.len()
    );
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    let diagnosis = sample::diagnosis("static");
    assert_eq!(page(&diagnosis, "static"), page(&diagnosis, "static"));
}

#[test]
fn a_run_without_requests_still_has_a_report() {
    let mut record = sample::record("static");
    record.samples = Samples::default();
    record.timeline = slowpath_core::timeline::Timeline::default();
    record.manifest.repeats.clear();
    let page = html(&sample::healthy(), &record, &[]);
    assert!(page.contains("Nothing was measured."));
    assert!(page.contains("No request was completed"));
    assert!(page.contains("No cause found"));
}

//! What every page and every detector must look like.

use std::collections::BTreeSet;
use std::fs;

use slowpath_diagnose::detectors::REGISTRY;

use super::markdown::{Page, folder, update};
use crate::case::spec::Expect;

const HEADINGS: [&str; 7] = [
    "## What it names",
    "## Why it makes a tail",
    "## What it looks like",
    "## What it is mistaken for",
    "## What to do",
    "## How to refute it",
    "## References",
];
/// What is only ever ruled out, or left open: it hides causes and is none of the server's, or nothing distinguishes it
/// from what is.
const NEVER_FOUND: &[&str] = &["coordinated-omission", "wake-placement"];
/// What the simulated server cannot bring about yet: places that no kernel object shows, workers held by idle
/// connections, clients that are slow, inputs that are expensive or large, batches, and dependencies that do not answer. It is
/// found on public software.
const NOT_SIMULATED: &[&str] = &[
    "concurrency-limit",
    "workers-held-idle",
    "slow-client",
    "hot-input",
    "request-size",
    "batch-window",
    "upstream-timeout",
];
/// A detector is read in one sitting.
const LINES_MOST: usize = 300;

#[test]
fn every_page_has_its_headings_in_order() {
    for page in Page::all() {
        let headings: Vec<&str> = page.text.lines().filter(|l| l.starts_with('#')).collect();
        let (first, rest) = headings.split_first().unwrap();
        assert_eq!(*first, format!("# {}", page.cause));
        assert_eq!(page.text.lines().next(), Some(*first));
        assert_eq!(rest, HEADINGS, "{}", page.cause);
        for (begin, end) in HEADINGS.iter().zip(HEADINGS.iter().skip(1)) {
            let section = page
                .text
                .split(begin)
                .nth(1)
                .unwrap()
                .split(end)
                .next()
                .unwrap();
            assert!(
                section.trim().len() > 80,
                "{}: {begin} says nothing",
                page.cause
            );
        }
    }
}

#[test]
fn the_product_shows_the_pages_that_are_tested() {
    if update() {
        return;
    }
    for (page, entry) in Page::all().iter().zip(REGISTRY) {
        assert_eq!(page.text, entry.page, "{}", entry.name);
    }
}

#[test]
fn every_page_has_all_kinds_of_cases() {
    for page in Page::all() {
        let cases = page.cases();
        for kind in [Expect::Found, Expect::Cleared, Expect::Blind] {
            let has = cases.iter().any(|c| c.case.expect == kind);
            let never = [NEVER_FOUND, NOT_SIMULATED]
                .iter()
                .any(|of| of.contains(&page.cause));
            let never = kind == Expect::Found && never;
            assert!(
                has || never,
                "{} has no case of {}",
                page.cause,
                kind.name()
            );
        }
    }
    let healthy = Page::healthy().cases();
    assert!(healthy.iter().all(|c| c.case.expect == Expect::Nothing));
}

#[test]
fn names_of_cases_are_unique() {
    let mut names = BTreeSet::new();
    for page in Page::all().iter().chain([&Page::healthy()]) {
        for fenced in page.cases() {
            assert!(
                names.insert(fenced.case.name.clone()),
                "{} twice",
                fenced.case.name
            );
        }
    }
}

#[test]
fn every_detector_is_one_short_file_that_is_registered() {
    let mut files = BTreeSet::new();
    for entry in fs::read_dir(folder().join("src/detectors")).unwrap() {
        let path = entry.unwrap().path();
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        assert!(lines <= LINES_MOST, "{} has {lines} lines", path.display());
        files.insert(
            path.file_stem()
                .unwrap()
                .to_str()
                .unwrap()
                .replace('_', "-"),
        );
    }
    let registered: BTreeSet<String> = REGISTRY.iter().map(|e| e.name.to_owned()).collect();
    assert_eq!(files, registered);
}

//! Every case of every page, judged.

use std::fs;
use std::sync::LazyLock;
use std::thread;

use super::markdown::{Judged, Page, findings, update};
use crate::case::{check, explain};

/// All pages with the judgements of their cases, the healthy runs last; judged once for all tests.
pub(super) static JUDGED: LazyLock<Vec<(Page, Vec<Judged>)>> = LazyLock::new(|| {
    let mut pages = Page::all();
    pages.push(Page::healthy());
    let judge = |page: Page| {
        let judged = page.judged();
        (page, judged)
    };
    thread::scope(|scope| {
        let running: Vec<_> = pages
            .into_iter()
            .map(|p| scope.spawn(move || judge(p)))
            .collect();
        running
            .into_iter()
            .map(|page| page.join().unwrap())
            .collect()
    })
});

#[test]
fn every_case_is_judged_as_its_page_says() {
    let judged = JUDGED.iter().flat_map(|(_, judged)| judged);
    let wrong: Vec<String> = judged
        .filter_map(|j| check(&j.fenced.case, j.cause, &j.diagnosis).err())
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn every_case_has_the_findings_that_its_page_shows() {
    let mut wrong = Vec::new();
    for (page, judged) in JUDGED.iter() {
        if update() {
            fs::write(&page.path, page.updated(judged)).unwrap();
            continue;
        }
        for one in judged {
            let shown = one.fenced.snapshot.as_deref();
            let found = findings(&one.diagnosis);
            if shown != Some(found.as_str()) {
                let name = &one.fenced.case.name;
                let why = explain(&one.diagnosis);
                wrong.push(format!("{name}: shown {shown:?}, found {found:?}{why}"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "\n{}\n(UPDATE=1 rewrites the pages)",
        wrong.join("\n")
    );
}

//! Which experiment decides most: of what is not decided yet, in the time that it takes.

use std::collections::BTreeSet;

use slowpath_core::catalogue::PROVABLE;
use slowpath_core::scenario::COLD;
use slowpath_diagnose::diagnosis::{Finding, Grade};

use crate::hypothesis::{self, Test, Wanted};
use crate::present::Judged;

/// The experiments that are left, the most decisive first. Findings come before suspicions: what
/// the run was blind for is tried when nothing was named that is not decided.
pub(crate) fn ranked(judged: &Judged, seed: u64) -> Vec<Test> {
    let open: Vec<&Finding> = judged
        .diagnosis
        .findings
        .iter()
        .filter(|f| is_open(f))
        .collect();
    let mut tests: Vec<(f64, Test)> = open
        .iter()
        .filter(|finding| PROVABLE.contains(&finding.cause.as_str()))
        .filter_map(|finding| {
            let test = hypothesis::write(judged, Wanted::Found(finding), seed).ok()?;
            let seconds = test.design.total_ns() as f64 / 1e9;
            let told = finding.share * separation(finding, &open);
            Some((told / seconds, test))
        })
        .collect();
    if tests.is_empty()
        && !judged
            .diagnosis
            .findings
            .iter()
            .any(|f| f.grade == Grade::Confirmed)
    {
        tests = suspicions(judged, seed);
    }
    // Equal ones stay in the order of the findings.
    tests.sort_by(|a, b| b.0.total_cmp(&a.0));
    tests.into_iter().map(|(_, test)| test).collect()
}

fn is_open(finding: &Finding) -> bool {
    let decided = matches!(finding.grade, Grade::Confirmed | Grade::Refuted);
    !decided && finding.pass.as_deref() != Some(COLD)
}

/// What share of the other open findings the experiment cannot move too, so that its outcome distinguishes
/// this one from them; all where there are no others.
fn separation(finding: &Finding, open: &[&Finding]) -> f64 {
    let others = open.iter().filter(|other| other.cause != finding.cause);
    let (mut all, mut apart) = (0.0, 0.0);
    for other in others {
        all += other.share;
        if !hypothesis::moves_both(&finding.cause, &other.cause) {
            apart += other.share;
        }
    }
    // It still says something of both together.
    let least = 0.25;
    if all > 0.0 {
        (apart / all).max(least)
    } else {
        1.0
    }
}

/// Causes that the run could not look for and that were not tested yet, shortest first.
fn suspicions(judged: &Judged, seed: u64) -> Vec<(f64, Test)> {
    let tested: BTreeSet<&str> = judged
        .experiments
        .iter()
        .map(|e| e.cause.as_str())
        .collect();
    let blind: BTreeSet<&str> = judged
        .diagnosis
        .blind
        .iter()
        .map(|b| b.cause.as_str())
        .collect();
    let started = judged
        .record
        .manifest
        .plan
        .scenario
        .target
        .command
        .is_some();
    let left = blind
        .difference(&tested)
        .filter(|cause| PROVABLE.contains(cause));
    let tests = left.filter_map(|cause| {
        let test = hypothesis::write(judged, Wanted::Supposed(cause), seed).ok()?;
        // A server that was found running is not changed on a mere suspicion.
        let allowed = started || !test.hypothesis.intervention.changes_the_target();
        allowed.then_some(())?;
        Some((1e9 / test.design.total_ns() as f64, test))
    });
    tests.collect()
}

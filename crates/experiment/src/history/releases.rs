//! The runs of a setting, release by release.

use slowpath_core::figures::RunFigures;

/// How much of a commit's hash names it: what git shows by default, and a little more.
const COMMIT_DIGITS: usize = 10;

/// The runs of a release.
pub(super) struct OfRelease<'a> {
    pub(super) label: String,
    pub(super) runs: Vec<&'a RunFigures>,
}

/// The runs by release, in order of the first run of each: an old release that is measured again
/// beside a new one (an anchor) keeps its place. Without a release a run belongs to its commit, if
/// the tree had no changes, and otherwise to itself.
pub(super) fn releases<'a>(runs: &[&'a RunFigures]) -> Vec<OfRelease<'a>> {
    let mut releases: Vec<OfRelease<'a>> = Vec::new();
    for run in runs {
        let label = label(run);
        match releases.iter_mut().find(|release| release.label == label) {
            Some(release) => release.runs.push(run),
            None => releases.push(OfRelease {
                label,
                runs: vec![run],
            }),
        }
    }
    releases
}

/// What a run counts as a release of.
pub(crate) fn label(run: &RunFigures) -> String {
    if let Some(release) = &run.release {
        return release.clone();
    }
    let commit = run.conditions.versions.get("git");
    let clean = commit.filter(|commit| commit.chars().all(|c| c.is_ascii_hexdigit()));
    match clean {
        Some(commit) => commit.chars().take(COMMIT_DIGITS).collect(),
        None => run.id.clone(),
    }
}

//! The releases of a scenario, in the order in which they were first measured.

use std::cmp::Ordering;

use slowpath_core::investigation::What;

use super::Log;

/// The releases of one scenario.
#[derive(Debug)]
pub(super) struct Releases {
    /// When each was measured first, RFC 3339, and its name; in order of time.
    measured: Vec<(String, String)>,
}

impl Releases {
    /// Those of the stored runs, and those that outcomes in the log speak of. A void run has measured
    /// nothing.
    pub(super) fn of(log: &Log<'_>, scenario: &str) -> Self {
        let mut all: Vec<(String, String)> = Vec::new();
        for run in log.runs_of(scenario) {
            if let Some(release) = run.release.as_ref().filter(|_| run.void.is_empty()) {
                all.push((to_the_second(&run.began), release.clone()));
            }
        }
        for investigation in log.investigations() {
            let symptom = investigation.symptom();
            if symptom.is_none_or(|symptom| symptom.scenario != scenario) {
                continue;
            }
            for entry in &investigation.entries {
                if let What::Outcome(outcome) = &entry.what
                    && let Some(release) = &outcome.release
                {
                    all.push((entry.at.clone(), release.clone()));
                }
            }
        }
        all.sort();
        let mut measured: Vec<(String, String)> = Vec::new();
        for (at, release) in all {
            if !measured.iter().any(|(_, known)| *known == release) {
                measured.push((at, release));
            }
        }
        Self { measured }
    }

    /// Where a release stands among those that were measured.
    pub(super) fn place(&self, release: &str) -> Option<usize> {
        self.measured.iter().position(|(_, name)| name == release)
    }

    /// Whether a release was measured before an instant.
    pub(super) fn was_measured_before(&self, release: &str, at: &str) -> bool {
        self.place(release)
            .is_some_and(|place| self.measured[place].0.as_str() < at)
    }

    /// Where the first release stands that was first measured after an instant.
    pub(super) fn first_after(&self, at: &str) -> Option<usize> {
        self.measured
            .iter()
            .position(|(began, _)| began.as_str() > at)
    }

    /// Where the first release stands that has what came with `release`: itself, or else the first
    /// that comes after it, by its numbers or, without any, by being measured after an instant.
    pub(super) fn first_with(&self, release: &str, at: &str) -> Option<usize> {
        self.place(release).or_else(|| {
            let mut measured = self.measured.iter();
            measured.position(|(began, name)| match order(name, release) {
                Some(order) => order == Ordering::Greater,
                None => began.as_str() > at,
            })
        })
    }

    /// The release at a place.
    pub(super) fn at(&self, place: usize) -> &str {
        &self.measured[place].1
    }

    /// The first measured release that is `due` or comes after it; `None` if none was measured.
    pub(super) fn reached(&self, due: &str) -> Option<&str> {
        let names = || self.measured.iter().map(|(_, name)| name.as_str());
        let own = names().find(|name| *name == due);
        own.or_else(|| names().find(|name| order(name, due) == Some(Ordering::Greater)))
    }
}

/// How two releases lie to each other by their numbers: `v3.9` is before `v3.10`. `None` if a
/// name has no numbers, or other words than the other one.
pub(super) fn order(a: &str, b: &str) -> Option<Ordering> {
    if a == b {
        return Some(Ordering::Equal);
    }
    let (a, b) = (numbers(a)?, numbers(b)?);
    if a.0 != b.0 {
        return None;
    }
    let length = a.1.len().max(b.1.len());
    // 3.5 and 3.5.0 are one release.
    let filled = |numbers: &[u64]| -> Vec<u64> {
        let rest = std::iter::repeat(&0);
        numbers.iter().chain(rest).take(length).copied().collect()
    };
    Some(filled(&a.1).cmp(&filled(&b.1)))
}

/// Letters and digits of a commit that git shows at least.
const COMMIT_DIGITS: usize = 7;

/// Whether a name is always of the same system: one with numbers, or that of a commit; that of a
/// branch moves on.
pub(super) fn stays(name: &str) -> bool {
    let is_commit = name.len() >= COMMIT_DIGITS && name.chars().all(|c| c.is_ascii_hexdigit());
    is_commit || numbers(name).is_some()
}

/// The word before the numbers of a release, and the numbers; `None` where anything else is in its
/// name.
fn numbers(name: &str) -> Option<(&str, Vec<u64>)> {
    let at = name.find(|c: char| c.is_ascii_digit())?;
    let (word, rest) = name.split_at(at);
    let word = word.strip_suffix(['v', 'V']).unwrap_or(word);
    let numbers: Result<Vec<u64>, _> = rest.split('.').map(str::parse).collect();
    Some((word, numbers.ok()?))
}

/// An instant without what is below a second, so that it compares with those of entries as text.
pub(super) fn to_the_second(at: &str) -> String {
    match at.split_once('.') {
        Some((seconds, fraction)) if fraction.ends_with('Z') => format!("{seconds}Z"),
        _ => at.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_ordered_by_their_numbers() {
        for (a, b, expected) in [
            ("v3.9", "v3.10", Some(Ordering::Less)),
            ("3.5", "v3.5.0", Some(Ordering::Equal)),
            ("v3.50.11", "v3.50.9", Some(Ordering::Greater)),
            ("app-2", "app-10", Some(Ordering::Less)),
            ("app-2", "web-10", None),
            ("nightly", "nightly", Some(Ordering::Equal)),
            ("nightly", "v2", None),
            ("v2-rc1", "v2", None),
            ("1f3ab9", "v2", None),
        ] {
            assert_eq!(order(a, b), expected, "{a} {b}");
        }
    }

    #[test]
    fn names_of_branches_move_on() {
        for (name, expected) in [
            ("v3.9", true),
            ("1f3ab9c", true),
            ("nightly", false),
            ("main", false),
            ("facade", false),
        ] {
            assert_eq!(stays(name), expected, "{name}");
        }
    }

    #[test]
    fn instants_are_compared_to_the_second() {
        assert_eq!(
            to_the_second("2026-01-31T14:05:00.123Z"),
            "2026-01-31T14:05:00Z"
        );
        assert_eq!(
            to_the_second("2026-01-31T14:05:00Z"),
            "2026-01-31T14:05:00Z"
        );
    }
}

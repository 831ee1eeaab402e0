//! Counts verdicts.

use super::keep::Row;
use super::outcome::Verdict;

/// Others that use less of the CPUs leave a server as it is.
const CALM: f64 = 0.25;
/// Others that use so much of them are in every server's way.
const NOISY: f64 = 0.5;
/// z of a two-sided interval of 95 %.
const Z: f64 = 1.959_964;

/// So many of so many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Of {
    pub(crate) count: usize,
    pub(crate) all: usize,
}

impl Of {
    fn count<'a>(rows: impl Iterator<Item = &'a Row>, is: impl Fn(&Row) -> bool) -> Self {
        rows.fold(Self::default(), |so_far, row| Self {
            count: so_far.count + usize::from(is(row)),
            all: so_far.all + 1,
        })
    }

    /// With its share and the interval of Wilson (1927), which is of use at 0 and at all of them.
    pub(crate) fn text(self) -> String {
        if self.all == 0 {
            return "none".to_owned();
        }
        let (n, share) = (self.all as f64, self.count as f64 / self.all as f64);
        let (low, high) = wilson(share, n);
        format!(
            "{} of {} = {:.0} % [{:.0}, {:.0}]",
            self.count,
            self.all,
            100.0 * share,
            100.0 * low,
            100.0 * high
        )
    }
}

fn wilson(share: f64, n: f64) -> (f64, f64) {
    let spread = Z * (share * (1.0 - share) / n + (Z / (2.0 * n)).powi(2)).sqrt();
    let middle = share + Z * Z / (2.0 * n);
    let scale = 1.0 + Z * Z / n;
    let low = ((middle - spread) / scale).max(0.0);
    (low, ((middle + spread) / scale).min(1.0))
}

/// The figures of some rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tally {
    /// Sick: the expected cause is first.
    pub(crate) first: Of,
    /// The same where the host was calm: others had little of its CPUs.
    pub(crate) first_on_calm: Of,
    /// Sick: the report says that it cannot decide.
    pub(crate) blind: Of,
    /// Sick: it is among the first three.
    pub(crate) among_three: Of,
    /// Where it is expected: the first line of the attribution is right.
    pub(crate) line: Of,
    /// Sick: something else is named, and what is expected is not among the first three.
    pub(crate) wrong: Of,
    /// Sick: an expected cause is ruled out.
    pub(crate) cleared: Of,
    /// Healthy: something about the server is named.
    pub(crate) false_on_healthy: Of,
    /// The same where the host was calm.
    pub(crate) false_on_calm: Of,
    /// The same where others had half of the CPUs or more.
    pub(crate) false_on_noisy: Of,
    /// Sick: something is named that is neither expected nor true beside it.
    pub(crate) false_on_sick: Of,
    /// Where something about the host or the load generator is named.
    pub(crate) host_named: Of,
    /// Of those that are first: how many are more than suspected.
    pub(crate) supported: Of,
    /// The median share of the excess that the expected cause has where it was found.
    pub(crate) share: Option<f64>,
    /// The median unexplained share of the sick ones.
    pub(crate) unexplained: Option<f64>,
    /// Run again since the measurement was invalid.
    pub(crate) run_again: usize,
    pub(crate) invalid: usize,
    pub(crate) not_induced: usize,
    pub(crate) skipped: usize,
    pub(crate) failed: usize,
    /// Variants without a row.
    pub(crate) not_measured: usize,
    pub(crate) seconds: f64,
}

fn is_calm(row: &Row) -> bool {
    row.said.others_share < CALM
}

/// Counts these rows, of so many variants.
pub(crate) fn tally(rows: &[&Row], variants: usize) -> Tally {
    let judged = || rows.iter().copied().filter(|row| row.is_judged());
    let sick = || judged().filter(|row| !row.is_healthy);
    let of = |verdict: Verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    let right = || sick().filter(|row| row.verdict == Verdict::Right);
    Tally {
        first: Of::count(sick(), |row| row.verdict == Verdict::Right),
        first_on_calm: Of::count(sick().filter(|row| is_calm(row)), |row| {
            row.verdict == Verdict::Right
        }),
        blind: Of::count(sick(), |row| row.verdict == Verdict::Blind),
        among_three: Of::count(sick(), |row| {
            matches!(
                row.verdict,
                Verdict::Right | Verdict::Half | Verdict::AmongThree
            )
        }),
        line: Of::count(sick().filter(|row| row.is_line_right.is_some()), |row| {
            row.is_line_right == Some(true)
        }),
        wrong: Of::count(sick(), |row| row.verdict == Verdict::Wrong),
        cleared: Of::count(sick(), |row| !row.said.cleared_truth.is_empty()),
        false_on_healthy: Of::count(judged().filter(|row| row.is_healthy), |row| {
            row.verdict == Verdict::FalseName
        }),
        false_on_calm: Of::count(
            judged().filter(|row| row.is_healthy && is_calm(row)),
            |row| row.verdict == Verdict::FalseName,
        ),
        false_on_noisy: Of::count(
            judged().filter(|row| row.is_healthy && row.said.others_share >= NOISY),
            |row| row.verdict == Verdict::FalseName,
        ),
        false_on_sick: Of::count(sick(), |row| !row.false_names.is_empty()),
        host_named: Of::count(judged(), |row| !row.said.host.is_empty()),
        supported: Of::count(right(), |row| row.grade.as_deref() != Some("suspected")),
        share: median(sick().filter_map(|row| row.share)),
        unexplained: median(sick().filter_map(|row| row.unexplained)),
        run_again: rows.iter().filter(|row| row.attempts > 1).count(),
        invalid: of(Verdict::Invalid),
        not_induced: of(Verdict::NotInduced),
        skipped: of(Verdict::Skipped),
        failed: of(Verdict::Failed),
        not_measured: variants.saturating_sub(rows.len()),
        seconds: rows.iter().map(|row| row.seconds).sum(),
    }
}

/// The middle value; of two in the middle their mean.
pub(crate) fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let high = values.get(middle)?;
    let is_odd = values.len() % 2 == 1;
    Some(if is_odd {
        *high
    } else {
        f64::midpoint(values[middle - 1], *high)
    })
}

impl Tally {
    /// What is printed and written of it, line by line.
    pub(crate) fn lines(&self) -> Vec<(&'static str, String)> {
        let share = |share: Option<f64>| share.map_or("-".to_owned(), percent);
        vec![
            ("right cause first", self.first.text()),
            (
                "… where others used below 25 % of the CPUs",
                self.first_on_calm.text(),
            ),
            ("right cause in the first three", self.among_three.text()),
            ("first line of the attribution right", self.line.text()),
            ("wrong name", self.wrong.text()),
            ("truth printed as cleared", self.cleared.text()),
            ("nothing named, and said to be unseen", self.blind.text()),
            ("more than suspected, of the first", self.supported.text()),
            ("share of the right cause, median", share(self.share)),
            ("unexplained, median of the sick", share(self.unexplained)),
            (
                "false name on a healthy server",
                self.false_on_healthy.text(),
            ),
            (
                "… where others used below 25 % of the CPUs",
                self.false_on_calm.text(),
            ),
            (
                "… where others used 50 % of the CPUs or more",
                self.false_on_noisy.text(),
            ),
            (
                "false name beside or instead, on a sick one",
                self.false_on_sick.text(),
            ),
            ("host or load generator named", self.host_named.text()),
            (
                "not judged",
                format!(
                    "{} invalid, {} not induced, {} skipped, {} failed, {} not measured; {} run again",
                    self.invalid,
                    self.not_induced,
                    self.skipped,
                    self.failed,
                    self.not_measured,
                    self.run_again
                ),
            ),
            ("time", format!("{:.0} s", self.seconds)),
        ]
    }
}

/// The first-look accuracy in a sentence that can be copied.
pub(crate) fn headline(rows: &[&Row], variants: usize) -> String {
    let found = tally(rows, variants);
    let healthy = rows.iter().filter(|row| row.is_healthy).count();
    let days = rows.iter().filter_map(|row| row.said.began.get(..10)).max();
    format!(
        "First-look accuracy, {}: right cause first in {}; truth printed as cleared in {}; false \
         name on healthy in {}. {variants} scenarios, {healthy} of them healthy, each run once.",
        days.unwrap_or("no date"),
        found.first.text(),
        found.cleared.text(),
        found.false_on_healthy.text()
    )
}

/// A share in percent.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use super::super::keep::tests::row;
    use super::super::outcome::Cleared;
    use super::*;

    #[test]
    fn each_verdict_is_counted_where_it_belongs() {
        use Verdict::{
            AmongThree, Failed, FalseName, Half, Invalid, Missed, NotInduced, Quiet, Right,
            Skipped, Wrong,
        };
        let verdicts = [
            Right, Right, Right, AmongThree, Half, Missed, Wrong, Quiet, Quiet, FalseName, Invalid,
            NotInduced, Skipped, Failed,
        ];
        let mut rows: Vec<Row> = verdicts.map(|verdict| row("lab/a/x", verdict)).into();
        for (row, unexplained) in rows.iter_mut().zip([0.1, 0.2, 0.3, 0.4, 0.5, 1.0, 1.0]) {
            row.unexplained = Some(unexplained);
        }
        rows[0].grade = Some("suspected".to_owned());
        rows[6].false_names = vec!["b".to_owned()];
        rows[10].attempts = 2;
        let cleared = Cleared {
            cause: "b".to_owned(),
            text: String::new(),
        };
        // A right row and a wrong one, and one that is not judged.
        for at in [0, 6, 10] {
            rows[at].said.cleared_truth = vec![cleared.clone()];
            rows[at].is_line_right = Some(at == 6);
        }
        rows[1].said.others_share = 0.5;
        rows[8].said.others_share = 0.5;
        let found = tally(&rows.iter().collect::<Vec<_>>(), 16);
        let of = |count, all| Of { count, all };
        assert_eq!(found.first, of(3, 7));
        assert_eq!(found.among_three, of(5, 7));
        assert_eq!((found.cleared, found.line), (of(2, 7), of(1, 2)));
        assert_eq!((found.wrong, found.not_measured), (of(1, 7), 2));
        assert_eq!(found.false_on_healthy, of(1, 3));
        assert_eq!(found.false_on_sick, of(1, 7));
        assert_eq!(found.false_on_noisy, of(0, 1));
        assert_eq!(found.supported, of(2, 3));
        assert_eq!(
            (found.first_on_calm, found.false_on_calm),
            (of(2, 6), of(1, 2))
        );
        assert_eq!(found.unexplained, Some(0.4));
        let not_judged = [
            found.invalid,
            found.not_induced,
            found.skipped,
            found.failed,
        ];
        assert_eq!((not_judged, found.run_again), ([1, 1, 1, 1], 1));
    }

    #[test]
    fn a_first_look_without_a_report_is_not_right() {
        let rows = ["lab/a/x", "first-look/b/a/x"].map(|id| row(id, Verdict::Failed));
        let found = rows.each_ref().map(|row| tally(&[row], 1).first);
        assert_eq!(found, [Of { count: 0, all: 0 }, Of { count: 0, all: 1 }]);
    }

    #[test]
    fn intervals_are_those_of_wilson() {
        // R: prop.test(0, 24, correct = FALSE)$conf.int and prop.test(15, 20, ...).
        let (low, high) = wilson(0.0, 24.0);
        assert!(
            low.abs() < 1e-9 && (high - 0.137_975).abs() < 1e-4,
            "{low} {high}"
        );
        let (low, high) = wilson(0.75, 20.0);
        assert!(
            (low - 0.531_299).abs() < 1e-4 && (high - 0.888_138).abs() < 1e-4,
            "{low} {high}"
        );
        assert_eq!(Of { count: 0, all: 24 }.text(), "0 of 24 = 0 % [0, 14]");
        assert_eq!(Of::default().text(), "none");
    }

    #[test]
    fn a_median_is_the_middle() {
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), Some(2.0));
        assert_eq!(median([4.0, 1.0].into_iter()), Some(2.5));
        assert_eq!(median([].into_iter()), None);
    }
}

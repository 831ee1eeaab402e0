//! What comes back: the same constant in several releases or endpoints, the same row worst each
//! time.

use serde::{Deserialize, Serialize};
use statrs::distribution::{Binomial, ChiSquared, ContinuousCDF, DiscreteCDF};

use super::median::median;
use super::ranks::ranks;

/// Chance of an accident below which a recurrence is claimed.
pub const CHANCE: f64 = 0.01;
/// Constants within 2 % of each other may be one: timers keep their time better, but what is added
/// to them (a round trip, a wake-up) does not.
pub const TOLERANCE_LEAST: f64 = 0.02;
/// A row that is the cause is the worst one in at least so many of all runs; noise takes the rest.
const TRUE_TO_ITSELF: f64 = 0.8;
/// Chance below which such a row is ruled out.
const RULED_OUT: f64 = 0.05;

/// A constant that was seen: the place of a mode, the step of a comb, a period.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// Its value; any unit, the same for all.
    pub value: f64,
    /// Half the width of its interval, in the same unit; 0 if there is none.
    pub half_width: f64,
    /// The step of the clock it was read with, in the same unit; 0 if it is far finer.
    pub quantum: f64,
    /// Chance that it was seen by accident; 0 if it is certain to be there.
    pub p: f64,
}

/// A constant that came back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recurring {
    /// Its median over the groups it was seen in.
    pub value: f64,
    /// Indexes of these groups, ascending.
    pub groups: Vec<usize>,
    /// Chance that some constant comes back as often by accident; at most 1.
    pub chance: f64,
}

impl Recurring {
    /// Whether it is beyond chance.
    pub fn is_claimed(&self) -> bool {
        self.chance < CHANCE
    }
}

/// Constants that lie in at least two of several groups, the least accidental first.
///
/// Groups are releases, or endpoints of one run (a constant that several have points to something
/// they share). `range` is the least and the largest value a constant could have had: what can be
/// distinguished from zero, and the longest latency or the length of the run.
///
/// Constants are one if they lie within the largest of 2 %, their quantum and their interval of the
/// middle. With up to `M` constants in each of `m` groups, spread evenly over the logarithms of a
/// range of length `L`, one of them has others within a tolerance `tau` in `k - 1` other groups with
/// a chance of at most `C(m, k) M (2 tau M / L)^(k-1)`; if `k < m` times `m - 2`, since any such
/// `k` would have been reported.
///
/// What several groups see by accident they may see for one reason: modes that stay where they are
/// stand like a comb in each release, and endpoints stall with the host that they share. So the
/// chance of a recurrence is not below the median chance with which its constants are none.
pub fn recurring(groups: &[Vec<Seen>], range: (f64, f64)) -> Vec<Recurring> {
    let mut left = points(groups);
    let most = groups.iter().map(Vec::len).max().unwrap_or(0) as f64;
    let length = (range.1 / range.0).ln();
    let mut found = Vec::new();
    while let Some(cluster) = densest(&left) {
        let mut members: Vec<Point> = cluster.iter().map(|&index| left[index]).collect();
        for &index in cluster.iter().rev() {
            left.remove(index);
        }
        let tolerance = members
            .iter()
            .fold(0.0, |most: f64, p| most.max(p.tolerance));
        let mut groups_of: Vec<usize> = members.iter().map(|p| p.group).collect();
        groups_of.sort_unstable();
        groups_of.dedup();
        members.sort_unstable_by(|a, b| a.log.total_cmp(&b.log));
        let k = groups_of.len();
        // A range that leaves no room makes every recurrence an accident.
        let near = if length > 0.0 {
            (2.0 * tolerance * most / length).min(1.0)
        } else {
            1.0
        };
        // All groups are one question; two, three or more of them are as many questions.
        let questions = if k < groups.len() {
            groups.len() - 2
        } else {
            1
        };
        let ways = choose(groups.len(), k) * questions as f64;
        let chance = ways * most * near.powi(k as i32 - 1);
        let mut chances: Vec<f64> = members.iter().map(|p| p.chance).collect();
        let none = median(&mut chances).unwrap_or(0.0);
        found.push(Recurring {
            value: members[(members.len() - 1) / 2].log.exp(),
            groups: groups_of,
            chance: chance.min(1.0).max(none),
        });
    }
    found.sort_by(|a, b| a.chance.total_cmp(&b.chance));
    found
}

#[derive(Clone, Copy)]
struct Point {
    log: f64,
    tolerance: f64,
    chance: f64,
    group: usize,
}

/// All constants on a logarithmic axis, ascending.
fn points(groups: &[Vec<Seen>]) -> Vec<Point> {
    let mut all: Vec<Point> = groups
        .iter()
        .enumerate()
        .flat_map(|(group, seen)| seen.iter().map(move |seen| (group, seen)))
        .filter(|(_, seen)| seen.value.is_finite() && seen.value > 0.0)
        .map(|(group, seen)| Point {
            log: seen.value.ln(),
            tolerance: TOLERANCE_LEAST
                .max(seen.quantum / seen.value)
                .max(seen.half_width / seen.value),
            chance: seen.p,
            group,
        })
        .collect();
    all.sort_unstable_by(|a, b| a.log.total_cmp(&b.log));
    all
}

/// Indexes of the points around one of them that come from most groups, of at least two; of equal
/// ones the closest.
fn densest(points: &[Point]) -> Option<Vec<usize>> {
    let mut best: Option<(usize, f64, Vec<usize>)> = None;
    for middle in points {
        let near = |p: &Point| (p.log - middle.log).abs() <= p.tolerance.max(middle.tolerance);
        let members: Vec<usize> = (0..points.len()).filter(|&i| near(&points[i])).collect();
        let mut groups: Vec<usize> = members.iter().map(|&i| points[i].group).collect();
        groups.sort_unstable();
        groups.dedup();
        let spread = members
            .iter()
            .map(|&i| (points[i].log - middle.log).abs())
            .sum();
        let is_better = match &best {
            None => groups.len() > 1,
            Some((count, width, _)) => {
                groups.len() > *count || groups.len() == *count && spread < *width
            }
        };
        if is_better {
            best = Some((groups.len(), spread, members));
        }
    }
    best.map(|(_, _, members)| members)
}

/// Ways to choose `k` of `n`.
fn choose(n: usize, k: usize) -> f64 {
    (0..k).map(|i| (n - i) as f64 / (k - i) as f64).product()
}

/// Which row is worst, run after run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Worst {
    /// The row that was worst most often.
    pub row: usize,
    /// In how many runs.
    pub times: usize,
    /// Of how many.
    pub runs: usize,
    /// Chance that some row is worst as often if all are alike.
    pub chance: f64,
    /// Chance that the figures of all rows rise and fall together as much over the runs if the
    /// rows are independent; `None` if too few are known. See [`together`].
    pub together: Option<f64>,
    /// What this says.
    pub says: Says,
}

/// Whether the worst row stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Says {
    /// The same row again and again: the cause is in that row.
    Stays,
    /// Another row each time, be it one of a few more often than the others: no row is the cause by itself. Noise in rows that are alike
    /// does the same, so that this says nothing of what they share.
    Wanders,
    /// Another row each time, and all rise and fall together from run to run: they share what is
    /// slow, be it the host.
    Shares,
    /// Neither is beyond chance.
    CannotTell,
}

/// Which of the rows (endpoints) is worst in each of several runs, given a figure that can be
/// compared between rows, such as a tail over its own median: `figures[run][row]`, `None` where a
/// row has no figure. `None` without a run that has at least two.
///
/// That the most frequent row is worst in `k` of `m` runs has a chance of at most
/// `E P(Bin(m, 1/E) >= k)` if `E` rows are alike (`1/E` from the run with fewest figures). A row that is the cause would be worst in four
/// of five runs; that is ruled out at 5 %, also of a row that is worst more often than chance makes it: of many
/// rows some have heavier tails than others. The rows share a cause if they also rise [`together`].
pub fn worst(figures: &[Vec<Option<f64>>]) -> Option<Worst> {
    let mut worst = Vec::new();
    let mut alike = usize::MAX;
    for run in figures {
        let known = || {
            let figures = run.iter().enumerate();
            figures.filter_map(|(row, figure)| Some((row, (*figure)?)))
        };
        let highest = known().max_by(|a, b| a.1.total_cmp(&b.1));
        if let Some((row, _)) = highest.filter(|_| known().count() > 1) {
            worst.push(row);
            alike = alike.min(known().count());
        }
    }
    let rows = figures.iter().map(Vec::len).max()?;
    let count = |row: usize| worst.iter().filter(|&&other| other == row).count();
    let (row, times) = (0..rows)
        .map(|row| (row, count(row)))
        .max_by_key(|&(row, times)| (times, std::cmp::Reverse(row)))?;
    let runs = worst.len();
    let law = |share: f64| Binomial::new(share, runs as u64).ok();
    let others = law(1.0 / alike as f64)?.sf((times as u64).checked_sub(1)?);
    let chance = (others * rows as f64).min(1.0);
    let together = together(figures);
    let is_ruled_out = law(TRUE_TO_ITSELF)?.cdf(times as u64) < RULED_OUT;
    let says = if chance < CHANCE && !is_ruled_out {
        Says::Stays
    } else if is_ruled_out {
        if together.is_some_and(|chance| chance < CHANCE) {
            Says::Shares
        } else {
            Says::Wanders
        }
    } else {
        Says::CannotTell
    };
    Some(Worst {
        row,
        times,
        runs,
        chance,
        together,
        says,
    })
}

/// The chance that figures rank the runs as much alike in every row, `figures[run][row]`, if the
/// rows are independent (Friedman 1937, with ties as Kendall & Babington Smith 1939). Rows that
/// lack a run are left out; `None` with fewer than two rows or three runs, or if nothing differs.
///
/// The chi-squared distribution with `runs - 1` degrees of freedom is the limit for many rows; with
/// few of them it claims too rarely.
pub fn together(figures: &[Vec<Option<f64>>]) -> Option<f64> {
    let runs = figures.len();
    let width = figures.iter().map(Vec::len).max()?;
    let row = |at: usize| -> Option<Vec<f64>> { figures.iter().map(|run| *run.get(at)?).collect() };
    let rows: Vec<Vec<f64>> = (0..width).filter_map(row).map(|own| ranks(&own)).collect();
    if rows.len() < 2 || runs < 3 {
        return None;
    }
    let m = runs as f64;
    let middle = f64::midpoint(m, 1.0);
    let of_run = |at: usize| rows.iter().map(|own| own[at] - middle).sum::<f64>();
    let between: f64 = (0..runs).map(|at| of_run(at).powi(2)).sum();
    let within: f64 = rows
        .iter()
        .flatten()
        .map(|rank| (rank - middle).powi(2))
        .sum();
    if within <= 0.0 {
        return None;
    }
    let statistic = (m - 1.0) * between / within;
    let law = ChiSquared::new(m - 1.0).ok()?;
    Some(law.sf(statistic))
}

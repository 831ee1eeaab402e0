//! A family of comparisons: endpoints by percentiles of one experiment, judged together.
//!
//! A difference is claimed only if three things hold: it is beyond chance among all that was
//! tested, it is large enough to matter on this host, and the pairs agree on its direction.
//! "No difference" is claimed only by equivalence. Everything else is undetermined.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use statrs::distribution::{Binomial, DiscreteCDF};

use super::fdr;
use super::log_ratio::{EQUIVALENT_WITHIN, LogRatio, NotComparable};
use super::moderated::moderated;
use super::paired::agreeing;

/// Differences below a ratio of 1.05 are not claimed, however certain: rebuilding the same
/// source moves code by as much (Mytkowicz et al. 2009).
pub const RATIO_LEAST: f64 = 1.05;

/// A difference has to be this many times what the host shows between a setting and itself.
pub const FLOOR_TIMES: f64 = 2.0;

/// A claim needs pairs whose directions alone would be seen by chance in at most this part of
/// campaigns without a difference. It keeps a few disturbed blocks from making one. That all
/// pairs but one agree, which is the same up to nine pairs, cannot be asked of more: at the
/// difference that 20 pairs of normal scatter find by t in 80 % of campaigns (in a family of seven)
/// every fifth pair points the other way, and 9 % would be left; with this limit 79 % are.
const SIGNS_BY_CHANCE: f64 = 0.10;

/// One comparison of a family.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// Which level it is of: members of one level scatter alike and lend each other their
    /// variances. Percentiles have a level each, throughput and errors one each.
    pub level: u32,
    /// Differences of logarithms of its pairs, from [`super::paired::differences`].
    pub differences: Vec<f64>,
    /// The smallest ratio, above 1, that is claimed: [`ratio_to_claim`].
    pub ratio_least: f64,
}

/// What is said of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// B differs from A.
    Different,
    /// B is within 5 % of A.
    Equivalent,
    /// Neither can be said.
    Undetermined,
}

/// A member that could be compared.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// The ratio with its interval and p-value.
    pub ratio: LogRatio,
    /// Pairs.
    pub pairs: usize,
    /// Pairs that differ in the direction of the ratio.
    pub agreeing: usize,
    /// The p-value, adjusted for the size of the family.
    pub adjusted_p: f64,
    /// Whether the difference is beyond chance.
    pub significant: bool,
    /// Whether it is large enough to be claimed.
    pub large: bool,
    /// The verdict.
    pub verdict: Verdict,
}

/// The smallest ratio that is claimed on a host where comparing a setting with itself gave
/// `floor` (a ratio to either side of 1), if that was measured.
pub fn ratio_to_claim(floor: Option<f64>) -> f64 {
    let floor = floor.map_or(0.0, |ratio| FLOOR_TIMES * ratio.ln().abs());
    RATIO_LEAST.max(floor.exp())
}

/// The largest ratio, above 1, among comparisons of a setting with itself: the noise floor.
pub fn noise_floor(ratios: &[LogRatio]) -> Option<f64> {
    let sizes = ratios.iter().map(|ratio| ratio.mean_log.abs());
    sizes.reduce(f64::max).map(f64::exp)
}

/// How many of `pairs` may disagree with the direction of a claim: 1 of 5, 2 of 10, 6 of 20. One
/// always may.
pub fn disagreeing_most(pairs: usize) -> usize {
    // Signs of pairs that do not differ are tosses of a coin.
    let Ok(signs) = Binomial::new(0.5, pairs as u64) else {
        return 1;
    };
    let beyond_chance = (0..pairs as u64).take_while(|&most| signs.cdf(most) <= SIGNS_BY_CHANCE);
    beyond_chance.count().saturating_sub(1).max(1)
}

/// Judges a family, in its order: moderated t by level, then Benjamini & Hochberg's adjustment
/// over all members that can be compared.
pub fn compare(members: &[Member]) -> Vec<Result<Compared, NotComparable>> {
    let ratios = ratios(members);
    let ps: Vec<f64> = ratios.iter().flatten().map(|ratio| ratio.p).collect();
    let mut adjusted = fdr::benjamini_hochberg(&ps).into_iter();
    members
        .iter()
        .zip(ratios)
        .map(|(member, ratio)| {
            let ratio = ratio?;
            let adjusted_p = adjusted.next().expect("one for each that was compared");
            Ok(judged(member, ratio, adjusted_p))
        })
        .collect()
}

fn ratios(members: &[Member]) -> Vec<Result<LogRatio, NotComparable>> {
    let mut levels: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (at, member) in members.iter().enumerate() {
        levels.entry(member.level).or_default().push(at);
    }
    let nothing = NotComparable::TooFew { needs: 2, have: 0 };
    let mut ratios = vec![Err(nothing); members.len()];
    for places in levels.values() {
        let series = |&at: &usize| members[at].differences.as_slice();
        let level: Vec<&[f64]> = places.iter().map(series).collect();
        for (&at, ratio) in places.iter().zip(moderated(&level)) {
            ratios[at] = ratio;
        }
    }
    ratios
}

fn judged(member: &Member, ratio: LogRatio, adjusted_p: f64) -> Compared {
    let pairs = member.differences.len();
    let agreeing = agreeing(&member.differences);
    let significant = adjusted_p <= fdr::CLAIMED_UP_TO;
    let large = ratio.mean_log.abs() >= member.ratio_least.ln();
    let verdict = if significant && large && agreeing + disagreeing_most(pairs) >= pairs {
        Verdict::Different
    } else if ratio.is_equivalent(EQUIVALENT_WITHIN) {
        Verdict::Equivalent
    } else {
        Verdict::Undetermined
    };
    Compared {
        ratio,
        pairs,
        agreeing,
        adjusted_p,
        significant,
        large,
        verdict,
    }
}

//! Fisher's exact test of a two by two table.

use serde::{Deserialize, Serialize};
use statrs::function::factorial::ln_factorial;

/// Tables this close in probability to the observed one, relatively, count as equally likely;
/// rounding must not decide which tables are "as extreme" (the tolerance of R's `fisher.test`).
const EQUALLY_LIKELY: f64 = 1e-7;

/// What is drawn by chance less often than this is not taken for what was drawn.
const UNLIKELY: f64 = 0.05;

/// Counts of two groups of episodes, say those of one endpoint and the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    /// With the attribute, slow.
    pub with_hit: u64,
    /// With the attribute, not slow.
    pub with_miss: u64,
    /// Without the attribute, slow.
    pub without_hit: u64,
    /// Without the attribute, not slow.
    pub without_miss: u64,
}

/// The p-values of a table.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fisher {
    /// Chance of at least as many hits with the attribute.
    pub greater: f64,
    /// Chance of at most as many hits with the attribute.
    pub less: f64,
    /// Chance of a table at most as likely as this one.
    pub two_sided: f64,
}

/// The exact p-values of a table, given its margins; all 1 for a table that has only one
/// possible filling.
pub fn fisher(table: Table) -> Fisher {
    let with = table.with_hit + table.with_miss;
    let without = table.without_hit + table.without_miss;
    let hits = table.with_hit + table.without_hit;
    let fewest = hits.saturating_sub(without);
    let most = hits.min(with);
    let ln_probability = |count: u64| ln_choose(with, count) + ln_choose(without, hits - count);
    let all = ln_choose(with + without, hits);
    let observed = (ln_probability(table.with_hit) - all).exp();
    let mut sums = Fisher {
        greater: 0.0,
        less: 0.0,
        two_sided: 0.0,
    };
    for count in fewest..=most {
        let probability = (ln_probability(count) - all).exp();
        if count >= table.with_hit {
            sums.greater += probability;
        }
        if count <= table.with_hit {
            sums.less += probability;
        }
        if probability <= observed * (1.0 + EQUALLY_LIKELY) {
            sums.two_sided += probability;
        }
    }
    Fisher {
        greater: sums.greater.min(1.0),
        less: sums.less.min(1.0),
        two_sided: sums.two_sided.min(1.0),
    }
}

/// How many of `all` have something at the least, if `hits` of `drawn` that were taken at random have it: the fewest of which
/// so many hits are drawn with a chance of 5 % or more (the exact lower bound of the hypergeometric distribution,
/// Buonaccorsi 1987). `hits <= drawn <= all`; all of them drawn, it is `hits`.
pub fn at_least_of(all: u64, drawn: u64, hits: u64) -> u64 {
    let (drawn, hits) = (drawn.min(all), hits.min(drawn).min(all));
    let chance = |having: u64| {
        fisher(Table {
            with_hit: hits,
            with_miss: having - hits,
            without_hit: drawn - hits,
            without_miss: (all - having).saturating_sub(drawn - hits),
        })
        .greater
    };
    // The misses that were drawn do not have it, and more that have it make more hits likelier.
    let (mut low, mut high) = (hits, all - (drawn - hits));
    while low < high {
        let middle = low.midpoint(high);
        if chance(middle) >= UNLIKELY {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

fn ln_choose(n: u64, k: u64) -> f64 {
    ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k)
}

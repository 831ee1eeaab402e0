//! A value that a pool holds twice: it is drawn twice as often, and there are fewer keys than
//! values.

use std::collections::BTreeMap;

use slowpath_core::scenario::{Pick, Pool};

use super::{View, finding};
use crate::keyspace::normalised;
use crate::report::{Finding, Severity};
use crate::wording::{count, some};

/// Pools up to this size were written by hand; larger ones are recorded traffic, where repeated
/// values are the point.
const BY_HAND: usize = 1000;

/// Values twice in a pool, as written or as servers may read them.
pub(super) fn check(view: &View<'_>) -> Vec<Finding> {
    let pools = view.scenario.pools.iter().enumerate();
    pools
        .filter_map(|(i, pool)| repeated(view, i, pool))
        .collect()
}

fn repeated(view: &View<'_>, i: usize, pool: &Pool) -> Option<Finding> {
    // A table is drawn by its rows, in whose columns values may come again.
    let columns = view.scenario.pools.iter();
    let is_table = columns
        .into_iter()
        .any(|other| other.same_row_as == Some(i));
    if pool.values.len() > BY_HAND || is_table || pool.same_row_as.is_some() {
        return None;
    }
    // Weights and orders are written down on purpose, with how often in mind.
    if pool.weights.is_some() || pool.pick != Pick::Random {
        return None;
    }
    let mut by_reading: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for value in pool.values.iter() {
        by_reading.entry(normalised(value)).or_default().push(value);
    }
    let twice: Vec<&Vec<&str>> = by_reading.values().filter(|same| same.len() > 1).collect();
    let most = twice.iter().max_by_key(|same| same.len())?;
    let exact = twice
        .iter()
        .any(|same| same.windows(2).any(|w| w[0] == w[1]));
    let mut found = finding("duplicate-values", Severity::Warning, view.at_pool(i));
    let how = if exact {
        ""
    } else {
        " but for case, white space or encoding"
    };
    found.text = format!(
        "{} holds {} more than once{how}: {} values are {} keys, and {:?} is drawn {} times as \
         often as a value that is there once",
        pool.name,
        some(twice.iter().map(|same| same[0])),
        count(pool.values.len() as f64),
        count(by_reading.len() as f64),
        most[0],
        most.len()
    );
    found
        .remedy
        .push_str("remove the repetitions, or keep them and mean it as a weight");
    let more: usize = twice.iter().map(|same| same.len()).sum();
    found.share = Some(more as f64 / pool.values.len() as f64);
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::trial::{found, only};

    fn pool(values: &str) -> String {
        format!(
            "[pools]\nq = [{values}]\n[[endpoint]]\nname = \"a\"\nrequest = \"GET /?q={{q}}\"\n"
        )
    }

    #[test]
    fn a_value_twice_is_found() {
        let one = only(
            &found(check, &pool("\"x\", \"y\", \"x\"")),
            &["\"x\"", "3 values are 2 keys"],
        );
        assert_eq!(one.place.pool.as_deref(), Some("q"));
        only(
            &found(check, &pool("\"x y\", \"X%20y\"")),
            &["but for case"],
        );
    }

    #[test]
    fn distinct_values_and_recorded_traffic_are_fine() {
        assert_eq!(found(check, &pool("\"x\", \"y\"")), []);
        let in_order = "[pools]\nq = { values = [\"x\", \"x\"], pick = \"sequence\" }\n\
                        [[endpoint]]\nname = \"a\"\nrequest = \"GET /?q={q}\"\n";
        assert_eq!(found(check, in_order), []);
        let recorded = vec!["\"x\""; BY_HAND + 1].join(",");
        assert_eq!(found(check, &pool(&recorded)), []);
    }
}

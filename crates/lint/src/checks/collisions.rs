//! Requests for the same key at the same time: each of them computes, unless the server lets one
//! compute for all.

use super::{View, finding};
use crate::report::{Finding, Severity};
use crate::wording::{count, percent};

/// Requests under way that share their key from which on it is a workload about one key.
const MANY_UNDER_WAY: f64 = 0.05;
/// The share of simultaneous users from which on a stampede at a cold start is likely.
const MANY_AT_ONCE: f64 = 0.5;

/// Endpoints whose pools are small for a target that starts cold.
pub(super) fn check(view: &View<'_>) -> Vec<Finding> {
    if !view.starts_cold() {
        return Vec::new();
    }
    let endpoints = 0..view.scenario.endpoints.len();
    endpoints.filter_map(|i| small_pool(view, i)).collect()
}

fn small_pool(view: &View<'_>, i: usize) -> Option<Finding> {
    let keys = view.spaces[i]
        .keys
        .as_ref()
        .filter(|keys| keys.count() > 1.5)?;
    let users = view.askers(i);
    let computing = view.workload.demands[i].rate_per_s * view.compute_s(i);
    let [under_way, ..] = keys.under_way(computing);
    let at_once = keys.colliding(users.max(1.0));
    if under_way.mean < MANY_UNDER_WAY && at_once < MANY_AT_ONCE {
        return None;
    }
    let likely = under_way.mean >= MANY_UNDER_WAY || view.all_start_at_once();
    let severity = if likely {
        Severity::Warning
    } else {
        Severity::Note
    };
    let mut found = finding("collisions", severity, view.at_endpoint(i));
    let name = &view.scenario.endpoints[i].name;
    let spread = if view.all_start_at_once() {
        "and all users do start at once"
    } else {
        "but they do not: that figure is an upper bound and predicts nothing"
    };
    found.text = format!(
        "{name} has {} keys for {} users: if all picked at once, {} would meet another on their \
         key, {spread}. While an answer is computed, {} other requests come, and with {} one or \
         more of them for the same key",
        count(keys.count()),
        count(users),
        percent(at_once),
        count(computing),
        percent(under_way.mean)
    );
    found.remedy = format!(
        "a wider pool has fewer collisions and more cold keys: simulate it before you change it \
         (slowpath lint --simulate --model FILE --variant pool:{}=N)",
        view.pool_of(i).unwrap_or("NAME")
    );
    found.share = Some(under_way.mean);
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::trial::{found, only};

    fn pool(values: usize, load: &str) -> String {
        let values: Vec<String> = (0..values).map(|i| format!("\"v{i}\"")).collect();
        format!(
            "[target]\nurl = \"http://127.0.0.1:1\"\nreset = [\"POST /clear\"]\n\
             [load]\npasses = [\"cold\"]\nusers = 20\nthink = \"2s\"\n{load}\n\
             [pools]\nq = [{}]\n[[endpoint]]\nname = \"a\"\nrequest = \"GET /?q={{q}}\"\n",
            values.join(", ")
        )
    }

    #[test]
    fn a_small_pool_for_users_who_start_together_is_a_warning() {
        let one = only(
            &found(check, &pool(12, "")),
            &["12 keys for 20 users", "81 %"],
        );
        assert_eq!(one.severity, Severity::Warning);
        assert!(one.remedy.contains("pool:q=N"), "{}", one.remedy);
    }

    #[test]
    fn users_who_come_one_by_one_do_not_pick_at_once() {
        let one = only(
            &found(check, &pool(12, "spawn = \"1/s\"")),
            &["predicts nothing"],
        );
        assert_eq!(one.severity, Severity::Note);
    }

    #[test]
    fn wide_pools_and_warm_targets_are_fine() {
        assert_eq!(found(check, &pool(60, "")), []);
        let warm = pool(4, "").replace("passes = [\"cold\"]\n", "");
        assert_eq!(found(check, &warm), []);
    }
}

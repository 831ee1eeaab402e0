//! The same request from two endpoints: whichever comes first pays, and the other one's figures
//! depend on the order.

use std::collections::{BTreeMap, BTreeSet};

use super::{View, finding};
use crate::keyspace::Request;
use crate::occupancy::both_at_once;
use crate::report::{Finding, Severity};
use crate::wording::{count, percent, plural, some};

/// Endpoints that ask for the same thing, by its exact or its normalised text.
pub(super) fn check(view: &View<'_>) -> Vec<Finding> {
    let endpoints = view.scenario.endpoints.len();
    let pairs = (0..endpoints).flat_map(|a| (a + 1..endpoints).map(move |b| (a, b)));
    pairs.filter_map(|(a, b)| compare(view, a, b)).collect()
}

/// A text that both ask for, with the probability of each to ask for it.
struct Shared<'v> {
    a: &'v Request,
    b: &'v Request,
}

impl<'v> Shared<'v> {
    fn keys(&self) -> (&'v str, &'v str) {
        (&self.a.key, &self.b.key)
    }
}

fn compare(view: &View<'_>, a: usize, b: usize) -> Option<Finding> {
    let [of_a, of_b] = [a, b].map(|i| &view.spaces[i]);
    let mut shared: Vec<Shared<'_>> = common(&of_a.requests, &of_b.requests);
    let known: BTreeSet<_> = shared.iter().map(Shared::keys).collect();
    let by_key = common(&of_a.entries, &of_b.entries);
    let more = by_key.into_iter().filter(|s| !known.contains(&s.keys()));
    let more: Vec<Shared<'_>> = more.collect();
    let only_by_key = shared.is_empty();
    shared.extend(more);
    let first = shared.first()?;
    let names = [a, b].map(|i| &view.scenario.endpoints[i].name);
    let same = |s: &Shared<'_>| s.a.written == s.b.written || s.a.key == s.b.key;
    let exact = shared.iter().all(same);
    let mut found = finding("same-key", Severity::Warning, view.at_endpoint(b));
    let asked: Vec<&str> = shared.iter().map(|s| s.a.key.as_str()).collect();
    let what = if asked.iter().all(|key| key.is_empty()) {
        format!("{:?}", first.a.written)
    } else {
        some(asked.into_iter())
    };
    let alike = if exact {
        String::new()
    } else {
        format!(
            " (once {:?} and {:?} are decoded, trimmed and in lower case)",
            first.a.written, first.b.written
        )
    };
    let chances = chances(view, a, b, &shared);
    if only_by_key {
        // The requests differ outside the key, and only the server knows what it keys on.
        found.text = format!(
            "{} and {} have the same {} under one path: {what}{alike}; where the server caches by \
             {} alone, what is computed for one is cached for the other. {chances}",
            names[0],
            names[1],
            plural(shared.len() as f64, "key", "keys"),
            plural(shared.len() as f64, "it", "them"),
        );
        found.remedy.push_str(
            "give each endpoint values of its own, or a key that says what the server caches by",
        );
    } else {
        found.text = format!(
            "{} and {} ask for the same: {what}{alike}; what is computed for one is cached for \
             the other. {chances}",
            names[0], names[1],
        );
        found
            .remedy
            .push_str("give each endpoint values of its own, or make them one endpoint");
    }
    found.share = Some(shared.iter().map(|s| s.b.p).sum());
    Some(found)
}

fn common<'v>(
    a: &'v BTreeMap<String, Request>,
    b: &'v BTreeMap<String, Request>,
) -> Vec<Shared<'v>> {
    let both = |(text, a): (&String, &'v Request)| b.get(text).map(|b| Shared { a, b });
    a.iter().filter_map(both).collect()
}

/// Who comes first, and how often both come at once.
fn chances(view: &View<'_>, a: usize, b: usize, shared: &[Shared<'_>]) -> String {
    let demands = [&view.workload.demands[a], &view.workload.demands[b]];
    let weight = |i: usize, p: f64| demands[i].rate_per_s * p;
    let (mut first, mut together, mut sum) = (0.0, 0.0, 0.0);
    let taking_s = [a, b]
        .map(|i| view.compute_s(i))
        .into_iter()
        .fold(0.0, f64::max);
    for s in shared {
        let (of_a, of_b) = (weight(0, s.a.p), weight(1, s.b.p));
        let both = of_a + of_b;
        if both <= 0.0 {
            continue;
        }
        sum += both;
        first += of_a;
        let touched = 1.0 - (-both * view.window_s()).exp();
        let joined = of_a / both * (1.0 - (-of_b * taking_s).exp())
            + of_b / both * (1.0 - (-of_a * taking_s).exp());
        together += touched * joined;
    }
    let names = [a, b].map(|i| &view.scenario.endpoints[i].name);
    let mut text = format!(
        "{} is first with {}, and both compute at once for {} of the {} in a window",
        names[0],
        percent(if sum > 0.0 { first / sum } else { 0.0 }),
        count(together),
        shared.len(),
    );
    if view.all_start_at_once() {
        let total: f64 = view.workload.demands.iter().map(|d| d.rate_per_s).sum();
        let most = shared
            .iter()
            .map(|s| {
                both_at_once(
                    view.users(),
                    weight(0, s.a.p) / total,
                    weight(1, s.b.p) / total,
                )
            })
            .fold(0.0, f64::max);
        let all = format!(
            "; all {} users start together: {} that their first requests meet on one of them",
            count(view.users()),
            percent(most)
        );
        text.push_str(&all);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::trial::{found, only};

    const TWO: &str = "[pools]\na = [\"what is nitrogen\", \"what is oxygen\"]\n\
        b = [\"What is  Nitrogen\", \"iron\"]\n\
        [[endpoint]]\nname = \"one\"\nweight = 3\nrequest = \"GET /search?q={a}\"\n\
        [[endpoint]]\nname = \"two\"\nrequest = \"GET ";

    #[test]
    fn a_value_in_two_pools_is_found_however_it_is_written() {
        let text = format!("{TWO}/search?q={{b}}\"\n");
        let one = only(&found(check, &text), &["what is nitrogen", "lower case"]);
        // Weights 3 to 1: one comes first in three of four cases.
        assert!(one.text.contains("one is first with 75 %"), "{}", one.text);
        assert_eq!(one.share, Some(0.5));
    }

    #[test]
    fn a_literal_and_a_pool_may_ask_for_the_same() {
        let text = format!("{TWO}/search?q=what%20is%20oxygen\"\n");
        only(
            &found(check, &text),
            &["one and two ask for the same", "what is oxygen"],
        );
    }

    #[test]
    fn one_pool_of_two_endpoints_is_one_cache_when_the_path_is_the_same() {
        let text = format!("{TWO}/search?fused=1&q={{a}}\"\n");
        let one = only(
            &found(check, &text),
            &["what is nitrogen", "what is oxygen", "caches by them alone"],
        );
        assert!(!one.text.contains("ask for the same"), "{}", one.text);
        let own = format!("{TWO}/search?fused=1&q={{a}}\"\nkey = \"fused {{a}}\"\n");
        assert_eq!(
            found(check, &own),
            [],
            "the scenario says what distinguishes them"
        );
    }

    #[test]
    fn users_who_start_together_meet_on_what_they_share() {
        let text = format!("{TWO}/search?q={{b}}\"\n");
        let text = text.replacen("[pools]", "[load]\nusers = 2\nthink = \"1s\"\n[pools]", 1);
        // 2 x (3/4 x 1/2) x (1/4 x 1/2).
        let expected = percent(2.0 * 0.375 * 0.125);
        only(&found(check, &text), &[&expected]);
    }

    #[test]
    fn other_values_and_other_paths_are_apart() {
        for path in [
            "/search?q=iron",
            "/suggest?q={a}",
            "/search?q={a}&page={seq}",
        ] {
            let text = format!("{TWO}{path}\"\n");
            assert_eq!(found(check, &text), [], "{path}");
        }
    }
}

//! A benchmark with every fault that a real one had, and its healthy twin.

use slowpath_core::model::{TargetModel, Times};
use slowpath_core::scenario::Scenario;
use slowpath_lint::{Facts, Finding, Lint, Severity, lint};
use slowpath_record::scenario::{Context, parse};

const FAULTY: &str = include_str!("scenarios/aggregator.toml");
const HEALTHY: &str = include_str!("scenarios/aggregator_healthy.toml");

/// What its answers took on average, queueing and cold ones included: 870 requests in two minutes
/// of ten users with pauses of 2 s, ten of 3.5 s, arriving within ten seconds.
const MEAN_LATENCY_NS: u64 = 95_000_000;

fn scenario(text: &str) -> Scenario {
    let context = Context {
        file: "aggregator.toml",
        base_dir: std::path::Path::new(""),
        load_file: &|_| unreachable!("it names no files"),
    };
    parse(text, &context).unwrap_or_else(|mistakes| panic!("{mistakes:#?}"))
}

fn judged(text: &str) -> Lint {
    let model = TargetModel::plain(Times::fixed(MEAN_LATENCY_NS));
    let facts = Facts {
        scenario_text: Some(text),
        model: Some(&model),
        ..Facts::default()
    };
    lint(&scenario(text), &facts)
}

fn find<'l>(lint: &'l Lint, check: &str, word: &str) -> &'l Finding {
    let found = lint
        .findings
        .iter()
        .find(|f| f.check == check && f.text.contains(word));
    found.unwrap_or_else(|| panic!("no {check} with {word:?} in {:#?}", lint.findings))
}

#[test]
fn every_fault_is_found() {
    let lint = judged(FAULTY);
    find(
        &lint,
        "same-key",
        "auto and cache_hit ask for the same: \"what is nitrogen\"",
    );
    find(&lint, "same-key", "auto and fusion_auto");
    find(&lint, "duplicate-values", "\"rest of nitrogen\"");
    let ttl = find(&lint, "short-timers", "2 to 3 of the 22 requests of uptime");
    assert!(
        ttl.text.contains("up to 3 misses") && ttl.text.contains("p90"),
        "{}",
        ttl.text
    );
    let race = find(&lint, "keep-alive-race", "a user of class fusion");
    assert!(
        race.text.contains("2 s to 5 s") && race.text.contains("after 5 s"),
        "{}",
        race.text
    );
    let thin = find(
        &lint,
        "thin-percentiles",
        "p98 and above are the slowest request itself",
    );
    assert!(thin.text.contains("uptime 22"), "{}", thin.text);
    find(&lint, "collisions", "conditional has 4 keys");
    find(&lint, "first-touches", "remainder 16 of 22");
    assert!(
        !lint
            .findings
            .iter()
            .any(|f| f.check == "keep-alive-race" && f.text.contains("single"))
    );
    assert!(!lint.is_impossible());
}

#[test]
fn draws_are_those_of_the_published_rows() {
    let lint = judged(FAULTY);
    let draws = |name: &str| {
        let row = lint
            .endpoints
            .iter()
            .find(|row| row.endpoint == name)
            .unwrap();
        row.requests.round() as u64
    };
    let found = ["conditional", "auto", "remainder", "uptime", "cache_hit"].map(draws);
    assert_eq!(found, [44, 66, 22, 22, 22]);
    let all: f64 = lint.endpoints.iter().map(|row| row.requests).sum();
    assert!((850.0..=900.0).contains(&all), "{all}");
}

#[test]
fn findings_say_their_lines() {
    let lint = judged(FAULTY);
    for found in &lint.findings {
        let Some(line) = found.place.line else {
            continue;
        };
        let text = FAULTY.lines().nth(line - 1).unwrap();
        let place = &found.place;
        let named = [&place.endpoint, &place.pool, &place.timer];
        let mut named = named.into_iter().flatten().peekable();
        let none = named.peek().is_none();
        assert!(
            none || named.any(|name| text.contains(name)),
            "{found:?} is not at {text:?}"
        );
    }
    assert!(
        lint.findings
            .iter()
            .filter(|f| f.place.line.is_some())
            .count()
            >= 5
    );
}

#[test]
fn worst_comes_first() {
    let severities: Vec<Severity> = judged(FAULTY).findings.iter().map(|f| f.severity).collect();
    assert!(severities.is_sorted(), "{severities:?}");
}

#[test]
fn the_healthy_twin_has_nothing() {
    let lint = judged(HEALTHY);
    assert_eq!(lint.findings, []);
}

#[test]
fn the_same_scenario_gives_the_same_bytes() {
    let json = || serde_json::to_string(&judged(FAULTY)).unwrap();
    assert_eq!(json(), json());
    let back: Lint = serde_json::from_str(&json()).unwrap();
    assert_eq!(serde_json::to_string(&back).unwrap(), json());
}

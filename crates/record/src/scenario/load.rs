//! `[load]` and the classes of users.

use slowpath_core::scenario::{Arrivals, ConnectionUse, Load, LoadDraft, ModelName, UserClass};

use super::reader::Table;
use super::unique;
use super::value::Value;

const MODELS: [(&str, ModelName); 2] = [("open", ModelName::Open), ("closed", ModelName::Closed)];
const ARRIVALS: [(&str, Arrivals); 2] = [
    ("poisson", Arrivals::Poisson),
    ("uniform", Arrivals::Uniform),
];
const CONNECTION_USES: [(&str, ConnectionUse); 3] = [
    ("pool", ConnectionUse::Pool),
    ("per-user", ConnectionUse::PerUser),
    ("per-request", ConnectionUse::PerRequest),
];

/// The load; the default one where nothing is said about it.
pub(super) fn load(root: &Table<'_>) -> Option<Load> {
    if !root.has("load") {
        return Some(Load::default());
    }
    let table = root.child("load")?;
    let read = draft(&table);
    match read.resolve() {
        Ok(load) => Some(load),
        Err(contradictions) => {
            for found in contradictions {
                table.contradiction(found.key, found.what, found.remedy);
            }
            None
        }
    }
}

fn draft(table: &Table<'_>) -> LoadDraft {
    let model = table.get("model").map(|value| value.choice(&MODELS));
    // A model or a rate that cannot be read still says which loop was meant.
    let model = model.unwrap_or_else(|| table.has("rate").then_some(ModelName::Open));
    let count = |key| table.get(key).and_then(|value| value.whole(1));
    let duration = |key| table.get(key).and_then(|value| value.positive_duration());
    let pause = |key| table.get(key).and_then(|value| value.pause());
    let rate = |key| table.get(key).and_then(|value| value.rate());
    LoadDraft {
        model,
        rate_per_s: rate("rate"),
        arrivals: table
            .get("arrivals")
            .and_then(|value| value.choice(&ARRIVALS)),
        connections: count("connections"),
        users: count("users"),
        spawn_per_s: rate("spawn"),
        think: pause("think"),
        connection: table
            .get("connection")
            .and_then(|value| value.choice(&CONNECTION_USES)),
        idle: pause("idle"),
        duration_ns: duration("duration"),
        warmup_ns: duration("warmup"),
        repeats: count("repeats"),
        fresh: table.get("fresh").and_then(|value| value.boolean()),
        passes: table
            .get("passes")
            .map(|value| passes(&value))
            .unwrap_or_default(),
        timeout_ns: duration("timeout"),
        loops: count("loops"),
    }
}

fn passes(value: &Value<'_>) -> Vec<String> {
    let values = value.array().unwrap_or_default();
    let names: Vec<String> = values
        .iter()
        .filter_map(Value::filled)
        .map(str::to_owned)
        .collect();
    unique(values.into_iter().map(|value| (value.as_str(), value)));
    names
}

pub(super) fn users(root: &Table<'_>, endpoints: &[String]) -> Vec<UserClass> {
    let tables = root.tables("user");
    let names: Vec<_> = tables
        .iter()
        .filter_map(|table| table.get("name"))
        .collect();
    unique(names.into_iter().map(|value| (value.as_str(), value)));
    tables
        .iter()
        .filter_map(|table| user(table, endpoints))
        .collect()
}

fn user(table: &Table<'_>, endpoints: &[String]) -> Option<UserClass> {
    let name = table
        .required("name", "add name = \"browser\"")
        .and_then(|value| value.filled());
    let share = table.get("share").and_then(|value| value.positive());
    let think = table.get("think").and_then(|value| value.pause());
    let used = table.required("endpoints", "add endpoints = { NAME = 1 }")?;
    let mut weights = Vec::new();
    for (endpoint, value) in used.table()?.entries() {
        if !endpoints.iter().any(|known| known == endpoint) {
            value.at_odds(
                "there is no endpoint of that name",
                "add it as an [[endpoint]]",
            );
        }
        weights.push((endpoint.to_owned(), value.positive()?));
    }
    if weights.is_empty() {
        used.wrong("users without endpoints do nothing", "name at least one");
    }
    let name = name?.to_owned();
    Some(UserClass {
        name,
        share: share.unwrap_or(1.0),
        think,
        endpoints: weights,
    })
}

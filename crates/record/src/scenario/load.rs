//! `[load]` and the classes of users.

use slowpath_core::scenario::{
    Arrivals, ConnectionUse, Load, LoadDraft, ModelName, PoolOpen, PoolReuse, UserClass,
};

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
const REUSES: [(&str, PoolReuse); 2] =
    [("recent", PoolReuse::Recent), ("oldest", PoolReuse::Oldest)];
const OPENS: [(&str, PoolOpen); 2] = [
    ("on-demand", PoolOpen::OnDemand),
    ("at-start", PoolOpen::AtStart),
];

/// The load; the default one where nothing is said about it.
pub(super) fn load(root: &Table<'_>) -> Option<Load> {
    let endpoints = root.tables("endpoint");
    let own = endpoints.iter().filter(|endpoint| endpoint.has("rate"));
    let all_have_rates = !endpoints.is_empty() && own.count() == endpoints.len();
    let unwritten = LoadDraft {
        all_have_rates,
        ..LoadDraft::default()
    };
    if !root.has("load") {
        return unwritten.resolve().ok();
    }
    let table = root.child("load")?;
    let read = LoadDraft {
        all_have_rates,
        ..draft(&table)
    };
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
        reuse: table.get("reuse").and_then(|value| value.choice(&REUSES)),
        open: table.get("open").and_then(|value| value.choice(&OPENS)),
        idle: pause("idle"),
        duration_ns: duration("duration"),
        warmup_ns: table.get("warmup").and_then(|value| value.duration()),
        repeats: count("repeats"),
        precision: table.get("precision").and_then(|value| value.precision()),
        fresh: table.get("fresh").and_then(|value| value.boolean()),
        passes: table
            .get("passes")
            .map(|value| passes(&value))
            .unwrap_or_default(),
        timeout_ns: duration("timeout"),
        redirects: table.get("redirects").and_then(|value| value.whole(0)),
        loops: count("loops"),
        streams: count("streams"),
        ..LoadDraft::default()
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
    let (weights, steps) = match (table.get("endpoints"), table.get("steps")) {
        (Some(_), Some(steps)) => {
            steps.at_odds(
                "users choose among endpoints or go through steps",
                "keep one of the two",
            );
            return None;
        }
        (None, Some(value)) => (Vec::new(), steps(&value, endpoints)?),
        (Some(value), None) => (weights(&value, endpoints)?, Vec::new()),
        (None, None) => {
            let remedy = "add endpoints = { NAME = 1 }, or steps = [\"NAME\", ...]";
            table.required("endpoints", remedy);
            return None;
        }
    };
    Some(UserClass {
        name: name?.to_owned(),
        share: share.unwrap_or(1.0),
        think,
        endpoints: weights,
        steps,
    })
}

fn weights(value: &Value<'_>, endpoints: &[String]) -> Option<Vec<(String, f64)>> {
    let mut weights = Vec::new();
    for (endpoint, weight) in value.table()?.entries() {
        known(&weight, endpoint, endpoints);
        weights.push((endpoint.to_owned(), weight.positive()?));
    }
    if weights.is_empty() {
        value.wrong("users without endpoints do nothing", "name at least one");
    }
    Some(weights)
}

fn steps(value: &Value<'_>, endpoints: &[String]) -> Option<Vec<String>> {
    let mut steps = Vec::new();
    for step in value.array()? {
        let endpoint = step.filled()?;
        known(&step, endpoint, endpoints);
        steps.push(endpoint.to_owned());
    }
    if steps.is_empty() {
        value.wrong("users without steps do nothing", "name at least one");
    }
    Some(steps)
}

fn known(value: &Value<'_>, endpoint: &str, endpoints: &[String]) {
    if !endpoints.iter().any(|known| known == endpoint) {
        let what = format!("there is no endpoint named {endpoint:?}");
        value.at_odds(what, "add it as an [[endpoint]]");
    }
}

//! Models of a target: what its answers take, written by hand.
//!
//! ```toml
//! latency = "24ms"                  # of every answer; "20ms..30ms" is drawn between the two
//! [backend]                         # what computed answers share
//! slots = 1                         # computations at once; without it as many as are asked for
//! singleflight = false              # whether requests for the same key share a computation
//! [endpoint.search]
//! latency = "20ms..30ms"
//! backend = "560ms..1120ms"         # what a computed answer takes there
//! expensive = 17                    # keys that need it: so many, "85 %", or a list; default all
//! cached = true                     # whether computed answers are kept
//! ttl = "10m"                       # for how long; without it for the whole run
//! ```

use slowpath_core::model::{EndpointModel, Expensive, TargetModel, Times};
use slowpath_core::scenario::{Scenario, units};
use toml::de::DeTable;

use super::Mistake;
use super::keys::MODEL;
use super::reader::{Notes, Table};
use super::value::Value;

/// Reads the text of a model file for a scenario.
///
/// # Errors
/// Every mistake in it, in the order of lines; never an empty list.
pub fn parse_model(
    text: &str,
    file: &str,
    scenario: &Scenario,
) -> Result<TargetModel, Vec<Mistake>> {
    let notes = Notes::new(file, text);
    let (root, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let at = error.span().map_or(text.len(), |span| span.start);
        notes.syntax(at, error.message());
    }
    let (path, kind) = (String::new(), MODEL.to_owned());
    let root = Table::new(&notes, path, kind, 1, root.get_ref());
    let model = model(&root, scenario);
    let mistakes = notes.into_mistakes();
    match model {
        Some(model) if mistakes.is_empty() => Ok(model),
        _ => Err(mistakes),
    }
}

fn model(root: &Table<'_>, scenario: &Scenario) -> Option<TargetModel> {
    let latency = root
        .required("latency", "add latency = \"10ms\", what every answer takes")
        .map(|value| times(&value));
    let backend = root.child("backend");
    let slots = backend
        .as_ref()
        .and_then(|table| table.get("slots"))
        .and_then(|value| value.whole(1));
    let singleflight = backend
        .as_ref()
        .and_then(|table| table.get("singleflight"))
        .and_then(|value| value.boolean());
    let mut endpoints = Vec::new();
    let latency = latency.flatten();
    for (name, value) in root.child("endpoint").iter().flat_map(Table::entries) {
        if !scenario.endpoints.iter().any(|e| e.name == name) {
            value.at_odds(
                "the scenario has no endpoint of that name",
                "write it as in its [[endpoint]]",
            );
        }
        let Some(table) = value.table() else { continue };
        let other = latency.clone().unwrap_or_else(|| Times::fixed(0));
        endpoints.push(endpoint(name, &table, other));
    }
    Some(TargetModel {
        slots,
        singleflight: singleflight.unwrap_or(false),
        latency: latency?,
        endpoints,
    })
}

fn endpoint(name: &str, table: &Table<'_>, latency: Times) -> EndpointModel {
    let own = |key| table.get(key).and_then(|value| times(&value));
    let plain = EndpointModel::plain(name, own("latency").unwrap_or(latency));
    let expensive = table.get("expensive").and_then(|value| expensive(&value));
    let backend = own("backend");
    if backend.is_none() {
        for key in ["expensive", "cached", "ttl"] {
            if table.has(key) && !table.has("backend") {
                table.contradiction(key, "nothing is computed here", "add backend = \"500ms\"");
            }
        }
    }
    EndpointModel {
        backend,
        cached: table
            .get("cached")
            .and_then(|value| value.boolean())
            .unwrap_or(plain.cached),
        ttl_ns: table.get("ttl").and_then(|value| value.positive_duration()),
        expensive: expensive.unwrap_or(plain.expensive),
        name: plain.name,
        latency: plain.latency,
    }
}

fn times(value: &Value<'_>) -> Option<Times> {
    let range = |text: &str| units::parse_range(text, units::parse_duration);
    let (min_ns, max_ns) = value.quantity(range, "try \"20ms..30ms\" or \"24ms\"")?;
    Some(Times::Uniform { min_ns, max_ns })
}

fn expensive(value: &Value<'_>) -> Option<Expensive> {
    if let Some(text) = value.as_str() {
        let share = text
            .strip_suffix('%')
            .and_then(|number| number.trim().parse::<f64>().ok())
            .filter(|percent| (0.0..=100.0).contains(percent));
        if share.is_none() {
            value.wrong(
                "no share of keys",
                "write \"85 %\", a number of keys, or a list of them",
            );
        }
        return share.map(|percent| Expensive::Share(percent / 100.0));
    }
    if value.toml().is_array() {
        let keys: Option<Vec<String>> = value
            .array()?
            .iter()
            .map(|key| key.text().map(str::to_owned))
            .collect();
        return keys.map(Expensive::Keys);
    }
    value.whole(0).map(Expensive::Count)
}

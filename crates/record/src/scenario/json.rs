//! TOML values as the JSON that is sent or expected.

use serde_json::{Map, Number, Value as Json};
use toml::de::{DeTable, DeValue};

use super::value::Value;

/// The JSON of a value, with keys in the order written; dates become strings. `None` when there is
/// none, which is noted.
pub(super) fn of(value: &Value<'_>) -> Option<Json> {
    let json = convert(value.toml());
    if json.is_none() {
        value.wrong(
            "a number that JSON cannot say",
            "write a finite number of 64 bits",
        );
    }
    json
}

fn convert(value: &DeValue<'_>) -> Option<Json> {
    Some(match value {
        DeValue::String(text) => Json::String(text.to_string()),
        DeValue::Integer(number) => {
            Json::from(i64::from_str_radix(number.as_str(), number.radix()).ok()?)
        }
        DeValue::Float(number) => Json::Number(Number::from_f64(number.as_str().parse().ok()?)?),
        DeValue::Boolean(truth) => Json::Bool(*truth),
        DeValue::Datetime(date) => Json::String(date.to_string()),
        DeValue::Array(elements) => {
            let elements = elements.iter().map(|element| convert(element.get_ref()));
            Json::Array(elements.collect::<Option<_>>()?)
        }
        DeValue::Table(table) => Json::Object(object(table)?),
    })
}

fn object(table: &DeTable<'_>) -> Option<Map<String, Json>> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    let entry = |(key, value): (&toml::Spanned<_>, &toml::Spanned<_>)| {
        let key: &std::borrow::Cow<'_, str> = key.get_ref();
        Some((key.to_string(), convert(value.get_ref())?))
    };
    entries.into_iter().map(entry).collect()
}

/// What is expected inside a JSON body: pointers (RFC 6901) and the values there. Keys are paths
/// with dots (`hits.0.id`) or pointers themselves; tables inside go on with the path.
pub(super) fn expectations<'a>(value: &Value<'a>) -> Vec<(String, Value<'a>)> {
    let mut found = Vec::new();
    collect(value, "", &mut found);
    found
}

fn collect<'a>(value: &Value<'a>, pointer: &str, found: &mut Vec<(String, Value<'a>)>) {
    let Some(table) = value.table() else { return };
    for (key, value) in table.entries() {
        let pointer = format!("{pointer}{}", pointer_of(key));
        if value.is_table() {
            collect(&value, &pointer, found);
        } else {
            found.push((pointer, value));
        }
    }
}

fn pointer_of(key: &str) -> String {
    if key.starts_with('/') {
        return key.to_owned();
    }
    let escaped = |name: &str| format!("/{}", name.replace('~', "~0").replace('/', "~1"));
    key.split('.').map(escaped).collect()
}

//! Values checked against schemas, for the tests of this crate and of the binary.

use serde_json::Value;

/// Holds a value against the part of JSON Schema that the generator uses.
pub(crate) fn check(
    root: &Value,
    schema: &Value,
    value: &Value,
    at: &str,
    wrong: &mut Vec<String>,
) {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let name = reference
            .strip_prefix("#/$defs/")
            .expect("references point to definitions");
        return check(root, &root["$defs"][name], value, at, wrong);
    }
    for choices in ["anyOf", "oneOf"]
        .iter()
        .filter_map(|word| schema.get(*word))
    {
        let fits = choices.as_array().unwrap().iter().any(|choice| {
            let mut wrong = Vec::new();
            check(root, choice, value, at, &mut wrong);
            wrong.is_empty()
        });
        if !fits {
            wrong.push(format!("{at} fits no choice"));
        }
    }
    if schema
        .get("const")
        .is_some_and(|constant| constant != value)
    {
        wrong.push(format!("{at} is not the constant"));
    }
    let listed = |allowed: &Value| allowed.as_array().unwrap().contains(value);
    if schema.get("enum").is_some_and(|allowed| !listed(allowed)) {
        wrong.push(format!("{at} is not in the list"));
    }
    if schema.get("type").is_some_and(|kind| !is_of(kind, value)) {
        wrong.push(format!("{at} has the wrong type"));
    }
    for name in schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        let name = name.as_str().unwrap();
        if value.get(name).is_none() {
            wrong.push(format!("{at}.{name} is missing"));
        }
    }
    if let (Some(properties), Some(object)) = (schema.get("properties"), value.as_object()) {
        for (name, value) in object {
            match properties.get(name) {
                Some(part) => check(root, part, value, &format!("{at}.{name}"), wrong),
                None => wrong.push(format!("{at}.{name} is not in the schema")),
            }
        }
    }
    if let (Some(items), Some(values)) = (schema.get("items"), value.as_array()) {
        for (place, value) in values.iter().enumerate() {
            check(root, items, value, &format!("{at}[{place}]"), wrong);
        }
    }
}

fn is_of(kind: &Value, value: &Value) -> bool {
    if let Some(kinds) = kind.as_array() {
        return kinds.iter().any(|kind| is_of(kind, value));
    }
    match kind.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("unknown type {other}"),
    }
}

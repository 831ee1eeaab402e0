//! The committed schemas say what `report.json`, `sweep.json`, `figures.json` and what
//! verbs write with `--json` hold.

use std::path::Path;

use serde_json::Value;
use slowpath_core::figures::RunFigures;
use slowpath_diagnose::diagnosis::Diagnosis;
use slowpath_experiment::ab::Ab;
use slowpath_experiment::compare::Comparison;
use slowpath_experiment::history::History;
use slowpath_experiment::sweep::Sweep;

use crate::sample;

/// Where the schemas are committed.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema");

/// Every schema of what is written, by its file.
fn schemas() -> [(&'static str, schemars::Schema); 6] {
    [
        ("report", schemars::schema_for!(Diagnosis)),
        ("sweep", schemars::schema_for!(Sweep)),
        ("figures", schemars::schema_for!(RunFigures)),
        ("comparison", schemars::schema_for!(Comparison)),
        ("history", schemars::schema_for!(History)),
        ("ab", schemars::schema_for!(Ab)),
    ]
}

/// The schema of that name.
pub(crate) fn schema(name: &str) -> Value {
    let of_name = schemas().into_iter().find(|(each, _)| *each == name);
    serde_json::to_value(of_name.unwrap().1).unwrap()
}

#[test]
fn the_committed_schemas_are_up_to_date() {
    for (name, schema) in schemas() {
        let path = Path::new(FOLDER).join(format!("{name}.schema.json"));
        let generated = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if std::env::var("UPDATE").is_ok_and(|value| value == "1") {
            std::fs::create_dir_all(FOLDER).unwrap();
            std::fs::write(&path, &generated).unwrap();
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            committed == generated,
            "{name}: run UPDATE=1 cargo test -p slowpath-report --test it schema"
        );
    }
}

#[test]
fn reports_have_the_shape_of_the_schema() {
    let schema = schema("report");
    for diagnosis in [
        sample::diagnosis("static"),
        sample::healthy(),
        sample::invalid(),
    ] {
        let report: Value = serde_json::from_str(&slowpath_report::json(&diagnosis)).unwrap();
        let mut wrong = Vec::new();
        check(&schema, &schema, &report, "report", &mut wrong);
        assert_eq!(wrong, Vec::<String>::new());
        assert_eq!(
            serde_json::from_value::<Diagnosis>(report).unwrap(),
            diagnosis
        );
    }
}

#[test]
fn the_shape_check_sees_what_is_wrong() {
    let schema = schema("report");
    let mut report: Value =
        serde_json::from_str(&slowpath_report::json(&sample::diagnosis("static"))).unwrap();
    report["findings"][0]["grade"] = "certain".into();
    report["run"]["repeats"] = "two".into();
    report["endpoints"][0]
        .as_object_mut()
        .unwrap()
        .remove("offered");
    let mut wrong = Vec::new();
    check(&schema, &schema, &report, "report", &mut wrong);
    assert_eq!(wrong.len(), 3, "{wrong:?}");
}

#[test]
fn json_ends_with_a_newline_and_keeps_the_order_of_the_fields() {
    let text = slowpath_report::json(&sample::diagnosis("static"));
    assert!(text.starts_with("{\n  \"schema\": \"slowpath.report/1\",\n") && text.ends_with("}\n"));
}

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

//! The committed JSON Schema knows the keys that the reader knows.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use slowpath_record::scenario::known_keys;

const SCHEMA: &str = include_str!("../../../../schema/scenario.schema.json");

type Tables = BTreeMap<String, BTreeSet<String>>;

fn joined(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

/// Collects the properties of every object that allows no others, by path.
fn collect(root: &Value, node: &Value, path: &str, tables: &mut Tables) {
    if let Some(reference) = node.get("$ref").and_then(Value::as_str) {
        let pointer = reference
            .strip_prefix('#')
            .expect("references stay in the file");
        collect(
            root,
            root.pointer(pointer).expect("references resolve"),
            path,
            tables,
        );
    }
    for choice in ["oneOf", "anyOf"] {
        for node in node
            .get(choice)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            collect(root, node, path, tables);
        }
    }
    if let Some(items) = node.get("items") {
        collect(root, items, path, tables);
    }
    if let Some(properties) = node.get("properties").and_then(Value::as_object) {
        assert_eq!(
            node.get("additionalProperties"),
            Some(&Value::Bool(false)),
            "{path}"
        );
        tables
            .entry(path.to_owned())
            .or_default()
            .extend(properties.keys().cloned());
        for (key, node) in properties {
            collect(root, node, &joined(path, key), tables);
        }
    } else if let Some(any) = node.get("additionalProperties") {
        collect(root, any, &joined(path, "*"), tables);
    }
}

#[test]
fn the_schema_and_the_reader_know_the_same_keys() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let mut in_schema = Tables::new();
    collect(&schema, &schema, "", &mut in_schema);
    let in_reader: Tables = known_keys()
        .iter()
        .map(|(path, keys)| {
            (
                (*path).to_owned(),
                keys.iter().map(|key| (*key).to_owned()).collect(),
            )
        })
        .collect();
    assert_eq!(in_schema, in_reader);
}

#[test]
fn every_property_is_described() {
    fn undescribed(node: &Value, found: &mut Vec<String>) {
        let properties = node.get("properties").and_then(Value::as_object);
        for (key, property) in properties.into_iter().flatten() {
            if property.get("description").is_none() {
                found.push(key.clone());
            }
        }
        let children = node
            .as_object()
            .into_iter()
            .flat_map(|object| object.values());
        let elements = node.as_array().into_iter().flatten();
        children
            .chain(elements)
            .for_each(|child| undescribed(child, found));
    }
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let mut found = Vec::new();
    undescribed(&schema, &mut found);
    assert_eq!(found, Vec::<String>::new());
}

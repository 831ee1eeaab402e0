//! The scenario reference is complete and right: it has every key of the schema, and its examples are read.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use serde_json::Value;
use slowpath_record::scenario::{Context, parse};

use super::fences::{Fence, read};
use crate::support::root;

/// Sections of the page, and where their keys stand in the schema.
const SECTIONS: &[(&str, &str)] = &[
    ("Top level", ""),
    ("Target", "/$defs/target"),
    ("TLS", "/$defs/tls"),
    ("Service", "/$defs/service"),
    ("Load", "/$defs/load"),
    ("Pools", "/properties/pools/additionalProperties/oneOf/1"),
    ("Endpoint", "/$defs/endpoint"),
    ("Expect", "/$defs/expect"),
    (
        "Extract",
        "/$defs/endpoint/properties/extract/additionalProperties",
    ),
    ("User", "/$defs/user"),
    ("Toggle", "/$defs/toggle"),
    ("Gate", "/$defs/gate"),
];

const PAGE: &str = "docs/scenario.md";

fn schema() -> Value {
    let text = std::fs::read_to_string(root().join("schema/scenario.schema.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The text below a heading, up to the next one that begins with `end`.
fn section<'a>(page: &'a str, title: &str, end: &str) -> &'a str {
    let heading = page
        .find(&format!("# {title}\n"))
        .unwrap_or_else(|| panic!("no section {title}"));
    let rest = &page[heading + title.len()..];
    rest.find(end).map_or(rest, |end| &rest[..end])
}

/// The rows of the table of keys: key and default.
fn rows(section: &str) -> Vec<(String, String)> {
    let cells = section.lines().filter_map(|line| {
        let cells: Vec<&str> = line.strip_prefix("| `")?.split(" | ").collect();
        Some((
            cells[0].trim_end_matches('`').to_owned(),
            cells[2].trim().to_owned(),
        ))
    });
    cells.collect()
}

#[test]
fn the_reference_has_every_key_with_its_default() {
    let (schema, page) = (
        schema(),
        std::fs::read_to_string(root().join(PAGE)).unwrap(),
    );
    for (title, pointer) in SECTIONS {
        let keys = schema.pointer(&format!("{pointer}/properties")).unwrap();
        let keys = keys.as_object().unwrap();
        let rows = rows(section(&page, title, "\n#"));
        let examples = section(&page, title, "\n## ").split("```toml").skip(1);
        let examples = examples.filter_map(|rest| rest.split("```").next());
        let examples: String = examples.collect();
        let written: BTreeSet<&str> = rows.iter().map(|(key, _)| key.as_str()).collect();
        let known: BTreeSet<&str> = keys.keys().map(String::as_str).collect();
        assert_eq!(written, known, "{title}");
        for (key, default) in &rows {
            if let Some(value) = keys[key].get("default") {
                assert_eq!(*default, format!("`{value}`"), "{title}: {key}");
            }
        }
        let required = schema.pointer(&format!("{pointer}/required"));
        let required = required
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        for key in required {
            let row = (key.as_str().unwrap().to_owned(), "required".to_owned());
            assert!(rows.contains(&row), "{title}: {row:?}");
        }
        for key in known {
            let forms = [format!("{key} = "), format!("[{key}"), format!(".{key}")];
            let is_used = forms.iter().any(|form| examples.contains(form));
            assert!(
                is_used || *title == "Top level",
                "{title}: no example of {key}"
            );
        }
    }
}

/// An example with the parts of a scenario that it leaves out.
fn completed(fence: &Fence) -> String {
    let mut text = fence.text.clone();
    if !text.contains("[target]") {
        text.push_str("[target]\nurl = \"http://127.0.0.1:8080\"\n");
    }
    if !text.contains("[[endpoint]]") {
        text.push_str("[[endpoint]]\nname = \"home\"\nrequest = \"GET /\"\n");
    }
    text
}

#[test]
fn the_examples_of_the_reference_are_read() {
    let (fences, _) = read(&root().join(PAGE));
    let examples = fences.iter().filter(|fence| fence.language() == "toml");
    let mut count = 0;
    for fence in examples.filter(|fence| fence.title() != Some("wrong.toml")) {
        let load_file = |path: &Path| {
            let is_table = path.extension().is_some_and(|is| is == "csv");
            let table = "topic,lang,hits\nnitrogen,en,3\n".to_owned();
            if is_table {
                Ok(table)
            } else {
                Err(io::ErrorKind::NotFound.into())
            }
        };
        let context = Context {
            file: PAGE,
            base_dir: Path::new("."),
            load_file: &load_file,
        };
        let read = parse(&completed(fence), &context);
        assert!(read.is_ok(), "line {}: {:?}", fence.line, read.err());
        count += 1;
    }
    assert!(count > 12, "{count}");
}

#[test]
fn figures_of_the_site_are_those_of_the_readme() {
    let text = |file: &str| std::fs::read_to_string(root().join(file)).unwrap();
    let (readme, page) = (text("README.md"), text("docs/verdicts.md"));
    let said = readme.split("How often it is right: ").nth(1).unwrap();
    let said = said.split("\n\n").next().unwrap();
    let words: Vec<&str> = said.split_whitespace().collect();
    let mut shares = 0;
    for three in words.windows(3) {
        let number = |word: &str| word.trim_matches(|c: char| !c.is_ascii_digit()).to_owned();
        let (part, whole) = (number(three[0]), number(three[2]));
        if three[1] == "of" && !part.is_empty() && !whole.is_empty() {
            let share = format!("{part} of {whole}");
            assert!(
                page.contains(&share),
                "docs/verdicts.md does not say {share}"
            );
            shares += 1;
        }
    }
    assert!(shares >= 3, "{said}");
    let count = slowpath_diagnose::detectors::REGISTRY.len();
    assert!(text("docs/index.md").contains(&format!("[{count} that it knows]")));
}

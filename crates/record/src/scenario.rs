//! Reads scenario files (TOML).
//!
//! Strict, and patient with the reader: unknown keys, wrong types, quantities without units and
//! contradictions are all reported, at once, each with its line and with what to do about it.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::path::Path;

use slowpath_core::scenario::{Names, Scenario, Timer, Vocabulary, gate_subjects};
use toml::de::DeTable;

mod endpoint;
mod expect;
mod extract;
mod gates;
mod json;
pub(crate) mod keys;
mod load;
mod model;
mod pools;
pub(crate) mod reader;
mod target;
pub(crate) mod value;

pub use gates::parse_gates;
pub use keys::known_keys;
pub use model::parse_model;
pub use pools::read_file;

use reader::{Notes, Table};
use value::Value;

/// Where a scenario comes from.
pub struct Context<'a> {
    /// The name of the file, for messages; its stem is the scenario's default name.
    pub file: &'a str,
    /// The folder that relative paths in the scenario start from.
    pub base_dir: &'a Path,
    /// Reads a file that the scenario names.
    pub load_file: &'a dyn Fn(&Path) -> io::Result<String>,
}

impl fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("file", &self.file)
            .field("base_dir", &self.base_dir)
            .finish()
    }
}

/// One thing that is wrong with a scenario.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {}{what}; {remedy}", Prefix(key))]
pub struct Mistake {
    /// The file as [`Context::file`] names it.
    pub file: String,
    /// The line in it, from 1.
    pub line: usize,
    /// The path of the key at fault, such as `load.rate`; empty when it is about none.
    pub key: String,
    /// What is wrong, a fragment.
    pub what: String,
    /// What to do about it, a fragment.
    pub remedy: String,
}

/// The key of a message, set off from the rest where there is one.
struct Prefix<'a>(&'a str);

impl fmt::Display for Prefix<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            Ok(())
        } else {
            write!(f, "{}: ", self.0)
        }
    }
}

/// Reads the text of a scenario file.
///
/// # Errors
/// Every mistake in it, in the order of lines; never an empty list.
pub fn parse(text: &str, context: &Context<'_>) -> Result<Scenario, Vec<Mistake>> {
    let notes = Notes::new(context.file, text);
    let (root, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let at = error.span().map_or(text.len(), |span| span.start);
        notes.syntax(at, error.message());
    }
    let root = Table::root(&notes, root.get_ref());
    let scenario = read(&root, context);
    if let Some(scenario) = &scenario {
        agree(&root, scenario);
    }
    let mistakes = notes.into_mistakes();
    match scenario {
        Some(scenario) if mistakes.is_empty() => Ok(scenario),
        _ => Err(mistakes),
    }
}

/// Notes where the load and the rest contradict each other, at the first key of that path.
fn agree(root: &Table<'_>, scenario: &Scenario) {
    for found in scenario.contradictions() {
        let (path, key) = found.key.split_once('.').unwrap_or(("", found.key));
        let tables = match path {
            "endpoint" | "user" => root.tables(path),
            "" => Vec::new(),
            _ => root.child(path).into_iter().collect(),
        };
        let table = tables.iter().find(|table| table.has(key));
        match table.or(tables.first()) {
            Some(table) => table.contradiction(key, found.what, found.remedy),
            None if path.is_empty() => root.contradiction(key, found.what, found.remedy),
            None => root.contradiction_without_table(found.key, found.what, found.remedy),
        }
    }
}

/// The names of what may be spoken of elsewhere, read before anything speaks of it.
#[derive(Debug, Default)]
struct Known {
    pools: Vec<String>,
    tables: Vec<String>,
    variables: Vec<String>,
    services: Vec<String>,
}

impl Known {
    fn names(&self) -> Names<'_> {
        Names {
            pools: &self.pools,
            services: &self.services,
            tables: &self.tables,
            variables: &self.variables,
        }
    }
}

/// Reads everything; `None` only where a mistake was noted.
fn read(root: &Table<'_>, context: &Context<'_>) -> Option<Scenario> {
    let pools = pools::pools(root, context);
    let names: Vec<String> = pools.all.iter().map(|pool| pool.name.clone()).collect();
    let known = Known {
        variables: extract::variables(root, &names, &pools.tables),
        tables: pools.tables,
        pools: names,
        services: root
            .tables("service")
            .iter()
            .map(Table::name_or_empty)
            .collect(),
    };
    let target = root
        .required(
            "target",
            "add [target] with url = \"http://127.0.0.1:8080\"",
        )
        .and_then(|value| value.table())
        .map(|table| target::target(&table, &known));
    let started = root
        .child("target")
        .is_some_and(|target| target.has("command"));
    let services = target::services(root, &known);
    let load = load::load(root);
    let endpoints = endpoint::endpoints(root, &known, &pools.all, started);
    let users = load::users(root, &endpoint::names(root));
    let toggles = target::toggles(root, &known, started);
    let timers = timers(root);
    let passes = load.as_ref().map_or(&[][..], |load| &load.passes);
    let known_to_gates = Vocabulary {
        subjects: &gate_subjects(endpoint::names(root), passes),
        ..Vocabulary::default()
    };
    let gates = gates::gates(root, known_to_gates);
    let name = root.get("name").and_then(|value| value.filled());
    Some(Scenario {
        name: name.map_or_else(|| stem(context.file), str::to_owned),
        folder: context.base_dir.to_owned(),
        target: target??,
        services,
        load: load?,
        pools: pools.all,
        variables: known.variables,
        endpoints,
        users,
        timers,
        toggles,
        gates,
    })
}

fn stem(file: &str) -> String {
    Path::new(file)
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

fn timers(root: &Table<'_>) -> Vec<Timer> {
    let Some(table) = root.child("timers") else {
        return Vec::new();
    };
    let timer = |(name, value): (&str, Value<'_>)| {
        let period_ns = value.positive_duration()?;
        Some(Timer {
            name: name.to_owned(),
            period_ns,
        })
    };
    table.entries().into_iter().filter_map(timer).collect()
}

/// Notes every name that was already taken.
fn unique<'a>(named: impl IntoIterator<Item = (Option<&'a str>, Value<'a>)>) {
    let mut taken = BTreeSet::new();
    for (name, value) in named {
        if let Some(name) = name
            && !taken.insert(name)
        {
            value.wrong(
                format!("there are two named {name:?}"),
                "give each its own name",
            );
        }
    }
}

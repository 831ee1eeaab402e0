//! `[pools]`: sets of values, written out or in files.

use std::collections::BTreeSet;
use std::io::{self, Read as _};
use std::path::Path;

use slowpath_core::scenario::{Pick, Pool, Texts};
use toml::de::DeValue;

use super::Context;
use super::reader::Table;
use super::value::Value;

mod sheet;

use sheet::{Format, Sheet};

/// Names that mean something else between braces.
const TAKEN: [&str; 4] = ["port", "tmp", "seq", "uuid"];
/// Bytes of a file of values at most, so that a run's memory stays bounded: beside them four bytes
/// a row and column are kept.
const MOST_FILE_BYTES: u64 = 64 * 1024 * 1024;

const PICKS: [(&str, Pick); 3] = [
    ("random", Pick::Random),
    ("sequence", Pick::Sequence),
    ("unique", Pick::Unique),
];

/// Reads a file that a scenario names, if it is no larger than 64 MiB.
///
/// # Errors
/// When it cannot be read, is larger, or is no UTF-8.
pub fn read_file(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let read = std::fs::File::open(path)?
        .take(MOST_FILE_BYTES + 1)
        .read_to_string(&mut text)?;
    if read as u64 > MOST_FILE_BYTES {
        let what = "it is larger than 64 MiB";
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
    }
    Ok(text)
}

/// All pools, and the names of those whose values stand in columns only.
#[derive(Debug, Default)]
pub(super) struct Pools {
    pub(super) all: Vec<Pool>,
    pub(super) tables: Vec<String>,
}

pub(super) fn pools(root: &Table<'_>, context: &Context<'_>) -> Pools {
    let mut pools = Pools::default();
    let Some(table) = root.child("pools") else {
        return pools;
    };
    let mut named = BTreeSet::new();
    if let Some(endpoints) = root.get("endpoint") {
        columns_named(endpoints.toml(), &mut named);
    }
    for (name, value) in table.entries() {
        check_name(name, &value);
        let fields = named.iter().filter(|(pool, _)| pool == name);
        let fields: Vec<&str> = fields.map(|(_, field)| field.as_str()).collect();
        if value.is_table() {
            let read = value.table().and_then(|table| {
                let pool = Described::new(name, &table)?;
                pool.read(&fields, context)
            });
            match read {
                Some(columns) => pools.add(name, columns),
                None => pools.all.push(Pool::plain(name, Vec::<String>::new())),
            }
        } else {
            pools.all.push(Pool::plain(name, listed(&value)));
        }
        let is_empty = pools.all.last().is_some_and(|pool| pool.values.is_empty());
        if is_empty {
            value.wrong_unless_noted("the pool has no values", "add at least one");
        }
    }
    pools
}

pub(super) fn check_name(name: &str, value: &Value<'_>) {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || !name.chars().all(word) {
        value.wrong(
            "what stands between braces has a plain name",
            "use letters, digits, - and _",
        );
    }
    if TAKEN.contains(&name) {
        let what = format!("{{{name}}} already means something else");
        value.wrong(what, "choose another name");
    }
}

fn listed(value: &Value<'_>) -> Vec<String> {
    let values = value.array().unwrap_or_default();
    let texts = values.iter().filter_map(Value::text);
    texts.map(str::to_owned).collect()
}

impl Pools {
    /// Adds the columns of one pool, the first of which leads the draw of the others.
    fn add(&mut self, name: &str, columns: Vec<Pool>) {
        let leader = self.all.len();
        if !columns.iter().any(|column| column.name == name) {
            self.tables.push(name.to_owned());
        }
        for (position, column) in columns.into_iter().enumerate() {
            self.all.push(Pool {
                same_row_as: (position > 0).then_some(leader),
                ..column
            });
        }
    }
}

/// The columns that requests name, as in `{users.name}`, with their pools. Doubled braces are none.
fn columns_named(value: &DeValue<'_>, found: &mut BTreeSet<(String, String)>) {
    match value {
        DeValue::String(text) => {
            let mut rest: &str = text;
            while let Some(at) = rest.find('{') {
                rest = &rest[at + 1..];
                if let Some(doubled) = rest.strip_prefix('{') {
                    rest = doubled;
                    continue;
                }
                let inside = rest.split_once('}').map(|(inside, _)| inside);
                if let Some((pool, field)) = inside.and_then(|inside| inside.split_once('.')) {
                    found.insert((pool.to_owned(), field.to_owned()));
                }
            }
        }
        DeValue::Array(elements) => {
            for element in elements {
                columns_named(element.get_ref(), found);
            }
        }
        DeValue::Table(entries) => {
            for (_, value) in entries {
                columns_named(value.get_ref(), found);
            }
        }
        _ => {}
    }
}

/// A pool that is a table in the scenario.
struct Described<'a> {
    name: &'a str,
    table: &'a Table<'a>,
    pick: Pick,
}

impl<'a> Described<'a> {
    fn new(name: &'a str, table: &'a Table<'a>) -> Option<Self> {
        let pick = table.get("pick").map(|value| value.choice(&PICKS));
        let pick = pick.unwrap_or(Some(Pick::Random))?;
        for key in ["weight", "weights"] {
            if let Some(value) = table.get(key).filter(|_| pick != Pick::Random) {
                let what = "values that are given out in order are not weighed";
                value.at_odds(what, "remove it, or the pick");
                return None;
            }
        }
        if let (Some(_), Some(list)) = (table.get("weight"), table.get("weights")) {
            list.at_odds("the weights stand in a column or in a list", "keep one");
            return None;
        }
        Some(Self { name, table, pick })
    }

    /// Its columns, at least one, unless nothing of it is named.
    fn read(&self, fields: &[&str], context: &Context<'_>) -> Option<Vec<Pool>> {
        let mut columns = match (self.table.get("file"), self.table.get("values")) {
            (Some(file), None) => self.in_file(&file, fields, context)?,
            (None, Some(values)) => {
                self.no_columns(&["column", "weight"])?;
                vec![Pool::plain(self.name, listed(&values))]
            }
            (Some(_), Some(values)) => {
                values.at_odds("the values stand here or in a file", "keep one of the two");
                return None;
            }
            (None, None) => {
                let remedy = "add file = \"values.txt\", one value a line";
                self.table.required("file", remedy);
                return None;
            }
        };
        if let (Some(value), Some(first)) = (self.table.get("weights"), columns.first_mut()) {
            first.weights = Some(weights(&value, first.values.len())?);
        }
        for column in &mut columns {
            column.pick = self.pick;
        }
        Some(columns)
    }

    /// Notes keys that only files with columns have.
    fn no_columns(&self, keys: &[&str]) -> Option<()> {
        let mut all = Some(());
        for key in keys {
            if let Some(value) = self.table.get(key) {
                let what = "only a .csv or .jsonl file has columns";
                value.at_odds(what, "remove it, or name such a file");
                all = None;
            }
        }
        all
    }

    fn in_file(
        &self,
        file: &Value<'_>,
        fields: &[&str],
        context: &Context<'_>,
    ) -> Option<Vec<Pool>> {
        let path = context.base_dir.join(file.filled()?);
        let format = Format::of(&path);
        if format == Format::Lines {
            self.no_columns(&["column", "weight"])?;
        }
        let text = match (context.load_file)(&path) {
            Ok(text) => text,
            Err(error) => {
                let remedy = match error.kind() {
                    io::ErrorKind::FileTooLarge => "take a part of it: head -n 1000000",
                    _ => "paths are relative to the scenario's folder",
                };
                let what = format!("{} cannot be read: {error}", path.display());
                file.wrong(what, remedy);
                return None;
            }
        };
        let sheet = Sheet::new(&path, format, &text);
        let result = self.columns(&sheet, fields);
        result.map_err(|flaws| flaws.note(file, &path)).ok()
    }

    fn columns(&self, sheet: &Sheet<'_>, fields: &[&str]) -> Result<Vec<Pool>, sheet::Flaws> {
        let text = |key: &str| self.table.get(key).and_then(|value| value.filled());
        let own = text("column").or_else(|| sheet.only_column());
        let mut wanted: Vec<(String, &str)> = Vec::new();
        wanted.extend(own.map(|column| (self.name.to_owned(), column)));
        for &field in fields {
            wanted.push((format!("{}.{field}", self.name), field));
        }
        let weight = text("weight");
        let names: Vec<&str> = wanted.iter().map(|(_, column)| *column).collect();
        let (columns, weights) = sheet.read(&names, weight)?;
        let mut pools: Vec<Pool> = wanted
            .into_iter()
            .zip(columns)
            .map(|((name, _), values)| Pool::plain(name, Texts::from(values)))
            .collect();
        if let Some(first) = pools.first_mut() {
            first.weights = weights;
        }
        Ok(pools)
    }
}

/// One weight for each value.
fn weights(value: &Value<'_>, values: usize) -> Option<Vec<f64>> {
    let weights: Option<Vec<f64>> = value.array()?.iter().map(Value::weight).collect();
    let weights = weights?;
    if weights.len() != values {
        let what = format!("{} weights for {values} values", weights.len());
        value.wrong(what, "write one for each value");
        return None;
    }
    if weights.iter().sum::<f64>() <= 0.0 {
        value.wrong("no value would ever be drawn", "write a weight above 0");
        return None;
    }
    Some(weights)
}

//! `extract`: what is taken from an answer for later requests of the same user.

use regex::bytes::Regex;
use serde_json_path::JsonPath;
use slowpath_core::scenario::{Extract, Extraction};

use super::Known;
use super::pools::check_name;
use super::reader::Table;
use super::value::Value;

/// The names of all variables, in the order in which they first appear.
pub(super) fn variables(root: &Table<'_>, pools: &[String], tables: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let all = root.tables("endpoint");
    for table in all.iter().filter_map(|endpoint| endpoint.child("extract")) {
        for (name, value) in table.entries() {
            check_name(name, &value);
            if pools.iter().chain(tables).any(|pool| pool == name) {
                value.at_odds("a pool has that name", "choose another name");
            }
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
    }
    names
}

pub(super) fn extract(table: &Table<'_>, known: &Known) -> Vec<Extract> {
    let one = |(name, value): (&str, Value<'_>)| {
        let variable = known.variables.iter().position(|known| known == name)?;
        let from = extraction(&value)?;
        Some(Extract { variable, from })
    };
    table.entries().into_iter().filter_map(one).collect()
}

fn extraction(value: &Value<'_>) -> Option<Extraction> {
    let table = value.table()?;
    let keys = ["json", "regex", "header"];
    let mut said = keys.iter().filter_map(|key| Some((*key, table.get(key)?)));
    let first = said.next();
    if first.is_none() || said.next().is_some() {
        value.wrong_unless_noted(
            "it does not say where the value stands",
            "say one of json = \"$.path\", regex = \"id=(\\\\d+)\" and header = \"X-Name\"",
        );
        return None;
    }
    let (key, value) = first?;
    let text = value.filled()?;
    match key {
        "json" => match JsonPath::parse(text) {
            Ok(_) => Some(Extraction::Json(text.to_owned())),
            Err(error) => {
                value.wrong(error, "see RFC 9535 for JSONPath: \"$.items[0].id\"");
                None
            }
        },
        "regex" => regex(&value, text),
        _ => {
            // A token (RFC 9110, section 5.6.2).
            let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
            if !text.bytes().all(token) {
                value.wrong("no name of a header", "use letters, digits and -");
                return None;
            }
            Some(Extraction::Header(text.to_ascii_lowercase()))
        }
    }
}

fn regex(value: &Value<'_>, text: &str) -> Option<Extraction> {
    match Regex::new(text) {
        Ok(regex) if regex.captures_len() > 1 => Some(Extraction::Regex(text.to_owned())),
        Ok(_) => {
            let remedy = "put parentheses around what is to be taken";
            value.wrong("the pattern has no group", remedy);
            None
        }
        Err(error) => {
            let error = error.to_string();
            let last = error.lines().last().unwrap_or_default();
            let last = last.trim_start_matches("error: ");
            value.wrong(last, "see https://docs.rs/regex for the syntax");
            None
        }
    }
}

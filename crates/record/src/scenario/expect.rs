//! `expect`: what an answer must look like.

use regex::bytes::Regex;
use slowpath_core::scenario::units;
use slowpath_core::scenario::{Count, Escape, EventRange, Expect, SizeRange, Template};

use super::reader::Table;
use super::value::{Scope, Value};
use super::{json, target};

pub(super) fn expect(table: &Table<'_>, scope: Scope<'_>) -> Expect {
    let text = |key| {
        table
            .get(key)
            .and_then(|value| value.filled_template(scope))
    };
    Expect {
        status: table.get("status").and_then(|value| status(&value)),
        contains: text("contains"),
        regex: table.get("regex").and_then(|value| regex(&value, scope)),
        size: table.get("size").and_then(|value| size(&value)),
        json: table
            .get("json")
            .map(|value| json_body(&value, scope))
            .unwrap_or_default(),
        events: table.get("events").and_then(|value| events(&value)),
        last_event: text("last_event"),
        count: table.child("count").and_then(|table| count(&table, scope)),
    }
}

fn status(value: &Value<'_>) -> Option<u16> {
    let status = value.whole(100)?;
    if status > 599 {
        value.wrong("no status of HTTP", "write a number from 100 to 599");
        return None;
    }
    Some(status)
}

fn regex(value: &Value<'_>, scope: Scope<'_>) -> Option<Template> {
    let of_process = Scope {
        of_request: false,
        ..scope
    };
    let template = value.filled_template(of_process)?;
    match Regex::new(&target::tried_out(&template, scope.known)) {
        Ok(_) => Some(template),
        Err(error) => {
            let error = error.to_string();
            let last = error
                .lines()
                .last()
                .unwrap_or_default()
                .trim_start_matches("error: ");
            value.wrong(last, "see https://docs.rs/regex for the syntax");
            None
        }
    }
}

fn size(value: &Value<'_>) -> Option<SizeRange> {
    let range = |text: &str| units::parse_range(text, units::parse_size);
    let (min_bytes, max_bytes) = value.quantity(range, "try \"512B\" or \"1KiB..64KiB\"")?;
    Some(SizeRange {
        min_bytes,
        max_bytes,
    })
}

/// A number, or a table of the least and the greatest number.
fn events(value: &Value<'_>) -> Option<EventRange> {
    if !value.is_table() {
        return value.whole(0).map(EventRange::exactly);
    }
    let table = value.table()?;
    let number = |key, none| table.get(key).map_or(Some(none), |value| value.whole(0));
    let (min, max) = (number("min", 0)?, number("max", u64::MAX)?);
    if min > max {
        value.wrong("no number is that large and that small", "write min <= max");
        return None;
    }
    Some(EventRange { min, max })
}

fn json_body(value: &Value<'_>, scope: Scope<'_>) -> Vec<(String, Template)> {
    let expected = |(pointer, value): (String, Value<'_>)| {
        let text = json::of(&value)?.to_string();
        Some((pointer, value.template_of(&text, scope, Escape::Json)?))
    };
    json::expectations(value)
        .into_iter()
        .filter_map(expected)
        .collect()
}

fn count(table: &Table<'_>, scope: Scope<'_>) -> Option<Count> {
    let of = table.required("of", "add of = \"the text that is counted\"");
    let is = table.required("is", "add is = 200");
    let (of, is) = (
        of.map(|value| value.filled_template(scope)),
        is.map(|value| value.whole(0)),
    );
    Some(Count { of: of??, is: is?? })
}

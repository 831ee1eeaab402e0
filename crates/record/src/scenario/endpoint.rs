//! `[[endpoint]]`: requests.

use slowpath_core::scenario::{Endpoint, Escape, Part, Pool, Template};

use super::reader::Table;
use super::value::{Scope, Value};
use super::{Known, expect, extract, json, target, unique};

/// Headers that follow from the request and its connection, and so are not the user's to set.
const OWN_HEADERS: [&str; 3] = ["connection", "content-length", "transfer-encoding"];

/// The names of all endpoints, whether or not the rest of them is right.
pub(super) fn names(root: &Table<'_>) -> Vec<String> {
    root.tables("endpoint")
        .iter()
        .map(Table::name_or_empty)
        .collect()
}

pub(super) fn endpoints(
    root: &Table<'_>,
    known: &Known,
    pools: &[Pool],
    started: bool,
) -> Vec<Endpoint> {
    let scope = Scope {
        known,
        of_request: true,
        started,
    };
    let tables = root.tables("endpoint");
    if tables.is_empty() && !root.has("endpoint") {
        root.required("endpoint", "add [[endpoint]] with request = \"GET /\"");
    } else if tables.is_empty()
        && let Some(value) = root.get("endpoint")
    {
        value.wrong_unless_noted("no endpoint", "add [[endpoint]] with request = \"GET /\"");
    }
    let names: Vec<_> = tables
        .iter()
        .filter_map(|table| table.get("name"))
        .collect();
    unique(names.into_iter().map(|value| (value.as_str(), value)));
    tables
        .iter()
        .filter_map(|table| endpoint(table, scope, pools))
        .collect()
}

fn endpoint(table: &Table<'_>, scope: Scope<'_>, pools: &[Pool]) -> Option<Endpoint> {
    let name = table
        .required("name", "add name = \"search\"")
        .and_then(|value| name(&value));
    let weight = table.get("weight").and_then(|value| value.positive());
    let request = table
        .required("request", "add request = \"GET /\"")
        .and_then(|value| {
            let (method, path) = target::method_and_path(&value, value.text()?)?;
            Some((method, target::path_template(&value, path, scope)?))
        });
    let headers = table
        .child("headers")
        .map(|table| headers(&table, scope, pools));
    let mut headers = headers.unwrap_or_default();
    let body = body(table, scope, &mut headers);
    let of_process = Scope {
        of_request: false,
        ..scope
    };
    let body_file = table
        .get("body_file")
        .and_then(|value| value.filled_template(of_process));
    let key = table
        .get("key")
        .map(|value| value.template(scope, Escape::None));
    let expect = table
        .child("expect")
        .map(|table| expect::expect(&table, scope));
    let extract = table.child("extract");
    let extract = extract.map(|table| extract::extract(&table, scope.known));
    let rate = |key| table.get(key).and_then(|value| value.byte_rate());
    let (read_rate, send_rate) = (rate("read_rate"), rate("send_rate"));
    let rate_per_s = table.get("rate").and_then(|value| value.rate());
    let (method, path) = request?;
    let texts = || {
        std::iter::once(&path)
            .chain(headers.iter().map(|(_, text)| text))
            .chain(&body)
    };
    let (key, factor) = match key {
        Some(key) => (Some(key?), None),
        None if texts().any(Template::is_unique) => (
            None,
            Some(pool_values(texts())).filter(Template::is_of_request),
        ),
        None => (Some(pool_values(texts())), None),
    };
    Some(Endpoint {
        name: name?.to_owned(),
        weight: weight.unwrap_or(1.0),
        method: method.to_owned(),
        key,
        factor,
        path,
        headers,
        body,
        body_file,
        expect: expect.unwrap_or_default(),
        extract: extract.unwrap_or_default(),
        rate_per_s,
        read_bytes_per_s: read_rate,
        send_bytes_per_s: send_rate,
    })
}

fn name<'a>(value: &Value<'a>) -> Option<&'a str> {
    let name = value.filled()?;
    if name.contains(|c: char| c.is_whitespace() || c == '<' || c == '>') {
        value.wrong(
            "gates cannot say that name",
            "leave out white space, < and >",
        );
    }
    if name == "baseline" || name.starts_with("baseline.") {
        value.wrong(
            "baseline is what gates call another run",
            "choose another name",
        );
    }
    Some(name)
}

fn headers(table: &Table<'_>, scope: Scope<'_>, pools: &[Pool]) -> Vec<(String, Template)> {
    let entries = table.entries();
    let mut headers: Vec<(String, Template)> = Vec::new();
    for (name, value) in entries {
        // A token (RFC 9110, section 5.6.2).
        let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
        if name.is_empty() || !name.bytes().all(token) {
            value.wrong("no name of a header", "use letters, digits and -");
        }
        if OWN_HEADERS.iter().any(|own| name.eq_ignore_ascii_case(own)) {
            value.wrong("slowpath sets this header itself", "remove it");
        }
        if headers
            .iter()
            .any(|(before, _)| before.eq_ignore_ascii_case(name))
        {
            value.wrong("there are two of this header", "remove one");
        }
        let Some(template) = value.template(scope, Escape::None) else {
            continue;
        };
        let literals = template.parts.iter().filter_map(|part| match part {
            Part::Literal(text) => Some(text.as_str()),
            _ => None,
        });
        let drawn = template.pools().flat_map(|pool| pools[pool].values.iter());
        if literals
            .chain(drawn)
            .any(|text| text.contains(|c: char| c.is_control() && c != '\t'))
        {
            value.wrong("a line break or control character in a header", "remove it");
        }
        headers.push((name.to_owned(), template));
    }
    headers
}

/// The body; one from `json` or `form` brings its `Content-Type` unless the headers say another.
fn body(
    table: &Table<'_>,
    scope: Scope<'_>,
    headers: &mut Vec<(String, Template)>,
) -> Option<Template> {
    let given = ["body", "json", "form", "body_file"].map(|key| table.get(key));
    let mut given = given.iter().flatten();
    if let (Some(first), Some(_)) = (given.next(), given.next()) {
        first.at_odds(
            "a request has one body",
            "keep one of body, json, form and body_file",
        );
    }
    let mut of_type = |name: &str| {
        let is_set = |(set, _): &(String, Template)| set.eq_ignore_ascii_case("content-type");
        if !headers.iter().any(is_set) {
            let value = Template::literal(name, Escape::None);
            headers.push(("Content-Type".to_owned(), value));
        }
    };
    if let Some(value) = table.get("json") {
        let text = json::of(&value)?.to_string();
        of_type("application/json");
        return value.template_of(&text, scope, Escape::Json);
    }
    if let Some(table) = table.child("form") {
        of_type("application/x-www-form-urlencoded");
        return form(&table, scope);
    }
    table.get("body")?.template(scope, Escape::None)
}

/// The fields of a form in the order written, names and values percent-encoded.
fn form(table: &Table<'_>, scope: Scope<'_>) -> Option<Template> {
    let mut form = Template::literal("", Escape::Url);
    for (name, value) in table.entries() {
        if !form.parts.is_empty() {
            form.push_literal("&");
        }
        let name = Template::literal(name, Escape::Url).with_escaped_literals();
        form.push_literal(name.as_literal().unwrap_or_default());
        form.push_literal("=");
        let value = value.template(scope, Escape::Url)?;
        for part in value.with_escaped_literals().parts {
            match part {
                Part::Literal(text) => form.push_literal(&text),
                placeholder => form.parts.push(placeholder),
            }
        }
    }
    Some(form)
}

/// The values of the pools in the request, each once, in the order in which they first appear.
fn pool_values<'t>(texts: impl Iterator<Item = &'t Template>) -> Template {
    let mut key = Template::literal("", Escape::None);
    for text in texts {
        for pool in text.pools() {
            if key.parts.contains(&Part::Pool(pool)) {
                continue;
            }
            if !key.parts.is_empty() {
                key.push_literal("/");
            }
            key.parts.push(Part::Pool(pool));
        }
    }
    key
}

//! Strings with placeholders.
//!
//! Known names only are placeholders: `{port}`, `{service.NAME.port}`, `{service.NAME.host}` and
//! `{tmp}`, which are known once processes start, and `{seq}`, `{uuid}` and the names of pools, which differ from request
//! to request. Any other brace stays as written. `{{` is a brace, and so is the `}}` that closes
//! it: `{{seq}}` is the text `{seq}`.

use std::io::Write as _;

use serde::{Deserialize, Serialize};

use super::Pool;

/// A string, split at its placeholders.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Template {
    /// The pieces in order; no two literals are neighbours.
    pub parts: Vec<Part>,
    /// How values are written so that they stay values where the text goes.
    pub escape: Escape,
}

/// A piece of a template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Part {
    /// Text that stays as it is.
    Literal(String),
    /// `{NAME}` of a pool: index into the scenario's pools. A request draws one value of a pool,
    /// however often it names it.
    Pool(usize),
    /// `{NAME}` of a variable that the user's session has extracted: index into the scenario's
    /// variables.
    Variable(usize),
    /// `{seq}`: the number of the request.
    Seq,
    /// `{uuid}`: a random UUID, one for each request.
    Uuid,
    /// `{port}`: the port of the process that the text belongs to.
    Port,
    /// `{service.NAME.port}`: index into the scenario's services.
    ServicePort(usize),
    /// `{service.NAME.host}`: index into the scenario's services.
    ServiceHost(usize),
    /// `{tmp}`: the scratch folder of the process that the text belongs to.
    Tmp,
}

impl Part {
    /// Whether the part differs from request to request.
    pub fn is_of_request(&self) -> bool {
        matches!(
            self,
            Self::Pool(_) | Self::Variable(_) | Self::Seq | Self::Uuid
        )
    }
}

/// How values are written; literals are never touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Escape {
    /// As they are: headers, plain bodies, commands.
    None,
    /// Percent-encoded but for the unreserved characters (RFC 3986, section 2.3): request lines.
    Url,
    /// As inside a JSON string (RFC 8259, section 7): JSON bodies.
    Json,
}

/// The names that are placeholders beside the fixed ones.
#[derive(Debug, Clone, Copy, Default)]
pub struct Names<'a> {
    /// Names of pools, in the scenario's order.
    pub pools: &'a [String],
    /// Names of pools that have values in columns only: `{NAME.COLUMN}`.
    pub tables: &'a [String],
    /// Names of variables, in the scenario's order.
    pub variables: &'a [String],
    /// Names of services, in the scenario's order.
    pub services: &'a [String],
}

/// Why a string is no template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// The middle of `{service.NAME.port}`, or of one that ends in `host`, names no service.
    #[error("there is no service named {0:?}")]
    UnknownService(String),
    /// `{NAME}` names a pool whose values stand in columns, of which it says none.
    #[error("the pool {0} has columns, and {{{0}}} says none of them")]
    NoColumn(String),
}

/// The host of services that slowpath starts.
pub const LOOPBACK: &str = "127.0.0.1";

/// What is known once processes start.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Places {
    /// The port of the process that the text belongs to; the target's for requests.
    pub port: u16,
    /// The ports of all services, in the scenario's order.
    pub service_ports: Vec<u16>,
    /// Their hosts; [`LOOPBACK`] for those that are not in it.
    #[serde(default)]
    pub service_hosts: Vec<String>,
    /// The scratch folder of the process that the text belongs to.
    pub tmp: String,
}

/// What a request is filled in with.
#[derive(Debug, Clone, Copy)]
pub struct Values<'a> {
    /// The scenario's pools.
    pub pools: &'a [Pool],
    /// For each pool the index of the value drawn for this request.
    pub picks: &'a [u32],
    /// For each variable of the scenario its value in the user's session; empty where none is
    /// known.
    pub variables: &'a [String],
    /// The number of the request.
    pub seq: u64,
    /// 128 random bits; rendering overwrites six of them with version and variant.
    pub uuid: u128,
    /// Where the processes are.
    pub places: &'a Places,
}

impl Template {
    /// A template without placeholders.
    pub fn literal(text: &str, escape: Escape) -> Self {
        let mut template = Self {
            parts: Vec::new(),
            escape,
        };
        template.push_literal(text);
        template
    }

    /// Splits `text` at its placeholders.
    ///
    /// # Errors
    /// When a service is named that `names` does not know.
    pub fn parse(text: &str, names: Names<'_>, escape: Escape) -> Result<Self, TemplateError> {
        let mut template = Self {
            parts: Vec::new(),
            escape,
        };
        let mut rest = text;
        while let Some(at) = rest.find('{') {
            template.push_literal(&rest[..at]);
            rest = &rest[at + 1..];
            let doubled = rest.strip_prefix('{');
            let inside = doubled.unwrap_or(rest);
            let end = inside.find(['{', '}']).unwrap_or(inside.len());
            let (name, after) = inside.split_at(end);
            if doubled.is_some() {
                template.push_literal("{");
                rest = inside;
                if let Some(after) = after.strip_prefix("}}") {
                    template.push_literal(name);
                    template.push_literal("}");
                    rest = after;
                }
            } else if let Some(after) = after.strip_prefix('}')
                && let Some(part) = placeholder(name, names)?
            {
                template.parts.push(part);
                rest = after;
            } else {
                template.push_literal("{");
            }
        }
        template.push_literal(rest);
        Ok(template)
    }

    /// Appends text, as part of the literal before it if there is one.
    pub fn push_literal(&mut self, text: &str) {
        match self.parts.last_mut() {
            _ if text.is_empty() => {}
            Some(Part::Literal(last)) => last.push_str(text),
            _ => self.parts.push(Part::Literal(text.to_owned())),
        }
    }

    /// The same text with its literals written as its values are.
    #[must_use]
    pub fn with_escaped_literals(mut self) -> Self {
        for part in &mut self.parts {
            if let Part::Literal(text) = part {
                let mut escaped = Vec::new();
                self.escape.write(&mut escaped, text);
                *text = String::from_utf8(escaped).expect("escapes are ASCII, the rest as it was");
            }
        }
        self
    }

    /// The text, when there is no placeholder in it.
    pub fn as_literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [Part::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// Whether the text differs from request to request.
    pub fn is_of_request(&self) -> bool {
        self.parts.iter().any(Part::is_of_request)
    }

    /// Whether every request has its own text: it holds `{seq}` or `{uuid}`.
    pub fn is_unique(&self) -> bool {
        self.parts
            .iter()
            .any(|part| matches!(part, Part::Seq | Part::Uuid))
    }

    /// The pools it names, in order, with repetitions.
    pub fn pools(&self) -> impl Iterator<Item = usize> + '_ {
        self.parts.iter().filter_map(|part| match part {
            Part::Pool(pool) => Some(*pool),
            _ => None,
        })
    }

    /// The variables it names, in order, with repetitions.
    pub fn variables(&self) -> impl Iterator<Item = usize> + '_ {
        self.parts.iter().filter_map(|part| match part {
            Part::Variable(variable) => Some(*variable),
            _ => None,
        })
    }

    /// Appends the text of one request. Allocates only where `out` is too small.
    ///
    /// # Panics
    /// When `values` is not of the scenario that the template is of.
    pub fn render(&self, out: &mut Vec<u8>, values: &Values<'_>) {
        for part in &self.parts {
            match part {
                Part::Literal(text) => out.extend_from_slice(text.as_bytes()),
                Part::Pool(pool) => {
                    let value = &values.pools[*pool].values[values.picks[*pool] as usize];
                    self.escape.write(out, value);
                }
                Part::Variable(variable) => self.escape.write(out, &values.variables[*variable]),
                Part::Seq => number(out, values.seq),
                Part::Uuid => uuid(out, values.uuid),
                Part::Port => number(out, values.places.port.into()),
                Part::ServicePort(service) => {
                    number(out, values.places.service_ports[*service].into());
                }
                Part::ServiceHost(service) => {
                    let host = values.places.service_hosts.get(*service);
                    self.escape
                        .write(out, host.map_or(LOOPBACK, String::as_str));
                }
                Part::Tmp => self.escape.write(out, &values.places.tmp),
            }
        }
    }

    /// The text of a template that belongs to a process rather than to a request.
    ///
    /// # Panics
    /// When it holds placeholders of a request (reading a scenario lets none through where a
    /// process is described), or when `places` is not of the scenario that the template is of.
    pub fn expand(&self, places: &Places) -> String {
        let mut out = Vec::new();
        self.render(
            &mut out,
            &Values {
                pools: &[],
                picks: &[],
                variables: &[],
                seq: 0,
                uuid: 0,
                places,
            },
        );
        assert!(
            !self.is_of_request(),
            "a process knows no request: {self:?}"
        );
        String::from_utf8(out).expect("literals, digits and escaped strings are UTF-8")
    }
}

impl Escape {
    fn write(self, out: &mut Vec<u8>, value: &str) {
        match self {
            Self::None => out.extend_from_slice(value.as_bytes()),
            Self::Url => value.bytes().for_each(|byte| percent_encode(out, byte)),
            Self::Json => value.bytes().for_each(|byte| json_escape(out, byte)),
        }
    }
}

fn percent_encode(out: &mut Vec<u8>, byte: u8) {
    if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
        out.push(byte);
    } else {
        formatted(out, format_args!("%{byte:02X}"));
    }
}

fn json_escape(out: &mut Vec<u8>, byte: u8) {
    match byte {
        b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
        0..0x20 => formatted(out, format_args!("\\u{byte:04x}")),
        _ => out.push(byte),
    }
}

fn number(out: &mut Vec<u8>, number: u64) {
    formatted(out, format_args!("{number}"));
}

/// Writes a version 4 UUID (RFC 9562, section 5.4).
fn uuid(out: &mut Vec<u8>, random: u128) {
    let bits = (random & !(0xf << 76) & !(0x3 << 62)) | (0x4 << 76) | (0x2 << 62);
    for (shift, digits) in [(96, 8), (80, 4), (64, 4), (48, 4), (0, 12)] {
        let group = (bits >> shift) & ((1 << (4 * digits)) - 1);
        let dash = if shift == 0 { "" } else { "-" };
        formatted(out, format_args!("{group:0digits$x}{dash}"));
    }
}

fn formatted(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text)
        .expect("writing to memory does not fail");
}

fn placeholder(name: &str, names: Names<'_>) -> Result<Option<Part>, TemplateError> {
    let place = |all: &[String], name: &str| all.iter().position(|known| known == name);
    Ok(Some(match name {
        "port" => Part::Port,
        "tmp" => Part::Tmp,
        "seq" => Part::Seq,
        "uuid" => Part::Uuid,
        _ => {
            let of_service = name.strip_prefix("service.");
            let of_service = of_service.and_then(|name| name.rsplit_once('.'));
            match of_service {
                Some((service, what @ ("port" | "host"))) => match place(names.services, service) {
                    Some(service) if what == "port" => Part::ServicePort(service),
                    Some(service) => Part::ServiceHost(service),
                    None => return Err(TemplateError::UnknownService(service.to_owned())),
                },
                _ => match (place(names.pools, name), place(names.variables, name)) {
                    (Some(pool), _) => Part::Pool(pool),
                    (None, Some(variable)) => Part::Variable(variable),
                    (None, None) if place(names.tables, name).is_some() => {
                        return Err(TemplateError::NoColumn(name.to_owned()));
                    }
                    (None, None) => return Ok(None),
                },
            }
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<Part> {
        let (pools, services) = (["topics".to_owned()], ["db".to_owned()]);
        let names = Names {
            pools: &pools,
            services: &services,
            variables: &["token".to_owned()],
            tables: &["users".to_owned()],
        };
        Template::parse(text, names, Escape::None).unwrap().parts
    }

    fn text(text: &str) -> Part {
        Part::Literal(text.to_owned())
    }

    #[test]
    fn known_names_are_placeholders() {
        let expected = [
            text("/"),
            Part::Pool(0),
            Part::Seq,
            text("x"),
            Part::ServicePort(0),
            Part::Tmp,
        ];
        assert_eq!(parts("/{topics}{seq}x{service.db.port}{tmp}"), expected);
        assert_eq!(parts("{port}{uuid}"), [Part::Port, Part::Uuid]);
        assert_eq!(parts("{service.db.host}"), [Part::ServiceHost(0)]);
        assert_eq!(parts("{service.db.name}"), [text("{service.db.name}")]);
        assert_eq!(parts("{token}"), [Part::Variable(0)]);
    }

    #[test]
    fn any_other_brace_stays_as_written() {
        for same in [
            "{nope}",
            "{",
            "}",
            "}}",
            "{}",
            "{ seq }",
            "{\"a\":{\"b\":1}}",
            "a{2,3}",
            "",
        ] {
            let as_written = if same.is_empty() {
                vec![]
            } else {
                vec![text(same)]
            };
            assert_eq!(parts(same), as_written);
        }
        assert_eq!(parts("{{{seq}"), [text("{"), Part::Seq]);
        assert_eq!(
            parts("{\"n\":{seq}}"),
            [text("{\"n\":"), Part::Seq, text("}")]
        );
    }

    #[test]
    fn doubled_braces_are_braces() {
        assert_eq!(parts("{{seq}}"), [text("{seq}")]);
        assert_eq!(parts("{{seq}"), [text("{seq}")]);
        assert_eq!(parts("a{{"), [text("a{")]);
    }

    #[test]
    fn an_unknown_service_is_an_error() {
        let error = Template::parse("{service.cache.port}", Names::default(), Escape::None);
        assert_eq!(
            error,
            Err(TemplateError::UnknownService("cache".to_owned()))
        );
    }

    #[test]
    fn a_pool_with_columns_has_no_value_of_its_own() {
        let tables = ["users".to_owned()];
        let names = Names {
            tables: &tables,
            ..Names::default()
        };
        let of = |text| Template::parse(text, names, Escape::None);
        let error = of("{users}").unwrap_err();
        assert_eq!(error, TemplateError::NoColumn("users".to_owned()));
        let said = "the pool users has columns, and {users} says none of them";
        assert_eq!(error.to_string(), said);
        assert!(of("{{users}}").is_ok());
    }

    fn rendered(parts: Vec<Part>, escape: Escape) -> String {
        let pool = |value: &str| Pool::plain("p", [value]);
        let places = Places {
            port: 8080,
            service_ports: vec![5432],
            service_hosts: vec!["db".to_owned()],
            tmp: "/t m".to_owned(),
        };
        let values = Values {
            pools: &[pool("a"), pool("é \"b/\\\n&")],
            picks: &[0, 0],
            variables: &["v w".to_owned()],
            seq: 7,
            uuid: u128::MAX,
            places: &places,
        };
        let mut out = Vec::new();
        Template { parts, escape }.render(&mut out, &values);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn values_are_escaped_for_where_they_go_and_literals_never() {
        let parts = || vec![text("\"&/ "), Part::Pool(1)];
        assert_eq!(rendered(parts(), Escape::None), "\"&/ é \"b/\\\n&");
        assert_eq!(
            rendered(parts(), Escape::Url),
            "\"&/ %C3%A9%20%22b%2F%5C%0A%26"
        );
        assert_eq!(rendered(parts(), Escape::Json), "\"&/ é \\\"b/\\\\\\u000a&");
    }

    #[test]
    fn numbers_and_places_are_filled_in() {
        let parts = vec![Part::Seq, Part::Port, Part::ServicePort(0), Part::Tmp];
        assert_eq!(rendered(parts, Escape::None), "780805432/t m");
        let hosts = vec![Part::ServiceHost(0), text(" "), Part::ServiceHost(1)];
        assert_eq!(rendered(hosts, Escape::None), "db 127.0.0.1");
        assert_eq!(rendered(vec![Part::Variable(0)], Escape::Url), "v%20w");
        let places = Places {
            port: 1,
            service_ports: vec![2],
            tmp: "t".to_owned(),
            ..Places::default()
        };
        let template = Template {
            parts: vec![Part::Port, text("-"), Part::Tmp],
            escape: Escape::None,
        };
        assert_eq!(template.expand(&places), "1-t");
    }

    #[test]
    fn a_uuid_says_its_version_and_variant() {
        let all_ones = rendered(vec![Part::Uuid], Escape::None);
        assert_eq!(all_ones, "ffffffff-ffff-4fff-bfff-ffffffffffff");
    }
}

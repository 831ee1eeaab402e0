//! What is taken from an answer for later requests of the same user.

use regex::bytes::Regex;
use serde_json::Value;
use serde_json_path::JsonPath;
use slowpath_core::scenario::{Endpoint, Extraction};

use crate::body::Body;
use crate::drive::LoadError;
use crate::session::Session;

/// Bytes of a value at most: larger ones fit into no request line and few headers, and a session
/// of each user keeps them.
const MOST_VALUE_BYTES: usize = 64 * 1024;

#[derive(Debug)]
enum From {
    Json(Box<JsonPath>),
    Regex(Regex),
    /// A name in lower case.
    Header(String),
}

#[derive(Debug)]
struct Extractor {
    variable: usize,
    from: From,
    /// The value goes into a header, where a line break would end it.
    for_header: bool,
}

/// The extractions of one endpoint.
#[derive(Debug)]
pub(crate) struct Extractors {
    all: Vec<Extractor>,
}

impl Extractors {
    /// Compiles what a scenario says of an endpoint; `for_header` says of each variable whether
    /// some request uses it in a header.
    pub(crate) fn new(endpoint: &Endpoint, for_header: &[bool]) -> Result<Self, LoadError> {
        let fault = |reason: String| LoadError::Extraction {
            endpoint: endpoint.name.clone(),
            reason,
        };
        let one = |extract: &slowpath_core::scenario::Extract| {
            let from = match &extract.from {
                Extraction::Json(path) => {
                    let path = JsonPath::parse(path).map_err(|error| fault(error.to_string()))?;
                    From::Json(Box::new(path))
                }
                Extraction::Regex(pattern) => {
                    let regex = Regex::new(pattern).map_err(|error| fault(error.to_string()))?;
                    From::Regex(regex)
                }
                Extraction::Header(name) => From::Header(name.clone()),
            };
            Ok(Extractor {
                variable: extract.variable,
                from,
                for_header: for_header.get(extract.variable).copied().unwrap_or(false),
            })
        };
        let all = endpoint
            .extract
            .iter()
            .map(one)
            .collect::<Result<_, LoadError>>()?;
        Ok(Self { all })
    }

    /// Whether there is nothing to extract.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether bodies have to be kept.
    pub(crate) fn needs_body(&self) -> bool {
        let in_body = |one: &Extractor| !matches!(one.from, From::Header(_));
        self.all.iter().any(in_body)
    }

    /// Whether heads have to be kept.
    pub(crate) fn needs_head(&self) -> bool {
        let in_head = |one: &Extractor| matches!(one.from, From::Header(_));
        self.all.iter().any(in_head)
    }

    /// Sets the variables of a session from a whole response; `false` if one is not in it. Those
    /// that are in it are set all the same.
    pub(crate) fn apply(&self, body: &Body, session: &mut Session) -> bool {
        let wants_json = self.all.iter().any(|one| matches!(one.from, From::Json(_)));
        let document = wants_json
            .then(|| serde_json::from_slice::<Value>(body.kept()).ok())
            .flatten();
        let mut complete = true;
        for one in &self.all {
            complete &= one.apply(body, document.as_ref(), session);
        }
        complete
    }
}

impl Extractor {
    fn apply(&self, body: &Body, document: Option<&Value>, session: &mut Session) -> bool {
        match &self.from {
            From::Json(path) => {
                let found = document.and_then(|document| path.query(document).first());
                match found {
                    None => false,
                    Some(Value::String(text)) => self.set(session, Some(text)),
                    Some(other) => self.set(session, Some(&other.to_string())),
                }
            }
            From::Regex(regex) => {
                let group = regex.captures(body.kept()).and_then(|found| found.get(1));
                let text = group.and_then(|group| str::from_utf8(group.as_bytes()).ok());
                self.set(session, text)
            }
            From::Header(name) => self.set(session, body.header(name)),
        }
    }

    fn set(&self, session: &mut Session, value: Option<&str>) -> bool {
        let Some(value) = value else { return false };
        let breaks = self.for_header && value.contains(|c: char| c.is_control());
        if value.len() > MOST_VALUE_BYTES || breaks {
            return false;
        }
        session.set(self.variable, value);
        true
    }
}

#[cfg(test)]
mod tests {
    use slowpath_core::scenario::{Escape, Extract, Template};

    use super::*;
    use crate::body::Wants;

    fn extracted(from: Extraction, for_header: bool, content: &str) -> Option<String> {
        let mut endpoint = Endpoint::get("x".into(), Template::literal("/", Escape::Url));
        endpoint.extract = vec![Extract { variable: 1, from }];
        let extractors = Extractors::new(&endpoint, &[false, for_header]).unwrap();
        let mut body = Body::default();
        body.reset(Wants {
            body: extractors.needs_body(),
            head: extractors.needs_head(),
            ..Wants::default()
        });
        body.take_head(b"HTTP/1.1 200 OK\r\nX-Token: a b \r\nx-token: second\r\n\r\n");
        body.take(content.as_bytes());
        let mut session = Session::new(2);
        let complete = extractors.apply(&body, &mut session);
        assert_eq!(complete, session.known()[1]);
        complete.then(|| session.values()[1].clone())
    }

    fn json(path: &str) -> Option<String> {
        let body = r#"{"a":{"b":"x\ny"},"n":7,"list":[{"id":1},{"id":2}]}"#;
        extracted(Extraction::Json(path.to_owned()), false, body)
    }

    #[test]
    fn json_paths_select_the_first_node() {
        assert_eq!(json("$.a.b").as_deref(), Some("x\ny"));
        assert_eq!(json("$.n").as_deref(), Some("7"));
        assert_eq!(json("$.list[*].id").as_deref(), Some("1"));
        assert_eq!(json("$.list[?@.id > 1]").as_deref(), Some("{\"id\":2}"));
        assert_eq!(json("$.none"), None);
        assert_eq!(
            extracted(Extraction::Json("$".into()), false, "no json"),
            None
        );
    }

    #[test]
    fn patterns_and_headers_give_their_values() {
        let regex = |body| extracted(Extraction::Regex(r"id=(\d+)".into()), false, body);
        assert_eq!(regex("x id=12;").as_deref(), Some("12"));
        assert_eq!(regex("x id=;"), None);
        let header = |name: &str| extracted(Extraction::Header(name.into()), true, "");
        assert_eq!(header("x-token").as_deref(), Some("a b"));
        assert_eq!(header("x-other"), None);
    }

    #[test]
    fn what_would_break_a_header_or_is_huge_is_not_taken() {
        let line = || Extraction::Regex("(?s)v=(.*)".into());
        assert_eq!(extracted(line(), false, "v=a\nb").as_deref(), Some("a\nb"));
        assert_eq!(extracted(line(), true, "v=a\nb"), None);
        let huge = format!("v={}", "x".repeat(MOST_VALUE_BYTES + 1));
        assert_eq!(extracted(line(), false, &huge), None);
    }

    #[test]
    fn a_path_that_is_none_is_an_error_before_the_load() {
        let mut endpoint = Endpoint::get("x".into(), Template::literal("/", Escape::Url));
        let from = Extraction::Json("a.b".into());
        endpoint.extract = vec![Extract { variable: 0, from }];
        let error = Extractors::new(&endpoint, &[]).unwrap_err().to_string();
        assert!(
            error.starts_with("what x extracts cannot be used: "),
            "{error}"
        );
    }
}

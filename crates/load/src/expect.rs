//! What an answer must look like, ready to be held against many.

use regex::bytes::Regex;
use serde_json::Value;
use slowpath_core::sample::Outcome;
use slowpath_core::scenario::{Expect, Places, SizeRange, Template, Values};

use crate::drive::LoadError;
use crate::http1::Response;

/// Text or a JSON value that may differ from request to request.
#[derive(Debug)]
enum Wanted<T> {
    Fixed(T),
    Varying(Template),
}

/// The expectations of one endpoint.
#[derive(Debug)]
pub(crate) struct Expectation {
    status: Option<u16>,
    contains: Option<Wanted<Regex>>,
    regex: Option<Regex>,
    size: Option<SizeRange>,
    json: Vec<(String, Wanted<Value>)>,
}

impl Expectation {
    /// Compiles what a scenario says of the endpoint `name`.
    pub(crate) fn new(name: &str, expect: &Expect, places: &Places) -> Result<Self, LoadError> {
        let fault = |what: &str, reason: String| LoadError::Expectation {
            endpoint: name.to_owned(),
            what: what.to_owned(),
            reason,
        };
        let compile = |what: &str, pattern: &str| {
            Regex::new(pattern).map_err(|error| fault(what, error.to_string()))
        };
        let contains = expect.contains.as_ref().map(|text| {
            if text.is_of_request() {
                return Ok(Wanted::Varying(text.clone()));
            }
            // The engine searches literals with vector instructions.
            compile("contains", &regex::escape(&text.expand(places))).map(Wanted::Fixed)
        });
        let regex = expect.regex.as_ref();
        let regex = regex.map(|pattern| compile("regex", &pattern.expand(places)));
        let json = expect.json.iter().map(|(pointer, text)| {
            if text.is_of_request() {
                return Ok((pointer.clone(), Wanted::Varying(text.clone())));
            }
            let value = serde_json::from_str(&text.expand(places));
            let value = value.map_err(|error| fault("json", error.to_string()))?;
            Ok((pointer.clone(), Wanted::Fixed(value)))
        });
        Ok(Self {
            status: expect.status,
            contains: contains.transpose()?,
            regex: regex.transpose()?,
            size: expect.size,
            json: json.collect::<Result<_, LoadError>>()?,
        })
    }

    /// Whether bodies have to be kept.
    pub(crate) fn needs_body(&self) -> bool {
        self.contains.is_some() || self.regex.is_some() || !self.json.is_empty()
    }

    /// Holds a whole response against the expectations.
    pub(crate) fn judge(
        &self,
        response: &Response,
        values: &Values<'_>,
        scratch: &mut Vec<u8>,
    ) -> Outcome {
        let status = response.status();
        let meets_status = self.status.map_or(status < 400, |wanted| status == wanted);
        if !meets_status {
            return Outcome::Status;
        }
        let size = self.size;
        let meets_rest = size.is_none_or(|size| size.contains(response.body_bytes()))
            && self.meets_contains(response.body(), values, scratch)
            && self
                .regex
                .as_ref()
                .is_none_or(|regex| regex.is_match(response.body()))
            && self.meets_json(response.body(), values, scratch);
        if meets_rest {
            Outcome::Ok
        } else {
            Outcome::Check
        }
    }

    fn meets_contains(&self, body: &[u8], values: &Values<'_>, scratch: &mut Vec<u8>) -> bool {
        match &self.contains {
            None => true,
            Some(Wanted::Fixed(text)) => text.is_match(body),
            Some(Wanted::Varying(text)) => {
                scratch.clear();
                text.render(scratch, values);
                scratch.is_empty() || body.windows(scratch.len()).any(|part| part == scratch)
            }
        }
    }

    fn meets_json(&self, body: &[u8], values: &Values<'_>, scratch: &mut Vec<u8>) -> bool {
        if self.json.is_empty() {
            return true;
        }
        let Ok(document) = serde_json::from_slice::<Value>(body) else {
            return false;
        };
        self.json.iter().all(|(pointer, wanted)| {
            let found = document.pointer(pointer);
            match wanted {
                Wanted::Fixed(wanted) => found == Some(wanted),
                Wanted::Varying(text) => {
                    scratch.clear();
                    text.render(scratch, values);
                    let wanted = serde_json::from_slice::<Value>(scratch).ok();
                    wanted.is_some() && found == wanted.as_ref()
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use slowpath_core::scenario::{Escape, Part};

    use super::*;

    const BODY: &str = r#"{"hits":{"total":2,"list":["a","b7"]}}"#;

    fn outcome(expect: &Expect, status: u16) -> Outcome {
        let places = Places::default();
        let values = Values {
            pools: &[],
            picks: &[],
            seq: 7,
            uuid: 0,
            places: &places,
        };
        let expectation = Expectation::new("x", expect, &places).unwrap();
        let mut response = Response::default();
        response.reset(false, expectation.needs_body());
        let length = BODY.len();
        let text = format!("HTTP/1.1 {status} X\r\nContent-Length: {length}\r\n\r\n{BODY}");
        response.feed(text.as_bytes()).unwrap();
        expectation.judge(&response, &values, &mut Vec::new())
    }

    fn text(text: &str) -> Template {
        Template::literal(text, Escape::None)
    }

    fn seq(before: &str, after: &str) -> Template {
        let (before, after) = (before.to_owned(), after.to_owned());
        Template {
            parts: vec![Part::Literal(before), Part::Seq, Part::Literal(after)],
            escape: Escape::None,
        }
    }

    #[test]
    fn the_status_is_below_400_or_as_said() {
        let none = Expect::default();
        assert_eq!(outcome(&none, 399), Outcome::Ok);
        assert_eq!(outcome(&none, 400), Outcome::Status);
        let teapot = Expect {
            status: Some(418),
            ..Expect::default()
        };
        assert_eq!(outcome(&teapot, 418), Outcome::Ok);
        assert_eq!(outcome(&teapot, 200), Outcome::Status);
    }

    fn assert_met(expect: &Expect, met: bool) {
        let wanted = if met { Outcome::Ok } else { Outcome::Check };
        assert_eq!(outcome(expect, 200), wanted, "{expect:?}");
    }

    #[test]
    fn texts_are_met_and_missed() {
        for (wanted, met) in [
            (text("\"a\""), true),
            (text("x.*"), false),
            (seq("b", "\""), true),
            (seq("c", ""), false),
        ] {
            let contains = Some(wanted);
            let expect = Expect {
                contains,
                ..Expect::default()
            };
            assert_met(&expect, met);
        }
    }

    #[test]
    fn patterns_and_sizes_are_met_and_missed() {
        for (pattern, max_bytes, met) in [
            ("b\\d", 38, true),
            ("b\\d\\d", 38, false),
            ("b\\d", 37, false),
        ] {
            let size = SizeRange {
                min_bytes: 0,
                max_bytes,
            };
            let expect = Expect {
                regex: Some(text(pattern)),
                size: Some(size),
                ..Expect::default()
            };
            assert_met(&expect, met);
        }
    }

    #[test]
    fn json_values_are_met_and_missed() {
        for (pointer, value, met) in [
            ("/hits/total", text("2"), true),
            ("/hits/total", text("3"), false),
            ("/hits/none", text("null"), false),
            ("/hits/list/1", seq("\"b", "\""), true),
            ("/hits/list/0", seq("\"b", "\""), false),
        ] {
            let json = vec![(pointer.to_owned(), value)];
            let expect = Expect {
                json,
                ..Expect::default()
            };
            assert_met(&expect, met);
        }
    }

    #[test]
    fn a_pattern_that_is_none_is_an_error_before_the_load() {
        let expect = Expect {
            regex: Some(text("(")),
            ..Expect::default()
        };
        let error = Expectation::new("search", &expect, &Places::default()).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("the expectation regex of search"),
            "{error}"
        );
    }
}

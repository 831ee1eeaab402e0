//! What an answer must look like, ready to be compared with many.

use regex::bytes::Regex;
use serde_json::Value;
use slowpath_core::sample::Outcome;
use slowpath_core::scenario::{EventRange, Expect, Places, SizeRange, Template, Values};

use crate::body::{Body, Wants};
use crate::drive::LoadError;

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
    events: Option<EventRange>,
    last_event: Option<Wanted<Regex>>,
    count: Option<(Wanted<Regex>, u64)>,
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
        let literal = |what: &str, text: &Template| {
            if text.is_of_request() {
                return Ok(Wanted::Varying(text.clone()));
            }
            // The engine searches literals with vector instructions.
            compile(what, &regex::escape(&text.expand(places))).map(Wanted::Fixed)
        };
        let contains = expect.contains.as_ref();
        let contains = contains.map(|text| literal("contains", text));
        let last_event = expect.last_event.as_ref();
        let last_event = last_event.map(|text| literal("last_event", text));
        let count = expect.count.as_ref().map(|count| {
            let of = if count.of.is_of_request() {
                Wanted::Varying(count.of.clone())
            } else {
                let text = regex::escape(&count.of.expand(places));
                Wanted::Fixed(compile("count", &text)?)
            };
            Ok::<_, LoadError>((of, count.is))
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
            count: count.transpose()?,
            events: expect.events,
            last_event: last_event.transpose()?,
        })
    }

    /// What has to become of bodies.
    pub(crate) fn wants(&self) -> Wants {
        Wants {
            head: false,
            body: self.contains.is_some()
                || self.regex.is_some()
                || self.count.is_some()
                || !self.json.is_empty(),
            events: self.events.is_some() || self.last_event.is_some(),
        }
    }

    /// Holds a whole response against the expectations.
    pub(crate) fn judge(
        &self,
        (status, body): (u16, &Body),
        values: &Values<'_>,
        scratch: &mut Vec<u8>,
    ) -> Outcome {
        let meets_status = self.status.map_or(status < 400, |wanted| status == wanted);
        if !meets_status {
            return Outcome::Status;
        }
        if body.is_inside_event() || !self.meets_last_event(body, values, scratch) {
            return Outcome::Truncated;
        }
        let events = u64::from(body.events());
        if self.events.is_some_and(|range| !range.contains(events)) {
            return Outcome::Events;
        }
        let (kept, size) = (body.kept(), self.size);
        let meets_rest = size.is_none_or(|size| size.contains(body.bytes()))
            && meets_text(self.contains.as_ref(), kept, values, scratch)
            && self.regex.as_ref().is_none_or(|regex| regex.is_match(kept))
            && self.meets_count(kept, values, scratch)
            && self.meets_json(kept, values, scratch);
        if meets_rest {
            Outcome::Ok
        } else {
            Outcome::Check
        }
    }

    fn meets_last_event(&self, body: &Body, values: &Values<'_>, scratch: &mut Vec<u8>) -> bool {
        let wanted = self.last_event.as_ref();
        wanted.is_none()
            || body.events() > 0 && meets_text(wanted, body.last_event(), values, scratch)
    }

    fn meets_count(&self, body: &[u8], values: &Values<'_>, scratch: &mut Vec<u8>) -> bool {
        let found = match &self.count {
            None => return true,
            Some((Wanted::Fixed(text), _)) => text.find_iter(body).count(),
            Some((Wanted::Varying(text), _)) => {
                scratch.clear();
                text.render(scratch, values);
                occurrences(body, scratch)
            }
        };
        self.count
            .as_ref()
            .is_none_or(|(_, is)| found as u64 == *is)
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

/// Whether a text is in the bytes.
fn meets_text(
    wanted: Option<&Wanted<Regex>>,
    bytes: &[u8],
    values: &Values<'_>,
    scratch: &mut Vec<u8>,
) -> bool {
    match wanted {
        None => true,
        Some(Wanted::Fixed(text)) => text.is_match(bytes),
        Some(Wanted::Varying(text)) => {
            scratch.clear();
            text.render(scratch, values);
            scratch.is_empty() || bytes.windows(scratch.len()).any(|part| part == scratch)
        }
    }
}

/// How often `text` occurs in `body`, without overlaps; an empty text does not occur.
fn occurrences(body: &[u8], text: &[u8]) -> usize {
    let (mut found, mut at) = (0, 0);
    while !text.is_empty() && at + text.len() <= body.len() {
        if body[at..].starts_with(text) {
            found += 1;
            at += text.len();
        } else {
            at += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use slowpath_core::scenario::{Count, Escape, Part};

    use super::*;

    const BODY: &str = r#"{"hits":{"total":2,"list":["a","b7"]}}"#;

    fn outcome(expect: &Expect, status: u16) -> Outcome {
        outcome_of(expect, status, BODY, false)
    }

    fn outcome_of(expect: &Expect, status: u16, text: &str, is_stream: bool) -> Outcome {
        let places = Places::default();
        let values = Values {
            pools: &[],
            picks: &[],
            variables: &[],
            seq: 7,
            uuid: 0,
            places: &places,
        };
        let expectation = Expectation::new("x", expect, &places).unwrap();
        let mut body = Body::default();
        body.reset(expectation.wants());
        body.begin(is_stream);
        body.take(text.as_bytes());
        expectation.judge((status, &body), &values, &mut Vec::new())
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
    fn counts_are_met_and_missed() {
        for (of, is, met) in [
            (text("\""), 10, true),
            (text("\""), 9, false),
            (text("x.*"), 0, true),
            (seq("b", ""), 1, true),
            (seq("c", ""), 1, false),
        ] {
            let count = Some(Count { of, is });
            let expect = Expect {
                count,
                ..Expect::default()
            };
            assert_met(&expect, met);
        }
        assert_eq!(occurrences(b"aaaa", b"aa"), 2);
        assert_eq!(occurrences(b"aaaa", b""), 0);
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
    fn a_stream_has_as_many_events_as_expected() {
        let three = "data: a\n\ndata: b\n\ndata: [DONE]\n\n";
        let range = |min, max| Some(EventRange { min, max });
        for (events, outcome) in [
            (None, Outcome::Ok),
            (range(3, 3), Outcome::Ok),
            (range(2, u64::MAX), Outcome::Ok),
            (range(4, 4), Outcome::Events),
            (range(4, u64::MAX), Outcome::Events),
            (range(0, 2), Outcome::Events),
        ] {
            let expect = Expect {
                events,
                ..Expect::default()
            };
            assert_eq!(outcome_of(&expect, 200, three, true), outcome, "{events:?}");
        }
        let expect = Expect {
            events: range(1, 1),
            ..Expect::default()
        };
        assert_eq!(outcome(&expect, 500), Outcome::Status);
        assert_eq!(outcome(&expect, 200), Outcome::Events, "no stream at all");
    }

    #[test]
    fn a_stream_that_breaks_off_is_truncated() {
        let none = Expect::default();
        let cut = "data: a\n\ndata: b";
        assert_eq!(outcome_of(&none, 200, cut, true), Outcome::Truncated);
        assert_eq!(outcome_of(&none, 200, cut, false), Outcome::Ok, "no stream");
        let done = Expect {
            last_event: Some(text("[DONE]")),
            ..Expect::default()
        };
        for (stream, outcome) in [
            ("data: a\n\ndata: [DONE]\n\n", Outcome::Ok),
            ("data: a\n\ndata: b\n\n", Outcome::Truncated),
            ("data: [DONE]\n\ndata: a\n\n", Outcome::Truncated),
            ("", Outcome::Truncated),
        ] {
            assert_eq!(outcome_of(&done, 200, stream, true), outcome, "{stream:?}");
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

//! Endpoints: a request and what its answer must look like.

use serde::{Deserialize, Serialize};

use super::{Escape, Template};

/// One kind of request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Endpoint {
    /// Unique name; without white space, so that gates can say it.
    pub name: String,
    /// Share of the requests relative to the other endpoints; above 0.
    pub weight: f64,
    /// The method as it goes on the wire.
    pub method: String,
    /// Path and query of the request line; starts with `/`.
    pub path: Template,
    /// Headers beside those that the protocol needs, in the order written.
    pub headers: Vec<(String, Template)>,
    /// The body; `None` sends none.
    pub body: Option<Template>,
    /// A file that is the body, as it is, relative to the scenario's folder; comes without `body`.
    #[serde(default)]
    pub body_file: Option<Template>,
    /// What a cache in the server would key on. `None`: every request is its own key (keyless);
    /// an empty template: all requests share one key.
    pub key: Option<Template>,
    /// Of a keyless request, the values of the pools in it: what else it may be slow by. `None` if it has none, or a key.
    #[serde(default)]
    pub factor: Option<Template>,
    /// What the answer must look like.
    pub expect: Expect,
    /// What is taken from the answer for later requests of the same user.
    #[serde(default)]
    pub extract: Vec<Extract>,
    /// A rate for this endpoint alone, in requests a second; it then has no part in the load's.
    pub rate_per_s: Option<f64>,
    /// A slow reader: at most so many bytes a second are taken from a connection of its own,
    /// whose receive buffer is as small as the kernel allows.
    pub read_bytes_per_s: Option<f64>,
    /// A slow sender: at most so many bytes a second are written to a connection of its own.
    pub send_bytes_per_s: Option<f64>,
}

impl Endpoint {
    /// A plain `GET` without headers, body or expectations.
    pub fn get(name: String, path: Template) -> Self {
        Self {
            name,
            weight: 1.0,
            method: "GET".to_owned(),
            path,
            headers: Vec::new(),
            body: None,
            body_file: None,
            key: Some(Template::literal("", Escape::None)),
            factor: None,
            expect: Expect::default(),
            extract: Vec::new(),
            rate_per_s: None,
            read_bytes_per_s: None,
            send_bytes_per_s: None,
        }
    }
}

impl Endpoint {
    /// Every text that may differ from request to request.
    pub fn texts(&self) -> Vec<&Template> {
        let headers = self.headers.iter().map(|(_, text)| text);
        let json = self.expect.json.iter().map(|(_, text)| text);
        let count = self.expect.count.as_ref().map(|count| &count.of);
        std::iter::once(&self.path)
            .chain(headers)
            .chain(&self.body)
            .chain(&self.key)
            .chain(&self.expect.contains)
            .chain(count)
            .chain(json)
            .collect()
    }
}

/// A variable of a user's session, set from an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extract {
    /// Index into the scenario's variables.
    pub variable: usize,
    /// Where its value stands.
    pub from: Extraction,
}

/// Where a value stands in an answer. An answer in which it does not is an error of the class
/// `check`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Extraction {
    /// The first node that a JSONPath (RFC 9535) selects in the body: a string as it is, anything
    /// else as JSON text.
    Json(String),
    /// The first group of a regular expression (syntax of the regex crate) in the body.
    Regex(String),
    /// The value of the first header of this name, in lower case.
    Header(String),
}

/// What an answer must look like. An answer that misses one of these is an error of its own class.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Expect {
    /// The status; `None` takes any below 400.
    pub status: Option<u16>,
    /// Text that the body contains.
    pub contains: Option<Template>,
    /// A regular expression (syntax of the regex crate) that matches somewhere in the body; it
    /// may hold placeholders of a start (`{port}`), none of a request.
    pub regex: Option<Template>,
    /// Length of the body in bytes.
    pub size: Option<SizeRange>,
    /// JSON pointers (RFC 6901) into the body and the JSON text of the value expected there.
    pub json: Vec<(String, Template)>,
    /// Number of events of a streamed answer, which is one then whatever its `Content-Type` says.
    pub events: Option<EventRange>,
    /// Text in the data of the last event of a streamed answer: without it the stream broke off.
    #[serde(default)]
    pub last_event: Option<Template>,
    /// How often a piece of text occurs in the body.
    pub count: Option<Count>,
}

/// A length in bytes, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizeRange {
    /// The least length in bytes.
    pub min_bytes: u64,
    /// The greatest length in bytes; not below `min_bytes`.
    pub max_bytes: u64,
}

impl SizeRange {
    /// Whether a body of this many bytes has the expected length.
    pub fn contains(self, bytes: u64) -> bool {
        (self.min_bytes..=self.max_bytes).contains(&bytes)
    }
}

/// A number of events, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventRange {
    /// The least number.
    pub min: u64,
    /// The greatest number; not below `min`.
    pub max: u64,
}

impl EventRange {
    /// Exactly so many.
    pub fn exactly(events: u64) -> Self {
        Self {
            min: events,
            max: events,
        }
    }

    /// Whether a whole stream of so many events is as expected.
    pub fn contains(self, events: u64) -> bool {
        (self.min..=self.max).contains(&events)
    }
}

/// How often a piece of text is expected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Count {
    /// The text that is counted; not empty.
    pub of: Template,
    /// How often it occurs, without overlaps.
    pub is: u64,
}

//! Files with a line for each request: k6's CSV and JSON, vegeta's, JMeter's. They become whole
//! run records.
//!
//! What such a file does not say is not invented: there is no scheduled instant, no connection and
//! nothing about the server in them.

use serde::Deserialize;
use slowpath_core::facts::{EndpointTally, RepeatFacts};
use slowpath_core::nanos::{Nanos, SECOND, Span};
use slowpath_core::sample::{Outcome, Phase, Sample, Stage};

use super::{AdapterError, Source};

mod jmeter;
mod k6;
mod mistakes;
mod vegeta;

/// The requests of one file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Requests {
    /// Names of endpoints, in the order in which they came.
    pub endpoints: Vec<String>,
    /// The requests, in the order of the file.
    pub requests: Vec<Request>,
    /// How finely the file resolves instants, in nanoseconds.
    pub precision_ns: u64,
    /// What a person should know of what was made of the file.
    pub notes: Vec<String>,
}

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Position in [`Requests::endpoints`].
    pub endpoint: u16,
    /// When it was sent, in nanoseconds of Unix time.
    pub sent_ns: u64,
    /// From then to its end.
    pub took_ns: u64,
    /// How much of that its connection took to be made; `None` if it used one that was there, or
    /// if the file does not say.
    pub connect_ns: Option<u64>,
    /// From then to the first byte of the response, if the file says.
    pub first_byte_ns: Option<u64>,
    /// HTTP status; 0 if none came.
    pub status: u16,
    /// How it ended.
    pub outcome: Outcome,
    /// Bytes received; 0 if the file does not say.
    pub received_bytes: u64,
    /// Bytes sent; 0 if the file does not say.
    pub sent_bytes: u32,
}

/// A format with a line for each request.
#[derive(Clone, Copy, Debug)]
pub struct RequestFormat {
    /// Its name on the command line.
    pub name: &'static str,
    /// The tool.
    pub tool: &'static str,
    detects: fn(&str) -> bool,
    reads: fn(Source<'_>) -> Result<Requests, Vec<AdapterError>>,
}

/// Every format with a line for each request.
pub const REQUEST_FORMATS: &[RequestFormat] =
    &[k6::CSV, k6::JSON, vegeta::CSV, vegeta::JSON, jmeter::JTL];

/// The format with a line for each request that recognises a file.
pub fn detect_requests(bytes: &[u8]) -> Option<&'static RequestFormat> {
    let head = &bytes[..bytes.len().min(super::LOOKED_AT_BYTES)];
    let head = String::from_utf8_lossy(head);
    REQUEST_FORMATS
        .iter()
        .find(|format| (format.detects)(&head))
}

impl RequestFormat {
    /// Reads a file.
    ///
    /// # Errors
    /// Everything that is wrong with it, in order of lines; also when it holds no request.
    pub fn read(&self, source: Source<'_>) -> Result<Requests, Vec<AdapterError>> {
        let requests = (self.reads)(source)?;
        if requests.requests.is_empty() {
            let what = "it holds no request".to_owned();
            return Err(vec![source.wrong(
                None,
                what,
                "give the output of a whole run",
            )]);
        }
        Ok(requests)
    }
}

/// Where the clock of an imported record begins: an instant of zero is none.
const ZERO_NS: u64 = SECOND;

impl Requests {
    /// The position of an endpoint, which is new if it has not come yet; beyond what a record can
    /// hold all are the last.
    fn endpoint(&mut self, name: &str) -> u16 {
        let known = self.endpoints.iter().position(|known| known == name);
        let at = known.unwrap_or_else(|| {
            if self.endpoints.len() < usize::from(u16::MAX) {
                self.endpoints.push(name.to_owned());
            }
            self.endpoints.len() - 1
        });
        at as u16
    }

    /// The samples of a repeat and what happened in it; `endpoints` are those of the whole run.
    pub fn repeat(&self, repeat: u16, endpoints: &[String]) -> (Vec<Sample>, RepeatFacts) {
        let first = self.requests.iter().map(|r| r.sent_ns).min().unwrap_or(0);
        let place: Vec<u16> = self
            .endpoints
            .iter()
            .map(|name| {
                endpoints
                    .iter()
                    .position(|known| known == name)
                    .unwrap_or(0) as u16
            })
            .collect();
        let mut order: Vec<&Request> = self.requests.iter().collect();
        order.sort_by_key(|request| request.sent_ns);
        let mut tallies = vec![EndpointTally::default(); endpoints.len()];
        let mut end = Nanos::new(ZERO_NS);
        let mut samples = Vec::with_capacity(order.len());
        for (serial, request) in order.into_iter().enumerate() {
            let sent = Nanos::new(ZERO_NS).plus(request.sent_ns - first);
            let endpoint = place[usize::from(request.endpoint)];
            let done = sent.plus(request.took_ns);
            end = end.max(done);
            tallies[usize::from(endpoint)].offered += 1;
            samples.push(Sample {
                serial: serial as u32,
                repeat,
                endpoint,
                ..request.sample(sent)
            });
        }
        // What is known to the second may have ended at any time within it.
        let end = end.plus(self.precision_ns.max(1));
        let window = Span::new(Nanos::new(ZERO_NS), end);
        let facts = RepeatFacts {
            endpoints: tallies,
            ..RepeatFacts::new(repeat, window, window)
        };
        (samples, facts)
    }
}

impl Request {
    /// What is known of it, if it was begun at an instant of the record.
    fn sample(&self, begun: Nanos) -> Sample {
        let within = |ns: u64| begun.plus(ns.min(self.took_ns));
        let refused = self.outcome == Outcome::Refused;
        let connected = self.connect_ns.map(within);
        let sent = connected.unwrap_or(begun);
        Sample {
            connect_begin: (refused || connected.is_some()).then_some(begun),
            connected,
            sent: (!refused).then_some(sent),
            first_byte: self.first_byte_ns.map(|ns| within(ns).max(sent)),
            done: within(self.took_ns),
            received_bytes: self.received_bytes,
            sent_bytes: self.sent_bytes,
            status: self.status,
            stage: Stage::Measured,
            outcome: self.outcome,
            phase: match self.outcome {
                Outcome::Refused => Phase::Connect,
                _ if self.status > 0 => Phase::Check,
                _ => Phase::FirstByte,
            },
            ..Sample::due(begun)
        }
    }
}

/// An instant in nanoseconds of Unix time, which JSON has as RFC 3339.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
struct Instant(u64);

impl Instant {
    const fn unix_ns(self) -> u64 {
        self.0
    }
}

impl TryFrom<String> for Instant {
    type Error = jiff::Error;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let time: jiff::Timestamp = text.parse()?;
        // No measurement was made before 1970.
        Ok(Self(
            u64::try_from(time.as_nanosecond()).unwrap_or_default(),
        ))
    }
}

/// Milliseconds as a tool prints them, in nanoseconds; `None` if that is no time.
fn ms_to_ns(text: &str) -> Option<u64> {
    let ms: f64 = text.parse().ok()?;
    (0.0..1e15)
        .contains(&ms)
        .then_some((ms * 1e6).round() as u64)
}

/// How a request ended that has a status.
fn by_status(status: u16) -> Outcome {
    if (200..400).contains(&status) {
        Outcome::Ok
    } else {
        Outcome::Status
    }
}

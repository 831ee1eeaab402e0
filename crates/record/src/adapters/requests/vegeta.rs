//! vegeta: `vegeta encode --to csv` and `--to json`. The time of a result is when it was sent.

use serde::Deserialize;
use slowpath_core::sample::Outcome;

use super::mistakes::Mistakes;
use super::{AdapterError, Instant, Request, RequestFormat, Requests, Source, by_status};
use crate::adapters::path_of;

pub(super) const CSV: RequestFormat = RequestFormat {
    name: "vegeta-csv",
    tool: "vegeta",
    detects: |head| {
        head.lines()
            .next()
            .is_some_and(|line| columns(line).is_some())
    },
    reads: csv,
};

pub(super) const JSON: RequestFormat = RequestFormat {
    name: "vegeta-json",
    tool: "vegeta",
    detects: |head| head.starts_with("{\"attack\":"),
    reads: json,
};

const REMEDY: &str = "give what vegeta encode --to csv or --to json writes";

/// One result.
#[derive(Deserialize)]
struct Found {
    code: u16,
    timestamp: Instant,
    latency: u64,
    #[serde(default)]
    bytes_out: u64,
    #[serde(default)]
    bytes_in: u64,
    #[serde(default)]
    error: String,
    #[serde(default)]
    url: String,
    #[serde(default)]
    method: String,
}

/// The first columns, if a line has those of vegeta: a Unix time in nanoseconds, status, latency,
/// bytes out and in.
fn columns(line: &str) -> Option<[u64; 5]> {
    let mut cells = line.split(',');
    let mut numbers = [0; 5];
    for number in &mut numbers {
        *number = cells.next()?.parse().ok()?;
    }
    // Nanoseconds have nineteen digits for some centuries.
    (numbers[0] > 1_000_000_000_000_000_000 && cells.count() >= 2).then_some(numbers)
}

fn push(all: &mut Requests, found: &Found) {
    let name = match found.method.as_str() {
        "" => path_of(&found.url),
        method => format!("{method} {}", path_of(&found.url)),
    };
    let request = Request {
        endpoint: all.endpoint(&name),
        sent_ns: found.timestamp.unix_ns(),
        took_ns: found.latency,
        connect_ns: None,
        first_byte_ns: None,
        status: found.code,
        outcome: outcome(found.code, &found.error),
        received_bytes: found.bytes_in,
        sent_bytes: u32::try_from(found.bytes_out).unwrap_or(u32::MAX),
    };
    all.requests.push(request);
}

/// vegeta keeps what Go said.
fn outcome(status: u16, error: &str) -> Outcome {
    if status > 0 {
        return by_status(status);
    }
    let said = [
        ("connection refused", Outcome::Refused),
        ("connection reset", Outcome::Reset),
        ("Timeout", Outcome::Timeout),
        ("timeout", Outcome::Timeout),
        ("deadline exceeded", Outcome::Timeout),
        ("EOF", Outcome::Closed),
        ("tls:", Outcome::Tls),
    ];
    let known = said.iter().find(|(words, _)| error.contains(words));
    known.map_or(Outcome::Io, |(_, outcome)| *outcome)
}

fn csv(source: Source<'_>) -> Result<Requests, Vec<AdapterError>> {
    let mut all = Requests {
        precision_ns: 1,
        ..Requests::default()
    };
    let mut mistakes = Mistakes::of(source, REMEDY);
    let records = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(source.bytes)
        .into_records();
    for (at, record) in records.enumerate() {
        let found = match &record {
            Ok(record) => result(record),
            Err(error) => Err(error.to_string()),
        };
        match found {
            Ok(found) => push(&mut all, &found),
            Err(what) => {
                let position = record.as_ref().ok().and_then(csv::StringRecord::position);
                let line = position.map_or(at as u64 + 1, csv::Position::line);
                mistakes.push(line, what);
            }
        }
    }
    mistakes.or(all)
}

fn result(record: &csv::StringRecord) -> Result<Found, String> {
    let cell = |at: usize| record.get(at).unwrap_or_default();
    let number = |at: usize, what: &str| -> Result<u64, String> {
        let text = cell(at);
        text.parse().map_err(|_| format!("{text:?} is no {what}"))
    };
    let at = number(0, "Unix time in nanoseconds")?;
    Ok(Found {
        timestamp: Instant(at),
        code: u16::try_from(number(1, "status")?).map_err(|e| e.to_string())?,
        latency: number(2, "latency")?,
        bytes_out: number(3, "number of bytes")?,
        bytes_in: number(4, "number of bytes")?,
        error: cell(5).to_owned(),
        method: cell(9).to_owned(),
        url: cell(10).to_owned(),
    })
}

fn json(source: Source<'_>) -> Result<Requests, Vec<AdapterError>> {
    let text = source.text();
    let mut all = Requests {
        precision_ns: 1,
        ..Requests::default()
    };
    let mut mistakes = Mistakes::of(source, REMEDY);
    for (at, line) in text.lines().enumerate() {
        match serde_json::from_str::<Found>(line) {
            Ok(found) => push(&mut all, &found),
            Err(error) => mistakes.push(at as u64 + 1, error.to_string()),
        }
    }
    mistakes.or(all)
}

//! k6: `--out csv=FILE` and `--out json=FILE`. Each request is several points, which follow each
//! other and begin with `http_reqs`; their time is that of its end.

use serde::Deserialize;
use slowpath_core::nanos::SECOND;
use slowpath_core::sample::Outcome;

use super::mistakes::Mistakes;
use super::{AdapterError, Instant, Request, RequestFormat, Requests, Source, by_status, ms_to_ns};
use crate::adapters::path_of;

pub(super) const CSV: RequestFormat = RequestFormat {
    name: "k6-csv",
    tool: "k6",
    detects: |head| head.starts_with("metric_name,timestamp,metric_value"),
    reads: csv,
};

pub(super) const JSON: RequestFormat = RequestFormat {
    name: "k6-json",
    tool: "k6",
    detects: |head| head.starts_with('{') && head.contains("\"type\":\"Metric\""),
    reads: json,
};

const REMEDY: &str = "give what k6 run --out csv=FILE or --out json=FILE writes";

/// One point of a metric.
struct Point<'a> {
    metric: &'a str,
    at_ns: u64,
    value: &'a str,
    name: &'a str,
    status: &'a str,
    error_code: &'a str,
}

/// The request whose points come.
#[derive(Default)]
struct Open {
    request: Option<Request>,
    sending_ns: u64,
}

impl Open {
    fn point(&mut self, all: &mut Requests, point: &Point<'_>) -> Result<(), String> {
        if point.metric == "http_reqs" {
            self.close(all);
            let status: u16 = point.status.parse().unwrap_or(0);
            self.request = Some(Request {
                endpoint: all.endpoint(&short(point.name)),
                sent_ns: point.at_ns,
                took_ns: 0,
                connect_ns: None,
                first_byte_ns: None,
                status,
                outcome: outcome(status, point.error_code),
                received_bytes: 0,
                sent_bytes: 0,
            });
            return Ok(());
        }
        let Some(request) = &mut self.request else {
            return Ok(());
        };
        let time = || {
            let wrong = || format!("{:?} is no time in milliseconds", point.value);
            ms_to_ns(point.value).ok_or_else(wrong)
        };
        match point.metric {
            "http_req_duration" => {
                request.took_ns = time()?;
                // Its point has the time of the end.
                request.sent_ns = point.at_ns.saturating_sub(request.took_ns);
            }
            "http_req_sending" => self.sending_ns = time()?,
            "http_req_waiting" if request.status > 0 => {
                request.first_byte_ns = Some(self.sending_ns.saturating_add(time()?));
            }
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, all: &mut Requests) {
        all.requests.extend(self.request.take());
        self.sending_ns = 0;
    }
}

/// The name of a request, which is its URL unless the script gives it another.
fn short(name: &str) -> String {
    if name.contains("://") {
        path_of(name)
    } else {
        name.to_owned()
    }
}

/// What k6's error codes say (grafana.com/docs/k6, "Error codes").
fn outcome(status: u16, code: &str) -> Outcome {
    if status > 0 {
        return by_status(status);
    }
    match code {
        "1050" | "1211" => Outcome::Timeout,
        "1212" => Outcome::Refused,
        "1220" => Outcome::Reset,
        "1310" | "1311" => Outcome::Tls,
        _ => Outcome::Io,
    }
}

/// A Unix time, in a unit that follows from its length: seconds have ten digits for some centuries.
fn unix_ns(text: &str) -> Option<(u64, u64)> {
    let value: u64 = text.parse().ok()?;
    let unit_ns = match text.len() {
        ..=10 => SECOND,
        11..=13 => SECOND / 1_000,
        14..=16 => SECOND / 1_000_000,
        _ => 1,
    };
    Some((value.checked_mul(unit_ns)?, unit_ns))
}

fn csv(source: Source<'_>) -> Result<Requests, Vec<AdapterError>> {
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .from_reader(source.bytes);
    let mut mistakes = Mistakes::of(source, REMEDY);
    let heads = match reader.headers() {
        Ok(heads) => heads.clone(),
        Err(error) => {
            mistakes.push(1, error.to_string());
            return mistakes.or(Requests::default());
        }
    };
    let place = |name: &str| heads.iter().position(|head| head == name);
    let columns = [
        "metric_name",
        "timestamp",
        "metric_value",
        "name",
        "status",
        "error_code",
    ];
    let columns = columns.map(place);
    let mut all = Requests {
        precision_ns: 1,
        ..Requests::default()
    };
    let mut open = Open::default();
    for record in reader.into_records() {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                let line = error.position().map_or(1, csv::Position::line);
                mistakes.push(line, error.to_string());
                continue;
            }
        };
        let line = record.position().map_or(1, csv::Position::line);
        let cell = |at: usize| {
            columns[at]
                .and_then(|at| record.get(at))
                .unwrap_or_default()
        };
        if !cell(0).starts_with("http_req") {
            continue;
        }
        let Some((at_ns, precision_ns)) = unix_ns(cell(1)) else {
            mistakes.push(line, format!("{:?} is no Unix time", cell(1)));
            continue;
        };
        all.precision_ns = all.precision_ns.max(precision_ns);
        let point = Point {
            metric: cell(0),
            at_ns,
            value: cell(2),
            name: cell(3),
            status: cell(4),
            error_code: cell(5),
        };
        if let Err(what) = open.point(&mut all, &point) {
            mistakes.push(line, what);
        }
    }
    open.close(&mut all);
    mistakes.or(all)
}

#[derive(Deserialize)]
struct Line {
    metric: String,
    #[serde(rename = "type")]
    kind: String,
    data: Data,
}

#[derive(Deserialize)]
struct Data {
    #[serde(default)]
    time: Option<Instant>,
    #[serde(default)]
    value: f64,
    #[serde(default)]
    tags: Option<Tags>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Tags {
    name: String,
    status: String,
    error_code: String,
}

fn json(source: Source<'_>) -> Result<Requests, Vec<AdapterError>> {
    let text = source.text();
    let mut all = Requests {
        precision_ns: 1,
        ..Requests::default()
    };
    let mut open = Open::default();
    let mut mistakes = Mistakes::of(source, REMEDY);
    for (at, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let line: Line = match serde_json::from_str(line) {
            Ok(line) => line,
            Err(error) => {
                mistakes.push(at as u64 + 1, error.to_string());
                continue;
            }
        };
        let (true, Some(time)) = (line.kind == "Point", line.data.time) else {
            continue;
        };
        let tags = line.data.tags.unwrap_or_default();
        let value = line.data.value.to_string();
        let point = Point {
            metric: &line.metric,
            at_ns: time.unix_ns(),
            value: &value,
            name: &tags.name,
            status: &tags.status,
            error_code: &tags.error_code,
        };
        if let Err(what) = open.point(&mut all, &point) {
            mistakes.push(at as u64 + 1, what);
        }
    }
    open.close(&mut all);
    mistakes.or(all)
}

//! JMeter: a JTL file in CSV with its field names. Its times are whole milliseconds and, as it is
//! set by default, those of the start.

use slowpath_core::nanos::MILLISECOND;
use slowpath_core::sample::Outcome;

use super::{AdapterError, Request, RequestFormat, Requests, Source};

pub(super) const JTL: RequestFormat = RequestFormat {
    name: "jmeter",
    tool: "JMeter",
    detects: |head| head.starts_with("timeStamp,elapsed,label"),
    reads: read,
};

const REMEDY: &str = "give what jmeter -n -t PLAN -l FILE writes as CSV with field names";

fn read(source: Source<'_>) -> Result<Requests, Vec<AdapterError>> {
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .from_reader(source.bytes);
    let lines = source.bytes.split(|&b| b == b'\n').count();
    let wrong =
        |line: u64, what: String| source.wrong(Some((line as usize).clamp(1, lines)), what, REMEDY);
    let heads = match reader.headers() {
        Ok(heads) => heads.clone(),
        Err(error) => return Err(vec![wrong(1, error.to_string())]),
    };
    let mut all = Requests {
        precision_ns: MILLISECOND,
        ..Requests::default()
    };
    let mut errors = Vec::new();
    for record in reader.into_records() {
        let (line, done) = match record {
            Ok(record) => {
                let line = record.position().map_or(1, csv::Position::line);
                (line, push(&mut all, &heads, &record))
            }
            Err(error) => {
                let line = error.position().map_or(1, csv::Position::line);
                (line, Err(error.to_string()))
            }
        };
        if let Err(what) = done {
            errors.push(wrong(line, what));
        }
    }
    if errors.is_empty() {
        Ok(all)
    } else {
        Err(errors)
    }
}

fn push(
    all: &mut Requests,
    heads: &csv::StringRecord,
    record: &csv::StringRecord,
) -> Result<(), String> {
    let cell = |name: &str| {
        let at = heads.iter().position(|head| head == name);
        at.and_then(|at| record.get(at)).unwrap_or_default()
    };
    let ms = |name: &str| -> Result<u64, String> {
        let text = cell(name);
        let ms: u64 = text
            .parse()
            .map_err(|_| format!("{text:?} in {name} is no number of milliseconds"))?;
        ms.checked_mul(MILLISECOND)
            .ok_or_else(|| format!("{text:?} in {name} is beyond all times"))
    };
    let status: u16 = cell("responseCode").parse().unwrap_or(0);
    let good = cell("success") == "true";
    let message = cell("responseMessage");
    let outcome = if good {
        Outcome::Ok
    } else if status >= 400 {
        Outcome::Status
    } else if status > 0 {
        // An assertion of the plan.
        Outcome::Check
    } else if message.contains("refused") {
        Outcome::Refused
    } else if message.contains("reset") {
        Outcome::Reset
    } else if message.contains("timed out") {
        Outcome::Timeout
    } else {
        Outcome::Io
    };
    // JMeter's `Latency` is up to the first byte; it is 0 where nothing came.
    let first = ms("Latency").ok().filter(|ns| *ns > 0 && status > 0);
    let request = Request {
        endpoint: all.endpoint(cell("label")),
        sent_ns: ms("timeStamp")?,
        took_ns: ms("elapsed")?,
        first_byte_ns: first,
        status,
        outcome,
        received_bytes: cell("bytes").parse().unwrap_or(0),
        sent_bytes: cell("sentBytes").parse().unwrap_or(0),
    };
    all.requests.push(request);
    Ok(())
}

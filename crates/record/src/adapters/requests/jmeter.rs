//! JMeter: a JTL file, in CSV with its field names or in XML. Its times are whole milliseconds and,
//! as it is set by default, those of the start; what it calls `Latency` is up to the first byte and
//! has the time to connect in it.

use std::borrow::Cow;
use std::collections::HashMap;

use slowpath_core::nanos::MILLISECOND;
use slowpath_core::sample::Outcome;

use super::mistakes::Mistakes;
use super::{AdapterError, Request, RequestFormat, Requests, Source};

mod xml;

pub(super) const JTL: RequestFormat = RequestFormat {
    name: "jmeter",
    tool: "JMeter",
    detects: |head| heads(head) || head.contains("<testResults"),
    reads: |source| {
        if source.bytes.trim_ascii_start().starts_with(b"<") {
            xml::read(source)
        } else {
            csv(source)
        }
    },
};

const REMEDY: &str = "give what jmeter -n -t PLAN -l FILE writes, with the field names and times in \
                      milliseconds, which are its defaults";

/// The fields without which a line is no request.
const NEEDED: [&str; 3] = ["timeStamp", "elapsed", "label"];

/// Responses with this status and above are failures, where no assertion of the plan says
/// otherwise (RFC 9110, 15.5).
const FAILS_FROM: u16 = 400;

/// How the message of a transaction begins, which summarises requests with lines of their own.
const TRANSACTION: &str = "Number of samples in transaction";

fn heads(head: &str) -> bool {
    let first = head.lines().next().unwrap_or_default();
    let cells: Vec<&str> = first.split(',').map(str::trim).collect();
    NEEDED.iter().all(|field| cells.contains(field))
}

fn csv(source: Source<'_>) -> Result<Requests, Vec<AdapterError>> {
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .from_reader(source.bytes);
    let mut mistakes = Mistakes::of(source, REMEDY);
    let mut all = Results::default();
    let heads = match reader.headers() {
        Ok(heads) => heads.clone(),
        Err(error) => {
            mistakes.push(1, error.to_string());
            return mistakes.or(all.end());
        }
    };
    let missing = |field: &&&str| !heads.iter().any(|head| head == **field);
    if let Some(field) = NEEDED.iter().find(missing) {
        mistakes.push(1, format!("the first line does not name a field {field}"));
        return mistakes.or(all.end());
    }
    for record in reader.into_records() {
        let (line, done) = match &record {
            Ok(record) => {
                let cell = |name: &str| {
                    let at = heads.iter().position(|head| head == name);
                    let text = at.and_then(|at| record.get(at)).unwrap_or_default();
                    Cow::Borrowed(text)
                };
                (record.position(), all.push(cell))
            }
            Err(error) => (error.position(), Err(error.to_string())),
        };
        if let Err(what) = done {
            mistakes.push(line.map_or(1, csv::Position::line), what);
        }
    }
    mistakes.or(all.end())
}

/// The results of a file as they come.
struct Results {
    requests: Requests,
    transactions: usize,
    inner: usize,
    /// Those that do not say whether they are a success.
    unjudged: usize,
    /// The last request of each thread that was in no other.
    outer: HashMap<String, Outer>,
}

/// A request in which others may lie.
struct Outer {
    label: String,
    begin_ns: u64,
    end_ns: u64,
}

impl Outer {
    /// Whether it made a request: JMeter numbers those (`home-0`, `home-1`, `home-1-0`) and writes
    /// them after it.
    fn made(&self, label: &str, begin_ns: u64, took_ns: u64) -> bool {
        let number = label.strip_prefix(&self.label).unwrap_or_default();
        let numbered = number.len() > 1
            && number.starts_with('-')
            && number.chars().all(|c| c == '-' || c.is_ascii_digit());
        let end_ns = begin_ns.saturating_add(took_ns);
        numbered && self.begin_ns <= begin_ns && end_ns <= self.end_ns
    }
}

impl Default for Results {
    fn default() -> Self {
        let requests = Requests {
            precision_ns: MILLISECOND,
            ..Requests::default()
        };
        Self {
            requests,
            transactions: 0,
            inner: 0,
            unjudged: 0,
            outer: HashMap::new(),
        }
    }
}

impl Results {
    /// Takes a result, whose fields have the names that they have in CSV.
    fn push<'a>(&mut self, cell: impl Fn(&str) -> Cow<'a, str>) -> Result<(), String> {
        let message = cell("responseMessage");
        if message.starts_with(TRANSACTION) {
            self.transactions += 1;
            return Ok(());
        }
        let ms = |name: &str| -> Result<u64, String> {
            let text = cell(name);
            let ms: u64 = text
                .parse()
                .map_err(|_| format!("{text:?} in {name} is no number of milliseconds"))?;
            ms.checked_mul(MILLISECOND)
                .ok_or_else(|| format!("{text:?} in {name} is beyond all times"))
        };
        let (label, sent_ns, took_ns) = (cell("label"), ms("timeStamp")?, ms("elapsed")?);
        let outer = self.outer.get(&*cell("threadName"));
        if outer.is_some_and(|outer| outer.made(&label, sent_ns, took_ns)) {
            self.inner += 1;
            return Ok(());
        }
        let outer = Outer {
            label: label.clone().into_owned(),
            begin_ns: sent_ns,
            end_ns: sent_ns.saturating_add(took_ns),
        };
        self.outer.insert(cell("threadName").into_owned(), outer);
        let code = cell("responseCode");
        let status: u16 = code.parse().unwrap_or(0);
        let good = match &*cell("success") {
            "true" => true,
            "false" => false,
            "" => {
                self.unjudged += 1;
                (1..FAILS_FROM).contains(&status)
            }
            other => return Err(format!("{other:?} in success is neither true nor false")),
        };
        // Both are 0 where nothing came of it, and in files that are set to leave them out.
        let passed = |name: &str| ms(name).ok().filter(|ns| *ns > 0 && status > 0);
        let request = Request {
            endpoint: self.requests.endpoint(&label),
            sent_ns,
            took_ns,
            connect_ns: passed("Connect"),
            first_byte_ns: passed("Latency"),
            status,
            outcome: outcome(good, status, &code, &message),
            // Of a failure without a response it counts the words of its message.
            received_bytes: if status > 0 {
                cell("bytes").parse().unwrap_or(0)
            } else {
                0
            },
            sent_bytes: cell("sentBytes").parse().unwrap_or(0),
        };
        self.requests.requests.push(request);
        Ok(())
    }

    fn end(mut self) -> Requests {
        if self.transactions > 0 {
            self.requests.notes.push(format!(
                "{} results of transaction controllers are left out: their requests have results \
                 of their own",
                self.transactions
            ));
        }
        if self.inner > 0 {
            self.requests.notes.push(format!(
                "{} requests that were made inside others, for redirects or embedded resources, \
                 are left out: their time is in that of the others",
                self.inner
            ));
        }
        if self.unjudged > 0 {
            self.requests.notes.push(format!(
                "{} results do not say whether they are a success \
                 (jmeter.save.saveservice.successful): they are judged by their status",
                self.unjudged
            ));
        }
        self.requests
    }
}

/// How a result ended; without a response its code is the name of a Java exception.
fn outcome(good: bool, status: u16, code: &str, message: &str) -> Outcome {
    if good {
        return Outcome::Ok;
    }
    if status > 0 {
        // Below it is an assertion of the plan.
        return if status >= FAILS_FROM {
            Outcome::Status
        } else {
            Outcome::Check
        };
    }
    let said = [
        ("refused", Outcome::Refused),
        ("reset", Outcome::Reset),
        ("timed out", Outcome::Timeout),
        ("Broken pipe", Outcome::BrokenPipe),
        ("NoHttpResponseException", Outcome::Closed),
        ("SSL", Outcome::Tls),
        ("UnknownHostException", Outcome::Unreachable),
        ("NoRouteToHostException", Outcome::Unreachable),
    ];
    let says = |words: &str| message.contains(words) || code.contains(words);
    let known = said.iter().find(|(words, _)| says(words));
    known.map_or(Outcome::Io, |(_, outcome)| *outcome)
}

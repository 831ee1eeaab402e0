//! Readers of what other tools measured: benchmarks, load generators, tables.
//!
//! An adapter turns the bytes that a tool wrote into a [`Harvest`]: figures by subject and metric,
//! with the conditions that the tool states and what it said about failures. It knows nothing of
//! runs. One execution or one file is one repeat, unless a tool distinguishes process executions
//! itself ([`Rests::Processes`]).
//!
//! Whatever the bytes are, an adapter answers with figures or with [`AdapterError`]s that have a
//! place and a remedy; it never panics.

use std::fmt;

use slowpath_core::bench::CpuTime;
use slowpath_core::figures::{Better, Conditions, Figure, Row, Unit};
use thiserror::Error;

mod autocannon;
mod criterion;
mod csv_table;
mod google_benchmark;
mod gotest;
mod hyperfine;
mod invocation;
mod jmh;
mod json;
mod k6;
mod locust;
mod markdown;
mod oha;
mod pattern;
mod pytest;
mod quantity;
mod releases;
mod requests;
mod rows;
mod vegeta;
mod wrk;

pub use criterion::criterion_folder;
pub use invocation::{Invocation, Output, invocation};
pub use pattern::{Pattern, PatternError};
pub use releases::{TableRun, table_runs};
pub use requests::{REQUEST_FORMATS, Request, RequestFormat, Requests, detect_requests};
pub use rows::{Repeat, modes, refuse_largest, rows, rows_of_one};

/// What one output of a tool says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Harvest {
    /// The figures, in the order of the output.
    pub takes: Vec<Take>,
    /// What the tool says of the conditions.
    pub conditions: Conditions,
    /// What a person should know to read the figures: guesses that were made, what they mean.
    pub notes: Vec<String>,
    /// What failed, in the tool's words.
    pub failures: Vec<String>,
}

/// One metric of one subject, as one output gives it.
#[derive(Clone, Debug, PartialEq)]
pub struct Take {
    /// The benchmark or endpoint.
    pub subject: String,
    /// The metric, as in [`Row::metric`].
    pub metric: String,
    /// What its figures are numbers of.
    pub unit: Unit,
    /// Which way it improves.
    pub better: Better,
    /// The figures in the order of the output; at least one.
    pub figures: Vec<Figure>,
    /// What distinguishes several figures.
    pub rests: Rests,
    /// The observations that the one figure was made of, in order, in the same unit; empty if the
    /// tool does not give them.
    pub samples: Vec<f64>,
}

/// What the several figures of a [`Take`] are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rests {
    /// Each is of a process of its own, which makes it a repeat.
    Processes,
    /// Repetitions inside one process: together one repeat.
    Repetitions,
}

impl Take {
    /// A take of one figure.
    pub(crate) fn one(subject: &str, metric: &str, unit: Unit, value: f64) -> Self {
        Self {
            subject: subject.to_owned(),
            metric: metric.to_owned(),
            unit,
            better: unit.better(),
            figures: vec![Figure::of(value)],
            rests: Rests::Repetitions,
            samples: Vec::new(),
        }
    }

    /// The same, improving the other way than its unit says.
    pub(crate) fn improving(mut self, better: Better) -> Self {
        self.better = better;
        self
    }

    /// The same, resting on that many observations.
    pub(crate) fn observed(mut self, n: u64) -> Self {
        for figure in &mut self.figures {
            figure.n = Some(n);
        }
        self
    }

    /// An empty row for the figures of this take and of others like it.
    pub fn row(&self) -> Row {
        Row {
            subject: self.subject.clone(),
            metric: self.metric.clone(),
            unit: self.unit,
            better: self.better,
            repeats: Vec::new(),
            whole: None,
            refused: String::new(),
        }
    }
}

impl Harvest {
    /// The time of a command itself, and the CPU time that it used, if that is known: the sum,
    /// since only that is exact.
    pub fn of_time(took_ns: u64, cpu: Option<CpuTime>) -> Self {
        let take = |metric, ns: u64| Take::one("command", metric, Unit::Ns, ns as f64);
        let mut takes = vec![take("time", took_ns)];
        if let Some(CpuTime { user_ns, system_ns }) = cpu {
            takes.push(take("cpu", user_ns + system_ns));
        }
        Self {
            takes,
            ..Self::default()
        }
    }

    /// Adds what the tool says of the conditions to what is known of them better.
    pub fn state(&self, conditions: &mut Conditions) {
        let of_tool = &self.conditions;
        let pairs = [
            (&mut conditions.host, &of_tool.host),
            (&mut conditions.config, &of_tool.config),
            (&mut conditions.harness, &of_tool.harness),
            (&mut conditions.versions, &of_tool.versions),
        ];
        for (known, stated) in pairs {
            for (name, value) in stated {
                known.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
    }

    /// Adds a figure; repetitions of a subject and metric that is there already go to that.
    pub(crate) fn add(&mut self, take: Take) {
        let same = |other: &&mut Take| {
            other.subject == take.subject && other.metric == take.metric && other.unit == take.unit
        };
        match self.takes.iter_mut().rev().find(same) {
            Some(known) => {
                known.figures.extend(take.figures);
                known.samples.extend(take.samples);
            }
            None => self.takes.push(take),
        }
    }
}

/// Why an output gives no figures.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{file}{}: {what}; {remedy}", Place(*.line))]
pub struct AdapterError {
    /// The file as it was named.
    pub file: String,
    /// The line in it, from 1; `None` if it is about the whole.
    pub line: Option<usize>,
    /// What is wrong, a fragment.
    pub what: String,
    /// What to do about it, a fragment.
    pub remedy: String,
}

/// A line number after the name of a file.
struct Place(Option<usize>);

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |line| write!(f, ":{line}"))
    }
}

/// An output to read.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// What errors call it.
    pub file: &'a str,
    /// What it holds.
    pub bytes: &'a [u8],
}

impl<'a> Source<'a> {
    /// Its lines as text, with their numbers; what is no UTF-8 is replaced.
    fn text(&self) -> std::borrow::Cow<'a, str> {
        String::from_utf8_lossy(self.bytes)
    }

    /// An error about one of its lines, or about the whole.
    fn wrong(&self, line: Option<usize>, what: String, remedy: &str) -> AdapterError {
        AdapterError {
            file: self.file.to_owned(),
            line,
            what,
            remedy: remedy.to_owned(),
        }
    }
}

/// One format.
#[derive(Clone, Copy, Debug)]
pub struct Adapter {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it reads, and how a tool is made to write that.
    pub about: &'static str,
    detects: fn(&str) -> bool,
    reads: fn(Source<'_>) -> Result<Harvest, Vec<AdapterError>>,
}

impl Adapter {
    /// Reads an output.
    ///
    /// # Errors
    /// Everything that is wrong with it, in order of lines; also when it holds no figure.
    pub fn read(&self, source: Source<'_>) -> Result<Harvest, Vec<AdapterError>> {
        let harvest = (self.reads)(source)?;
        // A unit may take a number beyond what there is.
        let finite = |take: &Take| {
            let mut figures = take.figures.iter().map(|figure| figure.value);
            figures.all(f64::is_finite) && take.samples.iter().all(|value| value.is_finite())
        };
        match harvest.takes.iter().find(|take| !finite(take)) {
            None => Ok(harvest),
            Some(take) => {
                let what = format!("{} is beyond all numbers", take.row().name());
                Err(vec![source.wrong(None, what, "look at the file")])
            }
        }
    }
}

/// Every adapter, in the order in which they are tried on an output of unknown make.
pub const ADAPTERS: &[Adapter] = &[
    gotest::ADAPTER,
    criterion::ADAPTER,
    jmh::ADAPTER,
    google_benchmark::ADAPTER,
    pytest::ADAPTER,
    hyperfine::ADAPTER,
    wrk::ADAPTER,
    oha::ADAPTER,
    k6::ADAPTER,
    locust::ADAPTER,
    vegeta::ADAPTER,
    autocannon::ADAPTER,
    csv_table::ADAPTER,
    // Many documents hold a table.
    markdown::ADAPTER,
];

/// How much of an output is read to recognise its format.
const LOOKED_AT_BYTES: usize = 64 * 1024;

/// The adapter of that name.
pub fn by_name(name: &str) -> Option<&'static Adapter> {
    ADAPTERS.iter().find(|adapter| adapter.name == name)
}

/// The adapter that recognises an output.
pub fn detect(bytes: &[u8]) -> Option<&'static Adapter> {
    let head = &bytes[..bytes.len().min(LOOKED_AT_BYTES)];
    let head = String::from_utf8_lossy(head);
    ADAPTERS.iter().find(|adapter| (adapter.detects)(&head))
}

/// Says that latencies start when a request was sent, which hides what waits after a stall.
fn from_sent(harvest: &mut Harvest, tool: &str, unless: &str) {
    let harness = &mut harvest.conditions.harness;
    let start = "when the request was sent".to_owned();
    harness.insert("latency starts".to_owned(), start);
    let unless = if unless.is_empty() {
        String::new()
    } else {
        format!(" {unless}")
    };
    harvest.notes.push(format!(
        "latencies of {tool} start when a request was sent{unless}: what waited after a stall to \
         be sent is in no percentile (coordinated omission cannot be excluded)"
    ));
}

/// The path of a URL, which names the endpoint as `slowpath run URL` does.
fn path_of(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = rest.find('/').map_or("/", |at| &rest[at..]);
    path.split(['?', ' ']).next().unwrap_or("/").to_owned()
}

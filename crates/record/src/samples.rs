//! `samples.parquet`: every request, one row each.
//!
//! One row group a repeat, rows by repeat and in order of schedule, compressed with Snappy.
//! Instants are nanoseconds on `CLOCK_MONOTONIC` of the host that sent the requests; what did not
//! happen or is not known is null.
//!
//! | column | type | null if | what |
//! |---|---|---|---|
//! | `repeat` | int32 | | which repeat of the run, from 0 |
//! | `serial` | int64 | | number within the repeat, in order of schedule |
//! | `stage` | string | | `warmup` or `measured` |
//! | `endpoint` | string | | the endpoint's name |
//! | `key` | string | keyless | what a cache in the server would key on |
//! | `user` | int64 | open loop | which user sent it |
//! | `scheduled_ns` | int64 | | when the plan wanted it sent; latency begins here |
//! | `ready_ns` | int64 | | when a connection was free for it |
//! | `connect_begin_ns` | int64 | not dialled | when it began to dial |
//! | `connected_ns` | int64 | not dialled | when that connection was there |
//! | `secured_ns` | int64 | no handshake | when the TLS handshake on that connection was over |
//! | `connection_since_ns` | int64 | never had one | when the connection it used was made |
//! | `sent_ns` | int64 | never sent | when the kernel had taken its first byte |
//! | `first_byte_ns` | int64 | no response | when the first byte of the response was read |
//! | `first_event_ns` | int64 | not streamed | when the first event of the response was whole |
//! | `gap_begin_ns` | int64 | one read | when the longest silence inside the response began |
//! | `gap_ns` | int64 | | length of that silence |
//! | `done_ns` | int64 | | when it ended |
//! | `latency_ns` | int64 | | `done_ns - scheduled_ns`; a lower bound if censored; derived |
//! | `outcome` | string | | `ok`, or the class of its error |
//! | `phase` | string | | where it ended: `connect`, `handshake`, `send`, `first-byte`, `body`, `check` |
//! | `errno` | int32 | none | the operating system's error |
//! | `status` | int32 | none came | the HTTP status |
//! | `connection` | int64 | never had one | number of its connection within the repeat |
//! | `index_on_connection` | int64 | | requests that the connection had carried before |
//! | `idle_before_ns` | int64 | | how long its connection had been idle before |
//! | `in_flight` | int64 | | other requests under way when it was sent |
//! | `events` | int64 | not streamed | whole events received |
//! | `sent_bytes` | int64 | | bytes of the request written, see below |
//! | `received_bytes` | int64 | | bytes of the response read, see below |
//! | `local_port` | int32 | unknown | our port |
//! | `trace_id` | string | | its W3C trace id, 32 hexadecimal digits; derived |
//!
//! `sent_bytes` and `received_bytes` are those of HTTP and not of TLS. Over HTTP/1.1 they are the
//! bytes on the wire: head, body, and how the body is framed (chunk sizes, trailers, interim
//! responses). Over HTTP/2 a request's share of the wire is not known, as header compression
//! depends on the requests before: they are names and values of the header fields before
//! compression (of the request without the pseudo-fields `:method`, `:path`, ..., of the final
//! response without `:status`; trailers included, interim responses not) and the body, without
//! frames. So they compare between runs over the same version of HTTP alone. Where redirects are
//! followed, a row has the sum over all requests and responses of the journey.
//!
//! A latency is censored when its outcome is `timeout` or `unfinished`.
//! Derived columns are there for people who open the file; they are not read back. Integers are
//! signed, because differences of columns are what one computes; an instant past 2^63 ns (292
//! years of uptime) would appear negative, and is read back as it was.
//!
//! In memory, samples point to [`RunRecord::keys`]; on disk the keys are strings, so a record is
//! read back equal when its keys are in the order of their first use.
//!
//! [`RunRecord::keys`]: slowpath_core::record::RunRecord::keys

use std::collections::HashMap;
use std::path::Path;

use parquet::basic::Encoding;
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::file::properties::WriterPropertiesBuilder;
use parquet::file::reader::RowGroupReader;
use parquet::schema::types::ColumnPath;
use slowpath_core::nanos::Nanos;
use slowpath_core::plan::Plan;
use slowpath_core::sample::{NONE, Outcome, Phase, Sample, Stage};

use crate::columnar::{
    BATCH_ROWS, Cursor, Flaw, TableWriter, has_column, read_groups, write_column,
};
use crate::error::RecordError;

mod columns;

use columns::{COLUMNS, Cell, Column, Set, Text};

/// The names of the two stages, by their codes.
pub(crate) const STAGES: [(Stage, &str); 2] =
    [(Stage::Warmup, "warmup"), (Stage::Measured, "measured")];

/// Puts samples into the order in which they are stored.
pub(crate) fn sort(samples: &mut [Sample]) {
    samples.sort_by_key(|sample| (sample.repeat, sample.scheduled, sample.serial));
}

/// Writes `samples.parquet`, a repeat at a time.
pub(crate) struct SamplesWriter<'a> {
    table: TableWriter,
    plan: &'a Plan,
    keys: &'a [String],
}

impl<'a> SamplesWriter<'a> {
    /// Begins the file. Samples will point into `keys` and to the endpoints of `plan`.
    pub(crate) fn create(
        path: &Path,
        plan: &'a Plan,
        keys: &'a [String],
    ) -> Result<Self, RecordError> {
        let fields: Vec<String> = COLUMNS.iter().map(Column::declaration).collect();
        let message_type = format!("message sample {{ {} }}", fields.concat());
        let table = TableWriter::create(path, &message_type, tune)?;
        Ok(Self { table, plan, keys })
    }

    /// Appends the samples of one repeat, which are sorted already.
    pub(crate) fn repeat(&mut self, samples: &[Sample]) -> Result<(), RecordError> {
        let (plan, keys) = (self.plan, self.keys);
        let endpoints = plan.scenario.endpoints.len();
        self.table.group(|group| {
            for sample in samples {
                if usize::from(sample.endpoint) >= endpoints {
                    let problem = format!("the plan has no endpoint {}", sample.endpoint);
                    return Err(Flaw::Damaged(problem));
                }
                if sample.key != NONE && sample.key as usize >= keys.len() {
                    return Err(Flaw::Damaged(format!("there is no key {}", sample.key)));
                }
            }
            for column in COLUMNS {
                match column.cell {
                    Cell::Int { get, .. } => write_column::<Int32Type>(
                        group,
                        samples
                            .iter()
                            .map(|sample| get(sample).map(|value| value as i32)),
                    )?,
                    Cell::Long { get, .. } => write_column::<Int64Type>(
                        group,
                        samples
                            .iter()
                            .map(|sample| get(sample).map(|value| value as i64)),
                    )?,
                    Cell::Text(text) => write_column::<ByteArrayType>(
                        group,
                        samples
                            .iter()
                            .map(|sample| text_of(sample, text, plan, keys)),
                    )?,
                }
            }
            Ok(())
        })
    }

    /// Ends the file and gives it its name.
    pub(crate) fn publish(self) -> Result<(), RecordError> {
        self.table.publish()
    }
}

/// Instants and serial numbers grow steadily, so their differences are short; trace ids share
/// their beginnings. Everything else has few distinct values, which the default is good at.
fn tune(mut properties: WriterPropertiesBuilder) -> WriterPropertiesBuilder {
    for column in COLUMNS {
        let encoding = match column.cell {
            Cell::Long { steady: true, .. } => Encoding::DELTA_BINARY_PACKED,
            Cell::Text(Text::TraceId) => Encoding::DELTA_BYTE_ARRAY,
            _ => continue,
        };
        let path = ColumnPath::from(column.name);
        properties = properties
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_encoding(path, encoding);
    }
    properties
}

fn text_of(sample: &Sample, text: Text, plan: &Plan, keys: &[String]) -> Option<ByteArray> {
    Some(match text {
        Text::Stage => STAGES[sample.stage as usize].1.into(),
        Text::Endpoint => plan
            .scenario
            .endpoints
            .get(usize::from(sample.endpoint))?
            .name
            .as_str()
            .into(),
        // `NONE` is past the end of any list of keys.
        Text::Key => keys.get(sample.key as usize)?.as_str().into(),
        Text::Outcome => sample.outcome.name().into(),
        Text::Phase => sample.phase.name().into(),
        Text::TraceId => {
            let id = Sample::trace_id(plan.seed, sample.repeat, sample.serial);
            format!("{id:032x}").into_bytes().into()
        }
    })
}

/// Reads `samples.parquet`: the samples, and the keys that they point to, in order of first use.
pub(crate) fn read(path: &Path, plan: &Plan) -> Result<(Vec<Sample>, Vec<String>), RecordError> {
    let mut reader = Reader {
        plan,
        samples: Vec::new(),
        keys: Vec::new(),
        known: HashMap::new(),
    };
    read_groups(path, |group, rows| reader.group(group, rows))?;
    Ok((reader.samples, reader.keys))
}

struct Reader<'a> {
    plan: &'a Plan,
    samples: Vec<Sample>,
    keys: Vec<String>,
    known: HashMap<Vec<u8>, u32>,
}

enum Open {
    Int(Cursor<Int32Type>, Set),
    Long(Cursor<Int64Type>, Set),
    Text(Cursor<ByteArrayType>, Text),
}

impl Reader<'_> {
    fn group(&mut self, group: &dyn RowGroupReader, rows: usize) -> Result<(), Flaw> {
        let mut columns = Vec::with_capacity(COLUMNS.len());
        for column in COLUMNS.iter().filter(|column| !column.is_derived()) {
            if column.came_later() && !has_column(group, column.name) {
                continue;
            }
            let open = match column.cell {
                Cell::Int { set, .. } => Open::Int(Cursor::open(group, column.name)?, set),
                Cell::Long { set, .. } => Open::Long(Cursor::open(group, column.name)?, set),
                Cell::Text(text) => Open::Text(Cursor::open(group, column.name)?, text),
            };
            columns.push((column, open));
        }
        let mut left = rows;
        while left > 0 {
            let rows = left.min(BATCH_ROWS);
            let first = self.samples.len();
            self.samples
                .resize(first + rows, Sample::due(Nanos::new(0)));
            for (column, open) in &mut columns {
                self.fill(column, open, first)?;
            }
            left -= rows;
        }
        Ok(())
    }

    /// Sets one column of the samples from `first` on.
    fn fill(&mut self, column: &Column, open: &mut Open, first: usize) -> Result<(), Flaw> {
        let rows = self.samples.len() - first;
        match open {
            Open::Int(cursor, set) => {
                for (row, cell) in (first..).zip(cursor.batch(rows)?) {
                    let sample = &mut self.samples[row];
                    let set = |value: &i32| u64::try_from(*value).is_ok_and(|v| set(sample, v));
                    column.check(row, cell, set, i32::to_string)?;
                }
            }
            Open::Long(cursor, set) => {
                for (row, cell) in (first..).zip(cursor.batch(rows)?) {
                    let sample = &mut self.samples[row];
                    let set = |value: &i64| set(sample, *value as u64);
                    column.check(row, cell, set, i64::to_string)?;
                }
            }
            Open::Text(cursor, text) => {
                for (row, cell) in (first..).zip(cursor.batch(rows)?) {
                    let set = |value: &ByteArray| self.set_text(row, *text, value.data());
                    column.check(row, cell, set, quoted)?;
                }
            }
        }
        Ok(())
    }

    /// Sets a text; `false` if it is none that we know.
    fn set_text(&mut self, row: usize, text: Text, value: &[u8]) -> bool {
        let sample = &mut self.samples[row];
        match text {
            Text::Stage => {
                let found = STAGES
                    .into_iter()
                    .find(|(_, name)| name.as_bytes() == value);
                found.map(|(stage, _)| sample.stage = stage).is_some()
            }
            Text::Endpoint => {
                let endpoints = &self.plan.scenario.endpoints;
                let found = endpoints.iter().position(|e| e.name.as_bytes() == value);
                found
                    .map(|position| sample.endpoint = position as u16)
                    .is_some()
            }
            Text::Outcome => {
                let found = Outcome::ALL
                    .into_iter()
                    .find(|o| o.name().as_bytes() == value);
                found.map(|outcome| sample.outcome = outcome).is_some()
            }
            Text::Phase => {
                let found = Phase::ALL
                    .into_iter()
                    .find(|p| p.name().as_bytes() == value);
                found.map(|phase| sample.phase = phase).is_some()
            }
            Text::Key => {
                let Some(key) = intern(&mut self.known, &mut self.keys, value) else {
                    return false;
                };
                sample.key = key;
                true
            }
            Text::TraceId => true,
        }
    }
}

/// A text for an error, also if it is no UTF-8.
fn quoted(value: &ByteArray) -> String {
    format!("{:?}", String::from_utf8_lossy(value.data()))
}

/// Makes samples point into a list of keys in order of first use, which is returned: the form in
/// which a record is read back from its files.
pub(crate) fn rekey(samples: &mut [Sample], keys: &[String]) -> Vec<String> {
    let mut known = HashMap::new();
    let mut used = Vec::new();
    for sample in samples.iter_mut().filter(|sample| sample.key != NONE) {
        let text = keys.get(sample.key as usize).map_or("", String::as_str);
        // A string is UTF-8, so it is always taken.
        sample.key = intern(&mut known, &mut used, text.as_bytes()).unwrap_or(NONE);
    }
    used
}

/// The position of a key, which is added when it is new; `None` if it is not UTF-8.
fn intern(known: &mut HashMap<Vec<u8>, u32>, keys: &mut Vec<String>, key: &[u8]) -> Option<u32> {
    if let Some(&position) = known.get(key) {
        return Some(position);
    }
    let position = keys.len() as u32;
    keys.push(String::from_utf8(key.to_vec()).ok()?);
    known.insert(key.to_vec(), position);
    Some(position)
}

//! `samples.parquet`: every request, one row each.
//!
//! Rows by repeat and in order of schedule, compressed with Snappy; a row group holds 262,144 rows
//! of one repeat, or what is left of it.
//! Instants are nanoseconds on `CLOCK_MONOTONIC` of the host that sent the requests; what did not
//! happen or is not known is null.
//!
//! | column | type | null if | what |
//! |---|---|---|---|
//! | `repeat` | int32 | | which repeat of the run, from 0 |
//! | `serial` | int64 | | number within the repeat, in order of schedule |
//! | `stage` | string | | `warmup` or `measured` |
//! | `endpoint` | string | | the endpoint's name |
//! | `key` | string | none | what a cache in the server would key on; of a keyless request the values of its pools |
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

use std::path::Path;

use parquet::basic::Encoding;
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::file::properties::WriterPropertiesBuilder;
use parquet::schema::types::ColumnPath;
use slowpath_core::plan::Plan;
use slowpath_core::sample::{NONE, Sample, Stage};

use crate::columnar::{Flaw, TableWriter, write_column};
use crate::error::RecordError;

mod columns;
mod keys;
mod read;

use columns::{COLUMNS, Cell, Column, Text};
pub(crate) use keys::KeysInUse;
pub(crate) use read::read;

/// The names of the two stages, by their codes.
pub(crate) const STAGES: [(Stage, &str); 2] =
    [(Stage::Warmup, "warmup"), (Stage::Measured, "measured")];

/// Rows of a row group: what is gathered before it is encoded takes 46 MB, and a group is still
/// large enough for those who read a column at a time.
pub(crate) const GROUP_ROWS: usize = 1 << 18;

/// Writes `samples.parquet`, a row group at a time.
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

    /// Appends a row group of samples of one repeat, which are sorted already.
    pub(crate) fn group(&mut self, samples: &[Sample]) -> Result<(), RecordError> {
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
                let numbers = |field| {
                    samples
                        .iter()
                        .map(move |sample| column.number(field, sample))
                };
                match column.cell {
                    Cell::Int(field) => write_column::<Int32Type>(
                        group,
                        numbers(field).map(|cell| cell.map(|value| value as i32)),
                    )?,
                    Cell::Long { field, .. } => write_column::<Int64Type>(
                        group,
                        numbers(field).map(|cell| cell.map(|value| value as i64)),
                    )?,
                    Cell::Latency => write_column::<Int64Type>(
                        group,
                        samples
                            .iter()
                            .map(|sample| Some(sample.latency_ns() as i64)),
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

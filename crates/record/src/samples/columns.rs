//! The columns of `samples.parquet`: their names, their types, and what they hold.

use slowpath_core::nanos::Nanos;
use slowpath_core::sample::{NONE, Sample};

use crate::columnar::Flaw;

/// One column.
#[derive(Clone, Copy)]
pub(super) struct Column {
    /// Its name, unit last.
    pub(super) name: &'static str,
    /// Whether it may be null.
    pub(super) nullable: bool,
    /// What it holds.
    pub(super) cell: Cell,
}

/// The value of a number's column in a sample; `None` is null.
type Get = fn(&Sample) -> Option<u64>;

/// Takes a value over into a sample; `false` if it cannot be. Nulls leave the sample as it is.
pub(super) type Set = fn(&mut Sample, u64) -> bool;

/// What a column holds.
#[derive(Clone, Copy)]
pub(super) enum Cell {
    /// 32 bits.
    Int { get: Get, set: Set },
    /// 64 bits; `steady` if it mostly grows a little from row to row.
    Long { get: Get, set: Set, steady: bool },
    /// A string.
    Text(Text),
}

/// The columns that are strings.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Text {
    Stage,
    Endpoint,
    Key,
    Outcome,
    Phase,
    TraceId,
}

impl Column {
    /// The column in Parquet's schema language.
    pub(super) fn declaration(&self) -> String {
        let repetition = if self.nullable {
            "optional"
        } else {
            "required"
        };
        let (physical, logical) = match self.cell {
            Cell::Int { .. } => ("int32", ""),
            Cell::Long { .. } => ("int64", ""),
            Cell::Text(_) => ("byte_array", " (string)"),
        };
        format!("{repetition} {physical} {}{logical}; ", self.name)
    }

    /// Whether it follows from other columns and is not read back.
    pub(super) fn is_derived(&self) -> bool {
        matches!(self.name, "latency_ns" | "trace_id")
    }

    /// Whether older files may lack it: all its cells are null there.
    pub(super) fn came_later(&self) -> bool {
        let later = [
            "secured_ns",
            "connection_since_ns",
            "first_event_ns",
            "events",
        ];
        later.contains(&self.name)
    }

    /// Sets a cell with `set`, unless it is null; an error says where that could not be done.
    pub(super) fn check<T>(
        &self,
        row: usize,
        cell: Option<&T>,
        set: impl FnOnce(&T) -> bool,
        show: fn(&T) -> String,
    ) -> Result<(), Flaw> {
        let problem = match cell {
            Some(value) if set(value) => return Ok(()),
            None if self.nullable => return Ok(()),
            Some(value) => format!("cannot be {}", show(value)),
            None => "cannot be null".to_owned(),
        };
        Err(Flaw::Damaged(format!(
            "row {}: {} {problem}",
            row + 1,
            self.name
        )))
    }
}

/// Every column, in the order in which they stand in the file.
pub(super) const COLUMNS: &[Column] = &[
    int(
        "repeat",
        |s| Some(s.repeat.into()),
        |s, v| put(&mut s.repeat, v),
    ),
    steady(
        "serial",
        |s| Some(s.serial.into()),
        |s, v| put(&mut s.serial, v),
    ),
    text("stage", Text::Stage),
    text("endpoint", Text::Endpoint),
    nullable(text("key", Text::Key)),
    nullable(long(
        "user",
        |s| unless(NONE, s.user),
        |s, v| put(&mut s.user, v),
    )),
    steady(
        "scheduled_ns",
        |s| Some(s.scheduled.get()),
        |s, v| instant(&mut s.scheduled, v),
    ),
    steady(
        "ready_ns",
        |s| Some(s.ready.get()),
        |s, v| instant(&mut s.ready, v),
    ),
    nullable(steady(
        "connect_begin_ns",
        |s| s.connect_begin.map(Nanos::get),
        |s, v| happened(&mut s.connect_begin, v),
    )),
    nullable(steady(
        "connected_ns",
        |s| s.connected.map(Nanos::get),
        |s, v| happened(&mut s.connected, v),
    )),
    nullable(steady(
        "secured_ns",
        |s| s.secured.map(Nanos::get),
        |s, v| happened(&mut s.secured, v),
    )),
    nullable(steady(
        "connection_since_ns",
        |s| s.connection_since.map(Nanos::get),
        |s, v| happened(&mut s.connection_since, v),
    )),
    nullable(steady(
        "sent_ns",
        |s| s.sent.map(Nanos::get),
        |s, v| happened(&mut s.sent, v),
    )),
    nullable(steady(
        "first_byte_ns",
        |s| s.first_byte.map(Nanos::get),
        |s, v| happened(&mut s.first_byte, v),
    )),
    nullable(steady(
        "first_event_ns",
        |s| s.first_event.map(Nanos::get),
        |s, v| happened(&mut s.first_event, v),
    )),
    nullable(steady(
        "gap_begin_ns",
        |s| s.gap_begin.map(Nanos::get),
        |s, v| happened(&mut s.gap_begin, v),
    )),
    long("gap_ns", |s| Some(s.gap_ns), |s, v| put(&mut s.gap_ns, v)),
    steady(
        "done_ns",
        |s| Some(s.done.get()),
        |s, v| instant(&mut s.done, v),
    ),
    long("latency_ns", |s| Some(s.latency_ns()), |_, _| true),
    text("outcome", Text::Outcome),
    text("phase", Text::Phase),
    nullable(int(
        "errno",
        |s| unless(0, s.errno),
        |s, v| put(&mut s.errno, v),
    )),
    nullable(int(
        "status",
        |s| unless(0, s.status),
        |s, v| put(&mut s.status, v),
    )),
    nullable(long(
        "connection",
        |s| unless(NONE, s.connection),
        |s, v| put(&mut s.connection, v),
    )),
    long(
        "index_on_connection",
        |s| Some(s.index_on_connection.into()),
        |s, v| put(&mut s.index_on_connection, v),
    ),
    long(
        "idle_before_ns",
        |s| Some(s.idle_before_ns),
        |s, v| put(&mut s.idle_before_ns, v),
    ),
    long(
        "in_flight",
        |s| Some(s.in_flight.into()),
        |s, v| put(&mut s.in_flight, v),
    ),
    nullable(long(
        "events",
        |s| unless(0, s.events),
        |s, v| put(&mut s.events, v),
    )),
    long(
        "sent_bytes",
        |s| Some(s.sent_bytes.into()),
        |s, v| put(&mut s.sent_bytes, v),
    ),
    long(
        "received_bytes",
        |s| Some(s.received_bytes),
        |s, v| put(&mut s.received_bytes, v),
    ),
    nullable(int(
        "local_port",
        |s| unless(0, s.local_port),
        |s, v| put(&mut s.local_port, v),
    )),
    text("trace_id", Text::TraceId),
];

const fn int(name: &'static str, get: Get, set: Set) -> Column {
    Column {
        name,
        nullable: false,
        cell: Cell::Int { get, set },
    }
}

const fn long(name: &'static str, get: Get, set: Set) -> Column {
    Column {
        name,
        nullable: false,
        cell: Cell::Long {
            get,
            set,
            steady: false,
        },
    }
}

const fn steady(name: &'static str, get: Get, set: Set) -> Column {
    Column {
        name,
        nullable: false,
        cell: Cell::Long {
            get,
            set,
            steady: true,
        },
    }
}

const fn text(name: &'static str, text: Text) -> Column {
    Column {
        name,
        nullable: false,
        cell: Cell::Text(text),
    }
}

const fn nullable(column: Column) -> Column {
    Column {
        nullable: true,
        ..column
    }
}

/// A value, or null where it is the one that stands for nothing.
fn unless<T: Copy + PartialEq + Into<u64>>(nothing: T, value: T) -> Option<u64> {
    (value != nothing).then(|| value.into())
}

fn put<T: TryFrom<u64>>(slot: &mut T, value: u64) -> bool {
    T::try_from(value).map(|value| *slot = value).is_ok()
}

fn instant(slot: &mut Nanos, value: u64) -> bool {
    Nanos::from_stored(value)
        .map(|value| *slot = value)
        .is_some()
}

fn happened(slot: &mut Option<Nanos>, value: u64) -> bool {
    *slot = Nanos::from_stored(value);
    slot.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_is_in_the_table_of_the_documentation() {
        let documented: Vec<&str> = include_str!("../samples.rs")
            .lines()
            .filter_map(|line| line.strip_prefix("//! | `")?.split('`').next())
            .collect();
        let declared: Vec<&str> = COLUMNS.iter().map(|column| column.name).collect();
        assert_eq!(documented, declared);
    }
}

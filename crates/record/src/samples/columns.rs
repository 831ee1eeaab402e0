//! The columns of `samples.parquet`: their names, their types, and what they hold.

use slowpath_core::sample::Sample;
use slowpath_core::samples::Field;

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

/// What a column holds.
#[derive(Clone, Copy)]
pub(super) enum Cell {
    /// A field, in 32 bits.
    Int(Field),
    /// A field, in 64 bits; `steady` if it mostly grows a little from row to row.
    Long { field: Field, steady: bool },
    /// The latency, in 64 bits.
    Latency,
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
            Cell::Int(_) => ("int32", ""),
            Cell::Long { .. } | Cell::Latency => ("int64", ""),
            Cell::Text(_) => ("byte_array", " (string)"),
        };
        format!("{repetition} {physical} {}{logical}; ", self.name)
    }

    /// The field that it holds; `None` if it follows from other columns and is not read back.
    pub(super) fn field(&self) -> Option<Field> {
        Some(match self.cell {
            Cell::Int(field) | Cell::Long { field, .. } => field,
            Cell::Text(Text::Stage) => Field::Stage,
            Cell::Text(Text::Endpoint) => Field::Endpoint,
            Cell::Text(Text::Key) => Field::Key,
            Cell::Text(Text::Outcome) => Field::Outcome,
            Cell::Text(Text::Phase) => Field::Phase,
            Cell::Latency | Cell::Text(Text::TraceId) => return None,
        })
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

    /// A field of a sample as a cell of this column; `None` is null.
    pub(super) fn number(&self, field: Field, sample: &Sample) -> Option<u64> {
        let value = field.of(sample);
        (!self.nullable || field.nothing() != Some(value)).then_some(value)
    }

    /// That a row has something in this column that cannot be there; `None` is null.
    pub(super) fn flaw(&self, row: usize, value: Option<String>) -> Flaw {
        let name = self.name;
        let value = value.unwrap_or_else(|| "null".to_owned());
        Flaw::Damaged(format!("row {}: {name} cannot be {value}", row + 1))
    }
}

/// Every column, in the order in which they stand in the file.
pub(super) const COLUMNS: &[Column] = &[
    int("repeat", Field::Repeat),
    steady("serial", Field::Serial),
    text("stage", Text::Stage),
    text("endpoint", Text::Endpoint),
    nullable(text("key", Text::Key)),
    nullable(long("user", Field::User)),
    steady("scheduled_ns", Field::Scheduled),
    steady("ready_ns", Field::Ready),
    nullable(steady("connect_begin_ns", Field::ConnectBegin)),
    nullable(steady("connected_ns", Field::Connected)),
    nullable(steady("secured_ns", Field::Secured)),
    nullable(steady("connection_since_ns", Field::ConnectionSince)),
    nullable(steady("sent_ns", Field::Sent)),
    nullable(steady("first_byte_ns", Field::FirstByte)),
    nullable(steady("first_event_ns", Field::FirstEvent)),
    nullable(steady("gap_begin_ns", Field::GapBegin)),
    long("gap_ns", Field::GapNs),
    steady("done_ns", Field::Done),
    column("latency_ns", Cell::Latency),
    text("outcome", Text::Outcome),
    text("phase", Text::Phase),
    nullable(int("errno", Field::Errno)),
    nullable(int("status", Field::Status)),
    nullable(long("connection", Field::Connection)),
    long("index_on_connection", Field::IndexOnConnection),
    long("idle_before_ns", Field::IdleBeforeNs),
    long("in_flight", Field::InFlight),
    nullable(long("events", Field::Events)),
    long("sent_bytes", Field::SentBytes),
    long("received_bytes", Field::ReceivedBytes),
    nullable(int("local_port", Field::LocalPort)),
    text("trace_id", Text::TraceId),
];

const fn column(name: &'static str, cell: Cell) -> Column {
    Column {
        name,
        nullable: false,
        cell,
    }
}

const fn int(name: &'static str, field: Field) -> Column {
    column(name, Cell::Int(field))
}

const fn long(name: &'static str, field: Field) -> Column {
    let steady = false;
    column(name, Cell::Long { field, steady })
}

const fn steady(name: &'static str, field: Field) -> Column {
    let steady = true;
    column(name, Cell::Long { field, steady })
}

const fn text(name: &'static str, text: Text) -> Column {
    column(name, Cell::Text(text))
}

const fn nullable(column: Column) -> Column {
    Column {
        nullable: true,
        ..column
    }
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

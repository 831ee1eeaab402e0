//! `trace/tasks-N.parquet`: what the tasks of runtimes were found doing in repeat N.
//!
//! A row is a stay: a task (`pid`, `task`, `parent`) that did the same at every look from `first_ns` to `last_ns`. `does` is
//! a position in `ALL` of [`Does`], `about` the address of what it waited for, `stack` and `socket` positions in the tables of
//! the JSON file, or -1.

use std::path::Path;

use parquet::basic::Encoding;
use parquet::data_type::{Int32Type, Int64Type};
use parquet::file::reader::RowGroupReader;
use parquet::schema::types::ColumnPath;
use slowpath_core::nanos::Nanos;
use slowpath_core::trace::{Does, NO_SOCKET, NO_STACK, Stay};

use crate::columnar::{BATCH_ROWS, Cursor, Flaw, TableWriter, next, read_groups, write_column};
use crate::error::RecordError;
use crate::files;

const MESSAGE_TYPE: &str = "message stay {
    required int64 first_ns;
    required int64 last_ns;
    required int64 pid;
    required int64 task;
    required int64 parent;
    required int32 does;
    required int64 about;
    required int64 stack;
    required int64 socket;
}";

/// Stays in a row group: some megabytes while they are encoded.
const GROUP_STAYS: usize = 65_536;
/// The number that means no stack and no socket.
const NONE: i64 = -1;

/// The name of the file of a repeat.
pub(super) fn name(repeat: u16) -> String {
    format!("{}/tasks-{repeat}.parquet", files::TRACE)
}

/// Writes the stays of a repeat.
pub(super) fn write(path: &Path, stays: &[Stay]) -> Result<(), RecordError> {
    let mut table = TableWriter::create(path, MESSAGE_TYPE, |mut properties| {
        for name in ["first_ns", "last_ns"] {
            properties = properties
                .set_column_dictionary_enabled(ColumnPath::from(name), false)
                .set_column_encoding(ColumnPath::from(name), Encoding::DELTA_BINARY_PACKED);
        }
        properties
    })?;
    let position = |position: u32, none: u32| {
        if position == none {
            NONE
        } else {
            position.into()
        }
    };
    for stays in stays.chunks(GROUP_STAYS) {
        table.group(|group| {
            let mut long = |of: &dyn Fn(&Stay) -> i64| {
                write_column::<Int64Type>(group, stays.iter().map(|stay| Some(of(stay))))
            };
            long(&|stay| stay.first.get() as i64)?;
            long(&|stay| stay.last.get() as i64)?;
            long(&|stay| stay.pid.into())?;
            long(&|stay| stay.task as i64)?;
            long(&|stay| stay.parent as i64)?;
            let does = stays.iter().map(|stay| Some(stay.does as i32));
            write_column::<Int32Type>(group, does)?;
            let mut long = |of: &dyn Fn(&Stay) -> i64| {
                write_column::<Int64Type>(group, stays.iter().map(|stay| Some(of(stay))))
            };
            long(&|stay| stay.about as i64)?;
            long(&|stay| position(stay.stack, NO_STACK))?;
            long(&|stay| position(stay.socket, NO_SOCKET))
        })?;
    }
    table.publish()
}

/// Reads the stays of a repeat; there are so many sockets and stacks.
pub(super) fn read(path: &Path, room: (usize, usize)) -> Result<Vec<Stay>, RecordError> {
    let mut stays = Vec::new();
    read_groups(path, |group, rows| {
        read_group(group, rows, room, &mut stays)
    })?;
    stays.sort_by_key(|stay: &Stay| (stay.first, stay.pid, stay.task));
    Ok(stays)
}

fn read_group(
    group: &dyn RowGroupReader,
    rows: usize,
    (sockets, stacks): (usize, usize),
    stays: &mut Vec<Stay>,
) -> Result<(), Flaw> {
    let long = |name| Cursor::<Int64Type>::open(group, name);
    let (mut first, mut last, mut pid) = (long("first_ns")?, long("last_ns")?, long("pid")?);
    let (mut task, mut parent, mut about) = (long("task")?, long("parent")?, long("about")?);
    let (mut stack, mut socket) = (long("stack")?, long("socket")?);
    let mut does = Cursor::<Int32Type>::open(group, "does")?;
    let mut left = rows;
    while left > 0 {
        let rows = left.min(BATCH_ROWS);
        let (mut first, mut last) = (first.batch(rows)?, last.batch(rows)?);
        let (mut pid, mut task) = (pid.batch(rows)?, task.batch(rows)?);
        let (mut parent, mut about) = (parent.batch(rows)?, about.batch(rows)?);
        let (mut stack, mut socket) = (stack.batch(rows)?, socket.batch(rows)?);
        let mut does = does.batch(rows)?;
        for _ in 0..rows {
            let first = Nanos::from_stored(next::<Int64Type>(&mut first)? as u64);
            let last = Nanos::from_stored(next::<Int64Type>(&mut last)? as u64);
            let pid = u32::try_from(next::<Int64Type>(&mut pid)?).ok();
            let does = usize::try_from(next::<Int32Type>(&mut does)?).ok();
            let does = does.and_then(|code| Does::ALL.get(code).copied());
            let task = next::<Int64Type>(&mut task)? as u64;
            let parent = next::<Int64Type>(&mut parent)? as u64;
            let about = next::<Int64Type>(&mut about)? as u64;
            let stack = position(next::<Int64Type>(&mut stack)?, NO_STACK);
            let socket = position(next::<Int64Type>(&mut socket)?, NO_SOCKET);
            let stay = (|| {
                Some(Stay {
                    first: first?,
                    last: last.filter(|last| Some(*last) >= first)?,
                    pid: pid?,
                    task,
                    parent,
                    does: does?,
                    about,
                    stack: stack?,
                    socket: socket?,
                })
            })();
            let Some(stay) = stay.filter(|stay| stay.points_inside(sockets, stacks)) else {
                let place = stays.len() + 1;
                return Err(Flaw::Damaged(format!("stay {place} is none")));
            };
            stays.push(stay);
        }
        left -= rows;
    }
    Ok(())
}

fn position(cell: i64, none: u32) -> Option<u32> {
    if cell == NONE {
        Some(none)
    } else {
        u32::try_from(cell)
            .ok()
            .filter(|position| *position != none)
    }
}

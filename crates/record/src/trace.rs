//! `trace/N.parquet` and `trace/N.json`: what was traced in repeat N; absent where nothing was.
//!
//! The table has a row an event, in order of time; what its columns mean depends on `kind`:
//!
//! | `kind` | what | `tid` | `other` | `code` | `about` |
//! |---|---|---|---|---|---|
//! | 0 | switch | who left the CPU | who took it | how it left | stack, or -1 |
//! | 1 | waking | who was woken | who ran | on whose behalf | |
//! | 2 | call | who entered it | | the call | futex or file |
//! | 3 | arrived | | socket | | bytes |
//! | 4 | read | who | socket | | |
//! | 5 | wrote | who | socket | | bytes |
//! | 6 | reset | whose call sent it, or 0 | socket | 1 if it sent it | the kernel's reason |
//! | 7 | retransmit | | socket | | |
//! | 8 | state | whose call did it, or 0 | socket | the new state | |
//! | 9 | sample | who ran | | | stack, or -1 |
//! | 10 | on | who got a CPU | | | |
//! | 11 | off | who left it | | 1 if it could have gone on | |
//! | 12 | peek | who was seen | owner of the lock | the call | futex or file |
//!
//! What tasks of a runtime were found doing (goroutines) lies in `trace/tasks-N.parquet`, where any were examined; see
//! [`tasks`].
//!
//! Sockets and stacks are positions in the tables of the JSON file, codes are positions in `ALL` of
//! [`Left`], [`Context`] and [`Call`]. The JSON file is written last and seals the others.

mod tasks;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use parquet::basic::Encoding;
use parquet::data_type::{Int32Type, Int64Type};
use parquet::file::reader::RowGroupReader;
use parquet::schema::types::ColumnPath;
use serde::{Deserialize, Serialize};
use slowpath_core::nanos::Nanos;
use slowpath_core::trace::{
    Call, Context, Event, Frame, Left, Look, NO_STACK, Process, Socket, Stretch, Thread, Trace,
    What,
};

use crate::columnar::{
    BATCH_ROWS, Cursor, Flaw, TableWriter, next, read_groups, repeats_in, write_column,
};
use crate::error::RecordError;
use crate::files;
use crate::seal::Seal;

const MESSAGE_TYPE: &str = "message event {
    required int64 at_ns;
    required int32 cpu;
    required int32 kind;
    required int64 tid;
    required int64 other;
    required int32 code;
    required int64 about;
}";

/// Events in a row group: some tens of megabytes while they are encoded.
const GROUP_EVENTS: usize = 262_144;

/// Everything of a trace but its events.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tables {
    /// Length and checksum of the file of the events.
    events: Seal,
    stretches: Vec<Stretch>,
    processes: Vec<Process>,
    threads: Vec<Thread>,
    sockets: Vec<Socket>,
    frames: Vec<Frame>,
    stacks: Vec<Vec<u32>>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    reset_reasons: BTreeMap<u32, String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    unix_paths: BTreeMap<IpAddr, String>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    resolvers: BTreeSet<SocketAddr>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    looks: Vec<Look>,
    /// Length and checksum of the file of what tasks did, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tasks: Option<Seal>,
}

/// The names of the two files of a repeat.
fn names(repeat: u16) -> [String; 2] {
    ["parquet", "json"].map(|ending| format!("{}/{repeat}.{ending}", files::TRACE))
}

/// Writes what was traced in a repeat; nothing if nothing was.
pub(crate) fn write(dir: &Path, repeat: u16, trace: &Trace) -> Result<(), RecordError> {
    if trace.stretches.is_empty() {
        return Ok(());
    }
    let folder = dir.join(files::TRACE);
    fs::create_dir_all(&folder).map_err(RecordError::io("create", &folder))?;
    let [events, tables] = names(repeat);
    write_events(&dir.join(&events), &trace.events)?;
    let tasks = tasks::name(repeat);
    if !trace.stays.is_empty() {
        tasks::write(&dir.join(&tasks), &trace.stays)?;
    }
    let has_tasks = (!trace.stays.is_empty()).then(|| Seal::of(dir, &tasks));
    let tables_path = dir.join(&tables);
    let text = serde_json::to_vec(&Tables {
        events: Seal::of(dir, &events)?,
        stretches: trace.stretches.clone(),
        processes: trace.processes.clone(),
        threads: trace.threads.clone(),
        sockets: trace.sockets.clone(),
        frames: trace.frames.clone(),
        stacks: trace.stacks.clone(),
        reset_reasons: trace.reset_reasons.clone(),
        unix_paths: trace.unix_paths.clone(),
        resolvers: trace.resolvers.clone(),
        looks: trace.looks.clone(),
        tasks: has_tasks.transpose()?,
    });
    files::replace(
        &tables_path,
        &text.map_err(RecordError::json(&tables_path))?,
    )
}

fn write_events(path: &Path, events: &[Event]) -> Result<(), RecordError> {
    let mut table = TableWriter::create(path, MESSAGE_TYPE, |mut properties| {
        for name in ["at_ns", "about"] {
            properties = properties
                .set_column_dictionary_enabled(ColumnPath::from(name), false)
                .set_column_encoding(ColumnPath::from(name), Encoding::DELTA_BINARY_PACKED);
        }
        properties
    })?;
    for events in events.chunks(GROUP_EVENTS) {
        let rows: Vec<Row> = events.iter().map(|event| Row::of(event.what)).collect();
        table.group(|group| {
            let at = events.iter().map(|event| Some(event.at.get() as i64));
            write_column::<Int64Type>(group, at)?;
            let cpu = events.iter().map(|event| Some(event.cpu.into()));
            write_column::<Int32Type>(group, cpu)?;
            write_column::<Int32Type>(group, rows.iter().map(|row| Some(row.kind)))?;
            write_column::<Int64Type>(group, rows.iter().map(|row| Some(row.tid.into())))?;
            write_column::<Int64Type>(group, rows.iter().map(|row| Some(row.other.into())))?;
            write_column::<Int32Type>(group, rows.iter().map(|row| Some(row.code)))?;
            write_column::<Int64Type>(group, rows.iter().map(|row| Some(row.about as i64)))
        })?;
    }
    table.publish()
}

/// The names of all files that hold a trace in a run directory, in order.
pub(crate) fn recorded(dir: &Path) -> Result<Vec<String>, RecordError> {
    let with_tasks = |repeat: u16| {
        let tasks = Some(tasks::name(repeat)).filter(|name| dir.join(name).exists());
        names(repeat).into_iter().chain(tasks)
    };
    let all = repeats(dir)?.into_iter().flat_map(with_tasks);
    Ok(all.collect())
}

/// The repeats of which there is a trace, whole.
fn repeats(dir: &Path) -> Result<Vec<u16>, RecordError> {
    repeats_in(&dir.join(files::TRACE), ".json")
}

/// Reads what was traced in a run. With `seals`, those of a finished run, the files are those that
/// they speak of.
pub(crate) fn read(dir: &Path, seals: Option<&[Seal]>) -> Result<Trace, RecordError> {
    let mut all = Trace::default();
    if let Some(seals) = seals {
        Seal::checked_in(seals, dir, files::TRACE)?;
    }
    let is_ours = |name: &str| seals.is_none_or(|seals| seals.iter().any(|s| s.name == name));
    for repeat in repeats(dir)? {
        let [events, tables] = names(repeat);
        if is_ours(&tables) {
            all.append(read_repeat(dir, &events, &tables)?);
        }
    }
    all.stretches.sort_by_key(|stretch| stretch.span);
    Ok(all)
}

fn read_repeat(dir: &Path, events: &str, tables: &str) -> Result<Trace, RecordError> {
    let path = dir.join(tables);
    let text = fs::read(&path).map_err(RecordError::io("read", &path))?;
    let tables: Tables = serde_json::from_slice(&text).map_err(RecordError::json(&path))?;
    Seal::check(std::slice::from_ref(&tables.events), dir, events)?;
    let mut trace = Trace {
        stretches: tables.stretches,
        processes: tables.processes,
        threads: tables.threads,
        sockets: tables.sockets,
        frames: tables.frames,
        stacks: tables.stacks,
        reset_reasons: tables.reset_reasons,
        unix_paths: tables.unix_paths,
        resolvers: tables.resolvers,
        looks: tables.looks,
        events: Vec::new(),
        stays: Vec::new(),
    };
    let frames = trace.frames.len();
    let whole = |stack: &Vec<u32>| stack.iter().all(|&frame| (frame as usize) < frames);
    if !trace.stacks.iter().all(whole) {
        let problem = "a stack has a frame that is not in its table".to_owned();
        return Err(RecordError::damaged(&path, problem));
    }
    trace.threads.sort_by_key(|thread| thread.tid);
    trace.processes.sort_by_key(|process| process.pid);
    let room = (trace.sockets.len(), trace.stacks.len());
    let mut found = Vec::new();
    read_groups(&dir.join(events), |group, rows| {
        read_group(group, rows, room, &mut found)
    })?;
    found.sort_by_key(|event| event.at);
    trace.events = found;
    if let Some(tasks) = tables.tasks {
        Seal::check(std::slice::from_ref(&tasks), dir, &tasks.name)?;
        trace.stays = tasks::read(&dir.join(&tasks.name), room)?;
    }
    Ok(trace)
}

fn read_group(
    group: &dyn RowGroupReader,
    rows: usize,
    room: (usize, usize),
    events: &mut Vec<Event>,
) -> Result<(), Flaw> {
    let mut at = Cursor::<Int64Type>::open(group, "at_ns")?;
    let mut cpu = Cursor::<Int32Type>::open(group, "cpu")?;
    let mut kind = Cursor::<Int32Type>::open(group, "kind")?;
    let mut tid = Cursor::<Int64Type>::open(group, "tid")?;
    let mut other = Cursor::<Int64Type>::open(group, "other")?;
    let mut code = Cursor::<Int32Type>::open(group, "code")?;
    let mut about = Cursor::<Int64Type>::open(group, "about")?;
    let mut left = rows;
    while left > 0 {
        let rows = left.min(BATCH_ROWS);
        let (mut at, mut cpu, mut kind) = (at.batch(rows)?, cpu.batch(rows)?, kind.batch(rows)?);
        let (mut tid, mut other) = (tid.batch(rows)?, other.batch(rows)?);
        let (mut code, mut about) = (code.batch(rows)?, about.batch(rows)?);
        for _ in 0..rows {
            let row = Row {
                kind: next::<Int32Type>(&mut kind)?,
                tid: number(next::<Int64Type>(&mut tid)?)?,
                other: number(next::<Int64Type>(&mut other)?)?,
                code: next::<Int32Type>(&mut code)?,
                about: next::<Int64Type>(&mut about)? as u64,
            };
            let at = Nanos::from_stored(next::<Int64Type>(&mut at)? as u64);
            let cpu = u16::try_from(next::<Int32Type>(&mut cpu)?).ok();
            let what = row.what().filter(|what| points_inside(*what, room));
            let (Some(at), Some(cpu), Some(what)) = (at, cpu, what) else {
                let place = events.len() + 1;
                return Err(Flaw::Damaged(format!("event {place} is none")));
            };
            events.push(Event { at, cpu, what });
        }
        left -= rows;
    }
    Ok(())
}

fn number(cell: i64) -> Result<u32, Flaw> {
    u32::try_from(cell).map_err(|_| Flaw::Damaged(format!("{cell} is no id and no position")))
}

/// Whether the socket and the stack that an event points to are there.
fn points_inside(what: What, (sockets, stacks): (usize, usize)) -> bool {
    match what {
        What::Switch { stack, .. } | What::Sample { stack, .. } => {
            stack == NO_STACK || (stack as usize) < stacks
        }
        What::Arrived { socket, .. }
        | What::Read { socket, .. }
        | What::Wrote { socket, .. }
        | What::Reset { socket, .. }
        | What::Retransmit { socket }
        | What::State { socket, .. } => (socket as usize) < sockets,
        What::Waking { .. }
        | What::Call { .. }
        | What::On { .. }
        | What::Off { .. }
        | What::Peek { .. } => true,
    }
}

/// An event as it is stored; see the module.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    kind: i32,
    tid: u32,
    other: u32,
    code: i32,
    about: u64,
}

impl Row {
    fn of(what: What) -> Self {
        let row = |kind, tid, other, code, about| Self {
            kind,
            tid,
            other,
            code,
            about,
        };
        // A stack that was not taken is -1 in the file, whatever the width of our positions.
        let stored = |stack: u32| {
            if stack == NO_STACK {
                u64::MAX
            } else {
                stack.into()
            }
        };
        match what {
            What::Switch {
                from,
                left,
                to,
                stack,
            } => row(0, from, to, left as i32, stored(stack)),
            What::Waking { tid, by, context } => row(1, tid, by, context as i32, 0),
            What::Call { tid, call, about } => row(2, tid, 0, call as i32, about),
            What::Arrived { socket, bytes } => row(3, 0, socket, 0, bytes.into()),
            What::Read { tid, socket } => row(4, tid, socket, 0, 0),
            What::Wrote { tid, socket, bytes } => row(5, tid, socket, 0, bytes.into()),
            What::Reset {
                socket,
                sent,
                reason,
                by,
            } => row(6, by, socket, sent.into(), reason.into()),
            What::Retransmit { socket } => row(7, 0, socket, 0, 0),
            What::State { socket, state, by } => row(8, by, socket, state.into(), 0),
            What::Sample { tid, stack } => row(9, tid, 0, 0, stored(stack)),
            What::On { tid } => row(10, tid, 0, 0, 0),
            What::Off { tid, preempted } => row(11, tid, 0, preempted.into(), 0),
            What::Peek {
                tid,
                call,
                about,
                owner,
            } => row(12, tid, owner, call as i32, about),
        }
    }

    /// The event; `None` if no event looks like that.
    fn what(self) -> Option<What> {
        let Self {
            tid, other, about, ..
        } = self;
        let code = usize::try_from(self.code).ok()?;
        let stack = || match about {
            u64::MAX => Some(NO_STACK),
            stack => u32::try_from(stack).ok(),
        };
        Some(match self.kind {
            0 => What::Switch {
                from: tid,
                left: *Left::ALL.get(code)?,
                to: other,
                stack: stack()?,
            },
            1 => What::Waking {
                tid,
                by: other,
                context: *Context::ALL.get(code)?,
            },
            2 => What::Call {
                tid,
                call: *Call::ALL.get(code)?,
                about,
            },
            3 => What::Arrived {
                socket: other,
                bytes: about.try_into().ok()?,
            },
            4 => What::Read { tid, socket: other },
            5 => What::Wrote {
                tid,
                socket: other,
                bytes: about.try_into().ok()?,
            },
            6 => What::Reset {
                socket: other,
                sent: code == 1,
                reason: about.try_into().ok()?,
                by: tid,
            },
            7 => What::Retransmit { socket: other },
            8 => What::State {
                socket: other,
                state: code.try_into().ok()?,
                by: tid,
            },
            9 => What::Sample {
                tid,
                stack: stack()?,
            },
            10 => What::On { tid },
            11 => What::Off {
                tid,
                preempted: code == 1,
            },
            12 => What::Peek {
                tid,
                call: *Call::ALL.get(code)?,
                about,
                owner: other,
            },
            _ => return None,
        })
    }
}

//! What was traced is read back as it was, finished or not.

use std::net::SocketAddr;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::trace::{
    Call, Context, Depth, Does, Event, Frame, Left, Look, NO_SOCKET, NO_STACK, Process, Role,
    Runtime, Socket, Stay, Stretch, Thread, Trace, What, unix_server,
};
use slowpath_record::RunWriter;

use crate::arbitrary::{cases, manifest};

const SOCKETS: u32 = 3;
const STACKS: u32 = 4;

fn stack() -> impl Strategy<Value = u32> {
    prop_oneof![Just(NO_STACK), 0..STACKS]
}

fn what() -> impl Strategy<Value = What> {
    let tid = any::<u32>;
    let socket = || 0..SOCKETS;
    let call = || proptest::sample::select(&Call::ALL[..]);
    prop_oneof![
        (
            tid(),
            proptest::sample::select(&Left::ALL[..]),
            tid(),
            stack()
        )
            .prop_map(|(from, left, to, stack)| What::Switch {
                from,
                left,
                to,
                stack
            }),
        (tid(), tid(), proptest::sample::select(&Context::ALL[..]))
            .prop_map(|(tid, by, context)| What::Waking { tid, by, context }),
        (tid(), call(), any::<u64>()).prop_map(|(tid, call, about)| What::Call {
            tid,
            call,
            about
        }),
        (socket(), any::<u32>()).prop_map(|(socket, bytes)| What::Arrived { socket, bytes }),
        (tid(), socket()).prop_map(|(tid, socket)| What::Read { tid, socket }),
        (tid(), socket(), any::<u32>()).prop_map(|(tid, socket, bytes)| What::Wrote {
            tid,
            socket,
            bytes
        }),
        (socket(), any::<bool>(), any::<u32>(), tid()).prop_map(|(socket, sent, reason, by)| {
            What::Reset {
                socket,
                sent,
                reason,
                by,
            }
        }),
        socket().prop_map(|socket| What::Retransmit { socket }),
        (socket(), any::<u8>(), tid()).prop_map(|(socket, state, by)| What::State {
            socket,
            state,
            by
        }),
        (tid(), stack()).prop_map(|(tid, stack)| What::Sample { tid, stack }),
        tid().prop_map(|tid| What::On { tid }),
        (tid(), any::<bool>()).prop_map(|(tid, preempted)| What::Off { tid, preempted }),
        (tid(), call(), any::<u64>(), tid()).prop_map(|(tid, call, about, owner)| What::Peek {
            tid,
            call,
            about,
            owner
        }),
    ]
}

/// What was traced in a repeat: ids and positions differ from repeat to repeat.
fn trace(repeat: u16) -> impl Strategy<Value = Trace> {
    let first = 1_000 * (u64::from(repeat) + 1);
    let event = (0..900_u64, any::<u16>(), what());
    (vec(event, 0..60), vec(stay(first), 0..20)).prop_map(move |(mut events, mut stays)| {
        events.sort_by_key(|&(at, ..)| at);
        stays.sort_by_key(|stay| (stay.first, stay.pid, stay.task));
        let span = Span::new(Nanos::new(first), Nanos::new(first + 900));
        let socket = |port: u32| {
            let local = SocketAddr::from(([127, 0, 0, 1], repeat + port as u16));
            Socket {
                local,
                remote: "[::1]:80".parse().unwrap(),
            }
        };
        let frame = |name: &str| Frame {
            function: format!("{name}{repeat}"),
            module: "libc.so.6".to_owned(),
            source: String::new(),
        };
        Trace {
            stretches: vec![Stretch {
                span,
                depth: Depth::Full,
                repeat,
                lost: 2,
            }],
            processes: vec![Process {
                pid: 7,
                role: Role::Target,
                executable: "server".to_owned(),
                program: String::new(),
                runtime: Runtime::Native,
            }],
            threads: vec![Thread {
                tid: 10 + u32::from(repeat),
                pid: 7,
                name: "w".to_owned(),
            }],
            sockets: (0..SOCKETS).map(socket).collect(),
            frames: vec![frame("a"), frame("b")],
            stacks: (0..STACKS)
                .map(|n| (0..n % 3).map(|f| f % 2).collect())
                .collect(),
            events: events
                .into_iter()
                .map(|(at, cpu, what)| Event {
                    at: Nanos::new(first + at),
                    cpu,
                    what,
                })
                .collect(),
            reset_reasons: [(u32::from(repeat), "NO_SOCKET".to_owned())].into(),
            unix_paths: [(unix_server("/run/db").ip(), "/run/db".to_owned())].into(),
            resolvers: [([127, 0, 0, 1], 8_600 + repeat).into()].into(),
            looks: vec![Look {
                at: Nanos::new(first),
                pid: 7,
                found: 3,
                left_out: 1,
            }],
            stays,
        }
    })
}

/// What a task did from `first` on; its position in the list of what a task may do is any.
fn stay(first: u64) -> impl Strategy<Value = Stay> {
    let socket = prop_oneof![Just(NO_SOCKET), 0..SOCKETS];
    let ids = (any::<u32>(), any::<u64>(), any::<u64>(), any::<u64>());
    let does = select(&Does::ALL[..]);
    (0..400_u64, 0..400_u64, ids, does, stack(), socket).prop_map(
        move |(begin, length, (pid, task, parent, about), does, stack, socket)| Stay {
            first: Nanos::new(first + begin),
            last: Nanos::new(first + begin + length),
            pid,
            task,
            parent,
            does,
            about,
            stack,
            socket,
        },
    )
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn traces_come_back(first in trace(0), second in trace(1)) {
        let dir = tempfile::tempdir().unwrap();
        let run = dir.path().join("run");
        let writer = RunWriter::create(&run, &manifest()).unwrap();
        writer.trace(0, &first).unwrap();
        writer.trace(1, &second).unwrap();
        let mut all = first;
        all.append(second);
        prop_assert_eq!(&*slowpath_record::read(&run).unwrap().trace, &all);
        writer.finish(&manifest()).unwrap();
        prop_assert_eq!(&*slowpath_record::read(&run).unwrap().trace, &all);
    }
}

/// A finished run with a trace of one event.
fn traced_run(dir: &std::path::Path, what: What) -> Result<Trace, slowpath_record::RecordError> {
    let at = Nanos::new(5);
    let trace = Trace {
        stretches: vec![Stretch {
            span: Span::new(at, at.plus(5)),
            depth: Depth::Light,
            repeat: 0,
            lost: 0,
        }],
        events: vec![Event { at, cpu: 0, what }],
        ..Trace::default()
    };
    let writer = RunWriter::create(dir, &manifest()).unwrap();
    writer.trace(0, &trace).unwrap();
    writer.finish(&manifest()).unwrap();
    slowpath_record::read(dir).map(|record| (*record.trace).clone())
}

#[test]
fn what_points_outside_of_its_tables_is_damage() {
    let dir = tempfile::tempdir().unwrap();
    let good = traced_run(&dir.path().join("good"), What::On { tid: 1 }).unwrap();
    assert_eq!(good.events.len(), 1);
    let pointing = [
        What::Read { tid: 1, socket: 0 },
        What::Sample { tid: 1, stack: 0 },
    ];
    for (place, what) in pointing.into_iter().enumerate() {
        let error = traced_run(&dir.path().join(place.to_string()), what).unwrap_err();
        assert!(error.to_string().contains("event 1 is none"), "{error}");
    }
}

#[test]
fn a_trace_that_was_changed_is_not_read() {
    for name in ["trace/0.parquet", "trace/0.json"] {
        let dir = tempfile::tempdir().unwrap();
        traced_run(dir.path(), What::On { tid: 1 }).unwrap();
        let path = dir.path().join(name);
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        let error = slowpath_record::read(dir.path()).unwrap_err().to_string();
        assert!(error.contains("checksum"), "{error}");
        std::fs::remove_file(&path).unwrap();
        assert!(slowpath_record::read(dir.path()).is_err());
    }
}

use slowpath_core::nanos::Nanos;
use slowpath_core::trace::{NO_STACK, Process, Role, Runtime, Socket, Thread};

use super::KernelAct::{ResetReceived, SentAgain, ServerClosed, ServerReset};
use super::*;

const SERVER: u16 = 80;
const OURS: u16 = 40_001;
const PID: u32 = 7;

/// A server of two threads; its end of a connection is socket 0 and ours is socket 1.
fn trace(events: &[(u64, What)]) -> Trace {
    let end = |port: u16| ([127, 0, 0, 1], port).into();
    let socket = |local, remote| Socket {
        local: end(local),
        remote: end(remote),
    };
    let thread = |tid| Thread {
        tid,
        pid: PID,
        name: format!("t{tid}"),
    };
    let event = |&(at, what)| Event {
        at: Nanos::new(at),
        cpu: 0,
        what,
    };
    Trace {
        processes: vec![Process {
            pid: PID,
            role: Role::Target,
            executable: "server".to_owned(),
            program: String::new(),
            runtime: Runtime::Native,
        }],
        threads: vec![thread(PID), thread(PID + 1)],
        sockets: vec![socket(SERVER, OURS), socket(OURS, SERVER), socket(9, 9)],
        events: events.iter().map(event).collect(),
        reset_reasons: [(1, "NO_SOCKET".to_owned()), (99, "NEW_ONE".to_owned())].into(),
        ..Trace::default()
    }
}

const fn reset(socket: u32, sent: bool, reason: u32) -> What {
    What::Reset {
        socket,
        sent,
        reason,
        by: 0,
    }
}

/// The decision for a request from 10 to 20.
fn decided(events: &[(u64, What)], outcome: Outcome) -> Option<(u64, KernelAct)> {
    let packets = packets(&trace(events), &[OURS].into(), &Ports::from_iter([SERVER]));
    let own = packets.get(&OURS);
    let own = own.map_or(&[][..], |seen| within(seen, 10, 20));
    decisive(own, outcome).map(|(seen, act)| (seen.at, act))
}

#[test]
fn what_the_server_did_comes_before_what_came_of_it() {
    let closes = What::State {
        socket: 0,
        state: CLOSED_BY_PROCESS[0],
        by: PID,
    };
    let again = What::Retransmit { socket: 1 };
    let all = [
        (11, again),
        (12, reset(1, false, 0)),
        (13, closes),
        (14, reset(0, true, 1)),
    ];
    assert_eq!(decided(&all, Outcome::Reset), Some((14, ServerReset)));
    assert_eq!(decided(&all, Outcome::Closed), Some((13, ServerClosed)));
    let two = &all[..2];
    assert_eq!(decided(two, Outcome::Reset), Some((12, ResetReceived)));
    let one = &all[..1];
    assert_eq!(decided(one, Outcome::Timeout), Some((11, SentAgain)));
    assert_eq!(decided(&[], Outcome::Reset), None);
}

#[test]
fn what_is_not_of_the_request_tells_nothing() {
    // Before it and after it; at other ports; a state that no call of the process makes; and
    // what our own end sent.
    let opened = What::State {
        socket: 0,
        state: 1,
        by: PID,
    };
    let others = [
        (9, reset(0, true, 1)),
        (12, reset(2, true, 1)),
        (12, opened),
        (13, reset(1, true, 1)),
        (14, What::Retransmit { socket: 0 }),
        (21, reset(0, true, 1)),
    ];
    assert_eq!(decided(&others, Outcome::Reset), None);
    let other_target = packets(&trace(&others), &[OURS].into(), &Ports::from_iter([81]));
    assert!(other_target.is_empty());
}

#[test]
fn a_process_ended_when_its_first_thread_left_for_good() {
    let switch = |from, left, to| What::Switch {
        from,
        left,
        to,
        stack: NO_STACK,
    };
    let gone = switch(PID, Left::Gone, 0);
    assert_eq!(ended(&trace(&[(5, gone)])), [(PID, 5)].into());
    // Another thread's end is none, nor is a stop that does not last.
    let another = switch(PID + 1, Left::Gone, 0);
    assert!(ended(&trace(&[(5, another)])).is_empty());
    let went_on = switch(0, Left::Runnable, PID);
    assert!(ended(&trace(&[(5, gone), (6, went_on)])).is_empty());
}

#[test]
fn reasons_have_the_kernels_names() {
    let kind = |number| (KernelAct::ServerReset, Some(number), false);
    let alike = |threads: &[&str]| Alike {
        before_ns: vec![2_000_000],
        threads: threads.iter().map(|&name| name.to_owned()).collect(),
    };
    let trace = trace(&[]);
    let known = told(&trace, kind(1), alike(&["t7"]));
    assert_eq!(known.reason.as_deref(), Some("NO_SOCKET"));
    assert!(known.text.contains("NO_SOCKET (no socket"), "{known:?}");
    assert!(known.text.ends_with("by thread t7"), "{known:?}");
    let new = told(&trace, kind(99), alike(&["a", "b"]));
    assert!(new.text.ends_with(": NEW_ONE"), "{new:?}");
    assert_eq!(new.thread, None, "several did it");
    let untold = told(&trace, kind(2), alike(&[""]));
    assert_eq!((untold.reason, untold.thread), (None, None));
}

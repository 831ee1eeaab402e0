//! Which threads are loops: those that take connections up by turns.

use std::collections::BTreeSet;

use slowpath_core::trace::{Call, Depth, Role, Runtime};
use slowpath_diagnose::trace::Index;
use slowpath_diagnose::trace::loops::{Dialled, Loops};

use crate::script::{By, Script, Wait};

const PORT: u16 = 8_080;
const SERVER: u32 = 100;

/// What threads read (`<`) and wrote (`>`), one after the other: "1<a 1>a 2<b", with connections
/// called by letters. A connection called by a capital letter has the port of the small one, and is
/// another one.
fn loops(runtime: Runtime, script_of: &str) -> Vec<u32> {
    let mut script = Script::over(1, 1_000_000, Depth::Light);
    script.process(SERVER, Role::Target, runtime);
    let mut capitals = BTreeSet::new();
    let tids: BTreeSet<u32> = script_of
        .split(' ')
        .map(|word| word[..1].parse().unwrap())
        .collect();
    for &tid in &tids {
        script.thread(tid, SERVER, &format!("t{tid}"));
        script.starts(10, tid);
    }
    for (at, word) in (100..).step_by(10).zip(script_of.split(' ')) {
        let (tid, letter) = (word[..1].parse().unwrap(), word.as_bytes()[2]);
        let small = letter.to_ascii_lowercase();
        let socket = script.socket(PORT, 40_000 + u16::from(small));
        if letter != small {
            capitals.insert((small, at));
        }
        match word.as_bytes()[1] {
            b'<' => script.read(at, tid, socket),
            _ => script.wrote(at, tid, socket),
        }
    }
    let trace = script.done();
    let index = Index::new(&trace);
    let ends = index
        .sockets
        .with_local_port(PORT)
        .iter()
        .copied()
        .collect();
    let loops = Loops::of(&index, &ends, |end, at| {
        let port = index.sockets.end(end).unwrap().remote.port();
        let id = u64::from(capitals.contains(&((port - 40_000) as u8, at)));
        Dialled { id, at: None }
    });
    tids.into_iter().filter(|&tid| loops.has(tid)).collect()
}

/// One thread reads and answers what comes on two connections.
fn by_turns() -> String {
    ["1<a 1>a 1<b 1>b"; 8].join(" ")
}

#[test]
fn a_thread_that_serves_connections_by_turns_is_a_loop() {
    assert_eq!(loops(Runtime::Node, &by_turns()), [1]);
    // Each connection has one request, and the second is taken up before the first is answered.
    let one_each = "1<a 1<b 1<c 1>a 1>b 1>c";
    assert_eq!(loops(Runtime::Native, one_each), [1]);
}

#[test]
fn a_thread_that_serves_a_connection_to_its_end_is_no_loop() {
    let serial = "1<a 1>a 1<b 1>b 1<c 1>c 1<d 1>d";
    assert!(loops(Runtime::Native, serial).is_empty());
    let prefork = "1<a 2<b 1>a 2>b 1<a 1>a 2<b 2>b 1<c 1>c 1<c 1>c 2<d 2>d";
    assert!(loops(Runtime::Native, prefork).is_empty());
    // Its ports are used again.
    let again = "1<a 1>a 1<b 1>b 1<A 1>A 1<B 1>B";
    assert!(loops(Runtime::Native, again).is_empty());
    // Of one connection many requests, then many of the next one.
    let kept = [["1<a 1>a"; 20], ["1<b 1>b"; 20]].concat().join(" ");
    assert!(loops(Runtime::Native, &kept).is_empty());
}

#[test]
fn threads_of_a_pool_and_of_runtimes_with_a_scheduler_are_no_loops() {
    let pool = "1<a 1>a 2<b 2>b 2<a 2>a 1<b 1>b 1<a 1>a 2<b 2>b 2<a 2>a 1<b 1>b";
    assert!(loops(Runtime::Native, pool).is_empty());
    // Of connections with two requests each, every second is read twice by the same thread.
    let twice = ('a'..='t').map(|c| format!("1<{c} 1>{c}"));
    let again = ('a'..='t').zip(0..).map(|(c, n)| {
        let tid = 1 + n % 2;
        format!("{tid}<{c} {tid}>{c}")
    });
    let all: Vec<String> = twice.chain(again).collect();
    assert!(loops(Runtime::Native, &all.join(" ")).is_empty());
    assert!(loops(Runtime::Go, &by_turns()).is_empty());
}

/// Whether a thread is a loop that has a request of each of so many connections, and stands at `idle` when it has none and
/// at `holding` when it has accepted one. Every second of them is served by another thread of its process if there
/// are two.
fn of_connections_of_their_own(threads: u64, idle: &str, holding: &str) -> bool {
    let mut script = Script::over(1, 1_000_000, Depth::Full);
    script.process(SERVER, Role::Target, Runtime::Native);
    for tid in 1..=threads {
        script.thread(tid as u32, SERVER, "serves");
        script.starts(10, tid as u32);
    }
    let (idle, holding) = (script.stack(idle), script.stack(holding));
    for n in 0..24_u64 {
        let (at, tid) = (1_000 * (n + 1), (1 + n % threads) as u32);
        let socket = script.socket(PORT, 40_000 + n as u16);
        let wait = |begin, end, stack| Wait {
            stack,
            ..Wait::new(tid, begin, end, Call::Poll, By::Hardirq)
        };
        // The client dials at 0.
        script.waits(wait(at - 100, at + 10, idle));
        script.waits(wait(at + 20, at + 30, holding));
        script.read(at + 40, tid, socket);
        script.wrote(at + 50, tid, socket);
    }
    let trace = script.done();
    let index = Index::new(&trace);
    let ends = index
        .sockets
        .with_local_port(PORT)
        .iter()
        .copied()
        .collect();
    let loops = Loops::of(&index, &ends, |end, _| {
        let port = index.sockets.end(end).unwrap().remote.port();
        let n = u64::from(port - 40_000);
        let at = Some(1_000 * (n + 1));
        Dialled { id: n, at }
    });
    loops.has(1)
}

#[test]
fn a_loop_waits_for_all_files_while_it_has_a_connection() {
    let events = "ep_poll do_epoll_wait|epoll_wait ev_run";
    let own = "do_poll do_sys_poll|poll recv_timeout serve";
    assert!(of_connections_of_their_own(1, events, events));
    // A worker may wait for the next connection so, and waits for the request at that one.
    assert!(!of_connections_of_their_own(1, events, own));
    // The one that is free takes the next connection.
    assert!(!of_connections_of_their_own(2, events, events));
}

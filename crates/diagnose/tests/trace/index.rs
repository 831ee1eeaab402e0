//! What is known of a thread: when it ran, was ready, was blocked, and what is not known.

use std::fmt::Write;

use slowpath_core::nanos::Nanos;
use slowpath_core::sample::Sample;
use slowpath_core::samples::Samples;
use slowpath_core::trace::{Call, Context, Depth, IDLE, Left, NO_STACK, Socket, What};
use slowpath_diagnose::trace::Index;
use slowpath_diagnose::trace::index::{State, Why};
use slowpath_diagnose::trace::join::{Joiner, Unjoined};

use crate::script::{By, Script, Wait};

/// What a thread did, in a word a slice: `R` ran, `q` ready, `b` blocked, `x` gone, `?` unknown.
fn story(index: &Index<'_>, tid: u32, begin: u64, end: u64) -> String {
    let slices = index.slices(tid, begin, end);
    let word = |state: &State<'_>| match state {
        State::Run => 'R',
        State::Ready(_) => 'q',
        State::Blocked(_) => 'b',
        State::Gone => 'x',
        State::Unknown => '?',
    };
    let mut at = begin;
    let mut out = String::new();
    for slice in slices {
        assert_eq!(slice.begin, at, "no holes");
        at = slice.end;
        let (word, length) = (word(&slice.state), slice.end - slice.begin);
        write!(out, "{word}{length} ").unwrap();
    }
    assert_eq!(at, end, "to the end");
    out.trim_end().to_owned()
}

fn futex(tid: u32, begin: u64, end: u64, by: By) -> Wait {
    Wait::new(tid, begin, end, Call::Futex, by)
}

#[test]
fn a_thread_runs_waits_is_woken_and_gets_a_cpu() {
    let mut script = Script::over(10, 1_000, Depth::Light);
    script.starts(100, 7);
    script.waits(Wait {
        wake: 250,
        about: 0xF00,
        ..futex(7, 200, 300, By::Thread(8))
    });
    script.preempted(7, 400, 450, 9);
    let trace = script.done();
    let index = Index::new(&trace);
    assert_eq!(story(&index, 7, 50, 500), "?50 R100 b50 q50 R100 q50 R50");
    assert_eq!(story(&index, 7, 220, 260), "b30 q10");
    assert_eq!(story(&index, 7, 900, 1_100), "R100 ?100");
    let off = index.offs(7, 200, 300)[0];
    assert_eq!((off.call, off.about), (Some(Call::Futex), 0xF00));
    assert_eq!((off.waker, off.context), (8, Some(Context::Thread)));
    assert_eq!(index.offs(7, 400, 401)[0].why, Why::Preempted);
    assert_eq!(story(&index, 99, 0, 10), "?10", "never met");
}

#[test]
fn a_call_is_over_when_something_is_written_behind_it() {
    let mut script = Script::over(10, 1_000, Depth::Light);
    script.starts(100, 7);
    let connect = What::Call {
        tid: 7,
        call: Call::Connect,
        about: 5,
    };
    let socket = script.socket(50_000, 4_318);
    script.event(110, 7, connect);
    script.wrote(120, 7, socket);
    let recv = Wait {
        call: None,
        ..futex(7, 130, 200, By::Softirq)
    };
    script.waits(recv);
    script.event(210, 7, connect);
    script.waits(Wait {
        begin: 220,
        end: 300,
        ..recv
    });
    let trace = script.done();
    let index = Index::new(&trace);
    let calls: Vec<_> = index.offs(7, 0, 1_000).iter().map(|off| off.call).collect();
    assert_eq!(calls[1..], [None, Some(Call::Connect)], "{calls:?}");
}

#[test]
fn what_a_thread_did_before_its_first_event_follows_from_it() {
    let mut script = Script::over(100, 1_000, Depth::Light);
    script.switch(300, 0, (1, Left::Sleeping), IDLE, NO_STACK);
    script.event(
        300,
        0,
        What::Waking {
            tid: 2,
            by: 1,
            context: Context::Thread,
        },
    );
    script.switch(320, 0, (IDLE, Left::Runnable), 2, NO_STACK);
    script.switch(300, 1, (IDLE, Left::Runnable), 3, NO_STACK);
    let trace = script.done();
    let index = Index::new(&trace);
    assert_eq!(
        story(&index, 1, 50, 400),
        "?50 R200 b100",
        "it ran, and waits still"
    );
    assert_eq!(story(&index, 2, 50, 400), "?50 b200 q20 R80");
    assert_eq!(story(&index, 3, 50, 400), "?250 R100");
}

#[test]
fn a_wake_up_that_overtakes_the_switch_is_the_end_of_the_wait() {
    let mut script = Script::over(1, 1_000_000, Depth::Light);
    script.starts(10, 7);
    script.event(
        990,
        8,
        What::Waking {
            tid: 7,
            by: 8,
            context: Context::Thread,
        },
    );
    script.switch(1_000, 7, (7, Left::Sleeping), IDLE, NO_STACK);
    script.switch(3_000, 7, (IDLE, Left::Runnable), 7, NO_STACK);
    // One long before is not.
    script.event(
        100_000,
        8,
        What::Waking {
            tid: 7,
            by: 8,
            context: Context::Thread,
        },
    );
    script.switch(500_000, 7, (7, Left::Sleeping), IDLE, NO_STACK);
    script.switch(600_000, 7, (IDLE, Left::Runnable), 7, NO_STACK);
    let trace = script.done();
    let index = Index::new(&trace);
    assert_eq!(story(&index, 7, 500, 5_000), "R500 q2000 R2000");
    assert_eq!(index.offs(7, 1_000, 3_000)[0].waker, 8);
    let late = index.offs(7, 500_000, 600_000)[0];
    assert_eq!((late.context, late.waker), (None, IDLE));
}

#[test]
fn clocks_that_agree_to_the_nanosecond_do_not_confuse() {
    let mut script = Script::over(1, 1_000, Depth::Light);
    script.starts(10, 7);
    // In the buffer of the other CPU, which is read first.
    script.event(
        100,
        3,
        What::Waking {
            tid: 7,
            by: 8,
            context: Context::Thread,
        },
    );
    script.switch(100, 7, (7, Left::Sleeping), IDLE, NO_STACK);
    script.switch(200, 7, (IDLE, Left::Runnable), 7, NO_STACK);
    let trace = script.done();
    let index = Index::new(&trace);
    assert_eq!(story(&index, 7, 50, 250), "R50 q100 R50");
}

#[test]
fn what_was_lost_is_unknown_and_not_idle() {
    let mut script = Script::over(1, 10_000, Depth::Light);
    script.starts(100, 7);
    script.starts(300, 7);
    script.switch(400, 7, (7, Left::Sleeping), IDLE, NO_STACK);
    script.switch(600, 7, (7, Left::Sleeping), IDLE, NO_STACK);
    script.starts(700, 7);
    script.switch(800, 7, (7, Left::Sleeping), IDLE, NO_STACK);
    let call = Call::Read;
    script.event(
        900,
        7,
        What::Call {
            tid: 7,
            call,
            about: 3,
        },
    );
    let trace = script.done();
    let index = Index::new(&trace);
    assert_eq!(
        story(&index, 7, 100, 1_000),
        "?200 R100 ?200 b100 R100 ?100 R100"
    );
}

#[test]
fn nothing_is_known_between_stretches() {
    let mut script = Script::over(100, 200, Depth::Full);
    script.stretch(200, 300, Depth::Light);
    script.stretch(300, 400, Depth::Off);
    script.stretch(400, 500, Depth::Light);
    script.starts(150, 7);
    script.starts(350, 7);
    script.switch(450, 7, (7, Left::Sleeping), IDLE, NO_STACK);
    let trace = script.done();
    let index = Index::new(&trace);
    assert_eq!(index.blocks.len(), 2);
    assert_eq!(story(&index, 7, 0, 600), "?150 R150 ?100 R50 b50 ?100");
}

#[test]
fn an_id_that_is_used_again_is_another_thread() {
    let mut script = Script::over(1, 1_000, Depth::Light);
    script.starts(10, 7);
    script.ends(100, 7);
    script.starts(500, 7);
    let trace = script.done();
    let index = Index::new(&trace);
    assert_eq!(story(&index, 7, 50, 600), "R50 x400 R100");
}

#[test]
fn a_thread_is_woken_first_by_the_one_that_made_it() {
    let mut script = Script::over(1, 1_000, Depth::Light);
    script.starts(10, 7);
    script.ends(100, 7);
    for (at, tid) in [(400, 7), (400, 8)] {
        let (by, context) = (1, Context::Birth);
        script.event(at, 0, What::Waking { tid, by, context });
    }
    script.switch(430, 0, (IDLE, Left::Runnable), 7, NO_STACK);
    script.switch(450, 1, (IDLE, Left::Runnable), 8, NO_STACK);
    let trace = script.done();
    let index = Index::new(&trace);
    assert_eq!(story(&index, 8, 50, 500), "?350 q50 R50");
    // The thread that had the id before is another one.
    assert_eq!(story(&index, 7, 50, 500), "R50 x300 q30 R70");
    let first = index.offs(8, 0, 1_000).last().unwrap();
    assert_eq!((first.waker, first.woken_at()), (1, Some(400)));
    assert_eq!(first.why, Why::Unknown, "before that it was not there");
}

#[test]
fn a_call_is_that_of_the_wait_that_follows_it() {
    let mut script = Script::over(1, 1_000_000, Depth::Light);
    script.starts(10, 7);
    script.waits(futex(7, 100, 1_000, By::Thread(8)));
    // Woken for nothing, in the same call.
    script.waits(Wait {
        call: None,
        ..futex(7, 2_000, 3_000, By::Thread(8))
    });
    // Something else, that is not known.
    script.waits(Wait {
        call: None,
        ..futex(7, 90_000, 95_000, By::Thread(8))
    });
    let trace = script.done();
    let index = Index::new(&trace);
    let calls: Vec<_> = index.offs(7, 100, 95_000).iter().map(|o| o.call).collect();
    assert_eq!(calls, [Some(Call::Futex), Some(Call::Futex), None]);
}

#[test]
fn without_privilege_only_running_and_not_running_are_told() {
    let mut script = Script::over(1, 1_000, Depth::Threads);
    script.event(100, 0, What::On { tid: 7 });
    script.event(
        200,
        0,
        What::Off {
            tid: 7,
            preempted: true,
        },
    );
    script.event(250, 0, What::On { tid: 7 });
    script.event(
        300,
        0,
        What::Off {
            tid: 7,
            preempted: false,
        },
    );
    let call = Call::Futex;
    script.event(
        350,
        0,
        What::Peek {
            tid: 7,
            call,
            about: 5,
            owner: 9,
        },
    );
    script.event(400, 0, What::On { tid: 7 });
    let trace = script.done();
    let index = Index::new(&trace);
    assert_eq!(story(&index, 7, 100, 500), "R100 q50 R50 b100 R100");
    assert_eq!(index.peeks(7, 300, 400)[0].owner, 9);
    assert!(index.peeks(7, 300, 350).is_empty());
}

#[test]
fn what_goes_over_a_unix_socket_is_no_connection_of_a_client() {
    let mut script = Script::over(10, 1_000, Depth::Light);
    let asked = script.unix_socket(7, "/run/db.sock");
    let end = script.trace.sockets[asked as usize];
    script.trace.sockets.push(Socket {
        local: end.remote,
        remote: end.local,
    });
    // The target reads there as if it were asked; the client of a request happens to have that port.
    script.read(200, 7, asked + 1);
    script.wrote(300, 7, asked + 1);
    let trace = script.done();
    let index = Index::new(&trace);
    assert_eq!(index.sockets.other(asked), Some(asked + 1));
    assert_eq!(trace.address(end.remote), "/run/db.sock");
    let mut sample = Sample::due(Nanos::new(100));
    (sample.sent, sample.done) = (Some(Nanos::new(150)), Nanos::new(350));
    sample.local_port = end.local.port();
    let samples: Samples = vec![sample].into();
    let joined = Joiner::new(&index, [].into_iter().collect()).join(0, samples.at(0));
    assert_eq!(joined, Err(Unjoined::NoConnection));
}

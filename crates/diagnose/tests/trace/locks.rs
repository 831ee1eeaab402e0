//! Waits that look like locks, and locks that look like something else.

use slowpath_core::trace::{Call, Runtime};

use super::scene::{CLIENT, Request, futex, idle, server, sleep, told};
use crate::script::{By, Wait};

const MUTEX: &str = "futex_do_wait|__lll_lock_wait pthread_mutex_lock end_span worker";

#[test]
fn a_lock_that_is_taken_behind_the_answer_keeps_the_next_request_waiting() {
    let mut script = server(Runtime::Native, &[1, 50]);
    script.starts(10, 1);
    script.starts(10, 50);
    let first = Request::by(1, 1_000, 1_050, 1_500);
    first.play(&mut script);
    // It ends its span under the lock that the exporter has, and the next request has come.
    let stack = script.stack(MUTEX);
    script.waits(Wait {
        stack,
        ..futex(1, 1_600, 9_000, 50)
    });
    script.waits(sleep(50, 500, 8_900));
    let next = Request::by(1, 2_000, 9_100, 9_500);
    next.play(&mut script);
    let told = told(&script.done(), &next);
    assert!(
        told.iter()
            .any(|line| line.starts_with("6900 1 lock 50: sleep")),
        "{told:#?}"
    );
}

#[test]
fn who_waits_lets_go_of_the_interpreter_and_asks_nobody() {
    const INTERPRETER: u64 = 0xAAA;
    let mut script = server(Runtime::Python, &[1, 50]);
    script.starts(10, 1);
    script.starts(10, 50);
    let taken = script.stack("futex_do_wait|pthread_cond_timedwait take_gil");
    // The flusher waits to be let into the interpreter, which the worker leaves for a lock.
    script.waits(Wait {
        about: INTERPRETER,
        stack: taken,
        ..futex(50, 1_060, 1_150, 1)
    });
    let lock = script.stack("futex_do_wait|PyThread_acquire_lock_timed");
    script.waits(Wait {
        stack: lock,
        ..futex(1, 1_200, 9_000, 50)
    });
    script.waits(Wait::new(50, 1_300, 8_900, Call::Sleep, By::Hardirq));
    let request = Request::by(1, 1_000, 1_050, 9_500);
    request.play(&mut script);
    let told = told(&script.done(), &request);
    assert!(
        told.contains(&"7600 1 woke 50: sleep".to_owned()),
        "{told:#?}"
    );
}

#[test]
fn whoever_came_later_had_the_lock_only_since_it_was_let_in() {
    let mut script = server(Runtime::Native, &[1, 2, 50]);
    for tid in [1, 2, 50] {
        script.starts(10, tid);
    }
    // The flusher lets the later one in, and that one the first.
    script.waits(sleep(50, 1_000, 8_900));
    script.waits(idle(2, 100, 5_010));
    script.waits(futex(2, 5_030, 9_000, 50));
    script.waits(futex(1, 2_030, 9_300, 2));
    let later = Request {
        client: CLIENT + 1,
        ..Request::by(2, 5_000, 5_020, 9_500)
    };
    later.play(&mut script);
    let request = Request::by(1, 2_000, 2_020, 9_600);
    request.play(&mut script);
    let told = told(&script.done(), &request);
    assert!(
        told.contains(&"6870 1 woke 50: sleep".to_owned()),
        "{told:#?}"
    );
    assert!(told.contains(&"290 1 woke 2: cpu".to_owned()), "{told:#?}");
}

#[test]
fn who_waits_for_its_next_request_has_no_lock() {
    let mut script = server(Runtime::Native, &[1, 2]);
    for tid in [1, 2] {
        script.starts(10, tid);
    }
    // No holder is seen before this one takes it, without waiting.
    script.waits(idle(2, 100, 8_010));
    script.waits(futex(1, 2_030, 9_300, 2));
    let later = Request {
        client: CLIENT + 1,
        ..Request::by(2, 8_000, 8_020, 9_500)
    };
    later.play(&mut script);
    let request = Request::by(1, 2_000, 2_020, 9_600);
    request.play(&mut script);
    let told = told(&script.done(), &request);
    let unknown = "1 woke 2: unknown(nowaker)";
    assert!(told.iter().any(|line| line.ends_with(unknown)), "{told:#?}");
}

#[test]
fn who_lets_others_in_between_two_sleeps_at_one_futex_sleeps_twice() {
    let mut script = server(Runtime::Jvm, &[1, 50]);
    script.starts(10, 1);
    script.starts(10, 50);
    // Java's `Thread.sleep`: the thread's own futex, which no thread wakes; but at the end of the record.
    let at_own = |begin, end, by| Wait {
        about: 0xBEE,
        ..Wait::new(50, begin, end, Call::Futex, by)
    };
    script.waits(at_own(500, 9_000, By::Hardirq));
    script.waits(at_own(9_200, 20_000, By::Thread(1)));
    script.waits(futex(1, 2_030, 9_100, 50));
    let request = Request::by(1, 2_000, 2_020, 30_000);
    request.play(&mut script);
    let told = told(&script.done(), &request);
    assert!(
        told.contains(&"6970 1 woke 50: sleep".to_owned()),
        "{told:#?}"
    );
}

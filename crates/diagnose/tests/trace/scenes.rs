//! Servers as they are met, thread by thread: locks, and what is not known.

use slowpath_core::trace::{Call, Depth, Role, Runtime};

use super::scene::{CLIENT, PORT, Request, SERVER, futex, idle, server, sleep, told, with_backend};
use crate::script::{By, Script, Wait};

#[test]
fn a_convoy_of_seven_leads_to_the_thread_that_sleeps_under_the_lock() {
    let workers: Vec<u32> = (1..=7).collect();
    let mut script = server(Runtime::Native, &[1, 2, 3, 4, 5, 6, 7, 50]);
    for &tid in workers.iter().chain([&50]) {
        script.starts(10, tid);
    }
    // The flusher sleeps for 20 µs with the lock.
    script.waits(sleep(50, 1_000, 21_000));
    let mut requests = Vec::new();
    let mut by = 50;
    for (place, &tid) in (0_u64..).zip(&workers) {
        // They come one after the other, and the lock is handed on, each keeping it for 100.
        let arrives = 2_000 + place * 100;
        let wake = 21_050 + place * 110;
        let mut request = Request::by(tid, arrives, arrives + 20, wake + 200);
        request.client += place as u16;
        script.waits(idle(tid, 100, arrives + 10));
        script.waits(futex(tid, arrives + 30, wake, by));
        request.play(&mut script);
        requests.push(request);
        by = tid;
    }
    let trace = script.done();
    assert_eq!(
        told(&trace, &requests[0]),
        [
            "10 1: network",
            "10 1: cpu",
            "10 1: cpu",
            "18970 1 woke 50: sleep",
            "50 1 woke 50: cpu",
            "10 1: ready(idle)",
            "190 1: cpu",
        ]
    );
    let last = told(&trace, &requests[6]);
    let deep = "woke 6 woke 5 woke 4 woke 3 woke 2 woke 1 woke 50: sleep";
    assert!(last.contains(&format!("18370 7 {deep}")), "{last:#?}");
    assert!(
        last.iter().any(|line| line.ends_with("7 woke 6: cpu")),
        "{last:#?}"
    );
}

#[test]
fn a_stack_says_whether_it_was_a_lock_or_a_condition() {
    for (stack, how) in [
        (
            "futex_do_wait|__lll_lock_wait pthread_mutex_lock serve",
            "lock",
        ),
        ("futex_do_wait|pthread_cond_wait serve", "condition"),
    ] {
        let mut script = server(Runtime::Native, &[1, 50]);
        script.starts(10, 1);
        script.starts(10, 50);
        let stack = script.stack(stack);
        script.waits(Wait {
            stack,
            ..futex(1, 1_100, 5_000, 50)
        });
        script.waits(sleep(50, 500, 4_900));
        let request = Request::by(1, 1_000, 1_050, 6_000);
        request.play(&mut script);
        let told = told(&script.done(), &request);
        assert!(
            told.contains(&format!("3800 1 {how} 50: sleep")),
            "{told:#?}"
        );
    }
}

#[test]
fn a_thread_that_was_asked_is_no_holder_of_a_lock() {
    // A thread of the client library waits for the network on behalf of the one that serves.
    let mut script = server(Runtime::Native, &[1, 60]);
    script.starts(10, 1);
    script.starts(10, 60);
    let poll = |begin, wake, by| Wait {
        wake,
        ..Wait::new(60, begin, wake + 10, Call::Poll, by)
    };
    script.waits(poll(100, 1_200, By::Thread(1)));
    script.waits(poll(1_300, 8_900, By::Softirq));
    script.waits(Wait {
        about: 0xABC,
        ..futex(1, 1_250, 9_000, 60)
    });
    let request = Request::by(1, 1_000, 1_100, 9_500);
    request.play(&mut script);
    let told = told(&script.done(), &request);
    assert!(
        told.contains(&"7600 1 asked 60: network".to_owned()),
        "{told:#?}"
    );
}

#[test]
fn a_wait_without_a_stack_is_for_whatever_is_read_next() {
    let (mut script, here, there) = with_backend();
    let unknown = |wait: Wait| Wait { call: None, ..wait };
    script.wrote(1_200, 1, here);
    script.waits(unknown(Wait::new(1, 1_300, 4_000, Call::Read, By::Softirq)));
    script.waits(Wait::new(80, 2_000, 3_000, Call::Sync, By::Hardirq));
    script.wrote(3_950, 80, there);
    script.read(4_010, 1, here);
    // After this one it reads what a client sent, as loops do: nothing was waited for there.
    script.waits(unknown(Wait::new(1, 5_000, 9_000, Call::Poll, By::Softirq)));
    let other = script.socket(PORT, CLIENT + 1);
    script.read(9_010, 1, other);
    let request = Request::by(1, 1_000, 1_100, 9_500);
    request.play(&mut script);
    let told = told(&script.done(), &request);
    assert_eq!(told[3], "1000 1 sent 80: disk", "{told:#?}");
    let loops: Vec<_> = told.iter().filter(|t| t.starts_with("4000 1")).collect();
    assert_eq!(loops, ["4000 1: unknown(nowaker)"], "{told:#?}");
}

#[test]
fn a_wait_that_is_taken_up_again_is_one_wait() {
    // An interpreter's lock is waited for in steps.
    let mut script = server(Runtime::Python, &[1, 2]);
    script.starts(10, 1);
    script.starts(10, 2);
    let step = |begin, end, by| Wait {
        about: 0xF00,
        ..Wait::new(1, begin, end, Call::Futex, by)
    };
    script.waits(step(1_200, 6_200, By::Hardirq));
    script.waits(step(6_250, 11_250, By::Hardirq));
    script.waits(step(11_300, 12_000, By::Thread(2)));
    let request = Request::by(1, 1_000, 1_100, 12_500);
    request.play(&mut script);
    let told = told(&script.done(), &request);
    assert!(told.contains(&"5000 1 woke 2: cpu".to_owned()), "{told:#?}");
    assert!(!told.iter().any(|line| line.contains("sleep")), "{told:#?}");
    // One that is not has reached its limit: so sleeps Java.
    let mut script = server(Runtime::Jvm, &[1]);
    script.starts(10, 1);
    script.waits(step(1_200, 6_200, By::Hardirq));
    request.play(&mut script);
    let told = self::told(&script.done(), &request);
    assert!(told.contains(&"5000 1: sleep".to_owned()), "{told:#?}");
}

#[test]
fn what_was_lost_and_who_has_ended_blame_nobody() {
    let mut script = server(Runtime::Native, &[1, 50]);
    script.starts(10, 1);
    script.starts(10, 50);
    script.ends(2_000, 50);
    script.waits(futex(1, 1_200, 9_000, 50));
    let request = Request::by(1, 1_000, 1_100, 9_500);
    request.play(&mut script);
    let told = told(&script.done(), &request);
    assert!(
        told.contains(&"7000 1 woke 50: unknown(gone)".to_owned()),
        "{told:#?}"
    );
    let mut script = server(Runtime::Native, &[1, 50]);
    script.starts(10, 1);
    script.waits(Wait {
        by: By::Nobody,
        ..futex(1, 1_200, 9_000, 50)
    });
    request.play(&mut script);
    let told = self::told(&script.done(), &request);
    assert!(told.contains(&"7810 1: lock".to_owned()), "{told:#?}");
}

#[test]
fn who_had_the_cpu_is_named() {
    let mut script = server(Runtime::Native, &[1]);
    script.starts(10, 1);
    script.preempted(1, 2_000, 7_000, 999);
    let request = Request::by(1, 1_000, 1_100, 9_500);
    request.play(&mut script);
    let told = told(&script.done(), &request);
    assert_eq!(told[2..], ["5000 1: ready behind 999", "2500 1: cpu"]);
}

#[test]
fn waits_in_a_circle_end() {
    let mut script = server(Runtime::Native, &[1, 2]);
    script.starts(10, 1);
    script.starts(10, 2);
    script.waits(futex(1, 1_200, 9_000, 2));
    script.waits(futex(2, 1_200, 9_000, 1));
    let request = Request::by(1, 1_000, 1_100, 9_500);
    request.play(&mut script);
    let told = told(&script.done(), &request);
    assert!(
        told.iter().any(|line| line.ends_with("unknown(toodeep)")),
        "{told:#?}"
    );
}

#[test]
fn without_privilege_the_owner_of_a_lock_is_followed() {
    use slowpath_core::trace::What;
    let mut script = Script::over(1, 1_000_000, Depth::Threads);
    script.process(SERVER, Role::Target, Runtime::Native);
    script.thread(1, SERVER, "t1");
    script.thread(50, SERVER, "flusher");
    for tid in [1, 50] {
        script.event(10, tid, What::On { tid });
    }
    script.event(
        1_200,
        1,
        What::Off {
            tid: 1,
            preempted: false,
        },
    );
    script.event(
        1_000,
        50,
        What::Off {
            tid: 50,
            preempted: false,
        },
    );
    for at in [2_000, 4_000, 6_000] {
        let peek = |tid, call, owner| What::Peek {
            tid,
            call,
            about: 1,
            owner,
        };
        script.event(at, 1, peek(1, Call::Futex, 50));
        script.event(at, 50, peek(50, Call::Sleep, 0));
    }
    script.event(8_000, 50, What::On { tid: 50 });
    script.event(8_010, 1, What::On { tid: 1 });
    let request = Request::by(1, 1_000, 1_100, 9_500);
    request.play(&mut script);
    let told = told(&script.done(), &request);
    assert!(
        told.contains(&"6800 1 lock 50: sleep".to_owned()),
        "{told:#?}"
    );
}

//! Servers as they are met, thread by thread: loops, pools and the servers that they call.

use slowpath_core::trace::{Call, Depth, Role, Runtime};

use super::scene::{CLIENT, Request, SERVER, futex, idle, server, sleep, told, with_backend};
use crate::script::{By, Script, Wait};

#[test]
fn a_request_goes_from_the_thread_that_reads_to_one_of_a_pool() {
    let mut script = server(Runtime::Native, &[1, 20]);
    script.starts(10, 1);
    script.starts(10, 20);
    script.waits(futex(20, 100, 1_500, 1));
    script.waits(sleep(20, 1_600, 4_600));
    let request = Request {
        answered: (5_000, 20),
        ..Request::by(1, 1_000, 1_100, 0)
    };
    request.play(&mut script);
    assert_eq!(
        told(&script.done(), &request),
        [
            "100 1: cpu in the background",
            "400 20 serves 1: cpu",
            "10 20: ready(idle)",
            "90 20: cpu",
            "3000 20: sleep",
            "400 20: cpu",
        ]
    );
}

#[test]
fn a_pool_that_is_busy_with_another_request() {
    let mut script = server(Runtime::Native, &[1, 20]);
    script.starts(10, 1);
    script.starts(10, 20);
    let other = Request {
        client: CLIENT + 1,
        answered: (6_000, 20),
        ..Request::by(1, 500, 600, 0)
    };
    script.waits(idle(1, 700, 1_000));
    let request = Request {
        answered: (9_000, 20),
        ..Request::by(1, 1_000, 1_050, 0)
    };
    other.play(&mut script);
    request.play(&mut script);
    let told = told(&script.done(), &request);
    assert_eq!(told[1..], ["4950 20: cpu for another", "3000 20: cpu"]);
}

#[test]
fn an_event_loop_computes_for_another_connection() {
    let mut script = server(Runtime::Node, &[1]);
    script.starts(10, 1);
    let poll = |begin, end| Wait::new(1, begin, end, Call::Poll, By::Softirq);
    script.waits(poll(100, 1_000));
    let long = Request {
        client: CLIENT + 1,
        ..Request::by(1, 950, 1_020, 51_000)
    };
    let request = Request::by(1, 2_000, 51_100, 51_200);
    long.play(&mut script);
    request.play(&mut script);
    assert_eq!(
        told(&script.done(), &request),
        [
            "49000 1: cpu for another",
            "100 1: cpu in the background",
            "100 1: cpu",
        ]
    );
}

#[test]
fn an_event_loop_computes_for_nobody() {
    let mut script = server(Runtime::Node, &[1]);
    script.starts(10, 1);
    script.waits(Wait::new(1, 100, 1_000, Call::Poll, By::Hardirq));
    let request = Request::by(1, 2_000, 30_000, 31_000);
    request.play(&mut script);
    let told = told(&script.done(), &request);
    assert_eq!(told, ["28000 1: cpu in the background", "1000 1: cpu"]);
}

#[test]
fn an_event_loop_that_waits_for_another_process_keeps_those_waiting_who_came() {
    const MS: u64 = 1_000_000;
    let told_until = |woken: u64, by| {
        let mut script = Script::over(1, 100 * MS, Depth::Full);
        script.process(SERVER, Role::Target, Runtime::Node);
        for tid in [1, 30] {
            script.thread(tid, SERVER, &format!("t{tid}"));
            script.starts(10, tid);
        }
        for (client, at) in (CLIENT..).zip((1_000..30_000).step_by(1_000)) {
            let client = CLIENT + client % 2;
            let request = Request::by(1, at, at + 100, at + 300);
            Request { client, ..request }.play(&mut script);
        }
        let other = Request::by(1, MS, MS + 100, 62 * MS);
        let client = CLIENT + 1;
        Request { client, ..other }.play(&mut script);
        script.waits(Wait::new(1, MS + 200, woken, Call::Poll, by));
        let request = Request::by(1, 10 * MS, 63 * MS, 63 * MS + 1_000);
        request.play(&mut script);
        told(&script.done(), &request).remove(0)
    };
    let deaf = told_until(61 * MS, By::Thread(30));
    assert!(
        deaf.starts_with("51000000 1 ") && deaf.ends_with("for another"),
        "{deaf}"
    );
    // It is woken when the request comes, and computes.
    let woken = told_until(10 * MS + 5_000, By::Softirq);
    assert!(!woken.ends_with("for another"), "{woken}");
}

#[test]
fn an_event_loop_waits_for_what_made_it_go_on() {
    let poll = |begin, end, by| Wait::new(1, begin, end, Call::Poll, by);
    let script = |last| {
        let mut script = server(Runtime::Node, &[1, 30]);
        script.starts(10, 1);
        script.starts(10, 30);
        script.waits(poll(1_200, 3_000, By::Softirq));
        let other = Request {
            client: CLIENT + 1,
            ..Request::by(1, 2_990, 3_100, 3_400)
        };
        other.play(&mut script);
        script.waits(poll(3_500, 9_000, last));
        script
    };
    let request = Request::by(1, 1_000, 1_100, 9_500);
    // A thread of its pool was done.
    let mut pool = script(By::Thread(30));
    request.play(&mut pool);
    let told_pool = told(&pool.done(), &request);
    assert_eq!(
        told_pool[1..],
        [
            "100 1: cpu",
            "1800 1 serves 30: cpu",
            "400 1: cpu for another",
            "100 1: cpu",
            "5500 1 serves 30: cpu",
            "500 1: cpu",
        ]
    );
    // A timer fired.
    let mut timer = script(By::Hardirq);
    request.play(&mut timer);
    let told_timer = told(&timer.done(), &request);
    assert!(
        told_timer.contains(&"5500 1: sleep".to_owned()),
        "{told_timer:#?}"
    );
    // Another host answered.
    let mut network = script(By::Softirq);
    request.play(&mut network);
    let told_network = told(&network.done(), &request);
    assert!(
        told_network.contains(&"5500 1: network".to_owned()),
        "{told_network:#?}"
    );
}

#[test]
fn a_peer_on_this_host_is_followed_through_its_socket() {
    let (mut script, here, there) = with_backend();
    script.wrote(1_200, 1, here);
    script.waits(Wait::new(1, 1_300, 9_000, Call::Read, By::Softirq));
    script.waits(Wait::new(80, 100, 1_300, Call::Read, By::Softirq));
    script.read(1_400, 80, there);
    script.waits(Wait::new(80, 2_000, 8_000, Call::Sync, By::Hardirq));
    script.wrote(8_950, 80, there);
    script.read(9_010, 1, here);
    let request = Request::by(1, 1_000, 1_100, 9_500);
    request.play(&mut script);
    let told = told(&script.done(), &request);
    assert_eq!(
        told[2..6],
        [
            "700 1 sent 80: cpu",
            "6000 1 sent 80: disk",
            "950 1 sent 80: cpu",
            "50 1: network",
        ],
        "{told:#?}"
    );
}

#[test]
fn a_peer_whose_write_is_told_of_after_it_woke_the_reader_is_followed() {
    let (mut script, here, there) = with_backend();
    // The answer to the request before.
    script.wrote(60, 80, there);
    script.waits(Wait::new(80, 100, 1_300, Call::Read, By::Softirq));
    script.wrote(1_200, 1, here);
    script.waits(Wait::new(1, 1_300, 9_000, Call::Read, By::Softirq));
    script.read(1_400, 80, there);
    script.waits(Wait::new(80, 2_000, 8_000, Call::Sync, By::Hardirq));
    script.read(9_010, 1, here);
    script.wrote(9_020, 80, there);
    let request = Request::by(1, 1_000, 1_100, 9_500);
    request.play(&mut script);
    let told = told(&script.done(), &request);
    assert_eq!(
        told[2..5],
        [
            "700 1 sent 80: cpu",
            "6000 1 sent 80: disk",
            "1000 1 sent 80: cpu",
        ],
        "{told:#?}"
    );
}

#[test]
fn runtimes_that_park_in_user_space_blame_nobody() {
    let mut script = server(Runtime::Go, &[1, 2]);
    script.starts(10, 1);
    script.starts(10, 2);
    script.waits(futex(2, 100, 9_000, 1));
    let request = Request {
        answered: (9_500, 2),
        ..Request::by(1, 1_000, 1_100, 0)
    };
    request.play(&mut script);
    let told = told(&script.done(), &request);
    assert_eq!(told[1], "7900 2: runtimeidle");
}

#[test]
fn a_runtime_that_a_timer_wakes_goes_on_unless_it_reads_something_else() {
    let kind = |reads: bool| {
        let mut script = server(Runtime::Go, &[1, 2]);
        script.starts(10, 1);
        script.starts(10, 2);
        // For another request first.
        script.waits(Wait::new(2, 100, 4_000, Call::Poll, By::Softirq));
        script.waits(Wait::new(2, 4_100, 9_000, Call::Poll, By::Hardirq));
        if reads {
            let elsewhere = script.socket(50_000, 5_432);
            script.read(9_200, 2, elsewhere);
        }
        let request = Request {
            answered: (9_500, 2),
            ..Request::by(1, 1_000, 1_100, 0)
        };
        request.play(&mut script);
        told(&script.done(), &request)
    };
    let told = kind(false);
    assert_eq!(told[1], "2900 2: runtimetimer");
    assert!(
        told.contains(&"4900 2: runtimetimer".to_owned()),
        "{told:#?}"
    );
    assert_eq!(kind(true)[1], "2900 2: runtimeidle");
}

#[test]
fn a_loop_that_tidies_up_behind_an_answer_does_so_for_nobody() {
    let tidies = |client| {
        let mut script = server(Runtime::Node, &[1]);
        script.starts(10, 1);
        script.waits(Wait::new(1, 100, 1_000, Call::Poll, By::Softirq));
        let before = Request {
            client,
            ..Request::by(1, 950, 1_020, 1_100)
        };
        let request = Request::by(1, 2_000, 21_100, 21_200);
        before.play(&mut script);
        request.play(&mut script);
        told(&script.done(), &request)
    };
    let told = tidies(CLIENT + 1);
    assert_eq!(told, ["19100 1: cpu in the background", "100 1: cpu"]);
    // So it is if the request before came on the same connection.
    assert_eq!(tidies(CLIENT), told);
}

#[test]
fn a_client_library_that_polls_waits_each_time_for_another_reason() {
    // The thread asks a database in two steps, and polls for each answer.
    let mut script = server(Runtime::Native, &[1]);
    script.process(200, Role::Peer, Runtime::Native);
    script.thread(80, 200, "backend");
    script.starts(10, 1);
    script.starts(10, 80);
    let poll = |begin, end, by| Wait::new(1, begin, end, Call::Poll, by);
    let (here, there) = (script.socket(50_000, 5_432), script.socket(5_432, 50_000));
    script.waits(Wait::new(80, 100, 1_300, Call::Read, By::Softirq));
    script.wrote(1_200, 1, here);
    script.waits(poll(1_250, 9_000, By::Softirq));
    script.read(1_400, 80, there);
    script.waits(Wait::new(80, 2_000, 8_000, Call::Sync, By::Hardirq));
    script.wrote(8_950, 80, there);
    script.read(9_010, 1, here);
    // Then it waits for a moment.
    script.waits(poll(9_100, 9_400, By::Hardirq));
    let request = Request::by(1, 1_000, 1_100, 9_500);
    request.play(&mut script);
    let told = told(&script.done(), &request);
    assert!(
        told.contains(&"6000 1 sent 80: disk".to_owned()),
        "{told:#?}"
    );
    assert!(told.contains(&"300 1: sleep".to_owned()), "{told:#?}");
}

#[test]
fn a_loop_that_is_told_of_several_answers_goes_on_with_its_own() {
    let mut script = server(Runtime::Node, &[1]);
    script.process(200, Role::Peer, Runtime::Native);
    for (tid, name) in [(80, "theirs"), (81, "own")] {
        script.thread(tid, 200, name);
        script.starts(10, tid);
    }
    script.starts(10, 1);
    let (theirs, own) = (script.socket(50_000, 5_432), script.socket(50_001, 5_432));
    let at = |port| (5_432, port);
    let (far_theirs, far_own) = (at(50_000), at(50_001));
    let far_theirs = script.socket(far_theirs.0, far_theirs.1);
    let far_own = script.socket(far_own.0, far_own.1);
    let other = Request {
        client: CLIENT + 1,
        ..Request::by(1, 1_010, 1_150, 9_200)
    };
    let request = Request::by(1, 1_000, 1_100, 9_500);
    script.wrote(1_120, 1, own);
    script.wrote(1_170, 1, theirs);
    script.waits(Wait::new(1, 1_200, 9_000, Call::Poll, By::Softirq));
    // One backend computes, the other one waits for its disk.
    script.waits(Wait::new(81, 1_300, 8_900, Call::Sync, By::Hardirq));
    script.wrote(8_980, 80, far_theirs);
    script.wrote(8_985, 81, far_own);
    script.read(9_050, 1, theirs);
    script.read(9_300, 1, own);
    other.play(&mut script);
    request.play(&mut script);
    let trace = script.done();
    let (first, second) = (told(&trace, &other), told(&trace, &request));
    assert!(
        first.iter().any(|line| line.ends_with("1 sent 80: cpu")),
        "{first:#?}"
    );
    assert!(
        second.contains(&"7600 1 sent 81: disk".to_owned()),
        "{second:#?}"
    );
}

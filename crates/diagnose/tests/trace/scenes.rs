//! Servers as they are met, thread by thread.

use std::fmt::Write;

use slowpath_core::nanos::Nanos;
use slowpath_core::sample::Sample;
use slowpath_core::samples::Samples;
use slowpath_core::trace::{Call, Depth, Role, Runtime, Trace};
use slowpath_diagnose::diagnosis::Segment;
use slowpath_diagnose::trace::Index;
use slowpath_diagnose::trace::index::Runner;
use slowpath_diagnose::trace::join::Joiner;
use slowpath_diagnose::trace::pieces::{Behalf, Blank, How, LeafKind, Piece};
use slowpath_diagnose::trace::walk::Walker;

use crate::script::{By, Script, Wait};

const PORT: u16 = 8_080;
const CLIENT: u16 = 40_000;
const SERVER: u32 = 100;

/// A traced server of some threads, which are named by their ids.
pub(super) fn server(runtime: Runtime, tids: &[u32]) -> Script {
    let mut script = Script::over(1, 1_000_000, Depth::Full);
    script.process(SERVER, Role::Target, runtime);
    for &tid in tids {
        script.thread(tid, SERVER, &format!("t{tid}"));
    }
    script
}

/// A request that comes to the server at `arrives`, is read and answered then by these threads.
pub(super) struct Request {
    client: u16,
    arrives: u64,
    read: (u64, u32),
    answered: (u64, u32),
}

impl Request {
    pub(super) const fn by(tid: u32, arrives: u64, read: u64, answered: u64) -> Self {
        Self {
            client: CLIENT,
            arrives,
            read: (read, tid),
            answered: (answered, tid),
        }
    }

    pub(super) fn play(&self, script: &mut Script) {
        let socket = script.socket(PORT, self.client);
        script.arrived(self.arrives, socket);
        script.read(self.read.0, self.read.1, socket);
        script.wrote(self.answered.0, self.answered.1, socket);
    }

    fn sample(&self) -> Sample {
        let sent = Nanos::new(self.arrives - 10);
        let mut sample = Sample::due(sent);
        sample.sent = Some(sent);
        sample.done = Nanos::new(self.answered.0 + 10);
        sample.local_port = self.client;
        sample
    }
}

/// What of a request's time was spent on what: threads from the one that has the request to the
/// one that did something, and what that did.
pub(super) fn told(trace: &Trace, request: &Request) -> Vec<String> {
    let samples: Samples = vec![request.sample()].into();
    let index = Index::new(trace);
    let joined = Joiner::new(&index, Some(PORT))
        .join(0, samples.at(0))
        .unwrap();
    let mut walker = Walker::new(&index);
    let mut pieces = Vec::new();
    walker.request(&joined, &mut pieces);
    let own = |p: &&Piece| matches!(p.segment, Segment::Unread | Segment::Service);
    let word = |piece: &Piece| {
        let hops = walker.chains.hops(piece.chain);
        let mut text = format!("{} {}", piece.len_ns(), hops[0].tid);
        for hop in &hops[1..] {
            let how = match hop.how {
                How::Serves => "serves",
                How::Lock => "lock",
                How::Condition => "condition",
                How::Interpreter => "interpreter",
                How::Asked => "asked",
                How::Woke => "woke",
                How::Sent => "sent",
                How::Ended => "ended",
            };
            write!(text, " {how} {}", hop.tid).unwrap();
        }
        let leaf = match piece.leaf.kind {
            LeafKind::Ready(Runner::Thread(tid)) => format!("ready behind {tid}"),
            LeafKind::Unknown(Blank::NotSeen) => "not seen".to_owned(),
            kind => format!("{kind:?}").to_lowercase(),
        };
        assert_eq!(hops.last().unwrap().tid, piece.leaf.tid);
        let behalf = match piece.behalf {
            Behalf::Own => "",
            Behalf::Other => " for another",
            Behalf::Background => " in the background",
        };
        format!("{text}: {leaf}{behalf}")
    };
    pieces.iter().filter(own).map(word).collect()
}

pub(super) fn futex(tid: u32, begin: u64, wake: u64, by: u32) -> Wait {
    Wait {
        wake,
        about: 0xF00,
        ..Wait::new(tid, begin, wake + 10, Call::Futex, By::Thread(by))
    }
}

pub(super) fn sleep(tid: u32, begin: u64, end: u64) -> Wait {
    Wait::new(tid, begin, end, Call::Sleep, By::Hardirq)
}

/// Until its request comes.
fn idle(tid: u32, begin: u64, end: u64) -> Wait {
    Wait::new(tid, begin, end, Call::Read, By::Softirq)
}

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
        ["49000 1: cpu for another", "100 1: cpu", "100 1: cpu"]
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
    let mut script = server(Runtime::Native, &[1]);
    script.process(200, Role::Peer, Runtime::Native);
    script.thread(80, 200, "backend");
    script.starts(10, 1);
    script.starts(10, 80);
    let (here, there) = (script.socket(50_000, 5_432), script.socket(5_432, 50_000));
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
fn a_wait_without_a_stack_is_for_whatever_is_read_next() {
    let mut script = server(Runtime::Native, &[1]);
    script.process(200, Role::Peer, Runtime::Native);
    script.thread(80, 200, "backend");
    script.starts(10, 1);
    script.starts(10, 80);
    let (here, there) = (script.socket(50_000, 5_432), script.socket(5_432, 50_000));
    let unknown = |wait: Wait| Wait { call: None, ..wait };
    script.wrote(1_200, 1, here);
    script.waits(unknown(Wait::new(1, 1_300, 4_000, Call::Read, By::Softirq)));
    script.waits(Wait::new(80, 2_000, 3_000, Call::Sync, By::Hardirq));
    script.wrote(3_950, 80, there);
    script.read(4_010, 1, here);
    // Behind this one it reads what a client sent, as loops do: nothing was waited for there.
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
fn a_peer_whose_write_is_told_of_after_it_woke_the_reader_is_followed() {
    let mut script = server(Runtime::Native, &[1]);
    script.process(200, Role::Peer, Runtime::Native);
    script.thread(80, 200, "backend");
    script.starts(10, 1);
    script.starts(10, 80);
    let (here, there) = (script.socket(50_000, 5_432), script.socket(5_432, 50_000));
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

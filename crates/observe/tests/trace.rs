//! Tracing a server that lives in this very process.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "these tests wait for a real kernel, say what they skip, and fail with their helpers"
)]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use slowpath_core::nanos::{MILLISECOND, SECOND, Span};
use slowpath_core::timeline::Gap;
use slowpath_core::trace::{Call, Context, Depth, IDLE, Left, Role, Trace, What};
use slowpath_observe::{TraceWatch, Traced, Tracer, clock};

/// Requests of the client, one at a time.
const REQUESTS: usize = 40;
const REQUEST: &[u8] = b"GET /\n";
const ANSWER: &[u8] = b"0123456789";

/// A server thread that takes a lock for each request while another holds it now and then.
struct Server {
    port: u16,
    tid: Arc<AtomicU32>,
    holder: Arc<AtomicU32>,
    stop: Arc<AtomicBool>,
    threads: Vec<thread::JoinHandle<()>>,
}

fn tid() -> u32 {
    let link = std::fs::read_link("/proc/thread-self").unwrap();
    link.file_name().unwrap().to_str().unwrap().parse().unwrap()
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let lock = Arc::new(Mutex::new(()));
        let (tid_of_server, holder) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let stop = Arc::new(AtomicBool::new(false));
        let serve = {
            let (own, lock) = (Arc::clone(&tid_of_server), Arc::clone(&lock));
            move || {
                own.store(tid(), Ordering::SeqCst);
                let (mut stream, _) = listener.accept().unwrap();
                let mut request = [0; REQUEST.len()];
                while stream.read_exact(&mut request).is_ok() {
                    let held = lock.lock().unwrap();
                    stream.write_all(ANSWER).unwrap();
                    drop(held);
                }
            }
        };
        let hold = {
            let (own, stop) = (Arc::clone(&holder), Arc::clone(&stop));
            move || {
                own.store(tid(), Ordering::SeqCst);
                while !stop.load(Ordering::SeqCst) {
                    let held = lock.lock().unwrap();
                    thread::sleep(Duration::from_millis(15));
                    drop(held);
                    thread::sleep(Duration::from_millis(5));
                }
            }
        };
        let spawn = |name: &str, work: Box<dyn FnOnce() + Send>| {
            thread::Builder::new()
                .name(name.to_owned())
                .spawn(work)
                .unwrap()
        };
        let threads = vec![
            spawn("serves", Box::new(serve)),
            spawn("holds-it", Box::new(hold)),
        ];
        Self {
            port,
            tid: tid_of_server,
            holder,
            stop,
            threads,
        }
    }

    /// Sends requests one after another, with pauses; gives the port they came from.
    fn ask(&self, requests: usize) -> u16 {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_nodelay(true).unwrap();
        let mut answer = [0; ANSWER.len()];
        for _ in 0..requests {
            stream.write_all(REQUEST).unwrap();
            stream.read_exact(&mut answer).unwrap();
            thread::sleep(Duration::from_millis(2));
        }
        stream.local_addr().unwrap().port()
    }

    fn stop(self) {
        self.stop.store(true, Ordering::SeqCst);
        for thread in self.threads {
            thread.join().unwrap();
        }
    }
}

fn watch(port: u16, most_events: u64) -> TraceWatch {
    TraceWatch {
        proc_root: PathBuf::from("/proc"),
        pids: vec![std::process::id()],
        peers: Vec::new(),
        port: Some(port),
        repeat: 3,
        seed: 11,
        most_events,
        most_files: 1024,
    }
}

/// Whether tracepoints were recorded. If not, it must be because that is not permitted here, or there is
/// nothing to permit: whatever else goes wrong is a fault.
fn is_permitted(traced: &Traced) -> bool {
    const REFUSALS: [&str; 5] = [
        "Permission denied",
        "Operation not permitted",
        "tracefs is not mounted",
        "pid namespace",
        "time namespace",
    ];
    let is_whole = |gap: &&Gap| gap.signal == "trace.kernel";
    let Some(gap) = traced.gaps.iter().find(is_whole) else {
        return true;
    };
    let is_refusal = REFUSALS.iter().any(|refusal| gap.reason.contains(refusal));
    assert!(is_refusal, "{gap:?}");
    println!("skipped: {}", gap.reason);
    false
}

/// Traces a window in which the client asks; `None` says that tracing is not permitted here. A
/// window that is shorter than a slot is one, and with this seed the first of the repeat is traced.
fn traced(window_ns: u64, requests: usize, most_events: u64) -> Option<(Trace, Server, u16)> {
    let server = Server::start();
    let tracer = Tracer::start(watch(server.port, most_events));
    let begin = clock::now();
    tracer.window(Span::new(begin, begin.plus(window_ns)));
    while clock::now() < begin.plus(30 * MILLISECOND) {
        thread::sleep(Duration::from_millis(1));
    }
    let from = server.ask(requests);
    let traced = tracer.stop();
    if !is_permitted(&traced) {
        server.stop();
        return None;
    }
    Some((traced.trace, server, from))
}

#[test]
fn requests_are_seen_from_arrival_to_answer_and_wakes_are_told() {
    let Some((trace, server, from)) = traced(50 * MILLISECOND, REQUESTS, 1_000_000) else {
        return;
    };
    let serves = server.tid.load(Ordering::SeqCst);
    let holds = server.holder.load(Ordering::SeqCst);
    let end = trace
        .sockets
        .iter()
        .position(|s| s.local.port() == server.port && s.remote.port() == from)
        .expect("the server's end of the connection") as u32;
    let stretch = trace.stretches.first().unwrap();
    assert_eq!((stretch.depth, stretch.repeat), (Depth::Full, 3));
    assert_eq!(stretch.lost, 0);
    let count = |of: &dyn Fn(&What) -> bool| trace.events.iter().filter(|e| of(&e.what)).count();
    let bytes = REQUEST.len() as u32;
    let arrived = |what: &What| *what == What::Arrived { socket: end, bytes };
    assert_eq!(count(&arrived), REQUESTS);
    let read = |what: &What| {
        *what
            == What::Read {
                tid: serves,
                socket: end,
            }
    };
    assert!(count(&read) >= REQUESTS, "{}", count(&read));
    let bytes = ANSWER.len() as u32;
    let wrote = What::Wrote {
        tid: serves,
        socket: end,
        bytes,
    };
    assert_eq!(count(&|what| *what == wrote), REQUESTS);
    let woken = |what: &What| {
        matches!(what, What::Waking { tid, by, context: Context::Thread }
            if *tid == serves && *by == holds)
    };
    assert!(
        count(&woken) > 0,
        "the holder wakes the server when it releases the lock"
    );
    let waits = |what: &What| {
        matches!(what, What::Call { tid, call: Call::Futex, about }
        if *tid == serves && *about != 0)
    };
    assert!(count(&waits) > 0);
    let sleeps = |what: &What| {
        matches!(what, What::Call { tid, call: Call::Sleep, .. }
        if *tid == holds)
    };
    assert!(count(&sleeps) > 0);
    let switches = |what: &What| {
        matches!(what, What::Switch { from, to, .. }
        if *from == serves || *to == serves)
    };
    assert!(count(&switches) > 0);
    assert!(trace.events.is_sorted_by_key(|event| event.at));
    is_closed(&trace);
    stands_in(&trace, serves, "lock");
    stands_in(&trace, holds, "sleep");
    assert_eq!(trace.thread(holds).unwrap().name, "holds-it");
    assert_eq!(trace.process_of(serves).unwrap().role, Role::Target);
    server.stop();
}

/// Some wait of the thread has a stack with a function of the program of that name, and one of the
/// kernel that gives the CPU away.
fn stands_in(trace: &Trace, thread: u32, name: &str) {
    let stacks = trace.events.iter().filter_map(|event| match event.what {
        What::Switch { from, stack, .. } if from == thread => trace.stacks.get(stack as usize),
        _ => None,
    });
    let stacks: Vec<Vec<String>> = stacks
        .map(|stack| {
            let frames = stack.iter().map(|&frame| &trace.frames[frame as usize]);
            frames.map(ToString::to_string).collect()
        })
        .collect();
    let has = |stack: &Vec<String>| stack.iter().any(|f| f.contains(name) && f.contains('('));
    assert!(stacks.iter().any(has), "{name} in {stacks:#?}");
}

/// Every position points into the tables, and every thread is known.
fn is_closed(trace: &Trace) {
    let known = |tid: u32| assert!(tid == IDLE || trace.thread(tid).is_some(), "{tid}");
    for event in &trace.events {
        match event.what {
            What::Switch { from, to, .. } => {
                known(from);
                known(to);
            }
            What::Waking { tid, by, .. } => {
                known(tid);
                known(by);
            }
            What::Arrived { socket, .. } | What::Read { socket, .. } => {
                assert!((socket as usize) < trace.sockets.len());
            }
            _ => {}
        }
    }
}

#[test]
fn slots_are_left_out_and_what_is_kept_is_of_all_others() {
    /// Of each of the eight slots that are traced, a quarter of a second's worth is far more.
    const MOST: usize = 800;
    let Some((trace, server, _)) = traced(SECOND, 90, MOST as u64) else {
        return;
    };
    assert!(trace.events.len() <= MOST);
    let (mut off, mut with_events, mut end) = (0, 0, trace.stretches[0].span.begin);
    for stretch in &trace.stretches {
        assert!(stretch.span.begin >= end, "{:?}", trace.stretches);
        end = stretch.span.end;
        let inside = |at| stretch.span.begin <= at && at <= stretch.span.end;
        let count = trace.events.iter().filter(|e| inside(e.at)).count();
        if stretch.depth == Depth::Off {
            off += 1;
            assert_eq!(count, 0);
        }
        with_events += usize::from(count > 0);
    }
    // Two of ten slots are off, and a client that asks for that long meets most of the others;
    // slots that are not traced to their end are stretches of their own.
    assert!((1..=2).contains(&off), "{:?}", trace.stretches);
    assert!(with_events >= 3, "{:?}", trace.stretches);
    server.stop();
}

#[test]
fn what_is_not_there_is_a_gap_and_no_failure() {
    let nowhere = tempfile::tempdir().unwrap();
    let tracer = Tracer::start(TraceWatch {
        proc_root: nowhere.path().to_owned(),
        ..watch(1, 10)
    });
    tracer.window(Span::new(clock::now(), clock::now().plus(MILLISECOND)));
    let traced = tracer.stop();
    assert!(traced.trace.depth().is_none());
    assert_eq!(traced.gaps[0].signal, "trace.kernel");
    let mut gaps = traced.gaps.iter();
    assert!(gaps.all(|gap| !gap.remedy.is_empty()), "{:?}", traced.gaps);
}

/// A thread that sleeps on a CPU that is idle otherwise comes back each time: some kernels of virtual
/// machines do not report that of every CPU.
#[test]
fn whoever_slept_comes_back_on_every_cpu() {
    const SLEEPS: usize = 20;
    let allowed = sched_getaffinity(None).unwrap();
    let cpus = (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu));
    let cpus: Vec<usize> = cpus.collect();
    let tracer = Tracer::start(watch(1, 1_000_000));
    let begin = clock::now();
    // One slot, which is traced.
    tracer.window(Span::new(begin, begin.plus(90 * MILLISECOND)));
    while clock::now() < begin.plus(10 * MILLISECOND) {
        thread::sleep(Duration::from_millis(1));
    }
    let mut tids = Vec::new();
    for cpu in cpus {
        let slept = thread::spawn(move || {
            let mut only = CpuSet::new();
            only.set(cpu);
            sched_setaffinity(None, &only).unwrap();
            (0..SLEEPS).for_each(|_| thread::sleep(Duration::from_micros(500)));
            tid()
        });
        tids.push(slept.join().unwrap());
    }
    let traced = tracer.stop();
    if !is_permitted(&traced) {
        return;
    }
    for tid in tids {
        let (mut asleep, mut woken, mut slept, mut lost) = (false, false, 0, 0);
        for event in &traced.trace.events {
            match event.what {
                What::Switch { from, left, .. } if from == tid => {
                    lost += usize::from(asleep);
                    (asleep, woken) = (left == Left::Sleeping, false);
                }
                What::Waking { tid: who, .. } if who == tid => woken = true,
                What::Switch { to, .. } if to == tid => {
                    slept += usize::from(asleep && woken);
                    lost += usize::from(asleep && !woken);
                    asleep = false;
                }
                _ => {}
            }
        }
        assert!(
            slept >= SLEEPS / 2 && lost <= 1,
            "{slept} slept, {lost} lost"
        );
    }
}

//! Tracing without privilege, of a real process on a real kernel, as a user without rights.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests start processes, fail by panicking, and say when they are skipped"
)]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use slowpath_core::Nanos;
use slowpath_core::nanos::{MILLISECOND, Span};
use slowpath_core::timeline::Gap;
use slowpath_core::trace::{Call, Depth, Role, Runtime, Stretch, Trace, What};
use slowpath_observe::clock;
use slowpath_observe::peek::{PeekWatch, Peeker, USUAL_HERTZ};
use slowpath_observe::{TraceWatch, Traced, Tracer};

const SERVER: &str = env!("CARGO_BIN_EXE_lock-holder");
/// Where an unprivileged run of this program finds the server.
const SERVER_COPY: &str = "SLOWPATH_TEST_LOCK_HOLDER";
/// The process of another user that an unprivileged run looks at.
const OTHERS: &str = "SLOWPATH_TEST_OTHERS";
/// Times that a busy machine is asked again.
const ATTEMPTS: u32 = 3;
/// The user `nobody`.
const NOBODY: u32 = 65_534;

/// The program that is observed; it ends with this.
struct Server(Child);

impl Server {
    fn start(command: &mut Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        let out = child.stdout.take().unwrap();
        BufReader::new(out).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        Self(child)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Its end is what is wanted; an error means that it has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn traced(pid: u32, for_ms: u64, most_events: u64) -> Traced {
    let peeker = Peeker::start(PeekWatch {
        proc_root: "/proc".into(),
        pids: vec![pid],
        repeat: 3,
        seed: 1,
        most_events,
        hertz: USUAL_HERTZ,
        most_files: 1024,
    });
    let begin = clock::now().plus(20 * MILLISECOND);
    peeker.window(Span::new(begin, begin.plus(for_ms * MILLISECOND)));
    thread::sleep(Duration::from_millis(for_ms + 40));
    peeker.stop()
}

/// Runs the test `name` of this program again as `nobody`, if this is root; says whether it did.
fn ran_as_nobody(name: &str, pid: Option<u32>) -> bool {
    if !rustix::process::geteuid().is_root() {
        return false;
    }
    // Programs lie in folders that not every user may enter.
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let copy = |from: &Path, name: &str| -> PathBuf {
        let to = dir.path().join(name);
        fs::copy(from, &to).unwrap();
        to
    };
    let program = copy(&std::env::current_exe().unwrap(), "tests");
    let server = copy(Path::new(SERVER), "server");
    let output = Command::new(program)
        .args(["--exact", name, "--nocapture"])
        .env(SERVER_COPY, server)
        .envs(pid.map(|pid| (OTHERS, pid.to_string())))
        .current_dir(dir.path())
        .uid(NOBODY)
        .gid(NOBODY)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    print!("{said}");
    assert!(
        output.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    true
}

fn server_path() -> PathBuf {
    std::env::var_os(SERVER_COPY).map_or_else(|| SERVER.into(), Into::into)
}

fn name_of(trace: &Trace, tid: u32) -> &str {
    trace.thread(tid).map_or("", |thread| &*thread.name)
}

fn gap<'a>(traced: &'a Traced, signal: &str) -> Option<&'a Gap> {
    traced.gaps.iter().find(|gap| gap.signal == signal)
}

/// Whether calls, locks and switches could all be seen; says so if not.
fn sees_all(traced: &Traced) -> bool {
    let lacks = [
        "trace.calls",
        "trace.waits",
        "trace.lock-owners",
        "trace.switches",
    ];
    let lack = lacks.iter().find_map(|signal| gap(traced, signal));
    if let Some(gap) = lack {
        const REFUSALS: [&str; 3] = ["ermission denied", "not permitted", "does not show"];
        let is_refusal = REFUSALS.iter().any(|refusal| gap.reason.contains(refusal));
        assert!(is_refusal, "whatever else goes wrong is a fault: {gap:?}");
        println!("skipped: {}", gap.reason);
    }
    lack.is_none()
}

/// When each thread was on a CPU, by its id; a stretch's end ends nothing.
fn runs(trace: &Trace) -> BTreeMap<u32, Vec<(Nanos, Option<Nanos>)>> {
    let mut runs: BTreeMap<u32, Vec<(Nanos, Option<Nanos>)>> = BTreeMap::new();
    for event in &trace.events {
        match event.what {
            What::On { tid } => runs.entry(tid).or_default().push((event.at, None)),
            What::Off { tid, .. } => {
                if let Some((_, end)) = runs.entry(tid).or_default().last_mut() {
                    *end = Some(event.at);
                }
            }
            _ => {}
        }
    }
    runs
}

/// At least four of five.
fn is_most(count: usize, of: usize) -> bool {
    count * 5 >= of * 4
}

/// At least four of five, and enough of them to mean something.
fn assert_most(count: usize, of: usize, least: usize, what: &str) {
    assert!(of >= least, "{what}: {of} are too few");
    assert!(is_most(count, of), "{what}: {count} of {of}");
}

/// Of all looks at workers that wait for the lock, how many name its holder, how many of these
/// find the holder asleep, and how many there are.
fn blame(trace: &Trace) -> (usize, usize, usize) {
    let (mut named, mut asleep, mut all) = (0, 0, 0);
    let mut last = BTreeMap::new();
    for event in &trace.events {
        match event.what {
            What::On { tid } => {
                last.remove(&tid);
            }
            What::Peek {
                tid, call, owner, ..
            } => {
                last.insert(tid, call);
                if call == Call::Futex && name_of(trace, tid).starts_with("worker-") {
                    all += 1;
                    named += usize::from(name_of(trace, owner) == "flusher");
                    asleep += usize::from(last.get(&owner) == Some(&Call::Sleep));
                }
            }
            _ => {}
        }
    }
    (named, asleep, all)
}

#[test]
fn who_holds_the_lock_is_named_without_privilege() {
    if ran_as_nobody("who_holds_the_lock_is_named_without_privilege", None) {
        return;
    }
    let server = Server::start(&mut Command::new(server_path()));
    let traced = traced(server.0.id(), 2_000, 1 << 20);
    if !sees_all(&traced) {
        return;
    }
    let trace = &traced.trace;
    let [process] = &trace.processes[..] else {
        panic!("{:?}", trace.processes);
    };
    assert_eq!((process.pid, process.role), (server.0.id(), Role::Target));
    assert!(!process.executable.is_empty());
    assert_eq!(process.runtime, Runtime::Native);
    let (named, asleep, all) = blame(trace);
    assert_most(named, all, 50, "looks that name the holder");
    assert_most(asleep, named, 50, "looks that find the holder asleep");
    briefs_are_seen(trace);
    looks_agree_with_switches(trace);
    off_is_off(trace);
}

/// Threads that were never listed were followed, because their parent was.
fn briefs_are_seen(trace: &Trace) {
    let runs = runs(trace);
    let briefs: Vec<u32> = runs
        .keys()
        .copied()
        .filter(|tid| name_of(trace, *tid) == "brief")
        .collect();
    let ended = briefs
        .iter()
        .filter(|tid| runs[tid].iter().all(|(_, end)| end.is_some()));
    assert_most(ended.count(), briefs.len(), 20, "brief threads");
}

/// A thread that is sampled is not on a CPU, and one that sleeps long is sampled.
fn looks_agree_with_switches(trace: &Trace) {
    let runs = runs(trace);
    let looks: Vec<(Nanos, u32)> = trace
        .events
        .iter()
        .filter_map(|event| match event.what {
            What::Peek { tid, .. } => Some((event.at, tid)),
            _ => None,
        })
        .collect();
    let is_off = |(at, tid): &&(Nanos, u32)| {
        let runs = runs.get(tid).map_or(&[][..], |runs| runs);
        !runs
            .iter()
            .any(|(on, off)| on < at && off.is_some_and(|off| *at < off))
    };
    let off = looks.iter().filter(is_off).count();
    assert_most(off, looks.len(), 100, "looks at threads that do not run");
    let flusher = trace
        .threads
        .iter()
        .find(|thread| thread.name == "flusher")
        .unwrap()
        .tid;
    let within = |begin: Nanos, end: Nanos| {
        let whole = Span::new(begin, end);
        let of_trace = |s: &Stretch| s.depth == Depth::Threads && s.span.overlap_ns(whole) > 0;
        trace
            .stretches
            .iter()
            .filter(|s| of_trace(s))
            .map(|s| s.span.overlap_ns(whole))
            .sum::<u64>()
            == whole.len_ns()
    };
    let sleeps: Vec<(Nanos, Nanos)> = runs[&flusher]
        .windows(2)
        .filter_map(|pair| Some((pair[0].1?, pair[1].0)))
        .filter(|(off, on)| on.since(*off) > 30 * MILLISECOND && within(*off, *on))
        .collect();
    let is_seen = |(off, on): &&(Nanos, Nanos)| {
        looks
            .iter()
            .any(|(at, tid)| *tid == flusher && off < at && at < on)
    };
    let seen = sleeps.iter().filter(is_seen).count();
    assert_most(seen, sleeps.len(), 8, "long sleeps that are sampled");
}

/// Of every five slots one is off, and nothing is on record in it.
fn off_is_off(trace: &Trace) {
    let (off, on): (Vec<&Stretch>, Vec<&Stretch>) =
        trace.stretches.iter().partition(|s| s.depth == Depth::Off);
    // A machine that is too busy for a slot leaves it out.
    assert!((1..=4).contains(&off.len()), "{:?}", trace.stretches);
    assert!((8..=16).contains(&on.len()), "{:?}", trace.stretches);
    assert!(trace.stretches.iter().all(|s| s.repeat == 3 && s.lost == 0));
    for pair in trace.stretches.windows(2) {
        assert!(pair[0].span.end <= pair[1].span.begin);
    }
    for event in &trace.events {
        let is_in = |s: &&Stretch| s.span.begin <= event.at && event.at < s.span.end;
        assert!(!off.iter().any(is_in), "{event:?}");
    }
    let mut on_cpu = BTreeMap::new();
    let mut stretches = trace.stretches.iter().peekable();
    for event in &trace.events {
        // Several stretches may have ended since the event before.
        while let Some(over) = stretches.next_if(|s| s.span.end <= event.at) {
            let is_followed_by_the_next = stretches
                .peek()
                .is_some_and(|next| next.depth == over.depth && next.span.begin == over.span.end);
            if !is_followed_by_the_next {
                on_cpu.clear();
            }
        }
        let (tid, on) = match event.what {
            What::On { tid } => (tid, true),
            What::Off { tid, .. } => (tid, false),
            _ => continue,
        };
        assert_ne!(
            on_cpu.insert(tid, on),
            Some(on),
            "{event:?} is reported twice"
        );
    }
}

#[test]
fn who_holds_a_lock_without_an_owner_is_told_by_its_releases() {
    if ran_as_nobody(
        "who_holds_a_lock_without_an_owner_is_told_by_its_releases",
        None,
    ) {
        return;
    }
    let server = Server::start(Command::new(server_path()).arg("plain"));
    // A thread that is released must soon get a CPU: on a machine that is too busy few are named.
    for attempt in 1.. {
        let traced = traced(server.0.id(), 2_500, 1 << 20);
        if !sees_all(&traced) {
            return;
        }
        let (named, asleep, all) = blame(&traced.trace);
        if is_most(named, all) || attempt == ATTEMPTS {
            assert_most(named, all, 50, "looks that name the holder");
            assert_most(asleep, named, 50, "looks that find the holder asleep");
            return;
        }
    }
}

#[test]
fn without_tracepoints_there_is_still_this() {
    if ran_as_nobody("without_tracepoints_there_is_still_this", None) {
        return;
    }
    let server = Server::start(&mut Command::new(server_path()));
    let tracer = Tracer::start(TraceWatch {
        proc_root: "/proc".into(),
        pids: vec![server.0.id()],
        peers: Vec::new(),
        port: None,
        repeat: 0,
        seed: 1,
        most_events: 1 << 20,
        most_files: 1024,
    });
    let begin = clock::now();
    tracer.window(Span::new(begin, begin.plus(500 * MILLISECOND)));
    thread::sleep(Duration::from_millis(500));
    let traced = tracer.stop();
    let Some(kernel) = gap(&traced, "trace.kernel") else {
        println!("skipped: this user may read tracepoints");
        return;
    };
    assert!(kernel.reason.contains("which thread woke which") && !kernel.remedy.is_empty());
    assert!(!traced.cost.is_empty());
    if sees_all(&traced) {
        let is_peek = |what: &What| matches!(what, What::Peek { .. });
        assert!(traced.trace.events.iter().any(|event| is_peek(&event.what)));
        assert!(
            traced
                .trace
                .stretches
                .iter()
                .any(|s| s.depth == Depth::Threads)
        );
    }
}

#[test]
fn what_finds_no_room_is_not_traced() {
    let server = Server::start(&mut Command::new(server_path()));
    let Traced { trace, .. } = traced(server.0.id(), 800, 60);
    assert!(trace.events.len() <= 60);
    let traced: Vec<Span> = trace
        .stretches
        .iter()
        .filter(|s| s.depth == Depth::Threads)
        .map(|s| s.span)
        .collect();
    // Every slot has its part, and no more is said to be traced than was.
    assert!(traced.len() >= 5, "{traced:?}");
    let sum_ns: u64 = traced.iter().map(|span| span.len_ns()).sum();
    assert!(sum_ns < 500 * MILLISECOND, "{traced:?}");
    for event in &trace.events {
        let is_in = |span: &Span| span.begin <= event.at && event.at <= span.end;
        assert!(
            traced.iter().any(is_in),
            "{event:?} lies in none of {traced:?}"
        );
    }
}

#[test]
fn owners_in_a_pid_namespace_are_the_hosts_threads() {
    if ran_as_nobody("owners_in_a_pid_namespace_are_the_hosts_threads", None) {
        return;
    }
    let mut command = Command::new("unshare");
    command.args([
        "--user",
        "--map-root-user",
        "--pid",
        "--fork",
        "--kill-child",
    ]);
    let works = command
        .arg("true")
        .output()
        .is_ok_and(|output| output.status.success());
    if !works {
        println!("skipped: this user may make no pid namespace");
        return;
    }
    let mut command = Command::new("unshare");
    command.args([
        "--user",
        "--map-root-user",
        "--pid",
        "--fork",
        "--kill-child",
    ]);
    let server = Server::start(command.arg(server_path()));
    let traced = traced(server.0.id(), 1_000, 1 << 20);
    if !sees_all(&traced) {
        return;
    }
    let (named, asleep, all) = blame(&traced.trace);
    assert_most(named, all, 20, "looks that name the holder");
    assert_most(asleep, named, 20, "looks that find the holder asleep");
}

#[test]
fn threads_of_another_user_are_gaps() {
    let Ok(pid) = std::env::var(OTHERS) else {
        let server = Server::start(&mut Command::new(server_path()));
        if !ran_as_nobody("threads_of_another_user_are_gaps", Some(server.0.id())) {
            println!("skipped: only root has another user to ask for");
        }
        return;
    };
    let pid = pid.parse().unwrap();
    let traced = traced(pid, 300, 1 << 20);
    for signal in ["trace.calls", "trace.waits", "trace.switches"] {
        let gap = gap(&traced, signal).unwrap_or_else(|| panic!("{signal}: {:?}", traced.gaps));
        assert!(!gap.reason.is_empty() && !gap.remedy.is_empty());
    }
    assert_eq!(traced.trace.events, []);
}

#[test]
fn a_process_that_is_not_there_leaves_an_empty_trace() {
    let traced = traced(i32::MAX as u32, 120, 1 << 20);
    assert_eq!(traced.trace.events, []);
    assert_eq!(traced.trace.threads, []);
}

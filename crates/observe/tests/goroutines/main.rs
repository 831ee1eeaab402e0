//! What the goroutines of a real program wait for, read from its memory, with and without its symbols.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests start processes, fail by panicking, and say when they are skipped"
)]

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use slowpath_core::nanos::{MILLISECOND, Span};
use slowpath_core::trace::{Does, NO_SOCKET, Stay, Trace};
use slowpath_observe::{TraceWatch, Traced, Tracer, clock};

/// The program that is observed; it ends with this.
struct Program {
    child: Child,
    /// The connection that one of its goroutines reads.
    local: SocketAddr,
}

impl Drop for Program {
    fn drop(&mut self) {
        // Its end is what is wanted; an error means that it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Program {
    /// Builds and starts it; `None` where there is no compiler.
    fn start(folder: &Path, flags: &[&str]) -> Option<Self> {
        let system = Path::new("/usr/local/go/bin/go");
        let compiler = if system.is_file() {
            system
        } else {
            Path::new("go")
        };
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goroutines/waits.go");
        let binary = folder.join("waits");
        let mut command = Command::new(compiler);
        command
            .arg("build")
            .args(flags)
            .arg("-o")
            .arg(&binary)
            .arg(source);
        let Ok(output) = command.stdin(Stdio::null()).output() else {
            println!("skipped: go is not installed");
            return None;
        };
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        let mut command = Command::new(binary);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        let out = child.stdout.take().unwrap();
        BufReader::new(out).read_line(&mut line).unwrap();
        let local = line.trim().parse().unwrap();
        Some(Self { child, local })
    }

    fn looked_at(&self) -> Traced {
        let tracer = Tracer::start(TraceWatch {
            proc_root: "/proc".into(),
            pids: vec![self.child.id()],
            peers: Vec::new(),
            port: None,
            repeat: 3,
            seed: 11,
            most_events: 1_000_000,
            most_files: 1_024,
        });
        // Its file is read before the window, which may take a moment.
        thread::sleep(Duration::from_millis(300));
        let begin = clock::now().plus(20 * MILLISECOND);
        tracer.window(Span::new(begin, begin.plus(500 * MILLISECOND)));
        thread::sleep(Duration::from_millis(560));
        tracer.stop()
    }
}

/// Whether the goroutines were read. Not, if this user may not look at others' memory.
fn are_read(traced: &Traced) -> bool {
    let gap = traced
        .gaps
        .iter()
        .find(|gap| gap.signal == "trace.goroutines");
    let Some(gap) = gap else { return true };
    if gap.reason.contains("takes long") {
        // On a busy host fewer looks keep to the budget; each of them says the same.
        return true;
    }
    assert!(gap.reason.contains("permitted"), "{gap:?}");
    println!("skipped: {}", gap.reason);
    false
}

/// What the goroutine does that stands in a function: for the longest time, if it was found at several things.
fn of<'t>(trace: &'t Trace, function: &str) -> &'t Stay {
    let stands = |stay: &&Stay| {
        let frames = trace.stacks.get(stay.stack as usize).into_iter().flatten();
        let mut names = frames.map(|&frame| trace.frames[frame as usize].function.as_str());
        names.any(|name| name == function)
    };
    let lasted = |stay: &&Stay| stay.last.get() - stay.first.get();
    let found = trace.stays.iter().filter(stands).max_by_key(lasted);
    found.unwrap_or_else(|| panic!("{function}: {:?}", trace.stays))
}

fn each_wait_is_told(program: &Program) {
    let traced = program.looked_at();
    if !are_read(&traced) {
        return;
    }
    let trace = &traced.trace;
    assert!(trace.looks.len() >= 10, "{}", trace.looks.len());
    assert!(
        trace
            .looks
            .iter()
            .all(|look| look.found >= 10 && look.left_out == 0)
    );
    let expected = [
        ("main.holdsTheLock", Does::Sleep),
        ("main.wantsTheLock", Does::Lock),
        ("main.wantsTheTable", Does::Lock),
        ("main.sends", Does::Send),
        ("main.selects", Does::Select),
        ("main.receivesForATime", Does::Receive),
        ("main.waitsForTimeOrEnd", Does::Until),
        ("main.waitsForTimer", Does::Sleep),
        ("main.reads", Does::Data),
    ];
    for (function, does) in expected {
        let stay = of(trace, function);
        assert_eq!(stay.does, does, "{function}");
        assert_eq!(stay.parent, 1, "{function}");
        assert!(stay.last > stay.first, "{function}");
    }
    for function in ["main.wantsTheLock", "main.wantsTheTable", "main.sends"] {
        assert_ne!(of(trace, function).about, 0, "{function}");
    }
    let group = of(trace, "main.waitsForGroup").does;
    assert!(matches!(group, Does::Group | Does::Semaphore), "{group:?}");
    let reads = of(trace, "main.reads");
    assert_ne!(reads.socket, NO_SOCKET);
    assert_eq!(trace.sockets[reads.socket as usize].local, program.local);
    let until = of(trace, "main.waitsForTimeOrEnd");
    let hour_ns = 3_600_000 * MILLISECOND;
    let ahead_ns = until.about.saturating_sub(until.last.get());
    assert!(ahead_ns > hour_ns / 2 && ahead_ns <= hour_ns, "{ahead_ns}");
}

#[test]
fn goroutines_are_read_from_the_memory_of_a_program() {
    let folder = tempfile::tempdir().unwrap();
    if let Some(program) = Program::start(folder.path(), &[]) {
        each_wait_is_told(&program);
    }
}

#[test]
fn goroutines_are_read_without_symbols_and_wherever_the_program_lies() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["-ldflags=-s -w", "-buildmode=pie"];
    if let Some(program) = Program::start(folder.path(), &flags) {
        each_wait_is_told(&program);
    }
}

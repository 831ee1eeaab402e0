//! Profilers of a runtime that look at the target from outside while requests are under way: py-spy
//! for Python, the flight recorder for Java.
//!
//! The kernel's clock sees an interpreter and not what it interprets. Both are programs that others
//! keep: they are used where they are found, and nothing is installed.

use std::env;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use rustix::time::ClockId;
use slowpath_core::nanos::{Nanos, SECOND, Span};
use slowpath_core::profile_pass::{PassLoad, ProfilePass, ProfileSource};
use slowpath_core::timeline::Gap;
use slowpath_core::trace::Runtime;

use super::{folded, jfr};
use crate::clock;
use crate::pprof::PassProfiled;
use crate::pprof::gather::Gather;
use crate::symbols::runtime;
use crate::target::process::Table;

/// Slices of a window of py-spy: each is a process of its own, which takes some tenths of a second to
/// begin.
const SLICES: u64 = 5;
/// Samples a second that py-spy takes: as many as Go and the flight recorder.
const RATE_PER_S: u64 = 100;
/// How long py-spy takes to begin and to end beside what it is asked for.
const BESIDE_NS: u64 = SECOND / 2;
/// A program that takes longer than it was asked for, and this, is given up.
const LONGEST: Duration = Duration::from_secs(20);
/// How often it is looked whether the window begins, or a program has ended.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// What is kept of the recorder's text: 30 kB for a sample.
const MOST_TEXT_BYTES: u64 = 256 << 20;

/// The signal whose gap says what is missing.
const SIGNAL: &str = "profile.cpu";

/// A profiler that was found, and the process that it looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tool {
    /// py-spy.
    PySpy {
        /// The program.
        program: PathBuf,
        /// The process.
        pid: u32,
        /// Whether processes that descend from it are of Python too.
        with_children: bool,
    },
    /// Java's flight recorder.
    Recorder {
        /// The program that speaks with a virtual machine.
        jcmd: PathBuf,
        /// The program that reads recordings.
        jfr: PathBuf,
        /// The process.
        pid: u32,
    },
}

/// What there is to look at a target with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// This.
    Tool(Tool),
    /// Its functions would be seen with something that is not there.
    Missing {
        /// Whose functions.
        of: &'static str,
        /// What to install.
        remedy: &'static str,
    },
    /// The kernel's clock sees what there is.
    Nothing,
}

/// Looks for the profiler of the runtime that these processes, or those that descend from them, have.
pub fn find(proc_root: &Path, pids: &[u32]) -> Found {
    let Ok(table) = Table::read(proc_root) else {
        return Found::Nothing;
    };
    let family = table.with_descendants(pids);
    let family: Vec<u32> = family.iter().map(|row| row.identity.pid).collect();
    let of = |wanted: Runtime| {
        let of_it = family
            .iter()
            .filter(|pid| runtime(proc_root, **pid) == wanted);
        of_it.copied().collect::<Vec<u32>>()
    };
    if let [pid, others @ ..] = &of(Runtime::Python)[..] {
        return match program("py-spy", &beside(proc_root, *pid)) {
            Some(program) => Found::Tool(Tool::PySpy {
                program,
                pid: *pid,
                with_children: !others.is_empty(),
            }),
            None => Found::Missing {
                of: "Python",
                remedy: "install py-spy (pip install py-spy) beside the target's interpreter or on PATH",
            },
        };
    }
    if let [pid, ..] = &of(Runtime::Jvm)[..] {
        let beside = beside(proc_root, *pid);
        return match (program("jcmd", &beside), program("jfr", &beside)) {
            (Some(jcmd), Some(jfr)) => Found::Tool(Tool::Recorder {
                jcmd,
                jfr,
                pid: *pid,
            }),
            _ => Found::Missing {
                of: "Java",
                remedy: "have jcmd and jfr of a JDK on PATH",
            },
        };
    }
    Found::Nothing
}

/// The folders in which the programs of a process's runtime lie: that of its executable, and that of
/// the name by which it was called, which in a virtual environment is another.
fn beside(proc_root: &Path, pid: u32) -> Vec<PathBuf> {
    let process = proc_root.join(pid.to_string());
    let executable = fs::read_link(process.join("exe")).ok();
    let words = fs::read(process.join("cmdline")).unwrap_or_default();
    let first = words.split(|byte| *byte == 0).next().unwrap_or_default();
    let called = PathBuf::from(String::from_utf8_lossy(first).into_owned());
    let called = called.is_absolute().then_some(called);
    let both = [called, executable].into_iter().flatten();
    both.filter_map(|path| path.parent().map(Path::to_owned))
        .collect()
}

/// A program in one of these folders, or on `PATH`.
fn program(name: &str, beside: &[PathBuf]) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = beside.iter().cloned().chain(env::split_paths(&path));
    let mut places = folders.map(|folder| folder.join(name));
    places.find(|place| {
        let facts = fs::metadata(place);
        facts.is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
    })
}

/// Looks at a target in a thread of its own.
#[derive(Debug)]
pub struct OutsideProfiler {
    over: Arc<AtomicBool>,
    thread: Result<JoinHandle<PassProfiled>, String>,
}

impl OutsideProfiler {
    /// Begins; samples are those of `window`, as soon as that is known.
    pub fn start(tool: Tool, window: Box<dyn Fn() -> Option<Span> + Send>) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let own = Arc::clone(&over);
        let thread = Builder::new().name("slowpath-profile".to_owned());
        let thread = thread.spawn(move || look(&tool, &*window, &own));
        Self {
            over,
            thread: thread.map_err(|error| error.to_string()),
        }
    }

    /// Ends, while the target still runs, and reads what was taken.
    pub fn stop(self) -> PassProfiled {
        self.over.store(true, Ordering::Relaxed);
        let failed = || "its thread failed".to_owned();
        let read = self.thread.and_then(|t| t.join().map_err(|_| failed()));
        read.unwrap_or_else(|why| PassProfiled {
            pass: ProfilePass {
                gaps: vec![gap(why, "")],
                ..ProfilePass::default()
            },
            ..PassProfiled::default()
        })
    }
}

fn gap(reason: String, remedy: &str) -> Gap {
    Gap {
        signal: SIGNAL.to_owned(),
        reason,
        remedy: remedy.to_owned(),
    }
}

fn look(tool: &Tool, window: &dyn Fn() -> Option<Span>, over: &AtomicBool) -> PassProfiled {
    let scratch = tempfile_folder();
    let looked = scratch.and_then(|scratch| {
        let looked = match tool {
            Tool::PySpy { .. } => spied(tool, window, over, &scratch),
            Tool::Recorder { jcmd, jfr, pid } => {
                recorded([jcmd, jfr], *pid, window, over, &scratch)
            }
        };
        // What cannot be removed lies among other temporary files.
        let _ = fs::remove_dir_all(&scratch);
        looked
    });
    let (source, remedy) = match tool {
        Tool::PySpy { .. } => (
            ProfileSource::PySpy,
            "run slowpath as root, or as whoever runs the target where ptrace_scope is 0; or take the \
             kernel's clock: --profile=perf",
        ),
        Tool::Recorder { .. } => (
            ProfileSource::Jfr,
            "run slowpath as whoever runs the target, or as root; or take the kernel's clock: \
             --profile=perf",
        ),
    };
    let mut profiled = looked.unwrap_or_else(|why| PassProfiled {
        pass: ProfilePass {
            gaps: vec![gap(why, remedy)],
            ..ProfilePass::default()
        },
        ..PassProfiled::default()
    });
    profiled.pass.source = source;
    profiled.pass.files = profiled.raw.iter().map(|(name, _)| name.clone()).collect();
    profiled
}

/// A folder in which also a target of another user may write: a recording is written by the target.
fn tempfile_folder() -> Result<PathBuf, String> {
    let name = format!(
        "slowpath-profile-{}-{}",
        std::process::id(),
        clock::now().get()
    );
    let folder = env::temp_dir().join(name);
    let made = fs::create_dir(&folder).and_then(|()| {
        // As the folder of all temporary files has it.
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o1777))
    });
    made.map_err(|error| format!("{} cannot be made: {error}", folder.display()))?;
    Ok(folder)
}

/// Waits for the begin of the measured window.
fn begun(window: &dyn Fn() -> Option<Span>, over: &AtomicBool) -> Result<Span, String> {
    loop {
        if let Some(window) = window().filter(|window| window.begin <= clock::now()) {
            return Ok(window);
        }
        if over.load(Ordering::Relaxed) {
            return Err("there was no measured window".to_owned());
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Takes slices with py-spy, as long as the window has room for them.
fn spied(
    tool: &Tool,
    window: &dyn Fn() -> Option<Span>,
    over: &AtomicBool,
    scratch: &Path,
) -> Result<PassProfiled, String> {
    let Tool::PySpy {
        program,
        pid,
        with_children,
    } = tool
    else {
        return Err("no tool of Python".to_owned());
    };
    let window = begun(window, over)?;
    // It takes whole seconds.
    let seconds = (window.len_ns() / SECOND / SLICES).max(1);
    let mut gather = Gather::new(0);
    let mut pass = ProfilePass {
        from: format!(
            "py-spy record --nonblocking, process {pid}, {RATE_PER_S} times a second, threads that run"
        ),
        ..ProfilePass::default()
    };
    let mut raw = Vec::new();
    while !over.load(Ordering::Relaxed)
        && clock::now().plus(seconds * SECOND + BESIDE_NS) <= window.end
    {
        let into = scratch.join("py-spy.txt");
        let mut command = Command::new(program);
        command.args(["record", "--nonblocking", "--format", "raw", "--rate"]);
        command
            .arg(RATE_PER_S.to_string())
            .arg("--duration")
            .arg(seconds.to_string());
        command
            .arg("--pid")
            .arg(pid.to_string())
            .arg("--output")
            .arg(&into);
        if *with_children {
            command.arg("--subprocesses");
        }
        let longest = Duration::from_secs(seconds) + LONGEST;
        if let Err(why) = ran(command, "py-spy", longest, over, scratch) {
            if pass.slices == 0 {
                return Err(why);
            }
            // What was taken before is worth having.
            pass.gaps.push(gap(why, ""));
            break;
        }
        let text = fs::read_to_string(&into).map_err(|error| format!("py-spy: {error}"))?;
        let cpu = folded::read(&text, pass.slices, &mut gather);
        pass.cpu
            .extend(cpu.map_err(|mistakes| format!("py-spy: {}", mistakes.join(", ")))?);
        raw.push((format!("py-spy-{}.txt", pass.slices), text.into_bytes()));
        pass.slices += 1;
        pass.sampled_ns += seconds * SECOND;
    }
    if pass.slices == 0 {
        return Err("the measured window has no time for py-spy: two seconds at least".to_owned());
    }
    let tables = gather.done();
    (pass.lines, pass.stacks) = (tables.lines, tables.stacks);
    pass.period_ns = SECOND / RATE_PER_S;
    Ok(PassProfiled { pass, raw })
}

/// Has the flight recorder on from now until all is over, and reads what it saw in the window.
fn recorded(
    [jcmd, jfr]: [&PathBuf; 2],
    pid: u32,
    window: &dyn Fn() -> Option<Span>,
    over: &AtomicBool,
    scratch: &Path,
) -> Result<PassProfiled, String> {
    let name = format!("name=slowpath-{}", std::process::id());
    // These calls end what they began, whatever else ends meanwhile.
    let never = AtomicBool::new(false);
    let ask = |words: &[&str]| {
        let mut command = Command::new(jcmd);
        command.arg(pid.to_string()).args(words);
        ran(command, "jcmd", LONGEST, &never, scratch)
    };
    let began = |more: &[&str]| {
        let said = ask(&[&["JFR.start", &name, "settings=profile"], more].concat())?;
        if said.contains("Started recording") {
            return Ok(());
        }
        let line = said.lines().rev().find(|line| !line.trim().is_empty());
        Err(format!("JFR.start: {}", line.unwrap_or("no answer")))
    };
    // Before JDK 17 a recording has no options of events: monitors count from 10 ms on then.
    began(&["jdk.JavaMonitorEnter#threshold=0ms"]).or_else(|_| began(&[]))?;
    let measured = begun(window, over);
    while measured.is_ok() && !over.load(Ordering::Relaxed) {
        std::thread::sleep(LOOK_EVERY);
    }
    let recording = scratch.join("recording.jfr");
    let filename = format!("filename={}", recording.display());
    ask(&["JFR.stop", &name, &filename])?;
    let window = measured?;
    let mut command = Command::new(jfr);
    command.args(jfr::PRINT).arg(&recording);
    let text = ran(command, "jfr", LONGEST, &never, scratch)?;
    let offset_ns = clock::offset_ns(ClockId::Realtime).1;
    let at = |at: Nanos| i128::from(at.get()) + offset_ns;
    let mut gather = Gather::new(0);
    let within = Some((at(window.begin), at(window.end)));
    let told = jfr::read(text.as_bytes(), within, &mut gather)?;
    let tables = gather.done();
    let pass = ProfilePass {
        from: format!(
            "the flight recorder of process {pid} (settings=profile), threads that are in Java code"
        ),
        lines: tables.lines,
        stacks: tables.stacks,
        cpu: told.cpu,
        slices: told.slices,
        sampled_ns: told.length_ns,
        locks: Some(told.waits),
        load: PassLoad::default(),
        ..ProfilePass::default()
    };
    let raw = fs::read(&recording).map(|bytes| ("recording.jfr".to_owned(), bytes));
    Ok(PassProfiled {
        pass,
        raw: raw.into_iter().collect(),
    })
}

/// Runs a program to its end, and gives what it wrote to its output. It is ended when it takes too
/// long, or when all is over.
fn ran(
    mut command: Command,
    name: &str,
    longest: Duration,
    over: &AtomicBool,
    scratch: &Path,
) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("{name}: {error}");
    let [out, err] = ["output", "errors"].map(|what| scratch.join(what));
    command.stdin(Stdio::null());
    command.stdout(File::create(&out).map_err(failed)?);
    command.stderr(File::create(&err).map_err(failed)?);
    let mut child = command.spawn().map_err(failed)?;
    let until = Instant::now() + longest;
    let status = loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            break status;
        }
        let late = Instant::now() > until;
        if late || over.load(Ordering::Relaxed) {
            // It is gone already, or will be.
            let _ = child.kill();
            let _ = child.wait();
            let why = if late {
                "it took too long"
            } else {
                "the window was over before"
            };
            return Err(format!("{name}: {why}"));
        }
        std::thread::sleep(LOOK_EVERY);
    };
    if !status.success() {
        let said = [&err, &out].map(|file| fs::read_to_string(file).unwrap_or_default());
        let mut lines = said.iter().flat_map(|text| text.lines());
        let line = lines
            .find(|line| !line.trim().is_empty())
            .unwrap_or("it says not why");
        return Err(format!("{name} ended with {status}: {}", line.trim()));
    }
    let bytes = fs::metadata(&out).map_err(failed)?.len();
    if bytes > MOST_TEXT_BYTES {
        return Err(format!("{name} wrote more than {MOST_TEXT_BYTES} bytes"));
    }
    fs::read_to_string(&out).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_beside_an_interpreter_first() {
        let folder = tempfile::tempdir().unwrap();
        let proc_root = folder.path().join("proc");
        let bin = folder.path().join("venv/bin");
        fs::create_dir_all(proc_root.join("7")).unwrap();
        fs::create_dir_all(&bin).unwrap();
        let called = format!("{}/python\0server.py\0", bin.display());
        fs::write(proc_root.join("7/cmdline"), called).unwrap();
        let beside = beside(&proc_root, 7);
        assert_eq!(beside, std::slice::from_ref(&bin));
        assert_eq!(program("slowpath-none", &beside), None);
        let spy = bin.join("slowpath-none");
        fs::write(&spy, "").unwrap();
        assert_eq!(
            program("slowpath-none", &beside),
            None,
            "it cannot be executed"
        );
        fs::set_permissions(&spy, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(program("slowpath-none", &beside), Some(spy));
        assert_eq!(find(&proc_root, &[7]), Found::Nothing);
    }

    #[test]
    fn what_a_program_says_and_why_it_failed_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let never = AtomicBool::new(false);
        let shell = |script: &str, longest_ms, over: &AtomicBool| {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", script]);
            let longest = Duration::from_millis(longest_ms);
            ran(command, "sh", longest, over, folder.path())
        };
        assert_eq!(shell("echo said", 10_000, &never).unwrap(), "said\n");
        let why = shell("echo >&2; echo no such process >&2; exit 3", 10_000, &never);
        let why = why.unwrap_err();
        assert!(
            why.contains("exit status: 3") && why.ends_with("no such process"),
            "{why}"
        );
        assert_eq!(
            shell("sleep 60", 1, &never).unwrap_err(),
            "sh: it took too long"
        );
        let over = AtomicBool::new(true);
        let why = shell("sleep 60", 60_000, &over).unwrap_err();
        assert_eq!(why, "sh: the window was over before");
    }
}

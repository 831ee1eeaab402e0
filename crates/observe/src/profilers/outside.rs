//! Profilers of a runtime that look at the target from outside while requests are under way: py-spy
//! for Python, the flight recorder for Java.
//!
//! The kernel's clock sees an interpreter and not what it interprets. Both are programs that others
//! keep: they are used where they are found, and nothing is installed.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::time::ClockId;
use slowpath_core::nanos::{Nanos, SECOND, Span};
use slowpath_core::profile_pass::{PassLoad, ProfilePass, ProfileSource};
use slowpath_core::trace::Runtime;

use super::programs::{Limits, Search, beside, handed_to, ran, scratch, search, taken_over};
use super::{folded, jfr};
use crate::clock;
use crate::pprof::gather::Gather;
use crate::pprof::pass::{CPU, PassProfiled, PassProfiler, gap};
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
/// How often it is looked whether the window begins.
const LOOK_EVERY: Duration = Duration::from_millis(5);
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
        /// What to install, or where.
        remedy: String,
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
        return match search("py-spy", &beside(proc_root, *pid)) {
            Search::Found(program) => Found::Tool(Tool::PySpy {
                program,
                pid: *pid,
                with_children: !others.is_empty(),
            }),
            Search::Changeable(program) => Found::Missing {
                of: "Python",
                remedy: changeable(&program),
            },
            Search::Nothing => Found::Missing {
                of: "Python",
                remedy:
                    "install py-spy (pip install py-spy) beside the target's interpreter or on \
                         PATH"
                        .to_owned(),
            },
        };
    }
    if let [pid, ..] = &of(Runtime::Jvm)[..] {
        let beside = beside(proc_root, *pid);
        let missing = |remedy| Found::Missing { of: "Java", remedy };
        return match (search("jcmd", &beside), search("jfr", &beside)) {
            (Search::Found(jcmd), Search::Found(jfr)) => Found::Tool(Tool::Recorder {
                jcmd,
                jfr,
                pid: *pid,
            }),
            (Search::Changeable(program), _) | (_, Search::Changeable(program)) => {
                missing(changeable(&program))
            }
            _ => missing("have jcmd and jfr of a JDK on PATH".to_owned()),
        };
    }
    Found::Nothing
}

/// What helps where a program lies in a folder of another user.
fn changeable(program: &Path) -> String {
    format!(
        "have one on PATH: {} may be changed by others than root and who runs slowpath, who would run \
         what they put there",
        program.display()
    )
}

/// Begins to look at a target; samples are those of `window`, as soon as that is known. What is switched
/// on in the target is off again `longest` from now, even if slowpath is gone by then.
pub fn start(
    tool: Tool,
    longest: Duration,
    window: Box<dyn Fn() -> Option<Span> + Send>,
) -> PassProfiler {
    PassProfiler::begin("slowpath-profile", move |over| {
        look(&tool, longest, &*window, over)
    })
}

fn look(
    tool: &Tool,
    longest: Duration,
    window: &dyn Fn() -> Option<Span>,
    over: &AtomicBool,
) -> PassProfiled {
    let scratch = scratch().map_err(|error| format!("no folder for its files: {error}"));
    let looked = scratch.and_then(|scratch| match tool {
        Tool::PySpy { .. } => spied(tool, window, over, scratch.path()),
        Tool::Recorder { jcmd, jfr, pid } => {
            let recorder = Recorder {
                jcmd,
                jfr,
                pid: *pid,
                longest,
                scratch: scratch.path(),
            };
            recorder.recorded(window, over)
        }
    });
    let (source, remedy) = match tool {
        Tool::PySpy { .. } => (
            ProfileSource::PySpy,
            "run slowpath as root, or as the target's user where ptrace_scope is 0; or take the \
             kernel's clock: --profile=perf",
        ),
        Tool::Recorder { .. } => (
            ProfileSource::Jfr,
            "run slowpath as the target's user, or as root; or take the kernel's clock: \
             --profile=perf",
        ),
    };
    let mut profiled = looked.unwrap_or_else(|why| PassProfiled::failed(gap(CPU, why, remedy)));
    profiled.pass.source = source;
    profiled.pass.files = profiled.raw.iter().map(|(name, _)| name.clone()).collect();
    profiled
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
        if let Err(why) = ran(command, "py-spy", &Limits { longest, over }, scratch) {
            if pass.slices == 0 {
                return Err(why);
            }
            // What was taken before is worth having.
            pass.gaps.push(gap(CPU, why, ""));
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

/// Java's flight recorder, in one process.
struct Recorder<'a> {
    jcmd: &'a Path,
    jfr: &'a Path,
    pid: u32,
    longest: Duration,
    scratch: &'a Path,
}

impl Recorder<'_> {
    /// Keeps it switched on from now until all is over, and reads what it saw in the window.
    fn recorded(
        &self,
        window: &dyn Fn() -> Option<Span>,
        over: &AtomicBool,
    ) -> Result<PassProfiled, String> {
        let name = format!("name=slowpath-{}", std::process::id());
        // Before JDK 17 a recording has no options of events: monitors count from 10 ms on then.
        self.begun(&name, &["jdk.JavaMonitorEnter#threshold=0ms"])
            .or_else(|_| self.begun(&name, &[]))?;
        let measured = begun(window, over);
        while measured.is_ok() && !over.load(Ordering::Relaxed) {
            std::thread::sleep(LOOK_EVERY);
        }
        let recording = self.stopped(&name)?;
        self.read(measured?, &recording)
    }

    /// Says something to the virtual machine.
    fn ask(&self, words: &[&str]) -> Result<String, String> {
        let mut command = Command::new(self.jcmd);
        command.arg(self.pid.to_string()).args(words);
        self.run(command, "jcmd")
    }

    /// These calls end what they began, whatever else ends in between.
    fn run(&self, command: Command, name: &str) -> Result<String, String> {
        let limits = Limits {
            longest: LONGEST,
            over: &AtomicBool::new(false),
        };
        ran(command, name, &limits, self.scratch)
    }

    fn begun(&self, name: &str, more: &[&str]) -> Result<(), String> {
        let ends = format!("duration={}s", self.longest.as_secs().max(1));
        let words = [&["JFR.start", name, &ends, "settings=profile"], more].concat();
        let said = self.ask(&words)?;
        if said.contains("Started recording") {
            return Ok(());
        }
        let line = said.lines().rev().find(|line| !line.trim().is_empty());
        Err(format!("JFR.start: {}", line.unwrap_or("no answer")))
    }

    /// Ends it, and takes over what the target wrote.
    fn stopped(&self, name: &str) -> Result<PathBuf, String> {
        let process = Path::new("/proc").join(self.pid.to_string());
        let owner = fs::metadata(process).map(|facts| facts.uid());
        let folder = owner.and_then(handed_to);
        let written = folder
            .as_ref()
            .map(|(_, folder)| folder.join("recording.jfr"));
        // It is ended also where there is no place for what it saw.
        let filename = written
            .as_ref()
            .map(|path| format!("filename={}", path.display()));
        let words = [Some(name), filename.as_deref().ok()].into_iter().flatten();
        self.ask(
            &std::iter::once("JFR.stop")
                .chain(words)
                .collect::<Vec<&str>>(),
        )?;
        let written = written.map_err(|error| format!("no folder for the recording: {error}"))?;
        let own = self.scratch.join("recording.jfr");
        taken_over(&written, &own).map_err(|error| format!("the target's recording: {error}"))?;
        Ok(own)
    }

    fn read(&self, window: Span, recording: &Path) -> Result<PassProfiled, String> {
        let mut command = Command::new(self.jfr);
        command.args(jfr::PRINT).arg(recording);
        let text = self.run(command, "jfr")?;
        let offset_ns = clock::offset_ns(ClockId::Realtime).1;
        let at = |at: Nanos| i128::from(at.get()) + offset_ns;
        let mut gather = Gather::new(0);
        let within = Some((at(window.begin), at(window.end)));
        let told = jfr::read(text.as_bytes(), within, &mut gather)?;
        let tables = gather.done();
        let pass = ProfilePass {
            from: format!(
                "the flight recorder of process {} (settings=profile), threads that are in Java code",
                self.pid
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
        let raw = fs::read(recording).map(|bytes| ("recording.jfr".to_owned(), bytes));
        Ok(PassProfiled {
            pass,
            raw: raw.into_iter().collect(),
        })
    }
}

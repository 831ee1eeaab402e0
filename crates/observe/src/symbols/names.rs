//! Names for the places on stacks.

use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use blazesym::MaybeDefault;
use blazesym::symbolize::source::{Elf, Kernel, Source};
use blazesym::symbolize::{CodeInfo, Input, Sym, Symbolized, Symbolizer as Naming};
use slowpath_core::timeline::Gap;
use slowpath_core::trace::{Frame, Runtime};

use super::modules::{MOST_MODULES, MOST_UNWIND_BYTES, Module, Modules, open_regular};
use super::numbered::Numbered;
use super::perf_map::tail;
use super::python_types::visitors;
use super::space::{Home, Space};
use super::{
    GoTable, Lost, MOST_DEEP, MOST_PLACES, MOST_PROCESSES, MOST_STACKS, PerfMap, Symbolizer,
    Symbols, runtime, unbroken,
};

/// The most that is read of a runtime's table of names, from its end: it is never shortened.
const MOST_MAP_BYTES: u64 = 64 << 20;
/// Lines of `kallsyms` read to see whether it shows addresses: its first symbols may be zero.
const KALLSYMS_LINES: usize = 64;
/// Why code that was made at run time has no name; said once, however many processes made some.
const NAMELESS: &str = "code that was made at run time has no names";
/// What such code is called.
const UNNAMED: &str = "[code made at run time]";

/// Functions at one place, innermost first: more than one where calls were inlined.
type Named = Vec<Frame>;

/// Names everything that was collected.
pub(super) fn finish(all: &Symbolizer) -> Symbols {
    let places = all.places.all();
    let mut by_home: BTreeMap<Home, Vec<(u64, usize)>> = BTreeMap::new();
    for (number, place) in places.iter().enumerate() {
        by_home
            .entry(place.home)
            .or_default()
            .push((place.at, number));
    }
    let mut gaps = gaps_of(&all.lost, &all.modules);
    let mut frames = Numbered::default();
    let mut at_place: Vec<Vec<u32>> = vec![Vec::new(); places.len()];
    let naming = Naming::builder().enable_auto_reload(false).build();
    for (home, mut members) in by_home {
        members.sort_unstable();
        let addresses: Vec<u64> = members.iter().map(|(at, _)| *at).collect();
        let named = match home {
            Home::Kernel => kernel(&naming, &all.proc_root, &addresses, &mut gaps),
            Home::File(number) => {
                let module = all.modules.get(number);
                module.map_or_else(Vec::new, |module| {
                    named_or_gap(&naming, module, &addresses, &mut gaps)
                })
            }
            Home::Process(pid) => {
                let space = all.spaces.get(&pid).and_then(Option::as_ref);
                made_at_run_time(&all.proc_root, pid, space, &addresses, &mut gaps)
            }
        };
        for ((_, place), named) in members.iter().zip(named) {
            at_place[*place] = named.into_iter().map(|f| frames.number(f)).collect();
        }
    }
    let stacks = all.stacks.all().iter().map(|places| {
        let named = places.iter().flat_map(|place| &at_place[*place as usize]);
        named.copied().collect()
    });
    Symbols {
        stacks: stacks.collect(),
        frames: frames.into_all(),
        gaps,
    }
}

fn kernel(naming: &Naming, proc_root: &Path, at: &[u64], gaps: &mut Vec<Gap>) -> Vec<Named> {
    let kallsyms = proc_root.join("kallsyms");
    if let Err(reason) = tells_addresses(&kallsyms) {
        gaps.push(gap(
            &format!("the kernel's functions have no names: {reason}"),
            "sysctl kernel.kptr_restrict=0, or run as root",
        ));
        return Vec::new();
    }
    let source = Source::from(Kernel {
        kallsyms: MaybeDefault::Some(kallsyms),
        vmlinux: MaybeDefault::None,
        debug_syms: false,
        ..Kernel::default()
    });
    let named = naming.symbolize(&source, Input::AbsAddr(at));
    let function = |symbol: Symbolized<'_>| match symbol {
        Symbolized::Sym(sym) => vec![Frame {
            function: sym.name.into_owned(),
            module: "kernel".to_owned(),
            source: String::new(),
        }],
        Symbolized::Unknown(_) => Vec::new(),
    };
    named
        .unwrap_or_default()
        .into_iter()
        .map(function)
        .collect()
}

/// Whether the table of the kernel's symbols has addresses in it: it shows zeros to those who may
/// not know (`kptr_restrict`).
fn tells_addresses(kallsyms: &Path) -> Result<(), String> {
    let file = File::open(kallsyms).map_err(|error| error.to_string())?;
    let mut lines = BufReader::new(file).lines().take(KALLSYMS_LINES);
    let told = lines.any(|line| {
        line.is_ok_and(|line| {
            let address = line.split(' ').next().unwrap_or_default();
            address.bytes().any(|b| b != b'0')
        })
    });
    told.then_some(())
        .ok_or_else(|| "their addresses are hidden (kernel.kptr_restrict)".to_owned())
}

/// The functions of a file, without names if it is broken.
fn named_or_gap(naming: &Naming, module: &Module, at: &[u64], gaps: &mut Vec<Gap>) -> Vec<Named> {
    let named = unbroken(|| of_file(naming, module, at));
    named.unwrap_or_else(|| {
        let reason = format!(
            "functions have no names: {} is not as it should be",
            module.name
        );
        gaps.push(gap(
            &reason,
            "a build of it that readelf -wF reads without warnings",
        ));
        let nameless = at.iter().map(|at| vec![address(*at, &module.name)]);
        nameless.collect()
    })
}

fn of_file(naming: &Naming, module: &Module, at: &[u64]) -> Vec<Named> {
    // The file may be gone from where it was, or lie in another mount namespace.
    let path = PathBuf::from(format!("/proc/self/fd/{}", module.file.as_raw_fd()));
    let source = Source::from(Elf::new(path));
    let symbols = naming.symbolize(&source, Input::VirtOffset(at));
    let mut symbols = symbols.unwrap_or_default().into_iter();
    // Read when something has no name otherwise, and then once.
    let go = LazyCell::new(|| GoTable::of(module).ok().flatten());
    let python = LazyCell::new(|| visitors(&module.file).unwrap_or_default());
    let named = at.iter().map(|at| match symbols.next() {
        Some(Symbolized::Sym(sym)) => functions(&sym, &module.name),
        Some(Symbolized::Unknown(_)) | None => {
            // Where the function begins is the same for all places in it.
            let start = module.image.function_start(*at).unwrap_or(*at);
            let name = go.as_ref().and_then(|go| go.name(*at));
            let name = name.or_else(|| python.get(&start).cloned());
            let nameless = address(start, &module.name);
            vec![match name {
                Some(function) => Frame {
                    function,
                    ..nameless
                },
                None => nameless,
            }]
        }
    });
    named.collect()
}

/// The function at a place, and those that were inlined into it.
fn functions(sym: &Sym<'_>, module: &str) -> Named {
    let inlined = sym.inlined.iter().rev();
    let mut named: Named = inlined
        .map(|inner| Frame {
            function: inner.name.to_string(),
            module: module.to_owned(),
            source: source_of(inner.code_info.as_ref()),
        })
        .collect();
    // glibc's debug information knows `poll` by the name that only glibc uses.
    let name = sym.name.strip_prefix("__GI_").unwrap_or(&sym.name);
    named.push(Frame {
        source: source_of(sym.code_info.as_deref()),
        function: name.to_owned(),
        module: module.to_owned(),
    });
    named
}

/// `folder/file:line`: two parts of a path distinguish `mod.rs` from `mod.rs`, all of it is too long.
fn source_of(info: Option<&CodeInfo<'_>>) -> String {
    let Some((info, line)) = info.and_then(|info| Some((info, info.line?))) else {
        return String::new();
    };
    let path = info.to_path();
    let file = path
        .file_name()
        .map_or_else(Default::default, OsStr::to_string_lossy);
    let folder = path.parent().and_then(Path::file_name);
    folder.map_or_else(
        || format!("{file}:{line}"),
        |folder| format!("{}/{file}:{line}", folder.to_string_lossy()),
    )
}

fn made_at_run_time(
    proc_root: &Path,
    pid: u32,
    space: Option<&Space>,
    at: &[u64],
    gaps: &mut Vec<Gap>,
) -> Vec<Named> {
    let map = space.map_or_else(PerfMap::default, |space| {
        perf_map(proc_root, pid, space, gaps)
    });
    let mut nameless = false;
    let named = at.iter().map(|at| {
        let file = || space.and_then(|space| space.file_name(*at));
        let frame = map
            .frame(*at)
            .or_else(|| file().map(|file| address(*at, &file)));
        nameless |= frame.is_none();
        vec![frame.unwrap_or_else(|| Frame {
            function: UNNAMED.to_owned(),
            module: String::new(),
            source: String::new(),
        })]
    });
    let named = named.collect();
    if nameless && map.is_empty() && !gaps.iter().any(|gap| gap.reason.starts_with(NAMELESS)) {
        let reason = format!("{NAMELESS}: process {pid} left no /tmp/perf-PID.map");
        gaps.push(gap(&reason, how_to_name(runtime(proc_root, pid))));
    }
    named
}

/// A function without a name.
fn address(at: u64, module: &str) -> Frame {
    Frame {
        function: format!("{at:#x}"),
        module: module.to_owned(),
        source: String::new(),
    }
}

/// What makes a runtime leave the names of its code, and stacks that lead through it.
fn how_to_name(runtime: Runtime) -> &'static str {
    match runtime {
        Runtime::Jvm => "java -XX:+PreserveFramePointer, and jcmd PID Compiler.perfmap under load",
        Runtime::Node => "node --perf-basic-prof --interpreted-frames-native-stack",
        Runtime::Python => "python -X perf (since 3.12)",
        Runtime::Managed => "DOTNET_PerfMapEnabled=1 (.NET), +JPperf true (Erlang)",
        _ => "an option of the runtime that writes /tmp/perf-PID.map",
    }
}

/// What the runtime of a process wrote of its code. The file is named by the number that the
/// process sees itself under.
fn perf_map(proc_root: &Path, pid: u32, space: &Space, gaps: &mut Vec<Gap>) -> PerfMap {
    let Some(tmp) = &space.tmp else {
        return PerfMap::default();
    };
    let name = format!("perf-{}.map", own_pid(proc_root, pid).unwrap_or(pid));
    let tmp = format!("/proc/self/fd/{}", tmp.as_raw_fd());
    let Ok(file) = open_regular(&Path::new(&tmp).join(&name)) else {
        return PerfMap::default();
    };
    let owner = file.metadata().map(|metadata| metadata.uid());
    let own = rustix::process::geteuid().as_raw();
    // Any user may write into /tmp, also under the name that another process's map would have.
    let is_believed = |owner: u32| owner == 0 || owner == own || space.owner == Some(owner);
    if let Some(owner) = owner.ok().filter(|owner| !is_believed(*owner)) {
        let reason = format!("{NAMELESS}: /tmp/{name} belongs to user {owner}, not the server's");
        gaps.push(gap(
            &reason,
            "remove it, and have the server's own runtime write it",
        ));
        return PerfMap::default();
    }
    let Ok((bytes, is_cut)) = tail(&file, MOST_MAP_BYTES) else {
        return PerfMap::default();
    };
    if is_cut {
        let most = MOST_MAP_BYTES >> 20;
        let reason = format!(
            "code that was made at run time may lack names: only the last {most} MB of /tmp/{name} \
             are read"
        );
        gaps.push(gap(
            &reason,
            "restart the server: its runtime never shortens that file",
        ));
    }
    PerfMap::parse(&bytes)
}

/// The number of a process in its innermost namespace.
fn own_pid(proc_root: &Path, pid: u32) -> Option<u32> {
    let status = fs::read_to_string(proc_root.join(format!("{pid}/status"))).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("NStgid:"))?;
    line.split_ascii_whitespace().next_back()?.parse().ok()
}

fn gap(reason: &str, remedy: &str) -> Gap {
    Gap {
        signal: "stacks".to_owned(),
        reason: reason.to_owned(),
        remedy: remedy.to_owned(),
    }
}

/// What lay beyond a bound or could not be read.
fn gaps_of(lost: &Lost, modules: &Modules) -> Vec<Gap> {
    let bounds = [
        (lost.deep, "stacks were cut", "functions deep", MOST_DEEP),
        (
            lost.stacks,
            "samples have no stack",
            "different stacks",
            MOST_STACKS,
        ),
        (
            lost.places,
            "stacks were cut",
            "different addresses",
            MOST_PLACES,
        ),
        (
            lost.processes,
            "samples have no stack",
            "processes",
            MOST_PROCESSES,
        ),
    ];
    let mut gaps: Vec<Gap> = bounds
        .iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, what, unit, most)| {
            gap(
                &format!("{count} {what}: more than {most} {unit}"),
                "a shorter duration, or fewer kinds of requests in one run",
            )
        })
        .collect();
    if lost.broken > 0 {
        let reason = format!(
            "{} stacks were cut: unwind information on their way is not as it should be",
            lost.broken
        );
        gaps.push(gap(
            &reason,
            "builds that readelf -wF reads without warnings",
        ));
    }
    if lost.hidden > 0 {
        let reason = format!(
            "{} samples have no stack: {}",
            lost.hidden, lost.hidden_because
        );
        gaps.push(gap(&reason, "run as the server's user, or as root"));
    }
    gaps.extend(gaps_of_files(modules));
    gaps
}

/// Files that could not be kept or opened.
fn gaps_of_files(modules: &Modules) -> Vec<Gap> {
    let mut gaps = Vec::new();
    let beyond = modules.beyond();
    if beyond > 0 {
        let most = MOST_UNWIND_BYTES >> 20;
        let reason = format!(
            "functions of {beyond} files have no names: more than {MOST_MODULES} files or {most} MB \
             of unwind information, or no more files may be open"
        );
        gaps.push(gap(
            &reason,
            "ulimit -n 65536, or fewer processes under one load",
        ));
    }
    if let Some((unread, more)) = modules.unread() {
        let more = match more {
            0 => String::new(),
            more => format!(" (and {more} more files)"),
        };
        let reason = format!("functions have no names: {unread}{more}");
        gaps.push(gap(
            &reason,
            "run as the server's user or as root, with CAP_SYS_PTRACE",
        ));
    }
    gaps
}

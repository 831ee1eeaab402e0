//! Stacks of real processes come out function by function.

use std::cell::RefCell;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use slowpath_core::timeline::Gap;
use slowpath_core::trace::{Frame, NO_STACK};
use slowpath_observe::symbols::{Dump, MOST_DEEP, RawStack, Symbolizer, Symbols, User};

use crate::{Running, ptrace, start, until};

/// More than all stacks in these tests have.
const STACK_BYTES: usize = 16 * 1024;

/// Three functions that no compiler may join, the innermost of which sleeps.
const SLEEPER: &str = r"
#include <time.h>
#define APART __attribute__((noinline, noclone))
volatile int sink;
APART int innermost(int seconds) {
    volatile char room[200];
    struct timespec t = { seconds, 0 };
    room[seconds & 127] = 1;
    while (nanosleep(&t, &t)) {}
    return room[seconds & 127];
}
APART int middle(int seconds) { int got = innermost(seconds); sink += got; return got + 1; }
APART int outermost(int seconds) {
    volatile char room[777];
    room[0] = 1;
    int got = middle(seconds) + room[0];
    sink += got;
    return got;
}
int main(void) { return outermost(60) == 77; }
";

/// Compiles a C program with `flags` and starts it.
fn compile(dir: &Path, flags: &[&str]) -> Option<Running> {
    fs::write(dir.join("sleeper.c"), SLEEPER).unwrap();
    let mut cc = Command::new("cc");
    cc.args(flags).args(["-o", "sleeper", "sleeper.c"]);
    match cc.current_dir(dir).status() {
        Ok(status) => assert!(status.success(), "{cc:?}"),
        Err(error) => {
            println!("skipped: cc: {error}");
            return None;
        }
    }
    start(dir, "./sleeper", &[])
}

/// The functions on the stack of a process's only thread, once it sleeps.
fn functions_of(running: &Running, name: &str) -> Option<Vec<Frame>> {
    let pid = running.pid();
    until_asleep(pid, name);
    let taken = match ptrace::take(pid, STACK_BYTES) {
        Ok(taken) => taken,
        Err(error) => {
            println!("skipped: ptrace: {error}");
            return None;
        }
    };
    let main = taken.iter().find(|stack| stack.tid == pid).unwrap();
    assert_eq!(main.name, name);
    let mut symbolizer = Symbolizer::new("/proc");
    let stack = symbolizer.add(pid, &main.raw());
    assert_eq!(stack, symbolizer.add(pid, &main.raw()), "counted once");
    let symbols = symbolizer.finish();
    assert_eq!(symbols.stacks.len(), 1);
    assert!(symbols.gaps.is_empty(), "{:?}", symbols.gaps);
    Some(stack_of(&symbols, stack))
}

fn until_asleep(pid: u32, name: &str) {
    let asleep = format!("({name}) S");
    until("it sleeps", || {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat"));
        stat.unwrap().contains(&asleep)
    });
}

fn stack_of(symbols: &Symbols, stack: u32) -> Vec<Frame> {
    let stack = &symbols.stacks[stack as usize];
    let frame = |place: &u32| symbols.frames[*place as usize].clone();
    stack.iter().map(frame).collect()
}

/// The program's own functions come innermost first, below the C library's, and `main` follows.
fn assert_in_order(frames: &[Frame]) {
    let own: Vec<&str> = frames
        .iter()
        .filter(|frame| frame.module == "sleeper")
        .map(|frame| frame.function.as_str())
        .collect();
    let expected = ["innermost", "middle", "outermost", "main"];
    assert_eq!(own.get(..4), Some(&expected[..]), "{frames:#?}");
    assert!(frames[0].function.contains("nanosleep"), "{frames:#?}");
    assert!(frames[0].module.starts_with("libc"), "{frames:#?}");
}

#[test]
fn without_frame_pointers() {
    let dir = tempfile::tempdir().unwrap();
    let Some(running) = compile(dir.path(), &["-O2", "-fomit-frame-pointer"]) else {
        return;
    };
    if let Some(frames) = functions_of(&running, "sleeper") {
        assert_in_order(&frames);
    }
}

#[test]
fn with_frame_pointers_and_no_unwind_information() {
    let dir = tempfile::tempdir().unwrap();
    let flags = [
        "-O2",
        "-fno-omit-frame-pointer",
        "-fno-asynchronous-unwind-tables",
        "-fno-unwind-tables",
    ];
    let Some(running) = compile(dir.path(), &flags) else {
        return;
    };
    if let Some(frames) = functions_of(&running, "sleeper") {
        assert_in_order(&frames);
    }
}

/// Without symbols a function is called by where it begins, wherever in it the stack stands.
#[test]
fn without_symbols() {
    let dir = tempfile::tempdir().unwrap();
    let flags = ["-O2", "-fomit-frame-pointer", "-no-pie"];
    let Some(running) = compile(dir.path(), &flags) else {
        return;
    };
    drop(running);
    let listed = Command::new("nm").arg(dir.path().join("sleeper")).output();
    let Ok(listed) = listed.map(|out| String::from_utf8(out.stdout).unwrap()) else {
        println!("skipped: no nm");
        return;
    };
    let begin = |name: &str| {
        let line = listed.lines().find(|l| l.ends_with(&format!(" {name}")));
        let at = u64::from_str_radix(line.unwrap().split(' ').next().unwrap(), 16);
        format!("{:#x}", at.unwrap())
    };
    let expected = ["innermost", "middle", "outermost", "main"].map(begin);
    let Some(running) = compile(dir.path(), &[&flags[..], &["-s"]].concat()) else {
        return;
    };
    if let Some(frames) = functions_of(&running, "sleeper") {
        let own = frames.iter().filter(|frame| frame.module == "sleeper");
        let own: Vec<&str> = own.map(|frame| &*frame.function).take(4).collect();
        assert_eq!(own, expected, "{frames:#?}");
    }
}

#[test]
fn debug_information_tells_the_line() {
    let dir = tempfile::tempdir().unwrap();
    let Some(running) = compile(dir.path(), &["-O2", "-g"]) else {
        return;
    };
    let line = 1 + SLEEPER
        .lines()
        .position(|line| line.contains("while (nanosleep"))
        .unwrap();
    if let Some(frames) = functions_of(&running, "sleeper") {
        let innermost = frames.iter().find(|f| f.function == "innermost").unwrap();
        let source = format!("/sleeper.c:{line}");
        assert!(innermost.source.ends_with(&source), "{innermost:?}");
    }
}

/// Rust's linker lets segments share pages, and its functions lie within each other.
#[test]
fn a_rust_program_is_unwound_to_its_beginning() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_guardian-probe"));
    command.arg(slowpath_observe::guardian::ARGUMENT);
    // It reads until the other end is closed.
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    let running = Running::of(command.spawn().unwrap());
    let Some(frames) = functions_of(&running, "guardian-probe") else {
        return;
    };
    let names: Vec<&str> = frames.iter().map(|f| &*f.function).collect();
    let place = |name: &str| names.iter().position(|n| *n == name);
    let order = [
        "slowpath_observe::guardian::serve::serve",
        "guardian_probe::main",
        "main",
    ];
    let places = order.map(place);
    assert!(
        places.iter().all(Option::is_some) && places.is_sorted(),
        "{names:#?}"
    );
    assert_eq!(names.last(), Some(&"_start"), "{names:#?}");
}

/// Names of code that a runtime made, with the lines that it gives.
#[test]
fn a_runtime_names_the_code_that_it_made() {
    let dir = tempfile::tempdir().unwrap();
    let code = "function innermost() {\n\
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60000); }\n\
        function outermost() { innermost(); }\n\
        outermost();\n";
    fs::write(dir.path().join("wait.js"), code).unwrap();
    let flags = [
        "--perf-basic-prof",
        "--interpreted-frames-native-stack",
        "wait.js",
    ];
    let Some(running) = start(dir.path(), "node", &flags) else {
        return;
    };
    let map = format!("/tmp/perf-{}.map", running.pid());
    until("the innermost function has a name", || {
        fs::read_to_string(&map).is_ok_and(|map| map.contains("innermost"))
    });
    let frames = functions_of(&running, "node");
    fs::remove_file(&map).unwrap();
    let Some(frames) = frames else { return };
    let source_of = |name: &str| {
        let frame = frames.iter().find(|f| f.function.ends_with(name));
        frame.map(|frame| frame.source.clone()).unwrap_or_default()
    };
    assert!(
        source_of("~innermost").ends_with("/wait.js:1:19"),
        "{frames:#?}"
    );
    assert!(
        source_of("~outermost").ends_with("/wait.js:3:19"),
        "{frames:#?}"
    );
}

/// What the process had is enough when it has ended.
#[test]
fn a_process_may_end_before_its_stacks_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let Some(running) = compile(dir.path(), &["-O2", "-fomit-frame-pointer"]) else {
        return;
    };
    let pid = running.pid();
    until_asleep(pid, "sleeper");
    let Ok(taken) = ptrace::take(pid, STACK_BYTES) else {
        println!("skipped: ptrace");
        return;
    };
    let mut symbolizer = Symbolizer::new("/proc");
    let stack = symbolizer.add(pid, &taken[0].raw());
    drop(running);
    fs::remove_file(dir.path().join("sleeper")).unwrap();
    assert_eq!(stack, symbolizer.add(pid, &taken[0].raw()));
    assert_in_order(&stack_of(&symbolizer.finish(), stack));
}

#[test]
fn a_process_that_cannot_be_read_is_a_gap() {
    let dir = tempfile::tempdir().unwrap();
    let mut symbolizer = Symbolizer::new(dir.path());
    let raw = RawStack {
        kernel: &[],
        user: User::Chain(&[0x1000, 0x2000]),
    };
    assert_eq!(symbolizer.add(7, &raw), NO_STACK);
    assert_eq!(symbolizer.add(7, &raw), NO_STACK);
    let gaps = symbolizer.finish().gaps;
    assert_eq!(gaps.len(), 1);
    assert!(
        gaps[0]
            .reason
            .starts_with("2 samples have no stack: maps of")
    );
    assert!(!gaps[0].remedy.is_empty());
}

/// A stack is what another program wrote. Words that look like addresses of this very process lead
/// the unwinder astray as well as they can.
#[test]
fn any_dump_comes_to_an_end() {
    let word = (0..8_u8, any::<u64>(), 0..0x4000_u64);
    let words = prop::collection::vec(word, 0..400);
    let registers = (0..0x4000_u64, 0..0x1000_u64);
    let symbolizer = RefCell::new(Symbolizer::new("/proc"));
    let config = ProptestConfig {
        cases: 500,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let mut runner = TestRunner::new(config);
    let given = (words, 0..8_usize, registers);
    let ran = runner.run(&given, |(words, cut, (ip, bp))| {
        let sp = 0x7000_0000_0000_u64;
        let code = any_dump_comes_to_an_end as *const () as u64;
        let word = |(kind, any, near): &(u8, u64, u64)| match kind {
            0 | 1 => *any,
            2..=4 => code + near,
            _ => sp + near,
        };
        let mut bytes: Vec<u8> = words.iter().flat_map(|w| word(w).to_ne_bytes()).collect();
        bytes.truncate(bytes.len().saturating_sub(cut));
        let user = User::Dump(Dump {
            ip: code + ip,
            sp,
            bp: sp + bp,
            lr: code,
            bytes: &bytes,
        });
        let raw = RawStack { kernel: &[], user };
        let pid = std::process::id();
        prop_assert!(symbolizer.borrow_mut().add(pid, &raw) != NO_STACK);
        Ok(())
    });
    ran.unwrap();
}

/// The library that the kernel maps into every process lies in no file.
#[test]
fn the_kernels_own_library_has_names() {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let vdso = maps.lines().find(|line| line.ends_with("[vdso]"));
    let Some((range, _)) = vdso.and_then(|line| line.split_once(' ')) else {
        println!("skipped: no vdso");
        return;
    };
    let (start, end) = range.split_once('-').unwrap();
    let number = |text| u64::from_str_radix(text, 16).unwrap();
    let pid = std::process::id();
    let mut symbolizer = Symbolizer::new("/proc");
    for at in (number(start)..number(end)).step_by(16) {
        let user = User::Chain(&[at]);
        symbolizer.add(pid, &RawStack { kernel: &[], user });
    }
    let symbols = symbolizer.finish();
    let clock = symbols
        .frames
        .iter()
        .find(|frame| frame.function.ends_with("clock_gettime"));
    assert_eq!(clock.map(|frame| frame.module.as_str()), Some("[vdso]"));
    assert!(symbols.gaps.is_empty(), "{:?}", symbols.gaps);
}

/// A file that was replaced while a process ran it has no names, which the file in its place must
/// not give; who may read it through the process nevertheless gets them.
#[test]
fn a_library_that_was_replaced_does_not_lend_its_names() {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("sleeper");
    let flags = ["-O2", "-fomit-frame-pointer"];
    let Some(running) = compile(dir.path(), &flags) else {
        return;
    };
    until_asleep(running.pid(), "sleeper");
    fs::remove_file(&program).unwrap();
    fs::copy("/bin/true", &program).unwrap();
    if let Some(frames) = functions_of(&running, "sleeper") {
        assert_in_order(&frames);
    }
}

/// A table of the kernel's symbols, and addresses in them.
fn with_kernel(kallsyms: &str, chain: &[u64]) -> (Vec<String>, Vec<Gap>) {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("kallsyms"), kallsyms).unwrap();
    let mut symbolizer = Symbolizer::new(dir.path());
    let stack = symbolizer.add(1, &RawStack::from_callchain(chain));
    let symbols = symbolizer.finish();
    let frames = stack_of(&symbols, stack);
    assert!(frames.iter().all(|frame| frame.module == "kernel"));
    (
        frames.into_iter().map(|frame| frame.function).collect(),
        symbols.gaps,
    )
}

const KALLSYMS: &str = "\
ffffffff81000000 T _stext
ffffffff81000100 T schedule
ffffffff81000200 t futex_wait
ffffffff81000300 T do_syscall_64
";

#[test]
fn the_kernels_functions_have_names() {
    let kernel_marker = -128_i64 as u64;
    let chain = [
        kernel_marker,
        0xffff_ffff_8100_0108,
        // Calls stand before the address that they return to: this is the last in `futex_wait`.
        0xffff_ffff_8100_0300,
        0xffff_ffff_8100_0310,
    ];
    let (functions, gaps) = with_kernel(KALLSYMS, &chain);
    assert_eq!(functions, ["schedule", "futex_wait", "do_syscall_64"]);
    assert!(gaps.is_empty(), "{gaps:?}");
}

#[test]
fn a_kernel_that_hides_its_addresses_is_a_gap() {
    let hidden = "0000000000000000 T _stext\n0000000000000000 T schedule\n";
    let (functions, gaps) = with_kernel(hidden, &[0xffff_ffff_8100_0108]);
    assert!(functions.is_empty());
    assert_eq!(gaps.len(), 1);
    assert!(gaps[0].remedy.contains("kptr_restrict"), "{gaps:?}");
}

#[test]
fn a_stack_is_cut_where_it_is_too_deep() {
    let chain = [0xffff_ffff_8100_0108; MOST_DEEP + 10];
    let (functions, gaps) = with_kernel(KALLSYMS, &chain);
    assert_eq!(functions.len(), MOST_DEEP);
    assert_eq!(gaps.len(), 1);
    assert!(gaps[0].reason.starts_with("1 stacks were cut"), "{gaps:?}");
}

//! A process that ends before its stacks are named takes no names with it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use proptest::prelude::*;
use slowpath_observe::symbols::{Dump, RawStack, Symbolizer, Symbols, User};

/// A function of this very program, whose address is looked for.
#[inline(never)]
fn looked_for() -> u64 {
    looked_for as fn() -> u64 as usize as u64
}

/// The line of this program's maps that an address lies in.
fn line_of(address: u64) -> String {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let holds = |line: &&str| {
        let range = line.split(' ').next().unwrap();
        let (begin, end) = range.split_once('-').unwrap();
        let number = |text| u64::from_str_radix(text, 16).unwrap();
        (number(begin)..number(end)).contains(&address)
    };
    maps.lines().find(holds).unwrap().to_owned() + "\n"
}

/// A process below `root` that has this program mapped. Without a file system of its own the
/// program cannot be reached through it.
fn process(root: &Path, pid: u32, with_files: bool) {
    let folder = root.join(pid.to_string());
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("maps"), line_of(looked_for())).unwrap();
    if with_files {
        symlink("/", folder.join("root")).unwrap();
    }
}

fn add(symbolizer: &mut Symbolizer, pid: u32) -> u32 {
    let user = User::Chain(&[looked_for()]);
    symbolizer.add(pid, &RawStack { kernel: &[], user })
}

fn is_named(symbols: &Symbols, stack: u32) -> bool {
    let frames = symbols.stacks[stack as usize].iter();
    let mut frames = frames.map(|&frame| &symbols.frames[frame as usize].function);
    frames.any(|function| function.contains("looked_for"))
}

#[test]
fn a_process_that_was_met_may_end() {
    let root = tempfile::tempdir().unwrap();
    process(root.path(), 7, true);
    let mut symbolizer = Symbolizer::new(root.path());
    symbolizer.meet(7);
    fs::remove_dir_all(root.path().join("7")).unwrap();
    let stack = add(&mut symbolizer, 7);
    let symbols = symbolizer.finish();
    assert!(is_named(&symbols, stack), "{symbols:?}");
    assert!(symbols.gaps.is_empty(), "{:?}", symbols.gaps);
}

#[test]
fn a_process_that_has_ended_does_not_take_the_names_of_the_others() {
    let root = tempfile::tempdir().unwrap();
    process(root.path(), 7, false);
    process(root.path(), 8, true);
    let mut symbolizer = Symbolizer::new(root.path());
    let (ended, lives) = (add(&mut symbolizer, 7), add(&mut symbolizer, 8));
    let symbols = symbolizer.finish();
    assert!(is_named(&symbols, lives), "{symbols:?}");
    assert!(!is_named(&symbols, ended));
    assert!(symbols.gaps.is_empty(), "{:?}", symbols.gaps);
}

#[test]
fn files_beyond_those_that_may_be_open_are_told() {
    let root = tempfile::tempdir().unwrap();
    process(root.path(), 7, true);
    let mut symbolizer = Symbolizer::with_files(root.path(), 0);
    let stack = add(&mut symbolizer, 7);
    let symbols = symbolizer.finish();
    assert!(!is_named(&symbols, stack));
    assert!(
        symbols.gaps[0].reason.contains("1 files"),
        "{:?}",
        symbols.gaps
    );
    assert!(!symbols.gaps[0].remedy.is_empty());
}

/// A small program of this machine, as the kernel maps it.
fn small() -> Vec<u8> {
    fs::read("/bin/true").unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_file_that_is_broken_breaks_nothing(
        bytes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..200),
        headers in prop::collection::vec((0..4096_usize, any::<u8>()), 0..8),
        cut in prop::option::of(any::<prop::sample::Index>()),
        at in 0_u64..0x4000,
        stack in prop::collection::vec(any::<u8>(), 0..256),
    ) {
        let mut file = small();
        for (place, byte) in bytes {
            let place = place.index(file.len());
            file[place] = byte;
        }
        for (place, byte) in headers {
            file[place] = byte;
        }
        file.truncate(cut.map_or(file.len(), |cut| cut.index(file.len())));
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("7");
        fs::create_dir_all(folder.join("root")).unwrap();
        fs::write(folder.join("root/program"), &file).unwrap();
        let line = "400000-404000 r-xp 00000000 fd:01 77 /program\n";
        fs::write(folder.join("maps"), line).unwrap();
        let mut symbolizer = Symbolizer::new(root.path());
        let (ip, sp, bp) = (0x40_0000 + at, 0x7000, 0x7010);
        let user = User::Dump(Dump { ip, sp, bp, lr: 0, bytes: &stack });
        symbolizer.add(7, &RawStack { kernel: &[], user });
        let symbols = symbolizer.finish();
        prop_assert_eq!(symbols.stacks.len(), 1);
    }
}

//! An executable of any bytes, mapped by a process: reading it, unwinding in it and naming what stands in
//! it comes to an end, with a stack for every sample.
#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use slowpath_observe::symbols::{Dump, RawStack, Symbolizer, User};

/// A `/proc` with one process that has one file mapped.
fn root() -> &'static PathBuf {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| {
        let root = std::env::temp_dir().join(format!("slowpath-fuzz-{}", std::process::id()));
        fs::create_dir_all(root.join("7/root")).expect("a folder for temporary files");
        let line = "400000-500000 r-xp 00000000 fd:01 77 /program\n";
        fs::write(root.join("7/maps"), line).expect("room for a line");
        root
    })
}

fuzz_target!(|input: (u32, &[u8])| {
    let (at, bytes) = input;
    fs::write(root().join("7/root/program"), bytes).expect("room for a file");
    let mut symbolizer = Symbolizer::new(root());
    let ip = 0x40_0000 + u64::from(at % 0x10_0000);
    let dump = Dump {
        ip,
        sp: 0x7000,
        bp: 0x7010,
        lr: 0,
        bytes: &bytes[..bytes.len().min(4096)],
    };
    let user = User::Dump(dump);
    let stack = symbolizer.add(7, &RawStack { kernel: &[], user });
    assert_eq!(symbolizer.finish().stacks.len(), stack as usize + 1);
});

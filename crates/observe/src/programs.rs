//! Which program a process executes.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// Where the first bytes of an executable say how wide its words are, and the value for 32 bits
/// (`EI_CLASS` and `ELFCLASS32` of elf(5)).
const ELF_CLASS: usize = 4;
const ELF_CLASS_32: u8 = 1;

/// The file name of a process's executable; empty for a thread of the kernel, and where it may not be
/// seen.
pub(crate) fn name(proc_root: &Path, pid: u32) -> String {
    let link = fs::read_link(proc_root.join(format!("{pid}/exe")));
    let name = link.as_deref().ok().and_then(Path::file_name);
    let name = name.map(|name| name.to_string_lossy().into_owned());
    // What the kernel says of an executable that was replaced.
    name.map_or_else(String::new, |name| {
        name.strip_suffix(" (deleted)").unwrap_or(&name).to_owned()
    })
}

/// Whether a process executes a program of 32 bits, whose system calls have other numbers.
pub(crate) fn is_narrow(proc_root: &Path, pid: u32) -> bool {
    let mut head = [0; ELF_CLASS + 1];
    File::open(proc_root.join(format!("{pid}/exe")))
        .and_then(|mut file| file.read_exact(&mut head))
        .is_ok_and(|()| head.starts_with(b"\x7fELF") && head[ELF_CLASS] == ELF_CLASS_32)
}

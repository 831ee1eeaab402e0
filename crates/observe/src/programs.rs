//! Which program a process executes.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// Where the first bytes of an executable say how wide its words are, and the value for 32 bits
/// (`EI_CLASS` and `ELFCLASS32` of elf(5)).
const ELF_CLASS: usize = 4;
const ELF_CLASS_32: u8 = 1;

/// The file name of a process's executable, or the other name of the same file by which it was started (Debian's `redis-server` is
/// `redis-check-rdb`); empty for a thread of the kernel, and where it may not be seen.
pub(crate) fn name(proc_root: &Path, pid: u32) -> String {
    let link = fs::read_link(proc_root.join(format!("{pid}/exe")));
    let name = link.as_deref().ok().and_then(Path::file_name);
    let name = name.map(|name| name.to_string_lossy().into_owned());
    let executable = link.as_deref().ok();
    if let Some(name) = executable.and_then(|path| other_name(proc_root, pid, path)) {
        return name;
    }
    // What the kernel says of an executable that was replaced.
    name.map_or_else(String::new, |name| {
        name.strip_suffix(" (deleted)").unwrap_or(&name).to_owned()
    })
}

/// The name that a process was started by, where that is a link to its executable in the same directory and says more than the
/// executable's own name without its version (`python3` for `python3.11`).
fn other_name(proc_root: &Path, pid: u32, executable: &Path) -> Option<String> {
    let arguments = fs::read(proc_root.join(format!("{pid}/cmdline"))).ok()?;
    let first = arguments.split(|&byte| byte == 0 || byte == b' ').next()?;
    let first = String::from_utf8_lossy(first).into_owned();
    let name = Path::new(&first).file_name()?.to_str()?;
    let own = executable.file_name()?.to_str()?;
    if own.starts_with(name) {
        return None;
    }
    let link = executable.with_file_name(name);
    (fs::canonicalize(link).ok()? == executable).then(|| name.to_owned())
}

/// Whether a process executes a program of 32 bits, whose system calls have other numbers.
pub(crate) fn is_narrow(proc_root: &Path, pid: u32) -> bool {
    let mut head = [0; ELF_CLASS + 1];
    File::open(proc_root.join(format!("{pid}/exe")))
        .and_then(|mut file| file.read_exact(&mut head))
        .is_ok_and(|()| head.starts_with(b"\x7fELF") && head[ELF_CLASS] == ELF_CLASS_32)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_program_with_several_names_has_the_one_that_it_was_started_by() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for file in ["check", "interpreter3.11"] {
            fs::write(root.join(file), "").unwrap();
        }
        symlink("check", root.join("serve")).unwrap();
        symlink("interpreter3.11", root.join("interpreter3")).unwrap();
        let started = |pid: u32, executable: &str, arguments: &str| {
            let process = root.join(pid.to_string());
            fs::create_dir(&process).unwrap();
            symlink(root.join(executable), process.join("exe")).unwrap();
            fs::write(process.join("cmdline"), arguments).unwrap();
            name(&root, pid)
        };
        assert_eq!(
            started(10, "check", "/usr/bin/serve 127.0.0.1:6379\0"),
            "serve"
        );
        assert_eq!(started(11, "check", "check\0file\0"), "check");
        assert_eq!(started(12, "check", "worker: idle\0"), "check");
        let versioned = started(13, "interpreter3.11", "interpreter3\0app\0");
        assert_eq!(versioned, "interpreter3.11");
        assert_eq!(name(&root, 14), "");
    }
}

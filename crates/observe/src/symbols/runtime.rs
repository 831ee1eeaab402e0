//! What runs a process's code.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use memchr::memmem::Finder;
use object::read::ReadCache;
use object::{Object, ObjectSection};
use slowpath_core::trace::Runtime;

use super::modules::open_regular;

/// How executors of Rust name their threads: tokio before and after 1.43, and async-global-executor.
const EXECUTOR_THREADS: [&str; 3] = ["tokio-runtime-w", "tokio-rt-worker", "async-std/runti"];
/// What stands in programs with such an executor: in names of functions, which both ways of
/// mangling keep (`5tokio7runtime`), and in the places of panics, which stripping leaves.
const EXECUTOR_MARKS: [(&str, &str); 4] = [
    (".strtab", "5tokio7runtime"),
    (".strtab", "14async_executor"),
    (".rodata", "/src/runtime/scheduler/"),
    (".rodata", "/async-executor-"),
];
/// Bytes searched at a time.
const CHUNK_BYTES: usize = 1 << 20;
/// Bytes of a section that are searched at most: marks of an executor are many.
const MOST_SEARCHED_BYTES: u64 = 64 << 20;

/// Recognised by the executable of process `pid` (below `proc_root`), by what it has mapped, and by how
/// its threads are called. [`Runtime::Unknown`] if none of these may be read, or it has ended.
pub fn runtime(proc_root: &Path, pid: u32) -> Runtime {
    let process = proc_root.join(pid.to_string());
    let Ok(maps) = fs::read(process.join("maps")) else {
        return Runtime::Unknown;
    };
    let exe = process.join("exe");
    let Ok(link) = fs::read_link(&exe) else {
        return Runtime::Unknown;
    };
    let name = link.file_name().map(|n| n.to_string_lossy().into_owned());
    let name = name.unwrap_or_default();
    let mapped = String::from_utf8_lossy(&maps);
    let libraries: BTreeSet<&str> = mapped
        .lines()
        .filter_map(|line| line.rsplit_once('/').map(|(_, name)| name))
        .collect();
    by_names(&name, &libraries)
        .or_else(|| executor_threads(&process).then_some(Runtime::Tokio))
        .unwrap_or_else(|| by_contents(&exe).unwrap_or(Runtime::Native))
}

/// What the names of the executable and of the mapped libraries show.
fn by_names(executable: &str, libraries: &BTreeSet<&str>) -> Option<Runtime> {
    let maps = |start: &str| libraries.iter().any(|name| name.starts_with(start));
    let is = |names: &[&str]| names.contains(&executable);
    if maps("libjvm.so") {
        Some(Runtime::Jvm)
    } else if maps("libcoreclr.so") || is(&["beam.smp", "beam"]) {
        Some(Runtime::Managed)
    } else if is(&["node", "nodejs"]) || maps("libnode.so") {
        Some(Runtime::Node)
    } else if is_python(executable) || maps("libpython") || maps("libpypy") {
        Some(Runtime::Python)
    } else if maps("libuv.so") && maps("libv8.so") {
        Some(Runtime::Node)
    } else {
        None
    }
}

/// `python`, `python3`, `python3.12`, `pypy3`; not `python-something`.
fn is_python(executable: &str) -> bool {
    ["python", "pypy"].iter().any(|stem| {
        executable
            .strip_prefix(stem)
            .is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit() || b == b'.'))
    })
}

fn executor_threads(process: &Path) -> bool {
    let Ok(tasks) = fs::read_dir(process.join("task")) else {
        return false;
    };
    tasks.flatten().any(|task| {
        let name = fs::read_to_string(task.path().join("comm"));
        name.is_ok_and(|name| EXECUTOR_THREADS.iter().any(|known| name.starts_with(known)))
    })
}

/// What stands in the executable itself.
fn by_contents(exe: &Path) -> io::Result<Runtime> {
    let file = open_regular(exe)?;
    let cache = ReadCache::new(&file);
    let object = object::File::parse(&cache).map_err(io::Error::other)?;
    if object.section_by_name(".go.buildinfo").is_some() {
        return Ok(Runtime::Go);
    }
    for (section, mark) in EXECUTOR_MARKS {
        let range = object.section_by_name(section).and_then(|s| s.file_range());
        if let Some((offset, bytes)) = range
            && contains(&file, offset, bytes, mark.as_bytes())?
        {
            return Ok(Runtime::Tokio);
        }
    }
    Ok(Runtime::Native)
}

/// Whether a part of a file holds a text.
fn contains(file: &File, offset: u64, bytes: u64, text: &[u8]) -> io::Result<bool> {
    let finder = Finder::new(text);
    let mut chunk = vec![0; CHUNK_BYTES];
    let end = offset.saturating_add(bytes.min(MOST_SEARCHED_BYTES));
    let mut at = offset;
    while at < end {
        let most = CHUNK_BYTES.min((end - at) as usize);
        let read = file.read_at(&mut chunk[..most], at)?;
        if finder.find(&chunk[..read]).is_some() {
            return Ok(true);
        }
        if read < text.len() {
            return Ok(false);
        }
        // The next chunk begins early enough to hold a text that this one ends in.
        at += if at + read as u64 >= end {
            read as u64
        } else {
            (read - text.len() + 1) as u64
        };
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_runtime() {
        let told = |exe: &str, libraries: &[&str]| {
            by_names(exe, &libraries.iter().copied().collect::<BTreeSet<_>>())
        };
        assert_eq!(told("java", &["libjvm.so"]), Some(Runtime::Jvm));
        assert_eq!(told("dotnet", &["libcoreclr.so"]), Some(Runtime::Managed));
        assert_eq!(told("beam.smp", &[]), Some(Runtime::Managed));
        assert_eq!(told("nodejs", &[]), Some(Runtime::Node));
        assert_eq!(told("python3.12", &["libuv.so.1"]), Some(Runtime::Python));
        assert_eq!(
            told("uwsgi", &["libpython3.11.so.1.0"]),
            Some(Runtime::Python)
        );
        assert_eq!(told("python-exporter", &[]), None);
        assert_eq!(told("nginx", &["libc.so.6"]), None);
    }

    #[test]
    fn a_text_is_found_across_chunks() {
        let mut bytes = vec![b'.'; CHUNK_BYTES * 2];
        let at = CHUNK_BYTES - 3;
        bytes[at..at + 6].copy_from_slice(b"needle");
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(&bytes, 0).unwrap();
        let all = bytes.len() as u64;
        assert!(contains(&file, 0, all, b"needle").unwrap());
        assert!(
            contains(&file, 7, all, b"needle").unwrap(),
            "beyond the end"
        );
        assert!(!contains(&file, 0, at as u64 + 5, b"needle").unwrap());
        assert!(!contains(&file, at as u64 + 1, all, b"needle").unwrap());
    }
}

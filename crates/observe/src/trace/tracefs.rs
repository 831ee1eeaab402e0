//! Where the kernel describes its tracepoints.
//!
//! tracefs is often not mounted, and its folder is for root alone. Where it is not mounted it is
//! mounted for one short-lived thread, in a mount namespace of that thread's own: nothing on the
//! host changes, and nothing is left whatever ends the program.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;

use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::thread::UnshareFlags;

use super::format::Format;
use super::kinds::{Kind, Tracepoint};

/// Folders on which tracefs can be mounted for a thread of its own: any that exists would do,
/// since no other process sees what is mounted there.
const MOUNT_POINTS: [&str; 3] = ["/sys/kernel/tracing", "/mnt", "/tmp"];

/// Why no tracepoint can be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum TracefsError {
    /// It is mounted nowhere and cannot be mounted.
    #[error("tracefs is not mounted and cannot be mounted for ourselves: {0}")]
    NotMounted(io::Error),
    /// It is mounted and not to be read.
    #[error("{path}: {source}")]
    Unreadable {
        /// What could not be read.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// The formats of those tracepoints that the running kernel has.
pub(super) fn formats(proc_root: &Path) -> Result<Vec<(Kind, Format)>, TracefsError> {
    match mounted(proc_root) {
        Some(root) => read(&root),
        None => in_private().map_err(TracefsError::NotMounted)?,
    }
}

/// Where tracefs is mounted already.
fn mounted(proc_root: &Path) -> Option<PathBuf> {
    find(&fs::read_to_string(proc_root.join("self/mountinfo")).ok()?)
}

/// Finds tracefs in the text of a `mountinfo`; debugfs holds it in a folder.
fn find(mountinfo: &str) -> Option<PathBuf> {
    let mounts = mountinfo.lines().filter_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let point = before.split_ascii_whitespace().nth(4)?;
        Some((after.split_ascii_whitespace().next()?, Path::new(point)))
    });
    let mut fallback = None;
    for (kind, point) in mounts {
        match kind {
            "tracefs" => return Some(point.to_owned()),
            "debugfs" if point.join("tracing/events").is_dir() => {
                fallback = Some(point.join("tracing"));
            }
            _ => {}
        }
    }
    fallback
}

/// Reads the formats in a thread that mounts tracefs for itself alone.
fn in_private() -> io::Result<Result<Vec<(Kind, Format)>, TracefsError>> {
    let reader = thread::Builder::new().name("slowpath-tracefs".to_owned());
    let reader = reader.spawn(|| {
        let root = mount_privately()?;
        Ok(read(root))
    })?;
    let gone = |_| io::Error::other("the reading thread broke off");
    reader.join().map_err(gone)?
}

/// Gives the calling thread a mount namespace of its own and mounts tracefs in it.
#[expect(
    unsafe_code,
    reason = "unshare(2) is unsafe for what it may do to a thread's file descriptors"
)]
fn mount_privately() -> io::Result<&'static Path> {
    // SAFETY: the table of file descriptors stays shared (no CLONE_FILES).
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS | UnshareFlags::FS)? };
    let none = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", none)?;
    let point = MOUNT_POINTS
        .map(Path::new)
        .into_iter()
        .find(|point| point.is_dir())
        .ok_or_else(|| io::Error::other("no folder to mount it on"))?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("tracefs", point, "tracefs", flags, None)?;
    Ok(point)
}

/// Reads the formats of all tracepoints that are there.
fn read(root: &Path) -> Result<Vec<(Kind, Format)>, TracefsError> {
    let mut formats = Vec::new();
    for Tracepoint { kind, name } in Kind::TRACEPOINTS {
        let path = root.join("events").join(name).join("format");
        match fs::read_to_string(&path) {
            Ok(text) => formats.extend(Format::parse(&text).map(|format| (kind, format))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(TracefsError::Unreadable { path, source }),
        }
    }
    Ok(formats)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tracefs_is_found_among_the_mounts() {
        let root = "22 1 0:20 / / rw shared:1 - ext4 /dev/vda rw\n";
        let own = "30 22 0:12 / /sys/kernel/tracing rw,nosuid shared:9 - tracefs tracefs rw\n";
        assert_eq!(find(root), None);
        let found = find(&format!("{root}{own}"));
        assert_eq!(found, Some(PathBuf::from("/sys/kernel/tracing")));
        let debug = "31 22 0:7 / /nowhere rw - debugfs debugfs rw\n";
        assert_eq!(find(debug), None, "without a folder for tracing");
    }

    #[test]
    fn a_private_mount_leaves_no_trace() {
        let before = fs::read_to_string("/proc/self/mountinfo").unwrap();
        match in_private() {
            Ok(formats) => {
                let formats = formats.unwrap();
                assert!(formats.iter().any(|(kind, _)| *kind == Kind::Switch));
            }
            Err(error) => println!("skipped: tracefs cannot be mounted here: {error}"),
        }
        let after = fs::read_to_string("/proc/self/mountinfo").unwrap();
        assert_eq!(before, after);
    }
}

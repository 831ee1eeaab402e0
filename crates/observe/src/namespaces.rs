//! Whether ids and instants mean here what they mean to the kernel.

use std::fs;
use std::path::Path;

/// A kind of namespace that changes what the kernel's records mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Namespace {
    /// Ids of threads.
    Pid,
    /// `CLOCK_MONOTONIC`.
    Time,
}

impl Namespace {
    /// The first one of the kind: `PROC_PID_INIT_INO` and `PROC_TIME_INIT_INO` of
    /// `include/linux/proc_ns.h`.
    const fn first(self) -> (&'static str, &'static str) {
        match self {
            Self::Pid => ("pid", "pid:[4026531836]"),
            Self::Time => ("time", "time:[4026531834]"),
        }
    }
}

/// Why nothing that the kernel stamps with a time can be used in a time namespace, and what to try.
pub(crate) const OTHER_TIME: (&str, &str) = (
    "slowpath runs in a time namespace, where its clock is not the kernel's",
    "run slowpath on the host, or in a container without a time namespace",
);

/// Whether this process is in the first namespace of a kind, as one is whose kernel knows none.
pub(crate) fn is_first(proc_root: &Path, kind: Namespace) -> bool {
    let (name, first) = kind.first();
    let own = fs::read_link(proc_root.join("self/ns").join(name));
    own.map_or(true, |link| link.as_os_str() == first)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn another_namespace_is_told_from_the_first() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("self/ns");
        fs::create_dir_all(&folder).unwrap();
        assert!(is_first(root.path(), Namespace::Time), "an old kernel");
        symlink("time:[4026531834]", folder.join("time")).unwrap();
        symlink("pid:[4026532001]", folder.join("pid")).unwrap();
        assert!(is_first(root.path(), Namespace::Time));
        assert!(!is_first(root.path(), Namespace::Pid));
    }
}

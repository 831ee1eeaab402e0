//! What a file descriptor that is written to leads to.

use std::path::{Path, PathBuf};

/// The standard output and the standard error.
const STANDARD: [(u64, &str); 2] = [(1, "stdout"), (2, "stderr")];
/// What belongs to no process in particular: that two descriptors lead there says nothing.
const NOWHERE: &str = "/dev/null";

/// A word for it; `link` says where a descriptor leads.
pub(super) fn label(file: u64, link: impl Fn(u64) -> Option<PathBuf>) -> String {
    if let Some((_, name)) = STANDARD.iter().find(|(standard, _)| *standard == file) {
        return (*name).to_owned();
    }
    let Some(to) = link(file) else {
        return "file".to_owned();
    };
    let same = |standard: u64| link(standard).is_some_and(|other| other == to);
    if to != Path::new(NOWHERE)
        && let Some((_, name)) = STANDARD.iter().rev().find(|(standard, _)| same(*standard))
    {
        return (*name).to_owned();
    }
    let text = to.to_string_lossy();
    if text.starts_with("pipe:") {
        "pipe".to_owned()
    } else if text.starts_with("socket:") {
        "socket".to_owned()
    } else if text.starts_with("/dev/pts/")
        || text.starts_with("/dev/tty")
        || text == "/dev/console"
    {
        "terminal".to_owned()
    } else if is_log(&to) {
        let name = to.file_name().unwrap_or_default().to_string_lossy();
        format!("log {name}")
    } else {
        "file".to_owned()
    }
}

/// Whether a file is called a log. A database's logs of what it is about to write are data, and lie
/// elsewhere.
fn is_log(path: &Path) -> bool {
    let by_ending = path.extension().is_some_and(|ending| ending == "log");
    by_ending || path.starts_with("/var/log")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(file: u64) -> String {
        label(file, |fd| {
            let to = match fd {
                0 | 1 | 9 => "/dev/null",
                2 | 3 => "pipe:[71]",
                4 => "pipe:[72]",
                5 => "/srv/app/access.log",
                6 => "/var/lib/db/000003.wal",
                7 => "socket:[9]",
                8 => "/dev/pts/0",
                _ => return None,
            };
            Some(PathBuf::from(to))
        })
    }

    #[test]
    fn a_descriptor_is_called_by_what_it_leads_to() {
        for (file, name) in [
            (1, "stdout"),
            (2, "stderr"),
            (3, "stderr"),
            (4, "pipe"),
            (5, "log access.log"),
            (6, "file"),
            (7, "socket"),
            (8, "terminal"),
            (9, "file"),
            (77, "file"),
        ] {
            assert_eq!(of(file), name, "{file}");
        }
    }
}

//! How many files may be open.
//!
//! The usual soft limit is there for programs of old that cannot use higher numbers; the hard one is
//! what the user may have. slowpath takes that for itself, so that neither load nor tracing wants for
//! files, and starts others with the limit that it found: what a target may have open is part of what
//! is measured.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::probes::numbers;

/// What lets more files be open: slowpath takes what the hard limit permits by itself.
pub(crate) const MORE_FILES: &str =
    "a higher hard limit of open files (ulimit -Hn 65536, or LimitNOFILE=65536 of a service)";

/// The limit as it was found.
static FOUND: OnceLock<Rlimit> = OnceLock::new();

/// Lets this process have as many files open as its user may, and remembers what it was before for
/// those that are started.
pub fn raise_open_files() {
    let found = *FOUND.get_or_init(|| getrlimit(Resource::Nofile));
    let raised = Rlimit {
        current: found.maximum,
        ..found
    };
    // Where that is refused the limit stays what it was, and the code that needs files checks it.
    let _ = setrlimit(Resource::Nofile, raised);
}

/// How many more files this process may open.
pub fn open_files_left(proc_root: &Path) -> usize {
    let limit = getrlimit(Resource::Nofile).current;
    let limit = limit.map_or(usize::MAX, |limit| limit as usize);
    let open = numbers(&proc_root.join("self/fd")).map_or(0, |files| files.len());
    limit.saturating_sub(open)
}

/// Gives a process that is to be started the limit that was found.
#[expect(unsafe_code, reason = "between fork and exec little is allowed")]
pub(crate) fn as_found(command: &mut Command) -> &mut Command {
    let Some(&found) = FOUND.get() else {
        return command;
    };
    if found.current == found.maximum {
        return command;
    }
    // SAFETY: it makes one system call and touches no memory that another thread may hold.
    unsafe { command.pre_exec(move || Ok(setrlimit(Resource::Nofile, found)?)) }
}

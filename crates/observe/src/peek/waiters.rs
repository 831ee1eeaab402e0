//! Who waits for a lock that a certain thread has, or may have: asked before that thread is kept
//! from going on, and while it is.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use slowpath_core::trace::Call;

use super::text::Found;
use super::{locks, memory, text};

/// Threads that are sampled: a look takes 2 to 6 µs, and all of them together are to take less
/// than what they are asked for.
const MOST_LOOKS: usize = 2_048;

/// What was found of the other threads of a process.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    /// Some wait for a lock that names the thread as its owner.
    pub(crate) for_its_lock: bool,
    /// Those that wait for a lock which names no owner, with its address.
    pub(crate) for_a_lock: BTreeSet<(u32, u64)>,
}

impl Waiters {
    /// Looks at all threads of a process but this one. What may not be read is not found.
    pub(crate) fn of(process: u32, thread: u32) -> Self {
        let folder = PathBuf::from(format!("/proc/{process}/task"));
        let mut found = Self::default();
        let mut futexes = Vec::new();
        for tid in threads(&folder).into_iter().filter(|&tid| tid != thread) {
            let path = folder.join(tid.to_string()).join("syscall");
            let call = fs::read_to_string(path).ok();
            if let Some(Found::Waiting {
                call: Call::Futex,
                about,
                is_plain_lock,
            }) = call.and_then(|call| text::syscall(&call))
            {
                futexes.push(about);
                if is_plain_lock {
                    found.for_a_lock.insert((tid, about));
                }
            }
        }
        futexes.sort_unstable();
        futexes.dedup();
        let owner = inner(&folder, thread);
        let is_owner = |bytes: &[u8]| locks::owner(bytes, |tid| tid == owner) == owner;
        let places = memory::peek(process, &futexes).unwrap_or_default();
        for (about, bytes) in futexes.iter().zip(places) {
            if bytes.is_some_and(|bytes| is_owner(&bytes)) {
                found.for_its_lock = true;
                found.for_a_lock.retain(|(_, lock)| lock != about);
            }
        }
        found
    }
}

fn threads(folder: &Path) -> Vec<u32> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    entries
        .flatten()
        .filter_map(number)
        .take(MOST_LOOKS)
        .collect()
}

/// The number by which the process itself knows the thread.
fn inner(folder: &Path, thread: u32) -> u32 {
    let path = folder.join(thread.to_string()).join("status");
    let status = fs::read_to_string(path).unwrap_or_default();
    let inner = text::status(&status).and_then(|status| status.inner);
    inner.unwrap_or(thread)
}

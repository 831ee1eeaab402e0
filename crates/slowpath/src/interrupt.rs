//! Ctrl-C and SIGTERM set a flag; whatever runs looks at it and keeps what it has.

use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};

static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// The flag that an interrupt sets. A second interrupt ends slowpath at once; the guardian then
/// restores and stops what is left.
pub(crate) fn flag() -> std::io::Result<Arc<AtomicBool>> {
    if let Some(flag) = FLAG.get() {
        return Ok(Arc::clone(flag));
    }
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&flag))?;
        signal_hook::flag::register(signal, Arc::clone(&flag))?;
    }
    Ok(Arc::clone(FLAG.get_or_init(|| flag)))
}

/// Something to wait for that is readable once an interrupt came: who only waits needs no clock
/// to look at a flag.
pub(crate) fn told() -> std::io::Result<UnixStream> {
    let (told, tells) = UnixStream::pair()?;
    told.set_nonblocking(true)?;
    for signal in [SIGINT, SIGTERM] {
        signal_hook::low_level::pipe::register(signal, tells.try_clone()?)?;
    }
    Ok(told)
}

/// Whether an interrupt came.
pub(crate) fn came(flag: &AtomicBool) -> bool {
    flag.load(Ordering::Relaxed)
}

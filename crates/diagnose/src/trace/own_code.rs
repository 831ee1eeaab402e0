//! Which function on a stack is the program's own.

/// The innermost function that is no library's, as far as names show.
pub(crate) fn own_frame(stack: &[String]) -> Option<&String> {
    stack.iter().find(|frame| !is_library(frame))
}

/// Functions of the C library and of languages' libraries in which a wait ends up: what the
/// program itself was doing stands further out.
fn is_library(frame: &str) -> bool {
    const LIBRARIES: &[&str] = &[
        "__",
        "std::",
        "<std::",
        "core::",
        "<core::",
        "alloc::",
        "<alloc::",
        "syscall",
        "0x",
        "[",
        "internal/",
        "syscall.",
        "runtime.",
        "java.lang.",
        "sun.nio.",
        "node::",
        "uv_",
    ];
    const CALLS: &[&str] = &[
        "nanosleep",
        "clock_nanosleep",
        "usleep",
        "sleep",
        "epoll_wait",
        "poll",
        "select",
        "read",
        "recv",
        "recvfrom",
        "recvmsg",
        "write",
        "send",
        "sendto",
        "sendmsg",
        "connect",
        "fsync",
        "fdatasync",
    ];
    // Functions of Rust's libraries that were made part of others are known by their files.
    const FILES: &[&str] = &[
        "(iter/",
        "(sync/",
        "(ops/",
        "(num/",
        "(slice/",
        "(vec/",
        "(thread/",
        "(raw_vec/",
        "(sys/",
        "(io/",
        "(alloc/",
        "(mem/",
        "(ptr/",
        "(str/",
        "(collections/",
        "(time.rs",
        "(panic",
    ];
    let function = frame.split(" (").next().unwrap_or(frame);
    FILES.iter().any(|file| frame.contains(file))
        || LIBRARIES.iter().any(|name| function.starts_with(name))
        || CALLS.contains(&function)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_program_does_stands_behind_its_libraries() {
        let stack = [
            "__clock_nanosleep (linux/clock_nanosleep.c:48)",
            "std::thread::functions::sleep",
            "nanosleep (libc.so.6)",
            "forward_unchecked (iter/range.rs:214)",
        ];
        assert!(stack.iter().all(|frame| is_library(frame)));
        assert!(!is_library("flush_critical (server.c:41)"));
        assert!(!is_library("sleepy::recv_all"));
    }
}

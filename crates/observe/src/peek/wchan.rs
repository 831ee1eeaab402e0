//! What a thread waits for by the kernel function it stands in, where its call may not be read.
//!
//! Names are those of Linux from 4.19 to 6.18; functions that only some of them have stand side by
//! side. `wchan` skips functions of the scheduler itself, so `schedule` and `io_schedule` never
//! stand there. A wait for a page (`folio_wait_bit_common`, `wait_on_page_bit`) is no entry: both
//! who reads a file and who syncs it stand there.

use slowpath_core::trace::Call;

/// Functions in which threads wait; those that end in `*` mean all that begin so.
static WAITS: &[(Call, &[&str])] = &[
    (
        Call::Futex,
        &[
            // Until 5.15, until 6.14, and since.
            "futex_wait_queue_me",
            "futex_wait_queue",
            "futex_do_wait",
            "futex_wait_multiple*",
            "futex_wait_requeue_pi*",
            "rt_mutex_wait_proxy_lock",
            "rt_mutex_slowlock*",
            "__rt_mutex_slowlock*",
        ],
    ),
    (
        Call::Sleep,
        &[
            "hrtimer_nanosleep",
            "do_nanosleep",
            "common_nsleep*",
            "__x64_sys_nanosleep",
            "alarm_timer_nsleep",
        ],
    ),
    (
        Call::Poll,
        &[
            // Compilers put the first into the second since about 5.11.
            "ep_poll",
            "do_epoll_wait",
            "do_epoll_pwait*",
            "do_sys_poll",
            "do_poll*",
            "do_select",
            "core_sys_select",
            "poll_schedule_timeout*",
            "io_cqring_wait*",
            "__io_cqring_wait*",
            "io_uring_enter*",
        ],
    ),
    (
        Call::Read,
        &[
            "sk_wait_data",
            "__skb_wait_for_more_packets",
            "unix_stream_read_generic",
            "unix_stream_data_wait",
            "pipe_read",
            "anon_pipe_read",
            // Until 5.4 a pipe's readers and writers stood in one function.
            "pipe_wait",
            "pipe_wait_readable",
            "n_tty_read",
            "wait_woken",
            "eventfd_read",
            "timerfd_read*",
            "inotify_read",
            "signalfd_dequeue",
        ],
    ),
    (
        Call::Write,
        &[
            "sk_stream_wait_memory",
            "sock_alloc_send_pskb",
            "sock_wait_for_wmem",
            "unix_wait_for_peer",
            "pipe_write",
            "anon_pipe_write",
            "pipe_wait_writable",
            "balance_dirty_pages*",
            "n_tty_write",
        ],
    ),
    (
        Call::Connect,
        &[
            "inet_wait_for_connect",
            "inet_stream_connect",
            "__inet_stream_connect",
        ],
    ),
    (
        Call::Accept,
        &[
            "inet_csk_accept",
            "inet_csk_wait_for_connect",
            "unix_accept",
        ],
    ),
    (
        Call::Sync,
        &[
            "jbd2_log_wait_commit",
            "jbd2_complete_transaction",
            "ext4_sync_file",
            "ext4_fsync*",
            "xlog_wait*",
            "xfs_log_force*",
            "xfs_file_fsync",
            "btrfs_sync_*",
            "btrfs_wait_*",
            "file_write_and_wait_range",
            "__filemap_fdatawait_range",
            "filemap_fdatawait*",
            "folio_wait_writeback",
            "wait_on_page_writeback",
            "blkdev_issue_flush",
            "vfs_fsync*",
            "do_fsync",
        ],
    ),
    (
        Call::FileLock,
        &[
            "locks_lock_inode_wait",
            "flock_lock_inode_wait",
            "posix_lock_inode_wait",
            "fcntl_setlk",
            "do_lock_file_wait*",
        ],
    ),
    (Call::Wait, &["do_wait", "kernel_wait4", "kernel_waitid*"]),
];

/// The call that a text of `/proc/PID/task/TID/wchan` means; `None` if the thread runs, or
/// the kernel does not say.
pub(super) fn classify(text: &str) -> Option<Call> {
    let function = text.trim();
    if function.is_empty() || function == "0" {
        return None;
    }
    // Compilers add endings such as `.isra.0` to the copies they make.
    let function = function.split('.').next().unwrap_or(function);
    let call = WAITS
        .iter()
        .find(|(_, names)| names.iter().any(|name| is_named(function, name)));
    Some(call.map_or(Call::Other, |(call, _)| *call))
}

fn is_named(function: &str, name: &str) -> bool {
    match name.strip_suffix('*') {
        Some(begin) => function.starts_with(begin),
        None => function == name,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn functions_of_all_kernels_are_known() {
        for (text, call) in [
            ("futex_wait_queue_me\n", Call::Futex),
            ("futex_wait_queue", Call::Futex),
            ("futex_do_wait", Call::Futex),
            ("hrtimer_nanosleep", Call::Sleep),
            ("do_nanosleep", Call::Sleep),
            ("ep_poll", Call::Poll),
            ("do_epoll_wait", Call::Poll),
            ("poll_schedule_timeout.constprop.0", Call::Poll),
            ("sk_wait_data", Call::Read),
            ("pipe_read", Call::Read),
            ("anon_pipe_read", Call::Read),
            ("wait_woken", Call::Read),
            ("sk_stream_wait_memory", Call::Write),
            ("inet_csk_accept", Call::Accept),
            ("jbd2_log_wait_commit", Call::Sync),
            ("do_wait", Call::Wait),
            ("some_new_function", Call::Other),
        ] {
            assert_eq!(classify(text), Some(call), "{text}");
        }
    }

    #[test]
    fn a_thread_that_runs_or_is_hidden_waits_for_nothing_known() {
        for text in ["0", "0\n", "", "\n"] {
            assert_eq!(classify(text), None, "{text:?}");
        }
    }

    #[test]
    fn no_function_stands_for_two_calls() {
        for (place, (call, names)) in WAITS.iter().enumerate() {
            for name in *names {
                let plain = name.trim_end_matches('*');
                for (other, others) in &WAITS[place + 1..] {
                    let twice = others.iter().any(|o| is_named(plain, o));
                    assert!(!twice, "{name} is {call:?} and {other:?}");
                }
                assert_eq!(classify(plain), Some(*call), "{name}");
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in ".{0,60}") {
            let _ = classify(&text);
        }
    }
}

//! System calls that block for long, as far as they are rare enough to be watched.
//!
//! Calls that wait for a socket or a pipe (`read`, `recv`, `epoll_wait`) come with every request;
//! what they wait for is told by other events.

use slowpath_core::trace::Call;

/// A call's number here, and what it waits for.
const CALLS: &[(libc::c_long, Call)] = &[
    (libc::SYS_futex, Call::Futex),
    (libc::SYS_nanosleep, Call::Sleep),
    (libc::SYS_clock_nanosleep, Call::Sleep),
    (libc::SYS_fsync, Call::Sync),
    (libc::SYS_fdatasync, Call::Sync),
    (libc::SYS_msync, Call::Sync),
    (libc::SYS_sync_file_range, Call::Sync),
    (libc::SYS_connect, Call::Connect),
    (libc::SYS_flock, Call::FileLock),
    (libc::SYS_wait4, Call::Wait),
    (libc::SYS_waitid, Call::Wait),
];

/// The numbers of all of them.
pub(super) fn numbers() -> impl Iterator<Item = libc::c_long> {
    CALLS.iter().map(|(number, _)| *number)
}

/// What a call waits for and what it is about, by its number and its first two arguments; `None`
/// if it is not watched, or does not wait.
pub(super) fn classify(number: i64, first: u64, second: u64) -> Option<(Call, u64)> {
    let (_, call) = CALLS.iter().find(|(known, _)| *known == number)?;
    match call {
        Call::Futex => futex_waits(second).then_some((Call::Futex, first)),
        Call::Sync if number == libc::SYS_msync => Some((Call::Sync, 0)),
        Call::Sync | Call::Connect | Call::FileLock => Some((*call, first)),
        _ => Some((*call, 0)),
    }
}

/// Whether an operation on a futex waits (`include/uapi/linux/futex.h`); the flags for private
/// futexes and for the clock are above the command.
const fn futex_waits(operation: u64) -> bool {
    /// `FUTEX_WAIT`, `FUTEX_LOCK_PI`, `FUTEX_WAIT_BITSET`, `FUTEX_WAIT_REQUEUE_PI`,
    /// `FUTEX_LOCK_PI2`.
    const WAITS: [u64; 5] = [0, 6, 9, 11, 13];
    const COMMAND: u64 = 0x7f;
    let command = operation & COMMAND;
    let mut place = 0;
    while place < WAITS.len() {
        if WAITS[place] == command {
            return true;
        }
        place += 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_told_from_wakes() {
        let futex = |operation| classify(libc::SYS_futex, 0x7000, operation);
        // FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME, then FUTEX_WAKE.
        assert_eq!(futex(9 | 128 | 256), Some((Call::Futex, 0x7000)));
        assert_eq!(futex(1 | 128), None);
        assert_eq!(futex(6), Some((Call::Futex, 0x7000)));
    }

    #[test]
    fn what_has_a_file_says_which() {
        assert_eq!(classify(libc::SYS_fsync, 5, 0), Some((Call::Sync, 5)));
        assert_eq!(
            classify(libc::SYS_clock_nanosleep, 1, 0),
            Some((Call::Sleep, 0))
        );
        assert_eq!(classify(libc::SYS_read, 5, 0), None);
        assert_eq!(classify(-1, 0, 0), None);
    }
}

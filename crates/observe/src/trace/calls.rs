//! System calls that block for long, as far as they are rare enough to be watched.
//!
//! Calls that wait for a socket or a pipe (`read`, `recv`, `epoll_wait`) come with every request;
//! what they wait for is reported by other events.

use slowpath_core::trace::Call;

use crate::calls::{self, SYS_FUTEX_WAIT, SYS_FUTEX_WAITV};

/// The numbers here of all calls that are watched.
const NUMBERS: [libc::c_long; 16] = [
    libc::SYS_futex,
    SYS_FUTEX_WAIT,
    SYS_FUTEX_WAITV,
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_msync,
    libc::SYS_sync,
    libc::SYS_syncfs,
    libc::SYS_sync_file_range,
    libc::SYS_connect,
    libc::SYS_flock,
    libc::SYS_fcntl,
    libc::SYS_wait4,
    libc::SYS_waitid,
];

/// The numbers here of calls that give or take data by a descriptor, or end one. They come with every request,
/// and are asked for only where nothing else records what they do.
const BY_FILE: [libc::c_long; 18] = [
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_preadv2,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_recvmmsg,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_pwritev2,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_sendmmsg,
    libc::SYS_sendfile,
    libc::SYS_splice,
    libc::SYS_close,
    libc::SYS_dup3,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_setup,
];

/// What a call does with a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Does {
    /// It takes data.
    Takes,
    /// It gives data.
    Gives,
    /// The descriptor means something else from then on.
    Closes,
    /// It gives and takes by a ring, which nothing else records.
    Rings,
}

/// The numbers of calls that give or take data by a descriptor.
pub(super) fn by_file() -> impl Iterator<Item = libc::c_long> {
    BY_FILE.into_iter()
}

/// The numbers of calls that return how much they gave, and of those that return how much they took if
/// that is asked for.
pub(super) fn moving(takes_too: bool) -> impl Iterator<Item = libc::c_long> {
    by_file().filter(move |&number| {
        let does = of_file(number, [0; 3]).map(|(does, _)| does);
        does == Some(Does::Gives) || takes_too && does == Some(Does::Takes)
    })
}

/// What a call does with which descriptor, by its number and its first arguments.
pub(super) fn of_file(number: i64, arguments: [u64; 3]) -> Option<(Does, u32)> {
    if !BY_FILE.contains(&number) {
        return None;
    }
    let does = match number {
        libc::SYS_io_uring_enter | libc::SYS_io_uring_setup => Does::Rings,
        libc::SYS_close => Does::Closes,
        // The old descriptor comes first.
        libc::SYS_dup3 => return Some((Does::Closes, arguments[1] as u32)),
        _ => match calls::classify(number, &arguments) {
            (Call::Read, file) => return Some((Does::Takes, file as u32)),
            (Call::Write, file) => return Some((Does::Gives, file as u32)),
            _ => return None,
        },
    };
    Some((does, arguments[0] as u32))
}

/// The numbers of all of them.
pub(super) fn numbers() -> impl Iterator<Item = libc::c_long> {
    NUMBERS.into_iter()
}

/// What a call waits for and what it is about, by its number and its first two arguments; `None`
/// if it is not watched, or does not wait.
pub(super) fn classify(number: i64, first: u64, second: u64) -> Option<(Call, u64)> {
    let (call, about) = calls::classify(number, &[first, second]);
    is_watched(call).then_some((call, about))
}

/// Whether calls of that kind are rare enough, and reported by no other event.
const fn is_watched(call: Call) -> bool {
    match call {
        Call::Futex | Call::Sleep | Call::Connect | Call::Sync | Call::FileLock | Call::Wait => {
            true
        }
        Call::Poll | Call::Read | Call::Write | Call::Accept | Call::Other => false,
    }
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
    fn every_call_that_is_watched_is_asked_for_and_no_other() {
        let own: std::collections::BTreeSet<i64> = numbers().collect();
        // Commands that wait: of `futex` FUTEX_WAIT, of `fcntl` F_SETLKW.
        let commands = [0, libc::F_SETLKW as u64];
        for number in -1..1000 {
            let waits = commands
                .iter()
                .any(|&command| classify(number, 5, command).is_some());
            assert_eq!(waits, own.contains(&number), "{number}");
        }
        assert_eq!(classify(libc::SYS_fcntl, 5, libc::F_GETFL as u64), None);
        let lock = classify(libc::SYS_fcntl, 5, libc::F_SETLKW as u64);
        assert_eq!(lock, Some((Call::FileLock, 5)));
        assert_eq!(
            classify(SYS_FUTEX_WAIT, 0x7000, 0),
            Some((Call::Futex, 0x7000))
        );
    }

    #[test]
    fn what_moves_data_says_by_which_descriptor() {
        for number in by_file() {
            assert!(of_file(number, [5, 6, 7]).is_some(), "{number}");
            assert!(numbers().all(|other| other != number), "{number}");
        }
        assert_eq!(of_file(libc::SYS_read, [5, 6, 7]), Some((Does::Takes, 5)));
        assert_eq!(of_file(libc::SYS_splice, [5, 6, 7]), Some((Does::Gives, 7)));
        assert_eq!(of_file(libc::SYS_dup3, [5, 6, 7]), Some((Does::Closes, 6)));
        assert_eq!(of_file(libc::SYS_futex, [5, 6, 7]), None);
        assert!(moving(true).all(|number| number != libc::SYS_close));
        assert_eq!((moving(true).count(), moving(false).count()), (14, 8));
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

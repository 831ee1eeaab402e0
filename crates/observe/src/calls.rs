//! System calls that block, distinguished by their number and arguments on this machine.

use slowpath_core::trace::Call;

/// The bits of a futex operation that say what it does (`FUTEX_CMD_MASK` of `linux/futex.h`).
const FUTEX_COMMANDS: u64 = 0x7f;
/// The operations that wait: `FUTEX_WAIT`, `FUTEX_WAIT_BITSET`, `FUTEX_WAIT_REQUEUE_PI`.
const FUTEX_WAITS: [u64; 3] = [0, 9, 11];
/// The operations that wait for a lock whose owner the kernel knows: `FUTEX_LOCK_PI` and
/// `FUTEX_LOCK_PI2`.
const FUTEX_LOCKS: [u64; 2] = [6, 13];
/// `F_OFD_SETLKW` of `linux/fcntl.h`.
const F_OFD_SETLKW: u64 = 38;
/// `futex_waitv` and `futex_wait`, the same on every processor.
pub(crate) const SYS_FUTEX_WAITV: i64 = 449;
pub(crate) const SYS_FUTEX_WAIT: i64 = 455;
/// `epoll_pwait2`, the same on every processor.
const SYS_EPOLL_PWAIT2: i64 = 441;

/// What a call of that number with those arguments is, and what it is about: the address of a
/// futex, or a file descriptor; 0 if it is about neither.
///
/// Numbers are those of the processor that this program was built for: another word size of the
/// caller (a 32-bit program on a 64-bit kernel) has other numbers.
pub(crate) fn classify(number: i64, arguments: &[u64]) -> (Call, u64) {
    let argument = |n: usize| arguments.get(n).copied().unwrap_or_default();
    let file = argument(0);
    match number {
        libc::SYS_futex if waits_on_futex(argument(1)) => (Call::Futex, argument(0)),
        SYS_FUTEX_WAIT => (Call::Futex, argument(0)),
        // Its first argument is a list of futexes.
        SYS_FUTEX_WAITV => (Call::Futex, 0),
        libc::SYS_nanosleep | libc::SYS_clock_nanosleep => (Call::Sleep, 0),
        libc::SYS_epoll_pwait | SYS_EPOLL_PWAIT2 | libc::SYS_io_uring_enter => (Call::Poll, file),
        libc::SYS_ppoll | libc::SYS_pselect6 => (Call::Poll, 0),
        libc::SYS_read
        | libc::SYS_pread64
        | libc::SYS_readv
        | libc::SYS_preadv
        | libc::SYS_preadv2
        | libc::SYS_recvfrom
        | libc::SYS_recvmsg
        | libc::SYS_recvmmsg => (Call::Read, file),
        libc::SYS_write
        | libc::SYS_pwrite64
        | libc::SYS_writev
        | libc::SYS_pwritev
        | libc::SYS_pwritev2
        | libc::SYS_sendto
        | libc::SYS_sendmsg
        | libc::SYS_sendmmsg
        | libc::SYS_sendfile => (Call::Write, file),
        libc::SYS_splice => (Call::Write, argument(2)),
        libc::SYS_connect => (Call::Connect, file),
        libc::SYS_accept | libc::SYS_accept4 => (Call::Accept, file),
        libc::SYS_fsync | libc::SYS_fdatasync | libc::SYS_syncfs | libc::SYS_sync_file_range => {
            (Call::Sync, file)
        }
        libc::SYS_sync | libc::SYS_msync => (Call::Sync, 0),
        libc::SYS_flock => (Call::FileLock, file),
        libc::SYS_fcntl if waits_for_lock(argument(1)) => (Call::FileLock, file),
        libc::SYS_wait4 | libc::SYS_waitid => (Call::Wait, 0),
        _ => classify_old(number, file),
    }
}

/// Whether a thread in that call waits for a lock that is a word and knows no owner: without a
/// time limit, until the word is no longer "held, with waiters". Conditions and semaphores
/// have other values there, or that one in passing.
pub(crate) fn waits_for_plain_lock(number: i64, arguments: &[u64]) -> bool {
    /// Mutex 2 of Drepper's "Futexes are tricky", and the plainest mutex of musl
    /// (`EBUSY | 0x80000000`).
    const HELD_AND_WANTED: [u32; 2] = [2, 0x8000_0010];
    let &[_, operation, value, limit, ..] = arguments else {
        return false;
    };
    number == libc::SYS_futex
        && FUTEX_WAITS.contains(&(operation & FUTEX_COMMANDS))
        && HELD_AND_WANTED.contains(&(value as u32))
        && limit == 0
}

/// Calls that newer processors do without.
#[cfg(target_arch = "x86_64")]
fn classify_old(number: i64, file: u64) -> (Call, u64) {
    match number {
        libc::SYS_poll | libc::SYS_select => (Call::Poll, 0),
        libc::SYS_epoll_wait => (Call::Poll, file),
        _ => (Call::Other, 0),
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn classify_old(_: i64, _: u64) -> (Call, u64) {
    (Call::Other, 0)
}

/// Whether a futex operation waits.
fn waits_on_futex(operation: u64) -> bool {
    let command = operation & FUTEX_COMMANDS;
    FUTEX_WAITS.contains(&command) || FUTEX_LOCKS.contains(&command)
}

/// Whether a command of `fcntl` waits for a lock.
fn waits_for_lock(command: u64) -> bool {
    // An `int`: the upper half of the register means nothing.
    let command = command & u64::from(u32::MAX);
    command == libc::F_SETLKW as u64 || command == F_OFD_SETLKW
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn calls_are_told_apart_by_their_arguments_too() {
        let private = 128;
        for (operation, waits) in [(0, true), (1, false), (6, true), (9, true), (10, false)] {
            for flags in [0, private, private | 256] {
                let call = classify(libc::SYS_futex, &[0x7f00, operation | flags, 2]);
                let expected = if waits {
                    (Call::Futex, 0x7f00)
                } else {
                    (Call::Other, 0)
                };
                assert_eq!(call, expected, "{operation} {flags}");
            }
        }
        let setlk = libc::F_SETLK as u64;
        assert_eq!(classify(libc::SYS_fcntl, &[5, setlk]), (Call::Other, 0));
        let garbage = 0xdead_0000_0000_0000;
        let setlkw = libc::F_SETLKW as u64 | garbage;
        assert_eq!(classify(libc::SYS_fcntl, &[5, setlkw]), (Call::FileLock, 5));
    }

    #[test]
    fn locks_are_told_from_conditions() {
        let of = |operation, value, limit| {
            waits_for_plain_lock(libc::SYS_futex, &[0x7f00, operation, value, limit, 0, 0])
        };
        assert!(of(128, 2, 0) && of(9 | 128, 2, 0) && of(128, 0x8000_0010, 0));
        assert!(!of(128, 0, 0) && !of(128, 1, 0) && !of(9 | 128, 0xffff_ffff, 0));
        assert!(!of(128, 2, 0x7ffc), "a lock waits without a limit");
        assert!(!of(1 | 128, 2, 0) && !waits_for_plain_lock(libc::SYS_read, &[2; 6]));
    }

    #[test]
    fn a_call_is_about_its_file() {
        for (number, call, about) in [
            (libc::SYS_read, Call::Read, 3),
            (libc::SYS_sendto, Call::Write, 3),
            (libc::SYS_splice, Call::Write, 9),
            (libc::SYS_connect, Call::Connect, 3),
            (libc::SYS_accept4, Call::Accept, 3),
            (libc::SYS_fdatasync, Call::Sync, 3),
            (libc::SYS_epoll_pwait, Call::Poll, 3),
            (libc::SYS_ppoll, Call::Poll, 0),
            (libc::SYS_clock_nanosleep, Call::Sleep, 0),
            (libc::SYS_wait4, Call::Wait, 0),
            (libc::SYS_getpid, Call::Other, 0),
        ] {
            assert_eq!(classify(number, &[3, 0, 9]), (call, about), "{number}");
        }
    }

    proptest! {
        #[test]
        fn every_number_is_something(number in -2_i64..600, arguments in
            proptest::collection::vec(any::<u64>(), 0..7))
        {
            let (call, about) = classify(number, &arguments);
            prop_assert!(about == 0 || arguments.contains(&about));
            prop_assert!(call != Call::Other || about == 0);
        }
    }
}

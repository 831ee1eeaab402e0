//! Which system call a sleeping thread is in, and whether it has a time limit.

/// A processor architecture: system calls have other numbers on each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arch {
    X86_64,
    Aarch64,
}

impl Arch {
    /// The one this program was built for; `None` if its numbers are not known here.
    pub(super) const HOST: Option<Self> = if cfg!(target_arch = "x86_64") {
        Some(Self::X86_64)
    } else if cfg!(target_arch = "aarch64") {
        Some(Self::Aarch64)
    } else {
        None
    };
}

/// How a call is given its time limit.
#[derive(Clone, Copy, Debug)]
enum Limit {
    /// It always has one.
    Always,
    /// Argument `n` (from 0) is a pointer to it, or null.
    Pointer(usize),
    /// Argument `n` is a number of milliseconds, or negative.
    Milliseconds(usize),
}

struct Call {
    name: &'static str,
    /// Its number on x86_64 and on aarch64; `None` where the call does not exist.
    numbers: (Option<u64>, Option<u64>),
    limit: Limit,
}

const fn call(name: &'static str, x86_64: Option<u64>, aarch64: Option<u64>, limit: Limit) -> Call {
    Call {
        name,
        numbers: (x86_64, aarch64),
        limit,
    }
}

/// The calls that wait and may have a time limit; numbers from the kernel's
/// `syscall_64.tbl` and `asm-generic/unistd.h`.
static CALLS: &[Call] = &[
    call("nanosleep", Some(35), Some(101), Limit::Always),
    call("clock_nanosleep", Some(230), Some(115), Limit::Always),
    call("poll", Some(7), None, Limit::Milliseconds(2)),
    call("ppoll", Some(271), Some(73), Limit::Pointer(2)),
    call("select", Some(23), None, Limit::Pointer(4)),
    call("pselect6", Some(270), Some(72), Limit::Pointer(4)),
    call("epoll_wait", Some(232), None, Limit::Milliseconds(3)),
    call("epoll_pwait", Some(281), Some(22), Limit::Milliseconds(3)),
    call("epoll_pwait2", Some(441), Some(441), Limit::Pointer(3)),
    call("futex", Some(202), Some(98), Limit::Pointer(3)),
    call("rt_sigtimedwait", Some(128), Some(137), Limit::Pointer(2)),
    call("semtimedop", Some(220), Some(192), Limit::Pointer(3)),
    call("recvmmsg", Some(299), Some(243), Limit::Pointer(4)),
    // What a sleep or a limited wait becomes after the thread was stopped and continued.
    call("restart_syscall", Some(219), Some(128), Limit::Always),
];

/// The sign bit of an `int` in a register.
const SIGN_OF_INT: u64 = 1 << 31;

/// What a call without a time limit has after its name.
pub(super) const UNTIMED: &str = ":untimed";

/// The numbers, on x86_64 and on aarch64, of the calls that write to a file that may be a log: `write`,
/// `writev`, `pwrite64`, `pwritev`.
const WRITES: [(u64, u64); 4] = [(1, 64), (20, 66), (18, 68), (296, 70)];

/// The file that a thread writes to, by the text of `/proc/PID/task/TID/syscall`; `None` if it does
/// something else.
pub(super) fn written(text: &str, arch: Arch) -> Option<u64> {
    let mut words = text.split_ascii_whitespace();
    let number: u64 = words.next()?.parse().ok()?;
    let writes = WRITES.iter().any(|&(x86_64, aarch64)| match arch {
        Arch::X86_64 => x86_64 == number,
        Arch::Aarch64 => aarch64 == number,
    });
    let file = words.next().filter(|_| writes)?;
    // An `int`: the upper half of the register means nothing.
    let file = u64::from_str_radix(file.strip_prefix("0x")?, 16).ok()?;
    Some(file & u64::from(u32::MAX))
}

/// The label of the call in the text of `/proc/PID/task/TID/syscall`; `None` if the thread runs,
/// is not in a call, or is in one that is not in the table.
pub(super) fn label(text: &str, arch: Arch) -> Option<String> {
    let mut words = text.split_ascii_whitespace();
    let number: u64 = words.next()?.parse().ok()?;
    let call = CALLS.iter().find(|call| {
        let known = match arch {
            Arch::X86_64 => call.numbers.0,
            Arch::Aarch64 => call.numbers.1,
        };
        known == Some(number)
    })?;
    let mut argument = |n| u64::from_str_radix(words.nth(n)?.strip_prefix("0x")?, 16).ok();
    let timed = match call.limit {
        Limit::Always => true,
        Limit::Pointer(n) => argument(n)? != 0,
        // An `int`: the upper half of the register means nothing.
        Limit::Milliseconds(n) => argument(n)? & SIGN_OF_INT == 0,
    };
    Some(if timed {
        call.name.to_owned()
    } else {
        format!("{}{UNTIMED}", call.name)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(text: &str) -> Option<String> {
        label(text, Arch::X86_64)
    }

    #[test]
    fn a_finite_limit_makes_a_call_timed() {
        let forever = "232 0x4 0x7ffe 0x100 0xffffffff 0x0 0x0 0x7ffd 0x7f2c\n";
        assert_eq!(of(forever).as_deref(), Some("epoll_wait:untimed"));
        let second = "232 0x4 0x7ffe 0x100 0x3e8 0x0 0x0 0x7ffd 0x7f2c\n";
        assert_eq!(of(second).as_deref(), Some("epoll_wait"));
        let signed = "7 0x4 0x1 0xffffffffffffffff 0x0 0x0 0x0 0x7ffd 0x7f2c\n";
        assert_eq!(of(signed).as_deref(), Some("poll:untimed"));
        let lock = "202 0x7f00 0x80 0x2 0x0 0x0 0x0 0x7ffd 0x7f2c\n";
        assert_eq!(of(lock).as_deref(), Some("futex:untimed"));
        let limited = "202 0x7f00 0x189 0x2 0x7ffc 0x0 0xffffffff 0x7ffd 0x7f2c\n";
        assert_eq!(of(limited).as_deref(), Some("futex"));
        let sleep = "230 0x0 0x0 0x7ffd 0x0 0x0 0x0 0x7ffd 0x7f2c\n";
        assert_eq!(of(sleep).as_deref(), Some("clock_nanosleep"));
    }

    #[test]
    fn who_writes_writes_to_a_file() {
        let stderr = "1 0x2 0x7ffe 0x2001 0x0 0x0 0x0 0x7ffd 0x7f2c\n";
        assert_eq!(written(stderr, Arch::X86_64), Some(2));
        assert_eq!(written(stderr, Arch::Aarch64), None);
        assert_eq!(written("0 0x2 0x7ffe", Arch::X86_64), None, "it reads");
        assert_eq!(written("running", Arch::X86_64), None);
        assert_eq!(written("1 0xdead00000002", Arch::X86_64), Some(2));
    }

    #[test]
    fn the_same_number_is_another_call_on_another_processor() {
        let text = "22 0x4 0xffff 0x100 0xffffffff 0x0 0x0 0xffffd 0xffff\n";
        assert_eq!(
            label(text, Arch::Aarch64).as_deref(),
            Some("epoll_pwait:untimed")
        );
        assert_eq!(label(text, Arch::X86_64), None);
    }

    #[test]
    fn what_is_no_limited_wait_has_no_label() {
        for text in [
            "running\n",
            "-1 0x7ffd 0x7f2c\n",
            "0 0x3 0x0 0x0 0x0 0x0 0x0 0x1 0x1",
            "",
        ] {
            assert_eq!(of(text), None, "{text:?}");
        }
        assert_eq!(of("202 0x7f00"), None, "the limit is not in the text");
    }

    #[test]
    fn numbers_are_unique_on_each_processor() {
        for (i, a) in CALLS.iter().enumerate() {
            for b in &CALLS[i + 1..] {
                assert!(
                    a.numbers.0.is_none() || a.numbers.0 != b.numbers.0,
                    "{}",
                    a.name
                );
                assert!(
                    a.numbers.1.is_none() || a.numbers.1 != b.numbers.1,
                    "{}",
                    a.name
                );
            }
        }
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn the_numbers_are_those_of_the_c_library() {
        let numbers = [
            ("nanosleep", libc::SYS_nanosleep),
            ("clock_nanosleep", libc::SYS_clock_nanosleep),
            ("poll", libc::SYS_poll),
            ("ppoll", libc::SYS_ppoll),
            ("select", libc::SYS_select),
            ("pselect6", libc::SYS_pselect6),
            ("epoll_wait", libc::SYS_epoll_wait),
            ("epoll_pwait", libc::SYS_epoll_pwait),
            ("epoll_pwait2", libc::SYS_epoll_pwait2),
            ("futex", libc::SYS_futex),
            ("rt_sigtimedwait", libc::SYS_rt_sigtimedwait),
            ("semtimedop", libc::SYS_semtimedop),
            ("recvmmsg", libc::SYS_recvmmsg),
            ("restart_syscall", libc::SYS_restart_syscall),
        ];
        for (name, number) in numbers {
            let call = CALLS.iter().find(|call| call.name == name).unwrap();
            assert_eq!(call.numbers.0, Some(number as u64), "{name}");
        }
        assert_eq!(numbers.len(), CALLS.len());
    }

    proptest! {
        #[test]
        fn no_text_makes_the_decoder_panic(text in ".{0,120}", number in 0_u64..500) {
            let _ = of(&text);
            let _ = of(&format!("{number} {text}"));
            let _ = label(&format!("{number} {text}"), Arch::Aarch64);
        }
    }
}

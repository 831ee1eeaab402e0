//! The files of `/proc/PID/task/TID` that are read. Pure; no text makes them panic.

use slowpath_core::trace::Call;

use crate::calls;
use crate::probes::field;

/// What a thread was found in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// It runs or is about to.
    Running,
    /// It waits in a call; what the call is about as [`calls::classify`] says.
    Waiting {
        /// The call.
        call: Call,
        /// What it is about.
        about: u64,
        /// Whether that is a lock which is a word and knows no owner.
        is_plain_lock: bool,
    },
}

/// Arguments that `syscall` shows.
const ARGUMENTS: usize = 6;

/// What `syscall` says: `running`; a call's number, its arguments, stack pointer and program
/// counter; or -1 with the last two, for a thread that waits without having called: for a page.
pub(super) fn syscall(text: &str) -> Option<Found> {
    let mut words = text.split_ascii_whitespace();
    let first = words.next()?;
    if first == "running" {
        return Some(Found::Running);
    }
    let number: i64 = first.parse().ok()?;
    let mut arguments = [0; ARGUMENTS];
    if number >= 0 {
        for argument in &mut arguments {
            *argument = u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok()?;
        }
    }
    let (call, about) = calls::classify(number, &arguments);
    Some(Found::Waiting {
        call,
        about,
        is_plain_lock: calls::waits_for_plain_lock(number, &arguments),
    })
}

/// What `status` says of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Status<'a> {
    /// Its name, with odd bytes written as `\n` and the like.
    pub(super) name: &'a str,
    /// Its id in its own pid namespace; `None` on a kernel that does not report it (before 4.1).
    pub(super) inner: Option<u32>,
}

/// Reads `status`.
pub(super) fn status(text: &str) -> Option<Status<'_>> {
    let inner = || {
        field(text, "NSpid")?
            .split_ascii_whitespace()
            .last()?
            .parse()
            .ok()
    };
    Some(Status {
        name: field(text, "Name")?,
        inner: inner(),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn calls_are_read() {
        let futex = format!(
            "{} 0x7f00 0x80 0x2 0x0 0x0 0x0 0x7ffd 0x7f2c\n",
            libc::SYS_futex
        );
        let waiting = |call, about| {
            Some(Found::Waiting {
                call,
                about,
                is_plain_lock: call == Call::Futex,
            })
        };
        assert_eq!(syscall(&futex), waiting(Call::Futex, 0x7f00));
        assert_eq!(syscall("running\n"), Some(Found::Running));
        assert_eq!(syscall("-1 0x7ffd 0x7f2c\n"), waiting(Call::Other, 0));
        for text in ["", "\n", "202 0x7f00", "202 7f00 80 2 0 0 0 1 1", "x"] {
            assert_eq!(syscall(text), None, "{text:?}");
        }
    }

    #[test]
    fn the_innermost_number_counts() {
        let text = "Name:\totel export\nUmask:\t0022\nTgid:\t900\nNSpid:\t900\t31\t7\n";
        let expected = Status {
            name: "otel export",
            inner: Some(7),
        };
        assert_eq!(status(text), Some(expected));
        let old = status("Name:\tx\nTgid:\t9\n").unwrap();
        assert_eq!((old.name, old.inner), ("x", None));
        assert_eq!(status("Tgid:\t9\n"), None);
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(.|\n){0,120}", number in -2_i64..600) {
            let _ = (syscall(&text), status(&text));
            let _ = syscall(&format!("{number} {text}"));
            let _ = status(&format!("Name:{text}\nNSpid:{text}"));
        }

        #[test]
        fn what_the_kernel_prints_is_understood(
            number in 0_i64..600,
            arguments in proptest::array::uniform6(any::<u64>()),
        ) {
            let words: Vec<_> = arguments.iter().map(|a| format!("{a:#x}")).collect();
            let text = format!("{number} {} 0x1 0x2\n", words.join(" "));
            let (call, about) = calls::classify(number, &arguments);
            let is_plain_lock = calls::waits_for_plain_lock(number, &arguments);
            let expected = Found::Waiting { call, about, is_plain_lock };
            prop_assert_eq!(syscall(&text), Some(expected));
        }
    }
}

//! The formats of procfs that more than one probe reads. Pure; no text makes them panic.

/// What is used of `/proc/PID/stat` and `/proc/PID/task/TID/stat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    /// The letter of the state.
    pub(crate) state: char,
    pub(crate) parent: u32,
    pub(crate) faults_minor: u64,
    pub(crate) faults_major: u64,
    /// In clock ticks.
    pub(crate) user_ticks: u64,
    /// In clock ticks.
    pub(crate) system_ticks: u64,
    /// Of children that were waited for, in user mode and in the kernel, in clock ticks.
    pub(crate) children_ticks: u64,
    pub(crate) threads: u64,
    /// When it started, in clock ticks since boot: distinguishes a process from a later one of its id.
    pub(crate) started_ticks: u64,
    pub(crate) resident_pages: u64,
}

impl Stat {
    /// Reads the one line of the file. The name in parentheses may hold anything, also
    /// parentheses; the fields begin after the last one.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut fields = text.get(text.rfind(')')? + 1..)?.split_ascii_whitespace();
        let state = fields.next()?.chars().next()?;
        let parent = fields.next()?.parse().ok()?;
        // From here on the field numbers of proc_pid_stat(5), minus the five that were read.
        let mut number = |skip: usize| fields.nth(skip)?.parse::<u64>().ok();
        Some(Self {
            state,
            parent,
            faults_minor: number(5)?,
            faults_major: number(1)?,
            user_ticks: number(1)?,
            system_ticks: number(0)?,
            children_ticks: number(0)?.saturating_add(number(0)?),
            threads: number(2)?,
            started_ticks: number(1)?,
            resident_pages: number(1)?,
        })
    }
}

/// The two numbers of `schedstat` that are used: time run and time waited for a CPU, in ns.
pub(crate) fn schedstat(text: &str) -> Option<(u64, u64)> {
    let mut fields = text.split_ascii_whitespace();
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

/// The value after `key:` in a file of such lines.
pub(crate) fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines()
        .find_map(|line| Some(line.strip_prefix(key)?.strip_prefix(':')?.trim()))
}

/// The value after `key ` in a file of `key value` lines.
pub(crate) fn keyed(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace();
        if words.next()? == key {
            words.next()?.parse().ok()
        } else {
            None
        }
    })
}

/// How many numbers a list like `0-3,8` names.
pub(crate) fn list_length(text: &str) -> Option<u64> {
    text.trim().split(',').try_fold(0_u64, |sum, part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.parse::<u64>().ok()?, last.parse::<u64>().ok()?);
        sum.checked_add(last.checked_sub(first)?.checked_add(1)?)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_may_hold_parentheses_and_blanks() {
        let line = "77 (a) S 1 (b) R 9 7 7 0 -1 4194560 3821 50452 3 8 11 22 37 6 20 0 4 0 303706 \
                    5124096 965 18446744073709551615 0 0 0\n";
        let stat = Stat::parse(line).unwrap();
        assert_eq!((stat.state, stat.parent, stat.threads), ('R', 9, 4));
        assert_eq!((stat.faults_minor, stat.faults_major), (3821, 3));
        assert_eq!((stat.user_ticks, stat.system_ticks), (11, 22));
        assert_eq!(stat.children_ticks, 37 + 6);
        assert_eq!((stat.started_ticks, stat.resident_pages), (303_706, 965));
    }

    #[test]
    fn lists_of_cpus_are_counted() {
        assert_eq!(list_length("0-3,8\n"), Some(5));
        assert_eq!(list_length("0"), Some(1));
        assert_eq!(list_length("3-1"), None);
        assert_eq!(list_length(""), None);
    }

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let status = "Cpus_allowed:\tff\nCpus_allowed_list:\t0-7\n";
        assert_eq!(field(status, "Cpus_allowed_list"), Some("0-7"));
        assert_eq!(field(status, "Cpus"), None);
        let stat = "nr_periods 10\nnr_throttled 3\n";
        assert_eq!(keyed(stat, "nr_throttled"), Some(3));
        assert_eq!(keyed(stat, "nr"), None);
        assert_eq!(schedstat("100 200 3\n"), Some((100, 200)));
    }

    proptest! {
        #[test]
        fn no_text_makes_a_parser_panic(text in ".{0,200}", key in "[a-z]{0,4}") {
            let _ = Stat::parse(&text);
            let _ = schedstat(&text);
            let _ = (field(&text, &key), keyed(&text, &key), list_length(&text));
        }

        #[test]
        fn a_stat_line_of_any_numbers_is_read_or_refused(
            numbers in prop::collection::vec(any::<u64>(), 0..40),
        ) {
            let line: Vec<_> = numbers.iter().map(u64::to_string).collect();
            let _ = Stat::parse(&format!("1 (x) S {}", line.join(" ")));
        }

        #[test]
        fn ranges_are_counted(first in 0_u64..1000, more in 0_u64..1000) {
            let text = format!("{first}-{}", first + more);
            prop_assert_eq!(list_length(&text), Some(more + 1));
        }
    }
}

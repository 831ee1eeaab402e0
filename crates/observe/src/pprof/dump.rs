//! Dumps of goroutines as text: `goroutine?debug=1` of `runtime/pprof`.
//!
//! ```text
//! goroutine profile: total 12
//! 8 @ 0x489ace 0x48d9c5 0x6a6975 0x4911c1
//! # labels: {"shard":"7"}
//! #   0x48d9c4    time.Sleep+0x164        /usr/local/go/src/runtime/time.go:363
//! #   0x6a6974    main.background+0x34    /srv/main.go:61
//! ```
//!
//! The first line of a group has the return addresses of its stack, those that begin with `#` what
//! stands just before these. Functions of the runtime are left out as far as they come first.

use std::collections::BTreeMap;

use slowpath_core::profiles::{CodeLine, UNNAMED};

use super::profile::{MOST_PROFILE_BYTES, without_folders};

/// Places of a stack that are kept, from the innermost out: Go itself writes no more than 128.
const MOST_DEEP: usize = 128;
/// How a dump begins.
const BEGIN: &str = "goroutine profile:";

/// Goroutines with one stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// How many.
    pub goroutines: u32,
    /// Where, innermost first.
    pub stack: Vec<CodeLine>,
}

/// Reads a dump; `known` names what it hides, by address.
///
/// # Errors
/// With what is wrong with it, as a fragment.
pub fn read(bytes: &[u8], known: &BTreeMap<u64, Vec<CodeLine>>) -> Result<Vec<Group>, String> {
    if bytes.len() > MOST_PROFILE_BYTES {
        return Err(format!("a dump of more than {MOST_PROFILE_BYTES} bytes"));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| "a dump that is no text".to_owned())?;
    if !text.starts_with(BEGIN) {
        return Err("no dump of goroutines".to_owned());
    }
    let mut groups = Vec::new();
    let mut group: Option<Open<'_>> = None;
    for line in text.lines().skip(1) {
        if let Some(place) = line.strip_prefix('#') {
            if let Some((address, line)) = place_of(place)
                && let Some(group) = &mut group
            {
                group.add(address, line);
            }
        } else if let Some((goroutines, addresses)) = line.split_once(" @") {
            groups.extend(group.take().map(|group| group.close(known)));
            let goroutines = goroutines.trim().parse();
            let goroutines = goroutines.map_err(|_| format!("{line:?} is no group"))?;
            group = Some(Open {
                goroutines,
                addresses: addresses
                    .split_ascii_whitespace()
                    .filter_map(hexadecimal)
                    .collect(),
                places: Vec::new(),
            });
        }
    }
    groups.extend(group.take().map(|group| group.close(known)));
    Ok(groups)
}

/// A group that is being read.
struct Open<'d> {
    goroutines: u32,
    addresses: Vec<u64>,
    places: Vec<(u64, Place<'d>)>,
}

/// A place as a dump writes it.
#[derive(Clone, Copy)]
struct Place<'d> {
    function: &'d str,
    file: &'d str,
    line: u32,
}

impl<'d> Open<'d> {
    fn add(&mut self, address: u64, place: Place<'d>) {
        if self.places.len() < MOST_DEEP {
            self.places.push((address, place));
        }
    }

    fn close(self, known: &BTreeMap<u64, Vec<CodeLine>>) -> Group {
        let mut stack = Vec::new();
        let first = self.places.first().map(|(address, _)| *address);
        for address in self.addresses.iter().take(MOST_DEEP) {
            // A return address; the call is what lies before it.
            let call = address.saturating_sub(1);
            if first.is_none_or(|first| first == call) {
                break;
            }
            match known.get(&call) {
                Some(lines) => stack.extend_from_slice(lines),
                None => stack.push(CodeLine {
                    function: format!("runtime{UNNAMED}"),
                    file: String::new(),
                    line: 0,
                }),
            }
        }
        stack.extend(self.places.into_iter().map(|(_, place)| CodeLine {
            function: place.function.to_owned(),
            file: without_folders(place.file),
            line: place.line,
        }));
        stack.truncate(MOST_DEEP);
        Group {
            goroutines: self.goroutines,
            stack,
        }
    }
}

/// `0x48d9c4    time.Sleep+0x164    /usr/local/go/src/runtime/time.go:363`.
fn place_of(text: &str) -> Option<(u64, Place<'_>)> {
    let (address, rest) = text.trim_start().split_once(char::is_whitespace)?;
    // A folder may have blanks in its name; between the columns there is a tab at least.
    let (function, file) = rest.trim_start().split_once('\t').unwrap_or((rest, ""));
    let function = function.trim();
    let function = function
        .rsplit_once("+0x")
        .map_or(function, |(name, _)| name);
    let (file, line) = file.rsplit_once(':').unwrap_or((file, ""));
    let place = Place {
        function,
        file: file.trim(),
        line: line.trim().parse().unwrap_or(0),
    };
    (!function.is_empty()).then_some((hexadecimal(address)?, place))
}

fn hexadecimal(word: &str) -> Option<u64> {
    u64::from_str_radix(word.strip_prefix("0x")?, 16).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DUMP: &str = "goroutine profile: total 12\n\
        8 @ 0x489ace 0x48d9c5 0x6a6975 0x4911c1\n\
        # labels: {\"shard\":\"7\"}\n\
        #\t0x48d9c4\ttime.Sleep+0x164\t/usr/local/go/src/runtime/time.go:363\n\
        #\t0x6a6974\tmain.background.func1+0x34\t\t/srv/my code/main.go:61\n\
        \n\
        3 @ 0x489ace 0x448123 0x6a7001\n\
        #\t0x6a7000\tmain.acquire+0x34\t/srv/main.go:70\n\
        \n\
        1 @ 0x4911c1\n\
        #\t0x4911c0\truntime.goexit+0x0\t/usr/local/go/src/runtime/asm_amd64.s:1264\n";

    fn known() -> BTreeMap<u64, Vec<CodeLine>> {
        let gopark = CodeLine {
            function: "runtime.gopark".to_owned(),
            file: "proc.go".to_owned(),
            line: 462,
        };
        [(0x48_9acd, vec![gopark])].into()
    }

    fn words(group: &Group) -> Vec<String> {
        group.stack.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_a_dump_hides_is_named_by_its_address() {
        let groups = read(DUMP.as_bytes(), &known()).unwrap();
        let counts: Vec<u32> = groups.iter().map(|group| group.goroutines).collect();
        assert_eq!(counts, [8, 3, 1]);
        assert_eq!(
            words(&groups[0]),
            [
                "runtime.gopark (proc.go:462)",
                "time.Sleep (time.go:363)",
                "main.background.func1 (main.go:61)"
            ]
        );
        assert_eq!(
            words(&groups[1]),
            [
                "runtime.gopark (proc.go:462)",
                "runtime.?",
                "main.acquire (main.go:70)"
            ]
        );
        assert_eq!(words(&groups[2]), ["runtime.goexit (asm_amd64.s:1264)"]);
    }

    #[test]
    fn what_is_no_dump_is_told() {
        for text in ["", "<html>", "goroutine profile: total 1\nmany @ 0x1\n"] {
            assert!(!read(text.as_bytes(), &known()).unwrap_err().is_empty());
        }
        read(b"goroutine profile: \xff", &known()).unwrap_err();
    }

    proptest! {
        #[test]
        fn a_changed_dump_is_read_within_its_bounds(
            cut in any::<prop::sample::Index>(),
            put in "[ -~\n\t]{0,40}",
        ) {
            let cut = cut.index(DUMP.len());
            let text = [&DUMP[..cut], &put, &DUMP[cut..]].concat();
            if let Ok(groups) = read(text.as_bytes(), &known()) {
                prop_assert!(groups.len() <= text.lines().count());
                prop_assert!(groups.iter().all(|group| group.stack.len() <= MOST_DEEP));
            }
        }

        #[test]
        fn any_text_behind_the_first_line_is_read_or_refused(text in "\\PC{0,200}") {
            let text = format!("{BEGIN} total 1\n{text}");
            let _ = read(text.as_bytes(), &known());
        }
    }
}

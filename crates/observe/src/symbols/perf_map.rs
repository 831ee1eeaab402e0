//! The names that a runtime leaves for code that it made: `/tmp/perf-PID.map`, as the kernel's
//! `tools/perf/Documentation/jit-interface.txt` describes it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use slowpath_core::trace::Frame;

/// The end of a file, at most so many bytes and from the begin of a line on, and whether something is
/// left out before: later lines hold.
pub(super) fn tail(mut file: &File, most: u64) -> io::Result<(Vec<u8>, bool)> {
    let length = file.metadata()?.len();
    let left_out = length.saturating_sub(most);
    file.seek(SeekFrom::Start(left_out))?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    if left_out > 0 {
        let end = bytes.iter().position(|byte| *byte == b'\n');
        bytes.drain(..end.map_or(bytes.len(), |end| end + 1));
    }
    Ok((bytes, left_out > 0))
}

/// Names of code by address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PerfMap {
    /// By the first address: the address after the last, and the name. Without overlap.
    functions: BTreeMap<u64, (u64, String)>,
}

impl PerfMap {
    /// Reads what it can: each line is `START SIZE NAME`, numbers in hexadecimal. Code is replaced
    /// by later code at its place, so later lines hold; lines that are no such (the last one may be
    /// half written) are left out.
    pub fn parse(bytes: &[u8]) -> Self {
        let mut map = Self::default();
        let ended = bytes
            .iter()
            .rposition(|b| *b == b'\n')
            .map_or(0, |at| at + 1);
        for line in String::from_utf8_lossy(&bytes[..ended]).lines() {
            if let Some((start, end, name)) = parse_line(line) {
                map.insert(start, end, name);
            }
        }
        map
    }

    fn insert(&mut self, start: u64, end: u64, name: &str) {
        // Those that overlap end after the start; as none overlap, they lie side by side.
        while let Some((old, (old_end, _))) = self.functions.range(..end).next_back() {
            let (old, old_end) = (*old, *old_end);
            if old_end <= start {
                break;
            }
            self.functions.remove(&old);
        }
        self.functions.insert(start, (end, name.to_owned()));
    }

    /// The name of the code at an address.
    pub fn name(&self, at: u64) -> Option<&str> {
        let (_, (end, name)) = self.functions.range(..=at).next_back()?;
        (at < *end).then_some(name.as_str())
    }

    /// Whether it names nothing.
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// The function at an address, its source separated from its name.
    pub(super) fn frame(&self, at: u64) -> Option<Frame> {
        let name = self.name(at)?;
        let (function, source) = split_source(name);
        Some(Frame {
            function: function.to_owned(),
            module: String::new(),
            source: source.to_owned(),
        })
    }
}

fn parse_line(line: &str) -> Option<(u64, u64, &str)> {
    let (start, rest) = line.split_once(' ')?;
    let (size, name) = rest.trim_start().split_once(' ')?;
    let start = hexadecimal(start)?;
    let end = start.checked_add(hexadecimal(size)?)?;
    let name = name.trim();
    (start < end && !name.is_empty()).then_some((start, end, name))
}

fn hexadecimal(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    u64::from_str_radix(digits, 16).ok()
}

/// Runtimes put the source after the name: `JS:~handle /srv/app.js:12:3` (V8) and
/// `py::handle:/srv/app.py` (CPython).
fn split_source(name: &str) -> (&str, &str) {
    if let Some(rest) = name.strip_prefix("py::") {
        return rest.rsplit_once(':').unwrap_or((rest, ""));
    }
    match name.rsplit_once(' ') {
        Some((function, source)) if is_source(source) => (function, source),
        _ => (name, ""),
    }
}

fn is_source(text: &str) -> bool {
    text.rsplit_once(':').is_some_and(|(file, line)| {
        !file.is_empty() && !line.is_empty() && line.bytes().all(|b| b.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn later_code_takes_the_place_of_earlier() {
        let map = PerfMap::parse(b"1000 100 a\n1100 100 b\n1080 100 c d\n0x3000 0x10 e\n");
        assert_eq!(
            map.name(0x1000),
            None,
            "a was overwritten in part, and is gone"
        );
        assert_eq!(map.name(0x1080), Some("c d"));
        assert_eq!(map.name(0x117f), Some("c d"));
        assert_eq!(map.name(0x1180), None);
        assert_eq!(map.name(0x300f), Some("e"));
    }

    #[test]
    fn of_a_long_file_the_end_is_read() {
        let mut file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut file, b"1000 10 old\n2000 10 cut\n3000 10 new\n").unwrap();
        // From within the second line on, whose rest looks like a line.
        let (bytes, is_cut) = tail(&file, 22).unwrap();
        assert!(is_cut);
        assert_eq!(bytes, b"3000 10 new\n");
        let (bytes, is_cut) = tail(&file, 1000).unwrap();
        assert_eq!((bytes.len(), is_cut), (36, false));
    }

    #[test]
    fn what_is_no_line_is_left_out() {
        let map =
            PerfMap::parse(b"\nx\n10 0 empty\n10 zz q\nffffffffffffffff 2 o\n20 8 good\n30 8 ha");
        assert_eq!(map.functions.len(), 1);
        assert_eq!(map.name(0x27), Some("good"));
    }

    #[test]
    fn a_source_stands_beside_the_name() {
        let map = PerfMap::parse(
            b"10 8 JS:~handle /srv/a b.js:12:3\n20 8 py::f:/srv/x.py\n30 8 Builtin:Call\n",
        );
        let shown = |at| {
            let frame = map.frame(at).unwrap();
            (frame.function, frame.source)
        };
        assert_eq!(
            shown(0x10),
            ("JS:~handle /srv/a".into(), "b.js:12:3".into())
        );
        assert_eq!(shown(0x20), ("f".into(), "/srv/x.py".into()));
        assert_eq!(shown(0x30), ("Builtin:Call".into(), String::new()));
    }

    proptest! {
        #[test]
        fn nothing_overlaps_and_the_last_line_holds(
            lines in prop::collection::vec((0..64_u64, 1..16_u64), 1..40),
        ) {
            let mut text = String::new();
            for (place, (start, size)) in lines.iter().enumerate() {
                writeln!(text, "{start:x} {size:x} f{place}").unwrap();
            }
            let map = PerfMap::parse(text.as_bytes());
            let mut behind = 0;
            for (start, (end, _)) in &map.functions {
                prop_assert!(behind <= *start && start < end);
                behind = *end;
            }
            let (start, size) = lines[lines.len() - 1];
            let last = format!("f{}", lines.len() - 1);
            prop_assert_eq!(map.name(start), Some(&*last));
            prop_assert_eq!(map.name(start + size - 1), Some(&*last));
        }

        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200), at: u64) {
            let _ = PerfMap::parse(&bytes).frame(at);
        }
    }
}

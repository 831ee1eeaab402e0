//! The layout of a tracepoint's records, as the running kernel describes it.
//!
//! Layouts differ between kernels, so nothing is assumed: a field is found by its name in the
//! `format` file of tracefs (`Documentation/trace/events.rst`, section 3.1).

use std::collections::BTreeMap;

/// The layout of one tracepoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Format {
    /// The number that `perf_event_open(2)` takes as `config`.
    pub id: u64,
    fields: BTreeMap<String, Field>,
    /// How the kernel would print a record.
    print: String,
}

/// Where a field lies in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    offset: usize,
    size: usize,
}

impl Format {
    /// Reads the text of a `format` file; `None` if it has no number or no field. Lines that are
    /// not understood are passed over: what they describe is then missing.
    pub fn parse(text: &str) -> Option<Self> {
        let mut id = None;
        let mut fields = BTreeMap::new();
        let mut print = "";
        for line in text.lines().map(str::trim) {
            if let Some(number) = line.strip_prefix("ID:") {
                id = number.trim().parse().ok();
            } else if let Some((name, field)) = line.strip_prefix("field:").and_then(parse_field) {
                fields.insert(name.to_owned(), field);
            } else if let Some(how) = line.strip_prefix("print fmt:") {
                print = how.trim();
            }
        }
        let id = id.filter(|_| !fields.is_empty())?;
        let print = print.to_owned();
        Some(Self { id, fields, print })
    }

    /// The names of a field's values, as the kernel would print them (`__print_symbolic`); values
    /// that the text does not give as numbers are left out.
    pub fn names(&self, field: &str) -> BTreeMap<u32, String> {
        let begin = format!("__print_symbolic(REC->{field},");
        let Some((_, rest)) = self.print.split_once(&begin) else {
            return BTreeMap::new();
        };
        // `{ 0, "NOT_SPECIFIED" }, { 1, "NO_SOCKET" })`: names have no brace and no quote.
        let list = rest.split(')').next().unwrap_or_default();
        let pairs = list.split('{').skip(1).filter_map(|pair| {
            let (number, name) = pair.split('}').next()?.split_once(',')?;
            let name = name.trim().strip_prefix('"')?.strip_suffix('"')?;
            Some((parse_number(number.trim())?, name.to_owned()))
        });
        pairs.collect()
    }

    /// The field of that name.
    pub fn field(&self, name: &str) -> Option<Field> {
        self.fields.get(name).copied()
    }
}

/// Reads `char comm[16];\toffset:8;\tsize:16;\tsigned:0;`.
fn parse_field(text: &str) -> Option<(&str, Field)> {
    let mut parts = text.split(';').map(str::trim);
    let declaration = parts.next()?;
    // An array's length follows the name (`comm[16]`, `saddr[sizeof(struct sockaddr_in6)]`) but
    // for arrays whose place is given in the record (`__data_loc char[] name`).
    let words = match declaration.split_once('[') {
        Some((before, after)) if !after.starts_with(']') => before,
        _ => declaration,
    };
    let name = words.split_ascii_whitespace().next_back()?;
    let name = name.trim_start_matches('*');
    let mut number = |key: &str| parts.next()?.strip_prefix(key)?.parse().ok();
    let (offset, size) = (number("offset:")?, number("size:")?);
    (!name.is_empty()).then_some((name, Field { offset, size }))
}

/// A number as the kernel's preprocessor may leave it: decimal or hexadecimal.
fn parse_number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

impl Field {
    /// How many bytes it has.
    pub const fn size(self) -> usize {
        self.size
    }

    /// Its bytes in a record, if the record is long enough.
    pub fn bytes(self, record: &[u8]) -> Option<&[u8]> {
        record.get(self.offset..self.offset.checked_add(self.size)?)
    }

    /// Its value as a number without sign; `None` unless it has 1, 2, 4 or 8 bytes.
    pub fn unsigned(self, record: &[u8]) -> Option<u64> {
        let bytes = self.bytes(record)?;
        match bytes.len() {
            1 => Some(u64::from(bytes[0])),
            2 => Some(u64::from(u16::from_ne_bytes(bytes.try_into().ok()?))),
            4 => Some(u64::from(u32::from_ne_bytes(bytes.try_into().ok()?))),
            8 => Some(u64::from_ne_bytes(bytes.try_into().ok()?)),
            _ => None,
        }
    }

    /// Its value as a number with sign.
    pub fn signed(self, record: &[u8]) -> Option<i64> {
        let value = self.unsigned(record)?;
        let unused = 64 - 8 * self.size.min(8) as u32;
        Some(((value << unused) as i64) >> unused)
    }

    /// The `place`th number of 8 bytes in an array of them.
    pub fn word(self, record: &[u8], place: usize) -> Option<u64> {
        let bytes = self.bytes(record)?.get(place.checked_mul(8)?..)?;
        Some(u64::from_ne_bytes(bytes.get(..8)?.try_into().ok()?))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = "name: sched_waking\nID: 375\nformat:\n\
        \tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
        \tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\
        \tfield:__data_loc char[] what;\toffset:24;\tsize:4;\tsigned:0;\n\
        \tfield:const void * skaddr;\toffset:28;\tsize:8;\tsigned:0;\n\n\
        print fmt: \"comm=%s\", REC->comm\n";

    #[test]
    fn fields_are_found_by_name() {
        let format = Format::parse(TEXT).unwrap();
        assert_eq!(format.id, 375);
        let place = |name| format.field(name).map(|f| (f.offset, f.size));
        assert_eq!(place("comm"), Some((8, 16)));
        assert_eq!(place("what"), Some((24, 4)));
        assert_eq!(place("skaddr"), Some((28, 8)));
        assert_eq!(place("target_cpu"), None);
        assert_eq!(Format::parse("ID: 3\n"), None);
        assert_eq!(Format::parse(&TEXT.replace("ID: 375", "ID: x")), None);
    }

    #[test]
    fn names_of_values_are_those_that_the_kernel_would_print() {
        let print = "print fmt: \"state=%s reason=%s\", REC->state ? \
            __print_symbolic(REC->state, { TCP_CLOSE, \"TCP_CLOSE\" }) : \"UNKNOWN\", \
            __print_symbolic(REC->reason, { 0, \"NOT_SPECIFIED\" }, { 0x1, \"NO_SOCKET\" }, \
            { 24, \"ERROR\" })\n";
        let text = TEXT.replace("print fmt: \"comm=%s\", REC->comm\n", print);
        let format = Format::parse(&text).unwrap();
        let names = format.names("reason");
        let names: Vec<_> = names.iter().map(|(n, name)| (*n, &**name)).collect();
        assert_eq!(
            names,
            [(0, "NOT_SPECIFIED"), (1, "NO_SOCKET"), (24, "ERROR")]
        );
        assert!(format.names("state").is_empty(), "no numbers");
        assert!(format.names("family").is_empty());
    }

    #[test]
    fn numbers_have_the_sign_and_the_size_of_their_field() {
        let format = Format::parse(TEXT).unwrap();
        let mut record = vec![0; 36];
        record[2] = 0x18;
        record[4..8].copy_from_slice(&(-7_i32).to_ne_bytes());
        record[28..].copy_from_slice(&u64::MAX.to_ne_bytes());
        let field = |name| format.field(name).unwrap();
        assert_eq!(field("common_flags").unsigned(&record), Some(0x18));
        assert_eq!(field("common_pid").signed(&record), Some(-7));
        assert_eq!(field("skaddr").unsigned(&record), Some(u64::MAX));
        assert_eq!(field("skaddr").signed(&record), Some(-1));
        assert_eq!(field("comm").unsigned(&record), None);
        assert_eq!(field("comm").word(&record, 1), Some(0));
        assert_eq!(field("comm").word(&record, 2), None);
        assert_eq!(field("skaddr").unsigned(&record[..35]), None);
    }

    proptest! {
        #[test]
        fn no_text_and_no_record_break_it(
            text in "(ID: [0-9]{1,22}\n)?(\tfield:[a-z_ \\*\\[\\]0-9]{0,20};\toffset:[0-9]{1,21};\
                \tsize:[0-9]{1,21};\tsigned:[01];\n|.{0,30}\n){0,8}\
                (print fmt: __print_symbolic\\(REC->reason,[{}0-9x, \"A-Z)]{0,40}\n)?",
            record in prop::collection::vec(any::<u8>(), 0..64),
        ) {
            if let Some(format) = Format::parse(&text) {
                let names = format.names("reason");
                let is_name = |name: &String| !name.contains(['{', '}']);
                prop_assert!(names.values().all(is_name), "{names:?}");
                for field in format.fields.values() {
                    let _ = (field.signed(&record), field.word(&record, 0));
                    prop_assert!(field.bytes(&record).is_none_or(|b| b.len() == field.size()));
                }
            }
        }
    }
}

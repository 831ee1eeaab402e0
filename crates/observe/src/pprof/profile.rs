//! Profiles as Go serves them: `profile.proto` of github.com/google/pprof, packed by gzip.
//!
//! Fields that are not listed are skipped. The published crates of these messages write profiles;
//! they are built by a compiler of protocol buffers, and this is all there is to read.

use std::collections::BTreeMap;
use std::io::Read;

use flate2::read::GzDecoder;
use slowpath_core::profiles::CodeLine;

/// The largest profile that is taken, unpacked: some hundred thousand goroutines whose stacks all
/// differ.
pub const MOST_PROFILE_BYTES: usize = 64 << 20;
/// Places of a stack that are kept, from the innermost out and from the outermost in: a recursion
/// may be deep, and its middle tells nothing.
const MOST_DEEP: usize = 64;
/// How a stream that is packed by gzip begins (RFC 1952).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// A profile, read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// What stands at addresses, innermost function first.
    pub addresses: BTreeMap<u64, Vec<CodeLine>>,
    /// What each value is, as `type/unit`: `contentions/count`, `delay/nanoseconds`.
    pub values: Vec<String>,
    /// One entry a stack.
    pub samples: Vec<Sample>,
}

/// A stack with its values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Where, innermost first.
    pub stack: Vec<CodeLine>,
    /// How much, in the order of [`Profile::values`].
    pub values: Vec<i64>,
}

impl Profile {
    /// Where a kind of value stands in samples.
    pub fn place_of(&self, value: &str) -> Option<usize> {
        self.values.iter().position(|known| known == value)
    }
}

/// `Profile`.
#[derive(Clone, PartialEq, prost::Message)]
struct Message {
    #[prost(message, repeated, tag = "1")]
    sample_type: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    sample: Vec<SampleMessage>,
    #[prost(message, repeated, tag = "4")]
    location: Vec<Location>,
    #[prost(message, repeated, tag = "5")]
    function: Vec<Function>,
    #[prost(string, repeated, tag = "6")]
    string_table: Vec<String>,
}

/// `ValueType`.
#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
struct ValueType {
    #[prost(int64, tag = "1")]
    r#type: i64,
    #[prost(int64, tag = "2")]
    unit: i64,
}

/// `Sample`.
#[derive(Clone, PartialEq, Eq, prost::Message)]
struct SampleMessage {
    #[prost(uint64, repeated, tag = "1")]
    location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    value: Vec<i64>,
}

/// `Location`.
#[derive(Clone, PartialEq, Eq, prost::Message)]
struct Location {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(uint64, tag = "3")]
    address: u64,
    #[prost(message, repeated, tag = "4")]
    line: Vec<Line>,
}

/// `Line`: several at one location are functions made part of each other, innermost first.
#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
struct Line {
    #[prost(uint64, tag = "1")]
    function_id: u64,
    #[prost(int64, tag = "2")]
    line: i64,
}

/// `Function`.
#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
struct Function {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "2")]
    name: i64,
    #[prost(int64, tag = "4")]
    filename: i64,
}

/// Reads a profile, packed or not.
///
/// # Errors
/// With what is wrong with it, as a fragment.
pub fn read(bytes: &[u8]) -> Result<Profile, String> {
    if bytes.starts_with(&GZIP) {
        let mut plain = Vec::new();
        let most = MOST_PROFILE_BYTES as u64 + 1;
        let read = GzDecoder::new(bytes).take(most).read_to_end(&mut plain);
        read.map_err(|error| format!("not packed by gzip: {error}"))?;
        return read_plain(&plain);
    }
    read_plain(bytes)
}

fn read_plain(bytes: &[u8]) -> Result<Profile, String> {
    if bytes.len() > MOST_PROFILE_BYTES {
        return Err(format!("a profile of more than {MOST_PROFILE_BYTES} bytes"));
    }
    let read = <Message as prost::Message>::decode(bytes);
    let message = read.map_err(|error| format!("not a profile: {error}"))?;
    if message.sample_type.is_empty() {
        return Err("not a profile: it says of no value what it is".to_owned());
    }
    let tables = Tables::of(&message);
    let values = message.sample_type.iter();
    let values = values.map(|t| format!("{}/{}", tables.text(t.r#type), tables.text(t.unit)));
    let samples = message.sample.iter().map(|sample| Sample {
        stack: tables.stack(&sample.location_id),
        values: sample.value.clone(),
    });
    let addresses = message.location.iter();
    let addresses = addresses.map(|l| (l.address, l.line.iter().map(|n| tables.line(n)).collect()));
    Ok(Profile {
        addresses: addresses.collect(),
        values: values.collect(),
        samples: samples.collect(),
    })
}

/// What ids stand for.
struct Tables<'m> {
    message: &'m Message,
    /// Places of locations and functions, by id.
    locations: Vec<(u64, usize)>,
    functions: Vec<(u64, usize)>,
}

impl<'m> Tables<'m> {
    fn of(message: &'m Message) -> Self {
        fn by_id(ids: impl Iterator<Item = u64>) -> Vec<(u64, usize)> {
            let mut all: Vec<(u64, usize)> = ids.zip(0..).collect();
            all.sort_unstable();
            all
        }
        Self {
            message,
            locations: by_id(message.location.iter().map(|l| l.id)),
            functions: by_id(message.function.iter().map(|f| f.id)),
        }
    }

    fn text(&self, place: i64) -> &'m str {
        let place = usize::try_from(place).ok();
        let text = place.and_then(|place| self.message.string_table.get(place));
        text.map_or("", String::as_str)
    }

    fn stack(&self, ids: &[u64]) -> Vec<CodeLine> {
        let (half, deep) = (MOST_DEEP / 2, ids.len() > MOST_DEEP);
        let (inner, outer) = if deep {
            (&ids[..half], &ids[ids.len() - half..])
        } else {
            (ids, &ids[..0])
        };
        let locations = inner.iter().chain(outer).filter_map(|id| {
            let found = self.locations.binary_search_by_key(id, |l| l.0).ok()?;
            self.message.location.get(self.locations[found].1)
        });
        let lines = locations.flat_map(|location| location.line.iter().take(MOST_DEEP));
        let lines = lines.map(|line| self.line(line));
        lines.take(2 * MOST_DEEP).collect()
    }

    fn line(&self, line: &Line) -> CodeLine {
        let functions = &self.functions;
        let found = functions.binary_search_by_key(&line.function_id, |f| f.0);
        let function = found
            .ok()
            .map(|found| self.message.function[functions[found].1]);
        let (name, file) = function.map_or(("", ""), |function| {
            (self.text(function.name), self.text(function.filename))
        });
        CodeLine {
            function: name.to_owned(),
            file: without_folders(file),
            line: u32::try_from(line.line).unwrap_or(0),
        }
    }
}

/// A file's name alone: the folders are those of whoever built the target.
pub(super) fn without_folders(file: &str) -> String {
    file.rsplit('/').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;
    use prost::Message as _;

    use super::*;

    /// Two functions, one made part of the other, at one location.
    fn message() -> Message {
        let words = [
            "",
            "delay",
            "nanoseconds",
            "main.handle",
            "/home/a/main.go",
            "sync.(*Mutex).Unlock",
        ];
        Message {
            sample_type: vec![ValueType { r#type: 1, unit: 2 }],
            sample: vec![SampleMessage {
                location_id: vec![7, 99],
                value: vec![5],
            }],
            location: vec![Location {
                id: 7,
                address: 0x4a,
                line: vec![
                    Line {
                        function_id: 2,
                        line: 65,
                    },
                    Line {
                        function_id: 1,
                        line: -1,
                    },
                ],
            }],
            function: vec![
                Function {
                    id: 2,
                    name: 5,
                    filename: -4,
                },
                Function {
                    id: 1,
                    name: 3,
                    filename: 4,
                },
            ],
            string_table: words.map(str::to_owned).into(),
        }
    }

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
        packer.write_all(bytes).unwrap();
        packer.finish().unwrap()
    }

    #[test]
    fn functions_that_were_made_part_of_others_stand_on_the_stack() {
        let bytes = message().encode_to_vec();
        let profile = read(&bytes).unwrap();
        assert_eq!(read(&packed(&bytes)).unwrap(), profile);
        assert_eq!(profile.place_of("delay/nanoseconds"), Some(0));
        let stack: Vec<String> = profile.samples[0]
            .stack
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(stack, ["sync.(*Mutex).Unlock", "main.handle (main.go)"]);
        assert_eq!(profile.samples[0].values, [5]);
        assert_eq!(profile.addresses[&0x4a], profile.samples[0].stack);
    }

    #[test]
    fn what_is_no_profile_is_told() {
        let huge = packed(&vec![0; MOST_PROFILE_BYTES + 1]);
        for (bytes, why) in [
            (&b""[..], "no value"),
            (b"<html>", "not a profile"),
            (&GZIP, "not packed"),
            (&huge, "more than"),
        ] {
            let said = read(bytes).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
    }

    #[test]
    fn the_ends_of_a_deep_stack_are_kept() {
        let mut deep = message();
        deep.location = (0..1000)
            .map(|id| Location {
                id,
                address: id,
                line: vec![Line {
                    function_id: 1,
                    line: id as i64,
                }],
            })
            .collect();
        deep.sample[0].location_id = (0..1000).collect();
        let profile = read(&deep.encode_to_vec()).unwrap();
        let stack = &profile.samples[0].stack;
        assert_eq!(stack.len(), MOST_DEEP);
        assert_eq!((stack[0].line, stack[MOST_DEEP - 1].line), (0, 999));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_profile_or_an_error(
            mut bytes in prop::collection::vec(any::<u8>(), 0..200),
            at in any::<prop::sample::Index>(),
            gzip in any::<bool>(),
        ) {
            let whole = message().encode_to_vec();
            let cut = at.index(whole.len());
            bytes.extend_from_slice(&whole[cut..]);
            let bytes = if gzip { packed(&bytes) } else { bytes };
            match read(&bytes) {
                Ok(profile) => prop_assert!(!profile.values.is_empty()),
                Err(why) => prop_assert!(!why.is_empty()),
            }
        }

        #[test]
        fn a_changed_profile_is_read_within_its_bounds(
            at in any::<prop::sample::Index>(),
            to in any::<u8>(),
        ) {
            let mut bytes = message().encode_to_vec();
            let at = at.index(bytes.len());
            bytes[at] = to;
            if let Ok(profile) = read(&bytes) {
                for sample in profile.samples {
                    prop_assert!(sample.stack.len() <= 2 * MOST_DEEP);
                }
            }
        }
    }
}

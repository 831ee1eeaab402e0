//! Profiles as Go serves them: `profile.proto` of github.com/google/pprof, packed by gzip.
//!
//! Fields that are not listed are skipped. The published crates of these messages write profiles;
//! they are built by a compiler of protocol buffers, and this is all there is to read.
//!
//! A place stands in memory once, however many stacks pass it, and names have a bound: a few bytes of
//! a file say much else.

use std::collections::BTreeMap;
use std::io::Read;

use flate2::read::GzDecoder;
use slowpath_core::profiles::{CodeLine, UNNAMED};

/// The largest profile that is taken, unpacked: some hundred thousand goroutines whose stacks all
/// differ.
pub const MOST_PROFILE_BYTES: usize = 64 << 20;
/// Places of a stack that are kept, from the innermost out and from the outermost in: a recursion
/// may be deep, and its middle says nothing.
const MOST_DEEP: usize = 64;
/// Places that a profile may have: ten times those of the largest programs that were seen.
const MOST_PLACES: usize = 1 << 18;
/// Bytes of a name that are kept: those of templates in C++ may be of thousands, and their ends say
/// nothing that their begins do not.
pub(crate) const MOST_NAME_BYTES: usize = 512;
/// How a stream that is packed by gzip begins (RFC 1952).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// A profile, read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// The places in the code, each once for each location that names it.
    pub lines: Vec<CodeLine>,
    /// What stands at addresses, innermost function first: positions in `lines`.
    pub addresses: BTreeMap<u64, Vec<u32>>,
    /// What each value is, as `type/unit`: `contentions/count`, `delay/nanoseconds`.
    pub values: Vec<String>,
    /// One entry a stack.
    pub samples: Vec<Sample>,
    /// What one sample represents, as `type/unit`, and how much; empty and 0 if it does not say.
    pub period: (String, i64),
    /// When it was taken, in nanoseconds since 1970; 0 if it does not say.
    pub time_ns: u64,
    /// For how long it was taken, in nanoseconds; 0 if it does not say.
    pub duration_ns: u64,
}

/// A stack with its values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Where, innermost first: positions in [`Profile::lines`].
    pub stack: Vec<u32>,
    /// How much, in the order of [`Profile::values`].
    pub values: Vec<i64>,
}

impl Profile {
    /// One that counted nothing yet of what another counts.
    #[must_use]
    pub fn before(other: &Self) -> Self {
        Self {
            values: other.values.clone(),
            period: other.period.clone(),
            ..Self::default()
        }
    }

    /// Where a kind of value stands in samples.
    pub fn place_of(&self, value: &str) -> Option<usize> {
        self.values.iter().position(|known| known == value)
    }

    /// The places of a stack, innermost first.
    pub fn stack<'p>(&'p self, stack: &'p [u32]) -> impl Iterator<Item = &'p CodeLine> {
        let lines = stack.iter();
        lines.filter_map(|&line| self.lines.get(line as usize))
    }

    /// What stands at addresses, innermost function first.
    pub fn at_addresses(&self) -> impl Iterator<Item = (u64, Vec<CodeLine>)> {
        let lines = |stack: &Vec<u32>| self.stack(stack).cloned().collect();
        let addresses = self.addresses.iter();
        addresses.map(move |(&address, stack)| (address, lines(stack)))
    }
}

/// `Profile`.
#[derive(Clone, PartialEq, prost::Message)]
struct Message {
    #[prost(message, repeated, tag = "1")]
    sample_type: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    sample: Vec<SampleMessage>,
    #[prost(message, repeated, tag = "3")]
    mapping: Vec<Mapping>,
    #[prost(message, repeated, tag = "4")]
    location: Vec<Location>,
    #[prost(message, repeated, tag = "5")]
    function: Vec<Function>,
    /// Text, but not all who write it keep to UTF-8.
    #[prost(bytes = "vec", repeated, tag = "6")]
    string_table: Vec<Vec<u8>>,
    #[prost(int64, tag = "9")]
    time_nanos: i64,
    #[prost(int64, tag = "10")]
    duration_nanos: i64,
    #[prost(message, optional, tag = "11")]
    period_type: Option<ValueType>,
    #[prost(int64, tag = "12")]
    period: i64,
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

/// `Mapping`.
#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
struct Mapping {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "5")]
    filename: i64,
}

/// `Location`.
#[derive(Clone, PartialEq, Eq, prost::Message)]
struct Location {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(uint64, tag = "2")]
    mapping_id: u64,
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
    #[prost(int64, tag = "3")]
    system_name: i64,
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
    let places = message.location.iter();
    let places: usize = places.map(|location| location.line.len().max(1)).sum();
    if places > MOST_PLACES {
        return Err(format!("a profile of more than {MOST_PLACES} places"));
    }
    let tables = Tables::of(&message);
    let values = message.sample_type.iter();
    let mut profile = Profile {
        values: values.map(|of| tables.value(*of)).collect(),
        period: (
            message
                .period_type
                .map_or_else(String::new, |of| tables.value(of)),
            message.period,
        ),
        time_ns: u64::try_from(message.time_nanos).unwrap_or(0),
        duration_ns: u64::try_from(message.duration_nanos).unwrap_or(0),
        ..Profile::default()
    };
    let mut stood: Vec<Vec<u32>> = Vec::new();
    for location in &message.location {
        let first = profile.lines.len() as u32;
        profile.lines.extend(tables.lines(location));
        let own: Vec<u32> = (first..profile.lines.len() as u32).collect();
        profile.addresses.insert(location.address, own.clone());
        stood.push(own);
    }
    let samples = message.sample.iter().map(|sample| Sample {
        stack: tables.stack(&sample.location_id, &stood),
        values: sample.value.clone(),
    });
    profile.samples = samples.collect();
    Ok(profile)
}

/// What ids refer to.
struct Tables<'m> {
    message: &'m Message,
    /// Places of locations, functions and mappings, by id.
    locations: Vec<(u64, usize)>,
    functions: Vec<(u64, usize)>,
    mappings: Vec<(u64, usize)>,
}

/// The place of an id.
fn found(ids: &[(u64, usize)], id: u64) -> Option<usize> {
    let found = ids.binary_search_by_key(&id, |known| known.0);
    found.ok().map(|found| ids[found].1)
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
            mappings: by_id(message.mapping.iter().map(|m| m.id)),
        }
    }

    fn text(&self, place: i64) -> String {
        let place = usize::try_from(place).ok();
        let text = place.and_then(|place| self.message.string_table.get(place));
        let text = text.map_or(&[][..], Vec::as_slice);
        String::from_utf8_lossy(&text[..text.len().min(MOST_NAME_BYTES)]).into_owned()
    }

    /// `type/unit`.
    fn value(&self, of: ValueType) -> String {
        format!("{}/{}", self.text(of.r#type), self.text(of.unit))
    }

    fn stack(&self, ids: &[u64], stood: &[Vec<u32>]) -> Vec<u32> {
        let (half, deep) = (MOST_DEEP / 2, ids.len() > MOST_DEEP);
        let (inner, outer) = if deep {
            (&ids[..half], &ids[ids.len() - half..])
        } else {
            (ids, &ids[..0])
        };
        let locations = inner.iter().chain(outer);
        let locations = locations.filter_map(|&id| stood.get(found(&self.locations, id)?));
        let lines = locations.flat_map(|own| own.iter().copied());
        lines.take(2 * MOST_DEEP).collect()
    }

    /// What stands at a location, innermost first. Code without names of functions is known by the
    /// file that it was loaded from: it is no part of who called it.
    fn lines(&self, location: &Location) -> Vec<CodeLine> {
        if location.line.is_empty() {
            let mapping = found(&self.mappings, location.mapping_id);
            let file = mapping.map_or_else(String::new, |mapping| {
                without_folders(&self.text(self.message.mapping[mapping].filename))
            });
            return vec![CodeLine {
                function: format!("{file}{UNNAMED}"),
                file,
                line: 0,
            }];
        }
        let lines = location.line.iter().take(MOST_DEEP);
        lines.map(|line| self.line(line)).collect()
    }

    fn line(&self, line: &Line) -> CodeLine {
        let function = found(&self.functions, line.function_id);
        let (name, file) = function.map_or_else(Default::default, |function| {
            let function = &self.message.function[function];
            let name = self.text(function.name);
            let name = if name.is_empty() {
                self.text(function.system_name)
            } else {
                name
            };
            (name, self.text(function.filename))
        });
        CodeLine {
            function: if name.is_empty() {
                UNNAMED.to_owned()
            } else {
                name
            },
            file: without_folders(&file),
            line: u32::try_from(line.line).unwrap_or(0),
        }
    }
}

/// A file's name alone: the folders are those of the machine that built the target.
pub(crate) fn without_folders(file: &str) -> String {
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
            "/usr/lib/libz.so",
        ];
        Message {
            sample_type: vec![ValueType { r#type: 1, unit: 2 }],
            sample: vec![SampleMessage {
                location_id: vec![7, 99],
                value: vec![5],
            }],
            location: vec![
                Location {
                    id: 7,
                    mapping_id: 0,
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
                },
                Location {
                    id: 8,
                    mapping_id: 3,
                    address: 0x5b,
                    line: Vec::new(),
                },
            ],
            function: vec![
                Function {
                    id: 2,
                    name: 0,
                    system_name: 5,
                    filename: -4,
                },
                Function {
                    id: 1,
                    name: 3,
                    system_name: 0,
                    filename: 4,
                },
            ],
            string_table: words.map(|word| word.as_bytes().to_vec()).into(),
            mapping: vec![Mapping { id: 3, filename: 6 }],
            time_nanos: 7,
            duration_nanos: 1_000_000_000,
            period_type: Some(ValueType { r#type: 1, unit: 2 }),
            period: 10,
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
        let stack = &profile.samples[0].stack;
        assert_eq!(
            words(&profile, stack),
            ["sync.(*Mutex).Unlock", "main.handle (main.go)"]
        );
        assert_eq!(profile.samples[0].values, [5]);
        assert_eq!(&profile.addresses[&0x4a], stack);
        assert_eq!(profile.period, ("delay/nanoseconds".to_owned(), 10));
        assert_eq!((profile.time_ns, profile.duration_ns), (7, 1_000_000_000));
    }

    fn words(profile: &Profile, stack: &[u32]) -> Vec<String> {
        profile.stack(stack).map(ToString::to_string).collect()
    }

    #[test]
    fn code_without_names_stands_on_the_stack_by_its_file() {
        let mut unnamed = message();
        unnamed.sample[0].location_id = vec![8, 7];
        let profile = read(&unnamed.encode_to_vec()).unwrap();
        let stack = words(&profile, &profile.samples[0].stack);
        assert_eq!(stack[0], "libz.so.? (libz.so)");
        assert_eq!(stack.len(), 3);
        unnamed.mapping.clear();
        let profile = read(&unnamed.encode_to_vec()).unwrap();
        assert_eq!(words(&profile, &profile.samples[0].stack)[0], UNNAMED);
    }

    #[test]
    fn names_are_kept_to_a_bound_and_need_not_be_text() {
        let mut strange = message();
        strange.string_table[3] = [b"\xff", &[b'a'; 1 << 13][..]].concat();
        let profile = read(&strange.encode_to_vec()).unwrap();
        let name = &profile.lines[1].function;
        assert!(name.starts_with("\u{fffd}aa") && name.len() < 2 * MOST_NAME_BYTES);
        let places = Location {
            id: 1,
            mapping_id: 0,
            address: 1,
            line: vec![Line::default(); MOST_PLACES + 1],
        };
        strange.location = vec![places];
        let said = read(&strange.encode_to_vec()).unwrap_err();
        assert!(said.contains("places"), "{said}");
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
                mapping_id: 0,
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
        let lines: Vec<u32> = profile.stack(stack).map(|line| line.line).collect();
        assert_eq!((lines[0], lines[MOST_DEEP - 1]), (0, 999));
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
                    let known = sample.stack.iter().all(|l| (*l as usize) < profile.lines.len());
                    prop_assert!(known);
                }
            }
        }
    }
}

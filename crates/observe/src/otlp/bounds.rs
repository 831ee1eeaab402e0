//! How much a message unfolds to, before it is unfolded: an empty span takes two bytes on its way and
//! some two hundred in memory.

use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};

use super::message::Encoding;

/// Spans, attributes and what holds them that a message may have. SDKs send 512 spans at a time, and
/// collectors 8192 with some twenty attributes each.
const MOST_ENTRIES: usize = 262_144;

/// Whether a message has no more entries than may be unfolded; an error says so as a fragment.
pub(super) fn check(bytes: &[u8], encoding: Encoding) -> Result<(), String> {
    let entries = match encoding {
        Encoding::Protobuf => entries(bytes, Level::Export),
        // Each is an object; braces in texts only make it more.
        Encoding::Json => bytes.split(|byte| *byte == b'{').count() - 1,
    };
    if entries > MOST_ENTRIES {
        return Err(format!(
            "more than {MOST_ENTRIES} spans and attributes in one message"
        ));
    }
    Ok(())
}

/// The messages within messages that hold spans and attributes.
#[derive(Clone, Copy)]
enum Level {
    Export,
    ResourceSpans,
    Resource,
    ScopeSpans,
    Span,
    Attribute,
}

impl Level {
    /// What a field of a message is, if it is one of these; the numbers are those of
    /// [`super::message`].
    const fn below(self, field: u32) -> Option<Self> {
        match (self, field) {
            (Self::Export, 1) => Some(Self::ResourceSpans),
            (Self::ResourceSpans, 1) => Some(Self::Resource),
            (Self::ResourceSpans, 2) => Some(Self::ScopeSpans),
            (Self::Resource, 1) | (Self::Span, 9) => Some(Self::Attribute),
            (Self::ScopeSpans, 2) => Some(Self::Span),
            _ => None,
        }
    }
}

/// The entries of a message up to where it is broken.
fn entries(mut bytes: &[u8], level: Level) -> usize {
    let mut count = 0;
    while !bytes.is_empty() {
        let Ok((field, wire)) = decode_key(&mut bytes) else {
            return count;
        };
        if wire != WireType::LengthDelimited {
            if skip_field(wire, field, &mut bytes, DecodeContext::default()).is_err() {
                return count;
            }
            continue;
        }
        let length = decode_varint(&mut bytes).ok();
        let length = length.and_then(|length| usize::try_from(length).ok());
        let Some((inner, rest)) = length.and_then(|length| bytes.split_at_checked(length)) else {
            return count;
        };
        bytes = rest;
        if let Some(below) = level.below(field) {
            count += 1 + entries(inner, below);
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use prost::Message;

    use super::super::message::{
        self, Export, KeyValue, MOST_MESSAGE_BYTES, ResourceSpans, ScopeSpans, Span,
    };
    use super::*;

    fn export(spans: usize, attributes: usize) -> Export {
        let span = Span {
            attributes: vec![KeyValue::default(); attributes],
            ..Span::default()
        };
        let scope = ScopeSpans {
            spans: vec![span; spans],
        };
        let of_one = ResourceSpans {
            scope_spans: vec![scope],
            ..ResourceSpans::default()
        };
        Export {
            resource_spans: vec![of_one],
        }
    }

    #[test]
    fn entries_are_counted_at_every_level() {
        let bytes = export(3, 2).encode_to_vec();
        assert_eq!(entries(&bytes, Level::Export), 2 + 3 + 3 * 2);
        assert!(entries(&bytes[..bytes.len() - 1], Level::Export) <= 11);
    }

    #[test]
    fn a_message_that_unfolds_to_too_much_is_refused() {
        let bytes = export(MOST_ENTRIES, 0).encode_to_vec();
        assert!(bytes.len() < MOST_MESSAGE_BYTES, "it is taken by its size");
        let refused = message::read(&bytes, Encoding::Protobuf).unwrap_err();
        assert!(refused.starts_with("more than"), "{refused}");
        let json = format!("{{\"resourceSpans\":[{}{{}}]}}", "{},".repeat(MOST_ENTRIES));
        assert!(message::read(json.as_bytes(), Encoding::Json).is_err());
        let usual = export(8192, 20).encode_to_vec();
        assert_eq!(message::count_spans(&usual, Encoding::Protobuf), Ok(8192));
    }
}

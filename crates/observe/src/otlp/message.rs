//! The messages of OTLP, as far as they are read here, in both of their encodings.
//!
//! Field numbers and names are those of `opentelemetry/proto/collector/trace/v1`, `trace/v1`,
//! `common/v1` and `resource/v1`. Fields that are not listed are skipped, as both encodings demand.
//! The published crate of generated messages depends on the whole SDK, and these are all there are.

use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};

use super::bounds;

/// The largest message that is taken, unpacked: what gRPC takes by default. SDKs send 512 spans at
/// a time, so that each may have 8 KiB.
pub const MOST_MESSAGE_BYTES: usize = 4 << 20;

/// How a message is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Protocol buffers.
    Protobuf,
    /// JSON as OTLP defines it: ids in hexadecimal, large numbers as texts.
    Json,
}

/// `ExportTraceServiceRequest`.
#[derive(Clone, PartialEq, prost::Message, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Export {
    #[prost(message, repeated, tag = "1")]
    #[serde(deserialize_with = "or_default")]
    pub(super) resource_spans: Vec<ResourceSpans>,
}

/// Spans of one service.
#[derive(Clone, PartialEq, prost::Message, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ResourceSpans {
    #[prost(message, optional, tag = "1")]
    pub(super) resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    #[serde(deserialize_with = "or_default")]
    pub(super) scope_spans: Vec<ScopeSpans>,
}

/// Who made spans.
#[derive(Clone, PartialEq, prost::Message, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Resource {
    #[prost(message, repeated, tag = "1")]
    #[serde(deserialize_with = "or_default")]
    pub(super) attributes: Vec<KeyValue>,
}

/// Spans of one library.
#[derive(Clone, PartialEq, prost::Message, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ScopeSpans {
    #[prost(message, repeated, tag = "2")]
    #[serde(deserialize_with = "or_default")]
    pub(super) spans: Vec<Span>,
}

/// A span.
#[expect(clippy::struct_field_names, reason = "the protocol names them")]
#[derive(Clone, PartialEq, prost::Message, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Span {
    #[prost(bytes = "vec", tag = "1")]
    #[serde(deserialize_with = "hexadecimal")]
    pub(super) trace_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    #[serde(deserialize_with = "hexadecimal")]
    pub(super) span_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "4")]
    #[serde(deserialize_with = "hexadecimal")]
    pub(super) parent_span_id: Vec<u8>,
    #[prost(string, tag = "5")]
    #[serde(deserialize_with = "or_default")]
    pub(super) name: String,
    #[prost(int32, tag = "6")]
    #[serde(deserialize_with = "kind")]
    pub(super) kind: i32,
    #[prost(fixed64, tag = "7")]
    #[serde(deserialize_with = "number")]
    pub(super) start_time_unix_nano: u64,
    #[prost(fixed64, tag = "8")]
    #[serde(deserialize_with = "number")]
    pub(super) end_time_unix_nano: u64,
    #[prost(message, repeated, tag = "9")]
    #[serde(deserialize_with = "or_default")]
    pub(super) attributes: Vec<KeyValue>,
    #[prost(message, optional, tag = "15")]
    pub(super) status: Option<Status>,
}

/// How a span ended.
#[derive(Clone, Copy, PartialEq, Eq, prost::Message, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Status {
    #[prost(int32, tag = "3")]
    #[serde(deserialize_with = "status")]
    pub(super) code: i32,
}

/// `STATUS_CODE_ERROR`.
pub(super) const STATUS_ERROR: i32 = 2;

/// An attribute.
#[derive(Clone, PartialEq, Eq, prost::Message, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct KeyValue {
    #[prost(string, tag = "1")]
    #[serde(deserialize_with = "or_default")]
    pub(super) key: String,
    #[prost(message, optional, tag = "2")]
    pub(super) value: Option<AnyValue>,
}

/// The value of an attribute, if it is a text or a whole number.
#[derive(Clone, PartialEq, Eq, prost::Message, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct AnyValue {
    #[prost(string, optional, tag = "1")]
    pub(super) string_value: Option<String>,
    #[prost(int64, optional, tag = "3")]
    #[serde(deserialize_with = "maybe_integer")]
    pub(super) int_value: Option<i64>,
}

/// Reads a message.
///
/// # Errors
/// With what is wrong with it, as a fragment.
pub(super) fn read(bytes: &[u8], encoding: Encoding) -> Result<Export, String> {
    bounds::check(bytes, encoding)?;
    match encoding {
        Encoding::Protobuf => {
            let read = <Export as prost::Message>::decode(bytes);
            read.map_err(|error| format!("not the protocol buffers of OTLP: {error}"))
        }
        Encoding::Json => {
            serde_json::from_slice(bytes).map_err(|error| format!("not the JSON of OTLP: {error}"))
        }
    }
}

/// How many spans a message has.
///
/// # Errors
/// With what is wrong with it, as a fragment.
pub fn count_spans(bytes: &[u8], encoding: Encoding) -> Result<usize, String> {
    let export = read(bytes, encoding)?;
    let scopes = export.resource_spans.iter().flat_map(|r| &r.scope_spans);
    Ok(scopes.map(|scope| scope.spans.len()).sum())
}

/// A field that may be `null`, which means its default (ProtoJSON).
fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(
    field: D,
) -> Result<T, D::Error> {
    Option::<T>::deserialize(field).map(Option::unwrap_or_default)
}

/// A whole number, as such, as a text, or as the name of a value.
struct Whole(&'static [&'static str]);

impl Visitor<'_> for Whole {
    type Value = Option<i128>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a whole number, or a text with one")
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Some(value.into()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Some(value.into()))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        let named = self.0.iter().position(|name| *name == text);
        let number = named.map_or_else(|| text.parse(), |place| Ok(place as i128));
        let number = number.map_err(|_| E::custom(format!("{text:?} is no whole number")));
        number.map(Some)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}

fn whole<'de, D: Deserializer<'de>, N: TryFrom<i128>>(
    field: D,
    names: &'static [&'static str],
) -> Result<Option<N>, D::Error> {
    let number = field.deserialize_any(Whole(names))?;
    let fitting = |number| {
        N::try_from(number).map_err(|_| D::Error::custom(format!("{number} is out of range")))
    };
    number.map(fitting).transpose()
}

fn number<'de, D: Deserializer<'de>>(field: D) -> Result<u64, D::Error> {
    whole(field, &[]).map(Option::unwrap_or_default)
}

fn maybe_integer<'de, D: Deserializer<'de>>(field: D) -> Result<Option<i64>, D::Error> {
    whole(field, &[])
}

fn kind<'de, D: Deserializer<'de>>(field: D) -> Result<i32, D::Error> {
    const NAMES: &[&str] = &[
        "SPAN_KIND_UNSPECIFIED",
        "SPAN_KIND_INTERNAL",
        "SPAN_KIND_SERVER",
        "SPAN_KIND_CLIENT",
        "SPAN_KIND_PRODUCER",
        "SPAN_KIND_CONSUMER",
    ];
    whole(field, NAMES).map(Option::unwrap_or_default)
}

fn status<'de, D: Deserializer<'de>>(field: D) -> Result<i32, D::Error> {
    const NAMES: &[&str] = &["STATUS_CODE_UNSET", "STATUS_CODE_OK", "STATUS_CODE_ERROR"];
    whole(field, NAMES).map(Option::unwrap_or_default)
}

/// Bytes in hexadecimal; `null` is none.
fn hexadecimal<'de, D: Deserializer<'de>>(field: D) -> Result<Vec<u8>, D::Error> {
    let text = Option::<String>::deserialize(field)?.unwrap_or_default();
    let pairs = text.as_bytes().chunks(2).map(|pair| {
        let digit = |at: usize| char::from(*pair.get(at)?).to_digit(16);
        Some((digit(0)? * 16 + digit(1)?) as u8)
    });
    let bytes: Option<Vec<u8>> = pairs.collect();
    bytes.ok_or_else(|| D::Error::custom(format!("{text:?} is not hexadecimal")))
}

//! One response on its way in over a stream.

use http::HeaderMap;
use http::header::CONTENT_TYPE;

use crate::body::{Body, Wants};
use crate::sse;

/// A response. Its memory serves request after request.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// The final status; 0 until its header is there.
    pub(crate) status: u16,
    /// Bytes of header fields before compression, and of the body.
    pub(crate) received_bytes: u64,
    /// The body.
    pub(crate) body: Body,
}

impl Answer {
    /// Prepares for the next response.
    pub(crate) fn reset(&mut self, wants: Wants) {
        self.status = 0;
        self.received_bytes = 0;
        self.body.reset(wants);
    }

    /// Takes the header of the final response.
    pub(super) fn head(&mut self, status: u16, fields: &HeaderMap) {
        self.status = status;
        self.received_bytes += field_bytes(fields);
        let media_type = fields.get(CONTENT_TYPE);
        let is_stream = media_type.is_some_and(|value| sse::is_media_type(value.as_bytes()));
        self.body.begin(is_stream);
        for (name, value) in fields {
            let line: [&[u8]; 4] = [name.as_ref(), b": ", value.as_bytes(), b"\r\n"];
            for piece in line {
                self.body.take_head(piece);
            }
        }
    }

    /// Takes a piece of the body.
    pub(super) fn data(&mut self, bytes: &[u8]) {
        self.received_bytes += bytes.len() as u64;
        self.body.take(bytes);
    }

    /// Takes the trailers.
    pub(super) fn trailers(&mut self, fields: &HeaderMap) {
        self.received_bytes += field_bytes(fields);
    }
}

/// The length of header fields before compression.
pub(super) fn field_bytes(fields: &HeaderMap) -> u64 {
    let bytes = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
        name.as_str().len() as u64 + value.len() as u64
    };
    fields.iter().map(bytes).sum()
}

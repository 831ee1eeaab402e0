//! One response on its way in over a stream.

use http::HeaderMap;
use http::header::CONTENT_TYPE;

use crate::body::{Body, Wants};
use crate::sse;

/// The header that says how long the server's parts took (W3C Server Timing).
const TIMING: &str = "server-timing";

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
            if name.as_str() == TIMING {
                self.body.take_timing(value.as_bytes());
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_server_says_of_its_time_is_kept_until_the_next_response() {
        let mut fields = HeaderMap::new();
        for value in ["db;dur=1", "app;dur=2"] {
            fields.append(TIMING, value.parse().unwrap());
        }
        let mut answer = Answer::default();
        answer.head(200, &fields);
        assert_eq!(answer.body.timing(), b"db;dur=1,app;dur=2");
        answer.reset(Wants::default());
        answer.head(200, &HeaderMap::new());
        assert_eq!(answer.body.timing(), b"");
    }
}

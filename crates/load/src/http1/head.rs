//! The head of a response, and what it says about the body and the connection.

use std::mem::MaybeUninit;

use httparse::{Header, ParserConfig, Status};

use super::Malformed;
use crate::sse;

/// Headers in one response at most; servers behind several proxies send some 40.
const MOST_HEADERS: usize = 128;
/// Bytes of one head at most: twice the largest default among common proxies (32 KiB).
pub(super) const MOST_HEAD_BYTES: usize = 64 * 1024;

/// The header that says how long the server's parts took (W3C Server Timing).
const TIMING: &str = "server-timing";

/// How the end of a body is known (RFC 9112, section 6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// By its length in bytes.
    Sized(u64),
    /// By the chunked coding.
    Chunked,
    /// By the end of the connection.
    UntilClose,
}

/// A parsed head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// Its length in bytes.
    pub(super) len: usize,
    /// The status.
    pub(super) status: u16,
    /// How the body ends.
    pub(super) framing: Framing,
    /// Whether the server keeps the connection open after this response.
    pub(super) keep_alive: bool,
    /// Whether the body is a stream of events.
    pub(super) is_event_stream: bool,
    /// Whether it says how long the server's parts took (`Server-Timing`).
    pub(super) has_timing: bool,
}

impl Head {
    /// Parses the head at the start of `bytes`; `None` while it is not whole. `asked_head` says
    /// that the request was a `HEAD`, whose response has no body whatever its headers say.
    pub(super) fn parse(bytes: &[u8], asked_head: bool) -> Result<Option<Self>, Malformed> {
        // Left as it is: clearing 4 KiB a response is a third of the work of parsing one.
        let mut headers = [const { MaybeUninit::uninit() }; MOST_HEADERS];
        let mut response = httparse::Response::new(&mut []);
        let mut config = ParserConfig::default();
        // A user agent must read them (RFC 9112, section 5.2), and none says anything of framing.
        config.allow_obsolete_multiline_headers_in_responses(true);
        let parsed = config.parse_response_with_uninit_headers(&mut response, bytes, &mut headers);
        let too_long = Malformed("the head is longer than 64 KiB");
        match parsed {
            Err(error) => Err(in_words(error)),
            Ok(Status::Partial) if bytes.len() > MOST_HEAD_BYTES => Err(too_long),
            Ok(Status::Partial) => Ok(None),
            Ok(Status::Complete(len)) if len > MOST_HEAD_BYTES => Err(too_long),
            Ok(Status::Complete(len)) => {
                let status = response.code.unwrap_or_default();
                if !(100..1000).contains(&status) {
                    return Err(Malformed("the status has no three digits"));
                }
                let is_1_0 = response.version == Some(0);
                let mut head = Self::from_headers(response.headers, is_1_0)?;
                if asked_head || status < 200 || status == 204 || status == 304 {
                    head.framing = Framing::Sized(0);
                }
                Ok(Some(Self {
                    len,
                    status,
                    ..head
                }))
            }
        }
    }

    fn from_headers(headers: &[Header<'_>], is_1_0: bool) -> Result<Self, Malformed> {
        let mut length = None;
        let mut last_coding: Option<&[u8]> = None;
        let (mut close, mut keep) = (false, false);
        let (mut is_event_stream, mut has_timing) = (false, false);
        for header in headers {
            if header.name.eq_ignore_ascii_case("content-length") {
                length = Some(content_length(header.value, length)?);
            } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
                last_coding = items(header.value).last().or(last_coding);
            } else if header.name.eq_ignore_ascii_case("content-type") {
                is_event_stream = sse::is_media_type(header.value);
            } else if header.name.eq_ignore_ascii_case(TIMING) {
                has_timing = true;
            } else if header.name.eq_ignore_ascii_case("connection") {
                for option in items(header.value) {
                    close |= option.eq_ignore_ascii_case(b"close");
                    keep |= option.eq_ignore_ascii_case(b"keep-alive");
                }
            }
        }
        let framing = match (last_coding, length) {
            (Some(coding), _) if coding.eq_ignore_ascii_case(b"chunked") => Framing::Chunked,
            (None, Some(length)) => Framing::Sized(length),
            (Some(_) | None, _) => Framing::UntilClose,
        };
        // What is framed twice, or in a coding that HTTP/1.0 has not, may end elsewhere for
        // an intermediary (RFC 9112, sections 6.1 and 6.3): nothing may follow it.
        let is_faulty = last_coding.is_some() && (length.is_some() || is_1_0);
        Ok(Self {
            len: 0,
            status: 0,
            framing,
            keep_alive: !close && !is_faulty && (!is_1_0 || keep),
            is_event_stream,
            has_timing,
        })
    }

    /// Gives the values of the headers `Server-Timing` in the lines of a head that was parsed.
    pub(super) fn each_timing(lines: &[u8], mut take: impl FnMut(&[u8])) {
        for line in lines.split(|&byte| byte == b'\n') {
            let colon = line.iter().position(|&byte| byte == b':');
            let Some((name, value)) = colon.map(|colon| line.split_at(colon)) else {
                continue;
            };
            if name.eq_ignore_ascii_case(TIMING.as_bytes()) {
                take(value[1..].trim_ascii());
            }
        }
    }
}

fn in_words(error: httparse::Error) -> Malformed {
    Malformed(match error {
        httparse::Error::HeaderName => "a header has no valid name",
        httparse::Error::HeaderValue => "a header has no valid value",
        httparse::Error::NewLine => "a line of the head does not end as one",
        httparse::Error::Status => "the status line is none",
        httparse::Error::TooManyHeaders => "the head has more than 128 headers",
        httparse::Error::Version => "it does not begin with HTTP/1.1 or HTTP/1.0",
        httparse::Error::Token => "the head has a character that it must not have",
    })
}

/// Bytes of a head that is remembered at most: that of a page without many cookies.
const MOST_KNOWN_BYTES: usize = 1024;

/// Parses heads and remembers the last one: most servers say the same again until the second of
/// their `Date` changes, and to take in a response like the last costs a third of one that is not
/// (73 against 225 ns for one of nginx, `cargo bench`).
#[derive(Debug, Default)]
pub(super) struct Parser {
    bytes: Vec<u8>,
    asked_head: bool,
    head: Option<Head>,
}

impl Parser {
    /// As [`Head::parse`].
    pub(super) fn parse(
        &mut self,
        bytes: &[u8],
        asked_head: bool,
    ) -> Result<Option<Head>, Malformed> {
        let known = self.head.filter(|_| self.asked_head == asked_head);
        // A head ends with the first empty line, so what follows does not change what it says.
        if known.is_some() && bytes.starts_with(&self.bytes) {
            return Ok(known);
        }
        let parsed = Head::parse(bytes, asked_head)?;
        if let Some(head) = parsed.filter(|head| head.len <= MOST_KNOWN_BYTES) {
            self.bytes.clear();
            self.bytes.extend_from_slice(&bytes[..head.len]);
            self.asked_head = asked_head;
            self.head = Some(head);
        }
        Ok(parsed)
    }
}

/// The members of a comma-separated header value.
fn items(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value
        .split(|&byte| byte == b',')
        .map(<[u8]>::trim_ascii)
        .filter(|item| !item.is_empty())
}

/// The length that all members of a `Content-Length` agree on: repeated equal ones are allowed.
fn content_length(value: &[u8], before: Option<u64>) -> Result<u64, Malformed> {
    let mut agreed = before;
    for item in items(value) {
        let digits = item.iter().all(u8::is_ascii_digit);
        let length = str::from_utf8(item).ok().filter(|_| digits);
        match (length.and_then(|text| text.parse().ok()), agreed) {
            (Some(length), None) => agreed = Some(length),
            (Some(length), Some(before)) if length == before => {}
            (Some(_), Some(_)) => return Err(Malformed("two lengths contradict each other")),
            (None, _) => return Err(Malformed("the Content-Length is no number")),
        }
    }
    agreed.ok_or(Malformed("the Content-Length is empty"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_changes_nothing() {
        let heads: [&[u8]; 6] = [
            b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhits",
            b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nmiss",
            b"HTTP/1.1 200 OK\r\nContent-Length: 4",
            b"HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n",
            b"HTTP/1.1 204 No\r\nConnection: close\r\n\r\n",
            b"HTTP/0 what",
        ];
        let mut parser = Parser::default();
        for round in 0..4 {
            for bytes in heads {
                let asked_head = round % 2 == 1;
                for _ in 0..2 {
                    let remembering = parser.parse(bytes, asked_head);
                    assert_eq!(remembering, Head::parse(bytes, asked_head));
                }
            }
        }
    }
}

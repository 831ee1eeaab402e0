//! A parser of one response, fed with whatever bytes arrive.
//!
//! Any split of the same bytes gives the same response, and no bytes make it panic; both are
//! property tests. Bodies are counted, not kept, unless an expectation looks into them. Memory of
//! one response is reused for the next.

use super::chunked::Chunked;
use super::head::{Framing, Head, Parser};
use crate::body::{Body, Wants};

/// Interim responses before the final one, at most. A server that works long may send one (102) a
/// second; more than this many are a flood.
const MOST_INTERIM: u32 = 1000;

/// What came is no HTTP/1 response; says why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(pub &'static str);

/// Whether a response is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fed {
    /// More bytes are needed.
    More,
    /// The response is whole; bytes after it make the connection useless.
    Whole,
}

#[derive(Debug)]
enum State {
    Head,
    Sized(u64),
    Chunked(Chunked),
    UntilClose,
    Whole,
}

/// One response on its way in.
#[derive(Debug)]
pub struct Response {
    state: State,
    asked_head: bool,
    partial_head: Vec<u8>,
    interim: u32,
    parser: Parser,
    status: u16,
    reusable: bool,
    received_bytes: u64,
    body: Body,
}

impl Default for Response {
    fn default() -> Self {
        Self {
            state: State::Head,
            asked_head: false,
            partial_head: Vec::new(),
            interim: 0,
            parser: Parser::default(),
            status: 0,
            reusable: false,
            received_bytes: 0,
            body: Body::default(),
        }
    }
}

impl Response {
    /// Prepares for the response to the next request: `asked_head` if that is a `HEAD`.
    pub fn reset(&mut self, asked_head: bool, wants: Wants) {
        self.partial_head.clear();
        self.body.reset(wants);
        *self = Self {
            asked_head,
            partial_head: std::mem::take(&mut self.partial_head),
            parser: std::mem::take(&mut self.parser),
            body: std::mem::take(&mut self.body),
            ..Self::default()
        };
    }

    /// The final status; 0 until its head is whole.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Whether another request may follow on the connection.
    pub fn is_reusable(&self) -> bool {
        self.reusable && matches!(self.state, State::Whole)
    }

    /// All bytes read so far, head and framing included.
    pub fn received_bytes(&self) -> u64 {
        self.received_bytes
    }

    /// The body so far, framing excluded.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// The body, to take the news from it.
    pub fn body_mut(&mut self) -> &mut Body {
        &mut self.body
    }

    /// Reads on.
    ///
    /// # Errors
    /// When this cannot become a response.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Fed, Malformed> {
        self.received_bytes += bytes.len() as u64;
        let mut rest = bytes;
        while matches!(self.state, State::Head) {
            if rest.is_empty() {
                return Ok(Fed::More);
            }
            rest = self.feed_head(rest)?;
        }
        let surplus = self.feed_body(rest)?;
        if !matches!(self.state, State::Whole) {
            return Ok(Fed::More);
        }
        self.reusable &= surplus.is_empty();
        Ok(Fed::Whole)
    }

    /// The peer closed in good order: the response is whole now, or never will be.
    pub fn end(&mut self) -> Fed {
        self.reusable = false;
        if matches!(self.state, State::UntilClose) {
            self.state = State::Whole;
        }
        match self.state {
            State::Whole => Fed::Whole,
            _ => Fed::More,
        }
    }

    /// Reads on in a head; returns the bytes after it.
    fn feed_head<'b>(&mut self, bytes: &'b [u8]) -> Result<&'b [u8], Malformed> {
        let before = self.partial_head.len();
        let parsed = if before == 0 {
            self.parser.parse(bytes, self.asked_head)?
        } else {
            self.partial_head.extend_from_slice(bytes);
            self.parser.parse(&self.partial_head, self.asked_head)?
        };
        let Some(head) = parsed else {
            if before == 0 {
                self.partial_head.extend_from_slice(bytes);
            }
            return Ok(&[]);
        };
        if head.status >= 200 {
            let lines = if before == 0 {
                bytes
            } else {
                &self.partial_head
            };
            self.body.take_head(&lines[..head.len]);
            if head.has_timing {
                Head::each_timing(&lines[..head.len], |value| self.body.take_timing(value));
            }
        }
        self.partial_head.clear();
        // Interim responses (RFC 9110, section 15.2) precede the final one. 101 is final.
        if head.status >= 200 || head.status == 101 {
            self.status = head.status;
            self.body.begin(head.is_event_stream);
            self.reusable = head.keep_alive && head.framing != Framing::UntilClose;
            self.reusable &= head.status != 101;
            self.state = match head.framing {
                Framing::Sized(0) => State::Whole,
                Framing::Sized(length) => State::Sized(length),
                Framing::Chunked => State::Chunked(Chunked::new()),
                Framing::UntilClose => State::UntilClose,
            };
        } else {
            self.interim += 1;
            if self.interim > MOST_INTERIM {
                return Err(Malformed("the interim responses do not end"));
            }
        }
        Ok(&bytes[head.len - before..])
    }

    /// Reads on in a body; returns the bytes after it.
    fn feed_body<'b>(&mut self, bytes: &'b [u8]) -> Result<&'b [u8], Malformed> {
        let Self { state, body, .. } = self;
        let mut take = |data: &[u8]| body.take(data);
        let (read, over) = match state {
            State::Head => (0, false),
            State::Whole => (0, true),
            State::UntilClose => {
                take(bytes);
                (bytes.len(), false)
            }
            State::Sized(left) => {
                let read = (*left).min(bytes.len() as u64) as usize;
                take(&bytes[..read]);
                *left -= read as u64;
                (read, *left == 0)
            }
            State::Chunked(chunked) => (chunked.feed(bytes, take)?, chunked.is_over()),
        };
        if over {
            *state = State::Whole;
        }
        Ok(&bytes[read..])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KEPT: Wants = Wants {
        head: false,
        body: true,
        events: false,
    };

    /// What is left of a response when its bytes came in the given pieces.
    fn parse<'b>(
        pieces: impl IntoIterator<Item = &'b [u8]>,
        asked_head: bool,
    ) -> (Result<Fed, Malformed>, u16, u64, Vec<u8>, bool) {
        let mut response = Response::default();
        response.reset(asked_head, KEPT);
        let mut fed = Ok(Fed::More);
        for piece in pieces {
            fed = response.feed(piece);
            if fed != Ok(Fed::More) {
                break;
            }
        }
        let body = response.body().kept().to_vec();
        (
            fed,
            response.status(),
            response.body().bytes(),
            body,
            response.is_reusable(),
        )
    }

    fn whole(text: &str) -> (Result<Fed, Malformed>, u16, u64, Vec<u8>, bool) {
        parse([text.as_bytes()], false)
    }

    #[test]
    fn lengths_and_chunks_end_a_body() {
        let sized = whole("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
        assert_eq!(sized, (Ok(Fed::Whole), 200, 5, b"hello".to_vec(), true));
        let chunked = whole(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\nContent-Length: 3\r\n\r\n\
             5;a=b\r\nhello\r\n1\r\n!\r\n0\r\nDigest: x\r\nX: y\r\n\r\n",
        );
        assert_eq!(chunked, (Ok(Fed::Whole), 200, 6, b"hello!".to_vec(), false));
    }

    #[test]
    fn what_the_server_says_of_its_time_is_kept_until_the_next_response() {
        let mut response = Response::default();
        let head = b"HTTP/1.1 200 OK\r\nServer-Timing: db;dur=1\r\nContent-Length: 0\r\n\
                     server-timing:app;dur=2 \r\nX-Server-Timing: no;dur=3\r\n\r\n";
        // The second is not parsed again: it is like the first.
        for _ in 0..2 {
            response.reset(false, Wants::default());
            assert_eq!(response.feed(head), Ok(Fed::Whole));
            assert_eq!(response.body().timing(), b"db;dur=1,app;dur=2");
        }
        response.reset(false, Wants::default());
        response
            .feed(b"HTTP/1.1 103 Hints\r\nServer-Timing: early;dur=1\r\n\r\n")
            .unwrap();
        response
            .feed(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            .unwrap();
        assert_eq!(response.body().timing(), b"");
    }

    #[test]
    fn some_responses_have_no_body() {
        for head in [
            "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n",
            "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n",
        ] {
            assert_eq!(whole(head).0, Ok(Fed::Whole), "{head}");
        }
        let head = parse(
            [b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n".as_slice()],
            true,
        );
        assert_eq!(head, (Ok(Fed::Whole), 200, 0, vec![], true));
    }

    #[test]
    fn interim_responses_are_skipped() {
        let text = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n\
                    HTTP/1.1 404 Not Found\r\nContent-Length: 1\r\n\r\nx";
        assert_eq!(whole(text), (Ok(Fed::Whole), 404, 1, b"x".to_vec(), true));
        assert!(!whole("HTTP/1.1 101 Switching Protocols\r\n\r\n").4);
    }

    #[test]
    fn a_connection_is_reused_only_if_both_sides_may() {
        let reusable = |head: &str| whole(&format!("{head}Content-Length: 0\r\n\r\n")).4;
        assert!(reusable("HTTP/1.1 200 OK\r\n"));
        assert!(!reusable("HTTP/1.1 200 OK\r\nConnection: foo, Close\r\n"));
        assert!(!reusable("HTTP/1.0 200 OK\r\n"));
        assert!(reusable("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\n"));
        assert!(!whole("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxsurplus").4);
    }

    #[test]
    fn a_body_without_framing_ends_with_the_connection() {
        let mut response = Response::default();
        let fed = response.feed(b"HTTP/1.1 200 OK\r\n\r\nsome");
        assert_eq!((fed, response.body().bytes()), (Ok(Fed::More), 4));
        assert_eq!(response.end(), Fed::Whole);
        assert!(!response.is_reusable());
        let mut cut = Response::default();
        assert_eq!(
            cut.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nsome"),
            Ok(Fed::More)
        );
        assert_eq!(cut.end(), Fed::More);
    }

    #[test]
    fn what_is_no_response_is_malformed() {
        for text in [
            "SSH-2.0-OpenSSH_9.2\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n11111111111111111\r\n",
        ] {
            assert!(whole(text).0.is_err(), "{text}");
        }
        let endless = format!("HTTP/1.1 200 OK\r\nX: {}", "x".repeat(70_000));
        assert!(whole(&endless).0.is_err());
        assert_eq!(
            whole("HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nab").0,
            Ok(Fed::Whole)
        );
    }

    /// Bytes that look like responses often enough to reach every state.
    fn stream() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            Just(b"HTTP/1.1 200 OK\r\n".to_vec()),
            Just(b"HTTP/1.1 100 Continue\r\n\r\n".to_vec()),
            Just(b"HTTP/1.0 204 No\r\n".to_vec()),
            Just(b"Content-Length: 7\r\n".to_vec()),
            Just(b"Transfer-Encoding: chunked\r\n".to_vec()),
            Just(b"\r\n".to_vec()),
            Just(b"5\r\nhello\r\n".to_vec()),
            Just(b"0\r\n\r\n".to_vec()),
            Just(b"a;x=\"y\"\r\n".to_vec()),
            prop::collection::vec(any::<u8>(), 0..12),
        ];
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    /// `bytes` in pieces of the given lengths, and the rest.
    fn split<'b>(mut bytes: &'b [u8], lengths: &[usize]) -> Vec<&'b [u8]> {
        let mut pieces = Vec::new();
        for &length in lengths {
            let (piece, rest) = bytes.split_at(length.min(bytes.len()));
            pieces.push(piece);
            bytes = rest;
        }
        pieces.push(bytes);
        pieces
    }

    proptest! {
        #[test]
        fn any_split_parses_the_same(
            bytes in stream(), cuts in prop::collection::vec(0_usize..9, 0..40), head: bool,
        ) {
            let (fed, status, length, body, _) = parse([bytes.as_slice()], head);
            let (fed2, status2, length2, body2, _) = parse(split(&bytes, &cuts), head);
            prop_assert_eq!(fed.is_err(), fed2.is_err());
            prop_assert_eq!(fed.ok(), fed2.ok());
            prop_assert_eq!((status, length, body), (status2, length2, body2));
        }

        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>, head: bool) {
            let _ = parse(bytes.chunks(3), head);
        }
    }
}

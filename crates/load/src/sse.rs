//! A parser of `text/event-stream`, fed with whatever bytes arrive (WHATWG HTML, sections 9.2.5
//! and 9.2.6).
//!
//! Any split of the same bytes gives the same events, and no bytes make it panic; both are
//! property tests. Of the fields only `data` decides what an event is: `event`, `id` and `retry`
//! matter to dispatching by name and to reconnecting, and a load does neither. An event that the
//! stream ends within is none.

/// Bytes of an event's data kept at most; what lies beyond is counted only. Terminators such as
/// `[DONE]` and the documents of chat protocols are far smaller.
const MOST_KEPT_BYTES: usize = 64 * 1024;

/// The mark that may precede a stream: U+FEFF in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The only field that matters here.
const DATA: &[u8] = b"data";

/// Whether a `Content-Type` says that the body is a stream of events, whatever its parameters.
pub fn is_media_type(content_type: &[u8]) -> bool {
    let essence = content_type.split(|&byte| byte == b';').next();
    essence.is_some_and(|it| it.trim_ascii().eq_ignore_ascii_case(b"text/event-stream"))
}

/// A whole event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// Its data, lines joined by line feeds; the first 64 KiB.
    pub data: &'a [u8],
    /// Length of its data in bytes, all of it.
    pub data_bytes: u64,
}

/// Where in a line the parser is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// In a name of which so many bytes are those of `data`; at the begin of a line with none.
    Name(usize),
    /// After the colon: a space that follows at once is not part of the value.
    Colon,
    /// In a value of `data`.
    Value,
    /// In a comment or another field.
    Ignored,
}

/// A stream on its way in.
#[derive(Debug)]
pub struct Parser {
    /// Bytes of the byte order mark that came; its length once the stream has begun.
    mark: usize,
    /// A line feed that follows belongs to the line that the carriage return ended.
    after_return: bool,
    line: Line,
    data: Vec<u8>,
    /// Length of the data so far, with the line feed after each line.
    data_bytes: u64,
}

impl Default for Parser {
    fn default() -> Self {
        Self {
            mark: 0,
            after_return: false,
            line: Line::Name(0),
            data: Vec::new(),
            data_bytes: 0,
        }
    }
}

impl Parser {
    /// Prepares for another stream, keeping the memory.
    pub fn reset(&mut self) {
        self.data.clear();
        *self = Self {
            data: std::mem::take(&mut self.data),
            ..Self::default()
        };
    }

    /// Whether the stream, if it ends now, ends within an event: that event is lost.
    pub fn is_inside_event(&self) -> bool {
        let in_data = matches!(self.line, Line::Name(1..) | Line::Colon | Line::Value);
        in_data || self.data_bytes > 0
    }

    /// Reads on, and hands every event that became whole to `event`.
    pub fn feed(&mut self, bytes: &[u8], mut event: impl FnMut(Event<'_>)) {
        let mut rest = self.skip_mark(bytes);
        while let Some((&byte, behind)) = rest.split_first() {
            let ends_pair = std::mem::take(&mut self.after_return) && byte == b'\n';
            rest = behind;
            match (byte, self.line) {
                _ if ends_pair => {}
                (b'\r' | b'\n', _) => {
                    self.after_return = byte == b'\r';
                    self.end_line(&mut event);
                }
                (_, Line::Name(length)) => self.line = name(length, byte),
                (b' ', Line::Colon) => self.line = Line::Value,
                (_, Line::Colon | Line::Value) => {
                    self.line = Line::Value;
                    let (value, behind) = up_to_line_end(byte, rest);
                    self.push(&[byte]);
                    self.push(value);
                    rest = behind;
                }
                (_, Line::Ignored) => rest = up_to_line_end(byte, rest).1,
            }
        }
    }

    /// Takes the byte order mark off the begin of a stream.
    fn skip_mark<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let left = &BYTE_ORDER_MARK[self.mark..];
        let matching = bytes.iter().zip(left).take_while(|(a, b)| a == b).count();
        let begun = self.mark > 0 || matching > 0;
        self.mark += matching;
        let rest = &bytes[matching..];
        if !rest.is_empty() && self.mark < BYTE_ORDER_MARK.len() {
            // Not the mark: what was taken for it is the begin of a name that is not `data`.
            self.mark = BYTE_ORDER_MARK.len();
            if begun {
                self.line = Line::Ignored;
            }
        }
        rest
    }

    fn end_line(&mut self, event: &mut impl FnMut(Event<'_>)) {
        match std::mem::replace(&mut self.line, Line::Name(0)) {
            // An empty line ends the event, which is one if it has data.
            Line::Name(0) if self.data_bytes > 0 => {
                let data_bytes = self.data_bytes - 1;
                let kept = self.data.len().min(data_bytes as usize);
                event(Event {
                    data: &self.data[..kept],
                    data_bytes,
                });
                self.data.clear();
                self.data_bytes = 0;
            }
            // A name without a colon is a field without a value.
            Line::Name(length) if length == DATA.len() => self.push(b"\n"),
            Line::Colon | Line::Value => self.push(b"\n"),
            Line::Name(_) | Line::Ignored => {}
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        self.data_bytes += bytes.len() as u64;
        let room = MOST_KEPT_BYTES - self.data.len();
        self.data.extend_from_slice(&bytes[..room.min(bytes.len())]);
    }
}

/// What `byte` makes of a name of which `length` bytes are those of `data`.
fn name(length: usize, byte: u8) -> Line {
    match byte {
        b':' if length == DATA.len() => Line::Colon,
        byte if DATA.get(length) == Some(&byte) => Line::Name(length + 1),
        _ => Line::Ignored,
    }
}

/// Splits before the first line end; `byte`, which is none, came before.
fn up_to_line_end(byte: u8, bytes: &[u8]) -> (&[u8], &[u8]) {
    debug_assert!(byte != b'\r' && byte != b'\n');
    let end = bytes.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
    bytes.split_at(end.unwrap_or(bytes.len()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn events<'b>(pieces: impl IntoIterator<Item = &'b [u8]>) -> (Vec<Vec<u8>>, bool) {
        let mut parser = Parser::default();
        let mut events = Vec::new();
        for piece in pieces {
            parser.feed(piece, |event| {
                assert_eq!(event.data.len() as u64, event.data_bytes);
                events.push(event.data.to_vec());
            });
        }
        (events, parser.is_inside_event())
    }

    fn texts(stream: &str) -> Vec<String> {
        let text = |data| String::from_utf8(data).unwrap();
        events([stream.as_bytes()])
            .0
            .into_iter()
            .map(text)
            .collect()
    }

    #[test]
    fn the_examples_of_the_standard_give_its_events() {
        assert_eq!(
            texts("data: YHOO\ndata: +2\ndata: 10\n\n"),
            ["YHOO\n+2\n10"]
        );
        let three = ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\n\
                     data:  third event\n\n";
        assert_eq!(
            texts(three),
            ["first event", "second event", " third event"]
        );
        assert_eq!(texts("data\n\ndata\ndata\n\ndata:"), ["", "\n"]);
        assert_eq!(texts("data:test\n\ndata: test\n\n"), ["test", "test"]);
    }

    #[test]
    fn the_media_type_may_have_parameters_and_any_case() {
        for (text, is) in [
            ("text/event-stream", true),
            ("Text/Event-Stream ; charset=utf-8", true),
            ("text/event-streams", false),
            ("text/plain; x=text/event-stream", false),
            ("", false),
        ] {
            assert_eq!(is_media_type(text.as_bytes()), is, "{text}");
        }
    }

    #[test]
    fn lines_end_in_three_ways() {
        for end in ["\n", "\r", "\r\n"] {
            let stream = format!("data: a{end}data: b{end}{end}data: c{end}{end}");
            assert_eq!(texts(&stream), ["a\nb", "c"], "{end:?}");
        }
        // An empty line ends with its carriage return: the parser does not wait for the line feed.
        assert_eq!(texts("data: a\r\n\r"), ["a"]);
    }

    #[test]
    fn one_byte_order_mark_is_no_part_of_the_stream() {
        assert_eq!(texts("\u{feff}data: a\n\n"), ["a"]);
        let none: [&str; 0] = [];
        assert_eq!(texts("\u{feff}\u{feff}data: a\n\n"), none);
        assert_eq!(
            events([b"\xEF\xBBdata: a\n\ndata: b\n\n".as_slice()]).0,
            [b"b"]
        );
    }

    #[test]
    fn what_has_no_data_is_no_event() {
        let none: [&str; 0] = [];
        for stream in [
            "event: ping\nid: 7\nretry: 10\n\n",
            ": data: a\n\n",
            "Data: a\n\n",
            "datas: a\n\n",
            " data: a\n\n",
            "dat\n\n",
            "\n\n\r\n",
        ] {
            assert_eq!(texts(stream), none, "{stream:?}");
        }
    }

    #[test]
    fn an_event_that_the_stream_ends_within_is_lost_and_known() {
        for (stream, inside) in [
            ("data: a\n\n", false),
            ("data: a\n\n: ping", false),
            ("data: a\n\nevent: b\n", false),
            ("data: a\n\ndata: b\n", true),
            ("data: a\n\ndata: b", true),
            ("data: a\n\nda", true),
        ] {
            let (events, is_inside) = events([stream.as_bytes()]);
            assert_eq!((events.len(), is_inside), (1, inside), "{stream:?}");
        }
    }

    #[test]
    fn data_beyond_the_bound_is_counted_and_not_kept() {
        let mut parser = Parser::default();
        let mut seen = Vec::new();
        parser.feed(b"data:", |_| ());
        for _ in 0..100 {
            parser.feed(&[b'x'; 1024], |_| ());
        }
        parser.feed(b"\n\ndata: b\n\n", |event| {
            seen.push((event.data.len(), event.data_bytes));
        });
        assert_eq!(seen, [(MOST_KEPT_BYTES, 100 * 1024), (1, 1)]);
    }

    /// The standard's rules on a whole stream, line by line.
    fn reference(bytes: &[u8]) -> Vec<Vec<u8>> {
        let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        let mut lines: Vec<Vec<u8>> = vec![Vec::new()];
        for (at, &byte) in bytes.iter().enumerate() {
            match byte {
                b'\n' if at > 0 && bytes[at - 1] == b'\r' => {}
                b'\r' | b'\n' => lines.push(Vec::new()),
                _ => lines.last_mut().unwrap().push(byte),
            }
        }
        lines.pop();
        let (mut events, mut data) = (Vec::new(), Vec::new());
        for line in lines {
            let colon = line.iter().position(|&byte| byte == b':');
            let (name, value) = match colon {
                Some(colon) => (&line[..colon], &line[colon + 1..]),
                None => (&line[..], &[][..]),
            };
            if line.is_empty() {
                if data.pop().is_some() {
                    events.push(std::mem::take(&mut data));
                }
            } else if name == DATA {
                data.extend_from_slice(value.strip_prefix(b" ").unwrap_or(value));
                data.push(b'\n');
            }
        }
        events
    }

    /// Bytes that look like streams often enough to reach every state.
    fn stream() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            Just(b"data: x\n".to_vec()),
            Just(b"data".to_vec()),
            Just(b"da".to_vec()),
            Just(b":".to_vec()),
            Just(b" ".to_vec()),
            Just(b"\n".to_vec()),
            Just(b"\r".to_vec()),
            Just(b"\r\n".to_vec()),
            Just(b"event: ping\n".to_vec()),
            Just(BYTE_ORDER_MARK.to_vec()),
            Just(b"\xEF\xBB".to_vec()),
            prop::collection::vec(any::<u8>(), 0..6),
        ];
        prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn any_split_gives_the_events_of_the_standard(
            bytes in stream(), lengths in prop::collection::vec(1_usize..7, 0..60),
        ) {
            let mut pieces = Vec::new();
            let mut rest = bytes.as_slice();
            for length in lengths {
                let (piece, behind) = rest.split_at(length.min(rest.len()));
                pieces.push(piece);
                rest = behind;
            }
            pieces.push(rest);
            prop_assert_eq!(events(pieces).0, reference(&bytes));
        }
    }
}

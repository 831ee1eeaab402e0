//! What we make of responses, case by case: the cases of public parsers' tests (llhttp's among
//! them) and of RFC 9110 and 9112, in our own words. Each is parsed whole, byte by byte, and in
//! every two pieces, with the same result.
//!
//! Where parsers differ we read what a user agent must read, refuse what leaves open where a body
//! ends, and use no connection again on which another reader could see another end.

use slowpath_load::body::Wants;
use slowpath_load::http1::{Fed, Response};

/// What becomes of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Want {
    /// A whole response with this body, and a connection that is used again.
    Again(u16, &'static str),
    /// A whole response with this body; nothing may follow on the connection.
    Last(u16, &'static str),
    /// Not whole; whole with this body when the connection ends.
    UntilClose(u16, &'static str),
    /// Not whole, and truncated if the connection ends.
    More,
    /// No response.
    Bad,
}

use Want::{Again, Bad, Last, More, UntilClose};

type Case = (&'static str, &'static str, Want);

#[rustfmt::skip]
const STATUS_LINES: &[Case] = &[
    ("plain", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", Again(200, "")),
    ("no reason", "HTTP/1.1 301\r\nContent-Length: 0\r\n\r\n", Again(301, "")),
    ("an empty reason", "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", Again(200, "")),
    ("a reason that begins with a space",
        "HTTP/1.1 200  OK\r\nContent-Length: 0\r\n\r\n", Again(200, "")),
    ("a reason beyond ASCII", "HTTP/1.1 200 \u{d6}K\r\nContent-Length: 0\r\n\r\n", Again(200, "")),
    ("a status of no class", "HTTP/1.1 999 Oh\r\nContent-Length: 0\r\n\r\n", Again(999, "")),
    ("an empty line before all",
        "\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", Again(200, "")),
    ("HTTP/1.0 closes", "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", Last(200, "")),
    ("a status of two digits", "HTTP/1.1 20 OK\r\n\r\n", Bad),
    ("a status of one digit", "HTTP/1.1 2 OK\r\n\r\n", Bad),
    ("a status that begins with 0", "HTTP/1.1 099 OK\r\n\r\n", Bad),
    ("two spaces before the status", "HTTP/1.1  200 OK\r\n\r\n", Bad),
    ("a tab before the status", "HTTP/1.1\t200 OK\r\n\r\n", Bad),
    ("a misspelt protocol", "HTP/1.1 200 OK\r\n\r\n", Bad),
    ("a longer protocol", "HTTPER/1.1 200 OK\r\n\r\n", Bad),
    ("another protocol: RTSP", "RTSP/1.1 200 OK\r\n\r\n", Bad),
    ("another protocol: ICE", "ICE/1.1 200 OK\r\n\r\n", Bad),
    ("another protocol: SSH", "SSH-2.0-OpenSSH_9.2\r\n", Bad),
    ("a version of the future", "HTTP/5.6 200 OK\r\n\r\n", Bad),
    ("HTTP/2 on a connection of HTTP/1", "HTTP/2 200\r\n\r\n", Bad),
    ("a major version of two digits", "HTTP/11.1 200 OK\r\n\r\n", Bad),
    ("a major version with a 0 before it", "HTTP/01.1 200 OK\r\n\r\n", Bad),
    ("a minor version of two digits", "HTTP/1.01 200 OK\r\n\r\n", Bad),
    ("a lone carriage return before all", "\rHTTP/1.1 200 OK\r\n\r\n", Bad),
];

#[rustfmt::skip]
const HEADERS: &[Case] = &[
    // A recipient may take a line feed for an end of line (RFC 9112, 2.2): old CGI scripts do so.
    ("line feeds alone", "HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", Again(200, "hi")),
    ("a header without a value",
        "HTTP/1.1 200 OK\r\nPragma:\r\nContent-Length: 0\r\n\r\n", Again(200, "")),
    ("white space around a value",
        "HTTP/1.1 200 OK\r\nContent-Length:\t 2\t \r\n\r\nhi", Again(200, "hi")),
    ("a value beyond ASCII",
        "HTTP/1.1 200 OK\r\nX: \u{e9}\r\nContent-Length: 0\r\n\r\n", Again(200, "")),
    ("odd names",
        "HTTP/1.1 200 OK\r\nX-$a: 1\r\nDCLK_imp: v\r\n.et: 2\r\nContent-Length: 0\r\n\r\n",
        Again(200, "")),
    // A user agent must read it as a space (RFC 9112, 5.2).
    ("a folded line",
        "HTTP/1.1 200 OK\r\nX: a\r\n  b\r\nContent-Length: 2\r\n\r\nhi", Again(200, "hi")),
    ("a fold before all headers", "HTTP/1.1 200 OK\r\n Host: x\r\n\r\n", Bad),
    // What is before the colon is part of the name for some and not for others.
    ("a space before the colon", "HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nhi", Bad),
    ("a space in a name", "HTTP/1.1 200 OK\r\nA b: c\r\n\r\n", Bad),
    ("no colon", "HTTP/1.1 200 OK\r\nContent-Length\r\n\r\n", Bad),
    ("no name", "HTTP/1.1 200 OK\r\n: x\r\n\r\n", Bad),
    ("a carriage return in a value", "HTTP/1.1 200 OK\r\nFoo: 1\rBar: 2\r\n\r\n", Bad),
    ("a NUL in a value", "HTTP/1.1 200 OK\r\nFoo: 1\u{0}2\r\n\r\n", Bad),
    ("a head that is cut off", "HTTP/1.1 200 OK\r\nConte", More),
];

#[rustfmt::skip]
const LENGTHS: &[Case] = &[
    ("a length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", Again(200, "hello")),
    ("leading zeros", "HTTP/1.1 200 OK\r\nContent-Length: 0005\r\n\r\nhello", Again(200, "hello")),
    ("the same length twice",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nhi", Again(200, "hi")),
    ("the same length as a list",
        "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nhi", Again(200, "hi")),
    ("another header that begins alike",
        "HTTP/1.1 200 OK\r\nContent-Length-X: 9\r\n\
        Content-Length: 2\r\n\r\nhi", Again(200, "hi")),
    ("more than was announced",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP/1.1 200 OK", Last(200, "hi")),
    ("an empty line too many",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi\r\n", Last(200, "hi")),
    ("less than was announced", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi", More),
    ("two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nhi!", Bad),
    ("a sign", "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nhi", Bad),
    ("a negative length", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", Bad),
    ("a space in a length", "HTTP/1.1 200 OK\r\nContent-Length: 4 2\r\n\r\n", Bad),
    ("a fold in a length", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n 2\r\n\r\n", Bad),
    ("hexadecimal", "HTTP/1.1 200 OK\r\nContent-Length: 0x2\r\n\r\nhi", Bad),
    ("no digits", "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", Bad),
    ("beyond 64 bits", "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551616\r\n\r\n", Bad),
];

#[rustfmt::skip]
const ENDS: &[Case] = &[
    ("no framing", "HTTP/1.1 200 OK\r\n\r\nhello", UntilClose(200, "hello")),
    ("no framing, no body", "HTTP/1.1 404 Not Found\r\n\r\n", UntilClose(404, "")),
    ("no framing, though it would keep alive",
        "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\n\
        HTTP/1.0 200 OK", UntilClose(200, "HTTP/1.0 200 OK")),
    ("HTTP/1.0 keeps alive if asked",
        "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\n\
        Content-Length: 2\r\n\r\nhi", Again(200, "hi")),
    ("close",
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi", Last(200, "hi")),
    ("close among others, in capitals",
        "HTTP/1.1 200 OK\r\nConnection: TE, Close\r\n\
        Content-Length: 2\r\n\r\nhi", Last(200, "hi")),
    ("close wins",
        "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nConnection: close\r\n\
        Content-Length: 2\r\n\r\nhi", Last(200, "hi")),
    ("what a proxy was sent",
        "HTTP/1.1 200 OK\r\nProxy-Connection: close\r\n\
        Content-Length: 2\r\n\r\nhi", Again(200, "hi")),
    ("204 has no body", "HTTP/1.1 204 No Content\r\n\r\n", Again(204, "")),
    ("204 has no body, whatever it says",
        "HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\n", Again(204, "")),
    ("204 with a body", "HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nhi", Last(204, "")),
    ("304 has no body", "HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n", Again(304, "")),
    ("205 has the body that is framed",
        "HTTP/1.1 205 Reset\r\nContent-Length: 0\r\n\r\n", Again(205, "")),
    ("100 comes first",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
        Again(200, "hi")),
    ("several come first",
        "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\n\
        Link: </a>\r\n\r\nHTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", Again(404, "")),
    ("an interim one that says a length",
        "HTTP/1.1 103 Early Hints\r\nContent-Length: 5\r\n\r\n\
        HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", Again(200, "hi")),
    ("only an interim one", "HTTP/1.1 100 Continue\r\n\r\n", More),
    // What follows is another protocol, which the client did not ask for.
    ("101 is the last of HTTP",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\
        Content-Length: 4\r\n\r\nbodyproto", Last(101, "")),
    ("an offer to upgrade",
        "HTTP/1.1 200 OK\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\
        Content-Length: 4\r\n\r\nbody", Again(200, "body")),
];

#[rustfmt::skip]
const CODINGS: &[Case] = &[
    ("chunked",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
        Again(200, "hi")),
    ("chunked in capitals",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: CHUNKED\r\n\r\n0\r\n\r\n", Again(200, "")),
    ("after another coding",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n\
        2\r\nhi\r\n0\r\n\r\n", Again(200, "hi")),
    ("in a header of its own",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\
        Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", Again(200, "hi")),
    ("before another coding",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, deflate\r\n\r\nWorld",
        UntilClose(200, "World")),
    ("in a header before another",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\
        Transfer-Encoding: identity\r\n\r\nWorld", UntilClose(200, "World")),
    ("a word that contains it",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunkedchunked\r\n\r\n2", UntilClose(200, "2")),
    ("folded into something else",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n  abc\r\n\r\n5", UntilClose(200, "5")),
    // An empty list says nothing (RFC 9110, 5.6.1.2).
    ("no coding at all",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\nContent-Length: 2\r\n\r\nhi", Again(200, "hi")),
    // The coding overrides (RFC 9112, 6.3), and an intermediary may have believed the length.
    ("a length too",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 9\r\n\r\n\
        2\r\nhi\r\n0\r\n\r\n", Last(200, "hi")),
    ("a coding that HTTP/1.0 has not",
        "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\
        Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", Last(200, "hi")),
    ("204 with a coding",
        "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n", Again(204, "")),
];

#[rustfmt::skip]
const CHUNKS: &[Case] = &[
    ("several", "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", Again(200, "hello world")),
    ("a size in capitals", "A\r\n0123456789\r\n0\r\n\r\n", Again(200, "0123456789")),
    ("leading zeros", "00000000000000000000002\r\nhi\r\n000\r\n\r\n", Again(200, "hi")),
    ("line ends in the data", "4\r\n\r\n\r\n\r\n0\r\n\r\n", Again(200, "\r\n\r\n")),
    ("extensions", "5;ilovew3;somuchlove=yes\r\nhello\r\n0;x\r\n\r\n", Again(200, "hello")),
    ("quoted extensions", "5;a=\"b; c\";d\r\nhello\r\n0\r\n\r\n", Again(200, "hello")),
    // Extensions mean nothing to us, so neither does a mistake in one.
    ("an open quote", "5;a=\"b; c\r\nhello\r\n0\r\n\r\n", Again(200, "hello")),
    ("no extension after the semicolon", "2;\r\nhi\r\n0\r\n\r\n", Again(200, "hi")),
    ("padded sizes", "2  \r\nhi\r\n0  \r\n\r\n", Again(200, "hi")),
    ("white space before an extension", "2 ;a\r\nhi\r\n0\r\n\r\n", Again(200, "hi")),
    ("trailers", "2\r\nhi\r\n0\r\nVary: *\r\nDigest: x\r\n\r\n", Again(200, "hi")),
    ("framing among the trailers", "0\r\nContent-Length: 99\r\n\r\n", Again(200, "")),
    ("something after the last chunk", "0\r\n\r\nHTTP/1.1 200 OK", Last(200, "")),
    ("words after a size", "2 erfr\r\nhi\r\n0\r\n\r\n", Bad),
    ("no size", "\r\nhi\r\n", Bad),
    ("no digit", "zz\r\nhi\r\n", Bad),
    ("a size with a prefix", "0x2\r\nhi\r\n0\r\n\r\n", Bad),
    ("a negative size", "-2\r\nhi\r\n", Bad),
    ("a space before a size", " 2\r\nhi\r\n0\r\n\r\n", Bad),
    ("a size beyond 64 bits", "10000000000000000\r\n", Bad),
    ("more data than the size says", "1\r\nhi\r\n0\r\n\r\n", Bad),
    ("line feeds alone", "2\nhi\n0\n\n", Bad),
    ("a line feed alone in an extension", "2;a\nhi\r\n0\r\n\r\n", Bad),
    ("a carriage return alone after a size", "2\rhi\r\n0\r\n\r\n", Bad),
    ("the last chunk is missing", "2\r\nhi\r\n", More),
    ("the last line end is missing", "2\r\nhi\r\n0\r\n", More),
    ("a trailer is cut off", "0\r\nVary: *\r\n", More),
];

#[rustfmt::skip]
/// The answer to a `HEAD`.
const TO_HEAD: &[Case] = &[
    ("a length", "HTTP/1.1 200 OK\r\nContent-Length: 123\r\n\r\n", Again(200, "")),
    ("a coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", Again(200, "")),
    ("no framing", "HTTP/1.1 200 OK\r\n\r\n", Again(200, "")),
    ("a body all the same", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", Last(200, "")),
    ("100 comes first",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n",
        Again(200, "")),
];

/// What becomes of pieces that arrive one after the other.
fn parse<'b>(pieces: impl IntoIterator<Item = &'b [u8]>, to_head: bool) -> Want {
    let mut response = Response::default();
    let wants = Wants {
        head: false,
        body: true,
        events: false,
    };
    response.reset(to_head, wants);
    let mut whole = false;
    let mut behind = false;
    for piece in pieces {
        if whole {
            // The load would find this when it looks at the idle connection.
            behind |= !piece.is_empty();
            continue;
        }
        match response.feed(piece) {
            Ok(fed) => whole = fed == Fed::Whole,
            Err(_) => return Bad,
        }
    }
    let again = whole && !behind && response.is_reusable();
    let by_close = !whole && response.end() == Fed::Whole;
    let body = String::from_utf8(response.body().kept().to_vec())
        .unwrap()
        .leak();
    assert_eq!(response.body().bytes(), body.len() as u64);
    match (whole, by_close) {
        (true, _) if again => Again(response.status(), body),
        (true, _) => Last(response.status(), body),
        (false, true) => UntilClose(response.status(), body),
        (false, false) => More,
    }
}

fn check(cases: &[Case], before: &str, to_head: bool) {
    for (name, text, want) in cases {
        let text = [before, text].concat();
        let bytes = text.as_bytes();
        assert_eq!(parse([bytes], to_head), *want, "{name}");
        assert_eq!(
            parse(bytes.chunks(1), to_head),
            *want,
            "{name}, byte by byte"
        );
        for at in 1..bytes.len() {
            let (first, second) = bytes.split_at(at);
            assert_eq!(
                parse([first, second], to_head),
                *want,
                "{name}, split at {at}"
            );
        }
    }
}

#[test]
fn responses_are_read_as_the_table_says() {
    for cases in [STATUS_LINES, HEADERS, LENGTHS, ENDS, CODINGS] {
        check(cases, "", false);
    }
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    check(CHUNKS, chunked, false);
    check(TO_HEAD, "", true);
}

#[test]
fn nothing_grows_without_bound() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let many = |line: &str, times| line.repeat(times);
    for endless in [
        format!("HTTP/1.1 200 OK\r\nX: {}", many("x", 70_000)),
        format!("HTTP/1.1 200 OK\r\n{}\r\n", many("A: b\r\n", 129)),
        many("HTTP/1.1 100 Continue\r\n\r\n", 1001),
        format!("{head}2;{}", many("x", 70_000)),
        format!("{head}{}", many("0", 70_000)),
        format!("{head}2{}", many(" ", 70_000)),
        format!("{head}0\r\n{}", many("A: b\r\n", 20_000)),
    ] {
        assert_eq!(
            parse([endless.as_bytes()], false),
            Bad,
            "{}",
            &endless[..60]
        );
        assert_eq!(
            parse(endless.as_bytes().chunks(1460), false),
            Bad,
            "{}",
            &endless[..60]
        );
    }
    let fine = format!("HTTP/1.1 200 OK\r\n{}\r\n", many("A: b\r\n", 128));
    assert_eq!(parse([fine.as_bytes()], false), UntilClose(200, ""));
}

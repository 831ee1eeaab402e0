//! Any split of the same bytes is the same response, and no bytes break the parser.
//!
//! The first byte says whether it answers a `HEAD` and what is wanted of the body, the second how
//! the rest is cut into pieces.
#![no_main]

use libfuzzer_sys::fuzz_target;
use slowpath_load::body::Wants;
use slowpath_load::http1::{Fed, Response};

/// All that can be seen of a response.
#[derive(Debug, PartialEq)]
struct Seen {
    /// `None` for what is no response.
    fed: Option<Fed>,
    at_end: Fed,
    status: u16,
    is_reusable: bool,
    bytes: u64,
    kept: Vec<u8>,
    events: u32,
    last_event: Vec<u8>,
    is_inside_event: bool,
}

fn parse<'b>(pieces: impl Iterator<Item = &'b [u8]>, flags: u8) -> Seen {
    let mut response = Response::default();
    let wants = Wants {
        body: flags & 2 != 0,
        events: flags & 4 != 0,
        head: flags & 8 != 0,
    };
    response.reset(flags & 1 != 0, wants);
    let mut fed = Some(Fed::More);
    let mut has_surplus = false;
    for piece in pieces {
        if fed == Some(Fed::Whole) {
            // The load finds this when it looks at the idle connection.
            has_surplus |= !piece.is_empty();
            continue;
        }
        fed = response.feed(piece).ok();
        if fed.is_none() {
            break;
        }
    }
    let is_reusable = response.is_reusable() && !has_surplus;
    let at_end = if fed == Some(Fed::More) {
        response.end()
    } else {
        Fed::More
    };
    let events = response.body_mut().fresh_events().count() as u32;
    let body = response.body();
    assert!(events <= body.events());
    Seen {
        fed,
        at_end,
        status: response.status(),
        is_reusable,
        bytes: body.bytes(),
        kept: body.kept().to_vec(),
        events: body.events(),
        last_event: body.last_event().to_vec(),
        is_inside_event: body.is_inside_event(),
    }
}

fuzz_target!(|input: &[u8]| {
    let [flags, cut, bytes @ ..] = input else {
        return;
    };
    let whole = parse(std::iter::once(bytes), *flags);
    let pieces = bytes.chunks(usize::from(*cut).max(1));
    let split = parse(pieces, *flags);
    assert_eq!(whole, split);
});

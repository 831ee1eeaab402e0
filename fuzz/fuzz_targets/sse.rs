//! Any split of the same bytes holds the same events, and no bytes break the parser.
//!
//! The first byte says how the rest is cut into pieces.
#![no_main]

use libfuzzer_sys::fuzz_target;
use slowpath_load::sse::Parser;

fn parse<'b>(pieces: impl Iterator<Item = &'b [u8]>) -> (Vec<String>, bool) {
    let mut parser = Parser::default();
    let mut events = Vec::new();
    for piece in pieces {
        parser.feed(piece, |event| events.push(format!("{event:?}")));
    }
    (events, parser.is_inside_event())
}

fuzz_target!(|input: &[u8]| {
    let [cut, bytes @ ..] = input else {
        return;
    };
    let whole = parse(std::iter::once(bytes));
    let split = parse(bytes.chunks(usize::from(*cut).max(1)));
    assert_eq!(whole, split);
});

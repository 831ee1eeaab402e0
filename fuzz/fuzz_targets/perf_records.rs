//! Any text is a tracepoint's layout or none, and any bytes are records or none; neither breaks
//! the reader, and what it gives lies in the bytes.
//!
//! The first byte says what samples hold, a layout follows up to a zero, records follow that.
#![no_main]

use libfuzzer_sys::fuzz_target;
use slowpath_observe::trace::format::Format;
use slowpath_observe::trace::records::{self, Record, Shape};

const FIELDS: [&str; 6] = [
    "common_pid",
    "common_flags",
    "prev_comm",
    "args",
    "saddr",
    "skaddr",
];

fuzz_target!(|bytes: &[u8]| {
    let Some((&holds, bytes)) = bytes.split_first() else {
        return;
    };
    let shape = Shape {
        raw: holds & 1 != 0,
        stack: holds & 2 != 0,
        registers: usize::from(holds >> 2),
    };
    let end = bytes
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(bytes.len());
    let (text, ring) = bytes.split_at(end);
    let format = std::str::from_utf8(text).ok().and_then(Format::parse);
    let mut ring = ring.get(1..).unwrap_or_default();
    while let Some(length) = records::length(ring) {
        assert!(length >= 8, "a record without a length is read for ever");
        let (record, behind) = ring.split_at(length);
        let _ = records::time(record);
        if let Some(Record::Sample(sample)) = records::parse(record, |_| Some(shape)) {
            assert!(sample.raw.len() < length);
            let named = |format: &Format| FIELDS.map(|name| format.field(name));
            for field in format.iter().flat_map(named).flatten() {
                let _ = (field.unsigned(sample.raw), field.signed(sample.raw));
                assert!(
                    field
                        .bytes(sample.raw)
                        .is_none_or(|of| of.len() == field.size())
                );
                let _ = field.word(sample.raw, 1);
            }
        }
        ring = behind;
    }
});

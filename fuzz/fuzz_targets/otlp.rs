//! Any bytes as a message of OTLP, in both of its encodings: spans, or a reason.
#![no_main]

use libfuzzer_sys::fuzz_target;
use slowpath_observe::otlp::{Encoding, count_spans};

fuzz_target!(|bytes: &[u8]| {
    for encoding in [Encoding::Protobuf, Encoding::Json] {
        match count_spans(bytes, encoding) {
            // A span takes two bytes at least: its tag, and its length or its braces.
            Ok(spans) => assert!(2 * spans <= bytes.len(), "{spans}"),
            Err(why) => assert!(!why.is_empty()),
        }
    }
});

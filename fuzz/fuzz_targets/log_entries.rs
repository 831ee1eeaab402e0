//! Any text is an entry of the investigation log or has mistakes that say their line; what is read
//! is written so that it is read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use slowpath_record::{entry_text, parse_entry};

const ID: &str = "01JD0000000000000000000001";

fuzz_target!(|text: &str| {
    match parse_entry(text, "fuzz.toml", ID) {
        Ok(entry) => {
            let written = entry_text(&entry);
            assert!(parse_entry(&written, "fuzz.toml", ID).is_ok(), "{written}");
        }
        Err(mistakes) => {
            assert!(!mistakes.is_empty());
            let lines = text.lines().count().max(1);
            for mistake in mistakes {
                assert!((1..=lines + 1).contains(&mistake.line), "{mistake}");
            }
        }
    }
});

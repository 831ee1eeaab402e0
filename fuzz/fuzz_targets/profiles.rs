//! Any bytes as profiles of Go: packed ones, and dumps as text. What is read stays within its bounds.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use slowpath_observe::pprof::{dump, profile};

fuzz_target!(|bytes: &[u8]| {
    let known = match profile::read(bytes) {
        Ok(profile) => {
            assert!(!profile.values.is_empty());
            assert!(profile.samples.iter().all(|sample| sample.stack.len() <= 128));
            profile.addresses
        }
        Err(why) => {
            assert!(!why.is_empty());
            BTreeMap::new()
        }
    };
    for text in [bytes.to_vec(), [b"goroutine profile: total 1\n", bytes].concat()] {
        match dump::read(&text, &known) {
            // A group takes three bytes at least: its number, a blank and an @.
            Ok(groups) => {
                assert!(3 * groups.len() <= text.len());
                assert!(groups.iter().all(|group| group.stack.len() <= 128));
            }
            Err(why) => assert!(!why.is_empty()),
        }
    }
});

//! Any bytes as profiles: Go's, packed ones and dumps as text, and those of others that are imported.
//! What is read stays within its bounds, and what is counted of it is whole.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use slowpath_observe::pprof::{dump, profile};
use slowpath_observe::profilers::imported::{self, Format, Source};

fuzz_target!(|bytes: &[u8]| {
    let known = match profile::read(bytes) {
        Ok(profile) => {
            assert!(!profile.values.is_empty());
            assert!(
                profile
                    .samples
                    .iter()
                    .all(|sample| sample.stack.len() <= 128)
            );
            profile.at_addresses().collect()
        }
        Err(why) => {
            assert!(!why.is_empty());
            BTreeMap::new()
        }
    };
    for text in [
        bytes.to_vec(),
        [b"goroutine profile: total 1\n", bytes].concat(),
    ] {
        match dump::read(&text, &known) {
            // A group takes three bytes at least: its number, a blank and an @.
            Ok(groups) => {
                assert!(3 * groups.len() <= text.len());
                assert!(groups.iter().all(|group| group.stack.len() <= 128));
            }
            Err(why) => assert!(!why.is_empty()),
        }
    }
    // The first byte says how the rest is taken.
    let Some((first, rest)) = bytes.split_first() else {
        return;
    };
    let format = Format::ALL.get(usize::from(*first) % 5).copied();
    let file = Source {
        name: "a",
        bytes: rest,
    };
    match imported::read(format, &[file, file]) {
        Ok(pass) => {
            assert!(pass.is_whole());
            assert!(pass.cpu.iter().all(|samples| samples.count > 0));
        }
        Err(mistakes) => assert!(!mistakes.is_empty()),
    }
});

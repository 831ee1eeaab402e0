//! Any text is a scenario or has mistakes that say their line, and none breaks the reader.
#![no_main]

use std::io;
use std::path::Path;

use libfuzzer_sys::fuzz_target;
use slowpath_record::scenario::{Context, parse};

fuzz_target!(|text: &str| {
    let context = Context {
        file: "fuzz.toml",
        base_dir: Path::new("/"),
        load_file: &|path: &Path| {
            let name = path.to_string_lossy().into_owned();
            if name.contains("no") {
                return Err(io::ErrorKind::NotFound.into());
            }
            Ok(name.repeat(2).replace('/', "\n"))
        },
    };
    if let Err(mistakes) = parse(text, &context) {
        assert!(!mistakes.is_empty());
        let lines = text.lines().count().max(1);
        for mistake in mistakes {
            assert!((1..=lines + 1).contains(&mistake.line), "{mistake}");
        }
    }
});

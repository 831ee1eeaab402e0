//! Any text is a file of gates or has mistakes that say their line, and none breaks the reader.
#![no_main]

use libfuzzer_sys::fuzz_target;
use slowpath_core::figures::Unit;
use slowpath_core::scenario::Vocabulary;
use slowpath_record::scenario::parse_gates;

fuzz_target!(|text: &str| {
    let subjects = ["search", "Parse (8)"].map(str::to_owned);
    let metrics = [
        ("ns/op".to_owned(), Unit::Ns),
        ("B/op".to_owned(), Unit::Bytes),
    ];
    let known = Vocabulary {
        subjects: &subjects,
        metrics: &metrics,
        usual: None,
    };
    if let Ok(test) = known.gate(text) {
        assert!(!test.measures().is_empty());
    }
    match parse_gates(text, "fuzz.toml", known) {
        Ok(gates) => assert!(gates.iter().all(|gate| gate.line > 0)),
        Err(mistakes) => {
            assert!(!mistakes.is_empty());
            let lines = text.lines().count().max(1);
            for mistake in mistakes {
                assert!((1..=lines + 1).contains(&mistake.line), "{mistake}");
            }
        }
    }
});

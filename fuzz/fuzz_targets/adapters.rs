//! Any bytes as what a tool wrote: figures or requests that are sound, or mistakes with their place.
#![no_main]

use libfuzzer_sys::fuzz_target;
use slowpath_record::adapters::{
    ADAPTERS, AdapterError, REQUEST_FORMATS, Repeat, Source, detect, detect_requests, modes, rows,
    rows_of_one,
};

fn are_told(errors: &[AdapterError], lines: usize) {
    assert!(!errors.is_empty(), "refused without a reason");
    for error in errors {
        let line = error.line.unwrap_or(1);
        assert!(
            (1..=lines).contains(&line),
            "a mistake without a line: {error}"
        );
        assert!(
            !error.what.is_empty() && !error.remedy.is_empty(),
            "{error}"
        );
    }
}

fuzz_target!(|bytes: &[u8]| {
    let lines = bytes.split(|&byte| byte == b'\n').count();
    let file = "target/criterion/a/new/sample.json";
    let source = Source { file, bytes };
    detect(bytes);
    detect_requests(bytes);
    for adapter in ADAPTERS {
        match adapter.read(source) {
            Ok(harvest) => {
                assert!(!harvest.takes.is_empty(), "{} holds nothing", adapter.name);
                for take in &harvest.takes {
                    assert!(!take.figures.is_empty(), "{take:?}");
                    let mut figures = take.figures.iter().map(|figure| figure.value);
                    assert!(figures.all(f64::is_finite), "{take:?}");
                }
                rows_of_one(&harvest);
                modes(&[&harvest]);
                let repeat = Repeat {
                    harvest: &harvest,
                    aside: "",
                };
                assert!(!rows(&[repeat, repeat]).is_empty());
            }
            Err(errors) => are_told(&errors, lines),
        }
    }
    for format in REQUEST_FORMATS {
        match format.read(source) {
            Ok(requests) => {
                let (samples, facts) = requests.repeat(0, &requests.endpoints);
                assert_eq!(samples.len(), requests.requests.len());
                assert!(samples.is_sorted_by_key(|sample| sample.scheduled));
                for sample in &samples {
                    assert!(sample.done <= facts.window.end, "{sample:?}");
                    let sent = sample.sent.unwrap_or(sample.scheduled);
                    assert!(
                        sample.scheduled <= sent && sent <= sample.done,
                        "{sample:?}"
                    );
                }
            }
            Err(errors) => are_told(&errors, lines),
        }
    }
});

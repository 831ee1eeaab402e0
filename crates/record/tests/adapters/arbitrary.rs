//! No bytes make an adapter panic, and what it refuses it explains.

use proptest::prelude::*;
use slowpath_record::adapters::{ADAPTERS, Adapter, Source, rows_of_one};

use super::fixture;

/// Files that adapters read, to be damaged.
fn fixtures() -> Vec<Vec<u8>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/adapters");
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().unwrap().is_file())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names.iter().map(|name| fixture(name)).collect()
}

fn answer_is_sound(adapter: &Adapter, bytes: &[u8]) {
    let source = Source {
        file: "figures",
        bytes,
    };
    match adapter.read(source) {
        Ok(harvest) => {
            assert!(!harvest.takes.is_empty(), "{}", adapter.name);
            for take in &harvest.takes {
                assert!(!take.figures.is_empty());
                let finite = |f: &f64| f.is_finite();
                assert!(take.figures.iter().all(|f| finite(&f.value)), "{take:?}");
                assert!(take.samples.iter().all(finite), "{}", adapter.name);
            }
            rows_of_one(&harvest);
        }
        Err(errors) => {
            assert!(!errors.is_empty());
            let lines = bytes.split(|&b| b == b'\n').count();
            for error in &errors {
                assert!(
                    error.line.is_none_or(|at| (1..=lines).contains(&at)),
                    "{error}"
                );
                assert!(!error.what.is_empty() && !error.remedy.is_empty());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn arbitrary_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        for adapter in ADAPTERS {
            answer_is_sound(adapter, &bytes);
        }
    }

    #[test]
    fn damaged_files_are_read_or_refused(
        file in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        length in 0_usize..40,
        piece in prop_oneof![
            "[ -~\n]{0,8}",
            Just("-1".to_owned()),
            Just("1e999".to_owned()),
            Just("null".to_owned()),
            Just("NaN".to_owned()),
            Just("18446744073709551616".to_owned()),
            Just(",".to_owned()),
            Just("\"".to_owned()),
            Just("é".to_owned()),
        ],
    ) {
        let files = fixtures();
        let bytes = file.get(&files);
        let begin = at.index(bytes.len());
        let end = (begin + length).min(bytes.len());
        let damaged = [&bytes[..begin], piece.as_bytes(), &bytes[end..]].concat();
        for adapter in ADAPTERS {
            answer_is_sound(adapter, &damaged);
        }
    }
}

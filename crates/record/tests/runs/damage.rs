//! Damaged files are errors that name them, never panics.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use proptest::collection::vec;
use proptest::prelude::*;
use slowpath_record::{RunWriter, files, read};

use crate::arbitrary::{cases, manifest, plausible, write_plausible};

/// The bytes of the files of a small finished run.
fn healthy() -> &'static [(&'static str, Vec<u8>)] {
    static FILES: OnceLock<Vec<(&'static str, Vec<u8>)>> = OnceLock::new();
    FILES.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        write_plausible(dir.path(), 2000);
        let names = [
            files::MANIFEST,
            files::EVENTS,
            files::SAMPLES,
            files::TIMELINE,
        ];
        names
            .map(|name| (name, fs::read(dir.path().join(name)).unwrap()))
            .to_vec()
    })
}

fn lay_out(dir: &Path) {
    for (name, bytes) in healthy() {
        fs::write(dir.join(name), bytes).unwrap();
    }
}

/// Replaces a file of a healthy run; an error that follows must name it.
fn read_with(name: &str, bytes: &[u8]) -> Result<(), String> {
    let dir = tempfile::tempdir().unwrap();
    lay_out(dir.path());
    fs::write(dir.path().join(name), bytes).unwrap();
    match read(dir.path()) {
        Ok(_) => Ok(()),
        Err(error) => {
            let text = error.to_string();
            assert!(text.contains(name), "{name}: {text}");
            Err(text)
        }
    }
}

fn bytes_of(name: &str) -> Vec<u8> {
    healthy()
        .iter()
        .find(|(known, _)| *known == name)
        .unwrap()
        .1
        .clone()
}

/// Overwrites every occurrence of `from`.
fn replace_all(bytes: &mut [u8], from: &[u8], to: &[u8]) {
    assert_eq!(from.len(), to.len());
    let mut replaced = 0;
    for at in 0..=bytes.len() - from.len() {
        if bytes[at..].starts_with(from) {
            bytes[at..at + to.len()].copy_from_slice(to);
            replaced += 1;
        }
    }
    assert!(replaced > 0);
}

#[test]
fn an_outcome_that_nobody_knows_is_named_with_its_row() {
    let mut bytes = bytes_of(files::SAMPLES);
    replace_all(&mut bytes, b"reset", b"xeset");
    let error = read_with(files::SAMPLES, &bytes).unwrap_err();
    assert!(
        error.contains("row 1000: outcome cannot be \"xeset\""),
        "{error}"
    );
}

#[test]
fn a_subject_that_is_none_is_named_with_its_row() {
    let mut bytes = bytes_of(files::TIMELINE);
    replace_all(&mut bytes, b"process:42", b"process:xy");
    let error = read_with(files::TIMELINE, &bytes).unwrap_err();
    assert!(error.contains("row 1: subject"), "{error}");
}

#[test]
fn a_missing_column_and_a_newer_format_are_named() {
    let mut bytes = bytes_of(files::SAMPLES);
    replace_all(&mut bytes, b"in_flight", b"in_flighx");
    let error = read_with(files::SAMPLES, &bytes).unwrap_err();
    assert!(error.contains("column in_flight is missing"), "{error}");
    let mut bytes = bytes_of(files::SAMPLES);
    replace_all(
        &mut bytes,
        b"slowpath.format\x18\x011",
        b"slowpath.format\x18\x012",
    );
    let error = read_with(files::SAMPLES, &bytes).unwrap_err();
    assert!(
        error.contains("format 2") && error.contains("newer"),
        "{error}"
    );
}

#[test]
fn a_missing_file_is_named() {
    for (name, _) in healthy()
        .iter()
        .filter(|(name, _)| name.ends_with("parquet"))
    {
        let dir = tempfile::tempdir().unwrap();
        lay_out(dir.path());
        fs::remove_file(dir.path().join(name)).unwrap();
        let error = read(dir.path()).unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
    }
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn flipped_bytes_never_panic(
        file in 0_usize..4,
        flips in vec((any::<prop::sample::Index>(), 1_u8..), 1..4),
        in_footer in any::<bool>(),
    ) {
        let (name, bytes) = &healthy()[file];
        prop_assume!(!bytes.is_empty());
        let mut bytes = bytes.clone();
        // The footer holds the lengths and offsets: damage there is the most dangerous.
        let from = if in_footer { bytes.len().saturating_sub(3000) } else { 0 };
        for (at, flip) in flips {
            let at = from + at.index(bytes.len() - from);
            bytes[at] ^= flip;
        }
        let _ = read_with(name, &bytes);
    }

    #[test]
    fn cut_files_never_panic(file in 0_usize..4, cut in any::<prop::sample::Index>()) {
        let (name, bytes) = &healthy()[file];
        prop_assume!(!bytes.is_empty());
        let outcome = read_with(name, &bytes[..cut.index(bytes.len())]);
        prop_assert!(outcome.is_err() || *name == files::EVENTS);
    }

    #[test]
    fn any_bytes_instead_of_a_file_never_panic(file in 0_usize..4, bytes in vec(any::<u8>(), 0..300)) {
        let _ = read_with(healthy()[file].0, &bytes);
    }

    #[test]
    fn a_damaged_spool_never_panics(
        file in 0_usize..5,
        flips in vec((any::<prop::sample::Index>(), 1_u8..), 0..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let writer = RunWriter::create(dir.path(), &manifest()).unwrap();
        writer.handle().keys(&["a", "b", "c"].map(str::to_owned));
        writer.handle().samples(&plausible(50));
        drop(writer);
        let names = ["samples.spool", "timeline.spool", "series.spool", "keys.spool", files::EVENTS];
        let path = dir.path().join(names[file]);
        let mut bytes = fs::read(&path).unwrap();
        if !bytes.is_empty() {
            for (at, flip) in flips {
                let at = at.index(bytes.len());
                bytes[at] ^= flip;
            }
            bytes.truncate(cut.index(bytes.len()));
            fs::write(&path, &bytes).unwrap();
        }
        if let Err(error) = read(dir.path()) {
            prop_assert!(error.to_string().contains(names[file]), "{}", error);
        }
    }
}

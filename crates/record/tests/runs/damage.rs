//! Damaged files are errors that name them, never panics.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;
use slowpath_core::record::RunRecord;
use slowpath_record::{RecordError, RunWriter, files, read};
use twox_hash::XxHash64;

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

/// Replaces a file of a healthy run. An error that follows must name a file.
fn read_with(name: &str, bytes: &[u8]) -> Result<(), String> {
    let dir = tempfile::tempdir().unwrap();
    lay_out(dir.path());
    fs::write(dir.path().join(name), bytes).unwrap();
    told(read(dir.path()), name)
}

/// The text of an error. A manifest says what the other files must be, so damage to it may be
/// seen as damage to them.
fn told(outcome: Result<RunRecord, RecordError>, name: &str) -> Result<(), String> {
    let error = match outcome {
        Ok(_) => return Ok(()),
        Err(error) => error.to_string(),
    };
    let mut names = healthy().iter().map(|(name, _)| *name);
    let named = error.contains(name) || name == files::MANIFEST && names.any(|n| error.contains(n));
    assert!(named, "{name}: {error}");
    Err(error)
}

/// Replaces a text in a file wherever it stands, as a program with other ideas of the format
/// would have written it: the checksum in the manifest fits.
fn read_as_if(name: &str, from: &[u8], to: &[u8]) -> String {
    let dir = tempfile::tempdir().unwrap();
    lay_out(dir.path());
    let path = dir.path().join(name);
    let mut bytes = fs::read(&path).unwrap();
    assert_eq!(from.len(), to.len());
    let found = |at: &usize| bytes[*at..].starts_with(from);
    let places: Vec<usize> = (0..bytes.len()).filter(found).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at..at + to.len()].copy_from_slice(to);
    }
    fs::write(&path, &bytes).unwrap();

    let manifest = dir.path().join(files::MANIFEST);
    let mut fields: Value = serde_json::from_slice(&fs::read(&manifest).unwrap()).unwrap();
    let mut seals = fields["files"].as_array_mut().unwrap().iter_mut();
    let seal = seals.find(|seal| seal["name"] == name).unwrap();
    let xxh64 = XxHash64::oneshot(0, &bytes);
    seal["xxh64"] = format!("{xxh64:016x}").into();
    fs::write(&manifest, fields.to_string()).unwrap();
    told(read(dir.path()), name).unwrap_err()
}

#[test]
fn an_outcome_that_nobody_knows_is_named_with_its_row() {
    let error = read_as_if(files::SAMPLES, b"reset", b"xeset");
    assert!(
        error.contains("row 1000: outcome cannot be \"xeset\""),
        "{error}"
    );
}

#[test]
fn a_subject_that_is_none_is_named_with_its_row() {
    let error = read_as_if(files::TIMELINE, b"process:42", b"process:xy");
    assert!(error.contains("row 1: subject"), "{error}");
}

#[test]
fn a_missing_column_and_a_newer_format_are_named() {
    let error = read_as_if(files::SAMPLES, b"in_flight", b"in_flighx");
    assert!(error.contains("column in_flight is missing"), "{error}");
    let (ours, newer) = (b"slowpath.format\x18\x011", b"slowpath.format\x18\x012");
    let error = read_as_if(files::SAMPLES, ours, newer);
    assert!(
        error.contains("format 2") && error.contains("newer"),
        "{error}"
    );
}

#[test]
fn a_missing_file_is_named() {
    for (name, _) in healthy() {
        let dir = tempfile::tempdir().unwrap();
        lay_out(dir.path());
        fs::remove_file(dir.path().join(name)).unwrap();
        let error = read(dir.path()).unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
    }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn flipped_bytes_are_errors(
        file in 0_usize..4,
        flips in vec((any::<prop::sample::Index>(), 1_u8..), 1..4),
    ) {
        let (name, bytes) = &healthy()[file];
        let mut damaged = bytes.clone();
        for (at, flip) in flips {
            let at = at.index(bytes.len());
            damaged[at] ^= flip;
        }
        let outcome = read_with(name, &damaged);
        // A flip inside a text of the manifest gives another text.
        prop_assert!(outcome.is_err() || *name == files::MANIFEST || damaged == *bytes);
    }

    #[test]
    fn cut_files_are_errors(file in 0_usize..4, cut in any::<prop::sample::Index>()) {
        let (name, bytes) = &healthy()[file];
        // The last byte of the manifest is a line break, which is not needed.
        let cut = cut.index(bytes.len() - 1);
        prop_assert!(read_with(name, &bytes[..cut]).is_err());
    }

    #[test]
    fn other_bytes_are_errors(file in 0_usize..4, bytes in vec(any::<u8>(), 0..300)) {
        prop_assert!(read_with(healthy()[file].0, &bytes).is_err());
    }

    #[test]
    fn a_damaged_spool_never_panics(
        file in 0_usize..6,
        flips in vec((any::<prop::sample::Index>(), 1_u8..), 0..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let writer = RunWriter::create(dir.path(), &manifest()).unwrap();
        writer.handle().keys(&["a", "b", "c"].map(str::to_owned));
        writer.handle().samples(&plausible(50));
        drop(writer);
        let rows = ["samples.spool", "stream_events.spool", "timeline.spool"];
        let lines = ["series.spool", "keys.spool", files::EVENTS];
        let names = [rows, lines].concat();
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

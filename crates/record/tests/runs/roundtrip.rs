//! What was written is what is read.

use std::fs;
use std::time::Instant;

use proptest::prelude::*;
use slowpath_core::record::MANIFEST_FORMAT;
use slowpath_record::{
    RecordError, RunWriter, files, read, read_manifest, read_stream_events, write_derived,
};

use crate::arbitrary::{cases, events, manifest, plausible, write_plausible};

proptest! {
    #![proptest_config(cases(96))]
    #[test]
    fn any_run_is_read_back_as_it_was(events in events()) {
        let dir = tempfile::tempdir().unwrap();
        let writer = RunWriter::create(dir.path(), &manifest()).unwrap();
        events.send(&writer);
        let mut last = manifest();
        last.interrupted = true;
        writer.finish(&last).unwrap();
        prop_assert_eq!(read(dir.path()).unwrap(), events.record(last));
        prop_assert_eq!(read_stream_events(dir.path()).unwrap(), events.streamed());
    }

    #[test]
    fn an_unfinished_run_gives_the_same_samples(events in events()) {
        let dir = tempfile::tempdir().unwrap();
        let writer = RunWriter::create(dir.path(), &manifest()).unwrap();
        events.send(&writer);
        drop(writer);
        let record = read(dir.path()).unwrap();
        let expected = events.record(record.manifest.clone());
        prop_assert!(record.manifest.recovered);
        prop_assert_eq!(record, expected);
        prop_assert_eq!(read_stream_events(dir.path()).unwrap(), events.streamed());
    }
}

#[test]
fn a_finished_run_leaves_no_spool_and_is_written_once() {
    let dir = tempfile::tempdir().unwrap();
    let record = write_plausible(dir.path(), 30_000);
    assert!(record.samples.to_vec() == plausible(30_000));
    let mut names: Vec<String> = fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let expected = [
        files::EVENTS,
        files::LOGS,
        files::MANIFEST,
        files::SAMPLES,
        files::TIMELINE,
    ];
    assert_eq!(names, expected);
    let again = RunWriter::create(dir.path(), &manifest()).unwrap_err();
    assert!(matches!(again, RecordError::Occupied { .. }), "{again}");
    write_derived(dir.path(), files::REPORT_JSON, b"{}").unwrap();
    assert_eq!(read(dir.path()).unwrap(), record);
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write_plausible(a.path(), 500);
    write_plausible(b.path(), 500);
    for name in [
        files::SAMPLES,
        files::TIMELINE,
        files::EVENTS,
        files::MANIFEST,
    ] {
        let read = |dir: &tempfile::TempDir| fs::read(dir.path().join(name)).unwrap();
        assert!(read(&a) == read(&b), "{name} differs");
    }
}

#[test]
fn a_second_writer_of_an_unfinished_run_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let _writer = RunWriter::create(dir.path(), &manifest()).unwrap();
    let second = RunWriter::create(dir.path(), &manifest()).unwrap_err();
    assert!(matches!(second, RecordError::Occupied { .. }), "{second}");
}

#[test]
fn a_newer_manifest_and_no_manifest_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let error = read(dir.path()).unwrap_err();
    assert!(matches!(error, RecordError::NotARun { .. }), "{error}");
    let newer = MANIFEST_FORMAT + 1;
    let text = format!("{{\"format\": {newer}, \"what\": \"we do not know yet\"}}");
    fs::write(dir.path().join(files::MANIFEST), text).unwrap();
    let error = read_manifest(dir.path()).unwrap_err().to_string();
    assert!(
        error.contains(files::MANIFEST) && error.contains("newer"),
        "{error}"
    );
}

#[test]
fn samples_of_an_endpoint_that_the_plan_lacks_are_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let writer = RunWriter::create(dir.path(), &manifest()).unwrap();
    let mut samples = plausible(3);
    samples[1].endpoint = 9;
    writer.handle().samples(&samples);
    let error = writer.finish(&manifest()).unwrap_err().to_string();
    assert!(
        error.contains("no endpoint 9") && error.contains(files::SAMPLES),
        "{error}"
    );
    assert_eq!(
        read(dir.path()).unwrap().samples.len(),
        3,
        "the spool is still there"
    );
}

#[test]
fn many_requests_are_written_and_read() {
    const REQUESTS: u32 = 100_000;
    let dir = tempfile::tempdir().unwrap();
    let samples = plausible(REQUESTS);
    let writer = RunWriter::create(dir.path(), &manifest()).unwrap();
    let handle = writer.handle();
    handle.keys(&["a", "b", "c"].map(str::to_owned));
    let rate = |what: &str, begun: Instant| {
        let rate_per_s = f64::from(REQUESTS) / begun.elapsed().as_secs_f64();
        println!("{what}: {rate_per_s:.0} requests/s");
    };
    let begun = Instant::now();
    samples.chunks(64).for_each(|batch| handle.samples(batch));
    rate("spooled", begun);
    println!("waits: {}", handle.waits());
    let begun = Instant::now();
    writer.finish(&manifest()).unwrap();
    rate("finished", begun);
    let begun = Instant::now();
    let record = read(dir.path()).unwrap();
    rate("read", begun);
    let bytes = fs::metadata(dir.path().join(files::SAMPLES)).unwrap().len();
    println!(
        "size: {:.1} bytes a request",
        bytes as f64 / f64::from(REQUESTS)
    );
    assert!(record.samples.to_vec() == samples);
}

#[test]
fn a_discarded_run_leaves_only_what_others_wrote() {
    let dir = tempfile::tempdir().unwrap();
    let writer = RunWriter::create(dir.path(), &manifest()).unwrap();
    std::fs::write(dir.path().join("logs/target.log"), "out of luck").unwrap();
    writer.discard().unwrap();
    let left: Vec<_> = std::fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["logs"]);
    assert!(dir.path().join("logs/target.log").exists());
}

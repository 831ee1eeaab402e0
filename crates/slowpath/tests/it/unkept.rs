//! What is recorded beside the requests is an aid: a run stands without it.

use crate::support::{Server, assert_exit, run, stderr};

#[test]
fn a_trace_that_cannot_be_kept_is_a_gap() {
    let server = Server::lab(&["healthy"]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    // As on a disk that is full: what is written cannot take its place.
    let blocked = folder.path().join("out/trace/0.parquet/in-the-way");
    std::fs::create_dir_all(blocked).unwrap();
    let url = server.url();
    let args = [
        &*url,
        "-r",
        "50",
        "-d",
        "1s",
        "--repeats",
        "2",
        "--out",
        "out",
    ];
    let (code, report, output) = run(folder.path(), &args);
    let said = stderr(&output);
    assert!(!said.contains("stopped after"), "{said}");
    assert_exit(code, &report, 0);
    let record = slowpath_record::read(&folder.path().join("out")).unwrap();
    assert_eq!(record.manifest.repeats.len(), 2);
    assert_eq!(record.manifest.repeats[0].traced, None);
    let mut gaps = record.timeline.gaps.iter();
    let gap = gaps.find(|gap| gap.reason.contains("trace of repeat 0 could not be kept"));
    assert!(
        gap.is_some_and(|gap| !gap.remedy.is_empty()),
        "{:?}",
        record.timeline.gaps
    );
    assert!(
        record
            .trace
            .stretches
            .iter()
            .all(|stretch| stretch.repeat == 1)
    );
}

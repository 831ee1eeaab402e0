//! A run that is killed keeps what it has.

use std::env;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::sample::{Stage, StreamEvent};
use slowpath_core::signal;
use slowpath_core::timeline::{Mark, MarkKind, Point, Reading, Subject};
use slowpath_record::{RunWriter, files, read, read_stream_events};

use crate::arbitrary::{manifest, plausible};

const SAMPLES: u32 = 1000;
const DIR: &str = "SLOWPATH_TEST_RUN_DIR";

/// An event of a request that had not ended at the kill.
fn event(index: u32) -> StreamEvent {
    StreamEvent {
        at: Nanos::new(9),
        serial: SAMPLES,
        index,
        data_bytes: 3,
        repeat: 0,
    }
}

/// The process that is killed; by itself it does nothing.
#[test]
fn writes_until_it_is_killed() {
    let Some(dir) = env::var_os(DIR) else { return };
    let writer = RunWriter::create(Path::new(&dir), &manifest()).unwrap();
    let handle = writer.handle();
    let begin = plausible(1)[0].scheduled;
    let mark = |kind, at| Mark {
        at,
        kind,
        repeat: 0,
        text: String::new(),
    };
    handle.mark(mark(MarkKind::LoadBegan, begin));
    handle.keys(&["a", "b"].map(str::to_owned));
    handle.samples(&plausible(SAMPLES));
    handle.stream_events(&[event(0), event(1)]);
    let point = Point {
        window: Span {
            begin,
            end: begin.plus(5),
        },
        value: 3.0,
    };
    let subject = Subject::Process { pid: 42 };
    let (signal, label) = (&signal::PROCESS_THREADS, String::new());
    handle.readings(vec![Reading {
        signal,
        subject,
        label,
        point,
    }]);
    loop {
        std::thread::park();
    }
}

/// Runs the function above in a process of its own, and kills it when its samples are on disk.
fn kill_one(dir: &Path) {
    let mut child = Command::new(env::current_exe().unwrap())
        .args([
            "--exact",
            "killed::writes_until_it_is_killed",
            "--nocapture",
        ])
        .env(DIR, dir)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // The rows of readings are flushed last.
    let timeline = dir.join("timeline.spool");
    let written = || std::fs::metadata(&timeline).is_ok_and(|file| file.len() > 8);
    while !written() {
        assert!(
            child.try_wait().unwrap().is_none(),
            "the writer ended by itself"
        );
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_killed_run_is_recovered_with_its_facts() {
    let dir = tempfile::tempdir().unwrap();
    kill_one(dir.path());
    let record = read(dir.path()).unwrap();
    assert!(record.manifest.recovered);
    let expected = plausible(SAMPLES);
    assert_eq!(record.samples.to_vec(), expected);
    // The text of the third key was never written.
    assert_eq!(record.keys, ["a", "b", "(lost key 2)"]);
    assert_eq!(record.timeline.gaps.len(), 1, "{:?}", record.timeline.gaps);

    let [facts] = record.manifest.repeats.as_slice() else {
        panic!("one repeat")
    };
    let measured = || {
        expected
            .iter()
            .filter(|sample| sample.stage == Stage::Measured)
    };
    let last = measured().next_back().unwrap();
    let begin = measured().next().unwrap().scheduled;
    assert_eq!(facts.window, Span::new(begin, last.scheduled.plus(1)));
    assert_eq!(facts.load.begin, expected[0].scheduled);
    assert_eq!(
        Some(facts.load.end),
        expected.iter().map(|sample| sample.done).max()
    );
    let offered: u64 = facts.endpoints.iter().map(|tally| tally.offered).sum();
    assert_eq!(offered, measured().count() as u64);
    assert_eq!(facts.connections_opened, 64);
    assert_eq!(facts.target_pids, [42]);
    assert!(!facts.cut_short.is_empty());
    let events = read_stream_events(dir.path()).unwrap();
    assert_eq!(events, [event(0), event(1)]);
}

#[test]
fn a_torn_last_row_is_dropped_and_told() {
    let dir = tempfile::tempdir().unwrap();
    let writer = RunWriter::create(dir.path(), &manifest()).unwrap();
    writer.handle().keys(&["a", "b", "c"].map(str::to_owned));
    writer.handle().samples(&plausible(10));
    drop(writer);
    let path = dir.path().join("samples.spool");
    let mut bytes = Vec::new();
    std::fs::File::open(&path)
        .unwrap()
        .read_to_end(&mut bytes)
        .unwrap();
    bytes.truncate(bytes.len() - 3);
    std::fs::write(&path, bytes).unwrap();
    let record = read(dir.path()).unwrap();
    assert_eq!(record.samples.to_vec(), plausible(10)[..9]);
    assert_eq!(record.timeline.gaps[0].signal, "samples.spool");
}

#[test]
fn facts_and_marks_that_were_written_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let writer = RunWriter::create(dir.path(), &manifest()).unwrap();
    let handle = writer.handle();
    let samples = plausible(100);
    handle.keys(&["a", "b", "c"].map(str::to_owned));
    handle.samples(&samples);
    let window = Span::new(Nanos::new(1_000_000_000_500), Nanos::new(1_000_009_000_000));
    for (kind, at) in [
        (MarkKind::WindowBegan, window.begin),
        (MarkKind::WindowEnded, window.end),
    ] {
        handle.mark(Mark {
            at,
            kind,
            repeat: 0,
            text: String::new(),
        });
    }
    drop(writer);
    let mut record = read(dir.path()).unwrap();
    assert_eq!(record.manifest.repeats[0].window, window);

    // A manifest that was updated after the repeat is believed.
    record.manifest.repeats[0].cut_short = "the target died".to_owned();
    let updated = tempfile::tempdir().unwrap();
    let writer = RunWriter::create(updated.path(), &manifest()).unwrap();
    writer.update(&record.manifest).unwrap();
    writer.handle().samples(&samples);
    drop(writer);
    assert_eq!(
        read(updated.path()).unwrap().manifest.repeats,
        record.manifest.repeats
    );
    assert!(updated.path().join(files::LOGS).is_dir());
}

//! What targets say in `Server-Timing` is read back as it was, finished or not.

use proptest::collection::vec;
use proptest::prelude::*;
use slowpath_core::server_timing::{ServerTimings, TimingValue};
use slowpath_record::RunWriter;

use crate::arbitrary::{cases, manifest};

const METRICS: u16 = 3;

fn timings(repeat: u16) -> impl Strategy<Value = ServerTimings> {
    let value = (any::<u32>(), 0..METRICS, 0..i64::MAX as u64);
    vec(value, 0..40).prop_map(move |values| {
        let value = |(serial, metric, duration_ns)| TimingValue {
            repeat,
            serial,
            metric,
            duration_ns,
        };
        let mut values: Vec<TimingValue> = values.into_iter().map(value).collect();
        values.sort_unstable();
        ServerTimings {
            metrics: ["db", "app", "total"].map(str::to_owned).to_vec(),
            values,
        }
    })
}

/// Every duration with its name: positions of names are the reader's to choose.
fn told(all: &ServerTimings) -> Vec<(u16, u32, String, u64)> {
    let one = |value: &TimingValue| {
        let name = all.metrics[usize::from(value.metric)].clone();
        (value.repeat, value.serial, name, value.duration_ns)
    };
    let mut told: Vec<_> = all.values.iter().map(one).collect();
    told.sort();
    told
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn timings_come_back(first in timings(0), second in timings(1)) {
        let dir = tempfile::tempdir().unwrap();
        let run = dir.path().join("run");
        let writer = RunWriter::create(&run, &manifest()).unwrap();
        writer.timings(0, &first).unwrap();
        writer.timings(1, &second).unwrap();
        let mut all = first;
        prop_assert_eq!(all.append(&second), 0);
        prop_assert_eq!(told(&slowpath_record::read(&run).unwrap().timings), told(&all));
        writer.finish(&manifest()).unwrap();
        prop_assert_eq!(told(&slowpath_record::read(&run).unwrap().timings), told(&all));
    }
}

#[test]
fn a_file_of_timings_that_was_changed_is_damage() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let writer = RunWriter::create(&run, &manifest()).unwrap();
    let mut timings = ServerTimings::default();
    let metric = timings.metric("db").unwrap();
    timings.values.push(TimingValue {
        repeat: 0,
        serial: 1,
        metric,
        duration_ns: 5,
    });
    writer.timings(0, &timings).unwrap();
    writer.finish(&manifest()).unwrap();
    assert_eq!(*slowpath_record::read(&run).unwrap().timings, timings);
    let path = run.join("server-timing/0.parquet");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[20] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let error = slowpath_record::read(&run).unwrap_err().to_string();
    assert!(error.contains("checksum"), "{error}");
}

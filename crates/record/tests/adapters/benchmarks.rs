//! Tools that time pieces of code.

use std::path::Path;

use slowpath_core::figures::{Better, Unit};
use slowpath_record::adapters::{Rests, Source, by_name, criterion_folder};

use super::{read, same, says, take, values};

#[test]
fn go_repetitions_are_those_of_one_process() {
    let harvest = read("go", "go-count.txt");
    assert_eq!(values(&harvest, "BenchmarkParse.time"), [79.45, 348.0]);
    assert_eq!(values(&harvest, "BenchmarkNew.B/op"), [16.0, 16.0]);
    assert_eq!(values(&harvest, "BenchmarkUUID_New.allocs/op"), [1.0, 1.0]);
    let figures = &take(&harvest, "BenchmarkUUID_New.time").figures;
    assert_eq!(figures[0].n, Some(87_912));
    let conditions = &harvest.conditions;
    assert_eq!(conditions.harness["gomaxprocs"], "2");
    assert_eq!(conditions.host["cpu_model"], "Intel(R) Xeon(R) Processor");
    assert_eq!(harvest.failures, Vec::<String>::new());
}

#[test]
fn go_packages_custom_units_logs_and_failures_are_told_apart() {
    let harvest = read("go", "go-custom.txt");
    says(&harvest, "BenchmarkSub/size-1.time", 60_689.0);
    says(&harvest, "BenchmarkSub/size-10.MB/s", 1.87);
    says(&harvest, "BenchmarkSub/size-1.p99-ns", 42.5);
    says(&harvest, "BenchmarkSub/size-10.req/s", 100.0);
    says(&harvest, "BenchmarkChatty.time", 70_778.0);
    says(&harvest, "sub.BenchmarkNothing.time", 62.15);
    let rate = take(&harvest, "BenchmarkSub/size-1.req/s");
    assert_eq!((rate.unit, rate.better), (Unit::PerSecond, Better::Higher));
    assert_eq!(take(&harvest, "BenchmarkSub/size-1.p99-ns").unit, Unit::Ns);
    assert_eq!(
        harvest.failures,
        [
            "--- FAIL: BenchmarkBroken (own_test.go:5: no database)",
            "FAIL\texample.com/own\t0.485s"
        ]
    );
}

#[test]
fn go_events_are_the_same_figures() {
    let harvest = read("go", "go-json.txt");
    says(&harvest, "BenchmarkSub/size-1.time", 552_620.0);
    says(&harvest, "BenchmarkSub/size-10.time", 34_480.0);
    says(&harvest, "sub.BenchmarkNothing.time", 60.25);
    assert_eq!(harvest.takes.len(), 9);
}

#[test]
fn go_lines_that_are_broken_are_named() {
    let text = "BenchmarkA-2 \t100\t12 ns/op\nBenchmarkB-2 \t100\t12 ns/op\tx B/op\n";
    let source = Source {
        file: "out.txt",
        bytes: text.as_bytes(),
    };
    let errors = by_name("go").unwrap().read(source).unwrap_err();
    assert_eq!(errors.len(), 1);
    assert!(
        errors[0]
            .to_string()
            .starts_with("out.txt:2: BenchmarkB-2: \"x\"")
    );
    let nothing = Source {
        bytes: b"PASS\n",
        ..source
    };
    let errors = by_name("go").unwrap().read(nothing).unwrap_err();
    assert!(errors[0].remedy.contains("-bench"));
}

#[test]
fn hyperfine_times_are_executions() {
    let harvest = read("hyperfine", "hyperfine.json");
    let take = take(&harvest, "sleep 0.01.time");
    assert_eq!((take.figures.len(), take.rests), (12, Rests::Processes));
    let all = values(&harvest, "sleep 0.01.time");
    let mean = all.iter().sum::<f64>() / 12.0;
    // As printed: 49.0 ms, 20.5 ms ... 107.7 ms.
    assert!((mean - 49.0e6).abs() < 0.05e6, "{mean}");
    let least = all.iter().copied().fold(f64::INFINITY, f64::min);
    assert!((least - 20.5e6).abs() < 0.06e6, "{least}");
    says(&harvest, "sleep 0.02.system", 142_333.333_33);
}

#[test]
fn jmh_forks_are_repeats() {
    let harvest = read("jmh", "jmh.json");
    let mean = |row: &str| {
        let forks = values(&harvest, row);
        assert_eq!(forks.len(), 3);
        forks.iter().sum::<f64>() / 3.0
    };
    // As printed: 98.883 and 9012.052 ns/op, 41.606 and 0.207 ops/us.
    same(mean("b.Sum.sum (size=10).time"), 98.883);
    same(mean("b.Sum.sum (size=1000).time"), 9012.052);
    same(mean("b.Sum.rate (size=10).rate"), 41.606e6);
    let rate = take(&harvest, "b.Sum.rate (size=10).rate");
    assert_eq!((rate.unit, rate.better), (Unit::PerSecond, Better::Higher));
    assert_eq!(harvest.conditions.versions["jmh"], "1.37");
}

#[test]
fn jmh_sampled_times_have_percentiles() {
    let harvest = read("jmh", "jmh-sample.json");
    says(&harvest, "b.Sum.sampled (size=10).time", 36.621_434);
    says(&harvest, "b.Sum.sampled (size=10).p50", 33.0);
    says(&harvest, "b.Sum.sampled (size=10).p99.9", 136.294);
}

#[test]
fn google_benchmark_repetitions_counters_and_errors() {
    let harvest = read("google-benchmark", "google-benchmark.json");
    let times = values(&harvest, "BM_StringCopy/8.time");
    assert_eq!(times.len(), 3);
    same(times[0], 106.770_05);
    same(times[1], 96.597_508);
    says(&harvest, "BM_StringCopy/8.cpu time", 4.609_571);
    says(&harvest, "BM_StringCopy/8.bytes_per_second", 1.735_519_4e9);
    assert!(
        harvest
            .failures
            .iter()
            .all(|f| f == "BM_Fail: no such device")
    );
    assert_eq!(harvest.conditions.host["cpus"], "2");
}

#[test]
fn pytest_rounds_are_samples() {
    let harvest = read("pytest-benchmark", "pytest-benchmark.json");
    // As printed: medians of 14.1759 and 597.3740 us, 20 and 5 rounds.
    says(&harvest, "test_b.py::test_sum.time", 14_175.9);
    says(&harvest, "test_b.py::test_sleep.time", 597_374.0);
    says(&harvest, "test_b.py::test_sum.mean", 354_632.2);
    let sum = take(&harvest, "test_b.py::test_sum.time");
    assert_eq!((sum.samples.len(), sum.figures[0].n), (20, Some(20)));
    assert!(sum.figures[0].low.is_some());
}

#[test]
fn criterion_samples_are_those_of_one_iteration() {
    // As criterion itself reports it in estimates.json: medians of 57.617 ns and 266.767 ns.
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/adapters/criterion"
    );
    let harvest = criterion_folder(Path::new(folder)).unwrap();
    says(&harvest, "req_short/req_short.time", 57.617_329_66);
    says(&harvest, "resp/resp.time", 266.767_373_995);
    let resp = take(&harvest, "resp/resp.time");
    assert_eq!((resp.samples.len(), resp.unit), (200, Unit::Ns));
    same(resp.samples.iter().sum::<f64>() / 200.0, 300.926_899_14);
    let mode = &harvest.conditions.harness["sampling of resp/resp"];
    assert_eq!(mode, "Linear");
    // One file alone has its name from its place, if it has one.
    let alone = read("criterion", "criterion/resp/resp/new/sample.json");
    says(&alone, "resp/resp.time", 266.767_373_995);
    let none = criterion_folder(Path::new("/nowhere")).unwrap_err();
    assert!(none[0].what.contains("no new/sample.json"));
}

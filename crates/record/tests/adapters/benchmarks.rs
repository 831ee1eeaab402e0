//! Tools that time pieces of code.

use slowpath_core::figures::{Better, Unit};
use slowpath_record::adapters::{Source, by_name};

use super::{read, says, take, values};

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

//! Commands that are repeated, and figures and requests that others measured.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::support::{Server, lab, root, skipped, slowpath, stderr, stdout};

/// Counts its executions in a file, and every second time fails.
const FLIPS: &str = "n=$(cat n 2>/dev/null || echo 0); n=$((n+1)); echo $n > n\n\
                     echo \"work took $((100+n)) ms\"\n\
                     if [ $((n%2)) = 0 ]; then echo 'disk full' >&2; exit 3; fi\n";
const LINES: &str = r"(?<name>\w+) took (?<value>\d+) (?<unit>ms)";

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).unwrap();
}

fn json(folder: &Path, name: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(folder.join(name)).unwrap()).unwrap()
}

fn code(folder: &Path, args: &[&str]) -> (Option<i32>, String) {
    let output = slowpath(folder, args);
    let said = stdout(&output) + &stderr(&output);
    (output.status.code(), said)
}

#[test]
fn figures_of_a_command_are_kept_judged_and_held_against_gates() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "flips.sh", FLIPS);
    let bench = [
        "bench", "--regex", LINES, "--json", "b.json", "--", "sh", "flips.sh",
    ];
    let (exit, said) = code(folder, &bench);
    assert_eq!(exit, Some(6), "{said}");
    assert!(
        said.contains("execution 2: exit status 3; its figures count"),
        "{said}"
    );
    let report = json(folder, "b.json");
    assert_eq!(report["summaries"][0]["spread"]["median"], 103e6);
    assert_eq!(report["executions"].as_array().unwrap().len(), 5);

    // What asks for requests learns that there are none; what judges figures judges these.
    let (exit, said) = code(folder, &["explain", "last"]);
    assert_eq!(exit, Some(0), "{said}");
    assert!(
        said.contains("103 ms") && said.contains("no cause to look for"),
        "{said}"
    );
    let (exit, said) = code(folder, &["report", "last", "--markdown"]);
    assert_eq!(exit, Some(0), "{said}");
    assert!(said.contains("| work | time | 103 ms |"), "{said}");
    let (exit, said) = code(folder, &["prove", "last"]);
    assert_eq!(exit, Some(2), "{said}");
    assert!(said.contains("there are no requests in"), "{said}");
    write(folder, "g.toml", "[[gate]]\nthat = 'work.time < 90ms'\n");
    let (exit, said) = code(folder, &["gate", "last", "--gates", "g.toml"]);
    assert_eq!(exit, Some(5), "{said}");
    let (exit, said) = code(folder, &["compare", "last", "last"]);
    assert!(exit == Some(0) && said.contains("work.time"), "{said}");
    let (exit, said) = code(folder, &["history"]);
    assert!(exit == Some(0) && said.contains("1 release"), "{said}");
}

#[test]
fn a_command_without_figures_has_its_time_or_its_last_words() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (exit, said) = code(folder, &["bench", "--", "no-such-program", "x"]);
    assert_eq!(exit, Some(2), "{said}");
    assert!(
        said.contains("there is no program \"no-such-program\""),
        "{said}"
    );
    write(folder, "flips.sh", FLIPS);
    let twice = ["bench", "--repeats", "2", "--json", "b.json"];
    let (exit, said) = code(folder, &[&twice[..], &["--", "sh", "flips.sh"]].concat());
    assert_eq!(exit, Some(6), "{said}");
    let rows = &json(folder, "b.json")["summaries"];
    assert_eq!(
        (&rows[0]["row"], &rows[1]["row"]),
        (&Value::from("command.time"), &Value::from("command.cpu"))
    );
    assert!(
        said.contains("the figure is the time of the command"),
        "{said}"
    );
    assert!(
        said.contains("its last line on stderr is: disk full"),
        "{said}"
    );
    let hangs = ["--timeout", "1s", "--", "sh", "-c", "echo begun; sleep 60"];
    let (exit, said) = code(folder, &[&["bench", "--repeats", "1"][..], &hangs].concat());
    assert_eq!(exit, Some(4), "{said}");
    assert!(said.contains("execution 1: no end within 1s"), "{said}");
    assert!(said.contains("its last line on stdout is: begun"), "{said}");
    write(folder, "g.toml", "[[gate]]\nthat = 'command.time < 90ms'\n");
    let (exit, said) = code(folder, &["gate", "last", "--gates", "g.toml"]);
    assert_eq!(exit, Some(4), "{said}");
    assert!(said.contains("has no figures"), "{said}");
}

/// `slowpath bench ARGS`, interrupted when the command has made a file `begun`.
fn interrupted(folder: &Path, args: &[&str]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_slowpath"))
        .arg("bench")
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !folder.join("begun").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(10));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn a_bench_beside_other_files_leaves_them_when_it_takes_itself_back() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for own in ["logs", "output"] {
        std::fs::create_dir(folder.join(own)).unwrap();
        write(folder, &format!("{own}/mine"), "mine");
    }
    let command = ["--out", ".", "--", "sh", "-c", "touch begun; sleep 60"];
    let output = interrupted(folder, &command);
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    for own in ["logs/mine", "output/mine"] {
        assert_eq!(std::fs::read_to_string(folder.join(own)).unwrap(), "mine");
    }
    // What is new goes away again.
    std::fs::remove_file(folder.join("begun")).unwrap();
    let command = ["--out", "new", "--", "sh", "-c", "touch begun; sleep 60"];
    interrupted(folder, &command);
    assert!(!folder.join("new").exists());
    // A benchmark is written once.
    let command = ["bench", "--repeats", "1", "--out", "new", "--", "true"];
    assert_eq!(code(folder, &command).0, Some(0));
    let (exit, said) = code(folder, &command);
    assert_eq!(exit, Some(2), "{said}");
    assert!(said.contains("already holds a run"), "{said}");
}

#[test]
fn a_table_of_words_in_the_output_does_not_take_the_time_away() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "t.md", "| who | what |\n|---|---|\n| me | this |\n");
    let (exit, said) = code(folder, &["bench", "--repeats", "1", "--", "cat", "t.md"]);
    assert_eq!(exit, Some(0), "{said}");
}

#[test]
fn an_interrupted_bench_keeps_what_ended_before() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // The second execution says that it has begun, and would take long.
    let script = "n=$(cat n 2>/dev/null || echo 0); n=$((n+1)); echo $n > n\n\
                  if [ $n = 2 ]; then touch begun; sleep 60; fi\n";
    write(folder, "second.sh", script);
    let output = interrupted(folder, &["--json", "b.json", "--", "sh", "second.sh"]);
    let said = stdout(&output);
    assert_eq!(output.status.code(), Some(130), "{said}{}", stderr(&output));
    assert!(
        said.contains("interrupted after 1 of 5 executions"),
        "{said}"
    );
    assert_eq!(
        json(folder, "b.json")["executions"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn an_execution_in_which_the_clock_was_stepped_does_not_count() {
    let permitted = Server::lab(&["clock-jump"]);
    if permitted.is_none() {
        return skipped("the clock may not be stepped");
    }
    drop(permitted);
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // The lab steps the clock to and fro while it runs, in sum by nothing.
    let steps = format!(
        "n=$(cat n 2>/dev/null || echo 0); n=$((n+1)); echo $n > n\n\
         if [ \"$1\" = all ] || [ $n = 2 ]; then\n\
         rm -f up; {} clock-jump --port 0 --step-ms 500 --period-ms 150 >up &\n\
         while [ ! -s up ]; do sleep 0.02; done; sleep 0.7\n\
         kill $! && wait $!\n\
         else sleep 0.2; fi; echo \"work took $((100+n)) ms\"\n",
        lab().display()
    );
    write(folder, "steps.sh", &steps);
    let bench = ["bench", "--json", "b.json", "--regex", LINES, "--repeats"];
    let (exit, said) = code(
        folder,
        &[&bench[..], &["3", "--", "sh", "steps.sh"]].concat(),
    );
    assert_eq!(exit, Some(0), "{said}");
    assert!(
        said.contains("execution 2 is excluded: the wall clock was set by"),
        "{said}"
    );
    assert!(said.contains("2 (+1 aside)"), "{said}");
    let report = json(folder, "b.json");
    assert_eq!(report["summaries"][0]["spread"]["median"], 102e6);
    let events = &report["executions"][1]["health"]["during"]["clocks"]["events"];
    assert_eq!(events[0]["kind"], "step", "{events:#}");

    let (exit, said) = code(
        folder,
        &[&bench[..], &["1", "--", "sh", "steps.sh", "all"]].concat(),
    );
    assert_eq!(exit, Some(4), "{said}");
    assert!(said.contains("none counts"), "{said}");
    write(folder, "g.toml", "[[gate]]\nthat = 'work.time < 90ms'\n");
    let (exit, said) = code(folder, &["gate", "last", "--gates", "g.toml"]);
    assert_eq!(exit, Some(4), "{said}");
    assert!(said.contains("the measurement is invalid"), "{said}");
}

#[test]
fn requests_of_another_tool_are_a_run_of_which_no_cause_is_named_or_cleared() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let fixtures = root().join("crates/record/tests/fixtures/adapters/requests");
    for (format, file) in [
        ("auto", "jmeter.jtl"),
        ("jmeter", "jmeter.xml"),
        ("k6-csv", "k6.csv"),
        ("k6-json", "k6.jsonl"),
        ("vegeta-csv", "vegeta.csv"),
        ("vegeta-json", "vegeta.jsonl"),
    ] {
        let path = fixtures.join(file).display().to_string();
        let (exit, said) = code(folder, &["import", format, &path, "--json", "r.json"]);
        assert_eq!(exit, Some(0), "{file}: {said}");
        let report = json(folder, "r.json");
        for nothing in ["findings", "cleared"] {
            assert_eq!(
                report[nothing].as_array().unwrap().len(),
                0,
                "{file}: {nothing}"
            );
        }
        let checks = report["validity"].as_array().unwrap();
        let warns = |check: &str| {
            let found = checks.iter().find(|one| one["check"] == check);
            found.is_some_and(|one| one["status"] == "warn")
        };
        assert!(
            warns("coordinated-omission") && warns("client-saturation"),
            "{checks:#?}"
        );
        let (exit, again) = code(folder, &["explain", "last"]);
        assert_eq!(exit, Some(0), "{again}");
        assert!(said.starts_with(again.trim_end()), "{file}: {again}");
    }
    let (exit, said) = code(folder, &["history", "vegeta"]);
    assert!(exit == Some(0) && said.contains("GET /small.txt"), "{said}");
    write(
        folder,
        "g.toml",
        "[[gate]]\nthat = '\"GET /small.txt\".p50 < 1s'\n",
    );
    let (exit, said) = code(folder, &["gate", "last", "--gates", "g.toml"]);
    assert_eq!(exit, Some(0), "{said}");
    let (exit, said) = code(folder, &["compare", "last", "last"]);
    assert!(
        exit == Some(0) && said.contains("GET /small.txt.p50"),
        "{said}"
    );
}

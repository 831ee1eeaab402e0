//! Every verb with bad input: a clear error, exit code 2, nothing written.

use std::path::Path;

use crate::support::{slowpath, stderr};

/// Runs and checks code, words on stderr, silence on stdout, and that nothing was written.
fn refused(args: &[&str], words: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bad.toml"), BAD).unwrap();
    let before = entries(folder.path());
    let output = slowpath(folder.path(), args);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{args:?} said {said}");
    assert!(output.stdout.is_empty(), "{args:?} printed an answer");
    for word in words {
        assert!(
            said.contains(word),
            "{args:?} does not say {word:?}: {said}"
        );
    }
    assert_eq!(entries(folder.path()), before, "{args:?} wrote something");
}

fn entries(folder: &Path) -> Vec<String> {
    let mut all: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    all.sort();
    all
}

/// Six mistakes on six lines.
const BAD: &str = r#"name = "bad"
[target]
url = "ftp://127.0.0.1"
[load]
model = "open"
duration = "20 parsecs"
conections = 4
[[endpoint]]
name = "a"
weight = -1
request = "/no-method"
"#;

#[test]
fn sweep() {
    let url = "http://127.0.0.1:1/";
    refused(&["sweep", url], &["--over"]);
    refused(
        &["sweep", url, "--over", "users=1..4"],
        &["connections=, rate= or size="],
    );
    refused(
        &["sweep", url, "--over", "connections=x,8..2"],
        &["\"x\"", "\"8..2\""],
    );
    refused(
        &["sweep", url, "--over", "connections=4"],
        &["at least two"],
    );
    refused(
        &["sweep", url, "--over", "size=1B,1GiB"],
        &["16 MiB", "{size}"],
    );
    refused(
        &["sweep", url, "--over", "rate=1,2", "--steps", "1"],
        &["from 2 to 64"],
    );
    refused(
        &["sweep", "bad.toml", "--over", "rate=1,2"],
        &["6 mistakes", "conections"],
    );
}

#[test]
fn run() {
    refused(&["run"], &["SCENARIO.toml|URL"]);
    refused(&["run", "missing.toml"], &["missing.toml"]);
    refused(&["run", "ftp://127.0.0.1/"], &["ftp"]);
    refused(&["run", "http://"], &["http://"]);
    let no_such = ["run", "https://127.0.0.1/", "--cacert", "/no/such.pem"];
    refused(&no_such, &["/no/such.pem"]);
    refused(
        &["run", "https://127.0.0.1/", "--cert", "a.pem"],
        &["--key"],
    );
    refused(&["run", "http://127.0.0.1:1/", "-d", "20"], &["20"]);
    refused(&["run", "http://127.0.0.1:1/", "-d", "0s"], &["0s"]);
    refused(&["run", "http://127.0.0.1:1/", "-r", "fast"], &["fast"]);
    refused(&["run", "http://127.0.0.1:1/", "-c", "0"], &["0"]);
    refused(
        &["run", "http://127.0.0.1:1/", "--pid", "999999999"],
        &["999999999"],
    );
    refused(
        &["run", "http://127.0.0.1:1/", "-r", "5", "--users", "3"],
        &["rate"],
    );
    refused(
        &[
            "run",
            "http://127.0.0.1:1/",
            "--json",
            "no/such/folder.json",
        ],
        &["no/such"],
    );
    refused(
        &["run", "http://127.0.0.1:1/", "--allow-errors", "2"],
        &["between 0 and 1"],
    );
}

#[test]
fn a_scenario_shows_all_its_mistakes_with_their_lines() {
    refused(
        &["run", "bad.toml"],
        &[
            "bad.toml:3",
            "bad.toml:6",
            "bad.toml:7",
            "connections",
            "bad.toml:10",
            "bad.toml:11",
            "load.rate",
        ],
    );
}

#[test]
fn parts_that_contradict_each_other_are_refused_also_by_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[target]\nurl = \"http://127.0.0.1:1\"\n[load]\npasses = [\"cold\", \"warm\"]\n\
                [[endpoint]]\nname = \"a\"\nrequest = \"GET /\"\nrate = \"5/s\"\n";
    std::fs::write(folder.path().join("s.toml"), text).unwrap();
    let said_of = |more: &[&str]| {
        let arguments = [&["run", "s.toml"], more].concat();
        let output = slowpath(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(2));
        stderr(&output)
    };
    let said = said_of(&[]);
    assert!(said.contains("nothing makes the cold pass cold"), "{said}");
    std::fs::write(
        folder.path().join("s.toml"),
        text.replace("passes", "# passes"),
    )
    .unwrap();
    let said = said_of(&["--users", "3"]);
    assert!(
        said.contains("endpoint.rate: a closed loop sends"),
        "{said}"
    );
}

#[test]
fn the_other_verbs() {
    refused(&["lint", "missing.toml"], &["missing.toml"]);
    refused(&["lint", "bad.toml"], &["bad.toml:3", "bad.toml:11"]);
    refused(
        &["lint", "bad.toml", "--variant", "users=2"],
        &["--simulate"],
    );
    refused(&["lint", "bad.toml", "--seeds", "3"], &["20"]);
    refused(&["explain"], &["RUN"]);
    refused(&["explain", "nothing"], &["nothing"]);
    refused(&["explain", "last"], &["last"]);
    refused(&["prove", "nothing"], &["nothing"]);
    refused(&["prove", "nothing", "--pid", "x"], &["x"]);
    refused(&["report", "nothing"], &["nothing"]);
    refused(&["causes", "bad-luck"], &["bad-luck", "slowpath causes"]);
    refused(&["demo", "bad-luck"], &["bad-luck", "--list"]);
    refused(&["doctor", "--json", "no/such/folder.json"], &["no/such"]);
    refused(&["dance"], &["dance"]);
}

#[test]
fn a_target_that_is_not_there_is_exit_code_3() {
    let folder = tempfile::tempdir().unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let output = slowpath(folder.path(), &["run", &url, "-d", "1s"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("cannot connect"));
}

#[test]
fn a_command_that_ends_at_once_is_exit_code_3_with_its_last_words() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[target]\nurl = \"http://127.0.0.1:{port}\"\n\
                command = [\"sh\", \"-c\", \"echo out of luck; exit 9\"]\n\
                [[endpoint]]\nname = \"a\"\nrequest = \"GET /\"\n";
    std::fs::write(folder.path().join("s.toml"), text).unwrap();
    let output = slowpath(folder.path(), &["run", "s.toml"]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("out of luck") && said.contains('9'), "{said}");
}

#[test]
fn gates_and_toggles_that_are_not_there_are_told_before_anything_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[target]\nurl = \"http://127.0.0.1:1\"\n[timers]\nttl = \"60s\"\n\
                [toggle.cache]\non = [\"true\"]\noff = [\"true\"]\n\
                [[endpoint]]\nname = \"a\"\nrequest = \"GET /\"\n";
    std::fs::write(folder.path().join("s.toml"), text).unwrap();
    let gates = "[[gate]]\nthat = \"b.p99 < 1s\"\n[[gate]]\nthat = \"a.p99 = a.p50\"\n";
    std::fs::write(folder.path().join("g.toml"), gates).unwrap();
    let refused = |args: &[&str]| {
        let output = slowpath(folder.path(), args);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{args:?}: {}",
            stderr(&output)
        );
        stderr(&output)
    };
    let said = refused(&["run", "s.toml", "--toggle", "cash"]);
    assert!(
        said.contains("no toggle \"cash\"") && said.contains("one of cache"),
        "{said}"
    );
    let said = refused(&["gate", "s.toml"]);
    assert!(
        said.contains("no gate") && said.contains("--gates"),
        "{said}"
    );
    let said = refused(&["gate", "s.toml", "--gates", "g.toml"]);
    assert!(
        said.contains("g.toml:2: gate.that: there is no endpoint"),
        "{said}"
    );
    assert!(
        said.contains("g.toml:4: gate.that") && said.contains("within 5 %"),
        "{said}"
    );
    let said = refused(&["gate", "s.toml", "--gates", "g.toml", "--baseline", "v9"]);
    assert!(said.contains("no release is named \"v9\""), "{said}");
}

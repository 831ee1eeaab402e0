//! `slowpath lint`, from the command line.

use std::path::Path;

use crate::support::{slowpath, stderr, stdout};

const SCENARIO: &str = "[target]\nurl = \"http://127.0.0.1:1\"\n\
    [load]\nusers = 20\nspawn = \"2/s\"\nthink = \"1s..3s\"\nduration = \"20s\"\nwarmup = \"1ms\"\n\
    [pools]\ntopics = [\"a\", \"b\", \"c\", \"d\"]\n\
    [[endpoint]]\nname = \"search\"\nrequest = \"GET /?q={topics}\"\n";
const MODEL: &str = "latency = \"24ms\"\n[backend]\nslots = 1\n\
    [endpoint.search]\nbackend = \"560ms..1120ms\"\n";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("s.toml"), SCENARIO).unwrap();
    std::fs::write(folder.path().join("m.toml"), MODEL).unwrap();
    let gate = "[[gate]]\nthat = \"search.rate > 1000/s\"\n";
    std::fs::write(folder.path().join("gate.toml"), format!("{SCENARIO}{gate}")).unwrap();
    folder
}

fn code(folder: &Path, args: &[&str]) -> (Option<i32>, String) {
    let output = slowpath(folder, args);
    (output.status.code(), stdout(&output) + &stderr(&output))
}

#[test]
fn warnings_are_exit_code_0_and_what_cannot_be_is_2() {
    let folder = folder();
    let (exit, said) = code(folder.path(), &["lint", "s.toml", "--json", "lint.json"]);
    assert_eq!(exit, Some(0), "{said}");
    assert!(
        said.contains("search") && said.contains("0 errors"),
        "{said}"
    );
    let json = std::fs::read_to_string(folder.path().join("lint.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["schema"], "slowpath.lint/1");
    let (exit, said) = code(folder.path(), &["lint", "gate.toml"]);
    assert_eq!(exit, Some(2), "{said}");
    let words: Vec<&str> = said.split_whitespace().collect();
    assert!(
        words.join(" ").contains("at most 10 times a second"),
        "{said}"
    );
}

#[test]
fn a_change_is_judged_before_it_is_shipped() {
    let folder = folder();
    let simulate = [
        "lint",
        "s.toml",
        "--simulate",
        "--model",
        "m.toml",
        "--seeds",
        "50",
    ];
    let variants = ["--variant", "pool:topics=40", "--variant", "slots=4"];
    let (exit, said) = code(folder.path(), &[&simulate[..], &variants[..]].concat());
    assert_eq!(exit, Some(0), "{said}");
    let line = |word: &str| {
        said.lines()
            .find(|l| l.starts_with(word))
            .unwrap_or_default()
    };
    assert!(line("pool:topics=40").ends_with("WORSE"), "{said}");
    assert!(line("slots=4").ends_with("better"), "{said}");
}

#[test]
fn a_simulation_says_what_it_lacks_or_what_does_not_fit() {
    let folder = folder();
    let (exit, said) = code(folder.path(), &["lint", "s.toml", "--simulate"]);
    assert_eq!(exit, Some(2), "{said}");
    assert!(
        said.contains("--from RUN") && said.contains("--model FILE"),
        "{said}"
    );
    let with = |more: &[&str]| {
        let simulate = ["lint", "s.toml", "--simulate", "--model", "m.toml"];
        code(folder.path(), &[&simulate[..], more].concat())
    };
    let all = [
        "--variant",
        "turbo",
        "--variant",
        "users=0",
        "--target",
        "search.max",
    ];
    let (exit, said) = with(&all);
    assert_eq!(exit, Some(2), "{said}");
    for word in ["turbo", "users=0", "p50, p90 and p99"] {
        assert!(said.contains(word), "{word} is not in {said}");
    }
    let (exit, said) = with(&["--variant", "pool:x=3", "--target", "home.p99"]);
    assert_eq!(exit, Some(2), "{said}");
    assert!(said.contains("no pool named \"x\""), "{said}");
    let (_, said) = with(&["--target", "home.p99"]);
    assert!(
        said.contains("no request goes to the endpoint \"home\""),
        "{said}"
    );
}

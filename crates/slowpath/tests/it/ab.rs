//! Comparisons of two settings on real servers.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{lab, skipped, slowpath, stderr, stdout};

/// A target that slowpath starts and that waits as long as its environment says.
fn scenario(folder: &Path, toggle: &str) {
    let lab = lab().display();
    let text = format!(
        "name = \"waits\"\n[target]\nurl = \"http://127.0.0.1:{{port}}\"\n\
         command = [\"sh\", \"-c\", \"exec {lab} fixed-delay --delay-ms ${{WAIT:-4}} --port $0\", \
         \"{{port}}\"]\n\
         [load]\nusers = 4\nduration = \"300ms\"\nwarmup = \"100ms\"\n\
         [[endpoint]]\nname = \"home\"\nrequest = \"GET /\"\n{toggle}"
    );
    std::fs::write(folder.join("s.toml"), text).unwrap();
}

/// `slowpath ab s.toml ARGS`, what it wrote and what it said.
fn ab(folder: &Path, args: &[&str]) -> (i32, Value, String) {
    let mut all = vec!["ab", "s.toml", "--json", "ab.json", "--seed", "7"];
    all.extend(args);
    let output = slowpath(folder, &all);
    let text = std::fs::read_to_string(folder.join("ab.json")).unwrap_or_else(|_| "null".into());
    let said = format!("{}{}", stderr(&output), stdout(&output));
    let found = serde_json::from_str(&text).unwrap();
    (output.status.code().unwrap_or(-1), found, said)
}

fn verdict(found: &Value, metric: &str) -> String {
    let tests = found["analysis"]["tests"].as_array().unwrap();
    let test = tests.iter().find(|test| test["metric"] == metric).unwrap();
    test["verdict"].as_str().unwrap().to_owned()
}

#[test]
fn a_toggle_that_slows_the_target_is_found_and_the_host_s_noise_is_remembered() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    scenario(folder, "[toggle.slow]\nenv = { WAIT = \"24\" }\n");
    let (code, found, said) = ab(folder, &["--toggle", "slow", "--pairs", "4"]);
    assert!(found.is_object(), "{said}");
    assert!(said.contains("4 pairs of blocks of 300 ms"), "{said}");
    assert!(said.contains("no noise estimate for this host"), "{said}");
    assert!(said.contains("4 pairs can see p50 >="), "{said}");
    let aside = &found["analysis"]["aside"];
    if aside != &Value::Array(Vec::new()) {
        // What is left is too little to be sure of, or it is enough; it is never no difference.
        assert_ne!(verdict(&found, "p50"), "no-difference", "{said}");
        return skipped(&format!("the host spoiled a pair: {aside}"));
    }
    assert!(said.contains("they differ: "), "{said}");
    assert_eq!(code, 0, "{said}");
    assert_eq!(verdict(&found, "p50"), "different");
    assert_eq!(verdict(&found, "errors"), "absent");
    let blocks = found["blocks"].as_array().unwrap();
    let arms: String = blocks.iter().map(|b| b["arm"].as_str().unwrap()).collect();
    // The block before, and BA AB AB BA from an odd seed.
    assert_eq!(arms, "abaababba");
    // Each block is a run, and the comparison is judged again from its file.
    let dir = folder
        .join(".slowpath/runs")
        .join(found["id"].as_str().unwrap());
    let block = dir.join(blocks[2]["dir"].as_str().unwrap());
    let explained = slowpath(folder, &["explain", block.to_str().unwrap()]);
    assert_eq!(explained.status.code(), Some(0), "{}", stderr(&explained));
    let id = found["id"].as_str().unwrap();
    let again = slowpath(folder, &["explain", &id[..20]]);
    let answer = stdout(&again);
    assert!(said.contains(answer.lines().next().unwrap()), "{answer}");
    assert!(dir.join("ab.md").is_file());
    // B is compared with A, pair by pair.
    let gates = "[[gate]]\nthat = \"home.p50 <= baseline.home.p50\"\n[[gate]]\n\
                 that = \"home.p50 / baseline.home.p50 > 1.2\"\n";
    std::fs::write(folder.join("gates.toml"), gates).unwrap();
    let held = slowpath(folder, &["gate", id, "--gates", "gates.toml"]);
    let told = stdout(&held);
    assert_eq!(held.status.code(), Some(5), "{told}{}", stderr(&held));
    assert!(
        told.contains("gates: 1 holds, 1 fails") && told.contains("over 4 pairs"),
        "{told}"
    );
    let noise = std::fs::read_dir(folder.join(".slowpath/noise")).unwrap();
    assert_eq!(noise.count(), 1);
    let plan = slowpath(
        folder,
        &["ab", "s.toml", "--aa", "--pairs", "3", "-d", "300ms"],
    );
    let said = stderr(&plan);
    assert!(
        said.contains("(of 1 earlier comparison) 3 pairs can see"),
        "{said}"
    );
    assert!(!stdout(&plan).contains("home.p50 +"), "{}", stdout(&plan));
}

#[test]
fn what_is_compared_must_be_said_and_must_be_there() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    scenario(folder, "");
    for (args, says) in [
        (&[][..], "--toggle"),
        (&["--aa", "--toggle", "x"], "cannot be used with"),
        (&["--toggle", "x"], "add [toggle.x]"),
        (&["--b", "'unclosed"], "is no command"),
        (&["--other", "none.toml"], "cannot read none.toml"),
        (&["--other", "http://127.0.0.1:9/x"], "names a path"),
        (&["--aa", "--effect", "0%"], "not a percentage"),
    ] {
        let (code, _, said) = ab(folder, args);
        assert_eq!(code, 2, "{args:?}: {said}");
        assert!(said.contains(says), "{args:?}: {said}");
    }
}

#[test]
fn what_ends_before_its_last_pair_claims_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let toggle = "[toggle.broken]\non = [\"false\"]\noff = [\"true\"]\n\
                  [[gate]]\nthat = \"home.p50 < 10s\"\n";
    scenario(folder, toggle);
    let args = [
        "ab", "s.toml", "--toggle", "broken", "--pairs", "3", "--out", "dir",
    ];
    let ended = slowpath(folder, &args);
    let told = stdout(&ended);
    assert_eq!(ended.status.code(), Some(4), "{told}{}", stderr(&ended));
    assert!(
        told.starts_with("ended after 0 of 3 pairs: nothing is claimed"),
        "{told}"
    );
    assert!(told.contains("the toggle broken: false failed"), "{told}");
    let held = slowpath(folder, &["gate", "dir"]);
    assert_eq!(held.status.code(), Some(4), "{}", stderr(&held));
    assert!(
        stdout(&held).contains("it ended before its last pair"),
        "{}",
        stdout(&held)
    );
    // Of a target that cannot be reached nothing is left.
    let gone = slowpath(
        folder,
        &["ab", "http://127.0.0.1:9/", "--aa", "--pairs", "3"],
    );
    assert_eq!(gone.status.code(), Some(3), "{}", stderr(&gone));
    let left = std::fs::read_dir(folder.join(".slowpath/runs")).map_or(0, Iterator::count);
    assert_eq!(left, 0);
}

/// Waits until something holds; far longer than it takes, since machines are busy.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(2);
    while !holds() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_killed_comparison_switches_a_live_toggle_off_again() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let toggle = "[toggle.flag]\non = [\"touch\", \"flag\"]\noff = [\"rm\", \"-f\", \"flag\"]\n";
    scenario(folder, toggle);
    let mut child = Command::new(env!("CARGO_BIN_EXE_slowpath"))
        .args([
            "ab", "s.toml", "--toggle", "flag", "--pairs", "3", "-d", "2s",
        ])
        // From an odd seed B comes first.
        .args(["--seed", "7", "--quiet"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let flag = folder.join("flag");
    until("the toggle is on", || flag.exists());
    child.kill().unwrap();
    child.wait().unwrap();
    until("the toggle is off", || !flag.exists());
}

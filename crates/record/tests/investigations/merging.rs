//! Two branches that both write to the log are merged by git without hand work.

use std::path::Path;
use std::process::{Command, Stdio};

use slowpath_core::investigation::What;
use slowpath_record::{read_investigations, write_entry};

use super::{entry, prediction, symptom};

fn git(folder: &Path, words: &[&str]) -> (bool, String) {
    let settings = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
    let output = Command::new("git")
        .args(settings)
        .args(["-c", "commit.gpgsign=false", "-c", "core.autocrlf=false"])
        .args(words)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    (
        output.status.success(),
        String::from_utf8_lossy(&said).into_owned(),
    )
}

fn commit(folder: &Path) {
    for words in [&["add", "-A"][..], &["commit", "-q", "-m", "x"]] {
        let (done, said) = git(folder, words);
        assert!(done, "{said}");
    }
}

#[test]
fn two_branches_merge_without_a_conflict() {
    let version = Command::new("git").arg("--version").output();
    if !version.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: git is not installed");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let log = root.join("investigations");
    assert!(git(root, &["init", "-q", "-b", "main"]).0);
    write_entry(&log, "search-tail", &entry(0, "", symptom())).unwrap();
    commit(root);
    // Both write to the same investigation, and both open one under the same name.
    assert!(git(root, &["checkout", "-q", "-b", "ann"]).0);
    write_entry(
        &log,
        "search-tail",
        &entry(1, "Seen by Ann.", What::Observation),
    )
    .unwrap();
    write_entry(&log, "search-tail", &entry(4, "The lock.", prediction())).unwrap();
    write_entry(&log, "cold-start", &entry(5, "", symptom())).unwrap();
    commit(root);
    assert!(git(root, &["checkout", "-q", "main"]).0);
    write_entry(
        &log,
        "search-tail",
        &entry(2, "Seen by Bob.", What::Observation),
    )
    .unwrap();
    write_entry(&log, "search-tail", &entry(3, "The cache.", prediction())).unwrap();
    write_entry(&log, "cold-start", &entry(6, "", symptom())).unwrap();
    commit(root);
    let (merged, said) = git(root, &["merge", "--no-edit", "ann"]);
    assert!(merged, "{said}");
    assert!(git(root, &["status", "--porcelain"]).1.is_empty());
    let book = read_investigations(&log).unwrap();
    assert_eq!(book.mistakes, []);
    let texts: Vec<&str> = book.investigations[1]
        .entries
        .iter()
        .map(|entry| entry.text.as_str())
        .collect();
    // In order of time, for any author and any order of merges.
    assert_eq!(
        texts,
        [
            "",
            "Seen by Ann.",
            "Seen by Bob.",
            "The cache.",
            "The lock."
        ]
    );
    assert_eq!(book.investigations[0].entries.len(), 2);
}

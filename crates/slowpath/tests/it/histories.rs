//! `slowpath history` on stored runs that are made of their figures alone.

use serde_json::Value;

use crate::comparing::{id, store};
use crate::support::{slowpath, stderr, stdout};

#[test]
fn a_step_over_releases_is_told_drawn_and_written() {
    let folder = tempfile::tempdir().unwrap();
    for at in 0..14_u8 {
        let level = if at < 8 { 10.0 } else { 13.0 };
        let ms = level * (1.0 + 0.01 * f64::from(at % 3));
        let release = format!("v{}", at + 1);
        store(
            folder.path(),
            &id(at),
            Some(&release),
            "x",
            &[ms, ms * 1.01],
        );
    }
    let args = ["history", "shop", "--json", "h.json"];
    let output = slowpath(folder.path(), &args);
    let (said, told) = (stdout(&output), stderr(&output));
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(said.starts_with("shop: 14 releases, 14 runs"), "{said}");
    assert!(
        said.contains("search.p99: worse by +30 % since v9"),
        "{said}"
    );
    assert!(said.contains("▲ +30 %") && said.contains('█'), "{said}");
    let page = std::fs::read_to_string(folder.path().join(".slowpath/history.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("since v9"));
    let text = std::fs::read_to_string(folder.path().join("h.json")).unwrap();
    let answer: Value = serde_json::from_str(&text).unwrap();
    let track = &answer["settings"][0]["tracks"][0];
    assert_eq!(track["changes"][0]["release"], "v9");
    assert_eq!(track["points"].as_array().unwrap().len(), 14);
    let output = slowpath(
        folder.path(),
        &["history", "--markdown", "--html", "p.html"],
    );
    let said = stdout(&output);
    assert!(
        said.contains("| v9 | 1 |") && folder.path().join("p.html").exists(),
        "{said}"
    );
}

#[test]
fn five_hundred_runs_are_read_without_judging_any() {
    let folder = tempfile::tempdir().unwrap();
    for at in 0..500_u16 {
        let id = format!("01JD{at:04}{}", "0".repeat(18));
        let release = format!("v{}", at / 5);
        let ms = 10.0 + 0.01 * f64::from(at % 7);
        store(folder.path(), &id, Some(&release), "x", &[ms, ms, ms]);
    }
    let output = slowpath(folder.path(), &["history", "shop"]);
    let said = stdout(&output);
    assert!(said.starts_with("shop: 100 releases, 500 runs"), "{said}");
    assert!(said.contains("(80 older)"), "{said}");
    assert!(stderr(&output).is_empty());
}

#[test]
fn what_is_not_stored_is_said_with_what_is() {
    let folder = tempfile::tempdir().unwrap();
    let output = slowpath(folder.path(), &["history"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("slowpath run"));
    store(folder.path(), &id(0), Some("v1"), "x", &[10.0]);
    for (args, word) in [
        (&["history", "other"][..], "one of shop"),
        (&["history", "--endpoint", "cart"][..], "one of search"),
        (&["history", "--metric", "p42"][..], "one of p99"),
    ] {
        let output = slowpath(folder.path(), args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let told = stderr(&output);
        assert!(told.contains(word), "{told}");
    }
}

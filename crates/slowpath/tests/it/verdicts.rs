//! A verdict survives being asked for again, and an experiment changes its grade.

use crate::support::{
    Server, assert_exit, confirmed, names, of_the_long_list, run, slowpath, stderr, stdout,
};

#[test]
fn explain_gives_the_same_bytes_again() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::lab(&["healthy"]).unwrap();
    let (code, report, output) = run(folder.path(), &[&server.url(), "-d", "2s", "-r", "50"]);
    assert!(
        report.is_object(),
        "{} {}",
        stderr(&output),
        stdout(&output)
    );
    assert_exit(code, &report, 0);
    let id = report["run"]["id"].as_str().unwrap().to_owned();
    let dir = folder.path().join(".slowpath/runs").join(&id);
    let first = std::fs::read(dir.join("report.json")).unwrap();
    for name in [
        "manifest.json",
        "samples.parquet",
        "timeline.parquet",
        "events.jsonl",
    ] {
        assert!(dir.join(name).exists(), "{name}");
    }
    std::fs::remove_file(dir.join("report.json")).unwrap();
    std::fs::remove_file(dir.join("report.html")).unwrap();
    for name in ["last", &id, &id[..12].to_lowercase(), dir.to_str().unwrap()] {
        let output = slowpath(folder.path(), &["explain", name]);
        assert!(output.status.success(), "{name}: {}", stderr(&output));
        assert_eq!(
            std::fs::read(dir.join("report.json")).unwrap(),
            first,
            "{name}"
        );
    }
}

#[test]
fn an_experiment_confirms_a_delayed_ack() {
    if !of_the_long_list() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let server = Server::lab(&["delayed-ack"]).unwrap();
    let (_, report, _) = run(folder.path(), &[&server.url(), "-d", "5s", "-c", "6"]);
    if !names(&report, "delayed-ack") {
        return;
    }
    assert_eq!(report["findings"][0]["grade"], "supported");
    let json = folder.path().join("proved.json");
    let output = slowpath(
        folder.path(),
        &["prove", "last", "--json", json.to_str().unwrap()],
    );
    assert!(output.status.success(), "{}", stderr(&output));
    let text = std::fs::read_to_string(json).unwrap();
    let proved: serde_json::Value = serde_json::from_str(&text).unwrap();
    if !confirmed(folder.path(), &report) {
        return;
    }
    assert_eq!(proved["findings"][0]["grade"], "confirmed", "{proved:#}");
    assert!(stdout(&output).contains("confirmed"), "{}", stdout(&output));
}

//! A verdict survives being asked for again, and an experiment changes its grade.

use crate::support::{
    Server, assert_exit, confirmed, lab, names, of_the_long_list, run, run_scenario, skipped,
    slowpath, stderr, stdout,
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

/// The outcome of the experiment on `cause` that was run last, and its verdict.
fn tested(folder: &std::path::Path, report: &serde_json::Value, cause: &str) -> serde_json::Value {
    let output = slowpath(folder, &["prove", "last", "--cause", cause, "--quiet"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let id = report["run"]["id"].as_str().unwrap();
    let experiments = folder.join(".slowpath/runs").join(id).join("experiments");
    let entries = std::fs::read_dir(experiments).unwrap().flatten();
    let file = entries.map(|entry| entry.path()).find(|path| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with(cause) && name.ends_with(".json")
    });
    let text = std::fs::read_to_string(file.unwrap()).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn an_experiment_leaves_the_requests_out_that_keep_the_loop() {
    if !of_the_long_list() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let server = Server::lab(&["event-loop-blocking"]).unwrap();
    let scenario = format!(
        "[target]\nurl = \"{}\"\n[load]\nmodel = \"open\"\nrate = \"80/s\"\nconnections = 8\n\
         duration = \"6s\"\n[[endpoint]]\nname = \"page\"\nrequest = \"GET /\"\n\
         [[endpoint]]\nname = \"slow\"\nrequest = \"GET /slow\"\nrate = \"6/s\"\n",
        server.url().trim_end_matches('/')
    );
    let (_, report, _) = run_scenario(folder.path(), &scenario);
    if !names(&report, "event-loop-blocking") {
        return;
    }
    let right = tested(folder.path(), &report, "event-loop-blocking");
    let left_out = &right["hypothesis"]["intervention"];
    assert_eq!(left_out["kind"], "leave-out", "{right:#}");
    assert_eq!(left_out["endpoint"], "slow", "{right:#}");
    assert!(right["outcome"]["withheld"].as_u64() > Some(0));
    if !confirmed(folder.path(), &report) {
        return;
    }

    // A cause that the run does not have: never confirmed.
    let wrong = tested(folder.path(), &report, "delayed-ack");
    let statement = wrong["hypothesis"]["statement"].as_str().unwrap();
    assert!(
        statement.starts_with("supposing that delayed-ack"),
        "{statement}"
    );
    assert_ne!(wrong["outcome"]["verdict"], "confirmed", "{wrong:#}");
}

#[test]
fn a_floor_is_no_saturated_cpu() {
    if !of_the_long_list() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let server = Server::lab(&["fixed-delay"]).unwrap();
    let args = [&server.url(), "-d", "5s", "-r", "60", "-c", "8"];
    let (_, report, _) = run(folder.path(), &args);
    if !names(&report, "fixed-delay") {
        return;
    }
    let wrong = tested(folder.path(), &report, "cpu-saturation");
    let verdict = wrong["outcome"]["verdict"].as_str().unwrap();
    assert_ne!(verdict, "confirmed", "{wrong:#}");
    if verdict != "refuted" {
        skipped("the blocks scattered too much to refute");
    }
}

#[test]
fn an_experiment_pauses_the_thread_that_has_the_lock() {
    if !of_the_long_list() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let server = Server::lab(&["lock-held-over-io"]).unwrap();
    let args = [&server.url(), "-d", "6s", "-r", "100", "-c", "16"];
    let (_, report, _) = run(folder.path(), &args);
    if !names(&report, "lock-held-over-io") {
        return;
    }
    let right = tested(folder.path(), &report, "lock-held-over-io");
    let paused = &right["hypothesis"]["intervention"];
    assert_eq!(paused["kind"], "pause-thread", "{right:#}");
    assert_eq!(paused["thread"], "flusher", "{right:#}");
    if !confirmed(folder.path(), &report) {
        return;
    }

    let wrong = tested(folder.path(), &report, "fixed-delay");
    assert_ne!(wrong["outcome"]["verdict"], "confirmed", "{wrong:#}");
}

/// A scenario of one endpoint whose requests name one of so many keys.
fn keyed(server: &Server, rate: u32, keys: u32) -> String {
    let keys: Vec<String> = (0..keys).map(|n| format!("k{n}")).collect();
    format!(
        "[target]\nurl = \"{}\"\n[load]\nmodel = \"open\"\nrate = \"{rate}/s\"\nconnections = 64\n\
         duration = \"10s\"\n[pools]\nk = {keys:?}\n\
         [[endpoint]]\nname = \"item\"\nrequest = \"GET /item/{{k}}\"\n",
        server.url().trim_end_matches('/')
    )
}

#[test]
fn experiments_ask_for_other_keys() {
    if !of_the_long_list() {
        return;
    }
    for (cause, rate, keys, kind) in [
        ("workload-key-collision", 200, 8, "keys-apart"),
        ("cache-stampede", 300, 10, "keys-apart"),
        ("cache-expiry", 120, 40, "fewer-keys"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::lab(&[cause]).unwrap();
        let (_, report, _) = run_scenario(folder.path(), &keyed(&server, rate, keys));
        if !names(&report, cause) {
            continue;
        }
        let right = tested(folder.path(), &report, cause);
        let intervention = &right["hypothesis"]["intervention"];
        assert_eq!(intervention["kind"], kind, "{right:#}");
        assert_eq!(right["outcome"]["withheld"], 0, "{right:#}");
        if !confirmed(folder.path(), &report) {
            continue;
        }

        let wrong = tested(folder.path(), &report, "delayed-ack");
        assert_ne!(wrong["outcome"]["verdict"], "confirmed", "{wrong:#}");
    }
}

#[test]
fn an_experiment_delays_what_is_asked() {
    if !of_the_long_list() {
        return;
    }
    let lab = lab();
    for (cause, more) in [
        ("sequential-fanout", "\"--call-ms\", \"2\""),
        ("slow-dependency", "\"--every\", \"10\""),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let scenario = format!(
            "[target]\nurl = \"http://127.0.0.1:{{port}}\"\ncommand = [{lab:?}, {cause:?}, \"--port\", \
             \"{{port}}\", \"--upstream\", \"{{service.db.port}}\", {more}]\n\
             [[service]]\nname = \"db\"\n\
             command = [{lab:?}, \"--companion\", \"upstream\", \"{{port}}\"]\nready = \"tcp\"\n\
             [load]\nmodel = \"open\"\nrate = \"80/s\"\nconnections = 32\nduration = \"9s\"\n\
             [[endpoint]]\nname = \"page\"\nrequest = \"GET /\"\n"
        );
        let (_, report, _) = run_scenario(folder.path(), &scenario);
        if !names(&report, cause) {
            continue;
        }
        let right = tested(folder.path(), &report, cause);
        let intervention = &right["hypothesis"]["intervention"];
        assert_eq!(intervention["kind"], "delay-service", "{right:#}");
        confirmed(folder.path(), &report);
    }
}

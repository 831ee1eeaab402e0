//! Lab servers: the named cause is first, and the healthy twin yields no finding. Causes, ranks
//! and shares are asserted; times never are.

use serde_json::Value;

use crate::support::{
    blamed, causes, disturbances, lab, names, of_the_long_list, run_scenario, side_by_side, skipped,
};

/// A scenario that starts a lab server.
fn scenario(server: &str, load: &str) -> String {
    let words: Vec<String> = std::iter::once(lab().display().to_string())
        .chain(server.split(' ').map(str::to_owned))
        .chain(["--port".to_owned(), "{port}".to_owned()])
        .map(|word| format!("{word:?}"))
        .collect();
    format!(
        "[target]\nurl = \"http://127.0.0.1:{{port}}\"\ncommand = [{}]\nready = \"GET /health\"\n\
         [load]\nwarmup = \"1s\"\n{load}\n[[endpoint]]\nname = \"page\"\nrequest = \"GET /\"\n",
        words.join(", ")
    )
}

fn judged(server: &str, load: &str) -> Option<Value> {
    ran(server, load).map(|(_, report)| report)
}

/// The exit code and the report; `None` where the server may not do what it does.
fn ran(server: &str, load: &str) -> Option<(i32, Value)> {
    let folder = tempfile::tempdir().unwrap();
    let (code, report, output) = run_scenario(folder.path(), &scenario(server, load));
    let said = crate::support::stderr(&output);
    if said.contains("lab: skipped: ") {
        skipped(&format!("{server}: not permitted here"));
        return None;
    }
    assert!(!report.is_null(), "{server}: {said}");
    Some((code, report))
}

/// The cause is first in the sick server, with at least this share.
fn sick(server: &str, load: &str, cause: &str, share: f64) {
    let Some(report) = judged(server, load) else {
        return;
    };
    if !names(&report, cause) {
        return;
    }
    let found = report["findings"][0]["share"].as_f64().unwrap();
    // What the host adds to the requests is no part of the cause.
    let why = disturbances(&report);
    if found < share && !why.is_empty() {
        return skipped(&format!("{server}: share {found}: {}", why.join("; ")));
    }
    assert!(found >= share, "{server}: share {found}: {report:#}");
}

/// The server may be slow, but not because of this.
fn not(server: &str, load: &str, cause: &str) {
    let Some(report) = judged(server, load) else {
        return;
    };
    assert!(
        !causes(&report).iter().any(|c| c == cause),
        "{server}: {report:#}"
    );
}

/// Nothing about the server is found.
fn healthy(server: &str, load: &str) {
    let Some(report) = judged(server, load) else {
        return;
    };
    let found = blamed(&report);
    assert!(found.is_empty(), "{server}: {found:?} {report:#}");
}

/// Few connections, so that none rests for long: after a rest of an RTO the client's kernel
/// acknowledges at once, and a delayed acknowledgement cannot be had.
const OPEN: &str = "model = \"open\"\nrate = \"60/s\"\nconnections = 4\nduration = \"6s\"";

#[test]
fn delayed_ack() {
    if !of_the_long_list() {
        return;
    }
    sick("delayed-ack", OPEN, "delayed-ack", 0.8);
    side_by_side(&[&|| healthy("delayed-ack --healthy", OPEN), &|| {
        not("delayed-ack --variant sleep", OPEN, "delayed-ack");
    }]);
}

#[test]
fn fixed_delay() {
    sick("fixed-delay --delay-ms 17", OPEN, "fixed-delay", 0.6);
    if !of_the_long_list() {
        return;
    }
    side_by_side(&[
        &|| healthy("fixed-delay --healthy", OPEN),
        &|| not("fixed-delay --variant jitter", OPEN, "fixed-delay"),
        &|| not("fixed-delay --variant burn", OPEN, "fixed-delay"),
    ]);
}

#[test]
fn cpu_saturation() {
    if !of_the_long_list() {
        return;
    }
    let closed = "model = \"closed\"\nusers = 12\nduration = \"6s\"";
    sick("cpu-saturation --burn-ms 4", closed, "cpu-saturation", 0.5);
}

#[test]
fn accept_queue_overflow() {
    if !of_the_long_list() {
        return;
    }
    let burst = "model = \"closed\"\nusers = 50\nthink = \"0s..100ms\"\n\
                 connection = \"per-request\"\nduration = \"12s\"";
    let few = "model = \"closed\"\nusers = 4\nthink = \"50ms..100ms\"\n\
               connection = \"per-request\"\nduration = \"6s\"";
    side_by_side(&[
        &|| sick("accept-queue-overflow", burst, "accept-queue-overflow", 0.3),
        &|| healthy("accept-queue-overflow --healthy", few),
    ]);
}

#[test]
fn cpu_quota_throttling() {
    let load = "model = \"open\"\nrate = \"33/s\"\nconnections = 32\nduration = \"8s\"";
    side_by_side(&[
        &|| sick("cpu-quota-throttling", load, "cpu-quota-throttling", 0.3),
        &|| healthy("cpu-quota-throttling --healthy", load),
    ]);
}

#[test]
fn clock_jump() {
    if !of_the_long_list() {
        return;
    }
    if let Some((code, report)) = ran("clock-jump", OPEN) {
        // Of the instrument's troubles a host may add the other.
        let findings = report["findings"].as_array().unwrap().iter();
        let others = findings
            .clone()
            .filter(|f| f["cause"] != "client-saturation");
        let found: Vec<&Value> = others.collect();
        assert_eq!(found[0]["cause"], "clock-jump", "{report:#}");
        assert!(found[0]["share"].as_f64() >= Some(0.9), "{report:#}");
        assert_eq!((code, &report["run"]["valid"]), (4, &Value::Bool(false)));
        let repeat = &report["run"]["health"]["repeats"][0];
        let aside = repeat["aside"].as_str().unwrap();
        assert!(aside.contains("wall clock was stepped"), "{repeat:#}");
        assert_eq!(repeat["components"][0]["name"], "clock");
        assert_eq!(repeat["components"][0]["cost"], 40);
    }
}

#[test]
fn client_saturation() {
    let folder = tempfile::tempdir().unwrap();
    let load = "model = \"open\"\nrate = \"2000000/s\"\nconnections = 64\nduration = \"1s\"";
    let (code, report, _) = run_scenario(folder.path(), &scenario("client-saturation", load));
    assert_eq!(code, 4, "{report:#}");
    assert_eq!(
        causes(&report).first().map(String::as_str),
        Some("client-saturation")
    );
    assert_eq!(report["run"]["valid"], false);
}

/// Little enough for most requests to meet nothing, and enough for a convoy.
const CONVOY: &str = "model = \"open\"\nrate = \"80/s\"\nconnections = 8\nduration = \"5s\"";

#[test]
fn lock_held_over_io() {
    let server = "lock-held-over-io --variant remote";
    sick(server, CONVOY, "lock-held-over-io", 0.8);
}

#[test]
fn lock_contention() {
    if !of_the_long_list() {
        return;
    }
    let server = "lock-contention --variant background --burn-ms 30 --period-ms 200";
    sick(server, CONVOY, "lock-contention", 0.5);
}

#[test]
fn event_loop_blocking() {
    if !of_the_long_list() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // What blocks the loop is an endpoint of its own, and slow by design.
    let slow = "[[endpoint]]\nname = \"slow\"\nrequest = \"GET /slow\"\nrate = \"5/s\"\n";
    // Long enough for slow requests of many episodes.
    let load = CONVOY.replace("5s", "9s");
    let text = scenario("event-loop-blocking", &load) + slow;
    let (_, report, output) = run_scenario(folder.path(), &text);
    assert!(!report.is_null(), "{}", crate::support::stderr(&output));
    if names(&report, "event-loop-blocking") {
        assert_eq!(report["findings"][0]["endpoint"], "page", "{report:#}");
    }
}

#[test]
fn run_queue_delay() {
    if !of_the_long_list() {
        return;
    }
    sick("run-queue-delay", CONVOY, "run-queue-delay", 0.5);
}

#[test]
fn healthy_servers() {
    let closed = "model = \"closed\"\nusers = 4\nthink = \"5ms..20ms\"\nduration = \"6s\"";
    side_by_side(&[&|| healthy("healthy", OPEN), &|| healthy("healthy", closed)]);
    side_by_side(&[
        &|| healthy("cpu-saturation --healthy", OPEN),
        &|| healthy("clock-jump --healthy", OPEN),
        &|| healthy("lock-held-over-io --healthy", CONVOY),
    ]);
}

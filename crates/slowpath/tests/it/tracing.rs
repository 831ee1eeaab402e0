//! What tracing shows of servers that others could have written: who held the lock, how often, and
//! that no one is named where no one is to blame. Causes, ranks, shares and names are asserted;
//! times never are, but for periods, which the servers keep.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::foreign::{self, WITH_FRAME_POINTERS, WITHOUT_FRAME_POINTERS};
use crate::support::{
    blamed, causes, copied_to, disturbances, is_root, lab, names, of_the_long_list, run_scenario,
    skipped, stderr, unfit,
};

/// The least share of the excess that the cause must have.
const SHARE: f64 = 0.8;
/// How far a period may be off.
const PERIOD_WITHIN: f64 = 0.1;
/// The id of the user `nobody` of most distributions.
const NOBODY: u32 = 65_534;

/// How long a background thread keeps what it should not keep, and how long it rests: often enough
/// for a period to be found in a run of five seconds.
const HOLD_MS: u32 = 30;
const PAUSE_MS: u32 = 170;

/// Enough connections for a convoy, and a rate at which most requests meet no trouble.
const OPEN: &str = "model = \"open\"\nrate = \"80/s\"\nconnections = 8";

/// As many requests as two connections to a database that answers in 25 ms are just not enough for.
const BUSY: &str = "model = \"open\"\nrate = \"78/s\"\nconnections = 12";

/// Runs a test in a folder that every user of the machine may look into; it ends early where
/// something that it needs is missing.
fn in_folder(test: impl FnOnce(&Path) -> Option<()>) {
    let folder = tempfile::tempdir().unwrap();
    let everyone = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(folder.path(), everyone).unwrap();
    test(folder.path());
}

/// The same for a test of the long list.
fn long(test: impl FnOnce(&Path) -> Option<()>) {
    if of_the_long_list() {
        in_folder(test);
    }
}

/// A scenario that starts a server of this command line; `service` may stand beside it.
fn scenario(words: &[String], service: &str, load: &str) -> String {
    format!(
        "[target]\nurl = \"http://127.0.0.1:{{port}}\"\ncommand = {words:?}\nready = \"tcp\"\n\
         {service}[load]\nwarmup = \"1s\"\nduration = \"5s\"\n{load}\n\
         [[endpoint]]\nname = \"page\"\nrequest = \"GET /\"\n"
    )
}

/// A command with the words that follow it.
fn with(command: Vec<String>, words: &str) -> Vec<String> {
    let words = words.split(' ').map(str::to_owned);
    command.into_iter().chain(words).collect()
}

/// The words of a background thread that does `what` for a while after each pause.
fn background(what: &str) -> String {
    format!("{{port}} {what} {HOLD_MS} {PAUSE_MS}")
}

fn report_of((_, report, output): (i32, Value, Output)) -> Value {
    assert!(!report.is_null(), "{}", stderr(&output));
    report
}

fn judged(folder: &Path, command: &[String]) -> Value {
    report_of(run_scenario(folder, &scenario(command, "", OPEN)))
}

/// The same by a user who may only observe his own processes.
fn judged_by_nobody(folder: &Path, command: &[String]) -> Value {
    if !is_root() {
        return judged(folder, command);
    }
    let binary = copied_to(folder);
    std::fs::write(folder.join("scenario.toml"), scenario(command, "", OPEN)).unwrap();
    std::os::unix::fs::chown(folder, Some(NOBODY), Some(NOBODY)).unwrap();
    let output = Command::new("setpriv")
        .args([
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            "--inh-caps=-all",
        ])
        .arg(binary)
        .args(["run", "scenario.toml", "--json", "report.json"])
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env("HOME", folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let report = std::fs::read_to_string(folder.join("report.json"))
        .map_or(Value::Null, |text| serde_json::from_str(&text).unwrap());
    report_of((output.status.code().unwrap_or(-1), report, output))
}

/// The cause is the answer, and it has most of the excess; the finding, unless the host was unfit.
fn found<'a>(report: &'a Value, cause: &str) -> Option<&'a Value> {
    if !names(report, cause) {
        return None;
    }
    let finding = &report["findings"][0];
    // Without privilege a share is an estimate from looks: its interval must reach so far.
    let is_estimate = report["trace"]["depth"] == "threads";
    let of = if is_estimate { "share_high" } else { "share" };
    let share = finding[of].as_f64().unwrap();
    let why = disturbances(report);
    if share < SHARE && !why.is_empty() {
        skipped(&format!("{cause}: share {share}: {}", why.join("; ")));
        return None;
    }
    assert!(share >= SHARE, "{cause}: share {share}: {report:#}");
    Some(finding)
}

/// The holder is named by its thread, the function it stood in and its period.
fn holder(report: &Value, cause: &str, thread: &str, function: Option<&str>) {
    let Some(finding) = found(report, cause) else {
        return;
    };
    let culprit = &finding["culprit"];
    assert_eq!(culprit["thread"], thread, "{finding:#}");
    if let Some(function) = function {
        let frames = culprit["stack"].as_array().unwrap().iter();
        let mut frames = frames.filter_map(Value::as_str);
        assert!(frames.any(|frame| frame.contains(function)), "{finding:#}");
    }
    let period_ms = culprit["period_ms"].as_f64();
    let why = unfit(report);
    if period_ms.is_none() && !why.is_empty() {
        return skipped(&format!("{cause}: no period: {}", why.join("; ")));
    }
    let period_ms = period_ms.unwrap_or(f64::NAN);
    let ratio = period_ms / f64::from(HOLD_MS + PAUSE_MS);
    assert!((ratio - 1.0).abs() <= PERIOD_WITHIN, "{finding:#}");
}

/// Nothing about the server is found.
fn clean(report: &Value) {
    assert!(blamed(report).is_empty(), "{report:#}");
}

/// The server is slow, and none of these is the reason.
fn not(report: &Value, wrong: &[&str]) {
    let found = causes(report);
    let is_wrong = found.iter().any(|cause| wrong.contains(&cause.as_str()));
    assert!(!is_wrong, "{found:?} {report:#}");
}

const LOCKS: &[&str] = &["lock-held-over-io", "lock-contention"];

#[test]
fn a_holder_that_sleeps_is_named() {
    in_folder(|folder| {
        let server = foreign::c(folder, WITH_FRAME_POINTERS)?;
        let report = judged(folder, &with(server, &background("sleep")));
        let function = is_root().then_some("flush_under_lock");
        holder(&report, "lock-held-over-io", "flusher", function);
        Some(())
    });
}

#[test]
fn a_holder_is_named_without_privilege_and_without_frame_pointers() {
    in_folder(|folder| {
        let server = foreign::c(folder, WITHOUT_FRAME_POINTERS)?;
        let report = judged_by_nobody(folder, &with(server, &background("sleep")));
        holder(&report, "lock-held-over-io", "flusher", None);
        Some(())
    });
}

#[test]
fn a_server_that_is_started_anew_on_another_port_is_followed_in_every_repeat() {
    if !is_root() {
        skipped("not root");
        return;
    }
    in_folder(|folder| {
        let server = [lab().to_str()?, "healthy", "--port", "{port}"].map(str::to_owned);
        let text = scenario(&server, "", &format!("{OPEN}\nrepeats = 2"));
        let text = text.replace("\"5s\"", "\"1s\"");
        let report = report_of(run_scenario(folder, &text));
        let unjoined = report["trace"]["unjoined"].as_array().unwrap();
        let unseen = unjoined
            .iter()
            .find(|one| one["why"] == "its connection was not seen");
        assert_eq!(unseen, None, "{}", report["trace"]);
        Some(())
    });
}

#[test]
fn the_same_sleep_beside_the_lock_is_no_finding() {
    long(|folder| {
        let server = foreign::c(folder, WITHOUT_FRAME_POINTERS)?;
        clean(&judged(folder, &with(server, &background("beside"))));
        Some(())
    });
}

#[test]
fn the_same_sleep_beside_the_lock_is_no_finding_without_privilege() {
    long(|folder| {
        let server = foreign::c(folder, WITH_FRAME_POINTERS)?;
        clean(&judged_by_nobody(
            folder,
            &with(server, &background("beside")),
        ));
        Some(())
    });
}

#[test]
fn a_holder_is_named_without_frame_pointers() {
    long(|folder| {
        let server = foreign::c(folder, WITHOUT_FRAME_POINTERS)?;
        let report = judged(folder, &with(server, &background("sleep")));
        let function = is_root().then_some("flush_under_lock");
        holder(&report, "lock-held-over-io", "flusher", function);
        Some(())
    });
}

#[test]
fn a_holder_that_waits_for_the_disk_is_named() {
    long(|folder| {
        let server = foreign::c(folder, WITH_FRAME_POINTERS)?;
        let report = judged(folder, &with(server, &background("disk")));
        let function = is_root().then_some("write_disk");
        holder(&report, "lock-held-over-io", "flusher", function);
        Some(())
    });
}

#[test]
fn a_holder_that_calls_a_collector_is_named() {
    long(|folder| {
        let server = foreign::c(folder, WITH_FRAME_POINTERS)?;
        let service = foreign::collector(HOLD_MS);
        let words = background("call") + " {service.collector.port}";
        let scenario = scenario(&with(server, &words), &service, OPEN);
        let report = report_of(run_scenario(folder, &scenario));
        let function = is_root().then_some("call_collector");
        holder(&report, "lock-held-over-io", "flusher", function);
        Some(())
    });
}

/// The summary says that the holder waits for an answer of that process on this host.
fn waits_for(report: &Value, process: &str) {
    let summary = report["findings"][0]["summary"]
        .as_str()
        .unwrap_or_default();
    let is_told = summary.contains("waits for a reply from 127.0.0.1:")
        && summary.contains(&format!("(process {process} on this host)"));
    if report["findings"][0]["cause"] == "lock-held-over-io" && is_root() {
        assert!(is_told, "{report:#}");
    }
}

#[test]
fn an_exporter_is_named_with_its_collector_and_its_end_is_foreseen() {
    long(|folder| {
        let times = format!(
            "{{port}} --export-ms {HOLD_MS} --interval-ms {}",
            HOLD_MS + PAUSE_MS
        );
        let server = vec![lab().display().to_string(), "blocking-telemetry".to_owned()];
        let command = with(server, &format!("--port {times}"));
        // A p99 takes more requests than a cause does.
        let often = OPEN.replace("80/s", "200/s");
        let run = |extra: &str| report_of(run_scenario(folder, &scenario(&command, extra, &often)));
        let sick = run("");
        holder(
            &sick,
            "lock-held-over-io",
            "otel-export",
            is_root().then_some("post"),
        );
        waits_for(&sick, "lab");
        let without = run("[target.env]\nOTEL_SDK_DISABLED = \"true\"\n");
        clean(&without);
        let (foreseen, found) = (
            &sick["findings"][0]["prediction"],
            &without["endpoints"][0]["latency_ms"]["p99"],
        );
        let why = [disturbances(&sick), disturbances(&without)].concat();
        if foreseen["metric"] != "page.p99" || found["value"].is_null() || !why.is_empty() {
            skipped(&format!(
                "no p99 to compare with {foreseen}: {}",
                why.join("; ")
            ));
            return Some(());
        }
        // What was measured is an interval too: the two must have something in common.
        let ends = [
            &foreseen["low_ms"],
            &found["high"],
            &found["low"],
            &foreseen["high_ms"],
        ];
        let [from, high, low, to] = ends.map(|end| end.as_f64().unwrap());
        assert!(from <= high && low <= to, "{foreseen} and then {found}");
        Some(())
    });
}

#[test]
fn a_log_that_is_posted_under_its_lock_is_found() {
    long(|folder| {
        let (server, service) = foreign::logs(folder, 3)?;
        let run = |mode: &str| {
            let words = format!("{{port}} {mode} {{service.collector.port}} 20");
            let command = with(server.clone(), &words);
            report_of(run_scenario(folder, &scenario(&command, &service, OPEN)))
        };
        let sick = run("buffered");
        // Requests that send the records themselves have a part of the excess.
        names(&sick, "lock-held-over-io");
        waits_for(&sick, "lab");
        clean(&run("queued"));
        Some(())
    });
}

#[test]
fn a_holder_that_computes_is_contention() {
    long(|folder| {
        let server = foreign::c(folder, WITH_FRAME_POINTERS)?;
        let report = judged(folder, &with(server, &background("burn")));
        let function = is_root().then_some("compute");
        holder(&report, "lock-contention", "flusher", function);
        Some(())
    });
}

#[test]
fn a_stop_of_all_threads_is_no_lock() {
    long(|folder| {
        let server = foreign::c(folder, WITH_FRAME_POINTERS)?;
        not(&judged(folder, &with(server, &background("stop"))), LOCKS);
        Some(())
    });
}

#[test]
fn a_pool_of_two_is_no_lock() {
    long(|folder| {
        let server = foreign::c(folder, WITH_FRAME_POINTERS)?;
        not(&judged(folder, &with(server, "{port} pool 20 0")), LOCKS);
        Some(())
    });
}

#[test]
fn a_lock_of_goroutines_is_not_guessed() {
    long(|folder| {
        let server = foreign::go(folder)?;
        for mode in ["lock", "beside"] {
            // What waits in user space is not seen by the kernel, and no thread of it is named.
            let report = judged(folder, &with(server.clone(), &background(mode)));
            let findings = report["findings"].as_array().unwrap().iter();
            let mut threads = findings.filter(|finding| !finding["culprit"]["thread"].is_null());
            assert!(threads.next().is_none(), "{mode}: {report:#}");
            not(&report, LOCKS);
        }
        Some(())
    });
}

#[test]
fn a_lock_of_python_threads_is_found() {
    long(|folder| {
        let server = foreign::python(folder)?;
        let report = judged(folder, &with(server.clone(), &background("lock")));
        found(&report, "lock-held-over-io");
        clean(&judged(folder, &with(server, &background("beside"))));
        Some(())
    });
}

#[test]
fn a_database_that_is_asked_over_a_unix_socket_is_asked() {
    in_folder(|folder| {
        let (server, service) = foreign::unix(folder)?;
        let modes = [
            ("one", "slow-dependency"),
            ("row", "sequential-fanout"),
            ("pool", "connection-pool-exhaustion"),
        ];
        for (mode, cause) in modes {
            let command = with(server.clone(), mode);
            let report = report_of(run_scenario(folder, &scenario(&command, &service, BUSY)));
            if !is_root() {
                return None;
            }
            let all = causes(&report);
            let why = unfit(&report);
            if !all.contains(&cause.to_owned()) && !why.is_empty() {
                skipped(&format!("{cause} over a Unix socket: {}", why.join("; ")));
                continue;
            }
            let findings = report["findings"].to_string();
            // A pool of which not all connections were seen in use is named beside a limit.
            let other = format!("\"or\":[\"{cause}\"]");
            if !all.contains(&cause.to_owned()) && findings.contains(&other) {
                continue;
            }
            assert!(all.contains(&cause.to_owned()), "{mode}: {all:?}");
            assert!(findings.contains("db.sock"), "{mode}: {findings}");
        }
        Some(())
    });
}

#[test]
fn a_monitor_of_java_threads_is_found() {
    long(|folder| {
        let server = foreign::java(folder)?;
        let report = judged(folder, &with(server.clone(), &background("lock")));
        holder(&report, "lock-held-over-io", "flusher", None);
        for words in [background("collect"), "{port} pool 20 0".to_owned()] {
            not(&judged(folder, &with(server.clone(), &words)), LOCKS);
        }
        Some(())
    });
}

#[test]
fn a_blocked_loop_of_node_is_found() {
    long(|folder| {
        let server = foreign::node(folder)?;
        let report = judged(folder, &with(server.clone(), "{port} block 40 40"));
        names(&report, "event-loop-blocking");
        let report = judged(folder, &with(server, "{port} beside 40 40"));
        not(&report, &["event-loop-blocking", LOCKS[0], LOCKS[1]]);
        Some(())
    });
}

#[test]
fn a_healthy_nginx_has_no_finding() {
    long(|folder| {
        let server = foreign::nginx(folder)?;
        clean(&judged(folder, &with(server, "{port}")));
        Some(())
    });
}

/// The share of the tail in which a thread slept, wherever in the tree.
fn slept(nodes: &Value) -> f64 {
    let nodes = nodes.as_array().into_iter().flatten();
    let share = |node: &Value| match node["kind"].as_str() {
        Some("sleep") => node["share"].as_f64().unwrap(),
        _ => slept(&node["children"]),
    };
    nodes.map(share).sum()
}

#[test]
fn a_transaction_that_sleeps_is_found_through_the_database() {
    long(|folder| {
        let (front, service) = foreign::postgres(folder)?;
        let words =
            |mode: &str| format!("{{port}} {{service.db.port}} {mode} {HOLD_MS} {PAUSE_MS}");
        let run = |mode: &str| {
            let command = with(front.clone(), &words(mode));
            report_of(run_scenario(folder, &scenario(&command, &service, OPEN)))
        };
        clean(&run("beside"));
        // From the front's thread to its session in the database, from that to the session that
        // has the row, and from that to the thread of the front that sleeps.
        let report = run("lock");
        if is_root() && disturbances(&report).is_empty() {
            let share = slept(&report["trace"]["endpoints"][0]["tail"]["nodes"]);
            assert!(share >= SHARE / 2.0, "{share}: {report:#}");
        }
        Some(())
    });
}

//! The table of faults: what a server did to its clients, by its own count, and what slowpath says
//! of it. `cargo test -p slowpath --test it error_table -- --nocapture` prints it.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use serde_json::Value;
use slowpath_core::sample::{Outcome, Sample, Stage};

use crate::faulty::{Fault, Faulty};
use crate::support::{assert_exit, of_the_long_list, run_scenario, side_by_side, stderr};

/// Connections, as many users of a closed loop.
const CONNECTIONS: usize = 50;

/// Connections that the server with the short backlog serves.
const SERVED: usize = 8;

/// One line of the table.
struct Row {
    fault: Fault,
    /// Class, phase and errno that slowpath must say.
    said: (Outcome, &'static str, Option<&'static str>),
}

const ROWS: [Row; 4] = [
    Row {
        fault: Fault::ResetInBody,
        said: (Outcome::Reset, "body", Some("ECONNRESET")),
    },
    Row {
        fault: Fault::CloseBeforeByte,
        said: (Outcome::Closed, "first-byte", None),
    },
    Row {
        fault: Fault::TruncatedBody,
        said: (Outcome::Truncated, "body", None),
    },
    Row {
        fault: Fault::NeverAnswered,
        said: (Outcome::Timeout, "first-byte", None),
    },
];

/// What a run left: its exit code, its report, and every request.
struct Left {
    code: i32,
    report: Value,
    samples: Vec<Sample>,
}

fn load(address: SocketAddr, seconds: u32) -> Left {
    let scenario = format!(
        "[target]\nurl = \"http://{address}\"\n[load]\nmodel = \"closed\"\nusers = {CONNECTIONS}\nthink = \"40ms\"\n\
         duration = \"{seconds}s\"\nwarmup = \"500ms\"\ntimeout = \"1s\"\n\
         [[endpoint]]\nname = \"it\"\nrequest = \"GET /{{seq}}\"\n"
    );
    let folder = tempfile::tempdir().unwrap();
    let (code, report, output) = run_scenario(folder.path(), &scenario);
    assert!(report.is_object(), "{}", stderr(&output));
    let id = report["run"]["id"].as_str().unwrap();
    let run = folder.path().join(".slowpath/runs").join(id);
    let samples = slowpath_record::read(&run).unwrap().samples.to_vec();
    Left {
        code,
        report,
        samples,
    }
}

impl Left {
    fn endpoint(&self) -> &Value {
        &self.report["endpoints"][0]
    }

    /// Failures are reported by the exit code, unless this machine was too busy to measure at all.
    fn failed(&self) {
        assert_exit(self.code, &self.report, 6);
    }

    fn number(&self, field: &str) -> u64 {
        self.endpoint()[field].as_u64().unwrap()
    }

    fn errors(&self) -> &[Value] {
        self.endpoint()["errors"].as_array().unwrap()
    }

    /// Completed + failed + unfinished = offered, and the share says so.
    fn adds_up(&self) {
        let failed: u64 = self
            .errors()
            .iter()
            .map(|e| e["count"].as_u64().unwrap())
            .sum();
        let offered = self.number("offered");
        let sum = self.number("completed") + failed + self.number("unfinished");
        assert_eq!(sum, offered, "{}", self.endpoint());
        let served = self.endpoint()["served"].as_f64().unwrap();
        let share = self.number("completed") as f64 / offered as f64;
        assert!((served - share).abs() < 1e-6, "{served} {share}");
    }

    fn print(&self, name: &str, truth: &str) {
        let said: Vec<String> = self
            .errors()
            .iter()
            .map(|e| {
                let errno = e["errno"].as_str().unwrap_or("-");
                format!("{} {} in {} ({errno})", e["count"], e["class"], e["phase"])
            })
            .collect();
        eprintln!("| {name} | {truth} | {} | {} |", said.join(", "), self.code);
        for error in self.errors() {
            eprintln!("|   | {} |", error["summary"].as_str().unwrap());
        }
        for notable in self.report["connections"]["notable"].as_array().unwrap() {
            eprintln!("|   | {} |", notable.as_str().unwrap());
        }
    }
}

/// What every run must satisfy whatever the server does: each request that the server saw is one
/// sample, none was sent twice.
fn nothing_was_repeated(left: &Left, seen: &BTreeMap<u32, Vec<Fault>>) {
    let serials: BTreeMap<u32, &Sample> = left.samples.iter().map(|s| (s.serial, s)).collect();
    assert_eq!(serials.len(), left.samples.len());
    for (serial, faults) in seen {
        assert_eq!(
            faults.len(),
            1,
            "request {serial} came {} times",
            faults.len()
        );
        assert!(
            serials.contains_key(serial),
            "request {serial} has no sample"
        );
    }
}

#[test]
fn each_fault_is_counted_as_the_server_counts_it() {
    eprintln!("| fault | server | slowpath, of the measured window | exit code |");
    for pair in ROWS.chunks(2) {
        let rows: Vec<_> = pair.iter().map(|row| move || is_counted(row)).collect();
        let rows: Vec<&(dyn Fn() + Sync)> = rows.iter().map(|row| row as _).collect();
        side_by_side(&rows);
    }
}

fn is_counted(Row { fault, said }: &Row) {
    let server = Faulty::start(Some(*fault), None);
    let left = load(server.address, 3);
    let seen = server.end();
    nothing_was_repeated(&left, &seen);
    left.adds_up();
    left.failed();

    // Request by request: what the server did is what the sample says, and nothing else is.
    let mut counts = (0, 0);
    for sample in &left.samples {
        let did = seen.get(&sample.serial).map(|faults| faults[0]);
        if sample.outcome == Outcome::Unfinished {
            continue;
        }
        let meant = if did == Some(*fault) {
            (said.0, said.1)
        } else {
            (Outcome::Ok, "check")
        };
        assert_eq!((sample.outcome, sample.phase.name()), meant, "{sample:?}");
        if did == Some(*fault) {
            counts.0 += 1;
            counts.1 += u64::from(sample.stage == Stage::Measured);
        }
    }
    assert!(counts.1 >= 10, "{fault:?}: {counts:?}");

    // The report: one kind of error, with the server's count in the measured window.
    let [error] = left.errors() else {
        panic!("{fault:?}: {:?}", left.errors());
    };
    assert_eq!(error["class"], said.0.name());
    assert_eq!(error["phase"], said.1);
    assert_eq!(error["errno"].as_str(), said.2);
    assert_eq!(error["count"].as_u64(), Some(counts.1));
    let examples = error["examples"].as_array().unwrap();
    assert_eq!(examples.len(), 5);
    for example in examples {
        let serial = example["serial"].as_u64().unwrap() as u32;
        assert_eq!(seen[&serial], [*fault]);
    }
    assert!(
        left.report["logs_unseen"]
            .as_str()
            .unwrap()
            .contains("target.command")
    );
    let did = seen.values().filter(|faults| faults[0] == *fault).count();
    left.print(
        &format!("{fault:?}"),
        &format!("{did} in all, {} in the window", counts.1),
    );
}

#[test]
fn a_server_without_faults_has_none() {
    let server = Faulty::start(None, None);
    let left = load(server.address, 3);
    let seen = server.end();
    nothing_was_repeated(&left, &seen);
    left.adds_up();
    assert!(left.errors().is_empty() && left.code != 6, "{}", left.code);
    let notable = left.report["connections"]["notable"].as_array();
    assert_eq!(notable, Some(&Vec::new()));
    left.print("none", "0");
}

#[test]
fn connections_that_are_never_served_are_counted() {
    // One more for slowpath's own look whether something listens.
    let server = Faulty::start(None, Some(SERVED + 1));
    // Time for three timeouts of every user, of which two are asked for.
    let left = load(server.address, 4);
    let seen = server.end();
    nothing_was_repeated(&left, &seen);
    left.adds_up();
    left.failed();
    let completed = left.samples.iter().filter(|s| s.outcome == Outcome::Ok);
    let unfinished = left
        .samples
        .iter()
        .filter(|s| s.outcome == Outcome::Unfinished);
    let answered = completed.count();
    // What the end of the run overtook may have been answered.
    let overtaken = unfinished.filter(|s| seen.contains_key(&s.serial)).count();
    assert_eq!(answered + overtaken, seen.len());
    for error in left.errors() {
        assert_eq!(error["class"], "timeout", "{error}");
    }
    // Those in the queue of the listener got a connection and no byte; the others not even that.
    let phases: Vec<&str> = left
        .errors()
        .iter()
        .map(|e| e["phase"].as_str().unwrap())
        .collect();
    assert!(phases.contains(&"connect"), "{phases:?}");
    let connections = &left.report["connections"];
    // On a busy machine one that was served may give up, and then it finds no room any more.
    let measured = left.samples.iter().filter(|s| s.stage == Stage::Measured);
    let served = measured.filter(|s| seen.contains_key(&s.serial));
    let served: BTreeSet<u32> = served.map(|s| s.user).collect();
    assert!(served.len() <= SERVED, "{served:?}");
    let never = CONNECTIONS - served.len();
    assert_eq!(connections["users_never_served"], never);
    assert_eq!(connections["users"], CONNECTIONS);
    let notable = connections["notable"].to_string();
    let told = format!("{never} of 50 users never got a whole response");
    assert!(notable.contains(&told), "{notable}");
    let timed_out: u64 = left
        .errors()
        .iter()
        .map(|e| e["count"].as_u64().unwrap())
        .sum();
    let bound = &left.endpoint()["latency_ms"]["max"];
    assert_eq!(bound["censored_by"], "timeout");
    assert!(
        bound["above"].as_f64().unwrap() >= 1000.0 && bound["value"].is_null(),
        "{bound}"
    );
    left.print("8 served, backlog 8", &format!("{} answered", seen.len()));
    assert!(
        timed_out >= 2 * (CONNECTIONS - SERVED) as u64,
        "{timed_out}"
    );
}

#[test]
fn nothing_is_answered_at_all() {
    if !of_the_long_list() {
        return;
    }
    let server = Faulty::start(None, Some(0));
    let left = load(server.address, 3);
    assert!(server.end().is_empty());
    left.adds_up();
    left.print("nothing answered", "0 answered");
    left.failed();
    assert_eq!(left.number("completed"), 0);
    assert_eq!(left.endpoint()["served"], 0.0);
    assert_eq!(
        left.report["connections"]["users_never_served"],
        CONNECTIONS
    );
}

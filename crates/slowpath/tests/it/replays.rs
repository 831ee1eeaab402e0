//! Traced runs that were recorded once are judged again, by any user and without any privilege,
//! and the answer is the same to the byte. `UPDATE=1 cargo test` writes what is said now: the one who
//! does that reads the difference.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::{copied_to, is_root, root, stderr};

/// The id of the user `nobody` of most distributions.
const NOBODY: u32 = 65_534;

/// What each run must be blamed on; nothing for one in which all is well, or nothing can be decided.
const RUNS: [(&str, Option<&str>); 52] = [
    ("lock-in-c", Some("lock-held-over-io")),
    ("lock-in-c-unprivileged", Some("lock-held-over-io")),
    ("lock-in-go", None),
    ("lock-in-go-profiled", Some("lock-held-over-io")),
    ("exporter", Some("lock-held-over-io")),
    ("exporter-on-this-host", Some("lock-held-over-io")),
    ("logs-in-python", Some("lock-held-over-io")),
    ("spans", Some("fixed-delay")),
    ("healthy-nginx", None),
    // Requests wait in a line inside of the program before one that asks another server 9 ms each: what the
    // server is asked in that time is for others, and its replies are no slower for those who wait longer.
    ("line-in-python", Some("lock-held-over-io")),
    // The queue of one fits what arrives and leaves: what holds it waits for the other server.
    ("line-in-node", Some("lock-held-over-io")),
    // A query without an index, in SQLite within the target.
    ("scan-in-sqlite", Some("slow-scan")),
    // SQLite looks again and again whether another thread's transaction is over (`sqlite3_busy_timeout`).
    ("poll-in-python", Some("poll-tick")),
    // The target connects for each request, and the queue of the other server, which sleeps now and then, is full.
    ("dial-not-taken", Some("accept-queue-overflow")),
    // A statement of another session has locked the rows, and computes (`REFRESH MATERIALIZED VIEW`); the target is in Go.
    ("lock-in-postgres", Some("lock-contention")),
    // One command of another client occupies Redis (`KEYS`).
    ("keys-in-redis", Some("slow-scan")),
    // Of five servers that goroutines ask, one takes questions and never answers.
    ("hanging-memcached", Some("upstream-timeout")),
    // A front sends a head and a body in two writes over a kept connection, and its upstream server acknowledges late.
    ("nagle-behind-nginx", Some("delayed-ack")),
    // Each mail has a session of its own with the server: `slow-dependency or connection-per-call`.
    ("mail-without-pool", Some("slow-dependency")),
    // A thread of the pool of an event loop looks every 50 ms for a lock file.
    ("file-lock-in-daphne", Some("poll-tick")),
    // A session of PostgreSQL sleeps before it writes a commit to the disk, so that others join it (`commit_delay`).
    ("group-commit-in-postgres", Some("batch-window")),
    // A client of Redis finds a lock taken, sleeps 100 ms and asks for it again.
    ("lock-in-redis-looked-at", Some("poll-tick")),
    // The event loop of a Redis client runs what a request does with its reply, and that waits for another server.
    ("loop-blocked-in-lettuce", Some("event-loop-blocking")),
    // A client that is not slowpath holds a lock of the server, which fetches a file while it holds it.
    ("lock-of-another-client", Some("lock-held-over-io")),
    // A pool of processes replaces each after 25 jobs.
    ("pool-of-processes", Some("worker-restart")),
    // The target is a reverse proxy; its upstream waits for a memcached that does not answer.
    ("timeout-behind-fpm", Some("upstream-timeout")),
    // Goroutines wait for the mutex of a logger, which one of them has that writes to a full Unix socket.
    ("log-in-go", Some("log-flush")),
    // The other server allows four streams of a connection, which calls of one view have.
    ("streams-in-grpc", Some("concurrency-limit")),
    // One request in ten asks how old each of 15,000 files of sessions is.
    ("sessions-collected-in-php", Some("slow-scan")),
    // A broker's second small segment waits for an acknowledgement; a thread of the client library reads for all requests.
    ("nagle-in-mosquitto", Some("delayed-ack")),
    // A session of MariaDB waits 60 ms within a commit, so that others join it (`binlog_commit_wait_usec`).
    ("group-commit-in-mariadb", Some("batch-window")),
    // An update that lost a race is tried again after a pause of a library, over a connection that all share.
    ("retry-in-go", Some("retry-backoff")),
    // The same in a program that polls its connections itself, and hands what it reads to goroutines that read none.
    ("retry-handed-to-a-goroutine", Some("retry-backoff")),
    // Threads of a loop's pool ask PostgreSQL, which lets others join a commit.
    ("group-commit-behind-waitress", Some("batch-window")),
    // One request in ten asks how old each of 32,000 files of sessions is; the target is nginx and the workers that it asks.
    ("sessions-collected-behind-nginx", Some("slow-scan")),
    // A thread of a loop's pool asks for a row again, which was refused before.
    ("retry-behind-waitress", Some("retry-backoff")),
    // The loop of a proxy asks a memcached that does not answer, until a timeout is over: `upstream-timeout or slow-dependency`.
    ("timeout-behind-twemproxy", Some("upstream-timeout")),
    // `ALTER TABLE` waits for a report to end, and queries of the target wait for it; sessions look for deadlocks in between.
    ("queue-for-a-lock-in-postgres", Some("lock-contention")),
    // The script that keeps Redis busy was sent by another program.
    (
        "command-of-another-client-in-redis",
        Some("slow-dependency"),
    ),
    // A process of Erlang takes one message at a time: `worker-pool-exhaustion or lock-held-over-io`.
    ("mailbox-in-elixir", Some("worker-pool-exhaustion")),
    // Threads that take tasks by turns are blocked in JDBC, as many as there are.
    (
        "dispatcher-blocked-in-pekko",
        Some("worker-pool-exhaustion"),
    ),
    // Virtual threads sleep in `synchronized`, and keep the threads that carry them.
    ("carriers-pinned-in-java", Some("worker-pool-exhaustion")),
    // Requests are handed to threads which wait for a monitor; its holder waits for a reply.
    ("lock-behind-a-dispatcher", Some("lock-held-over-io")),
    // A runtime that parks makes a thread, which computes for most of the slow requests: no cause, but where the time went.
    ("thread-made-in-tokio", None),
    // Threads wait for a monitor of Java, which is passed on to threads that came later: those were between two requests before.
    ("monitor-passed-on-in-java", Some("lock-contention")),
    // The four threads of an `io_context` wait for another server, and take up no connection; each request has one of its own.
    ("threads-of-asio-blocked", Some("worker-pool-exhaustion")),
    (
        "idle-in-transactions-in-node",
        Some("connection-pool-exhaustion"),
    ),
    (
        "pool-behind-a-relay-in-node",
        Some("connection-pool-exhaustion"),
    ),
    ("blocked-worker-in-tokio", Some("event-loop-blocking")),
    ("nagle-in-mod-php", Some("delayed-ack")),
    // A thread for each request, which waits on the connection for the next one.
    ("idle-connections-in-tomcat", Some("workers-held-idle")),
    ("slow-bodies-to-go", Some("slow-client")),
];

pub(crate) fn fixture(name: &str) -> PathBuf {
    root()
        .join("crates/slowpath/tests/fixtures/traced")
        .join(name)
}

/// Copies a run, since judging it writes beside it.
pub(crate) fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copied(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).unwrap();
        }
        if is_root() {
            chown(&target, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }
    if is_root() {
        chown(to, Some(NOBODY), Some(NOBODY)).unwrap();
    }
}

/// What `explain` says of a run, asked by the user `nobody` where the tests are run by root.
fn explained(name: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let (run, report) = (folder.path().join(name), folder.path().join("said.json"));
    copied(&fixture(name), &run);
    let binary = copied_to(folder.path());
    let mut explain = Command::new(&binary);
    explain.current_dir(folder.path());
    explain.arg("explain").arg(&run).arg("--json").arg(&report);
    if is_root() {
        explain.uid(NOBODY).gid(NOBODY);
    }
    let output = explain.output().unwrap();
    assert!(report.exists(), "{name}: {}", stderr(&output));
    fs::read_to_string(report).unwrap()
}

/// Judges runs, and compares with what is kept.
fn judge<'r>(runs: impl Iterator<Item = &'r (&'static str, Option<&'static str>)>) {
    for &(name, cause) in runs {
        let said = explained(name);
        assert_eq!(said, explained(name), "{name} is judged in two ways");
        let expected = fixture(name).with_extension("report.json");
        if std::env::var_os("UPDATE").is_some() {
            fs::write(&expected, &said).unwrap();
        }
        let report: Value = serde_json::from_str(&said).unwrap();
        let first = report["findings"][0]["cause"].as_str();
        assert_eq!(first, cause, "{name}: {:#}", report["findings"]);
        let before = fs::read_to_string(&expected).unwrap();
        assert!(
            said == before,
            "{name} is judged in another way than before"
        );
    }
}

// Two tests run at a time, and all runs are too many for one of them.
#[test]
fn recorded_runs_are_judged_as_they_were() {
    judge(RUNS.iter().step_by(2));
}

#[test]
fn other_recorded_runs_are_judged_as_they_were() {
    judge(RUNS.iter().skip(1).step_by(2));
}

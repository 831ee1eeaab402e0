//! What the probes make of the trees in `fixtures/`.

use std::path::Path;

use slowpath_core::signal::*;
use slowpath_core::timeline::{Gap, Subject};
use slowpath_observe::observer::Observer;

use super::{Seen, gap, watch};

const WEB: Subject = Subject::Process { pid: 100 };
const WORKER: Subject = Subject::Process { pid: 110 };
/// A port on which no process of the machine that runs the tests listens: tcpmux is not in use.
const NO_PORT: u16 = 1;

/// Observes a tree once at the start and once at the end.
fn observe(tree: &str) -> (Seen, Vec<Gap>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures")
        .join(tree);
    let seen = Seen::default();
    let observer = Observer::start(watch(&root, &[100], NO_PORT), seen.sink());
    assert!(
        seen.any(&HOST_CPUS, |_| true),
        "the first reading comes before start returns"
    );
    (seen.clone(), observer.stop())
}

/// Every reading of each of these series has this value, and there are at least two.
fn check(seen: &Seen, expected: &[(&'static Signal, Subject, &str, f64)]) {
    let mut wrong = Vec::new();
    for (signal, subject, label, value) in expected {
        let values = seen.values(signal, subject, label);
        if values.len() < 2 || values.iter().any(|v| (v - value).abs() > 0.5) {
            wrong.push(format!(
                "{} {subject} {label:?}: {values:?}, not {value}",
                signal.id
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_full_tree_gives_every_signal_of_procfs() {
    let (seen, gaps) = observe("linux-6.8-cgroup-v2");
    let page = rustix::param::page_size() as f64;
    let tick = 1e9 / rustix::param::clock_ticks_per_second() as f64;
    let thread = |tid| Subject::Thread { pid: 100, tid };
    check(
        &seen,
        &[
            (&PROCESS_CPU_USER, WEB, "", 250.0 * tick),
            (&PROCESS_CPU_SYSTEM, WEB, "", 50.0 * tick),
            (&PROCESS_FAULTS_MINOR, WEB, "", 3821.0),
            (&PROCESS_FAULTS_MAJOR, WEB, "", 8.0),
            (&PROCESS_THREADS, WEB, "", 3.0),
            (&PROCESS_RSS, WEB, "", 965.0 * page),
            (&PROCESS_RSS, WORKER, "", 20.0 * page),
            (&THREAD_RUN, thread(100), "", 1000.0),
            (&THREAD_RUN, thread(101), "", 2000.0),
            (&THREAD_RUN_DELAY, thread(102), "", 30.0),
            (&PROCESS_THREADS_STATE, WEB, "S", 2.0),
            (&PROCESS_THREADS_STATE, WEB, "R", 1.0),
            (&PROCESS_THREADS_STATE, WORKER, "D", 1.0),
            (&PROCESS_THREADS_WAIT, WEB, "do_epoll_wait", 2.0),
            (&PROCESS_THREADS_WAIT, WORKER, "folio_wait_bit_common", 1.0),
            (&PROCESS_THREADS_CALL, WEB, "epoll_pwait2", 1.0),
            (&PROCESS_THREADS_CALL, WEB, "epoll_pwait2:untimed", 1.0),
            (&HOST_CPU_BUSY, Subject::Host, "", 156.0 * tick),
            (&HOST_CPU_IDLE, Subject::Host, "", 1020.0 * tick),
            (&HOST_CPU_STEAL, Subject::Host, "", 7.0 * tick),
            (&HOST_CPUS, Subject::Host, "", 2.0),
            (&HOST_PSI_CPU, Subject::Host, "", 23_744_580e3),
            (&HOST_PSI_IO, Subject::Host, "", 11e3),
            (
                &NET_COUNTER,
                Subject::Target,
                "TcpExt.ListenOverflows",
                14.0,
            ),
            (&NET_COUNTER, Subject::Target, "Tcp.RetransSegs", 9.0),
            (&TOOL_CPU_USER, Subject::Tool, "", 33.0 * tick),
            (&TOOL_LOOP_RUN, Subject::Tool, "", 7000.0),
            (&TOOL_LOOP_RUN_DELAY, Subject::Tool, "", 300.0),
        ],
    );
    let of_sockets = [&LISTENER_QUEUE, &LISTENER_BACKLOG, &LISTENER_DROPS];
    let others: Vec<_> = gaps
        .iter()
        .filter(|gap| of_sockets.iter().all(|s| s.id != gap.signal))
        .collect();
    let sockets = |gap: &&&Gap| gap.reason.contains("does not list sockets");
    assert!(others.iter().all(|gap| sockets(&gap)), "{others:?}");
}

#[test]
fn slow_files_are_read_at_the_start() {
    let (seen, _) = observe("linux-6.8-cgroup-v2");
    let first = |signal, subject: &Subject| seen.values(signal, subject, "").first().copied();
    assert_eq!(first(&PROCESS_FDS, &WEB), Some(4.0));
    assert_eq!(first(&PROCESS_FDS, &WORKER), Some(2.0));
    assert_eq!(first(&UPSTREAM_UNIX_SOCKETS, &Subject::Target), Some(1.0));
    assert_eq!(first(&UPSTREAM_UDP_SOCKETS, &Subject::Target), Some(1.0));
    assert_eq!(first(&PROCESS_FDS_LIMIT, &WEB), Some(1024.0));
    assert_eq!(first(&PROCESS_FDS_LIMIT, &WORKER), Some(256.0));
    assert_eq!(first(&PROCESS_CPUS_ALLOWED, &WEB), Some(5.0));
    assert_eq!(first(&PROCESS_SWITCHES_VOLUNTARY, &WEB), Some(137.0));
    assert_eq!(first(&PROCESS_SWITCHES_INVOLUNTARY, &WEB), Some(16.0));
    assert_eq!(first(&CGROUP_QUOTA, &Subject::Target), Some(20e6));
    assert_eq!(first(&CGROUP_PERIOD, &Subject::Target), Some(100e6));
}

#[test]
fn the_nearest_quota_above_the_target_is_read_in_v2() {
    let (seen, gaps) = observe("linux-6.8-cgroup-v2");
    check(
        &seen,
        &[
            (&CGROUP_PERIODS, Subject::Target, "", 74.0),
            (&CGROUP_THROTTLED_PERIODS, Subject::Target, "", 67.0),
            (&CGROUP_THROTTLED, Subject::Target, "", 1.2e6),
            (&CGROUP_USAGE, Subject::Target, "", 5e6),
        ],
    );
    assert_eq!(gap(&gaps, &CGROUP_QUOTA), None);
}

#[test]
fn an_older_kernel_gives_the_same_from_other_files() {
    let (seen, gaps) = observe("linux-4.19-cgroup-v1");
    check(
        &seen,
        &[
            (&CGROUP_PERIODS, Subject::Target, "", 74.0),
            (&CGROUP_THROTTLED, Subject::Target, "", 1.2e6),
            (&CGROUP_USAGE, Subject::Target, "", 5e6),
            (&PROCESS_THREADS_WAIT, WORKER, "ep_poll", 1.0),
        ],
    );
    assert_eq!(
        seen.values(&CGROUP_QUOTA, &Subject::Target, "").first(),
        Some(&50e6)
    );
    assert!(
        !seen.any(&PROCESS_RSS, |r| r.subject == Subject::Process { pid: 120 }),
        "a stranger"
    );
    for signal in [&HOST_PSI_CPU, &HOST_PSI_IO, &HOST_PSI_MEMORY] {
        let gap = gap(&gaps, signal).expect("there is no pressure file");
        assert!(gap.remedy.contains("psi=1"), "{gap:?}");
        assert!(!seen.any(signal, |_| true));
    }
}

#[test]
fn one_file_that_cannot_be_read_loses_nothing_else() {
    let (seen, gaps) = observe("container-restricted");
    check(
        &seen,
        &[
            (&PROCESS_THREADS, WEB, "", 1.0),
            (&PROCESS_THREADS_STATE, WEB, "S", 1.0),
            (&NET_COUNTER, Subject::Target, "TcpExt.ListenDrops", 14.0),
            (&CGROUP_USAGE, Subject::Target, "", 999e3),
            (&CGROUP_THROTTLED, Subject::Target, "", 0.0),
            (&HOST_CPUS, Subject::Host, "", 2.0),
        ],
    );
    assert_eq!(
        gap(&gaps, &CGROUP_QUOTA),
        None,
        "the root has no quota: nothing is missing"
    );
    assert!(!seen.any(&CGROUP_QUOTA, |_| true));
    let missing: [(&Signal, &str); 9] = [
        (&THREAD_RUN, "schedstat does not exist"),
        (&THREAD_RUN_DELAY, "schedstat does not exist"),
        (&PROCESS_THREADS_CALL, "syscall cannot be read"),
        (&PROCESS_THREADS_WAIT, "does not show where"),
        (&PROCESS_FDS, "fd does not exist"),
        (&UPSTREAM_SOCKETS, "fd does not exist"),
        (&PROCESS_FDS_LIMIT, "limits cannot be read"),
        (&PROCESS_CPUS_ALLOWED, "status has an unknown format"),
        (&HOST_PSI_MEMORY, "pressure/memory"),
    ];
    for (signal, reason) in missing {
        let gap = gap(&gaps, signal).unwrap_or_else(|| panic!("no gap for {}", signal.id));
        assert!(gap.reason.contains(reason), "{gap:?}");
        assert!(
            !seen.any(signal, |_| true),
            "{} is missing and has readings",
            signal.id
        );
    }
    assert_eq!(
        gaps.iter()
            .filter(|gap| gap.signal == THREAD_RUN.id)
            .count(),
        1
    );
}

//! Every server serves, is as sick or as healthy as asked, and says so when it ends.
#![allow(clippy::disallowed_methods, reason = "the tests drive real servers")]
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "the helpers are tests as well"
)]

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How long a server is driven: a few periods of the slowest fault under test.
const DRIVE: Duration = Duration::from_millis(800);
/// Longest attempt of one connection of a burst: enough for one retry after a dropped SYN.
const BURST_PATIENCE: Duration = Duration::from_millis(2_500);
/// What counts as "for ever" when a server hangs.
const PATIENCE: Duration = Duration::from_secs(10);
/// Exit code of a server whose fault this machine does not permit.
const SKIPPED: i32 = 77;

fn lab() -> Command {
    Command::new(env!("CARGO_BIN_EXE_lab"))
}

/// A running server, ended with the test whatever happens.
struct Server {
    child: Child,
    output: BufReader<ChildStdout>,
    announcement: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        // It has ended already unless the test failed.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Server {
    /// Starts a server; `None`, with the reason printed, if it cannot run here.
    fn start(arguments: &str) -> Option<Self> {
        Self::spawn(lab().args(arguments.split(' ')))
    }

    fn spawn(command: &mut Command) -> Option<Self> {
        let spawned = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = spawned.unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut announcement = String::new();
        output.read_line(&mut announcement).unwrap();
        if announcement.is_empty() {
            let ended = child.wait_with_output().unwrap();
            let complaint = String::from_utf8(ended.stderr).unwrap();
            assert_eq!(ended.status.code(), Some(SKIPPED), "{complaint}");
            print!("{complaint}");
            return None;
        }
        Some(Self {
            child,
            output,
            announcement,
        })
    }

    fn address(&self) -> SocketAddr {
        field(&self.announcement, "listening").parse().unwrap()
    }

    /// Ends the server and returns its truth.
    fn stop(mut self) -> String {
        signal("TERM", self.child.id());
        let mut truth = String::new();
        self.output.read_to_string(&mut truth).unwrap();
        assert!(self.child.wait().unwrap().success(), "{truth}");
        truth
    }
}

fn signal(name: &str, pid: u32) {
    let kill = Command::new("sh")
        .args(["-c", &format!("kill -{name} {pid}")])
        .status();
    assert!(kill.unwrap().success());
}

/// The value of a field of a flat JSON object, quotes taken off.
fn field<'a>(json: &'a str, name: &str) -> &'a str {
    let (_, rest) = json.split_once(&format!("\"{name}\":")).expect(json);
    match rest.strip_prefix('"') {
        Some(text) => text.split('"').next().unwrap(),
        None => rest.split([',', '}']).next().unwrap(),
    }
}

/// One request on an open connection; the status line's code and the body.
fn get(stream: &mut BufReader<TcpStream>, path: &str) -> io::Result<(u32, Vec<u8>)> {
    write!(stream.get_mut(), "GET {path} HTTP/1.1\r\nHost: lab\r\n\r\n")?;
    let mut line = String::new();
    stream.read_line(&mut line)?;
    let status = line.get(9..12).and_then(|code| code.parse().ok());
    let status = status.ok_or(io::ErrorKind::UnexpectedEof)?;
    let mut length = 0;
    loop {
        line.clear();
        stream.read_line(&mut line)?;
        match line.trim_end().split_once(": ") {
            Some(("Content-Length", value)) => length = value.parse().unwrap(),
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok((status, body))
}

fn connect(address: SocketAddr, patience: Duration) -> io::Result<BufReader<TcpStream>> {
    let stream = TcpStream::connect_timeout(&address, patience)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(patience))?;
    Ok(BufReader::new(stream))
}

/// Clients that each keep one connection busy.
fn drive_steadily(address: SocketAddr, clients: usize) {
    let client = || {
        let begin = Instant::now();
        let mut stream = connect(address, PATIENCE).unwrap();
        while begin.elapsed() < DRIVE {
            assert_eq!(get(&mut stream, "/").unwrap().0, 200);
        }
    };
    thread::scope(|scope| (0..clients).for_each(|_| drop(scope.spawn(client))));
}

/// Many new connections at the same time, one request each. Some may fail: that is the fault.
fn drive_in_bursts(address: SocketAddr) {
    let client = || {
        connect(address, BURST_PATIENCE)
            .and_then(|mut stream| get(&mut stream, "/"))
            .is_ok()
    };
    let served = thread::scope(|scope| {
        let clients: Vec<_> = (0..48).map(|_| scope.spawn(client)).collect();
        clients
            .into_iter()
            .map(|client| client.join().unwrap())
            .filter(|&served| served)
            .count()
    });
    assert!(served > 0);
}

/// Clients that rest between requests, and dial again when a connection ends.
fn drive_with_rests(address: SocketAddr) {
    let client = |rest: u64| {
        let begin = Instant::now();
        while begin.elapsed() < DRIVE {
            let mut stream = connect(address, PATIENCE).unwrap();
            while begin.elapsed() < DRIVE && get(&mut stream, "/").is_ok() {
                thread::sleep(Duration::from_millis(rest));
            }
        }
    };
    thread::scope(|scope| (0..4).for_each(|k| drop(scope.spawn(move || client(20 + 20 * k)))));
}

/// One client that goes on whatever the answers are.
fn drive_until_refused(address: SocketAddr) {
    let begin = Instant::now();
    let mut stream = connect(address, PATIENCE).unwrap();
    let mut status = 200;
    while begin.elapsed() < DRIVE {
        status = get(&mut stream, "/").unwrap().0;
    }
    assert_eq!(status, 500);
}

fn check(arguments: &str, cause: &str, drive: impl FnOnce(SocketAddr)) {
    let Some(server) = Server::start(arguments) else {
        return;
    };
    let address = server.address();
    drive(address);
    let mut probe = connect(address, PATIENCE).unwrap();
    assert_eq!(get(&mut probe, "/health").unwrap(), (200, b"ok\n".to_vec()));
    drop(probe);
    assert_eq!(field(&server.announcement, "cause"), cause);
    let healthy = (cause == "none").to_string();
    assert_eq!(field(&server.announcement, "healthy"), healthy);
    let truth = server.stop();
    println!("{arguments}: {truth}");
    assert_eq!(field(&truth, "cause"), cause);
    assert_eq!(field(&truth, "holds"), "true", "{truth}");
    assert_ne!(field(&truth, "requests"), "0", "{truth}");
}

macro_rules! checks { ($($test:ident: $arguments:literal is $cause:literal, $drive:expr;)+) => {
    $(#[test] fn $test() { check($arguments, $cause, $drive); })+
}}

checks! {
    healthy: "healthy" is "none", |to| drive_steadily(to, 2);
    client_saturation: "client-saturation" is "client-saturation", |to| drive_steadily(to, 1);
    client_saturation_twin: "client-saturation --healthy" is "none", |to| drive_steadily(to, 1);
    // A millisecond of step: the fault is made, and the tests beside this one are not upset.
    clock_jump: "clock-jump --step-ms 1 --period-ms 100" is "clock-jump",
        |to| drive_steadily(to, 1);
    clock_jump_twin: "clock-jump --healthy" is "none", |to| drive_steadily(to, 1);
    cpu_saturation: "cpu-saturation" is "cpu-saturation", |to| drive_steadily(to, 4);
    timer_granularity: "timer-granularity" is "timer-granularity", |to| drive_steadily(to, 2);
    timer_granularity_twin: "timer-granularity --healthy" is "none", |to| drive_steadily(to, 2);
    queueing: "queueing --work-us 6000" is "queueing", |to| drive_steadily(to, 4);
    queueing_twin: "queueing --healthy" is "none", |to| drive_steadily(to, 1);
    cpu_saturation_twin: "cpu-saturation --healthy" is "none", |to| drive_steadily(to, 3);
    cpu_saturation_of_all_cpus: "cpu-saturation --variant threads" is "cpu-saturation",
        |to| drive_steadily(to, 4 * thread::available_parallelism().unwrap().get());
    cpu_quota_throttling: "cpu-quota-throttling" is "cpu-quota-throttling",
        |to| drive_steadily(to, 2);
    cpu_quota_throttling_twin: "cpu-quota-throttling --healthy" is "none",
        |to| drive_steadily(to, 2);
    fixed_delay: "fixed-delay" is "fixed-delay", |to| drive_steadily(to, 2);
    fixed_delay_twin: "fixed-delay --healthy" is "none", |to| drive_steadily(to, 2);
    fixed_delay_by_timed_wait: "fixed-delay --variant poll" is "fixed-delay",
        |to| drive_steadily(to, 2);
    fixed_delay_in_the_tail: "fixed-delay --variant tail --every 5" is "fixed-delay",
        |to| drive_steadily(to, 2);
    fixed_delay_look_alike_burn: "fixed-delay --variant burn" is "uncatalogued",
        |to| drive_steadily(to, 1);
    fixed_delay_look_alike_jitter: "fixed-delay --variant jitter" is "uncatalogued",
        |to| drive_steadily(to, 2);
    fixed_delay_look_alike_ramp: "fixed-delay --variant ramp" is "uncatalogued",
        |to| drive_steadily(to, 2);
    cache_expiry: "cache-expiry --life-ms 100 --fill-ms 20" is "cache-expiry",
        |to| drive_steadily(to, 1);
    cache_expiry_twin: "cache-expiry --healthy" is "none", |to| drive_steadily(to, 1);
    cache_expiry_look_alike_forever: "cache-expiry --variant forever" is "cold-start",
        |to| drive_steadily(to, 1);
    cache_stampede: "cache-stampede --life-ms 100 --fill-ms 30" is "cache-stampede",
        |to| drive_steadily(to, 4);
    cache_stampede_waiting: "cache-stampede --variant shared --life-ms 100" is "cache-stampede",
        |to| drive_steadily(to, 4);
    cache_stampede_twin: "cache-stampede --healthy" is "none", |to| drive_steadily(to, 4);
    cold_start: "cold-start" is "cold-start", |to| drive_steadily(to, 1);
    cold_start_twin: "cold-start --healthy" is "none", |to| drive_steadily(to, 1);
    cold_start_of_all: "cold-start --variant start" is "cold-start", |to| drive_steadily(to, 1);
    accumulated_state: "accumulated-state --limit 5" is "accumulated-state",
        |to| drive_steadily(to, 1);
    accumulated_state_twin: "accumulated-state --healthy --limit 5" is "none",
        |to| drive_steadily(to, 1);
    slow_scan_twin: "slow-scan --healthy" is "none", |to| drive_steadily(to, 1);
    slow_scan_look_alike: "slow-scan --variant any" is "uncatalogued", |to| drive_steadily(to, 1);
    workload_key_collision: "workload-key-collision" is "workload-key-collision",
        |to| drive_steadily(to, 3);
    workload_key_collision_twin: "workload-key-collision --healthy" is "none",
        |to| drive_steadily(to, 3);
    lost_work: "lost-work --most 1" is "lost-work", |to| drive_steadily(to, 3);
    lost_work_twin: "lost-work --healthy" is "none", |to| drive_steadily(to, 3);
    response_size: "response-size" is "response-size", |to| drive_steadily(to, 1);
    response_size_twin: "response-size --healthy" is "none", |to| drive_steadily(to, 1);
    delayed_ack: "delayed-ack" is "delayed-ack", |to| drive_steadily(to, 1);
    delayed_ack_twin: "delayed-ack --healthy" is "none", |to| drive_steadily(to, 1);
    delayed_ack_of_many_writes: "delayed-ack --writes 5 --header-bytes 2000" is "delayed-ack",
        |to| drive_steadily(to, 1);
    delayed_ack_look_alike_sleep: "delayed-ack --variant sleep" is "fixed-delay",
        |to| drive_steadily(to, 1);
    lock_held_over_io: "lock-held-over-io --hold-ms 20 --period-ms 100" is "lock-held-over-io",
        |to| drive_steadily(to, 3);
    lock_held_over_io_twin: "lock-held-over-io --hold-ms 20 --period-ms 100 --healthy" is "none",
        |to| drive_steadily(to, 3);
    lock_held_over_a_call: "lock-held-over-io --variant remote --variant pthread" is
        "lock-held-over-io", |to| drive_steadily(to, 3);
    lock_held_over_the_disk: "lock-held-over-io --variant fsync" is "lock-held-over-io",
        |to| drive_steadily(to, 3);
    lock_contention: "lock-contention" is "lock-contention", |to| drive_steadily(to, 3);
    lock_contention_twin: "lock-contention --healthy" is "none", |to| drive_steadily(to, 2);
    lock_contention_by_one_in_the_background:
        "lock-contention --variant background --variant pthread --burn-ms 30 --period-ms 100" is
        "lock-contention", |to| drive_steadily(to, 3);
    interpreter_lock: "interpreter-lock" is "interpreter-lock", |to| drive_steadily(to, 3);
    interpreter_lock_by_one_in_the_background: "interpreter-lock --variant background" is
        "interpreter-lock", |to| drive_steadily(to, 2);
    interpreter_lock_twin: "interpreter-lock --healthy" is "none", |to| drive_steadily(to, 2);
    noisy_neighbour: "noisy-neighbour" is "noisy-neighbour", |to| drive_steadily(to, 2);
    noisy_neighbour_twin: "noisy-neighbour --healthy" is "none", |to| drive_steadily(to, 1);
    run_queue_delay: "run-queue-delay" is "run-queue-delay", |to| drive_steadily(to, 2);
    run_queue_delay_twin: "run-queue-delay --healthy" is "none", |to| drive_steadily(to, 1);
    event_loop_blocking: "event-loop-blocking --every 10" is "event-loop-blocking",
        |to| drive_steadily(to, 3);
    event_loop_blocking_by_sleep: "event-loop-blocking --every 10 --variant sleep" is
        "event-loop-blocking", |to| drive_steadily(to, 3);
    event_loop_blocking_twin: "event-loop-blocking --every 10 --healthy" is "none",
        |to| drive_steadily(to, 3);
    stop_the_world_pause: "stop-the-world-pause --every 10" is "stop-the-world-pause",
        |to| drive_steadily(to, 3);
    stop_the_world_pause_twin: "stop-the-world-pause --every 400 --healthy" is "none",
        |to| drive_steadily(to, 3);
    slow_dependency: "slow-dependency --every 5 --slow-ms 20" is "slow-dependency",
        |to| drive_steadily(to, 2);
    slow_dependency_twin: "slow-dependency --healthy" is "none", |to| drive_steadily(to, 2);
    retry_backoff: "retry-backoff --every 5 --backoff-ms 20" is "retry-backoff", |to| drive_steadily(to, 2);
    retry_backoff_silent: "retry-backoff --every 5 --backoff-ms 20 --variant silent" is "retry-backoff",
        |to| drive_steadily(to, 2);
    retry_backoff_sleeps: "retry-backoff --every 5 --variant sleeps" is "fixed-delay",
        |to| drive_steadily(to, 2);
    retry_backoff_another: "retry-backoff --every 5 --variant another" is "fixed-delay",
        |to| drive_steadily(to, 2);
    retry_backoff_looks: "retry-backoff --every 5 --backoff-ms 5 --variant looks" is "uncatalogued",
        |to| drive_steadily(to, 2);
    retry_backoff_twin: "retry-backoff --healthy" is "none", |to| drive_steadily(to, 2);
    poll_tick: "poll-tick" is "poll-tick", |to| drive_steadily(to, 2);
    poll_tick_answers: "poll-tick --variant answers --tick-ms 15" is "poll-tick", |to| drive_steadily(to, 2);
    poll_tick_own: "poll-tick --variant own" is "fixed-delay", |to| drive_steadily(to, 2);
    poll_tick_twin: "poll-tick --healthy" is "none", |to| drive_steadily(to, 2);
    rate_limit: "rate-limit" is "rate-limit", |to| drive_steadily(to, 3);
    rate_limit_look_alike_one_by_one: "rate-limit --variant one-by-one" is "uncatalogued",
        |to| drive_steadily(to, 3);
    rate_limit_look_alike_behind: "rate-limit --variant behind" is "uncatalogued", |to| drive_steadily(to, 3);
    rate_limit_refuses: "rate-limit --waiting 0 --rate 2" is "rate-limit", drive_in_bursts;
    rate_limit_look_alike_under_way: "rate-limit --variant under-way --rate 2" is "uncatalogued", drive_in_bursts;
    rate_limit_twin: "rate-limit --healthy" is "none", |to| drive_steadily(to, 3);
    dns_lookup: "dns-lookup" is "dns-lookup", |to| drive_steadily(to, 2);
    dns_lookup_kept: "dns-lookup --variant kept --lookup-ms 5" is "dns-lookup", |to| drive_steadily(to, 2);
    dns_lookup_unanswered: "dns-lookup --variant unanswered --again-ms 50" is "dns-lookup",
        |to| drive_steadily(to, 2);
    dns_lookup_twin: "dns-lookup --healthy" is "none", |to| drive_steadily(to, 2);
    sequential_fanout: "sequential-fanout" is "sequential-fanout", |to| drive_steadily(to, 2);
    sequential_fanout_twin: "sequential-fanout --healthy" is "none", |to| drive_steadily(to, 2);
    blocking_telemetry: "blocking-telemetry --interval-ms 100" is "lock-held-over-io",
        |to| drive_steadily(to, 3);
    blocking_telemetry_twin: "blocking-telemetry --interval-ms 100 --healthy" is "none",
        |to| drive_steadily(to, 3);
    blocking_telemetry_inline: "blocking-telemetry --variant inline --export-ms 10" is
        "blocking-telemetry", |to| drive_steadily(to, 3);
    blocking_telemetry_inline_twin: "blocking-telemetry --variant inline --healthy" is "none",
        |to| drive_steadily(to, 3);
    fsync_stall: "fsync-stall --stall-ms 10 --every 5" is "fsync-stall", |to| drive_steadily(to, 2);
    fsync_stall_twin: "fsync-stall --healthy" is "none", |to| drive_steadily(to, 2);
    fsync_stall_look_alike_lock: "fsync-stall --variant locked --stall-ms 10 --every 5" is
        "lock-held-over-io", |to| drive_steadily(to, 3);
    log_flush: "log-flush --stops-ms 200 --every-ms 300 --line-bytes 30000" is "log-flush",
        |to| drive_steadily(to, 3);
    log_flush_twin: "log-flush --healthy" is "none", |to| drive_steadily(to, 2);
    cold_page_cache: "cold-page-cache --reads 20 --every 5" is "cold-page-cache",
        |to| drive_steadily(to, 2);
    cold_page_cache_twin: "cold-page-cache --healthy" is "none", |to| drive_steadily(to, 2);
    span_gap: "span-gap --every 5" is "uncatalogued", |to| drive_steadily(to, 2);
    span_gap_twin: "span-gap --every 5 --healthy" is "none", |to| drive_steadily(to, 2);
    accept_queue_overflow: "accept-queue-overflow --backlog 2" is "accept-queue-overflow",
        drive_in_bursts;
    accept_starvation: "accept-starvation --busy-ms 100 --every-ms 150 --requests 2" is
        "accept-starvation", drive_with_rests;
    accept_starvation_by_each: "accept-starvation --busy-ms 0 --each-ms 20" is "accept-starvation",
        drive_in_bursts;
    accept_starvation_twin: "accept-starvation --healthy" is "none", drive_with_rests;
    accept_starvation_look_alike_greets: "accept-starvation --variant greets" is "uncatalogued",
        drive_with_rests;
    keepalive_close_race: "keepalive-close-race --idle-ms 50 --late-ms 40" is
        "keepalive-close-race", drive_with_rests;
    keepalive_close_race_twin: "keepalive-close-race --healthy" is "none", drive_with_rests;
    keepalive_close_race_look_alike_requests:
        "keepalive-close-race --variant request-limit --requests 3" is "uncatalogued",
        drive_with_rests;
    connection_churn: "connection-churn --variant plain --requests 3" is "connection-churn",
        drive_with_rests;
    connection_churn_rests: "connection-churn --variant plain --variant rests --idle-ms 10" is
        "connection-churn", drive_with_rests;
    connection_churn_twin: "connection-churn --variant plain --healthy" is "none",
        drive_with_rests;
    connection_per_call: "connection-per-call --variant plain" is "connection-per-call",
        drive_in_bursts;
    connection_per_call_twin: "connection-per-call --variant plain --healthy" is "none",
        drive_with_rests;
    packet_loss: "packet-loss --share 0.2" is "packet-loss", |to| drive_steadily(to, 2);
    packet_loss_twin: "packet-loss --healthy" is "none", |to| drive_steadily(to, 2);
    port_exhaustion: "port-exhaustion --ports 8 --first-port 46000" is "port-exhaustion", drive_in_bursts;
    port_exhaustion_twin: "port-exhaustion --healthy" is "none", drive_with_rests;
    connection_limit: "connection-limit --connections 2" is "connection-limit",
        |to| {
            drive_with_rests(to);
            // The server learns of the end of its connections.
            thread::sleep(DRIVE / 2);
        };
    connection_limit_twin: "connection-limit --healthy" is "none", drive_with_rests;
    worker_pool_exhaustion: "worker-pool-exhaustion" is "worker-pool-exhaustion",
        drive_in_bursts;
    worker_pool_exhaustion_twin: "worker-pool-exhaustion --healthy" is "none", drive_in_bursts;
    connection_pool_exhaustion: "connection-pool-exhaustion --connections 2" is
        "connection-pool-exhaustion", |to| drive_steadily(to, 4);
    connection_pool_exhaustion_twin: "connection-pool-exhaustion --healthy" is "none",
        |to| drive_steadily(to, 4);
    connection_limit_look_alike: "connection-limit --variant fails" is "uncatalogued",
        drive_in_bursts;
    fd_exhaustion: "fd-exhaustion --variant leak --files 16" is "fd-exhaustion",
        drive_until_refused;
    fd_exhaustion_twin: "fd-exhaustion --healthy" is "none", drive_with_rests;
    worker_restart: "worker-restart --life-ms 150 --boot-ms 20" is "worker-restart",
        drive_with_rests;
    worker_restart_in_good_order:
        "worker-restart --life-ms 150 --boot-ms 20 --variant graceful" is "worker-restart",
        drive_with_rests;
    worker_restart_twin: "worker-restart --healthy" is "none", drive_with_rests;
    accept_queue_overflow_twin: "accept-queue-overflow --healthy" is "none", drive_in_bursts;
}

fn run(arguments: &[&str]) -> Output {
    lab().args(arguments).output().unwrap()
}

#[test]
fn the_list_names_every_file_and_only_those() {
    let output = run(&["--list"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let mut listed: Vec<_> = text
        .lines()
        .map(|line| line.split(' ').next().unwrap().replace('-', "_"))
        .collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/pathologies");
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let stem = |path: std::path::PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
    let mut files: Vec<_> = files.map(stem).filter(|name| name != "mod").collect();
    listed.sort();
    files.sort();
    assert_eq!(listed, files);
}

#[test]
fn a_wrong_command_line_is_refused_with_exit_code_2() {
    for arguments in [
        &[][..],
        &["no-such-server"],
        &["healthy", "--delay-ms", "3"],
        &["fixed-delay", "--delay-ms", "much"],
        &["fixed-delay", "--variant", "burn", "--variant", "poll"],
        &["fixed-delay", "--port"],
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(
            output.stdout.is_empty() && !output.stderr.is_empty(),
            "{arguments:?}"
        );
    }
}

#[test]
fn a_port_in_use_is_a_failure_and_not_a_skip() {
    let server = Server::start("healthy").unwrap();
    let port = server.address().port().to_string();
    let output = run(&["healthy", "--port", &port]);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn the_help_of_a_server_names_its_options() {
    let text = String::from_utf8(run(&["delayed-ack", "--help"]).stdout).unwrap();
    for part in [
        "--writes",
        "--header-bytes",
        "--delay-ms",
        "--variant sleep",
        "--healthy",
    ] {
        assert!(text.contains(part), "{part}");
    }
}

#[test]
fn without_privilege_a_server_says_so_and_is_skipped() {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let root = status.lines().any(|line| line == "Uid:\t0\t0\t0\t0");
    for name in ["cpu-quota-throttling", "clock-jump"] {
        let command = format!("exec '{}' {name}", env!("CARGO_BIN_EXE_lab"));
        let mut shell = Command::new("sh");
        if root {
            shell = Command::new("setpriv");
            shell.args(["--reuid=65534", "--clear-groups", "--inh-caps=-all", "sh"]);
        }
        let output = match shell.args(["-c", &command]).output() {
            Ok(output) if !matches!(output.status.code(), Some(126 | 127)) => output,
            _ => return println!("skipped: cannot run the lab without privilege here"),
        };
        let complaint = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(SKIPPED), "{complaint}");
        assert!(complaint.starts_with("lab: skipped: "), "{complaint}");
    }
}

#[test]
fn the_cgroup_is_gone_even_when_the_server_is_killed() {
    let Some(mut server) = Server::start("cpu-quota-throttling") else {
        return;
    };
    let name = format!("slowpath-lab-{}", server.child.id());
    let places = [
        format!("/sys/fs/cgroup/cpu/{name}"),
        format!("/sys/fs/cgroup/{name}"),
    ];
    let exists = || places.iter().any(|place| Path::new(place).exists());
    assert!(exists());
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    let begin = Instant::now();
    while exists() {
        assert!(begin.elapsed() < PATIENCE, "{name} is still there");
        thread::sleep(Duration::from_millis(10));
    }
}

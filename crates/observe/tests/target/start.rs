//! Starting: what is kept, what is inherited, what is refused.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use slowpath_observe::limits::raise_open_files;
use slowpath_observe::target::{TargetError, start};

use crate::{eventually, run, shell, spawn_guardian};

/// Starts what must not start and returns why.
fn refusal(launch: &slowpath_observe::target::Launch) -> TargetError {
    start(launch, &spawn_guardian()).map(|_| ()).unwrap_err()
}

#[test]
fn both_streams_are_kept_with_stamps() {
    let dir = tempfile::tempdir().unwrap();
    let mut launch = shell(
        dir.path(),
        "echo to $WHOM; echo trouble >&2; printf unfinished",
    );
    launch.env.push(("WHOM".to_owned(), "stdout".to_owned()));
    let mut running = start(&launch, &spawn_guardian()).unwrap();
    eventually("the end of the script", || running.exited());
    let path = running.log_path().to_owned();
    let stopped = running.stop();
    assert_eq!(stopped.exit, "exit status 0");
    assert_eq!((stopped.killed, stopped.log_lines_lost), (0, 0));
    let text = fs::read_to_string(path).unwrap();
    for expected in [" out to stdout", " err trouble", " out unfinished"] {
        let line = text
            .lines()
            .find(|line| line.ends_with(expected))
            .expect(&text);
        let mut words = line.split(' ');
        assert!(
            words.next().unwrap().parse::<f64>().unwrap() > 0.0,
            "{line}"
        );
        assert!(
            words.next().unwrap().parse::<jiff::Timestamp>().is_ok(),
            "{line}"
        );
    }
}

#[test]
fn a_process_group_of_its_own_and_no_input() {
    let dir = tempfile::tempdir().unwrap();
    let mut running = run(dir.path(), "cat; cut -d' ' -f5 /proc/$$/stat > group");
    eventually("the end of the script", || running.exited());
    let group = fs::read_to_string(dir.path().join("group")).unwrap();
    assert_eq!(group.trim(), running.pid.to_string());
}

#[test]
fn a_chatty_process_is_not_held_up() {
    let dir = tempfile::tempdir().unwrap();
    let mut running = run(
        dir.path(),
        "i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done",
    );
    eventually("the end of the script", || running.exited());
    let path = running.log_path().to_owned();
    running.stop();
    assert_eq!(fs::read_to_string(path).unwrap().lines().count(), 20_000);
}

#[test]
fn what_cannot_be_started_is_explained() {
    let dir = tempfile::tempdir().unwrap();
    let script = |name: &str, text: &str, mode: u32| {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    };
    script("closed", "#!/bin/sh\n", 0o644);
    script("odd", "#!/no/such/interpreter\n", 0o755);
    script("bytes", "no program\n", 0o755);
    let text = |command: &[&str]| {
        let mut launch = shell(dir.path(), "");
        launch.command = command.iter().map(|&word| word.to_owned()).collect();
        refusal(&launch).to_string()
    };
    assert!(text(&[]).contains("name a program"));
    assert!(text(&["no-such-program-here"]).contains("in PATH"));
    assert!(text(&["./absent"]).contains(&dir.path().join("absent").display().to_string()));
    assert!(text(&["./closed"]).contains("chmod +x"));
    assert!(text(&["./odd"]).contains("interpreter"));
    assert!(text(&["./bytes"]).contains("#!/bin/sh"));
    assert!(text(&["/"]).contains("folder"));
    let mut launch = shell(dir.path(), "");
    launch.command = vec!["closed".to_owned()];
    launch
        .env
        .push(("PATH".to_owned(), dir.path().display().to_string()));
    assert!(refusal(&launch).to_string().contains("chmod +x"));
    launch.cwd = dir.path().join("nowhere");
    assert!(matches!(refusal(&launch), TargetError::NoFolder(_)));
}

#[test]
fn a_port_in_use_is_noticed_before_the_start() {
    let dir = tempfile::tempdir().unwrap();
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut launch = shell(dir.path(), "touch started");
    launch.address = Some(other.local_addr().unwrap());
    assert!(matches!(refusal(&launch), TargetError::PortTaken(_)));
    assert!(!dir.path().join("started").exists());
}

#[test]
fn what_is_started_has_the_limit_of_files_that_was_found() {
    let found = getrlimit(Resource::Nofile);
    let Some(most) = found.maximum.filter(|most| *most > 64) else {
        println!("skipped: no limit of files to distinguish another from");
        return;
    };
    let lower = Rlimit {
        current: Some(most - 1),
        ..found
    };
    setrlimit(Resource::Nofile, lower).unwrap();
    raise_open_files();
    assert_eq!(getrlimit(Resource::Nofile).current, found.maximum);
    let dir = tempfile::tempdir().unwrap();
    let mut running = run(dir.path(), "ulimit -Sn > soft; ulimit -Hn > hard");
    eventually("the end of the script", || running.exited());
    let told = |name| fs::read_to_string(dir.path().join(name)).unwrap();
    assert_eq!(told("soft").trim(), (most - 1).to_string());
    assert_eq!(told("hard").trim(), most.to_string());
}

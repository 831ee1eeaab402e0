//! The end of what was started is awaited, and what it took is reported.

use std::fs::File;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use slowpath_observe::target::{Awaited, start_apart};

use crate::{PATIENCE, run, shell, spawn_guardian};

static GO_ON: AtomicBool = AtomicBool::new(false);

#[test]
fn its_own_end_tells_its_status_its_time_and_its_cpu_time() {
    let dir = tempfile::tempdir().unwrap();
    let script = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; sleep 0.05; exit 3";
    let mut running = run(dir.path(), script);
    let Awaited::Ended { how, spent } = running.wait_end(PATIENCE, &GO_ON) else {
        panic!("it ends by itself");
    };
    assert_eq!(how, Err("exit status 3".to_owned()));
    let cpu = spent.cpu.unwrap();
    let cpu_ns = cpu.user_ns + cpu.system_ns;
    // The sleep takes time and no CPU.
    assert!(
        cpu_ns > 0 && cpu_ns + 50_000_000 <= spent.wall_ns,
        "{spent:?}"
    );
}

#[test]
fn what_others_took_before_is_none_of_its_time() {
    let dir = tempfile::tempdir().unwrap();
    let spins = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
    let mut took = Vec::new();
    for script in [spins, "exit 0"] {
        let Awaited::Ended { spent, .. } = run(dir.path(), script).wait_end(PATIENCE, &GO_ON)
        else {
            panic!("it ends by itself");
        };
        let cpu = spent.cpu.unwrap();
        took.push(cpu.user_ns + cpu.system_ns);
    }
    assert!(took[1] < took[0], "{took:?}");
}

#[test]
fn what_does_not_end_is_waited_for_no_longer_than_allowed() {
    let dir = tempfile::tempdir().unwrap();
    let mut running = run(dir.path(), "exec sleep 60");
    let limit = Duration::from_millis(30);
    assert_eq!(running.wait_end(limit, &GO_ON), Awaited::TimedOut);
    let stop = AtomicBool::new(true);
    assert_eq!(running.wait_end(PATIENCE, &stop), Awaited::Interrupted);
}

#[test]
fn its_streams_go_to_files_as_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let files = ["out", "err"].map(|name| dir.path().join(name));
    let [out, err] = [&files[0], &files[1]].map(|path| File::create(path).unwrap());
    let launch = shell(dir.path(), r"printf 'a\000b'; printf c >&2");
    let mut running = start_apart(&launch, out, err, &spawn_guardian()).unwrap();
    let awaited = running.wait_end(PATIENCE, &GO_ON);
    assert!(matches!(awaited, Awaited::Ended { how: Ok(()), .. }));
    let kept = files.map(|path| std::fs::read(path).unwrap());
    assert_eq!(kept, [b"a\0b".to_vec(), b"c".to_vec()]);
}

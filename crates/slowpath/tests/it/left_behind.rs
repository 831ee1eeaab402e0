//! What a run that is killed while it traces leaves: nothing.

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Server, lab, skipped};

/// Far longer than anything takes here, since machines are busy.
const PATIENCE: Duration = Duration::from_mins(1);

/// A process, distinguished from a later one of the same number by when it began.
type Identity = (u32, u64);

/// What `/proc/PID/stat` says of a process.
struct Stat {
    own: Identity,
    parent: u32,
    state: char,
}

impl Stat {
    fn parse(text: &str) -> Option<Self> {
        let (pid, _) = text.split_once(' ')?;
        // Its name may have spaces and brackets.
        let (_, rest) = text.rsplit_once(')')?;
        let words: Vec<&str> = rest.split_ascii_whitespace().collect();
        Some(Self {
            own: (pid.parse().ok()?, words.get(19)?.parse().ok()?),
            parent: words.get(1)?.parse().ok()?,
            state: words.first()?.chars().next()?,
        })
    }

    fn all() -> Vec<Self> {
        let entries = fs::read_dir("/proc").unwrap().flatten();
        let texts = entries.filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok());
        texts.filter_map(|text| Self::parse(&text)).collect()
    }
}

/// All that descend from a process, and itself.
fn family(root: u32) -> BTreeSet<Identity> {
    let all = Stat::all();
    let mut family = BTreeSet::new();
    let mut wanted = vec![root];
    while let Some(pid) = wanted.pop() {
        let own = all.iter().filter(|stat| stat.own.0 == pid);
        family.extend(own.map(|stat| stat.own));
        let children = all.iter().filter(|stat| stat.parent == pid);
        wanted.extend(children.map(|stat| stat.own.0));
    }
    family
}

/// Those of them that still run.
fn alive(family: &BTreeSet<Identity>) -> Vec<Identity> {
    let all = Stat::all().into_iter();
    let alive = all.filter(|stat| family.contains(&stat.own) && !matches!(stat.state, 'Z' | 'X'));
    alive.map(|stat| stat.own).collect()
}

/// How many perf events a process has open.
fn events_of(pid: u32) -> usize {
    let files = fs::read_dir(format!("/proc/{pid}/fd"));
    let links = files.into_iter().flatten().flatten();
    let links = links.filter_map(|file| fs::read_link(file.path()).ok());
    links
        .filter(|link| link.to_string_lossy().contains("[perf_event]"))
        .count()
}

fn mounts() -> String {
    fs::read_to_string("/proc/self/mountinfo").unwrap()
}

/// Starts a long run; gives it once it traces, and nothing where it may not.
fn tracing(folder: &Path, target: &str) -> Option<Child> {
    let scenario = format!(
        "[target]\n{target}\n[load]\nmodel = \"open\"\nrate = \"50/s\"\nduration = \"2m\"\n\
         warmup = \"100ms\"\nrepeats = 1\n[[endpoint]]\nname = \"it\"\nrequest = \"GET /\"\n"
    );
    fs::write(folder.join("scenario.toml"), scenario).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_slowpath"))
        .args(["run", "scenario.toml", "--out", "out"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let began = Instant::now();
    while events_of(child.id()) == 0 {
        assert!(child.try_wait().unwrap().is_none(), "it has ended");
        // The load goes on, so whatever can be opened was opened long ago.
        if began.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            skipped("no perf event may be opened here");
            return None;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Some(child)
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_killed_run_ends_its_target_and_leaves_no_event_and_no_mount() {
    let folder = tempfile::tempdir().unwrap();
    let before = mounts();
    let target = format!(
        "command = [{:?}, \"healthy\", \"--port\", \"{{port}}\"]\n\
         url = \"http://127.0.0.1:{{port}}\"\nready = \"tcp\"",
        lab().display().to_string()
    );
    let Some(child) = tracing(folder.path(), &target) else {
        return;
    };
    let family = family(child.id());
    // slowpath, its guardian and the target.
    assert!(family.len() >= 3, "{family:?}");
    let pid = child.id();
    kill(child);
    let killed = Instant::now();
    loop {
        let left = alive(&family);
        if left.is_empty() {
            break;
        }
        assert!(killed.elapsed() < PATIENCE, "{left:?} of {pid} go on");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(mounts(), before);
    // What was measured is kept.
    let kept = slowpath_record::read(&folder.path().join("out")).unwrap();
    assert!(kept.manifest.recovered);
}

#[test]
fn a_killed_run_leaves_a_target_that_it_found_as_it_was() {
    let server = Server::lab(&["healthy"]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let Some(child) = tracing(folder.path(), &format!("url = {:?}", server.url())) else {
        return;
    };
    let family = family(child.id());
    kill(child);
    let killed = Instant::now();
    while !alive(&family).is_empty() {
        assert!(killed.elapsed() < PATIENCE, "{:?}", alive(&family));
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(events_of(server.pid()), 0);
    assert!(TcpStream::connect(("127.0.0.1", server.port)).is_ok());
}

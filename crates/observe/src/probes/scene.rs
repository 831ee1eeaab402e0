//! What the probes look at: the target's processes now, and the sockets they hold.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use slowpath_core::timeline::Window;

use super::source::Files;
use super::text::Stat;
use super::{LoopTids, Watch, Watched};
use crate::clock;

/// A living process of the target.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    /// When the process was last listed.
    pub(crate) window: Window,
    /// How many file descriptors it has open.
    pub(crate) fds: Result<u64, Errno>,
}

/// The roots of the files, the target's processes, and their sockets.
pub(crate) struct Scene {
    pub(crate) proc_root: PathBuf,
    pub(crate) sys_root: PathBuf,
    pub(crate) target: Option<Watched>,
    pub(crate) loop_tids: LoopTids,
    /// The target's processes, ordered by id.
    pub(crate) processes: Vec<Process>,
    /// The inodes of the sockets they hold.
    pub(crate) inodes: HashSet<u32>,
    /// Whether the target's first process lives in slowpath's own network namespace, the only
    /// one whose sockets the kernel lists for slowpath; `None` if that is not known.
    pub(crate) shares_network: Option<bool>,
    /// Whether any process of the target was ever seen.
    pub(crate) ever_seen: bool,
    /// Processes met so far and when they started, so that one whose parent ended is kept and
    /// another that got its id is not.
    met: BTreeMap<u32, u64>,
    files: Files,
}

impl Scene {
    /// A scene that has not been read yet.
    pub(crate) fn new(watch: Watch) -> Self {
        Self {
            proc_root: watch.proc_root,
            sys_root: watch.sys_root,
            target: watch.target,
            loop_tids: watch.loop_tids,
            processes: Vec::new(),
            inodes: HashSet::new(),
            shares_network: None,
            ever_seen: false,
            met: BTreeMap::new(),
            files: Files::default(),
        }
    }

    /// The file `name` of process `pid`.
    pub(crate) fn of_process(&self, pid: u32, name: &str) -> PathBuf {
        self.proc_root.join(format!("{pid}/{name}"))
    }

    fn compare_networks(&self) -> Option<bool> {
        let first = self.processes.first()?;
        let theirs = fs::read_link(self.of_process(first.pid, "ns/net")).ok()?;
        Some(theirs == fs::read_link(self.proc_root.join("self/ns/net")).ok()?)
    }

    /// Looks again which processes there are and what sockets they hold.
    pub(crate) fn refresh(&mut self) {
        if self.target.is_none() {
            return;
        }
        self.inodes.clear();
        self.processes.clear();
        for pid in self.living() {
            let begin = clock::now();
            let fds = descriptors(&self.of_process(pid, "fd"), &mut self.inodes);
            let window = Window::new(begin, clock::now());
            self.processes.push(Process { pid, window, fds });
        }
        self.shares_network = self.compare_networks();
    }

    /// Looks again which processes there are, without their sockets.
    pub(crate) fn living(&mut self) -> Vec<u32> {
        let Some(target) = &self.target else {
            return Vec::new();
        };
        let roots: Vec<u32> = target.pids.iter().chain(self.met.keys()).copied().collect();
        self.met = self.follow(&roots);
        self.ever_seen |= !self.met.is_empty();
        self.met.keys().copied().collect()
    }

    /// The living among `roots` and all their descendants, with their starts.
    fn follow(&mut self, roots: &[u32]) -> BTreeMap<u32, u64> {
        let mut alive = BTreeMap::new();
        let mut asked = BTreeSet::new();
        let mut waiting = roots.to_vec();
        let mut parents = None;
        while let Some(pid) = waiting.pop() {
            if !asked.insert(pid) {
                continue;
            }
            let Some(stat) = self.stat(pid) else { continue };
            let same = self
                .met
                .get(&pid)
                .is_none_or(|start| *start == stat.started_ticks);
            if !same || matches!(stat.state, 'Z' | 'X') {
                continue;
            }
            alive.insert(pid, stat.started_ticks);
            if let Some(children) = self.children(pid) {
                waiting.extend(children);
            } else {
                let parents = parents.get_or_insert_with(|| self.parents());
                waiting.extend(
                    parents
                        .iter()
                        .filter(|(_, p)| *p == pid)
                        .map(|(child, _)| *child),
                );
            }
        }
        alive
    }

    fn stat(&mut self, pid: u32) -> Option<Stat> {
        let path = self.of_process(pid, "stat");
        Stat::parse(&self.files.read_short(&path).ok()?.text)
    }

    /// The children of all threads of `pid`; `None` if the kernel does not list them.
    fn children(&mut self, pid: u32) -> Option<Vec<u32>> {
        let tasks = self.of_process(pid, "task");
        let mut children = Vec::new();
        for tid in numbers(&tasks).ok()? {
            match self.files.read(&tasks.join(format!("{tid}/children"))) {
                Ok(file) => children.extend(parse_children(&file.text)),
                Err(Errno::NOENT) if tasks.join(format!("{tid}/stat")).exists() => return None,
                Err(_) => {}
            }
        }
        Some(children)
    }

    /// Every process and its parent.
    fn parents(&mut self) -> Vec<(u32, u32)> {
        let pids = numbers(&self.proc_root).unwrap_or_default();
        pids.into_iter()
            .filter_map(|pid| Some((pid, self.stat(pid)?.parent)))
            .collect()
    }
}

fn parse_children(text: &str) -> impl Iterator<Item = u32> {
    text.split_ascii_whitespace()
        .filter_map(|word| word.parse().ok())
}

/// The names in a directory that are numbers, in ascending order.
pub(crate) fn numbers(directory: &Path) -> io::Result<Vec<u32>> {
    let mut numbers: Vec<u32> = fs::read_dir(directory)?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// Counts the entries of a `fd` directory and collects the sockets among them.
pub(crate) fn descriptors(directory: &Path, inodes: &mut HashSet<u32>) -> Result<u64, Errno> {
    let refused = |error: io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
    let mut count = 0;
    for entry in fs::read_dir(directory).map_err(refused)? {
        let entry = entry.map_err(refused)?;
        count += 1;
        if let Ok(link) = fs::read_link(entry.path()) {
            inodes.extend(link.to_str().and_then(socket_inode));
        }
    }
    Ok(count)
}

/// The inode in `socket:[7001]`.
fn socket_inode(link: &str) -> Option<u32> {
    link.strip_prefix("socket:[")?
        .strip_suffix(']')?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;

    /// A `/proc` with processes `(pid, parent, state, started)`, with or without `children`.
    fn tree(processes: &[(u32, u32, char, u64)], with_children: bool) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for &(pid, parent, state, started) in processes {
            let task = dir.path().join(format!("{pid}/task/{pid}"));
            fs::create_dir_all(&task).unwrap();
            let zeros = "0 ".repeat(17);
            let stat = format!("{pid} (x) {state} {parent} {zeros}{started} 0 0");
            fs::write(dir.path().join(format!("{pid}/stat")), &stat).unwrap();
            fs::write(task.join("stat"), &stat).unwrap();
            if with_children {
                let children: Vec<_> = processes
                    .iter()
                    .filter(|(_, p, ..)| *p == pid)
                    .map(|(child, ..)| child.to_string())
                    .collect();
                fs::write(task.join("children"), children.join(" ")).unwrap();
            }
        }
        dir
    }

    fn scene(root: &Path, pids: &[u32]) -> Scene {
        Scene::new(Watch {
            proc_root: root.to_owned(),
            sys_root: root.to_owned(),
            target: Some(Watched {
                pids: pids.to_vec(),
                port: Some(1),
            }),
            loop_tids: Arc::new(Vec::new),
        })
    }

    fn pids(scene: &Scene) -> Vec<u32> {
        scene.processes.iter().map(|process| process.pid).collect()
    }

    const FAMILY: &[(u32, u32, char, u64)] = &[
        (10, 1, 'S', 5),
        (11, 10, 'S', 6),
        (12, 11, 'R', 7),
        (13, 10, 'Z', 8),
        (20, 1, 'S', 9),
    ];

    #[test]
    fn descendants_are_followed_and_the_dead_are_not() {
        for with_children in [true, false] {
            let dir = tree(FAMILY, with_children);
            let mut scene = scene(dir.path(), &[10]);
            scene.refresh();
            assert_eq!(
                pids(&scene),
                [10, 11, 12],
                "children files: {with_children}"
            );
        }
    }

    #[test]
    fn an_orphan_is_kept_and_a_reused_id_is_dropped() {
        let dir = tree(FAMILY, false);
        let mut scene = scene(dir.path(), &[10]);
        scene.refresh();
        let later = tree(&[(10, 1, 'S', 99), (12, 1, 'R', 7)], false);
        scene.proc_root = later.path().to_owned();
        scene.refresh();
        assert_eq!(pids(&scene), [12]);
    }

    #[test]
    fn sockets_are_found_among_the_descriptors() {
        let dir = tree(&[(10, 1, 'S', 5)], true);
        let fds = dir.path().join("10/fd");
        fs::create_dir(&fds).unwrap();
        for (fd, link) in ["/dev/null", "socket:[7001]", "pipe:[3]"]
            .iter()
            .enumerate()
        {
            std::os::unix::fs::symlink(link, fds.join(fd.to_string())).unwrap();
        }
        let mut scene = scene(dir.path(), &[10]);
        scene.refresh();
        assert_eq!(scene.processes[0].fds, Ok(3));
        assert_eq!(scene.inodes, HashSet::from([7001]));
        assert_eq!(scene.shares_network, None, "the tree has no namespaces");
    }

    proptest! {
        #[test]
        fn links_and_children_of_any_text_are_read(text in ".{0,80}") {
            let _ = socket_inode(&text);
            let _ = parse_children(&text).count();
        }
    }
}

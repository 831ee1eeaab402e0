//! A cgroup of the server's own under the cpu controller, in version 1 or 2 of the interface.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;

/// Where systems mount the cgroup hierarchies.
pub(crate) const MOUNT: &str = "/sys/fs/cgroup";
/// Length of one quota period: the kernel's own default.
const PERIOD_US: f64 = 100_000.0;

/// One process's stay in a cgroup of its own.
pub(crate) struct Cgroup {
    path: PathBuf,
    /// The `cgroup.procs` file of the cgroup the process came from.
    home: PathBuf,
}

impl Cgroup {
    /// Creates an empty cgroup `slowpath-lab-PID`. `mount` is [`MOUNT`] but for tests, and
    /// `membership` is the text of /proc/self/cgroup. The error is a lowercase fragment.
    pub(crate) fn create(mount: &Path, membership: &str) -> Result<Self, String> {
        let v1 = mount.join("cpu");
        let (root, own) = if v1.join("cgroup.procs").exists() {
            (v1, own_path(membership, "cpu"))
        } else if controllers(mount)
            .split_whitespace()
            .any(|name| name == "cpu")
        {
            (mount.to_owned(), own_path(membership, ""))
        } else {
            return Err(format!(
                "no cpu controller is enabled below {}",
                mount.display()
            ));
        };
        let own = own.ok_or("this process has no cgroup under the cpu controller")?;
        let home = root.join(own.trim_start_matches('/')).join("cgroup.procs");
        let path = root.join(format!("slowpath-lab-{}", process::id()));
        fs::create_dir(&path).map_err(|error| at(&path, &error))?;
        Ok(Self { path, home })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Limits the group to a percentage of one CPU.
    pub(crate) fn limit(&self, quota_percent: f64) -> Result<(), String> {
        let quota_us = (PERIOD_US * quota_percent / 100.0) as u64;
        if self.path.join("cpu.max").exists() {
            self.write("cpu.max", &format!("{quota_us} {PERIOD_US}"))
        } else {
            self.write("cpu.cfs_period_us", &format!("{PERIOD_US}"))?;
            self.write("cpu.cfs_quota_us", &format!("{quota_us}"))
        }
    }

    /// Moves this process with all its threads into the group.
    pub(crate) fn enter(&self) -> Result<(), String> {
        self.write("cgroup.procs", &process::id().to_string())
    }

    /// Moves this process back to where it came from.
    pub(crate) fn leave(&self) -> Result<(), String> {
        fs::write(&self.home, process::id().to_string()).map_err(|error| at(&self.home, &error))
    }

    /// Periods in which the group was throttled, since its creation.
    pub(crate) fn throttled_periods(&self) -> Result<u64, String> {
        let path = self.path.join("cpu.stat");
        let text = fs::read_to_string(&path).map_err(|error| at(&path, &error))?;
        let value = text
            .lines()
            .find_map(|line| line.strip_prefix("nr_throttled "));
        value
            .and_then(|value| value.parse().ok())
            .ok_or("cpu.stat has no nr_throttled".to_owned())
    }

    fn write(&self, file: &str, text: &str) -> Result<(), String> {
        let path = self.path.join(file);
        fs::write(&path, text).map_err(|error| at(&path, &error))
    }
}

fn at(path: &Path, error: &io::Error) -> String {
    format!("{}: {error}", path.display())
}

/// The controllers that children of the version 2 root get; none without version 2.
fn controllers(mount: &Path) -> String {
    fs::read_to_string(mount.join("cgroup.subtree_control")).unwrap_or_default()
}

/// The path of the line of /proc/self/cgroup that lists this controller ("" for version 2).
fn own_path<'a>(membership: &'a str, controller: &str) -> Option<&'a str> {
    membership.lines().find_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        controllers
            .split(',')
            .any(|name| name == controller)
            .then_some(path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory that looks like a mount; files are plain files, so writes can be read back.
    struct Mount(PathBuf);

    impl Mount {
        fn new(name: &str, files: &[(&str, &str)]) -> Self {
            let path = std::env::temp_dir().join(format!("lab-{name}-{}", process::id()));
            for (file, text) in files {
                let file = path.join(file);
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, text).unwrap();
            }
            Self(path)
        }
    }

    impl Drop for Mount {
        fn drop(&mut self) {
            drop(fs::remove_dir_all(&self.0));
        }
    }

    #[test]
    fn version_1_has_files_for_quota_and_period_and_its_own_way_home() {
        let mount = Mount::new(
            "v1",
            &[("cpu/cgroup.procs", ""), ("cpu/jobs/cgroup.procs", "")],
        );
        let cgroup = Cgroup::create(&mount.0, "4:memory:/m\n1:cpu,cpuacct:/jobs\n0::/\n").unwrap();
        cgroup.limit(20.0).unwrap();
        cgroup.enter().unwrap();
        cgroup.leave().unwrap();
        let read = |file: &str| fs::read_to_string(mount.0.join("cpu").join(file)).unwrap();
        let own = format!("slowpath-lab-{}", process::id());
        assert_eq!(read(&format!("{own}/cpu.cfs_quota_us")), "20000");
        assert_eq!(read(&format!("{own}/cpu.cfs_period_us")), "100000");
        assert_eq!(
            read(&format!("{own}/cgroup.procs")),
            process::id().to_string()
        );
        assert_eq!(read("jobs/cgroup.procs"), process::id().to_string());
    }

    #[test]
    fn version_2_has_one_file_for_both() {
        let mount = Mount::new("v2", &[("cgroup.subtree_control", "cpu memory\n")]);
        let cgroup = Cgroup::create(&mount.0, "0::/user.slice\n").unwrap();
        fs::write(cgroup.path().join("cpu.max"), "max 100000\n").unwrap();
        cgroup.limit(150.0).unwrap();
        assert_eq!(
            fs::read_to_string(cgroup.path().join("cpu.max")).unwrap(),
            "150000 100000"
        );
        fs::write(
            cgroup.path().join("cpu.stat"),
            "nr_periods 9\nnr_throttled 7\n",
        )
        .unwrap();
        assert_eq!(cgroup.throttled_periods(), Ok(7));
        assert_eq!(cgroup.home, mount.0.join("user.slice/cgroup.procs"));
    }

    #[test]
    fn without_the_cpu_controller_nothing_is_made() {
        let mount = Mount::new("none", &[("cgroup.subtree_control", "memory\n")]);
        assert!(Cgroup::create(&mount.0, "0::/\n").is_err());
        assert_eq!(fs::read_dir(&mount.0).unwrap().count(), 1);
    }
}

//! The cgroup whose CPU quota binds the target: enforcement periods, throttling, usage.
//!
//! Read at 50 Hz because throttled time is booked when the throttling ends: a slower reader would
//! know that there was throttling, not when.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use slowpath_core::signal::{
    CGROUP_PERIOD, CGROUP_PERIODS, CGROUP_QUOTA, CGROUP_THROTTLED, CGROUP_THROTTLED_PERIODS,
    CGROUP_USAGE, Signal,
};
use slowpath_core::timeline::{Subject, Window};

use super::source::Files;
use super::text::keyed;
use super::{FAST_NS, Out, Probe, Scene};

pub(super) const CADENCE_NS: u64 = FAST_NS;
pub(super) const OF_TARGET: bool = true;
pub(super) const SIGNALS: &[&Signal] = &[
    &CGROUP_PERIODS,
    &CGROUP_THROTTLED_PERIODS,
    &CGROUP_THROTTLED,
    &CGROUP_USAGE,
    &CGROUP_QUOTA,
    &CGROUP_PERIOD,
];
const OF_STAT: &[&Signal] = &[
    &CGROUP_PERIODS,
    &CGROUP_THROTTLED_PERIODS,
    &CGROUP_THROTTLED,
];
const OF_LIMIT: &[&Signal] = &[&CGROUP_QUOTA, &CGROUP_PERIOD];

/// The group is looked up again once a second: an experiment may move the target to another.
const TURNS_PER_LOCATE: u64 = 50;
/// Quota and period are read at 10 Hz.
const TURNS_PER_LIMIT: u64 = 5;
/// Nanoseconds in the microseconds that the files count in.
const MICROSECOND: f64 = 1e3;

/// The interface of the CPU controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// `cpu.cfs_quota_us`, `throttled_time` in nanoseconds.
    V1,
    /// `cpu.max`, `throttled_usec`.
    V2,
}

/// Where a process lies in the hierarchy of the CPU controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The interface of its files.
    pub version: Version,
    /// Where the hierarchy is mounted.
    pub mount: PathBuf,
    /// The group's path below the mount; empty for the mount itself.
    pub group: PathBuf,
}

impl Place {
    /// The group's directory.
    pub fn directory(&self) -> PathBuf {
        below(&self.mount, &self.group)
    }
}

/// Joins without the trailing slash that an empty group would leave.
fn below(mount: &Path, group: &Path) -> PathBuf {
    if group.as_os_str().is_empty() {
        mount.to_owned()
    } else {
        mount.join(group)
    }
}

/// Why the CPU controller of a process cannot be found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoPlace {
    /// A file of procfs cannot be read.
    #[error("{path} cannot be read: {error}", path = path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the kernel said.
        error: Errno,
    },
    /// No hierarchy with a CPU controller is mounted.
    #[error("no cgroup hierarchy with a cpu controller is mounted")]
    NotMounted,
    /// The group lies outside of what is mounted here.
    #[error("the cgroup {group} lies outside of this mount namespace's hierarchy")]
    Outside {
        /// Its path as procfs shows it.
        group: String,
    },
}

/// Finds the CPU controller's group of process `pid`.
pub fn locate(proc_root: &Path, sys_root: &Path, pid: u32) -> Result<Place, NoPlace> {
    let mut files = Files::default();
    let (groups, mounts) = read_tables(proc_root, pid, &mut files)?;
    place_of("cpu", &groups, &mounts, sys_root)
}

/// The group whose CPU quota binds any of these processes; the first one's own where none is bound.
pub fn governing(proc_root: &Path, sys_root: &Path, pids: &[u32]) -> Option<PathBuf> {
    let group = State::default().governing(proc_root, sys_root, pids);
    group.ok().map(|group| group.directory)
}

/// How long the quota that binds process `pid` has kept CPUs from running, added up over CPUs, in
/// nanoseconds; `None` if that cannot be read.
pub(crate) fn throttled_ns(proc_root: &Path, sys_root: &Path, pid: u32) -> Option<u64> {
    let mut state = State::default();
    let group = state.governing(proc_root, sys_root, &[pid]).ok()?;
    let file = state.files.read(&group.directory.join("cpu.stat")).ok()?;
    let throttling = parse_throttling(&file.text, group.version)?;
    Some(throttling.throttled_ns as u64)
}

fn read_tables(proc_root: &Path, pid: u32, files: &mut Files) -> Result<(String, String), NoPlace> {
    let mut read = |path: PathBuf| match files.read(&path) {
        Ok(file) => Ok(file.text.into_owned()),
        Err(error) => Err(NoPlace::Unreadable { path, error }),
    };
    let groups = read(proc_root.join(format!("{pid}/cgroup")))?;
    Ok((groups, read(proc_root.join("self/mountinfo"))?))
}

/// Finds the group of `controller`: in its own v1 hierarchy if it has one, else in v2.
fn place_of(
    controller: &str,
    groups: &str,
    mounts: &str,
    sys_root: &Path,
) -> Result<Place, NoPlace> {
    let (version, group) = if let Some(group) = group_of(groups, Some(controller)) {
        (Version::V1, group)
    } else {
        (
            Version::V2,
            group_of(groups, None).ok_or(NoPlace::NotMounted)?,
        )
    };
    let mount = mounts
        .lines()
        .filter_map(Mount::parse)
        .find(|mount| match version {
            Version::V1 => {
                mount.kind == "cgroup" && mount.options.split(',').any(|o| o == controller)
            }
            Version::V2 => mount.kind == "cgroup2",
        })
        .ok_or(NoPlace::NotMounted)?;
    let outside = || NoPlace::Outside {
        group: group.to_owned(),
    };
    let inside = Path::new(group)
        .strip_prefix(&mount.root)
        .map_err(|_| outside())?;
    if inside.components().any(|part| part.as_os_str() == "..") {
        return Err(outside());
    }
    let at = match mount.at.strip_prefix("/sys") {
        Ok(rest) => sys_root.join(rest),
        Err(_) => mount.at,
    };
    Ok(Place {
        version,
        mount: at,
        group: inside.to_owned(),
    })
}

/// The path in the line of `/proc/PID/cgroup` for a v1 controller, or for v2.
fn group_of<'a>(groups: &'a str, controller: Option<&str>) -> Option<&'a str> {
    groups.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (number, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let wanted = match controller {
            Some(controller) => controllers.split(',').any(|name| name == controller),
            None => number == "0" && controllers.is_empty(),
        };
        wanted.then_some(path)
    })
}

/// A line of `mountinfo`.
struct Mount<'a> {
    /// The part of the file system that is mounted.
    root: PathBuf,
    at: PathBuf,
    kind: &'a str,
    options: &'a str,
}

impl<'a> Mount<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (place, system) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(3);
        let mut system = system.split(' ');
        Some(Self {
            root: unescaped(place.next()?),
            at: unescaped(place.next()?),
            kind: system.next()?,
            options: system.nth(1)?,
        })
    }
}

/// Undoes the octal escapes (`\040` for a blank) of `mountinfo`.
fn unescaped(text: &str) -> PathBuf {
    let mut pieces = text.split('\\');
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let code = piece
            .get(..3)
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        if let Some(code) = code {
            plain.push(char::from(code));
            plain.push_str(&piece[3..]);
        } else {
            plain.push('\\');
            plain.push_str(piece);
        }
    }
    PathBuf::from(plain)
}

/// A quota in a period, both in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Limit {
    quota_us: Option<u64>,
    period_us: u64,
}

/// Reads `cpu.max`: `QUOTA PERIOD`, where the quota may be `max`.
fn parse_max(text: &str) -> Option<Limit> {
    let mut words = text.split_ascii_whitespace();
    let quota = words.next()?;
    let quota_us = if quota == "max" {
        None
    } else {
        Some(quota.parse().ok()?)
    };
    Some(Limit {
        quota_us,
        period_us: words.next()?.parse().ok()?,
    })
}

/// Reads `cpu.cfs_quota_us`, where -1 is no quota, and `cpu.cfs_period_us`.
fn parse_cfs(quota: &str, period: &str) -> Option<Limit> {
    let quota: i64 = quota.trim().parse().ok()?;
    Some(Limit {
        quota_us: u64::try_from(quota).ok(),
        period_us: period.trim().parse().ok()?,
    })
}

/// What `cpu.stat` says about bandwidth.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Throttling {
    periods: u64,
    throttled_periods: u64,
    throttled_ns: f64,
}

/// Reads `cpu.stat`. A group that cannot have a quota (the root, or one without the controller)
/// has no such lines: nothing was enforced in it, which is a fact and not a missing value.
fn parse_throttling(text: &str, version: Version) -> Option<Throttling> {
    if !text.contains("nr_periods") {
        let none = Throttling {
            periods: 0,
            throttled_periods: 0,
            throttled_ns: 0.0,
        };
        return (version == Version::V2 && text.contains("usage_usec")).then_some(none);
    }
    let throttled_ns = match version {
        Version::V1 => keyed(text, "throttled_time")? as f64,
        Version::V2 => keyed(text, "throttled_usec")? as f64 * MICROSECOND,
    };
    Some(Throttling {
        periods: keyed(text, "nr_periods")?,
        throttled_periods: keyed(text, "nr_throttled")?,
        throttled_ns,
    })
}

/// The group to read: the nearest at or above a process's that has a quota, else its own.
#[derive(Debug)]
struct Group {
    version: Version,
    directory: PathBuf,
    /// Whether it has a quota.
    is_limited: bool,
    /// Where v1 counts CPU time; `None` if its accounting has other groups.
    accounting: Option<PathBuf>,
}

/// What is remembered from turn to turn.
#[derive(Debug, Default)]
pub(super) struct State {
    turn: u64,
    group: Option<Group>,
    files: Files,
}

impl Probe for State {
    fn read(&mut self, scene: &Scene, out: &mut Out) {
        let turn = self.turn;
        self.turn += 1;
        if turn.is_multiple_of(TURNS_PER_LOCATE) || self.group.is_none() {
            if scene.processes.is_empty() {
                return;
            }
            let pids: Vec<u32> = scene.processes.iter().map(|process| process.pid).collect();
            match self.governing(&scene.proc_root, &scene.sys_root, &pids) {
                Ok(group) => self.group = Some(group),
                Err(NoPlace::Unreadable { path, error }) => out.failed(SIGNALS, &path, error),
                Err(reason) => {
                    let remedy = "mount the cgroup hierarchy, or run slowpath on the host";
                    out.missing(SIGNALS, &reason.to_string(), remedy);
                }
            }
        }
        let Some(group) = self.group.take() else {
            return;
        };
        self.throttling(&group, out);
        if turn.is_multiple_of(TURNS_PER_LIMIT) {
            self.push_limit(&group, out);
        }
        self.group = Some(group);
    }
}

impl State {
    /// See [`governing`]. The process that starts a server need not be in its group: a shell puts its child
    /// into one, a supervisor its workers.
    fn governing(
        &mut self,
        proc_root: &Path,
        sys_root: &Path,
        pids: &[u32],
    ) -> Result<Group, NoPlace> {
        let mut first = None;
        let mut seen = BTreeSet::new();
        for &pid in pids {
            let found =
                read_tables(proc_root, pid, &mut self.files).and_then(|(groups, mounts)| {
                    let is_new = seen.insert(groups.clone());
                    let find = || self.find_group(&groups, &mounts, sys_root);
                    is_new.then(find).transpose()
                });
            match found.transpose() {
                Some(Ok(group)) if group.is_limited => return Ok(group),
                Some(other) => first = first.or(Some(other)),
                None => {}
            }
        }
        first.unwrap_or(Err(NoPlace::NotMounted))
    }

    fn find_group(
        &mut self,
        groups: &str,
        mounts: &str,
        sys_root: &Path,
    ) -> Result<Group, NoPlace> {
        let place = place_of("cpu", groups, mounts, sys_root)?;
        let limited = place.group.ancestors().find(|ancestor| {
            let limit = self.limit(place.version, &below(&place.mount, ancestor));
            limit.is_ok_and(|(_, limit)| limit.is_some_and(|l| l.quota_us.is_some()))
        });
        let chosen = limited.unwrap_or(&place.group);
        let accounting = match place.version {
            Version::V2 => None,
            Version::V1 => place_of("cpuacct", groups, mounts, sys_root)
                .ok()
                .filter(|accounting| accounting.group.starts_with(chosen))
                .map(|accounting| below(&accounting.mount, chosen)),
        };
        let directory = below(&place.mount, chosen);
        Ok(Group {
            version: place.version,
            directory,
            is_limited: limited.is_some(),
            accounting,
        })
    }

    /// Reads the quota of a directory; `None` inside if the text is not understood.
    fn limit(
        &mut self,
        version: Version,
        directory: &Path,
    ) -> Result<(Window, Option<Limit>), (PathBuf, Errno)> {
        let mut read = |name: &str| {
            let path = directory.join(name);
            match self.files.read_short(&path) {
                Ok(file) => Ok((file.window, file.text.into_owned())),
                Err(error) => Err((path, error)),
            }
        };
        match version {
            Version::V2 => read("cpu.max").map(|(window, text)| (window, parse_max(&text))),
            Version::V1 => {
                let (window, quota) = read("cpu.cfs_quota_us")?;
                let (later, period) = read("cpu.cfs_period_us")?;
                Ok((
                    Window::new(window.begin, later.end),
                    parse_cfs(&quota, &period),
                ))
            }
        }
    }

    fn push_limit(&mut self, group: &Group, out: &mut Out) {
        match self.limit(group.version, &group.directory) {
            Ok((window, Some(limit))) => {
                let period_ns = limit.period_us as f64 * MICROSECOND;
                out.push(&CGROUP_PERIOD, Subject::Target, window, period_ns);
                if let Some(quota_us) = limit.quota_us {
                    let quota_ns = quota_us as f64 * MICROSECOND;
                    out.push(&CGROUP_QUOTA, Subject::Target, window, quota_ns);
                }
            }
            Ok((_, None)) => out.not_understood(OF_LIMIT, &group.directory),
            // The root, or a group without the controller, has no such file and no quota.
            Err((_, Errno::NOENT)) => {}
            Err((path, error)) => out.failed(OF_LIMIT, &path, error),
        }
    }

    fn throttling(&mut self, group: &Group, out: &mut Out) {
        let path = group.directory.join("cpu.stat");
        let file = match self.files.read(&path) {
            Ok(file) => file,
            Err(error) => {
                let signals = if group.version == Version::V2 {
                    SIGNALS
                } else {
                    OF_STAT
                };
                out.failed(signals, &path, error);
                return self.accounting(group, out);
            }
        };
        match parse_throttling(&file.text, group.version) {
            Some(throttling) => {
                let mut push =
                    |signal, value| out.push(signal, Subject::Target, file.window, value);
                push(&CGROUP_PERIODS, throttling.periods as f64);
                push(
                    &CGROUP_THROTTLED_PERIODS,
                    throttling.throttled_periods as f64,
                );
                push(&CGROUP_THROTTLED, throttling.throttled_ns);
            }
            None => out.not_understood(OF_STAT, &path),
        }
        if group.version == Version::V2 {
            match keyed(&file.text, "usage_usec") {
                Some(usage_us) => {
                    let usage_ns = usage_us as f64 * MICROSECOND;
                    out.push(&CGROUP_USAGE, Subject::Target, file.window, usage_ns);
                }
                None => out.not_understood(&[&CGROUP_USAGE], &path),
            }
        }
        self.accounting(group, out);
    }

    /// CPU time of a v1 group; for a v2 group it is in `cpu.stat`.
    fn accounting(&mut self, group: &Group, out: &mut Out) {
        if group.version == Version::V2 {
            return;
        }
        let Some(directory) = &group.accounting else {
            let reason = "the cpuacct controller puts the target into another group than cpu does";
            return out.missing(&[&CGROUP_USAGE], reason, "");
        };
        let path = directory.join("cpuacct.usage");
        match self.files.read_short(&path) {
            Ok(file) => match file.text.trim().parse::<u64>() {
                Ok(ns) => out.push(&CGROUP_USAGE, Subject::Target, file.window, ns as f64),
                Err(_) => out.not_understood(&[&CGROUP_USAGE], &path),
            },
            Err(error) => out.failed(&[&CGROUP_USAGE], &path, error),
        }
    }
}

#[cfg(test)]
#[path = "cgroup_tests.rs"]
mod tests;

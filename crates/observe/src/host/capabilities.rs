//! What slowpath can see and do on this machine, and what would change that.

use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use rustix::process::{Resource, getrlimit};

use super::read_trimmed;
use crate::peek;
use crate::probes::cgroup::{self, Version};
use crate::probes::field;
use crate::sockets::{Family, LISTEN, Query, SockDiag};
use crate::trace;

/// One line of the doctor's report.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Capability {
    /// What it is about, and what it is good for.
    pub what: &'static str,
    /// Whether it is there.
    pub available: bool,
    /// What was found: a value, or why it is not there.
    pub reason: String,
    /// The command or setting that would give it; empty if it is there or nothing would.
    pub remedy: String,
}

/// Sockets that a load of some thousand connections needs beside files and logs.
const WANTED_DESCRIPTORS: u64 = 4096;
/// With fewer local ports, a load that dials for each request exhausts them within the minute
/// that a closed one stays in TIME-WAIT, at less than 170 requests a second.
const WANTED_PORTS: u32 = 10_000;
/// The kernel's default since 5.4; a smaller value caps every server's accept queue.
const WANTED_SOMAXCONN: u32 = 4096;
/// Clock sources that are read without leaving user space, or nearly so.
const FAST_CLOCKS: [&str; 5] = [
    "tsc",
    "kvm-clock",
    "arch_sys_counter",
    "hyperv_clocksource_tsc_page",
    "timebase",
];

// Bits of `CapEff`, from linux/capability.h.
const CAP_SYS_PTRACE: u32 = 19;
const CAP_SYS_NICE: u32 = 23;

/// Looks at everything that slowpath uses on a host.
pub fn capabilities(proc_root: &Path, sys_root: &Path) -> Vec<Capability> {
    let host = Host {
        proc_root: proc_root.to_owned(),
        sys_root: sys_root.to_owned(),
    };
    let checks: [fn(&Host) -> Capability; 15] = [
        Host::processes,
        Host::ptrace,
        Host::schedstat,
        Host::pressure,
        Host::cgroup,
        Host::cgroup_quota,
        sock_diag,
        Host::tracepoints,
        Host::switches,
        Host::priorities,
        Host::timer_slack,
        descriptors,
        Host::ports,
        Host::clock_source,
        Host::accept_queue,
    ];
    checks.iter().map(|check| check(&host)).collect()
}

fn yes(what: &'static str, found: impl Into<String>) -> Capability {
    Capability {
        what,
        available: true,
        reason: found.into(),
        remedy: String::new(),
    }
}

fn no(what: &'static str, reason: impl Into<String>, remedy: &str) -> Capability {
    Capability {
        what,
        available: false,
        reason: reason.into(),
        remedy: remedy.to_owned(),
    }
}

fn when(good: bool, what: &'static str, reason: impl Into<String>, remedy: &str) -> Capability {
    if good {
        yes(what, reason)
    } else {
        no(what, reason, remedy)
    }
}

struct Host {
    proc_root: PathBuf,
    sys_root: PathBuf,
}

impl Host {
    fn proc(&self, name: &str) -> Option<String> {
        read_trimmed(&self.proc_root.join(name))
    }

    fn has(&self, capability: u32) -> bool {
        self.proc("self/status")
            .and_then(|status| effective(&status))
            .is_some_and(|mask| mask >> capability & 1 == 1)
    }

    fn processes(&self) -> Capability {
        let what = "processes of other users in /proc";
        match self.proc("1/stat") {
            Some(_) => yes(what, "visible"),
            None => no(
                what,
                "/proc/1/stat cannot be read: another pid namespace or hidepid",
                "run slowpath as root on the host, or remount /proc with hidepid=0",
            ),
        }
    }

    fn ptrace(&self) -> Capability {
        let what = "system calls of running processes (/proc/PID/syscall)";
        let scope = self.proc("sys/kernel/yama/ptrace_scope");
        match scope.as_deref() {
            None => yes(what, "no restriction by yama; processes of the same user"),
            Some("0") => yes(what, "yama ptrace_scope 0; processes of the same user"),
            Some(scope) => {
                let reason = format!("yama ptrace_scope {scope}: only what slowpath started");
                let remedy = "sysctl kernel.yama.ptrace_scope=0, or run slowpath as root";
                when(self.has(CAP_SYS_PTRACE), what, reason, remedy)
            }
        }
    }

    fn schedstat(&self) -> Capability {
        let what = "time that threads wait for a CPU (/proc/PID/schedstat)";
        let remedy = "a kernel with CONFIG_SCHED_INFO (SCHEDSTATS or TASK_DELAY_ACCT)";
        match self
            .proc("self/schedstat")
            .and_then(|text| turns_on_cpu(&text))
        {
            // The time run is booked late, the turn that this very thread has is not.
            Some(turns) if turns > 0 => yes(what, "counted"),
            Some(_) => no(what, "the counters stay at zero", remedy),
            None => no(what, "the file is missing or unreadable", remedy),
        }
    }

    fn pressure(&self) -> Capability {
        let what = "pressure stall information (/proc/pressure)";
        match self.proc("pressure/cpu") {
            Some(text) if text.starts_with("some") => yes(what, "counted"),
            _ => no(what, "absent or switched off", "boot the kernel with psi=1"),
        }
    }

    fn cgroup(&self) -> Capability {
        let what = "CPU quota and throttling of cgroups";
        match cgroup::locate(&self.proc_root, &self.sys_root, std::process::id()) {
            Ok(place) => {
                let version = version_text(place.version);
                yes(what, format!("{version} at {}", place.mount.display()))
            }
            Err(reason) => no(what, reason.to_string(), "mount the cgroup hierarchy"),
        }
    }

    fn cgroup_quota(&self) -> Capability {
        let what = "changing a CPU quota for an experiment";
        let remedy = "run slowpath as root, or in a delegated cgroup (systemd-run --user \
                      -p Delegate=yes)";
        let place = match cgroup::locate(&self.proc_root, &self.sys_root, std::process::id()) {
            Ok(place) => place,
            Err(reason) => return no(what, reason.to_string(), remedy),
        };
        if place.version == Version::V2 {
            let path = place.directory().join("cgroup.controllers");
            let controllers = read_trimmed(&path).unwrap_or_default();
            if !controllers.split(' ').any(|name| name == "cpu") {
                let reason = format!("{} does not list cpu", path.display());
                return no(
                    what,
                    reason,
                    "echo +cpu > cgroup.subtree_control of the parent group",
                );
            }
        }
        let directory = place.directory();
        match access(&directory, Access::WRITE_OK) {
            Ok(()) => yes(what, format!("{} is writable", directory.display())),
            Err(error) => no(what, format!("{}: {error}", directory.display()), remedy),
        }
    }

    /// What of the target's inside is traced in full.
    fn tracepoints(&self) -> Capability {
        let what =
            "which thread woke which, and which request a thread served (kernel tracepoints)";
        match trace::tracepoints(&self.proc_root) {
            Ok(0) => no(what, "the kernel has none of them", "Linux 4.16 or later"),
            Ok(count) => yes(what, format!("{count} tracepoints can be read")),
            Err(gap) => no(what, gap.reason, &gap.remedy),
        }
    }

    /// What of it is traced without privilege.
    fn switches(&self) -> Capability {
        let what = "when threads run, what they wait in, whose locks (without privilege)";
        let Some(paranoid) = self.proc("sys/kernel/perf_event_paranoid") else {
            return no(
                what,
                "the kernel has no perf events",
                "a kernel with CONFIG_PERF_EVENTS",
            );
        };
        let remedy = "sysctl kernel.perf_event_paranoid=2 and a seccomp profile that lets \
                      perf_event_open through, or run slowpath with CAP_PERFMON";
        let level = format!("perf_event_paranoid {paranoid}");
        match peek::can_follow(&self.proc_root) {
            Ok(_) => yes(what, format!("processes of the same user; {level}")),
            Err(error) => no(what, format!("perf_event_open: {error}; {level}"), remedy),
        }
    }

    fn priorities(&self) -> Capability {
        let what = "priorities and affinity of other users' threads (CAP_SYS_NICE)";
        let remedy = "run slowpath as root, or setcap cap_sys_nice+ep on it";
        let held = self.has(CAP_SYS_NICE);
        when(held, what, if held { "held" } else { "not held" }, remedy)
    }

    fn timer_slack(&self) -> Capability {
        let what = "timer slack of the target's threads (experiment)";
        if self.proc("self/timerslack_ns").is_none() {
            return no(
                what,
                "/proc/PID/timerslack_ns is absent",
                "Linux 4.6 or later",
            );
        }
        let held = self.has(CAP_SYS_NICE);
        let reason = if held {
            "writable"
        } else {
            "needs CAP_SYS_NICE"
        };
        when(
            held,
            what,
            reason,
            "run slowpath as root, or setcap cap_sys_nice+ep on it",
        )
    }

    fn ports(&self) -> Capability {
        let what = "local ports to dial from";
        let remedy = "sysctl net.ipv4.ip_local_port_range='10000 65000'";
        match self
            .proc("sys/net/ipv4/ip_local_port_range")
            .and_then(|text| port_count(&text))
        {
            Some(count) => when(count >= WANTED_PORTS, what, count.to_string(), remedy),
            None => no(what, "ip_local_port_range cannot be read", ""),
        }
    }

    fn clock_source(&self) -> Capability {
        let what = "a clock that is cheap to read";
        let path = "devices/system/clocksource/clocksource0/current_clocksource";
        match read_trimmed(&self.sys_root.join(path)) {
            Some(source) => {
                let fast = FAST_CLOCKS.contains(&source.as_str());
                when(
                    fast,
                    what,
                    source,
                    "boot with clocksource=tsc if the machine's is stable",
                )
            }
            None => no(what, format!("{path} cannot be read"), ""),
        }
    }

    fn accept_queue(&self) -> Capability {
        let what = "accept queues as long as servers ask for (somaxconn)";
        let somaxconn = self.proc("sys/net/core/somaxconn");
        let value = somaxconn
            .as_deref()
            .and_then(|text| text.parse::<u32>().ok());
        match value {
            Some(value) => {
                let remedy = "sysctl net.core.somaxconn=4096";
                when(value >= WANTED_SOMAXCONN, what, value.to_string(), remedy)
            }
            None => no(what, "somaxconn cannot be read", ""),
        }
    }
}

fn sock_diag(_: &Host) -> Capability {
    let what = "listening sockets and their queues (sock_diag)";
    let query = Query {
        family: Family::V4,
        states: &[LISTEN],
        local_port: 0,
        details: true,
    };
    match SockDiag::open().and_then(|mut kernel| kernel.dump(query, |_| {})) {
        Ok(()) => yes(what, "answers"),
        Err(error) => no(what, error.to_string(), "modprobe -a inet_diag tcp_diag"),
    }
}

fn descriptors(_: &Host) -> Capability {
    let what = "file descriptors of slowpath (RLIMIT_NOFILE)";
    let soft = getrlimit(Resource::Nofile).current;
    let reason = soft.map_or_else(|| "unlimited".to_owned(), |soft| soft.to_string());
    when(
        soft.is_none_or(|soft| soft >= WANTED_DESCRIPTORS),
        what,
        reason,
        "ulimit -n 65536",
    )
}

fn version_text(version: Version) -> &'static str {
    match version {
        Version::V1 => "cgroup v1",
        Version::V2 => "cgroup v2",
    }
}

/// The effective capabilities in `/proc/PID/status`.
fn effective(status: &str) -> Option<u64> {
    u64::from_str_radix(field(status, "CapEff")?, 16).ok()
}

/// How often a thread was given a CPU: the third number of its `schedstat`.
fn turns_on_cpu(schedstat: &str) -> Option<u64> {
    schedstat.split_ascii_whitespace().nth(2)?.parse().ok()
}

/// How many ports lie in `ip_local_port_range`.
fn port_count(text: &str) -> Option<u32> {
    let mut words = text.split_ascii_whitespace().map(str::parse::<u16>);
    let (first, last) = (words.next()?.ok()?, words.next()?.ok()?);
    Some(u32::from(last.checked_sub(first)?) + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn whatever_is_not_there_says_why() {
        for root in ["/proc", "/nonexistent"] {
            let sys = root.replace("proc", "sys");
            for capability in capabilities(Path::new(root), Path::new(&sys)) {
                assert!(!capability.reason.is_empty(), "{capability:?}");
                assert!(
                    !capability.available || capability.remedy.is_empty(),
                    "{capability:?}"
                );
            }
        }
    }

    #[test]
    fn masks_and_ranges_are_read() {
        let status = "CapPrm:\t0\nCapEff:\t0000000000880000\n";
        assert_eq!(
            effective(status),
            Some(1 << CAP_SYS_PTRACE | 1 << CAP_SYS_NICE)
        );
        assert_eq!(port_count("32768\t60999\n"), Some(28_232));
        assert_eq!(port_count("2 1"), None);
        assert_eq!(turns_on_cpu("0 45208 1\n"), Some(1));
        assert_eq!(turns_on_cpu("0 0\n"), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_a_parser_panic(text in "(.|\n){0,80}") {
            let _ = (effective(&text), port_count(&text), turns_on_cpu(&text));
            let _ = effective(&format!("CapEff:{text}"));
        }
    }
}

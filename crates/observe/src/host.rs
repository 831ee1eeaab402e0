//! The host: what kind of machine it is, what can be seen on it, and how quiet it is.

mod bench;
mod capabilities;
mod counters;
mod examiner;
mod noise;

use std::path::{Path, PathBuf};

use rustix::process::geteuid;
use rustix::system::uname;
use slowpath_core::facts::HostFacts;

pub use bench::{Bench, bench, bench_takes};
pub use capabilities::{Capability, capabilities};
pub use examiner::{ClockReader, Examiner, HealthWatch};
pub use noise::noise;

use crate::probes::{cgroup, count_cpus, field};
use crate::target::process::Table;

/// Bytes in the kibibytes in which `/proc/meminfo` counts.
const KIBIBYTE: u64 = 1024;

/// What kind of machine this is. What cannot be read is left empty or zero.
pub fn facts(proc_root: &Path, sys_root: &Path) -> HostFacts {
    let read = |path: &str| read_trimmed(&proc_root.join(path));
    let system = uname();
    let clocksource = sys_root.join("devices/system/clocksource/clocksource0/current_clocksource");
    HostFacts {
        hostname: system.nodename().to_string_lossy().into_owned(),
        kernel: system.release().to_string_lossy().into_owned(),
        cpu_model: read("cpuinfo")
            .and_then(|text| cpu_model(&text))
            .unwrap_or_else(|| system.machine().to_string_lossy().into_owned()),
        cpus: read("stat")
            .and_then(|text| count_cpus(&text))
            .unwrap_or_default(),
        memory_bytes: read("meminfo")
            .and_then(|text| memory_bytes(&text))
            .unwrap_or_default(),
        clocksource: read_trimmed(&clocksource).unwrap_or_default(),
        syn_linear_timeouts: read("sys/net/ipv4/tcp_syn_linear_timeouts")
            .and_then(|text| text.parse().ok()),
        root: geteuid().is_root(),
    }
}

/// The directory of the cgroup whose CPU quota binds any of these processes or their descendants; of
/// the first one's own where none is bound, and `None` if it has none.
pub fn cpu_cgroup(proc_root: &Path, sys_root: &Path, pids: &[u32]) -> Option<PathBuf> {
    let family: Vec<u32> = match Table::read(proc_root) {
        Ok(table) => {
            let rows = table.with_descendants(pids).into_iter();
            rows.map(|row| row.identity.pid).collect()
        }
        Err(_) => pids.to_vec(),
    };
    cgroup::governing(proc_root, sys_root, &family)
}

fn read_trimmed(path: &Path) -> Option<String> {
    let bytes = std::fs::read(path).ok()?;
    Some(String::from_utf8_lossy(&bytes).trim().to_owned())
}

/// The model of the first processor; x86, POWER and some ARM boards have one.
fn cpu_model(cpuinfo: &str) -> Option<String> {
    const KEYS: [&str; 4] = ["model name", "cpu model", "cpu", "Model"];
    KEYS.iter().find_map(|key| {
        cpuinfo.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            (name.trim() == *key).then(|| value.trim().to_owned())
        })
    })
}

fn memory_bytes(meminfo: &str) -> Option<u64> {
    let kibibytes: u64 = field(meminfo, "MemTotal")?
        .strip_suffix("kB")?
        .trim()
        .parse()
        .ok()?;
    kibibytes.checked_mul(KIBIBYTE)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_model_is_found_under_the_names_that_processors_use() {
        let x86 = "processor\t: 0\nmodel\t\t: 85\nmodel name\t: Xeon @ 2.5GHz\n";
        assert_eq!(cpu_model(x86).as_deref(), Some("Xeon @ 2.5GHz"));
        let board = "processor\t: 0\nHardware\t: BCM2835\nModel\t\t: Raspberry Pi 4\n";
        assert_eq!(cpu_model(board).as_deref(), Some("Raspberry Pi 4"));
        assert_eq!(cpu_model("processor\t: 0\nCPU part\t: 0xd0c\n"), None);
    }

    #[test]
    fn memory_is_in_bytes() {
        assert_eq!(
            memory_bytes("MemTotal:       2048 kB\nMemFree: 1 kB\n"),
            Some(2 * 1024 * 1024)
        );
        assert_eq!(memory_bytes("MemFree: 1 kB\n"), None);
    }

    #[test]
    fn this_machine_has_facts() {
        let facts = facts(Path::new("/proc"), Path::new("/sys"));
        assert!(!facts.kernel.is_empty() && !facts.cpu_model.is_empty());
        assert!(facts.cpus >= 1 && facts.memory_bytes > 0);
        let nowhere = super::facts(Path::new("/nonexistent"), Path::new("/nonexistent"));
        assert_eq!(
            (
                nowhere.cpus,
                nowhere.memory_bytes,
                nowhere.syn_linear_timeouts
            ),
            (0, 0, None)
        );
    }

    proptest! {
        #[test]
        fn no_text_makes_a_parser_panic(text in "(.|\n){0,160}") {
            let _ = (cpu_model(&text), memory_bytes(&text));
            let _ = memory_bytes(&format!("MemTotal:{text} kB"));
        }
    }
}

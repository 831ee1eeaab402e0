//! The host: CPU time, time stolen by the hypervisor, pressure.

use slowpath_core::signal::{
    HOST_CPU_BUSY, HOST_CPU_IDLE, HOST_CPU_STEAL, HOST_CPUS, HOST_PSI_CPU, HOST_PSI_IO,
    HOST_PSI_MEMORY, Signal,
};
use slowpath_core::timeline::Subject;

use super::process::ticks_to_ns;
use super::source::Files;
use super::{Out, Probe, Scene, USUAL_NS};

pub(super) const CADENCE_NS: u64 = USUAL_NS;
pub(super) const OF_TARGET: bool = false;
pub(super) const SIGNALS: &[&Signal] = &[
    &HOST_CPU_BUSY,
    &HOST_CPU_IDLE,
    &HOST_CPU_STEAL,
    &HOST_CPUS,
    &HOST_PSI_CPU,
    &HOST_PSI_IO,
    &HOST_PSI_MEMORY,
];
const OF_STAT: &[&Signal] = &[&HOST_CPU_BUSY, &HOST_CPU_IDLE, &HOST_CPU_STEAL, &HOST_CPUS];

/// The files of pressure stall information and their signals.
const PRESSURES: [(&str, &Signal); 3] = [
    ("pressure/cpu", &HOST_PSI_CPU),
    ("pressure/io", &HOST_PSI_IO),
    ("pressure/memory", &HOST_PSI_MEMORY),
];
/// Nanoseconds in the microseconds in which pressure is counted.
const MICROSECOND: f64 = 1e3;

/// What is remembered from turn to turn.
#[derive(Debug, Default)]
pub(super) struct State {
    files: Files,
}

impl Probe for State {
    fn read(&mut self, scene: &Scene, out: &mut Out) {
        self.cpus(scene, out);
        for (name, signal) in PRESSURES {
            self.pressure(scene, name, signal, out);
        }
    }
}

impl State {
    fn cpus(&mut self, scene: &Scene, out: &mut Out) {
        let path = scene.proc_root.join("stat");
        match self.files.read(&path) {
            Ok(file) => match parse_cpus(&file.text) {
                Some(cpus) => {
                    let mut push =
                        |signal, value| out.push(signal, Subject::Host, file.window, value);
                    push(&HOST_CPU_BUSY, ticks_to_ns(cpus.busy_ticks));
                    push(&HOST_CPU_IDLE, ticks_to_ns(cpus.idle_ticks));
                    push(&HOST_CPU_STEAL, ticks_to_ns(cpus.steal_ticks));
                    push(&HOST_CPUS, cpus.online as f64);
                }
                None => out.not_understood(OF_STAT, &path),
            },
            Err(error) => out.failed(OF_STAT, &path, error),
        }
    }

    fn pressure(&mut self, scene: &Scene, name: &str, signal: &'static Signal, out: &mut Out) {
        let path = scene.proc_root.join(name);
        match self.files.read(&path) {
            Ok(file) => match parse_pressure(&file.text) {
                Some(some_us) => {
                    let some_ns = some_us as f64 * MICROSECOND;
                    out.push(signal, Subject::Host, file.window, some_ns);
                }
                None => out.not_understood(&[signal], &path),
            },
            // Without `psi=1` the file is absent, or it is there and cannot be read.
            Err(error) => {
                let reason = format!("{}: {error}", path.display());
                out.missing(&[signal], &reason, "boot the kernel with psi=1");
            }
        }
    }
}

/// The CPUs of the host in `/proc/stat`; times in clock ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cpus {
    pub(crate) busy_ticks: u64,
    pub(crate) idle_ticks: u64,
    pub(crate) steal_ticks: u64,
    pub(crate) online: u64,
}

/// Reads `/proc/stat`. Guest time is part of user time there; waiting for I/O is idle.
pub(crate) fn parse_cpus(text: &str) -> Option<Cpus> {
    let mut lines = text.lines();
    let mut total = lines.next()?.strip_prefix("cpu ")?.split_ascii_whitespace();
    let mut next = || total.next()?.parse::<u64>().ok();
    let (user, nice, system, idle, iowait, irq, softirq) = (
        next()?,
        next()?,
        next()?,
        next()?,
        next()?,
        next()?,
        next()?,
    );
    let busy = [user, nice, system, irq, softirq]
        .into_iter()
        .fold(0, u64::saturating_add);
    Some(Cpus {
        busy_ticks: busy,
        idle_ticks: idle.saturating_add(iowait),
        steal_ticks: next()?,
        online: lines.take_while(|line| line.starts_with("cpu")).count() as u64,
    })
}

/// How many CPUs are online, from `/proc/stat`.
pub(crate) fn count_cpus(text: &str) -> Option<u32> {
    u32::try_from(parse_cpus(text)?.online).ok()
}

/// The microseconds after `total=` in the line `some` of a pressure file.
pub(crate) fn parse_pressure(text: &str) -> Option<u64> {
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    some.split_ascii_whitespace()
        .find_map(|word| word.strip_prefix("total="))?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times_are_busy_idle_or_stolen() {
        let text = "cpu  100 1 50 1000 20 2 3 7 5 0\ncpu0 50 1 25 500 10 1 1 3 5 0\n\
                    cpu1 50 0 25 500 10 1 2 4 0 0\nintr 1 2 3\n";
        let cpus = Cpus {
            busy_ticks: 156,
            idle_ticks: 1020,
            steal_ticks: 7,
            online: 2,
        };
        assert_eq!(parse_cpus(text), Some(cpus));
        assert_eq!(parse_cpus("cpu  1 2 3\n"), None);
    }

    #[test]
    fn pressure_is_the_total_of_some() {
        let text = "some avg10=1.04 avg60=0.46 avg300=1.04 total=23744580\n\
                    full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
        assert_eq!(parse_pressure(text), Some(23_744_580));
        assert_eq!(parse_pressure("full avg10=0.00 total=7\n"), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_a_parser_panic(text in "(.|\n){0,160}", n in any::<[u64; 10]>()) {
            let _ = (parse_cpus(&text), parse_pressure(&text));
            let _ = (parse_cpus(&format!("cpu {text}")), parse_pressure(&format!("some {text}")));
            let words: Vec<_> = n.iter().map(u64::to_string).collect();
            let line = format!("cpu  {}\n", words.join(" "));
            prop_assert!(parse_cpus(&line).is_some());
        }
    }
}

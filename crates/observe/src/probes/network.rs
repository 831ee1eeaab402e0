//! The counters of the target's network namespace.

use std::collections::BTreeMap;

use slowpath_core::signal::{NET_COUNTER, Signal};
use slowpath_core::timeline::{Subject, Window};

use super::source::Files;
use super::{Out, Probe, Scene, USUAL_NS};

pub(super) const CADENCE_NS: u64 = USUAL_NS;
pub(super) const OF_TARGET: bool = true;
pub(super) const SIGNALS: &[&Signal] = &[&NET_COUNTER];

const FILES: [&str; 2] = ["net/netstat", "net/snmp"];

/// Counters that are recorded also while they rest, so that a detector can say that nothing
/// happened. The others are recorded from their first change on.
const ALWAYS: &[&str] = &[
    "TcpExt.ListenOverflows",
    "TcpExt.ListenDrops",
    "TcpExt.DelayedACKs",
    "TcpExt.DelayedACKLost",
    "TcpExt.TCPTimeouts",
    "TcpExt.TCPSynRetrans",
    "TcpExt.TCPAbortOnClose",
    "TcpExt.TCPAbortOnData",
    "Tcp.ActiveOpens",
    "Tcp.PassiveOpens",
    "Tcp.RetransSegs",
    "Tcp.EstabResets",
    "Tcp.OutRsts",
];
/// Gauges among the counters.
const GAUGES: &[&str] = &["Tcp.CurrEstab"];

/// What is remembered from turn to turn.
#[derive(Debug, Default)]
pub(super) struct State {
    counters: BTreeMap<String, Counter>,
    files: Files,
}

#[derive(Debug)]
struct Counter {
    window: Window,
    value: f64,
    recorded: bool,
}

impl Probe for State {
    fn read(&mut self, scene: &Scene, out: &mut Out) {
        let Some(first) = scene.processes.first() else {
            return;
        };
        for name in FILES {
            let path = scene.of_process(first.pid, name);
            match self.files.read(&path) {
                Ok(file) => {
                    let counters = parse(&file.text);
                    if counters.is_empty() {
                        out.not_understood(SIGNALS, &path);
                    }
                    for (label, value) in counters {
                        note(&mut self.counters, label, file.window, value, out);
                    }
                }
                Err(error) => out.failed(SIGNALS, &path, error),
            }
        }
    }
}

/// Records a counter's value, unless it has rested since the start and is not always recorded.
/// At the first change the value before is recorded too: it shows when the change came.
fn note(
    counters: &mut BTreeMap<String, Counter>,
    label: String,
    window: Window,
    value: f64,
    out: &mut Out,
) {
    let mut push = |window, value| {
        out.push_labelled(&NET_COUNTER, Subject::Target, label.clone(), window, value);
    };
    let Some(counter) = counters.get_mut(&label) else {
        let recorded = ALWAYS.contains(&label.as_str());
        if recorded {
            push(window, value);
        }
        counters.insert(
            label,
            Counter {
                window,
                value,
                recorded,
            },
        );
        return;
    };
    if !counter.recorded && value.total_cmp(&counter.value).is_ne() {
        push(counter.window, counter.value);
        counter.recorded = true;
    }
    if counter.recorded {
        push(window, value);
    }
    (counter.window, counter.value) = (window, value);
}

/// Reads pairs of lines, names above values, as `Group.Name` and value.
fn parse(text: &str) -> Vec<(String, f64)> {
    let mut counters = Vec::new();
    let mut lines = text.lines();
    while let (Some(names), Some(values)) = (lines.next(), lines.next()) {
        let (Some((group, names)), Some((same, values))) =
            (names.split_once(':'), values.split_once(':'))
        else {
            continue;
        };
        if group != same {
            continue;
        }
        for (name, value) in names
            .split_ascii_whitespace()
            .zip(values.split_ascii_whitespace())
        {
            let label = format!("{group}.{name}");
            // Constants such as `Tcp.MaxConn` may be negative; a counter is not.
            if let Ok(value) = value.parse::<u64>()
                && !GAUGES.contains(&label.as_str())
            {
                counters.push((label, value as f64));
            }
        }
    }
    counters
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use slowpath_core::Nanos;

    use super::*;

    #[test]
    fn names_and_values_are_paired_by_place() {
        let text = "TcpExt: SyncookiesSent ListenOverflows\nTcpExt: 0 14\n\
                    Tcp: MaxConn CurrEstab RetransSegs\nTcp: -1 3 9\n";
        let expected = [
            ("TcpExt.SyncookiesSent".to_owned(), 0.0),
            ("TcpExt.ListenOverflows".to_owned(), 14.0),
            ("Tcp.RetransSegs".to_owned(), 9.0),
        ];
        assert_eq!(parse(text), expected);
    }

    #[test]
    fn a_resting_counter_appears_with_its_first_change() {
        let (mut counters, mut out) = (BTreeMap::new(), Out::default());
        let mut at = |turn: u64, label: &str, value| {
            let window = Window::new(Nanos::new(turn * 100), Nanos::new(turn * 100 + 1));
            note(&mut counters, label.to_owned(), window, value, &mut out);
            let read = out.take();
            read.iter()
                .map(|r| (r.point.window.begin.get(), r.point.value))
                .collect::<Vec<_>>()
        };
        assert_eq!(at(1, "TcpExt.TCPRcvCoalesce", 5.0), []);
        assert_eq!(at(2, "TcpExt.TCPRcvCoalesce", 5.0), []);
        assert_eq!(
            at(3, "TcpExt.TCPRcvCoalesce", 6.0),
            [(200, 5.0), (300, 6.0)]
        );
        assert_eq!(at(4, "TcpExt.TCPRcvCoalesce", 6.0), [(400, 6.0)]);
        assert_eq!(at(1, "TcpExt.ListenDrops", 0.0), [(100, 0.0)]);
        assert_eq!(at(2, "TcpExt.ListenDrops", 0.0), [(200, 0.0)]);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in "([A-Z:. 0-9-]|\n){0,200}") {
            let _ = parse(&text);
        }

        #[test]
        fn every_pair_is_read(
            pairs in prop::collection::vec(("[A-Z][a-z]{1,8}", any::<u32>()), 1..20),
        ) {
            let names: Vec<_> = pairs.iter().map(|(name, _)| name.as_str()).collect();
            let values: Vec<_> = pairs.iter().map(|(_, value)| value.to_string()).collect();
            let text = format!("Ip: {}\nIp: {}\n", names.join(" "), values.join(" "));
            prop_assert_eq!(parse(&text).len(), pairs.len());
        }
    }
}

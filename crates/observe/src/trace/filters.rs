//! Conditions that the kernel tests before it writes a record
//! (`Documentation/trace/events.rst`, section 5).
//!
//! A record that is refused costs a tenth of a microsecond, one that is written six times as much
//! and its place in the ring, so the kernel's filters select what is followed as closely as fits.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::calls;
use super::kinds::Kind;

/// Thread ids are given as at most so many ranges: twice 32 of 45 bytes each stay below a page, which
/// is what the kernel takes.
const MOST_RANGES: usize = 32;
/// Connections to more services than these are followed for the first of them only: 16 conditions
/// on two ports each of up to 12 bytes.
pub(super) const MOST_PORTS: usize = 16;

/// The state of a connection that is being made (`include/net/tcp_states.h`).
pub(super) const TCP_SYN_SENT: u8 = 2;
/// It is closed, or was never made.
pub(super) const TCP_CLOSE: u8 = 7;

/// A set of thread ids that a condition can express: everything that was meant, and as little else
/// as fits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tids {
    /// First and last of each range, in ascending order, apart from each other.
    ranges: Vec<(u32, u32)>,
}

impl Tids {
    /// The set that holds `tids`, without the idle task, and the ids in `unborn`: those that the
    /// next threads will get.
    pub(super) fn covering(
        tids: &BTreeSet<u32>,
        unborn: impl IntoIterator<Item = RangeInclusive<u32>>,
    ) -> Self {
        let mut all: Vec<(u32, u32)> = tids.range(1..).map(|&tid| (tid, tid)).collect();
        all.extend(unborn.into_iter().map(|ids| (*ids.start(), *ids.end())));
        all.sort_unstable();
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for (first, last) in all {
            match ranges.last_mut() {
                Some(range) if range.1.saturating_add(1) >= first => range.1 = range.1.max(last),
                _ => ranges.push((first, last)),
            }
        }
        Self {
            ranges: merged(ranges),
        }
    }

    /// Whether the kernel would let it pass.
    pub(super) fn contains(&self, tid: u32) -> bool {
        let place = self.ranges.partition_point(|range| range.1 < tid);
        self.ranges.get(place).is_some_and(|range| range.0 <= tid)
    }

    /// The condition that one of `fields` is in the set.
    pub(super) fn condition(&self, fields: &[&str]) -> String {
        let mut either = Vec::new();
        for field in fields {
            either.extend(self.ranges.iter().map(|&(first, last)| {
                if first == last {
                    format!("{field}=={first}")
                } else {
                    format!("({field}>={first}&&{field}<={last})")
                }
            }));
        }
        if either.is_empty() {
            // No thread has such an id: a condition that is never met.
            return format!("{}<0", fields[0]);
        }
        either.join("||")
    }
}

/// That a call is one of these.
fn either_call(numbers: impl Iterator<Item = libc::c_long>) -> String {
    let calls: Vec<_> = numbers.map(|n| format!("id=={n}")).collect();
    calls.join("||")
}

/// The ranges with the smallest gaps closed until few enough are left.
fn merged(ranges: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    let Some(too_many) = ranges.len().checked_sub(MOST_RANGES).filter(|n| *n > 0) else {
        return ranges;
    };
    let mut gaps: Vec<(u32, usize)> = ranges
        .windows(2)
        .enumerate()
        .map(|(place, pair)| (pair[1].0 - pair[0].1, place + 1))
        .collect();
    gaps.sort_unstable();
    let closed: BTreeSet<usize> = gaps.iter().take(too_many).map(|gap| gap.1).collect();
    let mut few: Vec<(u32, u32)> = Vec::with_capacity(MOST_RANGES);
    for (place, range) in ranges.into_iter().enumerate() {
        match few.last_mut() {
            Some(last) if closed.contains(&place) => last.1 = range.1,
            _ => few.push(range),
        }
    }
    few
}

/// Which threads and events the kernel is asked to report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Scope {
    /// The threads that are followed.
    pub(super) tids: Tids,
    /// The ports whose connections are followed.
    pub(super) ports: BTreeSet<u16>,
    /// Whether the target has a connection over a Unix socket.
    pub(super) has_unix: bool,
    /// Whether writes are inferred from calls, since no tracepoint records them.
    pub(super) infers: bool,
}

impl Scope {
    /// The condition for a tracepoint; `with_ports` says whether its records have ports as fields
    /// of their own. `None` if everything has to be let through.
    pub(super) fn condition(&self, kind: Kind, with_ports: bool) -> Option<String> {
        let tids = |fields: &[&str]| self.tids.condition(fields);
        match kind {
            Kind::Switch => Some(tids(&["prev_pid", "next_pid"])),
            Kind::Waking => Some(tids(&["pid"])),
            Kind::Call => {
                let by_file = calls::by_file().filter(|_| self.has_unix || self.infers);
                let calls = either_call(calls::numbers().chain(by_file));
                Some(format!("({})&&({calls})", tids(&["common_pid"])))
            }
            Kind::Moved => {
                // What is taken from TCP has a tracepoint of its own.
                let calls = either_call(calls::moving(self.has_unix));
                Some(format!("ret>0&&({})&&({calls})", tids(&["common_pid"])))
            }
            Kind::Wrote => Some(format!("ret>0&&({})", tids(&["common_pid"]))),
            Kind::Received => {
                let sorts = if self.has_unix {
                    "(protocol==17||family==1)"
                } else {
                    "protocol==17"
                };
                Some(format!("ret>0&&{sorts}&&({})", tids(&["common_pid"])))
            }
            Kind::Routed | Kind::Routed6 => Some(format!("proto==17&&({})", tids(&["common_pid"]))),
            _ if !with_ports => None,
            Kind::Arrived => Some(format!("data_len>0&&({})", self.ports())),
            Kind::Read => Some(self.reads()),
            Kind::State => Some(format!("{}||{}", self.ports(), self.dials())),
            _ => Some(self.ports()),
        }
    }

    /// The condition for a stack of a thread that leaves its CPU to wait: the two lowest bits of
    /// its state, as [`super::kinds`] reads them.
    pub(super) fn stacks(tids: &Tids) -> String {
        format!("(prev_state&3)&&({})", tids.condition(&["prev_pid"]))
    }

    fn ports(&self) -> String {
        self.either("sport=={port}||dport=={port}")
    }

    /// That data is read at an end that is followed: by any thread there, and at the other end by
    /// threads that are followed. The load's own reads need no report.
    fn reads(&self) -> String {
        let (here, there) = (self.either("sport=={port}"), self.either("dport=={port}"));
        let tids = self.tids.condition(&["common_pid"]);
        format!("{here}||(({there})&&({tids}))")
    }

    /// That a thread that is followed begins to make a connection, since its server is to be followed too, or
    /// finds no local port for it.
    fn dials(&self) -> String {
        let tids = self.tids.condition(&["common_pid"]);
        let begins = format!("newstate=={TCP_SYN_SENT}");
        let fails = format!("newstate=={TCP_CLOSE}&&sport==0");
        format!("(({begins}||({fails}))&&({tids}))")
    }

    /// That one of the ports is found as `condition` says.
    fn either(&self, condition: &str) -> String {
        let ports = self.ports.iter().take(MOST_PORTS);
        let either: Vec<String> = ports
            .map(|port| condition.replace("{port}", &port.to_string()))
            .collect();
        if either.is_empty() {
            return "sport==0&&dport==0".to_owned();
        }
        either.join("||")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What the kernel takes, without its end.
    const MOST_BYTES: usize = 4095;

    fn tids(of: impl IntoIterator<Item = u32>, unborn: Option<RangeInclusive<u32>>) -> Tids {
        Tids::covering(&of.into_iter().collect(), unborn)
    }

    #[test]
    fn neighbours_are_one_range_and_the_idle_task_is_none() {
        let set = tids([0, 7, 8, 9, 20], None);
        assert_eq!(set.condition(&["pid"]), "(pid>=7&&pid<=9)||pid==20");
        let both = tids([7], Some(30..=40)).condition(&["prev_pid", "next_pid"]);
        assert_eq!(
            both,
            "prev_pid==7||(prev_pid>=30&&prev_pid<=40)||next_pid==7||(next_pid>=30&&next_pid<=40)"
        );
        assert_eq!(tids([0], None).condition(&["pid"]), "pid<0");
    }

    #[test]
    fn ports_and_calls_are_told() {
        let scope = Scope {
            tids: tids([5], None),
            ports: BTreeSet::from([80, 5432]),
            has_unix: false,
            infers: false,
        };
        let arrived = scope.condition(Kind::Arrived, true).unwrap();
        assert_eq!(
            arrived,
            "data_len>0&&(sport==80||dport==80||sport==5432||dport==5432)"
        );
        assert_eq!(scope.condition(Kind::SentReset, false), None);
        let state = scope.condition(Kind::State, true).unwrap();
        assert!(
            state.ends_with(
                "dport==5432||((newstate==2||(newstate==7&&sport==0))&&(common_pid==5))"
            ),
            "{state}"
        );
        assert_eq!(
            scope.condition(Kind::Read, true).unwrap(),
            "sport==80||sport==5432||((dport==80||dport==5432)&&(common_pid==5))"
        );
        for kind in [Kind::Routed, Kind::Routed6] {
            let routed = scope.condition(kind, true).unwrap();
            assert_eq!(routed, "proto==17&&(common_pid==5)", "datagrams alone");
        }
        let call = scope.condition(Kind::Call, false).unwrap();
        // Most calls on a host are others'.
        let begin = format!("(common_pid==5)&&(id=={}||", libc::SYS_futex);
        assert!(call.starts_with(&begin), "{call}");
        assert_eq!(Scope::stacks(&scope.tids), "(prev_state&3)&&(prev_pid==5)");
    }

    proptest! {
        #[test]
        fn everybody_is_covered_and_every_condition_fits(
            few in prop::collection::btree_set(1_u32..4_194_304, 0..200),
            near in prop::collection::btree_set(1_000_000_u32..1_000_400, 0..200),
            unborn in prop::option::of(1_u32..4_194_304),
            ports in prop::collection::btree_set(1_u16.., 0..40),
        ) {
            let meant: BTreeSet<u32> = few.union(&near).copied().collect();
            let unborn = unborn.map(|first| first..=first + 20_000);
            let tids = Tids::covering(&meant, unborn.clone());
            for &tid in &meant {
                prop_assert!(tids.contains(tid));
            }
            prop_assert!(!tids.contains(0));
            for tid in unborn.iter().flat_map(|ids| [*ids.start(), *ids.end()]) {
                prop_assert!(tids.contains(tid));
            }
            if meant.len() <= MOST_RANGES && unborn.is_none() {
                let wide: usize = tids.ranges.iter().map(|r| (r.1 - r.0) as usize + 1).sum();
                prop_assert_eq!(wide, meant.len());
            }
            prop_assert!(Scope::stacks(&tids).len() <= MOST_BYTES);
            let scope = Scope { tids, ports, has_unix: true,
                infers: true };
            for point in Kind::TRACEPOINTS {
                if let Some(text) = scope.condition(point.kind, true) {
                    prop_assert!(text.len() <= MOST_BYTES, "{}", text.len());
                }
            }
        }
    }
}

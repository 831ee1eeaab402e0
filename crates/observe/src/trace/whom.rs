//! Which threads to follow: those that exist, and those that will be born next.

use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;

use super::TraceWatch;
use super::filters::{Scope, Tids};
use super::members::Members;
use super::upstream::Upstream;

/// Ids that threads will get before the next look: more than a busy host gives birth to in a
/// second.
const UNBORN: u32 = 20_000;

/// Finds the processes at the other ends of the target's connections and follows them.
pub(super) fn meet_peers(members: &mut Members, upstream: &mut Upstream) {
    let peers = upstream.look(&members.target(), &members.peers());
    if members.follow(&peers) {
        members.scan();
    }
}

/// The threads that exist when tracing begins, and the kernel's filters for them.
pub(super) fn meet(watch: &TraceWatch) -> (Members, Upstream, Scope) {
    let last = newest(&watch.proc_root);
    let mut members = Members::new(&watch.proc_root, &watch.pids, &watch.peers);
    let mut upstream = Upstream::new(&watch.proc_root, watch.port);
    meet_peers(&mut members, &mut upstream);
    let scope = scope(&watch.proc_root, &members, &upstream, last);
    (members, upstream, scope)
}

/// The kernel's filters: the threads that exist, and those that will be next after `last`, the id that was
/// given last *before* the threads were listed: one that is born in between is in one of both.
pub(super) fn scope(
    proc_root: &Path,
    members: &Members,
    upstream: &Upstream,
    last: Option<u32>,
) -> Scope {
    let most = fs::read_to_string(proc_root.join("sys/kernel/pid_max"));
    let most = most.ok().and_then(|text| text.trim().parse().ok());
    let most = most.unwrap_or(u32::MAX);
    let unborn = last.map(|last| unborn(last, most));
    Scope {
        tids: Tids::covering(&members.tids(), unborn.into_iter().flatten()),
        ports: upstream.ports(),
        has_unix: upstream.has_unix(),
        infers: false,
    }
}

/// The ids that the next threads will get after `last`. Those of `most` and above are never given;
/// after the largest the kernel begins again.
fn unborn(last: u32, most: u32) -> Vec<RangeInclusive<u32>> {
    /// `RESERVED_PIDS` of `kernel/pid.c`: only the first threads of all had lower ones.
    const FIRST_AGAIN: u32 = 300;
    let (end, largest) = (last.saturating_add(UNBORN), most.saturating_sub(1));
    if end <= largest {
        return vec![last + 1..=end];
    }
    let again_end = (FIRST_AGAIN + (end - largest) - 1).min(last);
    let again = (FIRST_AGAIN <= again_end).then_some(FIRST_AGAIN..=again_end);
    let rest = (last < largest).then(|| last + 1..=largest);
    again.into_iter().chain(rest).collect()
}

/// The id that was given last: the fifth word of `/proc/loadavg`.
pub(super) fn newest(proc_root: &Path) -> Option<u32> {
    let text = fs::read_to_string(proc_root.join("loadavg")).ok()?;
    text.split_ascii_whitespace().nth(4)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::probes::numbers;

    #[test]
    fn who_is_born_while_others_are_looked_for_is_followed() {
        /// Rounds, and threads that are born in each.
        const ROUNDS: usize = 20;
        const BORN: usize = 40;
        let watch = TraceWatch {
            proc_root: "/proc".into(),
            pids: vec![std::process::id()],
            peers: Vec::new(),
            port: None,
            repeat: 0,
            seed: 0,
            most_events: 0,
            most_files: 0,
        };
        for _ in 0..ROUNDS {
            let is_over = AtomicBool::new(false);
            std::thread::scope(|threads| {
                threads.spawn(|| {
                    for _ in 0..BORN {
                        threads.spawn(|| {
                            while !is_over.load(Ordering::Acquire) {
                                std::thread::sleep(std::time::Duration::from_millis(1));
                            }
                        });
                    }
                });
                let (.., scope) = meet(&watch);
                let tids = numbers(Path::new("/proc/self/task")).unwrap();
                is_over.store(true, Ordering::Release);
                for tid in tids {
                    assert!(scope.tids.contains(tid), "{tid}: {:?}", scope.tids);
                }
            });
        }
    }

    #[test]
    fn ids_begin_anew_behind_the_largest() {
        assert_eq!(unborn(1000, 4_194_304), [1001..=21_000]);
        assert_eq!(unborn(12_767, 32_768), [12_768..=32_767]);
        assert_eq!(unborn(12_768, 32_768), [300..=300, 12_769..=32_767]);
        assert_eq!(unborn(32_000, 32_768), [300..=19_532, 32_001..=32_767]);
        assert_eq!(unborn(32_767, 32_768), [300..=20_299]);
        assert_eq!(unborn(500, 1000), [300..=500, 501..=999], "all there are");
        for (last, most) in [
            (0, 0),
            (1, 1),
            (299, 300),
            (u32::MAX, u32::MAX),
            (7, u32::MAX),
        ] {
            for ids in unborn(last, most) {
                assert!(ids.start() <= ids.end(), "{last} {most}");
            }
        }
    }
}

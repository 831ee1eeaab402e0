//! Episodes: slow requests that overlap in time are one observation.
//!
//! A stall of one second slows every request that meets it. Tests that counted those requests
//! as independent would prove anything; all p-values here count episodes.

use serde::{Deserialize, Serialize};

/// A stretch of time in which at least one of the given requests was always under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Episode {
    /// Begin of the first member.
    pub begin_ns: u64,
    /// End of the last member, exclusive.
    pub end_ns: u64,
    /// Requests merged into it.
    pub members: u32,
}

/// Episodes and who belongs to which.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Episodes {
    /// Disjoint and ascending.
    pub episodes: Vec<Episode>,
    /// For each given interval, in the order given, the index of its episode.
    pub of: Vec<u32>,
}

/// Merges the intervals `[begin, end)` in nanoseconds that overlap; ones that only touch stay
/// apart. An interval that is empty or ends before it begins counts as one nanosecond.
pub fn episodes(intervals_ns: &[(u64, u64)]) -> Episodes {
    let mut order: Vec<u32> = (0..intervals_ns.len() as u32).collect();
    order.sort_unstable_by_key(|&index| (intervals_ns[index as usize], index));
    let mut merged = Episodes {
        episodes: Vec::new(),
        of: vec![0; intervals_ns.len()],
    };
    for index in order {
        let (begin_ns, end_ns) = intervals_ns[index as usize];
        let end_ns = end_ns.max(begin_ns.saturating_add(1));
        match merged.episodes.last_mut() {
            Some(last) if begin_ns < last.end_ns => {
                last.end_ns = last.end_ns.max(end_ns);
                last.members += 1;
            }
            _ => merged.episodes.push(Episode {
                begin_ns,
                end_ns,
                members: 1,
            }),
        }
        merged.of[index as usize] = merged.episodes.len() as u32 - 1;
    }
    merged
}

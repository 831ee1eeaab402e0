//! Threads that requests need: those that read and answered them, and those that were asked to.

use std::collections::{BTreeMap, BTreeSet};

use crate::case::Case;
use crate::trace::pieces::How;

/// A thread that was asked for so few of the requests was taken for one by mistake: a wake-up of a worker is
/// distinguished from a lock's by what else is known, which is not always enough.
const ASKED_LEAST: f64 = 0.05;

/// What is known of the threads by which requests were served.
#[derive(Debug)]
pub struct Serving {
    names: BTreeSet<String>,
    /// How many threads of one process have each name, at the most.
    counts: BTreeMap<String, usize>,
}

impl Serving {
    /// Who served the requests that were followed; `None` if none could be.
    pub fn of(case: &Case<'_>) -> Option<Self> {
        let inside = case.inside()?;
        let mut tids = BTreeSet::new();
        let mut asked: BTreeMap<u32, usize> = BTreeMap::new();
        let mut followed = 0_u32;
        for endpoint in &case.endpoints {
            let join = inside.of_endpoint(endpoint);
            tids.extend(join.joined.iter().flat_map(|j| [j.reader, j.writer]));
            for walked in &join.walked {
                followed += 1;
                let hops = walked.pieces.iter();
                let hops = hops.flat_map(|piece| inside.chains.hops(piece.chain));
                let own = hops.filter(|hop| hop.how == How::Asked).map(|hop| hop.tid);
                for tid in own.collect::<BTreeSet<u32>>() {
                    *asked.entry(tid).or_default() += 1;
                }
            }
        }
        if tids.is_empty() {
            return None;
        }
        let enough = |count: usize| count as f64 >= ASKED_LEAST * f64::from(followed);
        tids.extend(
            asked
                .into_iter()
                .filter(|(_, n)| enough(*n))
                .map(|(tid, _)| tid),
        );
        let mut each: BTreeMap<(u32, &str), usize> = BTreeMap::new();
        for thread in &inside.trace().threads {
            *each.entry((thread.pid, &thread.name)).or_default() += 1;
        }
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for ((_, name), count) in each {
            let most = counts.entry(name.to_owned()).or_default();
            *most = count.max(*most);
        }
        let names = tids.into_iter().map(|tid| inside.thread_name(tid));
        Some(Self {
            names: names.collect(),
            counts,
        })
    }

    /// Whether requests were served by a thread of that name.
    pub fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// How many threads of one process have that name, at the most.
    pub fn called(&self, name: &str) -> usize {
        self.counts.get(name).copied().unwrap_or(0)
    }
}

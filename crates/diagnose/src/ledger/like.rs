//! What requests that were left untraced by choice waited for: what those that are like them
//! were seen to wait for.
//!
//! Tracing is left off in stretches that are drawn at random, so that a request that lies in one is
//! like any other that is as long. But only one that is as long: of requests of length L, those that
//! meet a break are L over the mean length of what is traced without one, and those that are
//! longer are never seen whole. Short ones say nothing of them.

use std::collections::BTreeMap;

use super::phases::Phases;

/// So many requests of a kind must have been seen to speak for the others: their shares are then
/// known to 0.16 (0.5 / sqrt(10)) at worst, and resampling makes the interval as wide as that. With five a healthy server on a busy host
/// was named run-queue-delay, from 12 slow requests.
const SEEN_LEAST: u32 = 10;

/// Up to this part of what is traced without a break, on average, all lengths are one kind: they
/// meet a break in one case of ten at most, so that none of them is seen more than 1.1 times as
/// often as another.
const SHORT: f64 = 0.1;

/// Requests that are alike: as long, where that matters for whether they are seen (the short ones,
/// and by powers of two what is longer), and claimed by the same of those that need no trace, as a
/// set of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Kind {
    length: u32,
    claimed_by: u64,
}

/// Excess of requests of one kind.
#[derive(Clone, Debug)]
pub(super) struct Sums {
    /// Of those that were seen, what those who are served first left.
    pub(super) seen: f64,
    /// Of that, what each claimant was given that reads a trace.
    pub(super) claimed: Vec<f64>,
    /// Of blank ones, what those who are served first left.
    pub(super) blank: f64,
    /// Of that, what each claimant claims that needs no trace.
    pub(super) wanted: Vec<f64>,
}

impl Sums {
    fn new(claimants: usize) -> Self {
        Self {
            seen: 0.0,
            claimed: vec![0.0; claimants],
            blank: 0.0,
            wanted: vec![0.0; claimants],
        }
    }

    fn add(&mut self, other: &Self) {
        self.seen += other.seen;
        self.blank += other.blank;
        let add = |to: &mut Vec<f64>, of: &[f64]| {
            for (to, of) in to.iter_mut().zip(of) {
                *to += of;
            }
        };
        add(&mut self.claimed, &other.claimed);
        add(&mut self.wanted, &other.wanted);
    }
}

/// What is known of one kind in all clusters.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    seen: u32,
    /// Unclaimed time of those that were seen.
    phases: Phases,
}

/// The requests of a frame, by kind and cluster.
#[derive(Debug)]
pub(super) struct Like {
    /// How long short ones are at most.
    short_ns: u64,
    cells: BTreeMap<(u32, Kind), Sums>,
    known: BTreeMap<Kind, Known>,
    longest_seen: Option<u32>,
}

/// What blank requests are taken to have waited for.
pub(super) struct Guess {
    /// By claimant.
    pub(super) claimed: Vec<f64>,
    /// By phase, what no cause claimed of those that others are like.
    pub(super) phases: Phases,
    /// Of those that are longer than all that were seen.
    pub(super) longer: f64,
    /// Of those that too few were seen of.
    pub(super) rare: f64,
}

impl Like {
    /// Nothing yet; what is traced without a break lasts `traced_ns` on average.
    pub(super) const fn new(traced_ns: u64) -> Self {
        Self {
            short_ns: (traced_ns as f64 * SHORT) as u64,
            cells: BTreeMap::new(),
            known: BTreeMap::new(),
            longest_seen: None,
        }
    }

    /// What a request of that latency is like, which these claim that need no trace.
    pub(super) fn kind(&self, latency_ns: u64, claimed_by: impl Iterator<Item = usize>) -> Kind {
        let longer = latency_ns.checked_div(self.short_ns).unwrap_or(1);
        Kind {
            length: longer.checked_ilog2().map_or(0, |octave| octave + 1),
            claimed_by: claimed_by.fold(0, |bits, claimant| bits | (1 << (claimant % 64))),
        }
    }

    /// The sums that a request belongs to.
    pub(super) fn cell(&mut self, cluster: u32, kind: Kind, claimants: usize) -> &mut Sums {
        self.known.entry(kind).or_default();
        let cell = self.cells.entry((cluster, kind));
        cell.or_insert_with(|| Sums::new(claimants))
    }

    /// Notes a request that was seen, with what no cause claimed of it.
    pub(super) fn saw(&mut self, kind: Kind, phases: &Phases) {
        self.longest_seen = self.longest_seen.max(Some(kind.length));
        let known = self.known.entry(kind).or_default();
        known.seen += 1;
        for (sum, ns) in known.phases.iter_mut().zip(phases) {
            *sum += ns;
        }
    }

    /// Whether any was seen.
    pub(super) const fn any_seen(&self) -> bool {
        self.longest_seen.is_some()
    }

    /// The sums by cluster, each with the place of its kind among all.
    pub(super) fn by_cluster(&self, clusters: usize) -> Vec<Vec<(usize, &Sums)>> {
        let mut all = vec![Vec::new(); clusters];
        let kinds: Vec<&Kind> = self.known.keys().collect();
        for (&(cluster, kind), sums) in &self.cells {
            if let Ok(place) = kinds.binary_search(&&kind) {
                all[cluster as usize].push((place, sums));
            }
        }
        all
    }

    /// What blank requests waited for, judged by the sums of the given ones and of those like them.
    pub(super) fn guess<'a>(
        &'a self,
        of: impl Iterator<Item = &'a (usize, &'a Sums)>,
        claimants: usize,
    ) -> Guess {
        let mut kinds = vec![Sums::new(claimants); self.known.len()];
        for &(place, sums) in of {
            kinds[place].add(sums);
        }
        let mut guess = Guess {
            claimed: vec![0.0; claimants],
            phases: Phases::default(),
            longer: 0.0,
            rare: 0.0,
        };
        let kinds = self.known.iter().zip(&kinds);
        for ((kind, known), sums) in kinds.filter(|(_, sums)| sums.blank > 0.0) {
            let speaks = known.seen >= SEEN_LEAST && sums.seen > 0.0;
            let mut left = sums.blank;
            let mut give = |claimant: usize, ns: f64| {
                let given = ns.min(left);
                guess.claimed[claimant] += given;
                left -= given;
            };
            for claimant in (0..claimants).filter(|_| speaks) {
                give(claimant, sums.blank * sums.claimed[claimant] / sums.seen);
            }
            for claimant in 0..claimants {
                give(claimant, sums.wanted[claimant]);
            }
            let unclaimed: f64 = known.phases.iter().sum();
            if speaks && unclaimed > 0.0 {
                for (sum, ns) in guess.phases.iter_mut().zip(known.phases) {
                    *sum += left * ns / unclaimed;
                }
            } else if Some(kind.length) > self.longest_seen {
                guess.longer += left;
            } else {
                guess.rare += left;
            }
        }
        guess
    }
}

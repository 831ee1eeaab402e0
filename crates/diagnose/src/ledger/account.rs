//! Running sums while requests are settled.

use slowpath_core::nanos::Span;
use slowpath_core::record::RunRecord;
use slowpath_core::stats::bootstrap::share_intervals;
use slowpath_core::stats::fisher::at_least_of;

use super::like::Like;
use super::phases::{Phases, phases, split};
use super::{Ledger, Settled, take};
use crate::frame::Frame;

/// When a claimant has its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Before all that read a trace.
    First,
    /// It reads a trace: of untraced requests it says nothing.
    Traced,
    /// It needs no trace, and one that does comes before it.
    Late,
}

/// Running sums while requests are settled.
pub(super) struct Account {
    turns: Vec<Turn>,
    /// Claimed time: `[claimant][cluster]`.
    claimed: Vec<Vec<f64>>,
    /// Unclaimed waiting for a connection, by cluster: shared out at the end.
    queued: Vec<f64>,
    /// Excess outside the queue, by cluster: a sum of its own, since that of all less the queue loses small requests beside
    /// very long ones.
    rest: Vec<f64>,
    /// Unclaimed time outside the queue, by the phase it lies in.
    phases: Phases,
    /// The requests by what they are like, if some are blank.
    like: Option<Like>,
    /// Room to work in: what claimants were given of a request.
    given: Vec<(usize, f64)>,
}

impl Account {
    pub(super) fn new(frame: &Frame, turns: Vec<Turn>, like: Option<Like>) -> Self {
        let clusters = frame.clusters as usize;
        Self {
            claimed: vec![vec![0.0; clusters]; turns.len()],
            queued: vec![0.0; clusters],
            rest: vec![0.0; clusters],
            phases: Phases::default(),
            like,
            given: Vec::new(),
            turns,
        }
    }

    /// Gives each claimant the part of the request's excess that is still free. The reference
    /// (what a fast request takes) belongs to no cause: it is set against the unclaimed time first. `free` is
    /// room to work in, with whether the request is blank.
    pub(super) fn settle_request(
        &mut self,
        record: &RunRecord,
        frame: &Frame,
        position: usize,
        claims: &[(usize, Span)],
        (free, is_blank): (&mut Vec<Span>, bool),
    ) {
        let sample = record.samples.at(frame.requests[position] as usize);
        let cluster = frame.cluster[position];
        let excess = sample.latency_ns().saturating_sub(frame.reference_ns) as f64;
        free.clear();
        free.push(sample.span());
        self.given.clear();
        let mut left = excess;
        for &(claimant, span) in claims {
            if is_blank && self.turns[claimant] == Turn::Traced {
                continue;
            }
            let ns = (take(free, span) as f64).min(left);
            self.given.push((claimant, ns));
            left -= ns;
        }
        let unclaimed: u64 = free.iter().map(|s| s.len_ns()).sum();
        // Unclaimed excess is spread over the unclaimed time by proportion.
        let scale = left / unclaimed.max(1) as f64;
        let part = |span: Span| free.iter().map(|s| s.overlap_ns(span)).sum::<u64>() as f64 * scale;
        let queued = part(Span::new(sample.scheduled(), sample.ready()));
        self.queued[cluster as usize] += queued;
        self.rest[cluster as usize] += excess - queued;
        let own = phases(sample).map(part);
        let kept = |turn| !(is_blank && turn == Turn::Late);
        for &(claimant, ns) in &self.given {
            if kept(self.turns[claimant]) {
                self.claimed[claimant][cluster as usize] += ns;
            }
        }
        if !is_blank {
            for (sum, ns) in self.phases.iter_mut().zip(own) {
                *sum += ns;
            }
        }
        let of = (sample.latency_ns(), cluster);
        self.note(of, left - queued, &own, is_blank);
    }

    /// Notes what a request was given, and what was `left`, among those that are like it.
    fn note(&mut self, of: (u64, u32), left: f64, phases: &Phases, is_blank: bool) {
        let Some(like) = &mut self.like else {
            return;
        };
        let (latency_ns, cluster) = of;
        let (given, turns) = (&self.given, &self.turns);
        let of = |turn| {
            given
                .iter()
                .filter(move |(claimant, _)| turns[*claimant] == turn)
        };
        let kind = like.kind(latency_ns, of(Turn::Late).map(|(claimant, _)| *claimant));
        let sums = like.cell(cluster, kind, turns.len());
        let late: f64 = of(Turn::Late).map(|(_, ns)| ns).sum();
        if is_blank {
            sums.blank += left + late;
            for &(claimant, ns) in of(Turn::Late) {
                sums.wanted[claimant] += ns;
            }
            return;
        }
        sums.seen += left + late;
        for &(claimant, ns) in of(Turn::Traced) {
            sums.seen += ns;
            sums.claimed[claimant] += ns;
        }
        like.saw(kind, phases);
    }

    /// Shares what blank requests waited for and the queue out, and turns sums into shares.
    pub(super) fn close(self, frame: &Frame, seed: u64) -> Ledger {
        let (clusters, claimants) = (self.rest.len(), self.turns.len());
        let total = frame.excess_ns;
        if total <= 0.0 {
            return Ledger {
                settled: vec![None; claimants],
                ..Ledger::default()
            };
        }
        let like = self.like.unwrap_or_else(|| Like::new(0));
        let cells = like.by_cluster(clusters);
        // A request that waits for a connection waits for what delays those that use one: the queue is
        // shared out like the rest.
        let shares = |of: &mut dyn Iterator<Item = usize>| {
            let of: Vec<usize> = of.collect();
            let sum = |all: &[f64]| of.iter().map(|&c| all[c]).sum::<f64>();
            let rest = sum(&self.rest);
            let guess = like.guess(of.iter().flat_map(|&c| &cells[c]), claimants);
            let claimed = self.claimed.iter().zip(&guess.claimed);
            let shares = claimed.map(|(own, guessed)| (sum(own) + guessed) / rest);
            (rest > 0.0).then(|| shares.collect())
        };
        let shares = share_intervals(clusters, seed, shares).unwrap_or_default();
        let settled = |claimant: usize| {
            let own = |c: usize| {
                let wanted = cells[c].iter().any(|(_, sums)| sums.wanted[claimant] > 0.0);
                wanted || self.claimed[claimant][c] > 0.0
            };
            let any = (0..clusters).any(own);
            let has = |&c: &usize| any && (self.queued[c] > 0.0 || own(c));
            let share = *shares.get(claimant)?;
            let having = (0..clusters).filter(has).count();
            let is_seen = |&c: &usize| cells[c].iter().any(|(_, sums)| sums.seen > 0.0) || has(&c);
            let least = match self.turns[claimant] {
                // What is traced was chosen at random.
                Turn::Traced if like.any_seen() => {
                    let seen = (0..clusters).filter(is_seen).count();
                    at_least_of(clusters as u64, seen as u64, having as u64) as usize
                }
                _ => having,
            };
            (having > 0).then_some(Settled {
                share,
                clusters: having,
                least,
            })
        };
        let settled: Vec<Option<Settled>> = (0..claimants).map(settled).collect();
        let explained: f64 = settled.iter().flatten().map(|s| s.share.share).sum();
        let guess = like.guess(cells.iter().flatten(), claimants);
        let mut phases = self.phases;
        for (sum, ns) in phases.iter_mut().zip(guess.phases) {
            *sum += ns;
        }
        let longer = if like.any_seen() {
            "longer than what was traced without a break"
        } else {
            "in time that was not traced"
        };
        let others = [
            (longer, guess.longer),
            ("too few that were as long were traced", guess.rare),
        ];
        Ledger {
            settled,
            unexplained: (1.0 - explained).max(0.0),
            split: split(&phases, &others, self.rest.iter().sum()),
        }
    }
}

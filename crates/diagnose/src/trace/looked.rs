//! What the detectors that read a trace have in common.

use std::collections::BTreeMap;

use slowpath_core::nanos::MILLISECOND;
use slowpath_core::stats::median::median;

use super::inside::{EndpointJoin, Inside, Walked, summed};
use super::join::Unjoined;
use super::pieces::{Hop, Leaf, LeafKind, Piece};
use super::shift::shift_of;
use crate::case::{Case, EndpointCase, Known};
use crate::diagnosis::Place;
use crate::verdict::{Claim, Verdict, human, percent};

/// Fewer requests that were followed are no picture of the endpoint: of 22, a share of 30 % is above 15 % (lower end of Wilson's
/// interval), as a cause has to be that is named.
pub(crate) const WALKED_LEAST: usize = 22;
/// What would show the inside of a target that was not traced.
pub(super) const REMEDY: &str = "run slowpath as root, or with CAP_PERFMON, CAP_DAC_READ_SEARCH and \
                      CAP_SYS_PTRACE";

/// The requests of an endpoint that were followed through the server.
pub(crate) struct Looked<'c> {
    pub(crate) inside: &'c Inside<'c>,
    pub(crate) join: &'c EndpointJoin,
}

/// A piece of a request that a cause may explain.
#[derive(Clone)]
pub(crate) struct Picked<'c> {
    pub(crate) walked: &'c Walked,
    pub(crate) piece: &'c Piece,
    pub(crate) hops: Vec<Hop>,
}

impl<'c> Looked<'c> {
    /// The requests of an endpoint, or why nothing is known of them.
    pub(crate) fn at<'r: 'c>(
        case: &'c Case<'r>,
        endpoint: &EndpointCase,
    ) -> Result<Looked<'c>, Box<Verdict>> {
        let blind = |missing: String, remedy: String| Box::new(Verdict::Blind { missing, remedy });
        if let Some((missing, remedy)) = case.target_hidden() {
            return Err(blind(missing, remedy));
        }
        let Some(inside) = case.inside() else {
            let gaps = &case.timeline().gaps;
            let gap = gaps.iter().find(|gap| gap.signal.starts_with("trace."));
            let remedy = gap.map_or(REMEDY, |gap| gap.remedy.as_str());
            return Err(blind(
                "the target was not traced".to_owned(),
                remedy.to_owned(),
            ));
        };
        let join = inside.of_endpoint(endpoint);
        if join.walked.len() >= WALKED_LEAST {
            return Ok(Looked { inside, join });
        }
        let reasons = Unjoined::ALL.iter().zip(&join.unjoined);
        let most = reasons.filter(|(_, n)| **n > 0).max_by_key(|(_, n)| **n);
        let why = most.map_or("too few requests", |(why, _)| why.describe());
        let remedy = match most {
            Some((Unjoined::NoSockets, _)) => REMEDY,
            Some((Unjoined::LeftOut | Unjoined::Outside, _)) => "measure longer",
            _ => "",
        };
        Err(blind(
            format!(
                "who served which request: {} were followed ({why})",
                join.walked.len()
            ),
            remedy.to_owned(),
        ))
    }

    /// The pieces that `of` picks, by the chain of threads that leads to each.
    pub(crate) fn pick(&self, of: impl Fn(&Walked, &Piece, &[Hop]) -> bool) -> Vec<Picked<'c>> {
        let mut picked = Vec::new();
        for walked in &self.join.walked {
            for piece in &walked.pieces {
                let hops = self.inside.chains.hops(piece.chain);
                if of(walked, piece, &hops) {
                    picked.push(Picked {
                        walked,
                        piece,
                        hops,
                    });
                }
            }
        }
        picked
    }

    /// Where pieces lie: what slow requests have more of, or what all have.
    pub(crate) fn place(&self, endpoint: &EndpointCase, claims: &[Claim]) -> Place {
        let followed = self.join.walked.iter().map(|w| w.joined.sample);
        endpoint.place_among(claims, &endpoint.known(followed))
    }

    /// The same, of claims that could only be made on so many of them (of the others, and of the slow ones).
    pub(crate) fn place_within(
        &self,
        endpoint: &EndpointCase,
        claims: &[Claim],
        [others, slow]: [usize; 2],
    ) -> Place {
        let followed = self.join.walked.iter().map(|w| w.joined.sample);
        let known = Known {
            slow,
            others,
            ..endpoint.known(followed)
        };
        endpoint.place_among(claims, &known)
    }

    /// Whether so many of the followed requests (of the others, and of the slow ones) are most of
    /// them, and most of the slow ones: what is known of the others says nothing of those.
    pub(crate) fn are_most(&self, known: [usize; 2]) -> bool {
        let n = self.join.walked.len();
        let slow = self.join.walked.iter().filter(|w| w.slow).count();
        2 * (known[0] + known[1]) >= n && 2 * known[1] >= slow
    }

    /// That a cause is too small to be distinguished from what tracing itself costs, if it is.
    pub(crate) fn too_small(
        &self,
        case: &Case<'_>,
        endpoint: &EndpointCase,
        claims: &[Claim],
    ) -> Option<Verdict> {
        let shift = shift_of(case)?;
        let costs_ns = shift.shift * shift.off_p50_ms * MILLISECOND as f64;
        let claimed: u64 = claims.iter().map(|claim| claim.span.len_ns()).sum();
        let each_ns = claimed as f64 / touched(claims).max(1) as f64;
        (each_ns < costs_ns).then(|| Verdict::Lead {
            place: self.place(endpoint, claims),
            claims: claims.to_vec(),
            missing: format!(
                "what is larger than tracing's own cost: {} a request, where tracing took {} \
                 ({}, between {} and {})",
                human(each_ns),
                human(costs_ns),
                percent(shift.shift),
                percent(shift.shift_low),
                percent(shift.shift_high)
            ),
            remedy: "measure longer or on a quieter host, which shows that cost more finely"
                .to_owned(),
        })
    }

    /// How much of the picked time belongs to what, largest first; of the slow requests alone if
    /// the cause is one of the tail.
    pub(crate) fn shares<K: Ord>(
        picked: &[Picked<'_>],
        place: Place,
        of: impl Fn(&Picked<'_>) -> K,
    ) -> Vec<(K, f64)> {
        let counts = |p: &&Picked<'_>| place != Place::Tail || p.walked.slow;
        let all = picked.iter().filter(counts);
        let mut sums = summed(all.map(|p| (of(p), p.piece.len_ns() as f64)));
        let total: f64 = sums.iter().map(|s| s.1).sum();
        for sum in &mut sums {
            sum.1 /= total.max(1.0);
        }
        sums
    }

    /// The stack that a thread most often has in the picked pieces, where one was taken.
    pub(crate) fn stack(
        &self,
        picked: &[Picked<'_>],
        of: impl Fn(&Picked<'_>) -> Option<u32>,
    ) -> Vec<String> {
        let stacks = picked.iter();
        let stacks = stacks.filter_map(|p| Some((of(p)?, p.piece.len_ns() as f64)));
        let all = summed(stacks).into_iter();
        let all = all.map(|(stack, ns)| (self.inside.stack_words(stack), ns));
        let all = all.filter(|(words, _)| !words.is_empty());
        let most = summed(all).into_iter().next();
        most.map_or_else(Vec::new, |(words, _)| words)
    }
}

/// The pieces as claims; neighbours are one.
pub(crate) fn claims(picked: &[Picked<'_>]) -> Vec<Claim> {
    let mut claims: Vec<Claim> = Vec::with_capacity(picked.len());
    for p in picked {
        let (sample, span) = (p.walked.joined.sample, p.piece.span());
        match claims.last_mut() {
            Some(last) if last.sample == sample && last.span.end == span.begin => {
                last.span.end = span.end;
            }
            _ => claims.push(Claim { sample, span }),
        }
    }
    claims
}

/// How many requests the claims are parts of; those of a request stand together.
pub(crate) fn touched(claims: &[Claim]) -> usize {
    claims
        .chunk_by(|one, next| one.sample == next.sample)
        .count()
}

/// How much of a request is claimed, in the median.
pub(crate) fn each_ns<'a>(claims: impl Iterator<Item = &'a Claim>) -> f64 {
    let mut each: BTreeMap<u32, u64> = BTreeMap::new();
    for claim in claims {
        *each.entry(claim.sample).or_default() += claim.span.len_ns();
    }
    let mut each: Vec<f64> = each.into_values().map(|ns| ns as f64).collect();
    median(&mut each).unwrap_or(0.0)
}

/// What a thread does that ends a chain, completing "while it …".
pub(crate) fn does(leaf: &Leaf) -> &'static str {
    use slowpath_core::trace::Call;
    match (leaf.kind, leaf.call) {
        (LeafKind::Cpu, _) => "computes",
        (LeafKind::Ready(_), None | Some(Call::Futex)) => "waits for a CPU",
        (LeafKind::Ready(_), Some(Call::Sleep)) => "sleeps, and then waits for a CPU",
        (LeafKind::Ready(_), Some(Call::Sync)) => {
            "waits until the disk has taken data, and then for a CPU"
        }
        (LeafKind::Ready(_), Some(_)) => "waits, and then waits for a CPU",
        (LeafKind::Sleep, Some(Call::Sleep)) => "sleeps",
        (LeafKind::Sleep, _) => "waits for a time",
        (LeafKind::Disk, Some(Call::Sync)) => "waits until the disk has taken data",
        (LeafKind::Disk, _) => "waits for a disk",
        (LeafKind::Network, Some(Call::Connect)) => "waits until a connection is made",
        (LeafKind::Network, Some(Call::Write)) => "waits until what it sends is taken",
        (LeafKind::Network, _) => "waits for data from the network",
        (LeafKind::Data, _) => "waits for data from a socket, a pipe or a file",
        (LeafKind::Peer, _) => "waits for another process",
        (LeafKind::Child, _) => "waits for a child process",
        (LeafKind::Lock, _) => "waits for another lock",
        (LeafKind::RuntimeIdle, _) => "has nothing to do",
        (LeafKind::RuntimeTimer, _) => "has nothing to do until a timer fires",
        (LeafKind::Outside | LeafKind::Unknown(_), _) => "does what was not recorded",
    }
}

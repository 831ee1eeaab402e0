//! Slices summed up to lines that add to the whole excess.

use std::collections::BTreeMap;

use crate::mass::StateSet;
use crate::slice::{Actor, Basis, Holder, Path, Phase, Slice, State};

/// Lines that are listed, at most; what is left is one line more.
const LINES_MOST: usize = 12;
/// A line below this share is not listed: it would say nothing that a reader acts on.
const LINE_LEAST: f64 = 0.01;

/// A part of the excess.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Its share of the excess, from 0 to 1.
    pub share: f64,
    /// Where most of it lies in the request.
    pub phase: Phase,
    /// What was waited for; `None` for the sum of what is too small to be listed.
    pub state: Option<State>,
    /// Who had that.
    pub holder: Holder,
    /// What the holder did.
    pub activity: State,
    /// How most of it is known.
    pub basis: Basis,
    /// Who it was, with the stack that was most often seen.
    pub actor: Actor,
}

/// Where the excess of a set of requests went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Breakdown {
    /// Largest first; the shares add to 1.
    pub lines: Vec<Line>,
    /// Nanoseconds of excess of one request, on average, that the shares are of.
    pub each_ns: f64,
}

/// What is one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key<'a> {
    state: State,
    holder: Holder,
    process: &'a str,
    thread: &'a str,
    peer: &'a str,
}

/// Sums of one line, over slow requests and over the others.
#[derive(Debug, Default)]
struct Cell {
    slow_ns: f64,
    other_ns: f64,
    phases: BTreeMap<Phase, f64>,
    activities: BTreeMap<State, f64>,
    actors: BTreeMap<u32, f64>,
    basis: BTreeMap<Basis, f64>,
}

/// Where the excess went: what slow requests have more of than the others, on average. Where all
/// paths are of one kind (a floor), it is all of their time. Waiting for a connection of the load
/// generator is left out: it is waiting for what kept the connections busy. `unobserved` is the share
/// of the excess that no path covers, with the reason.
pub fn breakdown(paths: &[Path], actors: &[Actor], unobserved: (f64, State)) -> Breakdown {
    let cells = cells(paths, actors);
    let weights = Weights::of(paths);
    let excess = |cell: &Cell| weights.excess(cell.slow_ns, cell.other_ns);
    let total: f64 = cells.values().map(excess).sum();
    let known = 1.0 - unobserved.0;
    let mut lines: Vec<Line> = Vec::new();
    if total > 0.0 {
        for (key, cell) in &cells {
            lines.push(line(key, cell, known * excess(cell) / total, actors));
        }
    }
    if unobserved.0 > 0.0 || lines.is_empty() {
        lines.push(Line {
            share: if lines.is_empty() { 1.0 } else { unobserved.0 },
            phase: Phase::Service,
            state: Some(unobserved.1),
            holder: Holder::Unknown,
            activity: unobserved.1,
            basis: Basis::Unknown,
            actor: Actor::default(),
        });
    }
    lines.sort_by(|a, b| b.share.total_cmp(&a.share));
    let many = lines.iter().take_while(|line| line.share >= LINE_LEAST);
    let rest = lines.split_off(many.count().clamp(1, LINES_MOST).min(lines.len()));
    let left: f64 = rest.iter().map(|line| line.share).sum();
    if left > 0.0 {
        lines.push(Line {
            share: left,
            state: None,
            ..rest[0].clone()
        });
    }
    Breakdown {
        lines,
        each_ns: total,
    }
}

/// By kind of state, the share of the excess that `left` leaves: of a slice, how many nanoseconds
/// count.
pub fn shares(
    paths: &[Path],
    known: f64,
    left: impl Fn(&Path, &Slice) -> f64,
) -> [f64; StateSet::KINDS] {
    let (mut all, mut kept) = ([[0.0; 2]; StateSet::KINDS], [[0.0; 2]; StateSet::KINDS]);
    for path in paths {
        let side = usize::from(!path.slow);
        for slice in path.slices.iter().filter(|s| s.phase != Phase::Queued) {
            // A queue that is seen from outside alone may be anything that serves requests one by one.
            let kind = match slice.basis {
                Basis::Pattern if matches!(slice.state, State::Queued(_)) => {
                    StateSet::UNTRACED.first()
                }
                _ => StateSet::kind(slice.state),
            };
            all[kind][side] += path.weight * slice.len_ns() as f64;
            kept[kind][side] += path.weight * left(path, slice);
        }
    }
    let weights = Weights::of(paths);
    let excess = |sums: &[f64; 2]| weights.excess(sums[0], sums[1]);
    let total: f64 = all.iter().map(excess).sum();
    let mut shares = [0.0; StateSet::KINDS];
    for (kind, share) in shares.iter_mut().enumerate() {
        // What is claimed of a kind takes the part of its excess that it has of the slow requests' time.
        let part = kept[kind][0] / all[kind][0].max(1.0);
        *share = known * excess(&all[kind]) * part.min(1.0) / total.max(1.0);
    }
    shares
}

/// For how many requests the paths stand.
struct Weights {
    slow: f64,
    others: f64,
}

impl Weights {
    fn of(paths: &[Path]) -> Self {
        let sum = |slow| {
            let own = paths.iter().filter(|path| path.slow == slow);
            own.map(|path| path.weight).sum::<f64>()
        };
        Self {
            slow: sum(true),
            others: sum(false),
        }
    }

    /// What a slow request has more of than another one.
    fn excess(&self, slow_ns: f64, other_ns: f64) -> f64 {
        let usual = if self.others > 0.0 {
            other_ns / self.others
        } else {
            0.0
        };
        (slow_ns / self.slow.max(1.0) - usual).max(0.0)
    }
}

fn cells<'a>(paths: &[Path], actors: &'a [Actor]) -> BTreeMap<Key<'a>, Cell> {
    let mut cells: BTreeMap<Key<'a>, Cell> = BTreeMap::new();
    for path in paths {
        for slice in path.slices.iter().filter(|s| s.phase != Phase::Queued) {
            let of = |field: fn(&Actor) -> &str| actors.get(slice.actor as usize).map_or("", field);
            let peer = of(|actor| &actor.peer);
            // Who waits for a reply, and what the other server does, is no line of its own.
            let is_reply = slice.state == State::Reply && !peer.is_empty();
            let key = Key {
                state: slice.state,
                holder: slice.holder,
                process: if is_reply {
                    ""
                } else {
                    of(|actor| &actor.process)
                },
                thread: if is_reply {
                    ""
                } else {
                    of(|actor| &actor.thread)
                },
                peer,
            };
            let cell = cells.entry(key).or_default();
            let ns = path.weight * slice.len_ns() as f64;
            if path.slow {
                cell.slow_ns += ns;
                *cell.phases.entry(slice.phase).or_default() += ns;
                *cell.activities.entry(slice.activity).or_default() += ns;
                *cell.actors.entry(slice.actor).or_default() += ns;
                *cell.basis.entry(slice.basis).or_default() += ns;
            } else {
                cell.other_ns += ns;
            }
        }
    }
    cells
}

fn line(key: &Key<'_>, cell: &Cell, share: f64, actors: &[Actor]) -> Line {
    let actor = most(&cell.actors).and_then(|&at| actors.get(at as usize));
    Line {
        share,
        phase: most(&cell.phases).copied().unwrap_or(Phase::Service),
        state: Some(key.state),
        holder: key.holder,
        activity: most(&cell.activities).copied().unwrap_or(key.state),
        basis: most(&cell.basis).copied().unwrap_or(Basis::Unknown),
        actor: actor.cloned().unwrap_or_default(),
    }
}

fn most<K>(of: &BTreeMap<K, f64>) -> Option<&K> {
    of.iter()
        .max_by(|a, b| a.1.total_cmp(b.1))
        .map(|(key, _)| key)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::slice::Reason;

    fn slice(begin: u64, end: u64, state: State) -> Slice {
        Slice {
            begin,
            end,
            phase: Phase::Service,
            state,
            holder: Holder::ThisRequest,
            activity: state,
            actor: 0,
            basis: Basis::Traced,
        }
    }

    fn path(slow: bool, sleep: u64, cpu: u64) -> Path {
        Path {
            sample: 0,
            slow,
            weight: 1.0,
            slices: vec![
                slice(0, sleep, State::Sleep),
                slice(sleep, sleep + cpu, State::OnCpu),
            ],
        }
    }

    #[test]
    fn what_all_have_alike_is_no_excess() {
        let paths = [path(true, 90, 20), path(false, 0, 20)];
        let all = breakdown(&paths, &[Actor::default()], (0.0, State::OnCpu));
        assert_eq!(all.lines[0].state, Some(State::Sleep));
        assert!((all.lines[0].share - 1.0).abs() < 1e-9);
        assert!((all.each_ns - 90.0).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn lines_add_to_the_whole(
            times in prop::collection::vec((any::<bool>(), 0_u64..1_000, 0_u64..1_000), 1..40),
            unobserved in 0.0_f64..0.9,
        ) {
            let paths: Vec<Path> = times.iter().map(|&(slow, a, b)| path(slow, a, b)).collect();
            let why = State::Unknown(Reason::TooFew);
            let all = breakdown(&paths, &[Actor::default()], (unobserved, why));
            let sum: f64 = all.lines.iter().map(|line| line.share).sum();
            prop_assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        }
    }
}

//! From a case to its attribution: what the requests of each endpoint waited for, as slices that
//! tile each request. The trace says it where there is one; what the client saw says the rest.

mod classify;
mod ended;
mod executor;
mod goroutines;
mod held_connections;
mod helped;
mod lost;
mod one_holder;
mod released;
mod station;
pub(crate) mod view;
mod woken;

use std::collections::BTreeMap;

use slowpath_attribution::{
    Actor, Basis, Breakdown, Holder, Path, Phase, Reason, Slice, State, breakdown,
};
use slowpath_core::nanos::Span;
use slowpath_core::samples::SampleRef;

pub(crate) use self::classify::without_digits;
use self::classify::{Classifier, DELAYED_NS};
use self::ended::Ended;
pub(crate) use self::goroutines::LOG;
pub(crate) use self::station::Station;
use crate::case::{Case, EndpointCase};
use crate::detectors::unanswered_waits;
use crate::diagnosis::Place;
use crate::frame::Frame;
use crate::trace::calls::retried::pauses;
use crate::trace::inside::{Inside, Walked};

/// Requests of an endpoint that are read from the client's record alone, at most, of the slow ones
/// and of the others each.
const UNTRACED_MOST: usize = 400;
/// Slow requests of a length are spoken for by so many of them that were followed; of fewer the
/// shares would be one request's.
const FOLLOWED_LEAST: usize = 3;

/// What the requests of one endpoint waited for.
#[derive(Debug)]
pub(crate) struct EndpointAttribution {
    pub(crate) actors: Vec<Actor>,
    /// The slow requests that were followed and a sample of the others, by position.
    pub(crate) paths: Vec<Path>,
    /// Whether the paths come from a trace.
    pub(crate) traced: bool,
    /// The station that requests were found to wait at.
    pub(crate) station: Option<Station>,
}

/// One frame of an endpoint: its paths, weighted, and the share of its excess that none covers.
#[derive(Debug)]
pub(crate) struct FramePaths {
    pub(crate) paths: Vec<Path>,
    pub(crate) unobserved: f64,
}

impl EndpointAttribution {
    /// Attributes the requests of an endpoint.
    pub(crate) fn of(case: &Case<'_>, endpoint: &EndpointCase) -> Self {
        let mut station = Station::of(case, endpoint);
        let followed = case.inside().filter(|_| case.target_hidden().is_none());
        let followed = followed.filter(|inside| !inside.of_endpoint(endpoint).walked.is_empty());
        let (mut paths, mut actors, ended) = if let Some(inside) = followed {
            let mut classifier = Classifier::new(case, inside);
            let walked = &inside.of_endpoint(endpoint).walked;
            let paths = walked.iter().map(|walked| classifier.path(walked));
            let mut paths: Vec<Path> = paths.collect();
            let ended = Ended::find((case, endpoint), inside, &mut classifier, &paths);
            if let Some(station) = &mut station {
                station.note_holders(case, inside, &mut classifier);
            }
            let mut actors = classifier.into_actors();
            goroutines::lay_over(inside, walked, &mut paths, &mut actors);
            lay_unanswered_over(inside, walked, &mut paths, &mut actors);
            held_connections::lay_over((case, inside), walked, &mut paths, &mut actors);
            lay_retries_over((case, endpoint), inside, &mut paths, &mut actors);
            lay_held_responses_over(case, endpoint, &mut paths);
            lost::lay_over((case, inside), walked, &mut paths);
            helped::lay_over((case, inside), &mut paths, &mut actors);
            woken::lay_over((case, inside), walked, &mut paths, &mut actors);
            (paths, actors, ended)
        } else {
            let (mut paths, mut actors) = (untraced(case, endpoint), vec![Actor::default()]);
            if let Some(inside) = case.inside().filter(|_| case.target_hidden().is_none()) {
                goroutines::lay_over_untraced((case, inside), &mut paths, &mut actors);
            }
            (paths, actors, None)
        };
        let station =
            station.and_then(|station| station.lay_over((case, endpoint), &mut paths, &mut actors));
        if let Some(inside) = followed.filter(|_| station.is_none()) {
            let walked = &inside.of_endpoint(endpoint).walked;
            released::lay_over((case, inside), walked, &mut paths, &mut actors);
            one_holder::lay_over((case, inside), walked, &mut paths, &mut actors);
            if let Some(ended) = ended {
                ended.lay_over(inside, endpoint, &mut paths, &mut actors);
            }
        }
        Self {
            actors,
            paths,
            traced: followed.is_some(),
            station,
        }
    }

    /// The servers, besides name servers, whose replies a request waits for.
    pub(crate) fn repliers(&self, sample: u32) -> impl Iterator<Item = &str> {
        let path = self.paths.binary_search_by_key(&sample, |path| path.sample);
        let slices = path.map_or(&[][..], |place| &self.paths[place].slices);
        let waits = slices
            .iter()
            .filter(|slice| slice.state == State::Reply && slice.holder != Holder::Resolver);
        let peers =
            waits.filter_map(|slice| Some(self.actors.get(slice.actor as usize)?.peer.as_str()));
        peers.filter(|peer| !peer.is_empty())
    }

    /// The paths of a frame; of a floor all count as slow, since it is compared with none.
    pub(crate) fn frame(&self, case: &Case<'_>, frame: &Frame, place: Place) -> FramePaths {
        if place == Place::Floor {
            let own = self
                .paths
                .iter()
                .filter(|path| frame.position(path.sample).is_some());
            let paths: Vec<Path> = own
                .map(|path| Path {
                    slow: true,
                    ..path.clone()
                })
                .collect();
            let unobserved = if paths.is_empty() { 1.0 } else { 0.0 };
            return FramePaths { paths, unobserved };
        }
        let octave = |sample: u32| case.sample(sample).latency_ns().max(1).ilog2();
        let mut followed: BTreeMap<u32, usize> = BTreeMap::new();
        for path in self.paths.iter().filter(|path| path.slow) {
            *followed.entry(octave(path.sample)).or_default() += 1;
        }
        let mut own: BTreeMap<u32, usize> = BTreeMap::new();
        for &sample in &frame.requests {
            *own.entry(octave(sample)).or_default() += 1;
        }
        let shortest_ns = shortest_block_ns(case);
        let (mut all, mut unobserved) = (BTreeMap::<u32, usize>::new(), 0.0);
        for (position, &sample) in frame.requests.iter().enumerate() {
            let may_be_followed = case.sample(sample).latency_ns() <= shortest_ns / 2;
            match spoken_for_by(octave(sample), &followed, &own, may_be_followed) {
                Some(octave) => *all.entry(octave).or_default() += 1,
                None => unobserved += frame.excess_of_ns(case.record, position) as f64,
            }
        }
        let weigh = |path: &Path| {
            let octave = octave(path.sample);
            let stands_for = all.get(&octave).copied().unwrap_or(0);
            let of = followed.get(&octave).copied().unwrap_or(1).max(1);
            Path {
                weight: if path.slow {
                    stands_for as f64 / of as f64
                } else {
                    1.0
                },
                ..path.clone()
            }
        };
        FramePaths {
            paths: self.paths.iter().map(weigh).collect(),
            unobserved: if frame.excess_ns > 0.0 {
                unobserved / frame.excess_ns
            } else {
                0.0
            },
        }
    }

    /// Where the excess of a frame went.
    pub(crate) fn breakdown(&self, frame: &FramePaths) -> Breakdown {
        let reason = if self.traced {
            Reason::TooFew
        } else {
            Reason::NotTraced
        };
        breakdown(
            &frame.paths,
            &self.actors,
            (frame.unobserved, State::Unknown(reason)),
        )
    }
}

/// The octave of latencies whose followed requests speak for the requests of one: it is that one, or the one below, if none could be
/// followed by bad luck (they lie in stretches that were left untraced), and those there are as many as they are.
fn spoken_for_by(
    octave: u32,
    followed: &BTreeMap<u32, usize>,
    own: &BTreeMap<u32, usize>,
    may_be_followed: bool,
) -> Option<u32> {
    let of = |counts: &BTreeMap<u32, usize>, octave: u32| counts.get(&octave).copied().unwrap_or(0);
    if of(followed, octave) >= FOLLOWED_LEAST {
        return Some(octave);
    }
    let below = octave.checked_sub(1).filter(|_| may_be_followed)?;
    (of(followed, below) >= FOLLOWED_LEAST.max(of(own, octave))).then_some(below)
}

/// How long the shortest stretch is that was traced without a break.
fn shortest_block_ns(case: &Case<'_>) -> u64 {
    let blocks = case.inside().map_or(&[][..], |inside| &inside.index.blocks);
    blocks
        .iter()
        .map(|block| block.span.len_ns())
        .min()
        .unwrap_or(0)
}

/// Paths from the client's own record: phases, and in the server nothing but that it is not known.
fn untraced(case: &Case<'_>, endpoint: &EndpointCase) -> Vec<Path> {
    let slow = &endpoint.split.slow;
    let every = |count: usize| count.div_ceil(UNTRACED_MOST).max(1);
    let others = endpoint
        .completed
        .iter()
        .step_by(every(endpoint.completed.len()));
    let others = others.filter(|sample| slow.binary_search(sample).is_err());
    let mut all: Vec<(u32, bool)> = others.map(|&sample| (sample, false)).collect();
    all.extend(
        slow.iter()
            .step_by(every(slow.len()))
            .map(|&sample| (sample, true)),
    );
    all.sort_unstable();
    let path = |(sample, slow)| Path {
        sample,
        slow,
        weight: 1.0,
        slices: client_slices(case.sample(sample)),
    };
    all.into_iter().map(path).collect()
}

/// A request as the client saw it.
fn client_slices(sample: SampleRef<'_>) -> Vec<Slice> {
    let dial = sample.connect_begin().unwrap_or(sample.ready());
    let sent = sample.sent().unwrap_or(sample.done());
    let connected = match sample.connect_begin() {
        Some(_) => sample.connected().unwrap_or(sent),
        None => dial,
    };
    let first = sample.first_byte().unwrap_or(sample.done());
    let unknown = State::Unknown(Reason::NotTraced);
    let parts = [
        (
            Phase::Queued,
            sample.scheduled(),
            sample.ready(),
            State::ClientLate,
        ),
        (Phase::ClientLag, sample.ready(), dial, State::ClientLate),
        (Phase::Connect, dial, connected, State::Handshake),
        (Phase::ClientLag, connected, sent, State::ClientLate),
        (Phase::Service, sent, first, unknown),
        (Phase::Response, first, sample.done(), unknown),
    ];
    let mut at = sample.scheduled().get();
    let mut slices = Vec::new();
    for (phase, _, end, state) in parts {
        let end = end.get().min(sample.done().get()).max(at);
        if end > at {
            slices.push(Slice {
                begin: at,
                end,
                phase,
                state,
                holder: if state == State::Handshake {
                    Holder::Kernel
                } else {
                    Holder::Unknown
                },
                activity: state,
                actor: 0,
                basis: if matches!(state, State::Unknown(_)) {
                    Basis::Unknown
                } else {
                    Basis::Pattern
                },
            });
            at = end;
        }
    }
    slices
}

/// Other servers as actors of their own, each once.
#[derive(Default)]
struct Peers(BTreeMap<String, u32>);

impl Peers {
    /// The position among the actors of the one at the other end of a connection.
    fn actor(&mut self, inside: &Inside<'_>, socket: u32, actors: &mut Vec<Actor>) -> u32 {
        self.at(inside.other_end(socket).unwrap_or_default(), actors)
    }

    /// The position among the actors of the one at an address.
    fn at(&mut self, peer: String, actors: &mut Vec<Actor>) -> u32 {
        *self.0.entry(peer.clone()).or_insert_with(|| {
            actors.push(Actor {
                peer,
                ..Actor::default()
            });
            actors.len() as u32 - 1
        })
    }
}

/// What a request that tries again waits for in a loop, or in a runtime that parks it, is a timer.
fn lay_retries_over(
    (case, endpoint): (&Case<'_>, &EndpointCase),
    inside: &Inside<'_>,
    paths: &mut [Path],
    actors: &mut Vec<Actor>,
) {
    let mut peers = Peers::default();
    for asked in pauses(case, endpoint).map_or_else(Vec::new, |pauses| pauses.asked) {
        let path = paths.binary_search_by_key(&asked.sample, |path| path.sample);
        let Ok(place) = path else { continue };
        let actor = peers.at(inside.trace().address(asked.again.remote), actors);
        overlay(&mut paths[place].slices, &[asked.claim().span], |slice| {
            let is_parked = matches!(
                slice.state,
                State::Unknown(Reason::Parked | Reason::LoopWaits)
            );
            let is_sleep = slice.state == State::Sleep && slice.basis == Basis::Sampled;
            (is_parked || is_sleep).then_some(Slice {
                state: State::Sleep,
                holder: Holder::ThisRequest,
                activity: State::Sleep,
                actor,
                basis: Basis::Traced,
                ..*slice
            })
        });
    }
}

/// The target has written the whole response, and its end arrives as late as an acknowledgement is delayed: the
/// target's kernel keeps it until the client has acknowledged what was sent before (Nagle's algorithm).
fn lay_held_responses_over(case: &Case<'_>, endpoint: &EndpointCase, paths: &mut [Path]) {
    let asked = &case.record.manifest.plan.scenario.endpoints;
    let own = asked.get(usize::from(endpoint.index));
    if own.is_some_and(|own| own.read_bytes_per_s.is_some()) {
        return;
    }
    for path in paths {
        let sample = case.sample(path.sample);
        let Some(begin) = sample.gap_begin() else {
            continue;
        };
        if !DELAYED_NS.contains(&sample.gap_ns()) {
            continue;
        }
        let silent = Span::new(begin, begin.plus(sample.gap_ns()));
        overlay(&mut path.slices, &[silent], |slice| {
            (slice.phase == Phase::Response && slice.state == State::Client).then_some(Slice {
                state: State::DelayedAck,
                holder: Holder::Kernel,
                activity: State::DelayedAck,
                ..*slice
            })
        });
    }
}

/// What ends the wait for a reply that never comes is a timer, and what requests wait for is the reply.
fn lay_unanswered_over(
    inside: &Inside<'_>,
    walked: &[Walked],
    paths: &mut [Path],
    actors: &mut Vec<Actor>,
) {
    let waits = unanswered_waits(inside, walked);
    let mut peers = Peers::default();
    for path in paths {
        let Some((socket, span)) = waits.get(&path.sample) else {
            continue;
        };
        let actor = peers.actor(inside, *socket, actors);
        overlay(&mut path.slices, &[*span], |slice| {
            // A runtime that was read says who is asked, and not that there is no answer.
            let is_asked = || {
                let peer = |actor: u32| actors.get(actor as usize).map_or("", |own| &own.peer);
                let asked = peer(actor);
                slice.state == State::Reply && !asked.is_empty() && peer(slice.actor) == asked
            };
            let is_open = matches!(slice.state, State::Sleep | State::Unknown(_));
            (is_open || is_asked()).then_some(Slice {
                state: State::Reply,
                // Whether the other end holds it is not known.
                holder: Holder::Unknown,
                activity: State::Unknown(Reason::Network),
                actor,
                basis: Basis::Traced,
                ..*slice
            })
        });
    }
}

/// Cuts slices where `spans` (ascending, disjoint) begin and end, and changes what lies inside as
/// `state` says; `None` leaves it as it is.
fn overlay(slices: &mut Vec<Slice>, spans: &[Span], change: impl Fn(&Slice) -> Option<Slice>) {
    if spans.is_empty() {
        return;
    }
    let mut out = Vec::with_capacity(slices.len());
    for slice in slices.drain(..) {
        let Some(changed) = change(&slice) else {
            out.push(slice);
            continue;
        };
        let mut at = slice.begin;
        let first = spans.partition_point(|span| span.end.get() <= slice.begin);
        for span in spans[first..]
            .iter()
            .take_while(|span| span.begin.get() < slice.end)
        {
            let (begin, end) = (span.begin.get().max(at), span.end.get().min(slice.end));
            if begin > at {
                out.push(Slice {
                    begin: at,
                    end: begin,
                    ..slice
                });
            }
            if end > begin {
                out.push(Slice {
                    begin,
                    end,
                    ..changed
                });
                at = end;
            }
        }
        if at < slice.end {
            out.push(Slice { begin: at, ..slice });
        }
    }
    *slices = out;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_of_half_the_length_speak_for_requests_that_were_left_out_by_bad_luck() {
        let followed = BTreeMap::from([(25, 5), (26, 1)]);
        let own = BTreeMap::from([(25, 6), (26, 5), (27, 1)]);
        let by = |octave, may| spoken_for_by(octave, &followed, &own, may);
        assert_eq!(by(25, false), Some(25));
        assert_eq!(by(26, true), Some(25));
        assert_eq!(by(26, false), None, "too long to be followed");
        assert_eq!(by(27, true), None, "too few are followed there");
        let many = BTreeMap::from([(26, 9)]);
        assert_eq!(
            spoken_for_by(26, &followed, &many, true),
            None,
            "more than speak for them"
        );
    }
}

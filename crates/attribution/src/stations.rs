//! Stations: anything with k places and a queue, found from arrivals and departures alone.
//!
//! In a first-come first-served station with k places, a request that arrives while m others are
//! there starts when all but k - 1 of these have left (the recursion of Kiefer and Wolfowitz, 1955;
//! for k = 1 that of Lindley, 1952). Departures are recorded, so no service time has to be assumed:
//! for each k the start of every request follows, and with it what its service would have taken. The
//! right k makes service times of one class alike, whether a request waited or not: too few places
//! leave services that are too short (or end before they start), too many leave waiting in them.

use std::cmp::Ordering;
use std::collections::BTreeMap;

/// More places than that are not distinguished from none: a queue before 64 places takes more requests
/// at a time than a load of this size keeps under way.
const PLACES_MOST: usize = 64;
/// Fewer requests that waited say nothing of k: the error of a median of absolute deviations is then
/// a fifth.
const QUEUED_LEAST: usize = 30;
/// A deviation counts as e^4 (55 times) at most, so that one outlier is not the whole error.
const DEVIATION_MOST: f64 = 4.0;
/// What writing an answer takes: a class that keeps all others waiting may let them go that much before its own answer (it
/// releases a lock, and writes then), so that shorter services count as this long. Where requests wait for each other,
/// services that are too short distinguish a station from a stall whose backlog drains at once.
const RESOLUTION_NS: u64 = 200_000;
/// Of the visits that come while the class is there that keeps all others waiting, up to this share may be over before: it does not
/// hold the lock all the time. Where it has one of several places most are.
const OUTLASTED_MOST: f64 = 0.6;
/// A station must at least halve the scatter of what slow requests and those that waited took. Judgement; its
/// sensitivity was not measured.
const ERROR_RATIO_MOST: f64 = 0.5;
/// So many requests that met no other show what a service of their class takes.
const ALONE_LEAST: usize = 10;
/// Up to this part of the requests that waited may be served faster than any that did not wait …
const UNDERSHOOT_MOST: f64 = 0.2;
/// … by this factor below their lower decile: what stood still and then drains does that.
const UNDERSHOOT: f64 = 0.5;
/// Numbers of places whose errors are within this factor of the least are not distinguished: the errors of the two halves
/// of one run differ by as much.
const ALIKE: f64 = 1.3;
/// A steep number of places may explain so much less than another: what explains less than this is no cause (a cause is ruled out if it
/// could not have explained 15 %).
const STEEP_WORTH: f64 = 0.15;
/// Both halves of the run must agree on k to this many places for each place: k is known to a
/// quarter.
const HALVES_AGREE: f64 = 0.25;

/// A request at a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visit {
    /// When the server could have begun it, in nanoseconds.
    pub arrival: u64,
    /// When it was over.
    pub done: u64,
    /// Requests of one class take alike: the endpoint.
    pub class: u16,
    /// Requests of one line wait for each other only: 0 for all, or a level of a factor.
    pub line: u32,
    /// Whether it is one of those to be explained.
    pub slow: bool,
    /// Whether it was measured. Those of the warm-up hold places, and what their own services took is not asked: the first of them
    /// came when it is not known how many others were there.
    pub measured: bool,
}

/// A station that fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// Its places.
    pub places: u32,
    /// The fewest and the most places that fit about as well: where order is not first come, first served, or a place is
    /// given back a little before the answer, arrivals and departures show no more.
    pub plausible: (u32, u32),
    /// Whether one place less and one more both leave clearly more scatter.
    pub is_steep: bool,
    /// When each visit got a place, in the order given.
    pub starts: Vec<u64>,
    /// Requests that waited for a place.
    pub queued: usize,
    /// The scatter of services with the station, as a part of that without.
    pub error_ratio: f64,
    /// The share of the waiting of slow requests that was waiting for a place, from 0 to 1.
    pub explained: f64,
    /// Which requests held the places while slow requests waited: classes with their share, largest
    /// first.
    pub held_by: Vec<(u16, f64)>,
}

impl Fit {
    /// Compares it with another account of the visits: the greater explains more, and leaves less scatter. Where a queue hardly ever
    /// empties, many numbers of places fit some of the requests well, and a steep one is meant if it is nearly as good.
    pub fn compare(&self, other: &Self) -> Ordering {
        let worth = |fit: &Self| {
            let steep = if fit.is_steep { STEEP_WORTH } else { 0.0 };
            fit.explained - fit.error_ratio + steep
        };
        worth(self).total_cmp(&worth(other))
    }
}

/// Fits a station to visits that are in order of arrival; `None` if none fits.
pub fn fit(visits: &[Visit]) -> Option<Fit> {
    fit_by(visits, Held::ByAll)
}

/// Fits a station of one place that requests of one class alone hold for long: all others wait until these have
/// gone, and not for each other. So does a lock that one endpoint holds over a call.
pub fn fit_behind(visits: &[Visit], class: u16) -> Option<Fit> {
    fit_by(visits, Held::AllBy(class))
}

/// Fits a station whose places requests of one class alone hold for long: these wait for each other, and all others for them. So
/// is a pool of threads that one endpoint keeps busy, and others need for a moment.
pub fn fit_places_of(visits: &[Visit], class: u16) -> Option<Fit> {
    fit_by(visits, Held::PlacesBy(class))
}

/// Which visits hold places for so long that others wait for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    /// Any.
    ByAll,
    /// Those of a class, which do not wait for each other, and all others do for all of them.
    AllBy(u16),
    /// Those of a class.
    PlacesBy(u16),
}

fn fit_by(visits: &[Visit], held: Held) -> Option<Fit> {
    if matches!(held, Held::AllBy(class) if outlasted(visits, class) > OUTLASTED_MOST) {
        return None;
    }
    let resolution_ns = if held == Held::ByAll {
        1
    } else {
        RESOLUTION_NS
    };
    let starts = starts(visits, held);
    let there = starts.iter().map(Vec::len).max()?.min(PLACES_MOST);
    let most = match held {
        Held::AllBy(_) => there.min(1) + 1,
        _ => there,
    };
    let met: Vec<usize> = (0..visits.len())
        .filter(|&i| !starts[i].is_empty() && visits[i].measured)
        .collect();
    if met.len() < QUEUED_LEAST || most < 2 {
        return None;
    }
    let (first, second) = met.split_at(met.len() / 2);
    let starts_at = |places: usize| -> Vec<u64> {
        let all = visits.iter().zip(&starts);
        all.map(|(visit, starts)| start(visit, starts, places))
            .collect()
    };
    let errors: Vec<f64> = (0..most)
        .map(|k| error(visits, &starts, &met, k.max(1), resolution_ns))
        .collect();
    // What waits for all of a class may drain at once, when that class is done.
    let drains = |places: usize| {
        !matches!(held, Held::AllBy(_)) && undershoots(visits, &starts_at(places), resolution_ns)
    };
    let from = fewest(&errors, drains)?;
    let chosen = choice(&errors, from, drains)?;
    let places = chosen.places;
    let waited =
        |&i: &usize| visits[i].slow || start(&visits[i], &starts[i], places) > visits[i].arrival;
    let waited: Vec<usize> = met.iter().copied().filter(waited).collect();
    let without = error(visits, &starts, &waited, usize::MAX, resolution_ns);
    let error_ratio =
        error(visits, &starts, &waited, places, resolution_ns) / without.max(f64::MIN_POSITIVE);
    let best = |of: &[usize]| {
        let errors: Vec<f64> = (0..most)
            .map(|k| error(visits, &starts, of, k.max(1), resolution_ns))
            .collect();
        choice(&errors, from, drains).map(|choice| choice.places)
    };
    let apart = best(first)?.abs_diff(best(second)?);
    if error_ratio > ERROR_RATIO_MOST || apart as f64 > (places as f64 * HALVES_AGREE).max(0.5) {
        return None;
    }
    let at = starts_at(places);
    let queued = (0..visits.len())
        .filter(|&i| at[i] > visits[i].arrival && visits[i].measured)
        .count();
    if queued < QUEUED_LEAST || drains(places) {
        return None;
    }
    let (explained, held_by) = (explained(visits, &at), held_by(visits, &at));
    Some(Fit {
        places: places as u32,
        plausible: (chosen.plausible.0 as u32, chosen.plausible.1 as u32),
        is_steep: chosen.is_steep,
        starts: at,
        queued,
        error_ratio,
        explained,
        held_by,
    })
}

/// The fewest places to be tried, from the errors of each number from 1 on. So few that services seem to take no time leave them
/// alike too: the right number is a valley of its own then.
fn fewest(errors: &[f64], drains: impl Fn(usize) -> bool) -> Option<usize> {
    let least = (1..errors.len()).min_by(|&a, &b| errors[a].total_cmp(&errors[b]))?;
    if !drains(least) {
        return Some(1);
    }
    (least + 1..errors.len()).find(|&k| is_valley(errors, k, 1.0) && !drains(k))
}

/// Whether the error of a number of places is clearly less than that of one place less, and less than that of one more by a factor.
fn is_valley(errors: &[f64], k: usize, factor: f64) -> bool {
    let more = errors.get(k + 1);
    errors[k - 1] > ALIKE * errors[k] && more.is_some_and(|&more| more > factor * errors[k])
}

/// A number of places that fits, with the fewest and the most that fit about as well.
struct Choice {
    places: usize,
    plausible: (usize, usize),
    is_steep: bool,
}

/// The number of places with the least error; or the first that fits as well and is a valley with two steep sides. Where a queue hardly
/// ever empties, a multiple of the places fits too: what services seem to take is then what so many departures take, whose scatter is
/// less by the root of the multiple.
fn choice(errors: &[f64], from: usize, drains: impl Fn(usize) -> bool) -> Option<Choice> {
    let most = errors.len();
    let least = (from..most).min_by(|&a, &b| errors[a].total_cmp(&errors[b]))?;
    let is_alike = |&k: &usize| errors[k] <= errors[least] * ALIKE;
    let is_steep = |&k: &usize| {
        let averaged = errors[k] / (least as f64 / k as f64).sqrt();
        // A multiple of `k`, or next to one.
        let is_multiple = (least + 1) % k <= 2;
        let is_alike = averaged <= errors[least] * ALIKE;
        is_multiple && is_alike && is_valley(errors, k, ALIKE) && !drains(k)
    };
    if let Some(places) = (from.max(2)..=least).find(is_steep) {
        return Some(Choice {
            places,
            plausible: (places, places),
            is_steep: true,
        });
    }
    let alike = (from..most).filter(is_alike);
    let plausible = alike.fold((least, least), |(low, high), k| (low.min(k), high.max(k)));
    Some(Choice {
        places: least,
        plausible,
        is_steep: false,
    })
}

/// Of the visits that come while one of a class is there, the share that is over before all of these are.
fn outlasted(visits: &[Visit], class: u16) -> f64 {
    let mut there: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    let (mut met, mut over) = (0_usize, 0_usize);
    for visit in visits {
        let line = there.entry(visit.line).or_default();
        line.retain(|&done| done > visit.arrival);
        if visit.class == class {
            line.push(visit.done);
        } else if let Some(&last) = line.iter().max() {
            met += 1;
            over += usize::from(visit.done.saturating_add(RESOLUTION_NS) < last);
        }
    }
    over as f64 / met.max(1) as f64
}

/// For each visit the departures of those that were there when it came, latest first: with k places
/// it starts at the k-th of them.
fn starts(visits: &[Visit], held: Held) -> Vec<Vec<u64>> {
    let mut there: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    let mut last: Option<(Visit, Vec<u64>)> = None;
    let mut of = |visit: &Visit| {
        let line = there.entry(visit.line).or_default();
        line.retain(|&done| done > visit.arrival);
        let waited_for = |done: &&u64| **done <= visit.done.saturating_add(RESOLUTION_NS);
        let ahead: Vec<u64> = match held {
            Held::AllBy(class) if class == visit.class => Vec::new(),
            Held::AllBy(_) => line
                .iter()
                .filter(waited_for)
                .max()
                .copied()
                .into_iter()
                .collect(),
            Held::ByAll | Held::PlacesBy(_) => {
                line.iter().rev().take(PLACES_MOST).copied().collect()
            }
        };
        let holds = match held {
            Held::ByAll => true,
            Held::AllBy(class) | Held::PlacesBy(class) => class == visit.class,
        };
        if holds {
            let place = line.partition_point(|&done| done <= visit.done);
            line.insert(place, visit.done);
        }
        ahead
    };
    visits
        .iter()
        .map(|visit| {
            let own = of(visit);
            // Of two such visits neither comes first.
            let same = last.take().filter(|(other, _)| is_twin(other, visit));
            let ahead = same.map_or(own, |(_, ahead)| ahead);
            last = Some((*visit, ahead.clone()));
            ahead
        })
        .collect()
}

/// Whether two visits are alike in all that is known of them.
fn is_twin(a: &Visit, b: &Visit) -> bool {
    (a.arrival, a.done, a.class, a.line) == (b.arrival, b.done, b.class, b.line)
}

/// When a visit starts in a station of so many places.
fn start(visit: &Visit, ahead: &[u64], places: usize) -> u64 {
    let at = places.checked_sub(1).and_then(|k| ahead.get(k));
    at.copied().unwrap_or(visit.arrival)
}

/// What the service of a visit takes that starts then, as a logarithm.
fn service(visit: &Visit, start: u64, resolution_ns: u64) -> f64 {
    (visit.done.saturating_sub(start).max(resolution_ns) as f64).ln()
}

/// The scatter of services: the mean deviation from the median of those of their class that met no other request,
/// or of all of it where these are few.
fn error(
    visits: &[Visit],
    starts: &[Vec<u64>],
    of: &[usize],
    places: usize,
    resolution_ns: u64,
) -> f64 {
    let mut classes: BTreeMap<u16, Vec<f64>> = BTreeMap::new();
    let mut alone: BTreeMap<u16, Vec<f64>> = BTreeMap::new();
    let measured = visits
        .iter()
        .zip(starts)
        .filter(|(visit, _)| visit.measured);
    for (visit, ahead) in measured {
        let own = service(visit, start(visit, ahead, places), resolution_ns);
        classes.entry(visit.class).or_default().push(own);
        if ahead.is_empty() {
            alone.entry(visit.class).or_default().push(own);
        }
    }
    // What a service takes is known from those that met no other, whatever k is.
    let usual = |(class, all): (u16, Vec<f64>)| match alone.remove(&class) {
        Some(alone) if alone.len() >= ALONE_LEAST => (class, middle(alone, 0.5)),
        _ => (class, middle(all, 0.5)),
    };
    let medians: BTreeMap<u16, f64> = classes.into_iter().map(usual).collect();
    let deviation = |&i: &usize| {
        let visit = &visits[i];
        let own = service(visit, start(visit, &starts[i], places), resolution_ns);
        (own - medians[&visit.class]).abs().min(DEVIATION_MOST)
    };
    of.iter().map(deviation).sum::<f64>() / of.len().max(1) as f64
}

fn middle(mut all: Vec<f64>, p: f64) -> f64 {
    all.sort_by(f64::total_cmp);
    let place = ((all.len() as f64 * p) as usize).min(all.len().saturating_sub(1));
    all.get(place).copied().unwrap_or(0.0)
}

/// Whether too many that waited are then served faster than those that did not wait.
fn undershoots(visits: &[Visit], starts: &[u64], resolution_ns: u64) -> bool {
    let mut free: BTreeMap<u16, Vec<f64>> = BTreeMap::new();
    for (visit, &start) in visits.iter().zip(starts) {
        if start <= visit.arrival && visit.measured {
            free.entry(visit.class)
                .or_default()
                .push(service(visit, start, resolution_ns));
        }
    }
    let least: BTreeMap<u16, f64> = free
        .into_iter()
        .map(|(class, all)| (class, middle(all, 0.1) + UNDERSHOOT.ln()))
        .collect();
    let (mut queued, mut below) = (0_usize, 0_usize);
    let waited = |(visit, start): &(&Visit, &u64)| **start > visit.arrival && visit.measured;
    for (visit, &start) in visits.iter().zip(starts).filter(waited) {
        queued += 1;
        let short = least
            .get(&visit.class)
            .is_some_and(|&least| service(visit, start, resolution_ns) < least);
        below += usize::from(short);
    }
    below as f64 > UNDERSHOOT_MOST * queued as f64
}

fn explained(visits: &[Visit], starts: &[u64]) -> f64 {
    let mut fast: BTreeMap<u16, Vec<f64>> = BTreeMap::new();
    for visit in visits.iter().filter(|v| !v.slow && v.measured) {
        let own = visit.done.saturating_sub(visit.arrival) as f64;
        fast.entry(visit.class).or_default().push(own);
    }
    let usual: BTreeMap<u16, f64> = fast
        .into_iter()
        .map(|(class, all)| (class, middle(all, 0.5)))
        .collect();
    let (mut all, mut waited) = (0.0, 0.0);
    for (visit, &start) in visits.iter().zip(starts).filter(|(visit, _)| visit.slow) {
        let usual = usual.get(&visit.class).copied().unwrap_or(0.0);
        let excess = (visit.done.saturating_sub(visit.arrival) as f64 - usual).max(0.0);
        all += excess;
        waited += (start.saturating_sub(visit.arrival) as f64).min(excess);
    }
    if all > 0.0 { waited / all } else { 0.0 }
}

/// Who held the places while slow visits waited.
fn held_by(visits: &[Visit], starts: &[u64]) -> Vec<(u16, f64)> {
    let mut held: BTreeMap<u16, f64> = BTreeMap::new();
    let mut there: Vec<usize> = Vec::new();
    for (i, visit) in visits.iter().enumerate() {
        there.retain(|&other| visits[other].done > visit.arrival);
        if visit.slow && starts[i] > visit.arrival {
            for &other in there.iter().filter(|&&o| visits[o].line == visit.line) {
                let begin = starts[other].max(visit.arrival);
                let end = visits[other].done.min(starts[i]);
                *held.entry(visits[other].class).or_default() += end.saturating_sub(begin) as f64;
            }
        }
        there.push(i);
    }
    let total: f64 = held.values().sum();
    let mut held: Vec<(u16, f64)> = held
        .into_iter()
        .map(|(class, ns)| (class, ns / total.max(1.0)))
        .collect();
    held.sort_by(|a, b| b.1.total_cmp(&a.1));
    held
}

#[cfg(test)]
#[path = "stations_tests.rs"]
mod tests;

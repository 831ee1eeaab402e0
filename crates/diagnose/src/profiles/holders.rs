//! Who keeps the lock that requests wait for, by the mutex profile and the dumps together.
//!
//! The profile says whose letting go of a lock ended waits, and how long these had been; the dumps
//! say where its goroutine is during these waits. A place is taken for one within the lock if all of
//! this holds: the goroutine stands in the function that releases the lock, called from the same
//! place, between the lines that take the lock and release it; it stands there when requests wait
//! for a lock and not otherwise; no two do at once; and others waited for it as long, all together,
//! as it stood there.

use std::collections::{BTreeMap, BTreeSet};

use slowpath_core::profiles::{CodeLine, Profiles};

use super::stands::{Does, Site, answers, is_made};

/// A place must be so many times more frequent when requests wait for a lock …
const ENRICHED: f64 = 1.5;
/// … unless they wait for one nearly always: fewer other dumps than this share are no evidence.
const OTHERS_LEAST: f64 = 0.1;
/// Others must have waited for a site's lock this part of the time that it was seen to be kept. In
/// theory it is all of it, since some goroutine waits at each of those instants; the time is an estimate.
const CHARGED: f64 = 0.5;

/// One dump, read.
pub(super) struct Seen<'p> {
    /// Goroutines that answer requests and wait for a lock.
    pub(super) waiting: u64,
    /// All others, and how many of each.
    pub(super) others: Vec<(u32, u32)>,
    /// Where the former wait: the place that called the lock.
    pub(super) at: Vec<&'p CodeLine>,
}

/// What is known of every stack.
pub(super) struct Stacks<'p> {
    pub(super) lines: Vec<Vec<&'p CodeLine>>,
    pub(super) does: Vec<Does>,
    answers: Vec<bool>,
}

impl<'p> Stacks<'p> {
    pub(super) fn of(profiles: &'p Profiles) -> Self {
        let numbers = 0..profiles.stacks.len() as u32;
        let lines = numbers.map(|stack| {
            let lines = profiles.stack(stack);
            lines.filter(|line| !is_made(&line.function)).collect()
        });
        let lines: Vec<Vec<&CodeLine>> = lines.collect();
        Self {
            does: lines.iter().map(|stack| Does::of(stack)).collect(),
            answers: lines.iter().map(|stack| answers(stack)).collect(),
            lines,
        }
    }

    /// Reads the dumps.
    pub(super) fn read(&self, profiles: &Profiles) -> Vec<Seen<'p>> {
        let of = |dump: &slowpath_core::profiles::Dump| {
            let mut seen = Seen {
                waiting: 0,
                others: Vec::new(),
                at: Vec::new(),
            };
            for standing in &dump.standing {
                let stack = standing.stack as usize;
                if self.does[stack] != Does::WaitsForLock {
                    seen.others.push((standing.stack, standing.goroutines));
                } else if self.answers[stack] {
                    seen.waiting += u64::from(standing.goroutines);
                    let outside = |line: &&&CodeLine| {
                        let f = &line.function;
                        !f.starts_with("runtime.")
                            && !f.starts_with("sync.")
                            && !f.starts_with("internal/sync.")
                    };
                    seen.at
                        .extend(self.lines[stack].iter().find(outside).copied());
                }
            }
            seen
        };
        profiles.dumps.iter().map(of).collect()
    }
}

/// A site of the mutex profile, with all that was charged to it.
struct Charged {
    delay_ns: u64,
    count: u64,
    /// The last line that releases the lock.
    until: u32,
    /// The first line that is seen to wait for it; 0 if none is.
    from: u32,
    shared: bool,
}

/// Goroutines that were found at one place.
#[derive(Clone, Copy)]
struct Found {
    dump: usize,
    stack: u32,
    goroutines: u32,
}

/// A goroutine within a lock.
#[derive(Clone, Debug)]
pub(super) struct Holder<'p> {
    /// The site.
    pub(super) site: Site<'p>,
    /// How long others waited until it released the lock.
    pub(super) delay_ns: u64,
    /// In how many waits.
    pub(super) count: u64,
    /// For each dump, the stack with which it stands within the lock.
    pub(super) stands: BTreeMap<usize, u32>,
    /// Dumps in which it stands there and no request waits.
    pub(super) idle: usize,
}

/// All that keep locks which requests wait for; the one that others waited for longest comes
/// first.
pub(super) fn holders<'p>(
    profiles: &'p Profiles,
    stacks: &Stacks<'p>,
    seen: &[Seen<'p>],
    measured_ns: u64,
) -> Vec<Holder<'p>> {
    let mut holders = Vec::new();
    let known = lines_of(profiles, stacks);
    for (site, charged) in charged(profiles, stacks, &known) {
        // Where a goroutine may stand with the lock: what it does there by dump.
        let mut places: BTreeMap<(u32, Does), Vec<Found>> = BTreeMap::new();
        for (number, dump) in seen.iter().enumerate() {
            for &(stack, goroutines) in &dump.others {
                if stacks.does[stack as usize] == Does::Unknown {
                    continue;
                }
                let line = known[stack as usize].iter().find(|(s, _)| *s == site);
                let within = |line: &u32| {
                    (charged.from..=charged.until).contains(line) || charged.until == 0
                };
                if let Some(line) = line.map(|(_, line)| *line).filter(within) {
                    let place = (line, stacks.does[stack as usize]);
                    let all = places.entry(place).or_default();
                    all.push(Found {
                        dump: number,
                        stack,
                        goroutines,
                    });
                }
            }
        }
        let mut stands = BTreeMap::new();
        let mut idle = 0;
        for found in places.into_values() {
            if let Some((within, without)) = place_within(&found, seen, charged.shared) {
                stands.extend(within);
                idle += without;
            }
        }
        let part = stands.len() as f64 / seen.len().max(1) as f64;
        let is_charged = charged.delay_ns as f64 >= CHARGED * part * measured_ns as f64;
        if !stands.is_empty() && is_charged {
            holders.push(Holder {
                site,
                delay_ns: charged.delay_ns,
                count: charged.count,
                stands,
                idle,
            });
        }
    }
    holders.sort_by(|a, b| b.delay_ns.cmp(&a.delay_ns).then(a.site.cmp(&b.site)));
    holders
}

/// The dumps in which a goroutine is at a place and requests wait for a lock, with the stack, and
/// in how many none waits; `None` if the place is not within a lock.
fn place_within(
    found: &[Found],
    seen: &[Seen<'_>],
    shared: bool,
) -> Option<(BTreeMap<usize, u32>, usize)> {
    let mut at_once: BTreeMap<usize, u32> = BTreeMap::new();
    for one in found {
        *at_once.entry(one.dump).or_default() += one.goroutines;
    }
    if !shared && at_once.values().any(|&goroutines| goroutines > 1) {
        return None;
    }
    let is_waited = |number: usize| seen[number].waiting > 0;
    let waited = seen.iter().filter(|dump| dump.waiting > 0).count();
    let others = seen.len() - waited;
    let within = at_once.keys().filter(|&&number| is_waited(number)).count();
    let without = at_once.len() - within;
    let is_tellable = others as f64 >= OTHERS_LEAST * seen.len() as f64;
    let is_enriched = within as f64 * others as f64 >= ENRICHED * without as f64 * waited as f64;
    if within == 0 || is_tellable && !is_enriched {
        return None;
    }
    let with = found.iter().filter(|one| is_waited(one.dump));
    Some((with.map(|one| (one.dump, one.stack)).collect(), without))
}

/// For each stack the sites that it stands in, with the line.
type Lines<'p> = Vec<Vec<(Site<'p>, u32)>>;

fn lines_of<'p>(profiles: &'p Profiles, stacks: &Stacks<'p>) -> Lines<'p> {
    let sites = profiles.releases.iter();
    let sites = sites.filter_map(|r| Site::of(&stacks.lines[r.stack as usize]));
    let sites: BTreeSet<Site<'p>> = sites.map(|(site, ..)| site).collect();
    let of = |stack: &Vec<&'p CodeLine>| {
        let lines = sites.iter();
        let lines = lines.filter_map(|site| Some((site.clone(), site.line_of(stack)?)));
        lines.collect()
    };
    stacks.lines.iter().map(of).collect()
}

/// The sites of the mutex profile.
fn charged<'p>(
    profiles: &'p Profiles,
    stacks: &Stacks<'p>,
    known: &Lines<'p>,
) -> BTreeMap<Site<'p>, Charged> {
    let mut all: BTreeMap<Site<'p>, Charged> = BTreeMap::new();
    for release in &profiles.releases {
        let Some((site, line, shared)) = Site::of(&stacks.lines[release.stack as usize]) else {
            continue;
        };
        let own = all.entry(site).or_insert(Charged {
            delay_ns: 0,
            count: 0,
            until: 0,
            from: 0,
            shared,
        });
        own.delay_ns += release.delay_ns;
        own.count += release.count;
        own.until = own.until.max(line);
        own.shared |= shared;
    }
    for (stack, lines) in known.iter().enumerate() {
        if stacks.does[stack] != Does::WaitsForLock {
            continue;
        }
        for (site, line) in lines {
            if let Some(own) = all.get_mut(site) {
                own.from = if own.from == 0 {
                    *line
                } else {
                    own.from.min(*line)
                };
            }
        }
    }
    all
}

//! What profiles of a Go target show of requests: who holds the locks that they wait for.

mod holders;
mod stands;
mod waits;

use slowpath_core::profiles::{CodeLine, Profiles};
use slowpath_core::stats::period::{Period, period};

use crate::case::{Case, EndpointCase};
use crate::diagnosis::{Culprit, Evidence, Grade, Source};
use crate::ledger::NAMED_EPISODES;
use crate::predict::without_claims;
use crate::trace::holders::Kind;
use crate::trace::inside::summed;
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, human, ms, percent, plural};

use holders::{Holder, Seen, Stacks, holders};
use stands::{Does, answers, began_with};
use waits::{Met, Waits};

/// Fewer dumps are no picture of the run.
const DUMPS_LEAST: usize = 30;
/// Fewer dumps in which requests wait for a lock name no holder: they may be of a single wait, and of
/// two threads that wait as often as each other all of six are the same one in 1 of 32 cases.
const WAITED_LEAST: usize = 6;
/// Slow requests must wait so many times as much as chance would have it …
const ENRICHED: f64 = 1.5;
/// … unless they do for most of the time, when chance has no room left.
const MOSTLY: f64 = 0.5;
/// Places of a culprit's stack that are shown.
const FRAMES_MOST: usize = 16;
/// Where evidence points to.
const POINTER: &str = "profiles";

/// What would show who holds a lock.
const RECORD_LOCKS: &str = "call runtime.SetMutexProfileFraction(1) in the target";

/// What profiles say of locks that an endpoint's requests wait for; `None` if there are too few.
pub(crate) fn locks(case: &Case<'_>, endpoint: &EndpointCase, kind: Kind) -> Option<Verdict> {
    let profiles: &Profiles = &case.record.profiles;
    if profiles.dumps.len() < DUMPS_LEAST {
        return None;
    }
    let stacks = Stacks::of(profiles);
    let seen = stacks.read(profiles);
    let waits = Waits::of(case, &profiles.dumps, |dump| seen[dump].waiting);
    let looked = Looked {
        case,
        endpoint,
        profiles,
        stacks,
        seen,
        waits,
    };
    Some(looked.verdict(kind))
}

/// The function that releases the lock that a stack of the mutex profile speaks of, and its place on
/// the stack; `None` for a lock of the runtime itself.
pub(crate) fn let_go<'p>(stack: &[&'p CodeLine]) -> Option<(&'p str, usize)> {
    let (site, _, _) = stands::Site::of(stack)?;
    Some((site.function, stack.len() - site.callers.len() - 1))
}

/// The profiles of a run, compared with the requests of an endpoint.
struct Looked<'c, 'r> {
    case: &'c Case<'r>,
    endpoint: &'c EndpointCase,
    profiles: &'c Profiles,
    stacks: Stacks<'c>,
    seen: Vec<Seen<'c>>,
    waits: Waits<'c>,
}

impl<'c> Looked<'c, '_> {
    fn verdict(&self, kind: Kind) -> Verdict {
        let n = self.seen.len() as u64;
        let waited = self.seen.iter().filter(|dump| dump.waiting > 0).count();
        if waited < WAITED_LEAST {
            return Verdict::Absent(format!(
                "in {waited} of {} of goroutines a request waited for a sync.Mutex or RWMutex",
                plural(n, "dump")
            ));
        }
        let all = self.met(|_| true);
        if let Some(cleared) = self.by_chance(&all, waited) {
            return cleared;
        }
        let measured_ns = self.case.measured_ns();
        let holders = holders(self.profiles, &self.stacks, &self.seen, measured_ns);
        // Who stands within a lock, dump by dump; of several the one that was waited for longest.
        let mut by: Vec<Option<(usize, u32)>> = vec![None; self.seen.len()];
        for (number, holder) in holders.iter().enumerate().rev() {
            for (&dump, &stack) in &holder.stands {
                by[dump] = Some((number, stack));
            }
        }
        let known = by.iter().flatten().count();
        if 2 * known < waited {
            return self.unknown(&all, waited);
        }
        let own = |dump: usize| {
            by[dump].filter(|(_, stack)| {
                let works = self.stacks.does[*stack as usize] == Does::Works;
                works == (kind == Kind::Works)
            })
        };
        let dumps = (0..by.len()).filter(|&dump| own(dump).is_some()).count();
        let main = summed((0..by.len()).filter_map(|dump| Some((own(dump)?.0, 1.0))));
        let (Some(&(main, most)), true) = (main.first(), dumps >= WAITED_LEAST) else {
            let what = match kind {
                Kind::Waits => "waits itself",
                Kind::Works => "works",
            };
            return Verdict::Absent(format!(
                "in {dumps} of {waited} dumps in which requests wait for a lock whoever has it \
                 {what}"
            ));
        };
        let episodes = (0..by.len()).filter(|&dump| {
            let goes_on = by.get(dump + 1).is_some() && own(dump + 1).is_some();
            own(dump).is_some() && !goes_on
        });
        let episodes = episodes.count();
        let mostly = waited as f64 >= MOSTLY * self.seen.len() as f64;
        if episodes < NAMED_EPISODES && !mostly {
            return Verdict::Blind {
                missing: format!("enough waits for a lock: dumps met {episodes} of them"),
                remedy: "measure longer".to_owned(),
            };
        }
        let met = self.met(|dump| own(dump).is_some());
        let claims = self.waits.claims(self.case, self.endpoint, &met);
        let facts = Facts {
            kind,
            holder: &holders[main],
            part: most / dumps as f64,
            dumps: (0..by.len())
                .filter(|&dump| own(dump).is_some_and(|(number, _)| number == main))
                .collect(),
            waited,
            shares: self.waits.shares(&met, |dump| own(dump).is_some()),
            ends: self.ends(&met, |dump| own(dump).is_some()),
        };
        self.found(claims, &facts)
    }

    fn met(&self, counts: impl Fn(usize) -> bool) -> Vec<Met> {
        let counts = |dump: usize| self.seen[dump].waiting > 0 && counts(dump);
        self.waits.met(self.case, self.endpoint, counts)
    }

    /// Whether the endpoint's slow requests wait for locks no more than anything else would have
    /// it that takes as long.
    fn by_chance(&self, all: &[Met], waited: usize) -> Option<Verdict> {
        self.endpoint.tail.as_ref()?;
        let counts = |dump: usize| self.seen[dump].waiting > 0;
        let (share, covered) = self.waits.shares(all, counts);
        (covered < MOSTLY && share < ENRICHED * covered).then(|| {
            Verdict::Absent(format!(
                "in {waited} dumps some request waited for a lock, {} of all, and slow requests \
                 waited {} of the time: no more than by chance",
                percent(covered),
                percent(share)
            ))
        })
    }

    /// Requests wait for a lock, and no holder is seen.
    fn unknown(&self, all: &[Met], waited: usize) -> Verdict {
        let places = self.seen.iter().flat_map(|dump| &dump.at);
        let places = summed(places.map(|&line| (line.to_string(), 1.0)));
        let place = places.first().map_or("", |(place, _)| place.as_str());
        let claims = self.waits.claims(self.case, self.endpoint, all);
        let is_silent = self.profiles.releases.is_empty();
        let why = if is_silent {
            "the mutex profile is empty"
        } else {
            "none that the mutex profile names stood still in that time, in most of these dumps"
        };
        Verdict::Lead {
            missing: format!(
                "who keeps the lock that requests wait for in {place}, in {waited} of {}: {why}",
                plural(self.seen.len() as u64, "dump")
            ),
            remedy: if is_silent { RECORD_LOCKS } else { "" }.to_owned(),
            place: self.endpoint.place_of(&claims),
            claims,
        }
    }

    /// When waits ended, in the repeat in which there were most.
    fn ends(&self, met: &[Met], counts: impl Fn(usize) -> bool) -> Vec<u64> {
        let ends = self.waits.ends(met, counts);
        let windows = self.case.windows.iter();
        let of = windows.map(|window| {
            let within = |end: &&u64| (window.begin.get()..window.end.get()).contains(*end);
            ends.iter().filter(within).copied().collect()
        });
        of.max_by_key(Vec::len).unwrap_or_default()
    }

    /// The stack that is seen most often.
    fn stack(&self, facts: &Facts<'_, 'c>) -> &[&'c CodeLine] {
        let stands = facts
            .dumps
            .iter()
            .filter_map(|dump| facts.holder.stands.get(dump));
        let most = summed(stands.map(|&stack| (stack, 1.0)));
        let most = most.first().map_or(0, |&(stack, _)| stack);
        &self.stacks.lines[most as usize]
    }

    fn found(&self, claims: Vec<Claim>, facts: &Facts<'_, 'c>) -> Verdict {
        let place = self.endpoint.place_of(&claims);
        let stack = self.stack(facts);
        let does = match Does::of(stack) {
            Does::Waits(does) => does,
            Does::Works | Does::WaitsForLock | Does::Unknown => "works",
        };
        let who = if answers(stack) {
            "another request".to_owned()
        } else {
            began_with(stack).unwrap_or("a goroutine").to_owned()
        };
        let line = stack
            .iter()
            .find(|line| line.function == facts.holder.site.function);
        let inside_of = line.map_or_else(String::new, |line| format!(" in {line}"));
        let every = facts.period();
        let again = every.map_or_else(String::new, |p| format!(", every {}", human(p.period_ns)));
        let remedy = match facts.kind {
            Kind::Waits => "let go of the lock before waiting",
            Kind::Works => "do less under the lock, or give it less to guard",
        };
        let words = stack
            .iter()
            .filter(|line| !line.function.starts_with("runtime."));
        Verdict::Found(Found {
            place,
            prediction: without_claims(self.case, self.endpoint, place, &claims),
            amount: Amount::Claims(claims),
            grade: Grade::Supported,
            summary: format!(
                "requests wait for a lock that {who} has while it {does}{inside_of}{again}; \
                 {remedy}"
            ),
            evidence: self.evidence(facts, does, &inside_of),
            culprit: Culprit {
                thread: Some(format!("goroutine {who}")),
                stack: words.take(FRAMES_MOST).map(ToString::to_string).collect(),
                constant_ms: None,
                period_ms: every.map(|p| ms(p.period_ns)),
            },
        })
    }

    fn evidence(&self, facts: &Facts<'_, '_>, does: &str, inside_of: &str) -> Vec<Evidence> {
        let Facts { holder, waited, .. } = facts;
        let others = self.seen.len() - waited;
        let stands = format!(
            "of {waited} dumps of goroutines in which requests wait for a lock, in {} it {does}\
             {inside_of}; so it does in {} of {others} others",
            holder.stands.len(),
            holder.idle
        );
        let all_ns: u64 = self.profiles.releases.iter().map(|r| r.delay_ns).sum();
        let charged = format!(
            "the mutex profile says that others waited {} in {} until {} let go of a lock: {} of \
             all such time",
            human(holder.delay_ns as f64),
            plural(holder.count, "wait"),
            holder.site.function,
            percent(holder.delay_ns as f64 / all_ns.max(1) as f64)
        );
        let (share, covered) = facts.shares;
        let overlap = format!(
            "slow requests wait for such a lock {} of the time that they were met, and any request \
             waits in {} of all dumps, one every {}",
            percent(share),
            percent(covered),
            human(self.waits.between_ns as f64)
        );
        let mut all = vec![stands, charged, overlap];
        if facts.part < 1.0 {
            all.push(format!(
                "in {} of the dumps it is this one that has the lock",
                percent(facts.part)
            ));
        }
        all.extend(facts.period().map(|every| {
            format!(
                "the waits end every {} (R {:.2}, {} waits)",
                human(every.period_ns),
                every.r,
                every.n
            )
        }));
        all.into_iter()
            .map(|text| evidence(Source::App, POINTER, text))
            .collect()
    }
}

/// What was found of the one that most requests wait for.
struct Facts<'f, 'p> {
    kind: Kind,
    holder: &'f Holder<'p>,
    /// Its part of the dumps that count.
    part: f64,
    /// These dumps.
    dumps: Vec<usize>,
    /// Dumps in which requests wait for any lock.
    waited: usize,
    /// The share of slow requests' time, and of all time.
    shares: (f64, f64),
    /// When waits ended.
    ends: Vec<u64>,
}

impl Facts<'_, '_> {
    fn period(&self) -> Option<Period> {
        period(&self.ends)
    }
}

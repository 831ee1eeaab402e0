//! Whether requests are slow because the entry for their key has become too old.

use std::cell::OnceCell;

use slowpath_core::nanos::SECOND;
use slowpath_core::stats::explain::{Explained, Row, threshold};

use crate::case::{Case, EndpointCase};
use crate::fillings::{self, ask_others};
use crate::ledger::NAMED_EPISODES;
use crate::touches::{Touch, Touches};
use crate::verdict::human;

/// Of the requests that come to an entry older than its life, so many are slow: who fills it is,
/// and no other request comes before it is filled.
const DUE_SLOW: f64 = 0.8;
/// A constant is the same in both halves of a run, to within this factor.
const SAME: f64 = 1.25;
/// Requests for other keys, whose entries are young, are sent in the same time and are fast: at most this
/// share of them is slow. A lock or a pause does not ask for keys.
const OTHERS_SLOW: f64 = 0.2;
/// Entries that are younger than this share of a life are certainly young.
const YOUNG: f64 = 0.9;
/// The time since an entry was filled must explain so much more than that since it was last used:
/// where room is short, those go that were not used for long.
const BEYOND_USE: f64 = 0.15;
/// Half of the expired entries, and of the old ones, had been found before: a key that is slow
/// whenever it is asked for has no life.
const FOUND_BEFORE: f64 = 0.5;

/// Caches that know whole seconds only (nginx, memcached, all that use `max-age` and `Expires`) drop
/// entries when a second is over: what counts is how many have begun since an entry was filled.
const TICK_NS: u64 = SECOND;
/// Where in a second the clock strikes: soon before those come that find an entry expired. Of them so many …
const TOGETHER: f64 = 0.7;
/// … come within so long of each other, if a clock decides …
const TOGETHER_NS: u64 = TICK_NS / 4;
/// … and it strikes before one of the first of these, of which some may have come before it for another reason.
const PHASES: usize = 8;

/// The age of the entry that a request met, and how it is determined.
#[derive(Clone, Copy, Debug)]
enum Age {
    /// Since the first of several requests that filled it at once.
    First,
    /// Since the last of these.
    Last,
    /// Since the first of these, in seconds that began since, as a clock counts them that strikes so
    /// long after a whole second of ours.
    Ticks(u64),
}

impl Age {
    fn of(self, touch: &Touch) -> Option<u64> {
        let age_ns = touch.age_ns?;
        match self {
            Self::First => Some(age_ns),
            Self::Last => touch.last_age_ns,
            Self::Ticks(phase_ns) => {
                let tick = |at: u64| (at + TICK_NS - phase_ns) / TICK_NS;
                let filled = touch.sent.saturating_sub(age_ns);
                Some((tick(touch.sent) - tick(filled)) * TICK_NS)
            }
        }
    }
}

/// Entries that expire.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expiry {
    /// How long they live.
    pub(crate) life_ns: u64,
    /// How their age is determined.
    age: Age,
    /// Requests that met an entry older than that, first ones of each filling.
    pub(crate) due: usize,
    /// Of these, slow ones.
    pub(crate) slow: usize,
    /// Requests that met a younger one.
    pub(crate) young: usize,
    /// Of these, slow ones.
    pub(crate) young_slow: usize,
    /// What the age explains of the excess, out of sample.
    pub(crate) explained: Explained,
    /// Keys whose entries expired.
    pub(crate) keys: usize,
}

/// Why no expiry is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoExpiry {
    /// Slow requests do not follow the age of their key's entry.
    Unrelated,
    /// They do, and all requests are slow at that time, whatever they ask for.
    AllAtOnce,
    /// The time since the last use explains as much.
    Unused,
    /// They do, but there are too few.
    Few,
}

impl Expiry {
    /// Looks for one life of all entries. Where several requests filled one at once, it lives
    /// from the first time or from the last, whichever the server uses. `fill` says whether slow requests
    /// are seen to ask others for what fast ones find here.
    pub(crate) fn of(touches: &Touches, fill: &dyn Fn() -> bool) -> Result<Self, NoExpiry> {
        let known = OnceCell::new();
        let fill = &|| *known.get_or_init(fill);
        let first = Self::by(touches, Age::First, fill);
        if first.is_ok() {
            return first;
        }
        let last = Self::by(touches, Age::Last, fill);
        if last.is_ok() {
            return last;
        }
        let phases = phases(touches).into_iter().map(Age::Ticks);
        let ticks = phases.filter_map(|age| Self::by(touches, age, fill).ok());
        let best = ticks.max_by(|a, b| a.explained.removed.total_cmp(&b.explained.removed));
        best.ok_or(NoExpiry::Unrelated).or(first)
    }

    /// Looks for entries that are for a part of the key, or for all requests of the endpoint; gives those whose age explains most.
    pub(crate) fn of_other_entries(
        case: &Case<'_>,
        endpoint: &EndpointCase,
    ) -> Option<(Touches, Self)> {
        let expired =
            |touches: &Touches| Self::of(touches, &|| ask_others(case, endpoint, touches)).ok();
        let removed = |expiry: &Self| expiry.explained.removed;
        Touches::best_otherwise(case, endpoint, expired, removed)
    }

    /// Whether entries of a cache are seen to expire, whatever they are for.
    pub(crate) fn is_seen(case: &Case<'_>, endpoint: &EndpointCase) -> bool {
        let of_keys = endpoint.touches(case).is_some_and(|touches| {
            Self::of(touches, &|| ask_others(case, endpoint, touches)).is_ok()
        });
        of_keys || Self::of_other_entries(case, endpoint).is_some()
    }

    fn by(touches: &Touches, age: Age, fill: &dyn Fn() -> bool) -> Result<Self, NoExpiry> {
        let told = told(touches);
        let rows = rows(&told, |touch| age.of(touch));
        let found = threshold(&rows).filter(|found| {
            let (a, b) = found.halves;
            found.explained.is_enough() && a <= SAME * b && b <= SAME * a
        });
        let found = found.ok_or(NoExpiry::Unrelated)?;
        let expiry = Self::from(&told, (found.at as u64, age), found.explained);
        let enough = (expiry.slow as f64) >= DUE_SLOW * expiry.due as f64;
        let due = || {
            let slow = told.iter().map(|&(_, t)| t).filter(Touch::is_slow);
            slow.filter(|t| expiry.is_due(t))
        };
        let found_before = due().filter(|t| t.hits > 0).count();
        if !enough || (found_before as f64) < FOUND_BEFORE * expiry.slow as f64 {
            return Err(NoExpiry::Unrelated);
        }
        // What one entry does may as well be a clock's doing, but a clock does not fetch a lost entry from another server.
        let is_enough = expiry.keys > 1 || touches.keys == 1 && fill();
        if found_before < NAMED_EPISODES || !is_enough {
            return Err(NoExpiry::Few);
        }
        let by_use = threshold(&self::rows(&told, |t| t.rest_ns));
        let by_use = by_use.map_or(0.0, |found| found.explained.removed);
        if by_use > found.explained.removed - BEYOND_USE {
            return Err(NoExpiry::Unused);
        }
        if expiry.is_of_all(touches, &told) && !fillings::are_of_keys(touches) && !fill() {
            return Err(NoExpiry::AllAtOnce);
        }
        Ok(expiry)
    }

    fn from(told: &[(usize, Touch)], (life_ns, age): (u64, Age), explained: Explained) -> Self {
        let (due, young): (Vec<&Touch>, Vec<&Touch>) = told
            .iter()
            .map(|(_, touch)| touch)
            .partition(|t| age.of(t) >= Some(life_ns));
        let slow = |of: &[&Touch]| of.iter().filter(|t| t.is_slow()).count();
        let mut keys: Vec<u32> = due.iter().filter(|t| t.is_slow()).map(|t| t.key).collect();
        keys.sort_unstable();
        keys.dedup();
        Self {
            life_ns,
            age,
            due: due.len(),
            slow: slow(&due),
            young: young.len(),
            young_slow: slow(&young),
            explained,
            keys: keys.len(),
        }
    }

    /// How long entries live, in words.
    pub(crate) fn life(&self) -> String {
        let life = human(self.life_ns as f64);
        match self.age {
            Age::Ticks(_) => format!("{life} by a clock of whole seconds"),
            Age::First | Age::Last => life,
        }
    }

    /// Whether a request came to an entry that had expired.
    pub(crate) fn is_due(&self, touch: &Touch) -> bool {
        self.age.of(touch) >= Some(self.life_ns)
    }

    /// Whether its key's entry was young for certain.
    pub(crate) fn is_young(&self, touch: &Touch) -> bool {
        let young_ns = (self.life_ns as f64 * YOUNG) as u64;
        self.age.of(touch).is_some_and(|age| age < young_ns) && !touch.follows
    }

    /// Whether those that expired were slow together with everything else. Where requests for
    /// other keys were sent in that time, some of them have to have met young entries, and been fast.
    fn is_of_all(&self, touches: &Touches, told: &[(usize, Touch)]) -> bool {
        let (mut accompanied, mut with_young) = (0_usize, 0_usize);
        let (mut young, mut young_slow) = (0_u32, 0_u32);
        let (mut others, mut others_slow) = (0_u32, 0_u32);
        let due = told.iter().filter(|(_, t)| t.is_slow() && self.is_due(t));
        for &(position, _) in due {
            let mut beside = touches.beside(position).peekable();
            accompanied += usize::from(beside.peek().is_some());
            let before = young;
            for other in beside {
                others += 1;
                others_slow += u32::from(other.is_slow());
                if self.is_young(other) {
                    young += 1;
                    young_slow += u32::from(other.is_slow());
                }
            }
            with_young += usize::from(young > before);
        }
        if with_young >= NAMED_EPISODES {
            return f64::from(young_slow) > OTHERS_SLOW * f64::from(young);
        }
        // Entries that were never seen to be filled are of no known age; fast ones will do.
        accompanied >= NAMED_EPISODES && f64::from(others_slow) > OTHERS_SLOW * f64::from(others)
    }
}

/// Where in a second a clock may strike that entries expire by; nowhere, if slow requests come at any time.
fn phases(touches: &Touches) -> Vec<u64> {
    let slow = told(touches).into_iter().filter(|(_, t)| t.is_slow());
    let mut all: Vec<u64> = slow.map(|(_, t)| t.sent % TICK_NS).collect();
    all.sort_unstable();
    let n = all.len();
    // Twice around, for those that come about the turn of a second of ours.
    let round: Vec<u64> = all
        .iter()
        .copied()
        .chain(all.iter().map(|at| at + TICK_NS))
        .collect();
    let within = |from: usize| round.partition_point(|&at| at < round[from] + TOGETHER_NS) - from;
    let most = (0..n).max_by_key(|&from| within(from));
    let Some(from) = most.filter(|&from| within(from) as f64 >= TOGETHER * n as f64) else {
        return Vec::new();
    };
    let first = &round[from..from + within(from).min(PHASES)];
    first.iter().map(|at| at % TICK_NS).collect()
}

/// The measured requests that say something about the entry: those that come while it is being filled
/// do not.
fn told(touches: &Touches) -> Vec<(usize, Touch)> {
    let all = touches.all.iter().copied().enumerate();
    all.filter(|(_, t)| t.is_measured && !t.follows && t.age_ns.is_some())
        .collect()
}

fn rows(told: &[(usize, Touch)], x: impl Fn(&Touch) -> Option<u64>) -> Vec<Row> {
    let row = |(_, touch): &(usize, Touch)| {
        Some(Row {
            x: x(touch)? as f64,
            y: touch.excess_ns as f64,
            block: touch.block,
        })
    };
    told.iter().filter_map(row).collect()
}

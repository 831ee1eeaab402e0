//! Many requests for one key come while its entry is being filled: they wait for it, or fill it as well.

use slowpath_attribution::{Holder, Place as StationPlace, Slice, State, StateSet};
use slowpath_core::stats::beta::clopper_pearson;

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Grade, Place, Source};
use crate::expiry::Expiry;
use crate::fillings::ask_others;
use crate::herds::{Herds, together};
use crate::ledger::NAMED_EPISODES;
use crate::paced::pace_of_each_key;
use crate::predict::without_claims;
use crate::touches::Touches;
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, percent};

/// Of the requests that come for a key while a slow one for it is under way, so many are slow …
const SAME_SLOW: f64 = 0.5;
/// … and so many times the share of those for other keys at that time, and of those for the same
/// keys at other times.
const TIMES_OTHERS: f64 = 3.0;
/// Where requests for one key queue, the first one is fast, and slow ones find it before
/// them. Where an entry is filled, no request precedes the first slow one: of these so many.
const NOBODY_BEFORE: f64 = 0.3;
/// Who fills an entry works, or asks another server. Where most of the first ones wait for what another request has, they
/// fill nothing …
const LEADERS_WAIT_MOST: f64 = 0.5;
/// … if so many of them were followed.
const LEADERS_LEAST: usize = 6;
/// Those that follow a first one stampede if they fill the entry as well. Where most of them wait for the first one to fill it
/// (single flight, a lock for each key), they do not.
const FOLLOWERS_WAIT_MOST: f64 = 0.5;
/// Once an entry was filled, the next that come find it. Where most of the first are slow so soon after one that
/// has just ended, the key is slow for a while.
const RELAPSED_MOST: f64 = 0.5;

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Endpoint(examine),
    could_be: StateSet::ON_CPU
        .and(StateSet::RUNNABLE)
        .and(StateSet::REPLY)
        .and(StateSet::LOCK)
        .and(StateSet::QUEUED)
        .and(StateSet::SLEEP)
        .and(StateSet::UNKNOWN),
    may_be_the_work: false,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    let Some(touches) = endpoint.touches(case) else {
        let text = "no requests for keys are slow beside others";
        return Verdict::Absent(text.to_owned());
    };
    let herds = Herds::of(touches);
    if herds.with_followers < NAMED_EPISODES {
        return Verdict::Absent(format!(
            "{} slow requests were joined by further slow ones for their key",
            herds.with_followers
        ));
    }
    if let Some(pace) = pace_of_each_key(case, endpoint) {
        return Verdict::Absent(pace.of_each_key());
    }
    let (same, other, alone) = (herds.same.share(), herds.other.share(), herds.alone.share());
    let compared = format!(
        "of the requests that came for a key while a slow one for it was under way {} were slow; \
         of those for other keys at that time {}, of those for the same keys at other times {}",
        percent(same),
        percent(other),
        percent(alone)
    );
    let nobody = herds.nobody_before as f64 / herds.leaders.max(1) as f64;
    if same < SAME_SLOW || same < TIMES_OTHERS * alone || nobody < NOBODY_BEFORE {
        return Verdict::Absent(compared);
    }
    if herds.relapsed() > RELAPSED_MOST {
        return Verdict::Absent(format!(
            "{compared}; but {} of the slow ones that found none came right after one that had ended: nothing was \
             filled then",
            percent(herds.relapsed())
        ));
    }
    let waiting = that_wait(case, endpoint, (touches, false), is_held_by_another);
    if waiting > LEADERS_WAIT_MOST {
        return Verdict::Absent(format!(
            "{compared}; but {} of the slow ones that found none wait for what another request holds: none of them fills \
             anything",
            percent(waiting)
        ));
    }
    // Entries that expire have shown that it is the key, also where all expire at once.
    let expires = Expiry::of(touches, &|| ask_others(case, endpoint, touches)).is_ok();
    let waiting = that_wait(case, endpoint, (touches, true), waits_for_another);
    if expires && waiting > FOLLOWERS_WAIT_MOST {
        return Verdict::Absent(format!(
            "{compared}; but {} of those that come while an entry is filled wait for the one that fills it and do not \
             fill it as well: what makes them wait is that entries expire",
            percent(waiting)
        ));
    }
    if !expires {
        let accompanied = herds.accompanied >= NAMED_EPISODES;
        if accompanied && same < TIMES_OTHERS * other {
            return Verdict::Absent(compared);
        }
        let counts = (herds.more_of_same as u64, herds.judged as u64);
        if !accompanied || clopper_pearson(counts.0, counts.1).0 <= 0.5 {
            return Verdict::Lead {
                place: Place::Tail,
                claims: claims(case, touches),
                missing: format!(
                    "whether it is the key: few requests for others came at the time ({compared})"
                ),
                remedy: "ask for several keys at a higher rate".to_owned(),
            };
        }
    }
    found(case, endpoint, touches, &herds, compared)
}

/// The share of the slow requests that found no slow one for their key (or of those that did: `follow`) which wait for what
/// another request has, of those that were traced; 0 of too few.
fn that_wait(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    (touches, follow): (&Touches, bool),
    is_wait: fn(&Slice) -> bool,
) -> f64 {
    let attribution = endpoint.attribution(case);
    if !attribution.traced {
        return 0.0;
    }
    let of_them = touches.all.iter();
    let of_them = of_them.filter(|t| t.is_measured && t.follows == follow && t.is_slow());
    let (mut all, mut waiting) = (0_usize, 0_usize);
    for touch in of_them {
        let path = attribution
            .paths
            .binary_search_by_key(&touch.sample, |path| path.sample);
        let Ok(place) = path else { continue };
        let slices = &attribution.paths[place].slices;
        let of = |matches: &dyn Fn(&Slice) -> bool| -> u64 {
            slices
                .iter()
                .filter(|s| matches(s))
                .map(Slice::len_ns)
                .sum()
        };
        all += 1;
        waiting += usize::from(2 * of(&is_wait) > of(&|_| true));
    }
    if all < LEADERS_LEAST {
        return 0.0;
    }
    waiting as f64 / all as f64
}

/// Whether a request waits for what another one does or has.
fn waits_for_another(slice: &Slice) -> bool {
    match slice.state {
        State::Lock => slice.holder != Holder::Unknown,
        State::Queued(_) | State::Reply => slice.holder == Holder::AnotherRequest,
        _ => false,
    }
}

fn is_held_by_another(slice: &Slice) -> bool {
    matches!(
        slice.state,
        State::Lock | State::Queued(StationPlace::One | StationPlace::Mailbox)
    ) && slice.holder != Holder::Unknown
}

/// What those claim that came while a slow request for their key was under way.
fn claims(case: &Case<'_>, touches: &Touches) -> Vec<Claim> {
    let herd = touches.all.iter();
    let herd = herd.filter(|t| t.is_measured && t.follows && t.is_slow());
    let mut claims: Vec<Claim> = herd.map(|t| t.claim(case)).collect();
    claims.sort_unstable_by_key(|claim| claim.sample);
    claims
}

fn found(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    touches: &Touches,
    herds: &Herds,
    compared: String,
) -> Verdict {
    let claims = claims(case, touches);
    let place = endpoint.place_of(&claims);
    let ends = together(touches);
    let way = if ends >= SAME_SLOW {
        "wait until it is filled"
    } else {
        "fill it as well"
    };
    let size = format!(
        "{} slow requests were followed by {} slow ones for the same key, up to {} at once; {} of \
         these ended together with the first",
        herds.with_followers,
        herds.followers,
        herds.most,
        percent(ends)
    );
    let order = format!(
        "slow more often for the same key than for others in {} of {} times that differ",
        herds.more_of_same, herds.judged
    );
    Verdict::Found(Found {
        place,
        prediction: without_claims(case, endpoint, place, &claims),
        amount: Amount::Claims(claims),
        grade: Grade::Suspected,
        summary: format!(
            "while an entry of a cache is being filled, the requests that come for its key {way}: \
             up to {} at once; answer them with the old entry, or fill it before it expires",
            herds.most
        ),
        evidence: vec![
            evidence(Source::Client, "key", compared),
            evidence(Source::Client, "key", size),
            evidence(Source::Client, "key", order),
        ],
        culprit: Culprit::default(),
    })
}

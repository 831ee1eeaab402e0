//! What the requests of an endpoint ask again after a pause, and whether that is since the first attempt failed.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use slowpath_core::nanos::{Nanos, Span};

use super::again::{Again, told};
use super::questions::Fate;
use crate::case::{Case, EndpointCase};
use crate::diagnosis::Place;
use crate::engines::is_store;
use crate::trace::inside::Inside;
use crate::trace::looked::Looked;
use crate::verdict::{Claim, percent};

/// From this share of the requests on that are not slow, asking the same twice is how it is done.
const OTHERS_MOST: f64 = 0.2;
/// A request that asks again so often polls until something is done: a retry after an error gives up before
/// (three to five attempts are the defaults of clients of HTTP, gRPC and clouds).
const LOOKS_LEAST: f64 = 5.0;
/// Pauses that become longer by this each time are a back-off: clients double them, and leave half of that to
/// chance.
const GROWS: f64 = 1.4;

/// A question that a request asked again.
pub(crate) struct Asked {
    pub(crate) sample: u32,
    pub(crate) slow: bool,
    pub(crate) again: Again,
}

/// What requests were seen to ask.
#[derive(Default)]
pub(crate) struct Met {
    /// In order of the requests, and within one of time.
    pub(crate) asked: Vec<Asked>,
    /// Requests of which that is known: of the others, and of the slow ones.
    pub(crate) known: [usize; 2],
    /// Of the others, those that ask a server the same twice, whether or not there is a pause.
    repeat: usize,
    /// Requests that ask one of those only once who are asked again by others.
    once: usize,
}

impl Met {
    pub(crate) fn of(case: &Case<'_>, looked: &Looked<'_>) -> Self {
        let questions = looked.inside.questions();
        let calls = looked.inside.calls(case);
        let mut met = Self::default();
        let mut once = Vec::new();
        for walked in &looked.join.walked {
            let Some(told) = told(questions, calls, looked.inside, walked) else {
                continue;
            };
            met.known[usize::from(walked.slow)] += 1;
            met.repeat += usize::from(told.repeats && !walked.slow);
            if told.again.is_empty() {
                once.push(told.asked);
            }
            met.asked.extend(told.again.into_iter().map(|again| Asked {
                sample: walked.joined.sample,
                slow: walked.slow,
                again,
            }));
        }
        let again: BTreeSet<u16> = met.asked.iter().map(|a| a.again.remote.port()).collect();
        let asks = |asked: &&Vec<SocketAddr>| asked.iter().any(|to| again.contains(&to.port()));
        met.once = once.iter().filter(asks).count();
        met
    }

    /// How many requests asked again, of the slow ones or of the others.
    pub(crate) fn touched(&self, slow: bool) -> usize {
        let own = self.asked.iter().filter(|a| a.slow == slow);
        own.map(|a| a.sample).collect::<BTreeSet<u32>>().len()
    }

    /// Why it may be no failure that is asked again for, if so.
    pub(crate) fn doubt(&self, place: Place) -> Option<String> {
        let all = self.asked.len();
        if fail(&self.asked) {
            return None;
        }
        if place != Place::Tail {
            return Some("all requests do, and what is asked first is answered".to_owned());
        }
        let share = self.repeat as f64 / self.known[0].max(1) as f64;
        if share > OTHERS_MOST {
            return Some(format!(
                "{} of the others ask the same twice",
                percent(share)
            ));
        }
        let touched = self.touched(true) + self.touched(false);
        if self.once < touched {
            return Some(format!("{} ask there only once", self.once));
        }
        let often = all as f64 / touched.max(1) as f64;
        let looks = often >= LOOKS_LEAST && !grow(&self.asked);
        looks.then(|| {
            format!("they ask {often:.0} times more each, as who waits until something is done")
        })
    }
}

impl Asked {
    pub(crate) fn claim(&self) -> Claim {
        let at = |ns: u64| Nanos::new(ns.max(1));
        Claim {
            sample: self.sample,
            span: Span::new(at(self.again.begin), at(self.again.end)),
        }
    }
}

/// Whether what is asked again had no answer before, or was refused, for the most part.
pub(crate) fn fail(asked: &[Asked]) -> bool {
    let failed = asked
        .iter()
        .filter(|a| !matches!(a.again.fate, Fate::Answered(_)));
    2 * failed.count() > asked.len()
}

/// Whether a request that asks again more than once waits longer each time, for the most part.
pub(crate) fn grow(asked: &[Asked]) -> bool {
    let of_requests = || asked.chunk_by(|a, b| a.sample == b.sample);
    let several = || of_requests().filter(|own| own.len() > 1);
    let grow = several().filter(|own| {
        let mut pairs = own.windows(2);
        pairs.all(|p| p[1].again.len_ns() as f64 >= GROWS * p[0].again.len_ns() as f64)
    });
    2 * grow.count() > several().count()
}

/// Whether it is a database or a store that is asked again, which has answered: such answers are rarely errors, and mostly say that a
/// lock is taken, or a result not there yet.
pub(crate) fn look_at_store(inside: &Inside<'_>, asked: &[Asked]) -> bool {
    let is_store = |a: &&Asked| inside.process_at(a.again.remote).is_some_and(is_store);
    let of_stores = asked.iter().filter(is_store).count();
    2 * of_stores > asked.len() && !fail(asked) && !grow(asked)
}

/// The pauses before requests ask again.
pub(crate) struct Pauses {
    /// In order of the requests, and within one of time.
    pub(crate) asked: Vec<Asked>,
    /// Whether slow requests have them, or all do.
    pub(crate) place: Place,
}

/// The pauses of an endpoint's requests, where it is known of most requests what they ask and the first attempts seem to fail; `None` if
/// there are none.
pub(crate) fn pauses(case: &Case<'_>, endpoint: &EndpointCase) -> Option<Pauses> {
    let looked = Looked::at(case, endpoint).ok()?;
    let met = Met::of(case, &looked);
    let claims: Vec<Claim> = met.asked.iter().map(Asked::claim).collect();
    let place = looked.place_within(endpoint, &claims, met.known);
    let are_known = looked.are_most(met.known) && met.doubt(place).is_none();
    (are_known && !met.asked.is_empty()).then_some(Pauses {
        asked: met.asked,
        place,
    })
}

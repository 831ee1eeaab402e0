//! Requests ask another server again after a pause, as it gave no answer, or an error.
//!
//! What was asked and what came back are not read: a question that goes to the same server once more, and is
//! as long, behind a time in which the request waited for nothing but that time, is taken for the same one.
//! Whoever waits until a job is done looks again, too: that is told by what others do that are not slow, and
//! by how often it is done.

use slowpath_attribution::StateSet;
use std::collections::BTreeSet;
use std::net::SocketAddr;

use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::stats::median::median;

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine, sequential_fanout};
use crate::diagnosis::{Culprit, Grade, Place, Source};
use crate::predict::without_waits;
use crate::trace::calls::again::{Again, told};
use crate::trace::calls::questions::{Fate, Questions};
use crate::trace::inside::summed;
use crate::trace::looked::Looked;
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, human, percent};

/// From this share of the requests on that are not slow, asking the same twice is how it is done.
const OTHERS_MOST: f64 = 0.2;
/// Whoever asks again so often in one request looks whether something is done: those who try again after an
/// error give up before (three to five attempts in what clients of HTTP, gRPC and clouds set by default).
const LOOKS_LEAST: f64 = 5.0;
/// Pauses that become longer by this each time are those of somebody who tries again: they are doubled, and
/// half of that is left to chance.
const GROWS: f64 = 1.4;
/// What tells of questions and answers.
const TRACEPOINTS: [&str; 2] = [
    "trace.sock:sock_send_length",
    "trace.tcp:tcp_rcv_space_adjust",
];

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Followed(examine),
    could_be: StateSet::SLEEP.and(StateSet::REPLY).and(StateSet::UNKNOWN),
    may_be_the_work: false,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase, looked: &Looked<'_>) -> Verdict {
    let mut gaps = case.timeline().gaps.iter();
    if let Some(gap) = gaps.find(|gap| TRACEPOINTS.contains(&gap.signal.as_str())) {
        return Verdict::Blind {
            missing: format!("what the target asks others: {}", gap.reason),
            remedy: gap.remedy.clone(),
        };
    }
    let questions = Questions::of(looked.inside);
    if questions.is_empty() {
        return Verdict::Absent("the target was not seen to ask any other server".to_owned());
    }
    let met = Met::of(case, looked, &questions);
    let n = looked.join.walked.len();
    if !looked.are_most(met.known) {
        return Verdict::Blind {
            missing: format!(
                "which questions belong to which request: {} of {n} requests were under way with others in a \
                 loop or a runtime that keeps what waits in user space, or asked through a thread that asks \
                 for many",
                n - met.known[0] - met.known[1]
            ),
            remedy: sequential_fanout::ONE_CONNECTION.to_owned(),
        };
    }
    let said = format!(
        "{} of {} slow requests that were followed asked a server again after a pause, and {} of {} others",
        met.touched(true),
        met.known[1],
        met.touched(false),
        met.known[0]
    );
    if met.asked.is_empty() {
        return Verdict::Absent(said);
    }
    let claims: Vec<Claim> = met.asked.iter().map(Asked::claim).collect();
    if let Some(lead) = looked.too_small(case, endpoint, &claims) {
        return lead;
    }
    let place = endpoint.place_among(&claims, met.known[1], met.known[0]);
    match met.doubt(place) {
        Some(doubt) => Verdict::Lead {
            place,
            claims,
            missing: format!("whether that is how it is done: {said}; {doubt}"),
            remedy: "see whether the first answer is an error: count failures by attempt".to_owned(),
        },
        None => found(case, endpoint, looked, &met, (place, claims, said)),
    }
}

fn found(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    looked: &Looked<'_>,
    met: &Met,
    (place, claims, said): (Place, Vec<Claim>, String),
) -> Verdict {
    let counts = |a: &&Asked| place != Place::Tail || a.slow;
    let own = || met.asked.iter().filter(counts);
    let who = summed(own().map(|a| (a.again.remote, 1.0)));
    let whom = who.first().map_or_else(String::new, |(remote, _)| looked.inside.trace().address(*remote));
    let mut pauses: Vec<f64> = own().map(|a| a.again.len_ns() as f64).collect();
    let (each, all) = (human(median(&mut pauses).unwrap_or(0.0)), pauses.len());
    let of = |is: fn(Fate) -> bool| own().filter(|a| is(a.again.fate)).count();
    let (silent, refused) = (of(|f| f == Fate::Silent), of(|f| f == Fate::Refused));
    let sure = 2 * (silent + refused) > all;
    let grows = met.grows();
    let text = format!(
        "{said}: {all} times in all, {whom} for the most part, after {each} in the median; before that {silent} \
         times no answer had come, {refused} times no connection was taken, and {} times an answer had come{}",
        all - silent - refused,
        if grows { "; pauses grow from one to the next" } else { "" }
    );
    let (grade, why) = if sure || grows {
        (Grade::Supported, "see why the first attempt fails")
    } else {
        (Grade::Suspected, "see whether the first answer is an error, and why")
    };
    Verdict::Found(Found {
        place,
        prediction: without_waits(case, endpoint, place, looked.join, &claims),
        amount: Amount::Claims(claims),
        grade,
        summary: format!(
            "requests wait {each} before they ask {whom} again; {why}, and let the first pause be as short as the \
             other server's recovery allows"
        ),
        evidence: vec![evidence(Source::Trace, "trace", text)],
        culprit: Culprit::default(),
    })
}

/// A question that a request asked again.
struct Asked {
    sample: u32,
    slow: bool,
    again: Again,
}

/// What requests were seen to ask.
#[derive(Default)]
struct Met {
    /// In order of the requests, and within one of time.
    asked: Vec<Asked>,
    /// Requests of which that is known: of the others, and of the slow ones.
    known: [usize; 2],
    /// Of the others, those that ask somebody the same twice, whether or not there is a pause.
    repeat: usize,
    /// Requests that ask one of those only once who are asked again by others.
    once: usize,
}

impl Met {
    fn of(case: &Case<'_>, looked: &Looked<'_>, questions: &Questions) -> Self {
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
    fn touched(&self, slow: bool) -> usize {
        let own = self.asked.iter().filter(|a| a.slow == slow);
        own.map(|a| a.sample).collect::<BTreeSet<u32>>().len()
    }

    /// The pauses of each request that asked again.
    fn of_requests(&self) -> impl Iterator<Item = &[Asked]> {
        self.asked.chunk_by(|a, b| a.sample == b.sample)
    }

    /// Whether a request that asks again more than once waits longer each time, for the most part.
    fn grows(&self) -> bool {
        let several = || self.of_requests().filter(|own| own.len() > 1);
        let grow = several().filter(|own| {
            let mut pairs = own.windows(2);
            pairs.all(|p| p[1].again.len_ns() as f64 >= GROWS * p[0].again.len_ns() as f64)
        });
        2 * grow.count() > several().count()
    }

    /// Why it may be no failure that is asked again for, if so.
    fn doubt(&self, place: Place) -> Option<String> {
        let all = self.asked.len();
        let failed = self.asked.iter().filter(|a| !matches!(a.again.fate, Fate::Answered(_)));
        if 2 * failed.count() > all {
            return None;
        }
        if place != Place::Tail {
            return Some("all requests do, and what is asked first is answered".to_owned());
        }
        let share = self.repeat as f64 / self.known[0].max(1) as f64;
        if share > OTHERS_MOST {
            return Some(format!("{} of the others ask the same twice", percent(share)));
        }
        let touched = self.touched(true) + self.touched(false);
        if self.once < touched {
            return Some(format!("{} ask there only once", self.once));
        }
        let often = all as f64 / touched.max(1) as f64;
        let looks = often >= LOOKS_LEAST && !self.grows();
        looks.then(|| format!("they ask {often:.0} times more each, as who waits until something is done"))
    }
}

impl Asked {
    fn claim(&self) -> Claim {
        let at = |ns: u64| Nanos::new(ns.max(1));
        Claim {
            sample: self.sample,
            span: Span::new(at(self.again.begin), at(self.again.end)),
        }
    }
}

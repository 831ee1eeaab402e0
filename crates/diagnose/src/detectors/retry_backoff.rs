//! Requests ask another server again after a pause, as it gave no answer, or an error.
//!
//! What was asked and what came back are not read: a question that goes to the same server once more, and is
//! as long, after a time in which the request waited for nothing but that time, is taken for the same one.
//! A program that polls until a job is done asks again, too: that is distinguished by what requests do that are not slow, and
//! by how often it is done.

use slowpath_attribution::StateSet;

use slowpath_core::stats::median::median;

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine, sequential_fanout};
use crate::diagnosis::{Culprit, Grade, Place, Source};
use crate::predict::without_waits;
use crate::trace::calls::questions::Fate;
use crate::trace::calls::retried::{Asked, Met, grow, look_at_store};
use crate::trace::inside::summed;
use crate::trace::looked::Looked;
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, human};

/// The tracepoints that report calls and replies.
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
    let questions = looked.inside.questions();
    if questions.is_empty() {
        return Verdict::Absent("the target was not seen to ask any other server".to_owned());
    }
    let met = Met::of(case, looked);
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
    let place = looked.place_within(endpoint, &claims, met.known);
    if met.doubt(place).is_none() && look_at_store(looked.inside, &met.asked) {
        return Verdict::Lead {
            place,
            claims,
            missing: format!(
                "whether the first answer is an error: {said}, and it is a database or a store that is asked"
            ),
            remedy: "look at what it answers first: count failures by attempt".to_owned(),
        };
    }
    match met.doubt(place) {
        Some(doubt) => Verdict::Lead {
            place,
            claims,
            missing: format!("whether that is how it is done: {said}; {doubt}"),
            remedy: "see whether the first answer is an error: count failures by attempt"
                .to_owned(),
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
    let whom = who.first().map_or_else(String::new, |(remote, _)| {
        looked.inside.trace().address(*remote)
    });
    let mut pauses: Vec<f64> = own().map(|a| a.again.len_ns() as f64).collect();
    let (each, all) = (human(median(&mut pauses).unwrap_or(0.0)), pauses.len());
    let of = |is: fn(Fate) -> bool| own().filter(|a| is(a.again.fate)).count();
    let (silent, refused) = (of(|f| f == Fate::Silent), of(|f| f == Fate::Refused));
    let sure = 2 * (silent + refused) > all;
    let grows = grow(&met.asked);
    let text = format!(
        "{said}: {all} times in all, {whom} for the most part, after {each} in the median; before that {silent} \
         times no answer had come, {refused} times no connection was taken, and {} times an answer had come{}",
        all - silent - refused,
        if grows {
            "; pauses grow from one to the next"
        } else {
            ""
        }
    );
    let (grade, why) = if sure || grows {
        (Grade::Supported, "see why the first attempt fails")
    } else {
        (
            Grade::Suspected,
            "see whether the first answer is an error, and why",
        )
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

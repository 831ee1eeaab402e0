//! A constant wait on a timer inside the server: a sleep in the handler, a fixed pause.
//!
//! The client sees a phase of requests whose length hardly varies. That alone could be work or a
//! dependency; what makes it a timer is that the target neither computes nor talks to any server in
//! that time, and that its threads are seen in timed waits just when requests wait.

use slowpath_attribution::StateSet;
use slowpath_core::trace::Depth;

use crate::case::{Case, EndpointCase};
use crate::cell::share_in;
use crate::computing::{Computing, computing};
use crate::constant::{Delay, constant};
use crate::detectors::{Detector, Examine, poll_tick};
use crate::diagnosis::{Culprit, Evidence, Grade, Place, Source};
use crate::own_sleeps;
use crate::paced::{Look, look_for_any};
use crate::predict::without_claims;
use crate::sleepers::{Sleepers, sleepers};
use crate::trace::slept::slept;
use crate::trace::ticked::{Word, word};
use crate::verdict::{Amount, Found, Verdict, evidence, human, ms, percent};

/// From this share of the delay on, CPU time is what the request takes, not a timer.
const CPU_SHARE: f64 = 0.5;
/// Where the target's CPU time is more than that, for whatever it was used, requests wait without
/// computing if the target uses fewer CPUs more than this for each more of them: a request that
/// computes uses a whole one.
const SLOPE_IDLE: f64 = 0.5;
/// From this share of the delay on that followed requests are seen to sleep, by whichever thread, the delay is that sleep: what is
/// left is the work before and after.
const SLEEPS_LEAST: f64 = 0.6;
/// What settles it when nothing that was observed does.
const TRACE: &str = "strace -f -tt -p PID shows which call takes that long";

/// What a timer may be for is seen by what its thread did before: not without tracepoints.
const NOT_TOLD: &str = "; whether the server pauses there between two attempts to call another server \
                        (retry-backoff), or asked for less (timer-granularity), is not seen without tracepoints";

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Endpoint(examine),
    could_be: StateSet::SLEEP.and(StateSet::UNKNOWN),
    may_be_the_work: true,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    let Some(delay) = constant(case, endpoint) else {
        return Verdict::Absent("no phase of the requests has a constant length".to_owned());
    };
    if let Some((missing, remedy)) = case.target_hidden() {
        let constant = human(delay.constant_ns as f64);
        let missing = format!("{missing}; a constant of {constant} may be a timer or the work");
        return Verdict::Blind { missing, remedy };
    }
    if own_sleeps::polls(case, endpoint) || poll_tick::looks_again(case, endpoint).is_some() {
        let constant = human(delay.constant_ns as f64);
        return Verdict::Absent(format!(
            "{constant} recurs, but requests sleep as often as it takes (poll-tick)"
        ));
    }
    if let Some(proof) = slept(case, endpoint, &delay.claims()) {
        return found(case, endpoint, &delay, Grade::Supported, vec![proof]);
    }
    if let Some(proof) = seen_to_sleep(case, endpoint, &delay) {
        return found(case, endpoint, &delay, Grade::Supported, vec![proof]);
    }
    // Threads that sleep just then may do so for another request.
    if let Word::Other(text) = word(case, endpoint, &delay.claims()) {
        return Verdict::Absent(format!(
            "{} recurs, but {text}",
            human(delay.constant_ns as f64)
        ));
    }
    let Some(computing) = computing(case, &delay.waits) else {
        return Verdict::Blind {
            missing: "the target's CPU time".to_owned(),
            remedy: "run slowpath as the target's user".to_owned(),
        };
    };
    let sleepers = sleepers(case, &delay.waits);
    if computing.most_ns < CPU_SHARE * delay.constant_ns as f64 {
        idle(case, endpoint, &delay, computing, &sleepers)
    } else {
        busy(case, endpoint, &delay, computing, &sleepers)
    }
}

/// The trace's word that requests wait for a timer, whichever thread keeps it. A thread that asks a server before and after may
/// try again what failed.
fn seen_to_sleep(case: &Case<'_>, endpoint: &EndpointCase, delay: &Delay) -> Option<Evidence> {
    let share = share_in(case, endpoint, StateSet::SLEEP, &delay.claims())?;
    let tries_again = own_sleeps::sleep_between_questions(endpoint.attribution(case));
    // Where requests are released one by one, they wait for those before them.
    let in_line = || match look_for_any(case, endpoint).1 {
        Look::Paced(_) => true,
        Look::AlwaysLine(period_ns, _) => 2.0 * period_ns < delay.constant_ns as f64,
        Look::EachTakesIt { .. } | Look::Uneven(_) => false,
    };
    (share >= SLEEPS_LEAST && !tries_again && !in_line()).then(|| {
        let text = format!(
            "in {} of that time followed requests wait until a timer fires",
            percent(share)
        );
        evidence(Source::Trace, "trace", text)
    })
}

/// The requests cannot have computed: weighs what the target's threads and sockets say.
fn idle(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    delay: &Delay,
    computing: Computing,
    sleepers: &Sleepers,
) -> Verdict {
    let text = format!(
        "the target computes for at most {} a request",
        human(computing.most_ns)
    );
    let idle = evidence(Source::Proc, "process.cpu.user_ns", text);
    if let Some(text) = sleepers.agrees() {
        let proof = evidence(Source::Proc, sleepers.pointer, text);
        return found(case, endpoint, delay, Grade::Supported, vec![proof, idle]);
    }
    let some = (delay.place == Place::Tail).then_some("only some requests have it");
    let (why, remedy) = match (sleepers.doubt(), some) {
        (Some(doubt), _) => (doubt.why.as_str(), doubt.remedy.as_str()),
        (None, Some(why)) => (why, ""),
        (None, None) => return found(case, endpoint, delay, Grade::Suspected, vec![idle]),
    };
    let constant = human(delay.constant_ns as f64);
    Verdict::Lead {
        place: delay.place,
        claims: delay.claims(),
        missing: format!(
            "what the target waits for: {constant} recurs, {why}, and no thread is seen sleeping \
             in that time"
        ),
        remedy: if remedy.is_empty() { TRACE } else { remedy }.to_owned(),
    }
}

/// The target computes for long enough to be what the requests wait for, if it does so for them.
fn busy(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    delay: &Delay,
    computing: Computing,
    sleepers: &Sleepers,
) -> Verdict {
    let (constant, most) = (human(delay.constant_ns as f64), human(computing.most_ns));
    let text = sleepers.agrees().filter(|_| sleepers.agree_strongly());
    if let (Some(text), Some(slope)) = (&text, computing.slope_high.filter(|s| *s < SLOPE_IDLE)) {
        let runs =
            format!("the target uses at most {slope:.2} CPUs more for each request that waits");
        let proofs = vec![
            evidence(Source::Proc, sleepers.pointer, text.clone()),
            evidence(Source::Proc, "thread.run_ns", runs),
        ];
        return found(case, endpoint, delay, Grade::Supported, proofs);
    }
    let alone = case.endpoints.len() == 1 && delay.place == Place::Floor;
    if alone && text.is_none() {
        return Verdict::Absent(format!(
            "{constant} recurs in every request, but the target computes for {most} of it"
        ));
    }
    Verdict::Lead {
        place: delay.place,
        claims: delay.claims(),
        missing: format!(
            "for whom the target computes: {constant} recurs, and its CPU time would be up to \
             {most} for each of these requests if it were all theirs"
        ),
        remedy: "measure these requests alone".to_owned(),
    }
}

fn found(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    delay: &Delay,
    grade: Grade,
    mut proofs: Vec<Evidence>,
) -> Verdict {
    let constant = human(delay.constant_ns as f64);
    let text = format!(
        "{} of {} requests spend {constant} {}; half of them agree to within {}",
        delay.waits.len(),
        endpoint.completed.len(),
        delay.phase.describe(),
        human(delay.width_ns as f64)
    );
    proofs.insert(0, evidence(Source::Client, delay.phase.column(), text));
    let is_traced = case.record.trace.depth().is_some_and(Depth::has_wakers);
    let not_told = if is_traced { "" } else { NOT_TOLD };
    let claims = delay.claims();
    let whom = match delay.place {
        Place::Floor => "every request".to_owned(),
        _ => percent(delay.waits.len() as f64 / endpoint.completed.len() as f64) + " of requests",
    };
    Verdict::Found(Found {
        place: delay.place,
        prediction: without_claims(case, endpoint, delay.place, &claims),
        amount: Amount::Claims(claims),
        grade,
        summary: format!(
            "{whom} waits {constant} on a timer in the server, {}, while the server does nothing; \
             look for a sleep, a fixed pause or a poll interval of that length{not_told}",
            delay.phase.describe()
        ),
        evidence: proofs,
        culprit: Culprit {
            constant_ms: Some(ms(delay.constant_ns as f64)),
            ..Culprit::default()
        },
    })
}

//! The server lets so many requests pass in a time: others wait until it is their turn, or are refused.
//!
//! A queue in front of a busy server is distinguished by requests that come when no other waits: a limit lets them through
//! much sooner than the next one would be. That the server has read what waits, and computes for none of it, also
//! distinguishes a limit from a server that answers and is busy after its answers.

use slowpath_attribution::StateSet;
use slowpath_core::signal::SERVER_SOCKETS_UNREAD;

use crate::beat::Beat;
use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Evidence, Grade, Place, Source};
use crate::idle_server::{CPU_SHARE, asked_meanwhile, otherwise, unread, untold};
use crate::ledger::NAMED_ERRORS;
use crate::paced::{Look, Pace, Shared, look_for_any};
use crate::predict::without_claims;
use crate::tokens::{TOO_MANY, Tokens, refusals, tokens};
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, human, ms, percent};

/// A bucket that lets so many through at once is no single worker that is busy after its answer.
const BURST_TELLS: f64 = 2.0;
/// Refusals of which no more meet others under way are not for the number of those: for a number all would meet
/// some. What waits for the same bucket is under way too, so that a few do by chance.
const BESIDE_MOST: f64 = 0.25;

/// How to distinguish a limit from a busy server.
const SLOWER: &str =
    "send at random times and less than is let through, so that some find no other waiting";

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Endpoint(examine),
    could_be: StateSet::SLEEP
        .and(StateSet::QUEUED)
        .and(StateSet::LOCK)
        .and(StateSet::UNKNOWN),
    may_be_the_work: false,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    let (status, refused) = refusals(case, endpoint);
    let share = refused as f64 / endpoint.offered.max(1) as f64;
    let (shared, looked) = look_for_any(case, endpoint);
    if share >= NAMED_ERRORS {
        let rule = Shared::by_whom(case, endpoint)
            .find_map(|shared| Some((shared, tokens(case, shared, status)?)));
        return refusing(endpoint, rule.as_ref(), &looked, (status, refused, share));
    }
    match looked {
        Look::Uneven(None) => Verdict::Absent("requests do not wait in a line".to_owned()),
        Look::Uneven(Some(untold)) => Verdict::Absent(format!(
            "no even pace accounts for what requests wait: {} of it is left",
            percent(untold)
        )),
        Look::EachTakesIt {
            period_ns,
            passing_ns,
        } => each_takes_it(case, endpoint, period_ns, passing_ns),
        Look::AlwaysLine(period_ns, claims) => always_line(case, endpoint, period_ns, claims),
        Look::Paced(pace) => paced(case, endpoint, shared, pace),
    }
}

fn each_takes_it(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    period_ns: f64,
    passing_ns: f64,
) -> Verdict {
    let text = format!(
        "requests are released every {}, and one that finds no other waiting takes {}",
        human(period_ns),
        human(passing_ns)
    );
    if passing_ns >= CPU_SHARE * period_ns || otherwise(case, endpoint, period_ns, &[]).is_some() {
        return Verdict::Absent(format!(
            "{text}: that is a line before one that takes as long"
        ));
    }
    Verdict::Blind {
        missing: format!("whether they are released, or served, one by one: {text}"),
        remedy: String::new(),
    }
}

fn always_line(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    period_ns: f64,
    claims: Vec<Claim>,
) -> Verdict {
    if let Some(text) = otherwise(case, endpoint, period_ns, &claims) {
        return Verdict::Absent(text);
    }
    Verdict::Lead {
        place: endpoint.place_of(&claims),
        claims,
        missing: format!(
            "whether each takes as long: answers come every {}, and every request finds another waiting",
            human(period_ns)
        ),
        remedy: SLOWER.to_owned(),
    }
}

fn paced(case: &Case<'_>, endpoint: &EndpointCase, shared: Shared, pace: Pace) -> Verdict {
    let text = otherwise(case, endpoint, pace.period_ns, &pace.waits);
    if let Some(text) = text.or_else(|| asked_meanwhile(case, endpoint, &pace)) {
        return Verdict::Absent(text);
    }
    let place = endpoint.place_of(&pace.waits);
    let cpu_ns = case.target_cpu_per_request_ns();
    let seen = unread(case, &pace.waits).zip(cpu_ns);
    let untold = untold(case, endpoint, &pace, seen.is_some());
    if let Some((what, remedy)) = untold.filter(|_| pace.burst < BURST_TELLS) {
        return Verdict::Lead {
            place,
            missing: format!(
                "whether {what}: requests{} are released every {}, as by a limit of the rate, or by one that is busy \
                 or holds a lock for as long after each answer",
                shared.words(),
                human(pace.period_ns)
            ),
            claims: pace.waits,
            remedy: remedy.to_owned(),
        };
    }
    let mut proofs = vec![of_the_client(endpoint, &pace)];
    if let Some(((unread, waiting), cpu_ns)) = seen {
        let text = format!(
            "of {waiting:.1} requests that wait on average the server has read all but {unread:.2}"
        );
        proofs.push(evidence(Source::Proc, SERVER_SOCKETS_UNREAD.id, text));
        let text = format!("the target computes for {} a request", human(cpu_ns));
        proofs.push(evidence(Source::Proc, "process.cpu.user_ns", text));
    }
    Verdict::Found(Found {
        place,
        prediction: without_claims(case, endpoint, place, &pace.waits),
        amount: Amount::Claims(pace.waits),
        grade: if seen.is_some() {
            Grade::Supported
        } else {
            Grade::Suspected
        },
        summary: format!(
            "requests{} wait until a limit of the rate lets them pass, one every {} ({:.0}/s), while the server is \
             idle; raise the limit, let bursts through at once (nodelay), or send less",
            shared.words(),
            human(pace.period_ns),
            1e9 / pace.period_ns
        ),
        evidence: proofs,
        culprit: Culprit {
            period_ms: Some(ms(pace.period_ns)),
            ..Culprit::default()
        },
    })
}

fn of_the_client(endpoint: &EndpointCase, pace: &Pace) -> Evidence {
    let burst = match pace.burst {
        burst if burst >= 1.0 => format!(", {burst:.0} more at once after a rest"),
        _ => String::new(),
    };
    let clock = match pace.beat {
        Beat::Clock => ", by a clock",
        Beat::Wanders | Beat::Untold => "",
    };
    let text = format!(
        "{} of {} requests wait as a bucket makes them that one leaves every {}{clock}{burst}: it accounts for {} \
         of all waiting; {} that found no other waiting took {}",
        pace.waits.len(),
        endpoint.completed.len(),
        human(pace.period_ns),
        percent(1.0 - pace.untold),
        pace.passers,
        human(pace.passing_ns)
    );
    evidence(Source::Client, "first_byte_ns", text)
}

/// Weighs refusals, by a rule if one was found.
fn refusing(
    endpoint: &EndpointCase,
    rule: Option<&(Shared, Tokens)>,
    looked: &Look,
    (status, refused, share): (u16, usize, f64),
) -> Verdict {
    let Some((shared, rule)) = rule else {
        if status != TOO_MANY {
            return Verdict::Absent(format!(
                "status {status} does not come at an even rate of the others"
            ));
        }
        return Verdict::Blind {
            missing: format!(
                "by what rule status {status} is sent: it says that too many came, but no bucket that is filled \
                 at an even rate would refuse these; some count in windows of time, or those under way"
            ),
            remedy: "look for the limit in the answer's headers (Retry-After, RateLimit)"
                .to_owned(),
        };
    };
    let is_paced = matches!(looked, Look::Paced(_));
    let by_number = rule.beside_others > BESIDE_MOST && !is_paced;
    if by_number && status != TOO_MANY {
        return Verdict::Blind {
            missing: format!(
                "whether it is for the rate or for the number under way: {:.0} a second are let in, others get \
                 status {status}, and {} of those come while others are under way",
                rule.rate_per_s,
                percent(rule.beside_others)
            ),
            remedy: SLOWER.to_owned(),
        };
    }
    let (refused_of, let_in_of) = (rule.refused, rule.let_in);
    let text = format!(
        "a bucket that gets about {:.0} tokens a second would refuse {} requests, of which {} got status \
         {status}, and would not refuse {}, of which {} were let in; of the others it is not known",
        rule.rate_per_s, refused_of.1, refused_of.0, let_in_of.1, let_in_of.0
    );
    let beside = format!(
        "{} of the refused came while another was under way",
        percent(rule.beside_others)
    );
    Verdict::Found(Found {
        place: Place::Errors,
        prediction: None,
        amount: Amount::Failures {
            failed: refused as u64,
            of: endpoint.failed.len() as u64,
        },
        grade: if by_number {
            Grade::Suspected
        } else {
            Grade::Supported
        },
        summary: format!(
            "{} of the requests are refused with status {status}, as a limit of the rate lets about {:.0} \
             a second{} pass; raise the limit, let more of them wait (burst), or send less",
            percent(share),
            rule.rate_per_s,
            shared.words()
        ),
        evidence: vec![
            evidence(Source::Client, "outcome", text),
            evidence(Source::Client, "sent_ns", beside),
        ],
        culprit: Culprit::default(),
    })
}

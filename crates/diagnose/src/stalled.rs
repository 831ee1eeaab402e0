//! Requests that wait for what the kernel does for them: weighed alike, whatever that is.

use std::collections::BTreeMap;

use slowpath_core::stats::median::median;
use slowpath_core::trace::{NO_STACK, Role};

use crate::case::{Case, EndpointCase};
use crate::diagnosis::{Culprit, Evidence, Grade, Place, Source};
use crate::predict::without_waits;
use crate::trace::kernel_io::Io;
use crate::trace::looked::{Looked, Picked, claims};
use crate::trace::own_code::own_frame;
use crate::trace::stalls::Stalls;
use crate::verdict::{Amount, Found, Verdict, evidence, human, percent};

/// Says what else is known of waits, of which these shares are for what.
pub(crate) type Proof = fn(&Case<'_>, &[(Io, f64)]) -> Vec<Evidence>;

/// What a detector of such waits looks for, and how it is described.
pub(crate) struct Stall {
    /// Which waits.
    pub(crate) of: fn(Io) -> bool,
    /// What all requests have is named from here on.
    pub(crate) floor_least_ns: f64,
    /// Completes "requests wait 30 ms …".
    pub(crate) waits: &'static str,
    /// What to do about it.
    pub(crate) remedy: &'static str,
    /// What else is known of waits, by what they are for.
    pub(crate) proof: Proof,
}

impl Stall {
    /// What is said of an endpoint.
    pub(crate) fn examine(&self, case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
        let looked = match Looked::at(case, endpoint) {
            Ok(looked) => looked,
            Err(blind) => return *blind,
        };
        let picked = Stalls::of(&looked).picked(self.of);
        if picked.is_empty() {
            let (n, waits) = (looked.join.walked.len(), self.waits);
            return Verdict::Absent(format!("none of {n} requests waited {waits}"));
        }
        let claims = claims(&picked);
        if let Some(lead) = looked.too_small(case, endpoint, &claims) {
            return lead;
        }
        let place = looked.place(endpoint, &claims);
        let each = each_ns(&picked, place);
        if place == Place::Floor && each < self.floor_least_ns {
            return Verdict::Absent(format!(
                "requests wait {} {}, in the median: as much as that takes",
                human(each),
                self.waits
            ));
        }
        self.found(case, endpoint, &looked, &picked, each)
    }

    fn found(
        &self,
        case: &Case<'_>,
        endpoint: &EndpointCase,
        looked: &Looked<'_>,
        picked: &[Picked<'_>],
        each: f64,
    ) -> Verdict {
        let (claims, inside) = (claims(picked), looked.inside);
        let place = looked.place(endpoint, &claims);
        let who = Looked::shares(picked, place, |p| who(looked, p));
        let (whose, share) = who.first().cloned().unwrap_or_default();
        let stack = looked.stack(picked, |p| {
            Some(p.piece.leaf.stack).filter(|&stack| stack != NO_STACK)
        });
        let inside_of = own_frame(&stack).map_or_else(String::new, |frame| format!(" in {frame}"));
        let mut touched: Vec<u32> = picked.iter().map(|p| p.walked.joined.sample).collect();
        touched.dedup();
        let text = format!(
            "{} of {} followed requests wait {}, {} each in the median{}; {} of that in {whose}",
            touched.len(),
            looked.join.walked.len(),
            self.waits,
            human(each),
            if place == Place::Tail {
                " of the slow ones"
            } else {
                ""
            },
            percent(share)
        );
        let mut proofs = vec![evidence(Source::Trace, "trace", text)];
        let known = Looked::shares(picked, place, |p| inside.io(p.piece));
        let known: Vec<(Io, f64)> = known
            .into_iter()
            .filter_map(|(io, share)| Some((io?, share)))
            .collect();
        proofs.extend((self.proof)(case, &known));
        Verdict::Found(Found {
            place,
            prediction: without_waits(case, endpoint, place, looked.join, &claims),
            amount: Amount::Claims(claims),
            grade: Grade::Supported,
            summary: format!(
                "requests wait {} {}, in {whose}{inside_of}; {}",
                human(each),
                self.waits,
                self.remedy
            ),
            evidence: proofs,
            culprit: Culprit {
                thread: picked.first().map(|p| inside.thread_name(p.piece.leaf.tid)),
                stack,
                ..Culprit::default()
            },
        })
    }
}

/// The thread that waits, and whose it is if it is none of the target.
fn who(looked: &Looked<'_>, p: &Picked<'_>) -> String {
    let (inside, tid) = (looked.inside, p.piece.leaf.tid);
    let thread = format!("thread {}", inside.thread_name(tid));
    let process = inside.trace().process_of(tid);
    match process.filter(|process| process.role != Role::Target) {
        Some(process) => format!("{thread} of process {}, which was asked", process.title()),
        None => thread,
    }
}

/// How long a request waits, in the median; a slow one if that is where it lies.
pub(crate) fn each_ns(picked: &[Picked<'_>], place: Place) -> f64 {
    let mut each: BTreeMap<u32, u64> = BTreeMap::new();
    for p in picked
        .iter()
        .filter(|p| place != Place::Tail || p.walked.slow)
    {
        *each.entry(p.walked.joined.sample).or_default() += p.piece.len_ns();
    }
    let mut each: Vec<f64> = each.into_values().map(|ns| ns as f64).collect();
    median(&mut each).unwrap_or(0.0)
}

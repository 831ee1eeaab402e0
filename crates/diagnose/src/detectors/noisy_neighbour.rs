//! Threads of the server that could run wait for a CPU that one other process of the host has. It says
//! nothing of the server.

use slowpath_attribution::StateSet;
use slowpath_core::signal::HOST_CPU_BUSY;

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Grade, Source};
use crate::host_cpu::HostCpu;
use crate::predict::without_waits;
use crate::trace::cpu_waits::CpuWaits;
use crate::verdict::{Amount, Found, Verdict, evidence, percent};

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Traced(examine),
    could_be: StateSet::RUNNABLE.and(StateSet::UNTRACED),
    may_be_the_work: false,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    let waits = match CpuWaits::of(case, endpoint) {
        Ok(waits) => waits,
        Err(told) => return *told,
    };
    let Some((name, share)) = waits.neighbour.clone() else {
        let whose = if waits.is_own() {
            "the server's own threads have"
        } else {
            "several others have, of which none stands out"
        };
        return Verdict::Absent(format!("the server's threads wait for CPUs that {whose}"));
    };
    let mut proofs = vec![waits.evidence()];
    if let Some(host) = HostCpu::within(case, &case.windows) {
        let text = format!(
            "other processes used {} of the host's CPU time, and {} of it was idle",
            percent(host.others),
            percent(host.idle)
        );
        proofs.push(evidence(Source::Proc, HOST_CPU_BUSY.id, text));
    }
    let (place, claims, join) = (waits.place, waits.claims, waits.looked.join);
    Verdict::Found(Found {
        place,
        prediction: without_waits(case, endpoint, place, join, &claims),
        amount: Amount::Claims(claims),
        grade: Grade::Supported,
        summary: format!(
            "another process on the host, {name}, has the CPUs that the server's threads are ready to \
             run on ({} of their waits for a CPU that others have); it is the host that is slow, and \
             not the server: move one of them, or give each CPUs of its own",
            percent(share)
        ),
        evidence: proofs,
        culprit: Culprit {
            thread: Some(name),
            ..Culprit::default()
        },
    })
}

//! `slowpath log close` and `reopen`.

use slowpath_core::investigation::{Decided, Decision, What};
use slowpath_experiment::log::{Status, may_close, status};

use super::entries::{by_person, hypothesis, write};
use super::{Kept, Wrote};
use crate::cli::{CloseArgs, EvidenceArgs};
use crate::exit::Problem;
use crate::out;

/// Closes an investigation.
pub(super) fn close(kept: &Kept<'_>, args: &CloseArgs) -> Result<Wrote, Problem> {
    let investigation = kept.find(&args.id)?;
    may_close(investigation, args.end).map_err(|(what, remedy)| Problem::usage(what, remedy))?;
    let of = args.of.as_deref();
    let of = of.map(|text| hypothesis(investigation, text)).transpose()?;
    let what = What::Decision(Decided {
        decision: args.end,
        of,
        release: None,
    });
    let (entry, _) = by_person(&args.because, what, &args.evidence)?;
    let mut after = investigation.clone();
    after.entries.push(entry.clone());
    if args.end == Decision::Fixed && status(&after).0 == Status::FixedUnconfirmed {
        out::say(
            "no prediction of it held yet: it stays \"fixed, not confirmed\" until a run with \
             --release says so",
        );
    }
    write(kept, &investigation.id, &entry)
}

/// Opens a closed investigation again.
pub(super) fn reopen(
    kept: &Kept<'_>,
    id: &str,
    because: &str,
    evidence: &EvidenceArgs,
) -> Result<Wrote, Problem> {
    let investigation = kept.find(id)?;
    if status(investigation).0 == Status::Open {
        let what = format!("{} is open", investigation.id);
        return Err(Problem::usage(what, "slowpath log note adds to it"));
    }
    let (entry, _) = by_person(because, What::Reopening, evidence)?;
    write(kept, &investigation.id, &entry)
}

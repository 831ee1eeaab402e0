//! From a record to a diagnosis: ask every detector, weigh what they found, rank what is named.

use slowpath_core::catalogue::CLOCK_JUMP;
use slowpath_core::record::RunRecord;
use slowpath_core::spread::{InTurn, Spread, both, map};

use crate::attribute::view as attribution_view;
use crate::by_pass;
use crate::case::Case;
use crate::classes::classes;
use crate::connections::connections;
use crate::detectors::REGISTRY;
use crate::diagnosis::{
    Blind, Cleared, Diagnosis, EndpointFigures, FrameAttribution, GapNote, Headline, HostHealth,
    RunSummary, SCHEMA, Status, TraceView, Unexplained,
};
use crate::figures::figures_by;
use crate::health;
use crate::instrument::Load;
use crate::over_repeats::leave_out;
use crate::passes::{checks, passes};
use crate::precision::precision;
use crate::profiled;
use crate::ruled_out::ruled_out;
use crate::summary::load_in_words;
use crate::trace::view::view;
use crate::trial::{Answer, Ranked, Trial};
use crate::validity;
use crate::which::give_way;

/// The version of slowpath that judges.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Judges a record. Same record, same version: same answer, on any machine.
pub fn judge(record: &RunRecord) -> Diagnosis {
    judge_by(record, &InTurn)
}

/// [`judge`] with parts of the work done side by side, if `spread` has threads for it; the answer
/// is the same.
pub fn judge_by(record: &RunRecord, spread: &dyn Spread) -> Diagnosis {
    let case = Case::cut_by(record, spread);
    let (mut judged, (connections, load)) = both(
        spread,
        || judged(record, &case, spread),
        || both(spread, || connections(&case), || case.load()),
    );
    let jumped = judged
        .findings
        .iter()
        .find(|r| r.finding.cause == CLOCK_JUMP);
    let jumped = jumped.map(|r| r.finding.summary.clone());
    let passes = passes(record);
    let mut validity = validity::checks(&case, load, jumped.as_deref());
    validity.extend(checks(&passes));
    let health = health::host_health(&case, load);
    validity.extend(health.as_ref().map(health::check));
    let plan = &record.manifest.plan;
    leave_out(&mut judged.endpoints, health.as_ref(), plan);
    validity.extend(validity::unsettled(&judged.endpoints));
    validity.extend(precision(plan, health.as_ref(), &judged.endpoints));
    let valid = validity.iter().all(|c| c.status != Status::Invalid);
    judged
        .findings
        .sort_by(|a, b| a.order().cmp(&b.order()).then(b.harm.total_cmp(&a.harm)));
    let mut diagnosis = Diagnosis {
        schema: SCHEMA.to_owned(),
        version: VERSION.to_owned(),
        headline: Headline::default(),
        run: run_summary(&case, load, valid, health),
        validity,
        profile: profiled::view(&case, &judged.endpoints),
        endpoints: judged.endpoints,
        passes,
        users: classes(&case),
        connections,
        logs_unseen: None,
        attribution: judged.attribution,
        findings: judged.findings.into_iter().map(|r| r.finding).collect(),
        cleared: judged.cleared,
        blind: judged.blind,
        unexplained: judged.unexplained,
        trace: judged.trace,
        gaps: gaps(record),
        gates: Vec::new(),
    };
    diagnosis.headline = Headline::of(&diagnosis);
    diagnosis
}

/// What was found in a run, pass by pass where it has some.
fn judged(record: &RunRecord, case: &Case<'_>, spread: &dyn Spread) -> Judged {
    if record.manifest.plan.scenario.load.passes.is_empty() {
        return Judged::of(case, spread);
    }
    let zero = record.manifest.repeats.first().map(|r| r.window.begin);
    let judged = by_pass::split(record).map(|part| {
        let mut judged = Judged::of(&Case::from(&part.record, zero, spread), spread);
        part.label(&mut judged);
        judged
    });
    by_pass::merge(judged.collect())
}

/// What was found in a run, or in one of its passes.
#[derive(Default)]
pub(crate) struct Judged {
    pub(crate) endpoints: Vec<EndpointFigures>,
    pub(crate) attribution: Vec<FrameAttribution>,
    pub(crate) findings: Vec<Ranked>,
    pub(crate) cleared: Vec<Cleared>,
    pub(crate) blind: Vec<Blind>,
    pub(crate) unexplained: Vec<Unexplained>,
    pub(crate) trace: Option<TraceView>,
}

impl Judged {
    fn of(case: &Case<'_>, spread: &dyn Spread) -> Self {
        let (endpoints, mut answers) = both(
            spread,
            || figures_by(case, spread),
            || map(spread, REGISTRY.len(), |k| Answer::of(case, &REGISTRY[k])),
        );
        give_way(case, &mut answers);
        let mut trial = Trial::of(case);
        let weighed = trial.weigh(&answers, spread);
        let masses = trial.masses(&answers, &weighed);
        let (cleared, blind) = ruled_out(case, (&answers, &trial.findings), &weighed, &masses);
        Self {
            endpoints,
            attribution: attribution_view::frames(case),
            findings: trial.findings,
            cleared,
            blind,
            unexplained: trial.unexplained,
            trace: view(case),
        }
    }
}

fn run_summary(
    case: &Case<'_>,
    load: &Load,
    valid: bool,
    health: Option<HostHealth>,
) -> RunSummary {
    let manifest = &case.record.manifest;
    let repeats = (manifest.repeats.len() as u32).div_ceil(manifest.plan.passes().into());
    RunSummary {
        id: manifest.id.clone(),
        name: manifest.plan.scenario.name.clone(),
        release: manifest.plan.release.clone(),
        repeats,
        valid,
        interrupted: manifest.interrupted || manifest.recovered,
        began: manifest.began.clone(),
        load: match &manifest.imported {
            Some(imported) => format!(
                "by {}, at a rate that its file does not state,",
                imported.tool
            ),
            None => load_in_words(&manifest.plan.scenario, repeats),
        },
        target: manifest.target.url.clone(),
        host: manifest.host.clone(),
        instrument: validity::instrument(case, load),
        health,
    }
}

fn gaps(record: &RunRecord) -> Vec<GapNote> {
    let note = |gap: &slowpath_core::timeline::Gap| GapNote {
        signal: gap.signal.clone(),
        reason: gap.reason.clone(),
        remedy: gap.remedy.clone(),
    };
    record.timeline.gaps.iter().map(note).collect()
}

//! `slowpath prove`: run the experiment that confirms or refutes a finding.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use slowpath_core::catalogue::PROVABLE;
use slowpath_core::plan::Plan;
use slowpath_core::record::RunRecord;
use slowpath_core::sample::Stage;
use slowpath_core::samples::SampleRef;
use slowpath_core::scenario::COLD;
use slowpath_diagnose::diagnosis::{Diagnosis, Finding, Status};
use slowpath_experiment::{
    Experiment, FORMAT, Intervention, Outcome, Verdict, judge, pairs_wanted,
};
use slowpath_observe::host::Examiner;

use crate::blocks::Failed;
use crate::cli::ProveArgs;
use crate::command::log;
use crate::exit::{Exit, Problem};
use crate::hypothesis::{Limits, Test, Wanted};
use crate::measure::{Measurement, measure};
use crate::present::Judged;
use crate::switcher::{Followed, Switcher};
use crate::{alternatives, blocks, hypothesis, interrupt, notes, out, ranking, session, store};

/// Writes the hypothesis down, runs the blocks, judges, and prints the run with the verdict.
pub(crate) fn prove(args: &ProveArgs) -> Result<Exit> {
    store::check_copy(args.json.as_deref())?;
    let judged = Judged::read(&store::find(&args.run)?)?;
    check_valid(&judged)?;
    let seed = args.seed.unwrap_or_else(notes::entropy);
    let test = choose(&judged, args, seed)?;
    let outcome = proved(&judged, test, args)?;
    let judged = Judged::read(&judged.dir)?;
    judged.present(args.json.as_deref())?;
    if let (Some(next), false) = (ranking::ranked(&judged, seed).first(), args.quiet) {
        let (run, cause) = (&judged.diagnosis.run.id, &next.cause);
        out::say(&format!(
            "what would decide most next: slowpath prove {run} --cause {cause}"
        ));
    }
    Ok(if outcome.is_some() {
        Exit::Done
    } else {
        Exit::Interrupted
    })
}

/// Findings of an invalid run are of the instrument or of nothing, and so are their predictions.
fn check_valid(judged: &Judged) -> Result<(), Problem> {
    if judged.record.manifest.imported.is_some() {
        let what =
            "the run was imported from another tool's file: there is no target to experiment on";
        return Err(Problem::usage(
            what,
            "slowpath run SCENARIO, and prove that",
        ));
    }
    invalid(&judged.diagnosis).map_or(Ok(()), |why| {
        Err(Problem::usage(
            format!("the run is invalid, so there is nothing to prove ({why})"),
            "remove what this check found and measure again",
        ))
    })
}

/// What makes a measurement invalid; `None` if it is valid.
fn invalid(diagnosis: &Diagnosis) -> Option<String> {
    let checks: Vec<String> = diagnosis
        .validity
        .iter()
        .filter(|check| check.status == Status::Invalid)
        .map(|check| format!("{}: {}", check.check, check.detail))
        .collect();
    (!checks.is_empty()).then(|| checks.join("; "))
}

/// Why the record of an experiment allows no verdict, whatever its blocks say.
fn spoiled(record: &RunRecord) -> Option<String> {
    let diagnosis = slowpath_diagnose::judge(record);
    let died = diagnosis
        .validity
        .iter()
        .find(|c| c.check == "target-alive");
    invalid(&diagnosis)
        .map(|why| format!("the experiment's own measurement is invalid ({why})"))
        .or_else(|| died.map(|check| check.detail.clone()))
}

/// What to test.
fn choose(judged: &Judged, args: &ProveArgs, seed: u64) -> Result<Test> {
    if let Some(cause) = &args.cause {
        check_known(cause, args.toggle.is_some())?;
    }
    let found = |cause: &str| {
        let findings = &judged.diagnosis.findings;
        findings
            .iter()
            .find(|f| f.cause == cause && can_be_tested(f))
    };
    let wanted = |cause| found(cause).map_or(Wanted::Supposed(cause), Wanted::Found);
    match (&args.toggle, &args.cause) {
        (Some(name), Some(cause)) => hypothesis::write_toggle(judged, wanted(cause), name, seed),
        (Some(name), None) => {
            let own = format!("toggle-{name}");
            hypothesis::write_toggle(judged, Wanted::Supposed(&own), name, seed)
        }
        (None, Some(cause)) => hypothesis::write(judged, wanted(cause), seed),
        (None, None) => most_telling(judged, seed),
    }
}

/// A cause that there is, and an experiment for it unless a toggle is the experiment.
fn check_known(cause: &str, by_toggle: bool) -> Result<(), Problem> {
    if slowpath_diagnose::detectors::find(cause).is_none() {
        let what = format!("there is no cause {cause:?}");
        return Err(Problem::usage(what, "slowpath causes lists all"));
    }
    if !by_toggle && !PROVABLE.contains(&cause) {
        let what = format!("there is no experiment for {cause} yet");
        let remedy = format!("one of {}, or a toggle of your own", PROVABLE.join(", "));
        return Err(Problem::usage(what, remedy));
    }
    Ok(())
}

/// What is slow in a cold pass only is gone by the second block.
fn can_be_tested(finding: &Finding) -> bool {
    finding.pass.as_deref() != Some(COLD)
}

/// The experiment that decides most of what is not decided yet in its time.
fn most_telling(judged: &Judged, seed: u64) -> Result<Test> {
    let ranked = ranking::ranked(judged, seed);
    ranked.into_iter().next().ok_or_else(|| {
        let what = "the run has no finding that an experiment exists for and has not decided yet";
        let remedy = format!(
            "slowpath explain {} shows what it has; --cause NAME tests any other cause",
            judged.dir.display()
        );
        Problem::usage(what, remedy).into()
    })
}

/// Runs the experiment, and once more with as many blocks as it takes where its own turn out to be too few.
/// Those that were run before are not run again. `None` if it was interrupted.
fn proved(judged: &Judged, mut test: Test, args: &ProveArgs) -> Result<Option<Outcome>> {
    let Some((outcome, wanted)) = experiment(judged, &test, args)? else {
        return Ok(None);
    };
    let Some(pairs) = wanted else {
        return Ok(Some(outcome));
    };
    test.design = test.design.again(pairs);
    if is_there(&folder(judged, &test)) {
        return Ok(Some(outcome));
    }
    if !args.quiet {
        out::say(&format!(
            "undecided: {}\nonce more, with as many blocks as that takes ({:.0} s)",
            outcome.reason,
            test.design.total_ns() as f64 / 1e9
        ));
    }
    let outcome = experiment(judged, &test, args)?;
    Ok(outcome.map(|(outcome, _)| outcome))
}

/// Where an experiment is kept.
fn folder(judged: &Judged, test: &Test) -> PathBuf {
    let name = Experiment::name_of(&test.cause, test.design.seed);
    judged.dir.join("experiments").join(name)
}

fn is_there(folder: &Path) -> bool {
    folder.exists() || folder.with_extension("json").exists()
}

/// Runs the experiment, and reports how many pairs of blocks it would have needed if it had too few. `None` if it
/// was interrupted: then nothing is judged, and what was asked stays on record without an outcome.
fn experiment(
    judged: &Judged,
    test: &Test,
    args: &ProveArgs,
) -> Result<Option<(Outcome, Option<usize>)>> {
    let pid = match args.pid {
        Some(pid) => session::check_pid(pid).map(|()| Some(pid))?,
        None => session::same_pid(&judged.record.manifest.target)?,
    };
    let stop = interrupt::flag()?;
    let guardian = session::guardian()?;
    let mut experiment = Experiment {
        format: FORMAT,
        run: judged.diagnosis.run.id.clone(),
        cause: test.cause.clone(),
        endpoint: test.endpoint.clone(),
        hypothesis: test.hypothesis.clone(),
        design: test.design.clone(),
        outcome: None,
    };
    let dir = folder(judged, test);
    if is_there(&dir) {
        let what = format!("the run has the experiment {} already", experiment.name());
        return Err(Problem::usage(what, "another --seed, or none").into());
    }
    let scenario = &judged.record.manifest.plan.scenario;
    let (hypothesis, design) = (&experiment.hypothesis, &experiment.design);
    let mut switcher = Switcher::new(&guardian, (scenario, &dir, &stop), hypothesis, design);
    let wanted = Measurement {
        id: notes::new_id(),
        dir: &dir,
        plan: plan(judged.record.manifest.plan.clone(), &experiment),
        scenario_text: judged.record.manifest.scenario_text.clone(),
        pid,
        quiet: args.quiet,
        stop: stop.clone(),
        guardian: &guardian,
        examiner: &Examiner::default(),
        trace: false,
        profile: None,
    };
    if !args.quiet {
        out::say(&format!(
            "testing: {}\n{} blocks of {:.1} s, with and without in random order",
            experiment.hypothesis.statement,
            experiment.design.blocks.len(),
            experiment.design.block_ns as f64 / 1e9
        ));
    }
    save(&judged.dir, &experiment)?;
    measure(&wanted, &mut switcher)?;
    if interrupt::came(&stop) {
        return Ok(None);
    }
    let record = slowpath_record::read(&dir).context("read the experiment's record")?;
    let broken = broken(judged, &record, &experiment);
    let (mut outcome, wanted) = verdict(&record, &experiment, switcher.followed(), &test.limits);
    if let Some(why) = &broken {
        outcome = outcome.overruled(why);
    }
    experiment.outcome = Some(outcome.clone());
    save(&judged.dir, &experiment)?;
    log::proved::tell(judged, &experiment);
    match broken {
        Some(why) => {
            let what = format!("the service cannot be delayed: {why}");
            Err(Problem::usage(what, session::BY_NAME).into())
        }
        None => Ok(Some((outcome, wanted))),
    }
}

/// What the blocks say, and no more than the intervention can show; and how many pairs of blocks would say more,
/// where nothing but their number is in the way.
fn verdict(
    record: &RunRecord,
    experiment: &Experiment,
    followed: &Followed,
    limits: &Limits,
) -> (Outcome, Option<usize>) {
    let measurements = blocks::measurements(record, experiment, experiment.endpoint.as_deref());
    let mut outcome = judge(&experiment.design, &measurements, &experiment.hypothesis);
    outcome.withheld = followed.withheld;
    let limit = limits.limited_by.as_ref().or(followed.limited_by.as_ref());
    let (design, hypothesis) = (&experiment.design, &experiment.hypothesis);
    let wanted = pairs_wanted(design, &outcome, hypothesis).filter(|_| limit.is_none());
    let shared = limits.shared_by.clone();
    let another = || alternatives::another(record, experiment, followed, limits.accounts);
    outcome = guarded(outcome, limit, || shared.or_else(another));
    let spoils = [blocks::without_effect(record, experiment), spoiled(record)];
    let wanted = wanted.filter(|_| spoils.iter().all(Option::is_none));
    for why in spoils.iter().flatten() {
        outcome = outcome.overruled(why);
    }
    (outcome, wanted)
}

/// A verdict that says more than the intervention can show is none.
fn guarded(
    outcome: Outcome,
    limit: Option<&String>,
    another: impl FnOnce() -> Option<String>,
) -> Outcome {
    match (outcome.verdict, limit) {
        // What was never fully taken away may still be the cause.
        (Verdict::Refuted, Some(limit)) => outcome.overruled(&format!(
            "the intervention could not have its full effect ({limit})"
        )),
        (Verdict::Confirmed, _) => match another() {
            Some(why) => outcome.overruled(&why),
            None => outcome,
        },
        _ => outcome,
    }
}

/// That requests fail because a service is asked through a proxy, if they do.
fn broken(judged: &Judged, record: &RunRecord, experiment: &Experiment) -> Option<String> {
    let Intervention::DelayService { .. } = experiment.hypothesis.intervention else {
        return None;
    };
    let endpoints = &judged.record.manifest.plan.scenario.endpoints;
    let is_of = |index: u16| {
        let own = endpoints.get(usize::from(index));
        let wanted = experiment.endpoint.as_ref();
        wanted.is_none_or(|wanted| own.is_some_and(|own| own.name == *wanted))
    };
    let samples = judged.record.samples.iter();
    let own = samples.filter(|s| s.stage() == Stage::Measured && is_of(s.endpoint()));
    let before = Failed::of(own.map(SampleRef::outcome));
    Failed::without(record, experiment).since_the_proxy(before)
}

/// The run's own load, long enough for all blocks.
fn plan(mut plan: Plan, experiment: &Experiment) -> Plan {
    if experiment.hypothesis.intervention == Intervention::KeysApart {
        // A loop keeps apart what it sends itself.
        plan.scenario.load.loops = 1;
    }
    plan.seed = experiment.design.seed;
    plan.scenario.load.repeats = 1;
    plan.scenario.load.precision = None;
    // The blocks of an experiment lie in one window, in which everything is warm soon.
    plan.scenario.load.passes.clear();
    plan.scenario.load.warmup_ns = experiment.design.warmup_ns;
    plan.scenario.load.duration_ns = experiment.design.total_ns() - experiment.design.warmup_ns;
    plan
}

fn save(dir: &Path, experiment: &Experiment) -> Result<()> {
    let name = format!("experiments/{}.json", experiment.name());
    let text = serde_json::to_string_pretty(experiment)? + "\n";
    slowpath_record::write_derived(dir, &name, text.as_bytes()).map_err(|error| {
        Problem::environment(
            format!("the experiment cannot be written down: {error}"),
            "copy the run to a folder of your own, and prove that",
        )
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use slowpath_core::scenario::Scenario;
    use slowpath_experiment::{Design, Hypothesis};

    use super::*;

    fn outcome(verdict: Verdict) -> Outcome {
        Outcome {
            verdict,
            without: None,
            with: None,
            p: None,
            change: None,
            predicted_held: true,
            reason: "because".to_owned(),
            blocks: Vec::new(),
            restored: true,
            withheld: 0,
        }
    }

    #[test]
    fn keys_are_kept_apart_by_one_loop() {
        let mut scenario = Scenario::from_url("http://127.0.0.1:1/").unwrap();
        scenario.load.loops = 2;
        let loops = |intervention| {
            let experiment = Experiment {
                format: FORMAT,
                run: String::new(),
                cause: String::new(),
                endpoint: None,
                hypothesis: Hypothesis {
                    statement: String::new(),
                    intervention,
                    metric: "page.p50".to_owned(),
                    baseline_ms: 2.0,
                    low_ms: 0.0,
                    high_ms: 1.0,
                    slow_above_ms: 1.4,
                    remains: 0.0,
                    written_at: String::new(),
                },
                design: Design::new(1, 6, 1_000_000_000),
                outcome: None,
            };
            let own = Plan {
                scenario: scenario.clone(),
                seed: 1,
                release: None,
            };
            plan(own, &experiment).scenario.load.loops
        };
        assert_eq!(loops(Intervention::KeysApart), 1);
        assert_eq!(loops(Intervention::FewerKeys { of: 32 }), 2);
    }

    #[test]
    fn what_cannot_be_told_is_undecided() {
        let (limit, why) = ("some".to_owned(), || Some("a CPU became free".to_owned()));
        for (verdict, limit, another, expected) in [
            (Verdict::Confirmed, None, None, Verdict::Confirmed),
            (Verdict::Confirmed, Some(&limit), None, Verdict::Confirmed),
            (Verdict::Confirmed, None, why(), Verdict::Undecided),
            (Verdict::Refuted, None, why(), Verdict::Refuted),
            (Verdict::Refuted, Some(&limit), None, Verdict::Undecided),
            (Verdict::Undecided, Some(&limit), why(), Verdict::Undecided),
        ] {
            let guarded = guarded(outcome(verdict), limit, || another);
            assert_eq!(guarded.verdict, expected, "{}", guarded.reason);
        }
        let reason = guarded(outcome(Verdict::Confirmed), None, why).reason;
        assert_eq!(
            reason,
            "a CPU became free, or it would be confirmed: because"
        );
    }
}

//! From a record on disk to its report: judge, write what is derived, print.

use std::path::{Path, PathBuf};

use slowpath_core::bench::BenchReport;
use slowpath_core::figures::RunFigures;
use slowpath_core::gates::{GateAnswer, GateOutcome};
use slowpath_core::record::RunRecord;
use slowpath_core::scenario::Gate;
use slowpath_diagnose::diagnosis::{Diagnosis, Status};
use slowpath_experiment::{Baseline, Experiment, judge_gates};
use slowpath_record::RecordError;

use crate::command::bench::again;
use crate::command::log;
use crate::exit::{Exit, Problem};
use crate::threads::Threads;
use crate::{grade, out, store};

/// A judged run with everything that a view needs.
#[derive(Debug)]
pub(crate) struct Judged {
    pub(crate) dir: PathBuf,
    pub(crate) record: RunRecord,
    pub(crate) diagnosis: Diagnosis,
    pub(crate) experiments: Vec<Experiment>,
}

impl Judged {
    /// Reads and judges the run in a directory.
    pub(crate) fn read(dir: &Path) -> Result<Self, Problem> {
        if again::is_one(dir) {
            return Err(again::no_requests(dir));
        }
        let record = slowpath_record::read(dir).map_err(|error| {
            Problem::usage(
                format!("cannot read the run in {}: {error}", dir.display()),
                "name the directory of a run, such as .slowpath/runs/ULID",
            )
        })?;
        let experiments = experiments(dir);
        let mut diagnosis = slowpath_diagnose::judge_by(&record, &Threads::default());
        let wanted = slowpath_diagnose::wanted_logs(&record, &diagnosis);
        let logs = slowpath_record::excerpts(dir, &wanted).map_err(|error| error.to_string());
        slowpath_diagnose::attach_logs(&record, &mut diagnosis, logs);
        grade::apply(&experiments, &mut diagnosis.findings);
        diagnosis.gates = gates(
            &record,
            &diagnosis,
            &record.manifest.plan.scenario.gates,
            None,
        );
        Ok(Self {
            dir: dir.to_owned(),
            record,
            diagnosis,
            experiments,
        })
    }

    /// The run in figures.
    pub(crate) fn figures(&self) -> RunFigures {
        slowpath_diagnose::run_figures(&self.record.manifest, &self.diagnosis)
    }

    /// The run in the figures that gates may name.
    pub(crate) fn gate_figures(&self) -> RunFigures {
        slowpath_diagnose::gate_figures(&self.record.manifest, &self.diagnosis)
    }

    /// Judges other gates, or the same against a baseline, in the place of the scenario's.
    pub(crate) fn judge_gates(&mut self, wanted: &[Gate], baseline: Option<Baseline<'_>>) {
        self.diagnosis.gates = gates(&self.record, &self.diagnosis, wanted, baseline);
    }

    /// Writes report.json, report.html and figures.json beside the record.
    pub(crate) fn save(&self) -> Result<(), Problem> {
        self.save_with(&self.html())
    }

    /// The report as a page.
    pub(crate) fn html(&self) -> String {
        let (diagnosis, threads) = (&self.diagnosis, Threads::default());
        let log = log::told_of(&diagnosis.run.id);
        let (record, tried) = (&self.record, &self.experiments);
        slowpath_report::html_by(diagnosis, record, tried, &log, &threads)
    }

    /// [`Judged::save`] with a page that was made before.
    pub(crate) fn save_with(&self, html: &str) -> Result<(), Problem> {
        let json = slowpath_report::json(&self.diagnosis);
        let not_written = |error: RecordError| {
            Problem::environment(
                format!("the report is not written: {error}"),
                "make room there, or copy the run to a folder of your own",
            )
        };
        let write = |name, text: &str| {
            slowpath_record::write_derived(&self.dir, name, text.as_bytes()).map_err(not_written)
        };
        write("report.json", &json)?;
        write("report.html", html)?;
        slowpath_record::write_figures(&self.dir, &self.figures()).map_err(not_written)
    }

    /// Writes the copy of report.json that was asked for.
    pub(crate) fn copy(&self, path: Option<&Path>) -> Result<(), Problem> {
        store::write_copy(path, &slowpath_report::json(&self.diagnosis))
    }

    /// Prints the summary, and where the report is if it was written.
    pub(crate) fn print(&self, saved: bool) {
        let report = self.dir.join("report.html").display().to_string();
        let report = saved.then_some(report.as_str());
        let text =
            slowpath_report::terminal(&self.diagnosis, &self.experiments, out::style(), report);
        out::answer(&text);
    }

    /// Saves, prints, copies. The answer is printed whatever cannot be written.
    pub(crate) fn present(&self, copy: Option<&Path>) -> Result<(), Problem> {
        let saved = self.save();
        self.print(saved.is_ok());
        self.copy(copy)?;
        saved
    }

    /// The exit code that the run's result calls for, after what kept it from measuring all.
    pub(crate) fn exit(&self, trouble: Exit, allow_errors: f64) -> Exit {
        let diagnosis = &self.diagnosis;
        let offered: u64 = diagnosis.endpoints.iter().map(|e| e.offered).sum();
        let errors = diagnosis.endpoints.iter().flat_map(|e| &e.errors);
        let failed: u64 = errors.map(|e| e.count).sum();
        if diagnosis.run.interrupted {
            Exit::Interrupted
        } else if trouble != Exit::Done {
            trouble
        } else if diagnosis
            .validity
            .iter()
            .any(|c| c.status == Status::Invalid)
        {
            Exit::Invalid
        } else if diagnosis
            .gates
            .iter()
            .any(|gate| gate.answer == GateAnswer::Fails)
        {
            Exit::Gate
        } else if failed as f64 > allow_errors * offered as f64 {
            Exit::Failures
        } else {
            Exit::Done
        }
    }
}

/// Writes bench.json and figures.json of a benchmark run.
pub(crate) fn save_bench(report: &BenchReport, dir: &Path) -> Result<(), Problem> {
    let json = slowpath_report::bench_json(report);
    let not_written = |error: RecordError| {
        Problem::environment(
            format!("the figures are not written: {error}"),
            "make room there, or give --out a directory elsewhere",
        )
    };
    slowpath_record::write_derived(dir, "bench.json", json.as_bytes()).map_err(not_written)?;
    slowpath_record::write_figures(dir, &report.figures).map_err(not_written)
}

/// Saves, prints, copies. The answer is printed whatever cannot be written.
pub(crate) fn present_bench(
    report: &BenchReport,
    dir: &Path,
    copy: Option<&Path>,
) -> Result<(), Problem> {
    let saved = save_bench(report, dir);
    let place = dir.display().to_string();
    out::answer(&slowpath_report::bench_terminal(
        report,
        out::style(),
        &place,
    ));
    store::write_copy(copy, &slowpath_report::bench_json(report))?;
    saved
}

/// What became of gates on a run.
fn gates(
    record: &RunRecord,
    diagnosis: &Diagnosis,
    gates: &[Gate],
    baseline: Option<Baseline<'_>>,
) -> Vec<GateOutcome> {
    if gates.is_empty() {
        return Vec::new();
    }
    let figures = slowpath_diagnose::gate_figures(&record.manifest, diagnosis);
    judge_gates(gates, &figures, baseline)
}

/// The experiments on a run, in the order in which they were written. One that cannot be read is
/// reported and left out: the record can be judged without it.
fn experiments(dir: &Path) -> Vec<Experiment> {
    let files = slowpath_record::read_experiments(dir).unwrap_or_else(|error| {
        out::say(&format!("going on without experiments: {error}"));
        Vec::new()
    });
    let mut experiments = Vec::new();
    for (name, text) in files {
        match serde_json::from_str::<Experiment>(&text) {
            Ok(experiment) => experiments.push(experiment),
            Err(error) => {
                let file = dir.join("experiments").join(format!("{name}.json"));
                let file = file.display();
                out::say(&format!(
                    "going on without {file}, which is broken: {error}"
                ));
            }
        }
    }
    // As text, "…:05.1Z" would come before "…:05Z".
    experiments.sort_by_cached_key(|one| {
        let written: Option<jiff::Timestamp> = one.hypothesis.written_at.parse().ok();
        (written, one.name())
    });
    experiments
}

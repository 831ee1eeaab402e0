//! From a record on disk to its report: judge, write what is derived, print.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use slowpath_core::record::RunRecord;
use slowpath_diagnose::diagnosis::{Diagnosis, Status};
use slowpath_experiment::Experiment;

use crate::exit::Exit;
use crate::grade::with_experiments;
use crate::out;

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
    pub(crate) fn read(dir: &Path) -> Result<Self> {
        let record = slowpath_record::read(dir).map_err(|error| {
            crate::exit::Problem::usage(
                format!("cannot read the run in {}: {error}", dir.display()),
                "name the directory of a run, such as .slowpath/runs/ULID",
            )
        })?;
        let experiments = experiments(dir)?;
        let diagnosis = with_experiments(slowpath_diagnose::judge(&record), &experiments);
        Ok(Self {
            dir: dir.to_owned(),
            record,
            diagnosis,
            experiments,
        })
    }

    /// Writes report.json and report.html beside the record, and the copy that was asked for.
    pub(crate) fn write(&self, copy: Option<&Path>) -> Result<()> {
        let json = slowpath_report::json(&self.diagnosis);
        slowpath_record::write_derived(&self.dir, "report.json", json.as_bytes())?;
        let html = slowpath_report::html(&self.diagnosis, &self.record, &self.experiments);
        slowpath_record::write_derived(&self.dir, "report.html", html.as_bytes())?;
        if let Some(copy) = copy {
            std::fs::write(copy, &json).with_context(|| format!("write {}", copy.display()))?;
        }
        Ok(())
    }

    /// Prints the summary and where the report is.
    pub(crate) fn print(&self) {
        let report = self.dir.join("report.html").display().to_string();
        let style = out::style();
        let text =
            slowpath_report::terminal(&self.diagnosis, &self.experiments, style, Some(&report));
        out::answer(&text);
    }

    /// The exit code that the run's result calls for.
    pub(crate) fn exit(&self, allow_errors: f64) -> Exit {
        let diagnosis = &self.diagnosis;
        let offered: u64 = diagnosis.endpoints.iter().map(|e| e.offered).sum();
        let errors = diagnosis.endpoints.iter().flat_map(|e| &e.errors);
        let failed: u64 = errors.map(|e| e.count).sum();
        if diagnosis.run.interrupted {
            Exit::Interrupted
        } else if diagnosis
            .validity
            .iter()
            .any(|c| c.status == Status::Invalid)
        {
            Exit::Invalid
        } else if failed as f64 > allow_errors * offered as f64 {
            Exit::Failures
        } else {
            Exit::Done
        }
    }
}

/// The experiments on a run, in the order in which they were written.
fn experiments(dir: &Path) -> Result<Vec<Experiment>> {
    let mut experiments = Vec::new();
    for (name, text) in slowpath_record::read_experiments(dir)? {
        let experiment: Experiment = serde_json::from_str(&text)
            .with_context(|| format!("experiments/{name}.json of {}", dir.display()))?;
        experiments.push(experiment);
    }
    // As text, "…:05.1Z" would come before "…:05Z".
    experiments.sort_by_cached_key(|one| {
        let written: Option<jiff::Timestamp> = one.hypothesis.written_at.parse().ok();
        (written, one.name())
    });
    Ok(experiments)
}

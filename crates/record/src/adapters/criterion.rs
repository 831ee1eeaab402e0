//! criterion: the raw `sample.json` below `target/criterion/**/new`, named by the `benchmark.json`
//! beside it.
//!
//! Each of its samples is the time of a batch of iterations, in order; what is kept is the time of
//! one iteration, so that outliers, modes and steps have a place.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use slowpath_core::figures::Unit;
use slowpath_core::figures::within::median_of;

use super::json::parse;
use super::{Adapter, AdapterError, Harvest, Source, Take};

pub(super) const ADAPTER: Adapter = Adapter {
    name: "criterion",
    about: "criterion: target/criterion, or a sample.json in it",
    detects: |head| head.contains("\"sampling_mode\"") && head.contains("\"iters\""),
    reads: |source| sample(source, &name_by_path(source.file)),
};

const REMEDY: &str = "give target/criterion, in which criterion leaves sample.json files";

#[derive(Deserialize)]
struct Samples {
    #[serde(default)]
    sampling_mode: String,
    iters: Vec<f64>,
    times: Vec<f64>,
}

#[derive(Deserialize)]
struct Identity {
    full_id: String,
}

/// Reads the samples of one benchmark.
fn sample(source: Source<'_>, name: &str) -> Result<Harvest, Vec<AdapterError>> {
    let samples: Samples = parse(source, REMEDY)?;
    let each: Vec<f64> = samples
        .iters
        .iter()
        .zip(&samples.times)
        .map(|(iterations, ns)| ns / iterations)
        .collect();
    let unequal = samples.iters.len() != samples.times.len();
    if each.is_empty() || unequal || each.iter().any(|ns| !ns.is_finite() || *ns < 0.0) {
        let what = "its iterations and times do not make samples".to_owned();
        return Err(vec![source.wrong(None, what, REMEDY)]);
    }
    let mut harvest = Harvest::default();
    harvest.takes.push(Take {
        figures: vec![median_of(&each)],
        samples: each,
        ..Take::one(name, "time", Unit::Ns, 0.0)
    });
    let mode = samples.sampling_mode;
    let harness = &mut harvest.conditions.harness;
    harness.insert(format!("sampling of {name}"), mode);
    Ok(harvest)
}

/// The folders between `criterion` and `new` name a benchmark, if nothing better does.
fn name_by_path(file: &str) -> String {
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    let parts: Vec<&str> = folder.iter().filter_map(|part| part.to_str()).collect();
    let from = parts.iter().rposition(|part| *part == "criterion");
    let parts = &parts[from.map_or(0, |at| at + 1)..];
    let parts: Vec<&str> = parts
        .iter()
        .copied()
        .filter(|part| *part != "new")
        .collect();
    match parts.as_slice() {
        [] => "benchmark".to_owned(),
        parts => parts.join("/"),
    }
}

/// Reads all benchmarks below a folder that criterion has written, in the order of their names.
///
/// # Errors
/// When there is none, or for each that cannot be read.
pub fn criterion_folder(folder: &Path) -> Result<Harvest, Vec<AdapterError>> {
    let mut files = Vec::new();
    samples_below(folder, DEEPEST, &mut files);
    files.sort();
    let mut harvest = Harvest::default();
    let mut errors = Vec::new();
    for file in &files {
        match one(file) {
            Ok(one) => {
                harvest.takes.extend(one.takes);
                harvest.conditions.harness.extend(one.conditions.harness);
            }
            Err(found) => errors.extend(found),
        }
    }
    if files.is_empty() {
        errors.push(AdapterError {
            file: folder.display().to_string(),
            line: None,
            what: "no new/sample.json of criterion lies below it".to_owned(),
            remedy: REMEDY.to_owned(),
        });
    }
    if errors.is_empty() {
        Ok(harvest)
    } else {
        Err(errors)
    }
}

fn one(file: &Path) -> Result<Harvest, Vec<AdapterError>> {
    let name = file.display().to_string();
    let bytes = fs::read(file).map_err(|error| {
        vec![AdapterError {
            file: name.clone(),
            line: None,
            what: format!("it cannot be read: {error}"),
            remedy: REMEDY.to_owned(),
        }]
    })?;
    let source = Source {
        file: &name,
        bytes: &bytes,
    };
    let beside = fs::read(file.with_file_name("benchmark.json")).unwrap_or_default();
    let identity = serde_json::from_slice::<Identity>(&beside);
    let subject = identity.map_or_else(|_| name_by_path(&name), |known| known.full_id);
    sample(source, &subject)
}

/// Folders are at most so deep: group, function and parameter, each perhaps with some of its own.
const DEEPEST: usize = 16;

fn samples_below(folder: &Path, left: usize, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        // Links are not followed: they might lead round.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if left > 0 {
                samples_below(&path, left - 1, files);
            }
        } else if path.ends_with("new/sample.json") {
            files.push(path);
        }
    }
}

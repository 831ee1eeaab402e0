//! Files with a line for each request become a run record, which every verb judges like one of
//! its own, as far as it goes.

use std::fs;
use std::path::Path;

use anyhow::Result;
use slowpath_core::facts::{HostFacts, TargetFacts};
use slowpath_core::plan::Plan;
use slowpath_core::record::{Imported, MANIFEST_FORMAT, Manifest};
use slowpath_core::scenario::{Endpoint, Escape, Scenario, Template};
use slowpath_record::RunWriter;
use slowpath_record::adapters::{
    REQUEST_FORMATS, RequestFormat, Requests, Source, detect_requests,
};

use super::AUTO;
use crate::cli::ImportArgs;
use crate::command::log;
use crate::command::run::directory;
use crate::exit::{Exit, Problem};
use crate::notes::{new_id, now_utc};
use crate::present::Judged;

/// The URL of a target whose address is not in the file.
const URL: &str = "http://imported.invalid/";

/// The format with a line for each request that was named, or that the first file has.
pub(super) fn format(named: &str, files: &[String]) -> Option<&'static RequestFormat> {
    if named != AUTO {
        return REQUEST_FORMATS.iter().find(|format| format.name == named);
    }
    // A file that cannot be read is reported by the code that reads it next.
    let bytes = fs::read(files.first()?).ok()?;
    detect_requests(&bytes)
}

/// Reads the files, records and judges them: each is a repeat.
pub(super) fn import(args: &ImportArgs, format: &'static RequestFormat) -> Result<Exit> {
    let repeats = read(&args.files, format)?;
    let mut endpoints: Vec<String> = Vec::new();
    for name in repeats.iter().flat_map(|requests| &requests.endpoints) {
        if !endpoints.contains(name) {
            endpoints.push(name.clone());
        }
    }
    let id = new_id();
    let dir = directory(args.out.as_deref(), &id)?;
    let mut manifest = manifest(args, format, id, &endpoints, &repeats);
    let not_recorded = |error| Problem::environment(error, "make room on the disk");
    let writer = RunWriter::create(dir.path(), &manifest).map_err(not_recorded)?;
    let record = writer.handle();
    for (number, requests) in (0_u16..).zip(&repeats) {
        let (samples, facts) = requests.repeat(number, &endpoints);
        record.samples(&samples);
        manifest.repeats.push(facts);
    }
    writer.finish(&manifest).map_err(not_recorded)?;
    let judged = Judged::read(dir.path())?;
    let said = log::after::write(&judged);
    let presented = judged.present(args.json.as_deref());
    said.tell();
    presented?;
    Ok(Exit::Done)
}

fn read(files: &[String], format: &RequestFormat) -> Result<Vec<Requests>, Problem> {
    let mut repeats = Vec::new();
    let mut mistakes = Vec::new();
    for file in files {
        let bytes = match fs::read(Path::new(file)) {
            Ok(bytes) => bytes,
            Err(error) => {
                mistakes.push(format!("{file}: it cannot be read: {error}"));
                continue;
            }
        };
        let source = Source {
            file,
            bytes: &bytes,
        };
        match format.read(source) {
            Ok(requests) => repeats.push(requests),
            Err(errors) => mistakes.extend(errors.iter().map(ToString::to_string)),
        }
    }
    if mistakes.is_empty() {
        Ok(repeats)
    } else {
        Err(Problem::usage(mistakes.join("\n"), ""))
    }
}

fn manifest(
    args: &ImportArgs,
    format: &RequestFormat,
    id: String,
    endpoints: &[String],
    repeats: &[Requests],
) -> Manifest {
    let mut scenario =
        Scenario::from_url(URL).expect("the address of what was imported is an address");
    scenario.name = args.name.clone().unwrap_or_else(|| format.tool.to_owned());
    let path = Template::literal("/", Escape::Url);
    let endpoint = |name: &String| Endpoint::get(name.clone(), path.clone());
    scenario.endpoints = endpoints.iter().map(endpoint).collect();
    scenario.load.repeats = repeats.len() as u32;
    scenario.load.warmup_ns = 0;
    let precision = repeats.iter().map(|requests| requests.precision_ns);
    Manifest {
        format: MANIFEST_FORMAT,
        id,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        began: now_utc(),
        plan: Plan {
            scenario,
            // Nothing was drawn; judging draws from a seed that is the same for the same file.
            seed: 0,
            release: args.release.clone(),
        },
        scenario_text: None,
        host: HostFacts::default(),
        git: None,
        target: TargetFacts {
            url: "a target that its file does not name".to_owned(),
            hidden_because: format!("{} observed nothing but requests", format.tool),
            ..TargetFacts::default()
        },
        repeats: Vec::new(),
        interrupted: false,
        trouble: String::new(),
        imported: Some(Imported {
            tool: format.tool.to_owned(),
            format: format.name.to_owned(),
            files: args.files.clone(),
            precision_ns: precision.max().unwrap_or(1),
            notes: notes(repeats),
        }),
        recovered: false,
    }
}

/// What the files' readers say, with the file's number where there are several.
fn notes(repeats: &[Requests]) -> Vec<String> {
    let alone = repeats.len() == 1;
    let numbered = repeats.iter().zip(1..);
    let said = numbered.flat_map(|(requests, number)| {
        let note = move |note: &String| {
            if alone {
                note.clone()
            } else {
                format!("file {number}: {note}")
            }
        };
        requests.notes.iter().map(note)
    });
    said.collect()
}

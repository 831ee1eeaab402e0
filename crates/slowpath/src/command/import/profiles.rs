//! Profiles that were taken elsewhere become evidence beside a run.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::Result;
use slowpath_observe::profilers::imported::{self, Format, Source};

use super::AUTO;
use crate::cli::ImportArgs;
use crate::exit::{Exit, Problem};
use crate::present::Judged;
use crate::{out, store};

/// The largest file that is taken: JSON of Java's flight recorder has 30 kB for a sample.
const MOST_FILE_BYTES: u64 = 256 << 20;

/// The format of profiles that was named, or that the first file has; `None` if it is none of a
/// profile.
pub(super) fn format(named: &str, files: &[String]) -> Option<Format> {
    if named != AUTO {
        return Format::named(named);
    }
    // A file that cannot be read is reported by the code that reads it next.
    Format::of(&bounded(files.first()?).ok()?)
}

/// What stands in a file, or comes through a pipe.
fn bounded(file: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(file)?
        .take(MOST_FILE_BYTES + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_FILE_BYTES {
        let what = format!("it has more than {} MB", MOST_FILE_BYTES >> 20);
        return Err(io::Error::other(what));
    }
    Ok(bytes)
}

/// Reads the files, keeps them beside the run, and judges it again.
pub(super) fn import(args: &ImportArgs, run: &str) -> Result<Exit> {
    let dir = store::find(run)?;
    let own = Judged::read(&dir)?.record.profiles.pass.clone();
    if own.is_some_and(|pass| !pass.imported) {
        let what = format!("{} has a profiling pass of its own", dir.display());
        return Err(Problem::usage(what, "import beside a run without --profile").into());
    }
    let named = match args.format.as_str() {
        AUTO => None,
        name => Some(Format::named(name).ok_or_else(|| not_of_profiles(name))?),
    };
    let bytes = read(&args.files)?;
    let files = args.files.iter().zip(&bytes);
    let files = files.map(|(name, bytes)| Source { name, bytes });
    let files: Vec<Source<'_>> = files.collect();
    let mut pass = imported::read(named, &files)
        .map_err(|mistakes| Problem::usage(mistakes.join("\n"), ""))?;
    let raw: Vec<(String, Vec<u8>)> = (1..)
        .zip(&files)
        .map(|(number, file)| {
            let name = Path::new(file.name).file_name().unwrap_or_default();
            // Files of several folders may have one name.
            let name = format!("{number}-{}", name.to_string_lossy());
            (name, file.bytes.to_vec())
        })
        .collect();
    pass.files = raw.iter().map(|(name, _)| name.clone()).collect();
    slowpath_record::write_imported_profiles(&dir, &pass, &raw)
        .map_err(|error| Problem::environment(error, "make room there, or copy the run"))?;
    for gap in &pass.gaps {
        out::say(&format!("{}: {}; {}", gap.signal, gap.reason, gap.remedy));
    }
    let judged = Judged::read(&dir)?;
    let cpu = judged
        .diagnosis
        .profile
        .as_ref()
        .and_then(|view| view.cpu.as_ref());
    if cpu.is_some_and(|cpu| cpu.per_request_ms.is_none()) {
        out::say(
            "the run did not see the target's CPU time: shares are shown, and no lead comes of them",
        );
    }
    judged.present(args.json.as_deref())?;
    Ok(Exit::Done)
}

/// That profiles need a run.
pub(super) fn without_run(format: Format) -> Problem {
    Problem::usage(
        format!("{} is a profile, and evidence beside a run", format.name()),
        "say of which: --run last",
    )
}

fn not_of_profiles(name: &str) -> Problem {
    let known = Format::ALL.map(Format::name).join(", ");
    Problem::usage(
        format!("--run is for profiles, and {name:?} is none"),
        format!("the formats of profiles are {AUTO}, {known}"),
    )
}

fn read(files: &[String]) -> Result<Vec<Vec<u8>>, Problem> {
    let mut all = Vec::new();
    let mut mistakes = Vec::new();
    for file in files {
        match bounded(file) {
            Ok(bytes) => all.push(bytes),
            Err(error) => mistakes.push(format!("{file}: it cannot be read: {error}")),
        }
    }
    if mistakes.is_empty() {
        Ok(all)
    } else {
        Err(Problem::usage(
            mistakes.join("\n"),
            "name files that a profiler has written",
        ))
    }
}

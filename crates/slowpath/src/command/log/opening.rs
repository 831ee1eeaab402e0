//! `slowpath log new`.

use slowpath_core::figures::RunFigures;
use slowpath_core::investigation::{Symptom, Target, What};
use slowpath_experiment::log::figure_of;
use slowpath_record::is_name;

use super::entries::{by_person, known, write};
use super::{Kept, Wrote};
use crate::cli::NewArgs;
use crate::exit::Problem;
use crate::out;

/// The longest name that is made of a title.
const NAME_MOST: usize = 40;

/// Opens an investigation.
pub(super) fn new(kept: &Kept<'_>, args: &NewArgs) -> Result<Wrote, Problem> {
    let metric = Target::parse(&args.metric).map_err(|error| {
        Problem::usage(error, "say ENDPOINT.METRIC, such as --metric search.p99")
    })?;
    // What it is about is known once its runs are.
    let (mut entry, runs) = by_person(&args.text, What::Observation, &args.evidence)?;
    let runs: Vec<&RunFigures> = runs.iter().collect();
    known(&runs, &metric)?;
    let scenario = scenario(args, &runs)?;
    for void in runs.iter().filter(|run| !run.void.is_empty()) {
        out::say(&format!(
            "run {} is void, so its figures are not the symptom's: {}",
            void.id,
            void.void.join("; ")
        ));
    }
    let since = runs.iter().find_map(|run| run.release.clone());
    entry.what = What::Opened(Symptom {
        title: args.title.trim().to_owned(),
        scenario,
        since: args.since.clone().or(since),
        measured: figure_of(&runs, &metric),
        metric,
    });
    let id = name(kept, args)?;
    write(kept, &id, &entry)
}

/// The scenario that is meant: the one that was given, or that of all runs.
fn scenario(args: &NewArgs, runs: &[&RunFigures]) -> Result<String, Problem> {
    let mut names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
    names.dedup();
    match (&args.scenario, names.as_slice()) {
        (Some(given), names) if names.iter().all(|name| name == given) => Ok(given.clone()),
        (None, [one]) => Ok((*one).to_owned()),
        (None, []) => Err(Problem::usage(
            "neither a run nor a scenario is named",
            "say --run last, or --scenario NAME",
        )),
        (_, names) => Err(Problem::usage(
            format!("these runs are of {}", names.join(", ")),
            "open an investigation for each, and let one link to the other",
        )),
    }
}

/// The name of the folder: the one that was given, or one made of the title.
fn name(kept: &Kept<'_>, args: &NewArgs) -> Result<String, Problem> {
    if let Some(id) = &args.id {
        if !is_name(id) {
            let what = format!("{id:?} is no name of an investigation");
            return Err(Problem::usage(what, "use a-z, 0-9 and - alone"));
        }
        if kept.dir.join(id).exists() {
            let what = format!("{id} is there already");
            return Err(Problem::usage(what, "slowpath log note adds to it"));
        }
        return Ok(id.clone());
    }
    let base = slug(&args.title);
    let free = |name: &String| !kept.dir.join(name).exists();
    let others = (2..).map(|n: u32| format!("{base}-{n}"));
    let mut all = std::iter::once(base.clone()).chain(others);
    all.find(free)
        .ok_or_else(|| Problem::usage("every name is taken", "give it one of its own with --id"))
}

/// A title as a name: words of a-z and 0-9 with - between them.
fn slug(title: &str) -> String {
    let mut name = String::new();
    for word in title.split(|c: char| !c.is_ascii_alphanumeric()) {
        let word = word.to_ascii_lowercase();
        if word.is_empty() {
            continue;
        }
        if !name.is_empty() && name.len() + 1 + word.len() > NAME_MOST {
            break;
        }
        if !name.is_empty() {
            name.push('-');
        }
        name.push_str(&word);
    }
    name.truncate(NAME_MOST);
    if name.is_empty() {
        "investigation".to_owned()
    } else {
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_becomes_a_name() {
        for (title, name) in [
            ("The tail of search", "the-tail-of-search"),
            ("p99: 440 ms, again & again!", "p99-440-ms-again-again"),
            ("Größe", "gr-e"),
            ("???", "investigation"),
            (
                "a very long title that never ends and goes on and on",
                "a-very-long-title-that-never-ends-and",
            ),
        ] {
            assert_eq!(slug(title), name);
            assert!(is_name(name));
        }
        assert!(is_name(&slug(&"x".repeat(100))));
    }
}

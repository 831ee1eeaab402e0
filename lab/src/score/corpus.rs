//! A corpus of recorded runs: frozen once, and judged again by `slowpath explain` after a change.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use super::files::{self, Variant};
use super::keep::{Kept, Row};
use super::measure::{self, Setting};
use super::page::or_dash;
use super::tier::Tier;
use super::{Trouble, checked, first_look, is_like, pass, say, wanted};

/// What is expected of each run, and what was judged last time.
const MANIFEST: &str = "corpus.json";
/// What slowpath derives from a record, and writes again.
const DERIVED: [&str; 3] = ["report.json", "report.html", "figures.json"];

/// The manifest of a corpus.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Corpus {
    pub(super) runs: Vec<Frozen>,
}

/// A recorded run, what is expected of it, and what was judged last time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Frozen {
    pub(super) variant: Variant,
    pub(super) row: Row,
}

impl Corpus {
    pub(super) fn read(folder: &Path) -> Result<Self, Trouble> {
        let file = folder.join(MANIFEST);
        let text = fs::read_to_string(&file)
            .map_err(|error| Trouble::Usage(format!("{}: {error}", file.display())))?;
        serde_json::from_str(&text)
            .map_err(|error| Trouble::Usage(format!("{}: {error}", file.display())))
    }

    fn write(&self, folder: &Path) -> io::Result<()> {
        let whole = folder.join("corpus.new");
        fs::write(&whole, serde_json::to_string_pretty(self)? + "\n")?;
        fs::rename(&whole, folder.join(MANIFEST))
    }

    /// The runs whose id is like a pattern.
    fn retain(&mut self, only: Option<&str>) {
        let is_like = |id: &str| only.is_none_or(|part| is_like(id, &format!("*{part}*")));
        self.runs.retain(|run| is_like(&run.row.id));
    }
}

/// Copies the recorded runs of a batch, or of all variants whose id is like a pattern.
pub(super) fn freeze(root: &Path, scratch: &Path, what: &str, to: &Path) -> Result<(), Trouble> {
    let mut suites = checked(files::read_all(root)?)?;
    let mut folders = files::batches(root)?;
    let given = first_look::folder(root, what).ok();
    folders.extend(given.clone().filter(|folder| !folders.contains(folder)));
    let (mut rows, mut pattern) = (Vec::new(), format!("*{what}*"));
    for folder in folders {
        let batch = checked(files::read_batch(root, &folder)?)?;
        if let Some(suite) = batch.first().filter(|_| given.as_ref() == Some(&folder)) {
            pattern = format!("{}/*", suite.group);
        }
        for tier in Tier::ALL {
            rows.extend(Kept::first_look(&folder, tier.name()).rows()?.into_values());
        }
        suites.extend(batch);
    }
    for tier in Tier::ALL {
        rows.extend(Kept::of_tier(scratch, tier.name()).rows()?.into_values());
    }
    let variants: BTreeMap<String, &Variant> = wanted(&suites, None, false)
        .into_iter()
        .map(|(suite, variant)| (measure::id(suite, variant), variant))
        .collect();
    fs::create_dir_all(to)?;
    let mut corpus = if to.join(MANIFEST).is_file() {
        Corpus::read(to)?
    } else {
        Corpus::default()
    };
    let (mut frozen, mut gone) = (0, 0);
    for row in rows.into_iter().filter(|row| is_like(&row.id, &pattern)) {
        let Some(variant) = variants.get(&row.id).filter(|_| row.verdict.counts()) else {
            continue;
        };
        let from = scratch.join(&row.folder);
        if !from.join("run").is_dir() {
            gone += 1;
            continue;
        }
        copy_run(&from, &to.join(&row.folder))?;
        let run = Frozen {
            variant: (*variant).clone(),
            row,
        };
        let same = |old: &Frozen| (&old.row.id, &old.row.tier) == (&run.row.id, &run.row.tier);
        corpus.runs.retain(|old| !same(old));
        corpus.runs.push(run);
        frozen += 1;
    }
    corpus.write(to)?;
    Ok(say(&format!(
        "{frozen} runs frozen, {gone} without a record; {} has {}",
        to.display(),
        corpus.runs.len()
    ))?)
}

/// Copies what `explain` reads, and the self-check of a server of the lab.
fn copy_run(from: &Path, to: &Path) -> io::Result<()> {
    match fs::remove_dir_all(to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    copy(&from.join("run"), &to.join("run"), true)?;
    let said = from.join("target-stdout.txt");
    if said.is_file() {
        fs::copy(said, to.join("target-stdout.txt"))?;
    }
    Ok(())
}

fn copy(from: &Path, to: &Path, is_top: bool) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() {
            copy(&path, &to.join(name), false)?;
        } else if !is_top || !DERIVED.iter().any(|derived| name == *derived) {
            fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}

/// Judges the runs of a corpus again; rows that moved are printed as they come if asked for.
pub(super) fn judge(
    corpus: &Corpus,
    setting: &Setting,
    jobs: u8,
    is_printed: bool,
) -> io::Result<Vec<Frozen>> {
    let judged = Mutex::new(Vec::new());
    let one = |run: &Frozen| measure::again(&run.variant, setting, &run.row);
    pass::each(&corpus.runs, jobs, &setting.running, one, |at, row| {
        if is_printed {
            pass::print(at, corpus.runs.len(), &row)?;
        }
        let variant = corpus.runs[at].variant.clone();
        let mut judged = judged.lock().expect("nothing panics while it holds this");
        judged.push(Frozen { variant, row });
        Ok(())
    })?;
    Ok(judged
        .into_inner()
        .expect("nothing panics while it holds this"))
}

/// Judges a corpus again, prints its figures and what moved, and keeps that for the next time.
pub(super) fn run(
    folder: &Path,
    setting: &Setting,
    only: Option<&str>,
    jobs: u8,
) -> Result<u8, Trouble> {
    let mut all = Corpus::read(folder)?;
    let mut before = Corpus {
        runs: all.runs.clone(),
    };
    before.retain(only);
    pass::watch(&setting.running)?;
    let after = judge(&before, setting, jobs, true)?;
    if setting.running.is_stopped() {
        say("interrupted: nothing is kept of this pass")?;
        return Ok(super::EXIT_INTERRUPTED);
    }
    let rows: Vec<&Row> = after.iter().map(|run| &run.row).collect();
    for tier in Tier::ALL {
        let of_tier = |row: &&Row| row.tier == tier.name();
        let rows: Vec<&Row> = rows.iter().copied().filter(of_tier).collect();
        let ids = before.runs.iter().map(|run| &run.row);
        let ids = ids.filter(|row| of_tier(row)).map(|row| row.id.clone());
        pass::summary(&ids.collect::<Vec<_>>(), &rows, &regression(tier))?;
    }
    let moved = moved(&before.runs, &after);
    let gone = before.runs.len() - after.len();
    say(&format!(
        "\n{} of {} moved, {gone} without a record",
        moved.len(),
        before.runs.len()
    ))?;
    for line in &moved {
        say(&format!("  {line}"))?;
    }
    for run in after.iter().cloned() {
        let same = |old: &&mut Frozen| (&old.row.id, &old.row.tier) == (&run.row.id, &run.row.tier);
        if let Some(old) = all.runs.iter_mut().find(same) {
            *old = run;
        }
    }
    all.write(folder)?;
    Ok(pass::code(&rows))
}

fn regression(tier: Tier) -> String {
    format!("{}, recorded runs judged again (regression)", tier.name())
}

/// A line for each run whose verdict, first name, first line or cleared truth is another one.
pub(super) fn moved(before: &[Frozen], after: &[Frozen]) -> Vec<String> {
    let key = |run: &Frozen| (run.row.id.clone(), run.row.tier.clone());
    let old: BTreeMap<_, &Frozen> = before.iter().map(|run| (key(run), run)).collect();
    let mut lines = Vec::new();
    for run in after {
        let Some(old) = old.get(&key(run)) else {
            continue;
        };
        let (from, to) = (outcome(&old.row), outcome(&run.row));
        if from != to {
            lines.push(format!("{} ({}): {from} -> {to}", run.row.id, run.row.tier));
        }
    }
    lines.sort();
    lines
}

/// What is compared of a row.
fn outcome(row: &Row) -> String {
    let name = row.first_name().unwrap_or("nothing");
    let line = match row.is_line_right {
        Some(true) => ", first line right",
        Some(false) => ", first line not right",
        None => "",
    };
    let cleared = row.cleared_truth().join(" ");
    format!(
        "{}, {name} first{line}, cleared and true: {}",
        row.verdict,
        or_dash(&cleared)
    )
}

#[cfg(test)]
mod tests {
    use super::super::keep::tests::row;
    use super::super::outcome::{Cleared, Verdict};
    use super::*;

    fn frozen(id: &str, verdict: Verdict) -> Frozen {
        Frozen {
            variant: Variant::default(),
            row: row(id, verdict),
        }
    }

    #[test]
    fn what_moved_is_said_from_and_to() {
        let before = ["a", "b", "c"].map(|id| frozen(id, Verdict::Right));
        let mut after = before.clone();
        assert!(moved(&before, &after).is_empty());
        after[1].row.verdict = Verdict::Missed;
        after[2].row.said.cleared_truth = vec![Cleared {
            cause: "queueing".to_owned(),
            text: String::new(),
        }];
        after[0].row.version = "another".to_owned();
        assert_eq!(
            moved(&before, &after),
            [
                "b (t2): right, nothing first, cleared and true: - -> \
                 missed, nothing first, cleared and true: -",
                "c (t2): right, nothing first, cleared and true: - -> \
                 right, nothing first, cleared and true: queueing"
            ]
        );
    }

    #[test]
    fn a_frozen_run_is_without_what_is_derived() {
        let name = format!("slowpath-lab-corpus-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let (from, to) = (folder.join("from"), folder.join("to"));
        fs::create_dir_all(from.join("run/trace")).unwrap();
        for file in [
            "run/manifest.json",
            "run/report.html",
            "run/trace/0.json",
            "report.json",
        ] {
            fs::write(from.join(file), "x").unwrap();
        }
        copy_run(&from, &to).unwrap();
        let kept = |file: &str| to.join(file).exists();
        assert!(kept("run/manifest.json") && kept("run/trace/0.json"));
        assert!(!kept("run/report.html") && !kept("report.json"));
        let corpus = Corpus {
            runs: vec![frozen("lab/a/x", Verdict::Right)],
        };
        corpus.write(&to).unwrap();
        assert_eq!(Corpus::read(&to).unwrap().runs, corpus.runs);
        fs::remove_dir_all(&folder).unwrap();
    }
}

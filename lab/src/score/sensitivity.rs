//! Which verdicts depend on a constant: each is made smaller and larger in a copy of the source
//! tree, and a corpus of recorded runs is judged by what is built from that.

use std::collections::hash_map::DefaultHasher;
use std::fmt::Write as _;
use std::fs;
use std::hash::{Hash, Hasher};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use regex::Regex;
use serde::{Deserialize, Serialize};

use super::corpus::{self, Corpus, Frozen};
use super::measure::Setting;
use super::{EXIT_INTERRUPTED, Trouble, pass, say};

/// By what a constant is multiplied.
const FACTORS: [f64; 2] = [0.7, 1.3];
/// Crates of which constants are moved.
const CRATES: [&str; 2] = ["crates/diagnose/src", "crates/attribution/src"];
/// Constants that are moved unless others are asked for: those of detectors and rules.
const USUAL: &str = "/(detectors|rules)(/|\\.rs:).*: f64$";
/// A build for many judgements: quick to make again, and quick enough.
const PROFILE: [(&str, &str); 3] = [
    ("CARGO_PROFILE_RELEASE_DEBUG", "false"),
    ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1"),
    ("CARGO_PROFILE_RELEASE_INCREMENTAL", "true"),
];

/// A constant with a number as its value.
#[derive(Clone, Debug, PartialEq)]
struct Constant {
    /// From the root of the tree.
    file: String,
    name: String,
    kind: String,
    value: String,
    /// Where the value stands in the file.
    at: usize,
}

impl Constant {
    /// `FILE::NAME: KIND`, which patterns are matched with.
    fn shown(&self) -> String {
        format!("{}::{}: {}", self.file, self.name, self.kind)
    }

    /// The value times a factor; nothing if that is the same number.
    fn moved(&self, factor: f64) -> Option<String> {
        let plain = self.value.replace('_', "");
        let value: f64 = plain.parse().ok()?;
        let (moved, text) = if self.kind == "f64" {
            // Six digits: 0.3 times 0.7 is 0.21.
            let moved: f64 = format!("{:.5e}", value * factor).parse().ok()?;
            (moved, format!("{moved:?}"))
        } else {
            let moved = (value * factor).round();
            (moved, format!("{moved:.0}"))
        };
        (moved.to_bits() != value.to_bits()).then_some(text)
    }
}

/// The constants of a file, as far as its tests.
fn constants(file: &str, text: &str) -> Vec<Constant> {
    let pattern = r"(?m)^ *(?:pub(?:\([a-z]+\))? )?const ([A-Z0-9_]+): (f64|u64|u32|usize) = ([0-9][0-9_.]*(?:e-?[0-9]+)?);";
    let pattern = Regex::new(pattern).expect("the pattern is one");
    let end = text.find("#[cfg(test)]").unwrap_or(text.len());
    let all = pattern.captures_iter(&text[..end]).map(|found| Constant {
        file: file.to_owned(),
        name: found[1].to_owned(),
        kind: found[2].to_owned(),
        value: found[3].to_owned(),
        at: found.get(3).map_or(0, |value| value.start()),
    });
    all.collect()
}

/// What became of a corpus under one value of a constant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Trial {
    /// A digest of the source tree and of the corpus: for another one the trial is made again.
    state: u64,
    constant: String,
    factor: f64,
    value: String,
    /// Rows that moved; nothing where it cannot be built.
    moved: Option<Vec<String>>,
}

/// What is asked for.
pub(super) struct Request<'a> {
    pub(super) root: &'a Path,
    pub(super) corpus: &'a Path,
    /// A pattern of `FILE::NAME: KIND`.
    pub(super) constants: Option<&'a str>,
    /// So many constants at most.
    pub(super) limit: Option<usize>,
    pub(super) jobs: u8,
}

/// Moves each constant, and writes the table.
pub(super) fn run(request: &Request<'_>) -> Result<u8, Trouble> {
    let pattern = Regex::new(request.constants.unwrap_or(USUAL))
        .map_err(|error| Trouble::Usage(format!("--constants: {error}")))?;
    let home = request.root.join("target/sensitivity");
    let mut digest = DefaultHasher::new();
    let mut all = Vec::new();
    for (file, text) in copy_tree(request.root, &home.join("tree"), &mut digest)? {
        if CRATES.iter().any(|part| file.starts_with(part)) {
            all.extend(constants(&file, &String::from_utf8_lossy(&text)));
        }
    }
    all.retain(|constant| pattern.is_match(&constant.shown()));
    all.truncate(request.limit.unwrap_or(usize::MAX));
    if all.is_empty() {
        return Err(Trouble::Usage("no constant has such a name".to_owned()));
    }
    let folder = request.corpus.canonicalize()?;
    let corpus = Corpus::read(&folder)?;
    for run in &corpus.runs {
        (&run.row.id, &run.row.tier, &run.row.said.began).hash(&mut digest);
    }
    let slowpath = home.join("target/release/slowpath");
    if !compile(&home)? {
        return Err(Trouble::Usage("slowpath does not build".to_owned()));
    }
    let setting = Setting::explain(slowpath, String::new(), folder);
    pass::watch(&setting.running)?;
    say(&format!(
        "{} constants, {} recorded runs",
        all.len(),
        corpus.runs.len()
    ))?;
    let before = corpus::judge(&corpus, &setting, request.jobs, false)?;
    let bench = Bench {
        trials: home.join("trials.jsonl"),
        home: &home,
        state: digest.finish(),
        corpus: &corpus,
        before: &before,
        setting: &setting,
        jobs: request.jobs,
    };
    let done = bench.run(&all)?;
    let file = home.join("table.md");
    fs::write(&file, table(&all, &done))?;
    say(&format!("written: {}", file.display()))?;
    if setting.running.is_stopped() {
        say("interrupted: the same command goes on")?;
        return Ok(EXIT_INTERRUPTED);
    }
    Ok(0)
}

/// What all trials have in common.
struct Bench<'a> {
    trials: PathBuf,
    home: &'a Path,
    state: u64,
    corpus: &'a Corpus,
    before: &'a [Frozen],
    setting: &'a Setting,
    jobs: u8,
}

impl Bench<'_> {
    /// Makes the trials that are not made yet; all of them are the answer.
    fn run(&self, all: &[Constant]) -> io::Result<Vec<Trial>> {
        let text = fs::read_to_string(&self.trials).unwrap_or_default();
        let known = text
            .lines()
            .filter_map(|line| serde_json::from_str::<Trial>(line).ok());
        let mut done: Vec<Trial> = known.filter(|trial| trial.state == self.state).collect();
        for constant in all {
            for factor in FACTORS {
                let Some(value) = constant.moved(factor) else {
                    continue;
                };
                if find(&done, constant, factor).is_some() {
                    continue;
                }
                let moved = self.moved(constant, &value)?;
                if self.setting.running.is_stopped() {
                    return Ok(done);
                }
                let trial = Trial {
                    state: self.state,
                    constant: constant.shown(),
                    factor,
                    value,
                    moved,
                };
                let mut file = fs::OpenOptions::new();
                let mut file = file.create(true).append(true).open(&self.trials)?;
                file.write_all(format!("{}\n", serde_json::to_string(&trial)?).as_bytes())?;
                say(&format!("{} x {factor}: {}", trial.constant, cell(&trial)))?;
                done.push(trial);
            }
        }
        Ok(done)
    }

    /// The rows that move when a constant has this value; nothing where it cannot be built.
    fn moved(&self, constant: &Constant, value: &str) -> io::Result<Option<Vec<String>>> {
        let file = self.home.join("tree").join(&constant.file);
        let text = fs::read_to_string(&file)?;
        let end = constant.at + constant.value.len();
        fs::write(
            &file,
            format!("{}{value}{}", &text[..constant.at], &text[end..]),
        )?;
        let is_built = compile(self.home);
        fs::write(&file, text)?;
        if !is_built? {
            return Ok(None);
        }
        let after = corpus::judge(self.corpus, self.setting, self.jobs, false)?;
        Ok(Some(corpus::moved(self.before, &after)))
    }
}

/// Copies the source tree as git lists it; what is the same is not written, so that less is built.
/// Gives the files with their contents.
fn copy_tree(
    root: &Path,
    tree: &Path,
    digest: &mut DefaultHasher,
) -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut list = Command::new("git");
    list.args(["ls-files", "-z", "--", "crates", "lab", "Cargo.*", "*.toml"]);
    let listed = list.current_dir(root).stdin(Stdio::null()).output()?;
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let mut files = Vec::new();
    for file in listed.split_terminator('\0') {
        let (from, to) = (root.join(file), tree.join(file));
        // A file that is deleted and not committed is listed.
        if !from.is_file() {
            continue;
        }
        let text = fs::read(from)?;
        if fs::read(&to).ok().as_ref() != Some(&text) {
            fs::create_dir_all(to.parent().unwrap_or(tree))?;
            fs::write(&to, &text)?;
        }
        (file, &text).hash(digest);
        files.push((file.to_owned(), text));
    }
    Ok(files)
}

/// Builds slowpath from the copy; whether that is possible.
fn compile(home: &Path) -> io::Result<bool> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args([
            "build",
            "--quiet",
            "--locked",
            "--release",
            "--package",
            "slowpath",
        ])
        .arg("--target-dir")
        .arg(home.join("target"))
        .envs(PROFILE)
        .current_dir(home.join("tree"))
        .stdin(Stdio::null());
    Ok(command.status()?.success())
}

fn find<'a>(trials: &'a [Trial], constant: &Constant, factor: f64) -> Option<&'a Trial> {
    let shown = constant.shown();
    let is_same =
        |trial: &&Trial| trial.constant == shown && trial.factor.to_bits() == factor.to_bits();
    trials.iter().find(is_same)
}

fn cell(trial: &Trial) -> String {
    match &trial.moved {
        None => format!("{}: does not build", trial.value),
        Some(moved) => format!("{}: {} moved", trial.value, moved.len()),
    }
}

/// The table, and below it the rows that moved.
fn table(all: &[Constant], trials: &[Trial]) -> String {
    let mut out =
        String::from("| constant | file | value | x 0.7 | x 1.3 |\n|---|---|---|---|---|\n");
    let mut rows = String::new();
    for constant in all {
        let trials = FACTORS.map(|factor| find(trials, constant, factor));
        let cells = trials.map(|trial| trial.map_or("-".to_owned(), cell));
        let Constant {
            name, file, value, ..
        } = constant;
        let _ = writeln!(
            out,
            "| {name} | {file} | {value} | {} | {} |",
            cells[0], cells[1]
        );
        for trial in trials.into_iter().flatten() {
            for line in trial.moved.iter().flatten() {
                let _ = writeln!(rows, "- {name} = {}: {line}", trial.value);
            }
        }
    }
    format!("{out}\n{rows}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_read_and_moved() {
        let text = "/// A.\npub(crate) const LEAST: f64 = 0.3;\nconst MANY: u64 = 1_000;\n\
                    const ONE: usize = 1;\nconst SUM: f64 = LEAST * 2.0;\n    const INNER: f64 = 5e-3;\n\
                    #[cfg(test)]\nmod tests {\n    const NOT: f64 = 1.0;\n}\n";
        let all = constants("crates/diagnose/src/detectors/queueing.rs", text);
        let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["LEAST", "MANY", "ONE", "INNER"]);
        assert_eq!(&text[all[1].at..][..5], "1_000");
        let moved = all.iter().map(|one| one.moved(0.7));
        let expected = [Some("0.21"), Some("700"), None, Some("0.0035")];
        let moved: Vec<Option<String>> = moved.collect();
        let moved: Vec<Option<&str>> = moved.iter().map(Option::as_deref).collect();
        assert_eq!(moved, expected);
        let usual = Regex::new(USUAL).unwrap();
        let is_usual: Vec<bool> = all.iter().map(|one| usual.is_match(&one.shown())).collect();
        assert_eq!(is_usual, [true, false, false, true]);
        let trial = Trial {
            state: 0,
            constant: all[0].shown(),
            factor: 0.7,
            value: "0.21".to_owned(),
            moved: Some(vec!["a (t2): right -> missed".to_owned()]),
        };
        let table = table(&all[..1], &[trial]);
        let row =
            "| LEAST | crates/diagnose/src/detectors/queueing.rs | 0.3 | 0.21: 1 moved | - |\n";
        assert!(table.contains(row), "{table}");
        assert!(
            table.ends_with("- LEAST = 0.21: a (t2): right -> missed\n"),
            "{table}"
        );
    }
}

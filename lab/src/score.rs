//! The scoreboard: how often slowpath names the right cause, and only that, of the lab's servers
//! and of software that others wrote. It runs slowpath as a user does and reads its reports.

mod files;
mod host;
mod keep;
mod measure;
mod outcome;
mod page;
mod process;
mod recipe;
mod remote;
mod tally;
mod tier;

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use clap::Parser;

use self::files::{Suite, Variant};
use self::keep::{Kept, Row};
use self::measure::Setting;
use self::outcome::Verdict;
use self::process::Running;
use self::recipe::Places;
use self::tally::{percent, tally};
use self::tier::Tier;
use crate::sys::Termination;

/// The word that asks for the scoreboard.
pub(crate) const WORD: &str = "score";

const EXIT_FAILED: u8 = 1;
const EXIT_USAGE: u8 = 2;
/// A name that should not be there, on a healthy server.
const EXIT_FALSE_NAME: u8 = 3;
const EXIT_INTERRUPTED: u8 = 130;

/// Measures how often slowpath names the right cause, and only that.
///
/// Reads lab/score/*.toml and cases/*/case.toml, runs each variant, and prints a line for each and a
/// summary. Exit codes: 0 done, 1 failed, 2 usage or a mistake in a file, 3 a name on a healthy
/// server, 130 interrupted (what was measured is kept).
#[derive(Debug, Parser)]
#[command(name = "lab score", max_term_width = 100)]
struct Arguments {
    /// Only variants in whose name (lab/SUITE/VARIANT, cases/SUITE/VARIANT) this is found; * stands
    /// for anything.
    #[arg(long, value_name = "GLOB")]
    only: Option<String>,
    /// Of each suite only the first sick variant and the first healthy one: a quick look.
    #[arg(long)]
    first: bool,
    /// With how much privilege slowpath is run; otherwise that of this user.
    #[arg(long, value_enum)]
    tier: Option<Tier>,
    /// Runs at a time: more than one says less, since they take each other's CPUs.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=16))]
    jobs: u8,
    /// Judge the runs that are kept again instead of measuring: after a change of a detector or of
    /// what is expected.
    #[arg(long, conflicts_with = "resume")]
    again: bool,
    /// Where to put all rows as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write docs/accuracy.md from what is kept of all tiers.
    #[arg(long)]
    update: bool,
    /// Go on with a pass that was interrupted: what is kept is not measured again.
    #[arg(long)]
    resume: bool,
    /// How long each run waits for a host that is calm; it is measured then in any case.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    calm: u16,
    /// Say what would be measured, and whether the files have mistakes.
    #[arg(long)]
    list: bool,
    /// The slowpath to measure; otherwise that which cargo builds beside this program.
    #[arg(long, value_name = "PATH")]
    slowpath: Option<PathBuf>,
    /// Where runs and rows lie.
    #[arg(long, value_name = "DIR", default_value = "target/score")]
    scratch: PathBuf,
}

/// Does what the command line asks for.
pub(crate) fn run(words: &[String]) -> ExitCode {
    let name = "lab score".to_owned();
    let arguments = match Arguments::try_parse_from(std::iter::once(&name).chain(words)) {
        Ok(arguments) => arguments,
        Err(error) => {
            // With the terminal gone there is no one left to tell.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { EXIT_USAGE } else { 0 });
        }
    };
    let (code, complaint) = match score(&arguments) {
        Ok(code) => return ExitCode::from(code),
        Err(Trouble::Usage(text)) => (EXIT_USAGE, text),
        Err(Trouble::Io(error)) => (EXIT_FAILED, error.to_string()),
    };
    let _ = writeln!(io::stderr(), "lab score: {complaint}");
    ExitCode::from(code)
}

/// Why something could not be done.
pub(crate) enum Trouble {
    Usage(String),
    Io(io::Error),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Says a line to whoever asked.
pub(crate) fn say(text: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    writeln!(output, "{text}")?;
    output.flush()
}

fn score(arguments: &Arguments) -> Result<u8, Trouble> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .canonicalize()?;
    let suites = files::read_all(&root)?.map_err(|mistakes| {
        let lines: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        Trouble::Usage(format!("mistakes in files:\n{}", lines.join("\n")))
    })?;
    let pairs = wanted(&suites, arguments.only.as_deref(), arguments.first);
    if pairs.is_empty() {
        return Err(Trouble::Usage(
            "no variant has such a name; see --list".to_owned(),
        ));
    }
    if arguments.list {
        for (suite, variant) in &pairs {
            say(&format!(
                "{}: {:?}",
                measure::id(suite, variant),
                variant.expects
            ))?;
        }
        return Ok(0);
    }
    let tier = arguments.tier.unwrap_or_else(Tier::own);
    if let Some(refusal) = tier.refusal() {
        return Err(Trouble::Usage(refusal.to_owned()));
    }
    fs::create_dir_all(&arguments.scratch)?;
    let scratch = arguments.scratch.canonicalize()?;
    let kept = Kept::of_tier(&scratch, tier.name());
    if !arguments.resume && !arguments.again {
        let ids = pairs
            .iter()
            .map(|(suite, variant)| measure::id(suite, variant));
        if arguments.only.is_some() || arguments.first {
            kept.forget(&ids.collect::<Vec<_>>())?;
        } else {
            kept.begin_again()?;
        }
    }
    let slowpath = built(arguments.slowpath.as_deref(), &root)?;
    let lab = std::env::current_exe()?;
    fs::create_dir_all(scratch.join(tier.name()))?;
    if let Some(file) = tier.hidden(&[&slowpath, &lab, &scratch]) {
        return Err(Trouble::Usage(format!(
            "user nobody cannot reach {}; put source tree and --scratch where everybody can look",
            file.display()
        )));
    }
    let setting = Setting {
        version: version(&slowpath, &root)?,
        slowpath,
        tier,
        calm: Duration::from_secs(arguments.calm.into()),
        scratch: scratch.join(tier.name()),
        running: Arc::new(Running::default()),
    };
    unknown_names(&setting, &pairs)?;
    let code = pass(arguments, &pairs, &lab, &root, &setting, &kept)?;
    if arguments.update && code != EXIT_INTERRUPTED {
        update(&root, &scratch, &suites)?;
    }
    Ok(code)
}

fn wanted<'a>(
    suites: &'a [Suite],
    only: Option<&str>,
    first: bool,
) -> Vec<(&'a Suite, &'a Variant)> {
    let all = suites.iter().flat_map(|suite| {
        let is_first = move |one: &Variant| {
            let same = |other: &&Variant| other.expects.is_empty() == one.expects.is_empty();
            suite
                .variants
                .iter()
                .find(same)
                .is_some_and(|it| it.name == one.name)
        };
        let some = suite
            .variants
            .iter()
            .filter(move |one| !first || is_first(one));
        some.map(move |one| (suite, one))
    });
    let matches = |id: &str| only.is_none_or(|part| is_like(id, &format!("*{part}*")));
    all.filter(|(suite, variant)| matches(&measure::id(suite, variant)))
        .collect()
}

/// Whether a text is like a pattern in which `*` stands for anything.
fn is_like(text: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => text == pattern,
        Some((start, rest)) => text.strip_prefix(start).is_some_and(|left| {
            let ends = left.char_indices().map(|(at, _)| at).chain([left.len()]);
            ends.into_iter().any(|at| is_like(&left[at..], rest))
        }),
    }
}

/// The slowpath to measure, built if it is the one beside this program.
pub(crate) fn built(given: Option<&Path>, root: &Path) -> Result<PathBuf, Trouble> {
    if let Some(path) = given {
        return path
            .canonicalize()
            .map_err(|error| Trouble::Usage(format!("--slowpath {}: {error}", path.display())));
    }
    let beside = std::env::current_exe()?.with_file_name("slowpath");
    let target = beside.parent().and_then(Path::parent).unwrap_or(root);
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--locked", "--package", "slowpath", "--target-dir"]);
    cargo.arg(target).current_dir(root).stdin(Stdio::null());
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    if !cargo.status()?.success() {
        return Err(Trouble::Usage("slowpath does not build".to_owned()));
    }
    Ok(beside)
}

/// Version and commit, with a mark if the tree has changes.
fn version(slowpath: &Path, root: &Path) -> io::Result<String> {
    let says = |command: &mut Command| -> io::Result<String> {
        let output = command.current_dir(root).stdin(Stdio::null()).output()?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let version = says(Command::new(slowpath).arg("--version"))?;
    let commit = says(Command::new("git").args(["rev-parse", "--short", "HEAD"]))?;
    let changed = says(Command::new("git").args(["status", "--porcelain", "-uno", "crates"]))?;
    let mark = if changed.is_empty() {
        ""
    } else {
        " with changes"
    };
    let version = version.trim_start_matches("slowpath ");
    // Of one profile with this program, unless another slowpath was given.
    let build = if cfg!(debug_assertions) {
        ", debug build"
    } else {
        ""
    };
    Ok(format!("{version} {commit}{mark}{build}"))
}

/// Says which expected names this slowpath has no page for: it cannot give them.
fn unknown_names(setting: &Setting, pairs: &[(&Suite, &Variant)]) -> io::Result<()> {
    let output = Command::new(&setting.slowpath)
        .arg("causes")
        .stdin(Stdio::null())
        .output()?;
    let pages = String::from_utf8_lossy(&output.stdout);
    let known: Vec<&str> = pages.split_whitespace().collect();
    let names = pairs
        .iter()
        .flat_map(|(_, one)| one.expects.iter().chain(&one.also));
    let mut unknown: Vec<&str> = names
        .map(String::as_str)
        .filter(|name| !known.contains(name))
        .collect();
    unknown.sort_unstable();
    unknown.dedup();
    if !unknown.is_empty() {
        say(&format!(
            "expected, and without a page yet: {}",
            unknown.join(", ")
        ))?;
    }
    Ok(())
}

/// Measures what is wanted and prints it.
fn pass(
    arguments: &Arguments,
    pairs: &[(&Suite, &Variant)],
    lab: &Path,
    root: &Path,
    setting: &Setting,
    kept: &Kept,
) -> io::Result<u8> {
    let known = kept.rows()?;
    let is_left = |(suite, variant): &&(&Suite, &Variant)| {
        let is_known = known.contains_key(&measure::id(suite, variant));
        if arguments.again {
            is_known
        } else {
            !(arguments.resume && is_known)
        }
    };
    let left: Vec<_> = pairs.iter().filter(is_left).collect();
    let termination = Termination::block()?;
    let places = |suite: &Suite| Places {
        lab: lab.to_owned(),
        case: suite.folder.clone(),
        cache: root.join("target/cases").join(&suite.name),
    };
    let running = Arc::clone(&setting.running);
    // Ends with the process: nothing waits for it.
    let watcher = thread::Builder::new().name("watch".to_owned());
    watcher.spawn(move || running.watch(&termination))?;
    let (next, said) = (AtomicUsize::new(0), Mutex::new(Ok(())));
    thread::scope(|scope| {
        let work = || {
            while !setting.running.is_stopped() {
                let at = next.fetch_add(1, Ordering::SeqCst);
                let Some((suite, variant)) = left.get(at) else {
                    return;
                };
                let before = known.get(&measure::id(suite, variant));
                let row = match before.filter(|_| arguments.again) {
                    Some(before) => measure::again(suite, variant, setting, before),
                    None => one(suite, variant, &places(suite), setting),
                };
                let line = |row: &Row| format!("[{:>3}/{}] {}", at + 1, left.len(), line(row));
                let mut said = said.lock().expect("nothing panics while it holds this");
                *said = match row {
                    _ if setting.running.is_stopped() => return,
                    Ok(row) => kept.add(&row).and_then(|()| say(&line(&row))),
                    Err(error) => Err(error),
                };
                if said.is_err() {
                    return;
                }
            }
        };
        let workers: Vec<_> = (0..arguments.jobs).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            // Who panics has said why.
            let _ = worker.join();
        }
    });
    said.into_inner()
        .expect("nothing panics while it holds this")?;
    finish(arguments, pairs, setting, kept)
}

fn one(suite: &Suite, variant: &Variant, places: &Places, setting: &Setting) -> io::Result<Row> {
    match recipe::set_up(suite, places, &setting.running) {
        Ok(()) => measure::measure(suite, variant, places, setting),
        Err(why) => Ok(measure::skipped(suite, variant, setting, why)),
    }
}

/// Prints the summary, and writes all rows if that is asked for.
fn finish(
    arguments: &Arguments,
    pairs: &[(&Suite, &Variant)],
    setting: &Setting,
    kept: &Kept,
) -> io::Result<u8> {
    let all = kept.rows()?;
    let ids = pairs
        .iter()
        .map(|(suite, variant)| measure::id(suite, variant));
    let rows: Vec<&Row> = ids.filter_map(|id| all.get(&id)).collect();
    for (name, is_case) in [("lab", false), ("cases", true)] {
        let rows: Vec<&Row> = rows
            .iter()
            .copied()
            .filter(|row| row.is_case == is_case)
            .collect();
        if !rows.is_empty() {
            say(&format!(
                "\n{name}, {}: {}",
                setting.tier.name(),
                setting.tier.meaning()
            ))?;
            for (what, figure) in tally(&rows).lines() {
                say(&format!("  {what:45}{figure}"))?;
            }
        }
    }
    if let Some(file) = &arguments.json {
        fs::write(file, serde_json::to_string_pretty(&rows)?)?;
    }
    if setting.running.is_stopped() {
        say(&format!(
            "interrupted: {} of {} are measured and kept; --resume goes on",
            rows.len(),
            pairs.len()
        ))?;
        return Ok(EXIT_INTERRUPTED);
    }
    let is_false = rows.iter().any(|row| row.verdict == Verdict::FalseName);
    Ok(if is_false { EXIT_FALSE_NAME } else { 0 })
}

/// A row as it is printed.
fn line(row: &Row) -> String {
    let mut parts = vec![format!(
        "{:12}{}  {}",
        row.verdict,
        row.id,
        page::names(row)
    )];
    parts.extend(row.grade.clone());
    parts.extend(
        row.unexplained
            .map(|share| format!("unexplained {}", percent(share))),
    );
    parts.push(format!("others {}", percent(row.said.others_share)));
    parts.push(format!("{:.0} s", row.seconds));
    let mut lines = vec![parts.join("  ")];
    if !row.verdict.is_good() {
        lines.extend(row.reason.clone());
    }
    // What explains it is told where the host is named.
    if !row.said.host.is_empty() && row.verdict != Verdict::Invalid {
        lines.extend(row.said.checks.iter().cloned());
    }
    if !row.verdict.is_good() {
        lines.push(row.folder.clone());
    }
    lines.join("\n          ")
}

/// Writes the page from what is kept of all tiers.
fn update(root: &Path, scratch: &Path, suites: &[Suite]) -> io::Result<()> {
    let all = wanted(suites, None, false);
    let ids = all
        .iter()
        .map(|(suite, variant)| measure::id(suite, variant));
    let ids: BTreeSet<String> = ids.collect();
    let mut tiers = Vec::new();
    for tier in Tier::ALL {
        let mut rows = Kept::of_tier(scratch, tier.name()).rows()?;
        // What files no longer have was measured under another name.
        rows.retain(|id, _| ids.contains(id));
        if !rows.is_empty() {
            tiers.push((tier, rows));
        }
    }
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: Vec<&str> = load.split(' ').take(3).collect();
    let load = format!(
        "Load averages at the end of the last pass: {}.",
        load.join(", ")
    );
    let file = root.join("docs/accuracy.md");
    fs::write(&file, page::page(&tiers, &load))?;
    say(&format!("written: {}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, is_expected) in [
            ("lab/*", true),
            ("*healthy", true),
            ("lab/*/heal*", true),
            ("*", true),
            ("lab/a/healthy", true),
            ("cases/*", false),
            ("lab/*/sick*", false),
            ("*heal", false),
        ] {
            assert_eq!(is_like("lab/a/healthy", pattern), is_expected, "{pattern}");
        }
    }

    #[test]
    fn of_each_suite_the_first_of_both_kinds_is_taken() {
        let sick = |name| (name, vec!["fixed-delay".to_owned()]);
        let healthy = |name| (name, Vec::new());
        let all = [sick("a"), sick("b"), healthy("c"), healthy("d"), sick("e")];
        let suite = Suite {
            origin: files::Origin::Lab,
            name: "s".to_owned(),
            folder: PathBuf::new(),
            recipe: files::Recipe::default(),
            variants: Vec::from(all.map(|(name, expects)| Variant {
                name: name.to_owned(),
                expects,
                ..Variant::default()
            })),
        };
        let suites = [suite];
        let names = |first| -> Vec<&str> {
            let some = wanted(&suites, None, first).into_iter();
            some.map(|(_, variant)| variant.name.as_str()).collect()
        };
        assert_eq!(names(true), ["a", "c"]);
        assert_eq!(names(false), ["a", "b", "c", "d", "e"]);
    }

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Arguments::command().debug_assert();
    }
}

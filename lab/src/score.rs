//! The scoreboard: how often slowpath names the right cause, and only that, of the lab's servers
//! and of software that others wrote. It runs slowpath as a user does and reads its reports.

mod build;
mod corpus;
mod files;
mod first_look;
mod host;
mod keep;
mod measure;
mod outcome;
mod page;
mod pass;
mod process;
mod recipe;
mod remote;
mod sensitivity;
mod tally;
mod tier;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{Parser, Subcommand};

pub(crate) use self::build::built;
use self::files::{Mistake, Suite, Variant};
use self::keep::{Kept, Row};
use self::measure::Setting;
use self::pass::Pass;
use self::process::Running;
use self::recipe::Places;
use self::tier::Tier;

/// The word that asks for the scoreboard.
pub(crate) const WORD: &str = "score";

const EXIT_FAILED: u8 = 1;
const EXIT_USAGE: u8 = 2;
/// A name that should not be there, on a healthy server.
const EXIT_FALSE_NAME: u8 = 3;
const EXIT_INTERRUPTED: u8 = 130;

/// Measures how often slowpath names the right cause, and only that.
///
/// Reads lab/score/*.toml and cases/*/case.toml, or a first-look batch, runs each variant, and prints
/// a line for each and a summary. Exit codes: 0 done, 1 failed, 2 usage or a mistake in a file, 3 a name on a healthy
/// server, 130 interrupted (what was measured is kept).
#[derive(Debug, Parser)]
#[command(
    name = "lab score",
    max_term_width = 100,
    args_conflicts_with_subcommands = true
)]
struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
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
    /// Run a batch of first-look/ once and in full, and write its result.json. BATCH is a name below
    /// first-look/, or a path.
    #[arg(long, value_name = "BATCH")]
    first_look: Option<String>,
    /// Run the batch for the regression figures: its result.json stays as it is.
    #[arg(long, requires = "first_look")]
    regression: bool,
    /// Judge the recorded runs of a corpus again, and print what moved since the last time.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["first_look", "again", "resume", "update", "tier", "first", "list", "json"])]
    corpus: Option<PathBuf>,
    /// Judge the runs that are kept again instead of measuring: after a change of a detector or of
    /// what is expected. Of a first-look batch this gives regression figures.
    #[arg(long, conflicts_with = "resume")]
    again: bool,
    /// Where to put all rows as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write docs/accuracy.md from the first-look results and what is kept of all tiers.
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
    /// Run the setups and measure nothing, so that nothing is compiled or installed between the measurements.
    #[arg(long, conflicts_with_all = ["again", "update", "list", "json"])]
    prepare: bool,
    /// The slowpath to measure; otherwise that which cargo builds beside this program.
    #[arg(long, value_name = "PATH")]
    slowpath: Option<PathBuf>,
    /// Where runs and rows lie.
    #[arg(long, value_name = "DIR", default_value = "target/score")]
    scratch: PathBuf,
}

/// What is done with recorded runs.
#[derive(Debug, Subcommand)]
enum Action {
    /// Copy the recorded runs of a batch, or of all variants whose name is like GLOB, into a corpus.
    Freeze {
        /// A batch of first-look/, or a pattern of names.
        #[arg(value_name = "BATCH|GLOB")]
        what: String,
        /// The corpus; runs of the same variants are replaced.
        #[arg(long, value_name = "DIR", default_value = "target/corpus")]
        to: PathBuf,
        /// Where the runs lie.
        #[arg(long, value_name = "DIR", default_value = "target/score")]
        scratch: PathBuf,
    },
    /// Multiply constants of the judgement by 0.7 and 1.3, and judge a corpus with each: which
    /// verdicts depend on them. Written to target/sensitivity/table.md; the same command goes on
    /// after an interruption.
    Sensitivity {
        /// The recorded runs.
        #[arg(long, value_name = "DIR", default_value = "target/corpus")]
        corpus: PathBuf,
        /// Which constants, as a pattern of FILE::NAME: KIND; otherwise all of f64 in detectors and
        /// rules.
        #[arg(long, value_name = "REGEX")]
        constants: Option<String>,
        /// So many constants at most.
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
        /// Judgements at a time.
        #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=16))]
        jobs: u8,
    },
}

/// Does what the command line asks for.
pub(crate) fn run(words: &[String]) -> ExitCode {
    let name = "lab score".to_owned();
    let arguments = match Arguments::try_parse_from(std::iter::once(&name).chain(words)) {
        Ok(arguments) => arguments,
        Err(error) => {
            // With the terminal gone there is no one left to report to.
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
#[derive(Debug)]
pub(crate) enum Trouble {
    Usage(String),
    Io(io::Error),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Says a line to the user.
pub(crate) fn say(text: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    writeln!(output, "{text}")?;
    output.flush()
}

fn score(arguments: &Arguments) -> Result<u8, Trouble> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .canonicalize()?;
    match &arguments.action {
        Some(Action::Freeze { what, to, scratch }) => {
            corpus::freeze(&root, scratch, what, to)?;
            return Ok(0);
        }
        Some(Action::Sensitivity {
            corpus,
            constants,
            limit,
            jobs,
        }) => {
            return sensitivity::run(&sensitivity::Request {
                root: &root,
                corpus,
                constants: constants.as_deref(),
                limit: *limit,
                jobs: *jobs,
            });
        }
        None => {}
    }
    if let Some(folder) = &arguments.corpus {
        let slowpath = built(arguments.slowpath.as_deref(), &root)?;
        let version = build::version(&slowpath, &root)?;
        let setting = Setting::explain(slowpath, version, folder.canonicalize()?);
        return corpus::run(folder, &setting, arguments.only.as_deref(), arguments.jobs);
    }
    measured(arguments, &root)
}

/// Measures or judges again what the command line asks for.
fn measured(arguments: &Arguments, root: &Path) -> Result<u8, Trouble> {
    let batch = arguments.first_look.as_deref();
    let batch = batch
        .map(|name| first_look::folder(root, name))
        .transpose()?;
    let suites = match &batch {
        Some(folder) => checked(files::read_batch(root, folder)?)?,
        None => checked(files::read_all(root)?)?,
    };
    let pairs = wanted(&suites, arguments.only.as_deref(), arguments.first);
    if pairs.is_empty() {
        return Err(Trouble::Usage(
            "no variant has such a name; see --list".to_owned(),
        ));
    }
    let lab = std::env::current_exe()?;
    if arguments.list {
        list(&pairs)?;
        let slowpath = built(arguments.slowpath.as_deref(), root)?;
        accepted(&slowpath, &pairs, &lab, root)?;
        return Ok(0);
    }
    let tier = arguments.tier.unwrap_or_else(Tier::own);
    if let Some(refusal) = tier.refusal().filter(|_| !arguments.again) {
        return Err(Trouble::Usage(refusal.to_owned()));
    }
    fs::create_dir_all(&arguments.scratch)?;
    let scratch = arguments.scratch.canonicalize()?;
    let plan = plan(arguments, &pairs, batch.as_deref(), &scratch, tier)?;
    let slowpath = built(arguments.slowpath.as_deref(), root)?;
    if !arguments.again {
        accepted(&slowpath, &pairs, &lab, root)?;
    }
    fs::create_dir_all(scratch.join(&plan.runs))?;
    if let Some(file) = tier.hidden(&[&slowpath, &lab, &scratch]) {
        return Err(Trouble::Usage(format!(
            "user nobody cannot reach {}; put source tree and --scratch where every user can look",
            file.display()
        )));
    }
    let setting = Setting {
        version: build::version(&slowpath, root)?,
        slowpath,
        tier,
        calm: Duration::from_secs(arguments.calm.into()),
        scratch,
        runs: plan.runs,
        is_once: plan.is_once,
        running: Arc::new(Running::default()),
    };
    build::unknown_names(&setting.slowpath, &pairs)?;
    let pass = Pass {
        pairs: &pairs,
        lab: &lab,
        root,
        setting: &setting,
        kept: &plan.kept,
        jobs: arguments.jobs,
        is_again: arguments.again,
    };
    if arguments.prepare {
        return Ok(pass.prepare()?);
    }
    let code = pass.run(&plan.known, arguments.json.as_deref())?;
    if arguments.update && code != EXIT_INTERRUPTED {
        update(root, &setting.scratch)?;
    }
    Ok(code)
}

/// Says what would be measured, and not what is expected: a batch is checked by people who have not seen its answers.
fn list(pairs: &[(&Suite, &Variant)]) -> io::Result<()> {
    for (suite, variant) in pairs {
        say(&measure::id(suite, variant))?;
    }
    Ok(())
}

/// Refuses to begin where slowpath refuses a scenario: a pass of half its variants would have to be measured twice.
fn accepted(
    slowpath: &Path,
    pairs: &[(&Suite, &Variant)],
    lab: &Path,
    root: &Path,
) -> Result<(), Trouble> {
    let refused = build::refused(slowpath, pairs, |suite| Places::of(suite, lab, root))?;
    if refused.is_empty() {
        return Ok(());
    }
    let all = refused.join("\n");
    Err(Trouble::Usage(format!(
        "scenarios that slowpath refuses:\n{all}"
    )))
}

/// Where the rows of a pass go, and which are there.
struct Plan {
    kept: Kept,
    /// Below the scratch folder: where runs lie.
    runs: String,
    is_once: bool,
    /// Rows that are not measured now: they stand, or are judged again.
    known: BTreeMap<String, Row>,
}

fn plan(
    arguments: &Arguments,
    pairs: &[(&Suite, &Variant)],
    batch: Option<&Path>,
    scratch: &Path,
    tier: Tier,
) -> Result<Plan, Trouble> {
    let ids = pairs
        .iter()
        .map(|(suite, variant)| measure::id(suite, variant));
    let ids: Vec<String> = ids.collect();
    let first = batch.map(|folder| Kept::first_look(folder, tier.name()));
    if let Some(kept) = first {
        let mut known = kept.rows()?;
        if !arguments.regression && !arguments.again {
            first_look::check(arguments, &ids, &known)?;
            known.retain(|_, row| first_look::is_done(row));
            let runs = tier.name().to_owned();
            return Ok(Plan {
                kept,
                runs,
                is_once: true,
                known,
            });
        }
        let runs = first_look::regression(tier);
        let kept = Kept::of_tier(scratch, &runs);
        if arguments.again {
            known.extend(kept.rows()?);
        } else {
            known = left(arguments, &kept, &ids)?;
        }
        return Ok(Plan {
            kept,
            runs,
            is_once: false,
            known,
        });
    }
    let kept = Kept::of_tier(scratch, tier.name());
    Ok(Plan {
        known: left(arguments, &kept, &ids)?,
        kept,
        runs: tier.name().to_owned(),
        is_once: false,
    })
}

/// Rows that stand, after those that are to be measured are taken out.
fn left(arguments: &Arguments, kept: &Kept, ids: &[String]) -> io::Result<BTreeMap<String, Row>> {
    if !arguments.resume && !arguments.again {
        if arguments.only.is_some() || arguments.first || arguments.first_look.is_some() {
            kept.forget(ids)?;
        } else {
            kept.begin_again()?;
        }
    }
    kept.rows()
}

fn checked(read: Result<Vec<Suite>, Vec<Mistake>>) -> Result<Vec<Suite>, Trouble> {
    read.map_err(|mistakes| {
        let lines: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        Trouble::Usage(format!("mistakes in files:\n{}", lines.join("\n")))
    })
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

/// Whether a text is like a pattern in which `*` matches anything.
fn is_like(text: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => text == pattern,
        Some((start, rest)) => text.strip_prefix(start).is_some_and(|left| {
            let ends = left.char_indices().map(|(at, _)| at).chain([left.len()]);
            ends.into_iter().any(|at| is_like(&left[at..], rest))
        }),
    }
}

/// Writes the page from the results of first looks and from what is kept of all tiers.
fn update(root: &Path, scratch: &Path) -> Result<(), Trouble> {
    let mut suites = checked(files::read_all(root)?)?;
    let mut batches = Vec::new();
    for folder in files::batches(root)? {
        let batch = checked(files::read_batch(root, &folder)?)?;
        if let Some(suite) = batch.first() {
            let mut tiers = Vec::new();
            for tier in Tier::ALL {
                tiers.push((tier, Kept::first_look(&folder, tier.name()).rows()?));
            }
            tiers.retain(|(_, rows)| !rows.is_empty());
            batches.push(page::Batch {
                group: suite.group.clone(),
                tiers,
                first_run: fs::read_to_string(folder.join("first-run.md")).ok(),
            });
        }
        suites.extend(batch);
    }
    let mut tiers = Vec::new();
    for tier in Tier::ALL {
        let mut rows = Kept::of_tier(scratch, tier.name()).rows()?;
        rows.extend(Kept::of_tier(scratch, &first_look::regression(tier)).rows()?);
        tiers.push((tier, rows));
    }
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: Vec<&str> = load.split(' ').take(3).collect();
    let load = format!(
        "Load averages at the end of the last pass: {}.",
        load.join(", ")
    );
    let all = wanted(&suites, None, false);
    let variants = all
        .into_iter()
        .map(|(suite, variant)| (measure::id(suite, variant), variant));
    let page = page::Page {
        batches,
        variants: variants.collect(),
        tiers,
        load,
    };
    let file = root.join("docs/accuracy.md");
    fs::write(&file, page.text())?;
    Ok(say(&format!("written: {}", file.display()))?)
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
            group: "lab".to_owned(),
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

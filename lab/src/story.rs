//! A live story for the investigation log: five releases of a server, of which the first is sick, the
//! second and the third are mended wrong and in part, the fourth is well and the fifth is sick again.
//! Each is measured, and the log has to say so.

mod page;
mod releases;

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use clap::Parser;
use serde_json::Value;

use self::releases::{CAUSE, INVESTIGATION, RELEASES, Release};
use crate::score::{Trouble, built, say};

/// The word that asks for the story.
pub(crate) const WORD: &str = "story";

/// Something else is said than what is true, or the story could not be run.
const EXIT_DIFFERS: u8 = 1;
const EXIT_USAGE: u8 = 2;
/// The scenario, which distinguishes a folder of an earlier story from any other.
const SCENARIO: &str = "shop.toml";

/// Measures five releases of a server whose fault is known, with slowpath and its investigation log.
///
/// A fault, a wrong fix, a fix of half of it, the right one, and the fault once more, in about two
/// minutes. Prints the log after each release, and at the end what it should have said and did not:
/// exit codes are 0 as it should be, 1 otherwise, 2 usage.
#[derive(Debug, Parser)]
#[command(name = "lab story", max_term_width = 100)]
struct Arguments {
    /// Where runs, the log and its pages are put; what an earlier story left there is removed.
    #[arg(long, value_name = "DIR", default_value = "target/story")]
    into: PathBuf,
    /// The slowpath that runs it; otherwise that which cargo builds beside this program.
    #[arg(long, value_name = "PATH")]
    slowpath: Option<PathBuf>,
}

/// Does what the command line asks for.
pub(crate) fn run(words: &[String]) -> ExitCode {
    let name = "lab story".to_owned();
    let arguments = match Arguments::try_parse_from(std::iter::once(&name).chain(words)) {
        Ok(arguments) => arguments,
        Err(error) => {
            // With the terminal gone there is no one left to report to.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { EXIT_USAGE } else { 0 });
        }
    };
    let (code, complaint) = match story(&arguments) {
        Ok(wrong) if wrong.is_empty() => return ExitCode::SUCCESS,
        Ok(wrong) => (
            EXIT_DIFFERS,
            format!(
                "differs (on a host that others use, once more decides):\n  {}",
                wrong.join("\n  ")
            ),
        ),
        Err(Trouble::Usage(text)) => (EXIT_USAGE, text),
        Err(Trouble::Io(error)) => (EXIT_DIFFERS, error.to_string()),
    };
    let _ = writeln!(io::stderr(), "lab story: {complaint}");
    ExitCode::from(code)
}

/// The project that the story is about.
struct Project {
    slowpath: PathBuf,
    lab: PathBuf,
    folder: PathBuf,
}

/// Runs all of it; returns what it should have been and was not.
fn story(arguments: &Arguments) -> Result<Vec<String>, Trouble> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .canonicalize()?;
    let folder = begun(&arguments.into)?;
    let project = Project {
        slowpath: built(arguments.slowpath.as_deref(), &root)?,
        lab: std::env::current_exe()?,
        folder,
    };
    let mut wrong = Vec::new();
    for release in &RELEASES {
        project.tell(release, &mut wrong)?;
    }
    project.log(&["calibration"])?;
    project.log(&["check"])?;
    project.log(&["render"])?;
    page::save(&project.slowpath, &project.folder, INVESTIGATION)?;
    say(&format!(
        "\nin {}: INVESTIGATIONS.md, BENCHMARKS.md, the log's page in investigation.html, and each \
         release's report; `slowpath serve` shows it all there",
        project.folder.display()
    ))?;
    if wrong.is_empty() {
        say("all that the log should say of these releases, it says")?;
    }
    Ok(wrong)
}

/// An empty folder.
fn begun(into: &Path) -> Result<PathBuf, Trouble> {
    if into.exists() {
        let is_empty = fs::read_dir(into)?.next().is_none();
        if !is_empty && !into.join(SCENARIO).is_file() {
            let what = format!(
                "{} holds something else than a story; name another folder with --into",
                into.display()
            );
            return Err(Trouble::Usage(what));
        }
        fs::remove_dir_all(into)?;
    }
    fs::create_dir_all(into)?;
    Ok(into.canonicalize()?)
}

impl Project {
    /// Predicts, changes, measures, and looks at what the log makes of it.
    fn tell(&self, release: &Release, wrong: &mut Vec<String>) -> io::Result<()> {
        say(&format!("\n=== {}: {}", release.name, release.what))?;
        if let Some(supposed) = &release.supposed {
            self.log(&[
                "predict",
                INVESTIGATION,
                releases::WELL,
                "--because",
                supposed.because,
                "--cause",
                supposed.cause,
                "--due",
                release.name,
            ])?;
            let change = ["note", INVESTIGATION, supposed.change, "--kind", "change"];
            let of = ["--of", "last", "--release", release.name];
            self.log(&[&change[..], &of].concat())?;
        }
        fs::write(
            self.folder.join(SCENARIO),
            releases::scenario(&self.lab, release),
        )?;
        let report = format!("{}.json", release.name);
        let run = ["run", SCENARIO, "--release", release.name];
        self.say(&[&run[..], &["--quiet", "--json", &report]].concat())?;
        let report = read(&self.folder.join(&report))?;
        let id = report["run"]["id"].as_str().unwrap_or_default();
        fs::copy(
            self.folder
                .join(".slowpath/runs")
                .join(id)
                .join("report.html"),
            self.folder.join(format!("{}.html", release.name)),
        )?;
        if release.supposed.is_none() && release.verdict.is_none() {
            let title = "The tail of search";
            let new = ["new", title, "--id", INVESTIGATION];
            self.log(&[&new[..], &["--metric", "search.p99", "--run", "last"]].concat())?;
        }
        if let Some(because) = release.closed {
            let close = ["close", INVESTIGATION, "--as", "fixed"];
            self.log(&[&close[..], &["--because", because]].concat())?;
        }
        self.log(&["show", INVESTIGATION])?;
        let log = read(&self.folder.join("log.json"))?;
        wrong.extend(release.differs(&log));
        if releases::is_followed(&report) {
            wrong.extend(release.misnamed(releases::cause(&report)));
        } else {
            say(&format!(
                "{}: the threads were not followed here: that {CAUSE} is named is not checked",
                release.name
            ))?;
        }
        Ok(())
    }

    /// `slowpath log ARGS`, with its answer in `log.json`.
    fn log(&self, args: &[&str]) -> io::Result<()> {
        self.say(&[&["log"][..], args, &["--json", "log.json"]].concat())
    }

    /// Runs slowpath as a user does, who sees what it says.
    fn say(&self, args: &[&str]) -> io::Result<()> {
        let words: Vec<String> = args.iter().map(|word| quoted(word)).collect();
        say(&format!("\n$ slowpath {}", words.join(" ")))?;
        let mut command = Command::new(&self.slowpath);
        command.args(args).current_dir(&self.folder);
        let status = command.stdin(Stdio::null()).status()?;
        if status.success() {
            return Ok(());
        }
        let what = format!("slowpath {} ended with {status}", words.join(" "));
        Err(io::Error::other(what))
    }
}

/// A word as one types it.
fn quoted(word: &str) -> String {
    if word.contains(' ') {
        format!("{word:?}")
    } else {
        word.to_owned()
    }
}

fn read(file: &Path) -> io::Result<Value> {
    Ok(serde_json::from_slice(&fs::read(file)?)?)
}

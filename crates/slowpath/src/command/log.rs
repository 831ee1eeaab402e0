//! `slowpath log`: the investigation log.

use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

use anyhow::Result;
use slowpath_core::figures::RunFigures;
use slowpath_core::investigation::Investigation;
use slowpath_experiment::log::{InvestigationView, Log, LogMistake, LogReport, Status, benchmarks};
use slowpath_record::scenario::Mistake;
use slowpath_record::{Book, Store, read_investigations, write_derived};
use slowpath_report::NotOurs;

use crate::cli::{LogArgs, LogVerb, Stands};
use crate::exit::{Exit, Problem};
use crate::stored::Missing;
use crate::{out, store, stored};

pub(crate) mod after;
mod closing;
mod entries;
mod opening;
pub(crate) mod proved;

/// The page of all investigations.
const INVESTIGATIONS: &str = "INVESTIGATIONS.md";
/// The page of all releases.
const BENCHMARKS: &str = "BENCHMARKS.md";

/// Reads the log, does what was asked, prints.
pub(crate) fn log(args: &LogArgs) -> Result<Exit> {
    store::check_copy(args.json.as_deref())?;
    let kept = || Kept::read(&args.dir);
    match &args.verb {
        None => tell(args, list(&kept()?, None)),
        Some(LogVerb::List { status }) => tell(args, list(&kept()?, *status)),
        Some(LogVerb::Show { id }) => {
            let kept = kept()?;
            let report = only(kept.report(), &kept.find(id)?.id);
            let text = slowpath_report::investigations_terminal(&report, out::style());
            tell(args, (text, report))
        }
        Some(LogVerb::New(new)) => written(args, opening::new(&kept()?, new)?),
        Some(LogVerb::Note(note)) => written(args, entries::note(&kept()?, note)?),
        Some(LogVerb::Predict(asked)) => written(args, entries::predict(&kept()?, asked)?),
        Some(LogVerb::Close(close)) => written(args, closing::close(&kept()?, close)?),
        Some(LogVerb::Reopen {
            id,
            because,
            evidence,
        }) => written(args, closing::reopen(&kept()?, id, because, evidence)?),
        Some(LogVerb::Due) => {
            let report = kept()?.report();
            let text = slowpath_report::due_terminal(&report, out::style());
            tell(args, (text, report))
        }
        Some(LogVerb::Calibration) => {
            let report = kept()?.report();
            let text = slowpath_report::calibration_terminal(&report, out::style());
            tell(args, (text, report))
        }
        Some(LogVerb::Check { no_runs }) => check(args, *no_runs),
        Some(LogVerb::Render { to }) => {
            let mut kept = kept()?;
            // A run without figures would be a release that is lost.
            kept.runs = stored::all(&|_, _| true, Missing::Judge)?;
            render(args, &kept, to)
        }
    }
}

/// The log and the runs, as they are stored.
#[derive(Debug)]
pub(crate) struct Kept<'a> {
    dir: &'a Path,
    investigations: Vec<Investigation>,
    runs: Vec<RunFigures>,
}

impl<'a> Kept<'a> {
    /// Reads both.
    pub(crate) fn read(dir: &'a Path) -> Result<Self, Problem> {
        let book = read(dir)?;
        if !book.mistakes.is_empty() {
            return Err(mistaken(&book.mistakes));
        }
        Ok(Self {
            dir,
            investigations: book.investigations,
            runs: stored::all(&|_, _| true, Missing::Skip)?,
        })
    }

    /// Both, as they are judged.
    fn log(&self) -> Log<'_> {
        Log::new(&self.investigations, &self.runs)
    }

    fn report(&self) -> LogReport {
        LogReport::of(&self.log())
    }

    /// The investigation that a person means: its name, or the beginning of it.
    fn find(&self, text: &str) -> Result<&Investigation, Problem> {
        let all = self.investigations.iter();
        let fits: Vec<&Investigation> = all.filter(|one| one.id.starts_with(text)).collect();
        let exact = fits.iter().find(|one| one.id == text);
        match (exact, fits.as_slice()) {
            (Some(one), _) | (None, [one]) => Ok(one),
            (None, []) => Err(Problem::usage(
                format!("there is no investigation {text:?}"),
                self.names(),
            )),
            (None, several) => {
                let names: Vec<&str> = several.iter().map(|one| one.id.as_str()).collect();
                Err(Problem::usage(
                    format!("{text:?} is the beginning of several investigations"),
                    format!("one of {}", names.join(", ")),
                ))
            }
        }
    }

    fn names(&self) -> String {
        let names: Vec<&str> = self
            .investigations
            .iter()
            .map(|one| one.id.as_str())
            .collect();
        if names.is_empty() {
            "slowpath log new opens one".to_owned()
        } else {
            format!("one of {}", names.join(", "))
        }
    }
}

/// The investigations with an entry that rests on a run, in a project that keeps a log. A log that
/// cannot be read has none: the code that writes to it says so.
pub(crate) fn told_of(run: &str) -> Vec<InvestigationView> {
    let book = read_investigations(Path::new(after::FOLDER)).unwrap_or_default();
    let mut all = book.investigations;
    all.retain(|one| {
        let mut entries = one.entries.iter();
        entries.any(|entry| entry.runs.iter().any(|id| id == run))
    });
    LogReport::of(&Log::new(&all, &[])).investigations
}

fn read(dir: &Path) -> Result<Book, Problem> {
    read_investigations(dir)
        .map_err(|error| Problem::environment(error, "give --dir a folder that can be read"))
}

/// All mistakes as one trouble.
fn mistaken(mistakes: &[Mistake]) -> Problem {
    let lines: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
    let what = match lines.len() {
        1 => lines.join("\n"),
        n => format!("{n} mistakes in the log\n{}", lines.join("\n")),
    };
    Problem::usage(what, "")
}

/// Prints an answer and writes its copy.
fn tell(args: &LogArgs, (text, report): (String, LogReport)) -> Result<Exit> {
    out::answer(&text);
    store::write_copy(args.json.as_deref(), &slowpath_report::log_json(&report))?;
    Ok(Exit::Done)
}

fn list(kept: &Kept<'_>, status: Option<Stands>) -> (String, LogReport) {
    let mut report = kept.report();
    report.investigations.retain(|one| match status {
        None => true,
        Some(Stands::Open) => one.status == Status::Open,
        Some(Stands::Explained) => one.status == Status::Explained,
        Some(Stands::Fixed) => one.status.is_fixed(),
        Some(Stands::NotFixed) => one.status == Status::NotFixed,
        Some(Stands::Refuted) => one.status == Status::Refuted,
    });
    (slowpath_report::log_terminal(&report, out::style()), report)
}

/// A report with one investigation and what waits in it.
fn only(mut report: LogReport, id: &str) -> LogReport {
    report.investigations.retain(|one| one.id == id);
    report.due.retain(|one| one.investigation == id);
    report
}

/// What a verb wrote: the investigation's name, and the file.
struct Wrote {
    id: String,
    file: String,
}

/// Reports what was written, and how the investigation stands now.
fn written(args: &LogArgs, wrote: Wrote) -> Result<Exit> {
    let now = Kept::read(&args.dir)?;
    let mut report = only(now.report(), &wrote.id);
    let status = report.investigations.first().map(|one| one.status.words());
    let status = status.unwrap_or_default();
    let text = format!("{}: {status}\nwrote {}\n", wrote.id, wrote.file);
    report.written.push(wrote.file);
    tell(args, (text, report))
}

/// Reads every file, and says all that is wrong.
fn check(args: &LogArgs, no_runs: bool) -> Result<Exit> {
    let mut book = read(&args.dir)?;
    if !no_runs {
        unstored(&mut book)?;
    }
    let runs = stored::all(&|_, _| true, Missing::Skip)?;
    let mut report = LogReport::of(&Log::new(&book.investigations, &runs));
    let told = book.mistakes.iter().map(|mistake| LogMistake {
        file: mistake.file.clone(),
        line: mistake.line as u64,
        key: mistake.key.clone(),
        what: mistake.what.clone(),
        remedy: mistake.remedy.clone(),
    });
    report.mistakes = told.collect();
    store::write_copy(args.json.as_deref(), &slowpath_report::log_json(&report))?;
    if !book.mistakes.is_empty() {
        return Err(mistaken(&book.mistakes).into());
    }
    let entries: usize = book
        .investigations
        .iter()
        .map(|one| one.entries.len())
        .sum();
    let count = book.investigations.len();
    out::answer(&format!(
        "investigations {count}, entries {entries}: nothing is wrong\n"
    ));
    Ok(Exit::Done)
}

/// Notes every run that an entry rests on and that is not stored here.
fn unstored(book: &mut Book) -> Result<(), Problem> {
    let runs = Store::new(store::RUNS);
    let ids = runs
        .ids()
        .map_err(|error| Problem::environment(error, "run where .slowpath can be read"))?;
    for cited in &book.cited {
        if !ids.contains(&cited.run) {
            book.mistakes.push(Mistake {
                file: cited.file.clone(),
                line: cited.line,
                key: "runs".to_owned(),
                what: format!("run {} is not stored in {}", cited.run, store::RUNS),
                remedy: "bring its folder here, or check with --no-runs where runs are not kept"
                    .to_owned(),
            });
        }
    }
    book.mistakes
        .sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
    Ok(())
}

/// Writes both pages, or neither. That of the releases stays as it is where no run is stored.
fn render(args: &LogArgs, kept: &Kept<'_>, to: &Path) -> Result<Exit> {
    let mut report = kept.report();
    let folder = seen_from(to, kept.dir);
    let text = slowpath_report::investigations_markdown(&report, &folder);
    let mut pages = vec![(INVESTIGATIONS, around(to, INVESTIGATIONS, &text)?)];
    if kept.runs.is_empty() {
        out::say(&format!(
            "no run is stored here: {BENCHMARKS} is left as it is"
        ));
    } else {
        let old = old_page(&to.join(BENCHMARKS))?.unwrap_or_default();
        let text = releases_page(kept.runs.clone(), &old);
        pages.push((BENCHMARKS, around(to, BENCHMARKS, &text)?));
    }
    let mut said = String::new();
    for (name, text) in pages {
        write_derived(to, name, text.as_bytes()).map_err(|error| {
            Problem::environment(error, "give --to a folder that exists and can be written")
        })?;
        let path = to.join(name).display().to_string();
        let _ = writeln!(said, "wrote {path}");
        report.written.push(path);
    }
    tell(args, (said, report))
}

/// The page of the releases: those of the stored runs, and those that it showed before of runs that are
/// stored elsewhere.
fn releases_page(mut runs: Vec<RunFigures>, old: &str) -> String {
    let is_stored = |id: &String| runs.iter().any(|run| run.id == *id);
    let mut elsewhere = slowpath_report::told_releases(old);
    elsewhere.retain(|release| !release.runs.iter().all(is_stored));
    // Where only some of its runs are stored, all of them stay as they were on the page.
    runs.retain(|run| {
        !elsewhere
            .iter()
            .any(|release| release.runs.contains(&run.id))
    });
    slowpath_report::benchmarks_markdown(&benchmarks(&runs), &elsewhere)
}

/// A page with our part of it, and what others wrote around it.
fn around(to: &Path, name: &str, text: &str) -> Result<String, Problem> {
    let path = to.join(name);
    slowpath_report::page(old_page(&path)?.as_deref(), text).map_err(|NotOurs| {
        Problem::usage(
            format!("{} was not written by slowpath log render", path.display()),
            NotOurs::remedy(),
        )
    })
}

/// The text of a page that is there already.
fn old_page(path: &Path) -> Result<Option<String>, Problem> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Problem::environment(
            format!("{} cannot be read: {error}", path.display()),
            "name another folder with --to",
        )),
    }
}

/// A folder as a page in another one links to it.
fn seen_from(page: &Path, folder: &Path) -> String {
    let up = page
        .components()
        .filter(|part| matches!(part, Component::Normal(_)));
    let up = if folder.is_absolute() { 0 } else { up.count() };
    let folder = folder
        .components()
        .filter(|part| *part != Component::CurDir);
    let folder: PathBuf = folder.collect();
    format!("{}{}", "../".repeat(up), folder.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_elsewhere_links_back() {
        let from = |page: &str| seen_from(Path::new(page), Path::new("investigations"));
        assert_eq!(from("."), "investigations");
        assert_eq!(from("docs/perf"), "../../investigations");
        assert_eq!(
            seen_from(Path::new("docs"), Path::new("/srv/log")),
            "/srv/log"
        );
    }
}

//! The investigation log: all of it, and one thread with what is stored of its evidence.

use slowpath_core::figures::RunFigures;
use slowpath_core::investigation::{Investigation, Target};
use slowpath_experiment::history::{Ask as Wanted, History};
use slowpath_experiment::log::{InvestigationView, Log, LogMistake, LogReport};
use slowpath_record::{Book, read_investigations};
use slowpath_report::site::{BrokenFile, Evidence, investigations_page, thread_page};

use super::answer::{Answer, Ask, Served, Trouble};
use super::shelf::Stored;
use crate::stored;

/// The most bytes of a file that is shown beside an entry: pictures, not archives.
const FILE_BYTES_MOST: u64 = 32 << 20;

/// The log as it is shown.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) report: LogReport,
    investigations: Vec<Investigation>,
    broken: Vec<BrokenFile>,
}

/// Reads and judges the log; `None` of a project that keeps none.
pub(super) fn told(served: &Served, all: &[Stored]) -> Result<Option<Told>, Trouble> {
    if !served.log.is_dir() {
        return Ok(None);
    }
    let Book {
        investigations,
        mistakes,
        ..
    } = read_investigations(&served.log).map_err(|error| {
        Trouble::broken(error.to_string(), "give --dir a folder that can be read")
    })?;
    let mut runs: Vec<&RunFigures> = all.iter().filter_map(Stored::figures).collect();
    stored::sort(&mut runs);
    let mut report = LogReport::of(&Log::new(&investigations, runs));
    let broken: Vec<BrokenFile> = mistakes
        .into_iter()
        .map(|mistake| BrokenFile {
            investigation: folder(&mistake.file),
            mistake: LogMistake {
                file: mistake.file,
                line: mistake.line as u64,
                key: mistake.key,
                what: mistake.what,
                remedy: mistake.remedy,
            },
        })
        .collect();
    report.mistakes = broken.iter().map(|one| one.mistake.clone()).collect();
    Ok(Some(Told {
        report,
        investigations,
        broken,
    }))
}

/// The folder that a file of the log lies in.
fn folder(file: &str) -> String {
    let parent = std::path::Path::new(file).parent();
    let name = parent.and_then(|parent| parent.file_name());
    name.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// The investigations with an entry that rests on a run: names and titles.
pub(super) fn citing(served: &Served, run: &str) -> Vec<(String, String)> {
    let book = read_investigations(&served.log).unwrap_or_default();
    let cites = |one: &&Investigation| {
        let mut entries = one.entries.iter();
        entries.any(|entry| entry.runs.iter().any(|id| id == run))
    };
    let citing = book.investigations.iter().filter(cites);
    citing
        .filter_map(|one| Some((one.id.clone(), one.symptom()?.title.clone())))
        .collect()
}

/// The whole log.
pub(super) fn investigations(served: &Served, ask: &Ask) -> Result<Answer, Trouble> {
    let told = told(served, &served.shelf.all()?)?;
    let folder = served.log.display().to_string();
    if ask.json {
        let none = || Trouble::unknown(format!("there is no folder {folder}"), "slowpath log new");
        let told = told.ok_or_else(none)?;
        return Ok(Answer::Json(slowpath_report::log_json(&told.report)));
    }
    let broken = told.as_ref().map_or(&[][..], |told| told.broken.as_slice());
    let report = told.as_ref().map(|told| &told.report);
    Ok(Answer::Page(investigations_page(
        &served.site,
        &folder,
        report,
        broken,
    )))
}

/// One investigation.
pub(super) fn thread(served: &Served, ask: &Ask) -> Result<Answer, Trouble> {
    let all = served.shelf.all()?;
    let id = ask.get("id").unwrap_or_default();
    let mut told = told(served, &all)?.ok_or_else(|| {
        let what = format!("this project has no folder {}", served.log.display());
        Trouble::unknown(what, "`slowpath log new` opens an investigation")
    })?;
    let broken: Vec<BrokenFile> = told
        .broken
        .into_iter()
        .filter(|one| one.investigation == id)
        .collect();
    let found = told
        .report
        .investigations
        .iter()
        .position(|one| one.id == id);
    let Some(at) = found else {
        return Err(unknown(id, &told.report, &broken));
    };
    let one = told.report.investigations.swap_remove(at);
    if ask.json {
        told.report.due.retain(|due| due.investigation == id);
        told.report.investigations = vec![one];
        return Ok(Answer::Json(slowpath_report::log_json(&told.report)));
    }
    let investigation = told.investigations.iter().find(|other| other.id == id);
    let evidence = Evidence {
        runs: cited(&all, &one),
        history: investigation.and_then(|of| history(served, &all, of)),
    };
    Ok(Answer::Page(thread_page(
        &served.site,
        &one,
        &evidence,
        &broken,
    )))
}

fn unknown(id: &str, report: &LogReport, broken: &[BrokenFile]) -> Trouble {
    if let Some(first) = broken.first() {
        let of = &first.mistake;
        let what = format!("{id} cannot be read: {}:{}: {}", of.file, of.line, of.what);
        return Trouble::broken(what, of.remedy.clone());
    }
    let names: Vec<&str> = report
        .investigations
        .iter()
        .map(|one| one.id.as_str())
        .collect();
    let remedy = if names.is_empty() {
        "`slowpath log new` opens one".to_owned()
    } else {
        format!("one of {}", names.join(", "))
    };
    Trouble::unknown(format!("there is no investigation {id:?}"), remedy)
}

/// The runs that an investigation rests on and that are stored, each with its repeats.
fn cited(all: &[Stored], of: &InvestigationView) -> Vec<(String, u64)> {
    let cited = of.entries.iter().flat_map(|entry| &entry.runs);
    let mut found: Vec<(String, u64)> = Vec::new();
    for id in cited {
        let stored = all.iter().find(|one| one.id == *id);
        if found.iter().any(|(known, _)| known == id) {
            continue;
        }
        if let Some(run) = stored.and_then(Stored::figures) {
            let repeats = run.rows.iter().map(|row| row.repeats.len() as u64);
            found.push((id.clone(), repeats.max().unwrap_or(0).max(1)));
        }
    }
    found
}

/// The history of the figure that an investigation is about.
fn history(served: &Served, all: &[Stored], of: &Investigation) -> Option<History> {
    let symptom = of.symptom()?;
    let target: &Target = &symptom.metric;
    let wanted = Wanted {
        endpoint: Some(target.subject().to_owned()),
        metric: Some(target.metric()),
        floor: None,
    };
    let history = served.shelf.history(all, &symptom.scenario, &wanted);
    let has_figure = history
        .settings
        .iter()
        .any(|setting| !setting.tracks.is_empty());
    has_figure.then(|| (*history).clone())
}

/// A file that an entry names.
pub(super) fn file(served: &Served, ask: &Ask) -> Result<Answer, Trouble> {
    let (id, name) = (
        ask.get("id").unwrap_or_default(),
        ask.get("file").unwrap_or_default(),
    );
    let book = read_investigations(&served.log).unwrap_or_default();
    let one = book.investigations.iter().find(|one| one.id == id);
    // Only what an entry names, and only from the folder itself.
    let is_named = one.is_some_and(|one| {
        let mut figures = one.entries.iter().flat_map(|entry| &entry.figures);
        figures.any(|figure| figure == name)
    });
    let is_plain = !name.contains(['/', '\\']) && !name.starts_with('.');
    let path = served.log.join(id).join(name);
    let unknown = || Trouble::unknown(format!("no entry of {id:?} names a file {name:?}"), "");
    if !is_named || !is_plain {
        return Err(unknown());
    }
    let told = |error: std::io::Error| {
        Trouble::unknown(
            format!("{} cannot be read: {error}", path.display()),
            "put it there again",
        )
    };
    if std::fs::metadata(&path).map_err(told)?.len() > FILE_BYTES_MOST {
        return Err(Trouble::broken(
            format!("{} is too large to be shown", path.display()),
            "",
        ));
    }
    let bytes = std::fs::read(&path).map_err(told)?;
    Ok(Answer::Theirs(media_type(name), bytes))
}

/// What a browser may take a file for. Whatever is no picture is text or is kept.
fn media_type(name: &str) -> &'static str {
    let ending = name
        .rsplit_once('.')
        .map(|(_, ending)| ending.to_ascii_lowercase());
    match ending.as_deref() {
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("gif") => "image/gif",
        Some("webp") => "image/webp",
        Some("txt" | "md" | "csv" | "toml" | "json" | "log" | "html" | "htm") => {
            "text/plain; charset=utf-8"
        }
        _ => "application/octet-stream",
    }
}

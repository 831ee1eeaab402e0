//! The investigation log as pages of a repository: INVESTIGATIONS.md and BENCHMARKS.md.

use slowpath_core::investigation::BY_SLOWPATH;
use slowpath_experiment::log::{
    BenchmarkRelease, BenchmarkSetting, Benchmarks, EntryView, InvestigationView, LogReport,
};

use super::page::{ToldRelease, runs_line};
use super::{code, escaped, line};
use crate::{figure, log_story as story, quantity, story as words};

/// Endings of files that a page shows as pictures.
const PICTURES: [&str; 6] = [".svg", ".png", ".jpg", ".jpeg", ".gif", ".webp"];

/// The chronological story of all investigations, false starts included. `folder` is where they
/// lie, seen from the page.
pub fn investigations_markdown(report: &LogReport, folder: &str) -> String {
    let mut text = String::from("# Investigations\n");
    line(
        &mut text,
        &format!(
            "\nWritten by `slowpath log render` out of the entries in `{}`, which are what to \
             edit.\n",
            code(folder)
        ),
    );
    if report.investigations.is_empty() {
        line(
            &mut text,
            "There is none yet: `slowpath log new` opens one.",
        );
        return text;
    }
    line(
        &mut text,
        "| investigation | status | shows in | opened | last entry |",
    );
    line(&mut text, "|---|---|---|---|---|");
    for one in &report.investigations {
        let cells = [
            format!("[{}](#{})", escaped(&one.title), one.id),
            one.status.words().to_owned(),
            escaped(&story::symptom(one)),
            story::day(&one.opened).to_owned(),
            story::day(&one.changed).to_owned(),
        ];
        line(&mut text, &format!("| {} |", cells.join(" | ")));
    }
    waiting(&mut text, report);
    line(&mut text, "\n## How often we were right\n");
    for sentence in story::calibration(&report.calibration) {
        line(&mut text, &format!("- {}", escaped(&sentence)));
    }
    for one in &report.investigations {
        told(&mut text, one, folder);
    }
    text
}

fn waiting(text: &mut String, report: &LogReport) {
    if report.due.is_empty() {
        return;
    }
    line(text, "\n## Predictions that wait for a measurement\n");
    line(text, "| investigation | prediction | made | waits |");
    line(text, "|---|---|---|---|");
    for due in &report.due {
        let cells = [
            format!("[{0}](#{0})", due.investigation),
            escaped(&due.prediction.that),
            story::day(&due.at).to_owned(),
            escaped(&story::due(due)),
        ];
        line(text, &format!("| {} |", cells.join(" | ")));
    }
}

fn told(text: &mut String, of: &InvestigationView, folder: &str) {
    line(text, &format!("\n## {}\n", of.id));
    line(
        text,
        &format!("{}: **{}**.", escaped(&of.title), of.status.words()),
    );
    if !of.reason.is_empty() {
        line(text, &format!("\n{}", escaped(&of.reason)));
    }
    for entry in &of.entries {
        entry_told(text, entry, of, folder);
    }
}

fn entry_told(text: &mut String, entry: &EntryView, of: &InvestigationView, folder: &str) {
    let by = entry.by.as_ref();
    let by = by.map_or(String::new(), |by| format!(" ({})", escaped(by)));
    let kind = words::capital(&story::kind(entry));
    line(
        text,
        &format!("\n### {} {kind}{by}", story::minute(&entry.at)),
    );
    if !entry.text.is_empty() {
        line(text, "");
        for written in entry.text.lines() {
            line(text, &paragraph(entry, written));
        }
    }
    let mut facts: Vec<String> = story::facts(entry, of).iter().map(|f| escaped(f)).collect();
    if !entry.runs.is_empty() {
        let runs: Vec<String> = entry
            .runs
            .iter()
            .map(|run| format!("`{}`", code(run)))
            .collect();
        facts.push(format!("runs {}", runs.join(", ")));
    }
    facts.extend(
        entry
            .links
            .iter()
            .map(|link| format!("<{}>", address(link))),
    );
    let (shown, named): (Vec<&String>, Vec<&String>) =
        entry.figures.iter().partition(|name| is_picture(name));
    facts.extend(named.iter().map(|name| reference(name, of, folder)));
    if !facts.is_empty() {
        line(text, "");
    }
    for fact in facts {
        line(text, &format!("- {fact}"));
    }
    for name in shown {
        line(text, &format!("\n!{}", reference(name, of, folder)));
    }
}

/// A line of an entry. People write Markdown, whose headings would break the page's own; what
/// slowpath wrote quotes others and is text.
fn paragraph(entry: &EntryView, written: &str) -> String {
    if entry.by.as_deref() == Some(BY_SLOWPATH) {
        escaped(written)
    } else if written.trim_start().starts_with('#') {
        written.replacen('#', "\\#", 1)
    } else {
        written.to_owned()
    }
}

fn is_picture(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    PICTURES.iter().any(|ending| name.ends_with(ending))
}

/// A file beside the entries.
fn reference(name: &str, of: &InvestigationView, folder: &str) -> String {
    let path = format!("{folder}/{}/{name}", of.id);
    format!("[{}](<{}>)", escaped(name), address(&path))
}

/// An address between angle brackets, which nothing in it can end.
fn address(text: &str) -> String {
    text.replace('<', "%3C").replace('>', "%3E")
}

/// Dated tables of all releases, with what they may be compared with. `elsewhere` are releases that
/// the page showed before and whose runs are not stored where it is rendered: they stay as they were.
pub fn benchmarks_markdown(benchmarks: &Benchmarks, elsewhere: &[ToldRelease]) -> String {
    let mut text = String::from("# Benchmarks\n");
    line(
        &mut text,
        "\nWritten by `slowpath log render` out of the stored runs. In brackets stands the range or \
         the ranks of the runs of a release; of a single run that of its repeats; of a single repeat \
         the interval within it. `~` is what a single repeat showed without an interval. A release \
         whose runs are not stored where this was rendered stays as it was.",
    );
    if benchmarks.settings.is_empty() && elsewhere.is_empty() {
        line(
            &mut text,
            "\nNothing is stored yet: `slowpath run` measures.",
        );
    }
    let heading = |setting: &BenchmarkSetting| format!("## {}", escaped(&setting.name));
    let mut headings: Vec<String> = benchmarks.settings.iter().map(heading).collect();
    headings.extend(elsewhere.iter().map(|told| told.setting.clone()));
    headings.sort();
    headings.dedup();
    for own in headings {
        line(&mut text, &format!("\n{own}"));
        let setting = benchmarks.settings.iter().find(|one| heading(one) == own);
        let told: Vec<&ToldRelease> = elsewhere.iter().filter(|one| one.setting == own).collect();
        of_setting(&mut text, setting.map_or(&[], |one| &one.releases), &told);
    }
    text
}

/// The releases of a scenario, the newest first, with those that are kept as they were.
fn of_setting(text: &mut String, releases: &[BenchmarkRelease], told: &[&ToldRelease]) {
    let mut sections: Vec<(&str, String)> = told
        .iter()
        .map(|one| (one.began.as_str(), format!("\n{}", one.text)))
        .collect();
    for release in releases {
        let mut section = String::new();
        let before = told.iter().filter(|one| one.began < release.began);
        of_release(
            &mut section,
            release,
            before.max_by_key(|one| &one.began).copied(),
        );
        sections.push((&release.began, section));
    }
    sections.sort_by(|a, b| b.0.cmp(a.0));
    for (_, section) in sections {
        text.push_str(&section);
    }
}

/// A release; `told` is the newest before it of those that are kept as they were.
fn of_release(text: &mut String, release: &BenchmarkRelease, told: Option<&ToldRelease>) {
    let label = escaped(&release.label);
    line(
        text,
        &format!("\n### {label}, {}\n", story::day(&release.began)),
    );
    let metrics = columns(release);
    let mut heads = vec!["endpoint".to_owned(), "n".to_owned()];
    heads.extend(metrics.iter().map(|metric| escaped(metric)));
    heads.push("comparable".to_owned());
    line(text, &format!("| {} |", heads.join(" | ")));
    line(
        text,
        &format!("|---|{}---|", "---:|".repeat(metrics.len() + 1)),
    );
    let comparable = comparable(release, told);
    for row in &release.rows {
        let mut cells = vec![
            escaped(&row.subject),
            row.n.map_or("unknown".to_owned(), quantity::count),
        ];
        cells.extend(metrics.iter().map(|wanted| {
            let mut own = row.figures.iter();
            let found = own.find(|(metric, _, _)| metric == wanted);
            found.map_or(String::new(), |(_, unit, of)| {
                escaped(&figure::estimate(*unit, of))
            })
        }));
        cells.push(comparable.clone());
        line(text, &format!("| {} |", cells.join(" | ")));
    }
    line(text, "");
    let runs: Vec<String> = release
        .runs
        .iter()
        .map(|run| format!("`{}`", code(run)))
        .collect();
    let count = quantity::plural(release.runs.len() as u64, "run");
    line(text, &format!("- {count}: {}", runs.join(", ")));
    for (part, named) in &release.conditions {
        let named: Vec<String> = named
            .iter()
            .map(|(name, value)| format!("{} {}", escaped(name), escaped(value)))
            .collect();
        line(text, &format!("- {part}: {}", named.join("; ")));
    }
    line(
        text,
        &format!("\n{}", runs_line(&release.runs, &release.began)),
    );
}

/// The metrics of a release, each once, in the order of its rows.
fn columns(release: &BenchmarkRelease) -> Vec<&str> {
    let mut all: Vec<&str> = Vec::new();
    for (metric, _, _) in release.rows.iter().flat_map(|row| &row.figures) {
        if !all.contains(&metric.as_str()) {
            all.push(metric);
        }
    }
    all
}

/// With what the figures of a release may be compared.
fn comparable(release: &BenchmarkRelease, told: Option<&ToldRelease>) -> String {
    if let Some(why) = release.void.first() {
        return format!("no: void ({})", escaped(why));
    }
    match (&release.before, release.obstacles.as_slice(), told) {
        // Of what is kept as it was the conditions are not known here.
        (None, _, Some(told)) => {
            format!(
                "not known: the runs of {} are not stored here",
                told.label()
            )
        }
        (None, _, None) => "the first".to_owned(),
        (Some(before), [], _) => format!("with {}", escaped(before)),
        (Some(before), why, _) => {
            format!("not with {}: {}", escaped(before), escaped(&why.join(", ")))
        }
    }
}

//! A history on a terminal.

use slowpath_experiment::history::{History, Setting, Track};

use super::flow::{Page, Tint, columns};
use super::{BETWEEN, LABEL, Style};
use crate::history_story as story;

/// Releases of a table; older ones are in the other views.
const RELEASES_TOLD: usize = 20;

/// The answer of a history, ready for stdout. `report` is the path of the page, if one was
/// written.
pub fn history_terminal(history: &History, style: Style, report: Option<&str>) -> String {
    let mut page = Page::new(style);
    page.words(&story::heading(history), Tint::Bold);
    page.end();
    for text in story::void(history) {
        labelled(&mut page, "warning", &text, Tint::Alarm);
    }
    for setting in &history.settings {
        page.blank();
        told(&mut page, history, setting);
    }
    page.blank();
    labelled(&mut page, "figures", &story::legend(history), Tint::Plain);
    if let Some(report) = report {
        labelled(&mut page, "report", report, Tint::Plain);
    }
    page.finish()
}

/// What a history shows, without its tables.
pub fn history_sentences(history: &History, style: Style) -> String {
    let mut page = Page::new(style);
    page.words(&story::heading(history), Tint::Bold);
    page.end();
    for setting in &history.settings {
        sentences(&mut page, setting);
    }
    page.finish()
}

/// One line after a run of a release: how it stands against earlier ones. `None` without any.
pub fn newest_terminal(tracks: &[Track], style: Style) -> Option<String> {
    let text = story::newest(tracks)?;
    let mut page = Page::new(style);
    labelled(&mut page, "history", &text, Tint::Plain);
    Some(page.finish())
}

fn told(page: &mut Page, history: &History, setting: &Setting) {
    let apart = story::apart(setting);
    if !apart.is_empty() {
        labelled(page, "apart", &apart, Tint::Warn);
    }
    let shown = story::shown(history, setting);
    for subject in story::subjects(&shown) {
        table(page, setting, &shown, subject);
        page.blank();
    }
    sentences(page, setting);
}

fn sentences(page: &mut Page, setting: &Setting) {
    for sentence in story::sentences(setting) {
        page.labelled("-", Tint::Plain, 2);
        page.words(&sentence, Tint::Plain);
        page.end();
    }
}

fn table(page: &mut Page, setting: &Setting, shown: &[&Track], subject: &str) {
    page.words(subject, Tint::Bold);
    page.end();
    let table = story::releases(setting, shown, subject);
    let hidden = table.rows.len().saturating_sub(RELEASES_TOLD);
    let mut lines = vec![table.heads];
    if hidden > 0 {
        let mut line = vec![format!("({hidden} older)")];
        line.resize(lines[0].len(), String::new());
        lines.push(line);
    }
    lines.extend(table.rows.into_iter().skip(hidden));
    let mut sparks = vec![String::new(); 2];
    let own = shown.iter().filter(|track| track.subject == subject);
    sparks.extend(own.map(|track| story::sparkline(track)));
    lines.push(sparks);
    let widths = columns(&lines);
    let indent = widths.first().copied().unwrap_or(0) + BETWEEN;
    for line in &lines {
        page.fields(line, &widths, BETWEEN, indent);
    }
}

fn labelled(page: &mut Page, label: &str, text: &str, tint: Tint) {
    page.labelled(label, tint, LABEL);
    page.words(text, Tint::Plain);
    page.end();
}

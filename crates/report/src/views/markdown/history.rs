//! A history as Markdown.

use slowpath_experiment::history::{History, Setting};

use super::{escaped, line};
use crate::history_story as story;

/// The history as GitHub-flavoured Markdown.
pub fn history_markdown(history: &History) -> String {
    let mut text = String::new();
    let heading = escaped(&story::heading(history));
    line(&mut text, &format!("# History of {heading}"));
    for void in story::void(history) {
        line(&mut text, &format!("\n**{}**", escaped(&void)));
    }
    for setting in &history.settings {
        told(&mut text, history, setting);
    }
    let legend = story::legend(history);
    line(&mut text, &format!("\n{}.", escaped(&legend)));
    text
}

fn told(text: &mut String, history: &History, setting: &Setting) {
    let apart = story::apart(setting);
    if !apart.is_empty() {
        line(text, &format!("\n## Apart\n\n{}.", escaped(&apart)));
    }
    let sentences = story::sentences(setting);
    if !sentences.is_empty() {
        line(text, "\n### What it shows\n");
    }
    for sentence in sentences {
        line(text, &format!("- {}", escaped(&sentence)));
    }
    let shown = story::shown(history, setting);
    for subject in story::subjects(&shown) {
        line(text, &format!("\n### {}\n", escaped(subject)));
        let table = story::releases(setting, &shown, subject);
        let row = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| escaped(cell)).collect();
            format!("| {} |", cells.join(" | "))
        };
        line(text, &row(&table.heads));
        line(text, &format!("|{}", "---|".repeat(table.heads.len())));
        for cells in &table.rows {
            line(text, &row(cells));
        }
        let own = shown.iter().filter(|track| track.subject == subject);
        for track in own {
            let spark = story::sparkline(track);
            line(text, &format!("\n{} `{spark}`", escaped(&track.metric)));
        }
    }
}

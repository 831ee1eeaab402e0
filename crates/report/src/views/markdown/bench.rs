//! A benchmark run as Markdown.

use slowpath_core::bench::BenchReport;

use super::sweep::table;
use super::{code, escaped, line};
use crate::bench_story as story;

/// The benchmark run as GitHub-flavoured Markdown.
pub fn bench_markdown(report: &BenchReport) -> String {
    let figures = &report.figures;
    let mut text = String::new();
    line(&mut text, &format!("# {}\n", escaped(&figures.name)));
    let release = match &figures.release {
        Some(release) => format!(", release {}", escaped(release)),
        None => String::new(),
    };
    let origin = escaped(&story::origin(report));
    let (id, began) = (code(&figures.id), escaped(&figures.began));
    line(
        &mut text,
        &format!("Run {id}{release}, {began}: {origin}.\n"),
    );
    if figures.rows.is_empty() {
        line(&mut text, "Nothing was measured.");
    } else {
        table(&mut text, &story::table(report));
    }
    let parts = [
        ("Trouble", story::troubles(report)),
        ("Inside executions", story::inside(report)),
        ("Notes", {
            let brackets = std::iter::once(story::brackets(report));
            report.notes.iter().cloned().chain(brackets).collect()
        }),
    ];
    for (heading, sentences) in parts {
        if !sentences.is_empty() {
            line(&mut text, &format!("\n## {heading}\n"));
        }
        for sentence in sentences {
            line(&mut text, &format!("- {}", escaped(&sentence)));
        }
    }
    text
}

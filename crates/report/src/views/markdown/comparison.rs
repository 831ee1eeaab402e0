//! A comparison as Markdown.

use slowpath_experiment::compare::Comparison;

use super::sweep::table;
use super::{escaped, line};
use crate::comparison_story as story;

/// The comparison as GitHub-flavoured Markdown.
pub fn comparison_markdown(comparison: &Comparison) -> String {
    let mut text = String::new();
    line(&mut text, &format!("# {}\n", escaped(&comparison.name)));
    for warning in story::warnings(comparison) {
        line(&mut text, &format!("**{}**\n", escaped(&warning)));
    }
    line(
        &mut text,
        &format!("- A: {}", escaped(&story::side(&comparison.a))),
    );
    line(
        &mut text,
        &format!("- B: {}", escaped(&story::side(&comparison.b))),
    );
    line(&mut text, "\n## What differs\n");
    let differences = story::differences(comparison);
    for difference in &differences {
        line(&mut text, &format!("- {}", escaped(difference)));
    }
    if differences.is_empty() {
        line(
            &mut text,
            "Nothing in host, harness, configuration and versions.",
        );
    }
    line(&mut text, "\n## Figures\n");
    table(&mut text, &story::rows(comparison));
    let legend = story::legend(comparison);
    line(&mut text, &format!("\n{}.", escaped(&legend)));
    let sentences = story::sentences(comparison);
    if !sentences.is_empty() {
        line(&mut text, "\n## What came and went\n");
    }
    for sentence in sentences {
        line(&mut text, &format!("- {}", escaped(&sentence)));
    }
    let profile = story::profile(comparison);
    if !profile.is_empty() {
        line(&mut text, "\n## CPU time\n");
    }
    for sentence in profile {
        line(&mut text, &format!("- {}", escaped(&sentence)));
    }
    if !comparison.notes.is_empty() {
        line(&mut text, "\n## Notes\n");
    }
    for note in &comparison.notes {
        line(&mut text, &format!("- {}", escaped(note)));
    }
    if let Some(next) = story::next(comparison) {
        line(&mut text, &format!("\nNext: {}.", escaped(&next)));
    }
    text
}

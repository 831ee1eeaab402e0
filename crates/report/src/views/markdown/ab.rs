//! A comparison of two settings as Markdown.

use slowpath_experiment::ab::Ab;

use super::sweep::table;
use super::{code, escaped, line};
use crate::ab_story as story;

/// The comparison as GitHub-flavoured Markdown.
pub fn ab_markdown(ab: &Ab) -> String {
    let mut text = String::new();
    line(&mut text, &format!("# Comparison of {}", escaped(&ab.name)));
    line(&mut text, "");
    let (id, begun, host) = (code(&ab.id), escaped(&ab.began), escaped(&ab.host));
    line(
        &mut text,
        &format!("Comparison `{id}`, {begun}, on {host}."),
    );
    line(&mut text, "");
    line(&mut text, &format!("**{}.**", escaped(&story::answer(ab))));
    line(&mut text, "\n## Tests\n");
    table(&mut text, &story::tests(ab));
    let open = story::open(ab);
    if !open.is_empty() {
        line(&mut text, "\n## Undetermined\n");
        for sentence in open {
            line(&mut text, &format!("- {}", escaped(&sentence)));
        }
    }
    line(&mut text, "\n## How it was measured\n");
    for note in story::notes(ab) {
        line(&mut text, &format!("- {}", escaped(&note)));
    }
    text
}

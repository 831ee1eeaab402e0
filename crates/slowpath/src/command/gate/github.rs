//! Gates as GitHub annotations: workflow commands on standard output.

use std::path::Path;

use slowpath_core::gates::{GateAnswer, GateOutcome};

/// One line for each gate that fails (an error) or cannot be decided (a warning, or an error if
/// `strict`), as the runner of GitHub Actions reads them from a step's output.
pub(super) fn annotations(outcomes: &[GateOutcome], file: Option<&Path>, strict: bool) -> String {
    let line = |outcome: &GateOutcome| {
        let kind = match outcome.answer {
            GateAnswer::Holds => return None,
            GateAnswer::CannotTell if !strict => "warning",
            _ => "error",
        };
        let title = format!("{}: {}", outcome.answer.words(), outcome.that);
        let title = property(&title);
        let place = file.map_or(String::new(), |file| {
            let file = property(&file.to_string_lossy());
            format!("file={file},line={},", outcome.line)
        });
        let text = match outcome.takes.as_str() {
            "" => outcome.text.clone(),
            takes => format!("{}; it would take: {takes}", outcome.text),
        };
        Some(format!("::{kind} {place}title={title}::{}\n", data(&text)))
    };
    outcomes.iter().filter_map(line).collect()
}

/// Escapes as actions/toolkit does (`core/src/command.ts`).
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotations_stand_at_their_line_and_cannot_be_broken_out_of() {
        let outcome = |answer, that: &str| GateOutcome {
            that: that.to_owned(),
            line: 12,
            answer,
            value: None,
            low: None,
            high: None,
            text: "50 %\nmore".to_owned(),
            takes: "9 repeats".to_owned(),
        };
        let outcomes = [
            outcome(GateAnswer::Holds, "a"),
            outcome(GateAnswer::Fails, "\"x,y::z\".p99 < 1s"),
            outcome(GateAnswer::CannotTell, "b"),
        ];
        let text = annotations(&outcomes, Some(Path::new("a,b.toml")), false);
        let expected = "::error file=a%2Cb.toml,line=12,title=fails%3A \"x%2Cy%3A%3Az\".p99 < 1s::\
                        50 %25%0Amore; it would take: 9 repeats\n\
                        ::warning file=a%2Cb.toml,line=12,title=cannot tell%3A b::\
                        50 %25%0Amore; it would take: 9 repeats\n";
        assert_eq!(text, expected);
        let strict = annotations(&outcomes, None, true);
        assert_eq!(strict.matches("::error title=").count(), 2, "{strict}");
    }
}

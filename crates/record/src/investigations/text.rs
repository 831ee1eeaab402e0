//! Writes an entry as TOML that people read: what it is first, long texts as they are.

use std::fmt::Write as _;

use slowpath_core::investigation::{Entry, Measured, Sign, Tested, What, quantity};

/// The text of an entry's file.
pub(super) fn text(entry: &Entry) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "kind = {}", quoted(entry.what.kind()));
    let _ = writeln!(out, "at = {}", entry.at);
    line(&mut out, "by", entry.by.as_deref());
    line(&mut out, "sign", entry.sign.map(Sign::word));
    let measured = of_kind(&mut out, &entry.what);
    for (key, all) in [
        ("runs", &entry.runs),
        ("links", &entry.links),
        ("figures", &entry.figures),
    ] {
        list(&mut out, key, all);
    }
    if entry.text.contains('\n') {
        let _ = writeln!(out, "text = \"\"\"\n{}\"\"\"", long(&entry.text));
    } else if !entry.text.is_empty() {
        line(&mut out, "text", Some(&entry.text));
    }
    if let Some(measured) = measured {
        figure(&mut out, &measured);
    }
    out
}

/// What only entries of this kind have; the figure is a table, which comes last.
fn of_kind(out: &mut String, what: &What) -> Option<Measured> {
    match what {
        What::Opened(symptom) => {
            line(out, "title", Some(&symptom.title));
            line(out, "scenario", Some(&symptom.scenario));
            line(out, "metric", Some(symptom.metric.text()));
            line(out, "since", symptom.since.as_deref());
            symptom.measured
        }
        What::Hypothesis(hypothesis) => {
            line(out, "cause", hypothesis.cause.as_deref());
            let answers = hypothesis.answers.iter().map(|one| one.word().to_owned());
            list(out, "answers", &answers.collect::<Vec<String>>());
            if let Some(prediction) = &hypothesis.prediction {
                line(out, "that", Some(prediction.that()));
                line(out, "due", prediction.due.as_deref());
            }
            None
        }
        What::Experiment(trial) => {
            line(out, "of", trial.of.as_deref());
            line(out, "verdict", trial.verdict.map(Tested::word));
            None
        }
        What::Outcome(outcome) => {
            line(out, "of", Some(&outcome.of));
            line(out, "release", outcome.release.as_deref());
            line(out, "verdict", Some(outcome.verdict.word()));
            outcome.measured
        }
        What::Decision(decided) => {
            line(out, "decides", Some(decided.decision.word()));
            line(out, "of", decided.of.as_deref());
            line(out, "release", decided.release.as_deref());
            None
        }
        What::Observation | What::Reopening => None,
    }
}

fn line(out: &mut String, key: &str, value: Option<&str>) {
    if let Some(value) = value {
        let _ = writeln!(out, "{key} = {}", quoted(value));
    }
}

fn list(out: &mut String, key: &str, all: &[String]) {
    if !all.is_empty() {
        let all: Vec<String> = all.iter().map(|one| quoted(one)).collect();
        let _ = writeln!(out, "{key} = [{}]", all.join(", "));
    }
}

fn figure(out: &mut String, measured: &Measured) {
    let of = |value| quoted(&quantity(measured.unit, value));
    let _ = writeln!(out, "\n[measured]\nvalue = {}", of(measured.value));
    if let Some((low, high)) = measured.range {
        let _ = writeln!(out, "low = {}\nhigh = {}", of(low), of(high));
    }
}

/// A string on one line.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            other => harmless(&mut out, other),
        }
    }
    out.push('"');
    out
}

/// The inside of a string over several lines. Quotation marks stand as they are where they cannot
/// end it.
fn long(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let ends = c == '"' && rest.peek().is_none_or(|next| *next == '"');
        match c {
            '"' if ends => out.push_str("\\\""),
            '"' | '\n' => out.push(c),
            other => harmless(&mut out, other),
        }
    }
    out
}

/// A character as TOML allows it inside a string.
fn harmless(out: &mut String, c: char) {
    match c {
        '\\' => out.push_str("\\\\"),
        '\t' => out.push('\t'),
        c if c.is_control() => {
            let _ = write!(out, "\\u{:04X}", u32::from(c));
        }
        c => out.push(c),
    }
}

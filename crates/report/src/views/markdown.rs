//! The answer as Markdown, for issues, chats and commit messages.

use std::fmt::Write as _;

use slowpath_diagnose::diagnosis::{Diagnosis, EndpointFigures, Finding, Status};
use slowpath_experiment::Experiment;

use crate::quantity;
use crate::story::{self, Question};

mod ab;
mod bench;
mod comparison;
mod failures;
mod gates;
mod history;
mod log;
mod page;
mod profile;
mod sweep;

pub use ab::ab_markdown;
pub use bench::bench_markdown;
pub use comparison::comparison_markdown;
pub use history::history_markdown;
pub use log::{benchmarks_markdown, investigations_markdown};
pub use page::{NotOurs, ToldRelease, page, told_releases};
pub use sweep::sweep_markdown;

/// The report as GitHub-flavoured Markdown.
pub fn markdown(diagnosis: &Diagnosis, experiments: &[Experiment]) -> String {
    let mut text = String::new();
    head(&mut text, diagnosis);
    invalid(&mut text, diagnosis);
    figures(&mut text, diagnosis);
    let questions = story::questions(diagnosis);
    for question in &questions {
        answer(&mut text, question, experiments);
    }
    if questions.is_empty() {
        let nothing = story::capital(&story::nothing_found(diagnosis));
        let _ = writeln!(text, "\n## Causes\n\n{nothing}.");
    }
    told_experiments(&mut text, experiments);
    profile::section(&mut text, diagnosis);
    gates::section(&mut text, &diagnosis.gates);
    failures::section(&mut text, diagnosis);
    lists(&mut text, diagnosis);
    conditions(&mut text, diagnosis);
    text
}

fn line(text: &mut String, written: &str) {
    text.push_str(written);
    text.push('\n');
}

fn head(text: &mut String, diagnosis: &Diagnosis) {
    let run = &diagnosis.run;
    line(text, &format!("# {}", escaped(&run.name)));
    line(text, "");
    let release = run
        .release
        .as_ref()
        .map(|name| format!(", release {}", escaped(name)))
        .unwrap_or_default();
    line(
        text,
        &format!(
            "Run `{}`{release}, {}: {} against {}.",
            code(&run.id),
            escaped(&run.began),
            escaped(&run.load),
            escaped(&run.target)
        ),
    );
    if run.interrupted {
        line(text, "");
        line(
            text,
            "**The run was interrupted; the figures cover what was measured.**",
        );
    }
}

fn invalid(text: &mut String, diagnosis: &Diagnosis) {
    for check in diagnosis
        .validity
        .iter()
        .filter(|check| check.status == Status::Invalid)
    {
        line(text, "");
        line(
            text,
            &format!(
                "> **INVALID, {}:** {}",
                escaped(&check.check),
                escaped(&check.detail)
            ),
        );
        line(
            text,
            &format!("> What to do: {}", escaped(story::remedy(diagnosis, check))),
        );
    }
}

fn figures(text: &mut String, diagnosis: &Diagnosis) {
    line(text, "");
    line(text, "## Figures");
    line(text, "");
    line(
        text,
        "| endpoint | req/s | served | p50 | p90 | p99 | p99.9 | max | service p99 | runs | errors |",
    );
    line(
        text,
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---|---|",
    );
    for figures in &diagnosis.endpoints {
        line(text, &row(diagnosis, figures));
    }
    for figures in &diagnosis.endpoints {
        notes(text, figures);
    }
    let passes = story::passes(diagnosis).map(str::to_owned);
    let told: Vec<String> = passes.chain(story::classes(diagnosis)).collect();
    if !told.is_empty() {
        line(text, "");
    }
    for one in told {
        line(text, &format!("- {}", escaped(&one)));
    }
}

fn row(diagnosis: &Diagnosis, figures: &EndpointFigures) -> String {
    let latency = &figures.latency_ms;
    let cells = [
        escaped(&story::label(diagnosis, figures)),
        quantity::number(figures.rate_per_s),
        quantity::served(figures.served),
        story::latency(figures, "p50", &latency.p50),
        story::latency(figures, "p90", &latency.p90),
        story::latency(figures, "p99", &latency.p99),
        story::latency(figures, "p99.9", &latency.p99_9),
        story::percentile(&latency.max),
        story::percentile(&figures.service_ms.p99),
        story::runs(diagnosis.run.repeats, figures),
        story::errors_in_short(figures),
    ];
    format!("| {} |", cells.join(" | "))
}

fn notes(text: &mut String, figures: &EndpointFigures) {
    let mut notes = Vec::new();
    notes.extend(story::modes(figures));
    notes.extend(story::nothing_answered(figures));
    notes.extend(story::served(figures));
    notes.extend(figures.errors.iter().map(story::error_told));
    notes.extend(story::unfinished(figures));
    notes.extend(story::streams(figures));
    notes.extend(story::spans(figures));
    notes.extend(story::spread_blame(figures));
    notes.extend(story::settling(figures));
    notes.extend(story::shape(figures));
    notes.extend(story::effective(&figures.latency_ms));
    notes.extend(story::refused(&figures.latency_ms));
    if !notes.is_empty() {
        line(text, "");
        line(text, &format!("**{}**", escaped(&figures.label())));
        line(text, "");
    }
    for note in notes {
        line(text, &format!("- {}", escaped(&note)));
    }
}

fn answer(text: &mut String, question: &Question<'_>, experiments: &[Experiment]) {
    line(text, "");
    line(
        text,
        &format!("## {}", escaped(&story::capital(&question.title))),
    );
    for finding in &question.findings {
        told_finding(text, finding, experiments);
    }
    if let Some(rest) = &question.rest {
        line(text, "");
        let split = if rest.split.is_empty() {
            String::new()
        } else {
            format!(": {}", rest.split)
        };
        line(
            text,
            &format!(
                "**{} unexplained**{}",
                quantity::percent(rest.share),
                escaped(&split)
            ),
        );
    }
    if !question.inside.is_empty() {
        line(text, "");
    }
    for told in &question.inside {
        line(text, &format!("- {}", escaped(told)));
    }
}

fn told_finding(text: &mut String, finding: &Finding, experiments: &[Experiment]) {
    line(text, "");
    line(
        text,
        &format!(
            "### {} {} ({})",
            quantity::percent(finding.share),
            escaped(&finding.cause),
            story::grade(finding.grade)
        ),
    );
    line(text, "");
    line(text, &escaped(&story::capital(&finding.summary)));
    line(text, "");
    let (low, high) = (
        quantity::percent(finding.share_low),
        quantity::percent(finding.share_high),
    );
    line(
        text,
        &format!(
            "- share: {} [{low}, {high}]",
            quantity::percent(finding.share)
        ),
    );
    for evidence in &finding.evidence {
        let pointer = story::pointer(evidence);
        line(
            text,
            &format!("- {} ({})", escaped(&evidence.text), escaped(&pointer)),
        );
    }
    for (word, value) in story::culprit(&finding.culprit) {
        line(text, &format!("- {word}: {}", escaped(&value)));
    }
    for experiment in experiments.iter().filter(|one| story::tests(one, finding)) {
        line(
            text,
            &format!("- {}", escaped(&story::experiment(experiment))),
        );
    }
    if let Some(next) = story::next_step(finding) {
        line(text, &format!("- next: {}", escaped(&next)));
    }
}

fn told_experiments(text: &mut String, experiments: &[Experiment]) {
    if experiments.is_empty() {
        return;
    }
    line(text, "");
    line(text, "## Experiments");
    for experiment in experiments {
        let hypothesis = &experiment.hypothesis;
        line(text, "");
        line(
            text,
            &format!(
                "**{}**, by {}",
                escaped(&experiment.cause),
                story::intervention(&hypothesis.intervention)
            ),
        );
        line(text, "");
        let written = format!(
            "{} (written {})",
            hypothesis.statement, hypothesis.written_at
        );
        line(text, &format!("- hypothesis: {}", escaped(&written)));
        line(
            text,
            &format!("- {}", escaped(&story::experiment(experiment))),
        );
        if let Some(outcome) = &experiment.outcome {
            let restored = if outcome.restored { "yes" } else { "not shown" };
            line(text, &format!("- returned to what it was: {restored}"));
        }
    }
}

fn lists(text: &mut String, diagnosis: &Diagnosis) {
    if !diagnosis.cleared.is_empty() {
        line(text, "\n## Cleared\n");
    }
    for cleared in &diagnosis.cleared {
        line(
            text,
            &format!("- {}: {}", escaped(&cleared.cause), escaped(&cleared.text)),
        );
    }
    if !diagnosis.blind.is_empty() {
        line(text, "\n## Blind\n");
    }
    for blind in story::blind(diagnosis) {
        line(text, &with_remedy(&blind.text(), blind.remedy));
    }
    if !diagnosis.gaps.is_empty() {
        line(text, "\n## Not observed\n");
    }
    for gap in &diagnosis.gaps {
        line(
            text,
            &with_remedy(&format!("{}: {}", gap.signal, gap.reason), &gap.remedy),
        );
    }
    if !diagnosis.validity.is_empty() {
        line(text, "\n## Validity\n");
    }
    for check in &diagnosis.validity {
        let status = story::status(check.status);
        line(
            text,
            &format!(
                "- {status}: {}: {}",
                escaped(&check.check),
                escaped(&check.detail)
            ),
        );
    }
}

fn with_remedy(what: &str, remedy: &str) -> String {
    if remedy.is_empty() {
        format!("- {}", escaped(what))
    } else {
        format!("- {} (remedy: `{}`)", escaped(what), code(remedy))
    }
}

fn conditions(text: &mut String, diagnosis: &Diagnosis) {
    line(text, "\n## Conditions\n");
    line(
        text,
        &format!("- host: {}", escaped(&story::host(diagnosis))),
    );
    line(
        text,
        &format!("- instrument: {}", escaped(&story::instrument(diagnosis))),
    );
    if let Some(view) = &diagnosis.trace {
        let traced = story::inside::traced(view).join("; ");
        line(text, &format!("- traced: {}", escaped(&traced)));
    }
    line(
        text,
        &format!("- judged by slowpath {}", escaped(&diagnosis.version)),
    );
}

/// Text without meaning for Markdown or HTML, on one line.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' => {
                let _ = write!(out, "\\{c}");
            }
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Text inside a code span.
fn code(text: &str) -> String {
    text.chars()
        .filter(|&c| c != '`' && !c.is_control())
        .collect()
}

//! The answer on one screen: what is wrong and what to do, where the time went, how bad it is, and the next step. All else
//! stands in the full answer and in the report.

use slowpath_diagnose::diagnosis::{Diagnosis, EndpointFigures, Finding, Standing, Status};
use slowpath_experiment::Experiment;

use super::flow::{Page, Tint, columns};
use super::{BETWEEN, LABEL, tint_of, tint_of_experiment};
use crate::quantity;
use crate::story::{self, Question};

/// Questions that are answered; the others are counted.
const QUESTIONS: usize = 3;

/// Endpoints with a line of figures; the others are counted.
const ENDPOINTS: usize = 12;

/// Notes that are printed; the others are counted.
const NOTES: usize = 3;

/// What no cause explains is a reason to say what could not be seen from this share of the excess on: as much as a cause needs
/// to be named.
const OPEN_FROM: f64 = 0.30;

/// Less than this is rounding.
const OPEN_LEAST: f64 = 0.005;

/// The answer, after the first line.
pub(super) fn brief(
    page: &mut Page,
    diagnosis: &Diagnosis,
    experiments: &[Experiment],
    report: Option<&str>,
) {
    remedies(page, diagnosis);
    page.blank();
    let mut questions = story::questions(diagnosis);
    questions.retain(|question| question.matters);
    for question in questions.iter().take(QUESTIONS) {
        answer(page, diagnosis, question, experiments);
        page.blank();
    }
    if count_rest(page, questions.len(), QUESTIONS, "question") {
        page.blank();
    }
    figures(page, diagnosis);
    super::passes(page, diagnosis);
    super::strays(page, diagnosis, experiments);
    super::gates::gates(page, &diagnosis.gates);
    notes(page, diagnosis, &questions);
    page.labelled("more", Tint::Plain, LABEL);
    let all = format!("slowpath explain {} --verbose", diagnosis.run.id);
    page.words(&all, Tint::Plain);
    page.end();
    super::steps(page, diagnosis, report);
}

/// What to do: about the measurement if it is invalid, else about the first cause.
fn remedies(page: &mut Page, diagnosis: &Diagnosis) {
    let checks = diagnosis.validity.iter();
    for check in checks.filter(|check| check.status == Status::Invalid) {
        page.indent(2);
        page.words(&format!("{}:", check.check), Tint::Alarm);
        page.words(story::remedy(diagnosis, check), Tint::Plain);
        page.end();
    }
    if let Some(finding) = said_above(diagnosis) {
        page.indent(2);
        page.words(&finding.summary, Tint::Plain);
        page.end();
    }
}

/// The finding whose sentence follows the first line.
fn said_above(diagnosis: &Diagnosis) -> Option<&Finding> {
    let is_named = diagnosis.headline.standing == Standing::Named;
    diagnosis.findings.first().filter(|_| is_named)
}

/// Counts what is not printed of so many; whether there is any.
fn count_rest(page: &mut Page, all: usize, printed: usize, what: &str) -> bool {
    let left = all.saturating_sub(printed);
    if left > 0 {
        let left = quantity::plural(left as u64, what);
        page.words(&format!("and {left} more"), Tint::Dim);
        page.end();
    }
    left > 0
}

/// Where the time went, and what that is called.
fn answer(
    page: &mut Page,
    diagnosis: &Diagnosis,
    question: &Question<'_>,
    experiments: &[Experiment],
) {
    page.words(&question.title, Tint::Bold);
    page.end();
    for line in &question.inside {
        page.indent(2);
        page.set_indent(8);
        page.words(line, Tint::Plain);
        page.end();
    }
    let above = said_above(diagnosis);
    for finding in &question.findings {
        let is_above = above.is_some_and(|above| std::ptr::eq(above, *finding));
        cause(page, finding, is_above);
        for experiment in experiments.iter().filter(|one| story::tests(one, finding)) {
            page.indent(4);
            page.words(
                &story::experiment(experiment),
                tint_of_experiment(experiment),
            );
            page.end();
        }
    }
    if let Some(rest) = question
        .rest
        .as_ref()
        .filter(|rest| rest.share >= OPEN_LEAST)
    {
        page.labelled("  open", Tint::Plain, LABEL);
        page.words(
            &format!("{} unexplained", quantity::percent(rest.share)),
            Tint::Plain,
        );
        if question.inside.is_empty() && question.findings.is_empty() {
            page.words(&rest.split, Tint::Dim);
        }
        page.end();
    }
}

/// A cause that is named, with its sentence if that was not printed before.
fn cause(page: &mut Page, finding: &Finding, is_above: bool) {
    page.labelled("  cause", Tint::Plain, LABEL);
    let share = quantity::percent(finding.share);
    page.words(&format!("{share} {}", finding.cause), Tint::Bold);
    page.words(
        &format!("({})", story::grade(finding.grade)),
        tint_of(finding.grade),
    );
    if !is_above {
        page.words(&finding.summary, Tint::Plain);
    }
    page.end();
}

/// One line for each endpoint.
fn figures(page: &mut Page, diagnosis: &Diagnosis) {
    let shown = || diagnosis.endpoints.iter().take(ENDPOINTS);
    let rows: Vec<Vec<String>> = shown().map(|figures| row(diagnosis, figures)).collect();
    let widths = columns(&rows);
    let indent = widths.first().copied().unwrap_or(0) + BETWEEN;
    for row in &rows {
        page.fields(row, &widths, BETWEEN, indent);
    }
    count_rest(page, diagnosis.endpoints.len(), ENDPOINTS, "endpoint");
    if rows.is_empty() {
        page.words("no request was measured", Tint::Plain);
        page.end();
    }
}

fn row(diagnosis: &Diagnosis, figures: &EndpointFigures) -> Vec<String> {
    let latency = |name, of| format!("{name} {}", story::latency(figures, name, of));
    let mut row = vec![
        story::label(diagnosis, figures),
        format!("{} requests", quantity::count(figures.offered)),
        format!("{} req/s", quantity::number(figures.rate_per_s)),
        latency("p50", &figures.latency_ms.p50),
        latency("p99", &figures.latency_ms.p99),
        story::errors_in_short(figures),
    ];
    row.extend(story::served(figures));
    row
}

/// What changes how the answer is read: the measurement first, then failures, then what could not be seen.
fn notes(page: &mut Page, diagnosis: &Diagnosis, questions: &[Question<'_>]) {
    let mut notes: Vec<String> = Vec::new();
    if diagnosis.run.interrupted {
        notes.push("the run was interrupted; the figures cover what was measured".to_owned());
    }
    let warned = diagnosis
        .validity
        .iter()
        .filter(|check| check.status == Status::Warn);
    notes.extend(warned.map(|check| format!("{}: {}", check.check, check.detail)));
    for figures in &diagnosis.endpoints {
        notes.extend(story::nothing_answered(figures));
        notes.extend(story::spread_blame(figures));
        // What the program itself says of it.
        notes.extend(story::where_it_went(figures));
    }
    notes.extend(diagnosis.connections.notable.iter().cloned());
    for figures in &diagnosis.endpoints {
        let most = figures.errors.first();
        notes
            .extend(most.map(|error| format!("{}: {}", figures.label(), story::error_told(error))));
    }
    let is_open = |question: &Question<'_>| {
        question
            .rest
            .as_ref()
            .is_some_and(|rest| rest.share >= OPEN_FROM)
    };
    if questions.iter().any(is_open) {
        let unseen = story::blind(diagnosis)
            .into_iter()
            .find(|blind| !blind.remedy.is_empty());
        notes.extend(unseen.map(|blind| format!("{} ({})", blind.in_short(), blind.remedy)));
    }
    for note in notes.iter().take(NOTES) {
        page.labelled("note", Tint::Plain, LABEL);
        page.words(note, Tint::Plain);
        page.end();
    }
    count_rest(page, notes.len(), NOTES, "note");
}

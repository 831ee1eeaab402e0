//! The answer on a terminal.

use slowpath_diagnose::diagnosis::{
    Diagnosis, EndpointFigures, Finding, Grade, Headline, Standing, Status,
};
use slowpath_experiment::{Experiment, Verdict};

use crate::quantity;
use crate::story::{self, Question};

mod ab;
mod bench;
mod brief;
mod cause;
mod comparison;
mod flow;
mod gates;
mod history;
mod log;
mod sweep;

pub use ab::ab_terminal;
pub use bench::bench_terminal;
pub use cause::cause_terminal;
pub use comparison::comparison_terminal;
pub use gates::gates_terminal;
pub use history::{history_sentences, history_terminal, newest_terminal};
pub use log::{calibration_terminal, due_terminal, investigations_terminal, log_terminal};
pub use sweep::sweep_terminal;

use flow::{Page, Tint, columns};

/// How to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether to use ANSI colours; the caller knows about `NO_COLOR` and pipes.
    pub color: bool,
    /// Columns to fill; lines are wrapped at words, and fewer than 40 are treated as 40.
    pub width: usize,
    /// Whether the answer to a run is printed with all figures, also those that seldom matter.
    pub verbose: bool,
}

/// Width of the labels `cleared`, `blind`, ….
const LABEL: usize = 9;

/// Spaces between the fields of an endpoint.
const BETWEEN: usize = 3;

/// A service time is worth its place when it differs from the latency by more than this share.
const SERVICE_DIFFERS: f64 = 0.10;

/// Kinds of failures of an endpoint that get a sentence; further ones are only counted here.
const ERRORS_TOLD: usize = 6;

/// Next steps shown; further ones are in the other views.
const NEXT_STEPS: usize = 3;

/// The answer to a run, ready for stdout. `report` is the path of the full report, if one was
/// written.
pub fn terminal(
    diagnosis: &Diagnosis,
    experiments: &[Experiment],
    style: Style,
    report: Option<&str>,
) -> String {
    let mut page = Page::new(style);
    headline(&mut page, &diagnosis.headline);
    if !style.verbose {
        brief::brief(&mut page, diagnosis, experiments, report);
        return page.finish();
    }
    page.blank();
    invalid(&mut page, diagnosis);
    endpoints(&mut page, diagnosis);
    passes(&mut page, diagnosis);
    connections(&mut page, diagnosis);
    let questions = story::questions(diagnosis);
    for question in &questions {
        page.blank();
        answer(&mut page, question, experiments);
    }
    page.blank();
    if questions.is_empty() {
        page.labelled("causes", Tint::Bold, LABEL);
        page.words(&story::nothing_found(diagnosis), Tint::Plain);
        page.end();
    }
    beside(&mut page, diagnosis, experiments);
    profile(&mut page, diagnosis);
    gates::gates(&mut page, &diagnosis.gates);
    conditions(&mut page, diagnosis);
    steps(&mut page, diagnosis, report);
    page.finish()
}

/// The answer, before all figures; reports of earlier versions have none.
fn headline(page: &mut Page, headline: &Headline) {
    if headline.sentence.is_empty() {
        return;
    }
    let tint = match headline.standing {
        Standing::Healthy => Tint::Good,
        Standing::Invalid => Tint::Alarm,
        Standing::Named | Standing::Failing | Standing::Unexplained | Standing::Unknown => {
            Tint::Bold
        }
    };
    page.words(&headline.sentence, tint);
    page.end();
}

fn invalid(page: &mut Page, diagnosis: &Diagnosis) {
    let invalid = diagnosis
        .validity
        .iter()
        .filter(|check| check.status == Status::Invalid);
    let mut any = false;
    for check in invalid {
        any = true;
        page.labelled("INVALID", Tint::Alarm, LABEL);
        page.words(&format!("{}:", check.check), Tint::Alarm);
        page.words(&check.detail, Tint::Plain);
        page.end();
        page.labelled("", Tint::Plain, LABEL);
        page.words("what to do:", Tint::Bold);
        page.words(story::remedy(diagnosis, check), Tint::Plain);
        page.end();
    }
    if any {
        page.labelled("", Tint::Plain, LABEL);
        page.words("the figures below do not describe the service", Tint::Alarm);
        page.end();
        page.blank();
    }
}

fn endpoints(page: &mut Page, diagnosis: &Diagnosis) {
    let partly = diagnosis
        .endpoints
        .iter()
        .any(|figures| story::served(figures).is_some());
    let rows: Vec<Vec<String>> = diagnosis
        .endpoints
        .iter()
        .map(|figures| fields(diagnosis, figures, partly))
        .collect();
    let widths = columns(&rows);
    let indent = widths.first().copied().unwrap_or(0) + BETWEEN;
    for (row, figures) in rows.iter().zip(&diagnosis.endpoints) {
        page.fields(row, &widths, BETWEEN, indent);
        for note in notes(figures) {
            page.indent(indent);
            page.words(&note, Tint::Dim);
            page.end();
        }
    }
    if rows.is_empty() {
        page.labelled("requests", Tint::Plain, LABEL);
        page.words("none were measured", Tint::Plain);
        page.end();
    }
}

/// Whether a cold pass was cold, and what each class of users did.
fn passes(page: &mut Page, diagnosis: &Diagnosis) {
    let proofs = story::passes(diagnosis).map(str::to_owned);
    for text in proofs.chain(story::classes(diagnosis)) {
        page.indent(2);
        page.words(&text, Tint::Plain);
        page.end();
    }
}

/// What is out of the ordinary about connections; usually nothing.
fn connections(page: &mut Page, diagnosis: &Diagnosis) {
    for (at, notable) in diagnosis.connections.notable.iter().enumerate() {
        if at == 0 {
            page.blank();
            page.words("connections", Tint::Bold);
            page.end();
        }
        page.indent(2);
        page.words(notable, Tint::Plain);
        page.end();
    }
}

/// An endpoint's line, field by field; `partly` says that some endpoint was not served whole.
fn fields(diagnosis: &Diagnosis, figures: &EndpointFigures, partly: bool) -> Vec<String> {
    let median = &figures.latency_ms.p50;
    let p50 = median
        .value
        .map_or_else(|| story::percentile(median), quantity::duration);
    let mut fields = vec![
        story::label(diagnosis, figures),
        format!("{} req/s", quantity::number(figures.rate_per_s)),
        format!("p50 {p50}"),
        format!(
            "p99 {}",
            story::latency(figures, "p99", &figures.latency_ms.p99)
        ),
        story::runs(diagnosis.run.repeats, figures),
        story::errors_in_short(figures),
    ];
    if partly {
        // Right beside the latencies, which are of these alone.
        fields.insert(
            2,
            story::served(figures).unwrap_or_else(|| "all served".to_owned()),
        );
    }
    fields.extend(story::modes(figures));
    fields
}

/// What is said below an endpoint's line.
fn notes(figures: &EndpointFigures) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(story::nothing_answered(figures));
    for error in figures.errors.iter().take(ERRORS_TOLD) {
        notes.push(story::error_told(error));
        notes.extend(error.idle_gaps.as_ref().map(story::idle_gaps));
        notes.extend(story::telling_line(error).map(|l| format!("log: {}", story::log_line(l))));
    }
    let others: Vec<String> = figures
        .errors
        .iter()
        .skip(ERRORS_TOLD)
        .map(story::error)
        .collect();
    if !others.is_empty() {
        notes.push(format!("further errors: {}", others.join(", ")));
    }
    notes.extend(story::unfinished(figures));
    notes.extend(story::streams(figures));
    notes.extend(story::spans(figures));
    if let (Some(latency), Some(service)) =
        (figures.latency_ms.p99.value, figures.service_ms.p99.value)
        && latency - service > SERVICE_DIFFERS * latency
    {
        let waited = "the rest was waited before the first byte was sent";
        notes.push(format!(
            "service time p99 {}: {waited}",
            quantity::duration(service)
        ));
    }
    notes.extend(story::spread_blame(figures));
    notes.extend(story::settling(figures));
    notes.extend(story::shape(figures));
    // Only of what the line above shows; the other views have a place for each percentile.
    let shown = ["p50:", "p99:"];
    let mut refused = story::refused(&figures.latency_ms);
    refused.retain(|reason| shown.iter().any(|name| reason.starts_with(name)));
    notes.extend(refused);
    notes
}

fn answer(page: &mut Page, question: &Question<'_>, experiments: &[Experiment]) {
    page.words(&question.title, Tint::Bold);
    page.end();
    for line in &question.inside {
        page.indent(2);
        page.words(line, Tint::Plain);
        page.end();
    }
    let named = |finding: &&Finding| finding.cause.len();
    let causes = question
        .findings
        .iter()
        .map(named)
        .max()
        .unwrap_or(0)
        .max("unexplained".len());
    // Share, two spaces, cause, two spaces, grade.
    let indent = 8 + causes + 2 + "confirmed".len() + 2;
    for finding in &question.findings {
        let share = format!("{:>6}  ", quantity::percent(finding.share));
        page.exact(&share, Tint::Bold);
        page.exact(&format!("{:causes$}  ", finding.cause), Tint::Bold);
        let grade = story::grade(finding.grade);
        page.exact(&format!("{grade:9}  "), tint_of(finding.grade));
        page.set_indent(indent);
        page.words(&finding.summary, Tint::Plain);
        page.end();
        for experiment in experiments.iter().filter(|one| story::tests(one, finding)) {
            page.indent(indent);
            page.words(
                &story::experiment(experiment),
                tint_of_experiment(experiment),
            );
            page.end();
        }
    }
    if let Some(rest) = &question.rest {
        page.exact(
            &format!("{:>6}  ", quantity::percent(rest.share)),
            Tint::Plain,
        );
        page.exact(&format!("{:causes$}  ", "unexplained"), Tint::Plain);
        page.set_indent(indent);
        page.words(&rest.split, Tint::Dim);
        page.end();
    }
}

const fn tint_of(grade: Grade) -> Tint {
    match grade {
        Grade::Confirmed => Tint::Good,
        Grade::Supported | Grade::Suspected => Tint::Plain,
        Grade::Refuted => Tint::Dim,
    }
}

fn tint_of_experiment(experiment: &Experiment) -> Tint {
    match experiment.outcome.as_ref().map(|outcome| outcome.verdict) {
        Some(Verdict::Confirmed) => Tint::Good,
        Some(Verdict::Refuted) => Tint::Warn,
        Some(Verdict::Undecided) | None => Tint::Dim,
    }
}

/// Experiments on causes that are not found.
fn strays(page: &mut Page, diagnosis: &Diagnosis, experiments: &[Experiment]) {
    let stray = |one: &&Experiment| !diagnosis.findings.iter().any(|f| story::tests(one, f));
    for experiment in experiments.iter().filter(stray) {
        page.labelled("proved", Tint::Plain, LABEL);
        page.words(&format!("{}:", experiment.cause), Tint::Bold);
        page.words(
            &story::experiment(experiment),
            tint_of_experiment(experiment),
        );
        page.end();
    }
}

/// What stands beside the answer: stray experiments, the cleared, the blind, warnings.
fn beside(page: &mut Page, diagnosis: &Diagnosis, experiments: &[Experiment]) {
    strays(page, diagnosis, experiments);
    if !diagnosis.cleared.is_empty() {
        page.labelled("cleared", Tint::Plain, LABEL);
        for cleared in &diagnosis.cleared {
            page.unbroken(&cleared.cause, 2, Tint::Plain);
        }
        page.end();
    }
    for blind in story::blind(diagnosis) {
        page.labelled("blind", Tint::Plain, LABEL);
        page.words(&blind.text(), Tint::Plain);
        if !blind.remedy.is_empty() {
            page.words(&format!("({})", blind.remedy), Tint::Dim);
        }
        page.end();
    }
    for check in diagnosis
        .validity
        .iter()
        .filter(|check| check.status == Status::Warn)
    {
        page.labelled("warning", Tint::Warn, LABEL);
        page.words(&format!("{}:", check.check), Tint::Warn);
        page.words(&check.detail, Tint::Plain);
        page.end();
    }
    if diagnosis.run.interrupted {
        page.labelled("warning", Tint::Warn, LABEL);
        page.words(
            "the run was interrupted; the figures cover what was measured",
            Tint::Plain,
        );
        page.end();
    }
}

/// What a profiling pass shows, and what to try.
fn profile(page: &mut Page, diagnosis: &Diagnosis) {
    let Some(view) = &diagnosis.profile else {
        return;
    };
    for lead in &view.leads {
        page.labelled("lead", Tint::Plain, LABEL);
        page.words(&lead.summary, Tint::Plain);
        page.words(&format!("({})", story::profile::remedies(lead)), Tint::Dim);
        page.end();
    }
    if let Some(limits) = story::profile::limits(&view.leads) {
        page.labelled("", Tint::Plain, LABEL);
        page.words(&limits, Tint::Dim);
        page.end();
    }
    page.labelled("profile", Tint::Plain, LABEL);
    page.words(&story::profile::told(view).join("; "), Tint::Plain);
    page.end();
}

/// What the figures rest on.
fn conditions(page: &mut Page, diagnosis: &Diagnosis) {
    if let Some(view) = &diagnosis.trace {
        page.labelled("traced", Tint::Plain, LABEL);
        page.words(&story::inside::traced(view).join("; "), Tint::Plain);
        page.end();
    }
    page.labelled("load", Tint::Plain, LABEL);
    page.words(
        &format!("{} against {}", diagnosis.run.load, diagnosis.run.target),
        Tint::Plain,
    );
    page.end();
    page.labelled("tool", Tint::Plain, LABEL);
    page.words(&story::instrument(diagnosis), Tint::Plain);
    page.end();
}

fn steps(page: &mut Page, diagnosis: &Diagnosis, report: Option<&str>) {
    let mut shown: Vec<String> = Vec::new();
    for next in diagnosis.findings.iter().filter_map(story::next_step) {
        if shown.len() < NEXT_STEPS && !shown.contains(&next) {
            page.labelled("next", Tint::Bold, LABEL);
            page.words(&next, Tint::Plain);
            page.end();
            shown.push(next);
        }
    }
    if let Some(report) = report {
        page.labelled("report", Tint::Plain, LABEL);
        page.unbroken(report, 0, Tint::Plain);
        page.end();
    }
}

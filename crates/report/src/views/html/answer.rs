//! What the report says first: the run, whether it can be trusted, and the causes.

use maud::{Markup, html};
use slowpath_diagnose::diagnosis::{Diagnosis, Finding, Status};
use slowpath_experiment::{Experiment, Verdict};

use crate::quantity;
use crate::story::{self, Question};

/// The name of the run, its conditions, and a banner for everything that casts doubt on it.
pub(super) fn head(diagnosis: &Diagnosis) -> Markup {
    let run = &diagnosis.run;
    html! {
        header {
            h1 { (run.name) }
            p.soft {
                (run.load) " against " span.mono { (run.target) }
                @if let Some(release) = &run.release { " · release " (release) }
            }
            p.note { "run " span.mono { (run.id) } " · " (run.began) " · "
                (quantity::plural(u64::from(run.repeats), "repeat")) }
        }
        @for check in &diagnosis.validity {
            @match check.status {
                Status::Ok => {}
                Status::Warn => div.card.banner.warn {
                    strong { "Read with care: " (check.check) } " " (check.detail)
                }
                Status::Invalid => div.card.banner.invalid {
                    p { strong { "Invalid: " (check.check) } " " (check.detail) }
                    p { "The figures below do not describe the service. What to do: "
                        (story::remedy(diagnosis, check)) "." }
                }
            }
        }
        @if run.interrupted {
            div.card.banner.warn {
                strong { "Interrupted" } " The figures cover what was measured until then."
            }
        }
    }
}

/// The questions of the run with their answers.
pub(super) fn findings(diagnosis: &Diagnosis, experiments: &[Experiment]) -> Markup {
    let questions = story::questions(diagnosis);
    html! {
        section id="answer" {
            @for question in &questions {
                (answer(diagnosis, question, experiments))
            }
            @if questions.is_empty() {
                h2 { "No cause found" }
                p { (story::capital(&story::nothing_found(diagnosis))) "." }
            }
        }
    }
}

fn answer(diagnosis: &Diagnosis, question: &Question<'_>, experiments: &[Experiment]) -> Markup {
    html! {
        h2 { (story::capital(&question.title)) }
        @for finding in &question.findings {
            (card(diagnosis, finding, experiments))
        }
        @if let Some(rest) = &question.rest {
            div.card.finding {
                div { (share(rest.share, None, "")) }
                div {
                    span.cause.soft { "unexplained" }
                    @if !rest.split.is_empty() { p.soft { (rest.split) } }
                }
            }
        }
    }
}

fn card(diagnosis: &Diagnosis, finding: &Finding, experiments: &[Experiment]) -> Markup {
    let place = diagnosis
        .findings
        .iter()
        .position(|one| one == finding)
        .unwrap_or(0);
    let color = if place < super::time::BANDS {
        format!("k{place}")
    } else {
        String::new()
    };
    let bounds = Some((finding.share_low, finding.share_high));
    let word = story::grade(finding.grade);
    html! {
        div.card.finding {
            div { (share(finding.share, bounds, &color)) }
            div {
                span.cause { (finding.cause) }
                span class={ "grade " (word) } { (word) }
                p { (story::capital(&finding.summary)) }
                ul {
                    @for evidence in &finding.evidence {
                        li { (evidence.text) " " span.note { "(" (story::pointer(evidence)) ")" } }
                    }
                    @for (word, value) in story::culprit(&finding.culprit) {
                        li { (word) ": " span.mono { (value) } }
                    }
                    @for experiment in experiments.iter().filter(|one| story::tests(one, finding)) {
                        li { (story::experiment(experiment)) }
                    }
                }
                @if let Some(next) = story::next_step(finding) {
                    p.next { span.soft { "next " } (next) }
                }
            }
        }
    }
}

fn share(share: f64, bounds: Option<(f64, f64)>, color: &str) -> Markup {
    let length = |share: f64| format!("{:.1}%", share.clamp(0.0, 1.0) * 100.0);
    html! {
        div.share { (quantity::percent(share)) }
        div.bar {
            i class=[(!color.is_empty()).then_some(color)] style={ "width:" (length(share)) } {}
            @if let Some((low, high)) = bounds {
                b style={ "left:" (length(low)) ";width:" (length((high - low).max(0.0))) } {}
            }
        }
        @if let Some((low, high)) = bounds {
            div.note { "[" (quantity::percent(low)) ", " (quantity::percent(high)) "]" }
        }
    }
}

/// The class of a verdict's badge.
pub(super) fn badge(verdict: Option<Verdict>) -> Markup {
    let word = verdict.map_or("not finished", Verdict::name);
    let class = verdict.map_or("undecided", Verdict::name);
    html! { span class={ "grade " (class) } { (word) } }
}

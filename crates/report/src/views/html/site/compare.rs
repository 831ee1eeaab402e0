//! Two runs or releases against each other: the choice, and what `slowpath compare` says of them.

use maud::{Markup, html};
use slowpath_experiment::compare::{Comparison, RowComparison, Verdict};

use super::strips::{Behind, Strip, strips};
use super::{Link, Site, Tab, chips, coded, page, table};
use crate::plot::Scale;
use crate::{comparison_story as story, figure};

/// Ratios this close to 1 are shown on the axis whatever was measured, so that a small difference does
/// not fill the picture.
const LEAST_SPAN: f64 = 1.1;
/// Fewer ticks say nothing of the scale.
const TICKS_FEWEST: usize = 3;

/// Something that can be compared.
#[derive(Clone, Debug)]
pub struct CompareChoice {
    /// What `a` and `b` are asked for with.
    pub value: String,
    /// What it says.
    pub label: String,
}

/// What can be chosen, and what was.
#[derive(Clone, Debug, Default)]
pub struct CompareForm {
    /// The scenario whose runs and releases are offered; empty if none is stored.
    pub name: String,
    /// All scenarios.
    pub names: Vec<String>,
    /// Its releases, the newest first.
    pub releases: Vec<CompareChoice>,
    /// Its newest runs, the newest first.
    pub runs: Vec<CompareChoice>,
    /// What was chosen for A.
    pub a: String,
    /// What was chosen for B.
    pub b: String,
    /// Why the choice cannot be compared, and what to try; empty if it can or nothing was chosen.
    pub trouble: (String, String),
}

/// The form, and the comparison if there is one.
pub fn compare_page(site: &Site, form: &CompareForm, comparison: Option<&Comparison>) -> String {
    let title = comparison.map_or("Compare".to_owned(), |of| format!("Compare {}", of.name));
    let body = html! {
        h1 { (title) }
        @if form.names.is_empty() {
            p { "No run is stored yet: " code { "slowpath run" } " measures one." }
        } @else { (choice(form)) }
        @if !form.trouble.0.is_empty() {
            div.card.banner.warn {
                p.said { (form.trouble.0) }
                @if !form.trouble.1.is_empty() { p { span.soft { "try: " } (coded(&form.trouble.1)) } }
            }
        }
        @if let Some(comparison) = comparison { (told(comparison)) }
    };
    page(site, Some(Tab::Compare), &title, &body)
}

fn choice(form: &CompareForm) -> Markup {
    html! {
        @if form.names.len() > 1 {
            (chips("Scenarios", form.names.iter().map(|name| {
                (Link::to("/compare").with("name", name).text(), name.as_str(), *name == form.name)
            })))
        }
        form.compare action="/compare" method="get" {
            input type="hidden" name="name" value=(form.name);
            (select(form, "a", "A, compared with", &form.a))
            (select(form, "b", "B, compared", &form.b))
            button type="submit" { "Compare" }
        }
    }
}

fn select(form: &CompareForm, name: &str, label: &str, chosen: &str) -> Markup {
    let offered = || form.releases.iter().chain(&form.runs);
    let is_offered = chosen.is_empty() || offered().any(|one| one.value == chosen);
    let options = |all: &[CompareChoice]| {
        html! {
            @for one in all {
                option value=(one.value) selected[one.value == chosen] { (one.label) }
            }
        }
    };
    html! {
        label {
            span { (label) }
            select name=(name) {
                @if !is_offered { option value=(chosen) selected { (chosen) } }
                @if !form.releases.is_empty() { optgroup label="releases" { (options(&form.releases)) } }
                @if !form.runs.is_empty() { optgroup label="runs, the newest first" { (options(&form.runs)) } }
            }
        }
    }
}

fn told(comparison: &Comparison) -> Markup {
    let differences = story::differences(comparison);
    let sentences = story::sentences(comparison);
    let rows = story::rows(comparison);
    html! {
        @for warning in story::warnings(comparison) { div.card.banner.warn { (warning) } }
        dl.sides {
            dt { "A" } dd { (story::side(&comparison.a)) }
            dt { "B" } dd { (story::side(&comparison.b)) }
        }
        section {
            h2 { "What differs" }
            @if differences.is_empty() { p { "Nothing in host, harness, configuration and versions." } }
            @else { ul { @for one in &differences { li { (one) } } } }
        }
        section {
            h2 { "Figures" }
            (ratios(comparison))
            details {
                summary { "All figures in a table" }
                (table(&rows.heads, &rows.rows))
            }
            p.note { (story::legend(comparison)) "." }
        }
        @if !sentences.is_empty() {
            section { h2 { "What came and went" } ul { @for one in &sentences { li { (coded(one)) } } } }
        }
        @if !comparison.notes.is_empty() {
            section { h2 { "Notes" } ul { @for one in &comparison.notes { li { (coded(one)) } } } }
        }
        @if let Some(next) = story::next(comparison) { p.next { span.soft { "next " } (coded(&next)) "." } }
    }
}

/// B over A, row by row, with what is too small to be claimed shaded.
fn ratios(comparison: &Comparison) -> Markup {
    let known = comparison.rows.iter().filter_map(|row| row.ratio.as_ref());
    let least = [LEAST_SPAN, 1.0 / LEAST_SPAN, comparison.ratio_to_claim];
    let ends = known.flat_map(|ratio| [Some(ratio.value), ratio.low, ratio.high]);
    let Some(scale) = Scale::log_around(ends.flatten().chain(least)) else {
        return html! {};
    };
    let rows: Vec<Strip> = comparison.rows.iter().map(strip).collect();
    let claim = comparison.ratio_to_claim;
    let behind = Behind {
        band: (claim > 0.0).then_some((1.0 / claim, claim)),
        mark: Some(1.0),
    };
    let caption = "B over A, 95 %; what is too small to be claimed is shaded";
    // Where hardly anything differs the ends of what is claimed are the ticks.
    let ticks = match scale.ticks() {
        few if few.len() < TICKS_FEWEST => vec![1.0 / claim, 1.0, claim],
        enough => enough,
    };
    strips(caption, scale, &ticks, &figure::change, &behind, &rows)
}

fn strip(row: &RowComparison) -> Strip {
    let class = match row.verdict {
        Verdict::Better => "good",
        Verdict::Worse => "bad",
        Verdict::Different => "s1",
        Verdict::Same => "s0",
        Verdict::CannotTell | Verdict::NotComparable => "unsure",
    };
    let ratio = row.ratio.as_ref();
    Strip {
        label: html! { b { (row.subject) "." (row.metric) } },
        value: ratio.map(|ratio| ratio.value),
        range: ratio.and_then(|ratio| ratio.low.zip(ratio.high)),
        class,
        told: html! {
            span class={ "verdict " (class) } { (story::verdict(row)) }
            small { (figure::estimate(row.unit, &row.a)) " → " (figure::estimate(row.unit, &row.b)) }
        },
    }
}

//! The report of a run, as it lies beside the run, as a page of the site.

use maud::{Markup, html};

use super::{Link, Site, Tab, bar, fetched, foot};

/// What stands above a report.
#[derive(Clone, Debug, Default)]
pub struct Beside {
    /// The run.
    pub id: String,
    /// Its scenario; `None` where that is not known.
    pub name: Option<String>,
    /// The run of the scenario before it.
    pub before: Option<String>,
    /// The run of the scenario after it.
    pub after: Option<String>,
    /// Investigations with an entry that rests on it: names and titles.
    pub cited_in: Vec<(String, String)>,
    /// The version that judged it, if that is another one than this.
    pub judged_by: Option<String>,
}

/// A report that slowpath wrote, with the way to the other pages above it. Its own script is left
/// out, and the site's takes its place: nothing that lies in a page runs here.
pub fn report_within(site: &Site, report: &str, beside: &Beside) -> String {
    let without = unscripted(report);
    let head = fetched().into_string();
    let above = html! { (bar(site, Some(Tab::Runs))) (around(beside)) }.into_string();
    let below = foot(site).into_string();
    let page = insert_before(&without, "</head>", &head);
    let page = insert_after(&page, "<body>", &above);
    let page = page.replacen("<main>", "<main id=\"content\" tabindex=\"-1\">", 1);
    insert_before(&page, "</body>", &below)
}

/// The way to runs before and after, and to who cites this one.
pub(super) fn around(beside: &Beside) -> Markup {
    html! {
        div.around {
            @if let Some(name) = &beside.name {
                ul.chips aria-label="This run" {
                    @if let Some(before) = &beside.before {
                        li { a rel="prev" href=(Link::run(before)) { "← the run before" } }
                        li {
                            a href=(Link::to("/compare").with("a", before).with("b", &beside.id).text()) {
                                "compare with it"
                            }
                        }
                    }
                    li { a href=(Link::history(name).text()) { "history" } }
                    @if let Some(after) = &beside.after {
                        li { a rel="next" href=(Link::run(after)) { "the run after →" } }
                    }
                }
            }
            @for (id, title) in &beside.cited_in {
                p.note { "Cited in " a href=(Link::investigation(id)) { (title) } "." }
            }
            @if let Some(version) = &beside.judged_by {
                p.note {
                    "Judged by slowpath " (version) "; " code { "slowpath report " (beside.id) }
                    " judges it again."
                }
            }
        }
    }
}

/// A page without its inline script, which stands last in it.
fn unscripted(page: &str) -> String {
    let (open, close) = ("<script>", "</script>");
    let Some(from) = page.rfind(open) else {
        return page.to_owned();
    };
    match page[from..].find(close) {
        Some(length) => format!("{}{}", &page[..from], &page[from + length + close.len()..]),
        None => page[..from].to_owned(),
    }
}

fn insert_before(page: &str, tag: &str, what: &str) -> String {
    page.replacen(tag, &format!("{what}{tag}"), 1)
}

fn insert_after(page: &str, tag: &str, what: &str) -> String {
    page.replacen(tag, &format!("{tag}{what}"), 1)
}

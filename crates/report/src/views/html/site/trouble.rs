//! Pages that say what went wrong, and where to go from there.

use maud::html;

use super::{Link, Site, coded, page};

/// What is wrong, what to try, and the addresses that may have been meant: each an id and its words.
pub fn trouble_page(
    site: &Site,
    title: &str,
    what: &str,
    remedy: &str,
    runs: &[(String, String)],
) -> String {
    let body = html! {
        h1 { (title) }
        div.card.banner.warn { p.said { (coded(what)) } }
        @if !remedy.is_empty() { p { span.soft { "try: " } (coded(remedy)) } }
        @if !runs.is_empty() {
            h2 { "Perhaps" }
            ul {
                @for (id, words) in runs {
                    li { a.mono href=(Link::run(id)) { (id) } " " span.soft { (words) } }
                }
            }
        }
        p { a href="/" { "All runs" } }
    };
    page(site, None, title, &body)
}

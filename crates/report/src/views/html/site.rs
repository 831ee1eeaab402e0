//! The pages of `slowpath serve`: each a pure function from what is stored to a whole page.
//!
//! A page fetches its style, its script and its icon from where it comes from and nothing from
//! elsewhere; all of them hold without the script. Whatever is shown comes from outside and is escaped;
//! addresses are made by [`Link`] alone.

use std::fmt::Write as _;

use maud::{DOCTYPE, Markup, html as markup};

use super::{SCRIPT, STYLE, STYLE_INSIDE, coded};

mod compare;
mod figures;
mod histories;
mod investigations;
mod releases;
mod runs;
mod strips;
mod thread;
mod trouble;
mod within;

pub use compare::{CompareChoice, CompareForm, compare_page};
pub use figures::{bench_page, figures_page, text_page};
pub use histories::{HistoryChoice, SCENARIOS_SCHEMA, ScenarioLine, histories_page, history_page};
pub use investigations::{BrokenFile, investigations_page};
pub use releases::{ReleasesChoice, releases_page};
pub use runs::{Headline, KeyFigure, LISTED_SCHEMA, Listed, RunLine, Says, key_figure, runs_page};
pub use thread::{Evidence, thread_page};
pub use trouble::trouble_page;
pub use within::{Beside, report_within};

const SITE: &str = include_str!("site/site.css");

/// A slow path: a line that takes the long way round.
const ICON: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 16 16\"><path d=\"M1 \
                    12h4V4h6v8h4\" fill=\"none\" stroke=\"#1f6feb\" stroke-width=\"2.4\" \
                    stroke-linecap=\"round\" stroke-linejoin=\"round\"/></svg>";

/// What all pages of a server have in common.
#[derive(Clone, Debug)]
pub struct Site {
    /// What the project is called: the folder in which it was started.
    pub project: String,
    /// The version of slowpath.
    pub version: String,
}

/// The part of the site that a page belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tab {
    /// Runs and their reports.
    Runs,
    /// Releases side by side.
    Releases,
    /// Figures over releases.
    History,
    /// Two runs or releases.
    Compare,
    /// The investigation log.
    Investigations,
}

impl Tab {
    const ALL: [(Self, &'static str, &'static str); 5] = [
        (Self::Runs, "/", "Runs"),
        (Self::Releases, "/releases", "Releases"),
        (Self::History, "/history", "History"),
        (Self::Compare, "/compare", "Compare"),
        (Self::Investigations, "/investigations", "Investigations"),
    ];
}

/// A file that pages fetch: its media type and its text; `None` of one that is not there.
pub fn site_file(path: &str) -> Option<(&'static str, String)> {
    match path {
        "/slowpath.css" => Some((
            "text/css; charset=utf-8",
            [STYLE, STYLE_INSIDE, SITE].concat(),
        )),
        "/slowpath.js" => Some(("text/javascript; charset=utf-8", SCRIPT.to_owned())),
        "/icon.svg" => Some(("image/svg+xml", ICON.to_owned())),
        _ => None,
    }
}

/// A whole page.
fn page(site: &Site, tab: Option<Tab>, title: &str, body: &Markup) -> String {
    let page = markup! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · " (site.project) " · slowpath" }
                (fetched())
            }
            body {
                (bar(site, tab))
                main id="content" tabindex="-1" { (body) }
                (foot(site))
            }
        }
    };
    page.into_string()
}

/// What every page fetches.
fn fetched() -> Markup {
    markup! {
        link rel="stylesheet" href="/slowpath.css";
        link rel="icon" href="/icon.svg";
        script src="/slowpath.js" defer {}
    }
}

/// The way to the other pages.
fn bar(site: &Site, here: Option<Tab>) -> Markup {
    markup! {
        a.skip href="#content" { "To the content" }
        div.site {
            nav aria-label="Pages" {
                a.brand href="/" { "slowpath" span { (site.project) } }
                ul {
                    @for (tab, address, name) in Tab::ALL {
                        li {
                            a href=(address) aria-current=[(here == Some(tab)).then_some("page")] {
                                (name)
                            }
                        }
                    }
                }
            }
        }
    }
}

fn foot(site: &Site) -> Markup {
    markup! {
        footer.note {
            "slowpath " (site.version) ". Every page answers JSON to "
            code { "Accept: application/json" } " or " code { "?format=json" } "."
        }
    }
}

/// An address on this site. Parts are encoded, so that a name cannot lead elsewhere.
#[derive(Clone, Debug)]
pub(super) struct Link {
    text: String,
    asked: bool,
}

impl Link {
    /// A page.
    pub(super) fn to(page: &str) -> Self {
        Self {
            text: page.to_owned(),
            asked: false,
        }
    }

    /// The report of a run.
    pub(super) fn run(id: &str) -> String {
        Self::to("/runs").part(id).text
    }

    /// The history of a scenario.
    pub(super) fn history(name: &str) -> Self {
        Self::to("/history").part(name)
    }

    /// An investigation.
    pub(super) fn investigation(id: &str) -> String {
        Self::to("/investigations").part(id).text
    }

    /// One more part of the path. Browsers take `.` and `..` for folders whatever they are encoded
    /// as, so that those go into the query.
    pub(super) fn part(mut self, name: &str) -> Self {
        if matches!(name, "" | "." | "..") {
            return self.with("name", name);
        }
        self.text.push('/');
        encode(&mut self.text, name);
        self
    }

    /// With something asked for.
    pub(super) fn with(mut self, key: &str, value: &str) -> Self {
        self.text.push(if self.asked { '&' } else { '?' });
        self.asked = true;
        self.text.push_str(key);
        self.text.push('=');
        encode(&mut self.text, value);
        self
    }

    /// With something asked for, if it is.
    pub(super) fn with_some(self, key: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// The address.
    pub(super) fn text(self) -> String {
        self.text
    }
}

/// Encodes whatever is not unreserved (RFC 3986, section 2.3).
fn encode(out: &mut String, text: &str) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
}

/// An instant as people read it, with the whole of it for machines.
fn when(at: &str) -> Markup {
    markup! { time datetime=(at) { (crate::log_story::minute(at)) } }
}

/// A table of words and figures; the first of its cells names the row.
fn table(heads: &[&str], rows: &[Vec<String>]) -> Markup {
    markup! {
        div.wide tabindex="0" role="region" aria-label="table" {
            table {
                thead { tr { @for head in heads { th scope="col" { (head) } } } }
                tbody { @for row in rows { tr { @for cell in row { td { (cell) } } } } }
            }
        }
    }
}

/// A choice by links, of which one is the page that is shown.
fn chips<'a>(label: &str, all: impl Iterator<Item = (String, &'a str, bool)>) -> Markup {
    markup! {
        ul.chips aria-label=(label) {
            @for (address, name, here) in all {
                li { a href=(address) aria-current=[here.then_some("true")] { (name) } }
            }
        }
    }
}

/// Text that people wrote: paragraphs, with their lines.
fn paragraphs(text: &str) -> Markup {
    let parts = text.split("\n\n").map(str::trim);
    markup! { @for part in parts.filter(|part| !part.is_empty()) { p.said { (coded(part)) } } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_parts_of_addresses() {
        assert_eq!(
            Link::history("a/b c?d#<é").text(),
            "/history/a%2Fb%20c%3Fd%23%3C%C3%A9"
        );
        assert_eq!(Link::history("..").text(), "/history?name=..");
        let both = Link::to("/compare").with("a", "x&b=1").with("b", "v1.2");
        assert_eq!(both.text(), "/compare?a=x%26b%3D1&b=v1.2");
        assert_eq!(
            Link::history(".").with("endpoint", "e").text(),
            "/history?name=.&endpoint=e"
        );
    }
}

//! From a request to an answer, as a page or as JSON.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use slowpath_report::site::{Site, site_file, trouble_page};

use super::shelf::Shelf;

/// What a file that a user put beside an investigation may do: be viewed.
const SANDBOX: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/// What pages are made of.
#[derive(Debug)]
pub(super) struct Served {
    pub(super) site: Site,
    pub(super) shelf: Shelf,
    /// The folder of all investigations.
    pub(super) log: PathBuf,
}

/// What was asked for.
#[derive(Debug, Default)]
pub(super) struct Ask {
    /// Parts of the path and of the query, by name.
    values: Values,
    /// The path as it came.
    pub(super) path: String,
    /// Whether JSON is wanted.
    pub(super) json: bool,
}

impl Ask {
    fn of(uri: &Uri, headers: &HeaderMap, values: Values) -> Self {
        let wanted = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok());
        let by_header = wanted.is_some_and(|accept| accept.starts_with("application/json"));
        Self {
            json: by_header || values.get("format").is_some_and(|format| format == "json"),
            path: uri.path().to_owned(),
            values,
        }
    }

    /// A value that is not empty.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let value = self.values.get(name).map(String::as_str);
        value.filter(|value| !value.is_empty())
    }
}

/// An answer.
#[derive(Debug)]
pub(super) enum Answer {
    /// A page.
    Page(String),
    /// JSON.
    Json(String),
    /// A file of the site.
    File(&'static str, String),
    /// A file that a user put beside an investigation.
    Theirs(&'static str, Vec<u8>),
    /// What is wrong, what to try, and runs that may be meant.
    Trouble(Trouble),
}

/// Why there is no page.
#[derive(Debug)]
pub(super) struct Trouble {
    pub(super) status: StatusCode,
    pub(super) title: String,
    pub(super) what: String,
    pub(super) remedy: String,
    /// Runs that may be meant: ids and words.
    pub(super) runs: Vec<(String, String)>,
}

impl Trouble {
    /// Nothing is there.
    pub(super) fn unknown(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            status: StatusCode::NOT_FOUND,
            title: "Not here".to_owned(),
            what: what.into(),
            remedy: remedy.into(),
            runs: Vec::new(),
        }
    }

    /// It is there and cannot be read.
    pub(super) fn broken(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            status: StatusCode::UNPROCESSABLE_ENTITY,
            title: "This cannot be read".to_owned(),
            ..Self::unknown(what, remedy)
        }
    }
}

impl From<Trouble> for Answer {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}

/// Parts of a path or of a query.
type Values = BTreeMap<String, String>;

/// What makes an answer.
type Build = fn(&Served, &Ask) -> Result<Answer, Trouble>;

/// A route: the answer is made on a thread of its own, since reading and judging block.
pub(super) fn route(build: Build) -> MethodRouter<Arc<Served>> {
    get(
        move |State(served): State<Arc<Served>>,
              uri: Uri,
              parts: Option<Path<Values>>,
              Query(mut values): Query<Values>,
              headers: HeaderMap| async move {
            if let Some(Path(parts)) = parts {
                values.extend(parts);
            }
            answered(served, build, Ask::of(&uri, &headers, values)).await
        },
    )
}

async fn answered(served: Arc<Served>, build: Build, ask: Ask) -> Response {
    let json = ask.json;
    let site = served.site.clone();
    let made = tokio::task::spawn_blocking(move || build(&served, &ask)).await;
    let answer = match made {
        Ok(answer) => answer.unwrap_or_else(Answer::Trouble),
        Err(error) => Answer::Trouble(Trouble {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            title: "A bug of slowpath".to_owned(),
            what: format!("this page could not be made: {error}"),
            remedy: "please report it; the other pages work".to_owned(),
            runs: Vec::new(),
        }),
    };
    response(&site, answer, json)
}

fn response(site: &Site, answer: Answer, json: bool) -> Response {
    let html = HeaderValue::from_static("text/html; charset=utf-8");
    let as_json = HeaderValue::from_static("application/json");
    match answer {
        Answer::Page(text) => ([(CONTENT_TYPE, html)], text).into_response(),
        Answer::Json(text) => ([(CONTENT_TYPE, as_json)], text).into_response(),
        Answer::File(kind, text) => {
            ([(CONTENT_TYPE, HeaderValue::from_static(kind))], text).into_response()
        }
        Answer::Theirs(kind, bytes) => {
            let headers = [("content-type", kind), ("content-security-policy", SANDBOX)];
            (headers, bytes).into_response()
        }
        Answer::Trouble(of) if json => {
            let runs: Vec<&String> = of.runs.iter().map(|(id, _)| id).collect();
            let told = serde_json::json!({ "error": of.what, "try": of.remedy, "runs": runs });
            (of.status, [(CONTENT_TYPE, as_json)], format!("{told:#}\n")).into_response()
        }
        Answer::Trouble(of) => {
            let page = trouble_page(site, &of.title, &of.what, &of.remedy, &of.runs);
            (of.status, [(CONTENT_TYPE, html)], page).into_response()
        }
    }
}

/// Files of the site, and addresses that are none.
pub(super) fn beside(_: &Served, ask: &Ask) -> Result<Answer, Trouble> {
    match site_file(&ask.path) {
        Some((kind, text)) => Ok(Answer::File(kind, text)),
        None => Err(Trouble::unknown(
            format!("there is no page {}", ask.path),
            "the pages are named above",
        )),
    }
}

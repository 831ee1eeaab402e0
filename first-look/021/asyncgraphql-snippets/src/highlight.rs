//! Rendering of a snippet. The grammars of syntect are kept once per thread
//! (HIGHLIGHTER=thread) or once for the whole process (HIGHLIGHTER=process).
use std::{env, fs::OpenOptions, io::Write, sync::OnceLock, time::Instant};

use syntect::{highlighting::ThemeSet, html::highlighted_html_for_string, parsing::SyntaxSet};

use crate::Stored;

struct Highlighter {
    grammars: SyntaxSet,
    themes: ThemeSet,
}

impl Highlighter {
    fn load() -> Self {
        let begin = Instant::now();
        let loaded = Highlighter {
            grammars: SyntaxSet::load_defaults_newlines(),
            themes: ThemeSet::load_defaults(),
        };
        trace("load", begin);
        loaded
    }

    fn html(&self, snippet: &Stored) -> Result<String, String> {
        let begin = Instant::now();
        let grammar = self
            .grammars
            .find_syntax_by_extension(snippet.extension)
            .unwrap_or_else(|| self.grammars.find_syntax_plain_text());
        let theme = &self.themes.themes["InspiredGitHub"];
        let html = highlighted_html_for_string(&snippet.code, &self.grammars, grammar, theme)
            .map_err(|e| e.to_string());
        trace("html", begin);
        html
    }
}

thread_local! {
    static OF_THREAD: Highlighter = Highlighter::load();
}
static OF_PROCESS: OnceLock<Highlighter> = OnceLock::new();

fn per_thread() -> bool {
    static ANSWER: OnceLock<bool> = OnceLock::new();
    *ANSWER.get_or_init(|| env::var("HIGHLIGHTER").map_or(true, |v| v != "process"))
}

pub fn render(snippet: &Stored) -> Result<String, String> {
    if per_thread() {
        OF_THREAD.with(|h| h.html(snippet))
    } else {
        OF_PROCESS.get_or_init(Highlighter::load).html(snippet)
    }
}

/// Renders everything once before the port is opened.
pub fn prepare<'a>(all: impl Iterator<Item = &'a Stored>) -> Result<(), String> {
    for snippet in all {
        render(snippet)?;
    }
    Ok(())
}

fn trace(what: &str, begin: Instant) {
    static PATH: OnceLock<Option<String>> = OnceLock::new();
    if let Some(path) = PATH.get_or_init(|| env::var("TRACE_LOG").ok()) {
        if let Ok(mut f) = OpenOptions::new().create(true).append(true).open(path) {
            let _ = writeln!(
                f,
                "{what} {:?} {:.2}",
                std::thread::current().id(),
                begin.elapsed().as_secs_f64() * 1e3
            );
        }
    }
}

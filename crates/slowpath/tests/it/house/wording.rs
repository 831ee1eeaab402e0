//! Comments, texts and documents use the field's words. The words below belong to a dialect that a newcomer has to decode; each has a
//! standard one, which is beside it. "Behind a proxy" and "each in turn" are plain English: the bound leaves room for such uses.

use std::path::{Path, PathBuf};

use super::{files, rust_files};
use crate::support::root;

/// How often the words below may occur in 1,000 words of all comments, strings and documents.
const PER_THOUSAND_MOST: f64 = 0.5;

/// So many files are named if there are too many of these words.
const FILES_NAMED: usize = 20;

/// So many lines are named of each file.
const LINES_NAMED: usize = 5;

/// What is not written, and what to write instead.
const DIALECT: &[(&str, &str)] = &[
    ("acquit", "clear, rule out"),
    ("acquits", "clears, rules out"),
    ("acquitted", "cleared, ruled out"),
    ("anew", "again"),
    ("anybody", "any user, any process: say which"),
    (
        "behind",
        "after (a place, as in \"behind a proxy\", is fine)",
    ),
    ("everybody", "all users, all requests: say which"),
    ("go by", "follow, use"),
    ("goes by", "follows, uses"),
    ("has it", "holds it"),
    ("held against", "compared with"),
    ("herd", "stampede"),
    ("herds", "stampedes"),
    ("in hand", "busy with, in progress"),
    ("in turn", "one by one, each"),
    ("let go", "released"),
    ("lets go", "releases"),
    ("looked at", "checked, examined"),
    ("meanwhile", "at the same time, during it"),
    ("nobody", "no one, no caller, no thread: say which"),
    ("put aside", "excluded"),
    ("puts aside", "excludes"),
    ("somebody", "another process, a caller: say which"),
    ("stand for", "mean, represent"),
    ("stands for", "means, represents"),
    ("stood for", "meant, represented"),
    ("tell", "report, show, distinguish"),
    ("telling", "reporting, distinguishing"),
    ("tells", "reports, shows, distinguishes"),
    ("told", "reported, known, distinguished"),
    ("who has", "the holder, the occupant"),
    ("whoever", "a program that, a caller that: say which"),
    ("whom", "which thread, which caller: say which"),
];

/// A word, in lower case, and the line that it is in.
type Word = (usize, String);

/// The words of a text that starts in line `first`. What is between backticks is code, and so is a name between braces (`{told:?}`).
fn words(text: &str, first: usize, out: &mut Vec<Word>) {
    for (number, line) in text.split('\n').enumerate() {
        let closed = line.matches('`').count().is_multiple_of(2);
        for prose in line.split('`').step_by(if closed { 2 } else { 1 }) {
            for (n, part) in prose.split('{').enumerate() {
                let name = part.find(|c: char| !(c.is_alphanumeric() || c == '_'));
                let is_filled_in =
                    n > 0 && name.is_some_and(|end| part[end..].starts_with(['}', ':']));
                let part = &part[name.filter(|_| is_filled_in).unwrap_or(0)..];
                let each = part.split(|c: char| !(c.is_alphanumeric() || "'-_".contains(c)));
                out.extend(
                    each.filter(|word| word.starts_with(char::is_alphabetic))
                        .map(|word| (first + number, word.to_lowercase())),
                );
            }
        }
    }
}

/// Where the string that begins with the quotation mark at `start` ends: the position of the mark that ends it.
fn end_of_string(text: &str, start: usize, hashes: Option<usize>) -> usize {
    let body = start + 1;
    if let Some(hashes) = hashes {
        let end = format!("\"{}", "#".repeat(hashes));
        return text[body..].find(&end).map_or(text.len(), |at| body + at);
    }
    let mut escaped = false;
    for (at, c) in text[body..].char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return body + at,
            _ => {}
        }
    }
    text.len()
}

/// The number of `#` before the quotation mark at `at` if a raw string begins there.
fn raw(text: &str, at: usize) -> Option<usize> {
    let before = text[..at].trim_end_matches('#');
    let hashes = at - before.len();
    let letters = before
        .trim_end_matches(|c: char| c.is_alphanumeric() || c == '_')
        .len();
    ["r", "br", "cr"]
        .contains(&&before[letters..])
        .then_some(hashes)
}

/// The length of the character literal that begins at the start of `rest`, or 1: a lifetime begins with the same mark.
fn character(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1);
    match chars.next() {
        Some((at, '\\')) => rest[at + 2..].find('\'').map_or(1, |end| at + 2 + end + 1),
        Some(_) => match chars.next() {
            Some((at, '\'')) => at + 1,
            _ => 1,
        },
        None => 1,
    }
}

/// The words of the comments and strings of a source file.
fn words_of_source(text: &str) -> Vec<Word> {
    let (mut out, mut at, mut line) = (Vec::new(), 0, 1);
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let mut next = at + c.len_utf8();
        if rest.starts_with("//") {
            next = rest.find('\n').map_or(text.len(), |end| at + end);
            words(&text[at..next], line, &mut out);
        } else if rest.starts_with("/*") {
            next = rest.find("*/").map_or(text.len(), |end| at + end + 2);
            words(&text[at..next], line, &mut out);
        } else if c == '"' {
            let end = end_of_string(text, at, raw(text, at));
            words(&text[at + 1..end], line, &mut out);
            next = (end + 1).min(text.len());
        } else if c == '\'' {
            next = at + character(rest);
        }
        line += text[at..next].matches('\n').count();
        at = next;
    }
    out
}

/// The words of a page, without its examples: what is between fences is code, or what slowpath prints.
fn words_of_page(text: &str) -> Vec<Word> {
    let (mut out, mut fenced) = (Vec::new(), false);
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            words(line, number + 1, &mut out);
        }
    }
    out
}

/// The line of each occurrence of a phrase of the list, with the phrase.
fn dialect(words: &[Word]) -> Vec<(usize, &'static str)> {
    let mut out = Vec::new();
    for (phrase, _) in DIALECT {
        let parts: Vec<&str> = phrase.split(' ').collect();
        for window in words.windows(parts.len()) {
            if window.iter().map(|(_, word)| word).eq(parts.iter()) {
                out.push((window[0].0, *phrase));
            }
        }
    }
    out.sort_unstable();
    out
}

/// The files whose words count: sources and documents, without this list and the table that others' figures make.
fn pages() -> Vec<PathBuf> {
    let mut out = Vec::new();
    for folder in ["docs", "crates/diagnose/docs"] {
        files(&root().join(folder), "md", &mut out);
    }
    out.extend(["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(|name| root().join(name)));
    out.retain(|path| !path.ends_with("docs/accuracy.md"));
    out
}

fn sources() -> Vec<PathBuf> {
    let mut out = rust_files();
    files(&root().join("fuzz"), "rs", &mut out);
    let own = Path::new("it/house/wording.rs");
    out.retain(|path| !path.ends_with(own));
    out
}

/// One file with words of the list: how it is named in the message.
fn described(path: &Path, found: &[(usize, &str)]) -> String {
    let lines: Vec<String> = found
        .iter()
        .take(LINES_NAMED)
        .map(|(line, phrase)| format!("{line} {phrase:?}"))
        .collect();
    let place = path.strip_prefix(root()).unwrap_or(path).display();
    format!("{place}: {} (lines {})", found.len(), lines.join(", "))
}

#[test]
fn texts_use_the_words_of_the_field() {
    let read = |path: &PathBuf| std::fs::read_to_string(path).unwrap();
    let (sources, pages) = (sources(), pages());
    let texts = sources
        .iter()
        .map(|path| (path, words_of_source(&read(path))))
        .chain(pages.iter().map(|path| (path, words_of_page(&read(path)))));
    let (mut total, mut found) = (0_u32, Vec::new());
    for (path, words) in texts {
        total += u32::try_from(words.len()).unwrap();
        let here = dialect(&words);
        if !here.is_empty() {
            found.push((path, here));
        }
    }
    found.sort_by_key(|(_, here)| std::cmp::Reverse(here.len()));
    let count = u32::try_from(found.iter().map(|(_, here)| here.len()).sum::<usize>()).unwrap();
    assert!(total > 100_000, "read only {total} words");
    let rate = 1000.0 * f64::from(count) / f64::from(total);
    eprintln!("{count} of {total} words: {rate:.2} per 1,000");
    let worst: Vec<String> = found
        .iter()
        .take(FILES_NAMED)
        .map(|(path, here)| described(path, here))
        .collect();
    assert!(
        rate <= PER_THOUSAND_MOST,
        "{count} of {total} words are of the dialect that DIALECT lists with the standard words: {rate:.2} per 1,000, \
         at most {PER_THOUSAND_MOST} are allowed; the worst files:\n{}",
        worst.join("\n")
    );
}

#[test]
fn only_comments_and_strings_count() {
    let source = concat!(
        "//! Nobody `told` it.\nlet told = 'x'; // in\n// hand\nfn f<'a>(x: &'a str) { g(\"to\\\"ld whom\", '\"', b'\\'', r#\"an\"ew \"#) }\n",
        "let anew = '\\\\'; \"{told:?} {whom} {} meanwhile\"",
    );
    let found = dialect(&words_of_source(source));
    assert_eq!(
        found,
        [(1, "nobody"), (2, "in hand"), (4, "whom"), (5, "meanwhile")]
    );
    let page = "told\n```\ntold\n```\nlooked\nat";
    assert_eq!(
        dialect(&words_of_page(page)),
        [(1, "told"), (5, "looked at")]
    );
}

/// The rows of the glossary: the name in the code, and the file that it is in, below `crates`.
fn glossary(text: &str) -> Vec<(&str, &str)> {
    let section = text.split("\n## Words\n").nth(1).unwrap_or_default();
    let section = section.split("\n## ").next().unwrap_or_default();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let cells: Vec<&str> = row.split('`').collect();
        (cells[1], cells[cells.len() - 2])
    })
    .collect()
}

#[test]
fn the_glossary_names_what_there_is() {
    let text = std::fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let rows = glossary(&text);
    assert!(rows.len() >= 30, "{} rows", rows.len());
    for (term, place) in rows {
        let path = root().join("crates").join(place);
        let source = std::fs::read_to_string(&path).unwrap_or_default();
        let name = term.rsplit("::").next().unwrap_or(term);
        let is_module = path.file_stem().is_some_and(|stem| stem == name) && path.exists();
        let is_there = source
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .any(|word| word == name);
        assert!(
            is_module || is_there,
            "the glossary in CONTRIBUTING.md has `{term}`, and crates/{place} does not contain it"
        );
    }
}

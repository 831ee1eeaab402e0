//! Reads an entry (TOML): strict, and all mistakes at once, as scenarios are read.

use slowpath_core::investigation::{
    Decided, Decision, Entry, Hypothesis, Measured, NoPrediction, Outcome, Prediction, Question,
    Sign, Symptom, Target, Tested, Trial, Verdict, What, parse_quantity,
};
use toml::de::{DeTable, DeValue};
use ulid::Ulid;

use crate::scenario::Mistake;
use crate::scenario::keys::ENTRY;
use crate::scenario::reader::{Notes, Table};
use crate::scenario::value::Value;

/// What git leaves in a file whose two versions it could not merge.
const CONFLICT: [&str; 3] = ["<<<<<<< ", "=======", ">>>>>>> "];

/// Keys that every entry may have.
const COMMON: [&str; 7] = ["kind", "at", "by", "text", "runs", "links", "figures"];

/// The kinds of entries, and the keys that each may have beside the common ones.
const KINDS: [(&str, &[&str]); 7] = [
    (
        "opened",
        &["title", "scenario", "metric", "since", "measured", "sign"],
    ),
    ("observation", &["sign"]),
    ("hypothesis", &["cause", "answers", "that", "due"]),
    ("experiment", &["of", "verdict"]),
    ("outcome", &["of", "release", "verdict", "measured"]),
    ("decision", &["decides", "of", "release"]),
    ("reopening", &["sign"]),
];

/// An entry, and where in its file it points to something else.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Parsed {
    pub(super) entry: Entry,
    /// The line of `of`.
    pub(super) of: usize,
    /// The line of each run.
    pub(super) runs: Vec<usize>,
    /// The line of each figure.
    pub(super) figures: Vec<usize>,
}

/// Reads the text of the entry `id`.
///
/// # Errors
/// Every mistake in it, in the order of lines; never an empty list.
pub(super) fn parse(text: &str, file: &str, id: &str) -> Result<Parsed, Vec<Mistake>> {
    if let Some(mistake) = conflict(text, file) {
        return Err(vec![mistake]);
    }
    let notes = Notes::new(file, text);
    let (root, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let at = error.span().map_or(text.len(), |span| span.start);
        notes.syntax(at, error.message());
    }
    let root = Table::new(&notes, String::new(), ENTRY.to_owned(), 1, root.get_ref());
    let parsed = entry(&root, id);
    let mistakes = notes.into_mistakes();
    match parsed {
        Some(parsed) if mistakes.is_empty() => Ok(parsed),
        _ => Err(mistakes),
    }
}

/// That git left a conflict in the file.
fn conflict(text: &str, file: &str) -> Option<Mistake> {
    let mut lines = text.lines().enumerate();
    let (line, _) = lines.find(|(_, line)| line.starts_with(CONFLICT[0]))?;
    let rest = |mark: &str| text.lines().skip(line).any(|line| line.starts_with(mark));
    (rest(CONFLICT[1]) && rest(CONFLICT[2])).then(|| Mistake {
        file: file.to_owned(),
        line: line + 1,
        key: String::new(),
        what: "git left a conflict here".to_owned(),
        remedy: "keep one version: entries are never changed, so the one that was there first"
            .to_owned(),
    })
}

fn entry(root: &Table<'_>, id: &str) -> Option<Parsed> {
    let kinds = KINDS.map(|(kind, _)| (kind, kind));
    let kind = root.required("kind", "add kind = \"observation\"");
    let kind = kind.and_then(|value| value.choice(&kinds));
    let at = root
        .required("at", "add at = 2026-01-31T14:05:00Z")
        .and_then(|value| instant(&value));
    let by = words(root, "by");
    let text = root.get("text").and_then(|value| value.filled());
    let (runs, run_lines) = list(root, "runs", |value| {
        let text = value.filled()?;
        if Ulid::from_string(text).is_err() {
            value.wrong(
                format!("{text:?} is no run's id"),
                "write all 26 letters and digits of it",
            );
        }
        Some(text.to_owned())
    });
    let (links, _) = list(root, "links", link);
    let (figures, figure_lines) = list(root, "figures", figure);
    let signs = Sign::ALL.map(|one| (one.word(), one));
    let sign = root.get("sign").and_then(|value| value.choice(&signs));
    let kind = kind?;
    fitting(root, kind);
    let what = what(root, kind);
    // An opening has a title, and an outcome its figures.
    if !root.has("text") && !matches!(kind, "opened" | "outcome") {
        root.required("text", "add text = \"...\": what is to be said");
    }
    Some(Parsed {
        entry: Entry {
            id: id.to_owned(),
            at: at?,
            by,
            text: text.unwrap_or_default().trim().to_owned(),
            runs,
            links,
            figures,
            sign,
            what: what?,
        },
        of: root.get("of").map_or(1, |value| value.line()),
        runs: run_lines,
        figures: figure_lines,
    })
}

/// Notes keys that an entry of another kind may have.
fn fitting(root: &Table<'_>, kind: &str) {
    let own = KINDS.iter().find(|(name, _)| *name == kind);
    let own = own.map_or(&[][..], |(_, own)| *own);
    let others = KINDS.iter().flat_map(|(_, keys)| keys.iter());
    let mut told: Vec<&str> = Vec::new();
    for key in others {
        if root.has(key) && !own.contains(key) && !told.contains(key) {
            told.push(key);
            let may: Vec<&str> = COMMON.iter().chain(own).copied().collect();
            if let Some(value) = root.get(key) {
                value.wrong(
                    format!("is not for kind = {kind:?}"),
                    format!("it may have {}", may.join(", ")),
                );
            }
        }
    }
}

fn what(root: &Table<'_>, kind: &str) -> Option<What> {
    Some(match kind {
        "opened" => What::Opened(symptom(root)?),
        "hypothesis" => What::Hypothesis(hypothesis(root)?),
        "experiment" => What::Experiment(Trial {
            of: reference(root),
            verdict: root.get("verdict").and_then(|value| {
                let words = Tested::ALL.map(|one| (one.word(), one));
                value.choice(&words)
            }),
        }),
        "outcome" => What::Outcome(outcome(root)?),
        "decision" => What::Decision(decision(root)?),
        "reopening" => What::Reopening,
        _ => What::Observation,
    })
}

fn symptom(root: &Table<'_>) -> Option<Symptom> {
    let title = root.required("title", "add title = \"...\": what is slow, in a few words");
    let title = title.and_then(|value| one_line(&value));
    let scenario = root.required(
        "scenario",
        "add scenario = \"NAME\", that of the runs in which it shows",
    );
    let scenario = scenario.and_then(|value| one_line(&value));
    let metric = root
        .required("metric", "add metric = \"ENDPOINT.p99\"")
        .and_then(|value| {
            let text = value.filled()?;
            let remedy = "say \"ENDPOINT.METRIC\", such as \"search.p99\"";
            let target = Target::parse(text);
            target.map_err(|error| value.wrong(error, remedy)).ok()
        });
    let since = words(root, "since");
    let measured = measured(root);
    Some(Symptom {
        title: title?,
        scenario: scenario?,
        metric: metric?,
        since,
        measured,
    })
}

fn hypothesis(root: &Table<'_>) -> Option<Hypothesis> {
    let due = words(root, "due");
    let that = root.get("that").map(|value| {
        let prediction = Prediction::parse(value.filled()?, due);
        prediction
            .map_err(|error| value.wrong(error, NoPrediction::REMEDY))
            .ok()
    });
    if that.is_none() && root.has("due") {
        let remedy = "add that = \"search.p99 in 96ms..118ms\", or remove it";
        root.contradiction("due", "nothing is predicted that could be due", remedy);
    }
    let questions = Question::ALL.map(|one| (one.word(), one));
    let (answers, _) = list(root, "answers", |value| value.choice(&questions));
    Some(Hypothesis {
        cause: words(root, "cause"),
        answers,
        prediction: match that {
            None => None,
            Some(read) => Some(read?),
        },
    })
}

fn outcome(root: &Table<'_>) -> Option<Outcome> {
    root.required("of", "add of = \"ID\", the entry that predicted it");
    let verdict = root.required("verdict", "add verdict = \"held\"");
    let words_of = Verdict::ALL.map(|one| (one.word(), one));
    let verdict = verdict.and_then(|value| value.choice(&words_of));
    let measured = measured(root);
    let release = words(root, "release");
    Some(Outcome {
        of: reference(root)?,
        release,
        verdict: verdict?,
        measured,
    })
}

fn decision(root: &Table<'_>) -> Option<Decided> {
    let decides = root.required("decides", "add decides = \"changed\"");
    let decides = decides.and_then(|value| {
        let words = Decision::ALL.map(|one| (one.word(), one));
        value.choice(&words)
    });
    let release = words(root, "release");
    let of = reference(root);
    if decides.is_some_and(|one| one != Decision::Changed) && root.has("release") {
        let remedy = "say it in the entry of the change";
        root.contradiction("release", "is for decides = \"changed\"", remedy);
    }
    Some(Decided {
        decision: decides?,
        of,
        release,
    })
}

/// The entry that another one is about.
fn reference(root: &Table<'_>) -> Option<String> {
    let value = root.get("of")?;
    let text = value.filled()?;
    if Ulid::from_string(text).is_err() {
        value.wrong(
            format!("{text:?} is no entry's id"),
            "write all 26 letters and digits with which its file's name begins",
        );
        return None;
    }
    Some(text.to_owned())
}

fn measured(root: &Table<'_>) -> Option<Measured> {
    let table = root.child("measured")?;
    let read = |value: Value<'_>| {
        let text = value.filled()?;
        let read = parse_quantity(text);
        if read.is_none() {
            value.wrong(
                format!("{text:?} is no figure"),
                "write \"104.2ms\", \"412/s\", \"2.1%\", \"2048B\" or \"34\"",
            );
        }
        read
    };
    let figure = table.required("value", "add value = \"104.2ms\"");
    let figure = figure.and_then(read);
    let low = table.get("low").and_then(read);
    let high = table.get("high").and_then(read);
    if table.has("low") != table.has("high") {
        let key = if table.has("low") { "low" } else { "high" };
        table.contradiction(key, "an interval has two ends", "write low and high");
    }
    let (unit, value) = figure?;
    let range = low.zip(high).map(|((_, low), (_, high))| (low, high));
    let mut ends = [low, high].into_iter().flatten();
    if ends.any(|(of, _)| of != unit) {
        table.contradiction("low", "is of another unit", "write all three in one unit");
    } else if range.is_some_and(|(low, high)| low > value || high < value) {
        let remedy = "write low <= value <= high";
        table.contradiction("low", "the figure is outside of its interval", remedy);
    }
    Some(Measured { unit, value, range })
}

/// A text of one line, if it is there.
fn words(root: &Table<'_>, key: &str) -> Option<String> {
    root.get(key).and_then(|value| one_line(&value))
}

fn one_line(value: &Value<'_>) -> Option<String> {
    let text = value.filled()?.trim();
    if text.chars().any(char::is_control) {
        value.wrong("more than one line", "write it on one line");
        return None;
    }
    Some(text.to_owned())
}

/// The elements of an array, and the line of each; none if there is no array.
fn list<T>(
    root: &Table<'_>,
    key: &str,
    read: impl Fn(&Value<'_>) -> Option<T>,
) -> (Vec<T>, Vec<usize>) {
    let elements = root.get(key).and_then(|value| value.array());
    let elements = elements.unwrap_or_default();
    elements
        .iter()
        .filter_map(|value| Some((read(value)?, value.line())))
        .unzip()
}

fn link(value: &Value<'_>) -> Option<String> {
    let text = one_line(value)?;
    let is_address = ["https://", "http://"].iter().any(|s| text.starts_with(s));
    if !is_address || text.contains(char::is_whitespace) {
        value.wrong(
            format!("{text:?} is no address"),
            "write one with https:// before it, or name a file in figures",
        );
        return None;
    }
    Some(text)
}

/// The name of a file in the investigation's own folder.
fn figure(value: &Value<'_>) -> Option<String> {
    let text = one_line(value)?;
    let own = !text.starts_with('.') && !text.contains(['/', '\\']);
    if !own {
        value.wrong(
            format!("{text:?} is no file of this folder"),
            "put it beside the entry and write its name",
        );
        return None;
    }
    Some(text)
}

/// An instant, in UTC and to the second.
fn instant(value: &Value<'_>) -> Option<String> {
    const REMEDY: &str = "write 2026-01-31T14:05:00Z";
    let text = match value.toml() {
        DeValue::Datetime(at) => at.to_string(),
        _ => value.text()?.to_owned(),
    };
    let read: Result<jiff::Timestamp, _> = text.parse();
    let seconds = read.map(jiff::Timestamp::as_second);
    let instant = seconds.and_then(jiff::Timestamp::from_second);
    if instant.is_err() {
        value.wrong(format!("{text:?} is no instant with its time zone"), REMEDY);
    }
    instant.ok().map(|at| at.to_string())
}

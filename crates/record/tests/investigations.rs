//! The investigation log on disk, from the outside: read, written, broken, merged.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests of an effectful crate have effects, and a helper that fails is a failed test"
)]

#[path = "investigations/arbitrary.rs"]
mod arbitrary;
#[path = "investigations/merging.rs"]
mod merging;
#[path = "investigations/mistakes.rs"]
mod mistakes;

use std::path::Path;

use slowpath_core::investigation::{
    Decided, Decision, Entry, Hypothesis, Measured, Outcome, Prediction, Question, Symptom, Target,
    Tested, Trial, Verdict, What,
};
use slowpath_record::{parse_entry, read_investigations, write_entry};

/// The id of the `at`th entry.
fn id(at: u8) -> String {
    format!("01JD{at:022}")
}

/// An entry of that kind, written `at` minutes past the hour.
fn entry(at: u8, text: &str, what: What) -> Entry {
    Entry {
        id: id(at),
        at: format!("2026-01-31T14:{at:02}:00Z"),
        by: None,
        text: text.to_owned(),
        runs: Vec::new(),
        links: Vec::new(),
        figures: Vec::new(),
        sign: None,
        what,
    }
}

fn symptom() -> What {
    What::Opened(Symptom {
        title: "The tail of search".to_owned(),
        scenario: "shop".to_owned(),
        metric: Target::parse("search.p99").unwrap(),
        since: Some("v3.17".to_owned()),
        measured: Some(Measured {
            unit: slowpath_core::figures::Unit::Ns,
            value: 1.42e9,
            range: Some((1.31e9, 1.55e9)),
        }),
    })
}

fn prediction() -> What {
    let due = Some("v3.18".to_owned());
    What::Hypothesis(Hypothesis {
        cause: Some("lock-held-over-io".to_owned()),
        answers: vec![Question::HowMuch],
        prediction: Some(Prediction::parse("search.p99 in 96ms..118ms", due).unwrap()),
    })
}

/// One of each kind.
fn story() -> Vec<Entry> {
    let of = || Some(id(2));
    let outcome = What::Outcome(Outcome {
        of: id(2),
        release: Some("v3.18".to_owned()),
        verdict: Verdict::Held,
        measured: None,
    });
    let decision = |decision, release: Option<&str>| {
        What::Decision(Decided {
            decision,
            of: of(),
            release: release.map(str::to_owned),
        })
    };
    let trial = Trial {
        of: of(),
        verdict: Some(Tested::Confirmed),
    };
    vec![
        entry(0, "", symptom()),
        entry(1, "Every \"500 ms\"\nthe exporter runs.", What::Observation),
        entry(2, "It holds the lock.", prediction()),
        entry(3, "Off and on six times.", What::Experiment(trial)),
        entry(4, "Moved.", decision(Decision::Changed, Some("v3.18"))),
        entry(5, "", outcome),
        entry(6, "Done.", decision(Decision::Fixed, None)),
        entry(7, "It is back.", What::Reopening),
    ]
}

#[test]
fn an_investigation_is_read_as_written_and_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let story = story();
    for entry in story.iter().rev() {
        let path = write_entry(folder.path(), "search-tail", entry).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert_eq!(name, format!("{}-{}.toml", entry.id, entry.what.kind()));
    }
    let book = read_investigations(folder.path()).unwrap();
    assert_eq!(book.mistakes, []);
    assert_eq!(book.investigations.len(), 1);
    assert_eq!(book.investigations[0].id, "search-tail");
    assert_eq!(book.investigations[0].entries, story);
    assert!(book.cited.is_empty());
}

#[test]
fn an_entry_is_never_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let one = entry(0, "", symptom());
    let path = write_entry(folder.path(), "a", &one).unwrap();
    let before = std::fs::read(&path).unwrap();
    let changed = Entry {
        text: "other".to_owned(),
        ..one.clone()
    };
    let said = write_entry(folder.path(), "a", &changed).unwrap_err();
    assert!(said.to_string().contains("never written again"), "{said}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    for name in ["", "../a", "A", "a b", "-a", "a/", "ä"] {
        assert!(write_entry(folder.path(), name, &one).is_err(), "{name:?}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_file_reads_well_without_the_tool() {
    let text = slowpath_record::entry_text(&Entry {
        by: Some("ann".to_owned()),
        runs: vec![id(9)],
        links: vec!["https://example.org/a".to_owned()],
        ..entry(2, "The exporter\nholds the \"lock\".", prediction())
    });
    let expected = "kind = \"hypothesis\"\n\
                    at = 2026-01-31T14:02:00Z\n\
                    by = \"ann\"\n\
                    cause = \"lock-held-over-io\"\n\
                    answers = [\"how-much\"]\n\
                    that = \"search.p99 in 96ms..118ms\"\n\
                    due = \"v3.18\"\n\
                    runs = [\"01JD0000000000000000000009\"]\n\
                    links = [\"https://example.org/a\"]\n\
                    text = \"\"\"\nThe exporter\nholds the \"lock\".\"\"\"\n";
    assert_eq!(text, expected);
    assert!(parse_entry(&text, "x.toml", &id(2)).is_ok());
}

#[test]
fn what_is_no_entry_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = write_entry(folder.path(), "a", &entry(0, "", symptom())).unwrap();
    let own = path.parent().unwrap();
    for name in ["stalls.svg", "README.md", ".x.toml.1-0.tmp", ".hidden.toml"] {
        std::fs::write(own.join(name), "anything").unwrap();
    }
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    std::fs::write(folder.path().join("README.md"), "anything").unwrap();
    let book = read_investigations(folder.path()).unwrap();
    assert_eq!((book.mistakes, book.investigations.len()), (Vec::new(), 1));
    let none = read_investigations(Path::new("/nowhere/at/all")).unwrap();
    assert!(none.investigations.is_empty());
}

//! What is wrong with the files of a log is reported with line and remedy, all of it at once.

use std::path::Path;

use slowpath_record::{parse_entry, read_investigations, write_entry};

use super::{entry, id, story, symptom};

fn told(text: &str) -> Vec<String> {
    let mistakes = parse_entry(text, "x.toml", &id(0)).unwrap_err();
    mistakes.iter().map(ToString::to_string).collect()
}

#[test]
fn all_mistakes_of_a_file_are_told_at_once() {
    let said = told(
        "kind = \"hypothesis\"\n\
         at = 2026-01-31T14:05:00\n\
         txt = \"x\"\n\
         runs = [\"01JD\", \"01JD0000000000000000000001\"]\n\
         links = [\"example.org\"]\n\
         figures = [\"../x.svg\"]\n\
         that = \"search.p99 < 50ms\"\n\
         release = \"v2\"\n\
         answers = [\"why\"]\n",
    );
    let expected = [
        ("x.toml:1: text: missing", "add text"),
        (
            "x.toml:2: at: \"2026-01-31T14:05:00\" is no instant",
            "write 2026",
        ),
        ("x.toml:3: txt: unknown key", "did you mean text?"),
        ("x.toml:4: runs: \"01JD\" is no run's id", "26"),
        ("x.toml:5: links: \"example.org\" is no address", "https://"),
        ("x.toml:6: figures: \"../x.svg\" is no file", "beside"),
        (
            "x.toml:7: that: \"search.p99 < 50ms\" predicts no interval",
            "96ms..118ms",
        ),
        (
            "x.toml:8: release: is not for kind = \"hypothesis\"",
            "cause, answers, that, due",
        ),
        ("x.toml:9: answers: \"why\" is none of them", "\"how-much\""),
    ];
    assert_eq!(said.len(), expected.len(), "{said:#?}");
    for ((begins, remedy), said) in expected.iter().zip(&said) {
        assert!(said.starts_with(begins) && said.contains(remedy), "{said}");
    }
}

#[test]
fn each_kind_says_what_it_lacks() {
    for (kind, words) in [
        (
            "opened",
            &["title: missing", "scenario: missing", "metric: missing"][..],
        ),
        ("observation", &["text: missing"]),
        ("hypothesis", &["text: missing"]),
        ("experiment", &["text: missing"]),
        ("outcome", &["of: missing", "verdict: missing"]),
        ("decision", &["text: missing", "decides: missing"]),
        ("reopening", &["text: missing"]),
    ] {
        let said = told(&format!("kind = \"{kind}\"\nat = 2026-01-31T14:05:00Z\n"));
        assert_eq!(said.len(), words.len(), "{kind}: {said:#?}");
        for word in words {
            assert!(
                said.iter().any(|said| said.contains(word)),
                "{word}: {said:#?}"
            );
        }
    }
    assert_eq!(told("").len(), 2);
    assert!(
        told("kind = \"guess\"\n")
            .join("\n")
            .contains("\"observation\"")
    );
}

#[test]
fn figures_that_cannot_be_are_told() {
    let head = "kind = \"opened\"\nat = 2026-01-31T14:05:00Z\ntitle = \"t\"\nscenario = \"s\"\n\
                metric = \"search.p99\"\n[measured]\n";
    for (tail, word) in [
        ("value = \"5 furlongs\"\n", "no figure"),
        ("value = 5\n", "an integer where a string is expected"),
        ("value = \"5ms\"\nlow = \"4ms\"\n", "two ends"),
        (
            "value = \"5ms\"\nlow = \"6ms\"\nhigh = \"7ms\"\n",
            "outside of its interval",
        ),
        (
            "value = \"5ms\"\nlow = \"4B\"\nhigh = \"7ms\"\n",
            "another unit",
        ),
        ("low = \"4ms\"\nhigh = \"7ms\"\n", "value: missing"),
        ("value = \"5ms\"\nmean = \"5ms\"\n", "unknown key"),
    ] {
        let said = told(&format!("{head}{tail}")).join("\n");
        assert!(said.contains(word), "{tail}: {said}");
    }
}

#[test]
fn a_conflict_that_git_left_is_told_as_such() {
    let said = told(
        "kind = \"observation\"\n<<<<<<< HEAD\ntext = \"a\"\n=======\ntext = \"b\"\n>>>>>>> b\n",
    );
    assert_eq!(said.len(), 1, "{said:#?}");
    assert!(
        said[0].starts_with("x.toml:2: git left a conflict"),
        "{said:#?}"
    );
}

#[test]
fn what_points_nowhere_is_told_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    for entry in story() {
        write_entry(folder.path(), "a", &entry).unwrap();
    }
    let own = folder.path().join("a");
    let write = |name: &str, text: &str| {
        let head = "kind = \"decision\"\nat = 2026-01-31T15:00:00Z\ntext = \"x\"\n";
        std::fs::write(own.join(name), format!("{head}{text}")).unwrap();
    };
    let outside = "decides = \"fixed\"\nof = \"01JD0000000000000000000099\"\n";
    write(&format!("{}-decision.toml", id(20)), outside);
    let other = format!(
        "decides = \"fixed\"\nfigures = [\n\"no.svg\"]\nof = \"{}\"\n",
        id(1)
    );
    write(&format!("{}-decision.toml", id(21)), &other);
    write(&format!("{}-again.toml", id(7)), "decides = \"fixed\"\n");
    write("notes.toml", "decides = \"fixed\"\n");
    std::fs::create_dir(folder.path().join("b")).unwrap();
    std::fs::copy(
        own.join(format!("{}-observation.toml", id(1))),
        folder.path().join("b").join(format!("{}.toml", id(1))),
    )
    .unwrap();
    let book = read_investigations(folder.path()).unwrap();
    let said: Vec<String> = book
        .mistakes
        .iter()
        .map(|mistake| {
            mistake
                .to_string()
                .replace(folder.path().to_str().unwrap(), "")
        })
        .collect();
    let expected = [
        "begins with the same ULID",
        ":5: of: no entry 01JD0000000000000000000099 is in this folder",
        ":6: figures: \"no.svg\" is not in this folder",
        ":7: of: 01JD0000000000000000000001 is no hypothesis (kind = \"observation\")",
        "/a/notes.toml:1: the name begins with no ULID",
        "/b:1: nothing opens this investigation",
    ];
    assert_eq!(said.len(), expected.len(), "{said:#?}");
    for (expected, said) in expected.iter().zip(&said) {
        assert!(said.contains(expected), "{expected}\n{said}");
    }
    // What is sound in a folder with mistakes is read all the same.
    assert_eq!(book.investigations.len(), 1);
}

#[test]
fn a_broken_opening_is_told_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = write_entry(folder.path(), "a", &entry(0, "", symptom())).unwrap();
    std::fs::write(&path, "kind = \"opened\"\nat = \n").unwrap();
    let book = read_investigations(folder.path()).unwrap();
    assert!(book.investigations.is_empty());
    assert_eq!(book.mistakes.len(), 1, "{:#?}", book.mistakes);
    assert_eq!(book.mistakes[0].line, 2);
    assert!(Path::new(&book.mistakes[0].file).exists());
    std::fs::write(&path, [0xff, 0xfe]).unwrap();
    let book = read_investigations(folder.path()).unwrap();
    assert!(book.mistakes[0].what.contains("UTF-8"));
}

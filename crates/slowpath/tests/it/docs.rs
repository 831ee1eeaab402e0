//! The examples in `docs` are what slowpath reads: gates parse, models predict, commands exist.

use std::collections::BTreeSet;

use slowpath_core::scenario::{Gate, GateTest, Vocabulary};
use slowpath_record::scenario::parse_gates;

use crate::support::{root, slowpath, stderr, stdout};

mod commands;
mod fences;
mod reference;

/// The texts of the fenced blocks of a language in a file of the repository.
fn blocks(file: &str, language: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join(file)).unwrap();
    let fence = format!("```{language}\n");
    let mut found = Vec::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find("```") {
        let block = &rest[at..];
        let end = block[3..].find("```").unwrap() + 3;
        if let Some(of_language) = block[..end].strip_prefix(&fence) {
            found.push(of_language.to_owned());
        }
        rest = &block[end + 3..];
    }
    found
}

#[test]
fn gates_of_every_kind_parse() {
    let names = ["search", "page", "tls", "plain", "in", "done", "waiting"];
    let names = names.map(str::to_owned);
    let known = Vocabulary {
        subjects: &names,
        ..Vocabulary::default()
    };
    let mut gates: Vec<Gate> = Vec::new();
    for block in blocks("docs/gates.md", "toml") {
        gates.extend(parse_gates(&block, "docs/gates.md", known).unwrap());
    }
    let count = |is: fn(&GateTest) -> bool| gates.iter().filter(|gate| is(&gate.test)).count();
    let ratios = count(|test| matches!(test, GateTest::Bounded(one) if one.over.is_some()));
    let bounds = count(|test| matches!(test, GateTest::Bounded(one) if one.over.is_none()));
    let relations = count(|test| matches!(test, GateTest::Related(_)));
    assert_eq!((bounds, ratios, relations), (4, 2, 5));
}

#[test]
fn the_entry_of_the_log_is_read() {
    let entries = blocks("docs/log.md", "toml");
    assert_eq!(entries.len(), 1);
    let read =
        slowpath_record::parse_entry(&entries[0], "docs/log.md", "01KX3AZZV0C1YAF3K6W5XK2T7J");
    assert_eq!(read.unwrap().what.kind(), "hypothesis");
}

#[test]
fn commands_of_the_log_have_the_options_that_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(root().join("docs/log.md")).unwrap();
    let text = text.replace("\\\n", " ");
    let mut options = 0;
    for command in text.split("slowpath log ").skip(1) {
        let command = command.lines().next().unwrap_or_default();
        let command = command.split('`').next().unwrap_or_default();
        let mut words = command.split_whitespace();
        let verb = words.next().unwrap_or_default();
        let help = slowpath(folder.path(), &["log", verb, "--help"]);
        assert!(help.status.success(), "{verb}: {}", stderr(&help));
        for option in words.filter(|word| word.starts_with("--")) {
            assert!(stdout(&help).contains(option), "{verb} {option}");
            options += 1;
        }
    }
    assert!(options > 10, "{options}");
}

#[test]
fn the_model_of_a_target_predicts() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let model = blocks("docs/lint.md", "toml");
    std::fs::write(folder.join("m.toml"), &model[0]).unwrap();
    // The model says how many of the keys are expensive.
    let topics: Vec<String> = (0..40).map(|topic| format!("\"t{topic}\"")).collect();
    let scenario = format!(
        "[target]\nurl = \"http://127.0.0.1:1\"\n[load]\nrate = \"50/s\"\nduration = \"20s\"\n\
         [pools]\ntopics = [{}]\n[[endpoint]]\nname = \"search\"\nrequest = \"GET /?q={{topics}}\"\n",
        topics.join(", ")
    );
    std::fs::write(folder.join("s.toml"), scenario).unwrap();
    let asked = ["lint", "s.toml", "--simulate", "--model", "m.toml"];
    let output = slowpath(folder, &[&asked[..], &["--seeds", "20"]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("p99"), "{}", stdout(&output));
}

#[test]
fn commands_in_docs_have_the_options_that_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let mut used: BTreeSet<(String, String)> = BTreeSet::new();
    for file in [
        "docs/gates.md",
        "docs/lint.md",
        "docs/statistics.md",
        "README.md",
    ] {
        let text = std::fs::read_to_string(root().join(file)).unwrap();
        for words in text.split("slowpath ").skip(1) {
            let line = words.lines().next().unwrap_or_default();
            let command = line.split('`').next().unwrap_or_default();
            let mut words = command.split_whitespace();
            let verb = words.next().unwrap_or_default();
            let options = words.filter(|word| word.starts_with("--") && word.len() > 2);
            used.extend(options.map(|option| (verb.to_owned(), option.to_owned())));
        }
    }
    assert!(used.len() > 8, "{used:?}");
    let verbs: BTreeSet<&String> = used.iter().map(|(verb, _)| verb).collect();
    for verb in verbs {
        let help = stdout(&slowpath(folder.path(), &[verb, "--help"]));
        let options = used.iter().filter(|(of, _)| of == verb);
        for (_, option) in options {
            assert!(help.contains(option.as_str()), "{verb} {option}\n{help}");
        }
    }
}

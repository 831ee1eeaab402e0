//! What is read, and what is refused.

use super::*;

const GOOD: &str = "[[variant]]\nname = \"a\"\nexpects = [\"fixed-delay\"]\n\
                    scenario = '''\n[target]\nurl = \"http://127.0.0.1:1\"\n'''\n";

fn mistakes(text: &str, origin: Origin) -> Vec<String> {
    let all = parse(text, "f", origin).map(|_| ()).unwrap_err();
    all.iter().map(ToString::to_string).collect()
}

#[test]
fn a_file_is_read() {
    let (recipe, variants) = parse(GOOD, "f", Origin::Lab).unwrap();
    assert!(recipe.setup.is_empty());
    let variant = &variants[0];
    assert_eq!((variant.name.as_str(), variants.len()), ("a", 1));
    assert_eq!(variant.expects, ["fixed-delay"]);
    assert!(variant.scenario.starts_with("[target]\n"));
}

#[test]
fn a_case_has_a_recipe() {
    let text = "what = \"w\"\nneeds = [\"nginx\"]\nsetup = [[\"a\", \"b\"], [\"c\"]]\n";
    let (recipe, _) = parse(&(text.to_owned() + GOOD), "f", Origin::Case).unwrap();
    assert_eq!(
        (recipe.what.as_str(), recipe.needs),
        ("w", vec!["nginx".to_owned()])
    );
    assert_eq!(recipe.setup.len(), 2);
}

#[test]
fn every_mistake_is_told_with_its_line() {
    let text = "[[variant]]\nname = \"a\"\nexpect = []\nscenario = '''\n[target]\nurl = \n'''\n\
                [[variant]]\nname = \"a\"\nexpects = [\"Fixed delay\", \"\"]\nallows = 3\n";
    let found = mistakes(text, Origin::Lab);
    for (line, part) in [
        (1, "expects is missing"),
        (3, "expect: there is no such key"),
        (6, "the scenario is no TOML"),
        (8, "two variants \"a\""),
        (8, "scenario is missing"),
        (10, "\"Fixed delay\" is no name of a cause"),
        (11, "allows is a list of texts"),
    ] {
        let is_told = |m: &String| m.starts_with(&format!("f:{line}: ")) && m.contains(part);
        assert!(found.iter().any(is_told), "{line} {part}: {found:#?}");
    }
}

#[test]
fn what_belongs_to_cases_is_a_mistake_elsewhere() {
    let text = "needs = []\n".to_owned() + GOOD;
    assert!(mistakes(&text, Origin::Lab)[0].contains("there is no such key"));
    assert!(mistakes(GOOD, Origin::Case)[0].contains("what is missing"));
    assert!(mistakes("", Origin::Lab)[0].contains("there is no [[variant]]"));
}

#[test]
fn a_first_look_says_what_is_true() {
    let text = "what = \"w\"\n[[variant]]\nname = \"a\"\nexpects = [\"queueing\", \"fixed-delay\"]\n\
                truth = \"two workers\"\nline = { state = [\"queued\"], words = [\"gunicorn\"] }\n\
                scenario = \"\"\"\n[target]\n\"\"\"\n\
                [[variant]]\nname = \"b\"\nexpects = []\nscenario = \"a = 1\"\n";
    let (_, variants) = parse(text, "f", Origin::FirstLook).unwrap();
    assert_eq!(variants[0].truth.as_deref(), Some("two workers"));
    assert_eq!(variants[0].line.as_ref().unwrap().state, ["queued"]);
    assert!(variants[1].line.is_none());
    assert!(parse(text, "f", Origin::Case).is_ok());
    assert!(mistakes(&text[11..], Origin::Lab)[0].contains("truth: there is no such key"));
}

#[test]
fn every_mistake_of_a_first_look_is_reported_with_its_line() {
    let text = "what = \"w\"\n[[variant]]\nname = \"a\"\nexpects = [\"queueing\"]\nscenario = \"a = 1\"\n\
                [[variant]]\nname = \"b\"\nexpects = []\nline = { state = [\"queued\"], words = [\"x\"] }\n\
                scenario = \"a = 1\"\n\
                [[variant]]\nname = \"c\"\nexpects = [\"queueing\"]\ntruth = 3\n\
                line = { state = [\"waiting\"], words = [], text = \"t\" }\nscenario = \"a = 1\"\n";
    let found = mistakes(text, Origin::FirstLook);
    for (line, part) in [
        (2, "truth is missing"),
        (2, "line is missing"),
        (9, "a healthy one has none"),
        (14, "truth is a text"),
        (15, "there is no state \"waiting\""),
        (15, "line has no words"),
        (15, "text: there is no such key"),
    ] {
        let is_reported = |m: &String| m.starts_with(&format!("f:{line}: ")) && m.contains(part);
        assert!(found.iter().any(is_reported), "{line} {part}: {found:#?}");
    }
    assert_eq!(found.len(), 7, "{found:#?}");
}

#[test]
fn what_is_no_toml_is_told() {
    let found = mistakes("[[variant]]\nname = \n", Origin::Lab);
    assert!(
        found.iter().any(|m| m.starts_with("f:2: this is no TOML")),
        "{found:?}"
    );
}

#[test]
fn what_lies_in_the_source_tree_has_no_mistake() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let all = read_all(root).unwrap();
    let said = |mistakes: &Vec<Mistake>| {
        mistakes
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert!(
        all.is_ok(),
        "{}",
        all.as_ref().map(|_| ()).map_err(said).unwrap_err()
    );
    assert!(
        all.unwrap()
            .iter()
            .map(|suite| suite.variants.len())
            .sum::<usize>()
            > 30
    );
}

#[test]
fn a_batch_is_read_from_its_folder() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let suites = read_batch(root, &root.join("tests/first-look/tiny")).unwrap();
    let suites = suites.unwrap();
    let groups: Vec<&str> = suites.iter().map(|suite| suite.group.as_str()).collect();
    assert_eq!(groups, ["first-look/tiny"; 2]);
    assert!(batches(root).unwrap().is_empty());
    assert_eq!(batches(&root.join("tests")).unwrap().len(), 1);
}

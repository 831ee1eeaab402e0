//! Scenarios for the tests of checks.

use slowpath_core::scenario::Scenario;
use slowpath_record::scenario::{Context, parse};

use super::{Check, View};
use crate::facts::Facts;
use crate::report::Finding;

/// A scenario from its text, which starts with a target unless it names one.
pub(crate) fn scenario(text: &str) -> Scenario {
    let target = "[target]\nurl = \"http://127.0.0.1:1\"\n";
    let whole = if text.contains("[target]") {
        text.to_owned()
    } else {
        format!("{target}{text}")
    };
    let context = Context {
        file: "trial.toml",
        base_dir: std::path::Path::new(""),
        load_file: &|_| unreachable!("trials name no files"),
    };
    parse(&whole, &context).unwrap_or_else(|mistakes| panic!("{mistakes:#?}"))
}

/// What a check finds in a scenario of which nothing else is known.
pub(crate) fn found(check: Check, text: &str) -> Vec<Finding> {
    found_with(check, text, &Facts::default())
}

/// What a check finds in a scenario.
pub(crate) fn found_with(check: Check, text: &str, facts: &Facts<'_>) -> Vec<Finding> {
    check(&View::new(&scenario(text), facts))
}

/// The only finding, whose text holds every word.
pub(crate) fn only(found: &[Finding], words: &[&str]) -> Finding {
    assert_eq!(found.len(), 1, "{found:#?}");
    for word in words {
        assert!(
            found[0].text.contains(word),
            "{word:?} is not in {}",
            found[0].text
        );
    }
    found[0].clone()
}

//! A first look: scenarios that slowpath has not been tried against, measured once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::keep::Row;
use super::outcome::Verdict;
use super::tier::Tier;
use super::{Arguments, Trouble};

/// The folder of a batch: below `first-look/`, or a path.
pub(super) fn folder(root: &Path, name: &str) -> Result<PathBuf, Trouble> {
    let places = [root.join("first-look").join(name), PathBuf::from(name)];
    let found = places.iter().find(|place| place.is_dir());
    let folder = found.and_then(|place| place.canonicalize().ok());
    folder.ok_or_else(|| Trouble::Usage(format!("--first-look {name}: there is no such folder")))
}

/// Under which name the regression rows and runs of batches are kept.
pub(super) fn regression(tier: Tier) -> String {
    format!("regression-{}", tier.name())
}

/// Whether this variant has had its first look: something was measured.
pub(super) fn is_done(row: &Row) -> bool {
    row.verdict != Verdict::Skipped
}

/// Whether a first look may begin, or go on.
pub(super) fn check(
    arguments: &Arguments,
    ids: &[String],
    known: &BTreeMap<String, Row>,
) -> Result<(), Trouble> {
    if arguments.only.is_some() || arguments.first || arguments.jobs > 1 {
        let text = "a first look is made of the whole batch, one run at a time: leave out --only, \
                    --first and --jobs, or say --regression";
        return Err(Trouble::Usage(text.to_owned()));
    }
    if cfg!(debug_assertions) && arguments.slowpath.is_none() {
        let text =
            "a first look is made with the release build: cargo run --release -p slowpath-lab";
        return Err(Trouble::Usage(text.to_owned()));
    }
    let is_done = |id: &&String| known.get(*id).is_some_and(is_done);
    let done: Vec<&str> = ids.iter().filter(is_done).map(String::as_str).collect();
    if !done.is_empty() && !arguments.resume {
        return Err(Trouble::Usage(format!(
            "a first look is made once, and result.json has rows of this tier already: --resume \
             measures only what is missing, --regression runs the batch again for the regression \
             figures:\n{}",
            done.join("\n")
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::super::keep::tests::row;
    use super::*;

    fn refusal(words: &[&str], known: &[(&str, Verdict)]) -> Option<String> {
        let fixed = ["lab score", "--first-look", "b", "--slowpath", "slowpath"];
        let arguments = Arguments::try_parse_from(fixed.iter().chain(words)).unwrap();
        let ids = ["first-look/b/s/x", "first-look/b/s/y"].map(str::to_owned);
        let known = known
            .iter()
            .map(|(id, verdict)| ((*id).to_owned(), row(id, *verdict)));
        match check(&arguments, &ids, &known.collect()) {
            Err(Trouble::Usage(text)) => Some(text),
            _ => None,
        }
    }

    #[test]
    fn a_second_first_look_is_refused() {
        let seen = [("first-look/b/s/y", Verdict::Missed)];
        let skipped = [("first-look/b/s/y", Verdict::Skipped)];
        assert_eq!(refusal(&[], &[]), None);
        assert_eq!(refusal(&[], &skipped), None);
        let text = refusal(&[], &seen).unwrap();
        assert!(
            text.contains("first-look/b/s/y") && !text.contains("s/x"),
            "{text}"
        );
        assert_eq!(refusal(&["--resume"], &seen), None);
    }

    #[test]
    fn a_first_look_is_made_in_full() {
        for words in [&["--only", "x"][..], &["--first"], &["--jobs", "2"]] {
            assert!(refusal(words, &[]).unwrap().contains("the whole batch"));
        }
    }
}

//! Pages of a repository that are written again and again: what people wrote around the part that is
//! ours stays, and so does what was measured where no run is stored any more.

/// Where our part of a page begins.
const BEGIN: &str = "<!-- slowpath log render: from here -->";
/// Where it ends.
const END: &str = "<!-- slowpath log render: to here -->";
/// How the line begins that says which runs a section of a release rests on.
const RUNS: &str = "<!-- runs ";
/// How the heading of a scenario begins.
const SETTING: &str = "## ";
/// How the heading of a release begins.
const RELEASE: &str = "### ";

/// A page that slowpath did not write, and that nothing says where to write into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotOurs;

impl NotOurs {
    /// What to do about it.
    pub fn remedy() -> String {
        format!(
            "name another folder with --to, or write these two lines where our part of it shall \
             stand: {BEGIN} and {END}"
        )
    }
}

/// A page with `text` as our part of it, and all else as it was in `old`.
///
/// # Errors
/// If there is an old page and our part is not marked in it.
pub fn page(old: Option<&str>, text: &str) -> Result<String, NotOurs> {
    let own = format!("{BEGIN}\n{text}{END}");
    match old.filter(|old| !old.trim().is_empty()) {
        None => Ok(format!("{own}\n")),
        Some(old) => {
            let (before, _, after) = parts(old).ok_or(NotOurs)?;
            Ok(format!("{before}{own}{after}"))
        }
    }
}

/// What lies before our part of a page, in it and after it; `None` if it is not marked, or more than
/// once.
fn parts(page: &str) -> Option<(&str, &str, &str)> {
    let once = |mark| page.matches(mark).count() == 1;
    if !once(BEGIN) || !once(END) {
        return None;
    }
    let (before, rest) = page.split_once(BEGIN)?;
    let (own, after) = rest.split_once(END)?;
    Some((before, own, after))
}

/// A release as a page had it that was rendered before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToldRelease {
    /// The heading of its scenario.
    pub(super) setting: String,
    /// When its newest run began, RFC 3339.
    pub(super) began: String,
    /// Its runs.
    pub runs: Vec<String>,
    /// All of it, with its heading.
    pub(super) text: String,
}

impl ToldRelease {
    /// What it is called, as on the page.
    pub(super) fn label(&self) -> &str {
        let heading = self.text.lines().next().unwrap_or_default();
        let heading = heading.trim_start_matches(RELEASE);
        heading
            .rsplit_once(", ")
            .map_or(heading, |(label, _)| label)
    }
}

/// The line that says which runs a section rests on.
pub(super) fn runs_line(runs: &[String], began: &str) -> String {
    format!("{RUNS}{} {began} -->", runs.join(" "))
}

/// The releases in our part of a page, in its order; none of a page that is not ours.
pub fn told_releases(page: &str) -> Vec<ToldRelease> {
    let own = parts(page).map_or("", |(_, own, _)| own);
    let mut found: Vec<ToldRelease> = Vec::new();
    let (mut setting, mut is_inside) = (String::new(), false);
    for line in own.lines() {
        if line.starts_with(SETTING) {
            line.clone_into(&mut setting);
            is_inside = false;
        } else if line.starts_with(RELEASE) {
            is_inside = true;
            found.push(ToldRelease {
                setting: setting.clone(),
                began: String::new(),
                runs: Vec::new(),
                text: String::new(),
            });
        }
        let Some(last) = found.last_mut().filter(|_| is_inside) else {
            continue;
        };
        last.text.push_str(line);
        last.text.push('\n');
        let runs = line.strip_prefix(RUNS);
        if let Some(runs) = runs.and_then(|rest| rest.strip_suffix(" -->")) {
            let mut words: Vec<String> = runs.split(' ').map(str::to_owned).collect();
            last.began = words.pop().unwrap_or_default();
            last.runs = words;
        }
    }
    for one in &mut found {
        one.text.truncate(one.text.trim_end().len());
        one.text.push('\n');
    }
    found.retain(|one| !one.runs.is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_wrote_stays() {
        let first = page(None, "one\n").unwrap();
        assert_eq!(page(Some(&first), "one\n").unwrap(), first);
        let around = format!("# Mine\n\n{first}\nbelow\n");
        let again = page(Some(&around), "two\n").unwrap();
        assert_eq!(again, around.replace("one\n", "two\n"));
        assert_eq!(page(Some("\n"), "one\n").unwrap(), first);
        for old in [
            "# Mine\n",
            BEGIN,
            &format!("{END}\n{BEGIN}\n"),
            &format!("{first}{first}"),
        ] {
            assert_eq!(page(Some(old), "one\n"), Err(NotOurs), "{old}");
        }
    }

    #[test]
    fn releases_are_found_again_as_they_were_told() {
        let runs = ["A".to_owned(), "B".to_owned()];
        let line = runs_line(&runs, "2026-01-01T00:00:00Z");
        let text = format!(
            "# Benchmarks\n\n## shop\n\n### v1, a, 2026-01-01\n\n| x |\n\n{line}\n\n## web\n\n### v9, 2025-01-01\n\nno runs\n"
        );
        let told = told_releases(&page(None, &text).unwrap());
        assert_eq!(told.len(), 1);
        assert_eq!(
            (told[0].setting.as_str(), told[0].label()),
            ("## shop", "v1, a")
        );
        assert_eq!(
            (told[0].runs.as_slice(), told[0].began.as_str()),
            (&runs[..], "2026-01-01T00:00:00Z")
        );
        assert!(told[0].text.starts_with("### v1") && told[0].text.ends_with("-->\n"));
        assert_eq!(told_releases(&text), [], "of a page that is not ours");
    }
}

//! Sets a case up, once for each state of its folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::files::{Origin, Suite};
use super::process::{Group, Running, last_words};
use super::tier::{path, program};

/// How long one command may take: packages come over the network, and are compiled.
const PATIENCE: Duration = Duration::from_mins(10);
/// The file that says from what a cache was made.
const STAMP: &str = "made-from.txt";

/// Where things lie while a suite is measured.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    pub(crate) lab: PathBuf,
    /// The folder of the suite's file.
    pub(crate) case: PathBuf,
    /// What its setup made.
    pub(crate) cache: PathBuf,
}

impl Places {
    /// Those of a suite, with this lab and below this root.
    pub(super) fn of(suite: &Suite, lab: &Path, root: &Path) -> Self {
        Self {
            lab: lab.to_owned(),
            case: suite.folder.clone(),
            cache: root.join("target").join(&suite.group).join(&suite.name),
        }
    }

    /// A text with `{lab}`, `{case}` and `{cache}` filled in.
    pub(crate) fn fill(&self, text: &str) -> String {
        let of = |path: &Path| path.display().to_string();
        text.replace("{lab}", &of(&self.lab))
            .replace("{case}", &of(&self.case))
            .replace("{cache}", &of(&self.cache))
    }
}

/// Sets a suite up; the error is why it cannot be measured here.
pub(crate) fn set_up(suite: &Suite, places: &Places, running: &Running) -> Result<(), String> {
    if suite.origin == Origin::Lab {
        return Ok(());
    }
    let missing: Vec<&str> = suite
        .recipe
        .needs
        .iter()
        .map(String::as_str)
        .filter(|name| program(name).is_none())
        .collect();
    if !missing.is_empty() {
        return Err(format!("{} is not installed", missing.join(" and ")));
    }
    make(suite, places, running).map_err(|error| format!("its setup failed: {error}"))
}

fn make(suite: &Suite, places: &Places, running: &Running) -> io::Result<()> {
    let stamp = places.cache.join(STAMP);
    let wanted = made_from(suite, places)?;
    if fs::read_to_string(&stamp).is_ok_and(|made| made == wanted) {
        return Ok(());
    }
    match fs::remove_dir_all(&places.cache) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => fs::create_dir_all(&places.cache)?,
    }
    for command in &suite.recipe.setup {
        let words: Vec<String> = command.iter().map(|word| places.fill(word)).collect();
        run(&words, places, running)?;
    }
    fs::write(&stamp, wanted)
}

fn run(words: &[String], places: &Places, running: &Running) -> io::Result<()> {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).current_dir(&places.cache);
    command
        .env("PATH", path())
        .stdin(std::process::Stdio::null());
    // What is made must be there for every user that measures.
    command.env("PIP_DISABLE_PIP_VERSION_CHECK", "1");
    let mut group = Group::start(&mut command, &places.cache, "setup-", running)?;
    let status = group.wait(PATIENCE)?;
    if status.is_some_and(|status| status.success()) {
        return Ok(());
    }
    let how = status.map_or("took too long".to_owned(), |status| status.to_string());
    let said = last_words(&places.cache.join("setup-stderr.txt"), 3);
    Err(io::Error::other(format!(
        "{}: {how}: {said}",
        words.join(" ")
    )))
}

/// The commands and all files that they may use, as one text.
fn made_from(suite: &Suite, places: &Places) -> io::Result<String> {
    let mut text = format!("{:?}\n{}\n", suite.recipe.setup, places.cache.display());
    let mut files: Vec<PathBuf> = Vec::new();
    collect(&suite.folder, &mut files)?;
    files.sort();
    for file in files.iter().filter(|file| !file.ends_with("case.toml")) {
        let content = fs::read(file)?;
        text.extend([
            file.display().to_string(),
            String::from_utf8_lossy(&content).into_owned(),
        ]);
    }
    Ok(text)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::files::{Recipe, Variant};

    fn suite(folder: &Path, needs: &str, shell: &str) -> Suite {
        Suite {
            origin: Origin::Case,
            group: "cases".to_owned(),
            name: "c".to_owned(),
            folder: folder.to_owned(),
            recipe: Recipe {
                what: "w".to_owned(),
                needs: vec![needs.to_owned()],
                setup: vec![["sh", "-c", shell].map(str::to_owned).into()],
            },
            variants: vec![Variant::default()],
        }
    }

    #[test]
    fn a_case_is_set_up_once_for_each_state_of_its_folder() {
        let name = format!("slowpath-lab-recipe-{}", std::process::id());
        let root = std::env::temp_dir().join(name);
        let case = root.join("case");
        fs::create_dir_all(&case).unwrap();
        fs::write(case.join("server.py"), "1").unwrap();
        let places = Places {
            lab: PathBuf::from("lab"),
            case: case.clone(),
            cache: root.join("cache"),
        };
        let counts = root.join("counts").display().to_string();
        let (running, good) = (
            Running::default(),
            format!("echo x >> {counts}; touch {{cache}}/made"),
        );
        let count = || fs::read_to_string(&counts).unwrap().lines().count();
        set_up(&suite(&case, "sh", &good), &places, &running).unwrap();
        set_up(&suite(&case, "sh", &good), &places, &running).unwrap();
        assert_eq!(count(), 1);
        assert!(places.cache.join("made").exists());
        fs::write(case.join("server.py"), "2").unwrap();
        set_up(&suite(&case, "sh", &good), &places, &running).unwrap();
        assert_eq!(count(), 2);
        let failed = set_up(
            &suite(&case, "sh", "echo why >&2; exit 3"),
            &places,
            &running,
        );
        let said = failed.unwrap_err();
        assert!(
            said.contains("why") && said.contains("exit status: 3"),
            "{said}"
        );
        let missing = set_up(&suite(&case, "no-such-program", &good), &places, &running);
        assert_eq!(missing.unwrap_err(), "no-such-program is not installed");
        fs::remove_dir_all(&root).unwrap();
    }
}

//! How the command of a known tool is run so that its figures can be read, and are measured again.

use std::path::{Path, PathBuf};

/// A command that is going to be repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// Which adapter reads it; `None` if only the output will show it.
    pub adapter: Option<&'static str>,
    /// Program and arguments, with what was added to them.
    pub command: Vec<String>,
    /// Variables set over the inherited environment.
    pub env: Vec<(String, String)>,
    /// Where the figures will be.
    pub output: Output,
    /// What was added, and why, in sentences.
    pub told: Vec<String>,
}

/// Where a tool leaves its figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// On stdout.
    Stdout,
    /// In this file.
    File(PathBuf),
    /// In what criterion leaves below this folder, or on stdout if it left nothing.
    Criterion(PathBuf),
}

/// The placeholder of the file of an execution in a command: `--export {out}`.
const OUT: &str = "{out}";

/// What a tool needs so that each execution measures again and leaves figures in `folder`, which
/// is that execution's own. What the user said already is left as it is.
pub fn invocation(command: &[String], folder: &Path) -> Invocation {
    let mut plan = Invocation {
        adapter: None,
        command: command.to_vec(),
        env: Vec::new(),
        output: Output::Stdout,
        told: Vec::new(),
    };
    let file = folder.join("figures");
    if command.iter().any(|word| word.contains(OUT)) {
        let path = file.display().to_string();
        for word in &mut plan.command {
            *word = word.replace(OUT, &path);
        }
        plan.output = Output::File(file.clone());
    }
    let program = command.first().map_or("", String::as_str);
    let program = Path::new(program)
        .file_name()
        .and_then(|name| name.to_str());
    match program.unwrap_or_default() {
        "go" if second(command) == "test" => {
            plan.adapter = Some("go");
            let why = "go would give the former results again";
            plan.add_missing("-count", "-count=1", 2, why);
        }
        "cargo" if ["bench", "criterion"].contains(&second(command)) => {
            let home = folder.join("criterion");
            let path = home.display().to_string();
            plan.env.push(("CRITERION_HOME".to_owned(), path));
            plan.output = Output::Criterion(home);
        }
        "wrk" | "wrk2" => {
            plan.adapter = Some("wrk");
            plan.add_missing("--latency", "--latency", 1, "for percentiles");
        }
        "hyperfine" => plan.add_file("hyperfine", "--export-json", &file),
        "k6" if second(command) == "run" => plan.add_file("k6", "--summary-export", &file),
        "pytest" | "py.test" => {
            plan.add_file("pytest-benchmark", "--benchmark-json", &file);
            let why = "for the time of every round";
            plan.add_missing("--benchmark-save-data", "--benchmark-save-data", 1, why);
        }
        "oha" => {
            plan.adapter = Some("oha");
            plan.add_missing("--output-format", "--output-format=json", 1, "to read it");
            plan.add_missing("--no-tui", "--no-tui", 1, "no one watches");
        }
        "autocannon" => {
            plan.adapter = Some("autocannon");
            plan.add_missing("--json", "--json", 1, "to read it");
        }
        _ => {}
    }
    plan
}

fn second(command: &[String]) -> &str {
    command.get(1).map_or("", String::as_str)
}

impl Invocation {
    /// Has a tool write its figures into a file, unless the user names one.
    fn add_file(&mut self, adapter: &'static str, flag: &str, file: &Path) {
        self.adapter = Some(adapter);
        if self.output == Output::Stdout {
            let behind = if adapter == "k6" { 2 } else { 1 };
            let argument = format!("{flag}={}", file.display());
            self.command.insert(behind, argument);
            self.output = Output::File(file.to_owned());
            self.told
                .push(format!("{flag} is added: to read the figures"));
        }
    }

    /// Adds an argument after the first `at` words unless one that begins like `known` is there.
    fn add_missing(&mut self, known: &str, added: &str, at: usize, why: &str) {
        let known = known.trim_start_matches('-');
        let is_known = |word: &String| word.trim_start_matches('-').starts_with(known);
        if !self.command.iter().skip(1).any(is_known) {
            self.command.insert(at, added.to_owned());
            self.told.push(format!("{added} is added: {why}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn go_measures_anew_and_what_was_said_stays() {
        let plan = invocation(&words("go test -bench . ./..."), Path::new("/x"));
        assert_eq!(plan.command, words("go test -count=1 -bench . ./..."));
        assert_eq!((plan.adapter, plan.told.len()), (Some("go"), 1));
        let said = words("/usr/bin/go test -bench . --count 3");
        let plan = invocation(&said, Path::new("/x"));
        assert_eq!((plan.command, plan.told.len()), (said, 0));
    }

    #[test]
    fn tools_are_asked_for_files_of_their_own() {
        let plan = invocation(&words("cargo bench"), Path::new("/x/01"));
        assert_eq!(
            plan.output,
            Output::Criterion(PathBuf::from("/x/01/criterion"))
        );
        assert_eq!(plan.env[0].0, "CRITERION_HOME");
        let plan = invocation(&words("hyperfine true"), Path::new("/x/01"));
        let meant = words("hyperfine --export-json=/x/01/figures true");
        assert_eq!((plan.command, plan.adapter), (meant, Some("hyperfine")));
        let plan = invocation(
            &words("hyperfine --export-json {out} true"),
            Path::new("/x"),
        );
        assert_eq!(
            plan.command,
            words("hyperfine --export-json /x/figures true")
        );
        let plan = invocation(&words("k6 run s.js"), Path::new("/x"));
        assert_eq!(
            plan.command,
            words("k6 run --summary-export=/x/figures s.js")
        );
    }

    #[test]
    fn an_unknown_tool_may_say_where_its_file_goes() {
        let plan = invocation(&words("mybench --json={out}"), Path::new("/x/01"));
        assert_eq!(plan.command, words("mybench --json=/x/01/figures"));
        assert_eq!(plan.output, Output::File(PathBuf::from("/x/01/figures")));
        assert_eq!(plan.adapter, None);
    }
}

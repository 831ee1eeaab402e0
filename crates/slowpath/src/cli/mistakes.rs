//! Every value that does not fit at once: clap stops at the first.

use std::ffi::OsString;

use clap::builder::ValueParser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, CommandFactory, Error, FromArgMatches, Id};

use super::Cli;

/// What clap says last, once after all that it says.
const MORE: &str = "\n\nFor more information, try '--help'.\n";

/// Parses a command line.
///
/// # Errors
/// All that is wrong with its values, and the first of what else is wrong. Each of clap's errors
/// prints itself; one text is used for several.
pub(crate) fn parse(words: &[OsString]) -> Result<Cli, Error> {
    let verb = words.get(1).and_then(|verb| verb.to_str());
    let mut found: Vec<Error> = Vec::new();
    // Arguments that take anything, so that what comes after them is parsed too.
    let mut lenient: Vec<Id> = Vec::new();
    loop {
        let mut command = command(verb, &lenient);
        match command.try_get_matches_from_mut(words) {
            Ok(matches) if found.is_empty() => return Cli::from_arg_matches(&matches),
            Ok(_) => return Err(together(&command, found)),
            Err(error) => {
                let at = verb.and_then(|verb| misfit(&command, verb, &error));
                found.push(error);
                match at {
                    Some(id) if !lenient.contains(&id) => lenient.push(id),
                    _ => return Err(together(&command, found)),
                }
            }
        }
    }
}

/// The command line, made again each time: one that has parsed cannot be changed any more.
fn command(verb: Option<&str>, lenient: &[Id]) -> Command {
    let mut command = Cli::command();
    let Some(verb) = verb else { return command };
    for id in lenient {
        let any = |argument: Arg| argument.value_parser(ValueParser::os_string());
        command = command.mut_subcommand(verb, |of_verb| of_verb.mut_arg(id, any));
    }
    command
}

/// The argument whose value an error is about; `None` if it is about something else.
fn misfit(command: &Command, verb: &str, error: &Error) -> Option<Id> {
    let is_value = matches!(
        error.kind(),
        ErrorKind::ValueValidation | ErrorKind::InvalidValue
    );
    let (true, Some(ContextValue::String(shown))) = (is_value, error.get(ContextKind::InvalidArg))
    else {
        return None;
    };
    let mut arguments = command.find_subcommand(verb)?.get_arguments();
    let argument = arguments.find(|argument| argument.to_string() == *shown)?;
    Some(argument.get_id().clone())
}

/// Several errors as one.
fn together(command: &Command, mut found: Vec<Error>) -> Error {
    if found.len() == 1 {
        return found.remove(0);
    }
    let texts: Vec<String> = found
        .iter()
        .map(|error| {
            let text = error.render().to_string();
            let text = text.strip_suffix(MORE).unwrap_or(&text);
            text.trim_start_matches("error: ").trim_end().to_owned()
        })
        .collect();
    let text = format!("{}{MORE}", texts.join("\nerror: "));
    Error::raw(ErrorKind::ValueValidation, text).with_cmd(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(words: &[&str]) -> String {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let error = parse(&words).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        error.render().to_string()
    }

    #[test]
    fn all_values_that_do_not_fit_are_told() {
        let text = refused(&[
            "slowpath",
            "run",
            "s.toml",
            "-d",
            "long",
            "--repeats",
            "0",
            "-r",
            "fast",
            "-c",
            "8",
        ]);
        for wrong in ["--duration <D>", "--repeats <N>", "--rate <R>"] {
            assert_eq!(text.matches(wrong).count(), 1, "{text}");
        }
        assert_eq!(text.matches("error: ").count(), 3, "{text}");
        assert_eq!(text.matches("--help").count(), 1, "{text}");
        assert!(!text.contains("--connections"), "{text}");
    }

    #[test]
    fn what_else_is_wrong_is_told_with_them() {
        let text = refused(&["slowpath", "ab", "s.toml", "--pairs", "1", "--effect", "-"]);
        for wrong in ["--pairs <N>", "--effect <PERCENT>", "--toggle <NAME>"] {
            assert!(text.contains(wrong), "{text}");
        }
        let text = refused(&["slowpath", "doctor", "--no-such"]);
        assert!(
            text.starts_with("error: unexpected argument '--no-such'"),
            "{text}"
        );
        assert!(refused(&["slowpath", "runn"]).contains("runn"));
    }

    #[test]
    fn what_is_right_is_parsed() {
        let words = ["slowpath", "run", "s.toml", "-d", "2s"].map(OsString::from);
        assert!(parse(&words).is_ok());
    }
}

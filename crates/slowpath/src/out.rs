//! The two streams: stdout is the answer, stderr the conversation.
#![expect(clippy::print_stderr, reason = "this is where printing happens")]

use std::io::{IsTerminal, Write};
use std::sync::OnceLock;

use slowpath_report::Style;

use crate::exit::Problem;

/// Whether answers are printed with all figures: asked for once, for all of them.
static VERBOSE: OnceLock<bool> = OnceLock::new();

/// Prints answers with all figures from now on.
pub(crate) fn verbosely(verbose: bool) {
    // Only the first word counts, and there is but one.
    let _ = VERBOSE.set(verbose);
}

/// Prints a part of the answer. A reader that has gone away is no error of ours.
pub(crate) fn answer(text: &str) {
    let mut stdout = std::io::stdout().lock();
    let _ = stdout.write_all(text.as_bytes());
    let _ = stdout.flush();
}

/// Says something to the person at the terminal.
pub(crate) fn say(text: &str) {
    eprintln!("{text}");
}

/// Says what went wrong.
pub(crate) fn complain(error: &anyhow::Error) {
    if error.downcast_ref::<Problem>().is_some() {
        eprintln!("slowpath: {error}");
    } else {
        let chain = chain(error);
        eprintln!("slowpath: {chain}\n  this is a bug of slowpath; please report it");
    }
}

/// An error and its causes. Errors that name their cause themselves are not followed by it again.
fn chain(error: &anyhow::Error) -> String {
    error
        .chain()
        .map(ToString::to_string)
        .fold(String::new(), |said, cause| {
            if said.is_empty() {
                cause
            } else if said.ends_with(&cause) {
                said
            } else {
                format!("{said}: {cause}")
            }
        })
}

/// How to print on stdout as it is: colour and width of a terminal, neither in a pipe.
pub(crate) fn style() -> Style {
    /// Wide enough for the tables, narrow enough to paste into a mail.
    const WIDTH_IN_A_PIPE: usize = 100;
    let terminal = std::io::stdout().is_terminal();
    let plain = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    let width = rustix::termios::tcgetwinsize(std::io::stdout())
        .map(|size| usize::from(size.ws_col))
        .ok()
        .filter(|&columns| columns > 0);
    Style {
        color: terminal && !plain,
        width: width.unwrap_or(WIDTH_IN_A_PIPE),
        verbose: VERBOSE.get().copied().unwrap_or(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cause_is_said_twice() {
        let refused = || std::io::Error::from(std::io::ErrorKind::PermissionDenied);
        let error = anyhow::Error::new(refused()).context("read x");
        assert_eq!(chain(&error), "read x: permission denied");
        let error = anyhow::Error::new(refused()).context("cannot read x: permission denied");
        assert_eq!(chain(&error), "cannot read x: permission denied");
    }
}

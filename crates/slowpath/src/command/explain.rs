//! `slowpath explain`: judge a recorded run again.

use anyhow::Result;

use crate::cli::ExplainArgs;
use crate::command::sweep::again::{self, Shown};
use crate::command::{ab, bench};
use crate::exit::Exit;
use crate::present::Judged;
use crate::{out, store};

/// Judges and prints. The run's own trouble is not this command's: the exit code is 0.
pub(crate) fn explain(args: &ExplainArgs) -> Result<Exit> {
    store::check_copy(args.json.as_deref())?;
    if let Some(dir) = again::find(&args.run) {
        return again::again(&dir, Shown::Answer, args.json.as_deref());
    }
    if let Some(dir) = ab::again::find(&args.run) {
        return ab::again::again(&dir, false, args.json.as_deref());
    }
    let dir = store::find(&args.run)?;
    if bench::again::is_one(&dir) {
        return bench::again::again(&dir, false, args.json.as_deref());
    }
    let judged = Judged::read(&dir)?;
    let saved = judged.save();
    judged.print(saved.is_ok());
    if let Err(problem) = saved {
        // Another user's run, or an archive: the answer is what was asked for.
        out::say(&problem.to_string());
    }
    judged.copy(args.json.as_deref())?;
    Ok(Exit::Done)
}

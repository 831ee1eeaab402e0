//! `slowpath report`: the views of a run again.

use anyhow::Result;

use crate::cli::ReportArgs;
use crate::command::sweep::again::{self, Shown};
use crate::command::{ab, bench};
use crate::exit::Exit;
use crate::out;
use crate::present::Judged;
use crate::store;

/// Writes the HTML report and says where it is, or prints Markdown.
pub(crate) fn report(args: &ReportArgs) -> Result<Exit> {
    store::check_copy(args.json.as_deref())?;
    if let Some(dir) = again::find(&args.run) {
        let shown = if args.markdown {
            Shown::Markdown
        } else {
            Shown::Html
        };
        return again::again(&dir, shown, args.json.as_deref());
    }
    if let Some(dir) = ab::again::find(&args.run) {
        return ab::again::again(&dir, args.markdown, args.json.as_deref());
    }
    let dir = store::find(&args.run)?;
    if bench::again::is_one(&dir) {
        return bench::again::again(&dir, args.markdown, args.json.as_deref());
    }
    let judged = Judged::read(&dir)?;
    let saved = judged.save();
    if args.markdown {
        out::answer(&slowpath_report::markdown(
            &judged.diagnosis,
            &judged.experiments,
        ));
        if let Err(problem) = saved {
            out::say(&problem.to_string());
        }
    } else {
        saved?;
        out::answer(&format!("{}\n", judged.dir.join("report.html").display()));
    }
    judged.copy(args.json.as_deref())?;
    Ok(Exit::Done)
}

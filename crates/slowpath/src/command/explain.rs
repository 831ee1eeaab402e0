//! `slowpath explain`: judge a recorded run again.

use anyhow::Result;

use crate::cli::ExplainArgs;
use crate::exit::Exit;
use crate::present::Judged;
use crate::store;

/// Judges and prints. The run's own trouble is not this command's: the exit code is 0.
pub(crate) fn explain(args: &ExplainArgs) -> Result<Exit> {
    store::check_copy(args.json.as_deref())?;
    let judged = Judged::read(&store::find(&args.run)?)?;
    judged.write(args.json.as_deref())?;
    judged.print();
    Ok(Exit::Done)
}

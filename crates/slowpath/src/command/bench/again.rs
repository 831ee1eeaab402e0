//! A benchmark run that was kept, or figures that were imported: what they say, by this version.

use std::path::Path;

use anyhow::Result;
use slowpath_core::bench::{BENCH_SCHEMA, BenchReport};

use crate::exit::{Exit, Problem};
use crate::{out, store};

/// The file of a run of figures. Beside a manifest it would be of another kind.
pub(crate) const FILE: &str = "bench.json";

/// Why no cause is named.
const NO_REQUESTS: &str = "these are figures that a tool gave, not requests, so there is no cause \
                           to look for; `slowpath compare`, `gate` and `history` judge figures";

/// Whether a directory holds figures alone.
pub(crate) fn is_one(dir: &Path) -> bool {
    dir.join(FILE).is_file() && !dir.join("manifest.json").exists()
}

/// Shows the figures again; `copy` is where `--json` goes.
pub(crate) fn again(dir: &Path, markdown: bool, copy: Option<&Path>) -> Result<Exit> {
    let report = read(dir)?;
    if markdown {
        out::answer(&slowpath_report::bench_markdown(&report));
    } else {
        let place = dir.display().to_string();
        out::answer(&slowpath_report::bench_terminal(
            &report,
            out::style(),
            &place,
        ));
        out::say(NO_REQUESTS);
    }
    store::write_copy(copy, &slowpath_report::bench_json(&report))?;
    Ok(Exit::Done)
}

/// What is wrong with asking figures for requests.
pub(crate) fn no_requests(dir: &Path) -> Problem {
    Problem::usage(
        format!("there are no requests in {}", dir.display()),
        NO_REQUESTS,
    )
}

/// The figures in a directory, with their summaries by this version.
pub(crate) fn read(dir: &Path) -> Result<BenchReport, Problem> {
    let path = dir.join(FILE);
    let wrong = |what: String| {
        Problem::usage(
            format!("cannot read {}: {what}", path.display()),
            "name a run that this version wrote",
        )
    };
    let text = std::fs::read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
    let report: BenchReport =
        serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    if report.schema != BENCH_SCHEMA {
        return Err(wrong(format!("it is no {BENCH_SCHEMA}")));
    }
    Ok(BenchReport {
        summaries: BenchReport::summaries(&report.figures),
        ..report
    })
}

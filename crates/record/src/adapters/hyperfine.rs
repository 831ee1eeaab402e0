//! hyperfine: `--export-json`. Each of its times is one execution of the command.

use serde::Deserialize;

use super::json::{parse, some, times};
use super::{Adapter, AdapterError, Harvest, Rests, Source};

pub(super) const ADAPTER: Adapter = Adapter {
    name: "hyperfine",
    about: "hyperfine: --export-json FILE",
    detects: |head| head.contains("\"results\"") && head.contains("\"times\""),
    reads: read,
};

const REMEDY: &str = "give what hyperfine --export-json writes";

#[derive(Deserialize)]
struct Document {
    results: Vec<Outcome>,
}

#[derive(Deserialize)]
struct Outcome {
    command: String,
    #[serde(default)]
    times: Vec<f64>,
    #[serde(default)]
    exit_codes: Vec<Option<i32>>,
    #[serde(default)]
    user: Option<f64>,
    #[serde(default)]
    system: Option<f64>,
}

const SECOND_NS: f64 = 1e9;

fn read(source: Source<'_>) -> Result<Harvest, Vec<AdapterError>> {
    let document: Document = parse(source, REMEDY)?;
    let mut harvest = Harvest::default();
    for outcome in document.results {
        let subject = &outcome.command;
        let ns: Vec<f64> = outcome.times.iter().map(|s| s * SECOND_NS).collect();
        if ns.is_empty() {
            harvest.failures.push(format!("{subject} has no times"));
            continue;
        }
        let mut take = times(subject, "time", &ns, Rests::Processes);
        take.samples = ns;
        harvest.add(take);
        for (metric, mean) in [("user", outcome.user), ("system", outcome.system)] {
            if let Some(seconds) = mean {
                let ns = [seconds * SECOND_NS];
                harvest.add(times(subject, metric, &ns, Rests::Repetitions));
            }
        }
        let failed = outcome.exit_codes.iter().filter(|code| **code != Some(0));
        let failed = failed.count();
        if failed > 0 {
            let all = outcome.exit_codes.len();
            let text = format!("{subject}: {failed} of {all} executions failed");
            harvest.failures.push(text);
        }
    }
    some(source, harvest, REMEDY)
}

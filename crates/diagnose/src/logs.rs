//! The lines that the target wrote around failures.

use slowpath_core::logs::{LogExcerpt, LogWanted};
use slowpath_core::nanos::{MILLISECOND, Nanos};
use slowpath_core::record::RunRecord;

use crate::diagnosis::{Diagnosis, ErrorExample, LogNote};
use crate::figures::round;

/// How far from a failure a line may be: nginx repeats a warning once a second at most
/// (`ngx_drain_connections`), and a failure lies between two of them. The nearest lines come first,
/// so that a server which writes more has its lines within milliseconds.
const WITHIN_NS: u64 = 1000 * MILLISECOND;

/// Lines beside one failure: what fits beside five of them on a screen or two.
const LINES_MAX: usize = 10;

/// Characters of a line that a report shows: a whole line of nginx's error log; a dumped body is
/// in `logs/`.
const CHARS_MAX: usize = 500;

/// Decimal places of milliseconds between failures and lines: microseconds, as good as reading a
/// pipe can be.
const MS_DIGITS: f64 = 1e3;

/// Which lines of `logs/` are wanted: an entry for each example of a failure, in the order of the
/// report.
pub fn wanted_logs(record: &RunRecord, diagnosis: &Diagnosis) -> Vec<LogWanted> {
    let examples = diagnosis.endpoints.iter().flat_map(|e| &e.errors);
    examples
        .flat_map(|error| &error.examples)
        .map(|example| {
            let done = instant(record, example);
            let begun = done.minus((example.latency_ms * 1e6) as u64);
            let mut names = vec![example.trace_id.clone()];
            // Shorter numbers are found in other numbers.
            names.extend(example.local_port.map(|port| format!(":{port}")));
            LogWanted {
                instants: vec![begun, done],
                within_ns: WITHIN_NS,
                names,
                lines_max: LINES_MAX,
            }
        })
        .collect()
}

/// Puts the lines that were found beside the failures, or says why there are none. `found` is
/// parallel to what [`wanted_logs`] gave.
pub fn attach_logs(
    record: &RunRecord,
    diagnosis: &mut Diagnosis,
    found: Result<Vec<LogExcerpt>, String>,
) {
    let errors = diagnosis.endpoints.iter_mut().flat_map(|e| &mut e.errors);
    let mut examples = errors.flat_map(|error| &mut error.examples).peekable();
    if examples.peek().is_none() {
        return;
    }
    let started = record.manifest.plan.scenario.target.command.is_some();
    let mut unseen = (!started).then(|| {
        "slowpath did not start the target, so it has not its logs; give it target.command"
            .to_owned()
    });
    match found {
        Ok(excerpts) => {
            for (example, excerpt) in examples.zip(excerpts) {
                let at = instant(record, example);
                example.log_omitted = excerpt.omitted;
                example.log = excerpt
                    .lines
                    .into_iter()
                    .map(|line| LogNote {
                        after_ms: round((line.at.get() as f64 - at.get() as f64) / 1e6, MS_DIGITS),
                        source: line.source,
                        stream: if line.is_err { "err" } else { "out" }.to_owned(),
                        text: line.text.chars().take(CHARS_MAX).collect(),
                    })
                    .collect();
            }
        }
        Err(why) => unseen = Some(format!("the logs could not be read: {why}")),
    }
    diagnosis.logs_unseen = unseen;
}

/// When an example failed.
fn instant(record: &RunRecord, example: &ErrorExample) -> Nanos {
    let repeat = record.manifest.repeats.get(usize::from(example.repeat));
    let begin = repeat.map_or(Nanos::new(0), |repeat| repeat.window.begin);
    begin.plus((example.at_s.max(0.0) * 1e9) as u64)
}

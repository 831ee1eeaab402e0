//! `slowpath export`: a part of a run for viewers of traces.

use std::fs::File;
use std::io::{BufWriter, Write};

use anyhow::Result;
use slowpath_core::nanos::Span;
use slowpath_core::record::RunRecord;
use slowpath_report::{Exported, Part, Wanted};

use crate::cli::{ExportArgs, ExportFormat};
use crate::exit::{Exit, Problem};
use crate::{out, store};

/// Writes the trace and says what is in it.
pub(crate) fn export(args: &ExportArgs) -> Result<Exit> {
    let dir = store::find(&args.run)?;
    let record = slowpath_record::read(&dir).map_err(|error| {
        Problem::usage(
            format!("cannot read the run in {}: {error}", dir.display()),
            "name the directory of a run, such as .slowpath/runs/ULID",
        )
    })?;
    let wanted = Wanted {
        part: part(args, &record)?,
        most_events: args.most,
    };
    let exported = match args.format {
        ExportFormat::Chrome => write(args, &record, &wanted)?,
    };
    out::answer(&format!("{}\n", args.file.display()));
    out::say(&told(&record, &exported));
    Ok(Exit::Done)
}

fn write(args: &ExportArgs, record: &RunRecord, wanted: &Wanted) -> Result<Exported, Problem> {
    let cannot = |error: std::io::Error| {
        Problem::environment(
            format!("cannot write {}: {error}", args.file.display()),
            "give a file that can be written, in a folder that exists",
        )
    };
    let mut file = BufWriter::new(File::create(&args.file).map_err(cannot)?);
    let exported = slowpath_report::chrome(record, wanted, &mut file).map_err(cannot)?;
    file.flush().map_err(cannot)?;
    Ok(exported)
}

fn part(args: &ExportArgs, record: &RunRecord) -> Result<Part, Problem> {
    if let Some(length_ns) = args.length {
        let Some(first) = record.manifest.repeats.first() else {
            return Err(Problem::usage(
                "nothing was measured in this run, so it has no window",
                "leave out --from and --for",
            ));
        };
        let begin = first.window.begin.plus(args.from.unwrap_or(0));
        return Ok(Part::Window(Span::new(begin, begin.plus(length_ns))));
    }
    let endpoints = &record.manifest.plan.scenario.endpoints;
    let endpoint = match &args.endpoint {
        None => None,
        Some(name) => {
            let place = endpoints.iter().position(|one| one.name == *name);
            Some(place.ok_or_else(|| {
                let known: Vec<&str> = endpoints.iter().map(|one| &*one.name).collect();
                Problem::usage(
                    format!("there is no endpoint {name:?} in this run"),
                    format!("name one of: {}", known.join(", ")),
                )
            })? as u16)
        }
    };
    Ok(Part::Slowest {
        requests: usize::from(args.slowest),
        endpoint,
    })
}

fn told(record: &RunRecord, exported: &Exported) -> String {
    let ms = |ns: u64| format!("{:.1} ms", ns as f64 / 1e6);
    let mut lines = vec![format!(
        "{} trace events: {} requests in {}, threads traced in {} of it; open it in \
         https://ui.perfetto.dev or chrome://tracing",
        exported.events,
        exported.requests,
        ms(exported.covered_ns),
        ms(exported.traced_ns),
    )];
    if record.trace.is_empty() {
        lines.push("the server's threads were not traced in this run".to_owned());
    }
    let left_out = exported.requests_left_out + exported.spans_left_out;
    if exported.left_out_ns > 0 || left_out > 0 {
        lines.push(format!(
            "left out for want of room: {}, {} requests and {} spans (--most takes more)",
            ms(exported.left_out_ns),
            exported.requests_left_out,
            exported.spans_left_out,
        ));
    }
    lines.join("\n")
}

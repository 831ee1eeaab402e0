//! `slowpath export`: a part of a run for viewers of traces.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

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
    replace(&args.file, |file| {
        slowpath_report::chrome(record, wanted, file)
    })
    .map_err(cannot)
}

/// Writes a file as a whole: where that fails, what stood there still stands.
fn replace<T>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<&File>) -> io::Result<T>,
) -> io::Result<T> {
    let whole = |file: &File| {
        let mut buffered = BufWriter::new(file);
        let written = write(&mut buffered)?;
        buffered.flush()?;
        Ok(written)
    };
    if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        // A pipe or a device keeps nothing and cannot be replaced.
        return whole(&OpenOptions::new().write(true).open(path)?);
    }
    // The file that a link leads to is replaced, and not the link.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    // As a file that is created in the usual way; the umask takes from it.
    let usual = Permissions::from_mode(0o666);
    let draft = tempfile::Builder::new()
        .permissions(usual)
        .tempfile_in(folder.unwrap_or(Path::new(".")))?;
    let written = whole(draft.as_file())?;
    draft.persist(&path)?;
    Ok(written)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stood_there_stands_until_the_new_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.json");
        std::fs::write(&path, "before").unwrap();
        let broken = replace(&path, |file| {
            file.write_all(b"half of it")?;
            file.flush()?;
            Err::<(), _>(io::Error::other("as a disk that is full"))
        });
        assert!(broken.is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "before");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        replace(&path, |file| file.write_all(b"after")).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "after");
    }
}

//! What comparisons on this host have shown of its noise, kept beside the runs.

use std::path::{Path, PathBuf};

use slowpath_core::scenario::Load;
use slowpath_experiment::ab::{Ab, Compared, NoiseBook, NoiseEntry};

use crate::exit::Problem;
use crate::out;

/// The folder, under the working directory.
const NOISE: &str = ".slowpath/noise";

/// The machine's name; empty if it has none that can be read.
pub(super) fn hostname() -> String {
    let name = rustix::system::uname();
    name.nodename().to_string_lossy().into_owned()
}

fn file(host: &str, scenario: &str) -> PathBuf {
    let plain = |text: &str| -> String {
        let letter = |c: char| {
            if c.is_ascii_alphanumeric() || c == '.' {
                c
            } else {
                '-'
            }
        };
        text.chars().map(letter).collect()
    };
    let name = format!("{}_{}.json", plain(host), plain(scenario));
    Path::new(NOISE).join(name)
}

/// A load in a line that distinguishes it from others.
pub(super) fn load(load: &Load) -> String {
    serde_json::to_string(load).unwrap_or_default()
}

/// What is known. What cannot be read is reported and not used: a comparison can be made without.
pub(super) fn read(host: &str, scenario: &str) -> NoiseBook {
    let path = file(host, scenario);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return NoiseBook::default(),
        Err(error) => {
            out::say(&format!("going on without {}: {error}", path.display()));
            return NoiseBook::default();
        }
    };
    serde_json::from_str(&text).unwrap_or_else(|error| {
        out::say(&format!(
            "going on without {}, which is broken: {error}",
            path.display()
        ));
        NoiseBook::default()
    })
}

/// Adds a finished comparison.
pub(super) fn remember(ab: &Ab, load: &Load) -> Result<(), Problem> {
    let mut book = read(&ab.host, &ab.name);
    book.add(NoiseEntry {
        id: ab.id.clone(),
        same: ab.plan.compared == Compared::Same,
        load: self::load(load),
        metrics: ab.analysis.noise.clone(),
    });
    let path = file(&ab.host, &ab.name);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let text = serde_json::to_string_pretty(&book)
        .map_err(|error| Problem::environment(error, "report it"))?;
    let text = text + "\n";
    let written = std::fs::create_dir_all(NOISE)
        .map_err(|error| error.to_string())
        .and_then(|()| {
            slowpath_record::write_derived(Path::new(NOISE), &name, text.as_bytes())
                .map_err(|error| error.to_string())
        });
    written.map_err(|error| {
        Problem::environment(
            format!("the host's noise is not remembered: {error}"),
            "run where .slowpath can be written",
        )
    })
}

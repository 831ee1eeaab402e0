//! What real tools wrote is read as the tools themselves sum it up, and no bytes do harm.
//!
//! `fixtures/adapters/README.md` says which version of which tool wrote what, by which command.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests read fixtures, and end when these are not there"
)]

#[path = "adapters/arbitrary.rs"]
mod arbitrary;
#[path = "adapters/benchmarks.rs"]
mod benchmarks;
#[path = "adapters/load.rs"]
mod load;
#[path = "adapters/requests.rs"]
mod requests;
#[path = "adapters/tables.rs"]
mod tables;

use slowpath_record::adapters::{Harvest, Source, Take, by_name, detect};

/// What a tool wrote.
fn fixture(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/adapters");
    std::fs::read(format!("{folder}/{name}")).unwrap()
}

/// A fixture read by the adapter of that name, which must also be the one that recognises it.
fn read(adapter: &str, name: &str) -> Harvest {
    let bytes = fixture(name);
    assert_eq!(detect(&bytes).map(|a| a.name), Some(adapter), "{name}");
    let source = Source {
        file: name,
        bytes: &bytes,
    };
    by_name(adapter).unwrap().read(source).unwrap()
}

/// The one take of that name.
fn take<'a>(harvest: &'a Harvest, row: &str) -> &'a Take {
    let names: Vec<String> = harvest.takes.iter().map(|t| t.row().name()).collect();
    let at = names.iter().position(|name| name == row);
    &harvest.takes[at.unwrap_or_else(|| panic!("no {row} among {names:?}"))]
}

/// The values of a take.
fn values(harvest: &Harvest, row: &str) -> Vec<f64> {
    take(harvest, row).figures.iter().map(|f| f.value).collect()
}

/// Whether two figures agree to what a tool prints: a part in ten thousand.
fn same(found: f64, printed: f64) {
    let apart = (found - printed).abs();
    assert!(apart <= printed.abs() * 1e-4, "{found} is not {printed}");
}

/// The first value of a row is what the tool prints.
fn says(harvest: &Harvest, row: &str, printed: f64) {
    same(values(harvest, row)[0], printed);
}

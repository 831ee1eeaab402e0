//! How the searches for changes do on published series, beside what others published.
//!
//! ```text
//! cargo run --release -p slowpath-core --example changepoints -- DIR
//! ```
//!
//! `DIR` holds checkouts that `benches/changepoints/run.sh` fetches. Nothing of them is kept here.
#![allow(
    clippy::disallowed_methods,
    reason = "a program reads its arguments and files"
)]
#![expect(clippy::print_stdout, reason = "the table is what the program is for")]

mod ed_pelt;
mod lists;
mod score;
mod tcpd;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::Value;

/// A file that is missing or is not what it was.
type Mistake = String;

fn main() -> ExitCode {
    let Some(folder) = std::env::args().nth(1).map(PathBuf::from) else {
        println!("usage: changepoints DIR (see benches/changepoints/README.md)");
        return ExitCode::from(2);
    };
    match tcpd::table(&folder).and_then(|met| Ok(lists::table(&folder)? && met)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(mistake) => {
            println!("{mistake}");
            ExitCode::from(2)
        }
    }
}

fn text(folder: &Path, path: &str) -> Result<String, Mistake> {
    let path = folder.join(path);
    std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
}

fn json(folder: &Path, path: &str) -> Result<Value, Mistake> {
    serde_json::from_str(&text(folder, path)?).map_err(|error| format!("{path}: {error}"))
}

/// The numbers of a list, as JSON has them.
fn numbers(list: &Value) -> Option<Vec<f64>> {
    list.as_array()?.iter().map(Value::as_f64).collect()
}

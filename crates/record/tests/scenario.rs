//! Reading scenarios, from the outside.

#[path = "scenario/alone.rs"]
mod alone;
#[path = "scenario/arbitrary.rs"]
mod arbitrary;
#[path = "scenario/mistakes.rs"]
mod mistakes;
#[path = "scenario/models.rs"]
mod models;
#[path = "scenario/schema.rs"]
mod schema;
#[path = "scenario/valid.rs"]
mod valid;

use std::io;
use std::path::Path;

use slowpath_core::scenario::Scenario;
use slowpath_record::scenario::{Context, Mistake, parse};

const SHOP: &str = include_str!("scenario/shop.toml");
const DESIGN: &str = include_str!("scenario/design.toml");

/// The least that is a scenario.
const LEAST: &str = "[target]\nurl = \"http://localhost\"\n\
                     [[endpoint]]\nname = \"home\"\nrequest = \"GET /\"\n";

fn read(text: &str) -> Result<Scenario, Vec<Mistake>> {
    let load_file = |path: &Path| match path.to_str() {
        Some("/shop/queries.txt") => Ok("red shoes\r\n\nblue \"hat\"\n".to_owned()),
        Some("/shop/empty.txt") => Ok("\n".to_owned()),
        _ => Err(io::Error::new(io::ErrorKind::NotFound, "no such file")),
    };
    parse(
        text,
        &Context {
            file: "shop.toml",
            base_dir: Path::new("/shop"),
            load_file: &load_file,
        },
    )
}

//! Reading scenarios, from the outside.

#[path = "scenario/alone.rs"]
mod alone;
#[path = "scenario/arbitrary.rs"]
mod arbitrary;
#[path = "scenario/mistakes.rs"]
mod mistakes;
#[path = "scenario/models.rs"]
mod models;
#[path = "scenario/pools.rs"]
mod pools;
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
        Some("/shop/users.csv") => {
            Ok("name, password,hits\nann,1,5\n\"b, ob\",2,0.5\n\"q\"\"t\",3,0\n".to_owned())
        }
        Some("/shop/one.csv") => Ok("\u{feff}id\n1\n2\n".to_owned()),
        Some("/shop/broken.csv") => Ok("a,b\n1,2\n3\n".to_owned()),
        Some("/shop/docs.jsonl") => Ok("{\"title\":\"T1\",\"author\":{\"name\":\"x\"},\
            \"tags\":[\"u\"],\"n\":1}\n\n{\"title\":\"T2\",\"author.name\":\"y\",\
            \"tags\":[\"v\"],\"n\":2.5}\n"
            .to_owned()),
        Some("/shop/broken.jsonl") => Ok("{\"a\":1}\n{\"b\":1}\n".to_owned()),
        Some("/shop/many.jsonl") => Ok("{\n".repeat(8)),
        Some("/shop/million.txt") => Ok("1\n".repeat(1_000_000)),
        Some("/shop/huge.txt") => Ok("1\n".repeat(1_000_001)),
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

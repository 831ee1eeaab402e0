//! Writes the HTML report of a synthetic run: `cargo run --example sample_report -- PATH`.
#![allow(
    clippy::disallowed_methods,
    reason = "an example writes the file it is asked for"
)]

#[expect(dead_code, reason = "the tests use the other runs")]
#[path = "../tests/it/sample.rs"]
mod sample;

fn main() -> std::io::Result<()> {
    let path = std::env::args()
        .nth(1)
        .ok_or(std::io::ErrorKind::InvalidInput)?;
    let (diagnosis, record) = (sample::diagnosis("static"), sample::record("static"));
    let page = slowpath_report::html(&diagnosis, &record, &[sample::experiment()]);
    std::fs::write(path, page)
}

//! Writes the HTML report of a synthetic run, to look at:
//! `cargo run --example sample_report -- PATH [tail|inside|confirmed|healthy|invalid]`.
#![allow(
    clippy::disallowed_methods,
    reason = "an example writes the file it is asked for"
)]

#[expect(
    dead_code,
    reason = "the tests try names that the example does not show"
)]
#[path = "../tests/it/sample.rs"]
mod sample;

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or(std::io::ErrorKind::InvalidInput)?;
    let diagnosis = match arguments.next().as_deref() {
        None | Some("tail") => sample::diagnosis("static"),
        Some("inside") => sample::inside("otel-export"),
        Some("confirmed") => sample::delayed_ack(),
        Some("healthy") => sample::healthy(),
        Some("invalid") => sample::invalid(),
        Some(_) => return Err(std::io::ErrorKind::InvalidInput.into()),
    };
    let page = slowpath_report::html(
        &diagnosis,
        &sample::record("static"),
        &[sample::experiment()],
    );
    std::fs::write(path, page)
}

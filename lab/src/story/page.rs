//! The page that `slowpath serve` shows of an investigation, as files that can be viewed without it.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// What the page fetches that is not in it.
const FETCHED: [&str; 2] = ["slowpath.css", "slowpath.js"];

/// A server that ends with this.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        // A process that has ended needs no signal.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Saves the page of an investigation as `investigation.html`, and beside it what it fetches.
pub(super) fn save(slowpath: &Path, folder: &Path, investigation: &str) -> io::Result<()> {
    let mut command = Command::new(slowpath);
    command.args(["serve", "--listen", "127.0.0.1:0"]);
    command.current_dir(folder).stdin(Stdio::null());
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut serving = Serving(child);
    let mut url = String::new();
    if let Some(output) = serving.0.stdout.take() {
        BufReader::new(output).read_line(&mut url)?;
    }
    let address = url
        .trim()
        .trim_start_matches("http://")
        .trim_end_matches('/');
    let mut page = get(address, &format!("/investigations/{investigation}"))?;
    for name in FETCHED {
        fs::write(folder.join(name), get(address, &format!("/{name}"))?)?;
        page = page.replace(&format!("\"/{name}\""), &format!("\"{name}\""));
    }
    fs::write(folder.join("investigation.html"), page)
}

fn get(address: &str, path: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
    )?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    match text.split_once("\r\n\r\n") {
        Some((head, body)) if head.starts_with("HTTP/1.1 200") => Ok(body.to_owned()),
        _ => Err(io::Error::other(format!(
            "slowpath serve has no page {path}: {}",
            text.lines().next().unwrap_or_default()
        ))),
    }
}

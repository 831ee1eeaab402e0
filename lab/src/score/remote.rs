//! A target that slowpath sees from outside only: it is started here, by another user than slowpath
//! is run by, and the scenario is left with its address.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use toml::{Table, Value};

use super::process::{Group, Running, last_words};
use super::tier::path;

/// How long a server may take until it is ready.
const PATIENCE: Duration = Duration::from_mins(1);
/// Between two attempts.
const AGAIN: Duration = Duration::from_millis(50);

/// The processes of one scenario; they end when it is dropped, the target first.
#[derive(Debug)]
pub(crate) struct Remote<'a> {
    _groups: Vec<Group<'a>>,
}

impl<'a> Remote<'a> {
    /// Starts what the scenario would have slowpath start, and gives the scenario that is left.
    pub(crate) fn start(
        scenario: &str,
        folder: &Path,
        running: &'a Running,
    ) -> io::Result<(Self, String)> {
        let mut root: Table = scenario.parse().map_err(io::Error::other)?;
        let mut groups = Vec::new();
        let mut known = BTreeMap::new();
        if let Some(Value::Array(services)) = root.remove("service") {
            for service in services {
                let Value::Table(mut service) = service else {
                    continue;
                };
                let name = text(&service, "name").unwrap_or_default();
                let mut names = own_names(folder, &name)?;
                fill_table(&mut service, &names);
                groups.insert(0, launch(&service, &names, folder, &name, running)?);
                let port = names.remove("{port}").unwrap_or_default();
                known.insert(format!("{{service.{name}.port}}"), port);
            }
        }
        known.extend(own_names(folder, "target")?);
        fill_table(&mut root, &known);
        if let Some(Value::Table(target)) = root.get_mut("target") {
            groups.insert(0, launch(target, &known, folder, "target", running)?);
            for key in ["command", "env", "cwd", "ready", "ready_timeout"] {
                target.remove(key);
            }
        }
        let left = toml::to_string(&root).map_err(io::Error::other)?;
        Ok((Self { _groups: groups }, left))
    }
}

/// A free port and a scratch folder.
fn own_names(folder: &Path, name: &str) -> io::Result<BTreeMap<String, String>> {
    let port = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0))?
        .local_addr()?
        .port();
    let scratch = folder.join(format!("tmp-{name}"));
    fs::create_dir_all(&scratch)?;
    let names = [
        ("{port}", port.to_string()),
        ("{tmp}", scratch.display().to_string()),
    ];
    Ok(names.map(|(name, value)| (name.to_owned(), value)).into())
}

fn text(table: &Table, key: &str) -> Option<String> {
    Some(table.get(key)?.as_str()?.to_owned())
}

fn fill_table(table: &mut Table, names: &BTreeMap<String, String>) {
    for (_, value) in table.iter_mut() {
        fill(value, names);
    }
}

fn fill(value: &mut Value, names: &BTreeMap<String, String>) {
    match value {
        Value::String(text) => {
            for (name, with) in names {
                *text = text.replace(name, with);
            }
        }
        Value::Array(all) => all.iter_mut().for_each(|one| fill(one, names)),
        Value::Table(table) => fill_table(table, names),
        _ => {}
    }
}

/// Starts the command of a target or service, and waits until it is ready.
fn launch<'a>(
    table: &Table,
    names: &BTreeMap<String, String>,
    folder: &Path,
    name: &str,
    running: &'a Running,
) -> io::Result<Group<'a>> {
    let words = table.get("command").and_then(Value::as_array);
    let words: Vec<&str> = words
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let (program, arguments) = words
        .split_first()
        .ok_or_else(|| io::Error::other(format!("{name} has no command that could be started")))?;
    // Nothing is left if this process is killed.
    let mut command = Command::new("setpriv");
    command
        .args(["--pdeathsig", "TERM", "--", program])
        .args(arguments);
    command
        .current_dir(folder)
        .env("PATH", path())
        .stdin(Stdio::null());
    if let Some(cwd) = text(table, "cwd") {
        command.current_dir(folder.join(cwd));
    }
    for (key, value) in table
        .get("env")
        .and_then(Value::as_table)
        .into_iter()
        .flatten()
    {
        command.env(key, value.as_str().unwrap_or_default());
    }
    let mut group = Group::start(&mut command, folder, &format!("{name}-"), running)?;
    // Nothing here speaks TLS: a server that accepts a connection is ready.
    let by_tls = text(table, "url").is_some_and(|url| url.starts_with("https:"));
    let ready = text(table, "ready").filter(|_| !by_tls);
    let ready = ready.unwrap_or_else(|| "tcp".to_owned());
    let port = names
        .get("{port}")
        .and_then(|port| port.parse().ok())
        .unwrap_or(0);
    let end = Instant::now() + PATIENCE;
    while !is_ready(port, &ready) {
        let ended = group.ended()?.map(|status| status.to_string());
        if ended.is_some() || Instant::now() > end || running.is_stopped() {
            let how = ended.unwrap_or_else(|| "it is not ready".to_owned());
            let said = last_words(&folder.join(format!("{name}-stderr.txt")), 4);
            return Err(io::Error::other(format!("{name}: {how}: {said}")));
        }
        thread::sleep(AGAIN);
    }
    Ok(group)
}

/// Whether a connection can be had, and the request of `GET PATH` is answered with 2xx or 3xx.
fn is_ready(port: u16, ready: &str) -> bool {
    let Ok(mut stream) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) else {
        return false;
    };
    let Some(path) = ready.strip_prefix("GET ") else {
        return true;
    };
    let request = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
    let mut start = [0; 12];
    let asked = stream
        .set_read_timeout(Some(Duration::from_secs(1)))
        .and_then(|()| stream.write_all(request.as_bytes()))
        .and_then(|()| stream.read_exact(&mut start));
    asked.is_ok() && matches!(start[9], b'2' | b'3')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_filled_in_everywhere() {
        let mut table: Table =
            "[target]\nurl = \"http://x:{port}\"\ncommand = [\"a\", \"{service.db.port}\"]\n\
             [[endpoint]]\nrequest = \"GET /{seq}\"\n"
                .parse()
                .unwrap();
        let names = [("{port}", "80"), ("{service.db.port}", "81")];
        fill_table(
            &mut table,
            &names.map(|(a, b)| (a.to_owned(), b.to_owned())).into(),
        );
        let target = &table["target"];
        assert_eq!(target["url"].as_str(), Some("http://x:80"));
        assert_eq!(target["command"][1].as_str(), Some("81"));
        assert_eq!(table["endpoint"][0]["request"].as_str(), Some("GET /{seq}"));
    }
}

//! Servers in languages that are not ours, as others could have written them: their sources lie in
//! the folder of this name, and a test builds what it needs.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{lab, root, run_scenario, skipped, slowpath, stderr};

/// Frames that can be followed by their pointers, with debug information.
pub(crate) const WITH_FRAME_POINTERS: &[&str] = &["-O1", "-g", "-fno-omit-frame-pointer"];
/// Frames that only the unwinding tables describe, as distributions build.
pub(crate) const WITHOUT_FRAME_POINTERS: &[&str] = &["-O2", "-fomit-frame-pointer"];

/// A source, readable by every user of the machine below a `folder` that is.
fn source(folder: &Path, name: &str) -> PathBuf {
    let from = root().join("crates/slowpath/tests/it/foreign").join(name);
    let to = folder.join(Path::new(name).file_name().unwrap());
    std::fs::copy(from, &to).unwrap();
    to
}

/// The first of these programs that is there. A wrapper that a user keeps at home is of no use to
/// another user: the system's come first.
fn program(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let system = ["/usr/bin", "/usr/sbin", "/usr/local/go/bin"].map(PathBuf::from);
    let folders: Vec<PathBuf> = system
        .into_iter()
        .chain(std::env::split_paths(&path))
        .collect();
    let places = names
        .iter()
        .flat_map(|n| folders.iter().map(move |f| f.join(n)));
    let found = places.into_iter().find(|place| place.is_file());
    if found.is_none() {
        skipped(&format!("{} is not installed", names.join(" or ")));
    }
    found
}

/// Compiles; the compiler's own complaint fails the test.
fn compiled(command: &mut Command) {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

/// `threads.c`, compiled in the folder with these flags.
pub(crate) fn c(folder: &Path, flags: &[&str]) -> Option<Vec<String>> {
    let compiler = program(&["cc", "gcc", "clang"])?;
    let binary = folder.join("threads");
    let mut command = Command::new(compiler);
    command.args(flags).arg("-pthread").arg("-o").arg(&binary);
    compiled(command.arg(source(folder, "threads.c")));
    Some(vec![binary.display().to_string()])
}

/// `mutex.go`, compiled in the folder.
pub(crate) fn go(folder: &Path) -> Option<Vec<String>> {
    of_go(folder, "mutex")
}

/// `profiled.go`, compiled in the folder.
pub(crate) fn profiled(folder: &Path) -> Option<Vec<String>> {
    of_go(folder, "profiled")
}

/// `waits.go`, compiled in the folder.
pub(crate) fn waits(folder: &Path) -> Option<Vec<String>> {
    of_go(folder, "waits")
}

fn of_go(folder: &Path, name: &str) -> Option<Vec<String>> {
    let compiler = program(&["go"])?;
    let binary = folder.join(name);
    let mut command = Command::new(compiler);
    command.args(["build", "-o"]).arg(&binary);
    compiled(command.arg(source(folder, &format!("{name}.go"))));
    Some(vec![binary.display().to_string()])
}

/// A source that its interpreter runs.
fn run(folder: &Path, interpreters: &[&str], name: &str) -> Option<Vec<String>> {
    let interpreter = program(interpreters)?;
    let words = [interpreter, source(folder, name)];
    Some(words.map(|word| word.display().to_string()).into())
}

/// `threads.py`.
pub(crate) fn python(folder: &Path) -> Option<Vec<String>> {
    run(folder, &["python3"], "threads.py")
}

/// `unix.py`, with the service that it asks at a path in the folder.
pub(crate) fn unix(folder: &Path) -> Option<(Vec<String>, String)> {
    let command = run(folder, &["python3"], "unix.py")?;
    let path = folder.join("db.sock").display().to_string();
    let with = |words: [&str; 3]| {
        let words = words.map(str::to_owned);
        command.iter().cloned().chain(words).collect::<Vec<_>>()
    };
    let database = with(["database", "{port}", &path]);
    let service = format!("[[service]]\nname = \"db\"\nready = \"tcp\"\ncommand = {database:?}\n");
    Some((with(["ask", "{port}", &path]), service))
}

/// `resets.py`.
pub(crate) fn resets(folder: &Path) -> Option<Vec<String>> {
    run(folder, &["python3"], "resets.py")
}

/// `timings.py`.
pub(crate) fn timings(folder: &Path) -> Option<Vec<String>> {
    run(folder, &["python3"], "timings.py")
}

/// `logs.py`, and the collector that it needs, which takes so long for each record.
pub(crate) fn logs(folder: &Path, delay_ms: u32) -> Option<(Vec<String>, String)> {
    let server = run(folder, &["python3"], "logs.py")?;
    Some((server, collector(delay_ms)))
}

/// A service that answers whatever it is sent after that time.
pub(crate) fn collector(delay_ms: u32) -> String {
    format!(
        "[[service]]\nname = \"collector\"\nready = \"tcp\"\ncommand = [\"{}\", \
         \"fixed-delay\", \"--delay-ms\", \"{delay_ms}\", \"--port\", \"{{port}}\"]\n",
        lab().display()
    )
}

/// `hot.py`, and whether py-spy is there to see its functions.
pub(crate) fn hot_in_python(folder: &Path) -> Option<Vec<String>> {
    program(&["py-spy"])?;
    run(folder, &["python3"], "hot.py")
}

/// `Hot.java`, where there is a flight recorder to see its functions.
pub(crate) fn hot_in_java(folder: &Path) -> Option<Vec<String>> {
    program(&["jcmd"])?;
    program(&["jfr"])?;
    run(folder, &["java"], "Hot.java")
}

/// `Pool.java`, which is compiled each time that it starts.
pub(crate) fn java(folder: &Path) -> Option<Vec<String>> {
    run(folder, &["java"], "Pool.java")
}

/// `loop.js`.
pub(crate) fn node(folder: &Path) -> Option<Vec<String>> {
    run(folder, &["node"], "loop.js")
}

/// `garbage.js`, which writes of its collections.
pub(crate) fn garbage(folder: &Path) -> Option<Vec<String>> {
    let mut words = run(folder, &["node"], "garbage.js")?;
    let flags = ["--expose-gc", "--trace-gc"].map(str::to_owned);
    words.splice(1..1, flags);
    Some(words)
}

/// nginx with a constant answer, in the foreground, with all of its files in the folder. Its port
/// stands in the configuration, which slowpath does not read: the shell writes it.
pub(crate) fn nginx(folder: &Path) -> Option<Vec<String>> {
    let server = program(&["nginx"])?;
    let paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let paths = paths.map(|kind| format!("{kind}_temp_path {kind};"));
    let configuration = format!(
        "daemon off; worker_processes 1; pid nginx.pid; error_log stderr;\n\
         events {{ worker_connections 512; }}\n\
         http {{ access_log off; keepalive_requests 1000000; {}\n\
         server {{ listen 127.0.0.1:PORT; location / {{ return 200 'ok'; }} }} }}\n",
        paths.join(" ")
    );
    std::fs::write(folder.join("nginx.in"), configuration).unwrap();
    let script = format!(
        "sed s/PORT/$1/ nginx.in > nginx.conf && exec {} -e stderr -p \"$PWD\" -c nginx.conf",
        server.display()
    );
    Some(
        ["/bin/sh", "-c", &script, "nginx"]
            .map(str::to_owned)
            .into(),
    )
}

/// A server before PostgreSQL, and the service that it needs.
pub(crate) fn postgres(folder: &Path) -> Option<(Vec<String>, String)> {
    let debian = std::fs::read_dir("/usr/lib/postgresql").is_ok_and(|mut all| all.next().is_some());
    if !debian {
        program(&["postgres"])?;
    }
    let front = run(folder, &["python3"], "postgres/front.py")?;
    let database = source(folder, "postgres/start-db.sh");
    let service = format!(
        "[[service]]\nname = \"db\"\nready = \"tcp\"\n\
         command = [\"{}\", \"{{port}}\", \"{{tmp}}\"]\n",
        database.display()
    );
    Some((front, service))
}

/// The report of a server that is started with its port and `mode`, asked so often for so long; and
/// what `explain` prints of the run, which judges its endpoints the same.
pub(crate) fn judged_twice(
    folder: &Path,
    mut words: Vec<String>,
    mode: &str,
    (rate, duration): (&str, &str),
) -> (Value, String) {
    words.extend(["{port}", mode].map(str::to_owned));
    let scenario = format!(
        "[target]\nurl = \"http://127.0.0.1:{{port}}\"\ncommand = {words:?}\nready = \"tcp\"\n\
         [load]\nmodel = \"open\"\nrate = \"{rate}\"\nconnections = 16\nwarmup = \"200ms\"\n\
         duration = \"{duration}\"\n[[endpoint]]\nname = \"page\"\nrequest = \"GET /\"\n"
    );
    let (_, report, output) = run_scenario(folder, &scenario);
    assert!(!report.is_null(), "{}", stderr(&output));
    let again = slowpath(folder, &["explain", "last", "--json", "again.json"]);
    let text = std::fs::read_to_string(folder.join("again.json"));
    let text = text.unwrap_or_else(|error| panic!("{error}: {}", stderr(&again)));
    let replayed: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(replayed["endpoints"], report["endpoints"], "judged again");
    (report, String::from_utf8_lossy(&again.stdout).into_owned())
}

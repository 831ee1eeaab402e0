//! `slowpath demo`: a sick lab server, its cause named and proved.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use slowpath_core::catalogue::PROVABLE;

use crate::cli::{DemoArgs, ProveArgs, ReachArgs, RunArgs};
use crate::command::prove;
use crate::command::run;
use crate::exit::{Exit, Problem};
use crate::out;
use crate::present::Judged;
use crate::store;

/// What one demonstration needs: the arguments of its lab server and its load.
struct Demo {
    cause: &'static str,
    root: bool,
    server: &'static [&'static str],
    load: &'static str,
}

/// Every cause that can be shown; the first is shown when none is named and needs no privilege.
const DEMOS: &[Demo] = &[
    Demo {
        cause: "delayed-ack",
        root: false,
        server: &[],
        load: "model = \"closed\"\nusers = 6\nthink = \"0s..60ms\"\nduration = \"8s\"\n",
    },
    Demo {
        cause: "fixed-delay",
        root: true,
        server: &["--delay-ms", "13"],
        load: "model = \"open\"\nrate = \"60/s\"\nconnections = 16\nduration = \"8s\"\n",
    },
    Demo {
        cause: "accept-queue-overflow",
        root: false,
        server: &[],
        load: "model = \"closed\"\nusers = 40\nthink = \"0s..200ms\"\nconnection = \"per-request\"\nduration = \"15s\"\n",
    },
    Demo {
        cause: "cpu-saturation",
        root: false,
        server: &["--burn-ms", "5"],
        load: "model = \"closed\"\nusers = 12\nduration = \"8s\"\n",
    },
    Demo {
        cause: "cpu-quota-throttling",
        root: true,
        server: &[],
        load: "model = \"closed\"\nusers = 2\nduration = \"12s\"\n",
    },
    Demo {
        cause: "clock-jump",
        root: true,
        server: &[],
        load: "model = \"open\"\nrate = \"200/s\"\nconnections = 8\nduration = \"8s\"\n",
    },
    Demo {
        cause: "client-saturation",
        root: false,
        server: &[],
        load: "model = \"open\"\nrate = \"2000000/s\"\nconnections = 64\nduration = \"5s\"\n",
    },
];

/// Builds the lab, runs, proves where there is an experiment, prints.
pub(crate) fn demo(args: &DemoArgs) -> Result<Exit> {
    store::check_copy(args.json.as_deref())?;
    if args.list {
        out::answer(&list());
        return Ok(Exit::Done);
    }
    let demo = match &args.cause {
        None => &DEMOS[0],
        Some(cause) => DEMOS.iter().find(|d| d.cause == cause).ok_or_else(|| {
            Problem::usage(
                format!("there is no demo of {cause:?}"),
                "slowpath demo --list",
            )
        })?,
    };
    if demo.root && !rustix::process::geteuid().is_root() {
        let what = format!(
            "the demo of {} changes settings that only root may change",
            demo.cause
        );
        return Err(Problem::usage(what, "run as root, or slowpath demo without a cause").into());
    }
    let lab = lab_binary()?;
    let (judged, trouble) = measured(demo, &lab, args)?;
    let exit = judged.exit(trouble, 0.0);
    let first = judged.diagnosis.findings.first().map(|f| f.cause.as_str());
    let named = first == Some(demo.cause);
    let provable = PROVABLE.contains(&demo.cause);
    let cut = exit == Exit::Interrupted || provable && exit == Exit::Invalid;
    if cut || !named || !provable {
        judged.present(args.json.as_deref())?;
        if named && !cut {
            return Ok(Exit::Done);
        }
        if exit != Exit::Interrupted {
            out::say(&format!(
                "{} was not shown this time; on a noisy machine try again",
                demo.cause
            ));
        }
        return Ok(exit);
    }
    out::say("named; now proving it by an experiment ...");
    prove::prove(&ProveArgs {
        run: judged.dir.to_string_lossy().into_owned(),
        cause: Some(demo.cause.to_owned()),
        toggle: None,
        pid: None,
        seed: None,
        quiet: false,
        json: args.json.clone(),
    })
}

/// Runs the lab server under its load. The scenario's text is in the record, so that a later
/// `slowpath prove` needs no file of it.
fn measured(demo: &Demo, lab: &Path, args: &DemoArgs) -> Result<(Judged, Exit)> {
    let cannot = |error: std::io::Error| {
        Problem::environment(
            format!("the demo's scenario cannot be written: {error}"),
            "set TMPDIR to a folder that can be written",
        )
    };
    let scratch = tempfile::tempdir().map_err(cannot)?;
    let scenario = scratch.path().join(format!("{}.toml", demo.cause));
    std::fs::write(&scenario, text(demo, lab)).map_err(cannot)?;
    out::say(&format!(
        "a lab server that is sick of {}; measuring ...",
        demo.cause
    ));
    run::measured(&run_args(&scenario, args))
}

fn list() -> String {
    DEMOS.iter().fold(String::new(), |mut text, demo| {
        let note = if demo.root { "  (root)" } else { "" };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}{note}", demo.cause);
        text
    })
}

/// The scenario. It runs where the lab server's binary is: the folder of its own file goes away,
/// and an experiment starts the server there again.
fn text(demo: &Demo, lab: &Path) -> String {
    let folder = lab.parent().unwrap_or(Path::new("/")).to_string_lossy();
    let words = [lab.to_string_lossy().into_owned(), demo.cause.to_owned()];
    let own = demo.server.iter().map(|word| (*word).to_owned());
    let port = ["--port".to_owned(), "{port}".to_owned()];
    let command: Vec<String> = words
        .into_iter()
        .chain(port)
        .chain(own)
        .map(|word| format!("{word:?}"))
        .collect();
    format!(
        "name = \"demo of {}\"\n[target]\nurl = \"http://127.0.0.1:{{port}}\"\ncommand = [{}]\n\
         cwd = {folder:?}\nready = \"GET /health\"\n[load]\n{}[[endpoint]]\nname = \"page\"\nrequest = \"GET /\"\n",
        demo.cause,
        command.join(", "),
        demo.load
    )
}

fn run_args(scenario: &Path, args: &DemoArgs) -> RunArgs {
    RunArgs {
        what: scenario.to_string_lossy().into_owned(),
        connections: None,
        duration: None,
        rate: None,
        users: None,
        repeats: None,
        precision: None,
        loops: None,
        streams: None,
        pid: None,
        toggle: None,
        reach: ReachArgs::default(),
        release: None,
        seed: None,
        allow_errors: 0.0,
        quiet: false,
        no_trace: false,
        profile: None,
        out: None,
        json: args.json.clone(),
    }
}

/// The lab server's binary: beside this one, or built now from the source tree.
fn lab_binary() -> Result<PathBuf> {
    let own = std::env::current_exe().context("find this program")?;
    let beside = own.with_file_name("lab");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    if !source.join("lab/Cargo.toml").exists() {
        if beside.exists() {
            return Ok(beside);
        }
        let what = format!("the source tree {} is gone", source.display());
        return Err(Problem::usage(what, "run the demo from a clone: cargo run -- demo").into());
    }
    out::say("building the lab server ...");
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--quiet", "--locked", "--package", "slowpath-lab"]);
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    let target = own
        .parent()
        .and_then(Path::parent)
        .unwrap_or(Path::new("target"));
    let built = cargo
        .arg("--target-dir")
        .arg(target)
        .current_dir(&source)
        .stdin(Stdio::null())
        .status();
    match built {
        Ok(status) if status.success() && beside.exists() => Ok(beside),
        _ if beside.exists() => Ok(beside),
        Ok(status) => {
            let what = format!("the lab server could not be built: cargo {status}");
            Err(Problem::usage(what, "cargo build -p slowpath-lab").into())
        }
        Err(error) => {
            let what = format!("cargo could not be started: {error}");
            Err(Problem::usage(what, "install Rust (https://rustup.rs)").into())
        }
    }
}

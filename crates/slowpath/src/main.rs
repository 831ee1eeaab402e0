//! slowpath finds out why a network service is slow, and proves it.
#![allow(clippy::disallowed_methods, reason = "the binary wires the effects")]

mod alternatives;
mod blocks;
mod cli;
mod command;
mod execution;
mod exit;
mod grade;
mod hypothesis;
mod interrupt;
mod measure;
mod notes;
mod out;
mod pausing;
mod precision;
mod present;
mod progress;
mod ranking;
mod reach;
mod reset;
mod session;
mod store;
mod stored;
mod switcher;
mod telemetry;
mod threads;
mod toggles;

use std::process::ExitCode;

use crate::cli::Verb;
use crate::exit::Exit;

fn main() -> ExitCode {
    let first = std::env::args_os().nth(1);
    if first.is_some_and(|word| word == slowpath_observe::guardian::ARGUMENT) {
        return slowpath_observe::guardian::serve();
    }
    slowpath_observe::limits::raise_open_files();
    let words: Vec<_> = std::env::args_os().collect();
    let cli = cli::parse(&words).unwrap_or_else(|error| error.exit());
    out::verbosely(cli.verbose);
    let done = match cli.verb {
        Verb::Run(args) => command::run::run(&args),
        Verb::Explain(args) => command::explain::explain(&args),
        Verb::Prove(args) => command::prove::prove(&args),
        Verb::Demo(args) => command::demo::demo(&args),
        Verb::Ab(args) => command::ab::ab(&args),
        Verb::Gate(args) => command::gate::gate(&args),
        Verb::Lint(args) => command::lint::lint(&args),
        Verb::Sweep(args) => command::sweep::sweep(&args),
        Verb::Bench(args) => command::bench::bench(&args),
        Verb::Import(args) => command::import::import(&args),
        Verb::Compare(args) => command::compare::compare(&args),
        Verb::History(args) => command::history::history(&args),
        Verb::Log(args) => command::log::log(&args),
        Verb::Report(args) => command::report::report(&args),
        Verb::Serve(args) => command::serve::serve(&args),
        Verb::Export(args) => command::export::export(&args),
        Verb::Causes(args) => command::causes::causes(&args),
        Verb::SwitchOff { file } => toggles::undo(&file),
        Verb::Doctor(args) => command::doctor::doctor(&args),
    };
    let exit = done.unwrap_or_else(|problem| {
        out::complain(&problem);
        Exit::of(&problem)
    });
    exit.into()
}

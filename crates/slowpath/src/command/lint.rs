//! `slowpath lint`: what is wrong with a workload, before a request is sent.
//!
//! Warnings and notes leave the exit code at 0. A scenario that cannot be read, or that was found
//! impossible to carry out on this host (an error among the findings), is exit code 2.

use std::path::Path;

use anyhow::Result;
use rustix::process::{Resource, getrlimit};
use slowpath_core::model::TargetModel;
use slowpath_core::scenario::Scenario;
use slowpath_lint::simulate::{
    Simulation, Target, Variant, Wanted, model_of, percentile_of, simulate,
};
use slowpath_lint::{Facts, HostLimits, PortReuse, lint as judge, text};
use slowpath_record::scenario::{Mistake, parse, parse_model};

use crate::cli::LintArgs;
use crate::command::bench::again;
use crate::command::run::read_scenario;
use crate::exit::{Exit, Problem};
use crate::{out, store};

/// Reads, judges, predicts, prints.
pub(crate) fn lint(args: &LintArgs) -> Result<Exit> {
    store::check_copy(args.json.as_deref())?;
    let (scenario, written) = read_scenario(&args.scenario, parse)?;
    let known = model(args, &scenario)?;
    let facts = Facts {
        scenario_text: Some(&written),
        model: known.as_ref().map(|(model, _)| model),
        model_from: known
            .as_ref()
            .map_or_else(String::new, |(_, from)| from.clone()),
        host: host_limits(),
    };
    let mut found = judge(&scenario, &facts);
    if args.simulate {
        found.simulation = Some(predicted(args, &scenario, facts.model)?);
    }
    out::answer(&text(&found, out::style().width));
    if let Some(path) = &args.json {
        let json = serde_json::to_string_pretty(&found)? + "\n";
        store::write_copy(Some(path), &json)?;
    }
    Ok(if found.is_impossible() {
        Exit::Usage
    } else {
        Exit::Done
    })
}

/// What is known of the target, and where from.
fn model(args: &LintArgs, scenario: &Scenario) -> Result<Option<(TargetModel, String)>> {
    if let Some(path) = &args.model {
        return Ok(Some((
            model_file(path, scenario)?,
            path.display().to_string(),
        )));
    }
    let Some(run) = &args.from else {
        return Ok(None);
    };
    let dir = store::find(run)?;
    if again::is_one(&dir) {
        return Err(again::no_requests(&dir).into());
    }
    let record = slowpath_record::read(&dir)
        .map_err(|error| Problem::usage(error, "give --from a run that can be read"))?;
    let model = model_of(&record).ok_or_else(|| {
        Problem::usage(
            format!("nothing was answered in the run {run}"),
            "give --from another run, or --model FILE",
        )
    })?;
    Ok(Some((model, format!("the run {}", record.manifest.id))))
}

fn model_file(path: &Path, scenario: &Scenario) -> Result<TargetModel, Problem> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        Problem::usage(
            format!("cannot read {}: {error}", path.display()),
            "give --model a file that says latency = \"10ms\"",
        )
    })?;
    parse_model(&text, &path.to_string_lossy(), scenario).map_err(|mistakes| {
        let lines: Vec<String> = mistakes.iter().map(Mistake::to_string).collect();
        Problem::usage(lines.join("\n"), "")
    })
}

fn predicted(
    args: &LintArgs,
    scenario: &Scenario,
    model: Option<&TargetModel>,
) -> Result<Simulation, Problem> {
    let model = model.ok_or_else(|| {
        Problem::usage(
            "a simulation needs to know what answers take",
            "--from RUN takes it from a run, --model FILE.toml from a file",
        )
    })?;
    let mut variants = Vec::new();
    let mut wrong = Vec::new();
    for text in &args.variant {
        match Variant::parse(text) {
            Ok(variant) => variants.push(variant),
            Err(error) => wrong.push(error.to_string()),
        }
    }
    let target = args.target.as_deref().map(target).transpose();
    let target = target.unwrap_or_else(|what| {
        wrong.push(what);
        None
    });
    if !wrong.is_empty() {
        return Err(Problem::usage(wrong.join("\n"), "slowpath lint --help"));
    }
    out::say(&format!(
        "playing {} {} times ...",
        match variants.len() {
            0 => "the workload".to_owned(),
            n => format!("the workload and {n} of its variants"),
        },
        args.seeds
    ));
    let wanted = Wanted {
        seeds: args.seeds,
        first_seed: args.seed,
        variants,
        target,
    };
    simulate(scenario, model, &wanted).map_err(|errors| {
        let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
        Problem::usage(lines.join("\n"), "slowpath lint --help")
    })
}

fn target(text: &str) -> Result<Target, String> {
    let (endpoint, percentile) = text
        .rsplit_once('.')
        .ok_or_else(|| format!("--target {text:?} is not ENDPOINT.p99"))?;
    let p = percentile_of(percentile)
        .ok_or_else(|| format!("--target {text:?} ends in none of p50, p90 and p99"))?;
    Ok(Target {
        endpoint: endpoint.to_owned(),
        p,
    })
}

/// What this host allows. What cannot be read is not judged.
fn host_limits() -> HostLimits {
    let numbers = |path: &str| -> Vec<u64> {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.split_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect()
    };
    let ports = numbers("/proc/sys/net/ipv4/ip_local_port_range");
    let somaxconn = numbers("/proc/sys/net/core/somaxconn");
    HostLimits {
        local_ports: match ports.as_slice() {
            [first, last] => Some((*first as u16, *last as u16)),
            _ => None,
        },
        reuse: match numbers("/proc/sys/net/ipv4/tcp_tw_reuse").as_slice() {
            [1] => Some(PortReuse::Always),
            [2] => Some(PortReuse::Loopback),
            _ => None,
        },
        open_files: getrlimit(Resource::Nofile).current,
        somaxconn: somaxconn.first().map(|&n| n as u32),
    }
}

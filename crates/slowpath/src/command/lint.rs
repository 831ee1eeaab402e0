//! `slowpath lint`: what is wrong with a workload, before a request is sent.
//!
//! Warnings and notes leave the exit code at 0. A scenario that cannot be read, or that was found
//! impossible to carry out on this host (an error among the findings), is exit code 2.

use anyhow::Result;
use rustix::process::{Resource, getrlimit};
use slowpath_lint::{Facts, HostLimits, lint as judge, text};
use slowpath_record::scenario::parse_to_judge;

use crate::cli::LintArgs;
use crate::command::run::read_scenario;
use crate::exit::Exit;
use crate::{out, store};

/// Reads, judges, prints.
pub(crate) fn lint(args: &LintArgs) -> Result<Exit> {
    store::check_copy(args.json.as_deref())?;
    let (scenario, written) = read_scenario(&args.scenario, parse_to_judge)?;
    let facts = Facts {
        scenario_text: Some(&written),
        model: None,
        model_from: String::new(),
        host: host_limits(),
    };
    let found = judge(&scenario, &facts);
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
        open_files: getrlimit(Resource::Nofile).current,
        somaxconn: somaxconn.first().map(|&n| n as u32),
    }
}

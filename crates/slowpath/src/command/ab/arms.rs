//! The two settings that are compared.

use slowpath_core::scenario::{Escape, Names, Overrides, Part, Scenario, Switch, Template, Toggle};
use slowpath_experiment::ab::{Arm, Compared};

use crate::cli::{AbArgs, ReachArgs};
use crate::command::run::read_what;
use crate::exit::Problem;
use crate::toggles;

/// See the module.
pub(super) struct Arms {
    pub(super) compared: Compared,
    pub(super) a: Scenario,
    b: Scenario,
    toggle: Option<Toggle>,
}

impl Arms {
    /// What the command line says, under one load.
    pub(super) fn of(scenario: Scenario, args: &AbArgs) -> Result<Self, Problem> {
        let a = loaded(scenario, args)?;
        if let Some(name) = &args.toggle {
            let toggle = toggles::find(&a, name)?.clone();
            return Ok(Self {
                compared: Compared::Toggle { name: name.clone() },
                b: toggles::switched(&a, &toggle),
                toggle: Some(toggle),
                a,
            });
        }
        if let Some(b) = &args.b {
            return Self::commands(a, args.a.as_deref(), b);
        }
        if let Some(other) = &args.other {
            return Self::scenarios(a, &args.what, other, &args.reach);
        }
        Ok(Self {
            compared: Compared::Same,
            b: a.clone(),
            toggle: None,
            a,
        })
    }

    fn commands(mut of_a: Scenario, a: Option<&str>, b: &str) -> Result<Self, Problem> {
        if of_a.target.command.is_none() {
            let what = "--b compares commands that start the target, and the scenario has none";
            return Err(Problem::usage(
                what,
                "add target.command, or compare with --other",
            ));
        }
        let mut of_b = of_a.clone();
        of_b.target.command = Some(words(b, &of_a)?);
        let own = of_a.target.command.iter().flatten();
        let own: Vec<String> = own.map(|word| as_written(word, &of_a)).collect();
        let own = own.join(" ");
        if let Some(a) = a {
            of_a.target.command = Some(words(a, &of_a)?);
        }
        let compared = Compared::Commands {
            a: a.map_or(own, str::to_owned),
            b: b.to_owned(),
        };
        Ok(Self {
            compared,
            a: of_a,
            b: of_b,
            toggle: None,
        })
    }

    fn scenarios(a: Scenario, what: &str, other: &str, reach: &ReachArgs) -> Result<Self, Problem> {
        let (found, _) = read_what(other, reach)?;
        let is_url = other.contains("://");
        let names = |scenario: &Scenario| -> Vec<String> {
            scenario.services.iter().map(|s| s.name.clone()).collect()
        };
        let are_urls = is_url && what.contains("://");
        if is_url && !are_urls && found.endpoints.iter().any(|e| e.name != "/") {
            let what = format!("{other} names a path, and the requests are those of A's scenario");
            return Err(Problem::usage(what, "name the host alone"));
        }
        let speaks_of_services = !a.services.is_empty() || !found.services.is_empty();
        if speaks_of_services && names(&a) != names(&found) {
            let what = format!("{other} has other services, and the requests may speak of them");
            return Err(Problem::usage(what, "give both the same [[service]] names"));
        }
        if a.folder != found.folder && a.endpoints.iter().any(|e| e.body_file.is_some()) {
            let what = format!("{other} is in another folder, and bodies are read from files");
            return Err(Problem::usage(what, "put both scenarios into one folder"));
        }
        let mut b = Scenario {
            folder: found.folder,
            target: found.target,
            services: found.services,
            ..a.clone()
        };
        // A URL says what to ask for, too.
        if let ([own], [wanted]) = (b.endpoints.as_mut_slice(), found.endpoints.as_slice())
            && are_urls
        {
            own.path = wanted.path.clone();
        }
        Ok(Self {
            compared: Compared::Scenarios {
                other: other.to_owned(),
            },
            a,
            b,
            toggle: None,
        })
    }

    /// The scenario of an arm.
    pub(super) const fn scenario(&self, arm: Arm) -> &Scenario {
        match arm {
            Arm::A => &self.a,
            Arm::B => &self.b,
        }
    }

    /// The toggle that is switched while the target runs, if it is one of those.
    pub(super) fn live(&self) -> Option<&Toggle> {
        let toggle = self.toggle.as_ref();
        toggle.filter(|toggle| matches!(toggle.switch, Switch::Live { .. }))
    }
}

/// The scenario under the load of a block.
fn loaded(mut scenario: Scenario, args: &AbArgs) -> Result<Scenario, Problem> {
    let by = Overrides {
        connections: args.connections,
        users: args.users,
        rate_per_s: args.rate,
        duration_ns: args.duration,
        loops: args.loops,
        repeats: Some(1),
        ..Overrides::default()
    };
    let refused = |lines: Vec<String>| Problem::usage(lines.join("\n"), "slowpath ab --help");
    // A block is one repeat: how many there are is planned by pairs.
    scenario.load.precision = None;
    scenario.load = scenario
        .load
        .overridden(&by)
        .map_err(|mistakes| refused(mistakes.iter().map(ToString::to_string).collect()))?;
    if let Some(warmup) = args.warmup {
        scenario.load.warmup_ns = warmup;
    }
    // Blocks are compared warm: a cold pass is another question.
    scenario.load.passes.clear();
    let found = scenario.contradictions();
    if !found.is_empty() {
        return Err(refused(found.iter().map(ToString::to_string).collect()));
    }
    Ok(scenario)
}

/// A word of a command as in the scenario.
fn as_written(word: &Template, scenario: &Scenario) -> String {
    let part = |part: &Part| match part {
        Part::Literal(text) => text.clone(),
        Part::Port => "{port}".to_owned(),
        Part::Tmp => "{tmp}".to_owned(),
        Part::ServicePort(at) => {
            let service = scenario.services.get(*at).map_or("?", |s| s.name.as_str());
            format!("{{service.{service}.port}}")
        }
        Part::ServiceHost(at) => {
            let service = scenario.services.get(*at).map_or("?", |s| s.name.as_str());
            format!("{{service.{service}.host}}")
        }
        // Of requests alone.
        Part::Pool(_) | Part::Variable(_) | Part::Seq | Part::Uuid => "...".to_owned(),
    };
    word.parts.iter().map(part).collect()
}

/// A command as a shell splits it, with placeholders as in a scenario.
fn words(command: &str, scenario: &Scenario) -> Result<Vec<Template>, Problem> {
    let remedy = "quote it as for a shell: --b './server --port {port}'";
    let split = shlex::split(command).filter(|words| !words.is_empty());
    let split =
        split.ok_or_else(|| Problem::usage(format!("{command:?} is no command"), remedy))?;
    let services: Vec<String> = scenario.services.iter().map(|s| s.name.clone()).collect();
    let names = Names {
        services: &services,
        ..Names::default()
    };
    let word = |word: &String| Template::parse(word, names, Escape::None);
    let words: Result<Vec<Template>, _> = split.iter().map(word).collect();
    words.map_err(|error| Problem::usage(format!("{command:?}: {error}"), remedy))
}

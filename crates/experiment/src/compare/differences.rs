//! What differs in how two sides were measured.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use slowpath_core::figures::{Conditions, RunFigures};

/// What a condition is of, in the order in which differences are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// The machine: figures of two machines are not comparable.
    Host,
    /// How it was measured: answers to two questions are not comparable.
    Harness,
    /// The target as configured: often what is compared.
    Config,
    /// Versions: often what is compared.
    Versions,
}

impl Part {
    /// All, in the order in which differences are reported.
    pub const ALL: [Self; 4] = [Self::Host, Self::Harness, Self::Config, Self::Versions];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Harness => "harness",
            Self::Config => "config",
            Self::Versions => "versions",
        }
    }

    fn of(self, conditions: &Conditions) -> &BTreeMap<String, String> {
        match self {
            Self::Host => &conditions.host,
            Self::Harness => &conditions.harness,
            Self::Config => &conditions.config,
            Self::Versions => &conditions.versions,
        }
    }
}

/// A condition that differs, or that is known of one side only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Difference {
    /// What it is of.
    pub part: Part,
    /// Its name.
    pub name: String,
    /// Its value in A, several with commas between them; `null` if it is not known there.
    pub a: Option<String>,
    /// Its value in B.
    pub b: Option<String>,
}

impl Difference {
    /// Whether both sides know it, so that it is a difference and not a gap.
    pub fn is_known(&self) -> bool {
        self.a.is_some() && self.b.is_some()
    }
}

/// What differs between two sets of runs; hosts first.
pub fn differences(a: &[&RunFigures], b: &[&RunFigures]) -> Vec<Difference> {
    let mut found = Vec::new();
    for part in Part::ALL {
        let names: BTreeSet<&String> = a
            .iter()
            .chain(b)
            .flat_map(|run| part.of(&run.conditions).keys())
            .collect();
        // A side that says nothing of a part at all (figures made elsewhere) has one gap there.
        let is_silent = |side: &[&RunFigures]| {
            let mut runs = side.iter();
            runs.all(|run| part.of(&run.conditions).is_empty())
        };
        if is_silent(a) != is_silent(b) {
            let whole = |silent: bool| (!silent).then(|| "known".to_owned());
            found.push(Difference {
                part,
                name: String::new(),
                a: whole(is_silent(a)),
                b: whole(is_silent(b)),
            });
            continue;
        }
        for name in names {
            let (of_a, of_b) = (values(part, name, a), values(part, name, b));
            if of_a != of_b {
                found.push(Difference {
                    part,
                    name: name.clone(),
                    a: told(&of_a),
                    b: told(&of_b),
                });
            }
        }
    }
    found
}

fn values<'a>(part: Part, name: &str, side: &[&'a RunFigures]) -> BTreeSet<&'a str> {
    let runs = side.iter();
    runs.filter_map(|run| part.of(&run.conditions).get(name))
        .map(String::as_str)
        .collect()
}

fn told(values: &BTreeSet<&str>) -> Option<String> {
    let values: Vec<&str> = values.iter().copied().collect();
    (!values.is_empty()).then(|| values.join(", "))
}

/// Why rows may not be judged, of differences between hosts and harnesses.
pub(crate) fn obstacles(differences: &[Difference]) -> Vec<String> {
    let mut obstacles = Vec::new();
    for (part, text) in [(Part::Host, "other host"), (Part::Harness, "other harness")] {
        let names: Vec<&str> = differences
            .iter()
            .filter(|d| d.part == part && !d.name.is_empty() && counts(d))
            .map(|d| d.name.as_str())
            .collect();
        if !names.is_empty() {
            obstacles.push(format!("{text} ({})", names.join(", ")));
        }
    }
    obstacles
}

/// Whether a difference makes figures incomparable. A part of the harness that one side lacks is
/// one (an endpoint more, passes); a fact about the host that was not read is not.
fn counts(difference: &Difference) -> bool {
    difference.is_known() || difference.part == Part::Harness
}

/// Whether two runs were measured on the same host in the same way, as far as is known.
pub(crate) fn is_alike(a: &RunFigures, b: &RunFigures) -> bool {
    obstacles(&differences(&[a], &[b])).is_empty()
}
